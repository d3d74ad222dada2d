#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/gradient_helpers.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"

namespace baton::relay {
namespace {

using internal::Axes;
using internal::DTypeOf;
using internal::Exprs;
using internal::GradientsOr;
using internal::kInt32;
using internal::ScalarInt32;
using internal::ShapeOfTyped;
using internal::TensorTypeOf;
using internal::Unknown;
using internal::VectorInt32;
using internal::ZeroGradients;

// The gradient of operators that move elements without changing their order.
GradientsOr ReshapedBack(const Call& call, const Expr& grad) {
  return Exprs{ReshapeLike(grad, call->arg(0))};
}

GradientsOr ReshapedBackBeside(const Call& call, const Expr& grad) {
  return Exprs{ReshapeLike(grad, call->arg(0)), ZerosLike(call->arg(1))};
}

BATON_EXTEND_OP("zeros").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("ones").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("dyn.zeros").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("dyn.ones").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("ones_like").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("shape_of").Set(Gradients(), ZeroGradients);
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

}  // namespace
}  // namespace baton::relay
