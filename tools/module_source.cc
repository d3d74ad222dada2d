#include "baton/tools/module_source.h"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/workloads/bound_workload.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"

namespace baton {
namespace {

using relay::Function;

constexpr char kStandardStream[] = "-";

bool IsWorkload(absl::string_view text) {
  const auto workloads = testing::ListWorkloads();
  if (!workloads.ok()) return false;
  for (const testing::WorkloadInfo& info : *workloads) {
    if (text.substr(0, text.find('{')) == info.name) return true;
  }
  return false;
}

// The lines at the beginning that are comments.
absl::string_view FirstComments(absl::string_view text) {
  size_t end = 0;
  while (text.substr(end, 2) == "//") {
    const size_t line = text.find('\n', end);
    end = line == absl::string_view::npos ? text.size() : line + 1;
  }
  return text.substr(0, end);
}

absl::StatusOr<IRModule> ReadOnnx(const ModuleSource& source,
                                  std::vector<std::string>& further_files) {
  const ModuleReader* reader = ModuleReaders().Find("onnx");
  if (reader == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        source.name, " is an ONNX file, which this program cannot read"));
  }
  ModuleReader::Input input;
  input.content = source.content;
  input.name = source.name;
  input.path = source.path;
  BATON_ASSIGN_OR_RETURN(input.input_shapes,
                         ParseInputShapes(source.input_shapes));
  BATON_ASSIGN_OR_RETURN(input.input_values,
                         ParseInputValues(source.input_values));
  input.dims = source.dims;
  input.at_hand = source.at_hand;
  input.keeps_weights = source.keeps_weights;
  input.param_dims = source.param_dims;
  input.further_files = &further_files;
  return reader->read(input);
}

}  // namespace

absl::StatusOr<ModuleSource> OpenModule(const std::string& path,
                                        std::istream& in) {
  ModuleSource source;
  if (path == kStandardStream) {
    source.name = "<stdin>";
    BATON_ASSIGN_OR_RETURN(std::string text, ReadStream(in, source.name));
    source.content = ContentOf(std::move(text));
    return source;
  }
  source.name = path;
  source.path = path;
  absl::StatusOr<FileContent> content = MapFile(path);
  if (absl::IsNotFound(content.status()) && IsWorkload(path)) {
    return absl::NotFoundError(absl::StrCat(
        "there is no file ", path, "; did you mean --workload=", path, "?"));
  }
  BATON_ASSIGN_OR_RETURN(source.content, std::move(content));
  return source;
}

absl::StatusOr<ModulesRead> ReadModules(const ModuleSource& source,
                                        Diagnostics& diagnostics) {
  const absl::string_view bytes = source.content.bytes;
  const absl::string_view foreign = ForeignKindOf(bytes);
  if (!foreign.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, " is ", foreign,
                     "; Baton reads text, its own binary files, and ONNX"));
  }
  ModulesRead result;
  const InputFormat format = FormatOf(bytes, source.name);
  if (source.split && format != InputFormat::kText) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--split_input_file: ", source.name, " is no text; it has one module"));
  }
  if (format == InputFormat::kOnnx) {
    BATON_ASSIGN_OR_RETURN(IRModule module,
                           ReadOnnx(source, result.further_files));
    result.modules.push_back({.module = std::move(module)});
    return result;
  }
  if (!source.input_values.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input_values: ", source.name, " is no ONNX file"));
  }
  if (format == InputFormat::kBinary) {
    BATON_ASSIGN_OR_RETURN(BinaryContent binary,
                           ReadBinaryModule(source.content, source.name));
    result.modules.push_back({.module = std::move(binary.module)});
    result.head = std::string(binary.comment);
  } else {
    result.head = std::string(FirstComments(bytes));
    result.modules = ParseModules(std::string(bytes), source.name, source.split,
                                  diagnostics);
    if (diagnostics.has_errors()) return result;
  }
  BATON_ASSIGN_OR_RETURN(const auto shapes,
                         ParseInputShapes(source.input_shapes));
  if (shapes.empty()) return result;
  for (InputModule& input : result.modules) {
    BATON_ASSIGN_OR_RETURN(input.module, WithInputShapes(input.module, shapes));
  }
  return result;
}

absl::StatusOr<IRModule> MakeWorkload(const std::string& spec,
                                      bool bind_params) {
  if (!bind_params) return testing::GetWorkloadModule(spec);
  return testing::BoundWorkload(spec);
}

absl::StatusOr<IRModule> WithInputShapes(
    const IRModule& module,
    const std::map<std::string, std::vector<int64_t>>& shapes) {
  if (shapes.empty()) return module;
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  FlatHashMap<const relay::VarNode*, Expr> values;
  std::vector<relay::Var> params(main->params().begin(), main->params().end());
  FlatHashMap<const DimExprNode*, Dim> named;
  std::vector<std::string> names;
  for (relay::Var& param : params) {
    names.push_back(param->name());
    const auto shape = shapes.find(param->name());
    if (shape == shapes.end()) continue;
    const auto* type = param->annotation().As<TensorTypeNode>();
    if (type == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--input_shapes: %", param->name(), " is no tensor"));
    }
    std::vector<Dim> dims;
    for (const int64_t extent : shape->second) {
      dims.push_back(extent < 0 ? Dim() : Dim(extent));
      // A name has this extent wherever it occurs.
      const size_t d = dims.size() - 1;
      if (d < type->shape().size() && !DimName(type->shape()[d]).empty() &&
          extent >= 0) {
        named.emplace(type->shape()[d].expr(), dims.back());
      }
    }
    const relay::Var shaped(param->name(), TensorType(dims, type->dtype()),
                            param->span());
    values[param.get()] = shaped;
    param = shaped;
  }
  for (const auto& [name, shape] : shapes) {
    size_t found = 0;
    for (const std::string& known : names) found += known == name ? 1 : 0;
    if (found == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--input_shapes: @main has ", found == 0 ? "no parameter" : "several",
        " called \"", name, "\"", DidYouMean(name, names)));
  }
  // The declared type of the result may follow from the shapes.
  const Function bound = relay::Bind(main, values);
  IRModule result = module;
  result.Set("main",
             Function(std::move(params), bound->body(), Type(),
                      {main->type_params().begin(), main->type_params().end()},
                      main->attrs()));
  BATON_ASSIGN_OR_RETURN(result, SubstituteDims(result, named));
  const absl::Status typed = relay::InferTypes(result).status();
  if (!typed.ok()) {
    return absl::Status(typed.code(),
                        absl::StrCat("--input_shapes: ", typed.message()));
  }
  return result;
}

}  // namespace baton
