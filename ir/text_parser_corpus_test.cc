// The texts of testdata/parse, each with the outcome that the reference
// implementation has for it: see testdata/README.md.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/text_parser.h"
#include "baton/ir/text_printer.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

struct TestAttrs {
  int axis = 0;
  std::string name;

  static constexpr char kTypeKey[] = "attrs.TestAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &TestAttrs::axis, "An axis.");
    v("name", &TestAttrs::name, "A name.", kRequired);
  }
};
BATON_REGISTER_ATTRS(TestAttrs);

struct Case {
  bool expects_error;
  std::string source;
  std::string expected;
};

Case ReadCase(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  const std::vector<std::string> parts = absl::StrSplit(text, "// -----\n");
  if (parts.size() != 3) {
    ADD_FAILURE() << path << " is not a case";
    return {};
  }
  return {parts[0].find("// expect: error") != std::string::npos, parts[1],
          parts[2]};
}

absl::StatusOr<IRModule> ParseAndInfer(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text);
  if (!module.ok()) return module;
  return InferTypes(*module);
}

void ExpectRoundTrip(const IRModule& module) {
  const std::string text = AsText(module);
  const absl::StatusOr<IRModule> again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FirstDifference(module, *again), std::nullopt);
}

std::vector<std::string> Corpus() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator("ir/testdata/parse")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class CorpusTest : public testing::TestWithParam<std::string> {};

TEST_P(CorpusTest, ParsesAsInTheReference) {
  const Case c =
      ReadCase(absl::StrCat("ir/testdata/parse/", GetParam(), ".relay"));
  const absl::StatusOr<IRModule> module = ParseAndInfer(c.source);
  if (c.expects_error) {
    EXPECT_FALSE(module.ok()) << c.source;
    return;
  }
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<IRModule> expected = ParseAndInfer(c.expected);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(FirstDifference(*module, *expected, {.map_free_vars = true}),
            std::nullopt);
  ExpectRoundTrip(*module);
  // A typed module comes back with the same text.
  const absl::StatusOr<IRModule> again = ParseAndInfer(AsText(*module));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(AsText(*again), AsText(*module));
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusTest, testing::ValuesIn(Corpus()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace baton
