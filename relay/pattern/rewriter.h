// RuleSet: the rewrite driver, which applies rules until none matches.
//
//   static const RuleSet& kRules = *new RuleSet({DivideBySqrt(), ...});
//   BATON_ASSIGN_OR_RETURN(const Expr result, kRules.Rewrite(function));
//
// One walk, children first. The walk rewrites the result of a rule at once,
// before it visits any user of it, so that at the end no rule matches. Rules
// that depend on the uses of nodes are tried again, in further walks, as long
// as something changes. If several rules match a node, the first one in the set
// is applied. Rules are indexed by the operator at the root of their patterns:
// the cost of a node is proportional to the number of rules for its operator,
// and a program that no rule matches costs one look-up for each node. For rules
// that do not depend on uses, time is linear in the size of the program and the
// number of applications.
//
// If the program has types, the results of rules get types from the type
// relations of their operators, without the pass InferType. The type of a node
// must not change, except that unknown dimensions may become known. A rewrite
// that changes nothing returns the same pointer. Deep programs need no deep
// stack.
//
// Endless rewriting is an error that names the rules: rules that undo each
// other, as soon as a node recurs; and a rule that grows the program or matches
// its own result, when it exceeds the limits in the options.
//
// This order is RuleOrder::kInnermostFirst. RuleOrder::kInTurn gives the
// results of TVM's `rewrite` with a list of callbacks.

#ifndef BATON_RELAY_PATTERN_REWRITER_H_
#define BATON_RELAY_PATTERN_REWRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay {

struct RewriteOptions {
  // Contains the functions to which the program refers; may be null.
  const IRModule* module = nullptr;

  // Called for each application with the rule, the node that it matched, and
  // the replacement (with types, before rules are applied to it).
  std::function<void(const RewriteRule& rule, const Expr& before,
                     const Expr& after)>
      on_application;
  // Called for each match that a rule declined, with the reason.
  std::function<void(const RewriteRule& rule, const Expr& at,
                     absl::string_view why)>
      on_decline;
  // Called at the end, in the order of the set, for each rule without a match,
  // with its best partial match: the node at which the pattern matched the most
  // parts below its root, and Matcher::Explain for that node.
  std::function<void(const RewriteRule& rule, const Expr& at,
                     absl::string_view why)>
      on_partial_match;
  // If not null, decides for each match if the rule is applied. A counter here
  // limits the number of applications.
  std::function<bool(const RewriteRule& rule)> may_apply;

  // Limits for rewriting the results of the rules at one node. The number of
  // applications, each on the result of the one before, in addition to some for
  // each node of the program; and the number of nodes by which the results may
  // grow.
  int64_t max_derivation = 100'000;
  int64_t max_growth = 100'000;
};

// The order in which the rules of a set are applied.
enum class RuleOrder {
  // Children first; the result of a rule at once: see above.
  kInnermostFirst,
  // One rule after the other, and again from the first as long as one changes
  // something. Each sweep visits the whole program: outermost matches first,
  // without matches that share nodes or have an inner node with uses outside of
  // the match. Parts match in the first way only (Matcher::Ways::kFirst). For
  // passes whose results must equal those of TVM.
  kInTurn,
};

// An immutable set of rules compiled for matching. Thread-safe.
class RuleSet {
 public:
  RuleSet() : RuleSet(std::vector<RewriteRule>()) {}
  explicit RuleSet(std::vector<RewriteRule> rules,
                   RuleOrder order = RuleOrder::kInnermostFirst);

  // An error if two rules have one name, or if a pattern cannot match.
  // Rewrite() returns the same error.
  const absl::Status& status() const { return data_->status; }
  absl::Span<const RewriteRule> rules() const { return data_->rules; }
  RuleOrder order() const { return data_->order; }
  const Matcher& matcher(int rule) const { return data_->matchers[rule]; }

  // Rewrites `root`; returns the same pointer if no rule applies. Errors: those
  // of the rules, and endless rewriting.
  absl::StatusOr<Expr> Rewrite(const Expr& root,
                               const RewriteOptions& options = {}) const;

  // Implementation: a rule that may match calls of an operator, or nodes of a
  // kind.
  struct Candidate {
    int rule;
    Matcher::Hint hint;
  };
  // The candidates for `node`, in the order of the set, without rules that are
  // applied once; empty if the hints exclude all.
  absl::Span<const Candidate> CandidatesFor(const ExprNode* node) const {
    return data_->repeated.For(node);
  }
  // As above, including rules that are applied once.
  absl::Span<const Candidate> AllCandidatesFor(const ExprNode* node) const {
    return data_->all.For(node);
  }
  // True if a rule may match nodes without children.
  bool any_for_leaves() const { return data_->any_for_leaves; }

 private:
  // The candidates by operator and by kind.
  class Index {
   public:
    Index() = default;
    Index(absl::Span<const RewriteRule> rules,
          absl::Span<const Matcher> matchers, bool with_once);
    absl::Span<const Candidate> For(const ExprNode* node) const {
      const NodeKind kind = node->kind();
      const Range* range = &by_kind_[static_cast<size_t>(kind.id())];
      if (kind == ExprKind::kCall) {
        const auto* call = static_cast<const CallNode*>(node);
        const OpNode* op = call->op_node();
        if (op != nullptr && static_cast<size_t>(op->index()) < by_op_.size()) {
          range = &by_op_[static_cast<size_t>(op->index())];
        }
        // Most of the time the search ends here.
        if (range->size == 0) return {};
        if (range->arguments != Matcher::Hint::kAny &&
            (range->arguments & Arguments(*call)) == 0) {
          return {};
        }
      }
      return {candidates_.data() + range->first, range->size};
    }

   private:
    // The kinds of the arguments, as bits of Matcher::Hint.
    static uint64_t Arguments(const CallNode& call) {
      uint64_t kinds = 0;
      for (const Expr& arg : call.args()) {
        kinds |= Matcher::Hint::KindOf(arg.get());
      }
      return kinds;
    }
    struct Range {
      uint32_t first = 0;
      uint32_t size = 0;
      // If a hint applies, one of the arguments is of one of these kinds.
      uint64_t arguments = Matcher::Hint::kAny;
    };
    std::vector<Candidate> candidates_;
    std::vector<Range> by_op_;    // by OpNode::index
    std::vector<Range> by_kind_;  // by NodeKind::id
  };
  struct Data {
    RuleOrder order;
    std::vector<RewriteRule> rules;
    std::vector<Matcher> matchers;
    absl::Status status;
    Index repeated;
    Index all;
    bool any_for_leaves = false;
  };
  std::shared_ptr<const Data> data_;
};

// Rewrites `root` with `rules`, for a single use: a RuleSet keeps the compiled
// rules.
absl::StatusOr<Expr> ApplyRules(const std::vector<RewriteRule>& rules,
                                const Expr& root,
                                const RewriteOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_REWRITER_H_
