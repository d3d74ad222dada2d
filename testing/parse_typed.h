// Typed modules from text, for tests.

#ifndef BATON_TESTING_PARSE_TYPED_H_
#define BATON_TESTING_PARSE_TYPED_H_

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton::testing {

// The module of a text, with types; the test fails if the text has errors.
IRModule ParseTyped(absl::string_view text);

}  // namespace baton::testing

#endif  // BATON_TESTING_PARSE_TYPED_H_
