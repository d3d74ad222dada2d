// Recognizes loops that copy one contiguous region of memory to another.
//
//   for i, j in T.grid(4, 8):
//       B[i * 8 + j] = A[32 + i * 8 + j]    copies A[32:64] to B[0:32]

#ifndef BATON_TIR_ANALYSIS_MEMORY_COPY_H_
#define BATON_TIR_ANALYSIS_MEMORY_COPY_H_

#include <optional>

#include "baton/tir/arith/analyzer.h"

namespace baton::tir {

struct MemCopy {
  BufferRegion source;
  BufferRegion target;
};

// nullopt if the loop does anything else, or that cannot be proved. Both
// buffers have flat memory.
std::optional<MemCopy> IdentifyMemCopy(const For& loop, Analyzer& analyzer);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_MEMORY_COPY_H_
