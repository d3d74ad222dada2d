#include "baton/base/dtype.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace baton {
namespace {

// Codes of the reference that no tensor can hold; see tir/ir/expr.h.
constexpr auto kE4M3Code = static_cast<DType::Code>(6);
constexpr auto kE5M2Code = static_cast<DType::Code>(7);

uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

Float16::Float16(float value) {
  const uint32_t wide = BitsOf(value);
  const uint32_t sign = (wide >> 16) & 0x8000u;
  const uint32_t magnitude = wide & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: keep it quiet and keep its top bits.
    bits = static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  } else if (magnitude >= 0x477ff000u) {  // Rounds beyond 65504.
    bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // Subnormal in binary16, or zero.
    // Adding 0.5 aligns the last place of a binary16 subnormal (2^-24) with
    // the last place of the sum, so the addition itself rounds.
    const float aligned = FloatOf(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (BitsOf(aligned) - 0x3f000000u));
  } else {
    const uint32_t odd = (magnitude >> 13) & 1u;
    bits = static_cast<uint16_t>(
        sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
}

Float16::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1fu) return FloatOf(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return FloatOf(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

BFloat16::BFloat16(float value) {
  const uint32_t wide = BitsOf(value);
  if ((wide & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<uint16_t>((wide >> 16) | 0x40u);
  } else {
    bits = static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
}

bool DType::IsStorable() const {
  if (lanes_ != 1) return false;
  switch (code_) {
    case Code::kInt:
      return bits_ == 8 || bits_ == 16 || bits_ == 32 || bits_ == 64;
    case Code::kUInt:
      return bits_ == 1 || bits_ == 8 || bits_ == 16 || bits_ == 32 ||
             bits_ == 64;
    case Code::kFloat:
      return bits_ == 16 || bits_ == 32 || bits_ == 64;
    case Code::kBFloat:
      return bits_ == 16;
    case Code::kHandle:
      return false;
  }
  return false;
}

absl::StatusOr<DType> DType::Parse(absl::string_view text) {
  const auto unknown = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown data type \"", text, "\""));
  };
  absl::string_view rest = text;
  if (rest.empty() || rest == "void") return DType();
  if (rest == "bool") return Bool();
  Code code;
  int bits = 32;
  if (absl::ConsumePrefix(&rest, "uint")) {
    code = Code::kUInt;
  } else if (absl::ConsumePrefix(&rest, "int")) {
    code = Code::kInt;
  } else if (absl::ConsumePrefix(&rest, "float")) {
    code = Code::kFloat;
  } else if (absl::ConsumePrefix(&rest, "bfloat")) {
    code = Code::kBFloat;
    bits = 16;
  } else if (absl::ConsumePrefix(&rest, "e4m3_float8")) {
    code = kE4M3Code;
    bits = 8;
  } else if (absl::ConsumePrefix(&rest, "e5m2_float8")) {
    code = kE5M2Code;
    bits = 8;
  } else if (absl::ConsumePrefix(&rest, "handle")) {
    code = Code::kHandle;
    bits = 64;
  } else if (absl::ConsumePrefix(&rest, "bool")) {
    code = Code::kUInt;
    bits = 1;
  } else {
    return unknown();
  }
  // SimpleAtoi alone would accept signs and blanks.
  if (rest.find_first_not_of("0123456789x") != absl::string_view::npos) {
    return unknown();
  }
  int lanes = 1;
  const size_t x = rest.find('x');
  if (x != absl::string_view::npos) {
    if (!absl::SimpleAtoi(rest.substr(x + 1), &lanes) || lanes < 1 ||
        lanes > 65535) {
      return unknown();
    }
    rest = rest.substr(0, x);
  }
  if (!rest.empty() &&
      (code == kE4M3Code || code == kE5M2Code ||
       !absl::SimpleAtoi(rest, &bits) || bits < 1 || bits > 255)) {
    return unknown();
  }
  if (code == Code::kFloat && bits != 8 && bits != 16 && bits != 32 &&
      bits != 64 && bits != 128) {
    return unknown();
  }
  return DType(code, bits, lanes);
}

std::string DType::ToString() const {
  std::string result;
  if (is_void()) return "void";
  if (is_bool()) {
    result = "bool";
  } else if (code_ == kE4M3Code || code_ == kE5M2Code) {
    result = code_ == kE4M3Code ? "e4m3_float8" : "e5m2_float8";
  } else {
    switch (code_) {
      case Code::kInt:
        result = "int";
        break;
      case Code::kUInt:
        result = "uint";
        break;
      case Code::kFloat:
        result = "float";
        break;
      case Code::kHandle:
        result = "handle";
        break;
      case Code::kBFloat:
        result = "bfloat";
        break;
    }
    if (code_ != Code::kHandle) absl::StrAppend(&result, bits_);
  }
  if (lanes_ != 1) absl::StrAppend(&result, "x", lanes_);
  return result;
}

std::ostream& operator<<(std::ostream& os, DType dtype) {
  return os << dtype.ToString();
}

}  // namespace baton
