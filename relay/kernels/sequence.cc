#include "baton/relay/op/tensor/sequence.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/dynamic_forms.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/einsum.h"
#include "baton/runtime/kernels/signal.h"
#include "baton/runtime/kernels/sort.h"

namespace baton::relay {
namespace {

absl::StatusOr<Value> ComputeTopK(const TopKAttrs& attrs,
                                  absl::Span<const Value> args) {
  return TopKOf(args[0].tensor(), attrs);
}

template <auto kFunction>
absl::StatusOr<Tensor> Scan(const ScanopAttrs& attrs,
                            absl::Span<const Value> args) {
  return kFunction(args[0].tensor(),
                   attrs.axis.has_value() ? absl::optional<int64_t>(*attrs.axis)
                                          : absl::nullopt,
                   attrs.dtype, attrs.exclusive);
}

absl::StatusOr<Value> ComputeUnique(const UniqueAttrs& attrs,
                                    absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(kernels::UniqueResult unique,
                         kernels::Unique(args[0].tensor(), attrs.sorted));
  std::vector<Value> fields = {
      std::move(unique.values), std::move(unique.indices),
      std::move(unique.inverse), std::move(unique.count)};
  if (attrs.return_counts) fields.emplace_back(std::move(unique.counts));
  return Value::MakeTuple(std::move(fields));
}

absl::StatusOr<Tensor> ComputeStft(const StftAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::Stft(
      args[0].tensor(), args[1].tensor(),
      {.n_fft = attrs.n_fft,
       .hop_length = attrs.hop_length,
       .win_length = attrs.win_length > 0 ? attrs.win_length : attrs.n_fft,
       .normalized = attrs.normalized,
       .onesided = attrs.onesided});
}

absl::StatusOr<Value> ComputeDft(const DFTAttrs& attrs,
                                 absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(
      auto parts,
      kernels::Dft(args[0].tensor(), args[1].tensor(), attrs.inverse));
  return Value::MakeTuple({std::move(parts.first), std::move(parts.second)});
}

absl::StatusOr<Tensor> ComputeEinsum(const EinsumAttrs& attrs,
                                     absl::Span<const Value> args) {
  std::vector<Tensor> operands;
  for (const Value& field : args[0].fields()) {
    operands.push_back(field.tensor());
  }
  return kernels::Einsum(operands, attrs.equation);
}

BATON_EXTEND_OP("sort").Set(
    Kernels(),
    KernelOf<kernels::Sort, &ArgsortAttrs::axis, &ArgsortAttrs::is_ascend>);
BATON_EXTEND_OP("argsort").Set(
    Kernels(), KernelOf<kernels::Argsort, &ArgsortAttrs::axis,
                        &ArgsortAttrs::is_ascend, &ArgsortAttrs::dtype>);
BATON_EXTEND_OP("topk").Set(Kernels(), KernelOf<ComputeTopK>);
BATON_EXTEND_OP("searchsorted")
    .Set(Kernels(), KernelOf<kernels::SearchSorted, &SearchSortedAttrs::right,
                             &SearchSortedAttrs::dtype>);
BATON_EXTEND_OP("cumsum").Set(Kernels(), KernelOf<Scan<kernels::CumSum>>);
BATON_EXTEND_OP("cumprod").Set(Kernels(), KernelOf<Scan<kernels::CumProd>>);
BATON_EXTEND_OP("unique").Set(Kernels(), KernelOf<ComputeUnique>);
BATON_EXTEND_OP("invert_permutation")
    .Set(Kernels(), KernelOf<kernels::InvertPermutation>);
BATON_EXTEND_OP("stft").Set(Kernels(), KernelOf<ComputeStft>);
BATON_EXTEND_OP("dft").Set(Kernels(), KernelOf<ComputeDft>);
BATON_EXTEND_OP("einsum").Set(Kernels(), KernelOf<ComputeEinsum>);

}  // namespace

}  // namespace baton::relay
