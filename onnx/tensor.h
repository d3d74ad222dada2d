// Tensors of ONNX files.

#ifndef BATON_ONNX_TENSOR_H_
#define BATON_ONNX_TENSOR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"

namespace baton::onnx {

// Where the data of tensors is.
struct TensorSource {
  struct Mapped {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;
    bool is_mapped = true;  // else the bytes are in memory of another kind
  };

  // Keeps the bytes of the messages alive.
  std::shared_ptr<const void> owner;
  // Whether they are a mapped file.
  bool is_mapped = false;
  // The folder of the model, below which external data must be; empty if the
  // model comes from no file, and has no external data.
  std::string folder;
  // The folder of the file that the model is if `folder` has a link to it; links
  // to external data may lead there as well. May be empty.
  std::string target_folder;
  // Files of external data that were mapped: those of a model are often one.
  FlatHashMap<std::string, Mapped> files;
};

// The tensor of a TensorProto. Raw and external data that is aligned is used in
// place; the rest is copied once, and its pages of a mapped file are let go.
// Integers of 2 and 4 bits become elements of 8 bits. Memory is asked for only
// if the file has as many elements as the shape says. Errors: InvalidArgument,
// Unimplemented (an element type, segments), NotFound (a file of external
// data).
absl::StatusOr<Tensor> ReadTensor(absl::string_view message,
                                  TensorSource& source);

// The element type that a TensorProto names; 0 if it names none.
int64_t ElementTypeIn(absl::string_view message);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TENSOR_H_
