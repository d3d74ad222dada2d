#include "baton/tir/codegen/elf_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/tir/codegen/codegen_test_util.h"
#include "baton/tir/codegen/elf_object.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

std::string Object() {
  const std::string first(100, 'a');
  const std::string second(3, 'b');
  ElfObject object;
  object.constants = {{"first", {first}, /*is_mergeable=*/true},
                      {"second", {second}}};
  object.tables = {{"table", {{"first"}, {"second", 1}}}};
  std::string text;
  EXPECT_EQ(WriteElfObject(object,
                           [&text](absl::string_view part) {
                             absl::StrAppend(&text, part);
                             return absl::OkStatus();
                           }),
            absl::OkStatus());
  return text;
}

TEST(ElfReaderTest, ReadsWhatIsWritten) {
  const absl::StatusOr<ElfFile> file = ReadElf(Object());
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<std::string> symbols;
  for (const ElfSymbol& symbol : file->symbols) {
    const ElfSection& section = file->sections[symbol.section];
    EXPECT_TRUE(section.is_loaded);
    EXPECT_LE(symbol.offset + symbol.bytes, section.bytes);
    symbols.push_back(absl::StrCat(symbol.name, " ", symbol.bytes));
  }
  EXPECT_THAT(symbols, ::testing::UnorderedElementsAre("first 100", "second 3",
                                                       "table 16"));
  ASSERT_EQ(file->references.size(), 2u);
  for (const ElfReference& reference : file->references) {
    EXPECT_THAT(file->sections[reference.section].name,
                HasSubstr(".data.rel.ro"));
    EXPECT_THAT(file->sections[reference.to_section].name,
                HasSubstr(".rodata"));
  }
}

// The end is missing, or a byte is another one: an error, or another file.
TEST(ElfReaderTest, ReadsDamagedFiles) {
  const std::string object = Object();
  for (size_t size = 0; size < object.size(); ++size) {
    EXPECT_FALSE(ReadElf(object.substr(0, size)).ok()) << size;
  }
  for (size_t i = 0; i < object.size(); ++i) {
    for (const char other : {'\0', '\x7f', '\xff'}) {
      std::string damaged = object;
      damaged[i] = other;
      static_cast<void>(ReadElf(damaged).ok());
    }
  }
  EXPECT_EQ(ReadElf("text").status().message(),
            "the file is no relocatable file of ELF with 64 bits");
}

// A section without bytes in the file cannot have the names.
TEST(ElfReaderTest, NamesHaveBytes) {
  std::string object = Object();
  uint64_t table = 0;
  uint16_t names = 0;
  std::memcpy(&table, object.data() + 40, 8);
  std::memcpy(&names, object.data() + 62, 2);
  const uint64_t header = table + uint64_t{64} * names;
  const uint32_t no_bits = 8;
  const uint64_t far = uint64_t{1} << 40;
  std::memcpy(object.data() + header + 4, &no_bits, 4);
  std::memcpy(object.data() + header + 24, &far, 8);
  EXPECT_EQ(ReadElf(object).status().message(), "the object file is damaged");
}

// A reference of an instruction with an immediate operand is to the begin of a
// constant, as one without is. Entries of a jump table are no references.
TEST(ElfReaderTest, ReferencesBeforeAnImmediate) {
#ifndef __x86_64__
  GTEST_SKIP() << "the text is of x86-64";
#endif
  if (!HasTool("g++")) GTEST_SKIP() << "there is no g++";
  const std::string base = TemporaryBase("immediates");
  std::ofstream(base + ".s") << R"(
  .section .rodata.cst16,"aM",@progbits,16
  .zero 16
.L16:
  .quad 1, 2
  .section .rodata.cst4,"aM",@progbits,4
  .zero 4
.L4:
  .long 3
  .section .rodata,"a",@progbits
table:
  .zero 8
.Ljumps:
  .long .Lend - .Ljumps
  .long .Lend - .Ljumps
  .text
f:
  pshufd $27, .L16(%rip), %xmm0
  paddd .L16(%rip), %xmm0
  shufps $1, .L16(%rip), %xmm0
  mulss .L4(%rip), %xmm0
  roundss $1, .L4(%rip), %xmm0
  movss table+4(%rip), %xmm1
  cmpb $3, table+4(%rip)
.Lend:
  ret
)";
  const std::string command =
      absl::StrCat("g++ -c ", base, ".s -o ", base, ".o");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const absl::StatusOr<ElfFile> file = ReadElf(FileText(base + ".o"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<std::string> references;
  for (const ElfReference& reference : file->references) {
    references.push_back(absl::StrCat(file->sections[reference.to_section].name,
                                      " ", reference.to_offset));
  }
  EXPECT_THAT(references, ::testing::ElementsAre(
                              ".rodata.cst16 16", ".rodata.cst16 16",
                              ".rodata.cst16 16", ".rodata.cst4 4",
                              ".rodata.cst4 4", ".rodata 4", ".rodata 4"));
  for (const ElfSection& section : file->sections) {
    EXPECT_EQ(section.entry_bytes, section.name == ".rodata.cst16"  ? 16
                                   : section.name == ".rodata.cst4" ? 4
                                                                    : 0)
        << section.name;
  }
}

std::string Member(absl::string_view name, absl::string_view bytes) {
  return absl::StrCat(absl::StrFormat("%-16s%-12d%-6d%-6d%-8d%-10d`\n", name, 0,
                                      0, 0, 644, bytes.size()),
                      bytes, bytes.size() % 2 == 1 ? "\n" : "");
}

TEST(ElfReaderTest, ReadsArchives) {
  const std::string archive = absl::StrCat(
      "!<arch>\n", Member("/", "table"),
      Member("//", "a_name_that_is_long.o/\nanother_long_name.o/\n"),
      Member("short.o/", "one"), Member("/0", "two!"), Member("/23", "three"));
  EXPECT_TRUE(IsArchive(archive));
  const absl::StatusOr<std::vector<ArchiveMember>> members =
      ReadArchive(archive);
  ASSERT_TRUE(members.ok()) << members.status();
  std::vector<std::string> found;
  for (const ArchiveMember& member : *members) {
    found.push_back(absl::StrCat(member.name, ": ", member.bytes));
  }
  EXPECT_THAT(found, ::testing::ElementsAre("short.o: one",
                                            "a_name_that_is_long.o: two!",
                                            "another_long_name.o: three"));
  for (size_t size = 8; size < archive.size(); ++size) {
    static_cast<void>(ReadArchive(archive.substr(0, size)).ok());
  }
  EXPECT_FALSE(ReadArchive(archive.substr(0, archive.size() - 20)).ok());
  EXPECT_FALSE(ReadArchive("text").ok());
}

}  // namespace
}  // namespace baton::tir
