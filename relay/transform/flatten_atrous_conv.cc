#include "baton/relay/transform/flatten_atrous_conv.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

using Borders = std::vector<std::vector<int64_t>>;  // [[begin, end], ...]

// Larger extents are left alone, so that sums and products of them are numbers.
constexpr int64_t kMaxExtent = 1 << 30;

bool IsExtent(int64_t value) { return value >= 0 && value <= kMaxExtent; }

// Returns whether `borders` are a begin and an end for height and for width.
bool AreTwoPairs(const Borders& borders) {
  return borders.size() == 2 && absl::c_all_of(borders, [](const auto& pair) {
           return pair.size() == 2 && absl::c_all_of(pair, IsExtent);
         });
}

bool AllOnes(const Dims& dims) {
  return absl::c_all_of(dims, [](const Dim& dim) { return dim == Dim(1); });
}

// Returns the value with which the convolution `conv` pads; nullopt if it is
// not known.
std::optional<double> PaddingValue(const CallNode& conv) {
  if (conv.op() != BATON_OP("qnn.conv2d")) return 0.0;
  constexpr int kZeroPoint = 2;  // of the data
  return conv.num_args() > kZeroPoint ? ConstantScalar(conv.arg(kZeroPoint))
                                      : std::nullopt;
}

// The attributes of the dilated convolution; null if there is none that
// computes the same as the three calls.
Attrs DilatedConvAttrs(const CallNode& from_blocks, const CallNode& conv,
                       const CallNode& to_blocks) {
  const auto* crop = from_blocks.attrs_as<BatchToSpaceNDAttrs>();
  const auto* attrs = conv.attrs_as<Conv2DAttrs>();
  const auto* pad = to_blocks.attrs_as<SpaceToBatchNDAttrs>();
  if (crop == nullptr || attrs == nullptr || pad == nullptr) return {};
  if (crop->block_shape.size() != 2 || crop->block_shape != pad->block_shape ||
      !absl::c_all_of(crop->block_shape, IsExtent) ||
      !AreTwoPairs(crop->crops) || !AreTwoPairs(pad->paddings)) {
    return {};
  }
  if (attrs->data_layout != "NHWC" ||
      (!attrs->out_layout.empty() && attrs->out_layout != "NHWC") ||
      !AllOnes(attrs->strides) || !AllOnes(attrs->dilation)) {
    return {};
  }
  Dims padding = attrs->padding;
  SpellOutPadding(2, padding);
  const auto conv_padding = ConstDims(padding);  // top, left, bottom, right
  if (!conv_padding.has_value() || conv_padding->size() != 4 ||
      !absl::c_all_of(*conv_padding, IsExtent) ||
      PaddingValue(conv) != pad->pad_value) {
    return {};
  }
  Conv2DAttrs dilated = *attrs;
  dilated.strides = {1, 1};
  dilated.dilation.clear();
  dilated.padding.clear();
  for (const int64_t extent : crop->block_shape) {
    dilated.dilation.push_back(extent);
  }
  for (const size_t side : {0, 1}) {
    for (const size_t axis : {0, 1}) {
      // An element around each block is a block of elements around all.
      const int64_t padding =
          pad->paddings[axis][side] - crop->crops[axis][side] +
          (*conv_padding)[2 * side + axis] * crop->block_shape[axis];
      if (padding < 0) return {};
      dilated.padding.push_back(padding);
    }
  }
  return Attrs::Make(std::move(dilated));
}

RewriteRule ConvOfBlocks() {
  const DataflowPattern x = Wildcard("x");
  const DataflowPattern to_blocks = IsOp("nn.space_to_batch_nd")(x);
  const DataflowPattern conv =
      IsOp("nn.conv2d")(to_blocks, Wildcard()) |
      IsOp("qnn.conv2d")(to_blocks, Wildcard(), Wildcard(), Wildcard(),
                         Wildcard(), Wildcard());
  return {.name = "conv_of_blocks",
          .passes = {"FlattenAtrousConv"},
          .doc = "A convolution of blocks is a dilated convolution.",
          .pattern = IsOp("nn.batch_to_space_nd")(conv),
          .replace = [=](const PatternMatch& m) -> Expr {
            const CallNode& inner = *m.call(conv);
            Attrs attrs = DilatedConvAttrs(*m.root().As<CallNode>(), inner,
                                           *m.call(to_blocks));
            if (!attrs.defined()) {
              return m.Decline("no dilated convolution computes this");
            }
            absl::InlinedVector<Expr, 6> args(inner.args().begin(),
                                              inner.args().end());
            args[0] = m[x];
            return Call(inner.op(), args, std::move(attrs));
          },
          .promise = {.exact = false, .rtol = 1e-5}};
}
BATON_REGISTER_RULE(ConvOfBlocks);

}  // namespace

Pass FlattenAtrousConv() {
  return OwnRulesPass(
      {.name = "FlattenAtrousConv",
       .required = {"InferType"},
       .doc = "Makes dilated convolutions of convolutions of blocks.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false});
}
BATON_REGISTER_PASS(FlattenAtrousConv);

}  // namespace baton::relay
