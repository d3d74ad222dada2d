// MakeUnpackedAPI: passes buffers of parameters as pointers to their data.
//
//   def main(A: T.Buffer((1,), "float32")):
//
// becomes
//
//   def main(A: T.handle("float32")) -> T.int32:
//       ...
//       T.ret(0)

#ifndef BATON_TIR_TRANSFORM_MAKE_UNPACKED_API_H_
#define BATON_TIR_TRANSFORM_MAKE_UNPACKED_API_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Changes the functions that are not private and whose target
// has a host; then the host is their target. Calls of such functions pass data
// in place of arrays.
Pass MakeUnpackedAPI();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_MAKE_UNPACKED_API_H_
