#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/model_writer.h"
#include "baton/base/hash_table.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/llvm_source.h"

namespace baton::internal {
namespace {

using tir::CppIdentifier;
using tir::CppIsa;

}  // namespace

tir::ElfObject ModelWriter::Weights() const {
  tir::ElfObject object;
  object.machine = options_.machine;
  tir::ElfConstant own;
  own.symbol = absl::StrCat(WeightsSymbol(), "_own");
  int64_t own_bytes = 0;
  tir::ElfTable table;
  table.symbol = WeightsSymbol();
  size_t num_shared = 0;
  FlatHashSet<std::string> known;
  for (size_t i = 0; i < model_.constants.size(); ++i) {
    const absl::string_view bytes = model_.constants[i].bytes();
    if (shared_symbols_[i].empty() ||
        num_shared == tir::ElfObject::kMaxMergeable) {
      own_bytes = executor::AlignUp(own_bytes);
      table.targets.push_back({own.symbol, own_bytes});
      own.pieces.push_back(bytes);
      own_bytes += static_cast<int64_t>(bytes.size());
      continue;
    }
    const std::string& symbol = shared_symbols_[i];
    table.targets.push_back({symbol});
    if (!known.insert(symbol).second) continue;
    ++num_shared;
    object.constants.push_back({symbol, {bytes}, /*is_mergeable=*/true});
  }
  // No array is empty.
  if (table.targets.empty()) table.targets.emplace_back();
  if (!own.pieces.empty()) object.constants.push_back(std::move(own));
  object.tables.push_back(std::move(table));
  return object;
}

std::string ModelWriter::SharedWeightsSymbol(absl::string_view bytes) {
  StableHash first(1);
  StableHash second(2);
  first.AddString(bytes);
  second.AddString(bytes);
  return absl::StrCat("baton_weights_", Hex(first.value()), Hex(second.value()),
                      "_", bytes.size());
}

tir::CppSourceOptions ModelWriter::SharedOptions(CppIsa isa,
                                                 unsigned texts) const {
  tir::CppSourceOptions options;
  options.isa = isa;
  options.name_space = SharedNameSpace(isa);
  options.is_shared = true;
  options.prelude = Kernels(isa, texts);
  options.prelude_uses_math = (texts & cpu::StepSource::kMath) != 0;
  return options;
}

absl::Status ModelWriter::ShareFunctions() {
  tir::CppSourceOptions options = SharedOptions(CppIsa::kNone, 0);
  options.line_table = options_.line_table;
  std::vector<tir::CppFunction> functions;
  std::vector<int> number_of;
  FlatHashMap<std::string, int> known;
  for (tir::CppFunction& function : model_.functions) {
    // The name without the number that distinguishes it from others of this
    // model.
    std::string name = CppIdentifier(function.symbol);
    const size_t end = name.find_last_not_of("0123456789");
    if (end != std::string::npos && end > 0 && end + 1 < name.size() &&
        name[end] == '_') {
      name.resize(end);
    }
    BATON_ASSIGN_OR_RETURN(
        const tir::CppSource source,
        WriteCppSource({{name, function.function, ""}}, options));
    StableHash hash(texts_hash_);
    hash.AddString(source.text);
    absl::StrAppend(&name, "_", Hex(hash.value()));
    const auto [found, is_new] =
        known.emplace(name, static_cast<int>(functions.size()));
    number_of.push_back(found->second);
    if (is_new) {
      functions.push_back(std::move(function));
      functions.back().symbol = std::move(name);
    } else {
      absl::StrAppend(&functions[static_cast<size_t>(found->second)].origin,
                      "\n", function.origin);
    }
  }
  model_.functions = std::move(functions);
  for (LibraryStep& step : model_.steps) {
    if (step.function < 0) continue;
    step.function = number_of[static_cast<size_t>(step.function)];
  }
  // The parameters are the same for all instructions.
  BATON_ASSIGN_OR_RETURN(tir::CppSource probe,
                         WriteCppSource(model_.functions, options));
  model_.emitted = std::move(probe.functions);
  return absl::OkStatus();
}

absl::Status ModelWriter::WriteLoopsAsLlvm(
    std::vector<CompiledModel::File>& files) {
  tir::LlvmSourceOptions options;
  options.target = *options_.llvm;
  options.line_table = options_.line_table;
  options.head = {absl::StrCat("The loops of the model ", options_.model,
                               ": see ", options_.name, ".h."),
                  "Written by baton-compile. Do not edit."};
  std::vector<tir::CppFunction> functions = model_.functions;
  for (tir::CppFunction& function : functions) {
    function.symbol =
        absl::StrCat(CppIdentifier(options_.name), "_", function.symbol);
  }
  BATON_ASSIGN_OR_RETURN(tir::LlvmSource source,
                         WriteLlvmSource(functions, options));
  for (size_t i = 0; i < functions.size(); ++i) {
    if (source.functions[i].workspace_bytes >
        model_.emitted[i].workspace_bytes) {
      return absl::InternalError(absl::StrCat(
          functions[i].symbol, " needs a larger workspace as text of LLVM"));
    }
  }
  model_.emitted = std::move(source.functions);
  files.push_back({options_.name + "_loops.ll", std::move(source.text)});
  return absl::OkStatus();
}

std::string ModelWriter::ExternalFunctions() const {
  std::string text = "extern \"C\" {\n";
  for (const tir::CppEmitted& emitted : model_.emitted) {
    absl::StrAppend(&text, emitted.declaration, ";\n");
  }
  return absl::StrCat(text, "}\n\n");
}

void ModelWriter::MakeStepFunctions() {
  step_functions_of_.resize(model_.steps.size());
  for (size_t i = 0; i < model_.steps.size(); ++i) {
    for (const cpu::StepSource& source : model_.steps[i].sources) {
      step_functions_of_[i].push_back(FunctionOf(i, source));
    }
  }
}

size_t ModelWriter::FunctionOf(size_t i, const cpu::StepSource& source) {
  const LibraryStep& step = model_.steps[i];
  texts_ |= source.texts;
  const std::string statements =
      options_.line_table ? WithPlace(i, source.statements) : source.statements;
  std::string name =
      CppIdentifier(step.kernel.substr(0, step.kernel.find_first_of(".+")));
  StableHash hash(texts_hash_);
  hash.AddString(name);
  hash.AddString(source.definitions);
  hash.AddString(statements);
  hash.Add(step.slots.size());
  const std::string number = Hex(hash.value());
  absl::StrAppend(&name, "_", number);
  const auto [found, is_new] =
      step_function_numbers_.emplace(name, step_functions_.size());
  if (!is_new) return found->second;
  std::vector<std::pair<std::string, std::string>> names = {{"@N@", number}};
  std::vector<std::string> params;
  for (size_t k = 0; k < step.slots.size(); ++k) {
    names.emplace_back(absl::StrCat("@", k, "@"), absl::StrCat("p", k));
    params.push_back(absl::StrCat(
        "[[maybe_unused]] ",
        k + 1 < step.slots.size() ? "const float* p" : "float* p", k));
  }
  StepFunction function;
  function.declaration =
      absl::StrCat("void ", name, "(\n    ", absl::StrJoin(params, ",\n    "),
                   params.empty() ? "" : ",\n    ",
                   "[[maybe_unused]] unsigned char* workspace,\n"
                   "    [[maybe_unused]] bool resumes,\n"
                   "    [[maybe_unused]] int64_t begin,\n"
                   "    [[maybe_unused]] int64_t end)");
  function.text = absl::StrCat(absl::StrReplaceAll(source.definitions, names),
                               tir::kCppShared, function.declaration, " {\n",
                               absl::StrReplaceAll(statements, names), "}\n",
                               options_.line_table ? tir::kCppOwnLines : "");
  function.name = std::move(name);
  function.texts = source.texts;
  step_functions_.push_back(std::move(function));
  return step_functions_.size() - 1;
}

std::string ModelWriter::Declarations() const {
  std::string text = "\n";
  for (const tir::CppEmitted& emitted : model_.emitted) {
    if (options_.llvm.has_value()) break;
    absl::StrAppend(&text, emitted.declaration, ";\n");
  }
  for (const StepFunction& function : step_functions_) {
    absl::StrAppend(&text, function.declaration, ";\n");
  }
  return text;
}

std::string ModelWriter::FamilyOf(unsigned texts) {
  switch (texts) {
    case 0:
      return "moves";
    case cpu::StepSource::kConv:
      return "convolutions";
    case cpu::StepSource::kMatmul:
      return "products";
    case cpu::StepSource::kPool:
      return "pools";
    case cpu::StepSource::kChannels:
      return "channels";
    case cpu::StepSource::kMap:
      return "maps";
    case cpu::StepSource::kInt8Conv:
      return "byte_convolutions";
    case cpu::StepSource::kByteSlabs:
      return "byte_maps";
    case cpu::StepSource::kIntMatmul:
      return "integer_products";
    default:
      return "";
  }
}

absl::Status ModelWriter::WriteSharedFiles(
    CppIsa isa, std::vector<CompiledModel::File>& files) const {
  const auto add = [&](const std::string& name, tir::CppSourceOptions options,
                       absl::Span<const tir::CppFunction> functions) {
    const std::string file =
        absl::StrCat(name, "_", tir::CppIsaName(isa), ".cc");
    options.head = {
        "Functions of models. Written by baton-compile. Do not "
        "edit."};
    options.line_table = options_.line_table;
    options.source_name = file;
    BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                           WriteCppSource(functions, options));
    files.push_back({file, std::move(source.text)});
    return absl::OkStatus();
  };
  for (const tir::CppFunction& function : model_.functions) {
    if (options_.llvm.has_value()) break;
    // Other models have other origins.
    const tir::CppFunction shared = {function.symbol, function.function, ""};
    BATON_RETURN_IF_ERROR(add(function.symbol, SharedOptions(isa, 0),
                              absl::MakeConstSpan(&shared, 1)));
  }
  // By the family, or by the name of the function.
  std::map<std::string, std::vector<const StepFunction*>> groups;
  for (const StepFunction& function : step_functions_) {
    const std::string family = FamilyOf(function.texts);
    groups[family.empty() ? function.name : family].push_back(&function);
  }
  for (auto& [name, functions] : groups) {
    std::sort(functions.begin(), functions.end(),
              [](const StepFunction* a, const StepFunction* b) {
                return a->name < b->name;
              });
    tir::CppSourceOptions options =
        SharedOptions(isa, functions.front()->texts);
    StableHash hash(texts_hash_);
    for (const StepFunction* function : functions) {
      hash.AddString(function->name);
      absl::StrAppend(&options.tail, "\n", function->text);
    }
    const bool is_family = !FamilyOf(functions.front()->texts).empty();
    BATON_RETURN_IF_ERROR(
        add(is_family ? absl::StrCat(name, "_", Hex(hash.value())) : name,
            std::move(options), {}));
  }
  return absl::OkStatus();
}

}  // namespace baton::internal
