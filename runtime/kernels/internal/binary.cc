#include "baton/runtime/kernels/internal/binary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/broadcast.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {
namespace {

constexpr int64_t kMaxElementBytes = 8;

// Elements of an operand that are put together before they are computed.
constexpr int64_t kStaged = 1024;

absl::StatusOr<MutableTensor> ResultOf(Operand a, Operand b, DType dtype,
                                       const TensorShape& shape) {
  for (const Operand& operand : {a, b}) {
    std::optional<MutableTensor> reused = operand.Reuse(dtype, shape);
    if (reused.has_value()) return *std::move(reused);
  }
  return MutableTensor::Uninitialized(dtype, shape);
}

// Writes n elements of `size` bytes: those at `from`, or the first of them n
// times if `step` is 0.
void CopyElements(const char* from, int64_t step, int64_t n, int64_t size,
                  char* to) {
  if (step != 0) {
    std::memcpy(to, from, static_cast<size_t>(n * size));
    return;
  }
  const auto fill = [=]<typename T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
  };
  switch (size) {
    case 1:
      return fill(uint8_t{});
    case 2:
      return fill(uint16_t{});
    case 4:
      return fill(uint32_t{});
    default:
      return fill(uint64_t{});
  }
}

// Computes n < kRun elements, as kRun of them, where the last operands are
// repeated.
void ComputePart(const char* a, const char* b, char* out, int64_t n,
                 int64_t in_size, int64_t out_size, WholeRunsLoop loop) {
  alignas(64) char left[kRun * kMaxElementBytes];
  alignas(64) char right[kRun * kMaxElementBytes];
  alignas(64) char results[kRun * kMaxElementBytes];
  const auto pad = [=](const char* from, char* to) {
    CopyElements(from, 1, n, in_size, to);
    char* const end = to + n * in_size;
    CopyElements(end - in_size, 0, kRun - n, in_size, end);
  };
  pad(a, left);
  pad(b, right);
  loop(left, right, results, kRun);
  std::memcpy(out, results, static_cast<size_t>(n * out_size));
}

// The runs that a loop computes without copies. The operands of other runs are
// first copied, in the order of the result.
struct Served {
  // Runs of at least this many elements.
  int64_t min_elements;
  // Runs that repeat an element of an operand.
  bool repeated;
};

// Computes all of a result of `elements` elements.
void MapInto(BroadcastPlan<2> plan, const Tensor& a, const Tensor& b,
             DType dtype, int64_t elements, void* result, const Served& served,
             BinaryLoop loop) {
  if (elements == 0) return;
  const std::array<const Tensor*, 2> operands = {&a, &b};
  const std::array<const char*, 2> data = {static_cast<const char*>(a.data()),
                                           static_cast<const char*>(b.data())};
  const std::array<int64_t, 2> steps = {plan.strides[0].back(),
                                        plan.strides[1].back()};
  char* const out = static_cast<char*>(result);
  const int64_t in_size = a.dtype().bytes();
  const int64_t out_size = dtype.bytes();
  const int64_t n = plan.dims.back();
  if (n >= served.min_elements &&
      (served.repeated || steps[0] * steps[1] != 0)) {
    // The runs of the last dimension but one together.
    if (plan.dims.size() == 1) {
      plan.dims = {1};
      for (TensorShape& strides : plan.strides) strides = {0};
    } else {
      plan.dims.pop_back();
      for (TensorShape& strides : plan.strides) strides.pop_back();
    }
    BinaryRuns runs = {.a_step = steps[0],
                       .b_step = steps[1],
                       .n = n,
                       .runs = plan.dims.back(),
                       .a_distance = plan.strides[0].back(),
                       .b_distance = plan.strides[1].back()};
    ForEachRun(plan, [&](const std::array<int64_t, 2>& at, int64_t to) {
      runs.a = data[0] + at[0] * in_size;
      runs.b = data[1] + at[1] * in_size;
      runs.out = out + to * n * out_size;
      loop(runs);
    });
    return;
  }
  // As many whole runs at a time as there is room for.
  const int64_t room = n < kStaged ? kStaged / n * n : kStaged;
  struct Staged {
    // An operand as large as the result is read where it is.
    bool in_place;
    // All runs are the same, and have been put together.
    bool complete;
    alignas(64) char bytes[kStaged * kMaxElementBytes];
  };
  std::array<Staged, 2> staged;  // The bytes are not initialized.
  for (size_t k = 0; k < 2; ++k) {
    staged[k].in_place = operands[k]->num_elements() == elements;
    staged[k].complete = false;
  }
  int64_t begin = 0;
  int64_t count = 0;
  const auto flush = [&] {
    const auto source = [&](size_t k) {
      return staged[k].in_place ? data[k] + begin * in_size : staged[k].bytes;
    };
    loop({.a = source(0),
          .a_step = 1,
          .b = source(1),
          .b_step = 1,
          .out = out + begin * out_size,
          .n = count,
          .runs = 1});
    begin += count;
    count = 0;
    for (size_t k = 0; k < 2; ++k) {
      // An operand of one element is the same in parts of a run, too. One that
      // is a run is the same in all runs; one that has an element for each of
      // as many runs is not.
      const int64_t size = operands[k]->num_elements();
      staged[k].complete =
          size == 1 || (size == n && n < kStaged && steps[k] != 0);
    }
  };
  ForEachRun(plan, [&](const std::array<int64_t, 2>& at, int64_t) {
    for (int64_t done = 0; done < n;) {
      const int64_t some = std::min(n - done, room - count);
      for (size_t k = 0; k < 2; ++k) {
        if (staged[k].in_place || staged[k].complete) continue;
        CopyElements(data[k] + (at[k] + done * steps[k]) * in_size, steps[k],
                     some, in_size, staged[k].bytes + count * in_size);
      }
      done += some;
      count += some;
      if (count == room) flush();
    }
  });
  if (count > 0) flush();
}

}  // namespace

absl::StatusOr<Tensor> MapRuns(absl::string_view kernel, Operand a, Operand b,
                               DType dtype, BinaryLoop loop) {
  BATON_ASSIGN_OR_RETURN(const auto plan,
                         PlanBroadcast<2>(kernel, {a->shape(), b->shape()}));
  const auto map = [&](int64_t elements, void* result) {
    // Small results are not worth the copies.
    const int64_t block = BlockElements(dtype.bytes());
    MapInto(plan, *a, *b, dtype, elements, result,
            {.min_elements = elements < block ? 1 : block, .repeated = true},
            loop);
  };
  if (void* const destination = a.destination(); destination != nullptr) {
    const int64_t elements = Product(plan.shape);
    map(elements, destination);
    return Tensor::FromBuffer(dtype, plan.shape,
                              {static_cast<const char*>(destination),
                               static_cast<size_t>(elements * dtype.bytes())},
                              nullptr);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         ResultOf(a, b, dtype, plan.shape));
  map(result.num_elements(), result.data());
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> MapWholeRuns(absl::string_view kernel, const Tensor& a,
                                    const Tensor& b, DType dtype,
                                    WholeRunsLoop loop) {
  BATON_ASSIGN_OR_RETURN(const auto plan,
                         PlanBroadcast<2>(kernel, {a.shape(), b.shape()}));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, plan.shape));
  const int64_t in_size = a.dtype().bytes();
  const int64_t out_size = dtype.bytes();
  MapInto(plan, a, b, dtype, result.num_elements(), result.data(),
          {.min_elements = kStaged, .repeated = false},
          [&](const BinaryRuns& r) {
            const char* x = static_cast<const char*>(r.a);
            const char* y = static_cast<const char*>(r.b);
            char* z = static_cast<char*>(r.out);
            const int64_t most = WholeRuns(r.n);
            const int64_t rest = r.n - most;
            for (int64_t run = 0; run < r.runs; ++run) {
              if (most > 0) loop(x, y, z, most);
              if (rest > 0) {
                ComputePart(x + most * in_size, y + most * in_size,
                            z + most * out_size, rest, in_size, out_size, loop);
              }
              x += r.a_distance * in_size;
              y += r.b_distance * in_size;
              z += r.n * out_size;
            }
          });
  return std::move(result).Freeze();
}

}  // namespace baton::kernels::internal
