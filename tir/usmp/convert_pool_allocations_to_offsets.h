// ConvertPoolAllocationsToOffsets: memory pools become parameters, and
// allocations that have a place in one become addresses.
//
//   def f(A: T.Buffer((16,), "float32")):
//       B = T.allocate([16], "float32", "global", annotations={
//           "pool_allocation": {"byte_offset": 64, "pool_name": "fast"}})
//
// becomes
//
//   def f(A: T.Buffer((16,), "float32"),
//         fast_0_var: T.handle("uint8", "global")):
//       fast_0_buffer_var = T.match_buffer(fast_0_var, (128,), "uint8", ...)
//       B_let: T.handle("float32", "global") = T.address_of(
//           fast_0_buffer_var[64])

#ifndef BATON_TIR_USMP_CONVERT_POOL_ALLOCATIONS_TO_OFFSETS_H_
#define BATON_TIR_USMP_CONVERT_POOL_ALLOCATIONS_TO_OFFSETS_H_

#include <string>

#include "baton/transform/pass.h"

namespace baton::tir {

struct ConvertPoolAllocationsToOffsetsOptions {
  std::string main_function;
  bool emit_tvmscript_printable = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("main_function", &ConvertPoolAllocationsToOffsetsOptions::main_function,
      "The function that calls the others; without it `__tvm_main__`, or "
      "`main`.");
    v("emit_tvmscript_printable",
      &ConvertPoolAllocationsToOffsetsOptions::emit_tvmscript_printable,
      "If true, functions keep the attribute `global_symbol` only, get no "
      "`pool_args`, and addresses have no scope.");
  }
};

// A module pass over the main function and all that it calls. Each gets all
// pools as parameters, sorted by name, before a last parameter that has no
// buffer; calls pass them. The attribute `pool_args` of a function lists its
// pools, with the index of the parameter and the bytes in use. In the main
// function, the entry of a pool of constants also has the contents that the
// caller writes to the pool before a run: offsets, and elements in hexadecimal
// digits. The attribute `io_tensor_pool_allocations` of the main function has
// the places of inputs and outputs.
//
// A module without such allocations does not change. An error if a function
// that `main` does not reach calls one that it reaches.
Pass ConvertPoolAllocationsToOffsets(
    ConvertPoolAllocationsToOffsetsOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_CONVERT_POOL_ALLOCATIONS_TO_OFFSETS_H_
