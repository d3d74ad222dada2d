// Forms of programs: what passes need, establish and destroy (PassInfo).
//
//   BATON_REGISTER_FORM(
//       "a_normal_form",
//       {.doc = "Operands are variables or constants; ...",
//        .check = CheckANormalForm});

#ifndef BATON_TRANSFORM_FORM_H_
#define BATON_TRANSFORM_FORM_H_

#include <string>

#include "absl/status/status.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"

namespace baton {

struct Form {
  // One line: what holds for a program of this form.
  std::string doc;
  // OK if the module is of this form; otherwise an error that says where it is
  // not. Functions of kinds that the form does not concern have the form.
  absl::Status (*check)(const IRModule& module) = nullptr;
};

// By name.
Registry<Form>& Forms();

#define BATON_REGISTER_FORM(name, ...)                   \
  [[maybe_unused]] static const bool BATON_FORM_CONCAT_( \
      baton_form_registration_, __COUNTER__) =           \
      ::baton::Forms().Register(name, ::baton::Form(__VA_ARGS__))
#define BATON_FORM_CONCAT_(a, b) BATON_FORM_CONCAT_IMPL_(a, b)
#define BATON_FORM_CONCAT_IMPL_(a, b) a##b

}  // namespace baton

#endif  // BATON_TRANSFORM_FORM_H_
