// The pass LowerToTir: the shape of its functions, what it leaves, and whole
// networks, whose values are those of kernels bit for bit, also after passes of
// the level of loops.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::lower {
namespace {

using relay::EvaluateFunction;
using relay::Value;

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<IRModule> RunPasses(const IRModule& module,
                                   const std::string& text) {
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline(text));
  return PassContext().Run([&] { return pipeline(module); });
}

IRModule Parse(absl::string_view text) {
  return testing::ParseTyped(absl::StrCat("#[version = \"0.0.5\"]\n", text));
}

TEST(LowerToTirTest, MakesAFunctionOfAGroup) {
  const IRModule module = Parse(R"(
def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) {
  nn.relu(add(%x, %b))
}
)");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                             RunPasses(module, "FuseOps,LowerToTir"));
  const std::string text = ToText(lowered);
  EXPECT_THAT(text, HasSubstr("@fused_add_nn_relu(%x, %b)"));
  const tir::PrimFunc function =
      lowered.Find<tir::PrimFunc>("fused_add_nn_relu");
  ASSERT_TRUE(function.defined()) << text;
  EXPECT_EQ(function->type().ToString(),
            "fn (Tensor[(2, 3), float32], Tensor[(3), float32]) -> "
            "Tensor[(2, 3), float32]");
  EXPECT_THAT(text, HasSubstr(R"(
def fused_add_nn_relu(p0: T.Buffer((2, 3), "float32"), p1: T.Buffer((3,), "float32"), T_relu: T.Buffer((2, 3), "float32")):
)"));
  EXPECT_THAT(text, HasSubstr(R"(
    T_add = T.alloc_buffer((2, 3))
    for ax0, ax1 in T.grid(2, 3):
        with T.block("T_add"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(p0[v_ax0, v_ax1], p1[v_ax1])
            T.writes(T_add[v_ax0, v_ax1])
            T_add[v_ax0, v_ax1] = p0[v_ax0, v_ax1] + p1[v_ax1]
)"));
  // The text reads back, with both levels, and verifies.
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule read, ParseModule(text));
  EXPECT_TRUE(StructuralEqual(read, lowered)) << ToText(read);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, relay::InferTypes(read));
  EXPECT_EQ(CheckWellFormed(typed), absl::OkStatus());
}

// A maximum names what it compares more than once; the text must not double
// with each step in which lanes are merged.
TEST(LowerToTirTest, MergesLanesWithoutRepeatingThem) {
  const IRModule module = Parse(R"(
def @main(%x: Tensor[(4, 320), float32]) {
  max(%x, axis=[1])
}
)");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                             RunPasses(module, "FuseOps,LowerToTir"));
  const std::string text = ToText(lowered);
  EXPECT_LT(text.size(), 7000u) << text;
}

TEST(LowerToTirTest, SharesEqualFunctionsAndPassesTuplesAndConstants) {
  const IRModule module = Parse(R"(
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
  %0 = concatenate((exp(%x), exp(%y)), axis=1);
  split(%0, indices_or_sections=3, axis=1)
}
)");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                             RunPasses(module, "FuseOps,LowerToTir"));
  const std::string text = ToText(lowered);
  EXPECT_THAT(text, Not(HasSubstr("Primitive")));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, relay::InferTypes(lowered));
  const std::vector<Value> args = {
      Value(*relay::RandomTensor(DType::Float(32), {2, 3}, 1)),
      Value(*relay::RandomTensor(DType::Float(32), {2, 3}, 2))};
  BATON_ASSERT_OK_AND_ASSIGN(const Value before,
                             EvaluateFunction(module, "main", args));
  BATON_ASSERT_OK_AND_ASSIGN(const Value after,
                             EvaluateFunction(typed, "main", args));
  ASSERT_EQ(after.fields().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(before.fields()[i].tensor().bytes(),
              after.fields()[i].tensor().bytes());
  }
}

TEST(LowerToTirTest, LeavesOperatorsWithoutAComputation) {
  const IRModule module = Parse(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  searchsorted(exp(%x), %x, dtype="int32")
}
)");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                             RunPasses(module, "FuseOps,LowerToTir"));
  const std::string text = ToText(lowered);
  EXPECT_THAT(text, HasSubstr("searchsorted("));
  EXPECT_THAT(text, HasSubstr("@fused_exp(%x)"));
}

void CheckNetwork(const std::string& spec) {
  SCOPED_TRACE(spec);
  BATON_ASSERT_OK_AND_ASSIGN(const testing::Workload workload,
                             testing::GetWorkload(spec));
  const IRModule& module = workload.module;
  const relay::Function main = module.Find<relay::Function>("main");
  BATON_ASSERT_OK_AND_ASSIGN(
      std::vector<Value> args,
      relay::RandomInputs(main, 1, relay::RandomRange::kMild));
  BATON_ASSERT_OK_AND_ASSIGN(const Value expected,
                             EvaluateFunction(module, "main", args));
  std::string pipeline;
  for (const char* passes :
       {"FuseOps,LowerToTir",
        "tir.LowerInitBlock,tir.PlanAndUpdateBufferAllocationLocation,"
        "tir.ConvertBlocksToOpaque,tir.CompactBufferAllocation,"
        "tir.LowerOpaqueBlock,tir.FlattenBuffer,tir.Simplify"}) {
    absl::StrAppend(&pipeline, pipeline.empty() ? "" : ",", passes);
    SCOPED_TRACE(pipeline);
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                               RunPasses(module, pipeline));
    EXPECT_GT(lowered.functions<tir::PrimFunc>().size(), 0u);
    EXPECT_THAT(ToText(lowered), Not(HasSubstr("Primitive")));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed,
                               relay::InferTypes(lowered));
    BATON_ASSERT_OK_AND_ASSIGN(const Value computed,
                               EvaluateFunction(typed, "main", args));
    EXPECT_EQ(expected.tensor().bytes(), computed.tensor().bytes());
    if (!testing::IsLongTest()) break;
  }
}

TEST(LowerToTirTest, Networks) {
  CheckNetwork("mlp{image_shape=[1,5,5]}");
  CheckNetwork("dcgan{ngf=1,random_len=5}");
  if (!testing::IsLongTest()) return;
  CheckNetwork("mobilenet{alpha=0.125,image_shape=[3,32,32],num_classes=5}");
  CheckNetwork("resnet{image_shape=[3,28,28],num_layers=8,num_classes=10}");
}

}  // namespace
}  // namespace baton::lower
