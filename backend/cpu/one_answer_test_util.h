// A network's one answer: the evaluator and the executor give the same bits.

#ifndef BATON_BACKEND_CPU_ONE_ANSWER_TEST_UTIL_H_
#define BATON_BACKEND_CPU_ONE_ANSWER_TEST_UTIL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/testing/test_settings.h"

namespace baton {

// A hash of the types, the shapes and the bits of tensors.
uint64_t HashOf(const std::vector<Tensor>& tensors);

// A typed module, random arguments of its main and the hash of what the
// evaluator makes of them.
struct OneAnswer {
  IRModule module;
  std::vector<Tensor> inputs;
  uint64_t hash = 0;
};

// Types a module, and evaluates it. Fails if it cannot be typed or evaluated.
absl::StatusOr<OneAnswer> MakeOneAnswer(
    IRModule module, relay::RandomRange range = relay::RandomRange::kPlain);

// A width of the executor's kernels, and of the vectors that the evaluator and
// the executor's other steps use, in bits.
struct NamedWidth {
  const char* name;
  kernels::blocked::Width width;
  int bits;
};
inline constexpr NamedWidth kNamedWidths[] = {
    {"128", kernels::blocked::Width::k128, 128},
    {"256", kernels::blocked::Width::k256, 256},
    {"512", kernels::blocked::Width::k512, 512},
    {"512InHalves", kernels::blocked::Width::kHalves512, 256}};

// Networks of which there is a workload.
inline constexpr const char* kOneAnswerNetworks[] = {
    "mlp",
    "resnet{num_layers=18,image_shape=[3,32,32],num_classes=10}",
    "mobilenet{num_classes=10,image_shape=[3,64,64]}",
    "dqn",
    "dcgan",
    "lstm{iterations=3,num_hidden=8}"};

// Expects that the evaluator and the executor, for several numbers of threads,
// give one answer at vectors of that width. Skips the test if the processor has
// no such vectors. The numbers of threads are 1, 2, 3 and 16, or only two of
// them.
void ExpectOneAnswer(const IRModule& module, const NamedWidth& width,
                     relay::RandomRange range = relay::RandomRange::kPlain,
                     bool all_thread_counts = testing::IsLongTest());

}  // namespace baton

#endif  // BATON_BACKEND_CPU_ONE_ANSWER_TEST_UTIL_H_
