// Checksum of binary files: XXH64 with seed 0.

#ifndef BATON_BASE_CHECKSUM_H_
#define BATON_BASE_CHECKSUM_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace baton {

// The 64-bit xxHash of `bytes`: https://xxhash.com, doc/xxhash_spec.md. It
// detects damage, not manipulation.
uint64_t Checksum(absl::string_view bytes);

}  // namespace baton

#endif  // BATON_BASE_CHECKSUM_H_
