// Scripts that no one writes: each is read, or refused with an error at a
// place, in a small stack.

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/small_stack.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kHead =
    "@T.prim_func\ndef main(A: T.Buffer((16,), \"int32\")):\n";

// The error for a script with that body; empty if it is read and printed.
std::string Mistake(absl::string_view body) {
  std::string result;
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    const absl::StatusOr<IRModule> module =
        ParseModule(absl::StrCat(kHead, body), "test.tir");
    if (module.ok()) {
      AsText(*module);
    } else {
      result = std::string(module.status().message());
      EXPECT_THAT(result, HasSubstr("test.tir:"));
    }
  });
  return result;
}

std::string Repeated(absl::string_view text, int times) {
  std::string result;
  result.reserve(text.size() * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i) absl::StrAppend(&result, text);
  return result;
}

TEST(HostileScriptsTest, Parameters) {
  std::string many = "@T.prim_func\ndef main(A: T.Buffer((16,), \"int32\")";
  for (int i = 0; i < 100'000; ++i)
    absl::StrAppend(&many, ", a", i, ": T.int32");
  const auto read = ParseModule(absl::StrCat(many, "):\n    A[0] = a7\n"));
  EXPECT_TRUE(read.ok()) << read.status().message();
  for (const char* second : {"T.int32", "T.Buffer((4,), \"int32\")"}) {
    const auto twice =
        ParseModule(absl::StrCat("@T.prim_func\ndef main(A: T.Buffer((16,), "
                                 "\"int32\"), A: ",
                                 second, "):\n    T.evaluate(0)\n"));
    EXPECT_THAT(twice.status().message(),
                HasSubstr("another parameter has the same name"));
  }
  EXPECT_TRUE(ParseModule("@T.prim_func\ndef main(A: T.Buffer((16,), \"int32\")"
                          ", A_handle: T.int32):\n    A[0] = A_handle\n")
                  .ok());
}

TEST(HostileScriptsTest, DeepBrackets) {
  constexpr int kDepth = 30'000;
  EXPECT_EQ(Mistake(absl::StrCat("    A[0] = ", Repeated("(", kDepth), "1",
                                 Repeated(")", kDepth), "\n")),
            "");
  EXPECT_EQ(Mistake(absl::StrCat("    A[0] = ", Repeated("A[", kDepth), "1",
                                 Repeated("]", kDepth), "\n")),
            "");
  EXPECT_EQ(
      Mistake(absl::StrCat("    A[0] = ", Repeated("-", kDepth), "A[0]\n")),
      "");
  EXPECT_EQ(Mistake(absl::StrCat("    A[0] = A[0]", Repeated(" + A[1]", kDepth),
                                 "\n")),
            "");
  EXPECT_THAT(Mistake(absl::StrCat("    A[0] = ", Repeated("(", kDepth), "\n")),
              HasSubstr("error"));
  EXPECT_THAT(
      Mistake(absl::StrCat("    T.func_attr({\"a\": ", Repeated("[", kDepth),
                           "1", Repeated("]", kDepth), "})\n")),
      HasSubstr("values are nested more than"));
}

TEST(HostileScriptsTest, DeepStatements) {
  // Lines grow with the depth.
  constexpr int kDepth = 500;
  std::string text;
  std::string indent = "    ";
  for (int i = 0; i < kDepth; ++i) {
    absl::StrAppend(&text, indent,
                    i % 2 == 0 ? "for i in range(2):\n" : "if A[i] == 0:\n");
    indent += " ";
  }
  EXPECT_EQ(Mistake(absl::StrCat(text, indent, "A[0] = 1\n")), "");
  // Definitions that hold to the end of the body around them.
  EXPECT_EQ(
      Mistake(Repeated("    x: T.int32 = A[0]\n", 30'000) + "    A[0] = x\n"),
      "");
  EXPECT_THAT(Mistake(absl::StrCat("    if A[0] == 0:\n        A[0] = 0\n",
                                   Repeated("    elif A[0] == 1:\n"
                                            "        A[0] = 2\n",
                                            500))),
              "");
}

TEST(HostileScriptsTest, LongLines) {
  EXPECT_EQ(Mistake(absl::StrCat("    A[0] = 1  # ", Repeated("x", 10'000'000),
                                 "\n")),
            "");
  EXPECT_THAT(
      Mistake(absl::StrCat("    A[0] = ", Repeated("x", 10'000'000), "\n")),
      HasSubstr("is not defined here"));
  EXPECT_THAT(
      Mistake(absl::StrCat("    A[0] = ", Repeated("1", 10'000'000), "\n")),
      HasSubstr("more than 64 bits"));
  EXPECT_EQ(Mistake(absl::StrCat("    T.evaluate(T.StringImm(\"",
                                 Repeated("x", 10'000'000), "\"))\n")),
            "");
}

TEST(HostileScriptsTest, HugeNumbers) {
  EXPECT_EQ(Mistake("    for i in range(9223372036854775807):\n"
                    "        A[i] = 1\n"),
            "");
  EXPECT_EQ(Mistake("    for i in range(-5, 9223372036854775807):\n"
                    "        A[i] = 1\n"),
            "");
  EXPECT_EQ(Mistake("    B = T.alloc_buffer((T.int64(9223372036854775807), "
                    "T.int64(9223372036854775807)), \"float32\")\n"
                    "    for i in range(2):\n"
                    "        with T.block(\"C\"):\n"
                    "            v = T.axis.spatial(2, i)\n"
                    "            B[v * T.int64(9223372036854775807), 0] = "
                    "B[0, v + T.int64(9223372036854775807)]\n"),
            "");
  EXPECT_THAT(Mistake("    A[0] = 9223372036854775807 + 1\n"),
              HasSubstr("error"));
  EXPECT_THAT(Mistake("    A[9223372036854775808] = 1\n"),
              HasSubstr("more than 63 bits"));
  EXPECT_THAT(Mistake("    A[0] = 2 ** 9223372036854775807\n"),
              HasSubstr("error"));
  EXPECT_THAT(Mistake("    A[0] = T.int8(300)\n"), HasSubstr("300 is no int8"));
  EXPECT_THAT(Mistake("    A[0:9223372036854775807] = 1\n"),
              HasSubstr("error"));
}

TEST(HostileScriptsTest, Indentation) {
  EXPECT_THAT(Mistake("\tA[0] = 1\n"), HasSubstr("indented by tabs"));
  EXPECT_THAT(Mistake("    for i in range(2):\n\t    A[0] = 1\n"),
              HasSubstr("indented by tabs"));
  EXPECT_THAT(Mistake("    A[0] = 1\n      A[1] = 1\n"), HasSubstr("indented"));
  EXPECT_THAT(Mistake("        A[0] = 1\n    A[1] = 1\n"), HasSubstr("error"));
  EXPECT_THAT(Mistake("    for i in range(2):\n    A[0] = 1\n"),
              HasSubstr("expected an indented line"));
  EXPECT_THAT(Mistake("    for i in range(2):\n"), HasSubstr("error"));
  EXPECT_EQ(Mistake("    A[0] = 1\r\n    A[1] = 1\r\n"), "");
}

TEST(HostileScriptsTest, Names) {
  EXPECT_THAT(Mistake("    A[0] = B[0]\n"),
              HasSubstr("test.tir:3:12: error: `B` is not defined here"));
  EXPECT_THAT(Mistake("    A[0] = T.no_such(1)\n"),
              HasSubstr("there is no T.no_such"));
  EXPECT_THAT(Mistake("    A[0] = __import__(\"os\")\n"), HasSubstr("error"));
  EXPECT_THAT(Mistake("    import os\n"), HasSubstr("is not allowed in a function"));
  EXPECT_THAT(Mistake(absl::string_view("    A[0] = \0\n", 13)),
              HasSubstr("error"));
  EXPECT_THAT(Mistake("    A[0] = \xff\xfe\n"), HasSubstr("error"));
}

}  // namespace
}  // namespace baton::tir
