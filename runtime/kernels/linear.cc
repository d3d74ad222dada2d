#include "baton/runtime/kernels/linear.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/gemm.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/product.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using internal::ConstMatrix;
using internal::Error;

// One product: [m, k] times [k, n].
struct Product {
  int64_t m;
  int64_t n;
  int64_t k;
  bool transpose_a;
  bool transpose_b;
};

// out[i] is the sum of the products of k elements each, for i < batch.
template <typename T>
void Dots(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t k,
          T* out, int64_t batch) {
  if constexpr (std::is_same_v<T, float>) {
    return internal::Dots(x, x_step, y, y_step, k, out, batch);
  }
  internal::RunLoop([=]() BATON_LOOP {
    for (int64_t i = 0; i < batch; ++i) {
      const T* a = x + i * x_step;
      const T* b = y + i * y_step;
      out[i] = internal::SumOf(
          k, [a, b](int64_t j) BATON_LOOP { return a[j] * b[j]; });
    }
  });
}

// `batch` products; a stride is what one step of the batch moves an operand by.
absl::StatusOr<Tensor> Multiply(absl::string_view name, const Tensor& a,
                                const Tensor& b, const Product& p,
                                int64_t batch, int64_t a_step, int64_t b_step,
                                const TensorShape& shape, DType out_dtype) {
  if (out_dtype.is_void()) out_dtype = a.dtype();
  BATON_ASSIGN_OR_RETURN(
      const DType compute,
      internal::ProductDType(name, a.dtype(), b.dtype(), out_dtype));
  BATON_ASSIGN_OR_RETURN(const Tensor left,
                         internal::Convert(name, a, compute));
  BATON_ASSIGN_OR_RETURN(const Tensor right,
                         internal::Convert(name, b, compute));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(compute, shape));
  if (result.num_elements() > 0 && p.k > 0) {
    internal::VisitProduct(compute, [&]<typename T>() {
      const T* x = static_cast<const T*>(left.data());
      const T* y = static_cast<const T*>(right.data());
      T* out = static_cast<T*>(result.data());
      if (batch > 1 && p.m == 1 && p.n == 1) {
        // Smaller than any tile of Gemm.
        return Dots<T>(x, a_step, y, b_step, p.k, out, batch);
      }
      for (int64_t i = 0; i < batch; ++i) {
        internal::Gemm<T>(
            p.m, p.n, {p.k},
            {x + i * a_step, p.transpose_a ? p.m : p.k, p.transpose_a},
            {y + i * b_step, p.transpose_b ? p.k : p.n, p.transpose_b},
            out + i * p.m * p.n, p.n);
      }
    });
  }
  return internal::Convert(name, std::move(result).Freeze(), out_dtype);
}

absl::Status Mismatch(absl::string_view name, const Tensor& a,
                      const Tensor& b) {
  return Error(name, "shapes of ", a.TypeToString(), " and ", b.TypeToString(),
               " do not fit");
}

absl::StatusOr<Tensor> MatmulNamed(absl::string_view name, const Tensor& a,
                                   const Tensor& b,
                                   const MatmulParams& params) {
  BATON_RETURN_IF_ERROR(internal::CheckRank(name, "the second operand", b, 2));
  const size_t rank = a.shape().size();
  if (rank < (params.transpose_a ? 2u : 1u)) return Mismatch(name, a, b);
  Product p;
  p.transpose_a = params.transpose_a;
  p.transpose_b = params.transpose_b;
  p.k = b.shape()[params.transpose_b ? 1 : 0];
  p.n = b.shape()[params.transpose_b ? 0 : 1];
  TensorShape shape = internal::ToShape(a.shape());
  int64_t batch = 1;
  int64_t depth;
  if (params.transpose_a) {
    depth = shape[rank - 2];
    p.m = shape[rank - 1];
    shape[rank - 2] = p.m;
    batch = internal::Product(a.shape().subspan(0, rank - 2));
  } else {
    depth = shape[rank - 1];
    p.m = internal::Product(a.shape().subspan(0, rank - 1));
  }
  if (depth != p.k) return Mismatch(name, a, b);
  shape[rank - 1] = p.n;
  return Multiply(name, a, b, p, batch, /*a_step=*/p.m * p.k, /*b_step=*/0,
                  shape, params.out_dtype);
}

}  // namespace

absl::StatusOr<Tensor> Dense(const Tensor& data, const Tensor& weight,
                             DType out_dtype) {
  return MatmulNamed("dense", data, weight,
                     {.transpose_b = true, .out_dtype = out_dtype});
}

absl::StatusOr<Tensor> Matmul(const Tensor& a, const Tensor& b,
                              const MatmulParams& params) {
  return MatmulNamed("matmul", a, b, params);
}

absl::StatusOr<Tensor> BatchMatmul(const Tensor& a, const Tensor& b,
                                   const MatmulParams& params) {
  constexpr char kName[] = "batch_matmul";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kName, "the first operand", a, 3));
  BATON_RETURN_IF_ERROR(internal::CheckRank(kName, "the second operand", b, 3));
  Product p;
  p.transpose_a = params.transpose_a;
  p.transpose_b = params.transpose_b;
  p.m = a.shape()[params.transpose_a ? 2 : 1];
  p.k = a.shape()[params.transpose_a ? 1 : 2];
  p.n = b.shape()[params.transpose_b ? 1 : 2];
  const int64_t depth = b.shape()[params.transpose_b ? 2 : 1];
  const int64_t a_batch = a.shape()[0];
  const int64_t b_batch = b.shape()[0];
  if (depth != p.k || (a_batch != b_batch && a_batch != 1 && b_batch != 1)) {
    return Mismatch(kName, a, b);
  }
  const int64_t batch = a_batch == 1 ? b_batch : a_batch;
  return Multiply(kName, a, b, p, batch,
                  /*a_step=*/a_batch == 1 ? 0 : p.m * p.k,
                  /*b_step=*/b_batch == 1 ? 0 : p.k * p.n, {batch, p.m, p.n},
                  params.out_dtype);
}

}  // namespace baton::kernels
