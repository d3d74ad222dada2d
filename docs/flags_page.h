// Documentation page of the flags of baton-opt, made from their descriptions.

#ifndef BATON_DOCS_FLAGS_PAGE_H_
#define BATON_DOCS_FLAGS_PAGE_H_

#include <string>

namespace baton::docs {

// Returns Markdown: the output of `baton-opt --help`, and the list of flags
// that a reproducer keeps.
std::string FlagsPage();

}  // namespace baton::docs

#endif  // BATON_DOCS_FLAGS_PAGE_H_
