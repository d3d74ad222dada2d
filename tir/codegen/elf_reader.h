// Reads ELF64 relocatable files, and archives of them, as far as a report of
// sizes needs them: sections, symbols and relocations.
//
//   BATON_ASSIGN_OR_RETURN(const ElfFile file, ReadElf(bytes));
//   for (const ElfSection& section : file.sections) total += section.bytes;
//
// Reads little-endian files as compilers write them. The error for any other
// file says what is wrong with it.

#ifndef BATON_TIR_CODEGEN_ELF_READER_H_
#define BATON_TIR_CODEGEN_ELF_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton::tir {

struct ElfSection {
  std::string name;
  // True if it takes memory in a program; false for tables of the file.
  bool is_loaded = false;
  int64_t bytes = 0;       // in memory
  int64_t file_bytes = 0;  // fewer for memory that begins as zeros
  // The size of each constant where the section has constants of one size; else
  // 0.
  int64_t entry_bytes = 0;
};

// A function or an object that the file defines.
struct ElfSymbol {
  std::string name;
  size_t section = 0;  // index in ElfFile::sections
  int64_t offset = 0;  // in the section
  int64_t bytes = 0;
};

// A relocation: the bytes at `offset` of a section refer to the byte at
// `to_offset` of another section or of the same one. Sections are indices in
// ElfFile::sections, offsets are in bytes.
struct ElfReference {
  size_t section = 0;
  int64_t offset = 0;
  size_t to_section = 0;
  int64_t to_offset = 0;
};

struct ElfFile {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfReference> references;
};

absl::StatusOr<ElfFile> ReadElf(absl::string_view bytes);

struct ArchiveMember {
  std::string name;
  absl::string_view bytes;  // points into the archive
};

// True if `bytes` begins like an archive of `ar`.
bool IsArchive(absl::string_view bytes);

// The members of an archive of `ar`, without its tables of symbols and names.
absl::StatusOr<std::vector<ArchiveMember>> ReadArchive(absl::string_view bytes);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_ELF_READER_H_
