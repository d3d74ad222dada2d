#include "baton/tir/codegen/elf_object.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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
constexpr uint64_t kAlloc = 2;
constexpr uint64_t kLarge = 0x10000000;  // SHF_X86_64_LARGE
constexpr uint8_t kGlobalObject = (1 << 4) | 1;
constexpr int kHeaderBytes = 64;
constexpr int kSectionHeaderBytes = 64;
constexpr int kSymbolBytes = 24;

// The sections, in order.
enum Section : uint16_t {
  kNullSection,
  kConstantsSection,
  kStackSection,
  kSymtabSection,
  kStrtabSection,
  kNamesSection,
  kNumSections,
};

// Little-endian numbers, whatever the machine that writes them.
class Bytes {
 public:
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

void AddHeader(ElfMachine machine, uint64_t sections_offset, Bytes& bytes) {
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
  bytes.Add16(kNumSections);
  bytes.Add16(kNamesSection);
}

}  // namespace

absl::Status WriteElfObject(
    const ElfObject& object,
    absl::FunctionRef<absl::Status(absl::string_view)> append) {
  // Tables of symbols and names, and the size of the constants.
  Bytes symbols;
  Bytes symbol_names;
  symbol_names.AddName("");
  for (int i = 0; i < kSymbolBytes; ++i) symbols.Add8(0);
  FlatHashSet<std::string> known;
  uint64_t constants_bytes = 0;
  for (const ElfConstant& constant : object.constants) {
    if (constant.symbol.empty() ||
        constant.symbol.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(
          "a symbol of an object file is empty or has a NUL");
    }
    if (!known.insert(constant.symbol).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "symbol ", constant.symbol, " of an object file is given twice"));
    }
    uint64_t bytes = 0;
    for (const absl::string_view piece : constant.pieces) {
      bytes = AlignUp(bytes, ElfObject::kAlignment) + piece.size();
    }
    symbols.Add32(symbol_names.AddName(constant.symbol));
    symbols.Add8(kGlobalObject);
    symbols.Add8(0);  // default visibility
    symbols.Add16(kConstantsSection);
    symbols.Add64(constants_bytes);
    symbols.Add64(bytes);
    constants_bytes = AlignUp(constants_bytes + bytes, ElfObject::kAlignment);
  }

  const bool is_large =
      object.machine == ElfMachine::kX86_64 &&
      constants_bytes >= static_cast<uint64_t>(object.large_bytes);
  Bytes names;
  names.AddName("");
  SectionHeader headers[kNumSections];
  headers[kConstantsSection] = {
      .name = names.AddName(is_large ? ".lrodata" : ".rodata"),
      .type = kProgbits,
      .flags = kAlloc | (is_large ? kLarge : 0),
      .offset = kHeaderBytes,
      .size = constants_bytes,
      .alignment = ElfObject::kAlignment,
  };
  uint64_t offset = kHeaderBytes + constants_bytes;
  // Its presence without the flag for code: the stack is not executable.
  headers[kStackSection] = {.name = names.AddName(".note.GNU-stack"),
                            .type = kProgbits,
                            .offset = offset,
                            .alignment = 1};
  headers[kSymtabSection] = {.name = names.AddName(".symtab"),
                             .type = kSymtab,
                             .offset = offset,
                             .size = symbols.size(),
                             .link = kStrtabSection,
                             .info = 1,  // the first global symbol
                             .alignment = 8,
                             .entry_bytes = kSymbolBytes};
  offset += symbols.size();
  headers[kStrtabSection] = {.name = names.AddName(".strtab"),
                             .type = kStrtab,
                             .offset = offset,
                             .size = symbol_names.size(),
                             .alignment = 1};
  offset += symbol_names.size();
  const uint32_t own_name = names.AddName(".shstrtab");
  headers[kNamesSection] = {.name = own_name,
                            .type = kStrtab,
                            .offset = offset,
                            .size = names.size(),
                            .alignment = 1};
  offset += names.size();
  const uint64_t padding = (8 - offset % 8) % 8;

  Bytes header;
  AddHeader(object.machine, offset + padding, header);
  BATON_RETURN_IF_ERROR(append(header.text()));
  const std::string zeros(ElfObject::kAlignment, '\0');
  const auto align = [&](uint64_t& written) {
    const uint64_t rest = AlignUp(written, ElfObject::kAlignment) - written;
    written += rest;
    return rest == 0 ? absl::OkStatus()
                     : append(absl::string_view(zeros).substr(0, rest));
  };
  uint64_t written = 0;
  for (const ElfConstant& constant : object.constants) {
    for (const absl::string_view piece : constant.pieces) {
      BATON_RETURN_IF_ERROR(align(written));
      BATON_RETURN_IF_ERROR(append(piece));
      written += piece.size();
    }
    BATON_RETURN_IF_ERROR(align(written));
  }
  Bytes tail;
  for (const SectionHeader& section : headers) AddSection(section, tail);
  BATON_RETURN_IF_ERROR(append(symbols.text()));
  BATON_RETURN_IF_ERROR(append(symbol_names.text()));
  BATON_RETURN_IF_ERROR(append(names.text()));
  BATON_RETURN_IF_ERROR(append(absl::string_view(zeros).substr(0, padding)));
  return append(tail.text());
}

}  // namespace baton::tir
