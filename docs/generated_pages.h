// Documentation pages that are generated from the code.

#ifndef BATON_DOCS_GENERATED_PAGES_H_
#define BATON_DOCS_GENERATED_PAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/docs/cpp_builders.h"

namespace baton::docs {

// The file name and the content of a page.
struct GeneratedPage {
  std::string name;  // `rules.md`
  std::string text;
};

// Generates all pages. Reads the sources below `root`, the folder of this
// repository; all other input is in this binary.
absl::StatusOr<std::vector<GeneratedPage>> GeneratedPages(
    const std::string& root);

// The sources of operators below `root`.
absl::StatusOr<std::vector<OpSource>> ReadOpSources(const std::string& root);

}  // namespace baton::docs

#endif  // BATON_DOCS_GENERATED_PAGES_H_
