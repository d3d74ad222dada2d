// Running all registered passes.

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

// Every pass of the registry as pipelines write it: by its name, if it has no
// option that must be given, and in each way that PassInfo::examples gives.
std::vector<std::string> RegisteredPasses(
    const PassRegistry& registry = PassRegistry::Global());

// The pass of such a text. An error if the text lacks a required option.
absl::StatusOr<Pass> GetRegisteredPass(absl::string_view text);

// Whether `pass` says that it refuses some programs: it does not keep the law
// `runs` (testing/pass_laws.h).
bool MayRefuse(const Pass& pass);

// `module` after the passes that `pass` requires, as in a sequence, and those
// that they require.
absl::StatusOr<IRModule> RunRequiredPasses(const Pass& pass, IRModule module);

// Discards what passes print to std::cerr while this object lives.
class SilentStderr {
 public:
  SilentStderr() : old_(std::cerr.rdbuf(&counter_)) {}
  SilentStderr(const SilentStderr&) = delete;
  SilentStderr& operator=(const SilentStderr&) = delete;
  ~SilentStderr() { std::cerr.rdbuf(old_); }

  // How much was written so far.
  int64_t bytes() const { return counter_.bytes(); }

 private:
  CountingBuffer counter_;
  std::streambuf* old_;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_REGISTERED_PASSES_H_
