#include "baton/relay/op/tensor/elementwise.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/algebra.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

OpRegistration Unary(absl::string_view name, absl::string_view doc,
                     CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TypeRelation(TensorIdentityRel)
      .Set(FusionPatterns(), FusionPattern::kElemWise)
      .Set(LayoutInferenceRules(), InferElemwiseLayouts);
}

OpRegistration Predicate(absl::string_view name, absl::string_view doc,
                         CodeLocation location = CodeLocation::Current()) {
  return Unary(name, doc, location).TypeRelation(PredicateRel);
}

OpRegistration Binary(absl::string_view name, absl::string_view doc,
                      CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"lhs", "The left operand."}, {"rhs", "The right operand."}})
      .TypeRelation(BroadcastRel)
      .Set(FusionPatterns(), FusionPattern::kBroadcast)
      .Set(LayoutInferenceRules(), InferBroadcastLayouts);
}

OpRegistration Comparison(absl::string_view name, absl::string_view doc,
                          CodeLocation location = CodeLocation::Current()) {
  return Binary(name, doc, location).TypeRelation(BroadcastCompareRel);
}

std::optional<InferredLayouts> InferFixedPointMultiplyPerAxisLayouts(
    const LayoutQuery& query) {
  const auto& attrs =
      AttrsOrDefaults<FixedPointMultiplyPerAxisAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const Layout& layout = query.changed ? query.new_inputs[0] : old;
  std::vector<char> letters;
  for (const int64_t axis : attrs.axes) {
    const std::optional<char> letter = layouts::LetterAt(old, axis);
    if (!letter.has_value()) return std::nullopt;
    letters.push_back(*letter);
  }
  // Multiplier and shifts have the axes that the attribute names, and are
  // split where those are split.
  std::vector<int64_t> axes;
  layouts::Axes shared;
  for (int i = 0; i < layout.ndim(); ++i) {
    const Layout::Axis& axis = layout.axis(i);
    if (std::find(letters.begin(), letters.end(),
                  Layout::ToPrimal(axis.letter)) == letters.end()) {
      continue;
    }
    axes.push_back(i);
    shared.push_back(axis);
  }
  const Layout channels = Layout::FromAxes(shared);
  InferredLayouts result{
      {layout, channels, channels, channels}, {layout}, query.attrs};
  if (query.changed) {
    result.attrs = layouts::WithField(
        query.attrs, &FixedPointMultiplyPerAxisAttrs::axes, std::move(axes));
  }
  return layouts::IfDefined(std::move(result));
}

[[maybe_unused]] const OpRegistration kUnaryOps[] = {
    Unary("abs", "The absolute value."),
    Unary("acos", "The inverse cosine."),
    Unary("acosh", "The inverse hyperbolic cosine."),
    Unary("asin", "The inverse sine."),
    Unary("asinh", "The inverse hyperbolic sine."),
    Unary("atan", "The inverse tangent."),
    Unary("atanh", "The inverse hyperbolic tangent."),
    Unary("bitwise_not", "Inverts each bit."),
    Unary("ceil", "Rounds up."),
    Unary("cos", "The cosine."),
    Unary("cosh", "The hyperbolic cosine."),
    Unary("erf", "The error function."),
    Unary("exp", "The exponential function."),
    Unary("fast_erf", "The error function; may be approximate."),
    Unary("fast_exp", "The exponential function; may be approximate."),
    Unary("fast_tanh", "The hyperbolic tangent; may be approximate."),
    Unary("floor", "Rounds down."),
    Unary("log", "The natural logarithm."),
    Unary("log10", "The logarithm to base 10."),
    Unary("log2", "The logarithm to base 2."),
    Unary("logical_not", "The logical negation."),
    Unary("negative", "The negation."),
    Unary("ones_like", "Ones, in the shape and type of the input."),
    Unary("round", "Rounds to the nearest integer, ties to even."),
    Unary("rsqrt", "The reciprocal of the square root."),
    Unary("sigmoid", "1 / (1 + exp(-x))."),
    Unary("sign", "-1, 0 or 1."),
    Unary("sin", "The sine."),
    Unary("sinh", "The hyperbolic sine."),
    Unary("sqrt", "The square root."),
    Unary("tan", "The tangent."),
    Unary("tanh", "The hyperbolic tangent."),
    Unary("trunc", "Rounds towards zero."),
    Unary("zeros_like", "Zeros, in the shape and type of the input."),
    Unary("copy", "The input itself.").TypeRelation(IdentityRel),
    Predicate("isfinite", "Whether it is neither infinite nor NaN."),
    Predicate("isinf", "Whether it is infinite."),
    Predicate("isnan", "Whether it is NaN."),
};

[[maybe_unused]] const OpRegistration kBinaryOps[] = {
    Binary("add", "The sum, with broadcasting.").Set(CommutativeOps(), true),
    Binary("subtract", "The difference, with broadcasting."),
    Binary("multiply", "The product, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("divide", "The quotient, with broadcasting; integers truncate."),
    Binary("floor_divide", "The quotient rounded down, with broadcasting."),
    Binary("trunc_divide",
           "The quotient rounded towards zero, with broadcasting."),
    Binary("mod", "The remainder of truncated division, with broadcasting."),
    Binary("floor_mod", "The remainder of floor_divide, with broadcasting."),
    Binary("trunc_mod", "The remainder of trunc_divide, with broadcasting."),
    Binary("power", "The power, with broadcasting."),
    Binary("maximum", "The larger operand, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("minimum", "The smaller operand, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("left_shift", "Shifts bits to the left, with broadcasting."),
    Binary("right_shift", "Shifts bits to the right, with broadcasting."),
    Binary("logical_and", "Whether both are true, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("logical_or", "Whether one is true, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("logical_xor", "Whether just one is true, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("bitwise_and", "The conjunction of bits, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("bitwise_or", "The disjunction of bits, with broadcasting.")
        .Set(CommutativeOps(), true),
    Binary("bitwise_xor", "The exclusive disjunction, with broadcasting.")
        .Set(CommutativeOps(), true),
    Comparison("equal", "a == b, with broadcasting.")
        .Set(CommutativeOps(), true),
    Comparison("not_equal", "a != b, with broadcasting.")
        .Set(CommutativeOps(), true),
    Comparison("less", "a < b, with broadcasting."),
    Comparison("less_equal", "a <= b, with broadcasting."),
    Comparison("greater", "a > b, with broadcasting."),
    Comparison("greater_equal", "a >= b, with broadcasting."),
};

BATON_REGISTER_OP("clip")
    .Describe("Limits elements to [a_min, a_max].")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ClipAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

BATON_REGISTER_OP("fixed_point_multiply")
    .Describe("Multiplies integers by a fixed-point number.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<FixedPointMultiplyAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

absl::StatusOr<Type> FixedPointMultiplyPerAxisRel(
    TypeRelationContext& context) {
  for (int i = 0; i < context.num_args(); ++i) {
    if (context.Tensor(i) == nullptr) return Type();
  }
  return context.arg(0);
}

BATON_REGISTER_OP("fixed_point_multiply_per_axis")
    .Describe("Multiplies integers by a fixed-point number for each channel.")
    .Arguments({{"data", "The input."},
                {"fp_multiplier", "The multipliers."},
                {"left_shift", "Bits to shift left first."},
                {"right_shift", "Bits to shift right afterwards."}})
    .TakesAttrs<FixedPointMultiplyPerAxisAttrs>()
    .TypeRelation(FixedPointMultiplyPerAxisRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(LayoutInferenceRules(), InferFixedPointMultiplyPerAxisLayouts);

absl::StatusOr<Type> WhereRel(TypeRelationContext& context) {
  const TensorTypeNode* condition = context.Tensor(0);
  const TensorTypeNode* x = context.Tensor(1);
  const TensorTypeNode* y = context.Tensor(2);
  if (condition == nullptr || x == nullptr || y == nullptr) return Type();
  if (x->dtype() != y->dtype()) {
    return context.Error("the element types ", x->dtype().ToString(), " and ",
                         y->dtype().ToString(), " do not match");
  }
  BATON_ASSIGN_OR_RETURN(const Dims both,
                         BroadcastShapes(context, x->shape(), y->shape()));
  BATON_ASSIGN_OR_RETURN(const Dims shape,
                         BroadcastShapes(context, condition->shape(), both));
  return TensorLike(context, 1, shape, x->dtype());
}

BATON_REGISTER_OP("where")
    .Describe("x where the condition is true, else y, with broadcasting.")
    .Arguments({{"condition", "The condition."},
                {"x", "Taken where it is true."},
                {"y", "Taken where it is false."}})
    .TypeRelation(WhereRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast);

absl::StatusOr<Type> CastRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const DType dtype = context.attrs<CastAttrs>().dtype;
  if (dtype.is_void()) return context.Error("dtype must be given");
  return TensorLike(context, 0, data->shape(), dtype);
}

absl::StatusOr<Type> CastLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  return TensorLike(context, 0, data->shape(), like->dtype());
}

BATON_REGISTER_OP("cast")
    .Describe("Converts elements to another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

BATON_REGISTER_OP("cast_like")
    .Describe("Converts elements to the type of another tensor's.")
    .Arguments({{"data", "The input."},
                {"dtype_like", "A tensor of the type wanted."}})
    .TypeRelation(CastLikeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

BATON_REGISTER_OP("reinterpret")
    .Describe("Takes the bits of elements for those of another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

}  // namespace

// Builders.

Expr Abs(Expr data) { return Call(BATON_OP("abs"), {std::move(data)}); }

Expr Acos(Expr data) { return Call(BATON_OP("acos"), {std::move(data)}); }

Expr Acosh(Expr data) { return Call(BATON_OP("acosh"), {std::move(data)}); }

Expr Asin(Expr data) { return Call(BATON_OP("asin"), {std::move(data)}); }

Expr Asinh(Expr data) { return Call(BATON_OP("asinh"), {std::move(data)}); }

Expr Atan(Expr data) { return Call(BATON_OP("atan"), {std::move(data)}); }

Expr Atanh(Expr data) { return Call(BATON_OP("atanh"), {std::move(data)}); }

Expr BitwiseNot(Expr data) {
  return Call(BATON_OP("bitwise_not"), {std::move(data)});
}

Expr Ceil(Expr data) { return Call(BATON_OP("ceil"), {std::move(data)}); }

Expr Copy(Expr data) { return Call(BATON_OP("copy"), {std::move(data)}); }

Expr Cos(Expr data) { return Call(BATON_OP("cos"), {std::move(data)}); }

Expr Cosh(Expr data) { return Call(BATON_OP("cosh"), {std::move(data)}); }

Expr Erf(Expr data) { return Call(BATON_OP("erf"), {std::move(data)}); }

Expr Exp(Expr data) { return Call(BATON_OP("exp"), {std::move(data)}); }

Expr FastErf(Expr data) {
  return Call(BATON_OP("fast_erf"), {std::move(data)});
}

Expr FastExp(Expr data) {
  return Call(BATON_OP("fast_exp"), {std::move(data)});
}

Expr FastTanh(Expr data) {
  return Call(BATON_OP("fast_tanh"), {std::move(data)});
}

Expr Floor(Expr data) { return Call(BATON_OP("floor"), {std::move(data)}); }

Expr IsFinite(Expr data) {
  return Call(BATON_OP("isfinite"), {std::move(data)});
}

Expr IsInf(Expr data) { return Call(BATON_OP("isinf"), {std::move(data)}); }

Expr IsNan(Expr data) { return Call(BATON_OP("isnan"), {std::move(data)}); }

Expr Log(Expr data) { return Call(BATON_OP("log"), {std::move(data)}); }

Expr Log10(Expr data) { return Call(BATON_OP("log10"), {std::move(data)}); }

Expr Log2(Expr data) { return Call(BATON_OP("log2"), {std::move(data)}); }

Expr LogicalNot(Expr data) {
  return Call(BATON_OP("logical_not"), {std::move(data)});
}

Expr Negative(Expr data) {
  return Call(BATON_OP("negative"), {std::move(data)});
}

Expr OnesLike(Expr data) {
  return Call(BATON_OP("ones_like"), {std::move(data)});
}

Expr Round(Expr data) { return Call(BATON_OP("round"), {std::move(data)}); }

Expr Rsqrt(Expr data) { return Call(BATON_OP("rsqrt"), {std::move(data)}); }

Expr Sigmoid(Expr data) { return Call(BATON_OP("sigmoid"), {std::move(data)}); }

Expr Sign(Expr data) { return Call(BATON_OP("sign"), {std::move(data)}); }

Expr Sin(Expr data) { return Call(BATON_OP("sin"), {std::move(data)}); }

Expr Sinh(Expr data) { return Call(BATON_OP("sinh"), {std::move(data)}); }

Expr Sqrt(Expr data) { return Call(BATON_OP("sqrt"), {std::move(data)}); }

Expr Tan(Expr data) { return Call(BATON_OP("tan"), {std::move(data)}); }

Expr Tanh(Expr data) { return Call(BATON_OP("tanh"), {std::move(data)}); }

Expr Trunc(Expr data) { return Call(BATON_OP("trunc"), {std::move(data)}); }

Expr ZerosLike(Expr data) {
  return Call(BATON_OP("zeros_like"), {std::move(data)});
}

Expr Add(Expr lhs, Expr rhs) {
  return Call(BATON_OP("add"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseAnd(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_and"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseOr(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_or"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseXor(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_xor"), {std::move(lhs), std::move(rhs)});
}

Expr Divide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("divide"), {std::move(lhs), std::move(rhs)});
}

Expr Equal(Expr lhs, Expr rhs) {
  return Call(BATON_OP("equal"), {std::move(lhs), std::move(rhs)});
}

Expr FloorDivide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("floor_divide"), {std::move(lhs), std::move(rhs)});
}

Expr FloorMod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("floor_mod"), {std::move(lhs), std::move(rhs)});
}

Expr Greater(Expr lhs, Expr rhs) {
  return Call(BATON_OP("greater"), {std::move(lhs), std::move(rhs)});
}

Expr GreaterEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("greater_equal"), {std::move(lhs), std::move(rhs)});
}

Expr LeftShift(Expr lhs, Expr rhs) {
  return Call(BATON_OP("left_shift"), {std::move(lhs), std::move(rhs)});
}

Expr Less(Expr lhs, Expr rhs) {
  return Call(BATON_OP("less"), {std::move(lhs), std::move(rhs)});
}

Expr LessEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("less_equal"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalAnd(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_and"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalOr(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_or"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalXor(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_xor"), {std::move(lhs), std::move(rhs)});
}

Expr Maximum(Expr lhs, Expr rhs) {
  return Call(BATON_OP("maximum"), {std::move(lhs), std::move(rhs)});
}

Expr Minimum(Expr lhs, Expr rhs) {
  return Call(BATON_OP("minimum"), {std::move(lhs), std::move(rhs)});
}

Expr Mod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("mod"), {std::move(lhs), std::move(rhs)});
}

Expr Multiply(Expr lhs, Expr rhs) {
  return Call(BATON_OP("multiply"), {std::move(lhs), std::move(rhs)});
}

Expr NotEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("not_equal"), {std::move(lhs), std::move(rhs)});
}

Expr Power(Expr lhs, Expr rhs) {
  return Call(BATON_OP("power"), {std::move(lhs), std::move(rhs)});
}

Expr RightShift(Expr lhs, Expr rhs) {
  return Call(BATON_OP("right_shift"), {std::move(lhs), std::move(rhs)});
}

Expr Subtract(Expr lhs, Expr rhs) {
  return Call(BATON_OP("subtract"), {std::move(lhs), std::move(rhs)});
}

Expr TruncDivide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("trunc_divide"), {std::move(lhs), std::move(rhs)});
}

Expr TruncMod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("trunc_mod"), {std::move(lhs), std::move(rhs)});
}

Expr Clip(Expr data, double a_min, double a_max) {
  return Call(BATON_OP("clip"), {std::move(data)},
              Attrs::Make(ClipAttrs{.a_min = a_min, .a_max = a_max}));
}

Expr Where(Expr condition, Expr x, Expr y) {
  return Call(BATON_OP("where"),
              {std::move(condition), std::move(x), std::move(y)});
}

Expr Cast(Expr data, DType dtype) {
  return Call(BATON_OP("cast"), {std::move(data)},
              Attrs::Make(CastAttrs{.dtype = dtype}));
}

Expr CastLike(Expr lhs, Expr rhs) {
  return Call(BATON_OP("cast_like"), {std::move(lhs), std::move(rhs)});
}

Expr Reinterpret(Expr data, DType dtype) {
  return Call(BATON_OP("reinterpret"), {std::move(data)},
              Attrs::Make(CastAttrs{.dtype = dtype}));
}

}  // namespace baton::relay
