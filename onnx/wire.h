// Reads the wire format of Protocol Buffers in place.
//
// ONNX files are read without copying: names and tensors are views of the
// file's bytes. Reading needs constant stack and memory, whatever the nesting
// of a message, and has no limit of 2 GB.
//
//   BATON_RETURN_IF_ERROR(ReadFields(
//       message, ReadInto(1, &name), ReadInto(2, &version),
//       CallWith(3, [](absl::string_view part) { return ReadPart(part); })));
//
// https://protobuf.dev/programming-guides/encoding

#ifndef BATON_ONNX_WIRE_H_
#define BATON_ONNX_WIRE_H_

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
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

// Reads the field `field` into `*target`: all values of a repeated field if
// `*target` is a vector, else the last one.
template <typename T>
class ReadInto {
 public:
  ReadInto(int field, T* target) : field_(field), target_(*target) {}

  int field() const { return field_; }
  absl::Status Read(WireReader& reader) const {
    if constexpr (std::is_same_v<T, int64_t> ||
                  std::is_same_v<T, std::optional<int64_t>>) {
      target_ = reader.Int();
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      reader.AppendInts(target_);
    } else if constexpr (std::is_assignable_v<T&, absl::string_view>) {
      target_ = reader.Bytes();
    } else {
      target_.push_back(reader.Bytes());
    }
    return absl::OkStatus();
  }

 private:
  int field_;
  T& target_;
};

// Calls `fn`, which returns a status, with each value of the field `field`: the
// bytes of a nested message, or of a text.
template <typename F>
class CallWith {
 public:
  CallWith(int field, F fn) : field_(field), fn_(std::move(fn)) {}

  int field() const { return field_; }
  absl::Status Read(WireReader& reader) const { return fn_(reader.Bytes()); }

 private:
  int field_;
  F fn_;
};

// Reads the fields of `message` that `fields`, each a ReadInto or a CallWith,
// name; skips the others. InvalidArgument if the message is truncated or
// malformed.
template <typename... Fields>
absl::Status ReadFields(absl::string_view message, const Fields&... fields) {
  WireReader reader(message);
  absl::Status status;
  const auto read = [&](const auto& field) {
    if (field.field() == reader.field()) status.Update(field.Read(reader));
  };
  while (status.ok() && reader.Next()) (read(fields), ...);
  status.Update(reader.status());
  return status;
}

}  // namespace baton::onnx

#endif  // BATON_ONNX_WIRE_H_
