// Converters of windows, Fourier transforms, and the determinant.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// Constants that the importer computes have at most this many elements.
constexpr int64_t kMaxElements = int64_t{1} << 24;

absl::StatusOr<Expr> Floats(const Ints& shape,
                            const std::vector<double>& values, DType dtype) {
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  VisitDType(dtype, [&]<typename T>() {
    for (size_t i = 0; i < values.size(); ++i) {
      tensor.span<T>()[i] = static_cast<T>(values[i]);
    }
  });
  return relay::Const(std::move(tensor).Freeze());
}

// The one element of input `i`, which must be known.
absl::StatusOr<double> Scalar(NodeContext& node, int i) {
  BATON_ASSIGN_OR_RETURN(const std::vector<double> values,
                         node.ConstantFloats(i));
  if (values.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is no scalar"));
  }
  return values[0];
}

absl::StatusOr<int64_t> Count(NodeContext& node, int i) {
  BATON_ASSIGN_OR_RETURN(const double value, Scalar(node, i));
  if (!(value >= 0 && value <= kMaxElements)) {
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", value));
  }
  return static_cast<int64_t>(value);
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n).
absl::StatusOr<Outputs> CosineWindow(NodeContext& node, double a0, double a1,
                                     double a2) {
  BATON_ASSIGN_OR_RETURN(const int64_t size, Count(node, 0));
  BATON_ASSIGN_OR_RETURN(const DType dtype,
                         DTypeOf(node.Int("output_datatype", 1)));
  const bool periodic = node.Int("periodic", 1) != 0;
  const double n = static_cast<double>(periodic ? size : size - 1);
  std::vector<double> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const double x = 2 * M_PI * static_cast<double>(i) / n;
    values[i] = a0 - a1 * std::cos(x) + a2 * std::cos(2 * x);
  }
  BATON_ASSIGN_OR_RETURN(Expr window, Floats({size}, values, dtype));
  return One(std::move(window));
}

absl::StatusOr<Outputs> HannWindow(NodeContext& node) {
  return CosineWindow(node, 0.5, 0.5, 0);
}
absl::StatusOr<Outputs> HammingWindow(NodeContext& node) {
  return CosineWindow(node, 25.0 / 46, 1 - 25.0 / 46, 0);
}
absl::StatusOr<Outputs> BlackmanWindow(NodeContext& node) {
  return CosineWindow(node, 0.42, 0.5, 0.08);
}

// The shape of `x`, of which the last two dimensions must be known; 0 stands
// for others that are not, as in a reshape that keeps them.
absl::StatusOr<Ints> ShapeBeforeLast(const Expr& x) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  Ints result;
  for (int i = 0; i < type->rank(); ++i) {
    const Dim& dim = type->dim(i);
    if (!dim.is_const() && i + 2 >= type->rank()) return ShapeOf(x).status();
    result.push_back(dim.is_const() ? dim.value() : 0);
  }
  return result;
}

// The product of the first `used` elements of the last but one axis of `x`,
// each with its parts in the last axis, and `matrix`, which has a row for each
// part. `last_axes` are the last two dimensions of the result.
Expr TimesMatrix(const Expr& x, const Ints& shape, int64_t used,
                 const Expr& matrix, const Ints& last_axes) {
  const size_t rank = shape.size();
  Expr data = x;
  if (used < shape[rank - 2]) {
    data = relay::StridedSlice(data, {0}, {used},
                               {.axes = Ints{static_cast<int64_t>(rank) - 2}});
  }
  Ints flat(shape.begin(), shape.end() - 2);
  Ints result = flat;
  flat.push_back(used * shape[rank - 1]);
  result.insert(result.end(), last_axes.begin(), last_axes.end());
  return relay::Reshape(relay::nn::Dense(relay::Reshape(data, std::move(flat)),
                                         relay::Transpose(matrix, Ints{1, 0})),
                        std::move(result));
}

// The transform of the last but one axis of `x`, of length `length` after zeros
// are added or the rest is cut off; the last axis holds the real part, and the
// imaginary part if it has two elements. Gives `bins` values. The product with
// the matrix of cosines and sines.
absl::StatusOr<Expr> Transform(NodeContext& node, const Expr& x, int64_t length,
                               int64_t bins, bool inverse) {
  BATON_ASSIGN_OR_RETURN(Ints shape, ShapeBeforeLast(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const size_t rank = shape.size();
  const int64_t parts = shape[rank - 1];
  const int64_t extent = shape[rank - 2];
  if ((parts != 1 && parts != 2) || length < 1 || bins < 0) {
    return absl::InvalidArgumentError(
        "the last axis of the data must have 1 or 2 elements (real and "
        "imaginary part), and the length of the transform must be positive");
  }
  const int64_t used = std::min(extent, length);
  if (used > kMaxElements || bins > kMaxElements ||
      used * bins > kMaxElements / (2 * parts)) {
    return absl::UnimplementedError("the transform is too long");
  }
  // Rows: (element, part) of the data; columns: (bin, part) of the result.
  std::vector<double> matrix(used * parts * bins * 2);
  const double sign = inverse ? 1 : -1;
  const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
  for (int64_t i = 0; i < used; ++i) {
    for (int64_t k = 0; k < bins; ++k) {
      const double angle = sign * 2 * M_PI *
                           static_cast<double>(i * k % length) /
                           static_cast<double>(length);
      const double re = std::cos(angle) * scale;
      const double im = std::sin(angle) * scale;
      double* row = &matrix[i * parts * bins * 2 + k * 2];
      row[0] = re;
      row[1] = im;
      if (parts == 2) {
        row[bins * 2] = -im;
        row[bins * 2 + 1] = re;
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(const Expr weights,
                         Floats({used * parts, bins * 2}, matrix, dtype));
  return TimesMatrix(x, shape, used, weights, {bins, 2});
}

// The real data of which `x` is one half of the transform; axes as above, but
// the last one of the result has one element. The other half is the conjugate.
absl::StatusOr<Expr> RealInverse(NodeContext& node, const Expr& x,
                                 int64_t length) {
  BATON_ASSIGN_OR_RETURN(Ints shape, ShapeBeforeLast(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const size_t rank = shape.size();
  const int64_t parts = shape[rank - 1];
  const int64_t extent = shape[rank - 2];
  if ((parts != 1 && parts != 2) || length < 1) {
    return absl::InvalidArgumentError(
        "the last axis of the data must have 1 or 2 elements (real and "
        "imaginary part), and the length of the transform must be positive");
  }
  const int64_t used = std::min(extent, length / 2 + 1);
  if (length > kMaxElements || used > kMaxElements / (length * parts)) {
    return absl::UnimplementedError("the transform is too long");
  }
  // Rows: (bin, part) of the data; columns: elements of the result.
  std::vector<double> matrix(used * parts * length);
  for (int64_t k = 0; k < used; ++k) {
    const double times = k == 0 || 2 * k == length ? 1 : 2;
    const double scale = times / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(i * k % length) /
                           static_cast<double>(length);
      double* column = &matrix[k * parts * length + i];
      column[0] = std::cos(angle) * scale;
      if (parts == 2) column[length] = -std::sin(angle) * scale;
    }
  }
  BATON_ASSIGN_OR_RETURN(const Expr weights,
                         Floats({used * parts, length}, matrix, dtype));
  return TimesMatrix(x, shape, used, weights, {length, 1});
}

absl::StatusOr<Outputs> Dft(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  const int rank = type->rank();
  if (rank < 2) {
    return absl::InvalidArgumentError("the data must have 2 axes or more");
  }
  int64_t given = node.Int("axis", 1);
  if (node.opset() >= 20) {
    given = -2;
    if (node.HasInput(2)) {
      BATON_ASSIGN_OR_RETURN(const Ints axis, node.ConstantInts(2));
      if (axis.size() != 1) {
        return absl::InvalidArgumentError("the axis must have one element");
      }
      given = axis[0];
    }
  }
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(given, rank));
  if (axis == rank - 1) {
    return absl::InvalidArgumentError(
        "the axis must not be the last one, which has the real and imaginary "
        "parts");
  }
  const bool onesided = node.Int("onesided", 0) != 0;
  const bool inverse = node.Int("inverse", 0) != 0;
  if (!type->dim(axis).is_const()) return ShapeOf(x).status();
  int64_t length = type->dim(axis).value();
  if (onesided && inverse) length = 2 * (std::min(length, kMaxElements) - 1);
  if (node.HasInput(1)) {
    BATON_ASSIGN_OR_RETURN(length, Count(node, 1));
  }
  // The axis, before the last one.
  Ints order;
  for (int i = 0; i + 1 < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  order.push_back(rank - 1);
  const bool moves = axis != rank - 2;
  if (moves) {
    BATON_ASSIGN_OR_RETURN(x, node.Typed(relay::Transpose(x, order)));
  }
  Expr result;
  if (onesided && inverse) {
    BATON_ASSIGN_OR_RETURN(result, RealInverse(node, x, length));
  } else {
    BATON_ASSIGN_OR_RETURN(
        result, Transform(node, x, length, onesided ? length / 2 + 1 : length,
                          inverse));
  }
  if (moves) {
    Ints back(rank);
    for (int i = 0; i < rank; ++i) back[order[i]] = i;
    result = relay::Transpose(std::move(result), std::move(back));
  }
  return One(std::move(result));
}

// The positions along axis 1 of `x` of the elements of all frames, (frames,
// length). The frames are as many as fit.
absl::StatusOr<Expr> FramePositions(const Expr& x, int64_t length,
                                    int64_t step) {
  const Dim& extent = x->tensor_type()->dim(1);
  if (!extent.is_const()) {
    const auto number = [](int64_t value) {
      return relay::Const(Tensor::Scalar<int64_t>(value));
    };
    const auto range = [&](Expr end, int64_t by) {
      return relay::Arange(number(0), std::move(end), number(by),
                           DType::Int(64));
    };
    const Expr starts =
        range(relay::Subtract(ExtentOf(x, 1), number(length - 1)), step);
    return Expr(
        relay::Add(relay::ExpandDims(starts, 1), range(number(length), 1)));
  }
  if (extent.value() < length) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a frame of ", length, " elements is longer than the signal of ",
        extent.value()));
  }
  const int64_t frames = (extent.value() - length) / step + 1;
  if (frames > kMaxElements / length) {
    return absl::UnimplementedError("the signal is too long");
  }
  Ints positions;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i) positions.push_back(f * step + i);
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor indices,
      Tensor::FromValues<int64_t>({frames, length}, positions));
  return relay::Const(indices);
}

absl::StatusOr<Outputs> Stft(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (rank == 2) {
    BATON_ASSIGN_OR_RETURN(x, node.Typed(relay::ExpandDims(x, 2)));
  }
  BATON_ASSIGN_OR_RETURN(const int64_t step, Count(node, 1));
  int64_t length = 0;
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(const Ints window, ShapeOf(node.Input(2)));
    if (window.size() != 1) {
      return absl::InvalidArgumentError("the window must be a vector");
    }
    length = window[0];
  }
  if (node.HasInput(3)) {
    BATON_ASSIGN_OR_RETURN(length, Count(node, 3));
  }
  if (rank < 2 || rank > 3 || length < 1 || step < 1) {
    return absl::InvalidArgumentError(
        "the signal must have 2 or 3 axes, and frame_length and frame_step "
        "must be positive");
  }
  BATON_ASSIGN_OR_RETURN(Expr positions, FramePositions(x, length, step));
  // (batch, frames, length, parts)
  x = relay::Take(x, std::move(positions), {.axis = 1});
  if (node.HasInput(2)) {
    x = relay::Multiply(x, relay::Reshape(node.Input(2), {length, 1}));
  }
  BATON_ASSIGN_OR_RETURN(x, node.Typed(x));
  const bool onesided = node.Int("onesided", 1) != 0;
  BATON_ASSIGN_OR_RETURN(
      Expr result,
      Transform(node, x, length, onesided ? length / 2 + 1 : length, false));
  return One(std::move(result));
}

absl::StatusOr<Outputs> MelWeightMatrix(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int64_t bins, Count(node, 0));
  BATON_ASSIGN_OR_RETURN(const int64_t dft_length, Count(node, 1));
  BATON_ASSIGN_OR_RETURN(const double rate, Scalar(node, 2));
  BATON_ASSIGN_OR_RETURN(const double low, Scalar(node, 3));
  BATON_ASSIGN_OR_RETURN(const double high, Scalar(node, 4));
  BATON_ASSIGN_OR_RETURN(const DType dtype,
                         DTypeOf(node.Int("output_datatype", 1)));
  const int64_t rows = dft_length / 2 + 1;
  if (bins < 1 || rows * bins > kMaxElements || !(rate > 0)) {
    return absl::InvalidArgumentError(
        "the number of bins and the sample rate must be positive, and the "
        "matrix not too large");
  }
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
  };
  // The spectrogram bins at which triangles begin, peak and end.
  std::vector<int64_t> edges(bins + 2);
  const double step =
      (mel(high) - mel(low)) / static_cast<double>(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const double hertz =
        700 *
        (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    edges[i] = static_cast<int64_t>(
        std::floor(static_cast<double>(dft_length + 1) * hertz / rate));
  }
  std::vector<double> values(rows * bins);
  const auto set = [&](int64_t row, int64_t bin, double value) {
    if (row >= 0 && row < rows) values[row * bins + bin] = value;
  };
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t begin = edges[i];
    const int64_t peak = edges[i + 1];
    const int64_t end = edges[i + 2];
    if (peak == begin) {
      set(peak, i, 1);
    } else {
      for (int64_t j = begin; j <= std::min(peak, rows); ++j) {
        set(j, i,
            static_cast<double>(j - begin) / static_cast<double>(peak - begin));
      }
    }
    for (int64_t j = peak; end > peak && j < std::min(end, rows); ++j) {
      set(j, i, static_cast<double>(end - j) / static_cast<double>(end - peak));
    }
  }
  BATON_ASSIGN_OR_RETURN(Expr matrix, Floats({rows, bins}, values, dtype));
  return One(std::move(matrix));
}

// By the formula of Leibniz, which is exact enough and short for the small
// matrices of models.
absl::StatusOr<Outputs> Det(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeBeforeLast(x));
  const size_t rank = shape.size();
  const int64_t n = rank < 2 ? 0 : shape[rank - 1];
  if (n < 1 || n != shape[rank - 2] || n > 5) {
    return absl::UnimplementedError(
        "determinants of other than square matrices of up to 5 rows are not"
        " supported");
  }
  const auto element = [&](int64_t row, int64_t column) {
    const int64_t r = static_cast<int64_t>(rank) - 2;
    return relay::Squeeze(
        relay::StridedSlice(x, {row, column}, {row + 1, column + 1},
                            {.strides = {1, 1}, .axes = Ints{r, r + 1}}),
        Ints{r, r + 1});
  };
  Ints columns(n);
  for (int64_t i = 0; i < n; ++i) columns[i] = i;
  Expr sum;
  do {
    int inversions = 0;
    Expr product;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = i + 1; k < n; ++k) inversions += columns[i] > columns[k];
      product = product.defined()
                    ? relay::Multiply(product, element(i, columns[i]))
                    : element(i, columns[i]);
    }
    if (!sum.defined()) {
      sum = product;
    } else if (inversions % 2 == 0) {
      sum = relay::Add(sum, product);
    } else {
      sum = relay::Subtract(sum, product);
    }
  } while (std::next_permutation(columns.begin(), columns.end()));
  return One(std::move(sum));
}

BATON_ONNX_CONVERTERS({
    {"BlackmanWindow", BlackmanWindow, 17},
    {"DFT", Dft, 17},
    {"Det", Det, 11},
    {"HammingWindow", HammingWindow, 17},
    {"HannWindow", HannWindow, 17},
    {"MelWeightMatrix", MelWeightMatrix, 17},
    {"STFT", Stft, 17},
});

}  // namespace
}  // namespace baton::onnx
