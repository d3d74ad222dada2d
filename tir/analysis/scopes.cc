#include "baton/tir/analysis/scopes.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace baton::tir {
namespace {

struct Prefix {
  absl::string_view name;
  MemoryRank rank;
};
constexpr Prefix kPrefixes[] = {
    {"global", MemoryRank::kGlobal},
    {"shared", MemoryRank::kShared},
    {"warp", MemoryRank::kWarp},
    {"local", MemoryRank::kLocal},
    {"wmma.matrix_a", MemoryRank::kWmmaMatrixA},
    {"wmma.matrix_b", MemoryRank::kWmmaMatrixB},
    {"wmma.accumulator", MemoryRank::kWmmaAccumulator},
    {"texture", MemoryRank::kTexture},
    {"amx.tmm", MemoryRank::kAmxTile},
    {"m16n8k8.matrixA", MemoryRank::kMmaMatrixA},
    {"m16n8k8.matrixB", MemoryRank::kMmaMatrixB},
    {"m16n8k8.matrixC", MemoryRank::kMmaMatrixC},
};

}  // namespace

MemoryScope::MemoryScope(absl::string_view scope)
    : rank(scope.empty() ? MemoryRank::kGlobal : MemoryRank::kUnknown) {
  for (const Prefix& prefix : kPrefixes) {
    if (!absl::StartsWith(scope, prefix.name)) continue;
    rank = prefix.rank;
    tag = std::string(scope.substr(prefix.name.size()));
    return;
  }
}

ThreadScope::ThreadScope(absl::string_view thread_tag) {
  constexpr absl::string_view kBlock = "blockIdx.";
  constexpr absl::string_view kThread = "threadIdx.";
  if (absl::StartsWith(thread_tag, "vthread") || thread_tag == "cthread") {
    rank = 1;
    return;
  }
  for (const absl::string_view prefix : {kBlock, kThread}) {
    if (!absl::StartsWith(thread_tag, prefix) ||
        thread_tag.size() != prefix.size() + 1) {
      continue;
    }
    rank = prefix == kBlock ? 0 : 1;
    axis = thread_tag.back() - 'x';
  }
}

bool IsSharedByThreads(const MemoryScope& memory, const ThreadScope& thread) {
  if (memory.rank == MemoryRank::kWarp) {
    // Warps lie along the first axis.
    return thread.rank == 1 && thread.axis == 0;
  }
  return static_cast<int>(memory.rank) <= thread.rank;
}

}  // namespace baton::tir
