// The parts of an Analyzer. They call each other through the Analyzer.

#ifndef BATON_TIR_ARITH_ANALYZER_PARTS_H_
#define BATON_TIR_ARITH_ANALYZER_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/canonical_simplify.h"
#include "baton/tir/arith/comparisons.h"
#include "baton/tir/arith/const_int_bound.h"
#include "baton/tir/arith/int_set_analyzer.h"
#include "baton/tir/arith/modular_set.h"
#include "baton/tir/arith/rewrite_simplify.h"

namespace baton::tir {

struct Analyzer::Parts {
  explicit Parts(Analyzer& analyzer)
      : modular_sets(analyzer),
        rewrite(analyzer),
        canonical(analyzer),
        int_sets(analyzer) {}

  // The state before a constraint.
  struct Mark {
    size_t bounds;
    ModularSets::Undo modular;
    size_t literals;
    size_t sets;
    size_t comparisons;
  };

  ConstIntBounds bounds;
  ModularSets modular_sets;
  RewriteSimplifier rewrite;
  CanonicalSimplifier canonical;
  IntSets int_sets;
  Comparisons comparisons;
  std::vector<Mark> marks;
  // Changes whenever a fact is added or removed: caches of results compare it.
  uint64_t version = 0;
  // The number of operations that were simplified, except those with a cached
  // result; and its limit.
  int64_t visits = 0;
  int64_t max_visits = std::numeric_limits<int64_t>::max();
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ANALYZER_PARTS_H_
