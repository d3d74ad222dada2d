// Matrix products, normalizations, and what else neural networks need that is
// not spatial.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/matmul_relation.h"
#include "baton/relay/op/nn_attrs.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/type_relations.h"
#include "baton/runtime/kernel.h"
#include "baton/runtime/kernels/linear.h"
#include "baton/runtime/kernels/normalize.h"
#include "baton/runtime/kernels/shape.h"
#include "baton/runtime/value.h"

namespace baton::relay {
namespace {

// Matrix products.

absl::StatusOr<Tensor> Dense(const DenseAttrs& attrs,
                             absl::Span<const Value> args) {
  return kernels::Dense(args[0].tensor(), args[1].tensor(), attrs.out_dtype);
}

template <typename A>
kernels::MatmulParams MatmulParamsOf(const A& attrs) {
  kernels::MatmulParams params;
  params.transpose_a = attrs.transpose_a;
  params.transpose_b = attrs.transpose_b;
  params.out_dtype = attrs.out_dtype;
  return params;
}

absl::StatusOr<Tensor> Matmul(const MatmulAttrs& attrs,
                              absl::Span<const Value> args) {
  return kernels::Matmul(args[0].tensor(), args[1].tensor(),
                         MatmulParamsOf(attrs));
}

absl::StatusOr<Tensor> BatchMatmul(const BatchMatmulAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::BatchMatmul(args[0].tensor(), args[1].tensor(),
                              MatmulParamsOf(attrs));
}

BATON_REGISTER_OP("nn.dense")
    .Describe("data * weight^T, over the last axis of the data.")
    .Arguments({{"data", "The input."}, {"weight", "(units, in)."}})
    .TakesAttrs<DenseAttrs>()
    .TypeRelation(DenseRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDenseLayouts)
    .Set(Kernels(), KernelWith<DenseAttrs, Dense>);

BATON_REGISTER_OP("nn.matmul")
    .Describe("The product of a tensor, over its last axis, and a matrix.")
    .Arguments({{"tensor_a", "The left operand."},
                {"tensor_b", "The right operand, a matrix."}})
    .TakesAttrs<MatmulAttrs>()
    .TypeRelation(MatmulRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(Kernels(), KernelWith<MatmulAttrs, Matmul>);

BATON_REGISTER_OP("nn.batch_matmul")
    .Describe("The products of two batches of matrices.")
    .Arguments({{"tensor_a", "The left operands."},
                {"tensor_b", "The right operands."}})
    .TakesAttrs<BatchMatmulAttrs>()
    .TypeRelation(BatchMatmulRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(Kernels(), KernelWith<BatchMatmulAttrs, BatchMatmul>);

absl::StatusOr<Type> DensePackRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 2));
  if (weight->rank() != 3 && weight->rank() != 4) {
    return context.Error("the weight must have 3 or 4 dimensions, but has ",
                         weight->rank());
  }
  const DType dtype = context.attrs<DensePackAttrs>().out_dtype;
  return TensorLike(context, 0, {data->dim(0), weight->dim(0) * weight->dim(2)},
                    dtype.is_void() ? data->dtype() : dtype);
}

BATON_REGISTER_OP("nn.contrib_dense_pack")
    .Describe("nn.dense with a blocked weight.")
    .Arguments({{"data", "The input, a matrix."},
                {"weight", "The weight, in blocks."}})
    .TakesAttrs<DensePackAttrs>()
    .TypeRelation(DensePackRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDensePackLayouts);

// Softmax.

absl::StatusOr<Type> SoftmaxRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, context.attrs<SoftmaxAttrs>().axis, data->rank())
          .status());
  return context.arg(0);
}

absl::StatusOr<Tensor> Softmax(const SoftmaxAttrs& attrs,
                               absl::Span<const Value> args) {
  return kernels::Softmax(args[0].tensor(), attrs.axis);
}

absl::StatusOr<Tensor> LogSoftmax(const SoftmaxAttrs& attrs,
                                  absl::Span<const Value> args) {
  return kernels::LogSoftmax(args[0].tensor(), attrs.axis);
}

BATON_REGISTER_OP("nn.softmax")
    .Describe("exp(x) divided by its sum along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(Kernels(), KernelWith<SoftmaxAttrs, Softmax>);

BATON_REGISTER_OP("nn.fast_softmax")
    .Describe("nn.softmax; may be approximate.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(Kernels(), KernelWith<SoftmaxAttrs, Softmax>);

BATON_REGISTER_OP("nn.log_softmax")
    .Describe("The logarithm of nn.softmax.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(Kernels(), KernelWith<SoftmaxAttrs, LogSoftmax>);

// Normalizations.

template <typename A>
kernels::NormParams NormParamsOf(const A& attrs) {
  kernels::NormParams params;
  params.axis = attrs.axis;
  params.epsilon = attrs.epsilon;
  params.center = attrs.center;
  params.scale = attrs.scale;
  return params;
}

absl::StatusOr<Type> BatchNormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  int axis = context.attrs<BatchNormAttrs>().axis;
  if (axis < -1 || axis >= data->rank() || data->rank() == 0) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  if (axis == -1) axis = data->rank() - 1;
  const Dim& channels = data->dim(axis);
  Type statistics;
  for (int i = 1; i < 5; ++i) {
    BATON_RETURN_IF_ERROR(ExpectArg(context, i, {channels}, data->dtype()));
    const auto* known = context.arg(i).As<TensorTypeNode>();
    if (!statistics.defined() && known != nullptr &&
        known->dim(0) == channels) {
      statistics = context.arg(i);
    }
  }
  if (!statistics.defined()) {
    statistics = TensorType({channels}, data->dtype());
  }
  std::vector<Type> fields;
  fields.reserve(3);
  fields.push_back(context.arg(0));
  fields.push_back(statistics);
  fields.push_back(std::move(statistics));
  return Type(TupleType(std::move(fields)));
}

// At run time the statistics are given; they are returned as they are.
absl::StatusOr<Value> BatchNorm(const CallNode& call,
                                absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<BatchNormAttrs>();
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::BatchNorm(
          args[0].tensor(), args[1].tensor(), args[2].tensor(),
          args[3].tensor(), args[4].tensor(),
          NormParamsOf(attrs == nullptr ? BatchNormAttrs() : *attrs)));
  return Value::MakeTuple({std::move(result), args[3], args[4]});
}

BATON_REGISTER_OP("nn.batch_norm")
    .Describe("Normalizes each channel with given mean and variance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."},
                {"moving_mean", "The mean of each channel."},
                {"moving_var", "The variance of each channel."}})
    .TakesAttrs<BatchNormAttrs>()
    .TypeRelation(BatchNormRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferBatchNormLayouts)
    .Set(Kernels(), BatchNorm);

// Gamma and beta lie along the axis; the result is like the data.
template <typename A>
absl::StatusOr<Type> NormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(
      const int axis,
      NormalizeAxis(context, context.attrs<A>().axis, data->rank()));
  for (int i = 1; i < 3; ++i) {
    BATON_RETURN_IF_ERROR(
        ExpectArg(context, i, {data->dim(axis)}, data->dtype()));
  }
  return context.arg(0);
}

absl::StatusOr<Type> InstanceNormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data != nullptr && data->rank() <= 2) {
    return context.Error(
        "the data must have more than 2 dimensions, but its "
        "shape is ",
        ShapeToString(data->shape()));
  }
  return NormRel<InstanceNormAttrs>(context);
}

absl::StatusOr<Tensor> InstanceNorm(const InstanceNormAttrs& attrs,
                                    absl::Span<const Value> args) {
  return kernels::InstanceNorm(args[0].tensor(), args[1].tensor(),
                               args[2].tensor(), NormParamsOf(attrs));
}

absl::StatusOr<Tensor> LayerNorm(const LayerNormAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::LayerNorm(args[0].tensor(), args[1].tensor(),
                            args[2].tensor(), NormParamsOf(attrs));
}

absl::StatusOr<Tensor> GroupNorm(const GroupNormAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::GroupNorm(args[0].tensor(), args[1].tensor(),
                            args[2].tensor(), attrs.num_groups,
                            NormParamsOf(attrs));
}

BATON_REGISTER_OP("nn.instance_norm")
    .Describe("Normalizes each channel of each instance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."}})
    .TakesAttrs<InstanceNormAttrs>()
    .TypeRelation(InstanceNormRel)
    .Set(Kernels(), KernelWith<InstanceNormAttrs, InstanceNorm>)
    .Set(LayoutInferenceRules(), InferNormLayouts<InstanceNormAttrs>);

BATON_REGISTER_OP("nn.layer_norm")
    .Describe("Normalizes along an axis.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale along the axis."},
                {"beta", "The offset along the axis."}})
    .TakesAttrs<LayerNormAttrs>()
    .TypeRelation(NormRel<LayerNormAttrs>)
    .Set(Kernels(), KernelWith<LayerNormAttrs, LayerNorm>)
    .Set(LayoutInferenceRules(), InferNormLayouts<LayerNormAttrs>);

BATON_REGISTER_OP("nn.group_norm")
    .Describe("Normalizes each group of channels of each instance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."}})
    .TakesAttrs<GroupNormAttrs>()
    .TypeRelation(NormRel<GroupNormAttrs>)
    .Set(Kernels(), KernelWith<GroupNormAttrs, GroupNorm>);

absl::StatusOr<Tensor> Lrn(const LRNAttrs& attrs,
                           absl::Span<const Value> args) {
  kernels::LrnParams params;
  params.size = attrs.size;
  params.axis = attrs.axis;
  params.bias = attrs.bias;
  params.alpha = attrs.alpha;
  params.beta = attrs.beta;
  return kernels::Lrn(args[0].tensor(), params);
}

BATON_REGISTER_OP("nn.lrn")
    .Describe("Normalizes each element by those of the nearest channels.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LRNAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(Kernels(), KernelWith<LRNAttrs, Lrn>);

absl::StatusOr<Tensor> L2Normalize(const L2NormalizeAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::L2Normalize(
      args[0].tensor(), attrs.eps,
      absl::InlinedVector<int64_t, 6>(attrs.axis.begin(), attrs.axis.end()));
}

BATON_REGISTER_OP("nn.l2_normalize")
    .Describe("Divides by the Euclidean norm over some axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<L2NormalizeAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(Kernels(), KernelWith<L2NormalizeAttrs, L2Normalize>)
    .Set(LayoutInferenceRules(), InferL2NormalizeLayouts);

// Shape only.

absl::StatusOr<Type> BatchFlattenRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  return TensorLike(context, 0,
                    {data->dim(0), Product(data->shape().subspan(1))},
                    data->dtype());
}

BATON_REGISTER_OP("nn.batch_flatten")
    .Describe("Joins all axes but the first into one.")
    .Arguments({{"data", "The input."}})
    .TypeRelation(BatchFlattenRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), Kernel1<kernels::BatchFlatten>);

absl::StatusOr<Type> DropoutRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr) return Type();
  return Type(TupleType({context.arg(0), context.arg(0)}));
}

// Drops nothing: programs are run for inference.
absl::StatusOr<Value> Dropout(const CallNode& /*call*/,
                              absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(Tensor mask, Tensor::Ones(x.dtype(), x.shape()));
  return Value::MakeTuple({args[0], std::move(mask)});
}

BATON_REGISTER_OP("nn.dropout")
    .Describe("In training, drops elements at random; gives data and mask.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<DropoutAttrs>()
    .TypeRelation(DropoutRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(StatefulOps(), true)
    .Set(Kernels(), Dropout);

// Losses.

absl::StatusOr<Type> CrossEntropyRel(TypeRelationContext& context) {
  const TensorTypeNode* x = context.Tensor(0);
  const TensorTypeNode* y = context.Tensor(1);
  if (x == nullptr || y == nullptr) return Type();
  if (x->rank() != 2 || y->rank() != 2 ||
      ProvablyDiffer(x->dim(0), y->dim(0)) ||
      ProvablyDiffer(x->dim(1), y->dim(1))) {
    return context.Error("the shapes ", ShapeToString(x->shape()), " and ",
                         ShapeToString(y->shape()),
                         " must be equal and have 2 dimensions");
  }
  return Type(TensorType::Scalar(x->dtype()));
}

BATON_REGISTER_OP("nn.cross_entropy")
    .Describe("The mean cross entropy of predictions and targets.")
    .Arguments({{"x", "The predictions."}, {"y", "The targets."}})
    .TypeRelation(CrossEntropyRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("nn.cross_entropy_with_logits")
    .Describe("The mean cross entropy of logarithmic predictions.")
    .Arguments({{"x", "The predictions."}, {"y", "The targets."}})
    .TypeRelation(CrossEntropyRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

absl::StatusOr<Type> NLLLossRel(TypeRelationContext& context) {
  const TensorTypeNode* predictions = context.Tensor(0);
  const TensorTypeNode* targets = context.Tensor(1);
  const TensorTypeNode* weights = context.Tensor(2);
  if (predictions == nullptr || targets == nullptr || weights == nullptr) {
    return Type();
  }
  if (predictions->rank() != targets->rank() + 1 || targets->rank() == 0) {
    return context.Error("the predictions, of shape ",
                         ShapeToString(predictions->shape()),
                         ", must have one dimension more than the targets, of "
                         "shape ",
                         ShapeToString(targets->shape()));
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *weights, 1));
  if (ProvablyDiffer(predictions->dim(1), weights->dim(0))) {
    return context.Error("there are ", predictions->dim(1).value(),
                         " classes, but ", weights->dim(0).value(), " weights");
  }
  if (predictions->dtype() != weights->dtype() ||
      !predictions->dtype().is_float()) {
    return context.Error(
        "predictions and weights must have one floating "
        "type, but have ",
        predictions->dtype().ToString(), " and ", weights->dtype().ToString());
  }
  if (!targets->dtype().is_int()) {
    return context.Error("the targets must be integers, but are ",
                         targets->dtype().ToString());
  }
  return Type(TensorType(context.attrs<NLLLossAttrs>().reduction == "none"
                             ? targets->shape()
                             : absl::Span<const Dim>(),
                         predictions->dtype()));
}

BATON_REGISTER_OP("nn.nll_loss")
    .Describe("The negative log likelihood of targets.")
    .Arguments({{"predictions", "Logarithmic predictions, by class."},
                {"targets", "The class of each."},
                {"weights", "The weight of each class."}})
    .TakesAttrs<NLLLossAttrs>()
    .TypeRelation(NLLLossRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

absl::StatusOr<Type> FIFOBufferRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* buffer = context.Tensor(1);
  if (data == nullptr || buffer == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, buffer->rank()));
  BATON_RETURN_IF_ERROR(NormalizeAxis(context,
                                      context.attrs<FIFOBufferAttrs>().axis,
                                      buffer->rank())
                            .status());
  return context.arg(1);
}

BATON_REGISTER_OP("nn.fifo_buffer")
    .Describe("Appends data to a queue of fixed length.")
    .Arguments({{"data", "What is appended."}, {"buffer", "The queue."}})
    .TakesAttrs<FIFOBufferAttrs>()
    .TypeRelation(FIFOBufferRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

// Sparse operands: values, column indices and row pointers (CSR), or blocks of
// them (BSR).

// The rows of a sparse matrix.
absl::StatusOr<Dim> SparseRows(const TypeRelationContext& context,
                               const TensorTypeNode& values,
                               const TensorTypeNode& indptr) {
  if (indptr.rank() != 1) {
    return context.Error("the row pointers must have 1 dimension");
  }
  const Dim rows = indptr.dim(0) - Dim(1);
  if (values.rank() == 1) return rows;
  if (values.rank() == 3) return rows * values.dim(1);
  return context.Error(
      "the values must have 1 (CSR) or 3 (BSR) dimensions, "
      "but their shape is ",
      ShapeToString(values.shape()));
}

absl::StatusOr<Type> SparseDenseRel(TypeRelationContext& context) {
  const TensorTypeNode* dense = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indptr = context.Tensor(3);
  if (dense == nullptr || values == nullptr || indptr == nullptr) {
    return Type();
  }
  if (dense->rank() == 0) return context.Error("the dense data is a scalar");
  BATON_ASSIGN_OR_RETURN(const Dim rows, SparseRows(context, *values, *indptr));
  if (context.attrs<SparseDenseAttrs>().sparse_lhs) {
    return Type(TensorType({rows, dense->dim(0)}, dense->dtype()));
  }
  return Type(TensorType({dense->dim(0), rows}, dense->dtype()));
}

OpRegistration SparseDense(absl::string_view name, absl::string_view doc) {
  return OpRegistration(name)
      .Describe(doc)
      .Arguments({{"dense_data", "The dense operand."},
                  {"sparse_data", "The values of the sparse operand."},
                  {"sparse_indices", "Its column indices."},
                  {"sparse_indptr", "Its row pointers."}})
      .TakesAttrs<SparseDenseAttrs>()
      .TypeRelation(SparseDenseRel)
      .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);
}

[[maybe_unused]] const OpRegistration kSparseDenseOps[] = {
    SparseDense("nn.sparse_dense",
                "The product of a dense and a sparse matrix."),
    SparseDense("nn.internal.sparse_dense_padded",
                "nn.sparse_dense with padded rows."),
};

absl::StatusOr<Type> SparseTransposeRel(TypeRelationContext& context) {
  for (int i = 0; i < 3; ++i) {
    const TensorTypeNode* type = context.Tensor(i);
    if (type == nullptr) return Type();
    if (i < 2) BATON_RETURN_IF_ERROR(ExpectRank(context, i, *type, 1));
  }
  return Type(TupleType({context.arg(0), context.arg(1), context.arg(2)}));
}

BATON_REGISTER_OP("nn.sparse_transpose")
    .Describe("The transpose of a square sparse matrix.")
    .Arguments({{"sparse_data", "The values."},
                {"sparse_indices", "The column indices."},
                {"sparse_indptr", "The row pointers."}})
    .TakesAttrs<SparseTransposeAttrs>()
    .TypeRelation(SparseTransposeRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

absl::StatusOr<Type> SparseAddRel(TypeRelationContext& context) {
  const TensorTypeNode* dense = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indices = context.Tensor(2);
  if (dense == nullptr || values == nullptr || indices == nullptr) {
    return Type();
  }
  if (dense->dtype() != values->dtype()) {
    return context.Error("the element types ", dense->dtype().ToString(),
                         " and ", values->dtype().ToString(), " do not match");
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *values, 1));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *indices, 1));
  return context.arg(0);
}

BATON_REGISTER_OP("nn.sparse_add")
    .Describe("The sum of a dense and a sparse matrix.")
    .Arguments({{"dense_data", "The dense operand."},
                {"sparse_data", "The values of the sparse operand."},
                {"sparse_indices", "Its column indices."},
                {"sparse_indptr", "Its row pointers."}})
    .TypeRelation(SparseAddRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

absl::StatusOr<Type> SparseConv2DRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indptr = context.Tensor(3);
  if (data == nullptr || values == nullptr || indptr == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 4));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 3, *indptr, 1));
  if (values->rank() != 2 && values->rank() != 3) {
    return context.Error(
        "the values must have 2 or 3 dimensions, but their "
        "shape is ",
        ShapeToString(values->shape()));
  }
  const std::string& layout = context.attrs<SparseConv2DAttrs>().layout;
  if (layout != "NHWC" && layout != "NCHW") {
    return context.Error("layout=\"", layout, "\" is neither NHWC nor NCHW");
  }
  Dims shape(data->shape().begin(), data->shape().end());
  shape[layout == "NHWC" ? 3 : 1] = (indptr->dim(0) - Dim(1)) * values->dim(1);
  return TensorLike(context, 0, shape, data->dtype());
}

BATON_REGISTER_OP("nn.sparse_conv2d")
    .Describe("Convolution with a sparse kernel.")
    .Arguments({{"dense_data", "The input."},
                {"sparse_data", "The values of the kernel."},
                {"sparse_indices", "Its column indices."},
                {"sparse_indptr", "Its row pointers."}})
    .TakesAttrs<SparseConv2DAttrs>()
    .TypeRelation(SparseConv2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

}  // namespace
}  // namespace baton::relay
