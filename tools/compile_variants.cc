#include "baton/tools/compile_variants.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"

namespace baton {
namespace {

using relay::Function;

absl::StatusOr<std::vector<DimBound>> ParseDims(const std::string& text) {
  absl::StatusOr<std::vector<DimBound>> bounds = ParseDimBounds(text);
  if (!bounds.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dims: ", bounds.status().message()));
  }
  for (const DimBound& bound : *bounds) {
    if (bound.least > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--dims: in a compiled library the sizes of ", bound.name,
                     " begin at 1 or above, not at ", bound.least));
  }
  return bounds;
}

// An error if a dimension of an input of a typed module has no bounds, or
// bounds have no dimension.
absl::Status CheckDims(const IRModule& module,
                       const std::vector<DimBound>& bounds) {
  std::vector<bool> is_used(bounds.size(), false);
  std::vector<std::string> open;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    const TensorTypeNode* const type = param->tensor_type();
    if (type == nullptr) continue;
    for (const Dim& dim : type->shape()) {
      if (dim.is_const()) continue;
      std::string name = DimName(dim);
      const auto found = std::find_if(
          bounds.begin(), bounds.end(),
          [&name](const DimBound& bound) { return bound.name == name; });
      if (found != bounds.end()) {
        is_used[static_cast<size_t>(found - bounds.begin())] = true;
        continue;
      }
      if (name.empty()) name = absl::StrCat("a dimension of ", param->name());
      if (std::find(open.begin(), open.end(), name) == open.end()) {
        open.push_back(std::move(name));
      }
    }
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!is_used[i]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dims: no input of the model has a dimension ", bounds[i].name));
    }
  }
  if (!open.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model leaves dimensions open: ", absl::StrJoin(open, ", "),
        "; give them with --dims=NAME=N or --input_shapes"));
  }
  return absl::OkStatus();
}

// Functions without the code that another compiler made of them: the library
// computes them itself, whether that compiler is here or not.
IRModule WithoutArtifacts(IRModule module) {
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (function->attrs().Find(relay::attr::kArtifact) == nullptr) continue;
    changed.emplace_back(
        var, Function({function->params().begin(), function->params().end()},
                      function->body(), function->result_type(),
                      {function->type_params().begin(),
                       function->type_params().end()},
                      function->attrs()
                          .Without(relay::attr::kArtifactName)
                          .Without(relay::attr::kArtifact),
                      function->type(), function->span()));
  }
  for (auto& [var, function] : changed) module.Set(var, std::move(function));
  return module;
}

// Appends the paths of further files that are read to `further_files`. `dims`:
// sizes of dimensions, of ONNX files only.
absl::StatusOr<IRModule> ReadModule(
    ModuleSource source, const LibraryOptions& options, TensorsAtHand* given,
    std::vector<std::string>& further_files,
    const std::map<std::string, int64_t>& dims = {}) {
  source.at_hand = given;
  source.input_shapes = options.input_shapes;
  source.input_values = options.input_values;
  source.dims = dims;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(source, diagnostics));
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (read.modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no module"));
  }
  further_files.insert(further_files.end(), read.further_files.begin(),
                       read.further_files.end());
  IRModule module = std::move(read.modules[0].module);
  if (!module.Find<Function>("main").defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " has no function @main of Relay"));
  }
  return WithoutArtifacts(std::move(module));
}

// An error if an input of a typed module is no tensor, or a result is a tuple
// in a tuple: members of Inputs and Outputs are tensors.
absl::Status CheckPorts(const IRModule& module) {
  const Function main = module.Find<Function>("main");
  for (const relay::Var& param : main->params()) {
    if (param->tensor_type() != nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the parameter %", param->name(), " of @main is no tensor but ",
        param->annotation().ToString(), ": it cannot be a member"));
  }
  const Type& type = main->body()->type();
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return absl::OkStatus();
  for (const Type& field : tuple->fields()) {
    if (field.Is<TensorTypeNode>()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a result of @main is no tensor but ", field.ToString(),
                     ": it cannot be a member"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ShapesOfInputs(const IRModule& module) {
  std::vector<std::string> shapes;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    const TensorTypeNode* const type = param->tensor_type();
    if (type == nullptr || !type->is_static()) continue;
    shapes.push_back(
        absl::StrCat(param->name(), ":[",
                     absl::StrJoin(type->shape(), ",",
                                   [](std::string* text, const Dim& dim) {
                                     absl::StrAppend(text, dim.value());
                                   }),
                     "]"));
  }
  return absl::StrJoin(shapes, ",");
}

absl::StatusOr<Variants> MakeVariants(const LibraryOptions& options,
                                      TensorsAtHand* given) {
  const std::string& text = options.dims;
  BATON_ASSIGN_OR_RETURN(const ModuleSource source,
                         OpenModule(options.model, std::cin));
  // Each has steps of its own.
  constexpr int64_t kMaxVariants = 64;
  BATON_ASSIGN_OR_RETURN(const std::vector<DimBound> bounds, ParseDims(text));
  // An ONNX file is imported for each choice: a graph may not be typed with
  // symbolic dimensions, and is simpler for constant ones.
  const bool is_onnx =
      FormatOf(source.content.bytes, source.name) == InputFormat::kOnnx;
  if (given != nullptr && !is_onnx && !options.test && !options.check_values) {
    return absl::InvalidArgumentError(
        "--inputs: needs --test or --check_values, which run the model: only "
        "an ONNX file takes shapes and values from its inputs");
  }
  Variants result;
  IRModule module;
  if (!is_onnx) {
    BATON_ASSIGN_OR_RETURN(
        module, ReadModule(source, options, given, result.further_files));
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    BATON_RETURN_IF_ERROR(CheckPorts(module));
  }
  int64_t count = 1;
  for (const DimBound& bound : bounds) {
    if (bound.least == bound.most) continue;
    if (given != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--inputs: they have one size of ", bound.name,
                       ", which has bounds in --dims"));
    }
    result.bounds.push_back(bound);
    const int64_t values = bound.most - bound.least + 1;
    if (values > kMaxVariants || count * values > kMaxVariants) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dims=", text, ": bounds have more than ", kMaxVariants,
          " choices, each of which has steps of its own: give narrower ones"));
    }
    count *= values;
  }
  if (!is_onnx) BATON_RETURN_IF_ERROR(CheckDims(module, bounds));
  for (int64_t k = 0; k < count; ++k) {
    Variant variant;
    std::vector<int64_t> sizes(bounds.size());
    int64_t rest = k;
    for (size_t i = bounds.size(); i-- > 0;) {
      const int64_t values = bounds[i].most - bounds[i].least + 1;
      sizes[i] = bounds[i].least + rest % values;
      rest /= values;
    }
    for (size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i].least != bounds[i].most) variant.dims.push_back(sizes[i]);
    }
    if (is_onnx) {
      std::map<std::string, int64_t> dims;
      for (size_t i = 0; i < bounds.size(); ++i) {
        dims.emplace(bounds[i].name, sizes[i]);
      }
      BATON_ASSIGN_OR_RETURN(
          variant.module,
          ReadModule(source, options, given, result.further_files, dims));
      BATON_ASSIGN_OR_RETURN(variant.module, relay::InferTypes(variant.module));
      BATON_RETURN_IF_ERROR(CheckPorts(variant.module));
      BATON_RETURN_IF_ERROR(CheckDims(variant.module, {}));
    } else {
      BATON_ASSIGN_OR_RETURN(variant.module,
                             BindDims(module, "main", bounds, sizes));
    }
    result.variants.push_back(std::move(variant));
  }
  return result;
}

}  // namespace baton
