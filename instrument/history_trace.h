// The history of a run as a trace, which ui.perfetto.dev opens.

#ifndef BATON_INSTRUMENT_HISTORY_TRACE_H_
#define BATON_INSTRUMENT_HISTORY_TRACE_H_

#include <string>

#include "baton/instrument/history.h"

namespace baton {

// As trace_writer.h has it: the executions, and the nodes and bytes of the
// states. Apart from times, the same run gives the same bytes, on any number of
// threads.
std::string HistoryTrace(const History& history);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_TRACE_H_
