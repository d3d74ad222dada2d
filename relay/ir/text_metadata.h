// The `#[metadata]` section of Relay text: the nodes that the text refers to
// as `meta[KIND][NUMBER]`, in the reference's JSON graph.

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

namespace baton {
namespace internal {

// The first bytes of a tensor in the reference's file format.
inline constexpr uint64_t kTensorMagic = 0xdd5e40f096b4a13fu;

// The kind of a symbolic dimension, `tir.Mul`, and back.
absl::string_view DimKind(DimExprNode::Op op);
std::optional<DimExprNode::Op> DimOpOf(absl::string_view kind);

// Numbers nodes within their kind, in the order in which they are first met.
// The nodes must outlive the table.
class MetadataTable {
 public:
  // Appends `meta[KIND][NUMBER]` for `node`: a constant, a symbolic
  // dimension, or attributes.
  void AppendRef(const Node* node, std::string* out);
  // The same for a device (virtual_device.h). Equal devices have one number.
  void AppendDeviceRef(const AttrValue& device, std::string* out);

  bool empty() const { return kinds_.empty(); }

  // Appends the JSON of all nodes numbered so far. `flush` is called with the
  // text at times and may take it away.
  void AppendJson(std::string* out,
                  const std::function<void(std::string*)>& flush) const;

 private:
  // A node, or else a device.
  struct Item {
    const Node* node;
    AttrValue device;
  };
  // Numbers `item`, which is of the kind `name`.
  std::pair<size_t, size_t> Add(absl::string_view name, Item item);
  void AppendNumber(std::pair<size_t, size_t> number, std::string* out) const;

  std::vector<std::pair<std::string, std::vector<Item>>> kinds_;
  // By node: its kind and its number.
  FlatHashMap<const Node*, std::pair<size_t, size_t>> numbers_;
  // By the hash of a device, or the first free number after it.
  FlatHashMap<uint64_t, std::pair<size_t, size_t>> devices_;
};

}  // namespace internal
}  // namespace baton

#endif  // BATON_RELAY_IR_TEXT_METADATA_H_
