#include "baton/tir/transform/instrument_bound_checkers.h"

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

using Extents = std::vector<PrimExpr>;

class BoundFinder final : public Visitor {
 public:
  explicit BoundFinder(NodeMap<Extents>& bounds) : bounds_(bounds) {}

 protected:
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* pointer = node->node().As<VarNode>();
    const auto* extents = node->value().As<CallNode>();
    if (node->key() == "buffer_bound" && pointer != nullptr &&
        extents != nullptr) {
      bounds_[pointer] = {extents->args().begin(), extents->args().end()};
    }
    Visitor::VisitAttrStmt(node);
  }

 private:
  NodeMap<Extents>& bounds_;
};

// Finds the accesses of one statement.
class AccessFinder final : public Visitor {
 public:
  struct Access {
    std::vector<PrimExpr> indices;
    const Extents* extents;
  };
  explicit AccessFinder(const NodeMap<Extents>& bounds) : bounds_(bounds) {}
  const std::vector<Access>& accesses() const { return accesses_; }

  void Find(const BufferStoreNode* store) {
    VisitBufferStore(store);
    Note(store->buffer(), store->indices());
  }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Note(node->buffer(), node->indices());
    Visitor::VisitBufferLoad(node);
  }
  void VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.if_then_else")) is_conditional_ = true;
    Visitor::VisitCall(node);
  }

 private:
  void Note(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
    const Extents* extents = bounds_.Find(buffer->data().get());
    if (extents == nullptr || is_conditional_) return;
    for (const PrimExpr& index : indices) {
      const auto* ramp = index.As<RampNode>();
      if (ramp != nullptr && (ramp->base().dtype().lanes() != 1 ||
                              ramp->stride().dtype().lanes() != 1)) {
        return;
      }
    }
    accesses_.push_back({{indices.begin(), indices.end()}, extents});
  }

  const NodeMap<Extents>& bounds_;
  bool is_conditional_ = false;
  std::vector<Access> accesses_;
};

class CheckInserter final : public Rewriter {
 public:
  explicit CheckInserter(NodeMap<Extents>& bounds) : bounds_(bounds) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    Extents* extents = bounds_.Find(node->var().get());
    bool valid = extents != nullptr;
    for (const PrimExpr& extent : node->extents()) {
      const auto* imm = extent.As<IntImmNode>();
      valid = valid && extent.dtype().lanes() == 1 &&
              (imm == nullptr || imm->value() >= 0);
    }
    if (valid) {
      extents->clear();
      for (const PrimExpr& extent : node->extents()) {
        extents->push_back(
            Mul(IntImm(DType::UInt(64), node->dtype().lanes()), extent));
      }
    }
    return Rewriter::VisitAllocate(node);
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    AccessFinder finder(bounds_);
    finder.Find(node);
    PrimExpr condition;
    for (const AccessFinder::Access& access : finder.accesses()) {
      if (access.indices.size() != access.extents->size()) {
        if (status_.ok()) {
          status_ =
              ErrorAt(node->span(),
                      absl::StrCat("an access has ", access.indices.size(),
                                   " indices, but its memory has ",
                                   access.extents->size(), " extents"));
        }
        return BufferStore(node);
      }
      for (size_t i = 0; i < access.indices.size(); ++i) {
        PrimExpr within = Within(access.indices[i], (*access.extents)[i]);
        condition = condition.defined()
                        ? Binary(BinaryOp::kAnd, condition, within)
                        : within;
      }
    }
    if (!condition.defined()) return BufferStore(node);
    return IfThenElse(condition, BufferStore(node),
                      AssertStmt(condition, StringImm("OUT OF THE BOUNDS"),
                                 Evaluate(IntImm(kInt32, 1))),
                      node->span());
  }

 private:
  PrimExpr Within(PrimExpr index, PrimExpr extent) {
    constexpr DType kInt64 = DType::Int(64);
    if (const auto* ramp = index.As<RampNode>()) {
      index =
          Binary(BinaryOp::kAdd, ramp->base(),
                 Binary(BinaryOp::kMul, ramp->stride(),
                        MakeConst(ramp->stride().dtype(), ramp->lanes() - 1)));
    }
    index = Cast(kInt64, analyzer_.Simplify(index));
    extent = Cast(kInt64, analyzer_.Simplify(extent));
    return Binary(BinaryOp::kAnd,
                  Binary(BinaryOp::kGE, index, IntImm(kInt64, 0)),
                  Binary(BinaryOp::kLT, index, extent));
  }

  NodeMap<Extents>& bounds_;
  Analyzer analyzer_;
  absl::Status status_;
};

}  // namespace

Pass InstrumentBoundCheckers() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        NodeMap<Extents> bounds;
        BoundFinder(bounds).Visit(function->body());
        if (bounds.empty()) return function;
        CheckInserter inserter(bounds);
        PrimFunc result = inserter.RewriteBody(function);
        if (!inserter.status().ok()) return inserter.status();
        return result;
      },
      {.name = "tir.InstrumentBoundCheckers",
       .doc = "Stores only where all indices of a statement are within their "
              "bounds."});
}
BATON_REGISTER_PASS_AS("tir.InstrumentBoundCheckers", InstrumentBoundCheckers);

}  // namespace baton::tir
