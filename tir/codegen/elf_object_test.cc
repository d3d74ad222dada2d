#include "baton/tir/codegen/elf_object.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

std::string Written(const ElfObject& object) {
  std::string file;
  const absl::Status status =
      WriteElfObject(object, [&file](absl::string_view part) {
        absl::StrAppend(&file, part);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return file;
}

std::string Mistake(const ElfObject& object) {
  return std::string(WriteElfObject(object, [](absl::string_view) {
                       return absl::OkStatus();
                     }).message());
}

std::string Path(absl::string_view name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return absl::StrCat(folder == nullptr ? "/tmp" : folder, "/", name);
}

bool Has(const std::string& tool) {
  return std::system(
             absl::StrCat(tool, " --version >/dev/null 2>&1").c_str()) == 0;
}

// The output of a command; `exit` and its code where it fails.
std::string OutputOf(const std::string& command) {
  const std::string path = Path("output");
  const int code =
      std::system(absl::StrCat(command, " >", path, " 2>&1").c_str());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (code != 0) text << "exit " << code;
  return text.str();
}

ElfObject Small() {
  ElfObject object;
  object.constants = {
      {"first", {"abcde", "xyz"}}, {"empty", {}}, {"second", {"123"}}};
  return object;
}

TEST(ElfObjectTest, IsReadByReadelf) {
  if (!Has("readelf")) GTEST_SKIP() << "there is no readelf";
  std::ofstream(Path("a.o"), std::ios::binary) << Written(Small());
  const std::string text = OutputOf("readelf -W -h -S -s " + Path("a.o"));
  EXPECT_THAT(text, HasSubstr("REL (Relocatable file)"));
  EXPECT_THAT(text, HasSubstr("Advanced Micro Devices X86-64"));
  EXPECT_THAT(text,
              HasSubstr(".rodata           PROGBITS        "
                        "0000000000000000 000040 0000c0 00   A  0   0 64"));
  EXPECT_THAT(text, HasSubstr(".note.GNU-stack   PROGBITS"));
  EXPECT_THAT(text,
              HasSubstr("0000000000000000    67 OBJECT  GLOBAL DEFAULT    "
                        "1 first"));
  EXPECT_THAT(text,
              HasSubstr("0000000000000080     3 OBJECT  GLOBAL DEFAULT    "
                        "1 second"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("arning")));
}

TEST(ElfObjectTest, OfAArch64) {
  if (!Has("readelf")) GTEST_SKIP() << "there is no readelf";
  ElfObject object = Small();
  object.machine = ElfMachine::kAArch64;
  object.large_bytes = 1;
  std::ofstream(Path("arm.o"), std::ios::binary) << Written(object);
  const std::string text = OutputOf("readelf -W -h -S " + Path("arm.o"));
  EXPECT_THAT(text, HasSubstr("AArch64"));
  EXPECT_THAT(text, HasSubstr(" .rodata "));
}

TEST(ElfObjectTest, LargeSections) {
  if (!Has("readelf")) GTEST_SKIP() << "there is no readelf";
  ElfObject object = Small();
  object.large_bytes = 0xc0;
  std::ofstream(Path("large.o"), std::ios::binary) << Written(object);
  EXPECT_THAT(OutputOf("readelf -W -S " + Path("large.o")),
              HasSubstr(".lrodata          PROGBITS        0000000000000000 "
                        "000040 0000c0 00  Al"));
  object.large_bytes = 0xc1;
  std::ofstream(Path("large.o"), std::ios::binary) << Written(object);
  EXPECT_THAT(OutputOf("readelf -W -S " + Path("large.o")),
              HasSubstr(" .rodata "));
}

TEST(ElfObjectTest, IsLinked) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  for (const int64_t large : {int64_t{1} << 30, int64_t{1}}) {
    ElfObject object = Small();
    object.large_bytes = large;
    std::ofstream(Path("b.o"), std::ios::binary) << Written(object);
    std::ofstream(Path("b_main.cc")) << R"(
#include <cstdint>
#include <cstring>
extern "C" const char first[67];
extern "C" const char second[3];
int main() {
  if (reinterpret_cast<uintptr_t>(first) % 64 != 0) return 1;
  if (std::memcmp(first, "abcde", 5) != 0 || first[5] != 0) return 2;
  if (std::memcmp(first + 64, "xyz", 3) != 0) return 3;
  return std::memcmp(second, "123", 3) == 0 ? 0 : 4;
}
)";
    EXPECT_EQ(OutputOf(absl::StrCat("g++ -Wl,--fatal-warnings -o ", Path("b"),
                                    " ", Path("b_main.cc"), " ", Path("b.o"),
                                    " && ", Path("b"))),
              "");
  }
}

// Objects with a table, two of whose constants are mergeable.
ElfObject WithTable(const std::string& name, absl::string_view own) {
  ElfObject object;
  object.constants = {{"same", {"equal"}, /*is_mergeable=*/true},
                      {name + "_own", {"12345", own}},
                      {name + "_other", {own}, /*is_mergeable=*/true}};
  object.tables = {
      {name, {{"same"}, {name + "_own", 64}, {}, {name + "_other", 1}}}};
  return object;
}

TEST(ElfObjectTest, ProgramsHaveOneCopyOfMergeableConstants) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(Path("c_main.cc")) << R"(
#include <cstdint>
#include <cstring>
extern "C" const char* const one[4];
extern "C" const char* const two[4];
int main() {
  if (one[0] != two[0] || std::memcmp(one[0], "equal", 5) != 0) return 1;
  if (reinterpret_cast<uintptr_t>(one[0]) % 64 != 0) return 2;
  if (std::memcmp(one[1], "first", 5) != 0) return 3;
  if (std::memcmp(two[1], "second", 6) != 0) return 4;
  if (one[2] != nullptr || two[2] != nullptr) return 5;
  return std::memcmp(one[3], "irst", 4) == 0 ? 0 : 6;
}
)";
  for (const int64_t large : {int64_t{1} << 30, int64_t{1}}) {
    ElfObject one = WithTable("one", "first");
    ElfObject two = WithTable("two", "second");
    one.large_bytes = two.large_bytes = large;
    std::ofstream(Path("one.o"), std::ios::binary) << Written(one);
    std::ofstream(Path("two.o"), std::ios::binary) << Written(two);
    for (const char* flags : {"", "-no-pie", "-fuse-ld=lld", "-fuse-ld=gold"}) {
      if (absl::StrContains(flags, "ld=") &&
          !Has(absl::StrCat("g++ ", flags, " -Wl,--version"))) {
        continue;
      }
      EXPECT_EQ(OutputOf(absl::StrCat("g++ -Wl,--fatal-warnings ", flags,
                                      " -o ", Path("c"), " ", Path("c_main.cc"),
                                      " ", Path("one.o"), " ", Path("two.o"),
                                      " && ", Path("c"))),
                "")
          << flags;
    }
  }
}

TEST(ElfObjectTest, TablesAndGroupsAreReadByReadelf) {
  if (!Has("readelf")) GTEST_SKIP() << "there is no readelf";
  for (const ElfMachine machine : {ElfMachine::kX86_64, ElfMachine::kAArch64}) {
    ElfObject object = WithTable("one", "first");
    object.machine = machine;
    std::ofstream(Path("d.o"), std::ios::binary) << Written(object);
    const std::string text = OutputOf("readelf -W -S -s -g -r " + Path("d.o"));
    EXPECT_THAT(text, HasSubstr("COMDAT group section [    2] `.group' [same] "
                                "contains 1 sections"));
    EXPECT_THAT(text, HasSubstr("WEAK   HIDDEN     3 same"));
    EXPECT_THAT(text,
                HasSubstr(machine == ElfMachine::kX86_64 ? "R_X86_64_64"
                                                         : "R_AARCH64_ABS64"));
    EXPECT_THAT(text, HasSubstr("one_own + 40"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("arning")));
  }
}

TEST(ElfObjectTest, EqualConstantsGiveEqualBytes) {
  EXPECT_EQ(Written(Small()), Written(Small()));
}

TEST(ElfObjectTest, RefusesSymbols) {
  ElfObject object;
  object.constants = {{"", {}}};
  EXPECT_THAT(Mistake(object), HasSubstr("empty or has a NUL"));
  object.constants = {{"a", {}}, {"a", {}}};
  EXPECT_EQ(Mistake(object), "symbol a of an object file is given twice");
  object.constants = {{"a", {}}};
  object.tables = {{"b", {{"c"}}}};
  EXPECT_EQ(Mistake(object),
            "a table of an object file points to c, which it does not have");
  object = ElfObject();
  for (size_t i = 0; i < ElfObject::kMaxMergeable + 3000; ++i) {
    object.constants.push_back({absl::StrCat("a", i), {}, true});
  }
  EXPECT_EQ(Mistake(object), "an object file with 33000 mergeable constants");
}

TEST(ElfObjectTest, ReportsErrorsOfTheWriter) {
  EXPECT_EQ(WriteElfObject(Small(),
                           [](absl::string_view) {
                             return absl::UnavailableError("full");
                           }),
            absl::UnavailableError("full"));
}

}  // namespace
}  // namespace baton::tir
