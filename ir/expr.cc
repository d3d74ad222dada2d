#include "baton/ir/expr.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace baton {

Call::Call(Expr op, absl::Span<const Expr> args, Attrs attrs,
           std::vector<Type> type_args, Type type, Span span) {
  void* memory = ::operator new(sizeof(CallNode) + args.size() * sizeof(Expr));
  auto* node =
      new (memory) CallNode(std::move(op), static_cast<uint32_t>(args.size()),
                            std::move(attrs), std::move(type), std::move(span));
  Expr* out = node->arg_array();
  for (size_t i = 0; i < args.size(); ++i) new (out + i) Expr(args[i]);
  if (!type_args.empty()) {
    node->type_args_ =
        std::make_unique<std::vector<Type>>(std::move(type_args));
  }
  *this = Call(static_cast<const CallNode*>(node));
}

Function Function::WithAttr(std::string name, AttrValue value) const {
  const FunctionNode* f = get();
  return Function(
      {f->params().begin(), f->params().end()}, f->body(), f->result_type(),
      {f->type_params().begin(), f->type_params().end()},
      f->attrs().With(std::move(name), std::move(value)), f->type(), f->span());
}

}  // namespace baton
