#include "baton/relay/transform/merge_composite.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_attr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/partition.h"
#include "baton/relay/pattern/pattern_table.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

using Patterns = std::vector<const CompositePattern*>;

// Logs the matches that became composite functions, and why patterns do not
// match the other calls of their operators.
class RemarkLogger {
 public:
  explicit RemarkLogger(const Patterns& patterns) {
    for (const CompositePattern* pattern : patterns) {
      patterns_.push_back({pattern, Matcher(pattern->pattern)});
    }
  }

  // `after` is what merging made of `before`. Walks over both side by side: a
  // composite function of `after` stands for its body.
  void Compare(const Function& before, const Function& after) {
    const IndexedGraph graph(after);
    const UseCounts uses(graph);
    struct Pair {
      const ExprNode* before;
      const ExprNode* after;
      bool inside;  // of a composite function that was made
    };
    NodeMap<Expr> args;  // of parameters of such functions
    NodeSet seen;
    std::vector<Pair> stack = {
        {before->body().get(), after->body().get(), false}};
    while (!stack.empty()) {
      auto [b, a, inside] = stack.back();
      stack.pop_back();
      if (const Expr* arg = args.Find(a)) {
        a = arg->get();
        inside = false;
      }
      if (!seen.Insert(a) || CompositeOf(b) != nullptr) continue;
      const std::string* composite = CompositeOf(a);
      if (composite != nullptr) {
        LogRemark({.kind = RemarkKind::kPassed,
                   .node = Expr(b),
                   .reason = "made a composite function",
                   .args = {{"pattern", *composite}}});
        const auto* call = static_cast<const CallNode*>(a);
        const auto* function = call->op().As<FunctionNode>();
        for (size_t i = 0; i < function->params().size(); ++i) {
          args[function->params()[i].get()] = call->arg(static_cast<int>(i));
        }
        stack.push_back({b, function->body().get(), true});
        continue;
      }
      if (!inside) EmitMissed(b, a, uses);
      std::vector<const ExprNode*> children;
      ForEachChild(a, [&](const Expr& e) { children.push_back(e.get()); });
      size_t k = 0;
      ForEachChild(b, [&, inside = inside](const Expr& child) {
        stack.push_back({child.get(), children[k++], inside});
      });
    }
  }

 private:
  struct Tried {
    const CompositePattern* pattern;
    Matcher matcher;
  };

  // The name of the composite function that is called; null if none is.
  static const std::string* CompositeOf(const ExprNode* node) {
    const auto* call = Expr(node).As<CallNode>();
    const auto* function =
        call == nullptr ? nullptr : call->op().As<FunctionNode>();
    return function == nullptr ? nullptr
                               : TextAttr(*function, attr::kComposite);
  }

  void EmitMissed(const ExprNode* before, const ExprNode* after,
                  const UseCounts& uses) {
    const auto* call = Expr(after).As<CallNode>();
    if (call == nullptr || call->op_node() == nullptr) return;
    for (const auto& [pattern, matcher] : patterns_) {
      if (!absl::c_linear_search(matcher.roots().ops, call->op_node())) {
        continue;
      }
      std::string reason;
      const std::optional<PatternMatch> match = matcher.At(Expr(after), &uses);
      if (!match.has_value()) {
        reason = matcher.Explain(Expr(after), &uses);
      } else if (pattern->accepts != nullptr && !pattern->accepts(*match)) {
        reason = match->declined().empty() ? "the compiler does not take it"
                                           : match->declined();
      } else {
        reason =
            "a part of the match is in another one, or is used outside of it";
      }
      LogRemark({.kind = RemarkKind::kMissed,
                 .node = Expr(before),
                 .reason = std::move(reason),
                 .args = {{"pattern", pattern->name}}});
    }
  }

  std::vector<Tried> patterns_;
};

absl::StatusOr<Function> Merge(const Function& function,
                               const Patterns& patterns,
                               const IRModule& module) {
  Function result = function;
  for (const CompositePattern* pattern : patterns) {
    const Expr merged =
        PartitionMatches(pattern->pattern, result,
                         {{attr::kComposite, pattern->name}}, pattern->accepts);
    if (merged == result) continue;
    // The next pattern may have conditions on types.
    BATON_ASSIGN_OR_RETURN(const Expr typed, InferTypeOf(merged, &module));
    result = Function(typed.As<FunctionNode>());
  }
  if (WantsRemarks(RemarkKind::kPassed) || WantsRemarks(RemarkKind::kMissed)) {
    RemarkLogger(patterns).Compare(function, result);
  }
  return result;
}

PassInfo Info() {
  return {.name = "MergeComposite",
          .required = {"InferType"},
          .doc = "Makes functions of what external compilers take as one.",
          .invalidates = {"a_normal_form"}};
}

}  // namespace

Pass MergeComposite(MergeCompositeOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const std::vector<std::string> compilers = options.compilers.empty()
                                                       ? PatternTables().Names()
                                                       : options.compilers;
        std::vector<std::shared_ptr<const PatternTable>> tables;
        Patterns patterns;
        for (const std::string& compiler : compilers) {
          BATON_ASSIGN_OR_RETURN(tables.emplace_back(),
                                 GetPatternTable(compiler));
          for (const CompositePattern& pattern : tables.back()->composites) {
            patterns.push_back(&pattern);
          }
        }
        return Merge(function, patterns, module);
      },
      Info(), options);
}
BATON_REGISTER_PASS(MergeComposite);
BATON_REGISTER_REMARKS(
    "MergeComposite",
    {.passed = "a match became a composite function",
     .missed = "where a pattern came closest, and why it was not taken"});

Pass MergeCompositePatterns(std::vector<CompositePattern> patterns) {
  return CreateFunctionPass(
      [patterns = std::move(patterns)](const Function& function,
                                       const IRModule& module,
                                       const PassContext& /*context*/) {
        Patterns pointers;
        for (const CompositePattern& pattern : patterns) {
          pointers.push_back(&pattern);
        }
        return Merge(function, pointers, module);
      },
      Info());
}

}  // namespace baton::relay
