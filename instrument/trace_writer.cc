#include "baton/instrument/trace_writer.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/json.h"

namespace baton {
namespace {

// The format counts microseconds.
std::string Microseconds(int64_t nanoseconds) {
  return absl::StrFormat("%.3f", static_cast<double>(nanoseconds) / 1000);
}

}  // namespace

void TraceWriter::Begin(absl::string_view phase, absl::string_view name) {
  absl::StrAppend(&events_, events_.empty() ? "\n" : ",\n", "{\"ph\":\"", phase,
                  "\",\"pid\":1,\"name\":", JsonString(name));
}

void TraceWriter::End(absl::string_view key, const Values& values) {
  if (!values.empty()) {
    absl::StrAppend(&events_, ",\"", key, "\":{");
    const char* separator = "";
    for (const auto& [name, value] : values) {
      absl::StrAppend(&events_, separator, JsonString(name), ":", value);
      separator = ",";
    }
    events_ += "}";
  }
  events_ += "}";
}

void TraceWriter::NameThread(int thread, absl::string_view name) {
  Begin("M", "thread_name");
  absl::StrAppend(&events_, ",\"tid\":", thread,
                  ",\"args\":{\"name\":", JsonString(name), "}}");
}

void TraceWriter::Slice(absl::string_view name, absl::string_view category,
                        int thread, int64_t start, int64_t duration,
                        const Values& values) {
  Begin("X", name);
  absl::StrAppend(&events_, ",\"cat\":", JsonString(category),
                  ",\"tid\":", thread, ",\"ts\":", Microseconds(start),
                  ",\"dur\":", Microseconds(duration));
  End("args", values);
}

void TraceWriter::Counter(absl::string_view name, int64_t time,
                          const Values& values) {
  Begin("C", name);
  absl::StrAppend(&events_, ",\"ts\":", Microseconds(time));
  End("args", values);
}

std::string TraceWriter::Finish() && {
  return absl::StrCat("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", events_,
                      "\n]}\n");
}

}  // namespace baton
