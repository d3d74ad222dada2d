// A history as one HTML file, which needs no server and no network: the passes
// along their time, the graph of every state, what each pass did to it, and
// what it said. docs/history.md.

#ifndef BATON_INSTRUMENT_HISTORY_PAGE_H_
#define BATON_INSTRUMENT_HISTORY_PAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/history.h"

namespace baton {

// What the page shows, as JSON that may stand in an element <script>: bytes
// that are no UTF-8 are U+FFFD, and there is no `<`.
struct HistoryPageData {
  // Nodes that states share are in it once. The same for the same run, on any
  // number of threads. instrument/page/data.js says what the fields are.
  std::string content;
  // {"start":[...],"total":[...]}: nanoseconds, for each execution.
  std::string times;
};
HistoryPageData PageDataOf(const History& history);

// ResourceExhausted, with advice, if the states have more than `max_nodes`
// expressions together: a page takes some hundred bytes for each, and a browser
// more.
absl::Status CheckPageSize(const History& history, int64_t max_nodes);

// The page. `title`: what was recorded, often the name of the file.
std::string HistoryPage(const History& history, absl::string_view title);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_PAGE_H_
