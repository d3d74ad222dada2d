// Converters of operators on sequences and optionals.

#include "baton/relay/op/tensor/sequence.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Tuple;
using relay::TupleGetItem;

using Ints = std::vector<int64_t>;

absl::StatusOr<std::vector<Expr>> FieldsOf(const Expr& sequence) {
  if (const auto* tuple = sequence.As<relay::TupleNode>()) {
    return std::vector<Expr>(tuple->fields().begin(), tuple->fields().end());
  }
  const TupleTypeNode* type = sequence->tuple_type();
  if (type == nullptr) {
    return absl::InvalidArgumentError("an input is no sequence");
  }
  std::vector<Expr> result;
  for (size_t i = 0; i < type->fields().size(); ++i) {
    result.push_back(
        TupleGetItem(sequence, static_cast<int>(i), type->fields()[i]));
  }
  return result;
}

// The position that input `i` names, in [0, limit); `otherwise` if not given.
absl::StatusOr<int64_t> Position(NodeContext& node, int i, int64_t size,
                                 int64_t limit, int64_t otherwise) {
  if (!node.HasInput(i)) return otherwise;
  BATON_ASSIGN_OR_RETURN(const Ints given, node.ConstantInts(i));
  if (given.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the position must have one element, but has ", given.size()));
  }
  const int64_t at = given[0] < 0 ? given[0] + size : given[0];
  if (at < 0 || at >= limit) {
    return absl::InvalidArgumentError(
        absl::StrCat("position ", given[0],
                     " is out of range in a sequence of length ", size));
  }
  return at;
}

absl::StatusOr<Outputs> SequenceConstruct(NodeContext& node) {
  std::vector<Expr> fields;
  for (int i = 0; i < node.num_inputs(); ++i) fields.push_back(node.Input(i));
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceEmpty(NodeContext& /*node*/) {
  return One(Tuple(std::vector<Expr>()));
}

absl::StatusOr<Outputs> SequenceInsert(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  BATON_ASSIGN_OR_RETURN(const int64_t at,
                         Position(node, 2, size, size + 1, size));
  fields.insert(fields.begin() + at, node.Input(1));
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceErase(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  BATON_ASSIGN_OR_RETURN(const int64_t at,
                         Position(node, 1, size, size, size - 1));
  if (at < 0) return absl::InvalidArgumentError("the sequence is empty");
  fields.erase(fields.begin() + at);
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceAt(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields,
                         FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  node.Input(1);
  BATON_ASSIGN_OR_RETURN(const int64_t at, Position(node, 1, size, size, 0));
  if (at >= size) return absl::InvalidArgumentError("the sequence is empty");
  return One(fields[at]);
}

absl::StatusOr<Outputs> SequenceLength(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields,
                         FieldsOf(node.Input(0)));
  return One(relay::Const(
      Tensor::Scalar<int64_t>(static_cast<int64_t>(fields.size()))));
}

absl::StatusOr<Outputs> ConcatFromSequence(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  if (fields.empty())
    return absl::InvalidArgumentError("the sequence is empty");
  const bool new_axis = node.Int("new_axis", 0) != 0;
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(fields[0]));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0),
                                                    rank + (new_axis ? 1 : 0)));
  return One(new_axis ? relay::Stack(std::move(fields), axis)
                      : relay::Concatenate(std::move(fields), axis));
}

absl::StatusOr<Outputs> SequenceMap(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> first,
                         FieldsOf(node.Input(0)));
  std::vector<std::vector<Expr>> results(node.num_outputs());
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Expr> inputs;
    for (int k = 0; k < node.num_inputs(); ++k) {
      const Expr& input = node.Input(k);
      if (input->tuple_type() == nullptr) {
        inputs.push_back(input);
        continue;
      }
      BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields, FieldsOf(input));
      if (fields.size() != first.size()) {
        return absl::InvalidArgumentError("sequences differ in length");
      }
      BATON_ASSIGN_OR_RETURN(Expr field, node.Typed(fields[i]));
      inputs.push_back(std::move(field));
    }
    BATON_ASSIGN_OR_RETURN(
        const Outputs outputs,
        node.graphs().ConvertGraph(body, inputs, absl::StrCat("body ", i)));
    if (outputs.size() < results.size()) {
      return absl::InvalidArgumentError("the body has too few outputs");
    }
    for (size_t k = 0; k < results.size(); ++k) {
      results[k].push_back(outputs[k]);
    }
  }
  Outputs result;
  for (std::vector<Expr>& fields : results) {
    result.push_back(Tuple(std::move(fields)));
  }
  return result;
}

absl::StatusOr<Outputs> Optional(NodeContext& node) {
  if (node.num_inputs() == 0) return Outputs{Expr()};
  return One(node.inputs()[0]);
}

absl::StatusOr<Outputs> OptionalHasElement(NodeContext& node) {
  return One(relay::Const(Tensor::Scalar<bool>(node.HasInput(0))));
}

absl::StatusOr<Outputs> OptionalGetElement(NodeContext& node) {
  return One(node.Input(0));
}

BATON_ONNX_CONVERTERS({
    {"ConcatFromSequence", ConcatFromSequence, 11},
    {"Optional", Optional, 15},
    {"OptionalGetElement", OptionalGetElement, 15},
    {"OptionalHasElement", OptionalHasElement, 15},
    {"SequenceAt", SequenceAt, 11},
    {"SequenceConstruct", SequenceConstruct, 11},
    {"SequenceEmpty", SequenceEmpty, 11},
    {"SequenceErase", SequenceErase, 11},
    {"SequenceInsert", SequenceInsert, 11},
    {"SequenceLength", SequenceLength, 11},
    {"SequenceMap", SequenceMap, 17},
});

}  // namespace
}  // namespace baton::onnx
