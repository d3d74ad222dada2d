// ReadTensorFile: reads the files of tensors that ONNX's tests have.

#ifndef BATON_ONNX_TENSOR_FILE_H_
#define BATON_ONNX_TENSOR_FILE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/onnx/tensor_reader.h"

namespace baton::onnx {

// The value in a file: a tensor, a sequence of tensors, or an optional of one
// of them. (An optional of a tensor has the bytes of a sequence of one.)
struct TensorFile {
  std::vector<Tensor> tensors;
  // A sequence of several tensors, or the sequence of an optional. (An empty
  // sequence has the bytes of an optional without a value.)
  bool is_sequence = false;
};

// Reads a TensorProto, a SequenceProto or an OptionalProto. Errors as
// ReadTensor().
absl::StatusOr<TensorFile> ReadTensorFile(absl::string_view message,
                                          TensorSource& source);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TENSOR_FILE_H_
