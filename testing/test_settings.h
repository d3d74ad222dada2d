// Settings of tests, which are variables of the environment
// (docs/write_a_test.md).

#ifndef BATON_TESTING_TEST_SETTINGS_H_
#define BATON_TESTING_TEST_SETTINGS_H_

#include <cstdint>

namespace baton::testing {

// True in the long form of tests: BATON_LONG_TESTS is 1 or 2. The short form,
// which is a sample of the long one, takes seconds.
bool IsLongTest();

// True in the nightly form of tests: BATON_LONG_TESTS is 2. It has more random
// programs, or deeper ones, than the long form, which a landing waits for. The
// target of a test with such a form has the tag `nightly`.
bool IsNightlyTest();

// How many, or how large: `of_long` in the long form of tests, `of_short` in the
// short one, `of_nightly` in the nightly one.
int LongOrShort(int of_long, int of_short);
int NightlyLongOrShort(int of_nightly, int of_long, int of_short);

// The number that is the value of the variable `name`; `otherwise` if it has
// none.
uint32_t TestSetting(const char* name, uint32_t otherwise);

}  // namespace baton::testing

#endif  // BATON_TESTING_TEST_SETTINGS_H_
