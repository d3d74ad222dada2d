// Parses typed modules, for tests.

#ifndef BATON_TESTING_PARSE_TYPED_H_
#define BATON_TESTING_PARSE_TYPED_H_

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton::testing {

// Parses a module and infers its types; errors in the text fail the test.
IRModule ParseTyped(absl::string_view text);

}  // namespace baton::testing

#endif  // BATON_TESTING_PARSE_TYPED_H_
