// ReadTensorsOf: reads the files of tensors that ONNX's tests have.

#ifndef BATON_ONNX_TENSOR_FILE_H_
#define BATON_ONNX_TENSOR_FILE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/onnx/tensor.h"

namespace baton::onnx {

// Reads the tensors of a file: of a TensorProto, a SequenceProto of tensors, or
// an OptionalProto with a tensor. Errors as ReadTensor().
absl::StatusOr<std::vector<Tensor>> ReadTensorsOf(absl::string_view message,
                                                  TensorSource& source);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TENSOR_FILE_H_
