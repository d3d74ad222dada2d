// Test helpers for rewriting passes.

#ifndef BATON_RELAY_TRANSFORM_REWRITE_TEST_UTIL_H_
#define BATON_RELAY_TRANSFORM_REWRITE_TEST_UTIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

using Rewrite = absl::StatusOr<Expr> (*)(const Expr& expr);

Var TensorVar(std::string name, const std::vector<int64_t>& shape,
              DType dtype = DType::Float(32));

// Infers the types of `function`; the test fails if it is ill-typed.
Function Typed(const Function& function);

// Checks that `rewrite` rewrites `before` to `after`, leaves its input
// unchanged, and keeps the results of the program, up to rounding, if it can
// run on random inputs in [0, 1).
void ExpectRewrites(Rewrite rewrite, const Function& before,
                    const Function& after);

// Checks that `rewrite` returns the same function unchanged.
void ExpectUnchanged(Rewrite rewrite, const Function& function);

// As above, for the functions @main of texts.
void ExpectRewrites(Rewrite rewrite, absl::string_view before,
                    absl::string_view after);
void ExpectUnchanged(Rewrite rewrite, absl::string_view text);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_REWRITE_TEST_UTIL_H_
