#include "baton/tools/tensor_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/near_names.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/tensor_file.h"
#include "baton/onnx/tensor_names.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/ir/expr.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/files.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> NamesIn(const relay::FunctionNode* main,
                                 absl::string_view attribute) {
  std::vector<std::string> result;
  const AttrValue* value = main->attrs().Find(attribute);
  const AttrList* list = value == nullptr ? nullptr : value->As<AttrList>();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string* name = (*list)[i].As<std::string>();
    result.push_back(name == nullptr ? "" : *name);
  }
  return result;
}

// The .npy files of a folder, by name.
absl::StatusOr<NamedTensors> ReadArrays(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  NamedTensors result;
  for (const fs::path& file : files) {
    BATON_ASSIGN_OR_RETURN(NamedTensors one, ReadTensors(file.string(), ""));
    result.emplace_back(file.stem().string(), std::move(one[0].second));
  }
  return result;
}

bool IsNamed(const NamedTensors& tensors, absl::string_view name) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [name](const auto& other) { return other.first == name; });
}

}  // namespace

absl::StatusOr<NamedTensors> ReadTensors(const std::string& path,
                                         absl::string_view stem,
                                         std::vector<TensorPart>* parts) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    NamedTensors result;
    for (int i = 0;; ++i) {
      const fs::path file = fs::path(path) / absl::StrCat(stem, "_", i, ".pb");
      if (!fs::exists(file, error)) {
        return i > 0 ? result : ReadArrays(path);
      }
      BATON_ASSIGN_OR_RETURN(NamedTensors one,
                             ReadTensors(file.string(), "", parts));
      // A sequence has several tensors, or none.
      std::move(one.begin(), one.end(), std::back_inserter(result));
    }
  }
  BATON_ASSIGN_OR_RETURN(const FileContent content, MapFile(path));
  const auto located = [&path](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  if (absl::StartsWith(content.bytes, "PK")) {
    absl::StatusOr<NamedTensors> tensors = ReadNpz(content.bytes);
    if (!tensors.ok()) return located(tensors.status());
    return tensors;
  }
  if (absl::StartsWith(content.bytes, "\x93NUMPY")) {
    absl::StatusOr<Tensor> tensor = ReadNpy(content.bytes);
    if (!tensor.ok()) return located(tensor.status());
    return NamedTensors{{"", *std::move(tensor)}};
  }
  onnx::TensorSource source;
  source.owner = content.owner;
  source.is_mapped = content.is_mapped;
  absl::StatusOr<onnx::TensorFile> value =
      onnx::ReadTensorFile(content.bytes, source);
  if (!value.ok()) return located(value.status());
  if (parts != nullptr) {
    parts->push_back({value->tensors.size(), value->is_sequence});
  }
  NamedTensors result;
  for (Tensor& tensor : value->tensors) {
    result.emplace_back("", std::move(tensor));
  }
  return result;
}

absl::StatusOr<std::vector<Tensor>> InOrder(
    const NamedTensors& tensors, const std::vector<std::string>& names,
    absl::string_view what) {
  std::vector<Tensor> result;
  for (const std::string& name : names) {
    for (const auto& [given, tensor] : tensors) {
      if (given == name) {
        result.push_back(tensor);
        break;
      }
    }
  }
  if (result.size() == names.size()) return result;
  // Some names are right: then the others are mistakes.
  for (const std::string& name : names) {
    if (result.empty() || IsNamed(tensors, name)) continue;
    std::vector<std::string> given;
    for (const auto& [other, tensor] : tensors) given.push_back(other);
    return absl::NotFoundError(absl::StrCat("there is no tensor '",
                                            Printable(name), "' among the ",
                                            what, DidYouMean(name, given)));
  }
  if (tensors.size() != names.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there ", tensors.size() == 1 ? "is " : "are ",
                     Plural(static_cast<int64_t>(tensors.size()), "tensor"),
                     " for ", names.size(), " ", what));
  }
  result.clear();
  for (const auto& [name, tensor] : tensors) result.push_back(tensor);
  return result;
}

std::vector<std::string> NotesOnNames(const NamedTensors& tensors,
                                      const std::vector<std::string>& names,
                                      absl::string_view what) {
  const bool by_name = std::all_of(
      names.begin(), names.end(),
      [&](const std::string& name) { return IsNamed(tensors, name); });
  std::vector<std::string> notes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& given = tensors[i].first;
    const bool known =
        std::find(names.begin(), names.end(), given) != names.end();
    if (given.empty() || known || (!by_name && i >= names.size())) continue;
    notes.push_back(absl::StrCat(
        "'", Printable(given), "' is none of the ", what, ": it is ",
        by_name ? "not used"
                : absl::StrCat("taken by its position, as '",
                               Printable(names[i]), "'")));
  }
  return notes;
}

std::vector<std::string> InputNames(const relay::Function& main) {
  std::vector<std::string> names =
      NamesIn(main.get(), onnx::attr::kInputTensorNames);
  for (size_t i = names.size(); i < main->params().size(); ++i) {
    names.push_back(main->params()[i]->name());
  }
  return names;
}

std::vector<std::string> OutputNames(const relay::Function& main) {
  std::vector<std::string> names =
      NamesIn(main.get(), onnx::attr::kOutputTensorNames);
  const auto* tuple = main->body()->type().As<TupleTypeNode>();
  const size_t size = tuple == nullptr ? 1 : tuple->fields().size();
  for (size_t i = names.size(); i < size; ++i) {
    names.push_back(absl::StrCat("output_", i));
  }
  return names;
}

}  // namespace baton
