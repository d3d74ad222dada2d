// Finds the regions of a program that annotations assign to external compilers.
//
// `annotation.compiler_begin` marks a value that enters a region, and
// `annotation.compiler_end` a value that leaves it:
//
//   %0 = annotation.compiler_begin(%x, compiler="acme");
//   %1 = annotation.compiler_begin(%y, compiler="acme");
//   %2 = add(%0, %1);
//   annotation.compiler_end(%2, compiler="acme")
//
// A begin opens a region. A node joins the regions of its operands, which
// become one region. An end closes the region for the users of its operand.

#ifndef BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_
#define BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// True if `expr` is a call of compiler_begin, or compiler_end.
bool IsCompilerBegin(const Expr& expr);
bool IsCompilerEnd(const Expr& expr);
// The compiler that the annotation names.
const std::string& CompilerOf(const Expr& annotation);
// Annotates `expr`; the annotation has the type of `expr`.
Expr CompilerBegin(Expr expr, absl::string_view compiler);
Expr CompilerEnd(Expr expr, absl::string_view compiler);

// True if the graph contains compiler_begin or compiler_end.
bool HasCompilerAnnotations(const IndexedGraph& graph);

// The regions of the graph of one function.
class AnnotatedRegions {
 public:
  struct Region {
    // The number of the region. Regions are numbered by their first begins, in
    // post-order. Regions that were merged into others leave gaps.
    int id;
    std::string compiler;
    std::vector<int> begins;
    std::vector<int> ends;
  };

  // Located errors: an end outside of all regions, or with a compiler other
  // than that of its region; a node with some operands inside of a region and
  // some that enter it without a begin. `graph` must outlive the result.
  static absl::StatusOr<AnnotatedRegions> Find(const IndexedGraph& graph);

  // All regions, in the order of their numbers.
  const std::vector<Region>& regions() const { return regions_; }
  // The index in regions() of the region of node `i`; -1 if it is in none.
  int region(int i) const { return region_[i]; }

 private:
  std::vector<Region> regions_;
  std::vector<int> region_;  // by node
};

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_
