#include "baton/relay/runtime/dataset.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"

namespace baton::relay {

Registry<DatasetReader>& DatasetReaders() {
  static auto& registry =
      *Registry<DatasetReader>::NewGlobal("reader of datasets");
  return registry;
}

absl::StatusOr<Dataset> ReadDataset(const Function& main,
                                    absl::Span<const std::string> paths) {
  Dataset result;
  for (const std::string& path : paths) {
    const absl::StatusOr<const DatasetReader*> reader =
        DatasetReaders().Get(kDatasetReader);
    if (!reader.ok()) {
      return absl::UnimplementedError("dataset: this program reads no files");
    }
    BATON_ASSIGN_OR_RETURN(Dataset read, (**reader)(main, path));
    std::move(read.begin(), read.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace baton::relay
