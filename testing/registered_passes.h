// Runs all registered passes.

#ifndef BATON_TESTING_REGISTERED_PASSES_H_
#define BATON_TESTING_REGISTERED_PASSES_H_

#include <cstdint>
#include <iostream>
#include <streambuf>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/testing/counting_buffer.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::testing {

// Every pass of the registry as text for a pipeline: its name, if it has no
// required option, and each variant in PassInfo::examples.
std::vector<std::string> RegisteredPasses(
    const PassRegistry& registry = PassRegistry::Global());

// Makes the pass of a text. An error if the text lacks a required option.
absl::StatusOr<Pass> GetRegisteredPass(absl::string_view text);

// True if `pass` declares that it refuses some programs: it has a waiver for
// the law `runs` (testing/pass_laws.h).
bool MayRefuse(const Pass& pass);

// Runs the passes that `pass` requires on `module`, as in a sequence, including
// the passes that these require.
absl::StatusOr<IRModule> RunRequiredPasses(const Pass& pass, IRModule module);

// Discards the output of passes on std::cerr during its lifetime.
class SilentStderr {
 public:
  SilentStderr() : old_(std::cerr.rdbuf(&counter_)) {}
  SilentStderr(const SilentStderr&) = delete;
  SilentStderr& operator=(const SilentStderr&) = delete;
  ~SilentStderr() { std::cerr.rdbuf(old_); }

  // The number of bytes written so far.
  int64_t bytes() const { return counter_.bytes(); }

 private:
  CountingBuffer counter_;
  std::streambuf* old_;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_REGISTERED_PASSES_H_
