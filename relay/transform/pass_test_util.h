// Test helpers for passes on lets, branches and functions.

#ifndef BATON_RELAY_TRANSFORM_PASS_TEST_UTIL_H_
#define BATON_RELAY_TRANSFORM_PASS_TEST_UTIL_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/random_program.h"
#include "baton/transform/pass.h"

namespace baton::relay {

using testing::ParseTyped;

// Runs `pass` on `module` and returns the result with types. Checks that the
// input is unchanged, that the result is well-formed and can be typed, and that
// `main`, if it can run on random tensors, computes bit-exact results.
IRModule RunChecked(const Pass& pass, const IRModule& module);

// As RunChecked; also checks that the result equals the parsed text `after`.
void ExpectPassMakes(const Pass& pass, absl::string_view before,
                     absl::string_view after);

// Checks that `pass` returns the same module unchanged.
void ExpectPassLeaves(const Pass& pass, absl::string_view text);

// True if two values are equal tensors in equal tuples. All functions and
// references count as equal.
bool SameValue(const Value& a, const Value& b);

using RandomProgramOptions = testing::RandomProgramOptions;

// As testing::RandomProgram; an error fails the test.
IRModule RandomProgram(uint32_t seed, const RandomProgramOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PASS_TEST_UTIL_H_
