#include "baton/relay/ir/expr.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/ir/node_memory.h"

namespace baton::relay {

std::string ConstantNode::Describe() const {
  std::string result = absl::StrCat("constant ", value_.TypeToString());
  if (value_.num_elements() == 1) {
    absl::StrAppend(&result, " ", value_.AtAsDouble(0));
  }
  return result;
}

std::string CallNode::Describe() const {
  if (op_node() == nullptr) return "a call";
  return absl::StrCat("a call of ", op_node()->name());
}

absl::Status CallNode::Derive(const CallNode& node) {
  const OpNode* op = node.op_node();
  if (op == nullptr || op->attrs_type() == nullptr || !node.attrs().defined() ||
      op->attrs_type() == &node.attrs()->type()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attrs: ", node.attrs()->type().type_key(),
                   " are not those of ", op->name()));
}

CallNode* Call::Allocate(Expr op, size_t num_args, Attrs attrs,
                         std::vector<Type> type_args, Type type, Span span) {
  const auto n = static_cast<uint32_t>(num_args);
  // This constructor makes most nodes, so it does not call NewBlankNode.
  void* memory = baton::internal::NodeMemory::Allocate(sizeof(CallNode) +
                                                       n * sizeof(Expr));
  auto* node = new (memory) CallNode(std::move(op), n, std::move(attrs),
                                     std::move(type), std::move(span));
  if (!type_args.empty()) {
    node->type_args_ =
        std::make_unique<std::vector<Type>>(std::move(type_args));
  }
  return node;
}

Call::Call(Expr op, absl::Span<const Expr> args, Attrs attrs,
           std::vector<Type> type_args, Type type, Span span) {
  CallNode* node =
      Allocate(std::move(op), args.size(), std::move(attrs),
               std::move(type_args), std::move(type), std::move(span));
  std::uninitialized_copy(args.begin(), args.end(), node->arg_array());
  *this = Call(static_cast<const CallNode*>(node));
}

Call Call::Taking(Expr op, absl::Span<Expr> args, Attrs attrs,
                  std::vector<Type> type_args, Type type, Span span) {
  CallNode* node =
      Allocate(std::move(op), args.size(), std::move(attrs),
               std::move(type_args), std::move(type), std::move(span));
  std::uninitialized_move(args.begin(), args.end(), node->arg_array());
  return Call(static_cast<const CallNode*>(node));
}

Function Function::WithAttr(std::string name, AttrValue value) const {
  const FunctionNode* f = get();
  return Function(
      {f->params().begin(), f->params().end()}, f->body(), f->result_type(),
      {f->type_params().begin(), f->type_params().end()},
      f->attrs().With(std::move(name), std::move(value)), f->type(), f->span());
}

}  // namespace baton::relay
