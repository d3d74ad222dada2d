// What operators know about data layouts, for passes that change them.
//
//   BATON_REGISTER_OP("nn.conv2d")
//       ...
//       .Set(LayoutInferenceRules(), InferConvLayouts<Conv2DAttrs>)
//       .Set(ConvertLayoutRules(),
//            ConvertLayoutRule{{"data", "kernel"}, ConvertConv2D});
//
// An inference rule follows layouts through an operator: from the layouts in
// which the inputs arrive to those in which the operator takes its inputs and
// leaves its outputs. A conversion rule makes an operator work in the layouts
// that the user of ConvertLayout asks for.

#ifndef BATON_RELAY_OP_LAYOUT_RULES_H_
#define BATON_RELAY_OP_LAYOUT_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout.h"

namespace baton::relay {

// Inputs are the arguments of a call; the fields of a tuple that is built in
// the argument list count one by one.
using Layouts = absl::InlinedVector<Layout, 5>;

struct LayoutQuery {
  // The call before any change, for the types of its arguments.
  const CallNode& call;
  // The attributes to start from, of the type that the operator declares.
  const Attrs& attrs;
  // The layouts of the inputs in the unchanged program; undefined where
  // nothing is known.
  absl::Span<const Layout> old_inputs;
  // False: the layouts of the unchanged call are asked for. True: producers may
  // have changed; `new_inputs` are the layouts that arrive, and of both lists
  // those of scalars alone are undefined.
  bool changed = false;
  absl::Span<const Layout> new_inputs;
};

struct InferredLayouts {
  Layouts inputs;   // undefined: as it was
  Layouts outputs;  // one; for a result of tuple type one for each field
  Attrs attrs;      // made to fit the layouts
};

// Nullopt: the operator cannot tell, or cannot work in these layouts. Then the
// call stays as it was.
using LayoutInferenceRule =
    std::optional<InferredLayouts> (*)(const LayoutQuery& query);

// An operator without a rule takes its inputs as they were and says nothing
// about its outputs.
OpAttrMap<LayoutInferenceRule>& LayoutInferenceRules();

struct ConvertLayoutQuery {
  // The call before any change, for the types of its arguments.
  const CallNode& call;
  const Attrs& attrs;
  // The inputs as they are now.
  absl::Span<const Expr> inputs;
  // One for each slot of the rule; undefined where `default` was asked for.
  absl::Span<const Layout> desired;
};

// The operator and attributes to call with the same arguments.
struct ConvertedCall {
  Op op;
  Attrs attrs;
};

struct ConvertLayoutRule {
  // What the desired layouts are for, in order: {"data", "kernel"}.
  std::vector<std::string> slots;
  absl::StatusOr<ConvertedCall> (*convert)(const ConvertLayoutQuery& query);
};

OpAttrMap<ConvertLayoutRule>& ConvertLayoutRules();

// Inference rules, by operator.

// Any operator whose inputs and output share one layout, whatever it is.
std::optional<InferredLayouts> InferElemwiseLayouts(const LayoutQuery& query);
// Two inputs that are broadcast.
std::optional<InferredLayouts> InferBroadcastLayouts(const LayoutQuery& query);

// Convolutions take what their attributes say. T: Conv1DAttrs, Conv2DAttrs,
// Conv3DAttrs, Conv2DTransposeAttrs, Conv3DTransposeAttrs, ...
template <typename T>
std::optional<InferredLayouts> InferConvLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferDeformableConv2DLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferBinaryConv2DLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferDilation2DLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferCorrelationLayouts(
    const LayoutQuery& query);

// Pooling follows its input. T: MaxPool2DAttrs, GlobalPool2DAttrs, ...
template <typename T>
std::optional<InferredLayouts> InferPoolLayouts(const LayoutQuery& query);
// T: UpSamplingAttrs, UpSampling3DAttrs.
template <typename T>
std::optional<InferredLayouts> InferUpSamplingLayouts(const LayoutQuery& query);
// T: Resize1DAttrs, Resize2DAttrs.
template <typename T>
std::optional<InferredLayouts> InferResizeLayouts(const LayoutQuery& query);

// T: ROIAlignAttrs, ROIPoolAttrs.
template <typename T>
std::optional<InferredLayouts> InferRoiLayouts(const LayoutQuery& query);

// T: ReduceAttrs, ArgReduceAttrs, VarianceAttrs.
template <typename T>
std::optional<InferredLayouts> InferReduceLayouts(const LayoutQuery& query);
// T: InstanceNormAttrs, LayerNormAttrs.
template <typename T>
std::optional<InferredLayouts> InferNormLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferBatchNormLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferL2NormalizeLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferPReluLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferDenseLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferDensePackLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferPadLayouts(const LayoutQuery& query);

std::optional<InferredLayouts> InferConcatenateLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferTransposeLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferSqueezeLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferStridedSliceLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferSliceLikeLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferSplitLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferTopKLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferFixedPointMultiplyPerAxisLayouts(
    const LayoutQuery& query);

// The quantized forms. T: Conv2DAttrs, Conv2DTransposeAttrs.
template <typename T>
std::optional<InferredLayouts> InferQnnConvLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferQnnBroadcastLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferQnnDenseLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferQnnDensePackLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferQnnConcatenateLayouts(
    const LayoutQuery& query);
std::optional<InferredLayouts> InferRequantizeLayouts(const LayoutQuery& query);
std::optional<InferredLayouts> InferAnnotateQuantizeLayouts(
    const LayoutQuery& query);

// Conversion rules, by operator.

// nn.conv2d. A desired NCHW<n>c makes it a nn.contrib_conv2d_NCHWc.
absl::StatusOr<ConvertedCall> ConvertConv2D(const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertQnnConv2D(const ConvertLayoutQuery& query);
// Also qnn.conv2d_transpose.
absl::StatusOr<ConvertedCall> ConvertConv2DTranspose(
    const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertConv3D(const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertConv3DTranspose(
    const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertDeformableConv2D(
    const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertConv2DBackwardWeight(
    const ConvertLayoutQuery& query);
// T: MaxPool2DAttrs, AvgPool2DAttrs, GlobalPool2DAttrs.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertPool(const ConvertLayoutQuery& query);
// T: Resize1DAttrs, Resize2DAttrs.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertResize(const ConvertLayoutQuery& query);
// T: ROIAlignAttrs, ROIPoolAttrs.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertRoi(const ConvertLayoutQuery& query);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_LAYOUT_RULES_H_
