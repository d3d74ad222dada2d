#include "baton/transform/pass_info.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace baton {

std::string PassInfo::ToString() const {
  std::string text =
      absl::StrCat("The meta data of the pass - pass name: ", name,
                   ", opt_level: ", opt_level, ", required passes: [");
  if (!required.empty()) text += "\n";
  for (const std::string& pass : required) absl::StrAppend(&text, pass, ", ");
  return text + "]\n";
}

}  // namespace baton
