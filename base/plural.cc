#include "baton/base/plural.h"

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace baton {

std::string Plural(int64_t count, absl::string_view noun) {
  if (count == 1) return absl::StrCat("1 ", noun);
  for (const absl::string_view end : {"s", "x", "ch", "sh"}) {
    if (absl::EndsWith(noun, end)) return absl::StrCat(count, " ", noun, "es");
  }
  absl::string_view stem = noun;
  if (absl::ConsumeSuffix(&stem, "y") && !absl::EndsWith(stem, "a") &&
      !absl::EndsWith(stem, "e")) {
    return absl::StrCat(count, " ", stem, "ies");
  }
  return absl::StrCat(count, " ", noun, "s");
}

}  // namespace baton
