// The names that a model gives its inputs and outputs.

#ifndef BATON_ONNX_TENSOR_NAMES_H_
#define BATON_ONNX_TENSOR_NAMES_H_

namespace baton::attr {

// Attributes of an imported `main`: lists of names.
inline constexpr char kInputTensorNames[] = "input_tensor_names";
inline constexpr char kOutputTensorNames[] = "output_tensor_names";

}  // namespace baton::attr

#endif  // BATON_ONNX_TENSOR_NAMES_H_
