// What tests of passes on lets, branches and functions share.

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

// Runs `pass` on `module`. Checks that the input is as before, that the result
// is well-formed and can be typed, and that `main`, if it can be run on random
// tensors, computes what it computed, to the bit. The result has types.
IRModule RunChecked(const Pass& pass, const IRModule& module);

// The same, and that the result is that of parsing `after`.
void ExpectPassMakes(const Pass& pass, absl::string_view before,
                     absl::string_view after);

// Checks that `pass` returns the very module that it is given.
void ExpectPassLeaves(const Pass& pass, absl::string_view text);

// Whether two values are the same tensors in the same tuples. Functions and
// references are all alike.
bool SameValue(const Value& a, const Value& b);

using RandomProgramOptions = testing::RandomProgramOptions;

// As testing::RandomProgram; the test fails if there is an error.
IRModule RandomProgram(uint32_t seed, const RandomProgramOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PASS_TEST_UTIL_H_
