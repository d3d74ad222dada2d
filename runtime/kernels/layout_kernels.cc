#include "baton/runtime/kernels/layout_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/strides.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/strided_copy.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

constexpr char kLayoutTransform[] = "layout_transform";

// One dimension of a tensor: the letter of its axis, as a capital; its extent
// if it is a block (0 for the primal axis, which counts blocks); and the number
// of elements of the axis by which one step along the dimension moves.
struct LayoutDim {
  char axis;
  int64_t extent;
  int64_t step;
};
using LayoutDims = absl::InlinedVector<LayoutDim, 8>;

// Blocks of one axis nest, the last one innermost.
LayoutDims DimsOf(const Layout& layout) {
  LayoutDims dims;
  for (const Layout::Axis& axis : layout.axes()) {
    dims.push_back({Layout::ToPrimal(axis.letter), axis.factor, 1});
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    for (size_t j = 0; j < dims.size(); ++j) {
      if (dims[j].axis == dims[i].axis && dims[j].extent != 0 && j != i &&
          (dims[i].extent == 0 || j > i)) {
        dims[i].step *= dims[j].extent;
      }
    }
  }
  return dims;
}

// The total extent of blocks of `axis`: what its extent must be a multiple of.
int64_t BlockOf(const LayoutDims& layout, char axis) {
  for (const LayoutDim& d : layout) {
    if (d.axis == axis && d.extent == 0) return d.step;
  }
  return 0;
}

// A plain layout (capitals only) with the axes of `layout`, in its order.
LayoutDims PlainOf(const LayoutDims& layout) {
  LayoutDims plain;
  for (const LayoutDim& d : layout) {
    if (d.extent == 0) plain.push_back({d.axis, 0, 1});
  }
  return plain;
}

// One piece of an axis that is a dimension, or a part of one, on both sides.
struct Piece {
  int64_t extent;
  int64_t stride;
};

// Splits the axis of `total` elements at the steps `cuts` (descending, the
// last is 1) and gives each piece its stride under `layout` with `strides`.
// False if a cut does not fall on a boundary that divides evenly.
bool SplitAxis(const LayoutDims& layout, const TensorShape& strides, char axis,
               int64_t total, absl::Span<const int64_t> cuts,
               absl::InlinedVector<Piece, 4>& pieces) {
  for (size_t c = 0; c < cuts.size(); ++c) {
    const int64_t above = c == 0 ? total : cuts[c - 1];
    if (above % cuts[c] != 0) return false;
    // The dimension that holds this piece: the largest step that is at most
    // the cut.
    size_t best = layout.size();
    for (size_t i = 0; i < layout.size(); ++i) {
      if (layout[i].axis == axis && layout[i].step <= cuts[c] &&
          layout[i].extent != 1 &&
          (best == layout.size() || layout[i].step > layout[best].step)) {
        best = i;
      }
    }
    if (best == layout.size() || cuts[c] % layout[best].step != 0) return false;
    pieces.push_back(
        {above / cuts[c], strides[best] * (cuts[c] / layout[best].step)});
  }
  return true;
}

// Copies between two layouts under which each axis has the same extent. False
// if their blocks do not nest into each other; nothing is written then.
bool CopyBetween(int element_size, const LayoutDims& from,
                 const TensorShape& src, const void* src_data,
                 const LayoutDims& to, const TensorShape& dst, void* dst_data) {
  const TensorShape src_strides = RowMajorStrides(src);
  const TensorShape dst_strides = RowMajorStrides(dst);
  absl::InlinedVector<Piece, 4> src_pieces;
  absl::InlinedVector<Piece, 4> dst_pieces;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].extent != 0) continue;
    const int64_t total = src[i] * from[i].step;
    absl::InlinedVector<int64_t, 4> cuts;
    for (const LayoutDims* layout : {&from, &to}) {
      for (const LayoutDim& d : *layout) {
        if (d.axis == from[i].axis && d.extent != 1) cuts.push_back(d.step);
      }
    }
    std::sort(cuts.begin(), cuts.end(), std::greater<int64_t>());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (!SplitAxis(from, src_strides, from[i].axis, total, cuts, src_pieces) ||
        !SplitAxis(to, dst_strides, from[i].axis, total, cuts, dst_pieces)) {
      return false;
    }
  }
  TensorShape extents, src_steps, dst_steps;
  for (size_t i = 0; i < src_pieces.size(); ++i) {
    extents.push_back(src_pieces[i].extent);
    src_steps.push_back(src_pieces[i].stride);
    dst_steps.push_back(dst_pieces[i].stride);
  }
  internal::StridedCopy(element_size, extents, src_data, src_steps, dst_data,
                        dst_steps);
  return true;
}

// The shape of a tensor under `layout` whose axes have the extents that `x`
// has under `from`, rounded up to whole blocks.
absl::StatusOr<TensorShape> ShapeUnder(const LayoutDims& from,
                                       absl::Span<const int64_t> x,
                                       const LayoutDims& to) {
  TensorShape shape;
  for (const LayoutDim& d : to) {
    if (d.extent != 0) {
      shape.push_back(d.extent);
      continue;
    }
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i].axis != d.axis || from[i].extent != 0) continue;
      BATON_ASSIGN_OR_RETURN(
          const int64_t total,
          internal::CheckedMul(kLayoutTransform, x[i], from[i].step));
      shape.push_back(total / d.step + (total % d.step != 0 ? 1 : 0));
    }
  }
  return shape;
}

// The tensor `x` of a plain layout, copied into the corner of a tensor of
// zeros.
absl::StatusOr<Tensor> FillUp(const Tensor& x,
                              absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), shape));
  internal::StridedCopy(x.dtype().bytes(), x.shape(), x.data(),
                        RowMajorStrides(x.shape()), result.data(),
                        RowMajorStrides(shape));
  return std::move(result).Freeze();
}

// LayoutTransform where no filling up is needed.
absl::StatusOr<Tensor> Rearrange(const Tensor& x, const LayoutDims& from,
                                 const LayoutDims& to) {
  BATON_ASSIGN_OR_RETURN(const TensorShape shape,
                         ShapeUnder(from, x.shape(), to));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), shape));
  if (CopyBetween(x.dtype().bytes(), from, internal::ToShape(x.shape()),
                  x.data(), to, shape, result.data())) {
    return std::move(result).Freeze();
  }
  // Blocks that do not nest, such as 6c and 4c: by way of the plain layout.
  const LayoutDims plain = PlainOf(from);
  BATON_ASSIGN_OR_RETURN(const TensorShape plain_shape,
                         ShapeUnder(from, x.shape(), plain));
  BATON_ASSIGN_OR_RETURN(MutableTensor unpacked,
                         MutableTensor::Create(x.dtype(), plain_shape));
  if (!CopyBetween(x.dtype().bytes(), from, internal::ToShape(x.shape()),
                   x.data(), plain, plain_shape, unpacked.data()) ||
      !CopyBetween(x.dtype().bytes(), plain, plain_shape, unpacked.data(), to,
                   shape, result.data())) {
    return absl::InternalError("layout_transform: blocks do not nest");
  }
  return std::move(result).Freeze();
}

}  // namespace

absl::StatusOr<Tensor> Transpose(const Tensor& x,
                                 absl::Span<const int64_t> axes) {
  constexpr char kName[] = "transpose";
  const size_t rank = static_cast<size_t>(x.rank());
  TensorShape order;
  if (axes.empty()) {
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  } else if (axes.size() != rank) {
    return internal::Error(kName, "axes ", internal::ShapeToString(axes),
                           " are not a permutation for ", x.TypeToString());
  }
  for (const int64_t axis : axes) {
    BATON_ASSIGN_OR_RETURN(const int normal,
                           internal::NormalizeAxis(kName, axis, x.rank()));
    if (absl::c_linear_search(order, normal)) {
      return internal::Error(kName, "axes ", internal::ShapeToString(axes),
                             " repeat axis ", normal);
    }
    order.push_back(normal);
  }
  const TensorShape dense = RowMajorStrides(x.shape());
  TensorShape shape(rank), strides(rank);
  // The order of elements stays if the axes longer than 1 keep their order.
  bool moves = false;
  int64_t last = -1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t from = static_cast<size_t>(order[i]);
    shape[i] = x.shape()[from];
    strides[i] = dense[from];
    if (shape[i] == 1) continue;
    moves = moves || order[i] < last;
    last = order[i];
  }
  if (!moves) return x.Reshaped(shape);
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  internal::StridedCopy(x.dtype().bytes(), shape, x.data(), strides,
                        result.data(), RowMajorStrides(shape));
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> LayoutTransform(const Tensor& x, absl::string_view from,
                                       absl::string_view to) {
  absl::StatusOr<Layout> source = Layout::Parse(from);
  absl::StatusOr<Layout> target = Layout::Parse(to);
  for (const auto* layout : {&source, &target}) {
    if (!layout->ok()) {
      return internal::Error(kLayoutTransform, layout->status().message());
    }
  }
  return LayoutTransform(x, *source, *target);
}

absl::StatusOr<Tensor> LayoutTransform(const Tensor& x, const Layout& from,
                                       const Layout& to) {
  const LayoutDims source = DimsOf(from);
  const LayoutDims target = DimsOf(to);
  const LayoutDims source_plain = PlainOf(source);
  if (source_plain.size() != PlainOf(target).size() ||
      absl::c_any_of(source_plain, [&target](const LayoutDim& d) {
        return BlockOf(target, d.axis) == 0;
      })) {
    return internal::Error(kLayoutTransform, "layouts \"", from.ToString(),
                           "\" and \"", to.ToString(),
                           "\" have different axes");
  }
  if (x.shape().size() != source.size()) {
    return internal::Error(kLayoutTransform, x.TypeToString(),
                           " cannot have layout \"", from.ToString(), "\"");
  }
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i].extent != 0 && x.shape()[i] != source[i].extent) {
      return internal::Error(
          kLayoutTransform, x.TypeToString(), " cannot have layout \"",
          from.ToString(), "\": dimension ", i, " must be ", source[i].extent);
    }
  }
  if (from == to) return x;
  // The axis is not a multiple of its new block: unpack, pad, pack.
  BATON_ASSIGN_OR_RETURN(const TensorShape plain,
                         ShapeUnder(source, x.shape(), source_plain));
  TensorShape filled = plain;
  for (size_t i = 0; i < filled.size(); ++i) {
    const int64_t block = BlockOf(target, source_plain[i].axis);
    const int64_t missing = (block - filled[i] % block) % block;
    BATON_ASSIGN_OR_RETURN(
        filled[i], internal::CheckedAdd(kLayoutTransform, filled[i], missing));
  }
  if (filled == plain) return Rearrange(x, source, target);
  BATON_ASSIGN_OR_RETURN(const Tensor unpacked,
                         Rearrange(x, source, source_plain));
  BATON_ASSIGN_OR_RETURN(const Tensor whole, FillUp(unpacked, filled));
  return Rearrange(whole, source_plain, target);
}

}  // namespace baton::kernels
