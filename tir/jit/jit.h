// Compiles functions of loops in this process, with LLVM's shared library, and
// runs them.
//
//   BATON_ASSIGN_OR_RETURN(std::shared_ptr<const JitProgram> program,
//                          JitProgram::Compile({{"dense", function}}));
//   BATON_ASSIGN_OR_RETURN(std::vector<Tensor> buffers,
//                          program->Run(0, {Argument(a), Argument(b)}));
//
// The code is LLVM's text of tir/codegen/llvm_source.h, optimized for the
// processor that it runs on, so results are the interpreter's bytes. Unlike the
// interpreter, compiled code does not check accesses: an index out of its
// buffer is undefined behaviour.

#ifndef BATON_TIR_JIT_JIT_H_
#define BATON_TIR_JIT_JIT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/interpreter/interpreter.h"  // Argument

namespace baton::tir {

struct JitOptions {
  // The level of LLVM's passes and code generator, from 0 to 3.
  int optimization_level = 2;
};

// Functions as machine code. Immutable; any number of threads may run it.
class JitProgram {
 public:
  // Functions have passed the lowering to flat loops (`tir.lower`). Unavailable
  // if no LLVM is installed (LlvmLibrary::Get()).
  static absl::StatusOr<std::shared_ptr<const JitProgram>> Compile(
      absl::Span<const CppFunction> functions, const JitOptions& options = {});

  ~JitProgram();
  JitProgram(const JitProgram&) = delete;
  JitProgram& operator=(const JitProgram&) = delete;

  // Runs the function that was at `index` of Compile(). Arguments, results and
  // errors are those of Interpret(). A condition that the function asserts and
  // that does not hold is an error.
  absl::StatusOr<std::vector<Tensor>> Run(
      int64_t index, absl::Span<const Argument> arguments) const;

 private:
  struct Code;
  explicit JitProgram(std::unique_ptr<const Code> code);

  std::unique_ptr<const Code> code_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_JIT_JIT_H_
