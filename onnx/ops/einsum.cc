// Converter of Einsum: a chain of products of two operands. A product with a
// sum is an nn.batch_matmul if each operand has axes that the other lacks;
// otherwise it is an einsum.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// A tensor and the label of each axis. Letters are labels; the axes of an
// ellipsis have numbers below zero, counted from its end, so that they meet as
// broadcasting says.
struct Operand {
  Expr value;
  std::vector<int> labels;
};

class Einsum {
 public:
  explicit Einsum(NodeContext& node) : node_(node) {}

  absl::StatusOr<Expr> Convert();

 private:
  absl::StatusOr<std::vector<int>> Labels(absl::string_view term,
                                          int ellipsis_rank) const;
  // Takes the diagonal of labels that occur more than once.
  absl::StatusOr<Operand> WithoutRepeats(Operand operand);
  // The operator einsum of these operands, of at most 52 labels, with these
  // axes.
  absl::StatusOr<Operand> Direct(const std::vector<Operand>& operands,
                                 std::vector<int> labels);
  // For operands without an axis that is summed over.
  absl::StatusOr<Operand> Multiplied(const Operand& a, const Operand& b);
  absl::StatusOr<Operand> Product(Operand a, Operand b,
                                  const std::vector<int>& needed);
  // Sums over what is not needed.
  Operand Summed(Operand operand, const std::vector<int>& needed) const;
  // The axes in this order; those that are missing have extent one.
  Expr Ordered(const Operand& operand, const std::vector<int>& labels) const;
  int64_t Size(const std::vector<int>& labels) const {
    int64_t size = 1;
    for (int label : labels) size *= extents_.at(label);
    return size;
  }
  static bool Has(const std::vector<int>& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }

  NodeContext& node_;
  std::map<int, int64_t> extents_;
};

absl::StatusOr<std::vector<int>> Einsum::Labels(absl::string_view term,
                                                int ellipsis_rank) const {
  std::vector<int> result;
  for (size_t i = 0; i < term.size(); ++i) {
    if (absl::StartsWith(term.substr(i), "...")) {
      for (int k = ellipsis_rank; k > 0; --k) result.push_back(-k);
      i += 2;
    } else if (absl::ascii_isalpha(static_cast<unsigned char>(term[i]))) {
      result.push_back(term[i]);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("the equation has the term '", term, "'"));
    }
  }
  return result;
}

absl::StatusOr<Operand> Einsum::Direct(const std::vector<Operand>& operands,
                                       std::vector<int> labels) {
  constexpr absl::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::map<int, char> letters;
  const auto term = [&](const std::vector<int>& axes) {
    std::string text;
    for (int label : axes) {
      const char next = kLetters[letters.size() % kLetters.size()];
      text.push_back(letters.try_emplace(label, next).first->second);
    }
    return text;
  };
  std::vector<std::string> terms;
  std::vector<Expr> values;
  for (const Operand& operand : operands) {
    terms.push_back(term(operand.labels));
    values.push_back(operand.value);
  }
  if (letters.size() > kLetters.size()) {
    return absl::UnimplementedError("the product has too many axes");
  }
  std::string equation =
      absl::StrCat(absl::StrJoin(terms, ","), "->", term(labels));
  BATON_ASSIGN_OR_RETURN(
      Expr value,
      node_.Typed(relay::Call(
          BATON_OP("einsum"), {relay::Tuple(std::move(values))},
          Attrs::Make(relay::EinsumAttrs{.equation = std::move(equation)}))));
  return Operand{std::move(value), std::move(labels)};
}

absl::StatusOr<Operand> Einsum::WithoutRepeats(Operand operand) {
  std::vector<int> labels;
  std::map<int, int64_t> extents;
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(operand.value));
  for (size_t i = 0; i < shape.size(); ++i) {
    const int label = operand.labels[i];
    const auto [known, is_new] = extents.try_emplace(label, shape[i]);
    if (is_new) labels.push_back(label);
    if (known->second != shape[i]) {
      return absl::InvalidArgumentError(
          "a label that one operand has twice must have equal extents there");
    }
  }
  if (labels.size() == shape.size()) return operand;
  return Direct({std::move(operand)}, std::move(labels));
}

absl::StatusOr<Operand> Einsum::Multiplied(const Operand& a, const Operand& b) {
  std::vector<int> labels = a.labels;
  for (int label : b.labels) {
    if (!Has(labels, label)) labels.push_back(label);
  }
  const auto shaped = [&](const Operand& operand) -> absl::StatusOr<Expr> {
    BATON_ASSIGN_OR_RETURN(Expr value, node_.Typed(Ordered(operand, labels)));
    BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(value));
    if (shape.size() == labels.size()) return value;
    Ints wanted;
    size_t next = 0;
    for (int label : labels) {
      wanted.push_back(Has(operand.labels, label) ? shape[next++] : 1);
    }
    return ReshapeTo(std::move(value), std::move(wanted));
  };
  BATON_ASSIGN_OR_RETURN(Expr lhs, shaped(a));
  BATON_ASSIGN_OR_RETURN(Expr rhs, shaped(b));
  BATON_ASSIGN_OR_RETURN(
      Expr value, node_.Typed(relay::Multiply(std::move(lhs), std::move(rhs))));
  return Operand{std::move(value), std::move(labels)};
}

Operand Einsum::Summed(Operand operand, const std::vector<int>& needed) const {
  Ints axes;
  std::vector<int> labels;
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    if (Has(needed, operand.labels[i])) {
      labels.push_back(operand.labels[i]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return operand;
  return {relay::Sum(operand.value, {.axis = std::move(axes)}),
          std::move(labels)};
}

Expr Einsum::Ordered(const Operand& operand,
                     const std::vector<int>& labels) const {
  Ints axes;
  for (int label : labels) {
    const auto at =
        std::find(operand.labels.begin(), operand.labels.end(), label);
    if (at != operand.labels.end()) axes.push_back(at - operand.labels.begin());
  }
  return std::is_sorted(axes.begin(), axes.end())
             ? operand.value
             : relay::Transpose(operand.value, std::move(axes));
}

absl::StatusOr<Operand> Einsum::Product(Operand a, Operand b,
                                        const std::vector<int>& needed) {
  std::vector<int> a_needed = needed;
  a_needed.insert(a_needed.end(), b.labels.begin(), b.labels.end());
  std::vector<int> b_needed = needed;
  b_needed.insert(b_needed.end(), a.labels.begin(), a.labels.end());
  a = Summed(std::move(a), a_needed);
  b = Summed(std::move(b), b_needed);
  std::vector<int> batch;
  std::vector<int> summed;
  std::vector<int> rows;
  std::vector<int> columns;
  for (int label : a.labels) {
    if (!Has(b.labels, label)) {
      rows.push_back(label);
    } else if (Has(needed, label)) {
      batch.push_back(label);
    } else {
      summed.push_back(label);
    }
  }
  for (int label : b.labels) {
    if (!Has(a.labels, label)) columns.push_back(label);
  }
  if (summed.empty()) return Multiplied(a, b);
  // Each element of an operand is used once: nothing that a product of matrices
  // could make use of.
  if (rows.empty() || columns.empty()) {
    std::vector<int> kept;
    for (int label : needed) {
      const bool here = Has(a.labels, label) || Has(b.labels, label);
      if (here && !Has(kept, label)) kept.push_back(label);
    }
    return Direct({std::move(a), std::move(b)}, std::move(kept));
  }
  const auto join = [](std::vector<int> x, const std::vector<int>& y,
                       const std::vector<int>& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  // An axis that broadcasts has extent one in one operand.
  const auto shaped = [&](const Operand& operand, std::vector<int> order,
                          int64_t outer,
                          int64_t inner) -> absl::StatusOr<Expr> {
    BATON_ASSIGN_OR_RETURN(Expr value, node_.Typed(Ordered(operand, order)));
    BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(value));
    Ints wanted;
    for (int label : order) wanted.push_back(extents_.at(label));
    if (shape != wanted) value = relay::BroadcastTo(value, wanted);
    return ReshapeTo(value, {Size(batch), outer, inner});
  };
  BATON_ASSIGN_OR_RETURN(
      Expr lhs, shaped(a, join(batch, rows, summed), Size(rows), Size(summed)));
  BATON_ASSIGN_OR_RETURN(Expr rhs, shaped(b, join(batch, summed, columns),
                                          Size(summed), Size(columns)));
  Operand result;
  result.labels = join(batch, rows, columns);
  Ints shape;
  for (int label : result.labels) shape.push_back(extents_.at(label));
  BATON_ASSIGN_OR_RETURN(
      result.value, node_.Typed(ReshapeTo(
                        relay::nn::BatchMatmul(std::move(lhs), std::move(rhs),
                                               {.transpose_b = false}),
                        std::move(shape))));
  return result;
}

absl::StatusOr<Expr> Einsum::Convert() {
  const std::string equation =
      absl::StrReplaceAll(node_.String("equation", ""), {{" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 ||
      static_cast<int>(terms.size()) != node_.num_inputs()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the equation '", equation, "'"));
  }
  for (int i = 0; i < node_.num_inputs(); ++i) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(node_.Input(i)));
    // Products of matrices are made of numbers only, and reshapes of elements.
    const bool has_none =
        std::any_of(type->shape().begin(), type->shape().end(),
                    [](const Dim& dim) { return dim.is_const(0); });
    if (!type->is_static() || has_none) {
      return Expr(
          relay::Call(BATON_OP("einsum"),
                      {relay::Tuple(std::vector<Expr>(node_.inputs().begin(),
                                                      node_.inputs().end()))},
                      Attrs::Make(relay::EinsumAttrs{.equation = equation})));
    }
  }
  std::vector<Operand> operands;
  int max_ellipsis = 0;
  std::map<int, int> counts;
  for (size_t i = 0; i < terms.size(); ++i) {
    Operand operand;
    operand.value = node_.Input(static_cast<int>(i));
    BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(operand.value));
    const bool has_ellipsis = absl::StrContains(terms[i], "...");
    const int named =
        static_cast<int>(terms[i].size()) - (has_ellipsis ? 3 : 0);
    const int rank = static_cast<int>(shape.size());
    if (named > rank || (named < rank && !has_ellipsis)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the term '", terms[i], "' does not fit the rank ", rank));
    }
    max_ellipsis = std::max(max_ellipsis, rank - named);
    BATON_ASSIGN_OR_RETURN(operand.labels, Labels(terms[i], rank - named));
    if (static_cast<int>(operand.labels.size()) != rank) {
      return absl::InvalidArgumentError("an ellipsis occurs twice");
    }
    for (size_t k = 0; k < shape.size(); ++k) {
      int64_t& extent =
          extents_.try_emplace(operand.labels[k], shape[k]).first->second;
      if (extent != shape[k] && extent != 1 && shape[k] != 1) {
        return absl::InvalidArgumentError("extents of one label differ");
      }
      extent = extent == 1 ? shape[k] : extent;
      ++counts[operand.labels[k]];
    }
    BATON_ASSIGN_OR_RETURN(operand, WithoutRepeats(std::move(operand)));
    operands.push_back(std::move(operand));
  }
  std::vector<int> output;
  if (sides.size() == 2) {
    BATON_ASSIGN_OR_RETURN(output, Labels(sides[1], max_ellipsis));
    std::vector<int> sorted = output;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return absl::InvalidArgumentError("the result has a label twice");
    }
  } else {
    // Labels that occur once, in the order of the alphabet, after the ellipsis.
    for (const auto& [label, count] : counts) {
      if (label < 0 || count == 1) output.push_back(label);
    }
  }
  for (int label : output) {
    if (!extents_.contains(label)) {
      return absl::InvalidArgumentError(
          "the result has a label that no operand has");
    }
  }
  Operand result = std::move(operands[0]);
  for (size_t i = 1; i < operands.size(); ++i) {
    std::vector<int> needed = output;
    for (size_t k = i + 1; k < operands.size(); ++k) {
      needed.insert(needed.end(), operands[k].labels.begin(),
                    operands[k].labels.end());
    }
    BATON_ASSIGN_OR_RETURN(
        result, Product(std::move(result), std::move(operands[i]), needed));
  }
  return Ordered(Summed(std::move(result), output), output);
}

absl::StatusOr<Outputs> ConvertEinsum(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr result, Einsum(node).Convert());
  return One(std::move(result));
}

BATON_ONNX_CONVERTERS({{"Einsum", ConvertEinsum, 12}});

}  // namespace
}  // namespace baton::onnx
