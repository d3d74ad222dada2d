// Tests tir.StorageFlatten, which begins with tir.ApplyLayoutTransforms, on the
// laws of loops_laws.h: on random functions as schedules of tensor expressions
// make them, which realize regions of buffers, some of them in other layouts.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_map.h"
#include "baton/testing/loops_laws.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::baton::tir::Buffer;
using ::baton::tir::PrimExpr;
using ::baton::tir::Stmt;

// The maps of a layout of a buffer with `rank` axes: a split of the first axis,
// all axes in reverse order, or both.
std::vector<PrimExpr> RandomLayout(size_t rank, uint32_t choice) {
  using tir::BinaryOp;
  const auto vars = [](size_t n) {
    std::vector<tir::Var> result;
    for (size_t i = 0; i < n; ++i) {
      result.emplace_back(absl::StrCat("i", i), tir::kInt32);
    }
    return result;
  };
  std::vector<PrimExpr> maps;
  if (choice % 3 != 0) {
    const std::vector<tir::Var> in = vars(rank);
    const PrimExpr factor =
        tir::IntImm(tir::kInt32, 2 + static_cast<int64_t>(choice % 4));
    std::vector<PrimExpr> out = {
        tir::MakeBinary(BinaryOp::kFloorMod, in[0], factor),
        tir::MakeBinary(BinaryOp::kFloorDiv, in[0], factor)};
    out.insert(out.end(), in.begin() + 1, in.end());
    maps.push_back(tir::IndexMap(in, std::move(out)));
    ++rank;
  }
  if (choice % 3 != 1) {
    const std::vector<tir::Var> in = vars(rank);
    maps.push_back(
        tir::IndexMap(in, std::vector<PrimExpr>(in.rbegin(), in.rend())));
  }
  return maps;
}

// Allocated buffers become realized ones. The region of each begins at another
// index.
class RealizeBuffers final : public tir::Rewriter {
 public:
  // `layouts`: where the choice of layouts begins; 0: there are none.
  explicit RealizeBuffers(uint32_t layouts) : layouts_(layouts) {}

  int num_realized() const { return num_realized_; }

 protected:
  Stmt VisitAllocate(const tir::AllocateNode* node) override {
    const auto* decl = node->body().As<tir::DeclBufferNode>();
    if (decl == nullptr) return Rewriter::VisitAllocate(node);
    const Buffer& buffer = decl->buffer();
    if (buffer->data() != node->var() || !buffer->strides().empty() ||
        buffer->shape().empty() || buffer.dtype().lanes() != 1) {
      return Rewriter::VisitAllocate(node);
    }
    const int64_t first = num_realized_++ % 3;
    tir::BufferNode::Parts parts = buffer->parts();
    std::vector<tir::Range> bounds;
    for (size_t i = 0; i < parts.shape.size(); ++i) {
      const DType dtype = parts.shape[i].dtype();
      const PrimExpr min = tir::IntImm(dtype, i == 0 ? first : 0);
      bounds.push_back({min, parts.shape[i]});
      parts.shape[i] = tir::Add(parts.shape[i], min);
    }
    const Buffer realized(std::move(parts));
    moved_[buffer.get()] = {realized, first};
    const size_t rank = bounds.size();
    Stmt result = tir::BufferRealize(realized, std::move(bounds),
                                     tir::IntImm(DType::Bool(), 1),
                                     Rewrite(decl->body()));
    if (layouts_ == 0) return result;
    const tir::List maps(RandomLayout(rank, layouts_++));
    return tir::AttrStmt(tir::List({realized, maps}), "layout_transforms",
                         tir::IntImm(tir::kInt32, 1), std::move(result));
  }

  PrimExpr VisitBufferLoad(const tir::BufferLoadNode* node) override {
    const Moved* const moved = moved_.Find(node->buffer().get());
    if (moved == nullptr) return Rewriter::VisitBufferLoad(node);
    return tir::BufferLoad(moved->buffer, IndicesOf(*moved, node->indices()));
  }

  Stmt VisitBufferStore(const tir::BufferStoreNode* node) override {
    const Moved* const moved = moved_.Find(node->buffer().get());
    if (moved == nullptr) return Rewriter::VisitBufferStore(node);
    return tir::BufferStore(moved->buffer, Rewrite(node->value()),
                            IndicesOf(*moved, node->indices()));
  }

 private:
  struct Moved {
    Buffer buffer;
    int64_t first = 0;
  };

  std::vector<PrimExpr> IndicesOf(const Moved& moved,
                                  absl::Span<const PrimExpr> indices) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    RewriteAll(result);
    result[0] = tir::Add(
        result[0],
        tir::MakeConst(result[0].dtype(), static_cast<int64_t>(moved.first)));
    return result;
  }

  NodeMap<Moved> moved_;
  int num_realized_ = 0;
  uint32_t layouts_;
};

tir::PrimFunc AsOfTeSchedule(const tir::PrimFunc& function, uint32_t layouts,
                             int& num_realized) {
  RealizeBuffers rewriter(layouts);
  tir::PrimFuncNode::Parts parts = rewriter.RewriteBody(function)->parts();
  num_realized += rewriter.num_realized();
  parts.attrs = parts.attrs.With("from_legacy_te_schedule", AttrValue(true));
  return tir::PrimFunc(std::move(parts));
}

// `with_layouts`: layouts are chosen by seed.
void CheckOnRandomFunctions(bool with_layouts) {
  const uint32_t num_seeds = IsLongTest() ? 640 : 64;
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass lower,
      ParsePipeline("tir.LowerInitBlock,"
                    "tir.PlanAndUpdateBufferAllocationLocation,"
                    "tir.ConvertBlocksToOpaque,tir.CompactBufferAllocation,"
                    "tir.LowerMatchBuffer,tir.LowerOpaqueBlock"));
  BATON_ASSERT_OK_AND_ASSIGN(const Pass flatten,
                             ParsePipeline("tir.StorageFlatten"));
  int num_realized = 0;
  int num_refused = 0;
  for (uint32_t seed = 0; seed < num_seeds; ++seed) {
    const tir::PrimFunc function =
        RandomLoops(seed, RandomLoopsOptions::Mixed(seed));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule lowered,
                               lower(ModuleOfLoops(function)));
    const IRModule module = ModuleOfLoops(AsOfTeSchedule(
        tir::PrimFunc(lowered.Find("main").As<tir::PrimFuncNode>()),
        with_layouts ? seed + 1 : 0, num_realized));
    const absl::Status status = CheckLoopsLaws(flatten, module);
    // A layout may move vectors off the last axis, which the pass refuses.
    if (with_layouts && absl::StrContains(status.message(),
                                          "would not be along the last axis")) {
      ++num_refused;
      continue;
    }
    EXPECT_TRUE(status.ok())
        << "seed " << seed << ": " << status.message() << "\n"
        << AsText(module);
  }
  EXPECT_GT(num_realized, static_cast<int>(num_seeds) / 2);
  EXPECT_LT(num_refused, static_cast<int>(num_seeds) / 10);
}

TEST(StorageFlattenTest, RandomFunctions) {
  CheckOnRandomFunctions(/*with_layouts=*/false);
}

TEST(StorageFlattenTest, RandomLayouts) {
  CheckOnRandomFunctions(/*with_layouts=*/true);
}

}  // namespace
}  // namespace baton::testing
