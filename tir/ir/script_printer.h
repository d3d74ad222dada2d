// Writes functions of loops as TVM prints them: TVMScript.
//
//   @I.ir_module
//   class Module:
//       @T.prim_func
//       def main(A: T.Buffer((128,), "float32")):
//           for i in range(128):
//               A[i] = A[i] + T.float32(1)
//
// Linked into a program, this is the text of PrimFuncs in modules
// (ir/module_text.h). A module of PrimFuncs only is a class, in which `main` is
// the last function; in a module with functions of other levels, each PrimFunc
// is a definition of its own.

#ifndef BATON_TIR_IR_SCRIPT_PRINTER_H_
#define BATON_TIR_IR_SCRIPT_PRINTER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// An expression: `T.max(i * 4, 1)`. Numbers distinguish variables of one name.
std::string AsScript(const PrimExpr& e);

// A statement by itself. Variables and buffers that it does not define are
// declared first.
std::string AsScript(const Stmt& stmt);

// The function, from its decorator on, indented by four times `indent` blanks,
// without a final line feed. `name` is what follows `def`. Calls of functions
// of the module are written `MODULE.NAME`; `NAME` if `module` is empty.
std::string AsScript(const PrimFunc& function, absl::string_view name,
                     absl::string_view module = {}, int indent = 0);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_PRINTER_H_
