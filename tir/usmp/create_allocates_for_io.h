// CreateAllocatesForIO: makes inputs and outputs of the main function
// allocations, which the planner places with others.
//
//   def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
//
// becomes
//
//   def main():
//       B = T.allocate([16], "float32", annotations={"output_tensor": "B"})
//       A = T.allocate([16], "float32", annotations={"input_tensor": "A"})

#ifndef BATON_TIR_USMP_CREATE_ALLOCATES_FOR_IO_H_
#define BATON_TIR_USMP_CREATE_ALLOCATES_FOR_IO_H_

#include <string>

#include "baton/transform/pass.h"

namespace baton::tir {

struct CreateAllocatesForIOOptions {
  std::string main_function;

  template <typename V>
  static void VisitFields(V& v) {
    v("main_function", &CreateAllocatesForIOOptions::main_function,
      "The function that calls the others; without it `__tvm_main__`, or "
      "`main`.");
  }
};

// A module pass. Parameters without buffers stay. An error for a buffer that is
// read and written, or neither, here and in the functions that `main` calls,
// and for one whose extents are not constant. Pools that are parameters stay.
Pass CreateAllocatesForIO(CreateAllocatesForIOOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_CREATE_ALLOCATES_FOR_IO_H_
