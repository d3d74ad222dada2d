// Passes over functions for external compilers: those with the attribute
// `Compiler`.

#ifndef BATON_RELAY_TRANSFORM_COMPILER_FUNCTIONS_H_
#define BATON_RELAY_TRANSFORM_COMPILER_FUNCTIONS_H_

#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

struct CompilerFilterOptions {
  std::string compiler_filter;

  template <typename V>
  static void VisitFields(V& v) {
    v("compiler_filter", &CompilerFilterOptions::compiler_filter,
      "The compiler whose functions are meant; all, if empty.");
  }
};

// A module pass of level 0. Makes global functions of literals that are called,
// where they stand or through a let, under the names that their attribute
// `global_symbol` says. Equal functions of one name become one. Errors: a
// literal without such a name, with free variables, or with the name of another
// function.
Pass OutlineCompilerFunctionsWithExistingGlobalSymbols(
    CompilerFilterOptions options = {});

// A module pass of level 0. Global functions get the attribute `Extern=1` in
// place of all that they have: another compiler has dealt with them.
Pass MarkCompilerFunctionsAsExtern(CompilerFilterOptions options = {});

struct InlineCompilerFunctionsOptions {
  std::vector<std::string> global_vars;

  template <typename V>
  static void VisitFields(V& v) {
    v("global_vars", &InlineCompilerFunctionsOptions::global_vars,
      "Names of the functions to inline.");
  }
};

// A module pass of level 0. Puts the bodies of these functions in the place of
// their calls, and the bodies of composite functions in those in the place of
// theirs; undoes partitioning. The functions go. Errors: a name of no function
// for an external compiler; one that is used otherwise than by calls.
Pass InlineCompilerFunctionsBoundTo(
    InlineCompilerFunctionsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMPILER_FUNCTIONS_H_
