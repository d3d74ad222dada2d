#include "baton/relay/transform/combine_parallel_conv2d.h"

#include <cstddef>
#include <cstdint>
#include <string>
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
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/combine_parallel.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

const Conv2DAttrs& AttrsOf(const CallNode& conv) {
  return *conv.attrs_as<Conv2DAttrs>();
}

// The layout of the result, which has the channels at 'C'.
const std::string& OutLayout(const Conv2DAttrs& attrs) {
  return attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
}

int ChannelAxis(const CallNode& conv) {
  return static_cast<int>(OutLayout(AttrsOf(conv)).find('C'));
}

// The extent of the kernel on axis 'O', 'H' or 'W' of its layout.
const Dim& KernelDim(const CallNode& conv, char axis) {
  const size_t i = AttrsOf(conv).kernel_layout.find(axis);
  return conv.arg(1)->tensor_type()->dim(static_cast<int>(i));
}

// The common properties of convolutions that are combined.
auto CommonAttrs(const CallNode& conv) {
  const Conv2DAttrs& attrs = AttrsOf(conv);
  return std::tie(attrs.strides, attrs.padding, attrs.dilation,
                  attrs.data_layout, attrs.kernel_layout, attrs.out_layout,
                  attrs.out_dtype, KernelDim(conv, 'H'), KernelDim(conv, 'W'));
}

std::vector<int64_t> Channels(const ParallelCalls& convs) {
  std::vector<int64_t> result;
  for (const CallNode* conv : convs.calls) {
    result.push_back(KernelDim(*conv, 'O').value());
  }
  return result;
}

class Conv2dCombiner final : public ParallelCombiner {
 public:
  const Op& op() const override { return BATON_OP("nn.conv2d"); }

  // In layouts without blocks: there, an axis is a letter.
  bool IsSupported(const CallNode& call) const override {
    const auto* attrs = call.attrs_as<Conv2DAttrs>();
    if (attrs == nullptr || attrs->groups != 1 || call.num_args() != 2) {
      return false;
    }
    const auto has_axes = [](const std::string& layout, const char* axes,
                             int rank) {
      if (layout.size() != 4 || rank != 4) return false;
      for (const char* axis = axes; *axis != '\0'; ++axis) {
        if (layout.find(*axis) == std::string::npos) return false;
      }
      return true;
    };
    return has_axes(attrs->kernel_layout, "OIHW",
                    call.arg(1)->tensor_type()->rank()) &&
           has_axes(OutLayout(*attrs), "NCHW", call.tensor_type()->rank()) &&
           KernelDim(call, 'O').is_const();
  }
  uint64_t Key(const CallNode& call) const override {
    return absl::HashOf(CommonAttrs(call));
  }
  bool CanBeCombined(const CallNode& a, const CallNode& b) const override {
    return CommonAttrs(a) == CommonAttrs(b);
  }

  Expr Combine(const ParallelCalls& first) const override {
    Conv2DAttrs attrs = AttrsOf(*first.calls[0]);
    int64_t channels = 0;
    for (const int64_t n : Channels(first)) channels += n;
    attrs.channels = Dim(channels);
    const int axis = static_cast<int>(attrs.kernel_layout.find('O'));
    return Call(op(), {first.args[0][0], Concatenate(first.Args(1), axis)},
                Attrs::Make(std::move(attrs)));
  }

  bool CanArgsBeCombined(const CallNode& first, const CallNode& a,
                         const CallNode& b, int /*parent*/,
                         int k) const override {
    const TensorTypeNode& x = *a.arg(k)->tensor_type();
    const TensorTypeNode& y = *b.arg(k)->tensor_type();
    const TensorTypeNode& of_x = *a.tensor_type();
    const TensorTypeNode& of_y = *b.tensor_type();
    const int axis = ChannelAxis(first) - of_x.rank() + x.rank();
    // With all channels: what is broadcast to them is not concatenated.
    return axis >= 0 && CanBePutTogether(x, y, axis) &&
           x.dim(axis) == of_x.dim(ChannelAxis(first)) &&
           y.dim(axis) == of_y.dim(ChannelAxis(first));
  }

  Expr CombineFollowing(const Expr& data, const CallNode& first,
                        const ParallelCalls& following) const override {
    const CallNode& call = *following.calls[0];
    std::vector<Expr> args;
    for (int k = 0; k < call.num_args(); ++k) {
      const int axis = ChannelAxis(first) - call.tensor_type()->rank() +
                       following.arg_type(0, k).rank();
      args.push_back(
          k == following.parent ? data : Concatenate(following.Args(k), axis));
    }
    return Call(call.op(), args, call.attrs());
  }

  bool IsCombined(const TensorTypeNode& combined, const ParallelCalls& first,
                  const ParallelCalls& calls) const override {
    return combined.rank() == first.type(0).rank() &&
           IsConcatenation(combined, calls, ChannelAxis(*first.calls[0]),
                           Channels(first));
  }
  std::vector<Expr> Parts(const Expr& combined, const ParallelCalls& first,
                          const ParallelCalls& /*calls*/) const override {
    const int axis = ChannelAxis(*first.calls[0]);
    return SlicesAlong(combined, axis, axis + 1, Channels(first));
  }
};

}  // namespace

Pass CombineParallelConv2d(CombineParallelOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const Expr result = CombineParallelCalls(function, Conv2dCombiner(),
                                                 options.min_num_branches);
        return Function(result.As<FunctionNode>());
      },
      {.name = "CombineParallelConv2d",
       .opt_level = 4,
       .required = {"InferType"},
       .doc = "Makes one convolution of several of the same data.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .exact = false,
       .examples = {"min_num_branches=2"}},
      options);
}
BATON_REGISTER_PASS(CombineParallelConv2d);

}  // namespace baton::relay
