#include "baton/instrument/history.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/expr.h"

namespace baton {
namespace {

int64_t BytesOf(const Node* node) {
  return static_cast<int64_t>(internal::ClassOf(node).bytes(node));
}

// The bytes of a constant; 0 for other nodes.
int64_t TensorBytes(const Node* node) {
  if (!relay::ConstantNode::ClassOf(node->kind())) return 0;
  return static_cast<const relay::ConstantNode*>(node)->value().byte_size();
}

}  // namespace

std::string PlaceText(const HistoryPlace& place) {
  if (place.line == 0) return place.source;
  return absl::StrCat(place.source, ":", place.line, ":", place.column);
}

absl::StatusOr<const HistoryExecution*> History::Find(int64_t number) const {
  const auto found = std::lower_bound(
      executions.begin(), executions.end(), number,
      [](const HistoryExecution& e, int64_t n) { return e.number < n; });
  if (found != executions.end() && found->number == number) return &*found;
  if (executions.empty()) {
    return absl::NotFoundError("the history has no executions");
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no execution ", number, ": the history has ",
      executions.front().number, " to ", executions.back().number));
}

absl::StatusOr<int> History::StateAfter(int64_t number) const {
  if (number == 0 && !states.empty()) return 0;
  BATON_ASSIGN_OR_RETURN(const HistoryExecution* execution, Find(number));
  if (execution->after >= 0) return execution->after;
  return absl::FailedPreconditionError(absl::StrCat(
      "execution ", number, " (", execution->pass, ") ",
      execution->end == HistoryExecution::End::kFailed ? "failed"
                                                       : "did not end",
      ": there is no module after it"));
}

absl::StatusOr<IRModule> History::ModuleAfter(int64_t number) const {
  BATON_ASSIGN_OR_RETURN(const int state, StateAfter(number));
  if (states[state].kept) return states[state].module;
  return absl::ResourceExhaustedError(
      absl::StrCat("the module after execution ", number,
                   " was not kept: the history has a budget of bytes"));
}

template <typename Fn>
void BytesHeld::Walk(const Node* root, Fn&& fn) {
  const auto push = [this](const Node* node) {
    if (seen_.Insert(node)) stack_.push_back(node);
  };
  push(root);
  while (!stack_.empty()) {
    const Node* node = stack_.back();
    stack_.pop_back();
    fn(node);
    ForEachReference(node, push);
  }
}

int64_t BytesHeld::Add(const IRModule& module) {
  int64_t bytes = 0;
  const auto add = [&bytes](const Node* node) {
    bytes += BytesOf(node) + TensorBytes(node);
  };
  for (const TypeDefinition& type : module.types()) Walk(type.get(), add);
  for (const IRModule::Definition& definition : module.functions()) {
    Walk(definition.function.get(), add);
  }
  return bytes;
}

NodesMade CompareNodes(const IRModule& before, const IRModule& after) {
  NodesMade result;
  if (before.SameAs(after)) return result;
  BytesHeld old_nodes;
  int64_t num_old = 0;
  int64_t old_bytes = 0;
  int64_t old_tensors = 0;
  for (const IRModule::Definition& definition : before.functions()) {
    const BaseFunc now = after.Find(definition.var->name());
    if (now == definition.function) continue;
    if (!now.defined()) result.functions.push_back(definition.var->name());
    old_nodes.Walk(definition.function.get(), [&](const Node* node) {
      if (SpanNode::ClassOf(node->kind())) return;
      ++num_old;
      old_bytes += BytesOf(node);
      old_tensors += TensorBytes(node);
    });
  }
  BytesHeld new_nodes;
  int64_t kept_bytes = 0;
  int64_t kept_tensors = 0;
  for (const IRModule::Definition& definition : after.functions()) {
    if (before.Find(definition.var->name()) == definition.function) continue;
    result.functions.push_back(definition.var->name());
    new_nodes.Walk(definition.function.get(), [&](const Node* node) {
      if (SpanNode::ClassOf(node->kind())) return;
      if (old_nodes.seen_.Contains(node)) {
        ++result.kept;
        kept_bytes += BytesOf(node);
        kept_tensors += TensorBytes(node);
      } else {
        ++result.made;
        result.made_bytes += BytesOf(node);
        result.made_tensors += TensorBytes(node);
      }
    });
  }
  result.dropped = num_old - result.kept;
  result.dropped_bytes = old_bytes - kept_bytes;
  result.dropped_tensors = old_tensors - kept_tensors;
  return result;
}

}  // namespace baton
