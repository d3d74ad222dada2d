#include "baton/backend/cpu/bounded_executable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/transform/defuse_ops.h"
#include "baton/runtime/executor/plan.h"

namespace baton {

using relay::Function;

// An extent that follows from sizes; runs compare it with the plan's.
constexpr int64_t kOther = std::numeric_limits<int64_t>::min();

struct BoundedExecutable::State {
  IRModule module;  // after the pipeline; dimensions are symbolic
  MakeModule make;  // in place of `module`, unless null
  std::vector<DimBound> bounds;
  CompileOptions options;
  struct Param {
    std::string name;
    // Negative: -1 - the number of a bound, or kOther.
    std::vector<int64_t> extents;
  };
  std::vector<Param> params;
  std::mutex mutex;
  // Guarded by `mutex`.
  cpu::SharedWeights weights;
  std::map<std::vector<int64_t>, Executable> executables;

  absl::StatusOr<Executable> Make(const std::vector<int64_t>& sizes) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto found = executables.find(sizes);
        found != executables.end()) {
      return found->second;
    }
    BATON_ASSIGN_OR_RETURN(
        IRModule bound,
        make != nullptr ? make(sizes)
                        : BindDims(module, options.function, bounds, sizes));
    CompileOptions one = options;
    one.shared_weights = &weights;
    BATON_ASSIGN_OR_RETURN(Executable executable,
                           baton::Compile(std::move(bound), one));
    executables.emplace(sizes, executable);
    return executable;
  }

  // Makes the executable of the largest sizes, with what the caller lent for
  // it; At() must not use that.
  absl::Status MakeLargest(const std::vector<int64_t>& most) {
    BATON_RETURN_IF_ERROR(Make(most).status());
    options.packed = nullptr;
    options.mapped_file = {};
    return absl::OkStatus();
  }
};

namespace {

absl::Status NoSuchDimension(const DimBound& bound) {
  return absl::InvalidArgumentError(
      absl::StrCat("no input of the model has a dimension ", bound.name));
}

}  // namespace

absl::StatusOr<BoundedExecutable> BoundedExecutable::Compile(
    IRModule module, std::vector<DimBound> bounds,
    const CompileOptions& options) {
  BATON_RETURN_IF_ERROR(CheckDimBounds(bounds));
  auto state = std::make_shared<State>();
  state->options = options;
  state->options.uncompiled = nullptr;
  // Folds once all that does not depend on sizes.
  if (!options.pipeline.empty()) {
    BATON_ASSIGN_OR_RETURN(
        module, RunNamedPipeline(options.pipeline, std::move(module)));
  }
  // The parameters of fused functions have symbolic dimensions, too. A plan has
  // their calls in any case.
  BATON_ASSIGN_OR_RETURN(module, relay::DefuseOps()(std::move(module)));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Function main,
                         module.Lookup<Function>(options.function));
  std::vector<bool> is_used(bounds.size(), false);
  for (const relay::Var& param : main->params()) {
    State::Param known;
    known.name = std::string(param->name());
    const TensorTypeNode* type = param->tensor_type();
    if (type == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("input %", known.name, " is no tensor"));
    }
    for (const Dim& dim : type->shape()) {
      if (dim.is_const()) {
        known.extents.push_back(dim.value());
        continue;
      }
      const std::string name = DimName(dim);
      const auto bound = std::find_if(
          bounds.begin(), bounds.end(),
          [&name](const DimBound& one) { return one.name == name; });
      if (name.empty() || bound == bounds.end()) {
        return absl::UnimplementedError(absl::StrCat(
            "dimension ", known.extents.size(), " of input %", known.name,
            name.empty() ? " has no name and no extent: give the extents"
                         : absl::StrCat(" is ", name,
                                        ", which has no bounds: give them, as "
                                        "in ",
                                        name, "=1..64")));
      }
      const auto number = bound - bounds.begin();
      is_used[static_cast<size_t>(number)] = true;
      known.extents.push_back(-1 - static_cast<int64_t>(number));
    }
    state->params.push_back(std::move(known));
  }
  std::vector<int64_t> most;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!is_used[i]) {
      return NoSuchDimension(bounds[i]);
    }
    most.push_back(bounds[i].most);
  }
  state->module = std::move(module);
  state->bounds = std::move(bounds);
  BATON_RETURN_IF_ERROR(state->MakeLargest(most));
  return BoundedExecutable(std::move(state));
}

absl::StatusOr<BoundedExecutable> BoundedExecutable::Compile(
    MakeModule make, std::vector<DimBound> bounds,
    const CompileOptions& options,
    const std::vector<std::vector<std::string>>& names) {
  BATON_RETURN_IF_ERROR(CheckDimBounds(bounds));
  auto state = std::make_shared<State>();
  state->options = options;
  state->options.uncompiled = nullptr;
  std::vector<int64_t> most;
  for (const DimBound& bound : bounds) most.push_back(bound.most);
  const auto params_for = [&](const std::vector<int64_t>& sizes)
      -> absl::StatusOr<std::vector<State::Param>> {
    BATON_ASSIGN_OR_RETURN(const IRModule module, make(sizes));
    BATON_ASSIGN_OR_RETURN(const Function main,
                           module.Lookup<Function>(options.function));
    std::vector<State::Param> params;
    for (const relay::Var& param : main->params()) {
      const TensorTypeNode* type = param->tensor_type();
      const auto shape =
          type == nullptr ? std::nullopt : ConstDims(type->shape());
      if (!shape.has_value()) {
        return absl::UnimplementedError(absl::StrCat(
            "input %", param->name(), " has dimensions without bounds: it is ",
            param->type().defined() ? param->type().ToString() : "untyped",
            "; give bounds of each, or the extents of the input"));
      }
      params.push_back({.name = std::string(param->name()),
                        .extents = {shape->begin(), shape->end()}});
    }
    return params;
  };
  BATON_ASSIGN_OR_RETURN(state->params, params_for(most));
  std::vector<bool> is_named(bounds.size(), false);
  const size_t num_named =
      names.size() == state->params.size() ? names.size() : 0;
  for (size_t k = 0; k < num_named; ++k) {
    std::vector<int64_t>& extents = state->params[k].extents;
    for (size_t d = 0; d < extents.size() && d < names[k].size(); ++d) {
      if (names[k][d].empty()) continue;
      const auto bound = std::find_if(
          bounds.begin(), bounds.end(),
          [&](const DimBound& one) { return one.name == names[k][d]; });
      if (bound == bounds.end()) {
        extents[d] = kOther;
        continue;
      }
      const auto number = bound - bounds.begin();
      extents[d] = -1 - static_cast<int64_t>(number);
      is_named[static_cast<size_t>(number)] = true;
    }
  }
  // Otherwise a dimension is that of the bound with which it changes.
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].least == bounds[i].most || is_named[i]) continue;
    std::vector<int64_t> sizes = most;
    sizes[i] = bounds[i].least;
    BATON_ASSIGN_OR_RETURN(const std::vector<State::Param> others,
                           params_for(sizes));
    bool is_used = false;
    for (size_t k = 0; k < state->params.size() && k < others.size(); ++k) {
      std::vector<int64_t>& extents = state->params[k].extents;
      const std::vector<int64_t>& other = others[k].extents;
      for (size_t d = 0; d < extents.size() && d < other.size(); ++d) {
        if (extents[d] != bounds[i].most || other[d] != bounds[i].least) {
          continue;
        }
        extents[d] = -1 - static_cast<int64_t>(i);
        is_used = true;
      }
    }
    if (!is_used) {
      return NoSuchDimension(bounds[i]);
    }
  }
  state->make = std::move(make);
  state->bounds = std::move(bounds);
  BATON_RETURN_IF_ERROR(state->MakeLargest(most));
  return BoundedExecutable(std::move(state));
}

const std::vector<DimBound>& BoundedExecutable::bounds() const {
  return state_->bounds;
}

const Executable& BoundedExecutable::largest() const {
  std::vector<int64_t> most;
  for (const DimBound& bound : state_->bounds) most.push_back(bound.most);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->executables.at(most);  // made by Compile; entries stay
}

absl::StatusOr<std::vector<int64_t>> BoundedExecutable::SizesOf(
    absl::Span<const TensorView> inputs) const {
  const auto& params = state_->params;
  if (inputs.size() != params.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has ", params.size(), " inputs, not ", inputs.size()));
  }
  std::vector<int64_t> sizes(state_->bounds.size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const State::Param& param = params[i];
    if (inputs[i].shape.size() != param.extents.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, " (%", param.name, ") has ", inputs[i].shape.size(),
          " dimensions, not ", param.extents.size()));
    }
    for (size_t d = 0; d < param.extents.size(); ++d) {
      const int64_t extent = inputs[i].shape[d];
      const auto refuse = [&](const auto&... text) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension ", d, " of input ", i, " (%", param.name,
                         ") is ", extent, ", ", text...));
      };
      if (param.extents[d] == kOther) continue;
      if (param.extents[d] >= 0) {
        if (extent != param.extents[d]) {
          return refuse("not ", param.extents[d]);
        }
        continue;
      }
      const size_t number = static_cast<size_t>(-1 - param.extents[d]);
      const DimBound& bound = state_->bounds[number];
      if (extent < bound.least || extent > bound.most) {
        return refuse("outside of the bounds of ", bound.name, ", ",
                      bound.least, "..", bound.most);
      }
      if (sizes[number] >= 0 && sizes[number] != extent) {
        return refuse("but ", bound.name, " is ", sizes[number],
                      " of an input before");
      }
      sizes[number] = extent;
    }
  }
  // No input has a dimension whose bounds are equal, if `make` made the module
  // with that size: its size is the bound.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) sizes[i] = state_->bounds[i].most;
  }
  return sizes;
}

absl::StatusOr<Executable> BoundedExecutable::At(
    const std::vector<int64_t>& sizes) const {
  const std::vector<DimBound>& bounds = state_->bounds;
  if (sizes.size() != bounds.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has ", bounds.size(), " sizes, not ", sizes.size()));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < bounds[i].least || sizes[i] > bounds[i].most) {
      return absl::InvalidArgumentError(absl::StrCat(
          bounds[i].name, " is ", sizes[i], ", outside of its bounds, ",
          bounds[i].least, "..", bounds[i].most));
    }
  }
  return state_->Make(sizes);
}

absl::StatusOr<std::unique_ptr<BoundedSession>> BoundedSession::Create(
    BoundedExecutable executable) {
  std::unique_ptr<BoundedSession> result(
      new BoundedSession(std::move(executable)));
  result->arena_bytes_ =
      executor::AlignUp(result->executable_.largest().plan().arena_bytes);
  result->arena_ = executor::MakeArena(result->arena_bytes_);
  if (result->arena_ == nullptr && result->arena_bytes_ > 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for an arena of ", result->arena_bytes_, " bytes"));
  }
  return result;
}

absl::StatusOr<Session*> BoundedSession::For(
    absl::Span<const TensorView> inputs) {
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                         executable_.SizesOf(inputs));
  std::unique_ptr<Session>& session = sessions_[sizes];
  if (session == nullptr) {
    BATON_ASSIGN_OR_RETURN(Executable executable, executable_.At(sizes));
    if (executable.plan().arena_bytes > arena_bytes_) {
      BATON_ASSIGN_OR_RETURN(session, Session::Create(std::move(executable)));
    } else {
      BATON_ASSIGN_OR_RETURN(
          session,
          Session::Create(
              std::move(executable),
              absl::MakeSpan(arena_.get(), static_cast<size_t>(arena_bytes_)),
              &is_running_));
    }
  }
  return session.get();
}

}  // namespace baton
