// Reads tensors of ONNX files.

#ifndef BATON_ONNX_TENSOR_READER_H_
#define BATON_ONNX_TENSOR_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"

namespace baton::onnx {

// The sources of the data of tensors.
struct TensorSource {
  struct Mapped {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;
    bool is_mapped = true;  // if false, the bytes are in other memory
  };

  // Keeps the bytes of the messages alive.
  std::shared_ptr<const void> owner;
  // True if the bytes are a mapped file.
  bool is_mapped = false;
  // The folder of the model, which must contain the external data. Empty if the
  // model is not from a file and has no external data.
  std::string folder;
  // The target of links: if the model's file in `folder` is a link, the folder
  // of the final file. Links to external data may lead there as well. May be
  // empty.
  std::string target_folder;
  // Mapped files of external data; the tensors of a model often share one file.
  FlatHashMap<std::string, Mapped> files;
};

// Reads the tensor of a TensorProto. Raw and external data is used in place
// (Tensor::FromUnaligned), but small data that is not aligned is copied.
// Integers of 2 and 4 bits become elements of 8 bits, floats of 4 and 8 bits
// become float32. Memory is allocated only if the file has as many elements as
// the shape. Errors: InvalidArgument, Unimplemented (an element type,
// segments), NotFound (a file of external data).
absl::StatusOr<Tensor> ReadTensor(absl::string_view message,
                                  TensorSource& source);

// Reads the tensor of a SparseTensorProto; elements without a value are 0.
// Errors: as of ReadTensor, ResourceExhausted for a shape of more than
// kMaxSparseBytes.
inline constexpr int64_t kMaxSparseBytes = int64_t{1} << 28;
absl::StatusOr<Tensor> ReadSparseTensor(absl::string_view message,
                                        TensorSource& source);

// The element type in a TensorProto; 0 if it has none.
int64_t ElementTypeIn(absl::string_view message);
// As above, in a SparseTensorProto.
int64_t ElementTypeInSparse(absl::string_view message);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TENSOR_READER_H_
