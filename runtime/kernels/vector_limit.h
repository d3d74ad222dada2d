// Limits the vectors of the kernels that //runtime/kernels chooses by the
// processor: a test evaluates a program with each width and compares results.
//
//   if (const ScopedVectorLimit limit(128); limit.is_met()) {
//     // The evaluator uses vectors of 128 bits here.
//   }
//
// Kernels for channels in blocks have an option of their own (`width` of
// backend/cpu/executable.h).

#ifndef BATON_RUNTIME_KERNELS_VECTOR_LIMIT_H_
#define BATON_RUNTIME_KERNELS_VECTOR_LIMIT_H_

#include <string>

namespace baton::kernels {

// While it exists, vectors have at most `bits` bits (128, 256 or 512), in all
// threads. Matrix products still fuse multiplication and addition where the
// processor does. No two exist at a time.
class ScopedVectorLimit {
 public:
  explicit ScopedVectorLimit(int bits);
  ~ScopedVectorLimit();
  ScopedVectorLimit(const ScopedVectorLimit&) = delete;
  ScopedVectorLimit& operator=(const ScopedVectorLimit&) = delete;

  // False if vectors of `bits` bits are not to be had, for the reason why_not().
  bool is_met() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }

 private:
  std::string why_not_;
};

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_VECTOR_LIMIT_H_
