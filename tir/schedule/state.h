// The state of a schedule: a function, the tree of its blocks and loops, and
// properties of blocks that steps require.
//
// A Site is a block or a loop at its place in the function. The parent of a
// site is the closest block or loop around it; statements between them (`if`,
// `while`, sequences) are no sites, nor is anything in `T.init()`. The scope of
// a site is the closest block around it.
//
// Nodes are immutable: Replace() makes another function and a tree for it.
// Sites of the tree before are then invalid; statements stay valid while a
// handle to them exists.

#ifndef BATON_TIR_SCHEDULE_STATE_H_
#define BATON_TIR_SCHEDULE_STATE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct Site {
  Stmt stmt;             // a Block or a For
  BlockRealize realize;  // of a block
  const Site* parent = nullptr;
  // The position among the statements of a sequence, else -1.
  int seq_index = -1;

  // The block or the loop; null if the site is of the other kind.
  const BlockNode* block() const { return stmt.As<BlockNode>(); }
  const ForNode* loop() const { return stmt.As<ForNode>(); }
  bool is_block() const { return realize.defined(); }
  // `block B`, `loop i`.
  std::string Describe() const;
};

enum class DependencyKind : uint8_t {
  kReadAfterWrite,
  kWriteAfterWrite,
  kWriteAfterRead
};

// `dst` comes after `src` and accesses a buffer of it.
struct Dependency {
  const Site* src = nullptr;
  const Site* dst = nullptr;
  DependencyKind kind = DependencyKind::kReadAfterWrite;
};

// The blocks directly in a block, in order, and the dependencies of one on
// another.
struct BlockScope {
  std::vector<const Site*> blocks;
  std::vector<Dependency> dependencies;
  // The blocks that write a buffer.
  FlatHashMap<const BufferNode*, std::vector<const Site*>> writers;

  std::vector<Dependency> DependenciesOf(const Site* src) const;
  std::vector<Dependency> DependenciesOn(const Site* dst) const;
};

class ScheduleState {
 public:
  ScheduleState(ScheduleState&&) = default;
  ScheduleState& operator=(ScheduleState&&) = default;
  // An error if the body of `function` is no block.
  static absl::StatusOr<ScheduleState> Create(PrimFunc function);

  const PrimFunc& function() const { return function_; }
  const Site* root() const { return &sites_.front(); }
  // All sites, parents first, in the order of the text.
  const std::deque<Site>& sites() const { return sites_; }
  // The site of a block or loop; null if the node is no part of the function.
  const Site* Find(const Node* stmt) const;
  // The blocks of that name.
  std::vector<const Site*> BlocksNamed(absl::string_view name) const;

  const BlockScope& ScopeOf(const Site* block) const;

  // True if the values of the block's variables are independent of one another,
  // and each is a sum of splits of the loops around the block.
  bool IsAffine(const Site* block) const;
  // True if each region that the block reads, of a buffer that blocks of its
  // scope write, is written by them before.
  bool IsRegionCovered(const Site* block) const;
  // True if the blocks in this block depend on one another only by reads after
  // writes and writes after writes, and IsRegionCovered() is true for each.
  bool IsStagePipeline(const Site* block) const;

  // Replaces a loop by another statement, a block by a block. `new_buffer`, if
  // any, replaces `old_buffer` among the buffers of the parameters.
  absl::Status Replace(const Site* site, const Stmt& replacement,
                       const Buffer& old_buffer = {},
                       const Buffer& new_buffer = {});

 private:
  struct Flags {
    std::optional<bool> affine;
    std::optional<bool> region_cover;
    std::optional<bool> stage_pipeline;
    std::optional<BlockScope> scope;
  };

  ScheduleState() = default;
  absl::Status SetFunction(PrimFunc function);
  Flags& FlagsOf(const Site* site) const;
  bool ComputeAffine(const Site* block) const;
  bool ComputeCover(const Site* block) const;

  PrimFunc function_;
  std::deque<Site> sites_;
  FlatHashMap<const Node*, const Site*> by_stmt_;
  mutable FlatHashMap<const Site*, std::unique_ptr<Flags>> flags_;
};

// The loops directly around a block, outermost first.
std::vector<const Site*> LoopsOf(const Site* block);
// The ranges of the variables of `low`, if it is a loop, and of the loops
// around it, up to but excluding the first block or `high`. For a buffer whose
// memory scope is not global, also those of loops further out that are bound to
// threads which share that memory.
VarRanges LoopDomains(const Site* low, const Site* high = nullptr,
                      absl::string_view storage_scope = "global");
// The values of the variables of a block.
VarMap<PrimExpr> BindingsOf(const BlockRealizeNode* realize);
PrimExpr Substitute(const PrimExpr& e, const VarMap<PrimExpr>& values);
Stmt Substitute(const Stmt& stmt, const VarMap<PrimExpr>& values);
std::vector<Range> Substitute(absl::Span<const Range> region,
                              const VarMap<PrimExpr>& values);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_STATE_H_
