#include "baton/instrument/first_difference.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"

namespace baton {
namespace {

using relay::Value;

// The values of the nodes of a function.
class NodeValues {
 public:
  NodeValues(const IRModule& module, absl::string_view function,
             absl::Span<const Value> args, relay::EvaluateOptions options) {
    const relay::Function main = module.Find<relay::Function>(function);
    for (size_t i = 0; main.defined() && i < args.size(); ++i) {
      Note(*main->params()[i], args[i]);
    }
    options.observe = [this](const ExprNode& node, const Value& value) {
      Note(node, value);
    };
    relay::EvaluateFunction(module, function, args, options)
        .status()
        .IgnoreError();
  }

  // Null if it was not computed.
  const Value* Find(const Expr& node) const {
    const auto it = values_.find(node.get());
    return it == values_.end() ? nullptr : &it->second.second;
  }
  // In the order of evaluation.
  size_t Number(const Expr& node) const { return values_.at(node.get()).first; }

 private:
  void Note(const ExprNode& node, const Value& value) {
    values_.try_emplace(&node, values_.size(), value);
  }

  FlatHashMap<const ExprNode*, std::pair<size_t, Value>> values_;
};

// `%5 = add(%4, %x)`, or the name alone of a variable.
std::string TextOf(const IRModule& module, const Expr& node) {
  const NodeText text(module);
  return node.Is<relay::VarNode>() ? text.Name(node) : text.Line(node);
}

}  // namespace

std::string FirstDifference(const IRModule& before, const IRModule& after,
                            absl::string_view function,
                            absl::Span<const Value> args, const PassInfo& info,
                            const relay::EvaluateOptions& options) {
  const NodeValues was(before, function, args, options);
  const NodeValues is(after, function, args, options);
  const StructuralDiff diff = DiffStructure(before, after);
  const NodeChange* first = nullptr;
  Expr first_old;
  Expr first_new;
  std::string how;
  for (const NodeChange& change : diff.changes) {
    const Expr& old_node =
        change.before.defined() ? change.before : change.place;
    const Expr& new_node = change.after.defined() ? change.after : change.place;
    if (!old_node.defined() || !new_node.defined()) continue;
    const Value* old_value = was.Find(old_node);
    const Value* new_value = is.Find(new_node);
    if (old_value == nullptr || new_value == nullptr) continue;
    if (first != nullptr && is.Number(new_node) >= is.Number(first_new)) {
      continue;
    }
    const absl::Status same =
        CompareValues(*old_value, *new_value, info, {.name = "its value"});
    if (same.ok() || absl::IsUnimplemented(same)) continue;
    first = &change;
    first_old = old_node;
    first_new = new_node;
    how = std::string(same.message());
  }
  if (first == nullptr) return "";
  return absl::StrCat("the first value that differs: `",
                      TextOf(after, first_new), "` in place of `",
                      TextOf(before, first_old), "`: ", how);
}

}  // namespace baton
