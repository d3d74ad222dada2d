#include "baton/base/checksum.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace baton {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87u;
constexpr uint64_t kPrime2 = 0xc2b2ae3d27d4eb4fu;
constexpr uint64_t kPrime3 = 0x165667b19e3779f9u;
constexpr uint64_t kPrime4 = 0x85ebca77c2b2ae63u;
constexpr uint64_t kPrime5 = 0x27d4eb2f165667c5u;

template <typename T>
uint64_t Load(const char* p) {
  T word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

uint64_t Round(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

uint64_t Merge(uint64_t hash, uint64_t lane) {
  return (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
}

}  // namespace

uint64_t Checksum(absl::string_view bytes) {
  const char* p = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kPrime5;
  if (left >= 32) {
    uint64_t a = kPrime1 + kPrime2;
    uint64_t b = kPrime2;
    uint64_t c = 0;
    uint64_t d = 0 - kPrime1;
    for (; left >= 32; left -= 32, p += 32) {
      a = Round(a, Load<uint64_t>(p));
      b = Round(b, Load<uint64_t>(p + 8));
      c = Round(c, Load<uint64_t>(p + 16));
      d = Round(d, Load<uint64_t>(p + 24));
    }
    hash =
        std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    for (const uint64_t lane : {a, b, c, d}) hash = Merge(hash, lane);
  }
  hash += bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    hash ^= Round(0, Load<uint64_t>(p));
    hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash ^= Load<uint32_t>(p) * kPrime1;
    hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
    left -= 4;
    p += 4;
  }
  for (; left > 0; --left, ++p) {
    hash ^= Load<uint8_t>(p) * kPrime5;
    hash = std::rotl(hash, 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace baton
