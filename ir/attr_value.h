// AttrValue: the untyped form of an attribute or option value, and the
// conversions between it and C++ types.
//
// One field list (fields.h) turns a typed struct into AttrValues and back; so
// operator attributes, function attributes, pass options and workload options
// share printing, parsing, equality and documentation.

#ifndef BATON_IR_ATTR_VALUE_H_
#define BATON_IR_ATTR_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"

namespace baton {

class AttrValue;
using AttrList = std::vector<AttrValue>;
using AttrMap = std::vector<std::pair<std::string, AttrValue>>;  // in order

class AttrValue {
 public:
  // A Dim is held only where it is not a number; a number is an int64_t.
  using Variant = std::variant<std::monostate, bool, int64_t, double,
                               std::string, DType, Dim, AttrList, AttrMap>;

  AttrValue() = default;                                              // None
  AttrValue(bool value) : value_(value) {}                            // NOLINT
  AttrValue(int value) : value_(int64_t{value}) {}                    // NOLINT
  AttrValue(int64_t value) : value_(value) {}                         // NOLINT
  AttrValue(double value) : value_(value) {}                          // NOLINT
  AttrValue(std::string value) : value_(std::move(value)) {}          // NOLINT
  AttrValue(absl::string_view value) : value_(std::string(value)) {}  // NOLINT
  AttrValue(const char* value) : value_(std::string(value)) {}        // NOLINT
  AttrValue(DType value) : value_(value) {}                           // NOLINT
  AttrValue(const Dim& value) {                                       // NOLINT
    if (value.is_const()) {
      value_ = value.value();
    } else {
      value_ = value;
    }
  }
  AttrValue(AttrList value) : value_(std::move(value)) {}  // NOLINT
  AttrValue(AttrMap value) : value_(std::move(value)) {}   // NOLINT

  bool is_none() const {
    return std::holds_alternative<std::monostate>(value_);
  }
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value_);
  }
  const Variant& variant() const { return value_; }

  friend bool operator==(const AttrValue& a, const AttrValue& b);
  friend bool operator!=(const AttrValue& a, const AttrValue& b) {
    return !(a == b);
  }

  // A hash that equal values share; the same in every run.
  uint64_t Hash() const;

  // As in the pipeline grammar: `[NHWC,HWIO]`, `{nn.conv2d:[NHWC]}`, `0.5`,
  // `"two words"`, `true`, `none`. Parsing this gives the value back.
  std::string ToString() const;

 private:
  Variant value_;
};

// Conversions between AttrValue and T. `Name()` is T in documentation.
// FromValue's errors say what was expected and what was found.
template <typename T, typename Enable = void>
struct AttrTraits;

template <>
struct AttrTraits<bool> {
  static std::string Name() { return "bool"; }
  static AttrValue ToValue(bool value) { return value; }
  static absl::Status FromValue(const AttrValue& value, bool* out);
};

template <>
struct AttrTraits<int64_t> {
  static std::string Name() { return "int"; }
  static AttrValue ToValue(int64_t value) { return value; }
  static absl::Status FromValue(const AttrValue& value, int64_t* out);
};

template <>
struct AttrTraits<int> {
  static std::string Name() { return "int"; }
  static AttrValue ToValue(int value) { return value; }
  static absl::Status FromValue(const AttrValue& value, int* out);
};

template <>
struct AttrTraits<double> {
  static std::string Name() { return "float"; }
  static AttrValue ToValue(double value) { return value; }
  static absl::Status FromValue(const AttrValue& value, double* out);
};

template <>
struct AttrTraits<std::string> {
  static std::string Name() { return "string"; }
  static AttrValue ToValue(const std::string& value) { return value; }
  static absl::Status FromValue(const AttrValue& value, std::string* out);
};

// The void type is None.
template <>
struct AttrTraits<DType> {
  static std::string Name() { return "dtype"; }
  static AttrValue ToValue(DType value) { return value; }
  static absl::Status FromValue(const AttrValue& value, DType* out);
};

template <>
struct AttrTraits<Dim> {
  static std::string Name() { return "dim"; }
  static AttrValue ToValue(const Dim& value) { return value; }
  static absl::Status FromValue(const AttrValue& value, Dim* out);
};

template <>
struct AttrTraits<AttrValue> {
  static std::string Name() { return "value"; }
  static AttrValue ToValue(const AttrValue& value) { return value; }
  static absl::Status FromValue(const AttrValue& value, AttrValue* out) {
    *out = value;
    return absl::OkStatus();
  }
};

template <typename T>
struct AttrTraits<std::optional<T>> {
  static std::string Name() { return AttrTraits<T>::Name() + "?"; }
  static AttrValue ToValue(const std::optional<T>& value) {
    return value.has_value() ? AttrTraits<T>::ToValue(*value) : AttrValue();
  }
  static absl::Status FromValue(const AttrValue& value, std::optional<T>* out) {
    if (value.is_none()) {
      out->reset();
      return absl::OkStatus();
    }
    T inner{};
    absl::Status status = AttrTraits<T>::FromValue(value, &inner);
    if (status.ok()) *out = std::move(inner);
    return status;
  }
};

// Any list type: std::vector, absl::InlinedVector (Dims).
template <typename L>
struct AttrTraits<
    L, std::enable_if_t<!std::is_same_v<L, std::string> &&
                        std::is_class_v<typename L::allocator_type> &&
                        !std::is_same_v<typename L::value_type,
                                        std::pair<std::string, AttrValue>>>> {
  using T = typename L::value_type;
  static std::string Name() { return "[" + AttrTraits<T>::Name() + "]"; }
  static AttrValue ToValue(const L& value) {
    AttrList list;
    list.reserve(value.size());
    for (const T& item : value) list.push_back(AttrTraits<T>::ToValue(item));
    return list;
  }
  static absl::Status FromValue(const AttrValue& value, L* out) {
    // A lone value stands for a list of one.
    const AttrList* list = value.As<AttrList>();
    if (list == nullptr) {
      T item{};
      absl::Status status = AttrTraits<T>::FromValue(value, &item);
      if (status.ok()) out->assign(1, std::move(item));
      return status;
    }
    L result;
    result.reserve(list->size());
    for (const AttrValue& element : *list) {
      T item{};
      absl::Status status = AttrTraits<T>::FromValue(element, &item);
      if (!status.ok()) return status;
      result.push_back(std::move(item));
    }
    *out = std::move(result);
    return absl::OkStatus();
  }
};

// `{key: value, ...}` in the order written.
template <>
struct AttrTraits<AttrMap> {
  static std::string Name() { return "{string: value}"; }
  static AttrValue ToValue(const AttrMap& value) { return value; }
  static absl::Status FromValue(const AttrValue& value, AttrMap* out);
};

}  // namespace baton

#endif  // BATON_IR_ATTR_VALUE_H_
