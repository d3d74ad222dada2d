// Runs a program through all stages while one of its allocations fails:
// parsing, inference, passes, printing, a binary file and back, evaluation.
// Each run ends with an error that says so, or with the right result.
//
// The `operator new` of this program counts, and fails on request. Allocations
// inside of Abseil and protobuf are counted as well.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/node_memory.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

// protobuf loses a string when there is no memory for its place in a list.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:google::protobuf::RepeatedPtrField\n";
}

namespace {

// Allocations until one fails; those that follow it fail as well if `for_good`.
std::atomic<int64_t> allocations_left{INT64_MAX};
std::atomic<bool> for_good{false};
std::atomic<int64_t> num_failed{0};

void* TryAllocate(size_t bytes, size_t alignment) noexcept {
  const int64_t left = allocations_left.fetch_sub(1, std::memory_order_relaxed);
  if (left == 0 || (left < 0 && for_good.load(std::memory_order_relaxed))) {
    num_failed.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes == 0 ? 1 : bytes)
             : std::aligned_alloc(
                   alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* Allocate(size_t bytes, size_t alignment) {
  void* const memory = TryAllocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, 1); }
void* operator new[](size_t bytes) { return Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return TryAllocate(bytes, 1);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return TryAllocate(bytes, 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace baton::testing {
namespace {

using relay::Value;

constexpr char kProgram[] = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}
def @scaled[A](%list: List[A]) -> int32 {
  match (%list) {
    Cons(%head: A, %tail: List[A]) => 1 + @scaled(%tail),
    Nil => 0,
  }
}
def @layer(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1], channels=4, kernel_size=[3, 3]);
  nn.relu(%0)
}
def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(4, 4, 3, 3), float32], %s: Tensor[(4), float32]) {
  %0 = @layer(%x, %w);
  %1 = nn.batch_norm(%0, %s, %s, %s, %s);
  %2 = %1.0;
  let %pair = (%2, add(%2, multiply(2f, 3f)));
  let %f = fn (%a: Tensor[(1, 4, 6, 6), float32]) { tanh(%pair.1 - %a) };
  let %ref = ref(%f(%2));
  %3 = if (less(sum(%s), 10f)) { ref_read(%ref) } else { %pair.0 };
  (nn.softmax(nn.batch_flatten(%3)), @scaled(Cons(%s, Cons(%s, Nil))),
   split(%s, indices_or_sections=[1, 3]), concatenate((%s, %s), axis=0))
})";

constexpr char kPipeline[] =
    "InferType,SimplifyInference,FoldConstant,"
    "EliminateCommonSubexpr,ForwardFoldScaleAxis,BackwardFoldScaleAxis,"
    "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,default]}},"
    "CanonicalizeOps,DeadCodeElimination,FuseOps,DefuseOps,ToANormalForm,"
    "ToGraphNormalForm";

void Append(const Value& value, std::string* numbers) {
  if (!value.is_tensor()) {
    for (const Value& field : value.fields()) Append(field, numbers);
    return;
  }
  for (int64_t i = 0; i < value.tensor().num_elements(); ++i) {
    absl::StrAppend(numbers, value.tensor().AtAsDouble(i), " ");
  }
}

// Everything, once; what the program computes at the end. (Its text may be
// another one: what FoldConstant cannot evaluate for want of memory stays.)
absl::StatusOr<std::string> Everything(int threads) {
  BATON_ASSIGN_OR_RETURN(IRModule module, ParseModule(kProgram));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  PassContext context({.opt_level = 4, .config = {{"threads", threads}}});
  BATON_ASSIGN_OR_RETURN(module, context.Run([&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline(kPipeline));
    return pipeline(module);
  }));
  BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
  const auto bytes = std::make_shared<const std::string>(binary.ToString());
  BATON_ASSIGN_OR_RETURN(const BinaryContent content,
                         ReadBinary(*bytes, bytes, "binary"));
  BATON_ASSIGN_OR_RETURN(module, ParseModule(AsText(content.module)));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Value> args,
      relay::RandomInputs(module.Find<relay::Function>("main"), 1,
                          relay::RandomRange::kMild));
  BATON_ASSIGN_OR_RETURN(const Value result,
                         relay::EvaluateFunction(module, "main", args));
  std::string numbers;
  Append(result, &numbers);
  return numbers;
}

// As a program's main function does it.
absl::StatusOr<std::string> Caught(int threads) {
  return CatchOutOfMemory("everything", [&] { return Everything(threads); });
}

int64_t CountAllocations(int threads) {
  allocations_left = INT64_MAX;
  EXPECT_THAT(Caught(threads), IsOk());
  return INT64_MAX - allocations_left.load();
}

// Fails allocation `first` of a run, then that `step` later, and so on. Of the
// runs with a failed allocation, more than `min_error_rate` end with an error:
// little code can do without what it asks for.
void FailEach(int threads, int64_t first, int64_t step, bool all_that_follow,
              double min_error_rate) {
  // Objects that are made once, such as registries and caches of text, exist
  // now.
  const absl::StatusOr<std::string> expected = Caught(threads);
  ASSERT_THAT(expected, IsOk());
  const int64_t count = CountAllocations(threads);
  int64_t num_errors = 0;
  int64_t num_runs = 0;
  for (int64_t n = first; n < count; n += step) {
    SCOPED_TRACE(absl::StrCat("allocation ", n, " of ", count));
    num_failed = 0;
    for_good = all_that_follow;
    allocations_left = n;
    const absl::StatusOr<std::string> result = Caught(threads);
    allocations_left = INT64_MAX;
    if (num_failed > 0) ++num_runs;
    if (result.ok()) {
      // The failed allocation was not needed; or, since runs with threads
      // differ in their number of allocations, there was no allocation `n`.
      ASSERT_EQ(*result, *expected);
      continue;
    }
    ++num_errors;
    // An error in a text, such as that of a pipeline, may say why.
    ASSERT_TRUE(absl::IsResourceExhausted(result.status()) ||
                absl::StrContains(result.status().message(), "out of memory"))
        << result.status();
    ASSERT_GT(num_failed.load(), 0);
    if (!all_that_follow) {
      ASSERT_NE(result.status().message(), "");
    }
  }
  for_good = false;
  EXPECT_GT(num_runs, 0);
  EXPECT_GT(num_errors, num_runs * min_error_rate);
  // Nothing is left broken.
  const absl::StatusOr<std::string> last = Caught(threads);
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(*last, *expected);
}

TEST(FailedAllocationsTest, EachOne) { FailEach(1, 0, 1, false, 0.9); }

TEST(FailedAllocationsTest, AllFromOneOn) { FailEach(1, 0, 7, true, 0.9); }

// A thread that cannot start leaves its work to the others, so that more runs
// end well; how many depends on the machine.
TEST(FailedAllocationsTest, WithThreads) { FailEach(4, 3, 11, false, 0.5); }

// A pool has the threads that could start.
TEST(FailedAllocationsTest, ThreadsOfAPool) {
  using Calls = std::array<std::atomic<int>, 64>;
  bool has_fewer = false;
  bool has_all = false;
  for (int64_t n = 0; n < 100 && !has_all; ++n) {
    SCOPED_TRACE(n);
    std::optional<WorkerPool> pool;
    allocations_left = n;
    try {
      pool.emplace(4);
    } catch (const std::bad_alloc&) {
    }
    allocations_left = INT64_MAX;
    if (!pool.has_value()) continue;
    has_fewer |= pool->num_threads() < 4;
    has_all = pool->num_threads() == 4;
    Calls calls = {};
    pool->Run(
        static_cast<int>(calls.size()),
        [](void* context, int part, int /*thread*/) {
          ++(*static_cast<Calls*>(context))[static_cast<size_t>(part)];
        },
        &calls);
    for (const std::atomic<int>& one : calls) EXPECT_EQ(one.load(), 1);
  }
  EXPECT_TRUE(has_fewer && has_all);
}

// Under a sanitizer, or for a node that is large, that is `operator new`
// itself; else the memory of nodes is taken in chunks.
TEST(FailedAllocationsTest, NodeMemory) {
  using internal::NodeMemory;
  for (const size_t bytes : {16, 48, 256, 1024}) {
    std::vector<void*> blocks;
    blocks.reserve(1 << 16);
    for (int failures = 0; failures < 20;) {
      allocations_left = 0;
      void* block = nullptr;
      try {
        block = NodeMemory::Allocate(bytes);
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      allocations_left = INT64_MAX;
      if (block == nullptr) block = NodeMemory::Allocate(bytes);
      blocks.push_back(block);
      if (blocks.size() == blocks.capacity()) break;
    }
    for (void* block : blocks) NodeMemory::Free(block, bytes);
  }
}

}  // namespace
}  // namespace baton::testing
