// Attributes of `main` that keep the names of inputs and outputs and the
// metadata of an imported model.

#ifndef BATON_ONNX_TENSOR_NAMES_H_
#define BATON_ONNX_TENSOR_NAMES_H_

namespace baton::onnx::attr {

// Lists of the names of inputs and outputs, set by the import.
inline constexpr char kInputTensorNames[] = "input_tensor_names";
inline constexpr char kOutputTensorNames[] = "output_tensor_names";
// The properties that the model has for programs that run it (labels, strides):
// a list of keys, each followed by its value. Absent if there are none.
inline constexpr char kModelMetadata[] = "model_metadata";

}  // namespace baton::onnx::attr

#endif  // BATON_ONNX_TENSOR_NAMES_H_
