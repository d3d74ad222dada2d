// NumPy's files: `.npy` holds an array, `.npz`, a zip archive, several by name.

#ifndef BATON_TOOLS_NPY_H_
#define BATON_TOOLS_NPY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// An array in C order of little-endian numbers or bools. Other arrays are
// Unimplemented, what is no array InvalidArgument.
absl::StatusOr<Tensor> ReadNpy(absl::string_view bytes);

// The arrays of an archive, in its order, without `.npy` behind their names.
// Entries must be stored, as numpy.savez stores them; those that are
// compressed are Unimplemented.
absl::StatusOr<NamedTensors> ReadNpz(absl::string_view bytes);

// An archive that numpy.load reads. bfloat16, which NumPy does not have, is
// written as float32. The same bytes for the same tensors.
absl::StatusOr<std::string> WriteNpz(const NamedTensors& tensors);

}  // namespace baton

#endif  // BATON_TOOLS_NPY_H_
