// Reads data sets: arguments for several evaluations of a function, from files.

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

namespace baton::relay {

// The arguments of each evaluation.
using Dataset = std::vector<std::vector<Value>>;

// Reads the file or folder `path`, as values for the parameters of `main`,
// which is typed.
using DatasetReader = std::function<absl::StatusOr<Dataset>(
    const Function& main, const std::string& path)>;

// The name under which the reader of files registers itself. It is in a package
// above this one; the programs of tools/ that run pipelines link it.
inline constexpr char kDatasetReader[] = "files";
Registry<DatasetReader>& DatasetReaders();

// Reads all of `paths`, in order. An error if no reader is linked.
absl::StatusOr<Dataset> ReadDataset(const Function& main,
                                    absl::Span<const std::string> paths);

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_DATASET_H_
