// Reads arguments and results of models from files.

#ifndef BATON_TOOLS_TENSOR_FILES_H_
#define BATON_TOOLS_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/runtime/io/npy.h"

namespace baton {

// The tensors of a file (.npz, .npy, ONNX's .pb), or of a folder: STEM_0.pb,
// STEM_1.pb, ... as in ONNX's backend tests, otherwise all its .npy files,
// sorted by name. Tensors of .npz files and of .npy files in a folder have
// names; the others have the empty name. `parts`, unless null, receives the
// .pb files, whose tensors follow each other in the result.
absl::StatusOr<NamedTensors> ReadTensors(
    const std::string& path, absl::string_view stem,
    std::vector<TensorPart>* parts = nullptr);

// The tensors in the order of `names`: by name if all names exist, by position
// if none does. The error contains the number of tensors and the number of
// `what`, or the name that is missing.
absl::StatusOr<std::vector<Tensor>> InOrder(
    const NamedTensors& tensors, const std::vector<std::string>& names,
    absl::string_view what);

// A line for each tensor whose name InOrder() disregards: one that is not used,
// and one that is taken by its position.
std::vector<std::string> NotesOnNames(const NamedTensors& tensors,
                                      const std::vector<std::string>& names,
                                      absl::string_view what);

// The names of a model's inputs and outputs: those of the ONNX file from which
// it was imported (onnx/tensor_names.h); otherwise the names of the parameters,
// and `output_0`, `output_1`, ...; `main` is typed.
std::vector<std::string> InputNames(const relay::Function& main);
std::vector<std::string> OutputNames(const relay::Function& main);

}  // namespace baton

#endif  // BATON_TOOLS_TENSOR_FILES_H_
