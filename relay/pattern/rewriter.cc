#include "baton/relay/pattern/rewriter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/numeric/bits.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/infer_type_at.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/pattern/match_groups.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay {
namespace {

// The largest number of walks over the program for rules that need the uses of
// nodes.
constexpr int kMaxWalks = 1000;
// The walks after which nothing is checked: rewriting has mostly ended then.
constexpr int kUncheckedWalks = 4;

// Returns whether nodes of `kind` bind their children: the replacement of such
// a node is typed as a whole.
bool Binds(NodeKind kind) {
  return kind == ExprKind::kFunction || kind == ExprKind::kLet ||
         kind == ExprKind::kMatch;
}

// True if an expression of type `before` may be replaced by one of type
// `after`: the same type, or one that differs only in unknown dimensions.
bool MayBecome(const Type& before, const Type& after) {
  absl::InlinedVector<std::pair<const Type*, const Type*>, 4> work = {
      {&before, &after}};
  while (!work.empty()) {
    const auto [a, b] = work.back();
    work.pop_back();
    if (TypeEqual(*a, *b)) continue;
    const auto* fields_a = a->As<TupleTypeNode>();
    const auto* fields_b = b->As<TupleTypeNode>();
    if (fields_a != nullptr && fields_b != nullptr &&
        fields_a->fields().size() == fields_b->fields().size()) {
      for (size_t i = 0; i < fields_a->fields().size(); ++i) {
        work.emplace_back(&fields_a->fields()[i], &fields_b->fields()[i]);
      }
      continue;
    }
    const auto* tensor_a = a->As<TensorTypeNode>();
    const auto* tensor_b = b->As<TensorTypeNode>();
    if (tensor_a == nullptr || tensor_b == nullptr ||
        tensor_a->dtype() != tensor_b->dtype() ||
        tensor_a->rank() != tensor_b->rank()) {
      return false;
    }
    for (int i = 0; i < tensor_a->rank(); ++i) {
      if (tensor_a->dim(i).is_const() && tensor_b->dim(i).is_const() &&
          tensor_a->dim(i) != tensor_b->dim(i)) {
        return false;
      }
    }
  }
  return true;
}

std::string NameAndPlace(const RewriteRule& rule) {
  return rule.place.empty() ? rule.name
                            : absl::StrCat(rule.name, " (", rule.place, ")");
}

absl::Status IllTyped(const RewriteRule& rule, const absl::Status& why) {
  return absl::Status(
      why.code(), absl::StrCat("rule ", NameAndPlace(rule),
                               " makes an ill-typed program: ", why.message()));
}

// One rewriting of one program.
class RewriteRun {
 public:
  RewriteRun(const RuleSet& rules, const RewriteOptions& options)
      : rules_(rules), options_(options) {
    for (size_t i = 0; i < rules.rules().size(); ++i) {
      const RewriteRule& rule = rules.rules()[i];
      if (rule.once) {
        once_.push_back(static_cast<int>(i));
      } else {
        any_repeated_ = true;
        asks_for_uses_ |= rule.exclusive || matcher(i).needs_uses();
      }
    }
  }

  absl::StatusOr<Expr> Run(Expr root) {
    if (options_.on_partial_match) {
      partial_.resize(rules_.rules().size());
      machine_.set_tries_all_parts(true);
    }
    BATON_ASSIGN_OR_RETURN(Expr result, Rewrite(std::move(root)));
    EmitPartialMatches();
    return result;
  }

 private:
  // The best partial match of a rule.
  struct PartialMatch {
    Expr at;  // null: there is none
    size_t num_parts = 1;
    bool matched = false;  // as a whole, somewhere
  };

  absl::StatusOr<Expr> Rewrite(Expr root) {
    typed_ = root->type().defined();
    if (!MayApply(root)) return root;
    if (rules_.order() == RuleOrder::kInTurn) return InTurn(std::move(root));
    while (true) {
      bool any_once = false;
      for (size_t k = 0; k < once_.size(); ++k) {
        BATON_ASSIGN_OR_RETURN(Expr swept, Sweep(once_[k], IndexedGraph(root)));
        if (swept == root) continue;
        root = std::move(swept);
        any_once = true;
        once_.erase(once_.begin() + static_cast<ptrdiff_t>(k--));
      }
      if (any_repeated_) {
        BATON_ASSIGN_OR_RETURN(root, ToFixedPoint(std::move(root)));
      }
      if (!any_once || once_.empty()) return root;
    }
  }

  // A node that a rule made. Its children stand in `edges` of its step: the
  // number of another such node, or -1.
  struct NewNode {
    Expr node;
    Expr result;  // what rules made of it in turn
    int first_edge;
    int uses;
  };
  // An application of a rule.
  struct Step {
    int rule;
    Expr before;
    uint64_t signature;         // of `before`
    int64_t growth;             // from the node of the program up to this
    std::vector<NewNode> made;  // children first
    std::vector<int> edges;
    size_t next = 0;  // of `made`, to be rewritten
  };
  // The replacement of a node by a rule.
  struct Application {
    int rule = -1;  // none matches
    int num_matched = 0;
    Expr replacement;
  };

  const Matcher& matcher(size_t rule) const {
    return rules_.matcher(static_cast<int>(rule));
  }
  const RewriteRule& rule(int i) const { return rules_.rules()[i]; }

  // The match of the rule at `node`; null if there is none.
  const PatternMatch* MatchAt(int rule, const ExprNode* node,
                              const UseCounts* uses) {
    const PatternMatch* match = machine_.Run(matcher(rule), node, uses);
    if (!partial_.empty()) NotePartialMatch(rule, node, match != nullptr);
    return match;
  }
  void NotePartialMatch(int rule, const ExprNode* node, bool matched);
  void EmitPartialMatches();

  // True if some rule may be applied somewhere in `root`: one look-up for each
  // node, without the graph that rewriting needs.
  bool MayApply(const Expr& root);
  // True if one of `candidates` may be applied to the unchanged `node`.
  bool MayApplyAt(const ExprNode* node,
                  absl::Span<const RuleSet::Candidate> candidates);
  // Applies a rule in one sweep.
  absl::StatusOr<Expr> Sweep(int rule, const IndexedGraph& graph);
  // Rules one after the other, each in one sweep, until none changes anything.
  absl::StatusOr<Expr> InTurn(Expr root);
  // The first rule from number `first` on that matches a node and is willing;
  // -1 if there is none.
  absl::StatusOr<int> FirstWilling(const IndexedGraph& graph, int first);
  absl::StatusOr<Expr> ToFixedPoint(Expr root);
  absl::StatusOr<Expr> Walk(const Expr& root);

  // `node`, of which all children are rewritten, rewritten.
  absl::StatusOr<Expr> RewriteNode(const Expr& node);
  // The first rule that matches `node` and is willing.
  absl::StatusOr<Application> FindApplication(const Expr& node);
  // Puts the replacement in the place of `before`. What it consists of is
  // rewritten in a new step; if all of it was there before, it is returned.
  absl::StatusOr<Expr> Apply(const Expr& before, Application application);
  bool IsExclusive(const PatternMatch& match) const;

  // Finds the nodes in `replacement` that are new.
  void Collect(const Expr& replacement, Step& step);
  bool IsNew(const ExprNode* node) const {
    if (!typed_) return !known_.Contains(node);
    return !node->type().defined() && node->kind() != ExprKind::kOp &&
           node->kind() != ExprKind::kGlobalVar &&
           node->kind() != ExprKind::kVar &&
           node->kind() != ExprKind::kConstructor;
  }
  // `made` with a type, and with the children that its children have become.
  absl::StatusOr<Expr> Build(Step& step, const NewNode& made);
  void Know(const Expr& expr) {
    if (typed_) return;
    known_.Insert(expr.get());
    held_.push_back(expr);
  }

  // The replacement of `before` by `rule` must have its type.
  absl::Status CheckType(int rule, const Expr& before, const Expr& after) const;
  // Called after each walk that changed something: the program must not have
  // been the same before.
  absl::Status CheckWalk(const Expr& root);
  absl::Status CheckProgress(const Step& step);
  uint64_t Signature(const ExprNode* node) const;
  // The rules that the steps from number `first` on applied, each once: `a and
  // b`.
  std::string RulesFrom(size_t first) const;

  // The node stands where `before` stood.
  void MoveUses(const Expr& before, const Expr& after);

  const RuleSet& rules_;
  const RewriteOptions& options_;
  std::vector<int> once_;  // those that have not been applied yet
  bool any_repeated_ = false;
  bool asks_for_uses_ = false;
  bool typed_ = false;

  MatchMachine machine_;
  std::optional<UseCounts> uses_;      // if a rule asks for them
  std::vector<PartialMatch> partial_;  // by rule; empty if nobody asks
  bool applied_ = false;               // in this walk or round
  std::vector<bool> done_;             // rules that are not applied any more
  bool walk_again_ = false;            // something new was not looked into
  // Applied in walks after the first, and in turns.
  std::vector<int> walk_rules_;
  // Programs between walks, by hash, and where the rules of each walk start.
  FlatHashMap<uint64_t, size_t> after_walks_;
  int num_walks_ = 0;  // that changed something
  int64_t max_derivation_ = 0;

  // In programs without types: which nodes are not new.
  NodeSet known_;
  std::vector<Expr> held_;

  std::vector<Step> steps_;
  FlatHashMap<uint64_t, size_t> active_;  // steps, by signature
  NodeMap<uint64_t> signatures_;          // of nodes that rules made
  NodeMap<int> made_index_;
};

void RewriteRun::NotePartialMatch(int rule, const ExprNode* node,
                                  bool matched) {
  PartialMatch& partial = partial_[rule];
  if (matched) {
    partial.matched = true;
  } else if (!partial.matched && machine_.farthest() > partial.num_parts) {
    partial.num_parts = machine_.farthest();
    partial.at = Expr(node);
  }
}

void RewriteRun::EmitPartialMatches() {
  for (size_t i = 0; i < partial_.size(); ++i) {
    const Expr& at = partial_[i].at;
    if (partial_[i].matched || !at.defined()) continue;
    const UseCounts* uses = uses_.has_value() ? &*uses_ : nullptr;
    // The uses of a node that was replaced are not known.
    if (matcher(i).needs_uses() &&
        (uses == nullptr || uses->Get(at.get()) == 0)) {
      continue;
    }
    const std::string why = matcher(i).Explain(at, uses);
    if (!why.empty()) options_.on_partial_match(rules_.rules()[i], at, why);
  }
}

bool RewriteRun::MayApply(const Expr& root) {
  bool may_apply = false;
  // Rules that are applied once are not searched again.
  const bool looks_everywhere = !partial_.empty() && !once_.empty();
  AnyNode(root, rules_.any_for_leaves(), [&](const ExprNode* node) {
    const absl::Span<const RuleSet::Candidate> candidates =
        rules_.AllCandidatesFor(node);
    if (candidates.empty()) return false;
    may_apply |= MayApplyAt(node, candidates);
    return may_apply && !looks_everywhere;
  });
  return may_apply;
}

bool RewriteRun::MayApplyAt(const ExprNode* node,
                            absl::Span<const RuleSet::Candidate> candidates) {
  for (const RuleSet::Candidate& candidate : candidates) {
    if (node->kind() == ExprKind::kCall &&
        !candidate.hint.Holds(*static_cast<const CallNode*>(node))) {
      continue;
    }
    if (matcher(candidate.rule).needs_uses()) return true;
    const PatternMatch* match = MatchAt(candidate.rule, node, /*uses=*/nullptr);
    if (match == nullptr) continue;
    // Rules in turn report only the matches that a sweep meets.
    const bool logs_remarks =
        options_.on_decline && rules_.order() != RuleOrder::kInTurn;
    if (logs_remarks && rule(candidate.rule).exclusive) return true;
    const absl::StatusOr<Expr> replacement =
        rule(candidate.rule).replace(*match);
    if (!replacement.ok()) return true;
    if (replacement->defined() && replacement->get() != node) return true;
    // A declined match is reported in the order of the sweep.
    if (logs_remarks && !match->declined().empty()) return true;
  }
  return false;
}

absl::StatusOr<Expr> RewriteRun::Sweep(int number, const IndexedGraph& graph) {
  const std::vector<MatchGroup> groups =
      FindMatchGroups(matcher(number), graph);
  if (groups.empty()) return Expr(graph.node(graph.root()));
  if (!partial_.empty()) partial_[number].matched = true;
  FlatHashMap<const ExprNode*, const MatchGroup*> by_root;
  for (const MatchGroup& group : groups) {
    by_root.emplace(group.match.root().get(), &group);
  }
  FlatHashMap<const ExprNode*, int> index;
  for (int i = 0; i < graph.size(); ++i) index.emplace(graph.node(i), i);
  GraphRewriter rewriter(graph);
  for (int i = 0; i < graph.size(); ++i) {
    rewriter.Rebuild(i);
    const auto it = by_root.find(graph.node(i));
    if (it == by_root.end()) continue;
    // The match with the current nodes.
    const PatternMatch now =
        it->second->match.Mapped([&](const ExprNode* node) {
          const auto known = index.find(node);
          return known == index.end() ? Expr(node)
                                      : rewriter.Get(known->second);
        });
    if (options_.may_apply && !options_.may_apply(rule(number))) continue;
    BATON_ASSIGN_OR_RETURN(Expr after, rule(number).replace(now));
    if (!after.defined() || after == now.root()) {
      if (options_.on_decline && !now.declined().empty()) {
        options_.on_decline(rule(number), now.root(), now.declined());
      }
      continue;
    }
    if (!MayRewrite()) continue;
    if (typed_) {
      absl::StatusOr<Expr> typed = InferTypeOf(after, options_.module);
      if (!typed.ok()) return IllTyped(rule(number), typed.status());
      after = *std::move(typed);
      BATON_RETURN_IF_ERROR(CheckType(number, now.root(), after));
    }
    if (options_.on_application) {
      options_.on_application(rule(number), now.root(), after);
    }
    rewriter.Replace(i, std::move(after));
  }
  Expr result = rewriter.Result();
  return typed_ ? InferTypeOf(result, options_.module) : result;
}

absl::StatusOr<int> RewriteRun::FirstWilling(const IndexedGraph& graph,
                                             int first) {
  int willing = -1;
  uses_.reset();
  if (asks_for_uses_) uses_.emplace(graph);
  for (int i = 0; i < graph.size() && willing != first; ++i) {
    const ExprNode* node = graph.node(i);
    const CallNode* call = node->kind() == ExprKind::kCall
                               ? static_cast<const CallNode*>(node)
                               : nullptr;
    for (const RuleSet::Candidate& candidate : rules_.AllCandidatesFor(node)) {
      if (candidate.rule < first || done_[candidate.rule]) continue;
      if (willing >= 0 && candidate.rule >= willing) break;
      if (call != nullptr && !candidate.hint.Holds(*call)) continue;
      const PatternMatch* match =
          MatchAt(candidate.rule, node, uses_.has_value() ? &*uses_ : nullptr);
      if (match == nullptr) continue;
      BATON_ASSIGN_OR_RETURN(const Expr replacement,
                             rule(candidate.rule).replace(*match));
      if (replacement.defined() && replacement.get() != node) {
        willing = candidate.rule;
        break;
      }
    }
  }
  return willing;
}

absl::StatusOr<Expr> RewriteRun::InTurn(Expr root) {
  std::optional<IndexedGraph> graph(std::in_place, root);
  done_.resize(rules_.rules().size());
  int next = 0;
  while (true) {
    // Rules that would change no node lose their turn.
    BATON_ASSIGN_OR_RETURN(const int turn, FirstWilling(*graph, next));
    if (turn >= 0) {
      BATON_ASSIGN_OR_RETURN(Expr swept, Sweep(turn, *graph));
      next = turn + 1;
      if (swept == root || StructuralEqual(swept, root)) continue;
      walk_rules_.push_back(turn);
      done_[turn] = rule(turn).once;
      applied_ = true;
      root = std::move(swept);
      graph.emplace(root);
      continue;
    }
    if (!applied_) return root;
    BATON_RETURN_IF_ERROR(CheckWalk(root));
    applied_ = false;
    next = 0;
  }
}

absl::StatusOr<Expr> RewriteRun::ToFixedPoint(Expr root) {
  after_walks_.clear();
  num_walks_ = 0;
  while (true) {
    applied_ = false;
    walk_again_ = false;
    BATON_ASSIGN_OR_RETURN(root, Walk(root));
    if (!applied_ || !(asks_for_uses_ || walk_again_)) return root;
    BATON_RETURN_IF_ERROR(CheckWalk(root));
  }
}

absl::Status RewriteRun::CheckWalk(const Expr& root) {
  // The hash reads all weights. A program that comes back does so again later.
  if (++num_walks_ <= kUncheckedWalks) return absl::OkStatus();
  const auto [it, is_new] =
      after_walks_.try_emplace(StructuralHash(root), walk_rules_.size());
  if (is_new && after_walks_.size() <= kMaxWalks) return absl::OkStatus();
  const size_t first = is_new ? 0 : it->second;
  std::vector<std::string> names;
  for (size_t i = first; i < walk_rules_.size(); ++i) {
    const std::string& name = rule(walk_rules_[i]).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "rewriting does not end: ",
      is_new ? "there is no end of walks that apply "
             : "the program is the same again after applications of ",
      absl::StrJoin(names, " and ")));
}

absl::StatusOr<Expr> RewriteRun::Walk(const Expr& root) {
  const IndexedGraph graph(root);
  max_derivation_ = options_.max_derivation + 4 * int64_t{graph.size()};
  if (asks_for_uses_) uses_.emplace(graph);
  GraphRewriter rewriter(graph);
  for (int i = 0; i < graph.size(); ++i) {
    Expr rebuilt;  // null: the node as it was
    if (applied_) {
      rewriter.Rebuild(i);
      if (rewriter.changed(i)) {
        rebuilt = rewriter.Get(i);
        if (typed_ && graph.node(i)->type().defined() &&
            !rebuilt->type().defined()) {
          BATON_ASSIGN_OR_RETURN(rebuilt,
                                 InferTypeOf(rebuilt, options_.module));
          rewriter.Replace(i, rebuilt);
        }
        Know(rebuilt);
        if (asks_for_uses_) {
          (*uses_)[rebuilt.get()] = uses_->Get(graph.node(i));
        }
      }
    }
    const ExprNode* node = rebuilt.defined() ? rebuilt.get() : graph.node(i);
    if (rules_.CandidatesFor(node).empty()) continue;
    const bool first = !applied_;
    const Expr before(node);
    BATON_ASSIGN_OR_RETURN(Expr after, RewriteNode(before));
    if (after == before) continue;
    rewriter.Replace(i, std::move(after));
    if (first && !typed_) {
      for (int k = 0; k < graph.size(); ++k) known_.Insert(graph.node(k));
    }
  }
  held_.clear();
  return rewriter.Result();
}

bool RewriteRun::IsExclusive(const PatternMatch& match) const {
  const std::vector<const ExprNode*> interior = InteriorNodes(match);
  NodeMap<int> inside;
  for (const ExprNode* node : interior) {
    ForEachChild(node, [&](const Expr& child) { ++inside[child.get()]; });
  }
  return std::all_of(
      interior.begin(), interior.end(), [&](const ExprNode* node) {
        return node == match.root().get() || inside[node] == uses_->Get(node);
      });
}

absl::StatusOr<RewriteRun::Application> RewriteRun::FindApplication(
    const Expr& node) {
  const CallNode* call = node.As<CallNode>();
  for (const RuleSet::Candidate& candidate : rules_.CandidatesFor(node.get())) {
    if (call != nullptr && !candidate.hint.Holds(*call)) continue;
    const PatternMatch* match = MatchAt(candidate.rule, node.get(),
                                        uses_.has_value() ? &*uses_ : nullptr);
    if (match == nullptr) continue;
    const RewriteRule& found = rule(candidate.rule);
    if (found.exclusive && !IsExclusive(*match)) {
      if (options_.on_decline) {
        options_.on_decline(found, node, "parts of it are used elsewhere");
      }
      continue;
    }
    BATON_ASSIGN_OR_RETURN(Expr replacement, found.replace(*match));
    if (!replacement.defined() || replacement == node) {
      if (options_.on_decline && !match->declined().empty()) {
        options_.on_decline(found, node, match->declined());
      }
      continue;
    }
    if (options_.may_apply && !options_.may_apply(found)) continue;
    if (!MayRewrite()) continue;
    return Application{candidate.rule,
                       static_cast<int>(InteriorNodes(*match).size()),
                       std::move(replacement)};
  }
  return Application();
}

void RewriteRun::Collect(const Expr& replacement, Step& step) {
  made_index_.Clear();
  struct Frame {
    const ExprNode* node;
    bool leave;
  };
  absl::InlinedVector<Frame, 16> work = {{replacement.get(), false}};
  while (!work.empty()) {
    const Frame frame = work.back();
    work.pop_back();
    if (!frame.leave) {
      if (!IsNew(frame.node) || made_index_.Contains(frame.node)) continue;
      work.push_back({frame.node, true});
      if (Binds(frame.node->kind())) continue;
      const size_t first = work.size();
      ForEachChild(frame.node, [&](const Expr& child) {
        work.push_back({child.get(), false});
      });
      std::reverse(work.begin() + static_cast<ptrdiff_t>(first), work.end());
      continue;
    }
    const auto [index, is_new] = made_index_.TryEmplace(frame.node);
    if (!is_new) continue;  // met again before it was left
    *index = static_cast<int>(step.made.size());
    step.made.push_back(
        {Expr(frame.node), Expr(), static_cast<int>(step.edges.size()), 0});
    if (Binds(frame.node->kind())) continue;
    ForEachChild(frame.node, [&](const Expr& child) {
      const int* made = made_index_.Find(child.get());
      if (made != nullptr) ++step.made[*made].uses;
      step.edges.push_back(made == nullptr ? -1 : *made);
    });
  }
}

absl::StatusOr<Expr> RewriteRun::Build(Step& step, const NewNode& made) {
  const ExprNode* node = made.node.get();
  Expr built = made.node;
  if (!Binds(node->kind()) && !IsLeaf(node->kind())) {
    absl::InlinedVector<Expr, 6> children;
    int edge = made.first_edge;
    ForEachChild(node, [&](const Expr& child) {
      const int index = step.edges[edge++];
      children.push_back(index < 0 ? child : step.made[index].result);
    });
    built = WithChildren(node, children);
  }
  if (typed_) {
    absl::StatusOr<Expr> typed =
        InferTypeAt(built, step.before->span(), options_.module);
    if (!typed.ok()) return IllTyped(rule(step.rule), typed.status());
    built = *std::move(typed);
  }
  Know(built);
  signatures_[built.get()] = Signature(built.get());
  return built;
}

uint64_t RewriteRun::Signature(const ExprNode* node) const {
  StableHash hash(static_cast<uint64_t>(node->kind().id()));
  const auto add_identity = [&](const void* p) {
    hash.Add(reinterpret_cast<uintptr_t>(p));
  };
  if (node->kind() == ExprKind::kConstant) {
    const Tensor& value = static_cast<const ConstantNode*>(node)->value();
    if (value.byte_size() <= 64) {
      hash.Add(value.Hash());
    } else {
      add_identity(value.bytes().data());
    }
    return hash.value();
  }
  if (IsLeaf(node->kind()) || Binds(node->kind())) {
    add_identity(node);
    return hash.value();
  }
  if (node->kind() == ExprKind::kCall) {
    const Attrs& attrs = static_cast<const CallNode*>(node)->attrs();
    if (attrs.defined()) hash.Add(attrs->fields().Hash(attrs->object()));
  } else if (node->kind() == ExprKind::kTupleGetItem) {
    hash.Add(static_cast<uint64_t>(
        static_cast<const TupleGetItemNode*>(node)->index()));
  }
  ForEachChild(node, [&](const Expr& child) {
    if (child->kind() == ExprKind::kConstant) {
      hash.Add(Signature(child.get()));
    } else if (const uint64_t* made = signatures_.Find(child.get())) {
      hash.Add(*made);
    } else {
      add_identity(child.get());
    }
  });
  return hash.value();
}

std::string RewriteRun::RulesFrom(size_t first) const {
  std::vector<absl::string_view> names;
  FlatHashSet<int> seen;
  for (size_t i = first; i < steps_.size(); ++i) {
    if (steps_[i].rule >= 0 && seen.insert(steps_[i].rule).second) {
      names.push_back(rule(steps_[i].rule).name);
    }
  }
  return absl::StrCat(names.size() == 1 ? "rule " : "rules ",
                      absl::StrJoin(names, " and "));
}

absl::Status RewriteRun::CheckProgress(const Step& step) {
  const auto applications = [&] {
    return absl::StrCat(steps_.size(),
                        " applications on the result of each other, beginning "
                        "at ",
                        DescribeNode(steps_[0].before.get()));
  };
  const auto [it, is_new] = active_.try_emplace(step.signature, steps_.size());
  if (!is_new) {
    const size_t first = it->second;
    const std::string at = DescribeNode(steps_[first].before.get());
    return absl::FailedPreconditionError(
        first + 1 == steps_.size()
            ? absl::StrCat(RulesFrom(first), " makes of ", at,
                           " the same again, without end")
            : absl::StrCat(RulesFrom(first),
                           absl::StartsWith(RulesFrom(first), "rules ")
                               ? " undo each other at "
                               : " undoes its own work at ",
                           at, ", without end"));
  }
  // By now the rules that are to blame have come round many times.
  if (step.growth > options_.max_growth) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the program does not stop growing by ", RulesFrom(steps_.size() / 2),
        ": ", step.growth, " nodes more after ", applications()));
  }
  if (static_cast<int64_t>(steps_.size()) > max_derivation_) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no end to ", RulesFrom(steps_.size() / 2), ": ",
                     applications()));
  }
  return absl::OkStatus();
}

absl::Status RewriteRun::CheckType(int number, const Expr& before,
                                   const Expr& after) const {
  if (!typed_ || !before->type().defined() || !after->type().defined() ||
      MayBecome(before->type(), after->type())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("rule ", NameAndPlace(rule(number)), " replaces ",
                   DescribeNode(before.get()), " of type ",
                   before->type().ToString(), " by ", DescribeNode(after.get()),
                   " of type ", after->type().ToString()));
}

void RewriteRun::MoveUses(const Expr& before, const Expr& after) {
  if (!asks_for_uses_) return;
  (*uses_)[after.get()] += uses_->Get(before.get());
  (*uses_)[before.get()] = 0;
  // Nodes that only `before` used have no uses any more.
  std::vector<Expr> dead = {before};
  while (!dead.empty()) {
    const Expr node = std::move(dead.back());
    dead.pop_back();
    ForEachChild(node.get(), [&](const Expr& child) {
      if (--(*uses_)[child.get()] == 0) dead.push_back(child);
    });
  }
}

absl::StatusOr<Expr> RewriteRun::Apply(const Expr& before,
                                       Application application) {
  Step step = {.rule = application.rule,
               .before = before,
               .signature = Signature(before.get()),
               .growth = steps_.empty() ? 0 : steps_.back().growth};
  BATON_RETURN_IF_ERROR(CheckProgress(step));
  Expr after = std::move(application.replacement);
  Collect(after, step);
  for (NewNode& made : step.made) {
    BATON_ASSIGN_OR_RETURN(made.result, Build(step, made));
    made.node = made.result;
    walk_again_ |= Binds(made.node->kind());
    if (!asks_for_uses_) continue;
    (*uses_)[made.node.get()] = made.uses;
    int edge = made.first_edge;
    ForEachChild(made.node.get(), [&](const Expr& child) {
      if (Binds(made.node->kind()) || step.edges[edge++] < 0) {
        ++(*uses_)[child.get()];
      }
    });
  }
  if (!step.made.empty()) after = step.made.back().node;
  BATON_RETURN_IF_ERROR(CheckType(step.rule, step.before, after));
  if (asks_for_uses_) MoveUses(before, after);
  if (options_.on_application) {
    options_.on_application(rule(step.rule), before, after);
  }
  if (asks_for_uses_ || walk_again_) walk_rules_.push_back(step.rule);
  if (step.made.empty()) {
    active_.erase(step.signature);
    return after;
  }
  step.growth +=
      static_cast<int64_t>(step.made.size()) - application.num_matched;
  steps_.push_back(std::move(step));
  return Expr();
}

absl::StatusOr<Expr> RewriteRun::RewriteNode(const Expr& node) {
  BATON_ASSIGN_OR_RETURN(Application application, FindApplication(node));
  if (application.rule < 0) return node;
  if (!typed_ && !applied_) {
    PostOrderVisit(node, [this](const ExprNode* n) { known_.Insert(n); });
  }
  applied_ = true;
  signatures_.Clear();
  BATON_ASSIGN_OR_RETURN(Expr result, Apply(node, std::move(application)));
  while (!steps_.empty()) {
    Step& step = steps_.back();
    NewNode& made = step.made[step.next];
    if (!result.defined()) {
      // The next node that the rule made, with what its children became.
      BATON_ASSIGN_OR_RETURN(result, Build(step, made));
      if (asks_for_uses_ && result != made.node) {
        (*uses_)[result.get()] = uses_->Get(made.node.get());
      }
      BATON_ASSIGN_OR_RETURN(application, FindApplication(result));
      if (application.rule >= 0) {
        const Expr before = std::move(result);
        BATON_ASSIGN_OR_RETURN(result, Apply(before, std::move(application)));
        if (!result.defined()) continue;  // `step` is not the last any more
      }
    }
    // `result` is the rewritten node.
    if (step.next + 1 < step.made.size()) {
      made.result = std::move(result);
      result = Expr();
      ++step.next;
    } else {
      active_.erase(step.signature);
      steps_.pop_back();
    }
  }
  return result;
}

}  // namespace

RuleSet::Index::Index(absl::Span<const RewriteRule> rules,
                      absl::Span<const Matcher> matchers, bool with_once) {
  // The candidates for all calls, and for all nodes.
  std::vector<Candidate> any_call;
  std::vector<std::vector<Candidate>> by_op;
  std::vector<std::vector<Candidate>> by_kind(NodeKind::kNumIds);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].once && !with_once) continue;
    const int number = static_cast<int>(i);
    std::optional<Matcher::Hint> any_hint;
    const auto add = [&](std::vector<Candidate>& list, const OpNode* op) {
      if (!list.empty() && list.back().rule == number) return;
      if (op != nullptr) {
        list.push_back({number, matchers[i].HintFor(op)});
        return;
      }
      if (!any_hint.has_value()) any_hint = matchers[i].HintFor(nullptr);
      list.push_back({number, *any_hint});
    };
    const Matcher::Roots& roots = matchers[i].roots();
    if (roots.anything) {
      for (std::vector<Candidate>& list : by_kind) add(list, nullptr);
    }
    for (const NodeKind kind : roots.kinds) {
      if (kind == ExprKind::kCall) continue;
      add(by_kind[static_cast<size_t>(kind.id())], nullptr);
    }
    const bool calls_call =
        std::any_of(roots.kinds.begin(), roots.kinds.end(),
                    [](NodeKind kind) { return kind == ExprKind::kCall; });
    if (roots.anything || roots.any_call || calls_call) {
      add(any_call, nullptr);
      for (std::vector<Candidate>& list : by_op) add(list, nullptr);
    }
    for (const OpNode* op : roots.ops) {
      if (op->index() < 0) continue;  // not linked in
      while (by_op.size() <= static_cast<size_t>(op->index())) {
        by_op.push_back(any_call);
      }
      add(by_op[static_cast<size_t>(op->index())], op);
    }
  }
  by_kind[static_cast<size_t>(NodeKind(ExprKind::kCall).id())] = any_call;
  const auto append = [this](const std::vector<Candidate>& list) {
    Range range = {static_cast<uint32_t>(candidates_.size()),
                   static_cast<uint32_t>(list.size())};
    if (std::all_of(list.begin(), list.end(), [](const Candidate& c) {
          return !c.hint.ways().empty();
        })) {
      range.arguments = 0;
      for (const Candidate& candidate : list) {
        for (const Matcher::Hint::Way& way : candidate.hint.ways()) {
          // The argument of which the hint says more.
          range.arguments |=
              absl::popcount(way.first) < absl::popcount(way.second)
                  ? way.first
                  : way.second;
        }
      }
    }
    candidates_.insert(candidates_.end(), list.begin(), list.end());
    return range;
  };
  for (const std::vector<Candidate>& list : by_op) {
    by_op_.push_back(append(list));
  }
  for (const std::vector<Candidate>& list : by_kind) {
    by_kind_.push_back(append(list));
  }
}

RuleSet::RuleSet(std::vector<RewriteRule> rules, RuleOrder order) {
  auto data = std::make_shared<Data>();
  data->order = order;
  data->rules = std::move(rules);
  const Matcher::Ways ways =
      order == RuleOrder::kInTurn ? Matcher::Ways::kFirst : Matcher::Ways::kAll;
  FlatHashSet<absl::string_view> names;
  for (const RewriteRule& rule : data->rules) {
    const Matcher& matcher = data->matchers.emplace_back(rule.pattern, ways);
    const Matcher::Roots& roots = matcher.roots();
    data->any_for_leaves |=
        roots.anything ||
        std::any_of(roots.kinds.begin(), roots.kinds.end(),
                    [](NodeKind kind) { return IsLeaf(kind); });
    if (!data->status.ok()) continue;
    if (!matcher.status().ok()) {
      data->status = absl::InvalidArgumentError(
          absl::StrCat("rule ", rule.name, ": ", matcher.status().message()));
    } else if (!names.insert(rule.name).second) {
      data->status = absl::InvalidArgumentError(
          absl::StrCat("two rules are called ", rule.name));
    } else if (rule.replace == nullptr) {
      data->status = absl::InvalidArgumentError(
          absl::StrCat("rule ", rule.name, " has no replacement"));
    }
  }
  data->repeated = Index(data->rules, data->matchers, /*with_once=*/false);
  const bool any_once =
      std::any_of(data->rules.begin(), data->rules.end(),
                  [](const RewriteRule& rule) { return rule.once; });
  data->all = any_once ? Index(data->rules, data->matchers, /*with_once=*/true)
                       : data->repeated;
  data_ = std::move(data);
}

absl::StatusOr<Expr> RuleSet::Rewrite(const Expr& root,
                                      const RewriteOptions& options) const {
  BATON_RETURN_IF_ERROR(status());
  return RewriteRun(*this, options).Run(root);
}

absl::StatusOr<Expr> ApplyRules(const std::vector<RewriteRule>& rules,
                                const Expr& root,
                                const RewriteOptions& options) {
  return RuleSet(rules).Rewrite(root, options);
}

}  // namespace baton::relay
