#include "baton/relay/transform/fold_explicit_padding.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<ExplicitPaddingRule>& ExplicitPaddingRules() {
  static auto* const rules = new OpProperty<ExplicitPaddingRule>;
  return *rules;
}

namespace {

bool IsZero(const CallNode& /*call*/, const Tensor& value) {
  return value.AtAsDouble(0) == 0;
}

// Maximum pools pad with the lowest value of the element type.
bool IsLowest(const CallNode& /*call*/, const Tensor& value) {
  return value.AtAsDouble(0) == LowestFinite(value.dtype());
}

// The zero point of the data, with the element type that it has there.
bool IsZeroPoint(const CallNode& call, const Tensor& value) {
  constexpr int kZeroPoint = 2;
  if (call.num_args() <= kZeroPoint) return false;
  const Tensor* zero_point = ConstantTensor(call.arg(kZeroPoint));
  return zero_point != nullptr && *zero_point == value;
}

// `padding`, that of a window over the spatial axes of `layout`, and that of
// `pad`, together; nullopt if `pad` pads other axes too.
std::optional<Dims> AddPadding(Dims padding, absl::string_view layout,
                               const PadAttrs& pad) {
  if (layout.size() != pad.pad_width.size()) return std::nullopt;
  std::vector<size_t> spatial;
  for (size_t i = 0; i < layout.size(); ++i) {
    const std::vector<int64_t>& width = pad.pad_width[i];
    if (width.size() != 2) return std::nullopt;
    // Only what is added can move: nn.pad may also cut off.
    if (width[0] < 0 || width[1] < 0) return std::nullopt;
    if (absl::StrContains("DHW", layout.substr(i, 1))) {
      spatial.push_back(i);
    } else if (width[0] != 0 || width[1] != 0) {
      return std::nullopt;
    }
  }
  SpellOutPadding(spatial.size(), padding);
  if (padding.size() != 2 * spatial.size()) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    for (size_t k = 0; k < spatial.size(); ++k) {
      Dim& sum = padding[side * spatial.size() + k];
      sum = sum + Dim(pad.pad_width[spatial[k]][side]);
      if (sum.is_any()) return std::nullopt;
    }
  }
  return padding;
}

// A: attributes of convolutions.
template <typename A>
Attrs WithConvPadding(const Attrs& attrs, const PadAttrs& pad) {
  const A* conv = attrs.As<A>();
  if (conv == nullptr) return {};
  std::optional<Dims> padding =
      AddPadding(conv->padding, conv->data_layout, pad);
  if (!padding.has_value()) return {};
  A result = *conv;
  result.padding = *std::move(padding);
  return Attrs::Make(std::move(result));
}

// A: attributes of pooling.
template <typename A>
std::optional<A> PaddedPool(const Attrs& attrs, const PadAttrs& pad) {
  const A* pool = attrs.As<A>();
  if (pool == nullptr) return std::nullopt;
  std::optional<Dims> padding = AddPadding(pool->padding, pool->layout, pad);
  if (!padding.has_value()) return std::nullopt;
  A result = *pool;
  result.padding = *std::move(padding);
  return result;
}

template <typename A>
Attrs WithMaxPoolPadding(const Attrs& attrs, const PadAttrs& pad) {
  std::optional<A> result = PaddedPool<A>(attrs, pad);
  return result.has_value() ? Attrs::Make(*std::move(result)) : Attrs();
}

template <typename A>
Attrs WithAvgPoolPadding(const Attrs& attrs, const PadAttrs& pad) {
  std::optional<A> result = PaddedPool<A>(attrs, pad);
  if (!result.has_value()) return {};
  if (!result->count_include_pad) {
    // The last windows of a size that is rounded up end outside of the padded
    // data, and are no longer counted in full.
    const bool has_padding = absl::c_any_of(
        attrs.As<A>()->padding, [](const Dim& dim) { return dim != Dim(0); });
    if (has_padding || result->ceil_mode) return {};
    result->count_include_pad = true;
  }
  return Attrs::Make(*std::move(result));
}

BATON_EXTEND_OP("nn.conv1d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithConvPadding<Conv1DAttrs>});
BATON_EXTEND_OP("nn.conv2d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithConvPadding<Conv2DAttrs>});
BATON_EXTEND_OP("nn.conv3d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithConvPadding<Conv3DAttrs>});
BATON_EXTEND_OP("qnn.conv2d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZeroPoint, WithConvPadding<Conv2DAttrs>});
BATON_EXTEND_OP("nn.max_pool1d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsLowest, WithMaxPoolPadding<MaxPool1DAttrs>});
BATON_EXTEND_OP("nn.max_pool2d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsLowest, WithMaxPoolPadding<MaxPool2DAttrs>});
BATON_EXTEND_OP("nn.max_pool3d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsLowest, WithMaxPoolPadding<MaxPool3DAttrs>});
BATON_EXTEND_OP("nn.avg_pool1d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithAvgPoolPadding<AvgPool1DAttrs>});
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithAvgPoolPadding<AvgPool2DAttrs>});
BATON_EXTEND_OP("nn.avg_pool3d")
    .Set(ExplicitPaddingRules(),
         ExplicitPaddingRule{IsZero, WithAvgPoolPadding<AvgPool3DAttrs>});

Expr FoldPadding(const Expr& expr) {
  const Op& pad_op = BATON_OP("nn.pad");
  if (!CallsOp(expr, pad_op)) return expr;
  const IndexedGraph graph(expr);
  GraphRewriter rewriter(graph);
  return rewriter.Rewrite<CallNode>([&](int i, const CallNode& call) -> Expr {
    const ExplicitPaddingRule* rule = ExplicitPaddingRules().Get(call.op());
    if (rule == nullptr || call.num_args() == 0) return {};
    const absl::Span<const Expr> args = rewriter.Args(i);
    Expr data = args[0];
    Attrs attrs = call.attrs();
    // Padding may be padded in turn.
    while (IsCallTo(data, pad_op)) {
      const auto* pad = data.As<CallNode>();
      const auto* pad_attrs = pad->attrs_as<PadAttrs>();
      const Tensor* value = ConstantTensor(pad->arg(1));
      if (pad_attrs == nullptr || pad_attrs->pad_mode != "constant" ||
          value == nullptr || value->rank() != 0 ||
          !rule->pads_with(call, *value)) {
        break;
      }
      Attrs padded = rule->with_padding(attrs, *pad_attrs);
      if (!padded.defined()) break;
      attrs = std::move(padded);
      data = pad->arg(0);
    }
    if (data == args[0]) return {};
    absl::InlinedVector<Expr, 6> new_args(args.begin(), args.end());
    new_args[0] = std::move(data);
    return Call(call.op(), new_args, std::move(attrs));
  });
}

}  // namespace

Pass FoldExplicitPadding() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(FoldPadding(function).As<FunctionNode>());
      },
      {.name = "FoldExplicitPadding",
       .required = {"InferType"},
       .doc = "Moves the padding of nn.pad into convolutions and pools.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false});
}
BATON_REGISTER_PASS(FoldExplicitPadding);

}  // namespace baton::relay
