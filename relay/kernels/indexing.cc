#include "baton/relay/op/tensor/indexing.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/dynamic_forms.h"
#include "baton/relay/kernels/integer_arguments.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/rearrange.h"
#include "baton/runtime/kernels/scatter.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> ComputeStridedSlice(const StridedSliceAttrs& attrs,
                                           absl::Span<const Value> args) {
  return SliceOf(args[0].tensor(), attrs);
}

absl::StatusOr<Tensor> ComputeSliceLike(const SliceLikeAttrs& attrs,
                                        absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Tensor& like = args[1].tensor();
  kernels::StridedSliceParams params;
  params.axes.emplace();
  if (attrs.axes.has_value()) {
    for (const int64_t axis : *attrs.axes) {
      params.axes->push_back(axis < 0 ? axis + data.rank() : axis);
    }
  } else {
    for (int i = 0; i < data.rank() && i < like.rank(); ++i) {
      params.axes->push_back(i);
    }
  }
  for (const int64_t axis : *params.axes) {
    params.begin.push_back(0);
    params.end.push_back(like.shape()[axis]);
  }
  return kernels::StridedSlice(data, params);
}

absl::StatusOr<Tensor> ComputeTake(const TakeAttrs& attrs,
                                   absl::Span<const Value> args) {
  const auto mode = attrs.mode == "wrap"   ? kernels::IndexMode::kWrap
                    : attrs.mode == "fast" ? kernels::IndexMode::kCheck
                                           : kernels::IndexMode::kClip;
  const Tensor& indices = args[1].tensor();
  return kernels::Take(args[0].tensor(), indices,
                       attrs.axis.has_value()
                           ? absl::optional<int64_t>(*attrs.axis)
                           : absl::nullopt,
                       mode,
                       attrs.batch_dims < 0 ? attrs.batch_dims + indices.rank()
                                            : attrs.batch_dims);
}

absl::StatusOr<Tensor> ComputeGather(const GatherAttrs& attrs,
                                     absl::Span<const Value> args) {
  return kernels::Gather(args[0].tensor(), attrs.axis.value_or(0),
                         args[1].tensor());
}

absl::StatusOr<kernels::ScatterMode> ScatterModeOf(absl::string_view name) {
  if (name == "update") return kernels::ScatterMode::kUpdate;
  if (name == "add") return kernels::ScatterMode::kAdd;
  if (name == "mul") return kernels::ScatterMode::kMul;
  if (name == "min") return kernels::ScatterMode::kMin;
  if (name == "max") return kernels::ScatterMode::kMax;
  if (name == "mean") return kernels::ScatterMode::kMean;
  return absl::InvalidArgumentError(
      absl::StrCat("updates cannot be combined by \"", name,
                   "\": give update, add, mul, min, max or mean"));
}

absl::StatusOr<Tensor> ScatterElements(const ScatterElementsAttrs& attrs,
                                       absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const kernels::ScatterMode mode,
                         ScatterModeOf(attrs.reduction));
  return kernels::ScatterElements(args[0].tensor(), args[1].tensor(),
                                  args[2].tensor(), attrs.axis, mode);
}

absl::StatusOr<Tensor> ScatterNd(const ScatterNDAttrs& attrs,
                                 absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const kernels::ScatterMode mode,
                         ScatterModeOf(attrs.mode));
  return kernels::ScatterNd(args[0].tensor(), args[1].tensor(),
                            args[2].tensor(), mode);
}

absl::StatusOr<Tensor> UnravelIndex(const Tensor& positions,
                                    const Tensor& shape) {
  TensorShape extents;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    extents.push_back(shape.AtAsInt64(i));
  }
  return kernels::UnravelIndex(positions, extents);
}

absl::StatusOr<Tensor> Trilu(const TriluAttrs& attrs,
                             absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const int64_t k, IntegerArgument("k", args[1]));
  return kernels::Trilu(args[0].tensor(), k, attrs.upper);
}

absl::StatusOr<Tensor> ComputeStridedSet(const Tensor& data,
                                         const Tensor& values,
                                         const Tensor& begin, const Tensor& end,
                                         const Tensor& strides) {
  return kernels::StridedSet(data, values, Integers(begin), Integers(end),
                             Integers(strides));
}

// Broadcasts the indices, and calls gather_nd with them.
absl::StatusOr<Value> ComputeAdvIndex(const CallNode& /*call*/,
                                      absl::Span<const Value> args) {
  const absl::Span<const Value> fields = args[0].fields();
  TensorShape shape;
  for (size_t i = 1; i < fields.size(); ++i) {
    const absl::Span<const int64_t> given = fields[i].tensor().shape();
    if (given.size() > shape.size()) {
      shape.insert(shape.begin(), given.size() - shape.size(), 1);
    }
    for (size_t d = 0; d < given.size(); ++d) {
      int64_t& extent = shape[shape.size() - given.size() + d];
      if (extent == 1) extent = given[d];
    }
  }
  std::vector<Tensor> indices;
  for (size_t i = 1; i < fields.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const Tensor wide,
                           kernels::Cast(fields[i].tensor(), DType::Int(64)));
    BATON_ASSIGN_OR_RETURN(Tensor index, kernels::BroadcastTo(wide, shape));
    indices.push_back(std::move(index));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor stacked, kernels::Stack(indices, 0));
  BATON_ASSIGN_OR_RETURN(Tensor result,
                         kernels::GatherNd(fields[0].tensor(), stacked));
  return Value(std::move(result));
}

// Rows of a sparse matrix without an element get one of value `default_value`
// in column 0.
absl::StatusOr<Value> ComputeSparseFillEmptyRows(const CallNode& /*call*/,
                                                 absl::Span<const Value> args) {
  const Tensor& indices = args[0].tensor();
  const Tensor& values = args[1].tensor();
  const std::vector<int64_t> shape = Integers(args[2].tensor());
  const int64_t rank = indices.shape()[1];
  const int64_t count = indices.shape()[0];
  if (values.num_elements() != count || shape.empty() || rank < 1 ||
      args[3].tensor().num_elements() != 1) {
    return absl::InvalidArgumentError(
        "the coordinates, values, shape and default do not fit");
  }
  BATON_ASSIGN_OR_RETURN(
      const int64_t bytes,
      NumElements(DType::Int(8),
                  {shape[0], rank,
                   static_cast<int64_t>(sizeof(std::vector<int64_t>))}));
  BATON_RETURN_IF_ERROR(CheckTensorBytes(bytes));
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(shape[0]));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = indices.AtAsInt64(i * rank);
    if (row < 0 || row >= shape[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", row, " is none of the ", shape[0]));
    }
    rows[static_cast<size_t>(row)].push_back(i);
  }
  std::vector<int64_t> filled, numbers, empty;
  for (size_t row = 0; row < rows.size(); ++row) {
    empty.push_back(rows[row].empty() ? 1 : 0);
    for (const int64_t i : rows[row]) {
      for (int64_t d = 0; d < rank; ++d) {
        filled.push_back(indices.AtAsInt64(i * rank + d));
      }
      numbers.push_back(values.AtAsInt64(i));
    }
    if (!rows[row].empty()) continue;
    filled.push_back(static_cast<int64_t>(row));
    filled.insert(filled.end(), static_cast<size_t>(rank - 1), 0);
    numbers.push_back(args[3].tensor().AtAsInt64(0));
  }
  const auto length = static_cast<int64_t>(numbers.size());
  BATON_ASSIGN_OR_RETURN(const Tensor new_indices,
                         Tensor::FromValues<int64_t>({length, rank}, filled));
  BATON_ASSIGN_OR_RETURN(const Tensor new_values,
                         Tensor::FromValues<int64_t>({length}, numbers));
  BATON_ASSIGN_OR_RETURN(const Tensor is_empty,
                         Tensor::FromValues<int64_t>({shape[0]}, empty));
  return Value::MakeTuple({new_indices, new_values, is_empty});
}

absl::StatusOr<Value> ComputeSparseReshape(const CallNode& /*call*/,
                                           absl::Span<const Value> args) {
  const Tensor& indices = args[0].tensor();
  const std::vector<int64_t> from = Integers(args[1].tensor());
  std::vector<int64_t> to = Integers(args[2].tensor());
  BATON_ASSIGN_OR_RETURN(const int64_t size, NumElements(DType::Int(8), from));
  // -1 stands for what is left over.
  int64_t known = 1;
  int64_t* hole = nullptr;
  for (int64_t& extent : to) {
    if (extent == -1 && hole == nullptr) {
      hole = &extent;
    } else if (extent < 0 || __builtin_mul_overflow(known, extent, &known)) {
      known = -1;
      break;
    }
  }
  if (hole != nullptr) *hole = known > 0 ? size / known : 0;
  const bool fits = known >= 0 &&
                    (hole == nullptr ? known : known * *hole) == size &&
                    indices.shape()[1] == static_cast<int64_t>(from.size());
  if (!fits) {
    return absl::InvalidArgumentError("the shapes have not one size");
  }
  const auto rank = static_cast<int64_t>(to.size());
  std::vector<int64_t> moved(static_cast<size_t>(indices.shape()[0] * rank));
  for (int64_t i = 0; i < indices.shape()[0]; ++i) {
    int64_t position = 0;
    for (size_t d = 0; d < from.size(); ++d) {
      const int64_t at = indices.AtAsInt64(
          i * static_cast<int64_t>(from.size()) + static_cast<int64_t>(d));
      if (at < 0 || at >= from[d]) {
        return absl::InvalidArgumentError(
            absl::StrCat("coordinate ", at, " is out of range"));
      }
      position = position * from[d] + at;
    }
    for (int64_t d = rank; d > 0; --d) {
      moved[i * rank + d - 1] = position % to[d - 1];
      position /= to[d - 1];
    }
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor wide,
      Tensor::FromValues<int64_t>({indices.shape()[0], rank}, moved));
  BATON_ASSIGN_OR_RETURN(Tensor coordinates,
                         kernels::Cast(wide, indices.dtype()));
  BATON_ASSIGN_OR_RETURN(const Tensor wide_shape,
                         Tensor::FromValues<int64_t>({rank}, to));
  BATON_ASSIGN_OR_RETURN(Tensor shape,
                         kernels::Cast(wide_shape, args[2].tensor().dtype()));
  return Value::MakeTuple({std::move(coordinates), std::move(shape)});
}

BATON_EXTEND_OP("strided_slice").Set(Kernels(), KernelOf<ComputeStridedSlice>);
BATON_EXTEND_OP("slice_like").Set(Kernels(), KernelOf<ComputeSliceLike>);
BATON_EXTEND_OP("strided_set").Set(Kernels(), KernelOf<ComputeStridedSet>);
BATON_EXTEND_OP("take").Set(Kernels(), KernelOf<ComputeTake>);
BATON_EXTEND_OP("gather").Set(Kernels(), KernelOf<ComputeGather>);
BATON_EXTEND_OP("gather_nd")
    .Set(Kernels(), KernelOf<kernels::GatherNd, &GatherNDAttrs::batch_dims>);
BATON_EXTEND_OP("adv_index").Set(Kernels(), ComputeAdvIndex);
BATON_EXTEND_OP("unravel_index").Set(Kernels(), KernelOf<UnravelIndex>);
BATON_EXTEND_OP("argwhere").Set(Kernels(), KernelOf<kernels::ArgWhere>);
BATON_EXTEND_OP("sequence_mask")
    .Set(Kernels(), KernelOf<kernels::SequenceMask, &SequenceMaskAttrs::axis,
                             &SequenceMaskAttrs::mask_value>);
BATON_EXTEND_OP("trilu").Set(Kernels(), KernelOf<Trilu>);
BATON_EXTEND_OP("matrix_set_diag")
    .Set(Kernels(), KernelOf<kernels::MatrixSetDiag, &MatrixSetDiagAttrs::k1,
                             &MatrixSetDiagAttrs::k2,
                             &MatrixSetDiagAttrs::super_diag_right_align,
                             &MatrixSetDiagAttrs::sub_diag_right_align>);
BATON_EXTEND_OP("one_hot").Set(
    Kernels(), KernelOf<kernels::OneHot, &OneHotAttrs::depth,
                        &OneHotAttrs::axis, &OneHotAttrs::dtype>);
BATON_EXTEND_OP("scatter_elements").Set(Kernels(), KernelOf<ScatterElements>);
BATON_EXTEND_OP("scatter_nd").Set(Kernels(), KernelOf<ScatterNd>);
BATON_EXTEND_OP("sparse_to_dense")
    .Set(Kernels(), KernelOf<ComputeSparseToDense>);
BATON_EXTEND_OP("sparse_fill_empty_rows")
    .Set(Kernels(), ComputeSparseFillEmptyRows);
BATON_EXTEND_OP("sparse_reshape").Set(Kernels(), ComputeSparseReshape);

}  // namespace

}  // namespace baton::relay
