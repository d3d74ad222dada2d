#include "baton/docs/generated_pages.h"

#include <vector>

#include "absl/strings/string_view.h"
#include "baton/docs/flags_page.h"
#include "baton/docs/reference.h"
#include "baton/docs/rules_page.h"

namespace baton::docs {

std::vector<GeneratedPage> GeneratedPages(absl::string_view rules) {
  return {{"reference_flags.md", FlagsPage()},
          {"reference_operators.md", OperatorReference()},
          {"reference_options.md", OptionReference()},
          {"reference_passes.md", PassReference()},
          {"rules.md", RulesPage(rules)}};
}

}  // namespace baton::docs
