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
      "The compiler whose functions are rewritten; all if empty.");
  }
};

// A module pass of level 0. Makes global functions of function literals that
// are called directly or through a let. The name is the attribute
// `global_symbol` of the literal. Equal functions of one name become one.
// Errors: a literal without such a name, with free variables, or with the name
// of another function.
Pass OutlineCompilerFunctionsWithExistingGlobalSymbols(
    CompilerFilterOptions options = {});

// A module pass of level 0. Gives global functions the attribute `Extern=1` in
// place of all their attributes: another compiler has compiled them.
Pass MarkCompilerFunctionsAsExtern(CompilerFilterOptions options = {});

struct InlineCompilerFunctionsOptions {
  std::vector<std::string> global_vars;

  template <typename V>
  static void VisitFields(V& v) {
    v("global_vars", &InlineCompilerFunctionsOptions::global_vars,
      "Names of the functions to inline.");
  }
};

// A module pass of level 0 that undoes partitioning. Replaces the calls of
// these functions by their bodies, and the calls of composite functions in
// those by their bodies. Removes the functions. Errors: a name of no function
// for an external compiler; a function with uses other than calls.
Pass InlineCompilerFunctionsBoundTo(
    InlineCompilerFunctionsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMPILER_FUNCTIONS_H_
