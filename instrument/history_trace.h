// Writes the history of a run as a trace for ui.perfetto.dev.

#ifndef BATON_INSTRUMENT_HISTORY_TRACE_H_
#define BATON_INSTRUMENT_HISTORY_TRACE_H_

#include <string>

#include "baton/instrument/history.h"
#include "baton/instrument/trace_writer.h"

namespace baton {

// Adds the values of `memory` to the values of the slice of an execution.
void AddMemory(const PassMemory& memory, TraceWriter::Values& values);

// The trace (trace_writer.h) shows the executions, and the nodes and bytes of
// the states. Equal runs give the same bytes except for the times, with any
// number of threads.
std::string HistoryTrace(const History& history);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_TRACE_H_
