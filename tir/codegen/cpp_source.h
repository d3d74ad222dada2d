// Writes functions of loops as C++ source.
//
//   CppSourceOptions options;
//   options.name_space = "acme::mlp_avx2";
//   options.isa = CppIsa::kAvx2;
//   BATON_ASSIGN_OR_RETURN(CppSource source,
//                          WriteCppSource({{"dense_relu", function}}, options));
//
// The source includes <cstddef> and <cstdint> alone, is C++17 for GCC and
// Clang, and has no exceptions, no type information, no static initializers.
// Undefined symbols are functions of libc and libm. Equal functions give equal
// text.
//
// Results are those of the interpreter, bit for bit, except that exp, tanh and
// their like are the functions of runtime/kernels/internal/math.h, of which the
// source has a copy. Integers wrap; a division of integers by zero is zero;
// nothing is fused unless the function says `T.fma`. Accesses are not checked.
//
// The functions must be lowered to flat loops. One error names all blocks,
// reductions and threads that are left, each with its place.

#ifndef BATON_TIR_CODEGEN_CPP_SOURCE_H_
#define BATON_TIR_CODEGEN_CPP_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/codegen/function_parts.h"  // IWYU pragma: export

namespace baton::tir {

// The instruction set for which a source is compiled: that of the compiler's
// command line (kNone), or one that the source selects by a pragma. kSse2 is
// x86-64 without further instructions.
enum class CppIsa { kNone, kSse2, kAvx2, kAvx512, kNeon };
// `avx2`; `native` for kNone.
absl::string_view CppIsaName(CppIsa isa);

struct CppSourceOptions {
  std::string name_space;  // `a::b`, of identifiers
  CppIsa isa = CppIsa::kNone;
  // Lines for the comment at the head of the source.
  std::vector<std::string> head;
  // Arrays of more bytes are in the workspace, smaller ones on the stack.
  int64_t max_stack_bytes = 4096;
  // Text that precedes all else, compiled without `isa`.
  std::string before;
  // Text that precedes the functions, in their namespace. `prelude_uses_math`
  // is true if it uses the vector mathematics.
  std::string prelude;
  bool prelude_uses_math = false;
  // Text that follows the functions, in their namespace.
  std::string tail;
  // Text that follows the namespace, compiled with `isa`.
  std::string after;
  // True: functions are inline (kCppShared), so that a program or shared
  // library made of several sources with this namespace has one copy of equal
  // functions. False: functions are static.
  bool is_shared = false;
  // False: leaves out the helpers that functions call; `functions` must be
  // empty.
  bool has_prelude = true;
  // Adds `#line` to each statement that has a place: debuggers, profilers and
  // sanitizers name that place, such as a line of the model's text.
  // `source_name` is the name of the file that the source is written to.
  bool line_table = false;
  std::string source_name;
  // The limit of the size of the source, including the texts above.
  int64_t max_text_bytes = int64_t{64} << 20;
};

struct CppSource {
  std::string text;
  std::vector<CppEmitted> functions;  // in the order of the arguments
};

// `#line 12 "mlp.model.txt"`, with a line feed.
std::string CppLineDirective(int line, absl::string_view file);
// A placeholder in generated text: after it, lines have the numbers that they
// have in the generated source. WriteCppSource() fills in the number.
inline constexpr char kCppOwnLines[] = "#line 0\n";

// The specifiers of a function that sources share.
inline constexpr char kCppShared[] = "inline __attribute__((noinline, used)) ";

// A hash of the helpers that generated functions call. Functions with equal
// text in sources with equal hashes compute the same.
uint64_t CppPreludeHash();

absl::StatusOr<CppSource> WriteCppSource(
    absl::Span<const CppFunction> functions, const CppSourceOptions& options);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_CPP_SOURCE_H_
