#include "baton/transform/pipeline.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/internal/value_text_parser.h"
#include "baton/base/near_names.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton {
namespace {

using internal::ValueTextParser;

constexpr char kSequential[] = "Sequential";

class PipelineParser {
 public:
  // `inside`: the named pipelines that `text` is a part of, outermost first.
  PipelineParser(absl::string_view text, absl::string_view source_name,
                 const PassRegistry& registry, NamedPasses named_passes,
                 std::vector<std::string> inside = {})
      : text_(text, source_name),
        registry_(registry),
        named_passes_(named_passes),
        inside_(std::move(inside)) {}

  absl::StatusOr<std::vector<Pass>> Parse() {
    BATON_ASSIGN_OR_RETURN(std::vector<Pass> passes, ReadItems(0));
    BATON_RETURN_IF_ERROR(text_.AtEnd()
                              ? absl::OkStatus()
                              : text_.ErrorHere("expected \",\" or the end"));
    return passes;
  }

 private:
  // Items up to the end or a closing parenthesis; none is a list, too.
  absl::StatusOr<std::vector<Pass>> ReadItems(int depth) {
    std::vector<Pass> passes;
    if (text_.AtEnd() || text_.Peek(')')) return passes;
    do {
      BATON_ASSIGN_OR_RETURN(Pass pass, ReadItem(depth));
      passes.push_back(named_passes_ == NamedPasses::kAtAnyLevel
                           ? pass.AtAnyLevel()
                           : std::move(pass));
    } while (text_.Consume(','));
    return passes;
  }

  absl::StatusOr<Pass> ReadItem(int depth) {
    BATON_RETURN_IF_ERROR(text_.CheckDepth(depth));
    BATON_ASSIGN_OR_RETURN(const ValueTextParser::Word name,
                           text_.ReadWord("the name of a pass"));
    if (PassListKinds().Contains(name.text)) return ReadList(name, depth);
    if (NamedPipelines().Contains(name.text) &&
        !registry_.Contains(name.text)) {
      return ReadNamed(name, depth);
    }
    absl::StatusOr<PassFactory> found = registry_.Factory(name.text);
    if (absl::IsNotFound(found.status())) return UnknownPass(name);
    if (!found.ok()) {
      return text_.ErrorAt(name.range, std::string(found.status().message()));
    }
    const PassFactory factory = *std::move(found);
    ValueTextParser::OptionRanges ranges;
    BATON_ASSIGN_OR_RETURN(const AttrMap options,
                           text_.ReadOptions(depth, &ranges));
    BATON_RETURN_IF_ERROR(
        CheckOptions(name, factory.options(), options, ranges,
                     [&factory](const Field& field, const AttrValue& value) {
                       return factory.CheckOption(field, value);
                     }));
    absl::StatusOr<Pass> pass = factory.Create(options);
    if (!pass.ok()) {
      return text_.ErrorAt(
          name.range, absl::StrCat(name.text, ": ", pass.status().message()));
    }
    // A name with a part that the options would have to give it.
    if (!registry_.Contains(name.text) && pass->name() != name.text) {
      return UnknownPass(name);
    }
    return pass;
  }

  absl::StatusOr<Pass> ReadNamed(const ValueTextParser::Word& name, int depth) {
    const absl::StatusOr<const NamedPipeline*> pipeline =
        NamedPipelines().Get(name.text);
    if (!pipeline.ok()) {
      return text_.ErrorAt(name.range,
                           std::string(pipeline.status().message()));
    }
    ValueTextParser::OptionRanges ranges;
    BATON_ASSIGN_OR_RETURN(const AttrMap options,
                           text_.ReadOptions(depth, &ranges));
    if (!options.empty()) {
      return text_.ErrorAt(ranges.keys[0],
                           UnknownOption(name.text, options[0].first, nullptr));
    }
    std::vector<std::string> inside = inside_;
    inside.push_back(name.text);
    if (std::find(inside_.begin(), inside_.end(), name.text) != inside_.end()) {
      return text_.ErrorAt(name.range,
                           absl::StrCat("a pipeline is a part of itself: ",
                                        absl::StrJoin(inside, " > ")));
    }
    BATON_ASSIGN_OR_RETURN(
        std::vector<Pass> passes,
        PipelineParser((*pipeline)->ToString(),
                       absl::StrCat("pipeline ", name.text), registry_,
                       NamedPasses::kAtTheirLevel, std::move(inside))
            .Parse());
    return Sequential(std::move(passes), {.name = name.text});
  }

  absl::StatusOr<Pass> ReadList(const ValueTextParser::Word& name, int depth) {
    const absl::StatusOr<const PassListKind*> kind =
        PassListKinds().Get(name.text);
    if (!kind.ok()) {
      return text_.ErrorAt(name.range, std::string(kind.status().message()));
    }
    ValueTextParser::OptionRanges ranges;
    BATON_ASSIGN_OR_RETURN(const AttrMap options,
                           text_.ReadOptions(depth, &ranges));
    // Without passes, to find the option that is wrong.
    BATON_RETURN_IF_ERROR(CheckOptions(
        name, (*kind)->options, options, ranges,
        [&](const Field& field, const AttrValue& value) {
          return (*kind)->make({}, {{field.name(), value}}).status();
        }));
    BATON_RETURN_IF_ERROR(
        text_.Expect('(', absl::StrCat("\"(\" and the passes of ", name.text)));
    BATON_ASSIGN_OR_RETURN(std::vector<Pass> passes, ReadItems(depth + 1));
    BATON_RETURN_IF_ERROR(text_.Expect(')', "\",\" or \")\""));
    absl::StatusOr<Pass> pass = (*kind)->make(std::move(passes), options);
    if (!pass.ok()) {
      return text_.ErrorAt(
          name.range, absl::StrCat(name.text, ": ", pass.status().message()));
    }
    return pass;
  }

  // Finds the option that is wrong, to point at it.
  template <typename Check>
  absl::Status CheckOptions(const ValueTextParser::Word& name,
                            const FieldList* fields, const AttrMap& options,
                            const ValueTextParser::OptionRanges& ranges,
                            Check check) {
    for (size_t i = 0; i < options.size(); ++i) {
      const auto& [key, value] = options[i];
      const Field* field = fields == nullptr ? nullptr : fields->Find(key);
      if (field == nullptr) {
        return text_.ErrorAt(ranges.keys[i],
                             UnknownOption(name.text, key, fields));
      }
      absl::Status status = check(*field, value);
      if (!status.ok()) {
        return text_.ErrorAt(
            ranges.values[i],
            absl::StrCat(name.text, ": ", key, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  static std::string UnknownOption(absl::string_view pass,
                                   absl::string_view key,
                                   const FieldList* fields) {
    if (fields == nullptr || fields->fields().empty()) {
      return absl::StrCat(pass, " takes no options");
    }
    std::vector<std::string> names;
    for (const Field& field : fields->fields()) names.push_back(field.name());
    return absl::StrCat(pass, " has no option ", key, DidYouMean(key, names),
                        " (known: ", absl::StrJoin(names, ", "), ")");
  }

  absl::Status UnknownPass(const ValueTextParser::Word& name) const {
    std::vector<std::string> names = registry_.Names();
    for (const std::string& pipeline : NamedPipelines().Names()) {
      names.push_back(pipeline);
    }
    for (const std::string& list : PassListKinds().Names()) {
      names.push_back(list);
    }
    return text_.ErrorAt(
        name.range,
        absl::StrCat("unknown pass ", name.text, DidYouMean(name.text, names)));
  }

  ValueTextParser text_;
  const PassRegistry& registry_;
  const NamedPasses named_passes_;
  const std::vector<std::string> inside_;
};

// The errors of named pipelines that their registry does not find.
std::vector<std::string> NamedPipelineErrors() {
  std::vector<std::string> errors;
  for (const std::string& name : NamedPipelines().Names()) {
    if (!NamedPipelines().CheckUnique(name).ok()) continue;
    const std::string where = NamedPipelines().LocationOf(name);
    if (PassRegistry::Global().Contains(name)) {
      errors.push_back(absl::StrCat("the pipeline ", name, " (", where,
                                    ") has the name of a pass"));
      continue;
    }
    if (PassListKinds().Contains(name)) {
      errors.push_back(absl::StrCat("the pipeline ", name, " (", where,
                                    ") has the name of a list of passes"));
      continue;
    }
    const absl::StatusOr<Pass> pass = ParsePipeline(name);
    if (!pass.ok()) {
      errors.push_back(absl::StrCat("the pipeline ", name, " (", where,
                                    "): ", pass.status().message()));
    }
  }
  return errors;
}

}  // namespace

std::string NamedPipeline::ToString() const {
  return absl::StrJoin(steps, ",",
                       [](std::string* out, const PipelineStep& step) {
                         absl::StrAppend(out, step.items);
                       });
}

Registry<NamedPipeline>& NamedPipelines() {
  static auto& registry = [&]() -> Registry<NamedPipeline>& {
    AddRegistrationCheck(NamedPipelineErrors);
    return *Registry<NamedPipeline>::NewGlobal("pipeline");
  }();
  return registry;
}

namespace {

// The named pipeline that `pass` was parsed from; null if there is none.
const NamedPipeline* NamedPipelineOf(const Pass& pass) {
  return pass.impl().list_keyword() == kSequential
             ? NamedPipelines().Find(pass.name())
             : nullptr;
}

}  // namespace

int OptLevelOf(const Pass& pipeline) {
  int level = 0;
  std::vector<Pass> passes = {pipeline};
  while (!passes.empty()) {
    const Pass pass = std::move(passes.back());
    passes.pop_back();
    if (!pass.defined()) continue;
    const absl::Span<const Pass> parts = pass.impl().listed_passes();
    passes.insert(passes.end(), parts.begin(), parts.end());
    const NamedPipeline* named = NamedPipelineOf(pass);
    if (named != nullptr) level = std::max(level, named->opt_level);
  }
  return level;
}

std::vector<Pass> SkippedPasses(const Pass& pipeline,
                                const PassContext& context) {
  std::vector<Pass> skipped;
  std::vector<Pass> passes = {pipeline};  // to look at, the next one last
  while (!passes.empty()) {
    const Pass pass = std::move(passes.back());
    passes.pop_back();
    if (!pass.defined()) continue;
    if (!IsEnabled(pass, context)) {
      const bool is_new = std::none_of(
          skipped.begin(), skipped.end(),
          [&](const Pass& other) { return other.name() == pass.name(); });
      if (is_new) skipped.push_back(pass);
      continue;
    }
    if (NamedPipelineOf(pass) != nullptr) continue;
    const absl::Span<const Pass> parts = pass.impl().listed_passes();
    passes.insert(passes.end(), parts.rbegin(), parts.rend());
  }
  return skipped;
}

absl::StatusOr<Pass> ParsePipeline(absl::string_view text,
                                   const PassRegistry& registry,
                                   absl::string_view source_name,
                                   NamedPasses named_passes) {
  BATON_ASSIGN_OR_RETURN(
      std::vector<Pass> passes,
      PipelineParser(text, source_name, registry, named_passes).Parse());
  return Sequential(std::move(passes));
}

absl::StatusOr<std::string> PipelineToString(const Pass& pass) {
  BATON_ASSIGN_OR_RETURN(std::string text, pass.ToString());
  // The outermost Sequential goes without saying, unless it has options.
  constexpr absl::string_view kPrefix = "Sequential(";
  if (pass.impl().list_keyword() == kSequential &&
      absl::string_view(text).substr(0, kPrefix.size()) == kPrefix) {
    return text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1);
  }
  return text;
}

}  // namespace baton
