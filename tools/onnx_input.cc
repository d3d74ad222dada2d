// Registers ONNX as input and output format of the tools.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/import.h"
#include "baton/onnx/model.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/input.h"
#include "baton/tools/tensor_files.h"

namespace baton {
namespace {

// `value` with elements of `dtype`.
absl::StatusOr<Tensor> TensorOf(const std::string& name,
                                const InputValue& value, DType dtype) {
  auto bytes = std::make_shared<std::string>();
  for (const std::variant<int64_t, double>& element : value.elements) {
    const auto add = [&](auto number) -> absl::Status {
      Tensor converted = Tensor::ScalarOf(dtype, static_cast<double>(number));
      bool is_exact = dtype.is_float() ||
                      converted.AtAsDouble(0) == static_cast<double>(number);
      if constexpr (std::is_same_v<decltype(number), int64_t>) {
        // A double may not hold it, but elements of 64 bits do.
        if (dtype == DType::Int(64)) {
          converted = Tensor::Scalar<int64_t>(number);
        } else if (dtype == DType::UInt(64) && number >= 0) {
          converted = Tensor::Scalar<uint64_t>(static_cast<uint64_t>(number));
        }
      } else if (number >= (dtype == DType::Int(64) ? 0x1p63 : 0x1p64)) {
        // The largest element would be rounded to it.
        is_exact = dtype.is_float();
      }
      if (!is_exact) {
        return absl::InvalidArgumentError(
            absl::StrCat("--input_values: ", name, " has elements of type ",
                         dtype.ToString(), ", which have no ", number));
      }
      absl::StrAppend(bytes.get(), converted.bytes());
      return absl::OkStatus();
    };
    BATON_RETURN_IF_ERROR(std::visit(add, element));
  }
  return Tensor::FromBuffer(dtype, value.shape, *bytes, bytes);
}

// The values that were given for inputs of the model, in its element types.
absl::Status AddInputValues(const ModuleReader::Input& input,
                            OnnxImportOptions& options) {
  BATON_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                         onnx::ReadModel(input.content.bytes));
  BATON_ASSIGN_OR_RETURN(const onnx::GraphProto graph,
                         onnx::ReadGraph(model.graph));
  for (const auto& [name, value] : input.input_values) {
    // The importer says so if there is no such input.
    DType dtype = DType::Float(32);
    for (const onnx::ValueInfo& info : graph.inputs) {
      if (info.name != name || info.kind != onnx::ValueInfo::Kind::kTensor) {
        continue;
      }
      BATON_ASSIGN_OR_RETURN(dtype, onnx::DTypeOf(info.element_type));
    }
    BATON_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(name, value, dtype));
    options.input_values.emplace(name, std::move(tensor));
  }
  return absl::OkStatus();
}

using Parts = OnnxImportOptions::Parts;

// The names of the parameters for the tensors of a sequence or an optional.
std::vector<std::string> PartNames(const onnx::ValueInfo& info,
                                   const Parts& parts) {
  const std::string name(info.name);
  std::vector<std::string> result;
  for (size_t i = 0; i < parts.tensors.size(); ++i) {
    result.push_back(parts.is_sequence ||
                             info.kind == onnx::ValueInfo::Kind::kSequence
                         ? absl::StrCat(name, "_", i)
                         : name);
  }
  return result;
}

// The tensors with the names of its parameters.
Parts PartsByName(const onnx::ValueInfo& info, const NamedTensors& tensors) {
  Parts result;
  const auto add = [&](const std::string& name) {
    for (const auto& [given, tensor] : tensors) {
      if (given != name) continue;
      result.tensors.push_back(tensor);
      return true;
    }
    return false;
  };
  const std::string name(info.name);
  if (info.kind == onnx::ValueInfo::Kind::kOptional && add(name)) return result;
  while (add(absl::StrCat(name, "_", result.tensors.size()))) {
    result.is_sequence = true;
  }
  return result;
}

// The tensors of a file, from number `first` on.
Parts PartsFrom(const NamedTensors& tensors, size_t first,
                const TensorPart& part) {
  Parts result;
  result.is_sequence = part.is_sequence;
  for (size_t i = first; i < first + part.num_tensors && i < tensors.size();
       ++i) {
    result.tensors.push_back(tensors[i].second);
  }
  return result;
}

// Names the given tensors as the model names its inputs, and passes them to the
// importer.
absl::Status AddTensorsAtHand(const ModuleReader::Input& input,
                              OnnxImportOptions& options) {
  BATON_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                         onnx::ReadModel(input.content.bytes));
  BATON_ASSIGN_OR_RETURN(const onnx::GraphProto graph,
                         onnx::ReadGraph(model.graph));
  FlatHashSet<absl::string_view> initialized;
  for (const onnx::TensorProto& initializer : graph.initializers) {
    initialized.insert(initializer.name);
  }
  std::vector<std::string> names;
  std::vector<std::string> unbound;  // those without --input_values
  NamedTensors& tensors = input.at_hand->tensors;
  const std::vector<TensorPart>& parts = input.at_hand->parts;
  size_t num_inputs = 0;
  for (const onnx::ValueInfo& info : graph.inputs) {
    if (!initialized.contains(info.name)) ++num_inputs;
  }
  // An input without a file has a value already, or a run keeps it.
  const auto has_file = [&](const std::string& name) {
    const std::vector<std::string>& kept = input.at_hand->kept;
    return parts.size() >= num_inputs ||
           (!options.input_values.contains(name) &&
            std::find(kept.begin(), kept.end(), name) == kept.end());
  };
  size_t next_part = 0;
  size_t next_tensor = 0;
  for (const onnx::ValueInfo& info : graph.inputs) {
    if (initialized.contains(info.name)) continue;
    const TensorPart* const part =
        next_part < parts.size() && has_file(std::string(info.name))
            ? &parts[next_part++]
            : nullptr;
    if (info.kind == onnx::ValueInfo::Kind::kSequence ||
        info.kind == onnx::ValueInfo::Kind::kOptional) {
      Parts value = part == nullptr ? PartsByName(info, tensors)
                                    : PartsFrom(tensors, next_tensor, *part);
      for (std::string& name : PartNames(info, value)) {
        unbound.push_back(name);
        names.push_back(std::move(name));
      }
      options.parts_at_hand.emplace(info.name, std::move(value));
    } else {
      names.emplace_back(info.name);
      if (!options.input_values.contains(names.back())) {
        unbound.push_back(names.back());
      }
    }
    if (part != nullptr) next_tensor += part->num_tensors;
  }
  if (tensors.size() < unbound.size()) {
    std::erase_if(unbound, [&](const std::string& name) {
      const std::vector<std::string>& kept = input.at_hand->kept;
      return std::find(kept.begin(), kept.end(), name) != kept.end();
    });
  }
  if (tensors.size() == unbound.size()) names = unbound;
  // Whoever runs the module says what is wrong if they do not fit.
  const absl::StatusOr<std::vector<Tensor>> in_order =
      InOrder(tensors, names, "inputs");
  if (in_order.ok()) {
    tensors.clear();
    for (size_t i = 0; i < names.size(); ++i) {
      tensors.emplace_back(names[i], (*in_order)[i]);
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (!name.empty()) options.values_at_hand.emplace(name, tensor);
  }
  return absl::OkStatus();
}

absl::StatusOr<IRModule> ReadOnnx(const ModuleReader::Input& input) {
  OnnxImportOptions options;
  options.name = input.name;
  if (!input.path.empty()) {
    namespace fs = std::filesystem;
    // The current folder is not "", which stands for none.
    const fs::path folder = fs::path(input.path).parent_path();
    options.folder = folder.empty() ? "." : folder.string();
    std::error_code error;
    const fs::path target = fs::canonical(input.path, error);
    if (!error) options.target_folder = target.parent_path().string();
  }
  options.is_mapped = input.content.is_mapped;
  for (const auto& [name, shape] : input.input_shapes) {
    options.input_shapes.emplace(name, shape);
  }
  options.dims.insert(input.dims.begin(), input.dims.end());
  if (!input.input_values.empty()) {
    BATON_RETURN_IF_ERROR(AddInputValues(input, options));
  }
  options.keeps_weights = input.keeps_weights;
  options.external_files = input.further_files;
  OnnxValuesUsed used;
  options.used = &used;
  if (input.at_hand != nullptr) {
    BATON_RETURN_IF_ERROR(AddTensorsAtHand(input, options));
    options.takes_all_shapes = input.at_hand->takes_all_shapes;
  }
  absl::StatusOr<IRModule> module =
      ImportOnnx(input.content.bytes, input.content.owner, options);
  if (input.param_dims != nullptr) *input.param_dims = std::move(used.dims);
  if (input.at_hand == nullptr) return module;
  input.at_hand->values_used = std::move(used.values);
  input.at_hand->shapes_used = std::move(used.shapes);
  return module;
}

absl::StatusOr<ModuleWriter::Output> WriteOnnx(
    const IRModule& module, const ModuleWriter::Options& options) {
  BATON_ASSIGN_OR_RETURN(
      onnx::OnnxModel model,
      ExportOnnx(module, {.opset = options.onnx_opset,
                          .external_data = options.external_data}));
  const auto owner = std::make_shared<onnx::OnnxModel>(std::move(model));
  return ModuleWriter::Output{owner, owner->pieces(), owner->external_pieces()};
}

[[maybe_unused]] const bool registered =
    ModuleReaders().Register("onnx", {.read = ReadOnnx}) &&
    ModuleWriters().Register("onnx", {.write = WriteOnnx});

}  // namespace
}  // namespace baton
