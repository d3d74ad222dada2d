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

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton {

inline constexpr struct RequiredField {
} kRequired;

// One field of a struct, type-erased. `object` points to that struct.
class Field {
 public:
  Field(std::string name, std::string doc, std::string type_name, bool required)
      : name_(std::move(name)),
        doc_(std::move(doc)),
        type_name_(std::move(type_name)),
        required_(required) {}
  virtual ~Field() = default;

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::string& type_name() const { return type_name_; }
  bool required() const { return required_; }

  virtual AttrValue Get(const void* object) const = 0;
  virtual absl::Status Set(void* object, const AttrValue& value) const = 0;
  virtual bool Equal(const void* a, const void* b) const = 0;

 private:
  std::string name_;
  std::string doc_;
  std::string type_name_;
  bool required_;
};

// The fields of a struct and a default instance of it.
class FieldList {
 public:
  template <typename T>
  static FieldList Of();

  const std::vector<std::unique_ptr<Field>>& fields() const { return fields_; }
  const Field* Find(absl::string_view name) const;
  const void* default_object() const { return default_object_.get(); }

  bool IsDefault(const Field& field, const void* object) const {
    return !field.required() && field.Equal(object, default_object_.get());
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
  std::vector<std::unique_ptr<Field>> fields_;
  std::shared_ptr<const void> default_object_;
};

// The field list of T, made once.
template <typename T>
const FieldList& FieldsOf() {
  static const FieldList* const kFields = new FieldList(FieldList::Of<T>());
  return *kFields;
}

// Implementation details below.

namespace internal {

template <typename T, typename F>
class FieldImpl final : public Field {
 public:
  FieldImpl(std::string name, F T::*member, std::string doc, bool required)
      : Field(std::move(name), std::move(doc), AttrTraits<F>::Name(), required),
        member_(member) {}
  AttrValue Get(const void* object) const override {
    return AttrTraits<F>::ToValue(static_cast<const T*>(object)->*member_);
  }
  absl::Status Set(void* object, const AttrValue& value) const override {
    return AttrTraits<F>::FromValue(value,
                                    &(static_cast<T*>(object)->*member_));
  }
  bool Equal(const void* a, const void* b) const override {
    return static_cast<const T*>(a)->*member_ ==
           static_cast<const T*>(b)->*member_;
  }

 private:
  F T::*member_;
};

template <typename T>
struct FieldCollector {
  std::vector<std::unique_ptr<Field>>* fields;
  template <typename F>
  void operator()(const char* name, F T::*member, const char* doc) {
    fields->push_back(
        std::make_unique<FieldImpl<T, F>>(name, member, doc, false));
  }
  template <typename F>
  void operator()(const char* name, F T::*member, const char* doc,
                  RequiredField) {
    fields->push_back(
        std::make_unique<FieldImpl<T, F>>(name, member, doc, true));
  }
};

}  // namespace internal

template <typename T>
FieldList FieldList::Of() {
  FieldList list;
  internal::FieldCollector<T> collector{&list.fields_};
  T::VisitFields(collector);
  list.default_object_ = std::make_shared<const T>();
  return list;
}

}  // namespace baton

#endif  // BATON_BASE_FIELDS_H_
