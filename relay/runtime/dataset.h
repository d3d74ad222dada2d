// Arguments of a function for several evaluations, from files.

#ifndef BATON_RELAY_RUNTIME_DATASET_H_
#define BATON_RELAY_RUNTIME_DATASET_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton {

// The arguments of each evaluation.
using Dataset = std::vector<std::vector<Value>>;

// What is in the file or folder `path`, for the parameters of `main`, typed.
using DatasetReader = std::function<absl::StatusOr<Dataset>(
    const Function& main, const std::string& path)>;

// What reads files stands above this package, and registers itself under this
// name. The programs of tools/ that run pipelines link it.
inline constexpr char kDatasetReader[] = "files";
Registry<DatasetReader>& DatasetReaders();

// What is in all of `paths`, in order. An error if nothing here reads files.
absl::StatusOr<Dataset> ReadDataset(const Function& main,
                                    absl::Span<const std::string> paths);

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_DATASET_H_
