// Reads and writes NumPy's files: `.npy` contains an array, `.npz`, a zip
// archive, several named arrays.

#ifndef BATON_RUNTIME_IO_NPY_H_
#define BATON_RUNTIME_IO_NPY_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// An argument or a result in a file: a tensor, or a sequence or an optional,
// which has several tensors or none.
struct TensorPart {
  size_t num_tensors = 1;
  // True for a sequence, and for an optional that has a sequence as its value.
  bool is_sequence = false;

  bool operator==(const TensorPart&) const = default;
};

// Reads an array of little-endian numbers or bools, in the order of C or of
// Fortran. Arrays of other elements are Unimplemented; malformed files are
// InvalidArgument.
absl::StatusOr<Tensor> ReadNpy(absl::string_view bytes);

// Reads the arrays of an archive, in order, with names without `.npy`: one that
// numpy.savez or numpy.savez_compressed writes.
absl::StatusOr<NamedTensors> ReadNpz(absl::string_view bytes);

// Makes an archive that numpy.load reads. bfloat16, which NumPy lacks, is
// written as float32. Equal tensors give equal bytes.
absl::StatusOr<std::string> WriteNpz(const NamedTensors& tensors);

}  // namespace baton

#endif  // BATON_RUNTIME_IO_NPY_H_
