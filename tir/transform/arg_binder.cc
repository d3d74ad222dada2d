#include "baton/tir/transform/arg_binder.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/script_printer.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

constexpr DType kInt64 = DType::Int(64);
constexpr DType kUInt64 = DType::UInt(64);

PrimExpr Equal(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kEQ, a, b);
}
PrimExpr IfThenElseExpr(const PrimExpr& condition, PrimExpr yes, PrimExpr no) {
  MatchTypes(yes, no);
  if (const auto* imm = condition.As<IntImmNode>()) {
    return imm->value() != 0 ? yes : no;
  }
  const DType dtype = yes.dtype();
  return Call(dtype, BATON_OP("tir.if_then_else"), {condition, yes, no});
}
PrimExpr ElementOf(const Buffer& buffer, size_t index) {
  return BufferLoad(buffer, {IntImm(kInt32, static_cast<int64_t>(index))});
}
// A buffer of int64 with as many elements as an array has axes.
Buffer BufferOfAxes(size_t axes, const std::string& name) {
  BufferNode::Parts parts;
  parts.name = name;
  parts.data = Var::Pointer(name, kInt64, "");
  parts.dtype = kInt64;
  parts.shape = {IntImm(kInt32, static_cast<int64_t>(axes))};
  return Buffer(std::move(parts));
}
// Types whose elements are packed: they have other shapes in memory.
bool IsPacked(DType dtype) {
  return dtype == DType::Int(1) || dtype == DType::Int(4) ||
         dtype == DType::UInt(4);
}

}  // namespace

PrimExpr StructGet(DType dtype, const PrimExpr& handle, int index,
                   StructField field) {
  return Call(dtype, BATON_OP("tir.tvm_struct_get"),
              {handle, IntImm(kInt32, index),
               IntImm(kInt32, static_cast<int64_t>(field))});
}

Stmt NoOpStmt() { return Evaluate(IntImm(kInt32, 0)); }

Stmt MergeNest(absl::Span<const Stmt> nest, Stmt body) {
  for (auto it = nest.rbegin(); it != nest.rend(); ++it) {
    const Stmt& stmt = *it;
    if (const auto* let = stmt.As<LetStmtNode>()) {
      body = LetStmt(let->var(), let->value(), std::move(body));
    } else if (const auto* attr = stmt.As<AttrStmtNode>()) {
      body =
          AttrStmt(attr->node(), attr->key(), attr->value(), std::move(body));
    } else if (const auto* check = stmt.As<AssertStmtNode>()) {
      body = AssertStmt(check->condition(), check->message(), std::move(body));
    } else if (const auto* declaration = stmt.As<DeclBufferNode>()) {
      body = DeclBuffer(declaration->buffer(), std::move(body));
    } else if (const auto* alloc = stmt.As<AllocateNode>()) {
      const auto extents = alloc->extents();
      body = Allocate(alloc->var(), alloc->dtype(),
                      {extents.begin(), extents.end()}, alloc->condition(),
                      alloc->annotations(), std::move(body));
    } else if (const auto* seq = stmt.As<SeqStmtNode>()) {
      std::vector<Stmt> all(seq->seq().begin(), seq->seq().end());
      all.pop_back();
      if (const auto* inner = body.As<SeqStmtNode>()) {
        all.insert(all.end(), inner->seq().begin(), inner->seq().end());
      } else {
        all.push_back(std::move(body));
      }
      body = SeqStmt(std::move(all));
    }
  }
  return body;
}

void ArgBinder::Assert(const PrimExpr& condition, const std::string& name) {
  const PrimExpr simple = analyzer_.Simplify(condition);
  if (IsOne(simple)) return;
  const std::string message =
      absl::StrCat("Argument ", name,
                   " has an unsatisfied constraint: ", AsScript(condition));
  if (IsZero(simple)) {
    if (status_.ok()) status_ = ErrorAt(condition->span(), message);
    return;
  }
  asserts_.push_back(AssertStmt(simple, StringImm(message), NoOpStmt()));
}

bool ArgBinder::Bind(const PrimExpr& arg, const PrimExpr& value,
                     const std::string& name) {
  const auto* var = arg.As<VarNode>();
  if (var != nullptr && bound_.Insert(var)) {
    definitions_.push_back(LetStmt(Var(var), value, NoOpStmt()));
    return true;
  }
  Assert(Equal(arg, value), name);
  return false;
}

void ArgBinder::BindArray(const Buffer& buffer, const PrimExpr& device_type,
                          const PrimExpr& device_id, const Var& handle,
                          const std::string& name) {
  const DType dtype = buffer->dtype();
  const size_t axes = buffer->shape().size();
  const Stmt rank = AssertStmt(
      Equal(IntImm(kInt32, static_cast<int64_t>(axes)),
            StructGet(kInt32, handle, 0, StructField::kArrNDim)),
      StringImm(absl::StrCat(name, ".ndim is expected to equal ", axes)),
      NoOpStmt());
  asserts_.push_back(rank);
  const DType byte = DType::UInt(8);
  const DType half = DType::UInt(16);
  const auto is = [&](DType type, StructField field, int64_t value) {
    return Equal(StructGet(type, handle, 0, field), IntImm(type, value));
  };
  if (!IsPacked(dtype)) {
    const PrimExpr condition = MakeBinary(
        BinaryOp::kAnd,
        MakeBinary(BinaryOp::kAnd,
                   is(byte, StructField::kArrTypeCode,
                      static_cast<int64_t>(dtype.code())),
                   is(byte, StructField::kArrTypeBits, dtype.bits())),
        is(half, StructField::kArrTypeLanes, dtype.lanes()));
    asserts_.push_back(rank);
    asserts_.push_back(
        AssertStmt(condition,
                   StringImm(absl::StrCat(name, ".dtype is expected to be ",
                                          dtype.ToString())),
                   NoOpStmt()));
  }
  if (Bind(buffer->data(), StructGet(kHandle, handle, 0, StructField::kArrData),
           absl::StrCat(name, ".data"))) {
    definitions_.push_back(AttrStmt(buffer->data(), "storage_alignment",
                                    IntImm(kInt32, buffer->alignment()),
                                    NoOpStmt()));
  }

  const Buffer shape = BufferOfAxes(axes, absl::StrCat(name, ".shape"));
  definitions_.push_back(LetStmt(
      shape->data(), StructGet(kHandle, handle, 0, StructField::kArrShape),
      NoOpStmt()));
  definitions_.push_back(DeclBuffer(shape, NoOpStmt()));
  for (size_t k = 0; k < axes && !IsPacked(dtype); ++k) {
    const PrimExpr& extent = buffer->shape()[k];
    Bind(extent, CastTo(extent.dtype(), ElementOf(shape, k)),
         absl::StrCat(name, ".shape[", k, "]"));
  }

  const Buffer strides =
      BufferOfAxes(buffer->strides().size(), absl::StrCat(name, ".strides"));
  definitions_.push_back(LetStmt(
      strides->data(), StructGet(kHandle, handle, 0, StructField::kArrStrides),
      NoOpStmt()));
  definitions_.push_back(DeclBuffer(strides, NoOpStmt()));
  BindStrides(buffer, shape, strides, name);
  BindOffset(buffer, handle, name);
  Bind(device_type, StructGet(kInt32, handle, 0, StructField::kArrDeviceType),
       absl::StrCat(name, ".device_type"));
  Bind(device_id, StructGet(kInt32, handle, 0, StructField::kArrDeviceId),
       absl::StrCat(name, ".device_id"));
}

void ArgBinder::BindStrides(const Buffer& buffer, const Buffer& shape,
                            const Buffer& strides, const std::string& name) {
  const PrimExpr is_null =
      Call(DType::Bool(), BATON_OP("tir.isnullptr"), {strides->data()});
  const size_t axes = buffer->shape().size();
  const DType index = axes == 0 ? kInt32 : buffer->shape()[0].dtype();
  const auto stride_name = [&name](size_t k) {
    return absl::StrCat(name, ".strides[", k, "]");
  };
  const IntImm one(kInt32, 1);
  if (buffer->strides().empty()) {
    if (axes == 0) return;
    PrimExpr expected = MakeConst(index, 1);
    PrimExpr compact = IntImm::Bool(true);
    for (size_t k = axes; k-- > 0;) {
      const PrimExpr& extent = buffer->shape()[k];
      const PrimExpr stride = CastTo(index, ElementOf(strides, k));
      compact = MakeBinary(BinaryOp::kAnd, compact,
                           MakeBinary(BinaryOp::kOr, Equal(extent, one),
                                      Equal(expected, stride)));
      expected = Mul(expected, extent);
    }
    const Stmt check = AssertStmt(
        compact,
        StringImm(absl::StrCat(name, ".strides: expected to be compact array")),
        NoOpStmt());
    asserts_.push_back(SeqStmt({IfThenElse(Not(is_null), check), NoOpStmt()}));
    return;
  }
  if (buffer->kind_of_buffer() == BufferKind::kAutoBroadcast) {
    PrimExpr expected = MakeConst(index, 1);
    for (size_t k = axes; k-- > 0;) {
      const PrimExpr& extent = buffer->shape()[k];
      PrimExpr value = IfThenElseExpr(
          is_null, expected, CastTo(extent.dtype(), ElementOf(strides, k)));
      value = IfThenElseExpr(Equal(extent, one), IntImm(kInt32, 0), value);
      Bind(buffer->strides()[k], value, stride_name(k));
      expected = analyzer_.Simplify(Mul(expected, extent));
    }
    return;
  }
  PrimExpr expected = one;
  for (size_t k = buffer->strides().size(); k-- > 0;) {
    const DType dtype = buffer->shape()[k].dtype();
    Bind(
        buffer->strides()[k],
        IfThenElseExpr(is_null, expected, CastTo(dtype, ElementOf(strides, k))),
        stride_name(k));
    expected = Mul(expected, CastTo(dtype, ElementOf(shape, k)));
  }
}

void ArgBinder::BindOffset(const Buffer& buffer, const Var& handle,
                           const std::string& name) {
  const PrimExpr& offset = buffer->elem_offset();
  const int64_t bytes = buffer->dtype().bytes();
  const PrimExpr passed =
      StructGet(kUInt64, handle, 0, StructField::kArrByteOffset);
  if (const auto* imm = offset.As<IntImmNode>()) {
    Bind(IntImm(kUInt64, WrappedMul(imm->value(), bytes)), passed,
         absl::StrCat(name, ".byte_offset"));
    return;
  }
  const std::string offset_name = absl::StrCat(name, ".elem_offset");
  const PrimExpr elements =
      MakeBinary(BinaryOp::kDiv, passed, IntImm(kUInt64, bytes));
  if (Bind(offset, CastTo(offset.dtype(), elements), offset_name) &&
      buffer->offset_factor() > 1) {
    Assert(Equal(MakeBinary(BinaryOp::kMod, offset,
                            MakeConst(offset.dtype(), buffer->offset_factor())),
                 MakeConst(offset.dtype(), 0)),
           offset_name);
  }
}

}  // namespace baton::tir
