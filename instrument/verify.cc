#include "baton/instrument/verify.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

// True if `function`, of any kind, uses one of the global functions `names`.
bool UsesAny(const BaseFunc& function,
             const FlatHashSet<absl::string_view>& names) {
  return AnyGlobalReference(function, [&names](const std::string& name) {
    return names.contains(name);
  });
}

// The functions of a module that are to be checked.
struct Pending {
  std::vector<bool> functions;
  int count;
};

Pending All(const IRModule& module) {
  return {std::vector<bool>(module.size(), true), module.size()};
}

// The parts of `module` to check when `good` was checked: those that differ, or
// depend on parts that differ.
Pending WhatDiffers(const IRModule& module, const IRModule& good) {
  const auto definitions = module.functions();
  const auto known = good.functions();
  if (!std::equal(module.types().begin(), module.types().end(),
                  good.types().begin(), good.types().end())) {
    return All(module);
  }
  Pending pending{std::vector<bool>(definitions.size()), 0};
  size_t num_kept = 0;
  FlatHashSet<absl::string_view> retyped;
  for (size_t i = 0; i < definitions.size(); ++i) {
    const auto& [var, function] = definitions[i];
    const BaseFunc old = i < known.size() && known[i].var->name() == var->name()
                             ? known[i].function
                             : good.Find(var->name());
    if (old.defined()) ++num_kept;
    if (old == function) continue;
    pending.functions[i] = true;
    ++pending.count;
    if (!old.defined() || old->type() == function->type()) continue;
    if (!old->type().defined() || !function->type().defined() ||
        !TypeEqual(old->type(), function->type())) {
      retyped.insert(var->name());
    }
  }
  if (num_kept < known.size()) return All(module);
  if (retyped.empty()) return pending;
  for (size_t i = 0; i < definitions.size(); ++i) {
    if (!pending.functions[i] && UsesAny(definitions[i].function, retyped)) {
      pending.functions[i] = true;
      ++pending.count;
    }
  }
  return pending;
}

}  // namespace

absl::Status VerifyInstrument::Check(const IRModule& module, int depth) {
  Pending pending = All(module);
  for (auto good = good_.rbegin(); good != good_.rend(); ++good) {
    if (pending.count == 0) break;
    Pending fewer = module.SameAs(*good)
                        ? Pending{std::vector<bool>(module.size()), 0}
                        : WhatDiffers(module, *good);
    if (fewer.count < pending.count) pending = std::move(fewer);
  }
  if (pending.count > 0) {
    num_checked_ += pending.count;
    const auto is_pending = [&](int i) -> bool { return pending.functions[i]; };
    BATON_RETURN_IF_ERROR(CheckWellFormed(module, is_pending));
    if (options_.types) {
      BATON_RETURN_IF_ERROR(CheckTypes(module, is_pending));
    }
  }
  good_.resize(depth + 1);
  good_[depth] = module;
  return absl::OkStatus();
}

absl::Status VerifyInstrument::ExitPassContext() {
  good_.clear();
  return absl::OkStatus();
}

absl::Status VerifyInstrument::RunBeforePass(const IRModule& module,
                                             const PassExecution& pass) {
  if (pass.depth() > 0) return absl::OkStatus();
  const absl::Status status = Check(module, 0);
  if (status.ok()) return status;
  return absl::Status(
      status.code(), absl::StrCat("the module was wrong before any pass ran:\n",
                                  status.message()));
}

absl::Status VerifyInstrument::RunAfterPass(const IRModule& module,
                                            const PassExecution& pass) {
  // The result of a sequence was checked when its last pass returned it.
  if (pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  const absl::Status status = Check(module, pass.depth());
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("pass ", pass.name(), " broke the module:\n",
                                   status.message()));
}

namespace {

struct VerifyFlags {
  bool verify_each = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("verify_each", &VerifyFlags::verify_each,
      FlagSpec{
          .help =
              "Checks the module after each pass; the error names the pass.",
          .group = kFaultFlags});
  }
};

InstrumentFactory::Made MakeVerify(const VerifyFlags& flags,
                                   const InstrumentRun& run) {
  if (!flags.verify_each) return nullptr;
  auto instrument = std::make_shared<VerifyInstrument>();
  instrument->set_name("--verify_each");
  run.checked([instrument] {
    return CheckedLine("verify_each", "checked", instrument->num_checked(),
                       "function", "the module has no function");
  });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("verify", "Checks the module after each pass.",
                          MakeVerify, InstrumentPhase::kCheck);

}  // namespace

}  // namespace baton
