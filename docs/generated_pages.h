// The pages of this folder that are made from the code.

#ifndef BATON_DOCS_GENERATED_PAGES_H_
#define BATON_DOCS_GENERATED_PAGES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::docs {

struct GeneratedPage {
  std::string name;  // `rules.md`
  std::string text;
};

// All of them, as they should be. `rules` is the text of
// build_defs/baton.bzl; the rest is in this binary.
std::vector<GeneratedPage> GeneratedPages(absl::string_view rules);

}  // namespace baton::docs

#endif  // BATON_DOCS_GENERATED_PAGES_H_
