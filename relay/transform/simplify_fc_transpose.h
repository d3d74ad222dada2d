// SimplifyFCTranspose: replaces transposed weights of dense layers by new
// parameters that are already transposed.
//
//   nn.dense(%x, transpose(%w, axes=[1, 0]))  =>  nn.dense(%x, %w.T)
//
// `%w.T` is a new parameter. The code that binds parameters must bind it to the
// transposed weight.

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
      "The parameters that are transposed for nn.dense. The list must be "
      "complete.");
  }
};

// A function pass of level 4. A parameter that is transposed for nn.dense and
// is not in the list is an error. In a function that changes, unused parameters
// are dropped, the others are put in order of first use, and the new ones
// follow.
Pass SimplifyFCTranspose(SimplifyFCTransposeOptions options = {});

// Runs the pass on one function.
absl::StatusOr<Function> SimplifyFCTransposeInFunction(
    const Function& function, const SimplifyFCTransposeOptions& options);

// The names of the parameters of `function` that are transposed for nn.dense,
// once for each such call, in order. The option must list them.
std::vector<std::string> TransposedDenseWeights(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SIMPLIFY_FC_TRANSPOSE_H_
