// AttrValue: the untyped form of an attribute or option value, and the
// conversions between it and C++ types.
//
// One field list (fields.h) turns a typed struct into AttrValues and back; so
// operator attributes, function attributes, pass options and workload options
// share printing, parsing, equality and documentation.

#ifndef BATON_BASE_ATTR_VALUE_H_
#define BATON_BASE_ATTR_VALUE_H_

#include <concepts>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton {

class AttrValue;
using AttrList = std::vector<AttrValue>;
using AttrMap = std::vector<std::pair<std::string, AttrValue>>;  // in order

// The representation in an AttrValue of a type T that is defined above `base/`.
// Specialize it beside T. T must be a handle: no larger than a pointer, with
// `==`, and with a copy and a move that do not throw. Specialize AttrTraits for
// T as well.
//
//   template <>
//   struct ForeignTraits<Dim> {
//     static constexpr char kName[] = "dim";
//     // A hash that equal values share; the same in every run.
//     static uint64_t Hash(const Dim& value);
//     static std::string ToString(const Dim& value);
//   };
template <typename T>
struct ForeignTraits;

template <typename T>
concept ForeignHandle = requires(const T& value) {
  ForeignTraits<T>::kName;
  { ForeignTraits<T>::Hash(value) } -> std::convertible_to<uint64_t>;
  { ForeignTraits<T>::ToString(value) } -> std::convertible_to<std::string>;
};

// A value of some type that has ForeignTraits.
class ForeignValue {
 public:
  template <ForeignHandle T>
  explicit ForeignValue(T value);
  ForeignValue(const ForeignValue& other) noexcept : type_(other.type_) {
    type_->copy(other.storage_, storage_);
  }
  ForeignValue(ForeignValue&& other) noexcept : type_(other.type_) {
    type_->move(other.storage_, storage_);
  }
  ForeignValue& operator=(const ForeignValue& other) noexcept {
    if (this != &other) {
      type_->destroy(storage_);
      type_ = other.type_;
      type_->copy(other.storage_, storage_);
    }
    return *this;
  }
  ForeignValue& operator=(ForeignValue&& other) noexcept {
    if (this != &other) {
      type_->destroy(storage_);
      type_ = other.type_;
      type_->move(other.storage_, storage_);
    }
    return *this;
  }
  ~ForeignValue() { type_->destroy(storage_); }

  const char* type_name() const { return type_->name; }
  // Null if the value is of another type.
  template <ForeignHandle T>
  const T* As() const;

  friend bool operator==(const ForeignValue& a, const ForeignValue& b) {
    return a.type_ == b.type_ && a.type_->equal(a.storage_, b.storage_);
  }
  uint64_t Hash() const { return type_->hash(storage_); }
  std::string ToString() const { return type_->to_string(storage_); }

 private:
  // The operations on the values of one type.
  struct Type {
    const char* name;
    void (*copy)(const void* from, void* to);
    void (*move)(void* from, void* to);
    void (*destroy)(void* value);
    bool (*equal)(const void* a, const void* b);
    uint64_t (*hash)(const void* value);
    std::string (*to_string)(const void* value);
  };
  template <typename T>
  static const Type kTypeOf;

  const Type* type_;
  alignas(void*) unsigned char storage_[sizeof(void*)];
};

// A value: None, a bool, a number, a string, a dtype, a foreign value, a list
// or a map.
class AttrValue {
 public:
  using Variant =
      std::variant<std::monostate, bool, int64_t, double, std::string, DType,
                   ForeignValue, AttrList, AttrMap>;

  // Constructors, assignment and destructor are defined in attr_value.cc, so
  // that sources that include this header do not instantiate them.
  AttrValue();                         // None
  AttrValue(bool value);               // NOLINT
  AttrValue(int value);                // NOLINT
  AttrValue(int64_t value);            // NOLINT
  AttrValue(double value);             // NOLINT
  AttrValue(std::string value);        // NOLINT
  AttrValue(absl::string_view value);  // NOLINT
  AttrValue(const char* value);        // NOLINT
  AttrValue(DType value);              // NOLINT
  AttrValue(ForeignValue value);       // NOLINT
  AttrValue(AttrList value);           // NOLINT
  AttrValue(AttrMap value);            // NOLINT
  AttrValue(const AttrValue& other);
  AttrValue(AttrValue&& other) noexcept;
  AttrValue& operator=(const AttrValue& other);
  AttrValue& operator=(AttrValue&& other) noexcept;
  ~AttrValue();
  // Converts `value` with AttrTraits<T>::ToValue.
  template <ForeignHandle T>
  AttrValue(const T& value);  // NOLINT

  bool is_none() const {
    return std::holds_alternative<std::monostate>(value_);
  }
  // Null if the value is of another type.
  template <typename T>
  const T* As() const {
    if constexpr (ForeignHandle<T>) {
      const ForeignValue* foreign = As<ForeignValue>();
      return foreign == nullptr ? nullptr : foreign->As<T>();
    } else {
      return std::get_if<T>(&value_);
    }
  }
  const Variant& variant() const { return value_; }

  friend bool operator==(const AttrValue& a, const AttrValue& b);
  friend bool operator!=(const AttrValue& a, const AttrValue& b) {
    return !(a == b);
  }

  // A hash that equal values share; the same in every run.
  uint64_t Hash() const;

  // The text in the grammar of value_text.h: `[NHWC,HWIO]`,
  // `{nn.conv2d:[NHWC]}`, `0.5`, `"two words"`, `true`, `none`. Parsing this
  // gives the value back.
  std::string ToString() const;

 private:
  Variant value_;
};

// `expected WHAT, found VALUE`, for FromValue() of AttrTraits.
absl::Status ExpectedError(absl::string_view what, const AttrValue& found);

// Conversions between AttrValue and T. `Name()` is the name of T in
// documentation. FromValue's errors name the expected and the found type.
template <typename T, typename Enable = void>
struct AttrTraits;

template <ForeignHandle T>
AttrValue::AttrValue(const T& value)
    : AttrValue(AttrTraits<T>::ToValue(value)) {}

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

// FromValue reads None as the void type.
template <>
struct AttrTraits<DType> {
  static std::string Name() { return "dtype"; }
  static AttrValue ToValue(DType value) { return value; }
  static absl::Status FromValue(const AttrValue& value, DType* out);
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
    // A single value is read as a list of one.
    const AttrList* list = value.As<AttrList>();
    if (list == nullptr) {
      T item{};
      absl::Status status = AttrTraits<T>::FromValue(value, &item);
      // None is not a list, even if it could be an element.
      if (status.ok() && value.is_none())
        status = ExpectedError("a list", value);
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

// Implementation details below.

template <typename T>
const ForeignValue::Type ForeignValue::kTypeOf = {
    ForeignTraits<T>::kName,
    [](const void* from, void* to) {
      new (to) T(*static_cast<const T*>(from));
    },
    [](void* from, void* to) { new (to) T(std::move(*static_cast<T*>(from))); },
    [](void* value) { static_cast<T*>(value)->~T(); },
    [](const void* a, const void* b) {
      return *static_cast<const T*>(a) == *static_cast<const T*>(b);
    },
    [](const void* value) {
      return ForeignTraits<T>::Hash(*static_cast<const T*>(value));
    },
    [](const void* value) {
      return ForeignTraits<T>::ToString(*static_cast<const T*>(value));
    },
};

template <ForeignHandle T>
ForeignValue::ForeignValue(T value) : type_(&kTypeOf<T>) {
  static_assert(sizeof(T) <= sizeof(void*) && alignof(T) <= alignof(void*));
  static_assert(std::is_nothrow_move_constructible_v<T>);
  new (storage_) T(std::move(value));
}

template <ForeignHandle T>
const T* ForeignValue::As() const {
  return type_ == &kTypeOf<T>
             ? std::launder(reinterpret_cast<const T*>(storage_))
             : nullptr;
}

}  // namespace baton

#endif  // BATON_BASE_ATTR_VALUE_H_
