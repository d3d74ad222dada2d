#include "baton/tir/transform/inject_rolling_buffer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr absl::string_view kRollingScope = "rolling_buffer_scope";

// The motion of the region of a buffer along an axis.
struct Motion {
  Var loop;             // null: not at all
  int64_t overlap = 0;  // elements that two steps share
};

struct RollingBuffer {
  size_t axis = 0;
  int64_t extent = 0;  // of the axis, in memory
  std::vector<Motion> motions;
};

class Injector final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Inject(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    if (rolling_.empty()) return function;
    PrimFuncNode::Parts parts = result->parts();
    parts.body = ConvertSSA(parts.body);
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    loops_.push_back(node->loop_var());
    Stmt result = Rewriter::VisitFor(node);
    loops_.pop_back();
    const std::vector<BufferRealize>* hoisted =
        hoisted_.Find(node->loop_var().get());
    if (hoisted == nullptr) return result;
    for (const BufferRealize& realize : *hoisted) {
      const std::vector<Range> bounds(realize->bounds().begin(),
                                      realize->bounds().end());
      result = BufferRealize(realize->buffer(), bounds, realize->condition(),
                             std::move(result), realize->span());
      for (const AttrStmt& attr : attrs_[realize->buffer().get()]) {
        if (attr->key() == kRollingScope) continue;
        result = AttrStmt(attr->node(), attr->key(), attr->value(),
                          std::move(result), attr->span());
      }
    }
    return result;
  }

  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* buffer = node->node().As<BufferNode>();
    if (buffer == nullptr) return Rewriter::VisitAttrStmt(node);
    attrs_[buffer].push_back(AttrStmt(node));
    if (node->key() == kRollingScope && IsOne(node->value())) {
      Roll(Buffer(buffer), node->span());
    }
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (!rolling_.Contains(buffer)) return result;
    return result.As<AttrStmtNode>()->body();
  }

  Stmt VisitBufferRealize(const BufferRealizeNode* node) override {
    const auto [realize, is_new] = realized_.TryEmplace(node->buffer().get());
    if (is_new) *realize = BufferRealize(node);
    Stmt result = Rewriter::VisitBufferRealize(node);
    if (!rolling_.Contains(node->buffer().get())) return result;
    return result.As<BufferRealizeNode>()->body();
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt visited = Rewriter::VisitBufferStore(node);
    const auto* store = visited.As<BufferStoreNode>();
    const RollingBuffer* rolling = rolling_.Find(node->buffer().get());
    if (rolling == nullptr) return visited;
    Stmt result =
        BufferStore(store->buffer(), store->value(),
                    Rolled(*rolling, store->indices()), store->span());
    for (size_t i = 0;
         i < rolling->motions.size() && i < store->indices().size(); ++i) {
      const Motion& motion = rolling->motions[i];
      if (!motion.loop.defined() || motion.overlap <= 0) continue;
      // The first step computes all, further ones what is new.
      const PrimExpr zero = MakeConst(motion.loop.dtype(), 0);
      VarMap<IntSet> first;
      first.Set(motion.loop, IntSet::FromRange({zero, Add(zero, One(zero))}));
      const PrimExpr least =
          Analyzer().IntSetOf(store->indices()[i], first).min();
      const PrimExpr is_new = Binary(
          BinaryOp::kOr, Binary(BinaryOp::kLT, motion.loop, One(motion.loop)),
          Binary(BinaryOp::kGE, least,
                 MakeConst(least.dtype(), motion.overlap)));
      result = IfThenElse(Call(DType::Bool(), BATON_OP("tir.likely"), {is_new}),
                          std::move(result), {});
    }
    return result;
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const RollingBuffer* rolling = rolling_.Find(node->buffer().get());
    if (rolling == nullptr) return result;
    const auto* load = result.As<BufferLoadNode>();
    return BufferLoad(load->buffer(), Rolled(*rolling, load->indices()),
                      load->span());
  }

 private:
  static PrimExpr One(const PrimExpr& like) {
    return MakeConst(like.dtype(), 1);
  }

  static std::vector<PrimExpr> Rolled(const RollingBuffer& rolling,
                                      absl::Span<const PrimExpr> indices) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    if (rolling.axis < result.size()) {
      PrimExpr& index = result[rolling.axis];
      index = Binary(BinaryOp::kFloorMod, index,
                     MakeConst(index.dtype(), rolling.extent));
    }
    return result;
  }

  // Finds the axis and the loop of a buffer that is to roll.
  void Roll(const Buffer& buffer, const Span& span) {
    const BufferRealize* found = realized_.Find(buffer.get());
    if (found == nullptr) {
      return Fail(span, absl::StrCat("the rolling buffer ", buffer->name(),
                                     " is not realized around"));
    }
    const BufferRealize realize = *found;
    RollingBuffer rolling;
    for (const Range& bound : realize->bounds()) {
      Motion motion;
      if (!FindMotion(bound, motion)) {
        return Fail(span, absl::StrCat("the region of the rolling buffer ",
                                       buffer->name(),
                                       " does not move by a constant stride"));
      }
      rolling.motions.push_back(motion);
    }
    for (const Var& loop : loops_) {
      const auto axis = std::find_if(
          rolling.motions.begin(), rolling.motions.end(),
          [&loop](const Motion& motion) { return motion.loop == loop; });
      if (axis == rolling.motions.end()) continue;
      rolling.axis = static_cast<size_t>(axis - rolling.motions.begin());
      const auto* extent =
          realize->bounds()[rolling.axis].extent.As<IntImmNode>();
      rolling.extent = extent->value();
      std::vector<Range> bounds;
      for (size_t i = 0; i < buffer->shape().size(); ++i) {
        const PrimExpr& size = buffer->shape()[i];
        bounds.push_back({MakeConst(size.dtype(), 0),
                          i == rolling.axis
                              ? MakeConst(size.dtype(), rolling.extent)
                              : size});
      }
      hoisted_[loop.get()].push_back(
          BufferRealize(buffer, std::move(bounds), realize->condition(),
                        realize->body(), realize->span()));
      kept_.push_back(buffer);
      rolling_[buffer.get()] = std::move(rolling);
      return;
    }
    Fail(span, absl::StrCat("no loop moves the region of the rolling buffer ",
                            buffer->name()));
  }

  // False if the range moves in another way than by a constant stride.
  static bool FindMotion(const Range& bound, Motion& motion) {
    PrimExpr min = bound.min;
    int64_t divisor = 1;
    if (const auto* quotient = AsBinary(min, BinaryOp::kFloorDiv)) {
      const auto* imm = quotient->b().As<IntImmNode>();
      if (imm == nullptr || imm->value() <= 0) return false;
      divisor = imm->value();
      min = quotient->a();
    }
    if (min.Is<IntImmNode>()) return true;
    int64_t stride = 1;
    if (const auto* product = AsBinary(min, BinaryOp::kMul)) {
      const auto* imm = product->b().As<IntImmNode>();
      if (imm == nullptr || imm->value() <= 0) return false;
      stride = imm->value();
      min = product->a();
    }
    const auto* var = min.As<VarNode>();
    const auto* extent = bound.extent.As<IntImmNode>();
    if (var == nullptr || extent == nullptr || extent->value() <= 0) {
      return false;
    }
    motion.loop = Var(var);
    motion.overlap = extent->value() - ((stride - 1) / divisor + 1);
    return true;
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  std::vector<Var> loops_;  // around, outermost first
  NodeMap<BufferRealize> realized_;
  NodeMap<std::vector<AttrStmt>> attrs_;
  NodeMap<RollingBuffer> rolling_;
  // Realizations that go around a loop, by its variable.
  NodeMap<std::vector<BufferRealize>> hoisted_;
  std::vector<Buffer> kept_;  // keys of `rolling_`
  absl::Status status_;
};

}  // namespace

Pass InjectRollingBuffer() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return Injector().Inject(function);
      },
      {.name = "tir.InjectRollingBuffer",
       .doc = "Keeps in a small buffer what later steps of a loop use again.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.InjectRollingBuffer", InjectRollingBuffer);

}  // namespace baton::tir
