#include "baton/backend/library/model_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/library/arena_blocks.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/library_report.h"
#include "baton/base/source.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/ir/function.h"

namespace baton::internal {
namespace {

using tir::CppIdentifier;
using tir::CppIsa;

}  // namespace

std::string Hex(uint64_t value) { return absl::StrFormat("%016x", value); }

absl::StatusOr<CompiledModel> ModelWriter::Write() {
  if (options_.line_table) MakeModelText();
  texts_hash_ = TextsHash();
  BATON_RETURN_IF_ERROR(ShareFunctions());
  CompiledModel result;
  if (options_.llvm.has_value()) {
    BATON_RETURN_IF_ERROR(WriteLoopsAsLlvm(result.files));
  }
  can_fail_ = !options_.bounds.empty();
  for (const LibraryStep& step : model_.steps) {
    can_fail_ |= step.control == LibraryControl::kFail;
  }
  for (const tir::CppEmitted& emitted : model_.emitted) {
    can_fail_ |= emitted.can_fail;
    std::vector<int> constants;
    for (const Tensor& tensor : emitted.constants) {
      constants.push_back(model_.ConstantIndex(tensor));
    }
    function_constants_.push_back(std::move(constants));
  }
  MakeStepFunctions();
  for (const Tensor& tensor : model_.constants) {
    weight_bytes_ += static_cast<int64_t>(tensor.bytes().size());
  }
  MakeHashes();
  MakeMembers();
  result.files.insert(result.files.begin(), {options_.name + ".h", Header()});
  for (const CppIsa isa : options_.isas) {
    tir::CppSourceOptions options = SharedOptions(isa, texts_);
    options.head = Head(isa);
    options.line_table = options_.line_table;
    options.source_name =
        absl::StrCat(options_.name, "_", tir::CppIsaName(isa), ".cc");
    options.after = RunFunction(isa);
    absl::Span<const tir::CppFunction> functions = model_.functions;
    if (options_.llvm.has_value()) {
      functions = {};
      options.before = ExternalFunctions();
    }
    if (isa == options_.isas.back()) options.before += Implementation();
    if (options_.split) {
      // The functions have sources of their own.
      BATON_RETURN_IF_ERROR(WriteSharedFiles(isa, result.shared_files));
      functions = {};
      options.has_prelude = options.prelude_uses_math = false;
      options.prelude = Declarations();
    } else {
      for (const StepFunction& function : step_functions_) {
        absl::StrAppend(&options.tail, "\n", function.text);
      }
    }
    BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                           WriteCppSource(functions, options));
    result.files.push_back(
        {absl::StrCat(options_.name, "_", tir::CppIsaName(isa), ".cc"),
         std::move(source.text)});
  }
  result.benchmark = Benchmark();
  result.weights = Weights();
  int64_t object_bytes = 0;
  BATON_RETURN_IF_ERROR(
      WriteElfObject(result.weights, [&object_bytes](absl::string_view part) {
        object_bytes += static_cast<int64_t>(part.size());
        return absl::OkStatus();
      }));
  BATON_ASSIGN_OR_RETURN(const LibraryReport report,
                         LibraryReport::Create(Reported(result, object_bytes)));
  result.files.push_back({options_.name + ".report.json", report.Json()});
  result.report = report.Text();
  if (options_.line_table) {
    result.files.push_back({ModelTextName(), std::move(model_text_)});
  }
  result.tensors = model_.constants;
  result.arena_bytes = model_.arena_bytes;
  result.arena_lower_bound = model_.arena_lower_bound;
  result.weight_bytes = weight_bytes_;
  result.num_steps = static_cast<int64_t>(model_.steps.size());
  for (const auto& [first, last] : model_.plan_steps) {
    CompiledModel::Step step;
    step.name = NameOfStep(first);
    step.first = first;
    step.last = last;
    AddOriginsOfOperands(first, step.operands);
    if (last != first) AddOriginsOfOperands(last, step.operands);
    result.steps.push_back(std::move(step));
  }
  result.variants = model_.plan_variants;
  return result;
}

void ModelWriter::MakeModelText() {
  model_text_ = absl::StrCat("# The steps of ",
                             tir::CppCommentText(options_.model), ".\n");
  int line = 2;
  std::vector<bool> written(model_.functions.size());
  for (size_t i = 0; i < model_.steps.size(); ++i) {
    const LibraryStep& step = model_.steps[i];
    step_lines_.push_back(line);
    absl::StrAppend(
        &model_text_, "# step ", i, ", ", tir::CppCommentText(step.kernel),
        ": ",
        tir::CppCommentText(absl::StrJoin(
            absl::StrSplit(step.origin, '\n', absl::SkipEmpty()), ", ")),
        "\n");
    ++line;
    if (step.function < 0) continue;
    const auto number = static_cast<size_t>(step.function);
    if (written[number]) continue;
    written[number] = true;
    tir::CppFunction& function = model_.functions[number];
    const std::string symbol = CppIdentifier(function.symbol);
    IRModule module;
    module.Set(symbol, function.function);
    const std::string text = AsText(module, kTextForPeople);
    Diagnostics problems;
    const IRModule read = ParseModule(
        std::make_shared<Source>(ModelTextName(), text, line), problems);
    // A function whose text does not say all keeps the place of its step.
    if (!problems.has_errors() && StructuralEqual(read, module)) {
      function.function = read.Find<tir::PrimFunc>(symbol);
    }
    model_text_ += text;
    line += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
}

std::string ModelWriter::WithPlace(size_t i,
                                   absl::string_view statements) const {
  std::string text;
  for (absl::string_view line : absl::StrSplit(statements, '\n')) {
    if (line.empty()) continue;
    absl::StrAppend(&text,
                    tir::CppLineDirective(step_lines_[i], ModelTextName()),
                    line, "\n");
  }
  return text;
}

void ModelWriter::MakeHashes() {
  StableHash hash(texts_hash_);
  for (const tir::CppFunction& function : model_.functions) {
    hash.AddString(function.symbol);
  }
  for (const StepFunction& function : step_functions_) {
    hash.AddString(function.name);
  }
  for (const Tensor& tensor : model_.constants) {
    hash.Add(tensor.bytes().size());
  }
  hash.Add(static_cast<uint64_t>(model_.arena_bytes));
  for (size_t i = 0; i < model_.steps.size(); ++i) {
    const LibraryStep& step = model_.steps[i];
    hash.Add(static_cast<uint64_t>(step.function));
    hash.Add(static_cast<uint64_t>(step.control) * 2 +
             (step.continue_value ? 1 : 0));
    for (const size_t number : step_functions_of_[i]) hash.Add(number);
    hash.Add(static_cast<uint64_t>(step.workspace_offset));
    hash.Add(static_cast<uint64_t>(step.groups));
    for (const LibrarySlot& slot : step.slots) {
      hash.Add(static_cast<uint64_t>(slot.space));
      hash.Add(static_cast<uint64_t>(slot.index));
      hash.Add(static_cast<uint64_t>(slot.offset));
      hash.Add(static_cast<uint64_t>(slot.bytes));
      hash.Add(slot.has_groups);
    }
  }
  hash.AddString(RunParams("std::"));
  hash.Add(can_fail_);
  hash.Add(model_.variants.size());
  for (const tir::CppIsa isa : options_.isas) {
    hash.AddString(tir::CppIsaName(isa));
  }
  code_hash_ = hash.value();
  hash.AddString(options_.cpp_class);
  for (const Tensor& tensor : model_.constants) {
    const absl::string_view bytes = tensor.bytes();
    shared_symbols_.push_back(
        bytes.size() < kMinSharedBytes ? "" : SharedWeightsSymbol(bytes));
    hash.AddString(shared_symbols_.back().empty() ? bytes
                                                  : shared_symbols_.back());
  }
  hash_ = hash.value();
}

void ModelWriter::MakeMembers() {
  tir::CppNames input_names;
  for (size_t i = 0; i < model_.inputs.size(); ++i) {
    const std::string name = i < options_.input_names.size()
                                 ? options_.input_names[i]
                                 : absl::StrCat("input_", i);
    if (model_.IsStateInput(static_cast<int>(i))) continue;
    inputs_.push_back(
        {input_names.Unique(name), &model_.inputs[i], static_cast<int>(i)});
  }
  for (const DimBound& bound : options_.bounds) {
    dims_.push_back(input_names.Unique(absl::StrCat("dim_", bound.name)));
  }
  tir::CppNames output_names;
  const std::vector<int>& sized = model_.padded.sized_by_values;
  const size_t num_results = model_.outputs.size() - sized.size();
  for (size_t i = 0; i < num_results; ++i) {
    const std::string name = i < options_.output_names.size()
                                 ? options_.output_names[i]
                                 : absl::StrCat("output_", i);
    if (model_.IsStateOutput(static_cast<int>(i))) continue;
    outputs_.push_back(
        {output_names.Unique(name), &model_.outputs[i], static_cast<int>(i)});
  }
  for (size_t k = 0; k < sized.size(); ++k) {
    const auto result = std::find_if(
        outputs_.begin(), outputs_.end(),
        [&](const LibraryMember& member) { return member.index == sized[k]; });
    const size_t i = num_results + k;
    const std::string name =
        output_names.Unique(absl::StrCat(result->name, "_shape"));
    result->extents = name;
    const std::string of = result->name;
    outputs_.push_back({name, &model_.outputs[i], static_cast<int>(i), "", of});
  }
}

std::string ModelWriter::NameOfStep(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  std::string name = absl::StrCat("step ", i, ", ", step.kernel);
  if (!step.origin.empty()) {
    return absl::StrCat(name, " of ",
                        absl::StrReplaceAll(step.origin, {{"\n", "; "}}));
  }
  for (const LibrarySlot& slot : step.slots) {
    const int64_t writer = slot.is_result ? -1 : WriterOf(model_, i, slot);
    if (writer < 0) continue;
    return absl::StrCat(name, " of the result of ",
                        NameOfStep(static_cast<size_t>(writer)));
  }
  return name;
}

void ModelWriter::AddOriginsOfOperands(
    size_t i, std::vector<std::string>& origins) const {
  for (const LibrarySlot& slot : model_.steps[i].slots) {
    if (slot.operand < 0) continue;
    const auto k = static_cast<size_t>(slot.operand);
    if (origins.size() <= k) origins.resize(k + 1);
    const int64_t writer = slot.is_result ? -1 : WriterOf(model_, i, slot);
    if (slot.space == LibrarySpace::kConstant) {
      origins[k] = "the weights";
    } else if (writer >= 0) {
      origins[k] = absl::StrCat("the result of ",
                                NameOfStep(static_cast<size_t>(writer)));
    } else {
      origins[k] = slot.is_result ? "a result" : "an input of the model";
    }
  }
}

std::vector<std::string> ModelWriter::FunctionsOfStep(size_t i) const {
  const LibraryStep& step = model_.steps[i];
  std::vector<std::string> names;
  for (const size_t number : step_functions_of_[i]) {
    const std::string& name = step_functions_[number].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  if (step.function >= 0) {
    names.push_back(model_.emitted[static_cast<size_t>(step.function)].name);
  }
  return names;
}

ReportInput ModelWriter::Reported(const CompiledModel& library,
                                  int64_t object_bytes) const {
  ReportInput report = {.model = model_,
                        .options = options_,
                        .library = library,
                        .hash = Hex(hash_),
                        .code_hash = Hex(code_hash_),
                        .weight_bytes = weight_bytes_,
                        .weights_object_bytes = object_bytes};
  if (options_.contract.has_value()) report.max_error = MaxErrorText();
  for (size_t i = 0; i < model_.steps.size(); ++i) {
    const LibraryStep& step = model_.steps[i];
    ReportedStep reported;
    reported.functions = FunctionsOfStep(i);
    if (!step.sources.empty()) reported.items = step.sources.back().items;
    if (step.control == LibraryControl::kNone) {
      reported.text_bytes = static_cast<int64_t>(StepText(i).size());
    }
    if (step.function >= 0) {
      reported.constants =
          function_constants_[static_cast<size_t>(step.function)];
    }
    report.steps.push_back(std::move(reported));
  }
  for (const LibraryMember& member : inputs_) {
    report.inputs.push_back({member.name, member.slot});
  }
  for (const LibraryMember& member : outputs_) {
    report.outputs.push_back({member.name, member.slot});
  }
  return report;
}

}  // namespace baton::internal
