// Attributes of `main` with the names of a model's inputs and outputs.

#ifndef BATON_ONNX_TENSOR_NAMES_H_
#define BATON_ONNX_TENSOR_NAMES_H_

namespace baton::attr {

// Lists of names, set by the import.
inline constexpr char kInputTensorNames[] = "input_tensor_names";
inline constexpr char kOutputTensorNames[] = "output_tensor_names";

}  // namespace baton::attr

#endif  // BATON_ONNX_TENSOR_NAMES_H_
