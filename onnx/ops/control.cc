// If, Loop and Scan.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

// Loops whose number of rounds is known are unrolled up to this number.
constexpr int64_t kMaxRounds = 10'000;

Expr ScalarOf(const Expr& x) {
  const TensorTypeNode* type = x->tensor_type();
  return type == nullptr || type->rank() == 0 ? x : relay::Reshape(x, {});
}

absl::StatusOr<Outputs> ConvertIf(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view then_graph,
                         node.Graph("then_branch"));
  BATON_ASSIGN_OR_RETURN(const absl::string_view else_graph,
                         node.Graph("else_branch"));
  const Expr& cond = node.Input(0);
  if (const Tensor* known = relay::ConstantTensor(cond)) {
    if (known->num_elements() != 1) {
      return absl::InvalidArgumentError("the condition is no scalar");
    }
    const bool is_true = known->AtAsInt64(0) != 0;
    return node.graphs().ConvertGraph(is_true ? then_graph : else_graph, {},
                                      is_true ? "then" : "else");
  }
  BATON_ASSIGN_OR_RETURN(Outputs then_values,
                         node.graphs().ConvertGraph(then_graph, {}, "then"));
  BATON_ASSIGN_OR_RETURN(Outputs else_values,
                         node.graphs().ConvertGraph(else_graph, {}, "else"));
  if (then_values.size() != else_values.size() || then_values.empty()) {
    return absl::InvalidArgumentError("the branches differ in outputs");
  }
  if (then_values.size() == 1) {
    return One(If(ScalarOf(cond), std::move(then_values[0]),
                  std::move(else_values[0])));
  }
  const size_t count = then_values.size();
  BATON_ASSIGN_OR_RETURN(
      const Expr both,
      node.Typed(If(ScalarOf(cond), Tuple(std::move(then_values)),
                    Tuple(std::move(else_values)))));
  Outputs result;
  for (size_t i = 0; i < count; ++i) {
    result.push_back(TupleGetItem(both, static_cast<int>(i)));
  }
  return result;
}

// A scalar that must be known, `otherwise` if not given.
absl::StatusOr<int64_t> KnownScalar(NodeContext& node, int i,
                                    int64_t otherwise) {
  if (!node.HasInput(i)) return otherwise;
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                         node.ConstantInts(i));
  if (values.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is no scalar"));
  }
  return values[0];
}

// Stacks what each round gave.
absl::StatusOr<Outputs> WithStacked(Outputs values,
                                    std::vector<std::vector<Expr>> scans) {
  for (std::vector<Expr>& scan : scans) {
    if (scan.empty()) {
      return absl::UnimplementedError("a loop without rounds has scan outputs");
    }
    values.push_back(relay::Stack(std::move(scan), 0));
  }
  return values;
}

absl::StatusOr<Outputs> Loop(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  BATON_ASSIGN_OR_RETURN(const int64_t limit, KnownScalar(node, 0, kMaxRounds));
  BATON_ASSIGN_OR_RETURN(int64_t cond, KnownScalar(node, 1, 1));
  const size_t num_carried =
      static_cast<size_t>(std::max(0, node.num_inputs() - 2));
  Outputs carried;
  for (size_t i = 0; i < num_carried; ++i) {
    carried.push_back(node.inputs()[i + 2]);
  }
  if (node.node().outputs.size() < num_carried) {
    return absl::InvalidArgumentError("there are too few outputs");
  }
  std::vector<std::vector<Expr>> scans(node.node().outputs.size() -
                                       num_carried);
  for (int64_t round = 0; round < limit && cond != 0; ++round) {
    if (round >= kMaxRounds) {
      return absl::UnimplementedError(absl::StrCat(
          "loops of more than ", kMaxRounds, " rounds are not supported"));
    }
    std::vector<Expr> inputs;
    BATON_ASSIGN_OR_RETURN(
        Expr counter, node.Typed(relay::Const(Tensor::Scalar<int64_t>(round))));
    inputs.push_back(std::move(counter));
    BATON_ASSIGN_OR_RETURN(
        Expr condition, node.Typed(relay::Const(Tensor::Scalar<bool>(true))));
    inputs.push_back(std::move(condition));
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    BATON_ASSIGN_OR_RETURN(const Outputs outputs,
                           node.graphs().ConvertGraph(
                               body, inputs, absl::StrCat("round ", round)));
    if (outputs.size() != 1 + num_carried + scans.size()) {
      return absl::InvalidArgumentError(
          "the body has another number of outputs");
    }
    const Tensor* next = relay::ConstantTensor(outputs[0]);
    if (next == nullptr || next->num_elements() != 1) {
      return absl::UnimplementedError(
          "loops whose number of rounds depends on data are not supported");
    }
    cond = next->AtAsInt64(0);
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + num_carried);
    for (size_t i = 0; i < scans.size(); ++i) {
      scans[i].push_back(outputs[1 + num_carried + i]);
    }
  }
  if (!node.HasInput(0) && cond != 0) {
    return absl::UnimplementedError("the loop does not seem to end");
  }
  return WithStacked(std::move(carried), std::move(scans));
}

absl::StatusOr<Outputs> Scan(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  const int64_t num_scans = node.Int("num_scan_inputs", 0);
  if (num_scans < 1 || num_scans > node.num_inputs()) {
    return absl::InvalidArgumentError("the number of scan inputs");
  }
  const size_t num_carried = node.num_inputs() - num_scans;
  const size_t num_outputs = node.node().outputs.size();
  if (num_outputs < num_carried) {
    return absl::InvalidArgumentError("there are too few outputs");
  }
  const auto list = [&node](absl::string_view name, size_t size) {
    std::vector<int64_t> values =
        node.Ints(name).value_or(std::vector<int64_t>());
    values.resize(size, 0);
    return values;
  };
  std::vector<int64_t> axes = list("scan_input_axes", num_scans);
  const std::vector<int64_t> backward =
      list("scan_input_directions", num_scans);
  const std::vector<int64_t> output_axes =
      list("scan_output_axes", num_outputs - num_carried);
  const std::vector<int64_t> output_backward =
      list("scan_output_directions", num_outputs - num_carried);
  std::optional<int64_t> rounds;
  for (int64_t i = 0; i < num_scans; ++i) {
    const Expr& input = node.Input(static_cast<int>(num_carried + i));
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(input));
    BATON_ASSIGN_OR_RETURN(axes[i], NormalAxis(axes[i], type->rank()));
    const Dim& dim = type->dim(static_cast<int>(axes[i]));
    if (!dim.is_const() || dim.value() > kMaxRounds) {
      return absl::UnimplementedError("the length of the scan must be known");
    }
    if (rounds.value_or(dim.value()) != dim.value()) {
      return absl::InvalidArgumentError("scan inputs differ in length");
    }
    rounds = dim.value();
  }
  Outputs carried(node.inputs().begin(), node.inputs().begin() + num_carried);
  std::vector<std::vector<Expr>> scans(num_outputs - num_carried);
  for (int64_t round = 0; round < *rounds; ++round) {
    std::vector<Expr> inputs = carried;
    for (int64_t i = 0; i < num_scans; ++i) {
      const int64_t at = backward[i] != 0 ? *rounds - 1 - round : round;
      BATON_ASSIGN_OR_RETURN(
          Expr element,
          node.Typed(relay::Take(node.Input(static_cast<int>(num_carried + i)),
                                 relay::Const(Tensor::Scalar<int64_t>(at)),
                                 {.axis = axes[i]})));
      inputs.push_back(std::move(element));
    }
    BATON_ASSIGN_OR_RETURN(const Outputs outputs,
                           node.graphs().ConvertGraph(
                               body, inputs, absl::StrCat("round ", round)));
    if (outputs.size() != num_outputs) {
      return absl::InvalidArgumentError(
          "the body has another number of outputs");
    }
    carried.assign(outputs.begin(), outputs.begin() + num_carried);
    for (size_t i = 0; i < scans.size(); ++i) {
      scans[i].push_back(outputs[num_carried + i]);
    }
  }
  for (size_t i = 0; i < scans.size(); ++i) {
    if (scans[i].empty()) {
      return absl::UnimplementedError("a scan without rounds");
    }
    if (output_backward[i] != 0) std::reverse(scans[i].begin(), scans[i].end());
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(scans[i][0]));
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalAxis(output_axes[i], rank + 1));
    carried.push_back(relay::Stack(std::move(scans[i]), axis));
  }
  return carried;
}

BATON_ONNX_CONVERTERS({
    {"If", ConvertIf},
    {"Loop", Loop},
    {"Scan", Scan, 9},
});

}  // namespace
}  // namespace baton::onnx
