// Writes functions of loops as text of LLVM's intermediate representation.
//
//   LlvmSourceOptions options;
//   BATON_ASSIGN_OR_RETURN(
//       options.target, ParseLlvmTarget("llvm -mcpu=haswell -mattr=+fma"));
//   BATON_ASSIGN_OR_RETURN(LlvmSource source,
//                          WriteLlvmSource({{"dense_relu", function}}, options));
//
// The text is one module with opaque pointers, for LLVM 16 and later. Each
// function has C linkage; `declaration` of its CppEmitted is its prototype.
// Undefined symbols are functions of libm and memory functions of libc. Equal
// functions give equal text.
//
// Results are those of the C++ source (cpp_source.h), bit for bit: no
// instruction has a fast-math flag, nothing is fused unless the function says
// `T.fma`, and exp, tanh and their like are the functions of
// runtime/kernels/internal/math.h, which the module contains.
//
// Functions have passed the lowering to flat loops: blocks, reductions and
// threads are refused, each with its place, all of them in one error.

#ifndef BATON_TIR_CODEGEN_LLVM_SOURCE_H_
#define BATON_TIR_CODEGEN_LLVM_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/codegen/function_parts.h"  // IWYU pragma: export

namespace baton::tir {

struct LlvmTarget {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu;       // `haswell`; empty: that of LLVM's command line
  std::string features;  // `+avx2,+fma`
};

// Reads `llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+fp16`; `llvm`
// and each option may be left out. The error names the first unknown option.
absl::StatusOr<LlvmTarget> ParseLlvmTarget(absl::string_view text);

struct LlvmSourceOptions {
  LlvmTarget target;
  // Empty, or the targets of the functions, which have the triple of `target`.
  std::vector<LlvmTarget> function_targets;
  // Lines for the comment at the head of the text.
  std::vector<std::string> head;
  // Arrays of more bytes are in the workspace, smaller ones on the stack.
  int64_t max_stack_bytes = 4096;
  // Adds a line table: each instruction has the place of its statement.
  bool line_table = false;
  // Adds a function `NAME.entry` of type `i32 (ptr)` for each function, so that
  // all functions can be called in one way. The argument is an array with a
  // pointer for each parameter: the pointer to pass, or the address of the
  // number to pass, in the parameter's C++ type. `NAME.entry` returns what the
  // function returns, 0 if the function returns nothing.
  bool entries = false;
  // Longer text is refused.
  int64_t max_text_bytes = int64_t{64} << 20;
};

struct LlvmSource {
  std::string text;
  std::vector<CppEmitted> functions;  // in the order of the arguments
};

absl::StatusOr<LlvmSource> WriteLlvmSource(
    absl::Span<const CppFunction> functions, const LlvmSourceOptions& options);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_LLVM_SOURCE_H_
