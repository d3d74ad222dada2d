#include "baton/testing/test_settings.h"

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace baton::testing {

bool IsLongTest() {
  const char* const value = std::getenv("BATON_LONG_TESTS");
  return value != nullptr && absl::string_view(value) == "1";
}

int LongOrShort(int of_long, int of_short) {
  return IsLongTest() ? of_long : of_short;
}

uint32_t TestSetting(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  uint32_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace baton::testing
