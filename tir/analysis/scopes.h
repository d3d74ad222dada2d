// Parses the names of memory scopes and the tags of threads.
//
//   MemoryScope("shared.dyn")   kShared, tag ".dyn"
//   ThreadScope("threadIdx.y")  rank 1, axis 1

#ifndef BATON_TIR_ANALYSIS_SCOPES_H_
#define BATON_TIR_ANALYSIS_SCOPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton::tir {

// Kinds of memory, from the memory that all threads share to the memory of one
// thread.
enum class MemoryRank {
  kGlobal,
  kShared,
  kWarp,
  kLocal,
  kWmmaMatrixA,
  kWmmaMatrixB,
  kWmmaAccumulator,
  kTexture,
  kAmxTile,
  kMmaMatrixA,
  kMmaMatrixB,
  kMmaMatrixC,
  kUnknown,
};

struct MemoryScope {
  explicit MemoryScope(absl::string_view scope);
  MemoryRank rank;
  // The rest of the name, such as `.dyn`.
  std::string tag;
  friend bool operator==(const MemoryScope&, const MemoryScope&) = default;
};

struct ThreadScope {
  explicit ThreadScope(absl::string_view thread_tag);
  // 0: blockIdx; 1: threadIdx and virtual threads; -1: unknown.
  int rank = -1;
  // 0 for x, 1 for y, 2 for z; -1 for virtual threads.
  int axis = -1;
  friend bool operator==(const ThreadScope&, const ThreadScope&) = default;
};

inline bool IsBlockIdx(const ThreadScope& scope) { return scope.rank == 0; }
inline bool IsThreadIdx(const ThreadScope& scope) {
  return scope.rank == 1 && scope.axis >= 0;
}

// True if the threads along `thread` share memory of scope `memory`. The region
// that one of them accesses then has the elements that any of them accesses.
bool IsSharedByThreads(const MemoryScope& memory, const ThreadScope& thread);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_SCOPES_H_
