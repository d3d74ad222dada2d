// ApplyLayoutTransforms: stores buffers in the layouts that a schedule of
// tensor expressions gives them.
//
//   T.attr([B, [T.index_map(lambda i: (i // 4, i % 4))]],
//          "layout_transforms", 1)
//   T.realize(B[0:16], "")
//   B[i] = A[i]
//
// becomes
//
//   T.realize(B[0:4, 0:4], "")
//   B[i // 4, i % 4] = A[i]

#ifndef BATON_TIR_TRANSFORM_APPLY_LAYOUT_TRANSFORMS_H_
#define BATON_TIR_TRANSFORM_APPLY_LAYOUT_TRANSFORMS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// The attribute of a function that maps names of buffers to lists of maps:
// {"B": ["lambda i: (i // 4, i % 4)"]}.
inline constexpr absl::string_view kLayoutTransformMapAttr =
    "layout_transform_map";

// Applies the maps of statements `layout_transforms` and of the attribute
// `layout_transform_map`, the first one first, and removes both. A buffer of a
// parameter gets another shape: its caller must pass the elements in the new
// order. Other buffers must be realized. Maps must not map two indices to one.
Pass ApplyLayoutTransforms();

// The pass, on one function.
absl::StatusOr<PrimFunc> WithLayoutsApplied(const PrimFunc& function);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_APPLY_LAYOUT_TRANSFORMS_H_
