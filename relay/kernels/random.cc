#include "baton/relay/op/random/random.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/random_kernels.h"

namespace baton::relay {
namespace {

// A key and random values, as a tuple.
absl::StatusOr<Value> Tuple(absl::StatusOr<kernels::RandomResult> result) {
  if (!result.ok()) return std::move(result).status();
  return Value::MakeTuple({std::move(result->key), std::move(result->values)});
}

absl::StatusOr<Value> Generate(const ThreefryGenerateAttrs& attrs,
                               absl::Span<const Value> args) {
  return Tuple(kernels::ThreefryGenerate(args[0].tensor(), attrs.out_shape));
}

absl::StatusOr<Value> SplitKey(const CallNode& /*call*/,
                               absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(kernels::SplitKeys keys,
                         kernels::ThreefrySplit(args[0].tensor()));
  return Value::MakeTuple({std::move(keys.left), std::move(keys.right)});
}

template <typename A, auto kFunction>
absl::StatusOr<Value> Distribution(const A& attrs,
                                   absl::Span<const Value> args) {
  return Tuple(kFunction(args[0].tensor(), args[1].tensor().AtAsDouble(0),
                         args[2].tensor().AtAsDouble(0), attrs.out_shape,
                         attrs.out_dtype));
}

absl::StatusOr<Value> Multinomial(const MultinomialAttrs& attrs,
                                  absl::Span<const Value> args) {
  return Tuple(kernels::RandomMultinomial(args[0].tensor(), args[1].tensor(),
                                          attrs.num_samples));
}

BATON_EXTEND_OP("random.threefry_generate").Set(Kernels(), KernelOf<Generate>);
BATON_EXTEND_OP("random.threefry_split").Set(Kernels(), SplitKey);
BATON_EXTEND_OP("random.uniform")
    .Set(Kernels(),
         KernelOf<Distribution<UniformAttrs, kernels::RandomUniform>>);
BATON_EXTEND_OP("random.normal")
    .Set(Kernels(), KernelOf<Distribution<NormalAttrs, kernels::RandomNormal>>);
BATON_EXTEND_OP("random.multinomial").Set(Kernels(), KernelOf<Multinomial>);

}  // namespace

}  // namespace baton::relay
