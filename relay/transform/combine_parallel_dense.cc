#include "baton/relay/transform/combine_parallel_dense.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
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

const TensorTypeNode& WeightType(const CallNode& dense) {
  return *dense.arg(1)->tensor_type();
}

// The common properties of products that are combined; for a batch, also the
// rows of the weight.
auto Common(const CallNode& dense) {
  return std::make_tuple(dense.attrs_as<DenseAttrs>()->out_dtype,
                         WeightType(dense).dtype(), WeightType(dense).dim(1));
}
auto CommonInBatch(const CallNode& dense) {
  return std::make_pair(Common(dense), WeightType(dense).dim(0));
}

class DenseCombiner : public ParallelCombiner {
 public:
  const Op& op() const override { return BATON_OP("nn.dense"); }

  bool IsSupported(const CallNode& call) const override {
    return call.attrs_as<DenseAttrs>() != nullptr && call.num_args() == 2 &&
           WeightType(call).rank() == 2 && WeightType(call).dim(0).is_const() &&
           !WeightType(call).dim(1).is_any();
  }
};

// To one nn.batch_matmul.
class ToBatch final : public DenseCombiner {
 public:
  uint64_t Key(const CallNode& call) const override {
    return absl::HashOf(CommonInBatch(call));
  }
  bool CanBeCombined(const CallNode& a, const CallNode& b) const override {
    return CommonInBatch(a) == CommonInBatch(b);
  }

  Expr Combine(const ParallelCalls& first) const override {
    return nn::BatchMatmul(
        Stack(first.Args(0), 0), Stack(first.Args(1), 0),
        {.out_dtype = first.calls[0]->attrs_as<DenseAttrs>()->out_dtype,
         .transpose_b = true});
  }

  bool CanArgsBeCombined(const CallNode& /*first*/, const CallNode& a,
                         const CallNode& b, int parent, int k) const override {
    // The new axis must be left of those of the data.
    const int rank = a.arg(k)->tensor_type()->rank();
    const int data_rank = a.arg(parent)->tensor_type()->rank();
    return (rank == data_rank || (rank == 1 && data_rank == 2)) &&
           CanBePutTogether(*a.arg(k)->tensor_type(), *b.arg(k)->tensor_type(),
                            /*axis=*/-1);
  }

  Expr CombineFollowing(const Expr& data, const CallNode& /*first*/,
                        const ParallelCalls& following) const override {
    const CallNode& call = *following.calls[0];
    std::vector<Expr> args;
    for (int k = 0; k < call.num_args(); ++k) {
      if (k == following.parent) {
        args.push_back(data);
        continue;
      }
      std::vector<Expr> parts = following.Args(k);
      if (following.arg_type(0, k).rank() == 1) {
        for (Expr& part : parts) part = ExpandDims(std::move(part), 0);
      }
      args.push_back(Stack(std::move(parts), 0));
    }
    return Call(call.op(), args, call.attrs());
  }

  bool IsCombined(const TensorTypeNode& combined,
                  const ParallelCalls& /*first*/,
                  const ParallelCalls& calls) const override {
    if (combined.rank() == 0 ||
        combined.dim(0) != Dim(static_cast<int64_t>(calls.size()))) {
      return false;
    }
    const TensorType part(combined.shape().subspan(1), combined.dtype());
    for (size_t b = 0; b < calls.size(); ++b) {
      if (!SameUpToAxis(calls.type(b), *part.get(), /*axis=*/-1)) return false;
    }
    return true;
  }
  std::vector<Expr> Parts(const Expr& combined, const ParallelCalls& /*first*/,
                          const ParallelCalls& calls) const override {
    const Expr parts = Split(combined, static_cast<int64_t>(calls.size()));
    std::vector<Expr> result;
    for (size_t b = 0; b < calls.size(); ++b) {
      result.push_back(Squeeze(TupleGetItem(parts, static_cast<int>(b)),
                               std::vector<int64_t>{0}));
    }
    return result;
  }
};

// To one nn.dense.
class ToOneDense final : public DenseCombiner {
 public:
  uint64_t Key(const CallNode& call) const override {
    return absl::HashOf(Common(call));
  }
  bool CanBeCombined(const CallNode& a, const CallNode& b) const override {
    return Common(a) == Common(b);
  }

  Expr Combine(const ParallelCalls& first) const override {
    int64_t units = 0;
    for (const int64_t n : Units(first)) units += n;
    DenseAttrs attrs = *first.calls[0]->attrs_as<DenseAttrs>();
    attrs.units = Dim(units);
    return nn::Dense(first.args[0][0], Concatenate(first.Args(1), 0),
                     std::move(attrs));
  }

  bool CanArgsBeCombined(const CallNode& /*first*/, const CallNode& a,
                         const CallNode& b, int /*parent*/,
                         int k) const override {
    const TensorTypeNode& x = *a.arg(k)->tensor_type();
    const TensorTypeNode& y = *b.arg(k)->tensor_type();
    return x.rank() <= a.tensor_type()->rank() &&
           y.rank() <= b.tensor_type()->rank() &&
           CanBePutTogether(x, y, x.rank() - 1);
  }

  Expr CombineFollowing(const Expr& data, const CallNode& /*first*/,
                        const ParallelCalls& following) const override {
    const CallNode& call = *following.calls[0];
    std::vector<Expr> args;
    for (int k = 0; k < call.num_args(); ++k) {
      if (k == following.parent) {
        args.push_back(data);
        continue;
      }
      std::vector<Expr> parts = following.Args(k);
      const int axis = std::max(following.arg_type(0, k).rank() - 1, 0);
      for (size_t b = 0; b < parts.size(); ++b) {
        SpellOut(following, b, k, axis, parts[b]);
      }
      args.push_back(Concatenate(std::move(parts), axis));
    }
    return Call(call.op(), args, call.attrs());
  }

  bool IsCombined(const TensorTypeNode& combined, const ParallelCalls& first,
                  const ParallelCalls& calls) const override {
    return IsConcatenation(combined, calls, PartAxis(first, calls),
                           Units(first));
  }
  std::vector<Expr> Parts(const Expr& combined, const ParallelCalls& first,
                          const ParallelCalls& calls) const override {
    return SlicesAlong(combined, PartAxis(first, calls), calls.type(0).rank(),
                       Units(first));
  }

 private:
  static std::vector<int64_t> Units(const ParallelCalls& first) {
    std::vector<int64_t> result;
    for (const CallNode* dense : first.calls) {
      result.push_back(WeightType(*dense).dim(0).value());
    }
    return result;
  }

  // The axis of the results that has the units: the last one of that extent;
  // -1 if there is none. What follows may have added axes behind it.
  static int PartAxis(const ParallelCalls& first, const ParallelCalls& calls) {
    const Dim units(Units(first)[0]);
    const TensorTypeNode& type = calls.type(0);
    for (int i = type.rank() - 1; i >= 0; --i) {
      if (type.dim(i) == units) return i;
    }
    return -1;
  }

  // Gives `part`, argument `k` of a branch, an element for each of those of the
  // last axis of the data that it is broadcast to.
  static void SpellOut(const ParallelCalls& calls, size_t branch, int k,
                       int axis, Expr& part) {
    const TensorTypeNode& type = calls.arg_type(branch, k);
    const TensorTypeNode& data = calls.arg_type(branch, calls.parent);
    if (data.rank() == 0 || !data.dim(data.rank() - 1).is_const()) return;
    const int64_t extent = data.dim(data.rank() - 1).value();
    if (type.rank() == 0) {
      part = Repeat(ExpandDims(std::move(part), -1), extent, axis);
    } else if (type.dim(type.rank() - 1) == Dim(1) && extent > 1) {
      part = Repeat(std::move(part), extent, axis);
    }
  }
};

Expr CombineDense(const Expr& expr,
                  const CombineParallelDenseOptions& options) {
  if (options.to_batch) {
    return CombineParallelCalls(expr, ToBatch(), options.min_num_branches);
  }
  return CombineParallelCalls(expr, ToOneDense(), options.min_num_branches);
}

}  // namespace

Pass CombineParallelDense(CombineParallelDenseOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(CombineDense(function, options).As<FunctionNode>());
      },
      {.name = "CombineParallelDense",
       .opt_level = 4,
       .required = {"InferType"},
       .doc = "Makes one matrix product of several of the same data.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .exact = false,
       .examples = {"min_num_branches=2", "min_num_branches=2,to_batch=false"}},
      options);
}
BATON_REGISTER_PASS(CombineParallelDense);

}  // namespace baton::relay
