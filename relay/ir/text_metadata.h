// Writes the `#[metadata]` section of Relay text: the nodes to which the text
// refers as `meta[KIND][NUMBER]`, in TVM's JSON graph.

#ifndef BATON_RELAY_IR_TEXT_METADATA_H_
#define BATON_RELAY_IR_TEXT_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"

namespace baton::relay {
namespace internal {

// The first bytes of a tensor in TVM's file format.
inline constexpr uint64_t kTensorMagic = 0xdd5e40f096b4a13fu;

// Converts the operation of a symbolic dimension to its kind, `tir.Mul`, and
// back.
absl::string_view DimKind(DimExprNode::Op op);
std::optional<DimExprNode::Op> DimOpOf(absl::string_view kind);

// Numbers nodes within their kind, in the order of first use. The nodes must
// outlive the table.
class MetadataTable {
 public:
  // Appends `meta[KIND][NUMBER]` for `node`: a constant, a symbolic
  // dimension, or attributes.
  void AppendRef(const Node* node, std::string* out);
  // As AppendRef, for a device (virtual_device.h). Equal devices have one
  // number.
  void AppendDeviceRef(const AttrValue& device, std::string* out);

  bool empty() const { return kinds_.empty(); }

  // Appends the JSON of all nodes numbered so far. Calls `flush` with the text
  // from time to time; `flush` may clear it.
  void AppendJson(std::string* out,
                  const std::function<void(std::string*)>& flush) const;

 private:
  // A node or a device.
  struct Item {
    const Node* node;
    AttrValue device;
  };
  // Numbers `item`, which is of the kind `name`.
  std::pair<size_t, size_t> Add(absl::string_view name, Item item);
  void AppendNumber(std::pair<size_t, size_t> number, std::string* out) const;

  std::vector<std::pair<std::string, std::vector<Item>>> kinds_;
  // The kind and the number of each node.
  FlatHashMap<const Node*, std::pair<size_t, size_t>> numbers_;
  // The keys are hashes of devices; on a collision, the next free number.
  FlatHashMap<uint64_t, std::pair<size_t, size_t>> devices_;
};

}  // namespace internal
}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_METADATA_H_
