#include "baton/tir/analysis/side_effect.h"

#include <algorithm>

#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

class EffectVisitor final : public Visitor {
 public:
  CallEffect effect() const { return effect_; }

  void VisitBufferLoad(const BufferLoadNode* load) override {
    Add(CallEffect::kReadState);
    if (effect_ < CallEffect::kUpdateState) Visitor::VisitBufferLoad(load);
  }
  void VisitCall(const CallNode* call) override {
    const Intrinsic* intrinsic = IntrinsicOf(call->op());
    Add(intrinsic == nullptr ? CallEffect::kOpaque : intrinsic->effect);
    if (effect_ < CallEffect::kUpdateState) Visitor::VisitCall(call);
  }

 private:
  void Add(CallEffect effect) {
    effect_ = std::max(effect_, std::min(effect, CallEffect::kUpdateState));
  }

  CallEffect effect_ = CallEffect::kPure;
};

}  // namespace

CallEffect SideEffectOf(const PrimExpr& e) {
  EffectVisitor visitor;
  visitor.Visit(e);
  return visitor.effect();
}

}  // namespace baton::tir
