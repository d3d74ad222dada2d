#include "baton/instrument/trace_writer.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "baton/base/json.h"

namespace baton {
namespace {

// The format counts microseconds.
JsonFixed Microseconds(int64_t nanoseconds) {
  return {static_cast<double>(nanoseconds) / 1000, 3};
}

}  // namespace

TraceWriter::TraceWriter() {
  json_.BeginObject().Fields("displayTimeUnit", "ns").Key("traceEvents");
  json_.BeginArray();
}

JsonWriter& TraceWriter::Begin(absl::string_view phase,
                               absl::string_view name) {
  return json_.NewLine().BeginObject().Fields("ph", phase, "pid", 1, "name",
                                              name);
}

void TraceWriter::End(const Values& values) {
  if (!values.empty()) {
    json_.Key("args").BeginObject();
    for (const auto& [name, value] : values) json_.Fields(name, value);
    json_.End();
  }
  json_.End();
}

void TraceWriter::NameThread(int thread, absl::string_view name) {
  Begin("M", "thread_name").Fields("tid", thread);
  json_.Key("args").Object("name", name).End();
}

void TraceWriter::Slice(absl::string_view name, absl::string_view category,
                        int thread, int64_t start, int64_t duration,
                        const Values& values) {
  Begin("X", name).Fields("cat", category, "tid", thread, "ts",
                          Microseconds(start), "dur", Microseconds(duration));
  End(values);
}

void TraceWriter::Counter(absl::string_view name, int64_t time,
                          const Values& values) {
  Begin("C", name).Fields("ts", Microseconds(time));
  End(values);
}

std::string TraceWriter::Finish() && {
  json_.NewLine().End().End();
  return std::move(json_).Finish() + "\n";
}

}  // namespace baton
