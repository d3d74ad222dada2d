#include "baton/relay/transform/merge_compiler_regions.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/analysis/annotated_regions.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The innermost function literal, body of a let, or match that encloses all
// uses of a node. What two nodes of one binder compute can be computed in one
// place: both see the same variables.
class Binders {
 public:
  explicit Binders(const IndexedGraph& graph) {
    bool any = false;
    for (int i = 0; i < graph.root() && !any; ++i) any = Binds(graph, i);
    if (!any) return;
    nodes_.assign(graph.size(), -1);
    scopes_.push_back({0, 0, 0});
    nodes_[graph.root()] = 0;
    for (int i = graph.root(); i >= 0; --i) {
      const int outer = nodes_[i];
      const int inner = Binds(graph, i) ? Open(outer) : outer;
      const absl::Span<const int> children = graph.children(i);
      const bool is_let = graph.As<LetNode>(i) != nullptr;
      for (size_t k = 0; k < children.size(); ++k) {
        int& scope = nodes_[children[k]];
        const int use = is_let && k == 1 ? outer : inner;
        scope = scope < 0 ? use : Common(scope, use);
      }
    }
  }

  // A number for the binder that encloses all uses of these nodes, of which
  // there is one at least.
  int of(const std::vector<int>& nodes) const {
    if (nodes_.empty()) return 0;
    int result = nodes_[nodes[0]];
    for (const int i : nodes) result = Common(result, nodes_[i]);
    return result;
  }

 private:
  struct Scope {
    int parent;
    int jump;  // an ancestor, such that any is O(log depth) steps away
    int depth;
  };

  static bool Binds(const IndexedGraph& graph, int i) {
    return graph.kind(i) == ExprKind::kLet ||
           graph.kind(i) == ExprKind::kFunction ||
           graph.kind(i) == ExprKind::kMatch;
  }
  int Open(int parent) {
    const Scope& p = scopes_[parent];
    const Scope& j = scopes_[p.jump];
    const bool skip = p.depth - j.depth == j.depth - scopes_[j.jump].depth;
    scopes_.push_back({parent, skip ? j.jump : parent, p.depth + 1});
    return static_cast<int>(scopes_.size()) - 1;
  }
  int AtDepth(int scope, int depth) const {
    while (scopes_[scope].depth > depth) {
      const int jump = scopes_[scope].jump;
      scope = scopes_[jump].depth >= depth ? jump : scopes_[scope].parent;
    }
    return scope;
  }
  int Common(int a, int b) const {
    const int depth = std::min(scopes_[a].depth, scopes_[b].depth);
    a = AtDepth(a, depth);
    b = AtDepth(b, depth);
    while (a != b) {
      const bool far = scopes_[a].jump != scopes_[b].jump;
      a = far ? scopes_[a].jump : scopes_[a].parent;
      b = far ? scopes_[b].jump : scopes_[b].parent;
    }
    return a;
  }

  std::vector<int> nodes_;  // empty: there is one scope
  std::vector<Scope> scopes_;
};

// Groups of nodes that will be computed together: regions, and single nodes.
// An edge leads from a group to one that it needs.
class Groups {
 public:
  Groups(const IndexedGraph& graph, const AnnotatedRegions& regions)
      : parent_(regions.regions().size() + graph.size()),
        needs_(parent_.size()),
        seen_(parent_.size()) {
    const int num_regions = static_cast<int>(regions.regions().size());
    group_.reserve(graph.size());
    for (int i = 0; i < graph.size(); ++i) {
      const int region = regions.region(i);
      group_.push_back(region >= 0 ? region : num_regions + i);
    }
    for (size_t g = 0; g < parent_.size(); ++g)
      parent_[g] = static_cast<int>(g);
    for (int i = 0; i < graph.size(); ++i) {
      const absl::Span<const int> children = graph.children(i);
      for (size_t k = 0; k < children.size(); ++k) {
        const int child = children[k];
        if (graph.As<LetNode>(i) != nullptr && k == 0) continue;
        if (!graph.children(child).empty() ||
            graph.kind(child) == ExprKind::kVar) {
          AddNeed(group_[i], group_[child]);
        }
      }
      if (graph.As<LetNode>(i) != nullptr) {
        // A use of the variable needs the value.
        AddNeed(group_[children[0]], group_[children[1]]);
      }
    }
  }

  int Of(int node) { return Find(group_[node]); }

  // Group `from` becomes part of group `to`.
  void Merge(int from, int to) {
    parent_[from] = to;
    std::vector<int>& a = needs_[to];
    std::vector<int>& b = needs_[from];
    if (a.size() < b.size()) std::swap(a, b);
    a.insert(a.end(), b.begin(), b.end());
    b = {};
  }

  // Takes out of `needed`, groups that `group` needs, those that something else
  // needs that `group` needs.
  void KeepDirectNeeds(int group, std::vector<int>& needed) {
    ++walk_;
    std::vector<int>& from = needs_[group];
    // Each other group once: edges that merging made loops or doubles go.
    size_t kept = 0;
    for (const int raw : from) {
      const int need = Find(raw);
      if (need == group || seen_[need] == walk_) continue;
      seen_[need] = walk_;
      from[kept++] = need;
    }
    from.resize(kept);
    if (kept < 2 || needed.empty()) return;
    ++walk_;
    // A dependency through another group counts as a dependency on that group.
    std::vector<int> stack = from;
    if (needed.size() == 1) {
      stack.erase(std::find(stack.begin(), stack.end(), needed[0]));
    }
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      for (const int raw : needs_[at]) {
        const int need = Find(raw);
        if (need == at || seen_[need] == walk_) continue;
        seen_[need] = walk_;
        if (needed.size() > 1 || need != needed[0]) stack.push_back(need);
      }
    }
    needed.erase(std::remove_if(needed.begin(), needed.end(),
                                [&](int g) { return seen_[g] == walk_; }),
                 needed.end());
  }

 private:
  void AddNeed(int from, int to) {
    if (from != to) needs_[from].push_back(to);
  }
  int Find(int group) {
    while (parent_[group] != group) {
      parent_[group] = parent_[parent_[group]];
      group = parent_[group];
    }
    return group;
  }

  std::vector<int> group_;  // by node
  std::vector<int> parent_;
  std::vector<std::vector<int>> needs_;
  std::vector<int> seen_;  // the last walk that saw it
  int walk_ = 0;
};

class Merger {
 public:
  Merger(const IndexedGraph& graph, const AnnotatedRegions& regions)
      : graph_(graph),
        regions_(regions),
        groups_(graph, regions),
        done_(regions.regions().size()),
        visited_(graph.size()) {
    const Binders binders(graph);
    for (const AnnotatedRegions::Region& region : regions.regions()) {
      binder_.push_back(region.ends.empty() ? -1 : binders.of(region.ends));
    }
  }

  // Goes through the regions, each after those that it takes arguments from.
  void Run() {
    std::vector<int> stack = {graph_.root()};
    std::vector<size_t> next(graph_.size());
    while (!stack.empty()) {
      const int i = stack.back();
      if (next[i] == 0) visited_[i] = true;
      const absl::Span<const int> children = graph_.children(i);
      if (next[i] < children.size()) {
        const int child = children[next[i]++];
        if (!visited_[child]) stack.push_back(child);
        continue;
      }
      const int region = EndedRegion(i);
      if (region < 0 || done_[region]) {
        stack.pop_back();
        continue;
      }
      // The other arguments of the region come first.
      const std::vector<int>& begins = regions_.regions()[region].begins;
      const size_t k = next[i] - children.size();
      if (k < begins.size()) {
        ++next[i];
        const int arg = graph_.args(begins[k])[0];
        if (regions_.region(arg) >= 0 && !visited_[arg]) stack.push_back(arg);
        continue;
      }
      MergeParents(region);
      done_[region] = true;
      stack.pop_back();
    }
  }

  // True if begin `i` and the end below it are in one region now.
  bool IsInside(int i) {
    if (!IsCompilerBegin(Expr(graph_.node(i)))) return false;
    const int arg = graph_.args(i)[0];
    return regions_.region(i) >= 0 && regions_.region(arg) >= 0 &&
           IsCompilerEnd(Expr(graph_.node(arg))) &&
           groups_.Of(i) == groups_.Of(arg);
  }

 private:
  int EndedRegion(int i) const {
    return IsCompilerEnd(Expr(graph_.node(i))) ? regions_.region(i) : -1;
  }

  void MergeParents(int region) {
    const AnnotatedRegions::Region& r = regions_.regions()[region];
    const int group = groups_.Of(r.ends[0]);
    std::vector<int> parents;
    std::vector<int> args;  // an end of each
    for (const int begin : r.begins) {
      const int arg = graph_.args(begin)[0];
      const int parent = regions_.region(arg);
      if (parent < 0 || !done_[parent] ||
          regions_.regions()[parent].compiler != r.compiler) {
        continue;
      }
      if (binder_[parent] != binder_[region]) {
        LogPair(RemarkKind::kMissed,
                "what binds variables is between the regions", region, arg);
        continue;
      }
      const int candidate = groups_.Of(arg);
      if (candidate != group && std::find(parents.begin(), parents.end(),
                                          candidate) == parents.end()) {
        parents.push_back(candidate);
        args.push_back(arg);
      }
    }
    const bool logs_remarks =
        WantsRemarks(RemarkKind::kPassed) || WantsRemarks(RemarkKind::kMissed);
    const std::vector<int> candidates =
        logs_remarks ? parents : std::vector<int>();
    groups_.KeepDirectNeeds(group, parents);
    for (size_t k = 0; k < candidates.size(); ++k) {
      const bool joined = std::find(parents.begin(), parents.end(),
                                    candidates[k]) != parents.end();
      LogPair(joined ? RemarkKind::kPassed : RemarkKind::kMissed,
              joined ? "joined with a region that it takes an argument from"
                     : "something outside is between the regions",
              region, args[k]);
    }
    for (const int parent : parents) groups_.Merge(parent, group);
  }

  // Emits a remark about a region, and the end of another one that it uses.
  void LogPair(RemarkKind kind, RemarkText reason, int region, int end) const {
    const AnnotatedRegions::Region& r = regions_.regions()[region];
    if (!WantsRemarks(kind) || r.compiler == "default") return;
    LogRemark({.kind = kind,
               .node = Expr(graph_.node(graph_.args(r.ends[0])[0])),
               .reason = std::move(reason),
               .args = {{"compiler", r.compiler}},
               .nodes = {{"with", Expr(graph_.node(graph_.args(end)[0]))}}});
  }

  const IndexedGraph& graph_;
  const AnnotatedRegions& regions_;
  Groups groups_;
  std::vector<int> binder_;  // by region
  std::vector<bool> done_;
  std::vector<bool> visited_;
};

absl::StatusOr<Function> MergeRegions(const Function& function) {
  const IndexedGraph graph(function);
  if (!HasCompilerAnnotations(graph)) return function;
  BATON_ASSIGN_OR_RETURN(const AnnotatedRegions regions,
                         AnnotatedRegions::Find(graph));
  Merger merger(graph, regions);
  merger.Run();
  GraphRewriter rewriter(graph);
  const Expr result = rewriter.RewriteAll<CallNode>(
      [&](int i, const CallNode& /*call*/) -> Expr {
        if (!merger.IsInside(i)) return {};
        return rewriter.Get(graph.args(graph.args(i)[0])[0]);
      });
  return Function(result.As<FunctionNode>());
}

}  // namespace

Pass MergeCompilerRegions() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) { return MergeRegions(function); },
      {.name = "MergeCompilerRegions",
       .doc = "Joins neighbouring regions that one compiler takes.",
       .waivers = {{"runs",
                    "Annotations must be around whole regions, which "
                    "passes that rewrite calls do not keep."}}});
}
BATON_REGISTER_PASS(MergeCompilerRegions);
BATON_REGISTER_REMARKS("MergeCompilerRegions",
                       {.passed = "two regions were joined",
                        .missed = "why two regions were not"});

}  // namespace baton::relay
