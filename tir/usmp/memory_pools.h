// Memory pools of the static memory planner: memory of a limited or unlimited
// size in which functions for some targets have their buffers.
//
//   {pool_name:fast, size_hint_bytes:200704, targets:[c]}
//
// In functions a pool is a dictionary: scripts write what options write.

#ifndef BATON_TIR_USMP_MEMORY_POOLS_H_
#define BATON_TIR_USMP_MEMORY_POOLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// Attributes of the main function: the pools of buffers, and of constants.
inline constexpr char kWorkspacePoolsAttr[] = "workspace_memory_pools";
inline constexpr char kConstantPoolsAttr[] = "constant_memory_pools";
// Attributes of functions that take pools as parameters: a list of pools, and
// the places of inputs and outputs by their names.
inline constexpr char kPoolArgsAttr[] = "pool_args";
inline constexpr char kIoPlacesAttr[] = "io_tensor_pool_allocations";

// Annotations of allocations: the pools that may have the memory, and the place
// in one of them.
inline constexpr char kCandidatePools[] = "candidate_memory_pools";
inline constexpr char kPoolAllocation[] = "pool_allocation";
// Annotation of constants: their pool is only read.
inline constexpr char kReadOnly[] = "ro";
// Annotations of allocations in place of parameters: the parameter's name.
inline constexpr char kInputTensor[] = "input_tensor";
inline constexpr char kOutputTensor[] = "output_tensor";
// Keys of places, and of pools that are parameters.
inline constexpr char kPoolName[] = "pool_name";
inline constexpr char kByteOffset[] = "byte_offset";

struct MemoryPool {
  static constexpr int64_t kUnlimited = -1;

  std::string name;
  int64_t size_hint_bytes = kUnlimited;
  // The targets of functions that may use the pool; empty: all functions.
  std::vector<Target> targets;
  // All properties, as they were written.
  Dict config;

  bool IsUnlimited() const { return size_hint_bytes == kUnlimited; }
};

// The pool that a dictionary describes. An error for an unknown property or one
// of another type.
absl::StatusOr<MemoryPool> PoolOf(const PrimExpr& config);
// The pools of a list; none of a null handle. An error if two have one name.
absl::StatusOr<std::vector<MemoryPool>> PoolsOf(const PrimExpr& list);

// An unlimited pool for all targets.
MemoryPool UnlimitedPool(absl::string_view name);

// True if `function` may use `pool`. An error if the pool has targets and the
// function has none.
absl::StatusOr<bool> MayUse(const PrimFunc& function, const MemoryPool& pool);

// The pools that occur in a module. Equal names are one pool.
class PoolTable {
 public:
  const std::vector<MemoryPool>& pools() const { return pools_; }
  // Adds the pools of a list and returns their indices. An error if one has the
  // name of a known pool and other properties.
  absl::StatusOr<std::vector<int>> Add(const PrimExpr& list);

 private:
  std::vector<MemoryPool> pools_;
  // The lists that were added, by node. `lists_` keeps the nodes alive, so that
  // no other node gets the address of one.
  NodeMap<std::vector<int>> known_;
  std::vector<PrimExpr> lists_;
};

// The function of that name that calls the others; of an empty name,
// `__tvm_main__`, or `main` if there is none of that name. Null if the module
// has no function of loops at all.
absl::StatusOr<GlobalVar> MainFunctionOf(const IRModule& module,
                                         absl::string_view name);

// An integer in attributes: an int32, or an int64 if `value` needs more bits.
IntImm AttrInteger(int64_t value);
// False if `e` is no integer.
bool IntegerOf(const PrimExpr& e, int64_t& value);

// `dict` with those of `entries` whose keys it does not have; never null.
Dict WithMissing(const Dict& dict, std::vector<Dict::Entry> entries);

// The place {"byte_offset": `offset`, "pool_name": `pool`}.
Dict PlaceDict(absl::string_view pool, int64_t offset);

// The elements of an allocation in bytes; a negative number if an extent is not
// constant or they are more than 2^62.
int64_t AllocationBytes(DType dtype, absl::Span<const PrimExpr> extents);

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_MEMORY_POOLS_H_
