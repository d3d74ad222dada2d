#include "baton/runtime/kernels/rearrange.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/strides.h"
#include "baton/runtime/kernels/internal/strided_copy.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::AxisView;
using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::ShapeToString;
using ::baton::kernels::internal::ToShape;

// One element of `dtype`.
absl::StatusOr<Tensor> ScalarOf(absl::string_view kernel, DType dtype,
                                double value) {
  if (!dtype.IsStorable()) return internal::UnsupportedDType(kernel, dtype);
  return Tensor::ScalarOf(dtype, value);
}

// `x` with its elements changed by fn(bytes of the result).
template <typename Fn>
absl::StatusOr<Tensor> CopyAndChange(const Tensor& x, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), x.shape()));
  if (x.byte_size() > 0) {
    std::memcpy(result.data(), x.data(), x.byte_size());
    fn(static_cast<char*>(result.data()));
  }
  return std::move(result).Freeze();
}

absl::Status CheckPairs(absl::string_view kernel,
                        absl::Span<const std::vector<int64_t>> pairs,
                        size_t count) {
  bool fits = pairs.size() == count;
  for (const std::vector<int64_t>& pair : pairs) {
    fits = fits && pair.size() == 2;
  }
  if (fits) return absl::OkStatus();
  return Error(kernel, count, " pairs expected");
}

absl::Status CheckBlocks(absl::string_view kernel, const Tensor& x,
                         absl::Span<const int64_t> blocks) {
  bool fits = static_cast<int>(blocks.size()) < x.rank();
  for (const int64_t block : blocks) fits = fits && block > 0;
  if (fits) return absl::OkStatus();
  return Error(kernel, "blocks ", ShapeToString(blocks), " do not fit ",
               x.TypeToString());
}

}  // namespace

absl::StatusOr<Tensor> DepthToSpace(const Tensor& x, int64_t block,
                                    absl::string_view layout,
                                    bool depth_first) {
  constexpr absl::string_view kKernel = "depth_to_space";
  BATON_ASSIGN_OR_RETURN(const Tensor nchw, LayoutTransform(x, layout, "NCHW"));
  const auto shape = nchw.shape();
  if (block <= 0 || shape[1] % block != 0 || shape[1] / block % block != 0) {
    return Error(kKernel, "blocks of ", block, " do not fit ",
                 ShapeToString(shape));
  }
  const int64_t c = shape[1] / block / block;
  const int64_t n = shape[0], h = shape[2], w = shape[3];
  BATON_ASSIGN_OR_RETURN(const int64_t result_h,
                         internal::CheckedMul(kKernel, h, block));
  BATON_ASSIGN_OR_RETURN(const int64_t result_w,
                         internal::CheckedMul(kKernel, w, block));
  Tensor split;
  if (depth_first) {
    BATON_ASSIGN_OR_RETURN(split, nchw.Reshaped({n, c, block, block, h, w}));
    BATON_ASSIGN_OR_RETURN(split, Transpose(split, {0, 1, 4, 2, 5, 3}));
  } else {
    BATON_ASSIGN_OR_RETURN(split, nchw.Reshaped({n, block, block, c, h, w}));
    BATON_ASSIGN_OR_RETURN(split, Transpose(split, {0, 3, 4, 1, 5, 2}));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor result,
                         split.Reshaped({n, c, result_h, result_w}));
  return LayoutTransform(result, "NCHW", layout);
}

absl::StatusOr<Tensor> SpaceToDepth(const Tensor& x, int64_t block,
                                    absl::string_view layout) {
  constexpr absl::string_view kKernel = "space_to_depth";
  BATON_ASSIGN_OR_RETURN(const Tensor nchw, LayoutTransform(x, layout, "NCHW"));
  const auto shape = nchw.shape();
  if (block <= 0 || shape[2] % block != 0 || shape[3] % block != 0) {
    return Error(kKernel, "blocks of ", block, " do not fit ",
                 ShapeToString(shape));
  }
  const int64_t n = shape[0], c = shape[1];
  const int64_t h = shape[2] / block, w = shape[3] / block;
  BATON_ASSIGN_OR_RETURN(int64_t result_c,
                         internal::CheckedMul(kKernel, c, block));
  BATON_ASSIGN_OR_RETURN(result_c,
                         internal::CheckedMul(kKernel, result_c, block));
  BATON_ASSIGN_OR_RETURN(Tensor split,
                         nchw.Reshaped({n, c, h, block, w, block}));
  BATON_ASSIGN_OR_RETURN(split, Transpose(split, {0, 3, 5, 1, 2, 4}));
  BATON_ASSIGN_OR_RETURN(const Tensor result,
                         split.Reshaped({n, result_c, h, w}));
  return LayoutTransform(result, "NCHW", layout);
}

absl::StatusOr<Tensor> SpaceToBatchNd(
    const Tensor& x, absl::Span<const int64_t> blocks,
    absl::Span<const std::vector<int64_t>> paddings, double value) {
  constexpr absl::string_view kKernel = "space_to_batch_nd";
  BATON_RETURN_IF_ERROR(CheckBlocks(kKernel, x, blocks));
  BATON_RETURN_IF_ERROR(CheckPairs(kKernel, paddings, blocks.size()));
  std::vector<int64_t> before(x.rank(), 0), after(x.rank(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    before[i + 1] = paddings[i][0];
    after[i + 1] = paddings[i][1];
  }
  BATON_ASSIGN_OR_RETURN(const Tensor filler,
                         ScalarOf(kKernel, x.dtype(), value));
  BATON_ASSIGN_OR_RETURN(Tensor data,
                         Pad(x, before, after, PadMode::kConstant, filler));
  // [N, H, W, rest] as [N, H / b, b, W / b, b, rest]; then the blocks in front.
  const TensorShape shape = ToShape(data.shape());
  TensorShape split = {shape[0]};
  TensorShape result = shape;
  std::vector<int64_t> order, kept = {0};
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (shape[i + 1] % blocks[i] != 0) {
      return Error(kKernel, "blocks ", ShapeToString(blocks), " do not fit ",
                   ShapeToString(shape));
    }
    split.push_back(shape[i + 1] / blocks[i]);
    kept.push_back(static_cast<int64_t>(split.size()) - 1);
    split.push_back(blocks[i]);
    order.push_back(static_cast<int64_t>(split.size()) - 1);
    BATON_ASSIGN_OR_RETURN(result[0],
                           internal::CheckedMul(kKernel, result[0], blocks[i]));
    result[i + 1] /= blocks[i];
  }
  for (size_t i = blocks.size() + 1; i < shape.size(); ++i) {
    split.push_back(shape[i]);
    kept.push_back(static_cast<int64_t>(split.size()) - 1);
  }
  order.insert(order.end(), kept.begin(), kept.end());
  BATON_ASSIGN_OR_RETURN(data, data.Reshaped(split));
  BATON_ASSIGN_OR_RETURN(data, Transpose(data, order));
  return data.Reshaped(result);
}

absl::StatusOr<Tensor> BatchToSpaceNd(
    const Tensor& x, absl::Span<const int64_t> blocks,
    absl::Span<const std::vector<int64_t>> crops) {
  constexpr absl::string_view kKernel = "batch_to_space_nd";
  BATON_RETURN_IF_ERROR(CheckBlocks(kKernel, x, blocks));
  BATON_RETURN_IF_ERROR(CheckPairs(kKernel, crops, blocks.size()));
  const int m = static_cast<int>(blocks.size());
  // One block after the other: their product may be too large for a number.
  int64_t batch = x.shape()[0];
  for (const int64_t block : blocks) {
    if (batch % block != 0) {
      return Error(kKernel, "blocks ", ShapeToString(blocks), " do not fit ",
                   x.TypeToString());
    }
    batch /= block;
  }
  // [b.., N, H, W, rest] to [N, H, b, W, b, rest].
  TensorShape split(blocks.begin(), blocks.end());
  split.push_back(batch);
  split.insert(split.end(), x.shape().begin() + 1, x.shape().end());
  std::vector<int64_t> order = {m};
  TensorShape result = ToShape(x.shape());
  result[0] = batch;
  StridedSliceParams slice;
  slice.axes.emplace();
  for (int i = 0; i < m; ++i) {
    order.push_back(m + 1 + i);
    order.push_back(i);
    BATON_ASSIGN_OR_RETURN(
        result[i + 1], internal::CheckedMul(kKernel, result[i + 1], blocks[i]));
    if (crops[i][0] < 0 || crops[i][1] < 0) {
      return Error(kKernel, "the crops (", crops[i][0], ", ", crops[i][1],
                   ") are negative");
    }
    slice.axes->push_back(i + 1);
    slice.begin.push_back(crops[i][0]);
    slice.end.push_back(std::max(crops[i][0], result[i + 1] - crops[i][1]));
  }
  for (int i = 2 * m + 1; i < static_cast<int>(split.size()); ++i) {
    order.push_back(i);
  }
  BATON_ASSIGN_OR_RETURN(Tensor data, x.Reshaped(split));
  BATON_ASSIGN_OR_RETURN(data, Transpose(data, order));
  BATON_ASSIGN_OR_RETURN(data, data.Reshaped(result));
  return StridedSlice(data, slice);
}

absl::StatusOr<Tensor> MirrorPad(const Tensor& x,
                                 absl::Span<const std::vector<int64_t>> widths,
                                 bool symmetric) {
  constexpr absl::string_view kKernel = "mirror_pad";
  BATON_RETURN_IF_ERROR(
      CheckPairs(kKernel, widths, static_cast<size_t>(x.rank())));
  Tensor result = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t before = widths[axis][0];
    const int64_t after = widths[axis][1];
    if (before == 0 && after == 0) continue;
    const int64_t extent = x.shape()[axis];
    const int64_t limit = symmetric ? extent : extent - 1;
    if (before < 0 || after < 0 || before > limit || after > limit) {
      return Error(kKernel, "[", before, ", ", after, "] does not fit axis ",
                   axis, " of ", x.TypeToString());
    }
    const int64_t skipped = symmetric ? 0 : 1;
    std::vector<int64_t> indices;
    for (int64_t i = before; i > 0; --i) indices.push_back(i - 1 + skipped);
    for (int64_t i = 0; i < extent; ++i) indices.push_back(i);
    for (int64_t i = 0; i < after; ++i) {
      indices.push_back(extent - 1 - skipped - i);
    }
    BATON_ASSIGN_OR_RETURN(
        const Tensor positions,
        Tensor::FromValues<int64_t>({static_cast<int64_t>(indices.size())},
                                    indices));
    BATON_ASSIGN_OR_RETURN(result, Take(result, positions, axis));
  }
  return result;
}

absl::StatusOr<Tensor> Dilate(const Tensor& x,
                              absl::Span<const int64_t> strides, double value) {
  constexpr absl::string_view kKernel = "dilate";
  bool fits = static_cast<int>(strides.size()) == x.rank();
  TensorShape shape = ToShape(x.shape());
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = strides[i] > 0;
    int64_t extent;
    if (shape[i] == 0) continue;
    fits = fits && !__builtin_mul_overflow(shape[i] - 1, strides[i], &extent);
    if (fits) shape[i] = extent + 1;
  }
  if (!fits) {
    return Error(kKernel, "strides ", ShapeToString(strides), " do not fit ",
                 x.TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor filler,
                         ScalarOf(kKernel, x.dtype(), value));
  BATON_ASSIGN_OR_RETURN(const Tensor empty, Full(filler, shape));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), shape));
  if (empty.byte_size() > 0) {
    std::memcpy(result.data(), empty.data(), empty.byte_size());
  }
  const TensorShape steps = RowMajorStrides(shape);
  const int64_t bytes = x.dtype().bytes();
  const char* in = static_cast<const char*>(x.data());
  char* out = static_cast<char*>(result.data());
  TensorShape position(x.rank(), 0);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t to = 0;
    for (int d = 0; d < x.rank(); ++d)
      to += position[d] * strides[d] * steps[d];
    std::memcpy(out + to * bytes, in + i * bytes, bytes);
    for (int d = x.rank() - 1; d >= 0 && ++position[d] == x.shape()[d]; --d) {
      position[d] = 0;
    }
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> ReverseSequence(const Tensor& x, const Tensor& lengths,
                                       int64_t seq_axis, int64_t batch_axis) {
  constexpr absl::string_view kKernel = "reverse_sequence";
  BATON_ASSIGN_OR_RETURN(const int seq,
                         internal::NormalizeAxis(kKernel, seq_axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(
      const int batch, internal::NormalizeAxis(kKernel, batch_axis, x.rank()));
  const int64_t extent = x.shape()[seq];
  if (lengths.num_elements() != x.shape()[batch]) {
    return Error(kKernel, "there are ", lengths.num_elements(), " lengths for ",
                 x.shape()[batch], " sequences");
  }
  for (int64_t i = 0; i < lengths.num_elements(); ++i) {
    if (lengths.AtAsInt64(i) < 0 || lengths.AtAsInt64(i) > extent) {
      return Error(kKernel, "length ", lengths.AtAsInt64(i),
                   " is out of range [0, ", extent, "]");
    }
  }
  if (x.num_elements() == 0) return x;
  const TensorShape steps = RowMajorStrides(x.shape());
  const int64_t bytes = x.dtype().bytes();
  const char* in = static_cast<const char*>(x.data());
  // The elements below an index of the outer one of the two axes, and of the
  // inner one.
  const int64_t below_outer = steps[std::min(seq, batch)];
  const int64_t inner = steps[std::max(seq, batch)];
  const int64_t block = below_outer * x.shape()[std::min(seq, batch)];
  const int64_t group = inner * x.shape()[std::max(seq, batch)];
  if (seq == batch) {
    // Each position is a sequence with a length of its own.
    return CopyAndChange(x, [&](char* out) {
      for (int64_t b = 0; b < x.shape()[batch]; ++b) {
        const int64_t length = lengths.AtAsInt64(b);
        if (b >= length) continue;
        for (int64_t o = 0; o < x.num_elements(); o += block) {
          std::memcpy(out + (o + b * inner) * bytes,
                      in + (o + (length - 1 - b) * inner) * bytes,
                      static_cast<size_t>(inner * bytes));
        }
      }
    });
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  char* out = static_cast<char*>(result.data());
  // Copies the positions [begin, end) of the batches [first, limit), backwards
  // if step is -1.
  const auto copy = [&](int64_t first, int64_t limit, int64_t begin,
                        int64_t end, int64_t step) {
    const int64_t to = first * steps[batch] + begin * steps[seq];
    const int64_t from =
        step > 0 ? to : first * steps[batch] + (end - 1) * steps[seq];
    internal::StridedCopy(
        static_cast<int>(bytes),
        {x.num_elements() / block, below_outer / group, limit - first,
         end - begin, inner},
        in + from * bytes, {block, group, steps[batch], step * steps[seq], 1},
        out + to * bytes, {block, group, steps[batch], steps[seq], 1});
  };
  // Batches of one length that follow each other are copied together.
  for (int64_t first = 0; first < x.shape()[batch];) {
    const int64_t length = lengths.AtAsInt64(first);
    int64_t limit = first + 1;
    while (limit < x.shape()[batch] && lengths.AtAsInt64(limit) == length) {
      ++limit;
    }
    copy(first, limit, 0, length, -1);
    copy(first, limit, length, extent, 1);
    first = limit;
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> SequenceMask(const Tensor& x, const Tensor& lengths,
                                    int64_t axis, double value) {
  constexpr absl::string_view kKernel = "sequence_mask";
  if (x.rank() < 2 || (axis != 0 && axis != 1) ||
      lengths.num_elements() != x.shape()[1 - axis]) {
    return Error(kKernel, lengths.TypeToString(), " and axis ", axis,
                 " do not fit ", x.TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor filler,
                         ScalarOf(kKernel, x.dtype(), value));
  const int64_t bytes = x.dtype().bytes();
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  return CopyAndChange(x, [&](char* out) {
    const int64_t inner = x.num_elements() / (rows * columns);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t at = axis == 0 ? i : j;
        if (at < lengths.AtAsInt64(axis == 0 ? j : i)) continue;
        char* run = out + (i * columns + j) * inner * bytes;
        for (int64_t k = 0; k < inner; ++k) {
          std::memcpy(run + k * bytes, filler.data(), bytes);
        }
      }
    }
  });
}

absl::StatusOr<Tensor> Trilu(const Tensor& x, int64_t k, bool upper) {
  if (x.rank() < 2) {
    return Error("trilu", x.TypeToString(), " is not a matrix");
  }
  const int64_t rows = x.shape()[x.rank() - 2];
  const int64_t columns = x.shape()[x.rank() - 1];
  const int64_t bytes = x.dtype().bytes();
  // No diagonal lies beyond these.
  const int64_t diagonal = std::clamp(k, -rows - 1, columns + 1);
  return CopyAndChange(x, [&](char* out) {
    const int64_t count = x.num_elements() / columns;
    for (int64_t i = 0; i < count; ++i, out += columns * bytes) {
      // The part of a row that is zero: [0, end) or [end, columns).
      const int64_t end = std::clamp<int64_t>(
          i % rows + diagonal + (upper ? 0 : 1), 0, columns);
      if (upper) {
        std::memset(out, 0, static_cast<size_t>(end * bytes));
      } else {
        std::memset(out + end * bytes, 0,
                    static_cast<size_t>((columns - end) * bytes));
      }
    }
  });
}

absl::StatusOr<Tensor> SlidingWindow(const Tensor& x, int64_t axis,
                                     absl::Span<const int64_t> window,
                                     absl::Span<const int64_t> strides) {
  constexpr absl::string_view kKernel = "sliding_window";
  const auto count = static_cast<int64_t>(window.size());
  if (axis < 0 || axis + count != x.rank() || strides.size() != window.size()) {
    return Error(kKernel, "a window of ", count, " axes from axis ", axis,
                 " on does not fit ", x.TypeToString());
  }
  const TensorShape steps = RowMajorStrides(x.shape());
  TensorShape shape(x.shape().begin(), x.shape().begin() + axis);
  TensorShape from(steps.begin(), steps.begin() + axis);
  for (int64_t i = 0; i < count; ++i) {
    if (window[i] <= 0 || strides[i] <= 0 || window[i] > x.shape()[axis + i]) {
      return Error(kKernel, "a window of ", window[i], " elements, ",
                   strides[i], " apart, does not fit ", x.TypeToString());
    }
    shape.push_back((x.shape()[axis + i] - window[i]) / strides[i] + 1);
    from.push_back(shape.back() == 1 ? 0 : steps[axis + i] * strides[i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    shape.push_back(window[i]);
    from.push_back(steps[axis + i]);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor out,
                         MutableTensor::Create(x.dtype(), shape));
  if (out.num_elements() > 0) {
    internal::StridedCopy(x.dtype().bytes(), shape, x.data(), from, out.data(),
                          RowMajorStrides(shape));
  }
  return std::move(out).Freeze();
}

absl::StatusOr<std::vector<Tensor>> Meshgrid(absl::Span<const Tensor> vectors,
                                             bool xy) {
  const int n = static_cast<int>(vectors.size());
  // The axis of vector i.
  const auto axis = [&](int i) { return xy && n >= 2 && i < 2 ? 1 - i : i; };
  TensorShape shape(n, 1);
  for (int i = 0; i < n; ++i) {
    if (vectors[i].rank() > 1) {
      return Error("meshgrid", vectors[i].TypeToString(), " is not a vector");
    }
    shape[axis(i)] = vectors[i].num_elements();
  }
  std::vector<Tensor> grids;
  for (int i = 0; i < n; ++i) {
    TensorShape line(n, 1);
    line[axis(i)] = vectors[i].num_elements();
    BATON_ASSIGN_OR_RETURN(const Tensor reshaped, vectors[i].Reshaped(line));
    BATON_ASSIGN_OR_RETURN(Tensor grid, BroadcastTo(reshaped, shape));
    grids.push_back(std::move(grid));
  }
  return grids;
}

}  // namespace baton::kernels
