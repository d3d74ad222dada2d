// Evaluates names of dimensions that are formulas of other names, as some
// exporters write them: `past_sequence_length + 1`, `2*frames`,
// `(s0 - 1)//2 + 1`.

#ifndef BATON_ONNX_DIM_NAMES_H_
#define BATON_ONNX_DIM_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"

namespace baton::onnx {

// Returns the size of the dimension `name`: that of the whole name, or the
// result of the formula. nullopt if `sizes` lacks a name, if the text is not a
// formula or has no name, or if the result is negative or overflows.
std::optional<int64_t> SizeOfDim(
    absl::string_view name, const FlatHashMap<std::string, int64_t>& sizes);

// True if the name `name` occurs in `formula`.
bool MentionsDim(absl::string_view formula, absl::string_view name);

}  // namespace baton::onnx

#endif  // BATON_ONNX_DIM_NAMES_H_
