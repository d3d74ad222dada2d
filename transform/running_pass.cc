#include "baton/transform/running_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

std::string DescribeRunningPass() {
  const internal::ThreadState& state = internal::ThreadState::Get();
  std::string text;
  for (const PassExecution* pass = state.running(); pass != nullptr;
       pass = pass->parent()) {
    text = absl::StrCat("#", state.NumberOf(*pass), " ", pass->name(),
                        text.empty() ? "" : " > ", text);
  }
  return text;
}

}  // namespace baton
