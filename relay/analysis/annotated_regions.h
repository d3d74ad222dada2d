// The regions of a program that annotations give to external compilers.
//
// `annotation.compiler_begin` stands where a value enters a region,
// `annotation.compiler_end` where one leaves it:
//
//   %0 = annotation.compiler_begin(%x, compiler="acme");
//   %1 = annotation.compiler_begin(%y, compiler="acme");
//   %2 = add(%0, %1);
//   annotation.compiler_end(%2, compiler="acme")
//
// A begin opens a region. A node belongs to the regions of its operands, which
// become one region by that; an end closes the way from its operand to users.

#ifndef BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_
#define BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Whether `expr` is a call of one of the two operators.
bool IsCompilerBegin(const Expr& expr);
bool IsCompilerEnd(const Expr& expr);
// The compiler that such a call names.
const std::string& CompilerOf(const Expr& annotation);
// Such a call around `expr`; it has the type of `expr`.
Expr CompilerBegin(Expr expr, absl::string_view compiler);
Expr CompilerEnd(Expr expr, absl::string_view compiler);

// Whether the graph has such calls.
bool HasCompilerAnnotations(const IndexedGraph& graph);

class AnnotatedRegions {
 public:
  struct Region {
    // Regions are numbered by their first begins, in post-order; those that
    // became part of others leave gaps.
    int id;
    std::string compiler;
    std::vector<int> begins;
    std::vector<int> ends;
  };

  // Located errors: an end outside of all regions, or of another compiler than
  // its region; a node that has operands inside of a region and operands that
  // enter it without a begin. `graph` must outlive this.
  static absl::StatusOr<AnnotatedRegions> Find(const IndexedGraph& graph);

  // In the order of their numbers.
  const std::vector<Region>& regions() const { return regions_; }
  // The place in regions() of the region of node `i`; -1 if it is in none.
  int region(int i) const { return region_[i]; }

 private:
  std::vector<Region> regions_;
  std::vector<int> region_;  // by node
};

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_ANNOTATED_REGIONS_H_
