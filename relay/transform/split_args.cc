#include "baton/relay/transform/split_args.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/device/device.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The arguments that a function takes for a tensor of that type besides the
// data: unknown extents, and then strides, which alone count for a result.
int64_t ExtraArgs(const Type& type, bool is_result) {
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr) return 0;
  int64_t unknown = 0;
  for (const Dim& dim : tensor->shape()) unknown += dim.is_any() ? 1 : 0;
  if (unknown == 0) return 0;
  return tensor->rank() + (is_result ? 0 : unknown);
}

Expr ConcatenateApart(std::vector<Expr> fields, const TupleNode& tuple,
                      const CallNode& call) {
  return Call(call.op(),
              {StopFusion(Tuple(std::move(fields), {}, tuple.span()))},
              call.attrs());
}

// `call`, a concatenation of `fields`, in parts of at most `limit` arguments.
Expr Split(const CallNode& call, const TupleNode& tuple,
           absl::Span<const Expr> fields, int64_t limit) {
  std::vector<Expr> part;
  int64_t size = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const int64_t args =
        1 + ExtraArgs(tuple.fields()[i]->type(), /*is_result=*/false);
    if (size + args > limit && !part.empty()) {
      Expr before = ConcatenateApart(std::move(part), tuple, call);
      part = {std::move(before)};
      size = args;
    }
    size += args;
    part.push_back(fields[i]);
  }
  return ConcatenateApart(std::move(part), tuple, call);
}

absl::StatusOr<Function> SplitArgsOf(const Function& function, int64_t max) {
  if (max == 0) return function;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      rewriter.Rewrite<CallNode>(
          [&](int i, const CallNode& call) -> absl::StatusOr<Expr> {
            if (call.op() != BATON_OP("concatenate") || call.num_args() != 1) {
              return Expr();
            }
            const auto* tuple = call.arg(0).As<TupleNode>();
            if (tuple == nullptr) return Expr();
            const int64_t results =
                1 + ExtraArgs(call.type(), /*is_result=*/true);
            int64_t args = 0;
            for (const Expr& field : tuple->fields()) {
              args += 1 + ExtraArgs(field->type(), /*is_result=*/false);
            }
            if (args + results < max) return Expr();
            if (max <= results) {
              return absl::InvalidArgumentError(absl::StrCat(
                  "concatenate: the result counts for ", results,
                  " arguments of a function, and max_function_args is ", max));
            }
            const Expr now = rewriter.Args(i)[0];
            return Split(call, *tuple, now.As<TupleNode>()->fields(),
                         max - results);
          }));
  return Function(result.As<FunctionNode>());
}

absl::StatusOr<Pass> CreateSplitArgs(SplitArgsOptions options) {
  if (options.max_function_args < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_function_args: expected no negative number, got ",
                     options.max_function_args));
  }
  return SplitArgs(options);
}

}  // namespace

Pass SplitArgs(SplitArgsOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return SplitArgsOf(function, options.max_function_args);
      },
      {.name = "SplitArgs",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Writes concatenations of many tensors as chains.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .examples = {"max_function_args=8"}},
      options);
}
BATON_REGISTER_PASS_AS("SplitArgs", CreateSplitArgs);

}  // namespace baton::relay
