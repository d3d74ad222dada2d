#include "baton/ir/node.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node_memory.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton {

absl::string_view NodeKindName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kTensorType:
      return "TensorType";
    case NodeKind::kTupleType:
      return "TupleType";
    case NodeKind::kFuncType:
      return "FuncType";
    case NodeKind::kTypeVar:
      return "TypeVar";
    case NodeKind::kGlobalTypeVar:
      return "GlobalTypeVar";
    case NodeKind::kTypeCall:
      return "TypeCall";
    case NodeKind::kRefType:
      return "RefType";
    case NodeKind::kIncompleteType:
      return "IncompleteType";
    case NodeKind::kVar:
      return "Var";
    case NodeKind::kGlobalVar:
      return "GlobalVar";
    case NodeKind::kConstant:
      return "Constant";
    case NodeKind::kCall:
      return "Call";
    case NodeKind::kTuple:
      return "Tuple";
    case NodeKind::kTupleGetItem:
      return "TupleGetItem";
    case NodeKind::kFunction:
      return "Function";
    case NodeKind::kLet:
      return "Let";
    case NodeKind::kIf:
      return "If";
    case NodeKind::kRefCreate:
      return "RefCreate";
    case NodeKind::kRefRead:
      return "RefRead";
    case NodeKind::kRefWrite:
      return "RefWrite";
    case NodeKind::kMatch:
      return "Match";
    case NodeKind::kConstructor:
      return "Constructor";
    case NodeKind::kOp:
      return "Op";
    case NodeKind::kAttrs:
      return "Attrs";
    case NodeKind::kDictAttrs:
      return "DictAttrs";
    case NodeKind::kDimExpr:
      return "DimExpr";
    case NodeKind::kSpan:
      return "Span";
    case NodeKind::kPattern:
      return "Pattern";
    case NodeKind::kTypeData:
      return "TypeData";
  }
  return "unknown";
}

namespace internal {

void ChildSink::TakeNode(const Node* node) {
  if (!node->DropsLast()) return;
  node->memo_.store(reinterpret_cast<uintptr_t>(pending_),
                    std::memory_order_relaxed);
  pending_ = node;
}

// Takes the node's children away before it is destroyed, so that no destructor
// reaches another node.
void DestroyGraph(const Node* root) {
  ChildSink sink;
  const Node* next = root;
  while (next != nullptr) {
    Node* node = const_cast<Node*>(next);
    if (node->kind_ >= kFirstExprKind && node->kind_ <= kLastExprKind) {
      auto* expr = static_cast<ExprNode*>(node);
      sink.Take(expr->type_);
      sink.Take(expr->span_);
    }
    switch (node->kind_) {
      case NodeKind::kTensorType: {
        auto* n = static_cast<TensorTypeNode*>(node);
        for (uint32_t i = 0; i < n->rank_; ++i) sink.Take(n->dims()[i]);
        const size_t bytes = n->bytes();
        n->~TensorTypeNode();
        NodeMemory::Free(n, bytes);
        break;
      }
      case NodeKind::kTupleType: {
        auto* n = static_cast<TupleTypeNode*>(node);
        sink.TakeAll(n->fields_);
        delete n;
        break;
      }
      case NodeKind::kFuncType: {
        auto* n = static_cast<FuncTypeNode*>(node);
        sink.TakeAll(n->args_);
        sink.Take(n->result_);
        sink.TakeAll(n->type_params_);
        delete n;
        break;
      }
      case NodeKind::kTypeVar:
        delete static_cast<TypeVarNode*>(node);
        break;
      case NodeKind::kGlobalTypeVar:
        delete static_cast<GlobalTypeVarNode*>(node);
        break;
      case NodeKind::kTypeCall: {
        auto* n = static_cast<TypeCallNode*>(node);
        sink.Take(n->func_);
        sink.TakeAll(n->args_);
        delete n;
        break;
      }
      case NodeKind::kRefType: {
        auto* n = static_cast<RefTypeNode*>(node);
        sink.Take(n->value_);
        delete n;
        break;
      }
      case NodeKind::kIncompleteType:
        delete static_cast<IncompleteTypeNode*>(node);
        break;
      case NodeKind::kVar: {
        auto* n = static_cast<VarNode*>(node);
        sink.Take(n->annotation_);
        delete n;
        break;
      }
      case NodeKind::kGlobalVar:
        delete static_cast<GlobalVarNode*>(node);
        break;
      case NodeKind::kConstant:
        delete static_cast<ConstantNode*>(node);
        break;
      case NodeKind::kCall: {
        auto* n = static_cast<CallNode*>(node);
        sink.Take(n->op_);
        sink.Take(n->attrs_);
        if (n->type_args_ != nullptr) sink.TakeAll(*n->type_args_);
        for (uint32_t i = 0; i < n->num_args_; ++i) {
          sink.Take(n->arg_array()[i]);
        }
        const size_t bytes = n->bytes();
        n->~CallNode();
        NodeMemory::Free(n, bytes);
        break;
      }
      case NodeKind::kTuple: {
        auto* n = static_cast<TupleNode*>(node);
        sink.TakeAll(n->fields_);
        delete n;
        break;
      }
      case NodeKind::kTupleGetItem: {
        auto* n = static_cast<TupleGetItemNode*>(node);
        sink.Take(n->tuple_);
        delete n;
        break;
      }
      case NodeKind::kFunction: {
        auto* n = static_cast<FunctionNode*>(node);
        sink.TakeAll(n->params_);
        sink.Take(n->body_);
        sink.Take(n->result_type_);
        sink.TakeAll(n->type_params_);
        sink.Take(n->attrs_);
        delete n;
        break;
      }
      case NodeKind::kLet: {
        auto* n = static_cast<LetNode*>(node);
        sink.Take(n->var_);
        sink.Take(n->value_);
        sink.Take(n->body_);
        delete n;
        break;
      }
      case NodeKind::kIf: {
        auto* n = static_cast<IfNode*>(node);
        sink.Take(n->cond_);
        sink.Take(n->true_branch_);
        sink.Take(n->false_branch_);
        delete n;
        break;
      }
      case NodeKind::kRefCreate: {
        auto* n = static_cast<RefCreateNode*>(node);
        sink.Take(n->value_);
        delete n;
        break;
      }
      case NodeKind::kRefRead: {
        auto* n = static_cast<RefReadNode*>(node);
        sink.Take(n->ref_);
        delete n;
        break;
      }
      case NodeKind::kRefWrite: {
        auto* n = static_cast<RefWriteNode*>(node);
        sink.Take(n->ref_);
        sink.Take(n->value_);
        delete n;
        break;
      }
      case NodeKind::kMatch: {
        auto* n = static_cast<MatchNode*>(node);
        sink.Take(n->data_);
        for (Clause& clause : n->clauses_) {
          sink.Take(clause.lhs);
          sink.Take(clause.rhs);
        }
        delete n;
        break;
      }
      case NodeKind::kConstructor: {
        auto* n = static_cast<ConstructorNode*>(node);
        sink.TakeAll(n->inputs_);
        sink.Take(n->belongs_to_);
        sink.TakeAll(n->type_params_);
        delete n;
        break;
      }
      case NodeKind::kOp:
        break;  // Operators are never destroyed.
      case NodeKind::kAttrs: {
        auto* n = static_cast<AttrsNode*>(node);
        n->type().destroy_(n);
        break;
      }
      case NodeKind::kDictAttrs:
        delete static_cast<DictAttrsNode*>(node);
        break;
      case NodeKind::kDimExpr: {
        auto* n = static_cast<DimExprNode*>(node);
        sink.Take(n->lhs_);
        sink.Take(n->rhs_);
        delete n;
        break;
      }
      case NodeKind::kSpan:
        delete static_cast<SpanNode*>(node);
        break;
      case NodeKind::kPattern: {
        auto* n = static_cast<PatternNode*>(node);
        sink.Take(n->var_);
        sink.Take(n->constructor_);
        sink.TakeAll(n->patterns_);
        sink.Take(n->span_);
        delete n;
        break;
      }
      case NodeKind::kTypeData: {
        auto* n = static_cast<TypeDataNode*>(node);
        sink.Take(n->header_);
        sink.TakeAll(n->type_params_);
        sink.TakeAll(n->constructors_);
        delete n;
        break;
      }
    }
    next = sink.pending_;
    if (next != nullptr) {
      sink.pending_ = reinterpret_cast<const Node*>(
          next->memo_.load(std::memory_order_relaxed));
    }
  }
}

}  // namespace internal
}  // namespace baton
