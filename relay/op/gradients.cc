#include "baton/relay/op/gradients.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {

OpProperty<GradientFn>& Gradients() {
  static auto* const kGradients = new OpProperty<GradientFn>;
  return *kGradients;
}

namespace {

using Exprs = std::vector<Expr>;
using GradientsOr = absl::StatusOr<Exprs>;
using Axes = std::optional<std::vector<int64_t>>;

constexpr DType kInt32 = DType::Int(32);

absl::Status Unknown(const Call& call, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("the gradient of ", call->op_node()->name(), " is not known",
                   why.empty() ? "" : " ", why));
}

absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Call& call,
                                                   const Expr& expr) {
  if (expr->tensor_type() == nullptr) {
    return Unknown(call, "for what is not a tensor");
  }
  return expr->tensor_type();
}

DType DTypeOf(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type == nullptr ? DType::Float(32) : type->dtype();
}

// The shape of `expr`, which `call` has as an argument or is itself.
absl::StatusOr<std::vector<int64_t>> ShapeOfTyped(const Call& call,
                                                  const Expr& expr) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const type,
                         TensorTypeOf(call, expr));
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value()) {
    return Unknown(
        call, absl::StrCat("where a shape is not: ", expr->type().ToString()));
  }
  return std::vector<int64_t>(dims->begin(), dims->end());
}

Expr ScalarOf(double value, const Expr& like) {
  return Const(value, DTypeOf(like));
}

Expr ScalarInt32(int64_t value) {
  return Const(static_cast<double>(value), kInt32);
}

// A vector; what an int32 cannot hold becomes what is nearest.
absl::StatusOr<Expr> VectorInt32(absl::Span<const int64_t> values) {
  std::vector<int32_t> elements;
  for (const int64_t value : values) {
    elements.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max())));
  }
  BATON_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::FromValues<int32_t>(
                             {static_cast<int64_t>(values.size())}, elements));
  return Expr(Const(std::move(tensor)));
}

// No influence of any argument.
GradientsOr Nothing(const Call& call, const Expr& /*grad*/) {
  Exprs result;
  for (const Expr& arg : call->args()) result.push_back(ZerosLike(arg));
  return result;
}

// The gradient of operators that move elements without changing their order.
GradientsOr ReshapedBack(const Call& call, const Expr& grad) {
  return Exprs{ReshapeLike(grad, call->arg(0))};
}

GradientsOr ReshapedBackBeside(const Call& call, const Expr& grad) {
  return Exprs{ReshapeLike(grad, call->arg(0)), ZerosLike(call->arg(1))};
}

// -- Element by element --

BATON_EXTEND_OP("log").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      return Exprs{Divide(Multiply(grad, OnesLike(x)), x)};
    });

// d log_base(x) / dx = 1 / (log(base) * x)
Expr LogGradient(double base, const Call& call, const Expr& grad) {
  const Expr& x = call->arg(0);
  return Divide(Multiply(grad, OnesLike(x)),
                Multiply(Log(ScalarOf(base, x)), x));
}
BATON_EXTEND_OP("log2").Set(Gradients(),
                            [](const Call& call,
                               const Expr& grad) -> GradientsOr {
                              return Exprs{LogGradient(2, call, grad)};
                            });
BATON_EXTEND_OP("log10").Set(Gradients(),
                             [](const Call& call,
                                const Expr& grad) -> GradientsOr {
                               return Exprs{LogGradient(10, call, grad)};
                             });

BATON_EXTEND_OP("tan").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      return Exprs{Divide(grad, Multiply(Cos(x), Cos(x)))};
    });
BATON_EXTEND_OP("cos").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      return Exprs{Multiply(grad, Multiply(Negative(OnesLike(x)), Sin(x)))};
    });
BATON_EXTEND_OP("cosh").Set(Gradients(),
                            [](const Call& call,
                               const Expr& grad) -> GradientsOr {
                              return Exprs{Multiply(grad, Sinh(call->arg(0)))};
                            });
BATON_EXTEND_OP("sin").Set(Gradients(),
                           [](const Call& call,
                              const Expr& grad) -> GradientsOr {
                             return Exprs{Multiply(grad, Cos(call->arg(0)))};
                           });
BATON_EXTEND_OP("sinh").Set(Gradients(),
                            [](const Call& call,
                               const Expr& grad) -> GradientsOr {
                              return Exprs{Multiply(grad, Cosh(call->arg(0)))};
                            });

BATON_EXTEND_OP("acos").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{Multiply(
          grad, Divide(Negative(ones), Sqrt(Subtract(ones, Multiply(x, x)))))};
    });
BATON_EXTEND_OP("acosh").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{
          Divide(Multiply(grad, ones), Sqrt(Subtract(Multiply(x, x), ones)))};
    });
BATON_EXTEND_OP("asin").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{
          Divide(Multiply(grad, ones), Sqrt(Subtract(ones, Multiply(x, x))))};
    });
BATON_EXTEND_OP("asinh").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{
          Divide(Multiply(grad, ones), Sqrt(Add(ones, Multiply(x, x))))};
    });
BATON_EXTEND_OP("atan").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{Divide(Multiply(grad, ones), Add(ones, Multiply(x, x)))};
    });
BATON_EXTEND_OP("atanh").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr ones = OnesLike(x);
      return Exprs{
          Divide(Multiply(grad, ones), Subtract(ones, Multiply(x, x)))};
    });

BATON_EXTEND_OP("exp").Set(Gradients(),
                           [](const Call& call,
                              const Expr& grad) -> GradientsOr {
                             return Exprs{Multiply(grad, Exp(call->arg(0)))};
                           });
BATON_EXTEND_OP("sqrt").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr half = ScalarOf(0.5, x);
      return Exprs{Multiply(Multiply(grad, half), Power(x, Negative(half)))};
    });
BATON_EXTEND_OP("sigmoid").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{
          Multiply(Multiply(grad, call), Subtract(OnesLike(call), call))};
    });
BATON_EXTEND_OP("tanh").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{
          Multiply(grad, Subtract(OnesLike(call), Multiply(call, call)))};
    });
BATON_EXTEND_OP("erf").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      // 2 / sqrt(pi)
      return Exprs{Multiply(Multiply(ScalarOf(1.1283791670955126, x),
                                     Exp(Multiply(Negative(x), x))),
                            grad)};
    });
BATON_EXTEND_OP("negative")
    .Set(Gradients(),
         [](const Call& /*call*/, const Expr& grad) -> GradientsOr {
           return Exprs{Negative(grad)};
         });
BATON_EXTEND_OP("copy").Set(Gradients(),
                            [](const Call& /*call*/, const Expr& grad)
                                -> GradientsOr { return Exprs{grad}; });

// The annotation requests that values are computed again; here they are kept.
BATON_EXTEND_OP("annotation.checkpoint")
    .Set(Gradients(),
         [](const Call& /*call*/, const Expr& grad) -> GradientsOr {
           return Exprs{grad};
         });

// Functions on a device get it when what they share is bound.
BATON_EXTEND_OP("on_device")
    .Set(Gradients(),
         [](const Call& /*call*/, const Expr& grad) -> GradientsOr {
           return Exprs{grad};
         });

BATON_EXTEND_OP("nn.relu").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr zeros = ZerosLike(x);
      return Exprs{Where(Less(x, zeros), zeros, Multiply(OnesLike(x), grad))};
    });
BATON_EXTEND_OP("abs").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr zeros = ZerosLike(x);
      const Expr ones = OnesLike(x);
      return Exprs{Where(Less(x, zeros), Multiply(Negative(ones), grad),
                         Multiply(ones, grad))};
    });
BATON_EXTEND_OP("clip").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ClipAttrs>(call->attrs());
      const Expr& x = call->arg(0);
      const Expr lowest = BroadcastToLike(ScalarOf(attrs.a_min, x), x);
      const Expr highest = BroadcastToLike(ScalarOf(attrs.a_max, x), x);
      const Expr zeros = ZerosLike(x);
      return Exprs{
          Where(Less(x, lowest), zeros,
                Where(Less(highest, x), zeros, Multiply(OnesLike(x), grad)))};
    });

BATON_EXTEND_OP("add").Set(Gradients(),
                           [](const Call& call,
                              const Expr& grad) -> GradientsOr {
                             return Exprs{CollapseSumLike(grad, call->arg(0)),
                                          CollapseSumLike(grad, call->arg(1))};
                           });
BATON_EXTEND_OP("subtract")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{CollapseSumLike(grad, call->arg(0)),
                   CollapseSumLike(Negative(grad), call->arg(1))};
    });
BATON_EXTEND_OP("multiply")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      return Exprs{CollapseSumLike(Multiply(grad, y), x),
                   CollapseSumLike(Multiply(grad, x), y)};
    });
BATON_EXTEND_OP("divide").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      return Exprs{
          CollapseSumLike(Divide(grad, y), x),
          CollapseSumLike(Negative(Divide(Multiply(grad, call), y)), y)};
    });
BATON_EXTEND_OP("where").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& condition = call->arg(0);
      const Expr zeros = ZerosLike(grad);
      return Exprs{
          ZerosLike(condition),
          CollapseSumLike(Where(condition, grad, zeros), call->arg(1)),
          CollapseSumLike(Where(condition, zeros, grad), call->arg(2))};
    });

// Truth values are constant but for single points. So the gradients of nn.relu,
// abs and clip, which compare, can be differentiated again.
BATON_EXTEND_OP("equal").Set(Gradients(), Nothing);
BATON_EXTEND_OP("greater").Set(Gradients(), Nothing);
BATON_EXTEND_OP("greater_equal").Set(Gradients(), Nothing);
BATON_EXTEND_OP("less").Set(Gradients(), Nothing);
BATON_EXTEND_OP("less_equal").Set(Gradients(), Nothing);
BATON_EXTEND_OP("not_equal").Set(Gradients(), Nothing);
BATON_EXTEND_OP("logical_and").Set(Gradients(), Nothing);
BATON_EXTEND_OP("logical_not").Set(Gradients(), Nothing);
BATON_EXTEND_OP("logical_or").Set(Gradients(), Nothing);
BATON_EXTEND_OP("logical_xor").Set(Gradients(), Nothing);

BATON_EXTEND_OP("cast").Set(Gradients(),
                            [](const Call& call,
                               const Expr& grad) -> GradientsOr {
                              return Exprs{CastLike(grad, call->arg(0))};
                            });
BATON_EXTEND_OP("cast_like")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{CastLike(grad, call->arg(0)), ZerosLike(call->arg(1))};
    });

// -- New tensors, and shapes --

BATON_EXTEND_OP("zeros").Set(Gradients(), Nothing);
BATON_EXTEND_OP("ones").Set(Gradients(), Nothing);
BATON_EXTEND_OP("dyn.zeros").Set(Gradients(), Nothing);
BATON_EXTEND_OP("dyn.ones").Set(Gradients(), Nothing);
BATON_EXTEND_OP("ones_like").Set(Gradients(), Nothing);
BATON_EXTEND_OP("shape_of").Set(Gradients(), Nothing);
// The call is the zeros that are wanted.
BATON_EXTEND_OP("zeros_like")
    .Set(Gradients(),
         [](const Call& call, const Expr& /*grad*/) -> GradientsOr {
           return Exprs{call};
         });

GradientsOr BroadcastBack(const Call& call, const Expr& grad) {
  return Exprs{BroadcastToLike(grad, call->arg(0)), ZerosLike(call->arg(1))};
}
BATON_EXTEND_OP("collapse_sum_like").Set(Gradients(), BroadcastBack);
BATON_EXTEND_OP("collapse_sum_to").Set(Gradients(), BroadcastBack);

BATON_EXTEND_OP("reshape").Set(Gradients(), ReshapedBack);
BATON_EXTEND_OP("contrib_reverse_reshape").Set(Gradients(), ReshapedBack);
BATON_EXTEND_OP("squeeze").Set(Gradients(), ReshapedBack);
BATON_EXTEND_OP("nn.batch_flatten").Set(Gradients(), ReshapedBack);
BATON_EXTEND_OP("reshape_like").Set(Gradients(), ReshapedBackBeside);
BATON_EXTEND_OP("dyn.reshape").Set(Gradients(), ReshapedBackBeside);

BATON_EXTEND_OP("expand_dims")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ExpandDimsAttrs>(call->attrs());
      Expr result = grad;
      for (int i = 0; i < attrs.num_newaxis; ++i) {
        result = Squeeze(std::move(result), {{attrs.axis}});
      }
      return Exprs{result};
    });

BATON_EXTEND_OP("transpose")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Axes& axes = AttrsOrDefaults<TransposeAttrs>(call->attrs()).axes;
      if (!axes.has_value() || axes->empty()) return Exprs{Transpose(grad)};
      const auto rank = static_cast<int64_t>(axes->size());
      std::vector<int64_t> inverse(axes->size());
      for (int64_t i = 0; i < rank; ++i) {
        const int64_t axis = (*axes)[static_cast<size_t>(i)];
        inverse[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = i;
      }
      return Exprs{Transpose(grad, std::move(inverse))};
    });

BATON_EXTEND_OP("concatenate")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<ConcatenateAttrs>(call->attrs()).axis;
      const TupleTypeNode* tuple = call->arg(0)->tuple_type();
      if (tuple == nullptr) return Unknown(call, "for what is not a tuple");
      std::vector<int64_t> cuts;
      int64_t end = 0;
      for (size_t i = 0; i + 1 < tuple->fields().size(); ++i) {
        const auto* field = tuple->fields()[i].As<TensorTypeNode>();
        if (field == nullptr) return Unknown(call, "for nested tuples");
        const int at = axis < 0 ? axis + field->rank() : axis;
        if (at < 0 || at >= field->rank() || !field->shape()[at].is_const()) {
          return Unknown(call, "where an extent along its axis is not");
        }
        end += field->shape()[at].value();
        cuts.push_back(end);
      }
      return Exprs{SplitAt(grad, std::move(cuts), axis)};
    });

BATON_EXTEND_OP("stack").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int64_t axis = AttrsOrDefaults<StackAttrs>(call->attrs()).axis;
      const TupleTypeNode* tuple = call->arg(0)->tuple_type();
      if (tuple == nullptr) return Unknown(call, "for what is not a tuple");
      const size_t n = tuple->fields().size();
      const Expr parts =
          Split(grad, static_cast<int64_t>(n), static_cast<int>(axis));
      Exprs fields;
      for (size_t i = 0; i < n; ++i) {
        fields.push_back(
            Squeeze(TupleGetItem(parts, static_cast<int>(i)), {{axis}}));
      }
      return Exprs{Tuple(std::move(fields))};
    });

BATON_EXTEND_OP("arange").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      if (call->num_args() != 3) return Unknown(call, "without arguments");
      const Expr& start = call->arg(0);
      const Expr& step = call->arg(2);
      const Expr length =
          Take(ShapeOf(call), ScalarInt32(0), TakeAttrs{.axis = 0});
      const Expr places =
          Arange(ScalarInt32(0), length, ScalarInt32(1), kInt32);
      return Exprs{CastLike(Sum(grad), start), ZerosLike(call->arg(1)),
                   CastLike(Sum(Multiply(CastLike(places, grad), grad)), step)};
    });

// -- Selecting and placing --

BATON_EXTEND_OP("gather_nd")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      if (AttrsOrDefaults<GatherNDAttrs>(call->attrs()).batch_dims != 0) {
        return Unknown(call, "for batch_dims other than 0");
      }
      const Expr& data = call->arg(0);
      const Expr& indices = call->arg(1);
      return Exprs{
          Call(BATON_OP("scatter_nd"), {ZerosLike(data), indices, grad},
               Attrs::Make(ScatterNDAttrs{.mode = "add"})),
          ZerosLike(indices)};
    });

BATON_EXTEND_OP("one_hot").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr zeros = ZerosLike(grad);
      const Expr on = Equal(call, call->arg(1));
      const Expr grad_on = Sum(Where(on, grad, zeros));
      const Expr grad_off = Sum(Where(on, zeros, grad));
      return Exprs{ZerosLike(call->arg(0)), CastLike(grad_on, call->arg(1)),
                   CastLike(grad_off, call->arg(2))};
    });

BATON_EXTEND_OP("strided_slice")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<StridedSliceAttrs>(call->attrs());
      if (attrs.axes.has_value()) return Unknown(call, "for given axes");
      if (!attrs.begin.has_value() || !attrs.end.has_value()) {
        return Unknown(call, "without begin and end");
      }
      const Expr& x = call->arg(0);
      std::vector<int64_t> end = *attrs.end;
      std::vector<int64_t> strides = {1};
      if (attrs.slice_mode == "size") {
        // Sizes instead of ends; strides do not count.
        BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                               ShapeOfTyped(call, x));
        for (size_t i = 0; i < end.size() && i < attrs.begin->size(); ++i) {
          end[i] = end[i] == -1 && i < shape.size()
                       ? shape[i]
                       : (*attrs.begin)[i] + end[i];
        }
      } else if (attrs.strides.has_value() && !attrs.strides->empty()) {
        strides = *attrs.strides;
      }
      BATON_ASSIGN_OR_RETURN(Expr begins, VectorInt32(*attrs.begin));
      BATON_ASSIGN_OR_RETURN(Expr ends, VectorInt32(end));
      BATON_ASSIGN_OR_RETURN(Expr steps, VectorInt32(strides));
      return Exprs{Call(BATON_OP("strided_set"),
                        {ZerosLike(x), grad, begins, ends, steps})};
    });

// A slice of `data` from `begin` to `end`, vectors, by steps of 1.
absl::StatusOr<Expr> SliceBetween(const Expr& data, Expr begin, const Expr& end,
                                  size_t rank) {
  BATON_ASSIGN_OR_RETURN(const Expr strides,
                         VectorInt32(std::vector<int64_t>(rank, 1)));
  const Expr shape = CastLike(ShapeOf(data), begin);
  const Expr extents = SliceLike(shape, begin);
  begin = Where(Less(begin, CastLike(ScalarInt32(0), begin)),
                Add(begin, extents), begin);
  begin = Where(GreaterEqual(begin, extents), extents, begin);
  return Expr(Call(BATON_OP("dyn.strided_slice"), {data, begin, end, strides},
                   Attrs::Make(StridedSliceAttrs{})));
}

// A loop over the indices adds each slice of `grad` where it was taken from.
GradientsOr TakeGradient(const Call& call, const Expr& grad) {
  const auto& attrs = AttrsOrDefaults<TakeAttrs>(call->attrs());
  const Expr& data = call->arg(0);
  Expr indices = call->arg(1);
  if (attrs.batch_dims != 0) {
    return Unknown(call, "for batch_dims other than 0");
  }
  BATON_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOfTyped(call, data));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const indices_type,
                         TensorTypeOf(call, indices));
  if (indices_type->rank() > 1) {
    return Unknown(call, "for indices of more than one axis");
  }
  const auto vector_of = [](int64_t value) {
    return Reshape(ScalarInt32(value), {1});
  };
  const Expr zero = vector_of(0);
  const Expr one = vector_of(1);
  Expr start = ZerosLike(data);
  size_t axis = 0;
  if (attrs.axis.has_value()) {
    const auto rank = static_cast<int64_t>(shape.size());
    axis =
        static_cast<size_t>(*attrs.axis < 0 ? *attrs.axis + rank : *attrs.axis);
  } else {
    start = Reshape(start, {-1});
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    shape = {size};
  }
  const auto signed_axis = static_cast<int64_t>(axis);

  Expr slices = grad;
  Expr count = one;
  if (indices_type->rank() == 0) {
    indices = Reshape(indices, {1});
    slices = ExpandDims(slices, static_cast<int>(signed_axis));
  } else {
    count = Take(ShapeOf(indices), zero, TakeAttrs{.axis = 0});
  }

  Dims dims(shape.begin(), shape.end());
  const Var sum("data_grad", TensorType(std::move(dims), DTypeOf(data)));
  const Var i("i", TensorType::Of({1}, kInt32));
  Expr index = Take(indices, i, TakeAttrs{.axis = 0});
  if (indices_type->dtype() != kInt32) index = Cast(index, kInt32);
  const Expr slice = Take(slices, i, TakeAttrs{.axis = signed_axis});
  Exprs begins, ends;
  for (size_t k = 0; k < shape.size(); ++k) {
    const Expr extent = vector_of(shape[k]);
    begins.push_back(k == axis ? index : zero);
    ends.push_back(k == axis ? Add(index, one) : extent);
  }
  const Expr begin = Concatenate(std::move(begins), 0);
  const Expr end = Concatenate(std::move(ends), 0);
  BATON_ASSIGN_OR_RETURN(Expr update,
                         SliceBetween(sum, begin, end, shape.size()));
  update = Add(update, slice);
  BATON_ASSIGN_OR_RETURN(const Expr strides,
                         VectorInt32(std::vector<int64_t>(shape.size(), 1)));
  const Expr next =
      Call(BATON_OP("strided_set"), {sum, update, begin, end, strides});

  const Var loop("while_loop");
  const Function step(
      {sum, i}, If(Squeeze(Less(i, count)), Call(loop, {next, Add(i, one)}),
                   Tuple({sum, i})));
  Expr result = TupleGetItem(Call(Let(loop, step, loop), {start, zero}), 0);
  if (!attrs.axis.has_value()) result = ReshapeLike(result, data);
  return Exprs{result, ZerosLike(call->arg(1))};
}
BATON_EXTEND_OP("take").Set(Gradients(), TakeGradient);

// -- Reductions --

// The axes that `call` reduces, sorted and not negative; null for all of them.
template <typename A>
absl::StatusOr<Axes> ReducedAxes(const Call& call, const A& attrs) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const type,
                         TensorTypeOf(call, call->arg(0)));
  if (!attrs.axis.has_value() || attrs.axis->empty()) {
    if (attrs.exclude) return Unknown(call, "for no axis but excluded ones");
    return Axes();
  }
  const int64_t rank = type->rank();
  std::vector<bool> named(static_cast<size_t>(rank));
  for (const int64_t axis : *attrs.axis) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return Unknown(call, "for such an axis");
    named[static_cast<size_t>(at)] = true;
  }
  std::vector<int64_t> result;
  for (int64_t i = 0; i < rank; ++i) {
    if (named[static_cast<size_t>(i)] != attrs.exclude) result.push_back(i);
  }
  return Axes(std::move(result));
}

// Returns the numbers of the axes; all axes if none are given.
std::vector<int64_t> AllIfNone(const Axes& axes, size_t rank) {
  if (axes.has_value()) return *axes;
  std::vector<int64_t> result(rank);
  for (size_t i = 0; i < rank; ++i) result[i] = static_cast<int64_t>(i);
  return result;
}

// `expr` with the axes that a reduction dropped, with extent 1.
Expr WithDroppedAxes(Expr expr, absl::Span<const int64_t> axes) {
  for (const int64_t axis : axes) {
    expr = ExpandDims(std::move(expr), static_cast<int>(axis));
  }
  return expr;
}

BATON_EXTEND_OP("sum").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes axes, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      return Exprs{BroadcastToLike(
          attrs.keepdims ? grad
                         : WithDroppedAxes(grad, AllIfNone(axes, shape.size())),
          data)};
    });

BATON_EXTEND_OP("mean").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes reduced, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      const std::vector<int64_t> axes = AllIfNone(reduced, shape.size());
      double factor = 1;
      for (const int64_t axis : axes) {
        factor /= static_cast<double>(shape[static_cast<size_t>(axis)]);
      }
      const Expr spread = attrs.keepdims ? grad : WithDroppedAxes(grad, axes);
      return Exprs{
          BroadcastToLike(Multiply(spread, ScalarOf(factor, data)), data)};
    });

// The mean is an argument of its own. Its part in the derivative by the data is
// left to the gradient of `mean`, so the sum over both is right only if the
// argument is the mean of the data.
BATON_EXTEND_OP("variance")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<VarianceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      const Expr& mean = call->arg(1);
      BATON_ASSIGN_OR_RETURN(const Axes reduced, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      const std::vector<int64_t> axes = AllIfNone(reduced, shape.size());
      double count = 1;
      for (const int64_t axis : axes) {
        count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
      }
      double mean_factor = -2;
      if (attrs.unbiased) {
        mean_factor = mean_factor * count / (count - 1);
        count -= 1;
      }
      const Expr spread = attrs.keepdims ? grad : WithDroppedAxes(grad, axes);
      return Exprs{
          Multiply(Multiply(spread, ScalarOf(2 / count, data)), data),
          Multiply(Multiply(ScalarOf(mean_factor, data), spread), mean)};
    });

// Elements that are all the largest share the gradient.
BATON_EXTEND_OP("max").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& x = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes axes, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, x));
      Expr repeated = call;
      Expr spread = grad;
      if (!axes.has_value()) {
        repeated = attrs.keepdims ? BroadcastToLike(repeated, x)
                                  : FullLike(x, repeated);
      } else {
        if (!attrs.keepdims) {
          repeated = WithDroppedAxes(repeated, *axes);
          spread = WithDroppedAxes(spread, *axes);
        }
        for (const int64_t axis : *axes) {
          repeated = Repeat(repeated, shape[static_cast<size_t>(axis)], axis);
        }
      }
      const Expr chosen = CastLike(Equal(repeated, x), spread);
      const Expr count = Sum(chosen, {.axis = axes, .keepdims = true});
      return Exprs{Divide(Multiply(chosen, spread), count)};
    });

// -- Networks --

BATON_EXTEND_OP("nn.softmax")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<SoftmaxAttrs>(call->attrs()).axis;
      const Expr sum =
          Sum(Multiply(grad, call), {.axis = {{axis}}, .keepdims = true});
      return Exprs{Multiply(Subtract(grad, sum), call)};
    });
BATON_EXTEND_OP("nn.log_softmax")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<SoftmaxAttrs>(call->attrs()).axis;
      const Expr sum = Sum(grad, {.axis = {{axis}}, .keepdims = true});
      return Exprs{Subtract(grad, Multiply(sum, Exp(call)))};
    });

BATON_EXTEND_OP("nn.bias_add")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<BiasAddAttrs>(call->attrs()).axis;
      return Exprs{CollapseSumLike(grad, call->arg(0)),
                   Sum(grad, {.axis = {{axis}}, .exclude = true})};
    });

GradientsOr DenseGradient(const Call& call, const Expr& grad) {
  const Expr& data = call->arg(0);
  const Expr& weight = call->arg(1);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const data_type,
                         TensorTypeOf(call, data));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const weight_type,
                         TensorTypeOf(call, weight));
  if (data_type->rank() != 2 || weight_type->rank() != 2) {
    return Unknown(call, "for operands that are no matrices");
  }
  return Exprs{CollapseSumLike(nn::Dense(grad, Transpose(weight),
                                         {.units = weight_type->shape()[1]}),
                               data),
               CollapseSumLike(nn::Dense(Transpose(grad), Transpose(data),
                                         {.units = data_type->shape()[1]}),
                               weight)};
}
BATON_EXTEND_OP("nn.dense").Set(Gradients(), DenseGradient);

BATON_EXTEND_OP("nn.matmul")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<MatmulAttrs>(call->attrs());
      const Expr& a = call->arg(0);
      const Expr& b = call->arg(1);
      if (attrs.transpose_a && attrs.transpose_b) {
        const MatmulAttrs both = {.transpose_a = true, .transpose_b = true};
        return Exprs{CollapseSumLike(nn::Matmul(b, grad, both), a),
                     CollapseSumLike(nn::Matmul(grad, a, both), b)};
      }
      // nn.dense is the product whose second operand alone is transposed.
      if (attrs.transpose_a) {
        return Exprs{CollapseSumLike(nn::Dense(b, grad), a),
                     CollapseSumLike(nn::Matmul(a, grad), b)};
      }
      if (attrs.transpose_b) return DenseGradient(call, grad);
      return Exprs{
          CollapseSumLike(nn::Dense(grad, b), a),
          CollapseSumLike(nn::Matmul(a, grad, {.transpose_a = true}), b)};
    });

BATON_EXTEND_OP("nn.batch_matmul")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<BatchMatmulAttrs>(call->attrs());
      const Expr& a = call->arg(0);
      const Expr& b = call->arg(1);
      const auto product = [](Expr x, Expr y, bool transpose_x,
                              bool transpose_y) {
        return nn::BatchMatmul(
            std::move(x), std::move(y),
            {.transpose_a = transpose_x, .transpose_b = transpose_y});
      };
      if (attrs.transpose_a && attrs.transpose_b) {
        return Exprs{CollapseSumLike(product(b, grad, true, true), a),
                     CollapseSumLike(product(grad, a, true, true), b)};
      }
      if (attrs.transpose_a) {
        return Exprs{CollapseSumLike(product(b, grad, false, true), a),
                     CollapseSumLike(product(a, grad, false, false), b)};
      }
      if (attrs.transpose_b) {
        const auto transposed = [](const Expr& x) {
          return Transpose(x, {{0, 2, 1}});
        };
        return Exprs{
            CollapseSumLike(product(grad, transposed(b), false, true), a),
            CollapseSumLike(
                product(transposed(grad), transposed(a), false, true), b)};
      }
      return Exprs{CollapseSumLike(product(grad, b, false, true), a),
                   CollapseSumLike(product(a, grad, true, false), b)};
    });

GradientsOr Conv2DGradient(const Call& call, const Expr& grad) {
  const auto& attrs = AttrsOrDefaults<Conv2DAttrs>(call->attrs());
  const Expr& data = call->arg(0);
  const Expr& weight = call->arg(1);
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" ||
      (!attrs.out_layout.empty() && attrs.out_layout != "NCHW")) {
    return Unknown(call, "for layouts other than NCHW and OIHW");
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> data_shape,
                         ShapeOfTyped(call, data));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> weight_shape,
                         ShapeOfTyped(call, weight));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> out_shape,
                         ShapeOfTyped(call, call));
  constexpr size_t kSpatial = 2;
  Dims padding = attrs.padding;
  SpellOutPadding(kSpatial, padding);
  Dims strides = attrs.strides;
  SpellOutAxes(kSpatial, strides);
  Dims dilation = attrs.dilation;
  SpellOutAxes(kSpatial, dilation);
  // The padding that a transposed convolution needs to reach the extents of the
  // data: strides leave some of the data out of every window.
  Dims output_padding;
  for (size_t i = 0; i < kSpatial; ++i) {
    for (const Dim& dim :
         {strides[i], dilation[i], padding[i], padding[i + kSpatial]}) {
      if (!dim.is_const()) return Unknown(call, "for symbolic attributes");
    }
    const int64_t window = (weight_shape[i + 2] - 1) * dilation[i].value() + 1;
    const int64_t covered = (out_shape[i + 2] - 1) * strides[i].value() -
                            padding[i].value() - padding[i + kSpatial].value() +
                            window;
    output_padding.push_back(data_shape[i + 2] - covered);
  }
  const DType out_dtype =
      attrs.out_dtype == DType() ? DTypeOf(data) : attrs.out_dtype;
  // The attributes of nn.conv2d_backward_weight are layouts of the gradient, of
  // the data and of the weight.
  return Exprs{nn::Conv2DTranspose(grad, weight,
                                   {.strides = strides,
                                    .output_padding = output_padding,
                                    .padding = padding,
                                    .dilation = dilation,
                                    .groups = attrs.groups,
                                    .out_dtype = out_dtype}),
               Call(BATON_OP("nn.conv2d_backward_weight"), {grad, data},
                    Attrs::Make(Conv2DAttrs{
                        .strides = strides,
                        .padding = padding,
                        .dilation = dilation,
                        .groups = attrs.groups,
                        .channels = attrs.channels,
                        .kernel_size = {weight_shape[2], weight_shape[3]},
                        .data_layout = "NCHW",
                        .kernel_layout = "NCHW",
                        .out_layout = "OIHW",
                        .out_dtype = out_dtype}))};
}
BATON_EXTEND_OP("nn.conv2d").Set(Gradients(), Conv2DGradient);

absl::Status ExpectNoDilation(const Call& call, const Dims& dilation) {
  for (const Dim& dim : dilation) {
    if (!dim.is_const(1)) return Unknown(call, "for dilated windows");
  }
  return absl::OkStatus();
}

BATON_EXTEND_OP("nn.max_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<MaxPool2DAttrs>(call->attrs());
      BATON_RETURN_IF_ERROR(ExpectNoDilation(call, attrs.dilation));
      return Exprs{
          Call(BATON_OP("nn.max_pool2d_grad"), {grad, call->arg(0)},
               Attrs::Make(MaxPool2DAttrs{.pool_size = attrs.pool_size,
                                          .strides = attrs.strides,
                                          .padding = attrs.padding,
                                          .layout = attrs.layout,
                                          .ceil_mode = attrs.ceil_mode}))};
    });
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<AvgPool2DAttrs>(call->attrs());
      BATON_RETURN_IF_ERROR(ExpectNoDilation(call, attrs.dilation));
      return Exprs{Call(BATON_OP("nn.avg_pool2d_grad"), {grad, call->arg(0)},
                        Attrs::Make(AvgPool2DAttrs{
                            .pool_size = attrs.pool_size,
                            .strides = attrs.strides,
                            .padding = attrs.padding,
                            .layout = attrs.layout,
                            .ceil_mode = attrs.ceil_mode,
                            .count_include_pad = attrs.count_include_pad}))};
    });
BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<GlobalPool2DAttrs>(call->attrs());
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, call->arg(0)));
      if (attrs.layout != "NCHW" && attrs.layout != "NHWC") {
        return Unknown(call, "for layouts other than NCHW and NHWC");
      }
      const size_t height = attrs.layout == "NCHW" ? 2 : 1;
      return Exprs{Call(BATON_OP("nn.avg_pool2d_grad"), {grad, call->arg(0)},
                        Attrs::Make(AvgPool2DAttrs{
                            .pool_size = {shape[height], shape[height + 1]},
                            .layout = attrs.layout}))};
    });

// The mean over the batch: `grad` divided by its size.
Expr PerSample(const Call& call, const Expr& grad) {
  const Expr& x = call->arg(0);
  const Expr batch = Take(ShapeOf(x), ScalarInt32(0), TakeAttrs{.axis = 0});
  return Divide(grad, Cast(batch, DTypeOf(x)));
}
BATON_EXTEND_OP("nn.cross_entropy")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      const Expr each = PerSample(call, grad);
      return Exprs{Divide(Multiply(Negative(each), y), x),
                   Multiply(Negative(each), Log(x))};
    });
BATON_EXTEND_OP("nn.cross_entropy_with_logits")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr each = PerSample(call, grad);
      return Exprs{Multiply(Negative(each), call->arg(1)),
                   Multiply(Negative(each), call->arg(0))};
    });

}  // namespace
}  // namespace baton::relay
