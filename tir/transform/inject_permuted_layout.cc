#include "baton/tir/transform/inject_permuted_layout.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }
PrimExpr FloorDiv(const PrimExpr& a, int64_t b) {
  return MakeBinary(BinaryOp::kFloorDiv, a, Int(b));
}
PrimExpr FloorMod(const PrimExpr& a, int64_t b) {
  return MakeBinary(BinaryOp::kFloorMod, a, Int(b));
}
PrimExpr Xor(const PrimExpr& a, const PrimExpr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (x != nullptr && y != nullptr) {
    return IntImm(a.dtype(), x->value() ^ y->value());
  }
  return CallIntrinsic("bitwise_xor", {a, b});
}

// The permuted column.
PrimExpr Permuted(const PrimExpr& row, const PrimExpr& column, int64_t width) {
  const PrimExpr vector = FloorDiv(column, 8);
  PrimExpr permuted;
  if (width % 64 == 0) {
    permuted = Add(Mul(FloorDiv(vector, 8), Int(8)),
                   Xor(FloorMod(vector, 8), FloorMod(row, 8)));
  } else {
    permuted = Xor(FloorMod(vector, 4), FloorDiv(FloorMod(row, 8), 2));
  }
  return Add(Mul(permuted, Int(8)), FloorMod(column, 8));
}

class Permuter final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitBlockRealize(const BlockRealizeNode* node) override {
    const Stmt visited = Rewriter::VisitBlockRealize(node);
    const auto* realize = visited.As<BlockRealizeNode>();
    const Block& block = realize->block();
    const PrimExpr annotation = block->annotations().Find("permuted_layout");
    const auto* text = annotation.As<StringImmNode>();
    if (text == nullptr || text->value().size() < 5) return visited;
    const std::string& value = text->value();
    int64_t& width = value[4] == 'A' ? width_a_ : width_b_;
    Stmt body;
    if (absl::StartsWith(value, "g2s")) {
      body = CopyToShared(block->body(), width);
    } else if (absl::StartsWith(value, "s2l")) {
      body = LoadFromShared(block->body(), width);
    }
    if (!body.defined()) return visited;
    BlockNode::Parts parts = block->parts();
    parts.body = std::move(body);
    return BlockRealize(
        {realize->iter_values().begin(), realize->iter_values().end()},
        realize->predicate(), Block(std::move(parts), block->span()),
        realize->span());
  }

 private:
  // Null if the statement stays. Sets the number of columns.
  Stmt CopyToShared(Stmt body, int64_t& width) {
    Stmt local_stage;
    if (const auto* seq = body.As<SeqStmtNode>()) {
      if (seq->seq().size() != 2) {
        Fail(body->span(), "a copy to shared memory has not two stages");
        return {};
      }
      local_stage = seq->seq()[0];
      const Stmt second = seq->seq()[1];
      body = second;
    }
    std::vector<const ForNode*> loops;
    while (const auto* loop = body.As<ForNode>()) {
      loops.push_back(loop);
      const Stmt inner = loop->body();
      body = inner;
    }
    const auto* branch = body.As<IfThenElseNode>();
    const auto* store = branch == nullptr
                            ? body.As<BufferStoreNode>()
                            : branch->then_case().As<BufferStoreNode>();
    if (store == nullptr ||
        (branch != nullptr && branch->else_case().defined()) ||
        store->indices().size() != 2) {
      Fail(body->span(),
           "a copy to shared memory is no store with two indices");
      return {};
    }
    const auto shape = store->buffer()->shape();
    const auto* rows = shape[0].As<IntImmNode>();
    const auto* columns = shape[1].As<IntImmNode>();
    if (rows == nullptr || columns == nullptr || columns->value() % 32 != 0 ||
        (columns->value() % 64 == 32 && rows->value() % 2 != 0)) {
      return {};
    }
    width = columns->value();
    const PrimExpr& row = store->indices()[0];
    Stmt result = BufferStore(store->buffer(), store->value(),
                              {row, Permuted(row, store->indices()[1], width)},
                              store->span());
    if (branch != nullptr) {
      result = IfThenElse(branch->condition(), std::move(result), {},
                          branch->span());
    }
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      ForNode::Parts parts = (*it)->parts();
      parts.body = std::move(result);
      result = For(std::move(parts), (*it)->span());
    }
    if (!local_stage.defined()) return result;
    return SeqStmt({local_stage, result});
  }

  Stmt LoadFromShared(const Stmt& body, int64_t width) {
    if (width == -1) return {};
    const auto* evaluate = body.As<EvaluateNode>();
    const auto* load =
        evaluate == nullptr ? nullptr : evaluate->value().As<CallNode>();
    const auto* pointer = load == nullptr || load->args().size() != 7
                              ? nullptr
                              : load->args()[5].As<CallNode>();
    if (pointer == nullptr || pointer->args().size() != 5) {
      Fail(body->span(), "a load from shared memory is no ptx_ldmatrix");
      return {};
    }
    std::vector<PrimExpr> pointer_args(pointer->args().begin(),
                                       pointer->args().end());
    const PrimExpr offset = Add(load->args()[6], pointer_args[2]);
    pointer_args[2] = Int(0);
    const PrimExpr row = FloorDiv(offset, width);
    const PrimExpr column = FloorMod(offset, width);
    std::vector<PrimExpr> args(load->args().begin(), load->args().end());
    args[5] = Call(pointer->dtype(), pointer->op(), std::move(pointer_args));
    args[6] = Add(Mul(row, Int(width)), Permuted(row, column, width));
    return Evaluate(Call(load->dtype(), load->op(), std::move(args)),
                    evaluate->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  // The widths of the rows of the matrices A and B; -1 if their buffers are not
  // permuted.
  int64_t width_a_ = -1;
  int64_t width_b_ = -1;
  absl::Status status_;
};

}  // namespace

Pass InjectPermutedLayout() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        Permuter permuter;
        PrimFunc result = permuter.RewriteBody(function);
        if (!permuter.status().ok()) return permuter.status();
        return result;
      },
      {.name = "tir.InjectPermutedLayout",
       .doc = "Permutes the columns of matrices in shared memory."});
}
BATON_REGISTER_PASS_AS("tir.InjectPermutedLayout", InjectPermutedLayout);

}  // namespace baton::tir
