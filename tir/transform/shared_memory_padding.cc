#include "baton/tir/transform/shared_memory_padding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kBanks = 32;
constexpr int64_t kBankBits = 32;
// Most threads whose accesses are counted one by one.
constexpr int64_t kMaxValues = 1 << 16;

// The values scale * k for k below extent.
struct Step {
  int64_t extent;
  int64_t scale;
};
using Steps = std::vector<Step>;

bool IsShared(const Buffer& buffer) {
  return MemoryScope(buffer->scope()).rank == MemoryRank::kShared;
}

// The steps of an index whose variables are threads; nullopt if it is no sum of
// quotients and rests of them.
std::optional<Steps> StepsOf(const PrimExpr& e, const VarRanges& threads);

std::optional<Steps> StepsOfNode(const PrimExpr& e, const VarRanges& threads) {
  if (const auto* var = e.As<VarNode>()) {
    const Range* range = threads.Find(var);
    const auto* extent =
        range == nullptr ? nullptr : range->extent.As<IntImmNode>();
    if (extent == nullptr) return std::nullopt;
    if (extent->value() <= 1) return Steps();
    return Steps{{extent->value(), 1}};
  }
  if (e.As<IntImmNode>() != nullptr) return Steps();
  const auto* binary = e.As<BinaryNode>();
  if (binary == nullptr) return std::nullopt;
  std::optional<Steps> a = StepsOf(binary->a(), threads);
  if (!a.has_value()) return std::nullopt;
  if (binary->op() == BinaryOp::kAdd) {
    const std::optional<Steps> b = StepsOf(binary->b(), threads);
    if (!b.has_value()) return std::nullopt;
    Steps all = *a;
    all.insert(all.end(), b->begin(), b->end());
    if (all.empty()) return all;
    Steps merged = {all[0]};
    for (const Step& step : all) {
      Step& last = merged.back();
      if (step.extent * step.scale == last.scale) {
        last = {last.extent * step.extent, step.scale};
      }
    }
    return merged;
  }
  const auto* imm = binary->b().As<IntImmNode>();
  if (imm == nullptr || imm->value() <= 0) return std::nullopt;
  const int64_t operand = imm->value();
  Steps result;
  for (const Step& step : *a) {
    const int64_t end = step.scale * step.extent;
    switch (binary->op()) {
      case BinaryOp::kMul:
        result.push_back({step.extent, step.scale * operand});
        break;
      case BinaryOp::kFloorDiv:
        if (step.scale >= operand) {
          if (step.scale % operand != 0) return std::nullopt;
          result.push_back({step.extent, step.scale / operand});
        } else if (end > operand) {
          if (end % operand != 0) return std::nullopt;
          result.push_back({end / operand, 1});
        }
        break;
      case BinaryOp::kFloorMod:
        if (step.scale < operand) {
          if (operand % step.scale != 0) return std::nullopt;
          result.push_back(
              {std::min(operand / step.scale, step.extent), step.scale});
        }
        break;
      default:
        return std::nullopt;
    }
  }
  return result;
}

std::optional<Steps> StepsOf(const PrimExpr& e, const VarRanges& threads) {
  std::optional<Steps> result;
  OnDeepStack([&] { result = StepsOfNode(e, threads); });
  return result;
}

std::vector<int64_t> ValuesOf(const Steps& steps) {
  int64_t count = 1;
  for (const Step& step : steps) {
    count = std::min(count * step.extent, kMaxValues);
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    int64_t rest = i;
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      value += rest % it->extent * it->scale;
      rest /= it->extent;
    }
    values.push_back(value);
  }
  return values;
}

class BufferReplacer final : public Rewriter {
 public:
  explicit BufferReplacer(const BufferMap& buffers) : buffers_(buffers) {}

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Buffer* padded = buffers_.Find(buffer);
    return padded == nullptr ? buffer : *padded;
  }

 private:
  const BufferMap& buffers_;
};

}  // namespace

// Notes what one warp accesses: other loops are at their first step.
class PaddedAccessFinder final : public Visitor {
 public:
  PaddedAccessFinder(SharedMemoryPadder& padder,
                     absl::Span<const For> outer_loops,
                     FlatHashMap<std::string, int64_t> warp)
      : padder_(padder), warp_(std::move(warp)) {
    for (const For& loop : outer_loops) {
      first_[loop->loop_var().get()] = loop->min();
    }
  }

 protected:
  void VisitFor(const ForNode* node) override {
    const Var outer_vector = vector_;
    const int64_t outer_lanes = lanes_;
    if (node->for_kind() == ForKind::kThreadBinding) {
      const auto found = warp_.find(node->thread()->thread_tag());
      const int64_t extent = found == warp_.end() ? 1 : found->second;
      threads_.Set(node->loop_var(), {node->min(), IntImm(kInt32, extent)});
    } else {
      first_[node->loop_var().get()] = node->min();
    }
    const auto* extent = node->extent().As<IntImmNode>();
    if (node->for_kind() == ForKind::kVectorized && extent != nullptr) {
      vector_ = node->loop_var();
      lanes_ = extent->value();
    }
    Visitor::VisitFor(node);
    vector_ = outer_vector;
    lanes_ = outer_lanes;
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    if (IsShared(node->buffer())) {
      Note(node->buffer(), node->indices());
      if (lanes_ > 0 && !node->indices().empty() &&
          IsConsecutive(node->indices().back())) {
        padder_.SetLeastPadding(node->buffer(), lanes_);
      }
    }
    Visitor::VisitBufferStore(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    if (IsShared(node->buffer())) Note(node->buffer(), node->indices());
    Visitor::VisitBufferLoad(node);
  }
  // Matrix instructions access all of a region at once.
  void VisitBlock(const BlockNode* node) override {
    const auto* evaluate = node->body().As<EvaluateNode>();
    const auto* call =
        evaluate == nullptr ? nullptr : evaluate->value().As<CallNode>();
    if (call == nullptr ||
        (call->op() != BATON_OP("tir.tvm_load_matrix_sync") &&
         call->op() != BATON_OP("tir.tvm_store_matrix_sync"))) {
      return;
    }
    for (const MatchRegion& match : node->match_buffers()) {
      const BufferRegion& source = match->source();
      if (!IsShared(source->buffer())) continue;
      std::vector<PrimExpr> indices;
      for (const Range& range : source->region()) {
        const Var var(absl::StrCat("region", indices.size()), kInt32);
        indices.push_back(Add(range.min, var));
        threads_.Set(var, {IntImm(kInt32, 0), range.extent});
      }
      Note(source->buffer(), indices);
    }
  }

 private:
  PrimExpr AtFirst(const PrimExpr& e) {
    return Analyzer().Simplify(Substitute(e, first_));
  }

  void Note(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
    std::vector<SharedMemoryPadder::Values> values;
    bool ok = true;
    for (const PrimExpr& index : indices) {
      const PrimExpr simple = AtFirst(index);
      const std::optional<Steps> steps =
          ok ? StepsOf(simple, threads_) : std::nullopt;
      ok = steps.has_value();
      // A constant has no values to choose from.
      values.push_back(ok && simple.As<IntImmNode>() == nullptr
                           ? ValuesOf(*steps)
                           : SharedMemoryPadder::Values());
    }
    if (values.empty()) return;
    padder_.kept_.push_back(buffer);
    padder_.accesses_[buffer.get()].push_back(std::move(values));
  }

  // True unless it is known that the next lane is not the next element.
  bool IsConsecutive(const PrimExpr& index) {
    const auto at = [&](int64_t lane) {
      return Substitute(index, [&](const VarNode* var) {
        return var == vector_.get() ? MakeConst(var->dtype(), lane)
                                    : PrimExpr();
      });
    };
    const PrimExpr difference = Substitute(Sub(at(1), at(0)), first_);
    Analyzer analyzer;
    return !analyzer.CanProve(MakeBinary(BinaryOp::kNE, difference,
                                         MakeConst(difference.dtype(), 1)));
  }

  SharedMemoryPadder& padder_;
  NodeMap<PrimExpr> first_;
  const FlatHashMap<std::string, int64_t> warp_;
  VarRanges threads_;
  Var vector_;
  int64_t lanes_ = -1;
};

void SharedMemoryPadder::SetLeastPadding(const Buffer& buffer,
                                         int64_t padding) {
  int64_t& least = least_padding_[buffer.get()];
  least = std::max(least, padding);
  kept_.push_back(buffer);
}

void SharedMemoryPadder::NoteAccesses(
    const Stmt& stmt, absl::Span<const For> outer_loops,
    const FlatHashMap<std::string, int64_t>& thread_extents) {
  FlatHashMap<std::string, int64_t> warp;
  int64_t threads = 1;
  for (const char* tag : {"threadIdx.x", "threadIdx.y", "threadIdx.z"}) {
    const auto found = thread_extents.find(tag);
    const int64_t extent = found == thread_extents.end() ? 1 : found->second;
    if (threads * extent >= kWarp) {
      warp[tag] = kWarp / threads;
      break;
    }
    warp[tag] = extent;
    threads *= extent;
  }
  PaddedAccessFinder(*this, outer_loops, std::move(warp)).Visit(stmt);
}

void SharedMemoryPadder::Pad(std::vector<Buffer>& buffers) {
  for (Buffer& buffer : buffers) {
    if (!IsShared(buffer)) continue;
    const Accesses* accesses = accesses_.Find(buffer.get());
    if (accesses == nullptr) continue;
    const Buffer padded = Padded(buffer, *accesses);
    if (!padded.defined()) continue;
    padded_.Set(buffer, padded);
    buffer = padded;
  }
}

Buffer SharedMemoryPadder::Padded(const Buffer& buffer,
                                  const Accesses& accesses) const {
  const size_t rank = buffer->shape().size();
  const int64_t bits = std::max(1, buffer->dtype().bits());
  const int64_t row_limit = kBanks * kBankBits / bits;
  std::vector<int64_t> shape;
  for (const PrimExpr& extent : buffer->shape()) {
    const auto* imm = extent.As<IntImmNode>();
    if (imm == nullptr) return {};
    shape.push_back(imm->value());
  }
  if (rank == 0) return {};
  std::vector<Values> low;
  for (const std::vector<Values>& access : accesses) {
    if (access.size() != rank) return {};
    low.push_back(access[rank - 1]);
  }
  const int64_t* least = least_padding_.Find(buffer.get());
  const int64_t least_padding =
      least == nullptr ? 1 : std::max<int64_t>(1, *least);
  std::vector<int64_t> strides = {1};  // the last axis first
  int64_t stride = 1;
  for (size_t k = rank - 1; k-- > 0;) {
    const int64_t row = stride * shape[k + 1];
    const int64_t most = std::min<int64_t>(row / 4, row_limit);
    int64_t best = -1;
    int64_t fewest = std::numeric_limits<int64_t>::max();
    for (int64_t padding = 0; padding <= most; padding += least_padding) {
      const int64_t padded = (row + padding) % row_limit;
      int64_t conflicts = 0;
      for (size_t i = 0; i < accesses.size(); ++i) {
        int64_t uses[kBanks] = {};
        for (const int64_t high : accesses[i][k]) {
          for (const int64_t value : low[i]) {
            ++uses[(high * padded + value) * bits / kBankBits % kBanks];
          }
        }
        for (const int64_t count : uses) conflicts = std::max(conflicts, count);
      }
      if (conflicts < fewest) {
        fewest = conflicts;
        best = padding;
      }
    }
    for (size_t i = 0; i < accesses.size(); ++i) {
      if (accesses[i][k].empty()) continue;
      const int64_t padded = (row + best) % row_limit;
      Values values;
      for (const int64_t high : accesses[i][k]) {
        for (const int64_t value : low[i]) {
          if (static_cast<int64_t>(values.size()) >= kMaxValues) break;
          values.push_back((high * padded + value) * bits % row_limit);
        }
      }
      low[i] = std::move(values);
    }
    stride = row + best;
    strides.push_back(stride);
  }
  BufferNode::Parts parts = buffer->parts();
  parts.strides.clear();
  for (auto it = strides.rbegin(); it != strides.rend(); ++it) {
    parts.strides.push_back(IntImm(kInt32, *it));
  }
  return Buffer(std::move(parts), buffer->span());
}

Stmt SharedMemoryPadder::Rewritten(const Stmt& stmt) const {
  if (padded_.empty()) return stmt;
  return BufferReplacer(padded_).Rewrite(stmt);
}

}  // namespace baton::tir
