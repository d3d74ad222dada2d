#include "baton/transform/run_apart.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {

absl::StatusOr<IRModule> RunApart(const Pass& pass, IRModule module,
                                  const PassContext& context) {
  internal::ThreadState state(context, /*running=*/nullptr);
  const internal::ThreadState::Adopt adopt(&state);
  return pass(std::move(module));
}

}  // namespace baton
