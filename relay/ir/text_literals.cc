#include "baton/relay/ir/text_literals.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/type_text.h"

namespace baton::relay {
namespace {

// Six significant digits if `same` accepts what they read back as, else the
// shortest text that reads back as `value`.
template <typename T, typename Same>
void AppendSame(T value, Same same, std::string* out) {
  if (std::isnan(value)) {
    out->append("nan");
    return;
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  char buffer[48];
  char* const limit = buffer + sizeof(buffer);
  char* end =
      std::to_chars(buffer, limit, value, std::chars_format::general, 6).ptr;
  T back{};
  std::from_chars(buffer, end, back);
  if (!same(back)) {
    end = std::to_chars(buffer, limit, value).ptr;
  }
  out->append(buffer, static_cast<size_t>(end - buffer));
}

template <typename T>
void AppendEqual(T value, std::string* out) {
  AppendSame(
      value, [value](T back) { return back == value; }, out);
}

template <typename T>
T ScalarValue(const Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.data(), sizeof(value));
  return value;
}

}  // namespace

void AppendQuoted(absl::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('"');
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7e && c != '"' && c != '\\') {
      out->push_back(c);
      continue;
    }
    out->push_back('\\');
    switch (c) {
      case '"':
      case '\\':
        out->push_back(c);
        break;
      case '\t':
        out->push_back('t');
        break;
      case '\r':
        out->push_back('r');
        break;
      case '\n':
        out->push_back('n');
        break;
      default:
        out->push_back('x');
        out->push_back(kHex[byte >> 4]);
        out->push_back(kHex[byte & 15]);
    }
  }
  out->push_back('"');
}

void AppendReal(double value, std::string* out) { AppendEqual(value, out); }

bool AppendScalar(const Tensor& tensor, std::string* out) {
  if (tensor.rank() != 0) return false;
  const DType dtype = tensor.dtype();
  if (dtype == DType::Float(32)) {
    const auto bits = ScalarValue<uint32_t>(tensor);
    const auto value = ScalarValue<float>(tensor);
    if (std::isnan(value) && bits != 0x7fc00000u) return false;
    AppendEqual(value, out);
    out->push_back('f');
  } else if (dtype == DType::Float(64)) {
    const auto bits = ScalarValue<uint64_t>(tensor);
    const auto value = ScalarValue<double>(tensor);
    if (std::isnan(value) && bits != 0x7ff8000000000000ull) return false;
    AppendEqual(value, out);
    out->append("f64");
  } else if (dtype == DType::Float(16)) {
    const auto half = ScalarValue<Float16>(tensor);
    const float value = half;
    if (std::isnan(value) && half.bits != 0x7e00u) return false;
    AppendSame(
        value, [half](float back) { return Float16(back).bits == half.bits; },
        out);
    out->append("f16");
  } else if (dtype == DType::Int(32)) {
    AppendInt(ScalarValue<int32_t>(tensor), out);
  } else if (dtype == DType::Int(64)) {
    AppendInt(ScalarValue<int64_t>(tensor), out);
    out->append("i64");
  } else if (dtype == DType::Int(16)) {
    AppendInt(ScalarValue<int16_t>(tensor), out);
    out->append("i16");
  } else if (dtype.is_bool()) {
    const auto byte = ScalarValue<uint8_t>(tensor);
    if (byte > 1) return false;
    out->append(byte == 1 ? "True" : "False");
  } else {
    return false;
  }
  return true;
}

}  // namespace baton::relay
