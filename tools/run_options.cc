#include "baton/tools/run_options.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

constexpr int kDefaultOptLevel = 2;

}  // namespace

bool ChecksValues(const RunOptions& run) {
  return std::any_of(run.instrument_flags.begin(), run.instrument_flags.end(),
                     [](const auto& flag) {
                       const bool* value = flag.second.template As<bool>();
                       return flag.first == "check_values" &&
                              value != nullptr && *value;
                     });
}

void SetInstrumentFlag(const std::string& name, AttrValue value,
                       RunOptions& run) {
  std::erase_if(run.instrument_flags,
                [&name](const auto& flag) { return flag.first == name; });
  run.instrument_flags.emplace_back(name, std::move(value));
}

AttrMap SortedInstrumentFlags(const RunOptions& run) {
  AttrMap sorted;
  for (const std::string& name : Instruments().Names()) {
    const InstrumentFactory* factory = Instruments().Find(name);
    if (factory == nullptr) continue;
    for (const Flag& flag : factory->flags()) {
      for (const auto& [given, value] : run.instrument_flags) {
        if (given != flag.name) continue;
        const auto* text = value.As<std::string>();
        if ((text != nullptr ? *text : value.ToString()) != flag.default_text) {
          sorted.emplace_back(given, value);
        }
      }
    }
  }
  return sorted;
}

int OptLevel(int opt_level, const Pass& pipeline) {
  if (opt_level >= 0) return opt_level;
  return std::max(kDefaultOptLevel, OptLevelOf(pipeline));
}

int OptLevel(const RunOptions& run) {
  const absl::StatusOr<Pass> pipeline = ParsePipeline(run.passes);
  return OptLevel(run.opt_level, pipeline.ok() ? *pipeline : Pass());
}

NamedPasses NamedPassesFor(int opt_level) {
  return opt_level < 0 ? NamedPasses::kAtAnyLevel : NamedPasses::kAtTheirLevel;
}

std::string DescribeSkippedPasses(const Pass& pipeline,
                                  const PassContext& context) {
  std::vector<std::string> skipped;
  for (const Pass& pass : SkippedPasses(pipeline, context)) {
    const std::vector<std::string>& disabled = context.disabled_pass();
    const bool is_disabled = std::find(disabled.begin(), disabled.end(),
                                       pass.name()) != disabled.end();
    skipped.push_back(absl::StrCat(
        pass.name(), " (",
        is_disabled ? "--disabled_pass"
                    : absl::StrCat("level ", pass.info().opt_level,
                                   ", --opt_level=", context.opt_level()),
        ")"));
  }
  if (skipped.empty()) return "";
  return absl::StrCat("not run: ", absl::StrJoin(skipped, ", "));
}

void SetOptLevel(int level, const Pass& pipeline, RunOptions& run) {
  const bool is_default =
      level == kDefaultOptLevel && OptLevelOf(pipeline) == 0;
  run.opt_level = is_default ? -1 : level;
}

}  // namespace baton
