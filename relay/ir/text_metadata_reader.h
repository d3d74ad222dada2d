// Reads the `#[metadata]` section of Relay text: see text_metadata.h.
//
// The section is TVM's JSON: `nodes` refer to each other by number,
// `b64ndarrays` are tensors. Scan() reads the section once. Get() makes the
// items to which the text refers, each once. Tensors are decoded from the text
// directly into their memory.

#ifndef BATON_RELAY_IR_TEXT_METADATA_READER_H_
#define BATON_RELAY_IR_TEXT_METADATA_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {
namespace internal {

// The item `meta[KIND][NUMBER]`: a constant, the attributes of a call, or a
// value (a symbolic dimension, a device). std::monostate after an error.
using MetaItem = std::variant<std::monostate, Constant, Attrs, AttrValue>;

// The metadata of one text.
class MetadataReader {
 public:
  MetadataReader(std::shared_ptr<const Source> source,
                 Diagnostics* diagnostics);

  // Scans the JSON from `begin`; it must end at the end of the text. Returns
  // false after an error.
  bool Scan(int64_t begin);

  // The item `meta[KIND][NUMBER]`; `span` is the place of the reference.
  MetaItem Get(absl::string_view kind, int64_t number, const Span& span);

 private:
  using Field = std::pair<absl::string_view, absl::string_view>;
  // Strings are as written, with escapes.
  struct JsonNode {
    int64_t offset = 0;
    absl::string_view kind;
    absl::string_view text;
    bool text_is_base64 = false;
    std::vector<Field> attrs;
    std::vector<absl::string_view> keys;
    std::vector<size_t> data;
  };
  class Json;

  bool ScanNodes(Json& json);
  bool ScanNode(Json& json, JsonNode* node);
  bool ScanStrings(Json& json, std::vector<absl::string_view>* list);
  bool ScanAll(Json& json);

  // Each of these reports its error and returns an empty result.
  MetaItem Convert(size_t i, const Span& span);
  std::optional<Tensor> ConvertTensor(size_t i);
  std::optional<Attrs> ConvertAttrs(size_t i, const AttrsType& type);
  std::optional<AttrValue> ConvertField(size_t i, absl::string_view type,
                                        const Field& field);
  std::optional<AttrValue> ConvertValue(size_t i, int depth);
  std::optional<AttrValue> ConvertDevice(size_t i, int depth);
  std::optional<Dim> ConvertDim(size_t i);
  std::optional<std::string> ConvertString(size_t i);

  // The node to which an attribute refers; 0 for none.
  std::optional<size_t> Reference(size_t i, absl::string_view name);
  const absl::string_view* FindAttr(size_t i, absl::string_view name) const;
  std::optional<int64_t> IntAttr(size_t i, absl::string_view name);

  std::nullopt_t NodeError(size_t i, std::string message);
  bool Error(int64_t offset, std::string message);
  int64_t OffsetOf(absl::string_view piece) const {
    return piece.data() - source_->text().data();
  }

  const std::shared_ptr<const Source> source_;
  Diagnostics* const diagnostics_;
  size_t root_ = 0;
  std::vector<JsonNode> nodes_;
  std::vector<absl::string_view> tensors_;
  // The items made so far, by node.
  FlatHashMap<size_t, MetaItem> items_;
  FlatHashMap<size_t, Dim> dims_;
  // The number of values that may still be made from all nodes: a node may be
  // used many times.
  int64_t budget_ = 0;
};

}  // namespace internal
}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_METADATA_READER_H_
