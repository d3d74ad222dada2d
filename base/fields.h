// Field lists: the one description of a plain struct from which printing,
// parsing, equality, hash and documentation are derived.
//
//   struct DenseAttrs {
//     Dim units = Dim::Any();
//     DType out_dtype;
//
//     static constexpr char kTypeKey[] = "relay.attrs.DenseAttrs";
//     template <typename V>
//     static void VisitFields(V& v) {
//       v("units", &DenseAttrs::units, "Number of hidden units.");
//       v("out_dtype", &DenseAttrs::out_dtype, "Accumulation type.");
//     }
//   };
//
// Defaults are the values of a default-constructed struct. A field given the
// further argument `kRequired` has no default: it is always printed and must
// be given when the struct is made from values.

#ifndef BATON_BASE_FIELDS_H_
#define BATON_BASE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"

namespace baton {

inline constexpr struct RequiredField {
} kRequired;

namespace internal {

// The operations on the values of fields of one C++ type, type-erased.
struct FieldOps {
  std::string (*type_name)();
  AttrValue (*get)(const void* value);
  absl::Status (*set)(void* value, const AttrValue& from);
  bool (*equal)(const void* a, const void* b);
};

}  // namespace internal

// One field of a struct, type-erased. `object` points to that struct.
class Field {
 public:
  // The field lies `offset` bytes behind the beginning of the struct.
  Field(const char* name, const char* doc, bool required, size_t offset,
        const internal::FieldOps* ops)
      : name_(name),
        doc_(doc),
        type_name_(ops->type_name()),
        required_(required),
        offset_(offset),
        ops_(ops) {}

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::string& type_name() const { return type_name_; }
  bool required() const { return required_; }

  AttrValue Get(const void* object) const { return ops_->get(In(object)); }
  absl::Status Set(void* object, const AttrValue& value) const {
    return ops_->set(static_cast<char*>(object) + offset_, value);
  }
  bool Equal(const void* a, const void* b) const {
    return ops_->equal(In(a), In(b));
  }

 private:
  const void* In(const void* object) const {
    return static_cast<const char*>(object) + offset_;
  }

  std::string name_;
  std::string doc_;
  std::string type_name_;
  bool required_;
  size_t offset_;
  const internal::FieldOps* ops_;
};

// The fields of a struct and a default instance of it.
class FieldList {
 public:
  template <typename T>
  static FieldList Of();

  absl::Span<const Field> fields() const { return fields_; }
  const Field* Find(absl::string_view name) const;
  const void* default_object() const { return default_object_; }

  bool IsDefault(const Field& field, const void* object) const {
    return !field.required() && field.Equal(object, default_object_);
  }
  bool Equal(const void* a, const void* b) const;
  uint64_t Hash(const void* object) const;

  // Sets the named fields of `object`. Errors: an unknown name (with the
  // nearest known one and the list of all), a value of the wrong type, a
  // required field that is missing.
  absl::Status Assign(const AttrMap& values, void* object) const;

  // The fields that differ from their defaults, in order.
  AttrMap NonDefault(const void* object) const;

 private:
  std::vector<Field> fields_;
  const void* default_object_ = nullptr;  // never destroyed
};

// The field list of T, made once.
template <typename T>
const FieldList& FieldsOf() {
  static const FieldList* const kFields = new FieldList(FieldList::Of<T>());
  return *kFields;
}

// Implementation details below.

namespace internal {

template <typename F>
struct FieldOpsOf {
  static AttrValue Get(const void* value) {
    return AttrTraits<F>::ToValue(*static_cast<const F*>(value));
  }
  static absl::Status Set(void* value, const AttrValue& from) {
    return AttrTraits<F>::FromValue(from, static_cast<F*>(value));
  }
  static bool Equal(const void* a, const void* b) {
    return *static_cast<const F*>(a) == *static_cast<const F*>(b);
  }
};

template <typename F>
inline constexpr FieldOps kFieldOps = {&AttrTraits<F>::Name,
                                       &FieldOpsOf<F>::Get, &FieldOpsOf<F>::Set,
                                       &FieldOpsOf<F>::Equal};

extern template struct FieldOpsOf<bool>;
extern template struct FieldOpsOf<int>;
extern template struct FieldOpsOf<int64_t>;
extern template struct FieldOpsOf<double>;
extern template struct FieldOpsOf<std::string>;
extern template struct FieldOpsOf<DType>;

// Appends the field of `object` that is at `value`.
void AddField(const char* name, const char* doc, bool required,
              const void* object, const void* value, const FieldOps* ops,
              std::vector<Field>& fields);

// Collects the fields of T, of which `object` is one.
template <typename T>
struct FieldCollector {
  const T* object;
  std::vector<Field>* fields;
  template <typename F>
  void operator()(const char* name, F T::*member, const char* doc) {
    Add(name, doc, false, member);
  }
  template <typename F>
  void operator()(const char* name, F T::*member, const char* doc,
                  RequiredField) {
    Add(name, doc, true, member);
  }

 private:
  template <typename F>
  void Add(const char* name, const char* doc, bool required, F T::*member) {
    AddField(name, doc, required, object, &(object->*member), &kFieldOps<F>,
             *fields);
  }
};

}  // namespace internal

template <typename T>
FieldList FieldList::Of() {
  FieldList list;
  const T* const object = new T();
  list.default_object_ = object;
  internal::FieldCollector<T> collector{object, &list.fields_};
  T::VisitFields(collector);
  return list;
}

}  // namespace baton

#endif  // BATON_BASE_FIELDS_H_
