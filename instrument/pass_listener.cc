#include "baton/instrument/pass_listener.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "baton/ir/pass_log.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

using internal::LogListener;

void PassListener::Before(const PassExecution& pass, uint8_t wanted) {
  // A thread that helps another one has a listener of its own already.
  LogListener* listener = internal::log_listeners;
  while (listener != nullptr && listener->owner != this) {
    listener = listener->next;
  }
  const bool added = listener == nullptr;
  if (added) {
    listener = &root_;
    root_ = {.owner = this, .log = &log_, .next = internal::log_listeners};
    internal::log_listeners = &root_;
  }
  saved_.push_back({listener, std::move(*listener), added});
  const bool changed = added || listener->wanted != wanted;
  listener->wanted = wanted;
  listener->pass = &pass.name();
  listener->pass_text = {};
  listener->execution = pass.number();
  if (changed) return internal::ListenersChanged();
  listener->log->origins.SetExecution(listener->execution);
}

void PassListener::After() {
  Saved saved = std::move(saved_.back());
  saved_.pop_back();
  LogListener& listener = *saved.listener;
  if (!saved.added) {
    const bool changed = listener.wanted != saved.before.wanted;
    listener.wanted = saved.before.wanted;
    listener.pass = saved.before.pass;
    listener.pass_text = std::move(saved.before.pass_text);
    listener.execution = saved.before.execution;
    if (changed) return internal::ListenersChanged();
    listener.log->origins.SetExecution(listener.execution);
    return;
  }
  for (LogListener** at = &internal::log_listeners; *at != nullptr;
       at = &(*at)->next) {
    if (*at != saved.listener) continue;
    *at = saved.listener->next;
    internal::ListenersChanged();
    return;
  }
}

std::map<std::string, std::pair<const Statistic*, int64_t>>
PassListener::CountsByName() const {
  std::map<std::string, std::pair<const Statistic*, int64_t>> result;
  for (const auto& [statistic, n] : log_.counts) {
    result[absl::StrCat(statistic->pass(), ".", statistic->name())] = {
        statistic, n};
  }
  return result;
}

bool PassListener::IsComplete(const PassExecution& pass) {
  for (const PassExecution* outer = pass.parent(); outer != nullptr;
       outer = outer->parent()) {
    if (outer->info().granularity != PassGranularity::kSequence) return false;
  }
  return true;
}

}  // namespace baton
