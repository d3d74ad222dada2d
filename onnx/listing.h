// Listings of ONNX graphs: the source texts of the places of imported
// expressions.
//
// A line for each node, `NAME: OP(INPUTS) -> OUTPUTS`; the place of the node is
// its name. The first line of a listing marks it as one, so that the exporter
// can distinguish listings from other sources and recover the names.

#ifndef BATON_ONNX_LISTING_H_
#define BATON_ONNX_LISTING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/span.h"
#include "baton/onnx/model.h"

namespace baton::onnx {

// The node's name; if it is empty, the name of its first output.
absl::string_view NodeName(const NodeProto& node);

// The places of `nodes` (NodeProto messages) in a listing of them. Messages
// name the listing `source_name`.
absl::StatusOr<std::vector<Span>> ListNodes(
    absl::Span<const absl::string_view> nodes, std::string source_name);
// The places of tensors that are initializers, in a listing with one name a
// line.
std::vector<Span> ListTensors(absl::Span<const TensorProto> tensors,
                              std::string source_name);

// The names in a listing at the place of a node or a tensor.
struct Origin {
  std::string name;
  std::vector<std::string> outputs;  // of a node; "" for an absent output
};

// True if the place is in a listing.
bool IsInListing(const Span& span);
// The names at `span`, which is a place in a listing.
Origin OriginOf(const Span& span);
// The name of what was imported at `span`, for reports: that of the node or
// tensor if the place is in a listing, else `FILE:LINE`; empty without a place.
std::string OriginName(const Span& span);

}  // namespace baton::onnx

#endif  // BATON_ONNX_LISTING_H_
