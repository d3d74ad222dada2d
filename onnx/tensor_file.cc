#include "baton/onnx/tensor_file.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/onnx/tensor.h"
#include "baton/onnx/wire.h"

namespace baton::onnx {

absl::StatusOr<std::vector<Tensor>> ReadTensorsOf(absl::string_view message,
                                                  TensorSource& source) {
  // Field 3 of a TensorProto is a segment, which has two numbers; such files
  // have data, too.
  std::vector<absl::string_view> parts;
  bool has_data = false;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == 3) {
      parts.push_back(reader.Bytes());
    } else if (reader.field() > 2) {
      has_data = true;
    }
  }
  if (!reader.status().ok() || parts.empty() || has_data) {
    BATON_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(message, source));
    return std::vector<Tensor>{std::move(tensor)};
  }
  std::vector<Tensor> result;
  for (const absl::string_view part : parts) {
    BATON_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(part, source));
    result.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace baton::onnx
