// The rewrite driver: applies rules until none matches.
//
//   static const RuleSet& kRules = *new RuleSet({DivideBySqrt(), ...});
//   BATON_ASSIGN_OR_RETURN(const Expr result, kRules.Rewrite(function));
//
// One walk, children first. The walk rewrites the result of a rule at once,
// before it visits any user of it, so that at the end no rule matches. Rules
// that depend on the uses of nodes are tried again, in further walks, as long
// as something changes. Of several rules that match a node, the first of the
// set is applied. Rules are found by the operator at the root of their
// patterns: a node costs as much as there are rules for its operator, and a
// program that no rule matches one look at each node. For rules that do not
// depend on uses, time is linear in the size of the program and the number of
// applications.
//
// If the program has types, the results of rules get types from the relations
// of their operators alone; the type of a node must not change, except that
// unknown dimensions may become known. A rewrite that changes nothing returns
// the same pointer. Nothing recurses.
//
// Rules that never end are an error which names them: rules that undo each
// other, as soon as a node comes back; a rule that grows the program, or
// matches what it makes, when it has gone on for longer than the options allow.
//
// That is RuleOrder::kInnermostFirst. RuleOrder::kInTurn makes what the
// reference's `rewrite` makes of a list of callbacks.

#ifndef BATON_RELAY_PATTERN_REWRITER_H_
#define BATON_RELAY_PATTERN_REWRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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
  // Has the functions that the program refers to; may be null.
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
  // Called at the end, in the order of the set, for each rule that matched
  // nowhere, with its best partial match: the node at which its pattern came
  // farthest beyond its root, and how far and why it ended
  // (Matcher::Explain).
  std::function<void(const RewriteRule& rule, const Expr& at,
                     absl::string_view why)>
      on_partial_match;
  // Whether a rule that matches may be applied; all may if null. A counter here
  // limits the number of applications.
  std::function<bool(const RewriteRule& rule)> may_apply;

  // Limits for rewriting the results that rules made of one node: the number of
  // applications, one on the result of the other, beyond some for each node of
  // the program; and the number of nodes by which the results may grow.
  int64_t max_derivation = 100'000;
  int64_t max_growth = 100'000;
};

enum class RuleOrder {
  // Children first, what a rule makes at once: see above.
  kInnermostFirst,
  // One rule after the other, and again from the first as long as one changes
  // something. Each goes over the whole program: outermost matches first, none
  // of which share nodes or have a node inside that something else needs; parts
  // match in the first way only (Matcher::Ways::kFirst). For passes of which
  // results must be those of the reference.
  kInTurn,
};

// Rules compiled for matching: an immutable value. Thread-safe.
class RuleSet {
 public:
  RuleSet() : RuleSet(std::vector<RewriteRule>()) {}
  explicit RuleSet(std::vector<RewriteRule> rules,
                   RuleOrder order = RuleOrder::kInnermostFirst);

  // An error if two rules have one name, or if a pattern cannot match.
  // Rewrite() returns it as well.
  const absl::Status& status() const { return data_->status; }
  absl::Span<const RewriteRule> rules() const { return data_->rules; }
  RuleOrder order() const { return data_->order; }
  const Matcher& matcher(int rule) const { return data_->matchers[rule]; }

  // `root` rewritten; the same pointer if no rule applies. Errors: those of the
  // rules, and rules that never end.
  absl::StatusOr<Expr> Rewrite(const Expr& root,
                               const RewriteOptions& options = {}) const;

  // Implementation: a rule that may match calls of some operator, or nodes of
  // some kind.
  struct Candidate {
    int rule;
    Matcher::Hint hint;
  };
  // Those for `node`, in the order of the set, without those that are applied
  // once; none if none can match by its hint.
  absl::Span<const Candidate> CandidatesFor(const ExprNode* node) const {
    return data_->repeated.For(node);
  }
  // With those that are applied once.
  absl::Span<const Candidate> AllCandidatesFor(const ExprNode* node) const {
    return data_->all.For(node);
  }
  // Whether a rule may match nodes without children.
  bool any_for_leaves() const { return data_->any_for_leaves; }

 private:
  // Candidates by what they may match.
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
        // Most of the time no rule comes farther than this.
        if (range->arguments != Matcher::Hint::kAny &&
            (range->arguments & Arguments(*call)) == 0) {
          return {};
        }
      }
      return {candidates_.data() + range->first, range->size};
    }

   private:
    // What the arguments are, as hints tell.
    static uint64_t Arguments(const CallNode& call) {
      uint64_t kinds = 0;
      for (const Expr& arg : call.args()) {
        kinds |= Matcher::Hint::KindOf(arg.get());
      }
      return kinds;
    }
    struct Range {
      size_t first = 0;
      size_t size = 0;
      // One of the arguments is one of these, where a hint holds.
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

// `root` rewritten by `rules`. For one use only: a RuleSet keeps the compiled
// rules.
absl::StatusOr<Expr> ApplyRules(const std::vector<RewriteRule>& rules,
                                const Expr& root,
                                const RewriteOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_REWRITER_H_
