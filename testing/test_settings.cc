#include "baton/testing/test_settings.h"

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace baton::testing {

bool IsLongTest() { return TestSetting("BATON_LONG_TESTS", 0) != 0; }

bool IsNightlyTest() { return TestSetting("BATON_LONG_TESTS", 0) == 2; }

int LongOrShort(int of_long, int of_short) {
  return IsLongTest() ? of_long : of_short;
}

int NightlyLongOrShort(int of_nightly, int of_long, int of_short) {
  return IsNightlyTest() ? of_nightly : LongOrShort(of_long, of_short);
}

uint32_t TestSetting(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  uint32_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace baton::testing
