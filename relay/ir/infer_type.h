// Infers the types of Relay programs.
//
// Inference finds the type of every expression of a function: forward from the
// types of parameters and constants through the operators' type relations;
// backward into parameters without annotation, where an operator determines
// them (the weight of a convolution); by unification through functions, lets
// and branches. Operators and attributes stay unchanged.
//
// Only nodes that lack a type are replaced by new ones. So inference of a typed
// module returns it unchanged, in time independent of its size. The inferred
// type becomes the annotation of parameters and results without one.

#ifndef BATON_RELAY_IR_INFER_TYPE_H_
#define BATON_RELAY_IR_INFER_TYPE_H_

#include "absl/status/statusor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Infers the types of all functions of `module`. One run finds all errors of
// all functions; the status renders them.
absl::StatusOr<IRModule> InferTypes(const IRModule& module);

// As above, but adds errors to `diagnostics`, and returns `module` itself if
// there is an error. If `diagnostics` already contains errors of the parser
// that read the module, inference does not report missing definitions. So one
// run finds all errors of a text, of syntax and of type.
IRModule InferTypes(const IRModule& module, Diagnostics& diagnostics);

// Returns `expr` with types. Its free variables must have annotations; one
// typed variable replaces each. References to functions are looked up in
// `module`, which may be null if there are none.
absl::StatusOr<Expr> InferTypeOf(const Expr& expr,
                                 const IRModule* module = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_INFER_TYPE_H_
