// Generates smaller variants of a function of loops, for a reducer.
//
//   for (int i = 0; i < NumSmallerLoops(function); ++i) {
//     if (Fails(*SmallerLoops(function, i))) ...
//   }
//
// A variant lacks a statement, has a part of a statement or of an expression in
// its place, or a constant in place of an expression. It may use variables that
// nothing defines any more.

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

struct LoopsSize {
  int64_t weight = 0;  // of statements, expressions, parameters, attributes
  int64_t statements = 0;
};

LoopsSize SizeOfLoops(const PrimFunc& function);

}  // namespace baton::tir

#endif  // BATON_TRIAGE_SHRINK_LOOPS_H_
