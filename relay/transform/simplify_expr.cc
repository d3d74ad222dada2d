#include "baton/relay/transform/simplify_expr.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/number_range.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"

// simplify_expr.rules has the rules that are text. Those below are C++: their
// replacement is a computation (transposes_in_a_row, transpose_of_nothing,
// casts_of_clip, binomial), or the part that matched decides on it
// (fill_of_broadcast); or their condition depends on the sign of a zero
// (identity), on infinities (clip_of_nothing), or on which numbers the types of
// two casts have in common (casts_in_a_row).
namespace baton::relay {
namespace {

constexpr char kSimplifyExpr[] = "SimplifyExpr";
constexpr char kPostAlterOp[] = "SimplifyExprPostAlterOp";

// The element type of a tensor; void for all else.
DType ElementType(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type == nullptr ? DType() : type->dtype();
}

bool SameType(const Expr& a, const Expr& b) {
  return a->type().defined() && b->type().defined() &&
         TypeEqual(a->type(), b->type());
}

// The one element of a constant of any rank.
std::optional<double> SingleElement(const Expr& expr) {
  const Tensor* tensor = ConstantTensor(expr);
  if (tensor == nullptr || tensor->num_elements() != 1 ||
      !tensor->dtype().IsStorable()) {
    return std::nullopt;
  }
  return tensor->AtAsDouble(0);
}

// Returns whether the one element of the constant `expr` is a zero with a minus
// sign.
bool IsNegativeZero(const Expr& expr) {
  const std::optional<double> element = SingleElement(expr);
  return element == 0.0 && std::signbit(*element);
}

// `signed_zeros`: not where -0 would become 0, or 0 become -0.
RewriteRule EliminateIdentity(bool signed_zeros) {
  const DataflowPattern x = Wildcard("x"), c = IsConstant();
  const DataflowPattern zero =
      IsOp("zeros")() | IsOp("zeros_like")(Wildcard()) | c;
  const DataflowPattern one =
      IsOp("ones")() | IsOp("ones_like")(Wildcard()) | c;
  const DataflowPattern sum = IsOp("add")(x, zero);
  const DataflowPattern product = IsOp("multiply")(x, one);
  const DataflowPattern difference = IsOp("subtract")(x, zero);
  const DataflowPattern quotient = IsOp("divide")(x, one);
  return {.name = signed_zeros ? "identity_signed" : "identity",
          .passes = {kSimplifyExpr, kPostAlterOp},
          .doc = "x + 0, x - 0, x * 1 and x / 1 are x.",
          .pattern = sum | product | difference | quotient,
          .replace = [=](const PatternMatch& m) -> Expr {
            const bool by_zero = m[sum].defined() || m[difference].defined();
            if (const Expr constant = m[c];
                constant.defined() &&
                SingleElement(constant) != (by_zero ? 0.0 : 1.0)) {
              return m.Decline("the constant changes the value");
            }
            const Expr kept = m[x];
            if (!SameType(kept, m.root())) {
              return m.Decline("the result has another type");
            }
            if (signed_zeros && by_zero && ElementType(kept).is_float()) {
              // -0 + 0 and -0 - -0 are 0.
              const bool is_negative = m[c].defined() && IsNegativeZero(m[c]);
              if (is_negative == m[difference].defined()) {
                return m.Decline("negative zeros would stay negative");
              }
            }
            return kept;
          },
          // x + 0 is 0 where x is -0.
          .promise = {.exact = signed_zeros}};
}
BATON_REGISTER_RULE([] { return EliminateIdentity(false); });
BATON_REGISTER_RULE([] { return EliminateIdentity(true); });

RewriteRule FillOfBroadcast() {
  const DataflowPattern x = Wildcard("x"), data = Wildcard("data");
  const DataflowPattern value = IsConstant();
  const DataflowPattern full =
      IsOp("full")(value) | IsOp("full_like")(data, value);
  const DataflowPattern ones = IsOp("ones")() | IsOp("ones_like")(data);
  const DataflowPattern zeros = IsOp("zeros")() | IsOp("zeros_like")(data);
  const DataflowPattern filled = full | ones | zeros;
  const DataflowPattern op = Wildcard().Where(
      "an operator that broadcasts both arguments", [](const Expr& callee) {
        const auto* op = callee.As<OpNode>();
        return op != nullptr && (op->type_relation() == BroadcastRel ||
                                 op->type_relation() == BroadcastCompareRel);
      });
  return {
      .name = "fill_of_broadcast",
      .passes = {kSimplifyExpr},
      .doc = "x + full(value) is x + value; any operator that broadcasts.",
      .pattern = op(filled, x) | op(x, filled),
      .replace = [=](const PatternMatch& m) -> Expr {
        const Expr kept = m[x];
        if (!SameType(kept, m.root())) {
          return m.Decline("the result has another type");
        }
        const DType dtype = ElementType(kept);
        Expr fill;
        if (m[full].defined()) {
          fill = m[value];
          if (!ConstantScalar(fill).has_value() || ElementType(fill) != dtype) {
            return m.Decline("the value is no scalar of the element type");
          }
        } else if (dtype.IsStorable()) {
          fill = Const(m[ones].defined() ? 1 : 0, dtype);
        } else {
          return {};
        }
        const auto* call = m.root().As<CallNode>();
        if (call->arg(1) == kept) {
          return Call(call->op(), {fill, kept}, call->attrs());
        }
        return Call(call->op(), {kept, fill}, call->attrs());
      }};
}
BATON_REGISTER_RULE(FillOfBroadcast);

// p and q of a * (x + p * y) * (x + q * y).
struct Factors {
  double p;
  double q;
};
std::optional<Factors> FactorBinomial(double a, double b, double c,
                                      DType dtype) {
  const double discriminant = b * b - 4 * a * c;
  if (!(discriminant >= 0) || a == 0) return std::nullopt;
  const double root = std::sqrt(discriminant);
  const Factors factors = {(b + root) / (2 * a), (b - root) / (2 * a)};
  const auto is_finite = [dtype](double v) {
    return dtype.bits() == 32 ? std::isfinite(static_cast<float>(v))
                              : std::isfinite(v);
  };
  if (!is_finite(factors.p) || !is_finite(factors.q)) return std::nullopt;
  const auto is_element = [dtype](double v) {
    return !dtype.is_integral() || (v == std::trunc(v) && std::abs(v) < 1e9);
  };
  if (!is_element(factors.p) || !is_element(factors.q)) return std::nullopt;
  return factors;
}

RewriteRule FactorizeBinomial() {
  const DataflowPattern x = Wildcard("x"), y = Wildcard("y");
  const DataflowPattern a = IsConstant(), b = IsConstant(), c = IsConstant();
  const DataflowPattern xx = (a * (x * x)) | (x * (a * x)) | (x * x);
  const DataflowPattern xy =
      (b * (x * y)) | (x * (b * y)) | (y * (b * x)) | (x * y);
  const DataflowPattern yy = (c * (y * y)) | (y * (c * y)) | (y * y);
  return {
      .name = "binomial",
      .passes = {kSimplifyExpr},
      .doc = "a*x*x + b*x*y + c*y*y is a * (x + p * y) * (x + q * y).",
      .pattern = (xy + xx + yy) | (xy + yy + xx) | (xx + yy + xy),
      .replace = [=](const PatternMatch& m) -> Expr {
        const Expr root = m.root();
        const DType dtype = ElementType(root);
        if (dtype != DType::Int(32) && dtype != DType::Float(32) &&
            dtype != DType::Float(64)) {
          return m.Decline("numbers are not int32, float32 or float64");
        }
        Expr first = m[x], second = m[y];
        // Constants of a higher rank may give the result its shape.
        const bool any_rank = SameType(first, root) || SameType(second, root);
        bool known = true;
        const auto coefficient = [&](const DataflowPattern& part) {
          const Expr constant = m[part];
          if (!constant.defined()) return 1.0;
          const std::optional<double> value =
              any_rank ? ConstantSplat(constant) : ConstantScalar(constant);
          known &= value.has_value();
          return value.value_or(0);
        };
        double va = coefficient(a);
        const double vb = coefficient(b);
        double vc = coefficient(c);
        if (!known) return m.Decline("a coefficient is no number");
        if (vc == 1 && va > 1) {
          std::swap(va, vc);
          std::swap(first, second);
        }
        const std::optional<Factors> factors =
            FactorBinomial(va, vb, vc, dtype);
        if (!factors.has_value()) return m.Decline("there are no real factors");
        const auto sum = [&](double factor) {
          return Add(first, Multiply(second, Const(factor, dtype)));
        };
        const Expr left = sum(factors->p);
        const Expr right = factors->p == factors->q ? left : sum(factors->q);
        return Multiply(Const(va, dtype), Multiply(left, right));
      },
      .promise = {.exact = false, .rtol = 1e-4, .atol = 1e-4}};
}
BATON_REGISTER_RULE(FactorizeBinomial);

// Reshapes, transposes and layouts.

// The effect of transpose and layout_transform: axis i of the result is axis
// `axes[i]` of the argument, or the layouts, if axes are split or merged.
struct Rearrangement {
  std::vector<int64_t> axes;  // if it is a permutation
  Layout src, dst;            // of a layout_transform

  bool is_permutation = false;
};

// nullopt if the layouts cannot be understood.
std::optional<Rearrangement> RearrangementOf(const CallNode& call) {
  const TensorTypeNode* type = call.tensor_type();
  const TensorTypeNode* from = call.arg(0)->tensor_type();
  if (type == nullptr || from == nullptr) return std::nullopt;
  Rearrangement result;
  if (const auto* attrs = call.attrs_as<LayoutTransformAttrs>()) {
    absl::StatusOr<Layout> src = Layout::Parse(attrs->src_layout);
    absl::StatusOr<Layout> dst = Layout::Parse(attrs->dst_layout);
    if (!src.ok() || !dst.ok() || src->ndim() != from->rank() ||
        dst->ndim() != type->rank()) {
      return std::nullopt;
    }
    result.src = *std::move(src);
    result.dst = *std::move(dst);
    result.is_permutation = result.src.ndim() == result.dst.ndim();
    for (const Layout::Axis& axis : result.dst.axes()) {
      const int at = result.src.IndexOf(axis.letter);
      result.is_permutation &= at >= 0 && result.src.axis(at) == axis;
      result.axes.push_back(at);
    }
    return result;
  }
  const auto* attrs = call.attrs_as<TransposeAttrs>();
  if (attrs == nullptr) return std::nullopt;
  result.is_permutation = true;
  const int rank = type->rank();
  if (attrs->axes.has_value()) {
    for (const int64_t axis : *attrs->axes) {
      result.axes.push_back(axis < 0 ? axis + rank : axis);
    }
    if (static_cast<int>(result.axes.size()) != rank) return std::nullopt;
  } else {
    for (int i = rank; i-- > 0;) result.axes.push_back(i);
  }
  return result;
}

// `first`, then `second`, applied to `data`: one operator, or `data` itself.
// Null if there is no such operator.
Expr Compose(const Expr& data, const Rearrangement& first,
             const Rearrangement& second) {
  if (first.is_permutation && second.is_permutation) {
    std::vector<int64_t> axes;
    for (const int64_t axis : second.axes) {
      axes.push_back(first.axes[static_cast<size_t>(axis)]);
    }
    return Transpose(data, std::move(axes));
  }
  Layout src = first.src, dst = second.dst;
  if (first.dst != second.src || !first.src.defined()) {
    // A permutation changes the layout beside it.
    std::vector<Layout::Axis> axes;
    if (first.is_permutation) {
      axes.resize(first.axes.size());
      for (size_t i = 0; i < axes.size(); ++i) {
        axes[static_cast<size_t>(first.axes[i])] =
            second.src.axis(static_cast<int>(i));
      }
      src = Layout::FromAxes(axes);
    } else if (second.is_permutation) {
      for (const int64_t axis : second.axes) {
        axes.push_back(first.dst.axis(static_cast<int>(axis)));
      }
      dst = Layout::FromAxes(axes);
    } else {
      return {};
    }
  }
  if (!src.ConvertibleTo(dst)) return {};
  if (src == dst) return data;
  return LayoutTransform(data, src.ToString(), dst.ToString());
}

RewriteRule MergeTransposes() {
  const DataflowPattern x = Wildcard("x");
  const DataflowPattern transpose =
      IsOp("transpose") | IsOp("layout_transform");
  const DataflowPattern inner =
      IsOp("transpose")(x) | IsOp("layout_transform")(x);
  return {.name = "transposes_in_a_row",
          .passes = {kSimplifyExpr},
          .doc = "Transposes and layout transforms in a row are one.",
          .pattern = transpose(inner),
          .replace = [=](const PatternMatch& m) -> Expr {
            const std::optional<Rearrangement> first =
                RearrangementOf(*m.call(inner));
            const std::optional<Rearrangement> second =
                RearrangementOf(*m.root().As<CallNode>());
            if (!first.has_value() || !second.has_value()) return {};
            Expr result = Compose(m[x], *first, *second);
            if (!result.defined()) return {};
            // Blocks that are not full are padded on the way.
            absl::StatusOr<Expr> typed = InferTypeOf(result, nullptr);
            if (!typed.ok() || !SameType(*typed, m.root())) {
              return m.Decline("the result has another type");
            }
            return *std::move(typed);
          }};
}
BATON_REGISTER_RULE(MergeTransposes);

RewriteRule RemoveTranspose() {
  const DataflowPattern x = Wildcard("x");
  return {.name = "transpose_of_nothing",
          .passes = {kSimplifyExpr},
          .doc =
              "A transpose or layout transform that moves nothing is left "
              "out.",
          .pattern = IsOp("transpose")(x) | IsOp("layout_transform")(x),
          .replace = [=](const PatternMatch& m) -> Expr {
            const std::optional<Rearrangement> moved =
                RearrangementOf(*m.root().As<CallNode>());
            if (!moved.has_value() || !moved->is_permutation) return {};
            for (size_t i = 0; i < moved->axes.size(); ++i) {
              if (moved->axes[i] != static_cast<int64_t>(i)) return {};
            }
            return m[x];
          }};
}
BATON_REGISTER_RULE(RemoveTranspose);

// Element types.

DataflowPattern CastOf(const DataflowPattern& data) {
  return IsOp("cast_like")(data, Wildcard()) | IsOp("cast")(data);
}

// Returns whether a further cast after a cast gives what it would give without
// it: the range is no smaller. Large integers may be rounded. The reference
// counts unsigned types as wider than signed ones, which changes negative
// numbers.
bool Widens(DType from, DType to) {
  if (from.lanes() != to.lanes() || from.bits() > to.bits()) return false;
  if (from.code() == to.code()) return true;
  if (from.code() == DType::Code::kUInt && to.code() == DType::Code::kFloat) {
    return from.bits() < 16 || to.bits() > 16;  // 65535 is no float16
  }
  return from.code() == DType::Code::kInt && to.code() == DType::Code::kFloat;
}

// Returns the most bits of a whole number such that a floating-point type holds
// it, and all smaller ones, exactly.
int ExactBits(DType dtype) {
  if (dtype.code() == DType::Code::kBFloat) return 8;
  return dtype.bits() == 16 ? 11 : dtype.bits() == 32 ? 24 : 53;
}

// True if a cast that widens keeps every value as it is.
bool KeepsValues(DType from, DType to) {
  if (!Widens(from, to)) return false;
  return from.code() == to.code() ||
         from.bits() - (from.is_int() ? 1 : 0) <= ExactBits(to);
}

// True if a cast from `middle` to `to` may be one from `from`, which widens to
// `middle`. A float that rounded an integer may have changed every bit that a
// further cast to integers leaves, also after a cast to another float, or have
// left the range of the type. Only 0 is false.
bool CanSkip(DType from, DType middle, DType to) {
  return KeepsValues(from, middle) || to.is_bool();
}

RewriteRule MergeCasts() {
  const DataflowPattern x = Wildcard("x");
  const DataflowPattern inner = CastOf(x);
  return {.name = "casts_in_a_row",
          .passes = {kSimplifyExpr, kPostAlterOp},
          .doc =
              "A cast of a cast that widens is one cast, unless a float "
              "rounds integers between them.",
          .pattern = CastOf(inner),
          .replace = [=](const PatternMatch& m) -> Expr {
            const Expr data = m[x];
            const DType from = ElementType(data);
            const DType to = ElementType(m.root());
            const DType middle = ElementType(m[inner]);
            if (from.is_void() || to.is_void() || !Widens(from, middle)) {
              return m.Decline("the first cast narrows");
            }
            if (!CanSkip(from, middle, to)) {
              return m.Decline("the first cast rounds integers");
            }
            // A chain of casts that ends with the first type is removed at
            // once.
            return from == to ? data : Cast(data, to);
          },
          .promise = {.exact = false, .rtol = 1e-3}};
}
BATON_REGISTER_RULE(MergeCasts);

RewriteRule RemoveCastsOfClip() {
  return {.name = "casts_of_clip",
          .passes = {kSimplifyExpr, kPostAlterOp},
          .doc =
              "Casts that can hold the range of a clip before them are left "
              "out.",
          .pattern = IsOp("cast")(Wildcard()),
          .replace = [](const PatternMatch& m) -> Expr {
            // Element types of the casts, the last first. In a long row of
            // casts those before were looked at before, and stay.
            constexpr size_t kMostCasts = 64;
            std::vector<DType> casts;
            Expr clipped = m.root();
            for (; IsCallTo(clipped, BATON_OP("cast"));
                 clipped = clipped.As<CallNode>()->arg(0)) {
              if (casts.size() == kMostCasts) return {};
              casts.push_back(ElementType(clipped));
            }
            const auto* clip = clipped.As<CallNode>();
            const auto* attrs = IsCallTo(clipped, BATON_OP("clip"))
                                    ? clip->attrs_as<ClipAttrs>()
                                    : nullptr;
            if (attrs == nullptr) return {};
            const auto last_integral =
                std::find_if(casts.begin(), casts.end(),
                             [](DType dtype) { return dtype.is_integral(); }) -
                casts.begin();
            // The numbers that there are before a cast, and their type.
            NumberRange range = {attrs->a_min, attrs->a_max};
            DType before = ElementType(clipped);
            // Element types of the casts that stay.
            std::vector<DType> stay;
            bool truncates = false;
            for (size_t i = casts.size(); i-- > 0;) {
              const DType dtype = casts[i];
              const std::optional<NumberRange> holds = FiniteRange(dtype);
              const bool fits = holds.has_value() && holds->Contains(range);
              // After a float that rounds, some cast may make other integers.
              const bool keeps =
                  dtype.is_integral() || KeepsValues(before, dtype) ||
                  before == dtype ||
                  (before.is_integral() &&
                   std::max(std::abs(range.low), std::abs(range.high)) <=
                       std::ldexp(1.0, ExactBits(dtype)));
              if (fits &&
                  (keeps || last_integral > static_cast<std::ptrdiff_t>(i))) {
                truncates |= dtype.is_integral();
              } else {
                stay.push_back(dtype);
                if (!fits) {
                  range = holds.value_or(NumberRange{-DBL_MAX, DBL_MAX});
                } else {
                  range.low -= std::abs(range.low) / 128;
                  range.high += std::abs(range.high) / 128;
                }
              }
              before = dtype;
            }
            std::reverse(stay.begin(), stay.end());
            const DType last =
                stay.empty() ? ElementType(clipped) : stay.front();
            const DType wanted = ElementType(m.root());
            if (last != wanted) stay.insert(stay.begin(), wanted);
            if (stay.size() == casts.size()) return {};
            if (truncates && ElementType(clipped).is_float() &&
                (stay.empty() || !stay.back().is_integral())) {
              return m.Decline("a cast to integers drops fractions");
            }
            Expr result = clipped;
            for (size_t i = stay.size(); i-- > 0;)
              result = Cast(result, stay[i]);
            return result;
          },
          .promise = {.exact = false, .rtol = 1e-3}};
}
BATON_REGISTER_RULE(RemoveCastsOfClip);

// `keeps_infinities`: of floats, only clips by infinities are left out.
RewriteRule RemoveClip(bool keeps_infinities) {
  const DataflowPattern x = Wildcard("x");
  return {
      .name = keeps_infinities ? "clip_of_nothing_signed" : "clip_of_nothing",
      .passes = {kSimplifyExpr, kPostAlterOp},
      .doc = "A clip to what the element type can hold is left out.",
      .pattern = IsOp("clip")(x),
      .replace = [=](const PatternMatch& m) -> Expr {
        const Expr data = m[x];
        // Lowering of quantized operators looks for these pairs.
        const auto* call = data.As<CallNode>();
        if (call != nullptr && (call->op() == BATON_OP("qnn.requantize") ||
                                call->op() == BATON_OP("qnn.add"))) {
          return m.Decline("a clip of a quantized operator stays");
        }
        const auto* attrs = m.root().As<CallNode>()->attrs_as<ClipAttrs>();
        std::optional<NumberRange> holds = FiniteRange(ElementType(m.root()));
        if (keeps_infinities && ElementType(m.root()).is_float()) {
          constexpr double kInfinity = std::numeric_limits<double>::infinity();
          holds = NumberRange{-kInfinity, kInfinity};
        }
        if (attrs == nullptr || !holds.has_value() ||
            !NumberRange{attrs->a_min, attrs->a_max}.Contains(*holds)) {
          return {};
        }
        return data;
      }};
}
BATON_REGISTER_RULE([] { return RemoveClip(false); });
BATON_REGISTER_RULE([] { return RemoveClip(true); });

PassInfo Info(std::string name, std::string doc,
              const SimplifyExprOptions& options) {
  PassInfo info = {.name = std::move(name),
                   .required = {"InferType"},
                   .doc = std::move(doc),
                   .invalidates = {"a_normal_form", "basic_block_normal_form"},
                   .idempotent = true,
                   .exact = false,
                   .tolerance = 1e-3,
                   .examples = {"signed_zeros=true"}};
  if (!options.signed_zeros) {
    info.waivers = {
        {"special_values",
         "x + 0 becomes x, which is -0 where x is -0 and the sum is 0, and a "
         "clip to what a float holds is left out, which makes infinities "
         "finite; with signed_zeros=true they stay."}};
  }
  return info;
}

OwnRules RulesFor(const SimplifyExprOptions& options) {
  if (options.signed_zeros) {
    return {RuleOrder::kInTurn, {"identity", "clip_of_nothing"}};
  }
  return {RuleOrder::kInTurn, {"identity_signed", "clip_of_nothing_signed"}};
}

}  // namespace

Pass SimplifyExpr(SimplifyExprOptions options) {
  return OwnRulesPass(
      Info(kSimplifyExpr,
           "Simplifies arithmetic, shapes, transposes, casts and clips.",
           options),
      RulesFor(options), options);
}
BATON_REGISTER_PASS(SimplifyExpr);

Pass SimplifyExprPostAlterOp(SimplifyExprOptions options) {
  return OwnRulesPass(
      Info(kPostAlterOp, "Simplifies what a change of layouts leaves behind.",
           options),
      RulesFor(options), options);
}
BATON_REGISTER_PASS(SimplifyExprPostAlterOp);

}  // namespace baton::relay
