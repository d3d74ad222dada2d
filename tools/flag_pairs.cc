#include "baton/tools/flag_pairs.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace baton {

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseFlagPairs(
    absl::string_view flag, absl::string_view form, absl::string_view text) {
  const char separator = form[form.find_first_of(":=")];
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const absl::string_view part :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    size_t at = part.rfind(separator);
    while (at != absl::string_view::npos && at > 0 &&
           part[at - 1] == separator) {
      at = at > 1 ? part.rfind(separator, at - 2) : absl::string_view::npos;
    }
    if (at == absl::string_view::npos || at == 0 || at + 1 == part.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", flag, ": expected ", form, ", found `", part, "`"));
    }
    pairs.emplace_back(part.substr(0, at), part.substr(at + 1));
  }
  return pairs;
}

}  // namespace baton
