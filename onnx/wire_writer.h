// Writes the wire format of Protocol Buffers.
//
//   WireWriter dim;
//   dim.Int(1, 224);
//   WireWriter shape;
//   shape.Message(1, dim);
//
// A message has no header. So write a part first, then add it with its length
// to the whole. https://protobuf.dev/programming-guides/encoding

#ifndef BATON_ONNX_WIRE_WRITER_H_
#define BATON_ONNX_WIRE_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace baton::onnx {

// Writes the fields of one message, in order.
class WireWriter {
 public:
  void Int(int field, int64_t value);
  void Float(int field, float value);
  void Bytes(int field, absl::string_view value);
  void Message(int field, const WireWriter& message) {
    Bytes(field, message.bytes());
  }
  // Writes the header of a Bytes() field; its value, of `size` bytes, must
  // follow.
  void BytesHeader(int field, uint64_t size);
  // Appends encoded fields.
  void Append(absl::string_view fields) {
    bytes_.append(fields.data(), fields.size());
  }

  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  void Varint(uint64_t value);
  void Tag(int field, int type);

  std::string bytes_;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_WIRE_WRITER_H_
