// Computations of operators: the loops that compute a call, from which
// LowerToTir makes functions. An operator has one if it sets Computations():
//
//   absl::Status LowerRelu(LoopBuilder& loops) {
//     loops.Store(loops.output(), [&](const Indices& at) {
//       return Max(loops.Load(0, at), ...);
//     });
//     return absl::OkStatus();
//   }
//   BATON_EXTEND_OP("nn.relu").Set(lower::Computations(), LowerRelu);

#ifndef BATON_LOWER_COMPUTATION_H_
#define BATON_LOWER_COMPUTATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {

using Indices = std::vector<tir::PrimExpr>;

// An argument of a call: the elements of a buffer, or one number.
struct Operand {
  tir::Buffer buffer;
  tir::PrimExpr number;  // if there is no buffer
  DType dtype;
  std::vector<int64_t> shape;
};

// The blocks of a function while they are made, one call after another.
class FunctionLoops {
 public:
  // Makes a buffer of shape `shape`. Its name is `name`, with a number if
  // another buffer of the function has that name.
  tir::Buffer MakeBuffer(absl::string_view name, DType dtype,
                         absl::Span<const int64_t> shape);
  // As MakeBuffer, for a buffer that is allocated in the function.
  tir::Buffer Allocate(absl::string_view name, DType dtype,
                       absl::Span<const int64_t> shape);
  // A name that no other block has.
  std::string BlockName(absl::string_view name) {
    return UniqueName(name, block_names_);
  }
  // A buffer of the elements of a tensor, which calls of the function pass
  // behind their arguments.
  tir::Buffer AddConstant(absl::string_view name, const Tensor& value);
  void Append(tir::Stmt stmt) { stmts_.push_back(std::move(stmt)); }
  // The body of the function; call it last.
  tir::Stmt Finish();

  const tir::BuffersByPointer& buffers() const { return buffers_; }
  const std::vector<std::pair<tir::Buffer, Tensor>>& constants() const {
    return constants_;
  }

 private:
  tir::BuffersByPointer buffers_;
  std::vector<std::pair<tir::Buffer, Tensor>> constants_;
  std::vector<tir::Buffer> allocated_;
  std::vector<tir::Stmt> stmts_;
  using Names = FlatHashSet<std::string>;
  static std::string UniqueName(absl::string_view name, Names& names);
  Names buffer_names_;
  Names block_names_;
};

// Builds the blocks of one call. Values of elements are functions of indices,
// one for each axis of the buffer that is written.
class LoopBuilder {
 public:
  LoopBuilder(const relay::CallNode& call, std::vector<Operand> inputs,
              std::vector<tir::Buffer> outputs, FunctionLoops& function)
      : call_(&call),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        function_(function) {}
  // Builds a copy of `input` into `output`. There is no call: call() and
  // attrs() must not be used.
  LoopBuilder(Operand input, tir::Buffer output, FunctionLoops& function)
      : inputs_({std::move(input)}),
        outputs_({std::move(output)}),
        function_(function) {}

  const relay::CallNode& call() const { return *call_; }
  template <typename A>
  const A& attrs() const {
    return AttrsOrDefaults<A>(call_->attrs());
  }

  // The arguments of the call. Each field of a tuple is an input of its own.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Operand& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  DType dtype(int i = 0) const { return input(i).dtype; }
  const std::vector<int64_t>& shape(int i = 0) const { return input(i).shape; }
  int rank(int i = 0) const { return static_cast<int>(shape(i).size()); }
  // The element of input `i` at the indices `at`.
  tir::PrimExpr Load(int i, const Indices& at) const;

  // The buffers for the result of the call: one, or one for each field of a
  // tuple.
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const tir::Buffer& output(int i = 0) const {
    return outputs_[static_cast<size_t>(i)];
  }

  // A buffer for intermediate values.
  tir::Buffer Temporary(absl::string_view name, DType dtype,
                        absl::Span<const int64_t> shape);

  // A buffer of constants that the computation needs.
  tir::Buffer Table(absl::string_view name, const Tensor& value) {
    return function_.AddConstant(name, value);
  }

  using Value = std::function<tir::PrimExpr(const Indices& at)>;
  // `k` are the positions of a reduction, `sum` is the value so far.
  using Step = std::function<tir::PrimExpr(const Indices& at, const Indices& k,
                                           const tir::PrimExpr& sum)>;
  using Condition =
      std::function<tir::PrimExpr(const Indices& at, const Indices& k)>;

  // A block that stores value(at) in each element of `to`.
  void Store(const tir::Buffer& to, const Value& value);
  // A block that folds over `extents`, the last varying fastest: each element
  // begins as init(at), and becomes step(at, k, itself) for each k for which
  // `where` holds. It must hold for the first k.
  void Fold(const tir::Buffer& to, absl::Span<const int64_t> extents,
            const Value& init, const Step& step, const Condition& where = {});
  // A block of statements that run in their order, where an element depends on
  // elements before it or an argument says where it is stored. They may read
  // all arguments, `to` and `from`, and write `to`.
  void Run(absl::Span<const tir::Buffer> to, tir::Stmt body,
           absl::Span<const tir::Buffer> from = {});

 private:
  const relay::CallNode* call_ = nullptr;
  std::vector<Operand> inputs_;
  std::vector<tir::Buffer> outputs_;
  FunctionLoops& function_;
};

// Appends the blocks of a call. An error says in a clause why the call has no
// loops; the caller then discards all that the computation appended.
using Computation = absl::Status (*)(LoopBuilder& loops);

// The operators that have a computation.
OpProperty<Computation>& Computations();

// The error of a computation that does not take a call: `reason` is a clause.
absl::Status NoLoops(absl::string_view reason);
// An error from NoLoops() unless loops can index with the elements of input
// `i`: integers other than bool and uint64.
absl::Status CheckIndices(const LoopBuilder& loops, int i);

// --- Expressions -------------------------------------------------------------

// Indices are int32.
inline tir::PrimExpr Index(int64_t value) {
  return tir::IntImm(tir::kInt32, value);
}
// Applies `op` to `a` and `b`. Floats are not folded: x + 0 differs from x
// where x is -0. A constant divisor without an exact reciprocal becomes
// T.reinterpret() of its bits, because tir.Simplify turns x / T.float32(3) into
// a product.
tir::PrimExpr Op2(tir::BinaryOp op, tir::PrimExpr a, tir::PrimExpr b);
// a < b and a <= b.
inline tir::PrimExpr Less(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kLT, a, b);
}
inline tir::PrimExpr AtMost(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kLE, a, b);
}
// `a && b`, either of which may be null.
tir::PrimExpr And(const tir::PrimExpr& a, const tir::PrimExpr& b);
// The quotient of an index by `b`, rounded down, and the rest.
tir::PrimExpr Divide(const tir::PrimExpr& a, int64_t b);
tir::PrimExpr Rest(const tir::PrimExpr& a, int64_t b);
// The number as T.reinterpret() of its bits, which no pass folds: 0 + x is not
// x if that is -0.
tir::PrimExpr FromBits(const tir::FloatImmNode& number);
// `value` as a number of `dtype`.
tir::PrimExpr Number(DType dtype, double value);
inline tir::PrimExpr Cast(DType dtype, tir::PrimExpr value) {
  return value.dtype() == dtype ? value : tir::Cast(dtype, std::move(value));
}
// The conversion of the operator `cast`: floats become integers without their
// fraction, bounded by 64 bits, which wrap to the width of `dtype`.
tir::PrimExpr Convert(DType dtype, const tir::PrimExpr& value);
// `a` if `condition` holds, otherwise `b`. Only that one is computed.
tir::PrimExpr IfThenElse(const tir::PrimExpr& condition, const tir::PrimExpr& a,
                         const tir::PrimExpr& b);

// --- Statements for LoopBuilder::Run -----------------------------------------

using Body = std::function<tir::Stmt(const Indices& at)>;
// Runs `body` in loops over all indices of an array of shape `shape`. The last
// index varies fastest. `name` is the prefix of the names of the loops.
tir::Stmt ForEach(absl::string_view name, absl::Span<const int64_t> shape,
                  const Body& body);
// Computes `value` once, into a variable `name`, and runs `body` with it.
tir::Stmt With(absl::string_view name, const tir::PrimExpr& value,
               const std::function<tir::Stmt(const tir::PrimExpr&)>& body);
// Runs `body` if `condition` holds, else the function fails.
tir::Stmt Require(const tir::PrimExpr& condition, absl::string_view message,
                  tir::Stmt body);
// Runs `body` with `index` as an index of an axis of `extent` elements. A
// negative `index` counts from the end of the axis. The function fails if
// `index` is not in [-extent, extent).
tir::Stmt WithIndex(absl::string_view name, const tir::PrimExpr& index,
                    int64_t extent,
                    const std::function<tir::Stmt(const tir::PrimExpr&)>& body);
// Takes index_of(0), index_of(1), ..., one for each of `extents`, as indices of
// axes of these extents (see WithIndex). Runs `body` with `begin`, followed by
// these indices.
tir::Stmt WithIndices(absl::Span<const int64_t> extents, Indices begin,
                      const std::function<tir::PrimExpr(size_t)>& index_of,
                      const Body& body);
// As above, with the elements [0][point], [1][point], ... of input 1.
tir::Stmt WithIndices(const LoopBuilder& loops, const Indices& point,
                      absl::Span<const int64_t> extents, Indices begin,
                      const Body& body);
// Runs the statements one after the other. Texts have no sequences in
// sequences: those of `stmts` are parts of the result.
tir::Stmt InOrder(const std::vector<tir::Stmt>& stmts);
// A statement that does nothing.
tir::Stmt Nothing();

// The extents of `buffer`, which are constants.
std::vector<int64_t> ShapeOf(const tir::Buffer& buffer);
int64_t NumElementsOf(absl::Span<const int64_t> shape);
// Flatten() gives the row-major number of the element at the indices `at`;
// Unflatten() gives the indices of the element number `flat`.
tir::PrimExpr Flatten(absl::Span<const tir::PrimExpr> at,
                      absl::Span<const int64_t> shape);
Indices Unflatten(const tir::PrimExpr& flat, absl::Span<const int64_t> shape);
// Converts an axis that counts from the end, if it is negative, to one that
// counts from the front.
inline int NormalAxis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
// The dtype in which kernels compute with elements of `dtype`: float32 for
// float16 and bfloat16.
inline DType WideDType(DType dtype) {
  return dtype.is_half() ? DType::Float(32) : dtype;
}

}  // namespace baton::lower

#endif  // BATON_LOWER_COMPUTATION_H_
