// Exports a module as an ONNX model.

#ifndef BATON_ONNX_EXPORT_H_
#define BATON_ONNX_EXPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/onnx/graph_builder.h"

namespace baton {

struct OnnxExportOptions {
  // The version of ONNX's own operators: 13 to 21.
  int opset = 17;
  std::string graph_name = "main";
  // The file, in the folder of the model, for tensors of at least
  // `external_bytes` bytes. If empty, all tensors are in the model's file.
  std::string external_data;
  int64_t external_bytes = 1024;
};

// Converts `main` to an ONNX model.
//
// The export undoes constructs that ONNX lacks: lets become sharing, calls of
// primitive and of global functions become the nodes of their bodies, other
// layouts become Transposes. The addition of a bias to a convolution or a
// matrix product becomes the bias operand of ONNX's operator.
//
// Inputs and outputs have the names that the attributes of `main` give
// (onnx/import.h), otherwise those of the parameters. Nodes, values and
// constants from an ONNX model keep their names where these are still unique.
// Equal modules give equal bytes.
//
// Errors: Unimplemented, with all operators and places that cannot be expressed
// in ONNX of that version; InvalidArgument for a module without a typed or
// typable `main`; ResourceExhausted for more than 2 GB without external data.
absl::StatusOr<onnx::OnnxModel> ExportOnnx(
    const IRModule& module, const OnnxExportOptions& options = {});

}  // namespace baton

#endif  // BATON_ONNX_EXPORT_H_
