#include "baton/testing/onnx_backend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/text_file.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/import.h"
#include "baton/onnx/model.h"
#include "baton/onnx/tensor_names.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/tar_file.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = "model.onnx";

absl::StatusOr<OnnxCase> ReadOnnxCase(const fs::path& folder) {
  OnnxCase test;
  test.path = folder.string();
  test.name = folder.filename().string();
  test.data_folder = folder.string();
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.filename() != kModel && path.extension() != ".pb") continue;
    BATON_ASSIGN_OR_RETURN(std::string content, ReadTextFile(path.string()));
    test.files[path.lexically_relative(folder).string()] =
        std::make_shared<const std::string>(std::move(content));
  }
  return test;
}

absl::StatusOr<std::vector<Tensor>> ReadTensors(const OnnxCase& test,
                                                const std::string& stem) {
  std::vector<Tensor> result;
  for (int i = 0;; ++i) {
    const auto file = test.files.find(absl::StrCat(stem, i, ".pb"));
    if (file == test.files.end()) return result;
    onnx::TensorSource source;
    source.owner = file->second;
    BATON_ASSIGN_OR_RETURN(Tensor tensor,
                           onnx::ReadTensor(*file->second, source));
    result.push_back(std::move(tensor));
  }
}

absl::Status Compare(const Tensor& got, const Tensor& want,
                     const OnnxCaseOptions& options) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    return absl::InternalError(absl::StrCat("the type is ", got.TypeToString(),
                                            ", not ", want.TypeToString()));
  }
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    if (want.dtype().is_integral()) {
      if (got.AtAsInt64(i) == want.AtAsInt64(i)) continue;
    }
    const double a = got.AtAsDouble(i);
    const double b = want.AtAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b)) ||
        std::abs(a - b) <= options.atol + options.rtol * std::abs(b)) {
      continue;
    }
    return absl::InternalError(
        absl::StrCat("element ", i, " is ", a, ", not ", b));
  }
  return absl::OkStatus();
}

// NumPy has no bfloat16: the files of the tests hold the bits as uint16.
Tensor AsStored(const Tensor& tensor, DType wanted) {
  if (wanted != DType::BFloat(16) || tensor.dtype() != DType::UInt(16)) {
    return tensor;
  }
  const auto owner = std::make_shared<const Tensor>(tensor);
  absl::StatusOr<Tensor> result =
      Tensor::FromUnaligned(wanted, tensor.shape(), tensor.bytes(), owner,
                            /*is_mapped=*/false);
  return result.ok() ? *std::move(result) : tensor;
}

// The name in an importer's complaint that an input must be known.
std::optional<std::string> UnknownInput(absl::string_view message) {
  const size_t end = message.find("') must be known");
  if (end == absl::string_view::npos) return std::nullopt;
  const size_t begin = message.rfind("('", end);
  return std::string(message.substr(begin + 2, end - begin - 2));
}

// The module after export and import.
absl::StatusOr<IRModule> RoundTrip(const IRModule& module,
                                   const OnnxCaseOptions& options,
                                   std::string& written) {
  BATON_ASSIGN_OR_RETURN(const onnx::OnnxModel model,
                         ExportOnnx(module, {.opset = options.opset}));
  const auto bytes = std::make_shared<const std::string>(model.ToString());
  written = *bytes;
  const absl::StatusOr<IRModule> again =
      ImportOnnx(*bytes, bytes, {.name = "written.onnx"});
  if (again.ok()) return again;
  return absl::InternalError(again.status().message());
}

absl::Status RunDataSet(const OnnxCase& test, const std::string& data_set,
                        const OnnxCaseOptions& options,
                        OnnxCaseResult& result) {
  const std::shared_ptr<const std::string> content = test.files.at(kModel);
  BATON_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                         onnx::ReadModel(*content));
  BATON_ASSIGN_OR_RETURN(const onnx::GraphProto graph,
                         onnx::ReadGraph(model.graph));
  for (const auto* infos : {&graph.inputs, &graph.outputs}) {
    for (const onnx::ValueInfo& info : *infos) {
      if (info.kind != onnx::ValueInfo::Kind::kTensor) {
        return absl::UnimplementedError(
            "inputs or outputs that are sequences or optionals are not"
            " supported");
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         ReadTensors(test, data_set + "input_"));
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         ReadTensors(test, data_set + "output_"));
  OnnxImportOptions import;
  import.name = kModel;
  import.folder = test.data_folder;
  absl::StatusOr<IRModule> module;
  while (true) {
    module = ImportOnnx(*content, content, import);
    if (module.ok()) break;
    const std::optional<std::string> unknown =
        UnknownInput(module.status().message());
    if (!unknown.has_value()) {
      // It may fail because of an unknown dimension.
      if (options.keep_dimensions || !absl::IsUnimplemented(module.status()) ||
          !import.input_shapes.empty()) {
        break;
      }
      for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
        if (graph.inputs[i].kind != onnx::ValueInfo::Kind::kTensor) continue;
        import.input_shapes.emplace(
            graph.inputs[i].name,
            std::vector<int64_t>(inputs[i].shape().begin(),
                                 inputs[i].shape().end()));
      }
      if (import.input_shapes.empty()) break;
      continue;
    }
    // If it is no input itself, it may depend on any.
    const size_t before = import.input_values.size();
    const bool is_input = std::any_of(
        graph.inputs.begin(), graph.inputs.end(),
        [&](const onnx::ValueInfo& info) { return info.name == *unknown; });
    for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
      const std::string name(graph.inputs[i].name);
      if (is_input && name != *unknown) continue;
      if (import.input_values.emplace(name, inputs[i]).second) {
        result.known_inputs.push_back(name);
      }
    }
    if (import.input_values.size() == before) break;
  }
  BATON_RETURN_IF_ERROR(module.status());
  if (!options.passes.empty()) {
    BATON_ASSIGN_OR_RETURN(const Pass passes, ParsePipeline(options.passes));
    PassContextOptions context;
    context.opt_level = 3;
    BATON_ASSIGN_OR_RETURN(
        module, PassContext(context).Run([&] { return passes(*module); }));
  }
  if (options.round_trip) {
    BATON_ASSIGN_OR_RETURN(module, RoundTrip(*module, options, result.written));
  }
  const auto* main = module->Find("main").As<relay::FunctionNode>();
  if (main == nullptr) return absl::InternalError("no main");
  const AttrValue* names = main->attrs().Find(onnx::attr::kInputTensorNames);
  const AttrList* list = names == nullptr ? nullptr : names->As<AttrList>();
  std::vector<relay::Value> args;
  for (size_t p = 0; list != nullptr && p < list->size(); ++p) {
    const std::string* name = (*list)[p].As<std::string>();
    for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
      if (name != nullptr && graph.inputs[i].name == *name) {
        const TensorTypeNode* type =
            args.size() < main->params().size()
                ? main->params()[args.size()]->tensor_type()
                : nullptr;
        args.emplace_back(type == nullptr ? inputs[i]
                                          : AsStored(inputs[i], type->dtype()));
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(const relay::Value value,
                         relay::EvaluateFunction(*module, "main", args));
  std::vector<Tensor> got;
  if (value.is_tensor()) {
    got.push_back(value.tensor());
  } else {
    for (const relay::Value& field : value.fields()) {
      if (!field.is_tensor()) {
        return absl::UnimplementedError("outputs that are no tensors");
      }
      got.push_back(field.tensor());
    }
  }
  if (got.size() != outputs.size()) {
    return absl::InternalError(
        absl::StrCat(got.size(), " outputs, not ", outputs.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const absl::Status status =
        Compare(got[i], AsStored(outputs[i], got[i].dtype()), options);
    if (!status.ok()) {
      return absl::InternalError(
          absl::StrCat("output ", i, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<OnnxCase>> ReadOnnxCases(const std::string& folder) {
  std::vector<fs::path> folders;
  if (fs::exists(fs::path(folder) / kModel)) {
    folders.push_back(folder);
  } else {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (fs::exists(entry.path() / kModel)) folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  std::vector<OnnxCase> cases;
  for (const fs::path& path : folders) {
    BATON_ASSIGN_OR_RETURN(OnnxCase test, ReadOnnxCase(path));
    cases.push_back(std::move(test));
  }
  return cases;
}

absl::StatusOr<std::vector<OnnxCase>> ReadOnnxCases(
    const std::string& archive, const std::vector<std::string>& folders) {
  BATON_ASSIGN_OR_RETURN(auto files, testing::ReadTarFile(archive));
  std::map<fs::path, OnnxCase> cases;
  for (auto& [name, content] : files) {
    for (const std::string& folder : folders) {
      const fs::path path = fs::path(name).lexically_relative(folder);
      if (path.empty() || *path.begin() == "..") continue;
      OnnxCase& test = cases[fs::path(folder) / *path.begin()];
      test.files[path.lexically_relative(*path.begin()).string()] =
          std::make_shared<const std::string>(std::move(content));
      break;
    }
  }
  std::vector<OnnxCase> result;
  for (auto& [path, test] : cases) {
    test.path = path.string();
    test.name = path.filename().string();
    if (test.files.count(kModel) != 0) result.push_back(std::move(test));
  }
  return result;
}

OnnxCaseResult RunOnnxCase(const OnnxCase& test,
                           const OnnxCaseOptions& options) {
  OnnxCaseResult result;
  for (int i = 0;; ++i) {
    const std::string data_set = absl::StrCat("test_data_set_", i, "/");
    const auto first = test.files.lower_bound(data_set);
    if (first == test.files.end() ||
        !absl::StartsWith(first->first, data_set)) {
      if (i == 0) {
        result.outcome = OnnxOutcome::kWrong;
        result.message = "no test_data_set_0";
      }
      return result;
    }
    const absl::Status status = RunDataSet(test, data_set, options, result);
    if (!status.ok()) {
      result.outcome = absl::IsUnimplemented(status) ? OnnxOutcome::kUnsupported
                                                     : OnnxOutcome::kWrong;
      result.message = std::string(status.message());
      return result;
    }
  }
}

}  // namespace baton
