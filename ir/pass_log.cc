#include "baton/ir/pass_log.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

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

void OriginLog::BeginRun(int64_t execution) {
  execution_ = execution;
  runs_.push_back({execution, size()});
}

void OriginLog::AddPiece() {
  pieces_.push_back(std::make_unique_for_overwrite<Origin[]>(kPiece));
  next_ = pieces_.back().get();
  end_ = next_ + kPiece;
}

void OriginLog::Append(OriginLog other) {
  if (empty()) {
    *this = std::move(other);
    return;
  }
  for (size_t r = 0; r < other.runs_.size(); ++r) {
    const Run& run = other.runs_[r];
    const size_t end =
        r + 1 < other.runs_.size() ? other.runs_[r + 1].begin : other.size();
    for (size_t i = run.begin; i < end; ++i) Add(run.execution, other[i]);
  }
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
  origins.Append(std::move(other.origins));
  held.insert(held.end(), std::make_move_iterator(other.held.begin()),
              std::make_move_iterator(other.held.end()));
}

void LogRemark(Remark remark) {
  const auto bit = static_cast<uint8_t>(remark.kind);
  LogListener* last = nullptr;  // of those that want it
  const auto tell = [](LogListener& listener, auto&& told) {
    std::vector<Remark>& remarks = listener.log->remarks;
    if (remarks.size() == remarks.capacity()) {
      remarks.reserve(4 * remarks.size() + 64);
    }
    remarks.push_back(std::forward<decltype(told)>(told));
    remarks.back().pass = *listener.pass;
    remarks.back().execution = listener.execution;
  };
  for (LogListener* l = internal::log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & bit) == 0) continue;
    if (last != nullptr) tell(*last, remark);
    last = l;
  }
  if (last != nullptr) tell(*last, std::move(remark));
}

namespace internal {

void AddToLogs(const Statistic* statistic, int64_t n) {
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kCounts) != 0) l->log->counts[statistic] += n;
  }
}

static void AddOriginToLogs(const ExprNode* made, const ExprNode* from,
                            bool is_first) {
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kOrigins) == 0) continue;
    l->log->origins.Add(l->execution, Origin(made, from, is_first));
    if (!l->holds) continue;
    l->log->held.push_back(Expr(made));
    l->log->held.push_back(Expr(from));
  }
}

// The same where one listens, and holds nothing: the usual case.
static void AddOriginToLog(const ExprNode* made, const ExprNode* from,
                           bool is_first) {
  const LogListener& listener = *log_listeners;
  listener.log->origins.Add(listener.execution, Origin(made, from, is_first));
}

void ListenersChanged() {
  if (!AnyWants(LogListener::kOrigins)) {
    origin_sink = nullptr;
  } else if (log_listeners->next == nullptr && !log_listeners->holds) {
    origin_sink = &AddOriginToLog;
  } else {
    origin_sink = &AddOriginToLogs;
  }
}

ForkedLogs::ForkedLogs(const LogListener* listeners) {
  for (const LogListener* l = listeners; l != nullptr; l = l->next) {
    listeners_.push_back(*l);
    listeners_.back().holds = true;
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
