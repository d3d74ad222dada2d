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
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/json.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

class OpCounter final : public ExprVisitor {
 public:
  OpCounts Take() const {
    OpCounts result;
    for (const auto& [op, count] : counts_) result[op->name()] = count;
    return result;
  }

 protected:
  void VisitCall(const CallNode* call) override {
    if (const OpNode* op = call->op_node()) ++counts_[op];
  }

 private:
  FlatHashMap<const OpNode*, int64_t> counts_;
};

}  // namespace

OpCounts CountOps(const IRModule& module) {
  OpCounter counter;
  for (const auto& definition : module.functions<Function>()) {
    counter.Visit(definition.function).IgnoreError();  // no hook fails
  }
  return counter.Take();
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
  std::string text = "[";
  for (const OpDiff& diff : diffs_) {
    absl::StrAppendFormat(
        &text, "%s{\"pass\":%s,\"number\":%d,\"depth\":%d,\"changes\":{",
        text.size() > 1 ? "," : "", JsonString(diff.pass), diff.number,
        diff.depth);
    const char* separator = "";
    for (const auto& [op, change] : diff.changes) {
      absl::StrAppendFormat(&text, "%s%s:%d", separator, JsonString(op),
                            change);
      separator = ",";
    }
    text += "}}";
  }
  return text + "]";
}

namespace {

struct OpDiffFlags {
  bool op_diff = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("op_diff", &OpDiffFlags::op_diff,
      FlagSpec{.help = "How each pass changed the calls of each operator.",
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
