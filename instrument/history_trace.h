// The history of a run as a trace, which ui.perfetto.dev opens.

#ifndef BATON_INSTRUMENT_HISTORY_TRACE_H_
#define BATON_INSTRUMENT_HISTORY_TRACE_H_

#include <string>

#include "baton/instrument/history.h"
#include "baton/instrument/trace_writer.h"

namespace baton {

// What slices of executions say of their memory.
void AddMemory(const PassMemory& memory, TraceWriter::Values& values);

// As trace_writer.h has it: the executions, and the nodes and bytes of the
// states. Apart from times, the same run gives the same bytes, on any number of
// threads.
std::string HistoryTrace(const History& history);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_TRACE_H_
