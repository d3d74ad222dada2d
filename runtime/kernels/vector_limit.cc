#include "baton/runtime/kernels/vector_limit.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {

using internal::Vectors;

ScopedVectorLimit::ScopedVectorLimit(int bits) {
  const Vectors vectors = bits >= 512   ? Vectors::k512
                          : bits >= 256 ? Vectors::k256
                                        : Vectors::k128;
  if (internal::WidestVectors() < vectors) {
    why_not_ =
        BATON_HAS_WIDE_LOOPS
            ? absl::StrCat("the processor lacks vectors of ", bits, " bits")
            : std::string("loops are compiled for one width");
  }
  internal::vector_limit.store(vectors, std::memory_order_relaxed);
}

ScopedVectorLimit::~ScopedVectorLimit() {
  internal::vector_limit.store(Vectors::k512, std::memory_order_relaxed);
}

}  // namespace baton::kernels
