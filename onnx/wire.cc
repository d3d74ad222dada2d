#include "baton/onnx/wire.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/node_binary.h"

namespace baton::onnx {
namespace {

static_assert(std::endian::native == std::endian::little,
              "ONNX files hold little-endian numbers, which are used in place");

}  // namespace

void WireReader::Fail(absl::string_view what) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("no ONNX file: ", what));
  }
  rest_ = {};
}

bool WireReader::ReadVarint(uint64_t& value) {
  internal::Varints numbers(rest_);
  if (!numbers.Next(&value)) {
    Fail("a number is cut off or too long");
    return false;
  }
  rest_.remove_prefix(static_cast<size_t>(numbers.next() - rest_.data()));
  return true;
}

bool WireReader::Next() {
  if (rest_.empty()) return false;
  uint64_t tag = 0;
  if (!ReadVarint(tag)) return false;
  if (tag >> 3 == 0 || tag >> 3 >= uint64_t{1} << 29) {
    Fail("a field has no valid number");
    return false;
  }
  field_ = static_cast<int>(tag >> 3);
  type_ = static_cast<Type>(tag & 7);
  number_ = 0;
  bytes_ = {};
  uint64_t size = 0;
  switch (type_) {
    case Type::kVarint:
      return ReadVarint(number_);
    case Type::kFixed64:
      size = 8;
      break;
    case Type::kFixed32:
      size = 4;
      break;
    case Type::kBytes:
      if (!ReadVarint(size)) return false;
      break;
    default:
      Fail("a field has an unknown wire type");
      return false;
  }
  if (size > rest_.size()) {
    Fail(absl::StrCat("a field of ", size, " bytes where ", rest_.size(),
                      " are left"));
    return false;
  }
  if (type_ == Type::kBytes) {
    bytes_ = rest_.substr(0, size);
  } else {
    std::memcpy(&number_, rest_.data(), size);
  }
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::Expect(Type type) {
  if (type_ == type) return true;
  Fail(absl::StrCat("field ", field_, " of a message has the wrong wire type"));
  return false;
}

int64_t WireReader::Int() {
  return Expect(Type::kVarint) ? static_cast<int64_t>(number_) : 0;
}

float WireReader::Float() {
  return Expect(Type::kFixed32)
             ? std::bit_cast<float>(static_cast<uint32_t>(number_))
             : 0.0f;
}

absl::string_view WireReader::Bytes() {
  return Expect(Type::kBytes) ? bytes_ : absl::string_view();
}

void WireReader::AppendInts(std::vector<int64_t>& values) {
  if (type_ != Type::kBytes) {
    values.push_back(Int());
    return;
  }
  WireReader packed(bytes_);
  while (!packed.rest_.empty()) {
    uint64_t value = 0;
    if (!packed.ReadVarint(value)) {
      Fail("a list of numbers is cut off");
      return;
    }
    values.push_back(static_cast<int64_t>(value));
  }
}

template <typename T>
void WireReader::AppendFixed(Type type, std::vector<T>& values) {
  T value;
  if (type_ != Type::kBytes) {
    if (!Expect(type)) return;
    std::memcpy(&value, &number_, sizeof(T));
    values.push_back(value);
    return;
  }
  if (bytes_.size() % sizeof(T) != 0) {
    Fail("a list of numbers is cut off");
    return;
  }
  const size_t old = values.size();
  values.resize(old + bytes_.size() / sizeof(T));
  if (!bytes_.empty()) {
    std::memcpy(values.data() + old, bytes_.data(), bytes_.size());
  }
}

void WireReader::AppendFloats(std::vector<float>& values) {
  AppendFixed(Type::kFixed32, values);
}

void WireReader::AppendDoubles(std::vector<double>& values) {
  AppendFixed(Type::kFixed64, values);
}

}  // namespace baton::onnx
