#include "baton/tir/transform/texture_flatten.h"

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class TextureFinder final : public Visitor {
 public:
  const StmtNode* found() const { return found_; }

 protected:
  void VisitBufferRealize(const BufferRealizeNode* node) override {
    if (absl::StartsWith(node->buffer()->scope(), "global.texture")) {
      found_ = node;
    }
    Visitor::VisitBufferRealize(node);
  }

 private:
  const StmtNode* found_ = nullptr;
};

}  // namespace

Pass TextureFlatten() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        TextureFinder finder;
        finder.Visit(function->body());
        if (finder.found() != nullptr) {
          return ErrorAt(
              finder.found()->span(),
              "T.realize in the scope global.texture is not supported");
        }
        return function;
      },
      {.name = "tir.TextureFlatten",
       .doc = "Lowers memory of the scope `global.texture` to images.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.TextureFlatten", TextureFlatten);

}  // namespace baton::tir
