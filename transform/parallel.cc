#include "baton/transform/parallel.h"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/transform/config.h"
#include "baton/transform/internal/run_scope.h"
#include "baton/transform/internal/thread_pool.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass_context.h"

namespace baton {

using internal::ThreadPool;
using internal::ThreadState;

const ConfigKey<int64_t>& ThreadsConfig() {
  static const auto* const key = new ConfigKey<int64_t>(
      "threads", 1,
      "On how many threads function passes work; 0: as many as the machine "
      "has. Output does not depend on it.");
  return *key;
}

namespace {
// Registered before any context is made.
[[maybe_unused]] const ConfigKey<int64_t>& registered_threads = ThreadsConfig();
}  // namespace

int NumThreads(const PassContext& context, int num_pieces) {
  int64_t threads = context.Get(ThreadsConfig());
  if (threads <= 0) threads = std::thread::hardware_concurrency();
  threads = std::min<int64_t>({threads, ThreadPool::kMaxThreads, num_pieces});
  return static_cast<int>(std::max<int64_t>(threads, 1));
}

void ParallelFor(const PassContext& context, int n,
                 absl::FunctionRef<void(int begin, int end)> body) {
  // Origins must be logged in order, so one thread does the work if they are
  // recorded.
  const int num_threads = WantsOrigins() ? 1 : NumThreads(context, n);
  if (num_threads == 1) {
    if (n > 0) body(0, n);
    return;
  }
  internal::RunScope scope(context);
  ThreadPool::Shared().ForEachPart(n, num_threads, [&](int begin, int end) {
    if (&ThreadState::Get() == &scope.submitter()) return body(begin, end);
    const internal::RunScope::Use use(scope);
    body(begin, end);
  });
  scope.Join();
}

void DropModule(const PassContext& context, IRModule module) {
  if (NumThreads(context, module.size()) == 1) return;
  std::vector<BaseFunc> functions;
  functions.reserve(module.size());
  for (const IRModule::Definition& definition : module.functions()) {
    functions.push_back(definition.function);
  }
  module = IRModule();
  ParallelFor(context, static_cast<int>(functions.size()),
              [&functions](int begin, int end) {
                for (int i = begin; i < end; ++i) functions[i] = BaseFunc();
              });
}

}  // namespace baton
