// Tensor intrinsics: pairs of a description, which is a computation on small
// tensors, and an implementation, which computes the same with instructions of
// a machine.
//
//   TensorIntrinRegistry().Register("dot_4x16", {
//       .description = R"(@T.prim_func
//   def description(...): ...)",
//       .implementation = R"(@T.prim_func
//   def implementation(...): ...)"});
//
// The step `tensorize` puts the implementation in the place of a block that
// computes the description. Both have the same parameters, which are buffers,
// and a block without variables as their body.

#ifndef BATON_TIR_SCHEDULE_TENSOR_INTRIN_H_
#define BATON_TIR_SCHEDULE_TENSOR_INTRIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/base/registry.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

struct TensorIntrin {
  // Scripts with one function each.
  std::string description;
  std::string implementation;

  absl::StatusOr<PrimFunc> Description() const;
  absl::StatusOr<PrimFunc> Implementation() const;
};

Registry<TensorIntrin>& TensorIntrinRegistry();

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_TENSOR_INTRIN_H_
