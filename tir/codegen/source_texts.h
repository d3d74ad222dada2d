// Texts that generated sources begin with: made by the build from the files
// that they are named after.

#ifndef BATON_TIR_CODEGEN_SOURCE_TEXTS_H_
#define BATON_TIR_CODEGEN_SOURCE_TEXTS_H_

namespace baton::tir {

extern const char kPreludeText[];   // prelude.inc
extern const char kMathBaseText[];  // math_base.inc
// runtime/kernels/internal/math.h, with `base::` (math_base.inc) in place of
// `std::`.
extern const char kMathText[];
extern const char kMathAnyText[];  // math_any.inc
// The vector mathematics as text of LLVM: llvm_math.ll.
extern const char kLlvmMathText[];

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_SOURCE_TEXTS_H_
