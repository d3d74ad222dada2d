#include "baton/instrument/history_trace.h"

#include <cstdint>
#include <string>
#include <utility>

#include "baton/instrument/history.h"
#include "baton/instrument/trace_writer.h"
#include "baton/ir/module.h"

namespace baton {

void AddMemory(const PassMemory& memory, TraceWriter::Values& values) {
  values.emplace_back("nodes made", memory.nodes);
  values.emplace_back("nodes kept", memory.kept);
  values.emplace_back("tensor bytes", memory.tensor_bytes);
  values.emplace_back("peak bytes", memory.peak_bytes);
}

std::string HistoryTrace(const History& history) {
  constexpr int kThread = 1;
  TraceWriter trace;
  trace.NameThread(kThread, "passes");
  const auto add_size = [&](int state, int64_t time) {
    if (!history.states[state].kept) return;
    const NodesMade size =
        CompareNodes(IRModule(), history.states[state].module);
    trace.Counter("nodes", time, {{"nodes", size.made}});
    trace.Counter("bytes", time,
                  {{"nodes", size.made_bytes}, {"tensors", size.made_tensors}});
  };
  const int64_t began =
      history.executions.empty() ? 0 : history.executions[0].start;
  if (!history.states.empty()) add_size(0, 0);
  for (const HistoryExecution& execution : history.executions) {
    const int64_t start = execution.start - began;
    TraceWriter::Values values = {
        {"number", execution.number},
        {"changed", execution.changed()},
        {"failed", execution.end == HistoryExecution::End::kFailed}};
    if (execution.memory.has_value()) AddMemory(*execution.memory, values);
    trace.Slice(execution.pass, "pass", kThread, start, execution.total,
                values);
    if (execution.changed()) {
      add_size(execution.after, start + execution.total);
    }
  }
  return std::move(trace).Finish();
}

}  // namespace baton
