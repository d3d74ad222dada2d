#include "baton/tir/schedule/steps.h"
namespace baton::tir {
#define UNWRITTEN return absl::UnimplementedError("not written")
absl::StatusOr<std::vector<Block>> CacheIndex(ScheduleState&, const Site*, const std::string&, int) { UNWRITTEN; }
absl::Status Tensorize(ScheduleState&, const Site*, const PrimFunc&, const PrimFunc&, bool) { UNWRITTEN; }
absl::StatusOr<Block> DecomposePadding(ScheduleState&, const Site*, const Site*) { UNWRITTEN; }
absl::Status PadEinsum(ScheduleState&, const Site*, absl::Span<const int64_t>) { UNWRITTEN; }
absl::Status RollingBuffer(ScheduleState&, const Site*, int) { UNWRITTEN; }
absl::Status TransformLayout(ScheduleState&, const Site*, int, AccessKind, const IndexMap&, const IndexMap&, bool) { UNWRITTEN; }
absl::Status TransformBlockLayout(ScheduleState&, const Site*, const IndexMap&) { UNWRITTEN; }
absl::Status SetAxisSeparator(ScheduleState&, const Site*, int, AccessKind, absl::Span<const int64_t>) { UNWRITTEN; }
}
