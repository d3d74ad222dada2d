#include "baton/relay/op/tensor/sequence.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/tensor/topk.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

absl::StatusOr<Type> SortRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, context.attrs<ArgsortAttrs>().axis, data->rank())
          .status());
  return context.arg(0);
}

absl::StatusOr<Type> ArgsortRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ArgsortAttrs>();
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, attrs.axis, data->rank()).status());
  return TensorLike(context, 0, data->shape(), attrs.dtype);
}

absl::StatusOr<Type> TopKRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<TopKAttrs>();
  if (!attrs.k.has_value()) return context.Error("k must be given");
  return TopKResult(context, *data, attrs,
                    *attrs.k < 1 ? std::optional<Dim>() : Dim(*attrs.k));
}

absl::StatusOr<Type> SearchSortedRel(TypeRelationContext& context) {
  const TensorTypeNode* sorted = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  if (sorted == nullptr || values == nullptr) return Type();
  if (values->rank() == 0) return context.Error("values is a scalar");
  if (sorted->rank() > 1) {
    bool fits = sorted->rank() == values->rank();
    for (int i = 0; fits && i + 1 < values->rank(); ++i) {
      fits = !ProvablyDiffer(sorted->dim(i), values->dim(i));
    }
    if (!fits) {
      return context.Error("the shapes ", ShapeToString(sorted->shape()),
                           " and ", ShapeToString(values->shape()),
                           " differ before the last axis");
    }
  }
  return TensorLike(context, 1, values->shape(),
                    context.attrs<SearchSortedAttrs>().dtype);
}

absl::StatusOr<Type> ScanRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ScanopAttrs>();
  const DType dtype = attrs.dtype.is_void() ? data->dtype() : attrs.dtype;
  if (!attrs.axis.has_value()) {
    return TensorLike(context, 0, {Product(data->shape())}, dtype);
  }
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, *attrs.axis, data->rank()).status());
  return TensorLike(context, 0, data->shape(), dtype);
}

// Values, first indices, inverse indices, number of values, and counts; padded
// to the length of the data.
absl::StatusOr<Type> UniqueRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 1));
  const Type indices = TensorLike(context, 0, data->shape(), DType::Int(32));
  std::vector<Type> fields = {context.arg(0), indices, indices,
                              TensorType({1}, DType::Int(32))};
  if (context.attrs<UniqueAttrs>().return_counts) fields.push_back(indices);
  return Type(TupleType(std::move(fields)));
}

absl::StatusOr<Type> StftRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<StftAttrs>();
  if (data->rank() != 1 && data->rank() != 2) {
    return context.Error(
        "the data must have 1 or 2 dimensions, but its shape "
        "is ",
        ShapeToString(data->shape()));
  }
  if (attrs.n_fft <= 0 || attrs.hop_length <= 0) {
    return context.Error("n_fft=", attrs.n_fft,
                         " and hop_length=", attrs.hop_length,
                         " must be positive");
  }
  Dims shape;
  if (data->rank() == 2) shape.push_back(data->dim(0));
  shape.push_back(attrs.onesided ? attrs.n_fft / 2 + 1 : attrs.n_fft);
  shape.push_back(FloorDiv(data->dim(data->rank() - 1) - Dim(attrs.n_fft),
                           attrs.hop_length) +
                  Dim(1));
  shape.push_back(2);
  return Type(TensorType(shape, data->dtype()));
}

absl::StatusOr<Type> DftRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr || context.Tensor(1) == nullptr) {
    return Type();
  }
  return Type(TupleType({context.arg(0), context.arg(1)}));
}

// Einstein notation, as in `ij,jk->ik` or `...ij,jk`. Reads the subscripts of
// all operands and of the result.
class Einsum {
 public:
  Einsum(const TypeRelationContext& context, absl::string_view equation)
      : context_(context), equation_(equation) {}

  absl::StatusOr<Dims> ResultShape(
      absl::Span<const TensorTypeNode* const> operands);

 private:
  // The letters of one subscript; '.' stands for an ellipsis.
  absl::StatusOr<std::string> Subscript(absl::string_view text) const;
  absl::Status Bind(const std::string& subscript, const TensorTypeNode& type);

  const TypeRelationContext& context_;
  const absl::string_view equation_;
  std::map<char, Dim> extents_;
  std::map<char, int> uses_;
  Dims ellipsis_;
};

absl::StatusOr<std::string> Einsum::Subscript(absl::string_view text) const {
  std::string letters;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == ' ') continue;
    if (letter) {
      letters.push_back(c);
    } else if (text.substr(i, 3) == "..." &&
               letters.find('.') == std::string::npos) {
      letters.push_back('.');
      i += 2;
    } else {
      return context_.Error("equation=\"", equation_, "\" is malformed at \"",
                            text.substr(i), "\"");
    }
  }
  return letters;
}

absl::Status Einsum::Bind(const std::string& subscript,
                          const TensorTypeNode& type) {
  const bool has_ellipsis = subscript.find('.') != std::string::npos;
  const int named = static_cast<int>(subscript.size()) - has_ellipsis;
  if (has_ellipsis ? type.rank() < named : type.rank() != named) {
    return context_.Error("an operand of shape ", ShapeToString(type.shape()),
                          " does not fit equation=\"", equation_, "\"");
  }
  int axis = 0;
  for (const char c : subscript) {
    if (c == '.') {
      const int count = type.rank() - named;
      BATON_ASSIGN_OR_RETURN(
          ellipsis_, BroadcastShapes(context_, ellipsis_,
                                     type.shape().subspan(axis, count)));
      axis += count;
      continue;
    }
    const Dim& dim = type.dim(axis++);
    ++uses_[c];
    const auto [it, inserted] = extents_.emplace(c, dim);
    if (inserted || it->second == dim || dim.is_const(1)) continue;
    if (it->second.is_const(1) || it->second.is_any()) {
      it->second = dim;
    } else if (ProvablyDiffer(it->second, dim)) {
      return context_.Error("axis ", absl::string_view(&c, 1),
                            " of equation=\"", equation_, "\" has both ",
                            it->second.value(), " and ", dim.value(),
                            " elements");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Dims> Einsum::ResultShape(
    absl::Span<const TensorTypeNode* const> operands) {
  const size_t arrow = equation_.find("->");
  absl::string_view left = equation_.substr(0, arrow);
  size_t index = 0;
  while (true) {
    const size_t comma = left.find(',');
    BATON_ASSIGN_OR_RETURN(const std::string subscript,
                           Subscript(left.substr(0, comma)));
    if (index >= operands.size()) break;
    BATON_RETURN_IF_ERROR(Bind(subscript, *operands[index++]));
    if (comma == absl::string_view::npos) {
      left = {};
      break;
    }
    left.remove_prefix(comma + 1);
  }
  if (index != operands.size() || !left.empty()) {
    return context_.Error("there are ", operands.size(),
                          " operands, which does not fit equation=\"",
                          equation_, "\"");
  }
  std::string result;
  if (arrow == absl::string_view::npos) {
    // The axes that occur once, in alphabetical order.
    if (!ellipsis_.empty()) result.push_back('.');
    for (const auto& [letter, count] : uses_) {
      if (count == 1) result.push_back(letter);
    }
  } else {
    BATON_ASSIGN_OR_RETURN(result, Subscript(equation_.substr(arrow + 2)));
  }
  Dims shape;
  for (const char c : result) {
    if (c == '.') {
      shape.insert(shape.end(), ellipsis_.begin(), ellipsis_.end());
      continue;
    }
    const auto it = extents_.find(c);
    if (it == extents_.end()) {
      return context_.Error("axis ", absl::string_view(&c, 1),
                            " of the result occurs in no operand of "
                            "equation=\"",
                            equation_, "\"");
    }
    shape.push_back(it->second);
  }
  return shape;
}

absl::StatusOr<Type> EinsumRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  Einsum einsum(context, context.attrs<EinsumAttrs>().equation);
  BATON_ASSIGN_OR_RETURN(const Dims shape, einsum.ResultShape(tensors));
  return Type(TensorType(shape, tensors[0]->dtype()));
}

std::optional<InferredLayouts> InferTopKLayouts(const LayoutQuery& query) {
  if (!query.old_inputs[0].defined()) return std::nullopt;
  layouts::LayoutAndAttrs data = layouts::FollowWithAxis<TopKAttrs>(query);
  InferredLayouts result{{data.layout}, {data.layout}, std::move(data.attrs)};
  if (AttrsOrDefaults<TopKAttrs>(query.attrs).ret_type == "both") {
    result.outputs.push_back(data.layout);
  }
  return result;
}

BATON_REGISTER_OP("sort")
    .Describe("Sorts along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ArgsortAttrs>()
    .TypeRelation(SortRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("argsort")
    .Describe("The indices that sort along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ArgsortAttrs>()
    .TypeRelation(ArgsortRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("topk")
    .Describe("The largest elements along an axis, or their indices.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<TopKAttrs>()
    .TypeRelation(TopKRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(LayoutInferenceRules(), InferTopKLayouts);

BATON_REGISTER_OP("searchsorted")
    .Describe("Where values would be inserted to keep a sequence sorted.")
    .Arguments({{"sorted_sequence", "The sequence."},
                {"values", "The values."}})
    .TakesAttrs<SearchSortedAttrs>()
    .TypeRelation(SearchSortedRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("cumsum")
    .Describe("Sums of all elements up to each, along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ScanopAttrs>()
    .TypeRelation(ScanRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("cumprod")
    .Describe("Products of all elements up to each, along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ScanopAttrs>()
    .TypeRelation(ScanRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("unique")
    .Describe("The different values of a vector, and where they are.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<UniqueAttrs>()
    .TypeRelation(UniqueRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("invert_permutation")
    .Describe("The inverse of a permutation.")
    .Arguments({{"data", "The permutation."}})
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("stft")
    .Describe("The short-time Fourier transform.")
    .Arguments({{"data", "The input."}, {"window", "The window."}})
    .TakesAttrs<StftAttrs>()
    .TypeRelation(StftRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("dft")
    .Describe("The discrete Fourier transform; real and imaginary parts.")
    .Arguments({{"re_data", "The real part."},
                {"im_data", "The imaginary part."}})
    .TakesAttrs<DFTAttrs>()
    .TypeRelation(DftRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("einsum")
    .Describe("Products summed over axes, in Einstein notation.")
    .Arguments({{"data", "A tuple of tensors."}})
    .TakesAttrs<EinsumAttrs>()
    .TypeRelation(EinsumRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

}  // namespace

// Builders.

Expr Argsort(Expr data, ArgsortAttrs attrs) {
  if (attrs.dtype.is_void()) attrs.dtype = DType::Int(32);
  return Call(BATON_OP("argsort"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Sort(Expr data, ArgsortAttrs attrs) {
  return Call(BATON_OP("sort"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr TopK(Expr data, TopKAttrs attrs) {
  if (attrs.dtype.is_void()) attrs.dtype = DType::Int(32);
  return Call(BATON_OP("topk"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr CumSum(Expr data, ScanopAttrs attrs) {
  return Call(BATON_OP("cumsum"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay
