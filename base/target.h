// Target: the machine for which a program is compiled.
//
//   BATON_ASSIGN_OR_RETURN(
//       const Target target,
//       Target::Parse("llvm -mcpu=skylake -mattr=+avx2,+fma -num-cores=4"));
//   target.HasFeature("avx2")  // true

#ifndef BATON_BASE_TARGET_H_
#define BATON_BASE_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

struct Target {
  std::string kind;  // `llvm`, `cuda`; empty if there is no target
  std::string cpu;   // -mcpu; empty for any
  // -mattr, each with its sign: `+avx2`, `-fma`.
  std::vector<std::string> features;
  int vector_bits = 0;  // -vector-width; 0 for the width of the features
  int threads = 0;      // -num-cores; 0 if unknown
  // The other options, as written.
  std::vector<std::string> options;

  // Parses a kind and its options, separated by blanks. The empty text is the
  // target Target().
  static absl::StatusOr<Target> Parse(absl::string_view text);
  // The text that Parse takes.
  std::string ToString() const;

  bool empty() const { return kind.empty(); }
  // True if the last mention of the feature `name` has the sign `+`.
  bool HasFeature(absl::string_view name) const;

  friend bool operator==(const Target& a, const Target& b) = default;
};

}  // namespace baton

#endif  // BATON_BASE_TARGET_H_
