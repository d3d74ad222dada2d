// Matcher: matches patterns against programs.
//
//   const Matcher matcher(pattern);
//   if (const std::optional<PatternMatch> match = matcher.At(expr)) {
//     Use((*match)[x], match->attrs<Conv2DAttrs>(conv));
//   } else {
//     LOG << matcher.Explain(expr);
//   }
//
// Matching does not recurse, whatever the depth of pattern and program. The
// matcher tries all ways to match, in the order of dataflow_pattern.h, within a
// budget that grows with the size of the pattern. If exchanged arguments and
// alternatives give too many combinations, there is no match, and Explain()
// says so.

#ifndef BATON_RELAY_PATTERN_MATCHER_H_
#define BATON_RELAY_PATTERN_MATCHER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"

namespace baton::relay {

// The numbers of uses of the nodes of a program. See IndexedGraph::num_uses.
class UseCounts {
 public:
  UseCounts() = default;
  explicit UseCounts(const IndexedGraph& graph);
  // 0 for a node outside of the program.
  int Get(const ExprNode* node) const {
    const int* count = counts_.Find(node);
    return count == nullptr ? 0 : *count;
  }
  int& operator[](const ExprNode* node) { return counts_[node]; }

 private:
  NodeMap<int> counts_;
};

class Matcher;

// A match: the nodes that the parts of a pattern matched. Valid as long as the
// matcher and the program.
class PatternMatch {
 public:
  // The node that the whole pattern matched.
  Expr root() const { return Expr(root_); }
  // The node that `part` matched, the first of several; null if it matched none
  // (an alternative that was not chosen, a part of another pattern).
  Expr operator[](const DataflowPattern& part) const;
  // The node that the part named `name` matched.
  Expr operator[](absl::string_view name) const;
  // All nodes that `part` matched in a region or a repetition, from the root
  // down.
  std::vector<Expr> All(const DataflowPattern& part) const;

  // The call that `part` matched; null if it matched no call.
  const CallNode* call(const DataflowPattern& part) const {
    return (*this)[part].As<CallNode>();
  }
  // The attributes of the call that `part` matched; T's defaults if it has
  // none.
  template <typename T>
  const T& attrs(const DataflowPattern& part) const {
    const CallNode* node = call(part);
    return AttrsOrDefaults<T>(node == nullptr ? Attrs() : node->attrs());
  }
  // The tensor type of the node that `part` matched; null if it has none.
  const TensorTypeNode* tensor_type(const DataflowPattern& part) const {
    const Expr expr = (*this)[part];
    return expr.defined() ? expr->tensor_type() : nullptr;
  }

  // This match with each node replaced by `now(node)`, an Expr that the caller
  // keeps alive.
  template <typename Now>
  PatternMatch Mapped(Now&& now) const {
    PatternMatch result;
    result.matcher_ = matcher_;
    result.root_ = now(root_).get();
    for (const Bound& bound : bound_) {
      result.bound_.push_back({bound.part, now(bound.node).get()});
    }
    return result;
  }

  // For rules: records `why` the rule does not replace the match. Returns null,
  // which the rule can return.
  Expr Decline(std::string why) const {
    declined_ = std::move(why);
    return {};
  }
  const std::string& declined() const { return declined_; }

  const Matcher& matcher() const { return *matcher_; }

  // The pairs of a part, numbered as by Matcher::IndexOf, and a node, in the
  // order of matching.
  struct Bound {
    int part;
    const ExprNode* node;
  };
  absl::Span<const Bound> bound() const { return bound_; }

 private:
  friend class MatchMachine;
  const Matcher* matcher_ = nullptr;
  const ExprNode* root_ = nullptr;
  std::vector<Bound> bound_;
  mutable std::string declined_;
};

// A pattern compiled for matching: flat, numbered, with an index of the nodes
// that can be roots of matches. Thread-safe.
class Matcher {
 public:
  // The ways to match that are tried.
  enum class Ways {
    // All ways.
    kAll,
    // The ways that TVM tries: the choice of a call or an alternative is final,
    // even if later parts then fail to match. `%x * %y + %x * %x` does not
    // match `a * b + b * b`, because the first way to match the product binds
    // %x to `a`.
    kFirst,
  };
  explicit Matcher(DataflowPattern pattern, Ways ways = Ways::kAll);

  const DataflowPattern& pattern() const { return pattern_; }
  // An error if the pattern has a repetition that repeats nothing. Such a
  // pattern matches nothing.
  const absl::Status& status() const { return status_; }
  // The number of parts.
  int size() const { return static_cast<int>(parts_.size()); }
  // True if matches depend on the uses of nodes.
  bool needs_uses() const { return needs_uses_; }

  // The match at `expr`, if any. `uses` are the uses in the program that
  // contains `expr`; if null, `expr` is the whole program.
  std::optional<PatternMatch> At(const Expr& expr,
                                 const UseCounts* uses = nullptr) const;

  // The reason why there is no match at `expr`, for the attempt that matched
  // the most parts:
  //   matched 3 of 7 parts, then argument 1 of multiply must be a call of clip,
  //   found a call of nn.relu
  // Empty if there is a match.
  std::string Explain(const Expr& expr, const UseCounts* uses = nullptr) const;

  // The number of `part`; -1 if the pattern does not contain it or it is null.
  int IndexOf(const DataflowPattern& part) const;
  int IndexOf(absl::string_view name) const;
  const DataflowPattern::Node* part(int i) const { return parts_[i].node; }

  // The nodes that can be roots of matches.
  struct Roots {
    bool anything = false;
    bool any_call = false;
    std::vector<const OpNode*> ops;  // calls of these
    std::vector<NodeKind> kinds;     // nodes of these kinds

    bool Has(const ExprNode* node) const;
  };
  const Roots& roots() const { return roots_; }

  // A cheap necessary condition on calls: the kinds of their first two
  // arguments. Sets of kinds of nodes are bit masks: a bit for calls of each
  // operator (which operators may share), one for constants, one for all other
  // nodes.
  class Hint {
   public:
    static constexpr uint64_t kAny = ~uint64_t{0};
    static constexpr uint64_t kConstant = uint64_t{1} << 63;
    static constexpr uint64_t kOther = uint64_t{1} << 62;
    static uint64_t CallsOf(const OpNode* op) {
      return uint64_t{1} << (static_cast<uint32_t>(op->index()) % 62);
    }
    static uint64_t KindOf(const ExprNode* node) {
      if (node->kind() == ExprKind::kConstant) return kConstant;
      if (node->kind() != ExprKind::kCall) return kOther;
      const OpNode* op = static_cast<const CallNode*>(node)->op_node();
      return op == nullptr ? kOther : CallsOf(op);
    }

    // The alternatives for the arguments; without alternatives, any arguments.
    struct Way {
      uint64_t first;
      uint64_t second;
    };
    absl::Span<const Way> ways() const { return ways_; }
    bool Holds(const CallNode& call) const {
      if (ways_.empty()) return true;
      const auto kind = [&call](int i) {
        return i < call.num_args() ? KindOf(call.arg(i).get()) : kAny;
      };
      const uint64_t first = kind(0), second = kind(1);
      for (const Way& way : ways_) {
        if ((way.first & first) != 0 && (way.second & second) != 0) return true;
      }
      return false;
    }

   private:
    friend class Matcher;
    absl::InlinedVector<Way, 2> ways_;
  };
  // The condition on calls of `op`; on all calls if `op` is null.
  Hint HintFor(const OpNode* op) const;

 private:
  friend class MatchMachine;
  struct Part {
    DataflowPattern::Kind kind;
    bool repeated;  // may match several nodes
    bool shared;    // several parts have it as a child
    bool commuted;
    bool any_operands;
    bool nothing;  // an undefined pattern
    int first_child;
    int num_children;
    int target;        // for kSelf
    const OpNode* op;  // for a call of a single operator
    const DataflowPattern::Node* node;
    int parent;  // the first part that has it as a child
    int position;
    uint64_t kinds;  // of the nodes that it may match, as in Hint
  };
  absl::Span<const int> children(const Part& part) const {
    return absl::MakeConstSpan(children_).subspan(part.first_child,
                                                  part.num_children);
  }
  void Flatten();
  void MarkRepeated();
  absl::Status CheckRepetitions() const;
  void FindRoots();
  void FindKinds();
  // The kinds of `part`, from those of its children.
  uint64_t KindsOf(const Part& part) const;

  DataflowPattern pattern_;
  Ways ways_;
  absl::Status status_;
  std::vector<Part> parts_;  // the root first
  std::vector<int> children_;
  FlatHashMap<const DataflowPattern::Node*, int> index_;
  bool needs_uses_ = false;
  Roots roots_;
};

// The working memory of matching; a thread reuses it for many matches.
class MatchMachine {
 public:
  // The match at `expr`, if any; valid until the next call.
  const PatternMatch* Run(const Matcher& matcher, const ExprNode* expr,
                          const UseCounts* uses);
  // Runs try each part, even where the kinds of nodes exclude a match. Needed
  // for farthest().
  void set_tries_all_parts(bool value) { tries_all_parts_ = value; }
  // The largest number of parts that the last run had matched at one time.
  size_t farthest() const { return std::max(farthest_, match_.bound_.size()); }

 private:
  friend class Matcher;
  enum class Task : uint8_t {
    kMatch,         // `part` at `node`
    kCommuted,      // as kMatch, with exchanged arguments
    kCommit,        // makes choices after the first `extra` final
    kAlternatives,  // the alternatives from number `extra` on
    kCondition,     // the condition of `part`, after all below matched
    kRegionInputs,  // the operands of `node`, in region `part`
    kRegionNode,    // `node` starts region `part`, or is on its path
    kRegionPath,    // `node` is on the path
    kRegionEnd,     // no other use leaves region `part`, which ends at `node`
  };
  struct Goal {
    Task task;
    int part;
    int extra;
    int next;  // the next goal; -1 for none
    const ExprNode* node;
  };
  struct Choice {
    Goal goal;
    size_t num_goals;
    size_t num_bound;
    size_t num_region_nodes;
  };
  struct RegionNode {
    int region;
    const ExprNode* node;
  };

  // False if the kind of `node` excludes a match of `part`.
  bool MayMatch(int part, const ExprNode* node) const {
    return tries_all_parts_ || node == nullptr ||
           (matcher_->parts_[part].kinds & Matcher::Hint::KindOf(node)) != 0;
  }
  bool Search(const Matcher& matcher, const ExprNode* expr);
  bool Step(const Goal& goal);
  bool StepAlternatives(const Goal& goal);
  bool StepMatch(Goal goal);
  bool MatchCall(const Goal& goal, const CallNode& call, bool exchanged);
  bool Operands(const Matcher::Part& part, absl::Span<const int> patterns,
                const Expr* operands, size_t num_operands);
  bool HoldsNow(const Goal& goal, const PatternCondition& condition);
  bool StepRegionNode(const Goal& goal);
  bool StepRegionInputs(const Goal& goal);
  bool StepRegionEnd(const Goal& goal);
  bool Bind(const Goal& goal);
  void Push(Task task, int part, const ExprNode* node, int extra = 0) {
    goals_.push_back({task, part, extra, next_, node});
    next_ = static_cast<int>(goals_.size()) - 1;
  }
  void Choose(const Goal& goal, Task task, int extra = 0) {
    choices_.push_back({{task, goal.part, extra, goal.next, goal.node},
                        goals_.size(),
                        match_.bound_.size(),
                        region_nodes_.size()});
  }
  bool Backtrack();
  void Forget(size_t num_bound, size_t num_region_nodes);
  bool Fail(const Goal& goal, absl::string_view why);

  const Matcher* matcher_ = nullptr;
  const UseCounts* uses_ = nullptr;
  PatternMatch match_;
  std::vector<Goal> goals_;
  int next_ = -1;
  std::vector<Choice> choices_;
  std::vector<const ExprNode*> bindings_;  // by part; null between runs
  std::vector<RegionNode> region_nodes_;
  FlatHashMap<std::pair<int, const ExprNode*>, int> region_index_;
  size_t wasted_ = 0;
  size_t farthest_ = 0;
  bool tries_all_parts_ = false;

  // For Explain.
  struct Failure {
    size_t num_bound = 0;
    int part = -1;
    const ExprNode* node = nullptr;
    std::string why;
  };
  Failure* failure_ = nullptr;
};

// True if `pattern` matches at `expr`, where `expr` is the whole program.
bool Matches(const DataflowPattern& pattern, const Expr& expr);

// Describes a node in messages: `a call of add`, `the variable %x`, `a tuple of
// 2`.
std::string DescribeNode(const ExprNode* node);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_MATCHER_H_
