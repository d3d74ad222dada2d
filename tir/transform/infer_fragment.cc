#include "baton/tir/transform/infer_fragment.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/tensor_core_fragments.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Checks that matrix products have operands of one shape.
class ProductChecker final : public Visitor {
 public:
  explicit ProductChecker(const VarMap<Fragment>& fragments)
      : fragments_(fragments) {}
  const absl::Status& status() const { return status_; }

 protected:
  void VisitCall(const CallNode* node) override {
    Visitor::VisitCall(node);
    if (node->op() != BATON_OP("tir.tvm_mma_sync") &&
        node->op() != BATON_OP("tir.tvm_bmma_sync")) {
      return;
    }
    if (node->args().size() != 8) {
      Fail(node->span(), "a matrix product must have 8 arguments");
      return;
    }
    const Fragment* first = nullptr;
    for (const int i : {0, 2, 4, 6}) {
      const auto* pointer = node->args()[i].As<VarNode>();
      const Fragment* fragment =
          pointer == nullptr ? nullptr : fragments_.Find(pointer);
      if (fragment == nullptr) {
        Fail(node->span(),
             absl::StrCat("operand ", i,
                          " of a matrix product is no fragment that is loaded "
                          "or filled"));
        return;
      }
      if (first == nullptr) first = fragment;
      if (!fragment->SameShape(*first)) {
        Fail(node->span(), "the operands of a matrix product differ in shape");
      }
    }
  }

 private:
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const VarMap<Fragment>& fragments_;
  absl::Status status_;
};

class Annotator final : public Rewriter {
 public:
  explicit Annotator(const VarMap<Fragment>& fragments)
      : fragments_(fragments) {}

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    Stmt result = Rewriter::VisitAllocate(node);
    const Fragment* fragment = fragments_.Find(node->var());
    if (fragment == nullptr) return result;
    result = AttrStmt(node->var(), "fragment_shape",
                      StringImm(absl::StrCat(fragment->m, ", ", fragment->n,
                                             ", ", fragment->k)),
                      std::move(result));
    if (fragment->layout.empty()) return result;
    return AttrStmt(node->var(), "fragment_layout", StringImm(fragment->layout),
                    std::move(result));
  }

 private:
  const VarMap<Fragment>& fragments_;
};

}  // namespace

Pass InferFragment() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const VarMap<Fragment> fragments,
                               FindFragments(function->body()));
        ProductChecker checker(fragments);
        checker.Visit(function->body());
        if (!checker.status().ok()) return checker.status();
        if (fragments.empty()) return function;
        return Annotator(fragments).RewriteBody(function);
      },
      {.name = "tir.InferFragment",
       .doc = "Writes the shapes and layouts of fragments of matrix "
              "instructions beside their allocations."});
}
BATON_REGISTER_PASS_AS("tir.InferFragment", InferFragment);

}  // namespace baton::tir
