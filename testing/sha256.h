// SHA-256 (FIPS 180-4), for comparing tensors with recorded digests.

#ifndef BATON_TESTING_SHA256_H_
#define BATON_TESTING_SHA256_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace baton::testing {

class Sha256 {
 public:
  void Update(absl::string_view data);
  // The digest in hexadecimal. Call it once, after all updates.
  std::string Digest();

 private:
  void Compress(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_;
  uint64_t size_ = 0;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_SHA256_H_
