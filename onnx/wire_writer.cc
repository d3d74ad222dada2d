#include "baton/onnx/wire_writer.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "baton/ir/node_binary.h"

namespace baton::onnx {
namespace {

constexpr int kVarint = 0;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

}  // namespace

void WireWriter::Varint(uint64_t value) {
  char number[internal::kMaxVarintBytes];
  bytes_.append(number, internal::PutVarint(value, number));
}

void WireWriter::Tag(int field, int type) {
  Varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
}

void WireWriter::Int(int field, int64_t value) {
  Tag(field, kVarint);
  Varint(static_cast<uint64_t>(value));
}

void WireWriter::Float(int field, float value) {
  Tag(field, kFixed32);
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  bytes_.append(bytes, sizeof(bytes));
}

void WireWriter::Bytes(int field, absl::string_view value) {
  BytesHeader(field, value.size());
  bytes_.append(value.data(), value.size());
}

void WireWriter::BytesHeader(int field, uint64_t size) {
  Tag(field, kBytes);
  Varint(size);
}

}  // namespace baton::onnx
