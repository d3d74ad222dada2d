// CombineContextCall: binds each context of a thread to a variable, so that it
// is evaluated once.
//
//   f(T.tvm_thread_context(x))     with T.LetStmt(x) as ctx_cache_:
//   g(T.tvm_thread_context(x))         f(ctx_cache_)
//                                      g(ctx_cache_)

#ifndef BATON_TIR_TRANSFORM_COMBINE_CONTEXT_CALL_H_
#define BATON_TIR_TRANSFORM_COMBINE_CONTEXT_CALL_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Applies to host functions. A context is a pointer that stays the same on one
// thread; kernels and parallel loops bind contexts of their own.
Pass CombineContextCall();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_COMBINE_CONTEXT_CALL_H_
