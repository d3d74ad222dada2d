#include "baton/runtime/kernels/sparse_kernels.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

// A SparseMatrix whose numbers have been checked.
struct Rows {
  std::vector<int64_t> begins;   // one more than there are rows of blocks
  std::vector<int64_t> columns;  // of each block
  int64_t height = 1;            // of a block
  int64_t width = 1;
};

// `columns`: of the matrix.
absl::StatusOr<Rows> Check(absl::string_view kernel, const SparseMatrix& x,
                           int64_t columns) {
  const int rank = x.values.rank();
  const bool fits = rank >= 1 && rank <= 3 && x.indices.rank() == 1 &&
                    x.row_begins.rank() == 1 && x.row_begins.shape()[0] >= 1 &&
                    x.indices.shape()[0] == x.values.shape()[0];
  if (!fits) {
    return Error(kernel, "values ", x.values.TypeToString(), ", indices ",
                 x.indices.TypeToString(), " and row pointers ",
                 x.row_begins.TypeToString(), " do not fit");
  }
  Rows rows;
  if (rank > 1) rows.height = x.values.shape()[1];
  if (rank > 2) rows.width = x.values.shape()[2];
  const int64_t count = x.indices.shape()[0];
  for (int64_t i = 0; i < x.row_begins.num_elements(); ++i) {
    const int64_t begin = x.row_begins.AtAsInt64(i);
    if (begin < (i == 0 ? 0 : rows.begins.back()) || begin > count) {
      return Error(kernel, "the row pointer ", begin, " is out of order");
    }
    rows.begins.push_back(begin);
  }
  const int64_t blocks = rows.width > 0 ? columns / rows.width : 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t column = x.indices.AtAsInt64(k);
    if (column < 0 || column >= blocks) {
      return Error(kernel, "column ", column, " is out of range [0, ", blocks,
                   ")");
    }
    rows.columns.push_back(column);
  }
  return rows;
}

}  // namespace

absl::StatusOr<Tensor> SparseDense(const Tensor& x, const SparseMatrix& weight,
                                   bool sparse_first) {
  constexpr absl::string_view kKernel = "sparse_dense";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", x, 2));
  const int64_t inner = x.shape()[1];
  BATON_ASSIGN_OR_RETURN(const Rows rows, Check(kKernel, weight, inner));
  BATON_ASSIGN_OR_RETURN(
      const int64_t n,
      internal::CheckedMul(
          kKernel, static_cast<int64_t>(rows.begins.size()) - 1, rows.height));
  const int64_t m = x.shape()[0];
  BATON_ASSIGN_OR_RETURN(const Tensor data, internal::WidenHalf(kKernel, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor values,
      internal::Convert(kKernel, weight.values, data.dtype()));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitNumeric(
          kKernel, data.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            // Integers wrap.
            using W =
                std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(data.dtype(), sparse_first
                                                        ? TensorShape{n, m}
                                                        : TensorShape{m, n}));
            if (out.num_elements() == 0) return std::move(out).Freeze();
            const T* const from = data.span<T>().data();
            const T* const block = values.span<T>().data();
            T* const to = out.span<T>().data();
            for (int64_t i = 0; i < m; ++i) {
              for (int64_t row = 0; row < n; ++row) {
                const int64_t group = row / rows.height;
                const int64_t within = row % rows.height * rows.width;
                W sum{};
                for (int64_t k = rows.begins[group]; k < rows.begins[group + 1];
                     ++k) {
                  const T* const taps =
                      block + k * rows.height * rows.width + within;
                  const T* const segment =
                      from + i * inner + rows.columns[k] * rows.width;
                  for (int64_t c = 0; c < rows.width; ++c) {
                    sum += static_cast<W>(taps[c]) * static_cast<W>(segment[c]);
                  }
                }
                to[sparse_first ? row * m + i : i * n + row] =
                    static_cast<T>(sum);
              }
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(kKernel, result, x.dtype());
}

absl::StatusOr<Tensor> SparseAdd(const Tensor& x, const SparseMatrix& sparse) {
  constexpr absl::string_view kKernel = "sparse_add";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", x, 2));
  BATON_RETURN_IF_ERROR(
      internal::CheckRank(kKernel, "values", sparse.values, 1));
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kKernel, x, sparse.values));
  BATON_ASSIGN_OR_RETURN(const Rows rows, Check(kKernel, sparse, x.shape()[1]));
  if (static_cast<int64_t>(rows.begins.size()) != x.shape()[0] + 1) {
    return Error(kKernel, "there are ", rows.begins.size() - 1, " rows, not ",
                 x.shape()[0]);
  }
  BATON_ASSIGN_OR_RETURN(const Tensor data, internal::WidenHalf(kKernel, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor values,
      internal::Convert(kKernel, sparse.values, data.dtype()));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitNumeric(
          kKernel, data.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(data.dtype(), data.shape()));
            T* const to = out.span<T>().data();
            if (out.num_elements() > 0) {
              std::memcpy(to, data.data(), data.byte_size());
            }
            for (size_t i = 0; i + 1 < rows.begins.size(); ++i) {
              for (int64_t k = rows.begins[i]; k < rows.begins[i + 1]; ++k) {
                T& element = to[static_cast<int64_t>(i) * x.shape()[1] +
                                rows.columns[k]];
                const T value = values.span<T>()[k];
                if constexpr (std::is_integral_v<T>) {
                  using W = internal::Wrapping<T>;
                  element = static_cast<T>(static_cast<W>(element) +
                                           static_cast<W>(value));
                } else {
                  element += value;
                }
              }
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(kKernel, result, x.dtype());
}

absl::StatusOr<SparseMatrix> SparseTranspose(const SparseMatrix& x) {
  constexpr absl::string_view kKernel = "sparse_transpose";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "values", x.values, 1));
  BATON_ASSIGN_OR_RETURN(const Rows rows,
                         Check(kKernel, x, x.row_begins.num_elements() - 1));
  const size_t extent = rows.begins.size() - 1;
  // The number of elements of each column, and then its begin.
  std::vector<int64_t> begins(extent + 1);
  for (int64_t k = rows.begins.front(); k < rows.begins.back(); ++k) {
    ++begins[static_cast<size_t>(rows.columns[k]) + 1];
  }
  for (size_t i = 0; i < extent; ++i) begins[i + 1] += begins[i];
  std::vector<int64_t> next = begins;
  std::vector<int64_t> columns(rows.columns.size());
  BATON_ASSIGN_OR_RETURN(
      MutableTensor values,
      MutableTensor::Create(x.values.dtype(), x.values.shape()));
  const auto bytes = static_cast<size_t>(x.values.dtype().bytes());
  const auto* const from = static_cast<const char*>(x.values.data());
  auto* const to = static_cast<char*>(values.data());
  for (size_t row = 0; row < extent; ++row) {
    for (int64_t k = rows.begins[row]; k < rows.begins[row + 1]; ++k) {
      const auto at =
          static_cast<size_t>(next[static_cast<size_t>(rows.columns[k])]++);
      columns[at] = static_cast<int64_t>(row);
      std::memcpy(to + at * bytes, from + static_cast<size_t>(k) * bytes,
                  bytes);
    }
  }
  SparseMatrix result;
  result.values = std::move(values).Freeze();
  BATON_ASSIGN_OR_RETURN(const Tensor indices, Tensor::FromValues<int64_t>(
                                                   x.indices.shape(), columns));
  BATON_ASSIGN_OR_RETURN(
      result.indices, internal::Convert(kKernel, indices, x.indices.dtype()));
  BATON_ASSIGN_OR_RETURN(
      const Tensor pointers,
      Tensor::FromValues<int64_t>(x.row_begins.shape(), begins));
  BATON_ASSIGN_OR_RETURN(
      result.row_begins,
      internal::Convert(kKernel, pointers, x.row_begins.dtype()));
  return result;
}

}  // namespace baton::kernels
