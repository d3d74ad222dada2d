// Element types of tensors: `float32`, `int8`, `bool`, `bfloat16`, ...
//
// A DType is a code, a width in bits and a number of lanes, as in TVM: `bool`
// is an unsigned integer of one bit.

#ifndef BATON_BASE_DTYPE_H_
#define BATON_BASE_DTYPE_H_

#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// An IEEE 754 binary16 value. Conversions round to nearest, ties to even.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value);
  operator float() const;  // NOLINT(google-explicit-constructor)

  static Float16 FromBits(uint16_t bits) {
    Float16 result;
    result.bits = bits;
    return result;
  }
};

// The upper half of a binary32 value. Conversions round to nearest, ties to
// even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value);
  operator float() const {  // NOLINT(google-explicit-constructor)
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float result;
    std::memcpy(&result, &wide, sizeof(result));
    return result;
  }

  static BFloat16 FromBits(uint16_t bits) {
    BFloat16 result;
    result.bits = bits;
    return result;
  }
};

// An element type. See the top of this file.
class DType {
 public:
  enum class Code : uint8_t {
    kInt = 0,
    kUInt = 1,
    kFloat = 2,
    kHandle = 3,
    kBFloat = 4,
  };

  // The void type, `DType()`: no element type at all (an unset `out_dtype`).
  constexpr DType() : DType(Code::kHandle, 0, 0) {}
  constexpr DType(Code code, int bits, int lanes = 1)
      : code_(code),
        bits_(static_cast<uint8_t>(bits)),
        lanes_(static_cast<uint16_t>(lanes)) {}

  static constexpr DType Int(int bits) { return {Code::kInt, bits}; }
  static constexpr DType UInt(int bits) { return {Code::kUInt, bits}; }
  static constexpr DType Float(int bits) { return {Code::kFloat, bits}; }
  static constexpr DType BFloat(int bits) { return {Code::kBFloat, bits}; }
  static constexpr DType Bool() { return {Code::kUInt, 1}; }

  // The DType of a C++ type that tensors can hold.
  template <typename T>
  static constexpr DType Of();

  // Reads `float32`, `uint8`, `bool`, `bfloat16`, `int8x4`, `handle`, `void`,
  // and the empty string (void). The error names the text.
  static absl::StatusOr<DType> Parse(absl::string_view text);

  constexpr Code code() const { return code_; }
  constexpr int bits() const { return bits_; }
  constexpr int lanes() const { return lanes_; }

  constexpr bool is_void() const {
    return code_ == Code::kHandle && bits_ == 0;
  }
  constexpr bool is_int() const { return code_ == Code::kInt; }
  constexpr bool is_uint() const { return code_ == Code::kUInt; }
  constexpr bool is_bool() const { return code_ == Code::kUInt && bits_ == 1; }
  constexpr bool is_integral() const { return is_int() || is_uint(); }
  constexpr bool is_float() const {
    return code_ == Code::kFloat || code_ == Code::kBFloat;
  }
  // float16 or bfloat16, which kernels compute in float32.
  constexpr bool is_half() const { return is_float() && bits_ == 16; }
  // int8 or uint8.
  constexpr bool is_byte() const {
    return is_integral() && bits_ == 8 && lanes_ == 1;
  }

  // Bytes of one element in a tensor; a bool takes one byte.
  constexpr int bytes() const { return (bits_ * lanes_ + 7) / 8; }

  // True if a Tensor can hold elements of this type: float16/32/64, bfloat16,
  // bool, and integers of 8, 16, 32 and 64 bits. Other widths are types only.
  bool IsStorable() const;

  std::string ToString() const;

  friend constexpr bool operator==(DType a, DType b) {
    return a.code_ == b.code_ && a.bits_ == b.bits_ && a.lanes_ == b.lanes_;
  }
  friend constexpr bool operator!=(DType a, DType b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, DType t) {
    return H::combine(std::move(h), t.code_, t.bits_, t.lanes_);
  }

 private:
  Code code_;
  uint8_t bits_;
  uint16_t lanes_;
};

std::ostream& operator<<(std::ostream& os, DType dtype);

template <typename T>
constexpr DType DType::Of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Bool();
  } else if constexpr (std::is_same_v<T, Float16>) {
    return Float(16);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat(16);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return Float(sizeof(T) * 8);
  } else {
    static_assert(std::is_integral_v<T>);
    return {std::is_signed_v<T> ? Code::kInt : Code::kUInt,
            static_cast<int>(sizeof(T) * 8)};
  }
}

// Calls `fn.template operator()<T>()` with the C++ type of `dtype` and returns
// what it returns. `dtype` must be storable (see DType::IsStorable).
//
//   VisitDType(t.dtype(), [&]<typename T>() { Fill<T>(t); });
template <typename Fn>
decltype(auto) VisitDType(DType dtype, Fn&& fn) {
  switch (dtype.code()) {
    case DType::Code::kFloat:
      if (dtype.bits() == 16) return fn.template operator()<Float16>();
      if (dtype.bits() == 64) return fn.template operator()<double>();
      return fn.template operator()<float>();
    case DType::Code::kBFloat:
      return fn.template operator()<BFloat16>();
    case DType::Code::kInt:
      if (dtype.bits() == 8) return fn.template operator()<int8_t>();
      if (dtype.bits() == 16) return fn.template operator()<int16_t>();
      if (dtype.bits() == 64) return fn.template operator()<int64_t>();
      return fn.template operator()<int32_t>();
    default:
      if (dtype.bits() == 1) return fn.template operator()<bool>();
      if (dtype.bits() == 8) return fn.template operator()<uint8_t>();
      if (dtype.bits() == 16) return fn.template operator()<uint16_t>();
      if (dtype.bits() == 64) return fn.template operator()<uint64_t>();
      return fn.template operator()<uint32_t>();
  }
}

}  // namespace baton

#endif  // BATON_BASE_DTYPE_H_
