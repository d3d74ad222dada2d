// AnnotateEntryFunc: marks the function where a module is entered.
//
//   def main(...):  T.func_attr({"tir.is_entry_func": T.bool(True)})

#ifndef BATON_TIR_TRANSFORM_ANNOTATE_ENTRY_FUNC_H_
#define BATON_TIR_TRANSFORM_ANNOTATE_ENTRY_FUNC_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Marks the only function of the module, or the only function
// that is not private. Marks none if several are not private.
Pass AnnotateEntryFunc();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_ANNOTATE_ENTRY_FUNC_H_
