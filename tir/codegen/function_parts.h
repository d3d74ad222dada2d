// Parts that the writers of C++ and of LLVM's text share: parameters of an
// emitted function, ranges of integers, addresses, memory of allocations.

#ifndef BATON_TIR_CODEGEN_FUNCTION_PARTS_H_
#define BATON_TIR_CODEGEN_FUNCTION_PARTS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct CppFunction {
  std::string symbol;  // any text; see CppIdentifier
  PrimFunc function;
  // The place in the model, such as the names of ONNX nodes; a comment.
  std::string origin;
};

// A parameter of an emitted function.
struct CppParam {
  enum class Kind : uint8_t {
    kPointer,    // the pointer that is the function's parameter `index`
    kNumber,     // the number that is the function's parameter `index`
    kExtent,     // `variable`, an extent or a stride of a buffer
    kConstant,   // the elements of `constants[index]`
    kWorkspace,  // `workspace_bytes` bytes, aligned to 64
  };
  Kind kind = Kind::kPointer;
  int index = 0;
  std::string type;  // `const float*`
  std::string name;
  bool is_written = false;
  const VarNode* variable = nullptr;
  // The element behind a pointer, or the number.
  DType dtype;
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

// The C++ type of an element: `float`; `uint16_t` for halves; `uint8_t` for
// bool. Empty for types that cannot be stored.
std::string CppElementType(DType dtype);
// The C++ type of a scalar in an expression: halves are `float`.
std::string CppValueType(DType dtype);

bool IsBFloat(DType dtype);

// `value` rounded to the floating-point type `dtype`: to float first, if
// `dtype` is a half.
double RoundedTo(DType dtype, double value);

// --- Ranges ------------------------------------------------------------------

// The values of an integer expression, for operations that need not wrap.
struct Interval {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
};

// The values of a type; those of uint64, and of types that are no integers, are
// unknown.
Interval RangeOf(DType dtype);
// The values of a parameter: extents are not negative.
Interval RangeOf(const VarNode* var);
// The number of a call of large_uint_imm, which has constant halves; nullopt if
// it has others.
std::optional<int64_t> LargeUInt(const CallNode& call);
// The values of the variable of a loop.
Interval RangeOfLoop(Interval min, Interval end);

// Sets `result` to the interval of a sum, a difference or a product. Returns
// false if the value may be outside of the range of `dtype`.
bool Combine(BinaryOp op, Interval a, Interval b, DType dtype,
             Interval& result);

// --- Memory ------------------------------------------------------------------

// Pointers whose memory a function writes, or passes on.
class WrittenPointers : public Visitor {
 public:
  bool Contains(const VarNode* data) const { return written_.Contains(data); }

 private:
  void VisitBufferStore(const BufferStoreNode* node) override;
  void VisitCall(const CallNode* node) override;
  void VisitLet(const LetNode* node) override;
  void VisitLetStmt(const LetStmtNode* node) override;
  // Adds the pointers in `value`, which is bound to a variable: the function
  // may write through that variable.
  void AddPointers(const PrimExpr& value);

  NodeMap<bool> written_;
};

// The index of an access as one expression, without the lanes of elements.
PrimExpr FlatIndex(const Buffer& buffer, absl::Span<const PrimExpr> indices);

// How an access reaches elements.
enum class Access : uint8_t {
  kRefused,    // vectors at places of a vector, which cannot be written
  kAdjacent,   // from `index` on
  kScattered,  // at the lanes of `index`
};
struct AccessedElements {
  Access access = Access::kRefused;
  PrimExpr index;  // in scalars, not in elements of several lanes
};
// The elements of `buffer` at the place `flat`, a FlatIndex().
AccessedElements ElementsOf(const Buffer& buffer, const PrimExpr& flat);

// Memory of an allocation. `error` says why there can be none, else it is
// empty.
struct AllocationSize {
  int64_t elements = 0;  // scalars
  int64_t bytes = 0;
  std::string error;
};
AllocationSize SizeOf(const AllocateNode* node);

// Places in the workspace, which allocations take in the order of a stack.
class Workspace {
 public:
  static constexpr int64_t kAlignment = 64;
  // The offset of `bytes` bytes, which are free again after Release(offset).
  int64_t Take(int64_t bytes);
  void Release(int64_t offset) { top_ = offset; }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t top_ = 0;
  int64_t bytes_ = 0;
};

// --- Functions -----------------------------------------------------------

// The place of a node, or of the first part of a statement that has one.
Span PlaceOf(const ExprNode* node);

// Parameters of `function`, with names from `names`. Calls `refuse` with each
// node that has no type in C++, and with the reason.
std::vector<CppParam> ParamsOf(
    const PrimFuncNode* function, const WrittenPointers& written,
    CppNames& names,
    absl::FunctionRef<void(const ExprNode*, absl::string_view)> refuse);
// The parameter behind all others, if there is a workspace.
CppParam WorkspaceParam();

// The function of the C library that a T.call_pure_extern calls, if it is one
// of doubles that the interpreter has, too: `exp`, `log` or `pow`; else empty.
std::string LibraryFunctionOf(const CallNode* call);

// Names of at most four buffers that `stmt` writes.
std::vector<std::string> WrittenNames(const Stmt& stmt);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_FUNCTION_PARTS_H_
