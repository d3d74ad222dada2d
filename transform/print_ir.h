// PrintIR: a pass that prints the module at its place in a pipeline. To print
// before or after other passes, use instrument/print_ir_instrument.h.

#ifndef BATON_TRANSFORM_PRINT_IR_H_
#define BATON_TRANSFORM_PRINT_IR_H_

#include <iosfwd>
#include <string>

#include "baton/transform/config.h"
#include "baton/transform/pass.h"

namespace baton {

struct PrintIrPassOptions {
  std::string header = "";
  bool show_meta_data = false;
  // Null for standard error. Only C++ code can set it.
  std::ostream* out = nullptr;

  template <typename V>
  static void VisitFields(V& v) {
    v("header", &PrintIrPassOptions::header,
      "The text in parentheses after the name of the pass.");
    v("show_meta_data", &PrintIrPassOptions::show_meta_data,
      "Whether to print the data of constants too.");
  }
};

// `print_ir`: false silences the pass.
const ConfigKey<bool>& PrintIrConfig();

// A module pass of level 0 that leaves the module unchanged. Prints
//
//   PrintIR(HEADER):
//   def @main(...) { ... }
//
// and an empty line.
Pass PrintIR(PrintIrPassOptions options = {});

}  // namespace baton

#endif  // BATON_TRANSFORM_PRINT_IR_H_
