#include "baton/tir/codegen/function_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/align.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

bool IsBFloat(DType dtype) { return dtype.code() == DType::Code::kBFloat; }

std::string CppElementType(DType dtype) {
  if (dtype.lanes() != 1 || !dtype.IsStorable()) return "";
  if (dtype.is_bool()) return "uint8_t";
  if (dtype.is_half()) return "uint16_t";
  if (dtype.is_float()) return dtype.bits() == 64 ? "double" : "float";
  return absl::StrCat(dtype.is_uint() ? "uint" : "int", dtype.bits(), "_t");
}

std::string CppValueType(DType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype.is_half()) return "float";
  return CppElementType(WithLanes(dtype, 1));
}

double RoundedTo(DType dtype, double value) {
  if (dtype.bits() == 64) return value;
  const auto single = static_cast<float>(value);
  if (!dtype.is_half()) return single;
  return IsBFloat(dtype) ? float(BFloat16(single)) : float(Float16(single));
}

// --- Ranges ------------------------------------------------------------------

Interval RangeOf(DType dtype) {
  if (!dtype.is_integral() || (dtype.is_uint() && dtype.bits() >= 64)) {
    return {};
  }
  if (dtype.is_uint()) return {0, (int64_t{1} << dtype.bits()) - 1};
  if (dtype.bits() >= 64) return {};
  const int64_t half = int64_t{1} << (dtype.bits() - 1);
  return {-half, half - 1};
}

std::optional<int64_t> LargeUInt(const CallNode& call) {
  const auto* low = call.args()[0].As<IntImmNode>();
  const auto* high = call.args()[1].As<IntImmNode>();
  if (low == nullptr || high == nullptr) return std::nullopt;
  return static_cast<int64_t>((static_cast<uint64_t>(high->value()) << 32) |
                              static_cast<uint64_t>(low->value()));
}

Interval RangeOf(const VarNode* var) {
  Interval range = RangeOf(var->dtype());
  if (var->is_size()) range.low = 0;
  return range;
}

Interval RangeOfLoop(Interval min, Interval end) {
  Interval range;
  range.low = min.low;
  if (__builtin_sub_overflow(end.high, 1, &range.high)) range.high = range.low;
  range.high = std::max(range.high, range.low);
  return range;
}

bool Combine(BinaryOp op, Interval a, Interval b, DType dtype,
             Interval& result) {
  if (!dtype.is_integral() || (dtype.is_uint() && dtype.bits() >= 64)) {
    return false;
  }
  bool wraps = false;
  int64_t corners[4];
  const auto corner = [&](int i, int64_t x, int64_t y) {
    switch (op) {
      case BinaryOp::kAdd:
        wraps |= __builtin_add_overflow(x, y, &corners[i]);
        break;
      case BinaryOp::kSub:
        wraps |= __builtin_sub_overflow(x, y, &corners[i]);
        break;
      default:
        wraps |= __builtin_mul_overflow(x, y, &corners[i]);
        break;
    }
  };
  corner(0, a.low, b.low);
  corner(1, a.low, b.high);
  corner(2, a.high, b.low);
  corner(3, a.high, b.high);
  if (wraps) return false;
  result.low = *std::min_element(corners, corners + 4);
  result.high = *std::max_element(corners, corners + 4);
  const Interval all = RangeOf(dtype);
  return result.low >= all.low && result.high <= all.high;
}

// --- Memory ------------------------------------------------------------------

void WrittenPointers::VisitBufferStore(const BufferStoreNode* node) {
  written_[node->buffer()->data().get()] = true;
  Visitor::VisitBufferStore(node);
}

// A pointer that is passed on may be written through.
void WrittenPointers::VisitCall(const CallNode* node) {
  for (const PrimExpr& arg : node->args()) {
    if (const auto* var = arg.As<VarNode>();
        var != nullptr && var->dtype() == kHandle) {
      written_[var] = true;
    }
    if (const auto* load = arg.As<BufferLoadNode>();
        load != nullptr && node->dtype() == kHandle) {
      written_[load->buffer()->data().get()] = true;
    }
  }
  Visitor::VisitCall(node);
}

void WrittenPointers::VisitLet(const LetNode* node) {
  AddPointers(node->value());
  Visitor::VisitLet(node);
}

void WrittenPointers::VisitLetStmt(const LetStmtNode* node) {
  AddPointers(node->value());
  Visitor::VisitLetStmt(node);
}

void WrittenPointers::AddPointers(const PrimExpr& value) {
  if (value.dtype() != kHandle) return;
  PostOrderVisit(value, [this](const PrimExpr& part) {
    const auto* var = part.As<VarNode>();
    if (var != nullptr && var->dtype() == kHandle) written_[var] = true;
  });
}

PrimExpr FlatIndex(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
  PrimExpr flat;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (buffer->strides().size() == indices.size()) {
      PrimExpr term = Mul(indices[i], buffer->strides()[i]);
      flat = flat.defined() ? Add(std::move(flat), std::move(term))
                            : std::move(term);
    } else {
      flat = flat.defined()
                 ? Add(Mul(std::move(flat), buffer->shape()[i]), indices[i])
                 : indices[i];
    }
  }
  if (!flat.defined()) flat = IntImm(kInt32, 0);
  const PrimExpr& offset = buffer->elem_offset();
  const auto* zero = offset.defined() ? offset.As<IntImmNode>() : nullptr;
  if (offset.defined() && (zero == nullptr || zero->value() != 0)) {
    flat = Add(std::move(flat), offset);
  }
  return flat;
}

namespace {

// The base of a ramp of stride 1; null for other indices.
PrimExpr AdjacentBase(const PrimExpr& index) {
  const auto* ramp = index.As<RampNode>();
  if (ramp == nullptr) return {};
  const auto* stride = ramp->stride().As<IntImmNode>();
  return stride != nullptr && stride->value() == 1 ? ramp->base() : PrimExpr();
}

}  // namespace

AccessedElements ElementsOf(const Buffer& buffer, const PrimExpr& flat) {
  const int parts = buffer.dtype().lanes();
  if (flat.dtype().lanes() == 1) {
    return {Access::kAdjacent,
            parts == 1 ? flat : Mul(flat, MakeConst(flat.dtype(), parts))};
  }
  if (parts > 1) return {};
  const PrimExpr base = AdjacentBase(flat);
  return base.defined() ? AccessedElements{Access::kAdjacent, base}
                        : AccessedElements{Access::kScattered, flat};
}

AllocationSize SizeOf(const AllocateNode* node) {
  AllocationSize size;
  size.elements = node->dtype().lanes();
  for (const PrimExpr& extent : node->extents()) {
    const auto* number = extent.As<IntImmNode>();
    if (number == nullptr || number->value() < 0 ||
        __builtin_mul_overflow(size.elements, number->value(),
                               &size.elements)) {
      size.error = "an allocation whose size is no constant";
      return size;
    }
  }
  const DType element = WithLanes(node->dtype(), 1);
  if (!element.IsStorable() ||
      __builtin_mul_overflow(size.elements, element.bytes(), &size.bytes) ||
      size.bytes > (int64_t{1} << 46)) {
    size.error = absl::StrCat("an allocation of ", size.elements,
                              " elements of ", node->dtype().ToString());
  }
  return size;
}

int64_t Workspace::Take(int64_t bytes) {
  const int64_t offset = top_;
  top_ += AlignUp(bytes, kAlignment);
  bytes_ = std::max(bytes_, top_);
  return offset;
}

// --- Functions -----------------------------------------------------------

Span PlaceOf(const ExprNode* node) {
  Span span = node->span();
  if (span.defined() || !StmtNode::ClassOf(node->kind())) return span;
  PostOrderVisit(
      Stmt(static_cast<const StmtNode*>(node)),
      [&span](const PrimExpr& part) {
        if (!span.defined()) span = part->span();
      },
      [&span](const Stmt& part) {
        if (!span.defined()) span = part->span();
      });
  return span;
}

std::vector<CppParam> ParamsOf(
    const PrimFuncNode* function, const WrittenPointers& written,
    CppNames& names,
    absl::FunctionRef<void(const ExprNode*, absl::string_view)> refuse) {
  std::vector<CppParam> params;
  NodeMap<bool> is_param;
  const auto add_pointer = [&](int index, const VarNode* data, DType element,
                               const std::string& name) {
    CppParam param;
    param.index = index;
    param.is_written = written.Contains(data);
    param.dtype = WithLanes(element, 1);
    std::string type = CppElementType(param.dtype);
    if (type.empty()) {
      refuse(function, absl::StrCat("memory of ", element.ToString()));
      type = "uint8_t";
    }
    const bool no_alias = function->attrs().IsTrue("tir.noalias");
    param.name = names.Unique(name);
    param.type = absl::StrCat(param.is_written ? "" : "const ", type, "*",
                              no_alias ? " __restrict__" : "");
    param.variable = data;
    params.push_back(std::move(param));
  };
  const auto add_number = [&](CppParam::Kind kind, int index,
                              const VarNode* var) {
    CppParam param;
    param.kind = kind;
    param.index = index;
    param.name = names.Unique(var->name());
    param.type = CppValueType(var->dtype());
    param.dtype = var->dtype();
    param.variable = var;
    if (param.type.empty() || var->dtype().lanes() != 1) {
      refuse(var,
             absl::StrCat("a parameter of type ", var->dtype().ToString()));
      param.type = "int32_t";
      param.dtype = kInt32;
    }
    params.push_back(std::move(param));
  };
  for (size_t i = 0; i < function->params().size(); ++i) {
    const Var& var = function->params()[i];
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    const int index = static_cast<int>(i);
    is_param[var.get()] = true;
    if (buffer.defined()) {
      add_pointer(index, buffer->data().get(), buffer.dtype(), buffer->name());
      is_param[buffer->data().get()] = true;
    } else if (var.dtype() == kHandle) {
      add_pointer(index, var.get(),
                  var->typed_pointer() ? var->element() : DType::UInt(8),
                  var->name());
    } else {
      add_number(CppParam::Kind::kNumber, index, var.get());
    }
  }
  for (const Var& var : function->defined()) {
    if (is_param.Contains(var.get()) || var.dtype() == kHandle) continue;
    add_number(CppParam::Kind::kExtent, 0, var.get());
  }
  return params;
}

CppParam WorkspaceParam() {
  CppParam param;
  param.kind = CppParam::Kind::kWorkspace;
  param.type = "unsigned char*";
  param.name = "workspace";
  param.is_written = true;
  param.dtype = DType::UInt(8);
  return param;
}

std::string LibraryFunctionOf(const CallNode* call) {
  const absl::Span<const PrimExpr> args = call->args();
  const auto* called = args.empty() ? nullptr : args[0].As<StringImmNode>();
  if (called == nullptr || call->dtype() != DType::Float(64)) return "";
  const absl::string_view name = called->value();
  const size_t arity = name == "pow"                    ? 2
                       : name == "exp" || name == "log" ? 1
                                                        : 0;
  if (arity == 0 || args.size() != arity + 1) return "";
  const bool takes_doubles = std::all_of(
      args.begin() + 1, args.end(),
      [](const PrimExpr& arg) { return arg.dtype() == DType::Float(64); });
  return takes_doubles ? std::string(name) : "";
}

std::vector<std::string> WrittenNames(const Stmt& stmt) {
  class Stores : public Visitor {
   public:
    std::vector<std::string> names;

   protected:
    void VisitBufferStore(const BufferStoreNode* store) override {
      const std::string& name = store->buffer()->name();
      if (std::find(names.begin(), names.end(), name) == names.end() &&
          names.size() < 4) {
        names.push_back(name);
      }
    }
  };
  Stores stores;
  stores.Visit(stmt);
  return std::move(stores.names);
}

}  // namespace baton::tir
