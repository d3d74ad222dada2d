#include "baton/ir/pass_log.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_rebuild.h"

namespace baton {

using internal::LogListener;

absl::string_view RemarkKindName(RemarkKind kind) {
  switch (kind) {
    case RemarkKind::kPassed:
      return "passed";
    case RemarkKind::kMissed:
      return "missed";
    case RemarkKind::kAnalysis:
      return "analysis";
  }
  return "";
}

Statistic::Statistic(const char* pass, const char* name, const char* doc,
                     CodeLocation location)
    : pass_(pass), name_(name), doc_(doc) {
  Statistics().Register(absl::StrCat(pass, ".", name), this, location);
}

Registry<const Statistic*>& Statistics() {
  static auto& registry = *Registry<const Statistic*>::NewGlobal("statistic");
  return registry;
}

void PassLog::Append(PassLog other) {
  if (remarks.empty()) {
    remarks = std::move(other.remarks);
  } else {
    remarks.insert(remarks.end(),
                   std::make_move_iterator(other.remarks.begin()),
                   std::make_move_iterator(other.remarks.end()));
  }
  // Sums do not depend on the order.
  for (const auto& [statistic, n] : other.counts) counts[statistic] += n;
  for (const OriginRun& run : other.origin_runs) {
    AddRun(run.execution, origins.size() + run.begin);
  }
  origins.insert(origins.end(), std::make_move_iterator(other.origins.begin()),
                 std::make_move_iterator(other.origins.end()));
}

void LogRemark(Remark remark) {
  const auto bit = static_cast<uint8_t>(remark.kind);
  for (LogListener* l = internal::log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & bit) == 0) continue;
    Remark& told = l->log->remarks.emplace_back(remark);
    told.pass = *l->pass;
    told.execution = l->execution;
  }
}

namespace internal {

void AddToLogs(const Statistic* statistic, int64_t n) {
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kCounts) != 0) l->log->counts[statistic] += n;
  }
}

static void AddOriginToLogs(const Expr& made, const Expr& from) {
  if (made == from || !made.defined() || !from.defined()) return;
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kOrigins) != 0) {
      l->log->AddRun(l->execution, l->log->origins.size());
      l->log->origins.emplace_back(made, from);
    }
  }
}

void ListenersChanged() {
  origin_sink = AnyWants(LogListener::kOrigins) ? &AddOriginToLogs : nullptr;
}

ForkedLogs::ForkedLogs(const LogListener* listeners) {
  for (const LogListener* l = listeners; l != nullptr; l = l->next) {
    listeners_.push_back(*l);
  }
  logs_.resize(listeners_.size());
}

ForkedLogs::Use::Use(ForkedLogs& logs) : outer_(log_listeners) {
  const size_t n = logs.listeners_.size();
  for (size_t i = 0; i < n; ++i) {
    logs.listeners_[i].log = &logs.logs_[i];
    logs.listeners_[i].next = i + 1 < n ? &logs.listeners_[i + 1] : nullptr;
  }
  log_listeners = n == 0 ? nullptr : &logs.listeners_[0];
  ListenersChanged();
}

ForkedLogs::Use::~Use() {
  log_listeners = outer_;
  ListenersChanged();
}

void ForkedLogs::Join(LogListener* listeners) {
  size_t i = 0;
  for (LogListener* l = listeners; l != nullptr && i < logs_.size();
       l = l->next, ++i) {
    l->log->Append(std::move(logs_[i]));
  }
}

}  // namespace internal
}  // namespace baton
