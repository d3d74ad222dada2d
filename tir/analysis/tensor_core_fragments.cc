#include "baton/tir/analysis/tensor_core_fragments.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/error_at.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

constexpr char kMatrixA[] = "wmma.matrix_a";
constexpr char kMatrixB[] = "wmma.matrix_b";
constexpr char kAccumulator[] = "wmma.accumulator";

class FragmentFinder final : public Visitor {
 public:
  VarMap<Fragment>& fragments() { return fragments_; }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitCall(const CallNode* node) override {
    Visitor::VisitCall(node);
    const bool fills = node->op() == BATON_OP("tir.tvm_fill_fragment");
    if (!fills && node->op() != BATON_OP("tir.tvm_load_matrix_sync") &&
        node->op() != BATON_OP("tir.tvm_store_matrix_sync")) {
      return;
    }
    const auto args = node->args();
    if (args.size() != (fills ? 6 : 8)) {
      Fail(node->span(),
           absl::StrCat("a matrix instruction must have ", fills ? 6 : 8,
                        " arguments, but has ", args.size()));
      return;
    }
    const auto* pointer = args[0].As<VarNode>();
    const auto* m = args[1].As<IntImmNode>();
    const auto* n = args[2].As<IntImmNode>();
    const auto* k = args[3].As<IntImmNode>();
    const auto* layout = fills ? nullptr : args[7].As<StringImmNode>();
    if (pointer == nullptr || m == nullptr || n == nullptr || k == nullptr ||
        (!fills && layout == nullptr)) {
      Fail(
          node->span(),
          "the shape and the layout of a matrix instruction must be constants");
      return;
    }
    const std::string& scope = pointer->scope();
    Fragment fragment = {m->value(), n->value(), k->value(), "", scope};
    const bool is_operand = scope == kMatrixA || scope == kMatrixB;
    if (fills) {
      fragment.layout = "row_major";
    } else if (is_operand) {
      fragment.layout = layout->value();
    } else if (scope != kAccumulator) {
      fragment = Fragment();
    }
    const Fragment* known = fragments_.Find(pointer);
    if (known == nullptr) {
      fragments_.Set(Var(pointer), std::move(fragment));
    } else if (known->m != m->value() || known->n != n->value() ||
               known->k != k->value() ||
               (is_operand && !fills && known->layout != layout->value())) {
      Fail(node->span(), absl::StrCat("the fragment ", pointer->name(),
                                      " has another shape or layout before"));
    }
  }

 private:
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  VarMap<Fragment> fragments_;
  absl::Status status_;
};

}  // namespace

int64_t Fragment::Size() const {
  if (scope == kMatrixA) return m * k;
  if (scope == kMatrixB) return n * k;
  return scope == kAccumulator ? m * n : 0;
}

absl::StatusOr<VarMap<Fragment>> FindFragments(const Stmt& body) {
  FragmentFinder finder;
  finder.Visit(body);
  if (!finder.status().ok()) return finder.status();
  return std::move(finder.fragments());
}

}  // namespace baton::tir
