#include "baton/relay/op/tensor.h"

#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"

namespace baton::relay {

Constant Const(Tensor value) { return Constant(std::move(value)); }

Constant Const(double value, DType dtype) {
  return Constant(Tensor::ScalarOf(dtype, value));
}

// A builder named `Builder` of calls of operator `name`; the operator is looked
// up once.
#define BATON_UNARY_BUILDER(Builder, name)          \
  Expr Builder(Expr data) {                         \
    static const Op& kOp = *new Op(Op::Find(name)); \
    return Call(kOp, {std::move(data)});            \
  }
#define BATON_BINARY_BUILDER(Builder, name)             \
  Expr Builder(Expr lhs, Expr rhs) {                    \
    static const Op& kOp = *new Op(Op::Find(name));     \
    return Call(kOp, {std::move(lhs), std::move(rhs)}); \
  }
#define BATON_ATTRS_BUILDER(Builder, AttrsType, name)                   \
  Expr Builder(Expr data, AttrsType attrs) {                            \
    static const Op& kOp = *new Op(Op::Find(name));                     \
    return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs))); \
  }

BATON_UNARY_BUILDER(Abs, "abs")
BATON_UNARY_BUILDER(Acos, "acos")
BATON_UNARY_BUILDER(Acosh, "acosh")
BATON_UNARY_BUILDER(Asin, "asin")
BATON_UNARY_BUILDER(Asinh, "asinh")
BATON_UNARY_BUILDER(Atan, "atan")
BATON_UNARY_BUILDER(Atanh, "atanh")
BATON_UNARY_BUILDER(BitwiseNot, "bitwise_not")
BATON_UNARY_BUILDER(Ceil, "ceil")
BATON_UNARY_BUILDER(Copy, "copy")
BATON_UNARY_BUILDER(Cos, "cos")
BATON_UNARY_BUILDER(Cosh, "cosh")
BATON_UNARY_BUILDER(Erf, "erf")
BATON_UNARY_BUILDER(Exp, "exp")
BATON_UNARY_BUILDER(FastErf, "fast_erf")
BATON_UNARY_BUILDER(FastExp, "fast_exp")
BATON_UNARY_BUILDER(FastTanh, "fast_tanh")
BATON_UNARY_BUILDER(Floor, "floor")
BATON_UNARY_BUILDER(IsFinite, "isfinite")
BATON_UNARY_BUILDER(IsInf, "isinf")
BATON_UNARY_BUILDER(IsNan, "isnan")
BATON_UNARY_BUILDER(Log, "log")
BATON_UNARY_BUILDER(Log10, "log10")
BATON_UNARY_BUILDER(Log2, "log2")
BATON_UNARY_BUILDER(LogicalNot, "logical_not")
BATON_UNARY_BUILDER(Negative, "negative")
BATON_UNARY_BUILDER(OnesLike, "ones_like")
BATON_UNARY_BUILDER(Round, "round")
BATON_UNARY_BUILDER(Rsqrt, "rsqrt")
BATON_UNARY_BUILDER(Sigmoid, "sigmoid")
BATON_UNARY_BUILDER(Sign, "sign")
BATON_UNARY_BUILDER(Sin, "sin")
BATON_UNARY_BUILDER(Sinh, "sinh")
BATON_UNARY_BUILDER(Sqrt, "sqrt")
BATON_UNARY_BUILDER(Tan, "tan")
BATON_UNARY_BUILDER(Tanh, "tanh")
BATON_UNARY_BUILDER(Trunc, "trunc")
BATON_UNARY_BUILDER(ZerosLike, "zeros_like")
BATON_UNARY_BUILDER(StopFusion, "annotation.stop_fusion")

BATON_BINARY_BUILDER(Add, "add")
BATON_BINARY_BUILDER(BitwiseAnd, "bitwise_and")
BATON_BINARY_BUILDER(BitwiseOr, "bitwise_or")
BATON_BINARY_BUILDER(BitwiseXor, "bitwise_xor")
BATON_BINARY_BUILDER(Divide, "divide")
BATON_BINARY_BUILDER(Equal, "equal")
BATON_BINARY_BUILDER(FloorDivide, "floor_divide")
BATON_BINARY_BUILDER(FloorMod, "floor_mod")
BATON_BINARY_BUILDER(Greater, "greater")
BATON_BINARY_BUILDER(GreaterEqual, "greater_equal")
BATON_BINARY_BUILDER(LeftShift, "left_shift")
BATON_BINARY_BUILDER(Less, "less")
BATON_BINARY_BUILDER(LessEqual, "less_equal")
BATON_BINARY_BUILDER(LogicalAnd, "logical_and")
BATON_BINARY_BUILDER(LogicalOr, "logical_or")
BATON_BINARY_BUILDER(LogicalXor, "logical_xor")
BATON_BINARY_BUILDER(Maximum, "maximum")
BATON_BINARY_BUILDER(Minimum, "minimum")
BATON_BINARY_BUILDER(Mod, "mod")
BATON_BINARY_BUILDER(Multiply, "multiply")
BATON_BINARY_BUILDER(NotEqual, "not_equal")
BATON_BINARY_BUILDER(Power, "power")
BATON_BINARY_BUILDER(RightShift, "right_shift")
BATON_BINARY_BUILDER(Subtract, "subtract")
BATON_BINARY_BUILDER(TruncDivide, "trunc_divide")
BATON_BINARY_BUILDER(TruncMod, "trunc_mod")
BATON_BINARY_BUILDER(CastLike, "cast_like")
BATON_BINARY_BUILDER(BroadcastToLike, "broadcast_to_like")
BATON_BINARY_BUILDER(CollapseSumLike, "collapse_sum_like")
BATON_BINARY_BUILDER(FullLike, "full_like")

BATON_ATTRS_BUILDER(All, ReduceAttrs, "all")
BATON_ATTRS_BUILDER(Any, ReduceAttrs, "any")
BATON_ATTRS_BUILDER(ArgMax, ArgReduceAttrs, "argmax")
BATON_ATTRS_BUILDER(ArgMin, ArgReduceAttrs, "argmin")
BATON_ATTRS_BUILDER(Max, ReduceAttrs, "max")
BATON_ATTRS_BUILDER(Mean, ReduceAttrs, "mean")
BATON_ATTRS_BUILDER(Min, ReduceAttrs, "min")
BATON_ATTRS_BUILDER(Prod, ReduceAttrs, "prod")
BATON_ATTRS_BUILDER(Sum, ReduceAttrs, "sum")
BATON_ATTRS_BUILDER(CumSum, ScanopAttrs, "cumsum")

#undef BATON_UNARY_BUILDER
#undef BATON_BINARY_BUILDER
#undef BATON_ATTRS_BUILDER

Expr Clip(Expr data, double a_min, double a_max) {
  static const Op& kOp = *new Op(Op::Find("clip"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(ClipAttrs{.a_min = a_min, .a_max = a_max}));
}

Expr Where(Expr condition, Expr x, Expr y) {
  static const Op& kOp = *new Op(Op::Find("where"));
  return Call(kOp, {std::move(condition), std::move(x), std::move(y)});
}

Expr Cast(Expr data, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("cast"));
  return Call(kOp, {std::move(data)}, Attrs::Make(CastAttrs{.dtype = dtype}));
}

Expr Reinterpret(Expr data, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("reinterpret"));
  return Call(kOp, {std::move(data)}, Attrs::Make(CastAttrs{.dtype = dtype}));
}

Expr ExpandDims(Expr data, int axis, int num_newaxis) {
  static const Op& kOp = *new Op(Op::Find("expand_dims"));
  return Call(
      kOp, {std::move(data)},
      Attrs::Make(ExpandDimsAttrs{.axis = axis, .num_newaxis = num_newaxis}));
}

Expr Squeeze(Expr data, std::optional<std::vector<int64_t>> axis) {
  static const Op& kOp = *new Op(Op::Find("squeeze"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(SqueezeAttrs{.axis = std::move(axis)}));
}

Expr Reshape(Expr data, std::vector<int64_t> newshape) {
  static const Op& kOp = *new Op(Op::Find("reshape"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(ReshapeAttrs{.newshape = std::move(newshape)}));
}

Expr ReverseReshape(Expr data, std::vector<int64_t> newshape) {
  static const Op& kOp = *new Op(Op::Find("contrib_reverse_reshape"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(ReshapeAttrs{.newshape = std::move(newshape)}));
}

Expr ReshapeLike(Expr data, Expr shape_like, ReshapeLikeAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("reshape_like"));
  return Call(kOp, {std::move(data), std::move(shape_like)},
              Attrs::Make(std::move(attrs)));
}

Expr Transpose(Expr data, std::optional<std::vector<int64_t>> axes) {
  static const Op& kOp = *new Op(Op::Find("transpose"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(TransposeAttrs{.axes = std::move(axes)}));
}

Expr LayoutTransform(Expr data, std::string src_layout,
                     std::string dst_layout) {
  static const Op& kOp = *new Op(Op::Find("layout_transform"));
  return Call(
      kOp, {std::move(data)},
      Attrs::Make(LayoutTransformAttrs{.src_layout = std::move(src_layout),
                                       .dst_layout = std::move(dst_layout)}));
}

Expr BroadcastTo(Expr data, std::vector<int64_t> shape) {
  static const Op& kOp = *new Op(Op::Find("broadcast_to"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(InitOpAttrs{.shape = std::move(shape)}));
}

Expr ShapeOf(Expr data, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("shape_of"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(ShapeOfAttrs{.dtype = dtype}));
}

Expr NdarraySize(Expr data, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("ndarray_size"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(NdarraySizeAttrs{.dtype = dtype}));
}

Expr Zeros(std::vector<int64_t> shape, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("zeros"));
  return Call(
      kOp, absl::Span<const Expr>(),
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr Ones(std::vector<int64_t> shape, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("ones"));
  return Call(
      kOp, absl::Span<const Expr>(),
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr Full(Expr fill_value, std::vector<int64_t> shape, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("full"));
  return Call(
      kOp, {std::move(fill_value)},
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr Arange(Expr start, Expr stop, Expr step, DType dtype) {
  static const Op& kOp = *new Op(Op::Find("arange"));
  return Call(kOp, {std::move(start), std::move(stop), std::move(step)},
              Attrs::Make(ArangeAttrs{.dtype = dtype}));
}

Expr Concatenate(std::vector<Expr> data, int axis) {
  static const Op& kOp = *new Op(Op::Find("concatenate"));
  return Call(kOp, {Tuple(std::move(data))},
              Attrs::Make(ConcatenateAttrs{.axis = axis}));
}

Expr Stack(std::vector<Expr> data, int axis) {
  static const Op& kOp = *new Op(Op::Find("stack"));
  return Call(kOp, {Tuple(std::move(data))},
              Attrs::Make(StackAttrs{.axis = axis}));
}

namespace {

Expr SplitBy(Expr data, AttrValue indices_or_sections, int axis) {
  static const Op& kOp = *new Op(Op::Find("split"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(SplitAttrs{
                  .indices_or_sections = std::move(indices_or_sections),
                  .axis = axis}));
}

}  // namespace

Expr Split(Expr data, int64_t sections, int axis) {
  return SplitBy(std::move(data), sections, axis);
}

Expr SplitAt(Expr data, std::vector<int64_t> indices, int axis) {
  return SplitBy(std::move(data),
                 AttrTraits<std::vector<int64_t>>::ToValue(indices), axis);
}

Expr StridedSlice(Expr data, std::vector<int64_t> begin,
                  std::vector<int64_t> end, StridedSliceOptions options) {
  static const Op& kOp = *new Op(Op::Find("strided_slice"));
  return Call(
      kOp, {std::move(data)},
      Attrs::Make(StridedSliceAttrs{.begin = std::move(begin),
                                    .end = std::move(end),
                                    .strides = std::move(options.strides),
                                    .slice_mode = std::move(options.slice_mode),
                                    .axes = std::move(options.axes)}));
}

Expr SliceLike(Expr data, Expr shape_like,
               std::optional<std::vector<int64_t>> axes) {
  static const Op& kOp = *new Op(Op::Find("slice_like"));
  return Call(kOp, {std::move(data), std::move(shape_like)},
              Attrs::Make(SliceLikeAttrs{.axes = std::move(axes)}));
}

Expr Take(Expr data, Expr indices, TakeAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("take"));
  return Call(kOp, {std::move(data), std::move(indices)},
              Attrs::Make(std::move(attrs)));
}

Expr Gather(Expr data, int axis, Expr indices) {
  static const Op& kOp = *new Op(Op::Find("gather"));
  return Call(kOp, {std::move(data), std::move(indices)},
              Attrs::Make(GatherAttrs{.axis = axis}));
}

Expr GatherNd(Expr data, Expr indices, GatherNDAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("gather_nd"));
  return Call(kOp, {std::move(data), std::move(indices)},
              Attrs::Make(std::move(attrs)));
}

Expr Repeat(Expr data, int64_t repeats, int64_t axis) {
  static const Op& kOp = *new Op(Op::Find("repeat"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(RepeatAttrs{.repeats = repeats, .axis = axis}));
}

Expr Tile(Expr data, std::vector<int64_t> reps) {
  static const Op& kOp = *new Op(Op::Find("tile"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(TileAttrs{.reps = std::move(reps)}));
}

Expr Reverse(Expr data, int64_t axis) {
  static const Op& kOp = *new Op(Op::Find("reverse"));
  return Call(kOp, {std::move(data)}, Attrs::Make(ReverseAttrs{.axis = axis}));
}

Expr OneHot(Expr indices, Expr on_value, Expr off_value, OneHotAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("one_hot"));
  return Call(kOp,
              {std::move(indices), std::move(on_value), std::move(off_value)},
              Attrs::Make(std::move(attrs)));
}

Expr Variance(Expr data, VarianceAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("variance"));
  Expr mean = Mean(
      data, {.axis = attrs.axis, .keepdims = true, .exclude = attrs.exclude});
  return Call(kOp, {std::move(data), std::move(mean)},
              Attrs::Make(std::move(attrs)));
}

Expr Std(Expr data, VarianceAttrs attrs) {
  return Sqrt(Variance(std::move(data), std::move(attrs)));
}

Expr Argsort(Expr data, ArgsortAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("argsort"));
  if (attrs.dtype.is_void()) attrs.dtype = DType::Int(32);
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr Sort(Expr data, ArgsortAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("sort"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr TopK(Expr data, TopKAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("topk"));
  if (attrs.dtype.is_void()) attrs.dtype = DType::Int(32);
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay
