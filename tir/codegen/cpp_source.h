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
// Functions have passed the lowering to flat loops: blocks, reductions and
// threads are refused, each with its place, all of them in one error.

#ifndef BATON_TIR_CODEGEN_CPP_SOURCE_H_
#define BATON_TIR_CODEGEN_CPP_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// The instructions that a source is compiled for: what the compiler was asked
// for (kNone), or those that the source itself demands. kSse2 is x86-64 without
// further instructions.
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
  // A longer source is refused, with all text above.
  int64_t max_text_bytes = int64_t{64} << 20;
};

struct CppFunction {
  std::string symbol;  // any text; see CppIdentifier
  PrimFunc function;
  // The place in the model, such as the names of ONNX nodes; a comment.
  std::string origin;
};

// A parameter of an emitted function.
struct CppParam {
  enum class Kind : uint8_t {
    kPointer,    // of the function's parameter `index`
    kNumber,     // the same, a number
    kExtent,     // a variable that buffers define: see `variable`
    kConstant,   // the elements of `constants[index]`
    kWorkspace,  // `workspace_bytes` bytes, aligned to 64
  };
  Kind kind = Kind::kPointer;
  int index = 0;
  std::string type;  // `const float*`
  std::string name;
  bool is_written = false;
  const VarNode* variable = nullptr;
};

struct CppEmitted {
  std::string name;
  std::vector<CppParam> params;
  std::string declaration;  // without semicolon
  // Returns an int other than 0 if an asserted condition does not hold.
  bool can_fail = false;
  int64_t workspace_bytes = 0;
  std::vector<Tensor> constants;
};

struct CppSource {
  std::string text;
  std::vector<CppEmitted> functions;  // in the order of the arguments
};

absl::StatusOr<CppSource> WriteCppSource(
    absl::Span<const CppFunction> functions, const CppSourceOptions& options);

// The C++ type of an element: `float`; `uint16_t` for halves; `uint8_t` for
// bool. Empty for types that cannot be stored.
std::string CppElementType(DType dtype);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_CPP_SOURCE_H_
