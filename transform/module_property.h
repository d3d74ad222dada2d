// Properties of programs that passes require, establish and invalidate
// (PassInfo).
//
//   BATON_REGISTER_MODULE_PROPERTY(
//       "a_normal_form",
//       {.doc = "Operands are variables or constants; ...",
//        .check = CheckANormalForm});

#ifndef BATON_TRANSFORM_MODULE_PROPERTY_H_
#define BATON_TRANSFORM_MODULE_PROPERTY_H_

#include <string>

#include "absl/status/status.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"

namespace baton {

// A property of programs.
struct ModuleProperty {
  // One line: the definition of the property.
  std::string doc;
  // OK if the module has the property; otherwise an error with a place where it
  // does not. Functions of kinds that the property does not concern have it.
  absl::Status (*check)(const IRModule& module) = nullptr;
};

// All registered properties, by name.
Registry<ModuleProperty>& ModuleProperties();

#define BATON_REGISTER_MODULE_PROPERTY(name, ...)       \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_module_property_registration_) =            \
      ::baton::ModuleProperties().Register(             \
          name, ::baton::ModuleProperty(__VA_ARGS__))

}  // namespace baton

#endif  // BATON_TRANSFORM_MODULE_PROPERTY_H_
