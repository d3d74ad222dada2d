// The source files of the history page (instrument/page/) as strings.

#ifndef BATON_INSTRUMENT_HISTORY_PAGE_FILES_H_
#define BATON_INSTRUMENT_HISTORY_PAGE_FILES_H_

namespace baton {

extern const char kHistoryPageHtml[];
extern const char kHistoryPageCss[];
extern const char kHistoryPageScript[];

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_PAGE_FILES_H_
