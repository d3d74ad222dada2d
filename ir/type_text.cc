#include "baton/ir/type_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/printable.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"

namespace baton {
namespace {

void AppendDType(DType dtype, std::string* out) {
  if (dtype == DType::Float(32)) {
    out->append("float32");
  } else {
    out->append(dtype.ToString());
  }
}

void AppendTensorType(const TensorTypeNode* type, DimTextFn dim_text,
                      std::string* out) {
  if (type->rank() == 0) {
    AppendDType(type->dtype(), out);
    return;
  }
  out->append("Tensor[(");
  bool first = true;
  for (const Dim& dim : type->shape()) {
    if (!first) out->append(", ");
    first = false;
    if (dim.is_const()) {
      AppendInt(dim.value(), out);
    } else if (dim.is_any()) {
      out->push_back('?');
    } else {
      dim_text(dim.expr(), out);
    }
  }
  out->append("), ");
  AppendDType(type->dtype(), out);
  out->push_back(']');
}

// The types that make up `type`, in the order in which they are written;
// null past the last.
const TypeNode* Part(const TypeNode* type, size_t i, size_t* count) {
  switch (TypeKindOf(type)) {
    case TypeKind::kTupleType: {
      const auto fields = static_cast<const TupleTypeNode*>(type)->fields();
      *count = fields.size();
      return i < fields.size() ? fields[i].get() : nullptr;
    }
    case TypeKind::kFuncType: {
      const auto* func = static_cast<const FuncTypeNode*>(type);
      *count = func->args().size() + 1;
      if (i < func->args().size()) return func->args()[i].get();
      return i == func->args().size() ? func->result().get() : nullptr;
    }
    case TypeKind::kTypeCall: {
      const auto* call = static_cast<const TypeCallNode*>(type);
      *count = call->args().size() + 1;
      if (i == 0) return call->func().get();
      return i <= call->args().size() ? call->args()[i - 1].get() : nullptr;
    }
    case TypeKind::kRefType:
      *count = 1;
      return i == 0 ? static_cast<const RefTypeNode*>(type)->value().get()
                    : nullptr;
    case TypeKind::kTensorType:
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kIncompleteType:
      break;
  }
  *count = 0;
  return nullptr;
}

// Appends the text before part `i` of `count`; with i == count, that after the
// last.
void AppendJoint(const TypeNode* type, size_t i, size_t count,
                 std::string* out) {
  switch (TypeKindOf(type)) {
    case TypeKind::kTupleType:
      if (i == 0) out->push_back('(');
      if (i != 0 && i < count) out->append(", ");
      if (i == count) out->append(count == 1 ? ",)" : ")");
      break;
    case TypeKind::kFuncType: {
      const auto* func = static_cast<const FuncTypeNode*>(type);
      if (i == 0) {
        out->append("fn ");
        if (!func->type_params().empty()) {
          out->push_back('[');
          bool first = true;
          for (const TypeVar& param : func->type_params()) {
            if (!first) out->append(", ");
            first = false;
            out->append(param->name());
          }
          out->push_back(']');
        }
        out->push_back('(');
      }
      if (i != 0 && i + 1 < count) out->append(", ");
      if (i + 1 == count) out->append(") -> ");
      break;
    }
    case TypeKind::kTypeCall:
      if (i == 1) out->push_back('[');
      if (i > 1 && i < count) out->append(", ");
      if (i == count) out->push_back(']');
      break;
    case TypeKind::kRefType:
      out->append(i == 0 ? "ref(" : ")");
      break;
    case TypeKind::kTensorType:
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kIncompleteType:
      break;
  }
}

// Appends `type` if it has no parts.
bool AppendLeaf(const TypeNode* type, DimTextFn dim_text, std::string* out) {
  if (type == nullptr) {
    out->push_back('_');
    return true;
  }
  switch (TypeKindOf(type)) {
    case TypeKind::kTensorType:
      AppendTensorType(static_cast<const TensorTypeNode*>(type), dim_text, out);
      return true;
    case TypeKind::kTypeVar:
      out->append(static_cast<const TypeVarNode*>(type)->name());
      return true;
    case TypeKind::kGlobalTypeVar:
      out->append(static_cast<const GlobalTypeVarNode*>(type)->name());
      return true;
    case TypeKind::kIncompleteType:
      out->push_back('_');
      return true;
    case TypeKind::kTupleType:
    case TypeKind::kFuncType:
    case TypeKind::kTypeCall:
    case TypeKind::kRefType:
      return false;
  }
  absl::StrAppend(out, NodeKindName(type->kind()));  // of a level unknown here
  return true;
}

}  // namespace

void AppendInt(int64_t value, std::string* out) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

void AppendDimExpr(const DimExprNode* dim, std::string* out) {
  // A stack of what is still to be written: an expression or a literal.
  struct Item {
    const Dim* dim;
    const char* literal;
  };
  const auto expand = [out](const DimExprNode* node, std::vector<Item>* stack) {
    const char* symbol = nullptr;
    switch (node->op()) {
      case DimExprNode::Op::kVar:
      case DimExprNode::Op::kSizeVar:
        out->append(Printable(node->name()));
        return;
      case DimExprNode::Op::kAdd:
        symbol = " + ";
        break;
      case DimExprNode::Op::kSub:
        symbol = " - ";
        break;
      case DimExprNode::Op::kMul:
        symbol = " * ";
        break;
      case DimExprNode::Op::kFloorDiv:
        symbol = " // ";
        break;
    }
    stack->push_back({nullptr, ")"});
    stack->push_back({&node->rhs(), nullptr});
    stack->push_back({nullptr, symbol});
    stack->push_back({&node->lhs(), nullptr});
    out->push_back('(');
  };
  std::vector<Item> stack;
  expand(dim, &stack);
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    if (item.literal != nullptr) {
      out->append(item.literal);
    } else if (item.dim->is_symbolic()) {
      expand(item.dim->expr(), &stack);
    } else if (item.dim->is_any()) {
      out->push_back('?');
    } else {
      AppendInt(item.dim->value(), out);
    }
  }
}

void AppendType(const TypeNode* type, DimTextFn dim_text, std::string* out) {
  if (AppendLeaf(type, dim_text, out)) return;
  struct Frame {
    const TypeNode* type;
    size_t next;
  };
  std::vector<Frame> stack = {{type, 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    size_t count = 0;
    const TypeNode* part = Part(frame.type, frame.next, &count);
    AppendJoint(frame.type, frame.next, count, out);
    if (frame.next == count) {
      stack.pop_back();
      continue;
    }
    ++frame.next;
    if (!AppendLeaf(part, dim_text, out)) stack.push_back({part, 0});
  }
}

std::string Type::ToString() const {
  std::string result;
  AppendType(get(), AppendDimExpr, &result);
  return result;
}

std::string Dim::ToString() const {
  if (is_any()) return "?";
  std::string result;
  if (is_const()) {
    AppendInt(value(), &result);
  } else {
    AppendDimExpr(expr(), &result);
  }
  return result;
}

}  // namespace baton
