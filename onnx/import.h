// Imports an ONNX model as a Relay module.

#ifndef BATON_ONNX_IMPORT_H_
#define BATON_ONNX_IMPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/onnx/import_options.h"  // IWYU pragma: export

namespace baton {

// Imports the model in `bytes`, which `owner` keeps alive. Constants use
// `bytes` in place if their data is aligned.
//
// `main` has a parameter for each input without an initializer, in order, and
// returns the output, or a tuple of several outputs. It is typed. Every
// expression has the place of its ONNX node: the node's name in a listing of
// the graph, one node a line. A dimension with a name is symbolic; a dimension
// without name and value is unknown. Shapes that are computed from known shapes
// are constants.
//
// Errors: InvalidArgument for an invalid model, with a place if there is one;
// Unimplemented for operators without a converter, all of them in one message,
// and for features that a converter does not support.
absl::StatusOr<IRModule> ImportOnnx(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    const OnnxImportOptions& options = {});

}  // namespace baton

#endif  // BATON_ONNX_IMPORT_H_
