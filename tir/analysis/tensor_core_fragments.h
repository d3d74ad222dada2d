// Finds the shapes and layouts of the fragments that matrix instructions use.

#ifndef BATON_TIR_ANALYSIS_TENSOR_CORE_FRAGMENTS_H_
#define BATON_TIR_ANALYSIS_TENSOR_CORE_FRAGMENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct Fragment {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::string layout;  // `row_major`, `col_major`; empty for accumulators
  std::string scope;
  // The number of elements; 0 for a scope that has no fragments.
  int64_t Size() const;
  bool SameShape(const Fragment& other) const {
    return m == other.m && n == other.n && k == other.k;
  }
};

// The fragments that are loaded, stored and filled, by pointer. An error if one
// has several shapes, or several layouts.
absl::StatusOr<VarMap<Fragment>> FindFragments(const Stmt& body);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_TENSOR_CORE_FRAGMENTS_H_
