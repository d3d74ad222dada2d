#include "baton/tir/usmp/memory_pools.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_target.h"
#include "baton/tir/transform/func_target.h"

namespace baton::tir {
namespace {

// Properties that say how fast a pool is; the planner keeps them.
constexpr absl::string_view kKeptIntegers[] = {
    "clock_frequency_hz",   "read_bandwidth_bytes_per_cycle",
    "read_latency_cycles",  "write_bandwidth_bytes_per_cycle",
    "write_latency_cycles",
};

absl::Status BadPool(const PrimExpr& config, absl::string_view problem) {
  return ErrorAt(config.defined() ? config->span() : Span(),
                 absl::StrCat(problem,
                              ": a memory pool is written {pool_name:NAME,"
                              "size_hint_bytes:BYTES,targets:[TARGET,...]}"));
}

absl::StatusOr<Target> TargetOfExpr(const PrimExpr& e) {
  if (const auto* target = e.As<TargetNode>()) return Target(target);
  if (const auto* dict = e.As<DictNode>()) return Target(Dict(dict));
  const auto* text = e.As<StringImmNode>();
  if (text == nullptr) return BadPool(e, "a target is a string or {kind:...}");
  BATON_ASSIGN_OR_RETURN(Dict config, TargetConfigOf(text->value()));
  return Target(std::move(config));
}

absl::Status SetProperty(absl::string_view key, const PrimExpr& value,
                         MemoryPool& pool) {
  int64_t number = 0;
  if (key == kPoolName) {
    const auto* text = value.As<StringImmNode>();
    if (text == nullptr) return BadPool(value, "pool_name is no string");
    pool.name = text->value();
    return absl::OkStatus();
  }
  if (key == "size_hint_bytes") {
    if (!IntegerOf(value, number) || number < MemoryPool::kUnlimited) {
      return BadPool(value, "size_hint_bytes is no size (-1: unlimited)");
    }
    pool.size_hint_bytes = number;
    return absl::OkStatus();
  }
  if (key == "targets") {
    const auto* list = value.As<ListNode>();
    if (list == nullptr) return BadPool(value, "targets is no list");
    for (const PrimExpr& item : list->items()) {
      BATON_ASSIGN_OR_RETURN(Target target, TargetOfExpr(item));
      pool.targets.push_back(WithoutHost(target));
    }
    return absl::OkStatus();
  }
  if (key == "target_burst_bytes" || key == "is_internal") {
    return absl::OkStatus();
  }
  for (const absl::string_view known : kKeptIntegers) {
    if (key != known) continue;
    if (IntegerOf(value, number)) return absl::OkStatus();
    return BadPool(value, absl::StrCat(key, " is no integer"));
  }
  return BadPool(value,
                 absl::StrCat("unknown property `", key, "` of a memory pool"));
}

}  // namespace

absl::StatusOr<MemoryPool> PoolOf(const PrimExpr& config) {
  const auto* dict = config.defined() ? config.As<DictNode>() : nullptr;
  if (dict == nullptr) return BadPool(config, "this is no memory pool");
  MemoryPool pool;
  pool.config = Dict(dict);
  for (size_t i = 0; i < dict->keys().size(); ++i) {
    BATON_RETURN_IF_ERROR(
        SetProperty(dict->keys()[i], dict->values()[i], pool));
  }
  if (pool.name.empty()) return BadPool(config, "a pool has no pool_name");
  return pool;
}

absl::StatusOr<std::vector<MemoryPool>> PoolsOf(const PrimExpr& list) {
  std::vector<MemoryPool> pools;
  if (!list.defined()) return pools;
  const auto* node = list.As<ListNode>();
  if (node == nullptr) return BadPool(list, "this is no list of memory pools");
  FlatHashSet<std::string> names;
  for (const PrimExpr& item : node->items()) {
    BATON_ASSIGN_OR_RETURN(MemoryPool pool, PoolOf(item));
    if (!names.insert(pool.name).second) {
      return BadPool(item, absl::StrCat("two pools are named ", pool.name));
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

MemoryPool UnlimitedPool(absl::string_view name) {
  MemoryPool pool;
  pool.name = std::string(name);
  pool.config = Dict::OfAll({{kPoolName, StringImm(pool.name)}});
  return pool;
}

absl::StatusOr<bool> MayUse(const PrimFunc& function, const MemoryPool& pool) {
  if (pool.targets.empty()) return true;
  BATON_ASSIGN_OR_RETURN(const Target target, RequiredTargetOf(function));
  const Target own = WithoutHost(target);
  for (const Target& known : pool.targets) {
    if (EqualTargets(known, own)) return true;
  }
  return false;
}

absl::StatusOr<std::vector<int>> PoolTable::Add(const PrimExpr& list) {
  if (!list.defined()) return std::vector<int>();
  const auto [indices, is_new] = known_.TryEmplace(list.get());
  if (!is_new) return *indices;
  lists_.push_back(list);
  BATON_ASSIGN_OR_RETURN(std::vector<MemoryPool> pools, PoolsOf(list));
  std::vector<int> result;
  for (MemoryPool& pool : pools) {
    size_t i = 0;
    while (i < pools_.size() && pools_[i].name != pool.name) ++i;
    if (i == pools_.size()) {
      pools_.push_back(std::move(pool));
    } else if (!StructuralEqual(pools_[i].config, pool.config)) {
      return BadPool(list, absl::StrCat("pool ", pool.name,
                                        " has other properties elsewhere"));
    }
    result.push_back(static_cast<int>(i));
  }
  *indices = result;
  return result;
}

absl::StatusOr<GlobalVar> MainFunctionOf(const IRModule& module,
                                         absl::string_view name) {
  if (absl::c_none_of(module.functions(),
                      [](const IRModule::Definition& definition) {
                        return definition.function.Is<PrimFuncNode>();
                      })) {
    return GlobalVar();
  }
  if (name.empty()) {
    name = module.Find<PrimFunc>("__tvm_main__").defined() ? "__tvm_main__"
                                                           : "main";
  }
  BATON_RETURN_IF_ERROR(module.Lookup<PrimFunc>(name).status());
  return module.FindGlobalVar(name);
}

IntImm AttrInteger(int64_t value) {
  return IntImm(value == static_cast<int32_t>(value) ? kInt32 : DType::Int(64),
                value);
}

bool IntegerOf(const PrimExpr& e, int64_t& value) {
  const auto* imm = e.defined() ? e.As<IntImmNode>() : nullptr;
  if (imm == nullptr) return false;
  value = imm->value();
  return true;
}

Dict WithMissing(const Dict& dict, std::vector<Dict::Entry> entries) {
  // The last entry of a key counts.
  absl::c_move(dict.Entries(), std::back_inserter(entries));
  return Dict::OfAll(std::move(entries));
}

Dict PlaceDict(absl::string_view pool, int64_t offset) {
  return Dict::OfAll({{kPoolName, StringImm(std::string(pool))},
                      {kByteOffset, AttrInteger(offset)}});
}

int64_t AllocationBytes(DType dtype, absl::Span<const PrimExpr> extents) {
  int64_t bytes = int64_t{(dtype.bits() + 7) / 8} * dtype.lanes();
  for (const PrimExpr& extent : extents) {
    int64_t number = 0;
    if (!IntegerOf(extent, number) || number < 0 ||
        __builtin_mul_overflow(bytes, number, &bytes) ||
        bytes > int64_t{1} << 62) {
      return -1;
    }
  }
  return bytes;
}

}  // namespace baton::tir
