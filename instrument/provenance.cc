#include "baton/instrument/provenance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/node_kind.h"

namespace baton {

bool HasOrigin(const ExprNode* node) {
  return node->kind() != relay::ExprKind::kOp &&
         node->kind() != relay::ExprKind::kGlobalVar &&
         node->kind() != relay::ExprKind::kConstructor;
}

Provenance::Provenance(const History& history)
    : history_(history), states_(history.states.size()) {
  for (size_t s = 0; s < history.states.size(); ++s) {
    if (!history.states[s].kept) lost_states_ = true;
    for (const auto& definition : history.states[s].module.functions()) {
      Meet(static_cast<int>(s), definition.function.get());
    }
  }
  const std::vector<HistoryExecution>& executions = history.executions;
  const auto told_before = [&history](const HistoryExecution& execution) {
    const size_t n = history.states[execution.before].num_origins;
    return n == SIZE_MAX ? 0 : n;
  };
  for (const HistoryExecution& execution : executions) {
    StateFacts& facts = states_[execution.before];
    if (facts.begun != 0 || execution.parent < 0) continue;
    const HistoryExecution& outer = executions[execution.parent];
    facts = {.maker = outer.number,
             .begun = execution.number - 1,
             .since = told_before(outer)};
  }
  for (size_t e = 0; e < executions.size(); ++e) {  // the innermost comes last
    if (!executions[e].changed()) continue;
    size_t last = e;
    while (last + 1 < executions.size() &&
           executions[last + 1].depth > executions[e].depth) {
      ++last;
    }
    states_[executions[e].after] = {.maker = executions[e].number,
                                    .begun = executions[last].number,
                                    .since = told_before(executions[e])};
  }
  earlier_.resize(history.origins.size());
  for (size_t i = 0; i < history.origins.size(); ++i) {
    uint32_t& last = last_[history.origins[i].made()];
    earlier_[i] = last;
    last = static_cast<uint32_t>(i) + 1;
  }
  for (const auto& [node, place] : history.places) {
    places_[node.get()] = &place;
  }
}

// Users before what they use.
void Provenance::Meet(int state, const ExprNode* root) {
  std::vector<const ExprNode*> met;
  VisitAtAnyLevel(Expr(root), met_, [&](const ExprNode* node) {
    facts_[node] = {state, nullptr};
    met.push_back(node);
  });
  for (size_t i = met.size(); i-- > 0;) {
    ForEachChildAtAnyLevel(met[i], [&](const Expr& child) {
      Facts* facts = facts_.Find(child.get());
      if (facts->user == nullptr && facts->first_state == state) {
        facts->user = met[i];
      }
    });
  }
}

int Provenance::FirstStateOf(const Node* node) const {
  const Facts* facts = facts_.Find(node);
  return facts == nullptr ? -1 : facts->first_state;
}

int64_t Provenance::LastBefore(const Node* made, size_t limit) const {
  const uint32_t* last = last_.Find(made);
  uint32_t i = last == nullptr ? 0 : *last;
  while (i > limit) i = earlier_[i - 1];
  return int64_t{i} - 1;
}

size_t Provenance::LimitOf(int state) const {
  return std::min(history_.states[state].num_origins, history_.origins.size());
}

const OriginLog::Run& Provenance::RunOf(int64_t i) const {
  const std::vector<OriginLog::Run>& runs = history_.origins.runs();
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), i, [](int64_t at, const OriginLog::Run& run) {
        return at < static_cast<int64_t>(run.begin);
      });
  return *(after - 1);
}

int64_t Provenance::OriginOf(const Node* node, int state) const {
  // No origin of it was recorded; origins of its address are those of earlier
  // nodes.
  const bool is_from_file = history_.states[state].num_origins == SIZE_MAX;
  if (!is_from_file && !internal::HasRecordedOrigin(node)) return -1;
  const StateFacts& facts = states_[state];
  const auto since = static_cast<int64_t>(facts.since);
  const int64_t before = LastBefore(node, LimitOf(state));
  if (before >= since) return before;
  // The origins that the bodies of a function pass record on several threads
  // are added when all bodies have ended.
  int64_t late = -1;
  for (int64_t i = LastBefore(node, history_.origins.size()); i >= since;
       i = int64_t{earlier_[i]} - 1) {
    if (RunOf(i).execution > facts.begun) continue;
    if (late < 0 || RunOf(i).begin != RunOf(late).begin) late = i;
  }
  return late;
}

bool Provenance::WasOfState(const Node* node, int64_t i, int state) const {
  const int first = FirstStateOf(node);
  if (first < 0) return false;
  const size_t limit = history_.states[first].num_origins;
  // States hold their nodes.
  if (first == 0 || limit == SIZE_MAX || limit <= static_cast<size_t>(i)) {
    return true;
  }
  // It came to a state later: this very node, if it had been made already, and
  // none was made there since.
  if (!internal::HasRecordedOrigin(node)) return false;
  const int64_t before = LastBefore(node, static_cast<size_t>(i));
  if (before < static_cast<int64_t>(states_[state].since)) return false;
  for (int64_t later = LastBefore(node, LimitOf(first)); later > before;
       later = int64_t{earlier_[later]} - 1) {
    if (history_.origins[later].is_first()) return false;
  }
  return true;
}

std::vector<const ExprNode*> Provenance::FromOf(int64_t origin,
                                                int state) const {
  std::vector<const ExprNode*> result;
  // Nodes that came to no state stand for what they were made from: their
  // origins are on the way.
  const auto since = static_cast<int64_t>(states_[state].since);
  std::vector<int64_t> pending = {origin};
  FlatHashSet<int64_t> seen;
  NodeSet found;
  while (!pending.empty()) {
    int64_t i = pending.back();
    pending.pop_back();
    if (!seen.insert(i).second) continue;
    const auto begin = static_cast<int64_t>(RunOf(i).begin);
    const Node* made = history_.origins[i].made();
    for (; i >= begin; i = int64_t{earlier_[i]} - 1) {
      const Node* from = history_.origins[i].from();
      if (WasOfState(from, i, state)) {
        if (from != made && found.Insert(from)) {
          result.push_back(static_cast<const ExprNode*>(from));
        }
      } else {
        const int64_t before = LastBefore(from, static_cast<size_t>(i));
        if (before >= (lost_states_ ? 0 : since)) pending.push_back(before);
      }
      if (history_.origins[i].is_first()) break;  // of another node before it
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

Provenance::Making Provenance::MakingOf(const ExprNode* node) const {
  const int state = FirstStateOf(node);
  if (state <= 0) return {};
  Making making = {.execution = states_[state].maker};
  // True if a recorded origin of the node names other nodes.
  const auto has_origin = [&](const ExprNode* at) {
    const int64_t origin = OriginOf(at, state);
    if (origin < 0) return false;
    std::vector<const ExprNode*> from = FromOf(origin, state);
    if (from.empty()) return false;
    making = {.execution = RunOf(origin).execution, .from = std::move(from)};
    return true;
  };
  std::vector<const ExprNode*> without_origin;
  const ExprNode* at = node;
  while (at != nullptr) {
    if (const ExprNode* const* known = user_with_origin_.Find(at)) {
      at = *known;
      if (at != nullptr) has_origin(at);
      break;
    }
    if (has_origin(at)) break;
    without_origin.push_back(at);
    at = facts_.Find(at)->user;
  }
  for (const ExprNode* below : without_origin) user_with_origin_[below] = at;
  return making;
}

std::vector<const ExprNode*> Provenance::SourcesOf(const ExprNode* node) const {
  std::vector<const ExprNode*> sources;
  std::vector<const ExprNode*> pending = {node};
  NodeSet seen;
  while (!pending.empty()) {
    const ExprNode* at = pending.back();
    pending.pop_back();
    if (!seen.Insert(at)) continue;
    if (FirstStateOf(at) == 0) {
      sources.push_back(at);
      continue;
    }
    const Making making = MakingOf(at);
    pending.insert(pending.end(), making.from.rbegin(), making.from.rend());
  }
  return sources;
}

std::optional<HistoryPlace> Provenance::OwnPlaceOf(const ExprNode* node) const {
  if (const HistoryPlace* const* place = places_.Find(node)) return **place;
  const Span& span = node->span();
  if (!span.defined()) return std::nullopt;
  const Source::Position position = span->source().PositionOf(span->begin());
  return HistoryPlace{span->source().name(), position.line, position.column};
}

std::optional<HistoryPlace> Provenance::PlaceOf(const ExprNode* node) const {
  std::vector<const ExprNode*> pending = {node};
  NodeSet seen;
  for (size_t i = 0; i < pending.size(); ++i) {
    if (auto place = OwnPlaceOf(pending[i])) return place;
    ForEachChildAtAnyLevel(pending[i], [&](const Expr& child) {
      if (seen.Insert(child.get())) pending.push_back(child.get());
    });
  }
  for (const Facts* facts = facts_.Find(node);
       facts != nullptr && facts->user != nullptr;
       facts = facts_.Find(facts->user)) {
    if (auto place = OwnPlaceOf(facts->user)) return place;
  }
  return std::nullopt;
}

}  // namespace baton
