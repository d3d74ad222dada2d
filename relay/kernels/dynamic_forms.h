// Computations that operators share with their dynamic forms (`dyn.*`), which
// take from arguments what the operators take from attributes.

#ifndef BATON_RELAY_KERNELS_DYNAMIC_FORMS_H_
#define BATON_RELAY_KERNELS_DYNAMIC_FORMS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// Computes image.resize1d, resize2d or resize3d, whose attributes are of type
// A: resizes the region `roi` of `data` to `size`, an extent for each spatial
// axis. `roi` has the begins of the region, then its ends, as fractions of the
// extents; it may be empty.
template <typename A>
absl::StatusOr<Tensor> ResizeTo(const A& attrs, const Tensor& data,
                                std::vector<int64_t> size,
                                std::vector<double> roi);

// nn.upsampling and nn.upsampling3d of the first argument, by the factors in
// the attributes.
absl::StatusOr<Tensor> ComputeUpSampling(const UpSamplingAttrs& attrs,
                                         absl::Span<const Value> args);
absl::StatusOr<Tensor> ComputeUpSampling3D(const UpSampling3DAttrs& attrs,
                                           absl::Span<const Value> args);

// sparse_to_dense of the first three arguments.
absl::StatusOr<Tensor> ComputeSparseToDense(const SparseToDenseAttrs& attrs,
                                            absl::Span<const Value> args);

// Computes strided_slice.
absl::StatusOr<Tensor> SliceOf(const Tensor& data,
                               const StridedSliceAttrs& attrs);

// Computes topk: values, indices, or a tuple of both, as the attributes say,
// which must have `k`.
absl::StatusOr<Value> TopKOf(const Tensor& data, const TopKAttrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_KERNELS_DYNAMIC_FORMS_H_
