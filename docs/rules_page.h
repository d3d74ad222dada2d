// Documentation page of build_defs/baton.bzl, made from its docstrings.

#ifndef BATON_DOCS_RULES_PAGE_H_
#define BATON_DOCS_RULES_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton::docs {

// Returns Markdown: the docstring of the file, then a section for each macro
// `baton_*`, with its signature and a table of its arguments. `bzl` is the text
// of the file; its docstrings have Bazel's usual form.
std::string RulesPage(absl::string_view bzl);

}  // namespace baton::docs

#endif  // BATON_DOCS_RULES_PAGE_H_
