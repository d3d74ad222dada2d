// TraceWriter: writes traces in the Trace Event Format, which ui.perfetto.dev
// and chrome://tracing open:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

#ifndef BATON_INSTRUMENT_TRACE_WRITER_H_
#define BATON_INSTRUMENT_TRACE_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/json.h"

namespace baton {

// Times are in nanoseconds since the trace began. Slices of one thread must
// nest.
class TraceWriter {
 public:
  // A value of a slice or a counter.
  using Values = std::vector<std::pair<absl::string_view, int64_t>>;

  TraceWriter();

  void NameThread(int thread, absl::string_view name);
  // `category`: `pass`, `function` or `instrument`.
  void Slice(absl::string_view name, absl::string_view category, int thread,
             int64_t start, int64_t duration, const Values& values = {});
  // Sets the counter from `time` on; the viewer stacks several values.
  void Counter(absl::string_view name, int64_t time, const Values& values);

  // JSON and a line feed.
  std::string Finish() &&;

 private:
  JsonWriter& Begin(absl::string_view phase, absl::string_view name);
  void End(const Values& values);

  JsonWriter json_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_TRACE_WRITER_H_
