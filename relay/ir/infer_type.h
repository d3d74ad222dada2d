// Type inference.
//
// Finds the type of every expression of a function: forward from the types of
// parameters and constants through the operators' type relations, backward
// into parameters without annotation where an operator says what they must be
// (the weight of a convolution), by unification through functions, lets and
// branches. Operators and attributes stay as they are.
//
// Only nodes that lack a type are replaced by new ones: inferring a typed
// module returns it unchanged, in time independent of its size. The inferred
// type becomes the annotation of parameters and results that have none.

#ifndef BATON_RELAY_IR_INFER_TYPE_H_
#define BATON_RELAY_IR_INFER_TYPE_H_

#include "absl/status/statusor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// Infers the types of all functions of `module`. All errors of all functions
// are found in one run; the status renders them.
absl::StatusOr<IRModule> InferTypes(const IRModule& module);

// The same; errors go to `diagnostics`, and the result is `module` itself if
// there is an error. If `diagnostics` already holds errors of the parser that
// read the module, inference does not report definitions that the module lacks:
// so one run finds all errors of a text, of syntax and of type.
IRModule InferTypes(const IRModule& module, Diagnostics& diagnostics);

// `expr` with types. Its free variables must have annotations (each is
// replaced by one typed variable); references to functions are looked up in
// `module`, which may be null if there are none.
absl::StatusOr<Expr> InferTypeOf(const Expr& expr,
                                 const IRModule* module = nullptr);

}  // namespace baton

#endif  // BATON_RELAY_IR_INFER_TYPE_H_
