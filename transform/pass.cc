#include "baton/transform/pass.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/value_text.h"
#include "baton/ir/module.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

using internal::AddExecution;
using internal::CatchExceptions;
using internal::ThreadState;

absl::StatusOr<AttrMap> PassOptions::Values() const {
  if (fields_ == nullptr) return AttrMap();
  for (const Field& field : fields_->fields()) {
    if (field.type_name() == "function" &&
        !fields_->IsDefault(field, object_.get())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "option ", field.name(), " is a function, which has no text"));
    }
  }
  return fields_->NonDefault(object_.get());
}

Pass Pass::AtAnyLevel() const {
  Pass pass = *this;
  pass.runs_at_any_level_ = true;
  return pass;
}

bool IsEnabled(const Pass& pass, const PassContext& context) {
  if (context.PassEnabled(pass.info())) return true;
  const std::vector<std::string>& disabled = context.disabled_pass();
  return pass.runs_at_any_level() && std::find(disabled.begin(), disabled.end(),
                                               pass.name()) == disabled.end();
}

absl::StatusOr<IRModule> Pass::Run(IRModule module) const {
  if (!defined()) return absl::InvalidArgumentError("a null pass cannot run");
  return CatchOutOfMemory(name(), [&] { return RunHere(std::move(module)); });
}

absl::StatusOr<IRModule> Pass::RunHere(IRModule module) const {
  ThreadState& state = ThreadState::Get();
  const PassContext context = state.context();
  PassInfo inexact;  // if rules of the target make the pass so
  const bool has_rules = info().uses_target && !context.target().empty();
  if (has_rules) {
    inexact = info();
    inexact.exact = false;
  }
  PassExecution execution(*this, has_rules ? inexact : info(), state.running());
  execution.context_ = &context;
  if (!context.instruments().empty()) {
    return RunInstrumented(std::move(module), context, execution, state);
  }
  const ThreadState::Running running(state, execution);
  state.Count();
  absl::StatusOr<IRModule> result = RunBody(std::move(module), context);
  if (!result.ok()) return AddExecution(result.status(), execution, state);
  return result;
}

absl::StatusOr<IRModule> Pass::RunBody(IRModule module,
                                       const PassContext& context) const {
  return CatchExceptions(
      name(), [&] { return impl_->RunImpl(std::move(module), context); });
}

absl::StatusOr<IRModule> Pass::RunInstrumented(IRModule module,
                                               const PassContext& context,
                                               PassExecution& execution,
                                               ThreadState& state) const {
  BATON_RETURN_IF_ERROR(state.AwaitPredecessors());
  const PassInstruments& instruments = context.instruments();
  const IRModule before = module;
  execution.before_ = &before;
  const ThreadState::Running running(state, execution);

  // Calls PassFailed of the instruments from `first_failed` to `last_failed`.
  const auto fail = [&](const absl::Status& error, size_t first_failed,
                        size_t last_failed, absl::string_view culprit,
                        const char* hook) {
    const bool is_flag = absl::StartsWith(culprit, "--");
    absl::Status status =
        AddExecution(error, execution, state,
                     culprit.empty() || is_flag
                         ? std::string(culprit)
                         : absl::StrCat("instrument ", culprit, ", ", hook));
    for (size_t i = last_failed; i-- > first_failed;) {
      PassInstrument& instrument = *instruments[i];
      absl::Status failed = CatchExceptions(instrument.name(), [&] {
        instrument.PassFailed(before, execution, status);
        return absl::OkStatus();
      });
      status =
          internal::CombineBodyAndExit(std::move(status), std::move(failed));
    }
    return status;
  };

  bool should_run = true;
  if (std::find(context.required_pass().begin(), context.required_pass().end(),
                name()) == context.required_pass().end()) {
    for (const auto& instrument : instruments) {
      absl::StatusOr<bool> answer = CatchExceptions(instrument->name(), [&] {
        return instrument->ShouldRun(module, execution);
      });
      if (!answer.ok()) {
        return fail(answer.status(), 0, 0, instrument->name(), "ShouldRun");
      }
      should_run = should_run && *answer;
    }
  }
  if (!should_run) return module;

  state.Count();
  for (size_t i = 0; i < instruments.size(); ++i) {
    PassInstrument& instrument = *instruments[i];
    const absl::Status status = CatchExceptions(instrument.name(), [&] {
      return instrument.RunBeforePass(module, execution);
    });
    if (!status.ok()) {
      return fail(status, 0, i, instrument.name(), "RunBeforePass");
    }
  }

  const int64_t requests = internal::rewrite_gate == nullptr
                               ? 0
                               : internal::rewrite_gate->num_requests();
  absl::StatusOr<IRModule> result = RunBody(std::move(module), context);
  if (!result.ok()) {
    return fail(result.status(), 0, instruments.size(), "", "");
  }
  // A pass over the module without rewrites of its own is one rewrite.
  if (internal::rewrite_gate != nullptr &&
      info().granularity == PassGranularity::kModule &&
      internal::rewrite_gate->num_requests() == requests &&
      !result->SameAs(before) && !MayRewrite()) {
    result = before;
  }

  execution.changed_ = !result->SameAs(before);
  for (size_t i = 0; i < instruments.size(); ++i) {
    PassInstrument& instrument = *instruments[i];
    const absl::Status status = CatchExceptions(instrument.name(), [&] {
      return instrument.RunAfterPass(*result, execution);
    });
    if (!status.ok()) {
      return fail(status, i + 1, instruments.size(), instrument.name(),
                  "RunAfterPass");
    }
  }
  return result;
}

absl::StatusOr<std::string> Pass::ToString() const {
  if (!defined()) return absl::InvalidArgumentError("a null pass has no text");
  absl::StatusOr<AttrMap> options = impl_->options().Values();
  if (!options.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("pass ", name(), ": ", options.status().message()));
  }
  absl::string_view keyword = impl_->list_keyword();
  if (keyword.empty()) return absl::StrCat(name(), OptionsToString(*options));
  std::string text = absl::StrCat(keyword, OptionsToString(*options), "(");
  const char* separator = "";
  for (const Pass& pass : impl_->listed_passes()) {
    BATON_ASSIGN_OR_RETURN(const std::string item, pass.ToString());
    absl::StrAppend(&text, separator, item);
    separator = ",";
  }
  return text + ")";
}

}  // namespace baton
