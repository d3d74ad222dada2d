// A million nodes in an ordinary stack: built, typed, printed, passed through
// passes, compared, and destroyed.

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <streambuf>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/expr.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/text_printer.h"
#include "baton/ir/well_formed.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/transform/canonicalize_ops.h"
#include "baton/relay/transform/dead_code_elimination.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/relay/transform/to_basic_block_normal_form.h"
#include "baton/relay/transform/to_graph_normal_form.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

constexpr int kDepth = 1'000'000;

// Runs `body` on a thread with a stack of 8 MiB, whatever the environment's.
void RunInOrdinaryStack(std::function<void()> body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 8 << 20), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* fn) -> void* {
                  (*static_cast<std::function<void()>*>(fn))();
                  return nullptr;
                },
                &body),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// Counts what is written and keeps nothing.
class CountingBuffer : public std::streambuf {
 public:
  int64_t bytes = 0;
  int64_t lines = 0;

 protected:
  int_type overflow(int_type c) override {
    ++bytes;
    lines += c == '\n' ? 1 : 0;
    return c;
  }
  std::streamsize xsputn(const char* s, std::streamsize n) override {
    bytes += n;
    for (std::streamsize i = 0; i < n; ++i) lines += s[i] == '\n' ? 1 : 0;
    return n;
  }
};

IRModule CallChain() {
  const Var x("x", {2, 3});
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) e = relay::Add(std::move(e), x);
  return IRModule::FromExpr(Function({x}, std::move(e)));
}

IRModule LetChain() {
  const Var x("x", {2, 3});
  std::vector<Var> vars;
  vars.reserve(kDepth);
  for (int i = 0; i < kDepth; ++i) vars.push_back(Var("v"));
  Expr e = vars.back();
  for (int i = kDepth - 1; i >= 0; --i) {
    e = Let(vars[i], relay::Add(i == 0 ? x : vars[i - 1], x), std::move(e));
  }
  return IRModule::FromExpr(Function({x}, std::move(e)));
}

void CheckChain(IRModule (*make)()) {
  IRModule module = make();
  BATON_ASSERT_OK_AND_ASSIGN(module, InferTypes(module));
  CountingBuffer buffer;
  std::ostream stream(&buffer);
  AsText(module, stream);
  EXPECT_GT(buffer.lines, kDepth);
  EXPECT_THAT(CheckWellFormed(module), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule other, InferTypes(make()));
  EXPECT_TRUE(StructuralEqual(module, other));
  BATON_ASSERT_OK_AND_ASSIGN(const BinaryModule binary, WriteBinary(module));
  BATON_ASSERT_OK_AND_ASSIGN(
      const BinaryContent read,
      ReadBinary(binary.ToString(), nullptr, "deep.baton"));
  EXPECT_TRUE(StructuralEqual(module, read.module));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(read.module));
  EXPECT_TRUE(typed.SameAs(read.module));
  EXPECT_EQ(StructuralHash(module), StructuralHash(other));
  for (const Pass& pass :
       {relay::FoldConstant(), relay::SimplifyInference(),
        relay::CanonicalizeOps(), relay::BackwardFoldScaleAxis(),
        relay::ForwardFoldScaleAxis(), relay::DeadCodeElimination(),
        relay::ToBasicBlockNormalForm()}) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, pass(module));
    EXPECT_TRUE(after.SameAs(module)) << pass.name();
  }
}

// Through every normal form, to a graph in the end.
void CheckNormalForms(IRModule (*make)()) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module, InferTypes(make()));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule graph, InferTypes(CallChain()));
  for (const Pass& pass :
       {relay::ToANormalForm(), relay::InferType(),
        relay::DeadCodeElimination(), relay::ToBasicBlockNormalForm(),
        relay::DeadCodeElimination({.inline_once = true})}) {
    BATON_ASSERT_OK_AND_ASSIGN(module, pass(module));
  }
  EXPECT_TRUE(StructuralEqual(module, graph));
  BATON_ASSERT_OK_AND_ASSIGN(module, relay::ToANormalForm()(module));
  BATON_ASSERT_OK_AND_ASSIGN(module, relay::ToGraphNormalForm()(module));
  EXPECT_TRUE(StructuralEqual(module, graph));
}

TEST(DeepTest, MillionCalls) {
  RunInOrdinaryStack([] { CheckChain(CallChain); });
}

TEST(DeepTest, MillionLets) {
  RunInOrdinaryStack([] { CheckChain(LetChain); });
}

TEST(DeepTest, NormalFormsOfMillionCalls) {
  RunInOrdinaryStack([] { CheckNormalForms(CallChain); });
}

TEST(DeepTest, NormalFormsOfMillionLets) {
  RunInOrdinaryStack([] { CheckNormalForms(LetChain); });
}

}  // namespace
}  // namespace baton::testing
