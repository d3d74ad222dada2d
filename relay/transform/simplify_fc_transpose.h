// SimplifyFCTranspose: takes weights of dense layers that are transposed first
// as they are after that.
//
//   nn.dense(%x, transpose(%w, axes=[1, 0]))  =>  nn.dense(%x, %w.T)
//
// `%w.T` is a new parameter. Who binds parameters gives it the transposed
// weight.

#ifndef BATON_RELAY_TRANSFORM_SIMPLIFY_FC_TRANSPOSE_H_
#define BATON_RELAY_TRANSFORM_SIMPLIFY_FC_TRANSPOSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct SimplifyFCTransposeOptions {
  std::vector<std::string> target_weight_name;

  template <typename V>
  static void VisitFields(V& v) {
    v("target_weight_name", &SimplifyFCTransposeOptions::target_weight_name,
      "The parameters that are transposed for nn.dense. All such must be "
      "here.");
  }
};

// A function pass of level 4. A parameter that is transposed for nn.dense and
// not in the list is an error. In a function that changes, parameters that are
// not used go, the others stand in order of first use, and the new ones follow.
Pass SimplifyFCTranspose(SimplifyFCTransposeOptions options = {});

// The same for a function.
absl::StatusOr<Function> SimplifyFCTransposeInFunction(
    const Function& function, const SimplifyFCTransposeOptions& options);

// The names of the parameters of `function` that are transposed for nn.dense,
// once for each such call, in order: what the list must have.
std::vector<std::string> TransposedDenseWeights(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SIMPLIFY_FC_TRANSPOSE_H_
