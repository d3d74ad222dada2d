// Options that several networks have, and checks of them.

#ifndef BATON_TESTING_WORKLOADS_OPTIONS_H_
#define BATON_TESTING_WORKLOADS_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/relay/ir/expr.h"

namespace baton::testing {

// An error if `layout` is none of `supported`.
absl::Status CheckLayout(absl::string_view layout,
                         absl::Span<const absl::string_view> supported);
// An error if `value` is not positive.
absl::Status CheckPositive(absl::string_view option, int64_t value);
// An error if `dtype` is not float16, float32 or float64.
absl::Status CheckDType(DType dtype);

// The options that all networks for images have, in the order in which they
// are listed. A is a struct of options.
template <typename A, typename V>
void VisitImageFields(V& v) {
  v("batch_size", &A::batch_size, "Images at a time.");
  v("num_classes", &A::num_classes, "Size of the output.");
  v("image_shape", &A::image_shape, A::kImageShapeDoc);
  v("dtype", &A::dtype, "float16, float32 or float64.");
}

// The documentation of `image_shape`.
inline constexpr char kChannelsFirst[] = "[channels,height,width].";
inline constexpr char kAnyLayout[] =
    "[channels,height,width], or [height,width,channels] with NHWC.";

// `%data`, a batch of images of `image_rank` dimensions; the error names the
// wrong option.
absl::StatusOr<relay::Var> ImageData(int64_t batch_size,
                                     absl::Span<const int64_t> image_shape,
                                     DType dtype, int image_rank);
template <typename O>
absl::StatusOr<relay::Var> ImageData(const O& options, int image_rank = 3) {
  absl::Status status = CheckPositive("num_classes", options.num_classes);
  if (!status.ok()) return status;
  return ImageData(options.batch_size, options.image_shape, options.dtype,
                   image_rank);
}

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_OPTIONS_H_
