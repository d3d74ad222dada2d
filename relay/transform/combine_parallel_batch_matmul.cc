#include "baton/relay/transform/combine_parallel_batch_matmul.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/combine_parallel.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr int kColumns = 2;  // the axis of the result that is made of parts

// The common properties of products that are combined.
auto Common(const CallNode& call) {
  const TensorTypeNode& weight = *call.arg(1)->tensor_type();
  return std::make_tuple(call.attrs_as<BatchMatmulAttrs>()->out_dtype,
                         weight.dtype(), weight.dim(0),
                         call.tensor_type()->dtype());
}

std::vector<int64_t> Columns(const ParallelCalls& calls) {
  std::vector<int64_t> result;
  for (size_t b = 0; b < calls.size(); ++b) {
    result.push_back(calls.arg_type(b, 1).dim(1).value());
  }
  return result;
}

class BatchMatmulCombiner final : public ParallelCombiner {
 public:
  const Op& op() const override { return BATON_OP("nn.batch_matmul"); }

  bool IsSupported(const CallNode& call) const override {
    const auto* attrs = call.attrs_as<BatchMatmulAttrs>();
    if (attrs == nullptr || attrs->transpose_a || !attrs->transpose_b ||
        call.num_args() != 2) {
      return false;
    }
    const TensorTypeNode& weight = *call.arg(1)->tensor_type();
    return weight.rank() == 3 && weight.dim(1).is_const();
  }
  uint64_t Key(const CallNode& call) const override {
    return absl::HashOf(Common(call));
  }
  bool CanBeCombined(const CallNode& a, const CallNode& b) const override {
    return Common(a) == Common(b);
  }

  Expr Combine(const ParallelCalls& first) const override {
    return Call(op(), {first.args[0][0], Concatenate(first.Args(1), 1)},
                first.calls[0]->attrs());
  }

  bool CanArgsBeCombined(const CallNode& /*first*/, const CallNode& a,
                         const CallNode& b, int /*parent*/,
                         int k) const override {
    const TensorTypeNode& x = *a.arg(k)->tensor_type();
    const TensorTypeNode& y = *b.arg(k)->tensor_type();
    const int axis = x.rank() - 1;
    // With all columns: what is broadcast to them is not concatenated.
    return axis >= 0 && CanBePutTogether(x, y, axis) &&
           a.tensor_type()->rank() == 3 && b.tensor_type()->rank() == 3 &&
           x.dim(axis) == a.tensor_type()->dim(kColumns) &&
           y.dim(axis) == b.tensor_type()->dim(kColumns);
  }

  Expr CombineFollowing(const Expr& data, const CallNode& /*first*/,
                        const ParallelCalls& following) const override {
    const CallNode& call = *following.calls[0];
    std::vector<Expr> args;
    for (int k = 0; k < call.num_args(); ++k) {
      args.push_back(
          k == following.parent ? data : Concatenate(following.Args(k), -1));
    }
    return Call(call.op(), args, call.attrs());
  }

  bool IsCombined(const TensorTypeNode& combined, const ParallelCalls& first,
                  const ParallelCalls& calls) const override {
    return combined.rank() == 3 &&
           IsConcatenation(combined, calls, kColumns, Columns(first));
  }
  std::vector<Expr> Parts(const Expr& combined, const ParallelCalls& first,
                          const ParallelCalls& /*calls*/) const override {
    return SlicesAlong(combined, kColumns, 3, Columns(first));
  }
};

}  // namespace

Pass CombineParallelBatchMatmul(CombineParallelOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const Expr result = CombineParallelCalls(
            function, BatchMatmulCombiner(), options.min_num_branches);
        return Function(result.As<FunctionNode>());
      },
      {.name = "CombineParallelBatchMatmul",
       .opt_level = 4,
       .required = {"InferType"},
       .doc = "Makes one nn.batch_matmul of several with the same left "
              "operands.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .exact = false,
       .examples = {"min_num_branches=2"}},
      options);
}
BATON_REGISTER_PASS(CombineParallelBatchMatmul);

}  // namespace baton::relay
