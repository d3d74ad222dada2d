// Checks conditions that steps of schedules require. Each Check function
// returns an error unless the condition in its comment is true.
//
//   BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
//   BATON_RETURN_IF_ERROR(CheckCompleteBlock(state, block, scope));

#ifndef BATON_TIR_SCHEDULE_CONDITIONS_H_
#define BATON_TIR_SCHEDULE_CONDITIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {

// An error at the statement of `site`.
absl::Status SiteError(const Site* site, std::string message);

// The closest block around a site; an error for the root block. With
// `require_stage_pipeline`, an error if IsStagePipeline() of it is false.
absl::StatusOr<const Site*> ScopeRoot(const ScheduleState& state,
                                      const Site* site,
                                      bool require_stage_pipeline);

// A complete block: all variables are spatial; no other block of the scope
// writes the same buffers; it writes no buffer that it reads. If `scope` is a
// loop, only the blocks below the loop count.
absl::Status CheckCompleteBlock(const ScheduleState& state, const Site* block,
                                const Site* scope);
// A reduction block: it has `T.init()`; its bindings are affine; all variables
// are spatial or reduce; no other block of the scope writes the same buffers;
// indices of what it writes do not use the variables that reduce.
absl::Status CheckReductionBlock(const ScheduleState& state, const Site* block,
                                 const Site* scope);
absl::Status CheckCompleteOrReductionBlock(const ScheduleState& state,
                                           const Site* block,
                                           const Site* scope);
// Each block below `site` is complete or a reduction.
absl::Status CheckCompactDataflow(const ScheduleState& state, const Site* site);

// An output block writes a buffer that its scope does not allocate.
bool IsOutputBlock(const Site* block, const Site* scope);
absl::Status CheckNotOutputBlock(const Site* block, const Site* scope);

// The bindings of the block are affine, or affine in the loops below `high`.
absl::Status CheckPartialAffineBinding(const ScheduleState& state,
                                       const Site* block, const Site* high);

// The loop starts at 0.
absl::Status CheckStartsWithZero(const Site* loop, Analyzer& analyzer);
// The variable of `block` starts at 0.
absl::Status CheckStartsWithZero(const Site* block, const IterVar& iter);
// The extent of the loop is not known to be 0 or less.
absl::Status CheckHasIterations(const Site* loop);
// The loop has neither annotations nor a thread binding.
absl::Status CheckPlainLoop(const Site* loop);

// The blocks directly below a site, in order.
std::vector<const Site*> ChildBlocks(const ScheduleState& state,
                                     const Site* site);
// The block directly below a site; an error if there is none, or another one.
absl::StatusOr<const Site*> OnlyChildBlock(const ScheduleState& state,
                                           const Site* site);

// The blocks below `scope`, at any depth, that write a buffer which the scope
// of the block does not allocate.
std::vector<const Site*> OutputBlocks(const ScheduleState& state,
                                      const Site* scope);

// The blocks of the scope that write what `block` reads or writes, before it;
// that read or write what `block` writes, after it.
std::vector<const Site*> ProducersOf(const ScheduleState& state,
                                     const Site* block);
std::vector<const Site*> ConsumersOf(const ScheduleState& state,
                                     const Site* block);

// The first site around all of `sites`, which must not be empty.
const Site* LowestCommonAncestor(absl::Span<const Site* const> sites);
// True if `low` is below `high`.
bool IsAncestor(const Site* high, const Site* low);
// The sites are in the order of the text.
absl::Status CheckInOrder(const ScheduleState& state,
                          absl::Span<const Site* const> sites);
// True if `first` precedes `second` in the text.
bool IsBefore(const ScheduleState& state, const Site* first,
              const Site* second);

enum class AccessKind { kRead, kWrite };

// The region number `index` that the block reads or writes.
absl::StatusOr<BufferRegion> AccessedRegion(const Site* block, int index,
                                            AccessKind kind);

// The block around `site` that defines the buffer, and whether it allocates it;
// null if it is a buffer of a parameter.
std::pair<const Site*, bool> DefiningSite(const Site* site,
                                          const Buffer& buffer);
// The block around `site` that allocates the buffer; an error if none does.
absl::StatusOr<const Site*> AllocationSite(const Site* site,
                                           const Buffer& buffer);

// `scope` is a kind of memory, such as `global` or `shared`.
absl::Status CheckStorageScope(absl::string_view scope);

// Each iteration of the loops around `block`, up to `place` (exclusive), runs
// the block: they have no other statement between them, and none is empty.
absl::Status CheckRunsInLoops(const Site* block, const Site* place);
// The block, in all iterations of the loops below `place`, writes all of
// `copied` of a buffer, if it writes `region` in one iteration. Threads that
// share memory of `storage_scope` write together.
absl::Status CheckWritesAll(const Site* block, const BufferRegion& region,
                            const Site* place, absl::Span<const Range> copied,
                            absl::string_view storage_scope = "global");
// No condition in the block leaves out elements of what it writes.
absl::Status CheckWritesAlways(const Site* block, const Buffer& buffer);
// Each element of the buffer that the block reads was written before by the
// block's `T.init()` or by a block inside of it.
absl::Status CheckDoesNotRead(const ScheduleState& state, const Site* block,
                              const Buffer& buffer);

// The indices at which `block` reads the buffer are in bounds for all values of
// the block variables. A step requires this if it copies the read to a place
// without the conditions around it.
absl::Status CheckReadsInside(const ScheduleState& state, const Site* block,
                              const Buffer& buffer,
                              absl::Span<const PrimExpr> indices);

// Records that extents of parameters' buffers are not negative.
void BindShapes(const ScheduleState& state, Analyzer& analyzer);

// The statement that a step replaces to remove a block, and its replacement.
// Loops that are empty without the block are removed, too; an error if nothing
// remains in the scope.
struct Removal {
  Stmt before;
  Stmt after;
};
absl::StatusOr<Removal> RemovalOf(const Site* block);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_CONDITIONS_H_
