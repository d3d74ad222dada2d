// ONNX out.

#ifndef BATON_ONNX_EXPORT_H_
#define BATON_ONNX_EXPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/onnx/graph.h"

namespace baton {

struct OnnxExportOptions {
  // The version of ONNX's own operators: 13 to 21.
  int opset = 17;
  std::string graph_name = "main";
  // The file, in the folder of the model, to which tensors of as many bytes or
  // more go; empty: into the model's own file.
  std::string external_data;
  int64_t external_bytes = 1024;
};

// `main` as an ONNX model.
//
// What passes made is undone where ONNX has no such thing: lets are sharing
// again, calls of primitive and of global functions become what the functions
// do, other layouts become Transposes. An addition that ONNX's convolution or
// matrix product has an operand for becomes that operand.
//
// Inputs and outputs have the names that the attributes of `main` give
// (onnx/import.h), or those of the parameters; nodes, values and constants that
// come from an ONNX model have the names that they had there, where one of
// them is left. The same module gives the same bytes.
//
// Errors: Unimplemented, with all operators and places that have no form in
// ONNX of that version; InvalidArgument for a module without a typed or typable
// `main`; ResourceExhausted for more than 2 GB without external data.
absl::StatusOr<onnx::OnnxModel> ExportOnnx(
    const IRModule& module, const OnnxExportOptions& options = {});

}  // namespace baton

#endif  // BATON_ONNX_EXPORT_H_
