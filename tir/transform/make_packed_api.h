// MakePackedAPI: gives functions the calling convention of the runtime.
//
//   def main(n: T.int32):
//
// becomes
//
//   def main(args: T.handle, arg_type_ids: T.handle("int32"),
//            num_args: T.int32, out_ret_value: T.handle("void"),
//            out_ret_tcode: T.handle("int32"), resource_handle: T.handle)
//       -> T.int32:
//       assert num_args == 1, "main: num_args should be 1"
//       ...

#ifndef BATON_TIR_TRANSFORM_MAKE_PACKED_API_H_
#define BATON_TIR_TRANSFORM_MAKE_PACKED_API_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Changes the functions that are not private and whose target
// has a host; then the host is their target. The new body takes the arguments
// apart and checks their number, types, shapes, strides and devices. Calls of
// such functions go through the runtime.
Pass MakePackedAPI();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_MAKE_PACKED_API_H_
