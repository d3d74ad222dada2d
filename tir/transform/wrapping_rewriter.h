// A rewriter with a hook around the rewrite of each statement.
//
//   class Preparer : public WrappingRewriter<Rewriter> {
//     Stmt Around(const StmtNode* node, RewriteFn rewrite) override {
//       Stmt result = rewrite();
//       return seq_.empty() ? result : Prepared(std::move(result));
//     }
//     Stmt DoFor(const ForNode* loop) override { ... }
//   };

#ifndef BATON_TIR_TRANSFORM_WRAPPING_REWRITER_H_
#define BATON_TIR_TRANSFORM_WRAPPING_REWRITER_H_

#include "absl/functional/function_ref.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// `Base` is Rewriter or a subclass. The hooks for statements are DoFor(),
// DoLetStmt() ...: they rewrite as those of `Base` unless overridden.
template <typename Base>
class WrappingRewriter : public Base {
 public:
  using Base::Base;

 protected:
  using RewriteFn = absl::FunctionRef<Stmt()>;
  // Returns the replacement of `node`; `rewrite` runs its hook.
  virtual Stmt Around(const StmtNode* node, RewriteFn rewrite) = 0;

#define BATON_TIR_WRAPPED_HOOK(index, Name, sort)                 \
  Stmt Visit##Name(const Name##Node* node) final {                \
    return Around(node, [this, node] { return Do##Name(node); }); \
  }                                                               \
  virtual Stmt Do##Name(const Name##Node* node) {                 \
    return Base::Visit##Name(node);                               \
  }
  BATON_TIR_STMTS(BATON_TIR_WRAPPED_HOOK)
#undef BATON_TIR_WRAPPED_HOOK
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_WRAPPING_REWRITER_H_
