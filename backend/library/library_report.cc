#include "baton/backend/library/library_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/backend/library/arena_blocks.h"
#include "baton/backend/library/code_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/elf_object.h"

namespace baton {
namespace {

constexpr size_t kHashDigits = 16;

}  // namespace

absl::StatusOr<LibraryReport> LibraryReport::Create(ReportInput input) {
  LibraryReport report(std::move(input));
  BATON_RETURN_IF_ERROR(report.FindSizes());
  return report;
}

absl::Status LibraryReport::FindSizes() {
  weights_of_ = WeightsOfSteps();
  arena_of_.resize(input_.model.steps.size());
  for (const ArenaBlock& block : ArenaBlocksOf(input_.model)) {
    arena_of_[block.step] += block.bytes;
  }
  code_of_.resize(input_.model.steps.size());
  if (input_.options.objects.empty()) return absl::OkStatus();
  StepsByHash steps_of_hash;
  for (size_t i = 0; i < input_.model.steps.size(); ++i) {
    for (const std::string& function : input_.steps[i].functions) {
      if (function.size() < kHashDigits) continue;
      steps_of_hash[function.substr(function.size() - kHashDigits)].push_back(
          i);
    }
  }
  const auto steps_of = [&](absl::string_view symbol) {
    return StepsOfSymbol(symbol, steps_of_hash);
  };
  for (const CompileModelOptions::Object& object : input_.options.objects) {
    absl::StatusOr<CodeSizes> of_object =
        CodeSizesOf(object.bytes, input_.model.steps.size(), steps_of);
    if (!of_object.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(object.name, ": ", of_object.status().message()));
    }
    for (size_t i = 0; i < input_.model.steps.size(); ++i) {
      code_of_[i] += of_object->of_steps[i];
    }
    objects_.push_back(*std::move(of_object));
  }
  return absl::OkStatus();
}

std::vector<int64_t> LibraryReport::WeightsOfSteps() const {
  std::vector<bool> is_used(input_.model.constants.size(), false);
  std::vector<int64_t> bytes(input_.model.steps.size(), 0);
  const auto use = [&](size_t step, int constant) {
    const size_t i = static_cast<size_t>(constant);
    if (is_used[i]) return;
    is_used[i] = true;
    bytes[step] +=
        static_cast<int64_t>(input_.model.constants[i].bytes().size());
  };
  for (size_t k = 0; k < input_.model.steps.size(); ++k) {
    const LibraryStep& step = input_.model.steps[k];
    for (const LibrarySlot& slot : step.slots) {
      if (slot.space == LibrarySpace::kConstant) use(k, slot.index);
    }
    for (const int constant : input_.steps[k].constants) use(k, constant);
  }
  return bytes;
}

std::vector<size_t> LibraryReport::StepsOfSymbol(
    absl::string_view symbol, const StepsByHash& steps_of_hash) const {
  const std::string& own = input_.code_hash;
  for (size_t at = 0; at < symbol.size();) {
    const size_t end = std::min(
        symbol.size(), symbol.find_first_not_of("0123456789abcdef", at));
    if (end - at >= kHashDigits) {
      const absl::string_view hash =
          symbol.substr(end - kHashDigits, kHashDigits);
      const auto found = steps_of_hash.find(std::string(hash));
      if (found != steps_of_hash.end()) return found->second;
      const absl::string_view rest = symbol.substr(end);
      const size_t step = rest.find("Step");
      int64_t number = -1;
      if (hash == own && step != absl::string_view::npos) {
        const absl::string_view digits = rest.substr(step + 4);
        if (absl::SimpleAtoi(
                digits.substr(0, digits.find_first_not_of("0123456789")),
                &number) &&
            number < static_cast<int64_t>(input_.model.steps.size())) {
          return {static_cast<size_t>(number)};
        }
      }
    }
    at = end + 1;
  }
  return {};
}

std::vector<LibraryReport::NodeSizes> LibraryReport::SizesOfNodes() const {
  std::vector<NodeSizes> nodes;
  FlatHashMap<std::string, size_t> known;
  for (size_t i = 0; i < input_.model.steps.size(); ++i) {
    const std::string& origin = input_.model.steps[i].origin;
    const auto [found, is_new] = known.emplace(origin, nodes.size());
    if (is_new) nodes.push_back({origin});
    NodeSizes& node = nodes[found->second];
    node.text += input_.steps[i].text_bytes;
    node.code += code_of_[i];
    node.weights += weights_of_[i];
    node.arena += arena_of_[i];
  }
  return nodes;
}

std::vector<int64_t> LibraryReport::SizesOfVariant(size_t variant) const {
  const std::vector<DimBound>& bounds = input_.options.bounds;
  std::vector<int64_t> sizes(bounds.size());
  auto rest = static_cast<int64_t>(variant);
  for (size_t i = bounds.size(); i-- > 0;) {
    const int64_t count = bounds[i].most - bounds[i].least + 1;
    sizes[i] = bounds[i].least + rest % count;
    rest /= count;
  }
  return sizes;
}

std::string LibraryReport::Text() const {
  const int64_t object_bytes = input_.weights_object_bytes;
  const bool has_code = !objects_.empty();
  std::vector<bool> is_live(input_.model.steps.size(), false);
  for (const ArenaBlock& block : ArenaAtPeak(input_.model))
    is_live[block.step] = true;
  std::string text = absl::StrCat(
      "model ", input_.options.model, ", class ", input_.options.cpp_class,
      "\narena bytes ", input_.model.arena_bytes, ", lower bound ",
      input_.model.arena_lower_bound, "; steps with * hold it at its peak\n");
  absl::StrAppendFormat(&text, "%5s %10s %12s %12s  %s\n", "step",
                        has_code ? "code" : "source", "weights", "arena",
                        "kernel: nodes");
  int64_t step_text = 0;
  int64_t step_code = 0;
  int64_t step_weights = 0;
  const std::vector<size_t>& variants = input_.model.variants;
  size_t variant = 0;
  for (size_t i = 0; i < input_.model.steps.size(); ++i) {
    for (; variants.size() > 1 && variant < variants.size() &&
           variants[variant] == i;
         ++variant) {
      const std::vector<int64_t> sizes = SizesOfVariant(variant);
      absl::StrAppend(&text, "steps of ");
      for (size_t d = 0; d < sizes.size(); ++d) {
        absl::StrAppend(&text, d == 0 ? "" : ", ",
                        input_.options.bounds[d].name, "=", sizes[d]);
      }
      absl::StrAppend(&text, ":\n");
    }
    const LibraryStep& step = input_.model.steps[i];
    absl::StrAppendFormat(&text, "%5d %10d %12d %11d%s  %s%s%s\n", i,
                          has_code ? code_of_[i] : input_.steps[i].text_bytes,
                          weights_of_[i], arena_of_[i], is_live[i] ? "*" : " ",
                          step.kernel, step.origin.empty() ? "" : ": ",
                          absl::StrReplaceAll(step.origin, {{"\n", "; "}}));
    if (!step.reason.empty()) {
      absl::StrAppendFormat(&text, "%44s%s\n", "", step.reason);
    }
    step_text += input_.steps[i].text_bytes;
    step_code += code_of_[i];
    step_weights += weights_of_[i];
  }
  absl::StrAppendFormat(&text, "%5s %10d %12d\n", "sum",
                        has_code ? step_code : step_text, step_weights);
  for (size_t k = 0; k < objects_.size(); ++k) {
    const CodeSizes& object = objects_[k];
    int64_t of_steps = 0;
    for (const int64_t bytes : object.of_steps) of_steps += bytes;
    absl::StrAppend(&text, input_.options.objects[k].name, ": ", object.Total(),
                    " bytes, of steps ", of_steps);
    for (const auto& [section, bytes] : object.of_sections) {
      absl::StrAppend(&text, ", else of ", section, " ", bytes);
    }
    absl::StrAppend(&text, ", of the file's tables ", object.of_tables, "\n");
  }
  for (const CompiledModel::File& file : input_.library.files) {
    absl::StrAppend(
        &text, file.name, ": ", file.text.size(), " bytes",
        absl::EndsWith(file.name, ".cc")
            ? absl::StrCat(", of steps ", step_text,
                           ", of kernels, "
                           "loops and the rest ",
                           static_cast<int64_t>(file.text.size()) - step_text)
            : "",
        "\n");
  }
  absl::StrAppend(&text, input_.options.name, "_weights.o: ", object_bytes,
                  " bytes, of steps ", step_weights, ", of the rest ",
                  object_bytes - step_weights, "\n");
  return text;
}

void LibraryReport::WriteArena(JsonWriter& json) const {
  int64_t rest = input_.model.arena_bytes;
  json.NewLine().Key("arena").BeginArray();
  for (const ArenaBlock& block : ArenaAtPeak(input_.model)) {
    const LibraryStep& step = input_.model.steps[block.step];
    json.NewLine().BeginObject().Fields("step", block.step, "kernel",
                                        step.kernel, "origin", step.origin);
    if (block.is_workspace) json.Fields("is_workspace", true);
    json.Fields("offset", block.offset, "arena_bytes", block.bytes).End();
    rest -= block.bytes;
  }
  int64_t state_bytes = 0;
  for (const LibraryModel::State& state : input_.model.state) {
    state_bytes += 2 * state.bytes;
  }
  json.End().NewLine().Fields("arena_state", state_bytes);
  json.NewLine().Fields("arena_rest", rest - state_bytes);
}

void LibraryReport::WriteObjects(JsonWriter& json) const {
  json.End().NewLine().Key("objects").BeginArray();
  for (size_t k = 0; k < objects_.size(); ++k) {
    const CodeSizes& object = objects_[k];
    int64_t of_steps = 0;
    for (const int64_t bytes : object.of_steps) of_steps += bytes;
    json.NewLine().BeginObject().Fields("name", input_.options.objects[k].name,
                                        "bytes", object.Total(), "of_steps",
                                        of_steps);
    json.Key("of_sections").BeginArray();
    for (const auto& [section, bytes] : object.of_sections) {
      json.Object("section", section, "bytes", bytes);
    }
    json.End().Fields("of_tables", object.of_tables).End();
  }
}

std::string LibraryReport::Json() const {
  const int64_t object_bytes = input_.weights_object_bytes;
  int64_t step_weights = 0;
  for (const int64_t bytes : weights_of_) step_weights += bytes;
  int64_t step_text = 0;
  for (const ReportedStep& step : input_.steps) step_text += step.text_bytes;
  JsonWriter json;
  json.BeginObject().Fields("model", input_.options.model);
  json.NewLine().Fields("class", input_.options.cpp_class);
  json.NewLine().Fields("hash", input_.hash);
  json.NewLine().Fields("code_hash", input_.code_hash);
  json.NewLine().Fields("arena_bytes", input_.model.arena_bytes);
  json.NewLine().Fields("arena_lower_bound", input_.model.arena_lower_bound);
  json.NewLine().Fields("weight_bytes", input_.weight_bytes);
  if (input_.options.contract.has_value()) {
    json.NewLine().Fields("max_error", JsonText{input_.max_error});
  }
  WriteArena(json);
  json.NewLine().Key("files").BeginArray();
  for (const CompiledModel::File& file : input_.library.files) {
    const auto bytes = static_cast<int64_t>(file.text.size());
    json.NewLine().BeginObject().Fields("name", file.name, "bytes", bytes);
    if (absl::EndsWith(file.name, ".cc")) {
      json.Fields("of_steps", step_text, "rest", bytes - step_text);
    }
    json.End();
  }
  for (const CompiledModel::File& file : input_.library.shared_files) {
    json.NewLine().Object("name", file.name, "bytes", file.text.size(),
                          "is_shared", true);
  }
  json.NewLine().Object("name", input_.options.name + "_weights.o", "bytes",
                        object_bytes, "of_steps", step_weights, "rest",
                        object_bytes - step_weights);
  if (!objects_.empty()) WriteObjects(json);
  json.End().NewLine().Key("nodes").BeginArray();
  for (const NodeSizes& node : SizesOfNodes()) {
    json.NewLine().BeginObject().Fields("origin", node.origin, "text",
                                        node.text);
    if (!objects_.empty()) json.Fields("code", node.code);
    json.Fields("weights", node.weights, "arena", node.arena).End();
  }
  const auto members = [&json](absl::string_view name,
                               const std::vector<ReportedMember>& list) {
    json.End().NewLine().Key(name).BeginArray();
    for (const ReportedMember& member : list) {
      json.NewLine().Object("member", member.name, "type",
                            DescribeSlot(*member.slot));
    }
  };
  members("inputs", input_.inputs);
  members("outputs", input_.outputs);
  json.End().NewLine().Key("weights").BeginArray();
  const std::vector<tir::ElfTable::Target>& targets =
      input_.library.weights.tables[0].targets;
  for (size_t i = 0; i < input_.model.constants.size(); ++i) {
    json.NewLine().Object("symbol", targets[i].symbol, "offset",
                          targets[i].offset, "bytes",
                          input_.model.constants[i].bytes().size(), "type",
                          input_.model.constants[i].TypeToString());
  }
  const std::vector<size_t>& variants = input_.model.variants;
  if (variants.size() > 1) {
    json.End().NewLine().Key("variants").BeginArray();
    for (size_t k = 0; k < variants.size(); ++k) {
      json.NewLine().BeginObject().Fields("first_step", variants[k]);
      json.Key("sizes").BeginObject();
      const std::vector<int64_t> sizes = SizesOfVariant(k);
      for (size_t d = 0; d < sizes.size(); ++d) {
        json.Fields(input_.options.bounds[d].name, sizes[d]);
      }
      json.End().End();
    }
  }
  json.End().NewLine().Key("steps").BeginArray();
  for (size_t i = 0; i < input_.model.steps.size(); ++i) {
    const LibraryStep& step = input_.model.steps[i];
    json.NewLine().BeginObject().Fields(
        "kernel", step.kernel, "origin", step.origin, "functions",
        input_.steps[i].functions, "reason", step.reason, "items",
        input_.steps[i].items);
    json.Key("values").BeginArray();
    for (const LibrarySlot& slot : step.slots) {
      const bool is_weight = slot.space == LibrarySpace::kConstant;
      const char* space = slot.space == LibrarySpace::kInput    ? "input"
                          : slot.space == LibrarySpace::kOutput ? "output"
                          : is_weight                           ? "weights"
                                                                : "arena";
      json.BeginObject().Fields("space", space);
      if (slot.space != LibrarySpace::kArena) json.Fields("index", slot.index);
      json.Fields("offset", slot.offset, "bytes", slot.bytes, "type",
                  DescribeSlot(slot));
      json.End();
    }
    json.End().Fields("text_bytes", input_.steps[i].text_bytes, "weight_bytes",
                      weights_of_[i]);
    if (!objects_.empty()) json.Fields("code_bytes", code_of_[i]);
    if (step.flops > 0) {
      json.Fields("flops", static_cast<int64_t>(step.flops));
    }
    if (step.workspace_bytes > 0) {
      json.Fields("workspace_bytes", step.workspace_bytes, "workspace_offset",
                  step.workspace_offset);
    }
    json.End();
  }
  json.End().End();
  return std::move(json).Finish() + "\n";
}

}  // namespace baton
