#include "baton/lower/computation.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {

namespace {

using tir::BinaryOp;
using tir::PrimExpr;

// The loops around a block and the variables of the block.
struct Nest {
  std::vector<tir::Var> loops;
  std::vector<tir::IterVar> axes;
  Indices inside;   // the variables of the block
  Indices outside;  // their values, the loops
  std::vector<int64_t> extents;

  void Add(absl::string_view name, int64_t extent, tir::IterVarType type) {
    tir::Var loop(std::string(name), tir::kInt32);
    tir::Var var(absl::StrCat("v_", name), tir::kInt32);
    axes.emplace_back(tir::Range{Index(0), Index(extent)}, var, type);
    loops.push_back(loop);
    inside.push_back(var);
    outside.push_back(loop);
    extents.push_back(extent);
  }
};

// True if x / value and x * (1 / value) are the same for each x.
bool HasExactReciprocal(DType dtype, double value) {
  if (value == 0 || !std::isfinite(value)) return true;
  int exponent = 0;
  if (std::frexp(std::fabs(value), &exponent) != 0.5) return false;
  return exponent >= (dtype == DType::Float(64) ? -1022 : -126);
}

}  // namespace

tir::PrimExpr FromBits(const tir::FloatImmNode& number) {
  const double value = number.value();
  const tir::PrimExpr bits =
      number.dtype() == DType::Float(64)
          ? tir::IntImm(DType::Int(64), std::bit_cast<int64_t>(value))
          : tir::IntImm(tir::kInt32,
                        std::bit_cast<int32_t>(static_cast<float>(value)));
  return tir::Call(number.dtype(), tir::IntrinsicOp("reinterpret"), {bits});
}

tir::PrimExpr And(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  if (!a.defined()) return b;
  return b.defined() ? Op2(tir::BinaryOp::kAnd, a, b) : a;
}

tir::PrimExpr Divide(const tir::PrimExpr& a, int64_t b) {
  return tir::MakeBinary(tir::BinaryOp::kFloorDiv, a, Index(b));
}

tir::PrimExpr Rest(const tir::PrimExpr& a, int64_t b) {
  return tir::MakeBinary(tir::BinaryOp::kFloorMod, a, Index(b));
}

tir::PrimExpr Op2(tir::BinaryOp op, tir::PrimExpr a, tir::PrimExpr b) {
  const auto* number = b.As<tir::FloatImmNode>();
  if (op == tir::BinaryOp::kDiv && number != nullptr &&
      number->dtype().bits() >= 32 &&
      !HasExactReciprocal(number->dtype(), number->value())) {
    b = FromBits(*number);
  }
  return tir::Binary(op, std::move(a), std::move(b));
}

tir::Buffer FunctionLoops::MakeBuffer(absl::string_view name, DType dtype,
                                      absl::Span<const int64_t> shape) {
  tir::BufferNode::Parts parts;
  parts.name = UniqueName(name, buffer_names_);
  // The reference keeps bools in bytes.
  parts.data = tir::Var::Pointer(
      parts.name, dtype.is_bool() ? DType::Int(8) : dtype, "global");
  parts.dtype = dtype;
  for (const int64_t extent : shape) parts.shape.push_back(Index(extent));
  tir::Buffer buffer(std::move(parts));
  buffers_.Set(buffer->data(), buffer);
  return buffer;
}

tir::Buffer FunctionLoops::Allocate(absl::string_view name, DType dtype,
                                    absl::Span<const int64_t> shape) {
  tir::Buffer buffer = MakeBuffer(name, dtype, shape);
  allocated_.push_back(buffer);
  return buffer;
}

tir::Buffer FunctionLoops::AddConstant(absl::string_view name,
                                       const Tensor& value) {
  tir::Buffer buffer = MakeBuffer(name, value.dtype(), value.shape());
  constants_.emplace_back(buffer, value);
  return buffer;
}

std::string FunctionLoops::UniqueName(absl::string_view name, Names& names) {
  std::string unique(name);
  for (int i = 1; !names.insert(unique).second; ++i) {
    unique = absl::StrCat(name, "_", i);
  }
  return unique;
}

tir::Stmt FunctionLoops::Finish() {
  tir::BlockNode::Parts root;
  root.name = "root";
  root.alloc_buffers = std::move(allocated_);
  root.body = tir::MakeSeq(std::move(stmts_));
  return tir::BlockRealize({}, tir::IntImm::Bool(true),
                           tir::Block(std::move(root)));
}

PrimExpr LoopBuilder::Load(int i, const Indices& at) const {
  const Operand& operand = input(i);
  if (!operand.buffer.defined()) return operand.number;
  return tir::BufferLoad(operand.buffer, at);
}

tir::Buffer LoopBuilder::Temporary(absl::string_view name, DType dtype,
                                   absl::Span<const int64_t> shape) {
  return function_.Allocate(name, dtype, shape);
}

void LoopBuilder::Store(const tir::Buffer& to, const Value& value) {
  Fold(to, {}, value, {});
}

void LoopBuilder::Fold(const tir::Buffer& to, absl::Span<const int64_t> extents,
                       const Value& init, const Step& step,
                       const Condition& where) {
  Nest nest;
  const std::vector<int64_t> shape = ShapeOf(to);
  for (size_t i = 0; i < shape.size(); ++i) {
    nest.Add(absl::StrCat("ax", i), shape[i], tir::IterVarType::kDataPar);
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    nest.Add(absl::StrCat("k", i), extents[i], tir::IterVarType::kCommReduce);
  }
  const auto split = [&shape](const Indices& all) {
    const auto middle =
        all.begin() + static_cast<Indices::difference_type>(shape.size());
    return std::pair<Indices, Indices>({all.begin(), middle},
                                       {middle, all.end()});
  };
  const auto [at, k] = split(nest.inside);
  tir::BlockNode::Parts parts;
  parts.name = function_.BlockName(to->name());
  const tir::BufferStore first(to, init(at), at);
  if (extents.empty()) {
    parts.body = first;
  } else {
    parts.init = first;
    parts.body = tir::BufferStore(to, step(at, k, tir::BufferLoad(to, at)), at);
  }
  PrimExpr predicate = tir::IntImm::Bool(true);
  if (where) {
    const auto [loops_at, loops_k] = split(nest.outside);
    predicate = where(loops_at, loops_k);
  }
  if (nest.axes.empty()) {
    // A block has a variable, or it is the block of the function.
    nest.axes.emplace_back(tir::Range{Index(0), Index(1)},
                           tir::Var("vi", tir::kInt32),
                           tir::IterVarType::kDataPar);
    nest.outside.push_back(Index(0));
  }
  parts.iter_vars = nest.axes;
  tir::ReadWriteRegions regions =
      tir::FindBlockReadWriteRegions(tir::Block(parts), function_.buffers());
  parts.reads = std::move(regions.reads);
  parts.writes = std::move(regions.writes);
  tir::Stmt stmt = tir::BlockRealize(nest.outside, std::move(predicate),
                                     tir::Block(std::move(parts)));
  for (size_t i = nest.loops.size(); i-- > 0;) {
    tir::ForNode::Parts loop;
    loop.loop_var = nest.loops[i];
    loop.min = Index(0);
    loop.extent = Index(nest.extents[i]);
    loop.body = std::move(stmt);
    stmt = tir::For(std::move(loop));
  }
  function_.Append(std::move(stmt));
}

void LoopBuilder::Run(absl::Span<const tir::Buffer> to, tir::Stmt body,
                      absl::Span<const tir::Buffer> from) {
  const auto whole = [](const tir::Buffer& buffer) {
    std::vector<tir::Range> region;
    for (const PrimExpr& extent : buffer->shape()) {
      region.push_back({Index(0), extent});
    }
    return tir::BufferRegion(buffer, std::move(region));
  };
  tir::BlockNode::Parts parts;
  parts.name = function_.BlockName(absl::StrCat(outputs_[0]->name(), "_run"));
  for (const Operand& operand : inputs_) {
    if (operand.buffer.defined()) parts.reads.push_back(whole(operand.buffer));
  }
  for (const tir::Buffer& buffer : from) parts.reads.push_back(whole(buffer));
  for (const tir::Buffer& buffer : to) {
    parts.reads.push_back(whole(buffer));
    parts.writes.push_back(whole(buffer));
  }
  parts.iter_vars.emplace_back(tir::Range{Index(0), Index(1)},
                               tir::Var("vi", tir::kInt32),
                               tir::IterVarType::kOpaque);
  parts.body = std::move(body);
  function_.Append(tir::BlockRealize({Index(0)}, tir::IntImm::Bool(true),
                                     tir::Block(std::move(parts))));
}

tir::Stmt ForEach(absl::string_view name, absl::Span<const int64_t> shape,
                  const Body& body) {
  Indices at;
  std::vector<tir::Var> loops;
  for (size_t i = 0; i < shape.size(); ++i) {
    loops.emplace_back(absl::StrCat(name, i), tir::kInt32);
    at.push_back(loops.back());
  }
  tir::Stmt stmt = body(at);
  for (size_t i = shape.size(); i-- > 0;) {
    tir::ForNode::Parts loop;
    loop.loop_var = loops[i];
    loop.min = Index(0);
    loop.extent = Index(shape[i]);
    loop.body = std::move(stmt);
    stmt = tir::For(std::move(loop));
  }
  return stmt;
}

tir::Stmt With(absl::string_view name, const PrimExpr& value,
               const std::function<tir::Stmt(const PrimExpr&)>& body) {
  const tir::Var var(std::string(name), value.dtype());
  return tir::LetStmt(var, value, body(var));
}

tir::Stmt Require(const PrimExpr& condition, absl::string_view message,
                  tir::Stmt body) {
  return tir::AssertStmt(condition, tir::StringImm(std::string(message)),
                         std::move(body));
}

tir::Stmt WithIndex(absl::string_view name, const PrimExpr& index,
                    int64_t extent,
                    const std::function<tir::Stmt(const PrimExpr&)>& body) {
  const DType wide = DType::Int(64);
  const auto number = [wide](int64_t value) -> PrimExpr {
    return tir::IntImm(wide, value);
  };
  return With(absl::StrCat(name, "_given"), Cast(wide, index),
              [&](const PrimExpr& given) {
                const PrimExpr is_index = Op2(
                    BinaryOp::kAnd, Op2(BinaryOp::kLE, number(-extent), given),
                    Op2(BinaryOp::kLT, given, number(extent)));
                const PrimExpr from_front = tir::Select(
                    Op2(BinaryOp::kLT, given, number(0)),
                    Op2(BinaryOp::kAdd, given, number(extent)), given);
                return Require(is_index, "an index is out of range",
                               With(name, Cast(tir::kInt32, from_front), body));
              });
}

tir::Stmt WithIndices(absl::Span<const int64_t> extents, Indices begin,
                      const std::function<PrimExpr(size_t)>& index_of,
                      const Body& body) {
  const std::function<tir::Stmt(size_t)> from = [&](size_t d) -> tir::Stmt {
    if (d == extents.size()) return body(begin);
    return WithIndex(absl::StrCat("index", d), index_of(d), extents[d],
                     [&](const PrimExpr& index) {
                       begin.push_back(index);
                       return from(d + 1);
                     });
  };
  return from(0);
}

tir::Stmt WithIndices(const LoopBuilder& loops, const Indices& point,
                      absl::Span<const int64_t> extents, Indices begin,
                      const Body& body) {
  const auto index_of = [&](size_t d) {
    Indices which = {Index(static_cast<int64_t>(d))};
    which.insert(which.end(), point.begin(), point.end());
    return loops.Load(1, which);
  };
  return WithIndices(extents, std::move(begin), index_of, body);
}

tir::Stmt InOrder(const std::vector<tir::Stmt>& stmts) {
  std::vector<tir::Stmt> all;
  for (const tir::Stmt& stmt : stmts) {
    const auto* seq = stmt.As<tir::SeqStmtNode>();
    if (seq == nullptr) {
      all.push_back(stmt);
    } else {
      all.insert(all.end(), seq->seq().begin(), seq->seq().end());
    }
  }
  return tir::MakeSeq(std::move(all));
}

tir::Stmt Nothing() { return tir::Evaluate(Index(0)); }

OpProperty<Computation>& Computations() {
  static auto& map = *new OpProperty<Computation>;
  return map;
}

absl::Status NoLoops(absl::string_view reason) {
  return absl::UnimplementedError(reason);
}

absl::Status CheckIndices(const LoopBuilder& loops, int i) {
  const DType dtype = loops.dtype(i);
  if (!dtype.is_integral() || dtype.is_bool() || dtype == DType::UInt(64)) {
    return NoLoops(absl::StrCat(dtype.ToString(), " indices"));
  }
  return absl::OkStatus();
}

PrimExpr Number(DType dtype, double value) {
  if (dtype.is_float()) return tir::FloatImm(dtype, value);
  return tir::IntImm(dtype, static_cast<int64_t>(value));
}

PrimExpr Convert(DType dtype, const PrimExpr& value) {
  const DType from = value.dtype();
  if (from == dtype) return value;
  if (dtype.is_bool()) {
    return Op2(BinaryOp::kNE, value, Number(from, 0));
  }
  if (from.is_half() && dtype != DType::Float(32)) {
    return Convert(dtype, Cast(DType::Float(32), value));
  }
  if (dtype.is_half() && from != DType::Float(32)) {
    return Cast(dtype, Convert(DType::Float(32), value));
  }
  if (from.is_float() && dtype.is_integral()) {
    const PrimExpr whole = Cast(DType::Int(64), value);
    if (dtype == DType::UInt(64)) {
      return tir::Select(Op2(BinaryOp::kLT, value, Number(from, 0)),
                         Cast(dtype, whole), Cast(dtype, value));
    }
    return Cast(dtype, whole);
  }
  return Cast(dtype, value);
}

PrimExpr IfThenElse(const PrimExpr& condition, const PrimExpr& a,
                    const PrimExpr& b) {
  return tir::CallIntrinsic("if_then_else", {condition, a, b});
}

std::vector<int64_t> ShapeOf(const tir::Buffer& buffer) {
  std::vector<int64_t> shape;
  for (const PrimExpr& extent : buffer->shape()) {
    shape.push_back(extent.As<tir::IntImmNode>()->value());
  }
  return shape;
}

int64_t NumElementsOf(absl::Span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

PrimExpr Flatten(absl::Span<const PrimExpr> at,
                 absl::Span<const int64_t> shape) {
  PrimExpr flat = Index(0);
  for (size_t i = 0; i < at.size(); ++i) {
    flat = tir::Add(tir::Mul(flat, Index(shape[i])), at[i]);
  }
  return flat;
}

Indices Unflatten(const PrimExpr& flat, absl::Span<const int64_t> shape) {
  Indices at(shape.size());
  int64_t inner = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) {
      at[i] = Index(0);
      continue;
    }
    PrimExpr index = tir::MakeBinary(BinaryOp::kFloorDiv, flat, Index(inner));
    inner *= shape[i];
    // The outermost index needs no rest.
    bool is_outermost = true;
    for (size_t j = 0; j < i; ++j) is_outermost &= shape[j] == 1;
    at[i] = is_outermost
                ? index
                : tir::MakeBinary(BinaryOp::kFloorMod, index, Index(shape[i]));
  }
  return at;
}

}  // namespace baton::lower
