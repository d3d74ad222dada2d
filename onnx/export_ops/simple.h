// Exporters for operators that map to one ONNX operator without attributes.

#ifndef BATON_ONNX_EXPORT_OPS_SIMPLE_H_
#define BATON_ONNX_EXPORT_OPS_SIMPLE_H_

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"

namespace baton::onnx {

// A string literal as a template argument.
template <size_t kSize>
struct OpName {
  constexpr OpName(const char (&name)[kSize]) {  // NOLINT: implicit
    std::copy_n(name, kSize, text);
  }
  constexpr absl::string_view view() const { return {text, kSize - 1}; }
  char text[kSize];
};

// Exports a node of the ONNX operator `name` with the same operands and no
// attributes.
inline absl::StatusOr<Values> SameNode(CallExport& call,
                                       absl::string_view name) {
  Values inputs;
  for (int i = 0; i < call.num_args(); ++i) inputs.push_back(call.Arg(i));
  return Values{call.Node(name, inputs)};
}
template <OpName kName>
absl::StatusOr<Values> Same(CallExport& call) {
  return SameNode(call, kName.view());
}

// Exports the first operand in place of the call.
inline absl::StatusOr<Values> FirstOperand(CallExport& call) {
  return Values{call.Arg(0)};
}

}  // namespace baton::onnx

#endif  // BATON_ONNX_EXPORT_OPS_SIMPLE_H_
