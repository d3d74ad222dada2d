// Instructions of processors on vectors of integers: those that intrinsics for
// tensors use (tir/schedule/dot_product_intrinsics.cc).

#ifndef BATON_TIR_INTERPRETER_INSTRUCTIONS_H_
#define BATON_TIR_INTERPRETER_INSTRUCTIONS_H_

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/interpreter/scalar.h"

namespace baton::tir {

using Lanes = absl::InlinedVector<Scalar, 1>;

// An operand: a value of `dtype`, with an element for each lane.
struct Operand {
  DType dtype;
  Lanes lanes;
};

// True if `name`, an intrinsic of LLVM or an external function, is known.
bool IsInstruction(absl::string_view name);

// The result, of type `dtype`, of the instruction. False if it is not known, or
// takes other operands.
bool ComputeInstruction(absl::string_view name,
                        absl::Span<const Operand> operands, DType dtype,
                        Lanes& result);

// The bits of `operand` as lanes of `element`, a type of one lane. False if
// these are no whole number of lanes.
bool ReinterpretLanes(const Operand& operand, DType element, Lanes& result);

}  // namespace baton::tir

#endif  // BATON_TIR_INTERPRETER_INSTRUCTIONS_H_
