// Reads the files in options of passes, such as `dataset` of QuantizeCalibrate.

#include "baton/relay/runtime/dataset.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/tensor_files.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

// The .npz files and the folders in the folder `path`, sorted by name: each has
// the arguments of one evaluation. `path` itself if there are none.
std::vector<std::string> EvaluationsIn(const std::string& path) {
  std::vector<std::string> result;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error) || entry.path().extension() == ".npz") {
      result.push_back(entry.path().string());
    }
  }
  std::sort(result.begin(), result.end());
  if (result.empty()) result.push_back(path);
  return result;
}

// `tensors`, which are in `path`, as arguments.
absl::StatusOr<std::vector<relay::Value>> ArgumentsOf(
    const relay::Function& main, const NamedTensors& tensors,
    const std::string& path) {
  absl::StatusOr<std::vector<Tensor>> arguments =
      InOrder(tensors, InputNames(main), "inputs");
  if (arguments.ok() && arguments->size() != main->params().size()) {
    arguments = absl::InvalidArgumentError(absl::StrCat(
        "there are ", Plural(static_cast<int64_t>(arguments->size()), "tensor"),
        " for ",
        Plural(static_cast<int64_t>(main->params().size()), "parameter"),
        " of @main"));
  }
  if (!arguments.ok()) {
    return absl::Status(
        arguments.status().code(),
        absl::StrCat("dataset: ", path, ": ", arguments.status().message()));
  }
  return std::vector<relay::Value>(arguments->begin(), arguments->end());
}

absl::StatusOr<relay::Dataset> ReadFiles(const relay::Function& main,
                                         const std::string& path) {
  relay::Dataset result;
  for (const std::string& evaluation : EvaluationsIn(path)) {
    const absl::StatusOr<NamedTensors> tensors =
        ReadTensors(evaluation, "input");
    if (!tensors.ok()) {
      return absl::Status(
          tensors.status().code(),
          absl::StrCat("dataset: ", tensors.status().message()));
    }
    BATON_ASSIGN_OR_RETURN(result.emplace_back(),
                           ArgumentsOf(main, *tensors, evaluation));
  }
  return result;
}

[[maybe_unused]] const bool kRegistered =
    relay::DatasetReaders().Register(relay::kDatasetReader, ReadFiles);

}  // namespace
}  // namespace baton
