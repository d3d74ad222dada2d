#include "baton/tir/codegen/elf_object.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/align.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"

namespace baton::tir {
namespace {

// Numbers of the format (System V ABI, ELF-64).
constexpr uint16_t kRelocatable = 1;
constexpr uint16_t kMachineX86_64 = 62;
constexpr uint16_t kMachineAArch64 = 183;
constexpr uint32_t kProgbits = 1;
constexpr uint32_t kSymtab = 2;
constexpr uint32_t kStrtab = 3;
constexpr uint32_t kRela = 4;
constexpr uint32_t kGroup = 17;
constexpr uint64_t kWrite = 1;
constexpr uint64_t kAlloc = 2;
constexpr uint64_t kInfoLink = 0x40;
constexpr uint64_t kInGroup = 0x200;
constexpr uint64_t kLarge = 0x10000000;  // SHF_X86_64_LARGE
constexpr uint8_t kGlobalObject = (1 << 4) | 1;
constexpr uint8_t kWeakObject = (2 << 4) | 1;
constexpr uint8_t kDefault = 0;
constexpr uint8_t kHidden = 2;
constexpr uint32_t kComdat = 1;
constexpr uint64_t kAddressX86_64 = 1;     // R_X86_64_64
constexpr uint64_t kAddressAArch64 = 257;  // R_AARCH64_ABS64
constexpr int kHeaderBytes = 64;
constexpr int kSectionHeaderBytes = 64;
constexpr int kSymbolBytes = 24;
constexpr int kRelaBytes = 24;
constexpr uint64_t kPointerBytes = 8;
// The header counts sections in 16 bits, of which numbers from here on are
// reserved.
constexpr size_t kMaxSections = 0xff00;

// Little-endian numbers, whatever the machine that writes them.
class Bytes {
 public:
  static Bytes WithEmptyName() {
    Bytes bytes;
    bytes.AddName("");
    return bytes;
  }
  void Add8(uint8_t value) { text_.push_back(static_cast<char>(value)); }
  void Add16(uint16_t value) { Add(value, 2); }
  void Add32(uint32_t value) { Add(value, 4); }
  void Add64(uint64_t value) { Add(value, 8); }
  // Adds a name and returns its offset.
  uint32_t AddName(absl::string_view name) {
    const auto offset = static_cast<uint32_t>(text_.size());
    absl::StrAppend(&text_, name);
    text_.push_back('\0');
    return offset;
  }
  void Align(size_t alignment) {
    while (text_.size() % alignment != 0) text_.push_back('\0');
  }
  const std::string& text() const { return text_; }
  uint64_t size() const { return text_.size(); }

 private:
  void Add(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      text_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
    }
  }
  std::string text_;
};

struct SectionHeader {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t alignment = 0;
  uint64_t entry_bytes = 0;
};

void AddSection(const SectionHeader& section, Bytes& bytes) {
  bytes.Add32(section.name);
  bytes.Add32(section.type);
  bytes.Add64(section.flags);
  bytes.Add64(0);  // address
  bytes.Add64(section.offset);
  bytes.Add64(section.size);
  bytes.Add32(section.link);
  bytes.Add32(section.info);
  bytes.Add64(section.alignment);
  bytes.Add64(section.entry_bytes);
}

void AddHeader(ElfMachine machine, uint64_t sections_offset,
               uint16_t num_sections, Bytes& bytes) {
  // "\x7f" "ELF", 64 bits, little-endian, version 1, System V.
  for (const int byte : {0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0}) {
    bytes.Add8(static_cast<uint8_t>(byte));
  }
  bytes.Add64(0);
  bytes.Add16(kRelocatable);
  bytes.Add16(machine == ElfMachine::kX86_64 ? kMachineX86_64
                                             : kMachineAArch64);
  bytes.Add32(1);  // version
  bytes.Add64(0);  // entry
  bytes.Add64(0);  // program headers
  bytes.Add64(sections_offset);
  bytes.Add32(0);  // flags
  bytes.Add16(kHeaderBytes);
  bytes.Add16(0);  // bytes and number of program headers
  bytes.Add16(0);
  bytes.Add16(kSectionHeaderBytes);
  bytes.Add16(num_sections);
  bytes.Add16(num_sections - 1);  // the section with the names of sections
}

uint64_t BytesOf(const ElfConstant& constant) {
  uint64_t bytes = 0;
  for (const absl::string_view piece : constant.pieces) {
    bytes = AlignUp(bytes, ElfObject::kAlignment) + piece.size();
  }
  return bytes;
}

class ObjectWriter {
 public:
  explicit ObjectWriter(const ElfObject& object) : object_(object) {}

  absl::Status Write(
      absl::FunctionRef<absl::Status(absl::string_view)> append) {
    BATON_RETURN_IF_ERROR(CheckSymbols());
    const bool is_large =
        object_.machine == ElfMachine::kX86_64 &&
        total_bytes_ >= static_cast<uint64_t>(object_.large_bytes);
    const uint64_t flags = kAlloc | (is_large ? kLarge : 0);
    const uint32_t plain_name =
        names_.AddName(is_large ? ".lrodata" : ".rodata");
    const size_t num_groups = static_cast<size_t>(std::count_if(
        object_.constants.begin(), object_.constants.end(),
        [](const ElfConstant& constant) { return constant.is_mergeable; }));
    const bool has_tables = !object_.tables.empty();
    // The sections in order: none, constants, the groups and their constants,
    // tables and their relocations, the stack, symbols and names.
    const size_t num_sections = 2 + 2 * num_groups + (has_tables ? 2 : 0) + 4;
    if (num_sections > kMaxSections) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an object file with ", num_groups, " mergeable constants"));
    }
    const auto tables_section = static_cast<uint16_t>(2 + 2 * num_groups);
    const auto symtab_section = static_cast<uint32_t>(num_sections - 3);

    AddSymbol("", 0, 0, 0, 0, 0);
    headers_.emplace_back();
    uint64_t plain_bytes = 0;
    for (const ElfConstant& constant : object_.constants) {
      if (constant.is_mergeable) continue;
      AddSymbol(constant.symbol, kGlobalObject, kDefault, 1, plain_bytes,
                BytesOf(constant));
      plain_bytes =
          AlignUp(plain_bytes + BytesOf(constant), ElfObject::kAlignment);
    }
    headers_.push_back({.name = plain_name,
                        .type = kProgbits,
                        .flags = flags,
                        .offset = kHeaderBytes,
                        .size = plain_bytes,
                        .alignment = ElfObject::kAlignment});
    uint64_t offset = kHeaderBytes + plain_bytes;
    const uint32_t group_name = num_groups == 0 ? 0 : names_.AddName(".group");
    const uint32_t merged_name =
        num_groups == 0
            ? 0
            : names_.AddName(is_large ? ".lrodata.baton" : ".rodata.baton");
    Bytes groups;
    for (const ElfConstant& constant : object_.constants) {
      if (!constant.is_mergeable) continue;
      const auto section = static_cast<uint16_t>(headers_.size() + 1);
      const uint64_t bytes = BytesOf(constant);
      // The place among the groups; see below.
      headers_.push_back({.name = group_name,
                          .type = kGroup,
                          .offset = groups.size(),
                          .size = 8,
                          .link = symtab_section,
                          .info = num_symbols_,
                          .alignment = 4,
                          .entry_bytes = 4});
      groups.Add32(kComdat);
      groups.Add32(section);
      AddSymbol(constant.symbol, kWeakObject, kHidden, section, 0, bytes);
      headers_.push_back({.name = merged_name,
                          .type = kProgbits,
                          .flags = flags | kInGroup,
                          .offset = offset,
                          .size = bytes,
                          .alignment = ElfObject::kAlignment});
      offset = AlignUp(offset + bytes, ElfObject::kAlignment);
    }
    for (SectionHeader& header : headers_) {
      if (header.type == kGroup) header.offset += offset;
    }
    offset += groups.size();

    Bytes relocations;
    uint64_t table_bytes = 0;
    if (has_tables) {
      for (const ElfTable& table : object_.tables) {
        AddSymbol(table.symbol, kGlobalObject, kDefault, tables_section,
                  table_bytes, table.targets.size() * kPointerBytes);
        for (const ElfTable::Target& target : table.targets) {
          if (!target.symbol.empty()) {
            const auto found = number_of_.find(target.symbol);
            relocations.Add64(table_bytes);
            relocations.Add64((uint64_t{found->second} << 32) |
                              (object_.machine == ElfMachine::kX86_64
                                   ? kAddressX86_64
                                   : kAddressAArch64));
            relocations.Add64(static_cast<uint64_t>(target.offset));
          }
          table_bytes += kPointerBytes;
        }
      }
      headers_.push_back({.name = names_.AddName(".data.rel.ro"),
                          .type = kProgbits,
                          .flags = kAlloc | kWrite,
                          .offset = offset,
                          .size = table_bytes,
                          .alignment = kPointerBytes});
      offset += table_bytes;
      headers_.push_back({.name = names_.AddName(".rela.data.rel.ro"),
                          .type = kRela,
                          .flags = kInfoLink,
                          .offset = offset,
                          .size = relocations.size(),
                          .link = symtab_section,
                          .info = tables_section,
                          .alignment = 8,
                          .entry_bytes = kRelaBytes});
      offset += relocations.size();
    }
    // Its presence without the flag for code: the stack is not executable.
    headers_.push_back({.name = names_.AddName(".note.GNU-stack"),
                        .type = kProgbits,
                        .offset = offset,
                        .alignment = 1});
    headers_.push_back({.name = names_.AddName(".symtab"),
                        .type = kSymtab,
                        .offset = offset,
                        .size = symbols_.size(),
                        .link = symtab_section + 1,
                        .info = 1,  // the first global symbol
                        .alignment = 8,
                        .entry_bytes = kSymbolBytes});
    offset += symbols_.size();
    headers_.push_back({.name = names_.AddName(".strtab"),
                        .type = kStrtab,
                        .offset = offset,
                        .size = symbol_names_.size(),
                        .alignment = 1});
    offset += symbol_names_.size();
    const uint32_t own_name = names_.AddName(".shstrtab");
    headers_.push_back({.name = own_name,
                        .type = kStrtab,
                        .offset = offset,
                        .size = names_.size(),
                        .alignment = 1});
    offset += names_.size();
    const uint64_t padding = AlignUp(offset, uint64_t{8}) - offset;

    Bytes header;
    AddHeader(object_.machine, offset + padding,
              static_cast<uint16_t>(headers_.size()), header);
    BATON_RETURN_IF_ERROR(append(header.text()));
    BATON_RETURN_IF_ERROR(AppendConstants(false, append));
    BATON_RETURN_IF_ERROR(AppendConstants(true, append));
    BATON_RETURN_IF_ERROR(append(groups.text()));
    BATON_RETURN_IF_ERROR(append(std::string(table_bytes, '\0')));
    BATON_RETURN_IF_ERROR(append(relocations.text()));
    BATON_RETURN_IF_ERROR(append(symbols_.text()));
    BATON_RETURN_IF_ERROR(append(symbol_names_.text()));
    BATON_RETURN_IF_ERROR(append(names_.text()));
    BATON_RETURN_IF_ERROR(append(std::string(padding, '\0')));
    Bytes tail;
    for (const SectionHeader& section : headers_) AddSection(section, tail);
    return append(tail.text());
  }

 private:
  absl::Status CheckSymbol(const std::string& symbol) {
    if (symbol.empty() || symbol.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(
          "a symbol of an object file is empty or has a NUL");
    }
    if (!number_of_.emplace(symbol, 0).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol ", symbol, " of an object file is given twice"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckSymbols() {
    for (const ElfConstant& constant : object_.constants) {
      BATON_RETURN_IF_ERROR(CheckSymbol(constant.symbol));
      total_bytes_ =
          AlignUp(total_bytes_ + BytesOf(constant), ElfObject::kAlignment);
    }
    for (const ElfTable& table : object_.tables) {
      for (const ElfTable::Target& target : table.targets) {
        if (!target.symbol.empty() && number_of_.count(target.symbol) == 0) {
          return absl::InvalidArgumentError(
              absl::StrCat("a table of an object file points to ",
                           target.symbol, ", which it does not have"));
        }
      }
    }
    for (const ElfTable& table : object_.tables) {
      BATON_RETURN_IF_ERROR(CheckSymbol(table.symbol));
    }
    return absl::OkStatus();
  }

  void AddSymbol(const std::string& name, uint8_t info, uint8_t visibility,
                 uint16_t section, uint64_t value, uint64_t bytes) {
    symbols_.Add32(symbol_names_.AddName(name));
    symbols_.Add8(info);
    symbols_.Add8(visibility);
    symbols_.Add16(section);
    symbols_.Add64(value);
    symbols_.Add64(bytes);
    number_of_[name] = num_symbols_++;
  }

  // Appends the constants that are mergeable, or those that are not.
  absl::Status AppendConstants(
      bool is_mergeable,
      absl::FunctionRef<absl::Status(absl::string_view)> append) const {
    const std::string zeros(ElfObject::kAlignment, '\0');
    uint64_t written = 0;
    const auto align = [&] {
      const uint64_t rest = AlignUp(written, ElfObject::kAlignment) - written;
      written += rest;
      return rest == 0 ? absl::OkStatus()
                       : append(absl::string_view(zeros).substr(0, rest));
    };
    for (const ElfConstant& constant : object_.constants) {
      if (constant.is_mergeable != is_mergeable) continue;
      for (const absl::string_view piece : constant.pieces) {
        BATON_RETURN_IF_ERROR(align());
        BATON_RETURN_IF_ERROR(append(piece));
        written += piece.size();
      }
      BATON_RETURN_IF_ERROR(align());
    }
    return absl::OkStatus();
  }

  const ElfObject& object_;
  uint64_t total_bytes_ = 0;  // of constants
  std::vector<SectionHeader> headers_;
  Bytes names_ = Bytes::WithEmptyName();  // of sections
  Bytes symbols_;
  Bytes symbol_names_;
  uint32_t num_symbols_ = 0;
  FlatHashMap<std::string, uint32_t> number_of_;  // of symbols
};

}  // namespace

absl::Status WriteElfObject(
    const ElfObject& object,
    absl::FunctionRef<absl::Status(absl::string_view)> append) {
  return ObjectWriter(object).Write(append);
}

}  // namespace baton::tir
