// Programs and passes to test the pass manager with: nothing of them depends
// on real operators. Linking this registers a pass InferType, and the operators
// toy.a, toy.b and toy.c of one argument.

#ifndef BATON_TRANSFORM_TESTING_TOY_PASSES_H_
#define BATON_TRANSFORM_TESTING_TOY_PASSES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::toy {

// `main`, `f1`, `f2` ... : each `fn (%x) { toy.a(%x) }`, typed.
IRModule Module(int num_functions = 1);

// The operators from the outermost call in: `a`, or `b a a`.
std::string Ops(const Function& function);
// The same for `main`, or for each function: `main: a; f1: b`.
std::string Ops(const IRModule& module);

Pass InferType();

// Function pass: calls of `from` become calls of `to`.
Pass Replace(absl::string_view from, absl::string_view to, PassInfo info);
Pass AToB();  // level 0
Pass BToA();  // level 0

// Function pass that does nothing.
Pass Nothing(PassInfo info = {.name = "Nothing"});

// Function pass that returns a new function every time, equal to the old one.
Pass Liar();

// Function pass that puts one more toy.a around, every time.
Pass Grow();

// Module passes that fail.
Pass Fails(std::string message = "it went wrong");
Pass Throws(std::string what = "boom");

// `function` with `op` applied to its result.
Function Wrap(const Function& function, absl::string_view op);

}  // namespace baton::toy

#endif  // BATON_TRANSFORM_TESTING_TOY_PASSES_H_
