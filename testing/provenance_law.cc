#include "baton/testing/provenance_law.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/provenance.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton::testing {

void StudyProvenance(const Pass& pass, const IRModule& module,
                     ProvenanceSurvey& survey) {
  const auto recorder = std::make_shared<HistoryRecorder>();
  const PassContext context({.opt_level = 4, .instruments = {recorder}});
  // Failures are the business of other tests.
  context.Run([&] { return pass(module); }).status().IgnoreError();
  const History& history = recorder->history();
  const Provenance provenance(history);
  NodeSet seen;
  const auto check = [&](const ExprNode* node) {
    if (!HasOrigin(node)) return;
    if (provenance.FirstStateOf(node) == 0) {
      if (!provenance.PlaceOf(node).has_value()) {
        survey.without_place.insert(NodeText::Head(Expr(node)));
      }
      return;
    }
    ++survey.made;
    const Provenance::Making making = provenance.MakingOf(node);
    const std::vector<const ExprNode*> sources = provenance.SourcesOf(node);
    const auto execution = history.Find(making.execution);
    if (execution.ok() && !making.from.empty() && !sources.empty()) return;
    survey.unexplained.insert(
        absl::StrCat(execution.ok() ? (*execution)->pass : "nobody", ": ",
                     NodeText::Head(Expr(node))));
  };
  for (const HistoryState& state : history.states) {
    for (const IRModule::Definition& definition : state.module.functions()) {
      VisitAtAnyLevel(definition.function, seen, check);
    }
  }
}

}  // namespace baton::testing
