#include "baton/ir/pass_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/origin.h"

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

RemarkText::RemarkText(absl::string_view text)
    : size_(static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX))),
      is_shared_(true) {
  char* const memory =
      static_cast<char*>(::operator new(sizeof(Holders) + size_));
  new (memory) Holders(1);
  if (size_ > 0) std::memcpy(memory + sizeof(Holders), text.data(), size_);
  data_ = memory + sizeof(Holders);
}

RemarkText::Holders& RemarkText::holders() const {
  return *std::launder(
      reinterpret_cast<Holders*>(const_cast<char*>(data_ - sizeof(Holders))));
}

void RemarkText::Release() {
  if (holders().fetch_sub(1) != 1) return;
  ::operator delete(const_cast<char*>(data_ - sizeof(Holders)));
}

RemarkValue::RemarkValue(const AttrValue& value) {
  const auto* text = value.As<std::string>();
  text_ = text != nullptr ? *text : value.ToString();
}

std::string RemarkValue::ToString() const {
  return is_number_ ? absl::StrCat(number_) : std::string(text_.view());
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

void OriginLog::MakeRoomAndAdd(OriginSink& sink, Origin origin) {
  auto& log = static_cast<OriginLog&>(sink);
  if (log.runs_.empty() || log.runs_.back().execution != log.execution_) {
    log.runs_.push_back({log.execution_, log.size()});
  }
  if (log.next_ == log.end_) {
    log.pieces_.push_back(std::make_unique_for_overwrite<Origin[]>(kPiece));
    log.next_ = log.pieces_.back().get();
    log.end_ = log.next_ + kPiece;
  }
  log.limit_ = log.end_;
  *log.next_++ = origin;
}

void OriginLog::Append(OriginLog other) {
  const int64_t execution = execution_;
  if (empty()) {
    *this = std::move(other);
    return SetExecution(execution);
  }
  for (size_t r = 0; r < other.runs_.size(); ++r) {
    const Run& run = other.runs_[r];
    const size_t end =
        r + 1 < other.runs_.size() ? other.runs_[r + 1].begin : other.size();
    SetExecution(run.execution);
    for (size_t i = run.begin; i < end; ++i) Add(other[i]);
  }
  SetExecution(execution);
}

OriginLog OriginLog::Take() {
  OriginLog result = std::move(*this);
  SetExecution(result.execution_);
  return result;
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

namespace internal {

// The first from `listener` on that wants remarks of that kind.
static LogListener* FirstWanting(LogListener* listener, RemarkKind kind) {
  while (listener != nullptr &&
         (listener->wanted & static_cast<uint8_t>(kind)) == 0) {
    listener = listener->next;
  }
  return listener;
}

template <typename... Args>
static Remark& AddRemark(LogListener& listener, Args&&... args) {
  std::vector<Remark>& remarks = listener.log->remarks;
  if (remarks.size() == remarks.capacity()) {
    remarks.reserve(2 * remarks.size() + 256);
  }
  if (listener.pass_text.view().empty()) listener.pass_text = *listener.pass;
  Remark& remark = remarks.emplace_back(std::forward<Args>(args)...);
  remark.pass = listener.pass_text;
  remark.execution = listener.execution;
  return remark;
}

Remark* BeginRemark(RemarkKind kind) {
  LogListener* const first = FirstWanting(log_listeners, kind);
  if (first == nullptr) return nullptr;
  Remark& remark = AddRemark(*first);
  remark.kind = kind;
  return &remark;
}

void EndRemark(const Remark& remark) {
  if (log_listeners->next == nullptr) return;
  LogListener* l = FirstWanting(log_listeners, remark.kind);
  while ((l = FirstWanting(l->next, remark.kind)) != nullptr) {
    AddRemark(*l, remark);
  }
}

void AddToLogs(const Statistic* statistic, int64_t n) {
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kCounts) != 0) l->log->counts[statistic] += n;
  }
}

// For several listeners, or one that holds nodes; one that does not gives its
// own log.
static void AddOriginToLogs(OriginSink& /*sink*/, Origin origin) {
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kOrigins) == 0) continue;
    l->log->origins.Add(origin);
    if (!l->holds) continue;
    for (const Node* node : {origin.made(), origin.from()}) {
      l->log->held.push_back(Expr(static_cast<const ExprNode*>(node)));
    }
  }
}
static thread_local constinit OriginSink all_logs(&AddOriginToLogs);

void ListenersChanged() {
  bool any = false;
  for (LogListener* l = log_listeners; l != nullptr; l = l->next) {
    if ((l->wanted & LogListener::kOrigins) == 0) continue;
    l->log->origins.SetExecution(l->execution);
    any = true;
  }
  if (!any) {
    origin_sink = nullptr;
  } else if (log_listeners->next == nullptr && !log_listeners->holds) {
    origin_sink = &log_listeners->log->origins;
  } else {
    origin_sink = &all_logs;
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

void LogRemark(Remark&& remark) {
  LogListener* const first =
      internal::FirstWanting(internal::log_listeners, remark.kind);
  if (first == nullptr) return;
  internal::EndRemark(internal::AddRemark(*first, std::move(remark)));
}

}  // namespace baton
