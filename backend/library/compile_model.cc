#include "baton/backend/library/compile_model.h"

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
#include "baton/backend/library/library_class.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/model_writer.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/tir/codegen/cpp_names.h"

namespace baton {
namespace {

absl::Status CheckEqualState(const LibraryModelOptions& options,
                             const LibraryModel& a, const LibraryModel& b) {
  for (const auto& [output, input] : options.state) {
    if (a.inputs[static_cast<size_t>(input)].shape !=
        b.inputs[static_cast<size_t>(input)].shape) {
      return absl::InvalidArgumentError(
          "--state: its shape depends on a dimension with bounds");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string MemberElement(DType dtype) {
  return dtype.is_bool() ? "bool" : tir::CppElementType(dtype);
}

absl::Status CheckOptions(const CompileModelOptions& options) {
  if (tir::CppIdentifier(options.name) != options.name) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--name=", options.name,
        " is no C++ identifier: give one; the files are named after it"));
  }
  if (options.isas.empty()) {
    return absl::InvalidArgumentError("--isas names no set of instructions");
  }
  if (options.llvm.has_value() && options.isas.size() != 1) {
    return absl::InvalidArgumentError(
        "--llvm_target: functions of loops are compiled once, for one set of "
        "instructions: give one, as in --isas=avx2");
  }
  if (options.max_threads < 1 || options.max_threads > kMostLibraryThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max_threads=", options.max_threads,
                     ": it must be from 1 to ", kMostLibraryThreads));
  }
  return ParseClass(options.cpp_class).status();
}

absl::StatusOr<CompiledModel> CompileModel(const IRModule& module,
                                           const CompileModelOptions& options) {
  return CompileModel(absl::MakeConstSpan(&module, 1), options);
}

absl::StatusOr<CompiledModel> CompileModel(absl::Span<const IRModule> variants,
                                           const CompileModelOptions& options) {
  BATON_RETURN_IF_ERROR(CheckOptions(options));
  LibraryModelOptions library;
  library.max_threads = options.threads ? options.max_threads : 1;
  library.lowering = options.lowering;
  library.lowered = options.lowered;
  library.check = options.check;
  for (const auto& [output, input] : options.state) {
    const auto find = [](const std::vector<std::string>& names,
                         const std::string& name,
                         absl::string_view what) -> absl::StatusOr<int> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<int>(found - names.begin());
      return absl::InvalidArgumentError(
          absl::StrCat("--state: the model has no ", what, " ", name,
                       "; it has ", absl::StrJoin(names, ", ")));
    };
    BATON_ASSIGN_OR_RETURN(const int from,
                           find(options.output_names, output, "output"));
    BATON_ASSIGN_OR_RETURN(const int to,
                           find(options.input_names, input, "input"));
    library.state.emplace_back(from, to);
  }
  BATON_ASSIGN_OR_RETURN(ClassName cpp_class, ParseClass(options.cpp_class));
  std::vector<LibraryModel> models;
  for (const IRModule& module : variants) {
    BATON_ASSIGN_OR_RETURN(LibraryModel model,
                           HasLoops(module) ? LibraryFromLoops(module)
                                            : LibraryFromPlan(module, library));
    if (!models.empty() && !options.state.empty()) {
      BATON_RETURN_IF_ERROR(CheckEqualState(library, models[0], model));
    }
    if (!models.empty() &&
        models[0].padded.sized_by_values != model.padded.sized_by_values) {
      return absl::InvalidArgumentError(
          "--dims: it depends on them for which results values decide how "
          "large they are");
    }
    models.push_back(std::move(model));
  }
  std::vector<cpu::PaddedModule> padded;
  for (const LibraryModel& model : models) padded.push_back(model.padded);
  LibraryModel model = MergeVariants(std::move(models));
  BATON_RETURN_IF_ERROR(PlaceState(library, model));
  BATON_ASSIGN_OR_RETURN(
      CompiledModel compiled,
      internal::ModelWriter(model, options, std::move(cpp_class)).Write());
  compiled.padded = std::move(padded);
  return compiled;
}

}  // namespace baton
