#include "baton/tir/codegen/elf_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"

namespace baton::tir {
namespace {

constexpr uint32_t kSymbolTable = 2;  // types of sections
constexpr uint32_t kRelocations = 4;
constexpr uint32_t kNoBits = 8;
constexpr uint32_t kSymbolSections = 18;
constexpr uint64_t kAlloc = 2;  // flags of sections
constexpr uint64_t kCode = 4;
constexpr uint64_t kMerge = 0x10;
constexpr uint64_t kStrings = 0x20;
constexpr unsigned kObject = 1;  // types of symbols
constexpr unsigned kFunction = 2;
constexpr unsigned kOfSection = 3;
constexpr uint16_t kReserved = 0xff00;  // numbers of sections from here on
constexpr uint16_t kFurther = 0xffff;   // the number is in a table
constexpr uint16_t kMachineX86_64 = 62;

absl::Status Damaged() {
  return absl::InvalidArgumentError("the object file is damaged");
}

// The numbers of a file, which are zero behind its end.
class Numbers {
 public:
  explicit Numbers(absl::string_view bytes) : bytes_(bytes) {}

  uint64_t At(uint64_t offset, size_t size) const {
    uint64_t value = 0;
    if (offset > bytes_.size() || size > bytes_.size() - offset) return 0;
    std::memcpy(&value, bytes_.data() + offset, size);
    return value;
  }

 private:
  absl::string_view bytes_;
};

struct Header {
  uint64_t name = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t link = 0;
  uint64_t info = 0;
  uint64_t entry_bytes = 0;
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes), numbers_(bytes) {}

  absl::StatusOr<ElfFile> Read() {
    constexpr absl::string_view kMagic =
        "\x7f"
        "ELF\2\1";
    if (!absl::StartsWith(bytes_, kMagic) || numbers_.At(16, 2) != 1) {
      return absl::InvalidArgumentError(
          "the file is no relocatable file of ELF with 64 bits");
    }
    machine_ = static_cast<uint16_t>(numbers_.At(18, 2));
    BATON_RETURN_IF_ERROR(ReadHeaders());
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].type != kSymbolTable) continue;
      BATON_RETURN_IF_ERROR(ReadSymbols(headers_[i]));
      break;
    }
    for (const Header& header : headers_) {
      if (header.type != kRelocations) continue;
      BATON_RETURN_IF_ERROR(ReadRelocations(header));
    }
    return std::move(file_);
  }

 private:
  absl::Status ReadHeaders() {
    const uint64_t table = numbers_.At(40, 8);
    uint64_t count = numbers_.At(60, 2);
    uint64_t names = numbers_.At(62, 2);
    if (numbers_.At(58, 2) != kHeaderBytes) return Damaged();
    // If there are too many sections for the header, the first section header
    // has the numbers.
    if (count == 0) count = numbers_.At(table + 32, 8);
    if (names == kFurther) names = numbers_.At(table + 40, 4);
    if (table > bytes_.size() ||
        count > (bytes_.size() - table) / kHeaderBytes || names >= count) {
      return Damaged();
    }
    uint64_t relocation_bytes = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = table + i * kHeaderBytes;
      Header header;
      header.name = numbers_.At(at, 4);
      header.type = static_cast<uint32_t>(numbers_.At(at + 4, 4));
      header.flags = numbers_.At(at + 8, 8);
      header.offset = numbers_.At(at + 24, 8);
      header.size = numbers_.At(at + 32, 8);
      header.link = numbers_.At(at + 40, 4);
      header.info = numbers_.At(at + 44, 4);
      header.entry_bytes = numbers_.At(at + 56, 8);
      // The size of the first one may be a number of headers.
      if (i == 0) header.size = 0;
      if (header.size > uint64_t{std::numeric_limits<int64_t>::max()} ||
          (header.type != kNoBits &&
           (header.offset > bytes_.size() ||
            header.size > bytes_.size() - header.offset))) {
        return Damaged();
      }
      if (header.type == kRelocations) relocation_bytes += header.size;
      headers_.push_back(header);
    }
    // Tables that are parts of one another would make more references than the
    // file has bytes.
    if (relocation_bytes > bytes_.size()) return Damaged();
    for (const Header& header : headers_) {
      ElfSection section;
      BATON_ASSIGN_OR_RETURN(section.name,
                             NameAt(headers_[names], header.name));
      section.is_loaded = (header.flags & kAlloc) != 0;
      section.bytes = static_cast<int64_t>(header.size);
      section.file_bytes = header.type == kNoBits ? 0 : section.bytes;
      if ((header.flags & (kMerge | kStrings)) == kMerge &&
          header.type != kNoBits && header.entry_bytes >= 4 &&
          header.entry_bytes <= header.size) {
        section.entry_bytes = static_cast<int64_t>(header.entry_bytes);
      }
      file_.sections.push_back(std::move(section));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> NameAt(const Header& names, uint64_t offset) {
    if (names.type == kNoBits || offset > names.size) return Damaged();
    absl::string_view rest =
        bytes_.substr(names.offset + offset, names.size - offset);
    rest = rest.substr(0, rest.find('\0'));
    // Names may be ends of one another, but not to make a file of files.
    name_bytes_ += rest.size();
    if (name_bytes_ > kMostNameBytes * bytes_.size()) return Damaged();
    return std::string(rest);
  }

  // The places of all symbols, for references, and functions and objects.
  absl::Status ReadSymbols(const Header& table) {
    if (table.link >= headers_.size()) return Damaged();
    const Header* further = nullptr;
    for (const Header& header : headers_) {
      if (header.type == kSymbolSections) further = &header;
    }
    for (uint64_t i = 0; i < table.size / kSymbolBytes; ++i) {
      const uint64_t at = table.offset + i * kSymbolBytes;
      const unsigned type = static_cast<unsigned>(numbers_.At(at + 4, 1)) & 15;
      uint64_t section = numbers_.At(at + 6, 2);
      if (section == kFurther && further != nullptr) {
        section = numbers_.At(further->offset + 4 * i, 4);
      } else if (section >= kReserved) {
        section = 0;
      }
      if (section >= headers_.size()) return Damaged();
      ElfSymbol symbol;
      symbol.section = static_cast<size_t>(section);
      symbol.offset = static_cast<int64_t>(numbers_.At(at + 8, 8));
      symbol.bytes = static_cast<int64_t>(numbers_.At(at + 16, 8));
      places_.push_back({symbol.section, symbol.offset, type == kOfSection});
      if (section == 0 || (type != kObject && type != kFunction)) continue;
      BATON_ASSIGN_OR_RETURN(symbol.name,
                             NameAt(headers_[table.link], numbers_.At(at, 4)));
      file_.symbols.push_back(std::move(symbol));
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations(const Header& table) {
    if (table.info >= headers_.size()) return Damaged();
    for (uint64_t i = 0; i < table.size / kRelocationBytes; ++i) {
      const uint64_t at = table.offset + i * kRelocationBytes;
      const uint64_t info = numbers_.At(at + 8, 8);
      const uint64_t symbol = info >> 32;
      if (symbol >= places_.size()) return Damaged();
      const Place& place = places_[symbol];
      if (place.section == 0) continue;  // another file defines it
      ElfReference reference;
      reference.section = static_cast<size_t>(table.info);
      reference.offset = static_cast<int64_t>(numbers_.At(at, 8));
      reference.to_section = place.section;
      // Unsigned, since the sum overflows in a damaged file.
      auto to = static_cast<uint64_t>(place.offset);
      if (place.is_section) {
        to += numbers_.At(at + 16, 8);
        // R_X86_64_PC32 and R_X86_64_PLT32 count from the instruction's end.
        const uint64_t type = info & 0xffffffff;
        if (machine_ == kMachineX86_64 && (type == 2 || type == 4)) {
          // A jump table's entries count from its begin, and are places in the
          // function that refers to the table.
          if ((headers_[table.info].flags & kCode) == 0) continue;
          to += 4;
          if ((headers_[place.section].flags & kCode) == 0) {
            to = BehindImmediate(to, file_.sections[place.section]);
          }
        }
      }
      reference.to_offset = static_cast<int64_t>(to);
      file_.references.push_back(reference);
    }
    return absl::OkStatus();
  }

  // The place in `section` that an instruction refers to, which ends at `to` if
  // it has no immediate operand of 1, 2 or 4 bytes behind the reference. Code
  // refers to the begin of a constant.
  static uint64_t BehindImmediate(uint64_t to, const ElfSection& section) {
    const auto size = static_cast<uint64_t>(
        section.entry_bytes > 0 ? section.entry_bytes : 4);
    const uint64_t missing = (size - to % size) % size;
    return missing <= 4 ? to + missing : to;
  }

  static constexpr uint64_t kHeaderBytes = 64;
  static constexpr uint64_t kSymbolBytes = 24;
  static constexpr uint64_t kRelocationBytes = 24;
  static constexpr uint64_t kMostNameBytes = 16;  // for each byte of the file

  // The section and offset at which a symbol is defined.
  struct Place {
    size_t section;
    int64_t offset;
    bool is_section;
  };

  absl::string_view bytes_;
  Numbers numbers_;
  uint16_t machine_ = 0;
  uint64_t name_bytes_ = 0;  // of all names
  std::vector<Header> headers_;
  std::vector<Place> places_;
  ElfFile file_;
};

constexpr absl::string_view kArchive = "!<arch>\n";

}  // namespace

absl::StatusOr<ElfFile> ReadElf(absl::string_view bytes) {
  return Reader(bytes).Read();
}

bool IsArchive(absl::string_view bytes) {
  return absl::StartsWith(bytes, kArchive);
}

absl::StatusOr<std::vector<ArchiveMember>> ReadArchive(
    absl::string_view bytes) {
  constexpr size_t kHeaderBytes = 60;
  const absl::Status damaged =
      absl::InvalidArgumentError("the archive is damaged");
  if (!IsArchive(bytes)) return damaged;
  std::vector<ArchiveMember> members;
  absl::string_view long_names;
  size_t at = kArchive.size();
  while (at < bytes.size()) {
    if (bytes.size() - at < kHeaderBytes) return damaged;
    const absl::string_view header = bytes.substr(at, kHeaderBytes);
    at += kHeaderBytes;
    uint64_t size = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(header.substr(48, 10)),
                          &size) ||
        size > bytes.size() - at) {
      return damaged;
    }
    const absl::string_view contents = bytes.substr(at, size);
    at += size + size % 2;
    const absl::string_view name =
        absl::StripTrailingAsciiWhitespace(header.substr(0, 16));
    if (name == "//") {
      long_names = contents;
      continue;
    }
    if (name == "/" || name == "/SYM64/") continue;  // of symbols
    ArchiveMember member;
    member.bytes = contents;
    uint64_t offset = 0;
    if (absl::StartsWith(name, "/") &&
        absl::SimpleAtoi(name.substr(1), &offset) &&
        offset < long_names.size()) {
      const absl::string_view rest = long_names.substr(offset);
      member.name = std::string(rest.substr(0, rest.find('/')));
    } else {
      member.name = std::string(name.substr(0, name.find('/')));
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace baton::tir
