#include "baton/examples/write_a_tir_pass.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/loops_laws.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

// [call]
std::string BodyAfter(const Pass& pass, absl::string_view body) {
  constexpr absl::string_view kHead =
      "@T.prim_func\n"
      "def main(A: T.Buffer((8, 8), \"float32\")):\n";
  const absl::StatusOr<IRModule> module =
      ParseModule(absl::StrCat(kHead, body));
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<IRModule> result = pass(*module);
  if (!result.ok()) return std::string(result.status().message());
  const std::string text = AsText(*result);
  // The lines after the head of the function, with the indentation of `body`.
  std::string rest;
  for (absl::string_view line :
       absl::StrSplit(text.substr(text.find("):\n") + 3), '\n')) {
    absl::ConsumePrefix(&line, "    ");
    absl::StrAppend(&rest, line, line.empty() ? "" : "\n");
  }
  return rest;
}

TEST(RemoveUnitLoopsTest, LoopsOfOneStepGo) {
  EXPECT_EQ(BodyAfter(RemoveUnitLoops(),
                      "    for i in range(3, 4):\n"
                      "        for j in range(i - 2):\n"
                      "            for k in range(8):\n"
                      "                A[i, k] = A[j, k]\n"),
            "    for k in range(8):\n"
            "        A[3, k] = A[0, k]\n");
}
// [/call]

TEST(RemoveUnitLoopsTest, ThreadsAndAnnotationsStay) {
  const std::string threads =
      "    for i in T.thread_binding(1, thread=\"threadIdx.x\"):\n"
      "        A[i, 0] = T.float32(0)\n";
  EXPECT_EQ(BodyAfter(RemoveUnitLoops(), threads), threads);
  const std::string annotated =
      "    for i in T.serial(1, annotations={\"key\": 1}):\n"
      "        A[i, 0] = T.float32(0)\n";
  EXPECT_EQ(BodyAfter(RemoveUnitLoops(), annotated), annotated);
  EXPECT_EQ(BodyAfter(RemoveUnitLoops({.annotated = true}), annotated),
            "    A[0, 0] = T.float32(0)\n");
}

// [by_name]
TEST(RemoveUnitLoopsTest, RunsByName) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass pipeline,
      ParsePipeline("example.RemoveUnitLoops{annotated=true},tir.Simplify"));
  EXPECT_EQ(BodyAfter(pipeline,
                      "    for i in T.serial(1, annotations={\"key\": 1}):\n"
                      "        A[i + i, 0] = T.float32(0)\n"),
            "    A[0, 0] = T.float32(0)\n");
}
// [/by_name]

}  // namespace

// [laws]
BATON_TEST_LOOPS_LAWS(RemoveUnitLoops,
                      ::testing::Values("example.RemoveUnitLoops",
                                        "example.RemoveUnitLoops{annotated="
                                        "true}"));
// [/laws]

}  // namespace baton::examples
