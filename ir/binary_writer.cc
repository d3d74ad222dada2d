#include "baton/ir/binary_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/module.pb.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "google/protobuf/arena.h"

namespace baton {
namespace {

using internal::AlignBinary;
using internal::BinaryField;

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// The head of a field that has a length.
void AppendHead(BinaryField field, uint64_t size, std::string* out) {
  constexpr uint32_t kLengthDelimited = 2;
  AppendVarint((field << 3) | kLengthDelimited, out);
  AppendVarint(size, out);
}

template <typename Message>
absl::Status AppendMessage(BinaryField field, const Message& message,
                           std::string* out) {
  const size_t size = message.ByteSizeLong();
  if (size > internal::kMaxBinaryRecord) {
    return absl::InvalidArgumentError(absl::StrCat(
        "takes ", size, " bytes, more than the ", internal::kMaxBinaryRecord,
        " that the binary format allows"));
  }
  AppendHead(field, size, out);
  const size_t begin = out->size();
  out->resize(begin + size);
  static_cast<void>(message.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(out->data() + begin)));
  return absl::OkStatus();
}

void SetDType(DType dtype, binary::DType* out) {
  out->set_code(static_cast<uint32_t>(dtype.code()));
  out->set_bits(static_cast<uint32_t>(dtype.bits()));
  out->set_lanes(static_cast<uint32_t>(dtype.lanes()));
}

}  // namespace

// Nodes are numbered when all that they refer to are: the numbers of a node's
// children wait on a stack, where the children themselves stood before.
class BinaryWriter {
 public:
  absl::StatusOr<BinaryModule> Write(const IRModule& module,
                                     const BinaryWriteOptions& options);

 private:
  // A node whose children are slots_[begin] and up; those before `next` are
  // numbers already.
  struct Frame {
    const Node* node;
    size_t begin;
    size_t next;
  };

  // The number of `root`, which is written if it has none; 0 if null.
  absl::StatusOr<uint64_t> NumberOf(const Node* root);
  // The number of `node` if it has one already, or is null.
  bool Known(const Node* node, uint64_t* number) const;
  void Enter(const Node* node);
  absl::StatusOr<uint64_t> Finish(const Frame& frame);

  // The children of a node, in the order in which Fill() asks for them.
  void PushChildren(const Node* node);
  void PushType(const TypeNode* node);
  void PushExpr(const ExprNode* node);
  void Push(const Node* node) {
    slots_.push_back(reinterpret_cast<uintptr_t>(node));
  }
  void Push(const NodeRef& ref) { Push(ref.get()); }
  template <typename Handles>
  void PushAll(const Handles& handles) {
    for (const auto& handle : handles) Push(handle);
  }
  void PushDim(const Dim& dim) {
    if (dim.is_symbolic()) Push(dim.expr());
  }
  void PushAttrValue(const AttrValue& value);

  absl::Status Fill(const Node* node, binary::Node* out);
  absl::Status FillExpr(const ExprNode* node, binary::Node* out);
  absl::Status FillType(const TypeNode* node, binary::Node* out);
  absl::Status FillAttrs(const AttrsNode* attrs, binary::Attrs* out);
  absl::Status FillConstant(const ConstantNode* constant,
                            binary::Constant* out);
  template <typename Values>
  absl::Status FillAttrValue(const AttrValue& value, int depth,
                             const std::string* key, Values* out);

  // The number of the next child, 0 if it is null.
  uint64_t Next() { return *next_++; }
  // The same; null is an error.
  uint64_t Required(absl::string_view what) {
    const uint64_t number = Next();
    if (number == 0 && missing_.empty()) missing_ = std::string(what);
    return number;
  }
  template <typename Handles, typename Numbers>
  void RequiredAll(const Handles& handles, absl::string_view what,
                   Numbers* out) {
    out->Reserve(static_cast<int>(handles.size()));
    for (size_t i = 0; i < handles.size(); ++i) out->Add(Required(what));
  }
  uint64_t DimCode(const Dim& dim) {
    if (dim.is_any()) return 0;
    if (dim.is_symbolic()) return Next() << 1;
    return (static_cast<uint64_t>(dim.value()) << 1) | 1;
  }

  absl::StatusOr<uint64_t> AttrsTypeIndex(const AttrsType& type);
  absl::StatusOr<uint64_t> BufferIndex(const Tensor& tensor);

  std::vector<Frame> frames_;
  std::vector<uint64_t> slots_;
  const uint64_t* next_ = nullptr;  // for Next()
  std::string missing_;             // what Required() did not find

  std::unique_ptr<char[]> arena_block_{new char[internal::kBinaryArenaBlock]};
  google::protobuf::Arena arena_{
      internal::BinaryArenaOptions(arena_block_.get())};
  uint64_t num_nodes_ = 0;
  std::string nodes_;
  NodeMap<uint64_t> numbers_;               // of shared nodes
  std::vector<uint32_t> tree_sizes_ = {0};  // by number; see kMaxBinaryTree

  std::string attrs_types_;
  FlatHashMap<const AttrsType*, uint64_t> attrs_type_indices_;
  std::string buffers_;
  FlatHashMap<std::pair<const void*, int64_t>, uint64_t> buffer_indices_;
  std::vector<Tensor> tensors_;  // after the message
};

bool BinaryWriter::Known(const Node* node, uint64_t* number) const {
  if (node == nullptr) {
    *number = 0;
    return true;
  }
  if (node->unique()) return false;
  const uint64_t* known = numbers_.Find(node);
  if (known == nullptr) return false;
  *number = *known;
  return true;
}

void BinaryWriter::Enter(const Node* node) {
  const size_t begin = slots_.size();
  PushChildren(node);
  frames_.push_back({node, begin, begin});
}

absl::StatusOr<uint64_t> BinaryWriter::NumberOf(const Node* root) {
  uint64_t number = 0;
  if (Known(root, &number)) return number;
  Enter(root);
  while (true) {
    Frame& frame = frames_.back();
    if (frame.next < slots_.size()) {
      uint64_t& slot = slots_[frame.next];
      const Node* child = reinterpret_cast<const Node*>(slot);
      if (Known(child, &slot)) {
        ++frame.next;
      } else {
        Enter(child);
      }
      continue;
    }
    BATON_ASSIGN_OR_RETURN(number, Finish(frame));
    slots_.resize(frame.begin);
    frames_.pop_back();
    if (frames_.empty()) return number;
    slots_[frames_.back().next++] = number;
  }
}

absl::StatusOr<uint64_t> BinaryWriter::Finish(const Frame& frame) {
  const Node* node = frame.node;
  if (num_nodes_ % internal::kBinaryNodesPerArena == 0) arena_.Reset();
  binary::Node* message = binary::Node::default_instance().New(&arena_);
  next_ = slots_.data() + frame.begin;
  missing_.clear();
  absl::Status status = Fill(node, message);
  if (status.ok() && !missing_.empty()) {
    status = absl::InvalidArgumentError(absl::StrCat("has no ", missing_));
  }
  uint64_t tree_size = 0;
  if (internal::IsBinaryTree(node->kind())) {
    tree_size = 1;
    for (size_t i = frame.begin; i < slots_.size(); ++i) {
      tree_size += tree_sizes_[slots_[i]];
    }
    if (tree_size > internal::kMaxBinaryTree) {
      status = absl::InvalidArgumentError(
          "is, written out, larger than the binary format allows");
    }
  }
  if (status.ok()) {
    status = AppendMessage(BinaryField::kNodesField, *message, &nodes_);
  }
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat("a ", NodeKindName(node->kind()), " ", status.message()));
  }
  tree_sizes_.push_back(static_cast<uint32_t>(tree_size));
  ++num_nodes_;
  if (!node->unique()) numbers_[node] = num_nodes_;
  return num_nodes_;
}

void BinaryWriter::PushAttrValue(const AttrValue& value) {
  if (const Dim* dim = value.As<Dim>()) {
    PushDim(*dim);
  } else if (const AttrList* list = value.As<AttrList>()) {
    for (const AttrValue& item : *list) PushAttrValue(item);
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    for (const auto& [key, item] : *map) PushAttrValue(item);
  }
}

void BinaryWriter::PushChildren(const Node* node) {
  if (ExprNode::ClassOf(node->kind()) && node->kind() != ExprKind::kOp &&
      node->kind() != ExprKind::kConstructor) {
    Push(static_cast<const ExprNode*>(node)->type());
  }
  if (ExprNode::ClassOf(node->kind())) {
    PushExpr(static_cast<const ExprNode*>(node));
  } else if (TypeNode::ClassOf(node->kind())) {
    PushType(static_cast<const TypeNode*>(node));
  } else if (node->kind() == AttrsNode::kKind) {
    const auto* attrs = static_cast<const AttrsNode*>(node);
    for (const auto& field : attrs->fields().fields()) {
      PushAttrValue(field->Get(attrs->object()));
    }
  } else if (node->kind() == DictAttrsNode::kKind) {
    for (const auto& [key, value] :
         static_cast<const DictAttrsNode*>(node)->entries()) {
      PushAttrValue(value);
    }
  } else if (node->kind() == DimExprNode::kKind) {
    const auto* dim = static_cast<const DimExprNode*>(node);
    PushDim(dim->lhs());
    PushDim(dim->rhs());
  } else if (node->kind() == PatternNode::kKind) {
    const auto* pattern = static_cast<const PatternNode*>(node);
    Push(pattern->var());
    Push(pattern->constructor());
    PushAll(pattern->patterns());
  } else if (node->kind() == TypeDataNode::kKind) {
    const auto* type = static_cast<const TypeDataNode*>(node);
    Push(type->header());
    PushAll(type->type_params());
    PushAll(type->constructors());
  }
}

void BinaryWriter::PushType(const TypeNode* node) {
  switch (TypeKindOf(node)) {
    case TypeKind::kTensorType:
      for (const Dim& dim : static_cast<const TensorTypeNode*>(node)->shape()) {
        PushDim(dim);
      }
      break;
    case TypeKind::kTupleType:
      PushAll(static_cast<const TupleTypeNode*>(node)->fields());
      break;
    case TypeKind::kFuncType: {
      const auto* type = static_cast<const FuncTypeNode*>(node);
      PushAll(type->args());
      Push(type->result());
      PushAll(type->type_params());
      break;
    }
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kIncompleteType:
      break;
    case TypeKind::kTypeCall: {
      const auto* type = static_cast<const TypeCallNode*>(node);
      Push(type->func());
      PushAll(type->args());
      break;
    }
    case TypeKind::kRefType:
      Push(static_cast<const RefTypeNode*>(node)->value());
      break;
  }
}

void BinaryWriter::PushExpr(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kVar:
      Push(static_cast<const VarNode*>(node)->annotation());
      break;
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
      break;
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      Push(call->op());
      PushAll(call->args());
      Push(call->attrs());
      PushAll(call->type_args());
      break;
    }
    case ExprKind::kTuple:
      PushAll(static_cast<const TupleNode*>(node)->fields());
      break;
    case ExprKind::kTupleGetItem:
      Push(static_cast<const TupleGetItemNode*>(node)->tuple());
      break;
    case ExprKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      PushAll(function->params());
      Push(function->body());
      Push(function->result_type());
      PushAll(function->type_params());
      Push(function->attrs());
      break;
    }
    case ExprKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      Push(let->var());
      Push(let->value());
      Push(let->body());
      break;
    }
    case ExprKind::kIf: {
      const auto* branch = static_cast<const IfNode*>(node);
      Push(branch->cond());
      Push(branch->true_branch());
      Push(branch->false_branch());
      break;
    }
    case ExprKind::kRefCreate:
      Push(static_cast<const RefCreateNode*>(node)->value());
      break;
    case ExprKind::kRefRead:
      Push(static_cast<const RefReadNode*>(node)->ref());
      break;
    case ExprKind::kRefWrite: {
      const auto* write = static_cast<const RefWriteNode*>(node);
      Push(write->ref());
      Push(write->value());
      break;
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      Push(match->data());
      for (const Clause& clause : match->clauses()) {
        Push(clause.lhs);
        Push(clause.rhs);
      }
      break;
    }
    case ExprKind::kConstructor: {
      const auto* constructor = static_cast<const ConstructorNode*>(node);
      PushAll(constructor->inputs());
      Push(constructor->belongs_to());
      PushAll(constructor->type_params());
      break;
    }
  }
}

absl::Status BinaryWriter::Fill(const Node* node, binary::Node* out) {
  if (ExprNode::ClassOf(node->kind())) {
    return FillExpr(static_cast<const ExprNode*>(node), out);
  }
  if (TypeNode::ClassOf(node->kind())) {
    return FillType(static_cast<const TypeNode*>(node), out);
  }
  if (node->kind() == AttrsNode::kKind) {
    return FillAttrs(static_cast<const AttrsNode*>(node), out->mutable_attrs());
  }
  if (node->kind() == DictAttrsNode::kKind) {
    const auto* attrs = static_cast<const DictAttrsNode*>(node);
    auto* values = out->mutable_dict_attrs()->mutable_values();
    for (const auto& [key, value] : attrs->entries()) {
      BATON_RETURN_IF_ERROR(FillAttrValue(value, 0, &key, values));
    }
    return absl::OkStatus();
  }
  if (node->kind() == DimExprNode::kKind) {
    const auto* dim = static_cast<const DimExprNode*>(node);
    binary::DimExpr* expr = out->mutable_dim_expr();
    expr->set_op(static_cast<binary::DimExpr::Op>(dim->op()));
    expr->set_name(dim->name());
    SetDType(dim->dtype(), expr->mutable_dtype());
    expr->set_lhs(DimCode(dim->lhs()));
    expr->set_rhs(DimCode(dim->rhs()));
    return absl::OkStatus();
  }
  if (node->kind() == PatternNode::kKind) {
    const auto* pattern = static_cast<const PatternNode*>(node);
    binary::Pattern* to = out->mutable_pattern();
    to->set_form(static_cast<binary::Pattern::Form>(pattern->form()));
    to->set_var(Next());
    to->set_constructor(Next());
    RequiredAll(pattern->patterns(), "pattern", to->mutable_patterns());
    return absl::OkStatus();
  }
  if (node->kind() == TypeDataNode::kKind) {
    const auto* type = static_cast<const TypeDataNode*>(node);
    binary::TypeData* to = out->mutable_type_data();
    to->set_header(Required("header"));
    RequiredAll(type->type_params(), "type parameter",
                to->mutable_type_params());
    RequiredAll(type->constructors(), "constructor",
                to->mutable_constructors());
    return absl::OkStatus();
  }
  return absl::InternalError("is not known to the binary format");
}

absl::Status BinaryWriter::FillExpr(const ExprNode* node, binary::Node* out) {
  if (node->kind() != ExprKind::kOp && node->kind() != ExprKind::kConstructor) {
    out->set_type(Next());
  }
  switch (ExprKindOf(node)) {
    case ExprKind::kVar:
      out->mutable_var()->set_name(static_cast<const VarNode*>(node)->name());
      out->mutable_var()->set_annotation(Next());
      break;
    case ExprKind::kGlobalVar:
      out->mutable_global_var()->set_name(
          static_cast<const GlobalVarNode*>(node)->name());
      break;
    case ExprKind::kConstant:
      return FillConstant(static_cast<const ConstantNode*>(node),
                          out->mutable_constant());
    case ExprKind::kOp:
      out->mutable_op()->set_name(static_cast<const OpNode*>(node)->name());
      break;
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      binary::Call* to = out->mutable_call();
      to->set_op(Required("callee"));
      RequiredAll(call->args(), "argument", to->mutable_args());
      to->set_attrs(Next());
      RequiredAll(call->type_args(), "type argument", to->mutable_type_args());
      break;
    }
    case ExprKind::kTuple:
      RequiredAll(static_cast<const TupleNode*>(node)->fields(), "field",
                  out->mutable_tuple()->mutable_fields());
      break;
    case ExprKind::kTupleGetItem:
      out->mutable_tuple_get_item()->set_tuple(Required("tuple"));
      out->mutable_tuple_get_item()->set_index(
          static_cast<const TupleGetItemNode*>(node)->index());
      break;
    case ExprKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      binary::Function* to = out->mutable_function();
      RequiredAll(function->params(), "parameter", to->mutable_params());
      to->set_body(Required("body"));
      to->set_result_type(Next());
      RequiredAll(function->type_params(), "type parameter",
                  to->mutable_type_params());
      to->set_attrs(Next());
      break;
    }
    case ExprKind::kLet:
      out->mutable_let()->set_var(Required("variable"));
      out->mutable_let()->set_value(Required("value"));
      out->mutable_let()->set_body(Required("body"));
      break;
    case ExprKind::kIf:
      out->mutable_if_else()->set_cond(Required("condition"));
      out->mutable_if_else()->set_true_branch(Required("true branch"));
      out->mutable_if_else()->set_false_branch(Required("false branch"));
      break;
    case ExprKind::kRefCreate:
      out->mutable_ref_create()->set_value(Required("value"));
      break;
    case ExprKind::kRefRead:
      out->mutable_ref_read()->set_ref(Required("reference"));
      break;
    case ExprKind::kRefWrite:
      out->mutable_ref_write()->set_ref(Required("reference"));
      out->mutable_ref_write()->set_value(Required("value"));
      break;
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      binary::Match* to = out->mutable_match();
      to->set_data(Required("data"));
      for (size_t i = 0; i < match->clauses().size(); ++i) {
        to->add_patterns(Required("pattern"));
        to->add_values(Required("value"));
      }
      to->set_complete(match->complete());
      break;
    }
    case ExprKind::kConstructor: {
      const auto* constructor = static_cast<const ConstructorNode*>(node);
      binary::Constructor* to = out->mutable_constructor();
      to->set_name(constructor->name());
      RequiredAll(constructor->inputs(), "input", to->mutable_inputs());
      to->set_belongs_to(Required("data type"));
      RequiredAll(constructor->type_params(), "type parameter",
                  to->mutable_type_params());
      break;
    }
    default:
      return absl::InternalError("is not known to the binary format");
  }
  return absl::OkStatus();
}

absl::Status BinaryWriter::FillType(const TypeNode* node, binary::Node* out) {
  switch (TypeKindOf(node)) {
    case TypeKind::kTensorType: {
      const auto* type = static_cast<const TensorTypeNode*>(node);
      binary::TensorType* to = out->mutable_tensor_type();
      SetDType(type->dtype(), to->mutable_dtype());
      for (const Dim& dim : type->shape()) to->add_shape(DimCode(dim));
      break;
    }
    case TypeKind::kTupleType:
      RequiredAll(static_cast<const TupleTypeNode*>(node)->fields(), "field",
                  out->mutable_tuple_type()->mutable_fields());
      break;
    case TypeKind::kFuncType: {
      const auto* type = static_cast<const FuncTypeNode*>(node);
      binary::FuncType* to = out->mutable_func_type();
      RequiredAll(type->args(), "argument", to->mutable_args());
      to->set_result(Required("result"));
      RequiredAll(type->type_params(), "type parameter",
                  to->mutable_type_params());
      break;
    }
    case TypeKind::kTypeVar: {
      const auto* type = static_cast<const TypeVarNode*>(node);
      out->mutable_type_var()->set_name(type->name());
      out->mutable_type_var()->set_kind(
          static_cast<binary::TypeKind>(type->var_kind()));
      break;
    }
    case TypeKind::kGlobalTypeVar:
      out->mutable_global_type_var()->set_name(
          static_cast<const GlobalTypeVarNode*>(node)->name());
      break;
    case TypeKind::kTypeCall: {
      const auto* type = static_cast<const TypeCallNode*>(node);
      out->mutable_type_call()->set_func(Required("callee"));
      RequiredAll(type->args(), "argument",
                  out->mutable_type_call()->mutable_args());
      break;
    }
    case TypeKind::kRefType:
      out->mutable_ref_type()->set_value(Required("value"));
      break;
    case TypeKind::kIncompleteType:
      out->mutable_incomplete_type()->set_kind(static_cast<binary::TypeKind>(
          static_cast<const IncompleteTypeNode*>(node)->var_kind()));
      break;
    default:
      return absl::InternalError("is not known to the binary format");
  }
  return absl::OkStatus();
}

template <typename Values>
absl::Status BinaryWriter::FillAttrValue(const AttrValue& value, int depth,
                                         const std::string* key, Values* out) {
  if (depth > internal::kMaxBinaryAttrDepth) {
    return absl::InvalidArgumentError("has a value that is nested too deeply");
  }
  binary::AttrValue* to = out->Add();
  if (key != nullptr) to->set_key(*key);
  if (const bool* flag = value.As<bool>()) {
    to->set_flag(*flag);
  } else if (const int64_t* number = value.As<int64_t>()) {
    to->set_number(*number);
  } else if (const double* real = value.As<double>()) {
    to->set_real(*real);
  } else if (const std::string* text = value.As<std::string>()) {
    to->set_text(*text);
  } else if (const DType* dtype = value.As<DType>()) {
    SetDType(*dtype, to->mutable_dtype());
  } else if (const Dim* dim = value.As<Dim>()) {
    to->set_dim(DimCode(*dim));
  } else if (const AttrList* list = value.As<AttrList>()) {
    to->set_list_size(list->size());
    for (const AttrValue& item : *list) {
      BATON_RETURN_IF_ERROR(FillAttrValue(item, depth + 1, nullptr, out));
    }
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    to->set_map_size(map->size());
    for (const auto& [name, item] : *map) {
      BATON_RETURN_IF_ERROR(FillAttrValue(item, depth + 1, &name, out));
    }
  }
  return absl::OkStatus();
}

absl::Status BinaryWriter::FillAttrs(const AttrsNode* attrs,
                                     binary::Attrs* out) {
  BATON_ASSIGN_OR_RETURN(const uint64_t type, AttrsTypeIndex(attrs->type()));
  out->set_attrs_type(type);
  for (const auto& field : attrs->fields().fields()) {
    BATON_RETURN_IF_ERROR(FillAttrValue(field->Get(attrs->object()), 0, nullptr,
                                        out->mutable_values()));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BinaryWriter::AttrsTypeIndex(const AttrsType& type) {
  const auto [it, is_new] =
      attrs_type_indices_.try_emplace(&type, attrs_type_indices_.size());
  if (is_new) {
    binary::AttrsType message;
    message.set_type_key(type.type_key());
    for (const auto& field : type.fields().fields()) {
      message.add_fields(field->name());
    }
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kAttrsTypesField, message, &attrs_types_));
  }
  return it->second;
}

absl::Status BinaryWriter::FillConstant(const ConstantNode* constant,
                                        binary::Constant* out) {
  const Tensor& tensor = constant->value();
  SetDType(tensor.dtype(), out->mutable_dtype());
  for (const int64_t dim : tensor.shape()) {
    out->add_shape(static_cast<uint64_t>(dim));
  }
  BATON_ASSIGN_OR_RETURN(const uint64_t buffer, BufferIndex(tensor));
  out->set_buffer(buffer);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BinaryWriter::BufferIndex(const Tensor& tensor) {
  const auto [it, is_new] = buffer_indices_.try_emplace(
      std::make_pair(tensor.data(), tensor.byte_size()),
      buffer_indices_.size());
  if (is_new) {
    const absl::string_view bytes = tensor.bytes();
    binary::Buffer message;
    if (bytes.size() <= internal::kMaxInlineBuffer) {
      message.set_data(std::string(bytes));
    } else {
      message.set_size(bytes.size());
      message.set_checksum(Checksum(bytes));
      tensors_.push_back(tensor);
    }
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kBuffersField, message, &buffers_));
  }
  return it->second;
}

absl::StatusOr<BinaryModule> BinaryWriter::Write(
    const IRModule& module, const BinaryWriteOptions& options) {
  std::string functions;
  std::string types;
  for (const TypeDefinition& type : module.types()) {
    absl::StatusOr<uint64_t> number = NumberOf(type.get());
    if (!number.ok()) {
      return absl::Status(
          number.status().code(),
          absl::StrCat("type ", type->name(), ": ", number.status().message()));
    }
    AppendVarint(*number, &types);
  }
  for (const IRModule::Definition& definition : module.functions()) {
    binary::Definition message;
    absl::StatusOr<uint64_t> number = NumberOf(definition.var.get());
    if (number.ok()) {
      message.set_var(*number);
      number = NumberOf(definition.function.get());
    }
    if (!number.ok()) {
      return absl::Status(number.status().code(),
                          absl::StrCat("@", definition.var->name(), ": ",
                                       number.status().message()));
    }
    message.set_function(*number);
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kFunctionsField, message, &functions));
  }

  auto head = std::make_unique<std::string>();
  constexpr size_t kMostOfHeads = 64;
  head->reserve(sizeof(internal::BinaryHeader) + options.comment.size() +
                buffers_.size() + attrs_types_.size() + nodes_.size() +
                functions.size() + types.size() + kMostOfHeads +
                internal::kBinaryAlignment);
  head->resize(sizeof(internal::BinaryHeader));
  if (!options.comment.empty()) {
    AppendHead(BinaryField::kCommentField, options.comment.size(), head.get());
    *head += options.comment;
  }
  *head += buffers_;
  *head += attrs_types_;
  *head += nodes_;
  nodes_ = std::string();
  *head += functions;
  if (!types.empty()) {
    AppendHead(BinaryField::kTypesField, types.size(), head.get());
    *head += types;
  }

  internal::BinaryHeader header = {};
  std::memcpy(header.magic, internal::kBinaryMagic, sizeof(header.magic));
  header.version = internal::kBinaryVersion;
  const absl::string_view message =
      absl::string_view(*head).substr(sizeof(header));
  header.message_size = message.size();
  header.message_checksum = Checksum(message);
  header.file_size = head->size();
  for (const Tensor& tensor : tensors_) {
    header.file_size = AlignBinary(header.file_size) +
                       static_cast<uint64_t>(tensor.byte_size());
  }
  header.checksum =
      Checksum(absl::string_view(reinterpret_cast<const char*>(&header),
                                 offsetof(internal::BinaryHeader, checksum)));
  std::memcpy(head->data(), &header, sizeof(header));

  static constexpr char kZeros[internal::kBinaryAlignment] = {};
  BinaryModule result;
  result.head_ = std::move(head);
  result.tensors_ = std::move(tensors_);
  result.pieces_.push_back(*result.head_);
  uint64_t offset = result.head_->size();
  for (const Tensor& tensor : result.tensors_) {
    const uint64_t aligned = AlignBinary(offset);
    if (aligned != offset) {
      result.pieces_.emplace_back(kZeros, aligned - offset);
    }
    result.pieces_.push_back(tensor.bytes());
    offset = aligned + static_cast<uint64_t>(tensor.byte_size());
  }
  return result;
}

uint64_t BinaryModule::size() const {
  uint64_t size = 0;
  for (const absl::string_view piece : pieces_) size += piece.size();
  return size;
}

std::string BinaryModule::ToString() const {
  std::string text;
  text.reserve(size());
  for (const absl::string_view piece : pieces_) {
    text.append(piece.data(), piece.size());
  }
  return text;
}

absl::StatusOr<BinaryModule> WriteBinary(const IRModule& module,
                                         const BinaryWriteOptions& options) {
  return CatchOutOfMemory("writing a module", [&] {
    return BinaryWriter().Write(module, options);
  });
}

}  // namespace baton
