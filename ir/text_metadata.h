// The `#[metadata]` section of Relay text: the nodes that the text refers to
// as `meta[KIND][NUMBER]`, in the reference's JSON graph.

#ifndef BATON_IR_TEXT_METADATA_H_
#define BATON_IR_TEXT_METADATA_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "baton/ir/node.h"

namespace baton {
namespace internal {

// Numbers nodes within their kind, in the order in which they are first met.
// The nodes must outlive the table.
class MetadataTable {
 public:
  // Appends `meta[KIND][NUMBER]` for `node`: a constant, a symbolic
  // dimension, or attributes.
  void AppendRef(const Node* node, std::string* out);

  bool empty() const { return kinds_.empty(); }

  // Appends the JSON of all nodes numbered so far. `flush` is called with the
  // text at times and may take it away.
  void AppendJson(std::string* out,
                  const std::function<void(std::string*)>& flush) const;

 private:
  std::vector<std::pair<std::string, std::vector<const Node*>>> kinds_;
  absl::flat_hash_map<const Node*, std::pair<size_t, size_t>> numbers_;
};

}  // namespace internal
}  // namespace baton

#endif  // BATON_IR_TEXT_METADATA_H_
