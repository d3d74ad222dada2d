// Rounds numbers of bytes up to an alignment.

#ifndef BATON_BASE_ALIGN_H_
#define BATON_BASE_ALIGN_H_

#include <cstdint>

namespace baton {

// The least multiple of `alignment` that is at least `bytes`, which is not
// negative.
template <typename Integer>
constexpr Integer AlignUp(Integer bytes, int64_t alignment) {
  const auto multiple = static_cast<Integer>(alignment);
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace baton

#endif  // BATON_BASE_ALIGN_H_
