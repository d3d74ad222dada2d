#include "baton/onnx/tensor_file.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/onnx/proto_fields.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/onnx/wire.h"

namespace baton::onnx {

namespace {

// The fields of a message. They have the same numbers in TensorProto,
// SequenceProto and OptionalProto: 2 is the type of the elements, 3 a tensor of
// a sequence or of an optional (or a segment, two numbers), 5 the sequence of
// an optional (or 32-bit data).
struct Fields {
  std::vector<absl::string_view> tensors;
  absl::string_view sequence;
  uint64_t element_type = 0;
  bool has_sequence = false;
  bool has_others = false;  // those of a TensorProto only
};

std::optional<Fields> FieldsOf(absl::string_view message) {
  Fields fields;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == SequenceField::kElementType) {
      fields.element_type = static_cast<uint64_t>(reader.Int());
    } else if (reader.field() == SequenceField::kTensor) {
      fields.tensors.push_back(reader.Bytes());
    } else if (reader.field() == SequenceField::kSequence) {
      fields.sequence = reader.Bytes();
      fields.has_sequence = true;
    } else if (reader.field() > SequenceField::kElementType) {
      fields.has_others = true;
    }
  }
  if (!reader.status().ok()) return std::nullopt;
  return fields;
}

absl::StatusOr<TensorFile> ReadSequence(
    absl::Span<const absl::string_view> tensors, bool is_sequence,
    TensorSource& source) {
  TensorFile result;
  result.is_sequence = is_sequence;
  for (const absl::string_view part : tensors) {
    BATON_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(part, source));
    result.tensors.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace

absl::StatusOr<TensorFile> ReadTensorFile(absl::string_view message,
                                          TensorSource& source) {
  constexpr uint64_t kSequenceElements = 3;  // of an OptionalProto
  const std::optional<Fields> fields = FieldsOf(message);
  const bool may_be_other = fields.has_value() && !fields->has_others;
  if (may_be_other && !fields->tensors.empty() && !fields->has_sequence) {
    return ReadSequence(fields->tensors, fields->tensors.size() > 1, source);
  }
  // The bytes of the others may be those of a tensor whose data do not fit.
  absl::StatusOr<Tensor> tensor = ReadTensor(message, source);
  if (tensor.ok()) return TensorFile{{*std::move(tensor)}};
  if (!may_be_other || !fields->tensors.empty()) return tensor.status();
  if (!fields->has_sequence) return TensorFile();
  const std::optional<Fields> sequence = FieldsOf(fields->sequence);
  if (fields->element_type != kSequenceElements || !sequence.has_value() ||
      sequence->has_others || sequence->has_sequence) {
    return tensor.status();
  }
  return ReadSequence(sequence->tensors, /*is_sequence=*/true, source);
}

}  // namespace baton::onnx
