// Generates smaller variants of a function of loops, for a reducer.
//
//   for (int i = 0; i < NumSmallerLoops(function); ++i) {
//     if (Fails(*SmallerLoops(function, i))) ...
//   }
//
// A variant lacks a statement, has a part of a statement or of an expression in
// its place, or a constant in place of an expression. Large functions first
// lose many statements or expressions at once:
//
//   WithoutLoopsParts(function, LoopsPart::kStatement, 0, 1000, true)
//
// A variant may use variables that nothing defines any more.

#ifndef BATON_TRIAGE_SHRINK_LOOPS_H_
#define BATON_TRIAGE_SHRINK_LOOPS_H_

#include <cstdint>
#include <optional>

#include "baton/tir/ir/function.h"

namespace baton::tir {

// The variant of that number, from 0 for the outermost statement; none if there
// are fewer variants. A variant may be equal to `function`.
std::optional<PrimFunc> SmallerLoops(const PrimFunc& function, int number);

int NumSmallerLoops(const PrimFunc& function);

enum class LoopsPart { kStatement, kExpression };

// The number of statements or of expressions of `function`.
int NumLoopsParts(const PrimFunc& function, LoopsPart part);

// `function` without its statements or expressions `begin` to `end - 1`, in the
// order of a walk from the outside in. Parts that the range contains as wholes
// are left out, or become zero. If `opens`, parts that begin in the range and
// end behind it are replaced by what they contain behind it: a loop by its
// body, an operation by an operand. May return `function` itself.
PrimFunc WithoutLoopsParts(const PrimFunc& function, LoopsPart part, int begin,
                           int end, bool opens);

struct LoopsSize {
  int64_t weight = 0;  // of statements, expressions, parameters, attributes
  int64_t statements = 0;
};

LoopsSize SizeOfLoops(const PrimFunc& function);

}  // namespace baton::tir

#endif  // BATON_TRIAGE_SHRINK_LOOPS_H_
