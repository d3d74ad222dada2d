#include "baton/tools/run_profile.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/base/json.h"
#include "baton/ir/op.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"

namespace baton {
namespace {

JsonFixed Us(double us) { return {us, 3}; }

}  // namespace

void RunProfile::Computed(const ExprNode& node) {
  const absl::Time begin = last_;
  const absl::Time end = absl::Now();
  last_ = end;
  if (node.kind() != relay::ExprKind::kCall) return;
  const OpNode* op = static_cast<const relay::CallNode&>(node).op_node();
  if (op == nullptr) return;
  calls_.push_back({op->name(), onnx::OriginName(node.span()),
                    absl::ToDoubleMicroseconds(begin - first_),
                    absl::ToDoubleMicroseconds(end - begin)});
  last_ = absl::Now();  // what was done here is no node's time
}

absl::StatusOr<std::string> RunProfile::Report(absl::string_view format) const {
  if (format == "text") return Text();
  if (format == "json") return Json();
  if (format == "trace") return Trace();
  return absl::InvalidArgumentError(
      absl::StrCat("a profile is text, json or trace, not ", format));
}

std::vector<RunProfile::OperatorTime> RunProfile::Operators() const {
  std::map<std::string, OperatorTime> by_name;
  for (const CallTime& call : calls_) {
    OperatorTime& time = by_name[call.op];
    time.name = call.op;
    ++time.calls;
    time.us += call.us;
  }
  std::vector<OperatorTime> result;
  for (auto& [name, time] : by_name) result.push_back(std::move(time));
  std::stable_sort(
      result.begin(), result.end(),
      [](const OperatorTime& a, const OperatorTime& b) { return a.us > b.us; });
  return result;
}

std::string RunProfile::Text() const {
  constexpr size_t kSlowest = 10;
  double total = 0;
  for (const CallTime& call : calls_) total += call.us;
  const double percent = total > 0 ? 100 / total : 0;
  std::string out = absl::StrFormat("%d calls of operators: %.3f ms\n",
                                    calls_.size(), total / 1e3);
  for (const OperatorTime& time : Operators()) {
    absl::StrAppendFormat(&out, "%10.3f ms %5.1f%% %6d x %s\n", time.us / 1e3,
                          time.us * percent, time.calls, time.name);
  }
  std::vector<const CallTime*> slowest;
  for (const CallTime& call : calls_) slowest.push_back(&call);
  std::stable_sort(
      slowest.begin(), slowest.end(),
      [](const CallTime* a, const CallTime* b) { return a->us > b->us; });
  slowest.resize(std::min(slowest.size(), kSlowest));
  absl::StrAppend(&out, "slowest calls:\n");
  for (const CallTime* call : slowest) {
    absl::StrAppendFormat(&out, "%10.3f ms %5.1f%% %s %s\n", call->us / 1e3,
                          call->us * percent, call->op, call->origin);
  }
  return out;
}

std::string RunProfile::Json() const {
  double total = 0;
  for (const CallTime& call : calls_) total += call.us;
  JsonWriter json;
  json.BeginObject().Fields("version", 1, "total_us", Us(total));
  json.Key("operators").BeginArray();
  for (const OperatorTime& time : Operators()) {
    json.Object("name", time.name, "calls", time.calls, "us", Us(time.us));
  }
  json.End().Key("calls").BeginArray();
  for (const CallTime& call : calls_) {
    json.NewLine().Object("operator", call.op, "origin", call.origin,
                          "begin_us", Us(call.begin_us), "us", Us(call.us));
  }
  json.End().End();
  return std::move(json).Finish() + "\n";
}

void RunProfile::WriteTrace(absl::Time origin, JsonWriter& json) const {
  const double begin_us = absl::ToDoubleMicroseconds(first_ - origin);
  for (const CallTime& call : calls_) {
    json.NewLine().BeginObject().Fields(
        "name", call.op, "cat", "operator", "ph", "X", "pid", 1, "tid", 1, "ts",
        Us(begin_us + call.begin_us), "dur", Us(call.us));
    json.Key("args").Object("origin", call.origin).End();
  }
}

std::string RunProfile::Trace() const {
  JsonWriter json;
  json.BeginObject().Key("traceEvents").BeginArray();
  WriteTrace(first_, json);
  json.End().End();
  return std::move(json).Finish() + "\n";
}

}  // namespace baton
