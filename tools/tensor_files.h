// Arguments and results of models, in files.

#ifndef BATON_TOOLS_TENSOR_FILES_H_
#define BATON_TOOLS_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/tools/npy.h"

namespace baton {

// The tensors of a file (.npz, .npy, ONNX's .pb), or of a folder: STEM_0.pb,
// STEM_1.pb, ... as in ONNX's backend tests, or else all its .npy files, sorted
// by name. Those of .npz and of .npy files in a folder have names; the others
// have the empty name.
absl::StatusOr<NamedTensors> ReadTensors(const std::string& path,
                                         absl::string_view stem);

// The tensors in the order of `names`: by name if all names are there, by
// position if none is. The error says how many there are for how many `what`,
// or which name is missing.
absl::StatusOr<std::vector<Tensor>> InOrder(
    const NamedTensors& tensors, const std::vector<std::string>& names,
    absl::string_view what);

// The names that a model gives its inputs and outputs: those of the ONNX file
// that it was imported from (onnx/tensor_names.h); else those of the
// parameters, and `output_0`, `output_1`, ...; `main` is typed.
std::vector<std::string> InputNames(const Function& main);
std::vector<std::string> OutputNames(const Function& main);

}  // namespace baton

#endif  // BATON_TOOLS_TENSOR_FILES_H_
