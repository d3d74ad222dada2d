// Writes a history as one HTML file, which needs no server and no network. The
// page shows the passes along their time, the graph of every state, the changes
// of each pass, and the remarks. See docs/history.md.

#ifndef BATON_INSTRUMENT_HISTORY_PAGE_H_
#define BATON_INSTRUMENT_HISTORY_PAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/history.h"

namespace baton {

// The content of the page as JSON that is safe inside an element <script>:
// invalid UTF-8 is replaced by U+FFFD, and `<` does not occur.
struct HistoryPageData {
  // The graph; nodes that states share occur once. Equal runs give the same
  // text, with any number of threads. instrument/page/data.js describes the
  // fields.
  std::string content;
  // {"start":[...],"total":[...]}: nanoseconds for each execution.
  std::string times;
};
HistoryPageData PageDataOf(const History& history);

// Checks the size of a page. The error is ResourceExhausted, with advice, if
// the states have more than `max_nodes` expressions together. A page takes some
// hundred bytes for each expression; a browser takes more.
absl::Status CheckPageSize(const History& history, int64_t max_nodes);

// The page. `title` names the recorded run; often it is the name of the file.
// `profile` is the JSON of a profile of baton-run, which the page shows as
// tables of steps and nodes; empty for none. `library` is the JSON of a report
// of baton-compile, which it shows as tables, too.
std::string HistoryPage(const History& history, absl::string_view title,
                        absl::string_view profile = "",
                        absl::string_view library = "");

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_PAGE_H_
