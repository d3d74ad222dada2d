// Reads the wire format of Protocol Buffers in place.
//
// ONNX files are read without copying: names and tensors are views of the
// file's bytes. Reading needs constant stack and memory, whatever the nesting
// of a message, and has no limit of 2 GB.
//
//   WireReader reader(message);
//   while (reader.Next()) {
//     switch (reader.field()) {
//       case 1: name = reader.Bytes(); break;
//       case 2: version = reader.Int(); break;
//     }
//   }
//   BATON_RETURN_IF_ERROR(reader.status());
//
// https://protobuf.dev/programming-guides/encoding

#ifndef BATON_ONNX_WIRE_H_
#define BATON_ONNX_WIRE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton::onnx {

// Reads the fields of one message, in order.
class WireReader {
 public:
  explicit WireReader(absl::string_view message) : rest_(message) {}

  // Moves to the next field; returns false at the end and at an error.
  bool Next();
  int field() const { return field_; }

  // The value of the field. If the wire type is different, the result is zero
  // or empty, and status() becomes an error.
  int64_t Int();
  float Float();
  absl::string_view Bytes();
  // Appends the values of a repeated field, packed or not.
  void AppendInts(std::vector<int64_t>& values);
  void AppendFloats(std::vector<float>& values);
  void AppendDoubles(std::vector<double>& values);

  // InvalidArgument if the message is truncated or malformed.
  const absl::Status& status() const { return status_; }

 private:
  enum class Type : uint8_t {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,
    kFixed32 = 5,
  };

  bool ReadVarint(uint64_t& value);
  bool Expect(Type type);
  void Fail(absl::string_view what);
  template <typename T>
  void AppendFixed(Type type, std::vector<T>& values);

  absl::string_view rest_;
  int field_ = 0;
  Type type_ = Type::kVarint;
  uint64_t number_ = 0;      // of a field that is not kBytes
  absl::string_view bytes_;  // of a kBytes field
  absl::Status status_;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_WIRE_H_
