#include "baton/testing/random_loops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"
#include "baton/triage/shrink_loops.h"

namespace baton::testing {
namespace {

using tir::BinaryOp;
using tir::Block;
using tir::BlockNode;
using tir::BlockRealize;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferNode;
using tir::BufferStore;
using tir::Evaluate;
using tir::For;
using tir::ForKind;
using tir::IntImm;
using tir::IterVar;
using tir::IterVarType;
using tir::kInt32;
using tir::MakeConst;
using tir::PrimExpr;
using tir::PrimFunc;
using tir::Range;
using tir::Stmt;
using tir::Var;
using tir::VarNode;

constexpr int kLanes = 4;

// The numbers from `lo` to `hi`, which contain the values of an expression.
struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;
};

bool Contains(Interval a, Interval b) { return a.lo <= b.lo && b.hi <= a.hi; }
Interval Union(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// The range of the values in buffers and of the results of expressions. Floats
// represent the integers in it exactly.
Interval SmallStoredRange(DType dtype) {
  if (dtype.is_uint()) return {0, 50};
  const int64_t n = dtype == DType::Float(16) ? 30
                    : dtype.bits() == 8       ? 50
                                              : 1000;
  return {-n, n};
}
Interval SmallComputedRange(DType dtype) {
  if (dtype.is_uint()) return {0, 250};
  const int64_t n = dtype == DType::Float(16) ? 1000
                    : dtype.bits() == 8       ? 120
                                              : int64_t{1} << 20;
  return {-n, n};
}

// All numbers of an integer type of at most 32 bits; of int64 those whose sums
// are in its range.
Interval TypeRange(DType dtype) {
  if (dtype.bits() == 64) return {-(int64_t{1} << 61), int64_t{1} << 61};
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  return {dtype.is_int() ? -(int64_t{1} << bits) : 0, (int64_t{1} << bits) - 1};
}

// The product, or the largest number of its sign.
int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

// `seq` as one statement. Text has no sequences in sequences.
Stmt Sequence(std::vector<Stmt> seq) {
  std::vector<Stmt> flat;
  for (const Stmt& stmt : seq) tir::AppendFlattened(stmt, flat);
  return tir::MakeSeq(std::move(flat));
}

// A scalar or vector, and where its values, which are integers, lie.
struct Value {
  PrimExpr e;
  Interval in;
};

// The extent of an axis, and what it may be. `most` is 0 for an extent of zero.
struct Extent {
  PrimExpr e;
  int64_t least;
  int64_t most;
  bool is_constant() const { return least == most; }
};

Extent Constant(int64_t n) { return {IntImm(kInt32, n), n, n}; }

// A buffer that can be accessed. `is_set`: all its elements were written.
struct Known {
  Buffer buffer;
  std::vector<Extent> shape;
  bool is_set = false;
  bool is_writable = true;
};

// A variable, and the extent that it is below of, if that is a variable.
struct Iterator {
  Value value;
  const tir::PrimExprNode* below = nullptr;
};

class Generator {
 public:
  Generator(uint32_t seed, const RandomLoopsOptions& options)
      : random_(seed), options_(options) {}

  PrimFunc Run() {
    tir::PrimFuncNode::Parts function;
    function.attrs = DictAttrs(AttrMap{
        {std::string(tir::kGlobalSymbol), "main"}, {"tir.noalias", true}});
    if (options_.symbolic) {
      const Var n = Random(2) == 0 ? Var("n", kInt32) : Var::Size("n", kInt32);
      symbol_ = {n, 1, 64};
    }
    for (int i = Random(3); i > 0; --i) {
      const Var number(absl::StrCat("k", i), kInt32);
      function.params.push_back(number);
      numbers_.push_back({number, {-16, 16}});
    }
    const int inputs = 1 + Random(3);
    const int outputs = 1 + Random(2);
    for (int i = 0; i < inputs + outputs; ++i) {
      const bool is_input = i < inputs;
      const DType dtype = AnyDType();
      Known known = NewBuffer(absl::StrCat(is_input ? "A" : "C", i), dtype,
                              options_.symbolic);
      known.is_set = true;
      known.is_writable = !is_input;
      function.buffers.push_back(
          {static_cast<int64_t>(function.params.size()), known.buffer});
      function.params.push_back(Var(absl::StrCat("p", i), tir::kHandle));
      buffers_.push_back(std::move(known));
    }
    // The symbol is known only where the shape of a parameter defines it.
    bool has_symbol = false;
    for (const Known& known : buffers_) {
      for (const Extent& extent : known.shape) {
        has_symbol = has_symbol || !extent.is_constant();
      }
    }
    if (!has_symbol) symbol_ = {};
    if (has_symbol) numbers_.push_back({symbol_.e, {1, 64}});

    std::vector<Known> intermediates;
    const size_t first = buffers_.size();
    for (int i = Random(4); i > 0; --i) {
      const DType dtype = AnyDType();
      buffers_.push_back(
          NewBuffer(absl::StrCat("B", i), dtype, Random(4) == 0));
    }
    std::vector<Stmt> stages;
    for (int i = 0; i < options_.size; ++i) stages.push_back(Stage());
    // All memory is used.
    for (size_t i = first; i < buffers_.size(); ++i) {
      if (!buffers_[i].is_set) stages.push_back(Nest(i, false));
    }
    intermediates.assign(buffers_.begin() + static_cast<std::ptrdiff_t>(first),
                         buffers_.end());
    Stmt body = Sequence(std::move(stages));
    if (options_.blocks) {
      BlockNode::Parts root;
      root.name = "root";
      for (const Known& known : intermediates) {
        root.alloc_buffers.push_back(known.buffer);
      }
      root.body = std::move(body);
      body = BlockRealize({}, IntImm::Bool(true), Block(std::move(root)));
    } else {
      for (const Known& known : intermediates) {
        body = Allocated(known.buffer, std::move(body));
      }
    }
    function.body = std::move(body);
    return PrimFunc(std::move(function));
  }

 private:
  int Random(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }
  template <typename T>
  const T& OneOf(const std::vector<T>& values) {
    return values[static_cast<size_t>(Random(static_cast<int>(values.size())))];
  }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Random(static_cast<int>(values.size())));
  }
  std::string Name(absl::string_view prefix) {
    return absl::StrCat(prefix, names_++);
  }

  // --- Buffers ---------------------------------------------------------------

  Interval StoredRange(DType dtype) const {
    return options_.type_ends && dtype.is_integral() ? TypeRange(dtype)
                                                     : SmallStoredRange(dtype);
  }
  Interval ComputedRange(DType dtype) const {
    return options_.type_ends && dtype.is_integral()
               ? TypeRange(dtype)
               : SmallComputedRange(dtype);
  }

  DType AnyDType() {
    if (options_.type_ends && Random(3) > 0) {
      return OneOf({DType::Int(8), DType::UInt(8), DType::Int(16),
                    DType::UInt(16), DType::UInt(32), DType::Int(64)});
    }
    switch (Random(9)) {
      case 0:
        return DType::Int(8);
      case 1:
        return DType::UInt(8);
      case 2:
        return DType::Int(64);
      case 3:
        return DType::Float(16);
      case 4:
      case 5:
      case 6:
        return kInt32;
      default:
        return DType::Float(32);
    }
  }

  Known NewBuffer(std::string name, DType dtype, bool may_be_symbolic) {
    Known known;
    const int rank = 1 + Random(3);
    for (int i = 0; i < rank; ++i) {
      if (may_be_symbolic && symbol_.e.defined() && Random(3) == 0) {
        known.shape.push_back(symbol_);
      } else {
        known.shape.push_back(Constant(rank == 3 ? OneOf({1, 2, 3, 4})
                                                 : OneOf({1, 3, 4, 5, 8, 8})));
      }
    }
    BufferNode::Parts parts;
    for (const Extent& extent : known.shape) parts.shape.push_back(extent.e);
    parts.data = Var::Pointer(name, dtype, "global");
    parts.name = std::move(name);
    parts.dtype = dtype;
    known.buffer = Buffer(std::move(parts));
    return known;
  }

  // `body` with memory for `buffer`.
  Stmt Allocated(const Buffer& buffer, Stmt body) {
    return tir::Allocate(buffer->data(), buffer.dtype(),
                         {buffer->shape().begin(), buffer->shape().end()},
                         IntImm::Bool(true), {},
                         tir::DeclBuffer(buffer, std::move(body)));
  }

  // --- Expressions -----------------------------------------------------------

  Value Number(DType dtype, int64_t n) {
    if (options_.type_ends && dtype.is_integral() && Random(3) == 0) {
      const Interval all = TypeRange(dtype);
      n = (Random(2) == 0 ? all.lo : all.hi) / (1 << Random(3));
      n = n > 0 ? n - Random(3) : n + Random(3);
    }
    return Exactly(dtype, n);
  }
  static Value Exactly(DType dtype, int64_t n) {
    if (dtype.is_uint()) n = std::abs(n);
    return {MakeConst(dtype, n), {n, n}};
  }

  static int64_t FloorDiv(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
  }

  // `op` on two values of one type; `a` where the result might be too large, or
  // the divisor is no constant.
  Value Combine(BinaryOp op, const Value& a, const Value& b) {
    Interval in;
    const auto corners = [&in](auto fn, Interval x, Interval y) {
      const int64_t all[] = {fn(x.lo, y.lo), fn(x.lo, y.hi), fn(x.hi, y.lo),
                             fn(x.hi, y.hi)};
      in = {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
    };
    const int64_t c = b.in.lo;
    if (op >= BinaryOp::kDiv && op <= BinaryOp::kFloorMod &&
        (c != b.in.hi || c == 0)) {
      return a;
    }
    switch (op) {
      case BinaryOp::kAdd:
        in = {a.in.lo + b.in.lo, a.in.hi + b.in.hi};
        break;
      case BinaryOp::kSub:
        in = {a.in.lo - b.in.hi, a.in.hi - b.in.lo};
        break;
      case BinaryOp::kMul:
        corners(testing::Times, a.in, b.in);
        break;
      case BinaryOp::kDiv:
        corners([](int64_t x, int64_t y) { return x / y; }, a.in, b.in);
        break;
      case BinaryOp::kFloorDiv:
        corners(FloorDiv, a.in, b.in);
        break;
      case BinaryOp::kMod:
        in = {a.in.lo < 0 ? 1 - std::abs(c) : 0,
              a.in.hi > 0 ? std::abs(c) - 1 : 0};
        break;
      case BinaryOp::kFloorMod:
        in = c > 0 ? Interval{0, c - 1} : Interval{c + 1, 0};
        break;
      case BinaryOp::kMin:
        in = {std::min(a.in.lo, b.in.lo), std::min(a.in.hi, b.in.hi)};
        break;
      default:
        in = {std::max(a.in.lo, b.in.lo), std::max(a.in.hi, b.in.hi)};
        break;
    }
    const DType element = tir::WithLanes(a.e.dtype(), 1);
    if (!Contains(ComputedRange(element), in)) {
      if (!options_.type_ends || !tir::IsModular(element)) return a;
      in = TypeRange(element);
    }
    return {Random(3) == 0 ? PrimExpr(tir::Binary(op, a.e, b.e))
                           : tir::MakeBinary(op, a.e, b.e),
            in};
  }

  // `a` if it lies in `in`, else brought there.
  Value Within(const Value& a, Interval in) {
    if (Contains(in, a.in)) return a;
    const DType dtype = a.e.dtype();
    const auto number = [&](int64_t n) {
      return Value{MakeConst(dtype, n), {n, n}};
    };
    if (dtype.is_integral() && in.lo <= 0 && in.hi >= 0 && Random(2) == 0) {
      return Combine(BinaryOp::kFloorMod, a, number(in.hi + 1));
    }
    Value result = a;
    if (a.in.hi > in.hi) {
      result = Combine(BinaryOp::kMin, result, number(in.hi));
    }
    if (result.in.lo < in.lo) {
      result = Combine(BinaryOp::kMax, result, number(in.lo));
    }
    return result;
  }

  Value Converted(DType dtype, const Value& a) {
    if (a.e.dtype() == dtype) return a;
    if (options_.type_ends && tir::IsModular(dtype) &&
        tir::WithLanes(a.e.dtype(), 1).is_integral()) {
      const Interval all = TypeRange(dtype);
      return {tir::CastTo(dtype, a.e), Contains(all, a.in) ? a.in : all};
    }
    const Value small = Within(a, StoredRange(dtype));
    return {Random(3) == 0 ? PrimExpr(tir::Cast(dtype, small.e))
                           : tir::CastTo(dtype, small.e),
            small.in};
  }

  Value Leaf(DType dtype) {
    if (dtype != kInt32 && Random(2) == 0) {
      return Number(dtype, Random(17) - 8);
    }
    const int n = Random(4);
    if (n > 0 && !iterators_.empty()) {
      return Converted(dtype, OneOf(iterators_).value);
    }
    if (n > 1 && !numbers_.empty()) return Converted(dtype, OneOf(numbers_));
    return Number(dtype, Random(17) - 8);
  }

  Value Any(DType dtype, int depth) {
    if (depth <= 0 || Random(6) == 0) {
      Value loaded;
      if (Random(3) > 0 && Load(dtype, depth, loaded)) return loaded;
      return Leaf(dtype);
    }
    const Value a = Any(dtype, depth - 1);
    const auto b = [&] { return Any(dtype, depth - 1); };
    switch (Random(20)) {
      case 0:
      case 1:
        return Combine(BinaryOp::kAdd, a, b());
      case 2:
        return Combine(BinaryOp::kSub, a, b());
      case 3:
        return Combine(BinaryOp::kMul, a, b());
      case 4:
        return Combine(BinaryOp::kMul, a, Number(dtype, Random(7) - 3));
      case 5:
        return Combine(BinaryOp::kMin, a, b());
      case 6:
        return Combine(BinaryOp::kMax, a, b());
      case 7:
      case 8: {
        const PrimExpr condition = Condition(depth - 1);
        const Value other = b();
        return {Random(2) == 0 ? PrimExpr(tir::Select(condition, a.e, other.e))
                               : tir::CallIntrinsic("if_then_else",
                                                    {condition, a.e, other.e}),
                Union(a.in, other.in)};
      }
      case 9:
        return Converted(dtype, Any(AnyDType(), depth - 1));
      case 10: {
        if (!options_.statements) return a;
        const Var x(Name("x"), kInt32);
        const Value value = Any(kInt32, depth - 1);
        iterators_.push_back({{x, value.in}});
        const Value body = Any(dtype, depth - 1);
        iterators_.pop_back();
        return {tir::Let(x, value.e, body.e), body.in};
      }
      default:
        return dtype.is_float() ? OfFloat(a) : OfInteger(a, depth);
    }
  }

  Value OfFloat(const Value& a) {
    if (Random(2) == 0) {
      return {tir::CallIntrinsic("floor", {a.e}), a.in};
    }
    const int64_t most = std::max(std::abs(a.in.lo), std::abs(a.in.hi));
    return {tir::CallIntrinsic("fabs", {a.e}), {0, most}};
  }

  Value OfInteger(const Value& a, int depth) {
    const DType dtype = a.e.dtype();
    const int64_t divisor = OneOf({2, 3, 4, 5, 7, 8, 16});
    const Value by = Exactly(dtype, Random(3) == 0 ? -divisor : divisor);
    switch (Random(6)) {
      case 0:
        return Combine(BinaryOp::kFloorDiv, a, by);
      case 1:
        return Combine(BinaryOp::kFloorMod, a, by);
      case 2:
        return Combine(BinaryOp::kDiv, a, by);
      case 3:
        return Combine(BinaryOp::kMod, a, by);
      case 4: {
        // A divisor that is known to be positive.
        const Value b = Within(Any(dtype, depth - 1), {1, 16});
        return {tir::MakeBinary(BinaryOp::kFloorMod, a.e, b.e),
                {0, std::max<int64_t>(b.in.hi - 1, 0)}};
      }
      default:
        if (a.in.lo < 0 || dtype != kInt32) return a;
        return {
            tir::CallIntrinsic("shift_right", {a.e, IntImm(dtype, Random(4))}),
            {0, a.in.hi}};
    }
  }

  PrimExpr Condition(int depth) {
    switch (Random(depth > 0 ? 10 : 6)) {
      case 6:
      case 7:
      case 8: {
        const PrimExpr a = Condition(depth - 1);
        const PrimExpr b = Condition(depth - 1);
        return tir::MakeBinary(OneOf({BinaryOp::kAnd, BinaryOp::kOr,
                                      BinaryOp::kEQ, BinaryOp::kNE}),
                               a, b);
      }
      case 9:
        return tir::Not(Condition(depth - 1));
      default: {
        const DType dtype = Random(3) == 0 ? AnyDType() : kInt32;
        const auto op =
            static_cast<BinaryOp>(static_cast<int>(BinaryOp::kEQ) + Random(6));
        const Value a = Any(dtype, depth);
        const Value b = Random(2) == 0 ? Leaf(dtype) : Any(dtype, depth);
        return tir::Binary(op, a.e, b.e);
      }
    }
  }

  // An index of an axis.
  PrimExpr IndexOf(const Extent& extent, int depth) {
    std::vector<PrimExpr> fitting;
    for (const Iterator& i : iterators_) {
      const bool fits = extent.is_constant()
                            ? i.value.in.lo >= 0 && i.value.in.hi < extent.most
                            : i.below == extent.e.get();
      if (fits) fitting.push_back(i.value.e);
    }
    const PrimExpr last = tir::Sub(extent.e, IntImm(kInt32, 1));
    if (!fitting.empty() && Random(4) > 0) {
      const PrimExpr& i = OneOf(fitting);
      return Random(6) == 0 ? tir::Sub(last, i) : i;
    }
    if (depth <= 0) {
      return IntImm(kInt32, extent.is_constant()
                                ? Random(static_cast<int>(extent.most))
                                : 0);
    }
    const Value a = Any(kInt32, 1);
    if (extent.is_constant()) return Within(a, {0, extent.most - 1}).e;
    if (Random(2) == 0) {
      return tir::MakeBinary(BinaryOp::kFloorMod, a.e, extent.e);
    }
    return tir::MakeBinary(
        BinaryOp::kMin, tir::MakeBinary(BinaryOp::kMax, a.e, IntImm(kInt32, 0)),
        last);
  }

  std::vector<PrimExpr> IndicesOf(const Known& known, int depth) {
    std::vector<PrimExpr> indices;
    for (const Extent& extent : known.shape) {
      indices.push_back(IndexOf(extent, depth));
    }
    return indices;
  }

  // A load of an element of `dtype`; false if no buffer has any.
  bool Load(DType dtype, int depth, Value& result) {
    std::vector<const Known*> candidates;
    for (const Known& known : buffers_) {
      if (known.is_set && known.buffer.dtype() == dtype &&
          known.buffer != hidden_) {
        candidates.push_back(&known);
      }
    }
    if (candidates.empty()) return false;
    const Known known = *OneOf(candidates);
    result = {BufferLoad(known.buffer, IndicesOf(known, depth - 1)),
              StoredRange(dtype)};
    return true;
  }

  // A value to store.
  Value ToStore(DType dtype) {
    return Within(Any(dtype, 1 + Random(3)), StoredRange(dtype));
  }

  // A vector of `dtype`.
  Value Vector(DType dtype, int depth) {
    const DType vector = tir::WithLanes(dtype, kLanes);
    if (depth > 0 && Random(4) > 0) {
      const Value a = Vector(dtype, depth - 1);
      const Value b = Vector(dtype, depth - 1);
      if (Random(4) == 0) {
        const PrimExpr condition =
            tir::Binary(OneOf({BinaryOp::kLT, BinaryOp::kNE}), a.e, b.e);
        return {tir::Select(condition, a.e, b.e), Union(a.in, b.in)};
      }
      return Combine(OneOf({BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                            BinaryOp::kMin, BinaryOp::kMax}),
                     a, b);
    }
    if (dtype == kInt32 && Random(3) == 0) {
      const Value base = Leaf(kInt32);
      const int stride = Random(5) - 2;
      const Interval in = {base.in.lo - 2 * kLanes, base.in.hi + 2 * kLanes};
      if (Contains(ComputedRange(kInt32), in)) {
        return {tir::Ramp(base.e, IntImm(kInt32, stride), kLanes), in};
      }
    }
    for (const Known& known : buffers_) {
      if (known.is_set && known.buffer.dtype() == dtype && HasLanes(known) &&
          known.buffer != hidden_ && Random(2) == 0) {
        std::vector<PrimExpr> indices = IndicesOf(known, 1);
        indices.back() = RampIn(known.shape.back().most);
        return {BufferLoad(known.buffer, std::move(indices)),
                StoredRange(dtype)};
      }
    }
    const Value a = Any(dtype, 1);
    Value result = {tir::Broadcast(a.e, kLanes), a.in};
    if (dtype == kInt32 || Random(3) > 0) return result;
    // The result is cast from a vector of another type.
    const Value other = Within(Any(kInt32, 1), StoredRange(dtype));
    return {tir::Cast(vector, tir::Broadcast(other.e, kLanes)), other.in};
  }

  static bool HasLanes(const Known& known) {
    const Extent& last = known.shape.back();
    return last.is_constant() && last.most >= kLanes;
  }
  // A ramp of indices below `extent`.
  PrimExpr RampIn(int64_t extent) {
    const bool doubled = extent >= 2 * kLanes && Random(3) == 0;
    const int stride = doubled ? 2 : 1;
    const int64_t last = extent - (kLanes - 1) * stride;
    const Value base = Within(Leaf(kInt32), {0, last - 1});
    return tir::Ramp(base.e, IntImm(kInt32, stride), kLanes);
  }

  // --- Statements ------------------------------------------------------------

  // A variable for a loop: a new one, or one of a loop that has ended.
  Var LoopVar(absl::string_view prefix, DType dtype = kInt32) {
    if (options_.shared_variables && dtype == kInt32 && Random(2) == 0) {
      for (const Var& var : ended_) {
        if (Random(2) == 0 && var.dtype() == kInt32 && !IsActive(var)) {
          active_.push_back(var);
          return var;
        }
      }
    }
    Var var(Name(prefix), dtype);
    active_.push_back(var);
    return var;
  }
  bool IsActive(const Var& var) const {
    return std::find(active_.begin(), active_.end(), var) != active_.end();
  }
  void End(const Var& var) {
    active_.erase(std::find(active_.begin(), active_.end(), var));
    ended_.push_back(var);
  }

  static For Loop(const Var& var, PrimExpr min, PrimExpr extent, Stmt body,
                  ForKind kind = ForKind::kSerial) {
    tir::ForNode::Parts parts;
    parts.loop_var = var;
    parts.min = std::move(min);
    parts.extent = std::move(extent);
    parts.kind = kind;
    parts.body = std::move(body);
    return For(std::move(parts));
  }

  // A loop of a nest, and the value of its variable.
  struct Level {
    Var var;
    PrimExpr min;
    Extent extent;
    bool is_reduction = false;
  };

  // Loops for an axis: appends them, and to `predicate` what must hold.
  // Returns the index of the axis.
  PrimExpr Axis(const Extent& extent, bool is_reduction,
                std::vector<Level>& levels, PrimExpr& predicate) {
    const auto level = [&](Extent of, int64_t min) {
      const bool wide = of.is_constant() && min == 0 &&
                        Random(options_.type_ends ? 3 : 10) == 0;
      DType dtype = wide ? DType::Int(64) : kInt32;
      if (wide && options_.type_ends) {
        dtype = OneOf({DType::Int(64), DType::Int(16), DType::UInt(8),
                       DType::UInt(16), DType::UInt(32)});
      }
      const Var var = LoopVar(is_reduction ? "k" : "i", dtype);
      if (wide) of.e = IntImm(dtype, of.most);
      levels.push_back({var, IntImm(dtype, min), of, is_reduction});
      return wide ? PrimExpr(tir::Cast(kInt32, var)) : PrimExpr(var);
    };
    if (extent.is_constant() && extent.most >= 3 && Random(4) == 0) {
      const int64_t inner = OneOf({2, 4});
      const int64_t outer = (extent.most + inner - 1) / inner;
      const PrimExpr i = level(Constant(outer), 0);
      const PrimExpr j = level(Constant(inner), 0);
      const PrimExpr index = tir::Add(tir::Mul(i, IntImm(kInt32, inner)), j);
      if (outer * inner != extent.most) {
        const PrimExpr fits = tir::Binary(BinaryOp::kLT, index, extent.e);
        predicate = tir::MakeBinary(BinaryOp::kAnd, predicate, fits);
      }
      return index;
    }
    if (!extent.is_constant() && Random(4) == 0) {
      // Tiles of an extent that is not known.
      const PrimExpr c = IntImm(kInt32, 4);
      const PrimExpr tiles = tir::MakeBinary(
          BinaryOp::kFloorDiv, tir::Add(extent.e, IntImm(kInt32, 3)), c);
      const PrimExpr i = level({tiles, 1, 17}, 0);
      const PrimExpr j = level(Constant(4), 0);
      const PrimExpr index = tir::Add(tir::Mul(i, c), j);
      predicate = tir::MakeBinary(BinaryOp::kAnd, predicate,
                                  tir::Binary(BinaryOp::kLT, index, extent.e));
      return index;
    }
    if (Random(8) == 0) {
      const int64_t min = Random(9) - 4;
      return tir::Sub(level(extent, min), IntImm(kInt32, min));
    }
    return level(extent, 0);
  }

  // A nest of loops that writes each element of `target`, by a sum or by an
  // element each.
  Stmt Nest(size_t target_index, bool is_reduction) {
    const Known target = buffers_[target_index];
    std::vector<Level> levels;
    std::vector<PrimExpr> indices;
    std::vector<Extent> extents = target.shape;
    PrimExpr predicate = IntImm::Bool(true);
    size_t axes = extents.size();
    if (is_reduction) {
      for (int i = 1 + Random(2); i > 0; --i) {
        extents.push_back(symbol_.e.defined() && Random(4) == 0
                              ? symbol_
                              : Constant(1 + Random(4)));
      }
    }
    if (axes >= 2 && extents[0].is_constant() && extents[1].is_constant() &&
        Random(5) == 0) {
      // Two axes in one loop.
      const PrimExpr both = Axis(Constant(extents[0].most * extents[1].most),
                                 false, levels, predicate);
      for (const BinaryOp op : {BinaryOp::kFloorDiv, BinaryOp::kFloorMod}) {
        indices.push_back(tir::MakeBinary(op, both, extents[1].e));
      }
    }
    while (indices.size() < extents.size()) {
      const size_t i = indices.size();
      indices.push_back(Axis(extents[i], i >= axes, levels, predicate));
    }
    if (Random(3) == 0) {
      for (size_t i = levels.size(); i-- > 1;) {
        std::swap(levels[i],
                  levels[static_cast<size_t>(Random(static_cast<int>(i + 1)))]);
      }
    }
    const size_t outer = iterators_.size();
    Stmt body =
        options_.blocks
            ? OneBlock(target, extents, indices, predicate, is_reduction)
            : OneStatement(target, extents, indices, predicate, is_reduction);
    iterators_.resize(outer);
    bool has_thread = false;
    bool is_innermost = true;
    for (size_t i = levels.size(); i-- > 0;) {
      const Level& level = levels[i];
      ForKind kind = ForKind::kSerial;
      if (Random(2) == 0) kind = KindOf(level, is_innermost, has_thread);
      For loop = Loop(level.var, level.min, level.extent.e, body, kind);
      if (kind == ForKind::kThreadBinding) {
        tir::ForNode::Parts parts = loop->parts();
        const Var thread("iter", kInt32);
        parts.thread =
            IterVar(Range(), thread, IterVarType::kThreadIndex, "threadIdx.x");
        loop = For(std::move(parts));
        has_thread = has_thread_ = true;
      }
      body = std::move(loop);
      is_innermost = false;
      End(level.var);
      // A thread is a thread everywhere.
      if (kind == ForKind::kThreadBinding) ended_.pop_back();
    }
    if (!options_.blocks && is_reduction) {
      body = Sequence({Filled(target), std::move(body)});
    }
    buffers_[target_index].is_set = true;
    return body;
  }

  ForKind KindOf(const Level& level, bool is_innermost, bool has_thread) {
    const bool is_constant = level.extent.is_constant();
    if (options_.threads && !has_thread && !has_thread_ &&
        !level.is_reduction && is_constant && tir::IsZero(level.min) &&
        std::find(ended_.begin(), ended_.end(), level.var) == ended_.end()) {
      return ForKind::kThreadBinding;
    }
    switch (Random(3)) {
      case 0:
        return level.is_reduction ? ForKind::kSerial : ForKind::kParallel;
      case 1:
        return is_constant ? ForKind::kUnrolled : ForKind::kSerial;
      default:
        return options_.vectors && is_innermost && is_constant &&
                       !level.is_reduction && tir::IsZero(level.min)
                   ? ForKind::kVectorized
                   : ForKind::kSerial;
    }
  }

  // The value that a reduction adds, or takes the largest of.
  Stmt Accumulated(const Known& target, std::vector<PrimExpr> indices,
                   int64_t times) {
    const DType dtype = target.buffer.dtype();
    const Value old = {BufferLoad(target.buffer, indices), StoredRange(dtype)};
    const Interval in = StoredRange(dtype);
    const bool is_sum = Random(3) > 0 && in.hi / times > 0;
    Value element = Any(dtype, 1 + Random(2));
    element =
        Within(element, is_sum ? Interval{in.lo / times, in.hi / times} : in);
    return BufferStore(
        target.buffer,
        tir::Binary(is_sum ? BinaryOp::kAdd : BinaryOp::kMax, old.e, element.e),
        std::move(indices));
  }

  static int64_t Times(absl::Span<const Extent> extents, size_t axes) {
    int64_t times = 1;
    for (size_t i = axes; i < extents.size(); ++i) times *= extents[i].most;
    return times;
  }

  // The zeros from which a reduction starts.
  Stmt Filled(const Known& target) {
    std::vector<Var> vars;
    std::vector<PrimExpr> indices;
    for (size_t i = 0; i < target.shape.size(); ++i) {
      vars.push_back(LoopVar("z"));
      indices.push_back(vars.back());
    }
    Stmt body = BufferStore(target.buffer, MakeConst(target.buffer.dtype(), 0),
                            indices);
    for (size_t i = vars.size(); i-- > 0;) {
      body = Loop(vars[i], IntImm(kInt32, 0), target.shape[i].e, body);
      End(vars[i]);
    }
    return body;
  }

  void AddIterator(PrimExpr e, const Extent& extent) {
    Iterator& added = iterators_.emplace_back();
    added.value = {std::move(e), {0, extent.most - 1}};
    if (!extent.is_constant()) added.below = extent.e.get();
  }

  Stmt OneStatement(const Known& target, absl::Span<const Extent> extents,
                    absl::Span<const PrimExpr> indices,
                    const PrimExpr& predicate, bool is_reduction) {
    const size_t axes = target.shape.size();
    for (size_t i = 0; i < indices.size(); ++i) {
      AddIterator(indices[i], extents[i]);
    }
    Stmt body;
    std::vector<PrimExpr> at(
        indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(axes));
    {
      const Buffer hidden = std::exchange(hidden_, target.buffer);
      body = is_reduction
                 ? Accumulated(target, std::move(at), Times(extents, axes))
                 : Stored(target, std::move(at));
      hidden_ = hidden;
    }
    if (tir::IsOne(predicate)) return body;
    return tir::IfThenElse(
        Random(2) == 0 ? tir::CallIntrinsic("likely", {predicate}) : predicate,
        std::move(body));
  }

  // The element at `indices` written, perhaps by way of a let or a condition.
  Stmt Stored(const Known& target, std::vector<PrimExpr> indices) {
    const DType dtype = target.buffer.dtype();
    if (!options_.statements || Random(3) > 0) {
      return BufferStore(target.buffer, ToStore(dtype).e, std::move(indices));
    }
    if (Random(2) == 0) {
      const Var x(Name("x"), kInt32);
      const Value value = Any(kInt32, 2);
      iterators_.push_back({{x, value.in}});
      Stmt body =
          BufferStore(target.buffer, ToStore(dtype).e, std::move(indices));
      iterators_.pop_back();
      return tir::LetStmt(x, value.e, std::move(body));
    }
    const PrimExpr condition = Condition(1);
    Stmt then_case = BufferStore(target.buffer, ToStore(dtype).e, indices);
    Stmt else_case =
        target.is_set && Random(2) == 0
            ? Stmt()
            : BufferStore(target.buffer, ToStore(dtype).e, indices);
    return tir::IfThenElse(condition, std::move(then_case),
                           std::move(else_case));
  }

  Stmt OneBlock(const Known& target, absl::Span<const Extent> extents,
                absl::Span<const PrimExpr> indices, const PrimExpr& predicate,
                bool is_reduction) {
    const size_t axes = target.shape.size();
    BlockNode::Parts block;
    block.name = Name("S");
    std::vector<PrimExpr> at;
    // Only its own variables are used in the block.
    std::vector<Iterator> outside;
    outside.swap(iterators_);
    for (size_t i = 0; i < indices.size(); ++i) {
      const Var v(Name("v"), kInt32);
      block.iter_vars.push_back(
          IterVar({IntImm(kInt32, 0), extents[i].e}, v,
                  i < axes ? IterVarType::kDataPar : IterVarType::kCommReduce));
      AddIterator(v, extents[i]);
      if (i < axes) at.push_back(v);
    }
    const size_t known = buffers_.size();
    if (options_.statements && Random(4) == 0) AddMatch(block, target);
    const Buffer hidden = std::exchange(hidden_, target.buffer);
    if (is_reduction) {
      block.init =
          BufferStore(target.buffer, MakeConst(target.buffer.dtype(), 0), at);
      block.body = Accumulated(target, at, Times(extents, axes));
    } else {
      block.body = Stored(target, at);
    }
    hidden_ = hidden;
    buffers_.resize(known);
    iterators_ = std::move(outside);
    return BlockRealize({indices.begin(), indices.end()}, predicate,
                        WithRegions(std::move(block)));
  }

  Block WithRegions(BlockNode::Parts parts) {
    tir::BuffersByPointer pointers;
    for (const Known& known : buffers_) {
      pointers.Set(known.buffer->data(), known.buffer);
    }
    for (const tir::MatchRegion& match : parts.match_buffers) {
      pointers.Erase(match->buffer()->data().get());
    }
    tir::ReadWriteRegions regions =
        tir::FindBlockReadWriteRegions(Block(parts), pointers);
    parts.reads = std::move(regions.reads);
    parts.writes = std::move(regions.writes);
    return Block(std::move(parts));
  }

  // A buffer that is a view of a region of another one.
  void AddMatch(BlockNode::Parts& block, const Known& target) {
    std::vector<Known> candidates;
    for (const Known& known : buffers_) {
      if (known.is_set && known.buffer != target.buffer) {
        candidates.push_back(known);
      }
    }
    if (candidates.empty()) return;
    const Known source = OneOf(candidates);
    Known view;
    std::vector<Range> region;
    BufferNode::Parts parts;
    for (const Extent& extent : source.shape) {
      int64_t part = 1;
      if (extent.is_constant() && Random(2) == 0) {
        part = 1 + Random(static_cast<int>(extent.most));
        const int64_t last = extent.most - part;
        region.push_back(
            {Within(Leaf(kInt32), {0, last}).e, IntImm(kInt32, part)});
      } else {
        region.push_back({IndexOf(extent, 0), IntImm(kInt32, 1)});
      }
      view.shape.push_back(Constant(part));
      parts.shape.push_back(IntImm(kInt32, part));
      parts.strides.push_back(Var(Name("s"), kInt32));
    }
    parts.name = Name("M");
    parts.dtype = source.buffer.dtype();
    parts.data = Var::Pointer(parts.name, parts.dtype, "global");
    parts.elem_offset = Var(Name("o"), kInt32);
    view.buffer = Buffer(std::move(parts));
    view.is_set = true;
    view.is_writable = false;
    block.match_buffers.push_back(tir::MatchRegion(
        view.buffer, tir::BufferRegion(source.buffer, std::move(region))));
    buffers_.push_back(std::move(view));
  }

  Stmt Stage() {
    std::vector<size_t> unset;
    std::vector<size_t> writable;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (!buffers_[i].is_writable) continue;
      (buffers_[i].is_set ? writable : unset).push_back(i);
    }
    if (!unset.empty() && Random(4) > 0) {
      const size_t target = OneOf(unset);
      return Nest(target, Random(3) == 0);
    }
    if (options_.statements && Random(2) == 0) return Statements(2);
    const size_t target = OneOf(writable);
    const int n = Random(8);
    if (n > 1) return Nest(target, Random(3) == 0);
    // Around it, a loop of one step or none.
    const Var unit = LoopVar("u");
    Stmt nest = Nest(target, Random(3) == 0);
    End(unit);
    return Loop(unit, IntImm(kInt32, 0), IntImm(kInt32, n), std::move(nest));
  }

  // One to three statements in order.
  Stmt Statements(int depth) {
    std::vector<Stmt> seq;
    for (int i = 1 + Random(3); i > 0; --i) seq.push_back(Statement(depth));
    return Sequence(std::move(seq));
  }

  // A store to an element of a buffer that was written before.
  Stmt Store() {
    std::vector<Known> candidates;
    for (const Known& known : buffers_) {
      if (known.is_set && known.is_writable) candidates.push_back(known);
    }
    const Known target = OneOf(candidates);
    const DType dtype = target.buffer.dtype();
    std::vector<PrimExpr> indices = IndicesOf(target, 2);
    if (!options_.vectors || !HasLanes(target) || Random(3) > 0) {
      return BufferStore(target.buffer, ToStore(dtype).e, std::move(indices));
    }
    indices.back() = RampIn(target.shape.back().most);
    return BufferStore(target.buffer,
                       Within(Vector(dtype, 2), StoredRange(dtype)).e,
                       std::move(indices));
  }

  Stmt Statement(int depth) {
    if (depth <= 0) return Store();
    switch (Random(12)) {
      case 0:
      case 1: {
        const Var i = LoopVar("j");
        const Value begin = Random(3) == 0 ? Within(Any(kInt32, 1), {-8, 8})
                                           : Exactly(kInt32, 0);
        Value extent = Exactly(kInt32, Random(5));
        if (Random(3) == 0) extent = Within(Any(kInt32, 1), {0, 4});
        AddIterator(i, Constant(1));
        iterators_.back().value.in = {begin.in.lo, begin.in.hi + extent.in.hi};
        Stmt body = Statements(depth - 1);
        iterators_.pop_back();
        End(i);
        For loop = Loop(i, begin.e, extent.e, std::move(body),
                        extent.in.lo == extent.in.hi && Random(3) == 0
                            ? ForKind::kUnrolled
                            : ForKind::kSerial);
        if (Random(4) > 0) return loop;
        tir::ForNode::Parts parts = loop->parts();
        parts.annotations = tir::Dict::Of(
            {{"pragma_auto_unroll_max_step", IntImm(kInt32, 16)}});
        return For(std::move(parts));
      }
      case 2:
      case 3: {
        const PrimExpr condition = Condition(2);
        Stmt then_case = Statements(depth - 1);
        Stmt else_case = Random(2) == 0 ? Statements(depth - 1) : Stmt();
        return tir::IfThenElse(condition, std::move(then_case),
                               std::move(else_case));
      }
      case 4: {
        const Var x(Name("x"), kInt32);
        const Value value = Any(kInt32, 2);
        iterators_.push_back({{x, value.in}});
        Stmt body = Statements(depth - 1);
        iterators_.pop_back();
        return tir::LetStmt(x, value.e, std::move(body));
      }
      case 5: {
        const Value a = Any(kInt32, 2);
        return tir::AssertStmt(
            tir::Binary(BinaryOp::kLE, a.e, IntImm(kInt32, a.in.hi)),
            tir::StringImm("too large"), Statements(depth - 1));
      }
      case 6:
        return Counted(depth);
      case 7:
        return Scratch(depth);
      case 8:
        return Evaluate(Any(kInt32, 2).e);
      case 9:
        return tir::AttrStmt(IntImm(kInt32, 0), "pragma_unroll_explicit",
                             IntImm(kInt32, 1), Statements(depth - 1));
      case 10:
        return Table(depth);
      default:
        return Store();
    }
  }

  // A while loop that counts.
  Stmt Counted(int depth) {
    BufferNode::Parts parts;
    parts.name = Name("w");
    parts.dtype = kInt32;
    parts.data = Var::Pointer(parts.name, kInt32, "global");
    const PrimExpr zero = IntImm(kInt32, 0);
    parts.shape = {IntImm(kInt32, 1)};
    const Buffer counter(std::move(parts));
    const PrimExpr count = BufferLoad(counter, {zero});
    const int64_t times = Random(4);
    iterators_.push_back({{count, {0, times}}});
    Stmt body = Statements(depth - 1);
    iterators_.pop_back();
    body = Sequence(
        {std::move(body),
         BufferStore(counter, tir::Add(count, IntImm(kInt32, 1)), {zero})});
    body = tir::While(tir::Binary(BinaryOp::kLT, count, IntImm(kInt32, times)),
                      std::move(body));
    return Allocated(counter,
                     Sequence({BufferStore(counter, zero, {zero}), body}));
  }

  // Memory that is filled, and statements that use it.
  Stmt Scratch(int depth) {
    Known scratch = NewBuffer(Name("T"), AnyDType(), false);
    const Stmt fill = Filled(scratch);
    scratch.is_set = true;
    buffers_.push_back(scratch);
    Stmt body = Sequence({fill, Statements(depth - 1)});
    buffers_.pop_back();
    return Allocated(scratch.buffer, std::move(body));
  }

  // Constants in memory.
  Stmt Table(int depth) {
    std::vector<int32_t> values;
    for (int i = 0; i < 5; ++i) values.push_back(Random(19) - 9);
    Known table;
    table.shape = {Constant(5)};
    table.is_set = true;
    table.is_writable = false;
    BufferNode::Parts parts;
    parts.name = Name("L");
    parts.dtype = kInt32;
    parts.data = Var::Pointer(parts.name, kInt32, "");
    parts.shape = {IntImm(kInt32, 5)};
    table.buffer = Buffer(std::move(parts));
    buffers_.push_back(table);
    Stmt body = Statements(depth - 1);
    buffers_.pop_back();
    return tir::AllocateConst(table.buffer->data(), kInt32, {IntImm(kInt32, 5)},
                              *Tensor::FromValues<int32_t>({5}, values), {},
                              tir::DeclBuffer(table.buffer, std::move(body)));
  }

  std::mt19937 random_;
  const RandomLoopsOptions& options_;
  Extent symbol_ = {{}, 0, 0};
  std::vector<Value> numbers_;       // parameters, and the symbol
  std::vector<Known> buffers_;       // that are in scope
  std::vector<Iterator> iterators_;  // integers that are in scope
  Buffer hidden_;                    // a buffer that is not to be read
  std::vector<Var> active_;          // variables of loops that are open
  std::vector<Var> ended_;
  bool has_thread_ = false;
  int names_ = 0;
};

}  // namespace

RandomLoopsOptions RandomLoopsOptions::Mixed(uint32_t seed) {
  RandomLoopsOptions options;
  options.size = 1 + static_cast<int>(seed % 7);
  options.blocks = seed % 2 == 0;
  options.statements = seed / 2 % 2 == 0;
  options.vectors = seed / 4 % 2 == 0;
  options.symbolic = seed / 8 % 2 == 0;
  options.shared_variables = seed / 16 % 2 == 0;
  options.threads = seed % 5 == 0;
  return options;
}

PrimFunc RandomLoops(uint32_t seed, const RandomLoopsOptions& options) {
  return Generator(seed, options).Run();
}

IRModule ModuleOfLoops(const PrimFunc& function) {
  IRModule module;
  module.Set("main", function);
  return module;
}

namespace {

// A function that changes eight numbers behind a pointer.
PrimFunc Helper(int64_t factor) {
  const Var pointer = Var::Pointer("P", kInt32, "global");
  const Var number("n", kInt32);
  const Var i("i", kInt32);
  BufferNode::Parts parts;
  parts.name = "P_1";
  parts.data = pointer;
  parts.dtype = kInt32;
  parts.shape = {IntImm(kInt32, 8)};
  const Buffer buffer(std::move(parts));
  tir::ForNode::Parts loop;
  loop.loop_var = i;
  loop.min = IntImm(kInt32, 0);
  loop.extent = IntImm(kInt32, 8);
  loop.kind = ForKind::kParallel;
  loop.body = BufferStore(
      buffer,
      tir::Add(tir::Mul(BufferLoad(buffer, {i}), IntImm(kInt32, factor)),
               number),
      {i});
  return PrimFunc({.params = {pointer, number},
                   .buffers = {},
                   .ret_type = {},
                   .body = tir::DeclBuffer(buffer, For(std::move(loop))),
                   .attrs = DictAttrs(AttrMap{{"tir.noalias", true}})});
}

// `function`, which begins with a call of `callee` on a further parameter.
PrimFunc Calling(const PrimFunc& function, const GlobalVar& callee) {
  tir::PrimFuncNode::Parts parts = function->parts();
  BufferNode::Parts called;
  called.name = "D";
  called.data = Var::Pointer("D", kInt32, "global");
  called.dtype = kInt32;
  called.shape = {IntImm(kInt32, 8)};
  const Buffer buffer(std::move(called));
  parts.buffers.push_back({static_cast<int64_t>(parts.params.size()), buffer});
  parts.params.push_back(Var("d", tir::kHandle));
  const Stmt call =
      Evaluate(tir::Call(DType(), callee, {buffer->data(), IntImm(kInt32, 3)}));
  const auto* root = parts.body.As<tir::BlockRealizeNode>();
  if (root == nullptr) {
    parts.body = Sequence({call, parts.body});
  } else {
    BlockNode::Parts block = root->block()->parts();
    block.body = Sequence({call, block.body});
    parts.body = BlockRealize({}, root->predicate(), Block(std::move(block)));
  }
  return PrimFunc(std::move(parts));
}

}  // namespace

IRModule RandomLoopsModule(uint32_t seed, int count) {
  IRModule module;
  for (int i = 0; i < count; ++i) {
    const uint32_t own = seed + static_cast<uint32_t>(i);
    const std::string name = i == 0 ? "main" : absl::StrCat("f", i);
    PrimFunc function = RandomLoops(own, RandomLoopsOptions::Mixed(own));
    tir::PrimFuncNode::Parts parts = function->parts();
    parts.attrs = DictAttrs(AttrMap{{std::string(tir::kGlobalSymbol), name},
                                    {"tir.noalias", true}});
    function = PrimFunc(std::move(parts));
    if (i % 3 == 2) {
      const GlobalVar helper(absl::StrCat("h", i));
      module.Set(helper, Helper(2 + i % 5));
      function = Calling(function, helper);
    }
    module.Set(name, function);
  }
  return module;
}

PrimFunc ShrinkLoops(PrimFunc function,
                     absl::FunctionRef<bool(const PrimFunc&)> fails,
                     int max_calls) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int way = 0; max_calls > 0;) {
      const std::optional<PrimFunc> smaller = SmallerLoops(function, way);
      if (!smaller.has_value()) break;
      --max_calls;
      if (*smaller != function && fails(*smaller)) {
        function = *smaller;
        changed = true;
      } else {
        ++way;
      }
    }
  }
  return function;
}

}  // namespace baton::testing
