#include "baton/runtime/kernels/internal/output.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

absl::StatusOr<OutputTensor> OutputTensor::Create(
    DType dtype, absl::Span<const int64_t> shape) {
  if (!dtype.IsStorable()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor can hold elements of ", dtype.ToString()));
  }
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype, shape));
  const int64_t bytes = elements * dtype.bytes();
  BATON_RETURN_IF_ERROR(CheckTensorBytes(bytes));
  char* block = nullptr;
  if (bytes <= std::numeric_limits<int64_t>::max() - kAlignment) {
    block = static_cast<char*>(
        std::malloc(static_cast<size_t>(bytes + kAlignment)));
  }
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a tensor of ", bytes, " bytes"));
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  char* aligned = block + (kAlignment - address % kAlignment) % kAlignment;
  std::shared_ptr<void> owner(block, std::free);
  return OutputTensor(dtype, TensorShape(shape.begin(), shape.end()), elements,
                      std::shared_ptr<void>(std::move(owner), aligned));
}

Tensor OutputTensor::Freeze() && {
  const absl::string_view bytes(
      static_cast<const char*>(data_.get()),
      static_cast<size_t>(num_elements_ * dtype_.bytes()));
  // Never an error: the buffer is aligned and as long as the shape says.
  return *Tensor::FromBuffer(dtype_, shape_, bytes, std::move(data_));
}

}  // namespace baton::kernels::internal
