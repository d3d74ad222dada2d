// Target: the device kind and options for which a program is compiled.
//
//   Target::Scope scope(Target("llvm"));
//   ... Target::Current() is llvm here ...
//
// Each thread has its own stack of scopes.

#ifndef BATON_RELAY_TARGET_H_
#define BATON_RELAY_TARGET_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::relay {

class Target {
 public:
  class Scope;

  // A kind and its options, separated by blanks: `llvm -mcpu=skylake`.
  explicit Target(absl::string_view text);

  const std::string& kind() const { return kind_; }
  // The options as written, without the kind.
  const std::vector<std::string>& options() const { return options_; }
  std::string ToString() const;

  // The target of the innermost scope of this thread; nullopt outside of
  // scopes.
  static std::optional<Target> Current();

  friend bool operator==(const Target& a, const Target& b) {
    return a.kind_ == b.kind_ && a.options_ == b.options_;
  }

 private:
  std::string kind_;
  std::vector<std::string> options_;
};

// Scopes must end in the reverse order of their beginning, as blocks do.
class Target::Scope {
 public:
  explicit Scope(Target target);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TARGET_H_
