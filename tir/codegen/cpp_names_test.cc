#include "baton/tir/codegen/cpp_names.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

TEST(CppNamesTest, MakesIdentifiers) {
  EXPECT_EQ(CppIdentifier("conv1/out:0"), "conv1_out_0");
  EXPECT_EQ(CppIdentifier("1x"), "_1x");
  EXPECT_EQ(CppIdentifier("class"), "class_");
  EXPECT_EQ(CppIdentifier("\xc3\xa9"), "__");
  EXPECT_EQ(CppIdentifier(""), "_");
  // Macros of compilers and of standard headers.
  for (const char* name : {"stdin", "INT8_MAX", "UINT64_C", "__LINE__",
                           "__x86_64", "_LP64", "EOF", "errno"}) {
    EXPECT_EQ(CppIdentifier(name), absl::StrCat(name, "_"));
  }
  for (const char* name : {"X", "_Relu", "MAX", "_1", "x_C", "_x", "X1_OUT"}) {
    EXPECT_EQ(CppIdentifier(name), name);
  }
  EXPECT_EQ(CppStringLiteral("a\n\"?"
                             "?/\xc3\xa9"),
            "\"a\\n\\\"\\?\\?/\\303\\251\"");
  CppNames names;
  EXPECT_EQ(names.Unique("a.b"), "a_b");
  EXPECT_EQ(names.Unique("a:b"), "a_b_2");
  EXPECT_EQ(names.Unique("a_b_2"), "a_b_2_2");
  EXPECT_EQ(names.Unique("a/b"), "a_b_3");
  EXPECT_EQ(CppCommentText("x */ int y; /* \\\n?"
                           "?/"),
            "x ./ int y; /. . ../");
}

// No macro of a header that programs include before that of a model, but for
// some whose names are reserved.
TEST(CppNamesTest, NoIdentifierIsAMacro) {
  const std::string folder = ::testing::TempDir();
  std::ofstream headers(folder + "/headers.cc");
  for (const char* header :
       {"algorithm", "array",   "cassert", "cfloat",  "chrono",     "cinttypes",
        "climits",   "cmath",   "cstddef", "cstdint", "cstdio",     "cstdlib",
        "complex.h", "cstring", "ctime",   "fstream", "functional", "iostream",
        "limits",    "memory",  "mutex",   "string",  "thread",     "vector"}) {
    headers << "#include <" << header << ">\n";
  }
  headers.close();
  const std::string command = absl::StrCat(
      "cd ", folder, " && g++ -std=gnu++17 -dM -E headers.cc >macros 2>errors");
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "there is no g++";
  std::ifstream macros(folder + "/macros");
  int count = 0;
  for (std::string define, name, rest; macros >> define >> name;) {
    std::getline(macros, rest);
    // A macro with arguments is none without parentheses behind it.
    if (name[0] == '_' || name.find('(') != std::string::npos) continue;
    EXPECT_NE(CppIdentifier(name), name);
    ++count;
  }
  EXPECT_GT(count, 500);
}

// Names of models are as they were.
TEST(CppNamesTest, OtherNamesStay) {
  for (const char* name :
       {"X", "E", "ENCODER", "SIGMOID", "FILTER", "FLOAT_IN", "PRIOR", "PRIor",
        "SCNN_1", "MOD", "input_ids", "M_0", "STATE", "SNR", "MATH"}) {
    EXPECT_EQ(CppIdentifier(name), name);
  }
}

}  // namespace
}  // namespace baton::tir
