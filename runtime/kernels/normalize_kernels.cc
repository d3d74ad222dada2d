#include "baton/runtime/kernels/normalize_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/reduce_kernels.h"

namespace baton::kernels {
namespace {

using internal::AxisView;
using internal::Error;

// Runs fn<T>(x, result) on float32 or float64 data, with half floats widened,
// where both have the shape of `x`.
template <typename Fn>
absl::StatusOr<Tensor> RunFloat(absl::string_view name, const Tensor& x,
                                const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor input, internal::WidenHalf(name, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          name, input.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Uninitialized(input.dtype(), input.shape()));
            if (out.num_elements() > 0) {
              fn(internal::Data<T>(input), static_cast<T*>(out.data()));
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(name, result, x.dtype());
}

// The elements of a vector along `axis` of `x`, as doubles.
absl::StatusOr<std::vector<double>> VectorAlong(absl::string_view name,
                                                absl::string_view what,
                                                const Tensor& vector,
                                                const Tensor& x, int axis) {
  if (!vector.dtype().is_float()) {
    return internal::UnsupportedDType(name, vector.dtype());
  }
  if (vector.rank() != 1 ||
      vector.num_elements() != x.shape()[static_cast<size_t>(axis)]) {
    return Error(name, what, " ", vector.TypeToString(), " does not fit axis ",
                 axis, " of ", x.TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(name, vector, DType::Float(64)));
  const absl::Span<const double> values = wide.span<double>();
  return std::vector<double>(values.begin(), values.end());
}

// gamma and beta along `axis` of `x`, 1 and 0 where they do not apply.
struct Affine {
  std::vector<double> gamma;
  std::vector<double> beta;
};

absl::StatusOr<Affine> MakeAffine(absl::string_view name, const Tensor& x,
                                  const Tensor& gamma, const Tensor& beta,
                                  int axis, const NormParams& params) {
  Affine affine;
  BATON_ASSIGN_OR_RETURN(affine.gamma,
                         VectorAlong(name, "gamma", gamma, x, axis));
  BATON_ASSIGN_OR_RETURN(affine.beta, VectorAlong(name, "beta", beta, x, axis));
  if (!params.scale) std::fill(affine.gamma.begin(), affine.gamma.end(), 1.0);
  if (!params.center) std::fill(affine.beta.begin(), affine.beta.end(), 0.0);
  return affine;
}

// The mean of n values and 1 / sqrt(their variance + epsilon).
struct Moments {
  double mean = 0;
  double inverse = 0;
};

template <typename T>
BATON_LOOP inline Moments MomentsOf(const T* x, int64_t n, int64_t stride,
                                    double epsilon) {
  Moments m;
  m.mean = internal::SumOf(n,
                           [=](int64_t i) BATON_LOOP {
                             return static_cast<double>(x[i * stride]);
                           }) /
           static_cast<double>(n);
  const double squares =
      internal::SumOf(n, [=, mean = m.mean](int64_t i) BATON_LOOP {
        const double d = static_cast<double>(x[i * stride]) - mean;
        return d * d;
      });
  m.inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  return m;
}

// Softmax (or its logarithm) of n contiguous elements, at least kPartial.
// `y` is not `x`.
template <typename T>
BATON_LOOP inline void SoftmaxRow(const T* x, int64_t n, bool log, T* y) {
  constexpr int64_t kLanes = internal::kPartial;
  const int64_t whole = n & -kLanes;
  const T max = internal::LargestOf(x, n);
  for (int64_t i = 0; i != whole; ++i)
    y[i] = internal::ExpOfNonPositive(x[i] - max);
  // The last elements, of which some have been computed.
  T last[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) {
    last[j] = internal::ExpOfNonPositive(x[n - kLanes + j] - max);
  }
  for (int64_t j = 0; j < kLanes; ++j) y[n - kLanes + j] = last[j];
  const double sum = internal::SumOf(
      n, [y](int64_t i) BATON_LOOP { return static_cast<double>(y[i]); });
  if (log) {
    // Less the maximum first: beside a large one the logarithm is lost.
    const double shift = std::log(sum);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(
          (static_cast<double>(x[i]) - static_cast<double>(max)) - shift);
    }
  } else {
    const double scale = 1 / sum;
    for (int64_t i = 0; i != whole; ++i) {
      y[i] = static_cast<T>(static_cast<double>(y[i]) * scale);
    }
    for (int64_t j = 0; j < kLanes; ++j) {
      y[n - kLanes + j] = static_cast<T>(static_cast<double>(last[j]) * scale);
    }
  }
}

// As above for `columns` columns of n rows, which are `stride` apart.
constexpr int64_t kColumns = 512;
template <typename T>
BATON_LOOP inline void SoftmaxColumns(const T* x, int64_t n, int64_t stride,
                                      int64_t columns, bool log, T* y) {
  T max[kColumns];
  double sums[kColumns];
  for (int64_t j = 0; j < columns; ++j) {
    max[j] = -std::numeric_limits<T>::infinity();
    sums[j] = 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    for (int64_t j = 0; j < columns; ++j) {
      max[j] = row[j] > max[j] ? row[j] : max[j];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* to = y + i * stride;
    for (int64_t j = 0; j < columns; ++j) {
      to[j] = internal::ExpOfNonPositive(row[j] - max[j]);
      sums[j] += static_cast<double>(to[j]);
    }
  }
  for (int64_t j = 0; j < columns; ++j) {
    sums[j] = log ? std::log(sums[j]) : 1 / sums[j];
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* to = y + i * stride;
    for (int64_t j = 0; j < columns; ++j) {
      to[j] = static_cast<T>(
          log ? (static_cast<double>(row[j]) - static_cast<double>(max[j])) -
                    sums[j]
              : static_cast<double>(to[j]) * sums[j]);
    }
  }
}

// Softmax (or its logarithm) of `rows` rows of n elements, fewer than kPartial,
// computed as columns: a sum has an order of its own for so few elements.
constexpr int64_t kShortRows = 64;
template <typename T>
BATON_LOOP inline void SoftmaxShortRows(const T* x, int64_t rows, int64_t n,
                                        bool log, T* y) {
  T columns[internal::kPartial * kShortRows];
  T results[internal::kPartial * kShortRows];
  for (int64_t k = 0; k < n; ++k) {
    T* const column = columns + k * kShortRows;
    for (int64_t r = 0; r < rows; ++r) column[r] = x[r * n + k];
    for (int64_t r = rows; r < kShortRows; ++r) column[r] = T(0);
  }
  SoftmaxColumns(columns, n, kShortRows, kShortRows, log, results);
  for (int64_t k = 0; k < n; ++k) {
    const T* const column = results + k * kShortRows;
    for (int64_t r = 0; r < rows; ++r) y[r * n + k] = column[r];
  }
}

template <typename T>
void SoftmaxOf(const T* from, const AxisView& v, bool log, T* to) {
  internal::RunLoop([=]() BATON_LOOP {
    if (v.inner == 1 && v.extent < internal::kPartial) {
      for (int64_t o = 0; o < v.outer; o += kShortRows) {
        SoftmaxShortRows(from + o * v.extent, std::min(kShortRows, v.outer - o),
                         v.extent, log, to + o * v.extent);
      }
      return;
    }
    for (int64_t o = 0; o < v.outer; ++o) {
      const int64_t start = o * v.extent * v.inner;
      if (v.inner == 1) {
        SoftmaxRow(from + start, v.extent, log, to + start);
        continue;
      }
      for (int64_t i = 0; i < v.inner; i += kColumns) {
        SoftmaxColumns(from + start + i, v.extent, v.inner,
                       std::min(kColumns, v.inner - i), log, to + start + i);
      }
    }
  });
}

absl::StatusOr<Tensor> SoftmaxNamed(absl::string_view name, const Tensor& x,
                                    int64_t axis, bool log) {
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(name, axis, x.rank()));
  const AxisView v = internal::ViewAround(x.shape(), normal);
  return RunFloat(name, x, [&v, log]<typename T>(const T* from, T* to) {
    SoftmaxOf(from, v, log, to);
  });
}

}  // namespace

absl::StatusOr<Tensor> BatchNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, const Tensor& mean,
                                 const Tensor& variance,
                                 const NormParams& params) {
  constexpr char kName[] = "batch_norm";
  BATON_ASSIGN_OR_RETURN(const int axis,
                         internal::NormalizeAxis(kName, params.axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(const Affine affine,
                         MakeAffine(kName, x, gamma, beta, axis, params));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> means,
                         VectorAlong(kName, "mean", mean, x, axis));
  BATON_ASSIGN_OR_RETURN(std::vector<double> scales,
                         VectorAlong(kName, "variance", variance, x, axis));
  for (size_t c = 0; c < scales.size(); ++c) {
    scales[c] = affine.gamma[c] / std::sqrt(scales[c] + params.epsilon);
  }
  const AxisView v = internal::ViewAround(x.shape(), axis);
  return RunFloat(kName, x, [&]<typename T>(const T* from, T* to) {
    const size_t channels = scales.size();
    for (int64_t o = 0; o < v.outer; ++o) {
      if (v.inner == 1) {
        for (size_t c = 0; c < channels; ++c) {
          to[c] = static_cast<T>((static_cast<double>(from[c]) - means[c]) *
                                     scales[c] +
                                 affine.beta[c]);
        }
        from += channels;
        to += channels;
        continue;
      }
      for (size_t c = 0; c < channels; ++c) {
        const double mean_c = means[c];
        const double scale = scales[c];
        const double shift = affine.beta[c];
        for (int64_t i = 0; i < v.inner; ++i) {
          to[i] = static_cast<T>(
              (static_cast<double>(from[i]) - mean_c) * scale + shift);
        }
        from += v.inner;
        to += v.inner;
      }
    }
  });
}

absl::StatusOr<Tensor> LayerNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, const NormParams& params) {
  constexpr char kName[] = "layer_norm";
  BATON_ASSIGN_OR_RETURN(const int axis,
                         internal::NormalizeAxis(kName, params.axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(const Affine affine,
                         MakeAffine(kName, x, gamma, beta, axis, params));
  const AxisView v = internal::ViewAround(x.shape(), axis);
  return RunFloat(kName, x, [&]<typename T>(const T* from, T* to) {
    internal::RunLoop([=, epsilon = params.epsilon, gamma = affine.gamma.data(),
                       beta = affine.beta.data()]() BATON_LOOP {
      const auto normalize = [=](const T* line, int64_t stride,
                                 T* result) BATON_LOOP {
        const Moments m = MomentsOf(line, v.extent, stride, epsilon);
        for (int64_t k = 0; k < v.extent; ++k) {
          result[k * stride] =
              static_cast<T>((static_cast<double>(line[k * stride]) - m.mean) *
                                 m.inverse * gamma[k] +
                             beta[k]);
        }
      };
      for (int64_t o = 0; o < v.outer; ++o) {
        const int64_t start = o * v.extent * v.inner;
        // Adjacent elements become vectors.
        if (v.inner == 1) {
          normalize(from + start, 1, to + start);
          continue;
        }
        for (int64_t i = start; i < start + v.inner; ++i) {
          normalize(from + i, v.inner, to + i);
        }
      }
    });
  });
}

absl::StatusOr<Tensor> GroupNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, int64_t groups,
                                 const NormParams& params) {
  constexpr char kName[] = "group_norm";
  BATON_ASSIGN_OR_RETURN(const int axis,
                         internal::NormalizeAxis(kName, params.axis, x.rank()));
  if (axis == 0) return Error(kName, "axis 0 is the batch");
  BATON_ASSIGN_OR_RETURN(const Affine affine,
                         MakeAffine(kName, x, gamma, beta, axis, params));
  const int64_t channels = x.shape()[static_cast<size_t>(axis)];
  if (groups < 1 || channels % groups != 0) {
    return Error(kName, channels, " channels do not divide into ", groups,
                 " groups");
  }
  // [batch, outer, groups, channels of a group, inner].
  const AxisView v = internal::ViewAround(x.shape(), axis);
  const int64_t batch = x.shape()[0];
  return RunFloat(kName, x, [&]<typename T>(const T* from, T* to) {
    const int64_t outer = v.outer / batch;
    const int64_t run = channels / groups * v.inner;
    const int64_t step = channels * v.inner;
    const double count = static_cast<double>(outer * run);
    std::vector<T> gathered(
        static_cast<size_t>(outer > 1 && run > 1 ? outer * run : 0));
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t start = n * outer * step + g * run;
        const T* elements = from + start;
        int64_t stride = outer == 1 ? 1 : step;
        if (outer > 1 && run > 1) {
          for (int64_t o = 0; o < outer; ++o) {
            std::copy_n(elements + o * step, run, gathered.data() + o * run);
          }
          elements = gathered.data();
          stride = 1;
        }
        // The sum of term(x) of the elements of the group: in one order, however
        // they lie in memory.
        const auto sum_of = [&](const auto& term) {
          double result = 0;
          internal::RunLoop([=, n = outer * run, &result]() BATON_LOOP {
            const auto at = [=](int64_t i) BATON_LOOP {
              return term(static_cast<double>(elements[i]));
            };
            const auto apart = [=](int64_t i) BATON_LOOP {
              return term(static_cast<double>(elements[i * stride]));
            };
            result = stride == 1 ? internal::SumOf(n, at)
                                 : internal::SumOf(n, apart);
          });
          return result;
        };
        const double mean =
            sum_of([](double x) BATON_LOOP { return x; }) / count;
        const double squares = sum_of(
            [mean](double x) BATON_LOOP { return (x - mean) * (x - mean); });
        const double inverse = 1 / std::sqrt(squares / count + params.epsilon);
        const int64_t group = channels / groups;
        internal::RunLoop([=, inner = v.inner,
                           gamma = affine.gamma.data() + g * group,
                           beta = affine.beta.data() + g * group]() BATON_LOOP {
          for (int64_t o = 0; o < outer; ++o) {
            const T* x = from + start + o * step;
            T* y = to + start + o * step;
            for (int64_t c = 0; c < group; ++c, x += inner, y += inner) {
              for (int64_t i = 0; i < inner; ++i) {
                y[i] = static_cast<T>((static_cast<double>(x[i]) - mean) *
                                          inverse * gamma[c] +
                                      beta[c]);
              }
            }
          }
        });
      }
    }
  });
}

absl::StatusOr<Tensor> InstanceNorm(const Tensor& x, const Tensor& gamma,
                                    const Tensor& beta,
                                    const NormParams& params) {
  constexpr char kName[] = "instance_norm";
  BATON_ASSIGN_OR_RETURN(const int axis,
                         internal::NormalizeAxis(kName, params.axis, x.rank()));
  const int64_t channels = x.shape()[static_cast<size_t>(axis)];
  return GroupNorm(x, gamma, beta, std::max<int64_t>(1, channels), params);
}

absl::StatusOr<Tensor> Softmax(const Tensor& x, int64_t axis) {
  return SoftmaxNamed("softmax", x, axis, /*log=*/false);
}

absl::StatusOr<Tensor> LogSoftmax(const Tensor& x, int64_t axis) {
  return SoftmaxNamed("log_softmax", x, axis, /*log=*/true);
}

void SoftmaxInto(const float* x, int64_t outer, int64_t extent, int64_t inner,
                 bool log, float* y) {
  SoftmaxOf(x, {.outer = outer, .extent = extent, .inner = inner}, log, y);
}

absl::StatusOr<Tensor> L2Normalize(
    const Tensor& x, double epsilon,
    const absl::InlinedVector<int64_t, 6>& axes) {
  constexpr char kName[] = "l2_normalize";
  if (!x.dtype().is_float()) {
    return internal::UnsupportedDType(kName, x.dtype());
  }
  // In double: the squares of float32 may overflow, and precision is cheap.
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(kName, x, DType::Float(64)));
  // The axes as they are given, and in ascending order.
  TensorShape given;
  for (const int64_t axis : axes) {
    BATON_ASSIGN_OR_RETURN(const int normal,
                           internal::NormalizeAxis(kName, axis, x.rank()));
    if (std::find(given.begin(), given.end(), normal) == given.end()) {
      given.push_back(normal);
    }
  }
  TensorShape ascending = given;
  std::sort(ascending.begin(), ascending.end());
  BATON_ASSIGN_OR_RETURN(Tensor squares, Multiply(wide, wide));
  if (given != ascending) {
    TensorShape order(x.shape().size());
    std::iota(order.begin(), order.end(), int64_t{0});
    for (size_t i = 0; i < given.size(); ++i) {
      order[static_cast<size_t>(ascending[i])] = given[i];
    }
    BATON_ASSIGN_OR_RETURN(squares, Transpose(squares, order));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor sums,
                         Sum(squares, {.axes = axes, .keepdims = true}));
  BATON_ASSIGN_OR_RETURN(
      const Tensor bounded,
      Clip(sums, epsilon, std::numeric_limits<double>::infinity()));
  BATON_ASSIGN_OR_RETURN(const Tensor norms, Sqrt(bounded));
  BATON_ASSIGN_OR_RETURN(const Tensor result, Divide(wide, norms));
  return internal::Convert(kName, result, x.dtype());
}

absl::StatusOr<Tensor> Lrn(const Tensor& x, const LrnParams& params) {
  constexpr char kName[] = "lrn";
  BATON_ASSIGN_OR_RETURN(const int axis,
                         internal::NormalizeAxis(kName, params.axis, x.rank()));
  if (params.size < 1 || params.size % 2 == 0) {
    return Error(kName, "size ", params.size, " must be odd and positive");
  }
  const AxisView v = internal::ViewAround(x.shape(), axis);
  const int64_t reach = std::min(params.size / 2, v.extent);
  return RunFloat(kName, x, [&]<typename T>(const T* from, T* to) {
    const double alpha = params.alpha / static_cast<double>(params.size);
    // The sums of squares of the elements with one index along the axis are
    // contiguous, so that loops are long. The sum of a window is not derived
    // from that of the window before, which would keep its rounding errors.
    std::vector<double> squares(static_cast<size_t>(v.inner));
    for (int64_t o = 0; o < v.outer; ++o) {
      for (int64_t k = 0; k < v.extent; ++k) {
        const int64_t first = std::max<int64_t>(0, k - reach);
        const int64_t last = std::min(v.extent, k + reach + 1);
        std::fill(squares.begin(), squares.end(), 0.0);
        double* sums = squares.data();
        for (int64_t j = first; j < last; ++j) {
          const T* row = from + j * v.inner;
          for (int64_t i = 0; i < v.inner; ++i) {
            const double value = static_cast<double>(row[i]);
            sums[i] += value * value;
          }
        }
        for (int64_t i = 0; i < v.inner; ++i) {
          sums[i] = params.bias + alpha * sums[i];
        }
        if (params.beta == 0.75) {  // As in nearly all networks.
          for (int64_t i = 0; i < v.inner; ++i) {
            sums[i] = std::sqrt(sums[i] * std::sqrt(sums[i]));
          }
        } else {
          for (int64_t i = 0; i < v.inner; ++i) {
            sums[i] = std::pow(sums[i], params.beta);
          }
        }
        const T* row = from + k * v.inner;
        for (int64_t i = 0; i < v.inner; ++i) {
          to[k * v.inner + i] =
              static_cast<T>(static_cast<double>(row[i]) / sums[i]);
        }
      }
      from += v.extent * v.inner;
      to += v.extent * v.inner;
    }
  });
}

}  // namespace baton::kernels
