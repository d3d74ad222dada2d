#include "baton/instrument/op_differ.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

OpCounts CountOps(const IRModule& module) {
  FlatHashMap<const OpNode*, int64_t> counts;
  NodeSet seen;
  for (const IRModule::Definition& definition : module.functions()) {
    VisitAtAnyLevel(definition.function, seen, [&](const ExprNode* node) {
      const ExprNode* callee = CalleeOf(node);
      if (callee != nullptr && OpNode::ClassOf(callee->kind())) {
        ++counts[static_cast<const OpNode*>(callee)];
      }
    });
  }
  OpCounts result;
  for (const auto& [op, count] : counts) result[op->name()] = count;
  return result;
}

const OpCounts& OpDiffer::Count(const IRModule& module) {
  if (!module.SameAs(counted_)) {
    counts_ = CountOps(module);
    counted_ = module;
  }
  return counts_;
}

absl::Status OpDiffer::EnterPassContext() {
  // In a context inside a pass that an outer one watches, recording goes on.
  if (before_.empty()) diffs_.clear();
  return absl::OkStatus();
}

absl::Status OpDiffer::ExitPassContext() {
  counted_ = IRModule();
  counts_.clear();
  return absl::OkStatus();
}

absl::Status OpDiffer::RunBeforePass(const IRModule& module,
                                     const PassExecution& /*pass*/) {
  before_.push_back(Count(module));
  return absl::OkStatus();
}

absl::Status OpDiffer::RunAfterPass(const IRModule& module,
                                    const PassExecution& pass) {
  const OpCounts before = std::move(before_.back());
  before_.pop_back();
  OpCounts changes = Count(module);
  for (const auto& [op, count] : before) changes[op] -= count;
  std::erase_if(changes, [](const auto& entry) { return entry.second == 0; });
  if (!changes.empty()) {
    diffs_.push_back({.depth = static_cast<int>(before_.size()),
                      .pass = pass.name(),
                      .number = pass.number(),
                      .changes = std::move(changes)});
  }
  return absl::OkStatus();
}

void OpDiffer::PassFailed(const IRModule& /*module*/,
                          const PassExecution& /*pass*/,
                          const absl::Status& /*error*/) {
  before_.pop_back();
}

std::string OpDiffer::ToString() const {
  std::string text;
  for (const OpDiff& diff : diffs_) {
    absl::StrAppendFormat(&text, "%d %s", diff.depth, diff.pass);
    const char* separator = " ";
    for (const auto& [op, change] : diff.changes) {
      absl::StrAppendFormat(&text, "%s%s %+d", separator, op, change);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

std::string OpDiffer::ToJson() const {
  JsonWriter json;
  json.BeginArray();
  for (const OpDiff& diff : diffs_) {
    json.BeginObject().Fields("pass", diff.pass, "number", diff.number, "depth",
                              diff.depth);
    json.Key("changes").BeginObject();
    for (const auto& [op, change] : diff.changes) json.Fields(op, change);
    json.End().End();
  }
  json.End();
  return std::move(json).Finish();
}

namespace {

struct OpDiffFlags {
  bool op_diff = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("op_diff", &OpDiffFlags::op_diff,
      FlagSpec{.help = "Reports how each pass changed the number of calls of "
                       "each operator.",
               .group = kReportFlags});
  }
};

InstrumentFactory::Made MakeOpDiffer(const OpDiffFlags& flags,
                                     const InstrumentRun& run) {
  if (!flags.op_diff && run.in_json == nullptr) return nullptr;
  auto differ = std::make_shared<OpDiffer>();
  differ->set_name("--op_diff");
  if (run.in_json != nullptr) {
    run.in_json("op_diff", [differ] { return differ->ToJson(); });
  }
  if (flags.op_diff) {
    run.in_report([differ] { return differ->ToString(); });
    run.at_end([differ]() -> std::string {
      if (!differ->diffs().empty()) return "";
      return "--op_diff: no pass changed the number of calls of an operator\n";
    });
  }
  return differ;
}

BATON_REGISTER_INSTRUMENT("op_diff", "Counts the calls of each operator.",
                          MakeOpDiffer, InstrumentPhase::kMeasure);

}  // namespace

}  // namespace baton
