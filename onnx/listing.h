// Listings of ONNX graphs: what the places of imported expressions are in.
//
// A line for each node, `NAME: OP(INPUTS) -> OUTPUTS`; the place of the node is
// its name. In front stands a line that no other source begins with, so that
// names can be found again when a module is written.

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

// Its own name, or that of its first output.
absl::string_view NodeName(const NodeProto& node);

// The places of nodes (NodeProto messages) in a listing of them, which messages
// call `source_name`.
absl::StatusOr<std::vector<Span>> ListNodes(
    absl::Span<const absl::string_view> nodes, std::string source_name);
// The same for tensors that are initializers: a name is a line.
std::vector<Span> ListTensors(absl::Span<const TensorProto> tensors,
                              std::string source_name);

// What a listing says of the node, or the tensor, at a place.
struct Origin {
  std::string name;
  std::vector<std::string> outputs;  // of a node; "" where there is none
};

// Whether the place is one in a listing.
bool IsInListing(const Span& span);
// Of a place in a listing.
Origin OriginOf(const Span& span);

}  // namespace baton::onnx

#endif  // BATON_ONNX_LISTING_H_
