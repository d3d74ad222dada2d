// Finds attribute types by their type keys, for readers of text and binary
// files.
//
// Registering an operator registers the type of its attributes. Register other
// types, such as attributes of calls to functions, beside their definition:
//
//   BATON_REGISTER_ATTRS(MyAttrs);

#ifndef BATON_IR_ATTRS_REGISTRY_H_
#define BATON_IR_ATTRS_REGISTRY_H_

#include "absl/strings/string_view.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/ir/attrs.h"

namespace baton {

// Null if there is no type with that key, or if there are several.
const AttrsType* FindAttrsType(absl::string_view type_key);

namespace internal {

// Registers a type. Registering a type again has no effect; two types with one
// key are an error (RegistrationErrors() of base/registry.h).
void RegisterAttrsType(const AttrsType& type, CodeLocation location);

}  // namespace internal

class AttrsRegistration {
 public:
  explicit AttrsRegistration(const AttrsType& type,
                             CodeLocation location = CodeLocation::Current()) {
    internal::RegisterAttrsType(type, location);
  }
};

#define BATON_REGISTER_ATTRS(T)                                               \
  [[maybe_unused]] static const ::baton::AttrsRegistration BATON_UNIQUE_NAME( \
      baton_attrs_registration_) =                                            \
      ::baton::AttrsRegistration(::baton::AttrsType::Of<T>())

}  // namespace baton

#endif  // BATON_IR_ATTRS_REGISTRY_H_
