#include "baton/relay/analysis/annotated_regions.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/device/device.h"

namespace baton::relay {
namespace {

const Op& BeginOp() { return BATON_OP("annotation.compiler_begin"); }
const Op& EndOp() { return BATON_OP("annotation.compiler_end"); }

Expr Annotate(const Op& op, Expr expr, absl::string_view compiler) {
  const Type type = expr->type();
  const Span span = expr->span();
  return Call(op, {&expr, 1}, Attrs::Make(CompilerAttrs{std::string(compiler)}),
              {}, type, span);
}

const std::string& CompilerOf(const CallNode& annotation) {
  static const std::string& kNone = *new std::string;
  const auto* attrs = annotation.attrs_as<CompilerAttrs>();
  return attrs == nullptr ? kNone : attrs->compiler;
}

// The regions while they are found: sets of nodes that grow together.
class Finder {
 public:
  explicit Finder(const IndexedGraph& graph)
      : graph_(graph), set_(graph.size(), -1), next_(graph.size(), -1) {}

  absl::Status Run() {
    Diagnostics diagnostics;
    for (int i = 0; i < graph_.size(); ++i) {
      const ExprNode* node = graph_.node(i);
      if (const auto* call = graph_.As<CallNode>(i)) {
        if (call->op() == BeginOp() && call->num_args() == 1) {
          Open(i, CompilerOf(*call));
          continue;
        }
        if (call->op() == EndOp() && call->num_args() == 1) {
          Close(i, CompilerOf(*call), diagnostics);
          continue;
        }
        Join(i, graph_.args(i), diagnostics);
      } else if (node->kind() == ExprKind::kTuple ||
                 node->kind() == ExprKind::kTupleGetItem ||
                 node->kind() == ExprKind::kRefCreate ||
                 node->kind() == ExprKind::kRefRead ||
                 node->kind() == ExprKind::kRefWrite) {
        Join(i, graph_.children(i), diagnostics);
      }
    }
    return diagnostics.ToStatus();
  }

  std::vector<AnnotatedRegions::Region> Regions() {
    std::vector<AnnotatedRegions::Region> result;
    place_.assign(sets_.size(), -1);
    for (size_t s = 0; s < sets_.size(); ++s) {
      if (sets_[s].parent != static_cast<int>(s)) continue;
      place_[s] = static_cast<int>(result.size());
      result.push_back({static_cast<int>(s), std::move(sets_[s].compiler),
                        ToVector(sets_[s].begins), ToVector(sets_[s].ends)});
    }
    return result;
  }

  // After Regions().
  std::vector<int> RegionsOfNodes() {
    std::vector<int> result(set_.size(), -1);
    for (size_t i = 0; i < set_.size(); ++i) {
      if (set_[i] >= 0) result[i] = place_[Root(set_[i])];
    }
    return result;
  }

 private:
  // Nodes, linked by `next_`; a node is in one list.
  struct List {
    int first = -1;
    int last = -1;
  };
  struct Set {
    int parent;  // itself, if it was not merged into another one
    std::string compiler;
    List begins;
    List ends;
  };

  int Root(int set) {
    while (sets_[set].parent != set) {
      sets_[set].parent = sets_[sets_[set].parent].parent;
      set = sets_[set].parent;
    }
    return set;
  }
  int SetOf(int i) { return set_[i] < 0 ? -1 : Root(set_[i]); }

  void Append(List& list, const List& more) {
    if (more.first < 0) return;
    if (list.first < 0) {
      list = more;
    } else {
      next_[list.last] = more.first;
      list.last = more.last;
    }
  }
  std::vector<int> ToVector(const List& list) const {
    std::vector<int> result;
    for (int i = list.first; i >= 0; i = next_[i]) result.push_back(i);
    return result;
  }

  void Open(int i, const std::string& compiler) {
    set_[i] = static_cast<int>(sets_.size());
    sets_.push_back({set_[i], compiler, {i, i}, {}});
  }

  void Close(int i, const std::string& compiler, Diagnostics& diagnostics) {
    const int set = SetOf(graph_.args(i)[0]);
    if (set < 0) {
      diagnostics.Error(graph_.node(i)->span(),
                        absl::StrCat("annotation.compiler_end ends no region "
                                     "of compiler ",
                                     compiler));
      return;
    }
    if (sets_[set].compiler != compiler) {
      diagnostics.Error(
          graph_.node(i)->span(),
          absl::StrCat("annotation.compiler_end for compiler ", compiler,
                       " ends a region of compiler ", sets_[set].compiler));
      return;
    }
    set_[i] = set;
    Append(sets_[set].ends, {i, i});
  }

  // Node `i` belongs where its operands do.
  void Join(int i, absl::Span<const int> operands, Diagnostics& diagnostics) {
    int set = -1;
    for (const int operand : operands) {
      if (IsEnd(operand)) continue;
      set = SetOf(operand);
      if (set >= 0) break;
    }
    if (set < 0) return;
    set_[i] = set;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (IsEnd(operands[k])) continue;
      const int other = SetOf(operands[k]);
      if (other < 0) {
        diagnostics.Error(
            graph_.node(i)->span(),
            absl::StrCat("operand ", k, " enters a region of compiler ",
                         sets_[set].compiler,
                         " without annotation.compiler_begin"));
        continue;
      }
      if (other == set) continue;
      sets_[other].parent = set;
      Append(sets_[set].begins, sets_[other].begins);
      Append(sets_[set].ends, sets_[other].ends);
    }
  }

  bool IsEnd(int i) const {
    const auto* call = graph_.As<CallNode>(i);
    return call != nullptr && call->op() == EndOp();
  }

  const IndexedGraph& graph_;
  std::vector<int> set_;  // by node; -1: none
  std::vector<int> next_;
  std::vector<Set> sets_;
  std::vector<int> place_;  // by set: in what Regions() returned
};

}  // namespace

bool IsCompilerBegin(const Expr& expr) { return IsCallTo(expr, BeginOp()); }
bool IsCompilerEnd(const Expr& expr) { return IsCallTo(expr, EndOp()); }

const std::string& CompilerOf(const Expr& annotation) {
  return CompilerOf(*annotation.As<CallNode>());
}

Expr CompilerBegin(Expr expr, absl::string_view compiler) {
  return Annotate(BeginOp(), std::move(expr), compiler);
}
Expr CompilerEnd(Expr expr, absl::string_view compiler) {
  return Annotate(EndOp(), std::move(expr), compiler);
}

bool HasCompilerAnnotations(const IndexedGraph& graph) {
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i) == BeginOp().get() || graph.node(i) == EndOp().get()) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<AnnotatedRegions> AnnotatedRegions::Find(
    const IndexedGraph& graph) {
  Finder finder(graph);
  if (absl::Status status = finder.Run(); !status.ok()) return status;
  AnnotatedRegions result;
  result.regions_ = finder.Regions();
  result.region_ = finder.RegionsOfNodes();
  return result;
}

}  // namespace baton::relay
