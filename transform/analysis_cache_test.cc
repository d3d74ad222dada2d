#include "baton/transform/analysis_cache.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "baton/transform/testing/toy_passes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;

// The number of parameters of a function. Tells how often it was computed.
template <int kBytes>
class Params {
 public:
  explicit Params(const Expr& root)
      : num_params_(root.As<FunctionNode>()->params().size()) {
    ++times_computed;
  }
  size_t bytes() const { return kBytes; }
  size_t num_params() const { return num_params_; }

  static std::atomic<int> times_computed;

 private:
  size_t num_params_;
};
template <int kBytes>
std::atomic<int> Params<kBytes>::times_computed{0};

// How often `Params<kBytes>` is computed while `fn` runs.
template <int kBytes, typename Fn>
int TimesComputed(const Fn& fn) {
  const int before = Params<kBytes>::times_computed;
  fn();
  return Params<kBytes>::times_computed - before;
}

Function MakeFunction() { return toy::Module().Find<Function>("main"); }

class Use {
 public:
  explicit Use(AnalysisCache& cache) : cache_(cache) { cache_.BeginUse(); }
  ~Use() { cache_.EndUse(); }

 private:
  AnalysisCache& cache_;
};

TEST(AnalysisCacheTest, ComputesOnceForEachRootAndAnalysis) {
  AnalysisCache cache;
  const Use use(cache);
  const Function f = MakeFunction();
  const Function g = MakeFunction();
  const auto first = cache.Get<Params<100>>(f);
  EXPECT_EQ(first->num_params(), 1);
  EXPECT_EQ(cache.Get<Params<100>>(f), first);
  EXPECT_NE(cache.Get<Params<100>>(g), first);
  EXPECT_EQ(TimesComputed<101>([&] { cache.Get<Params<101>>(f); }), 1);
  EXPECT_EQ(TimesComputed<101>([&] { cache.Get<Params<101>>(f); }), 0);
  EXPECT_EQ(TimesComputed<100>([&] { cache.Get<Params<100>>(g); }), 0);
}

TEST(AnalysisCacheTest, HoldsTheRoot) {
  AnalysisCache cache;
  const Use use(cache);
  const Function f = MakeFunction();
  EXPECT_TRUE(f->unique());
  cache.Get<Params<100>>(f);
  cache.Get<Params<101>>(f);
  EXPECT_FALSE(f->unique());
  EXPECT_FALSE(cache.empty());
  cache.Drop(f.get());
  EXPECT_TRUE(f->unique());
  EXPECT_TRUE(cache.empty());
  EXPECT_EQ(cache.bytes(), 0);
  cache.Drop(f.get());
}

TEST(AnalysisCacheTest, KeepsWhatWasUsedLast) {
  AnalysisCache cache(3500);
  const Use use(cache);
  std::vector<Function> functions;
  for (int i = 0; i < 4; ++i) functions.push_back(MakeFunction());
  const auto get = [&](int i) { cache.Get<Params<1000>>(functions[i]); };
  const auto times = [&](int i) {
    return TimesComputed<1000>([&] { get(i); });
  };
  for (const int i : {0, 1, 2}) EXPECT_EQ(times(i), 1);
  EXPECT_EQ(times(0), 0);
  EXPECT_EQ(times(3), 1);  // 1 makes room
  EXPECT_LE(cache.bytes(), 3500);
  EXPECT_TRUE(functions[1]->unique());
  EXPECT_EQ(times(0), 0);
  EXPECT_EQ(times(2), 0);
  EXPECT_EQ(times(1), 1);
}

TEST(AnalysisCacheTest, KeepsNothingThatIsTooLarge) {
  AnalysisCache cache(1000);
  const Use use(cache);
  const Function f = MakeFunction();
  const Function g = MakeFunction();
  cache.Get<Params<500>>(f);
  EXPECT_EQ(cache.Get<Params<1001>>(g)->num_params(), 1);
  EXPECT_TRUE(g->unique());
  EXPECT_EQ(TimesComputed<500>([&] { cache.Get<Params<500>>(f); }), 0);
}

TEST(AnalysisCacheTest, KeepsNothingOfNoBytes) {
  AnalysisCache cache;
  const Use use(cache);
  const Function f = MakeFunction();
  cache.Get<Params<0>>(f);
  EXPECT_TRUE(cache.empty());
  EXPECT_TRUE(f->unique());
}

TEST(AnalysisCacheTest, ABoundOfZeroTurnsItOff) {
  AnalysisCache cache(0);
  const Use use(cache);
  const Function f = MakeFunction();
  cache.Get<Params<1>>(f);
  EXPECT_TRUE(cache.empty());
}

TEST(AnalysisCacheTest, KeepsNothingOutsideOfUses) {
  AnalysisCache cache;
  const Function f = MakeFunction();
  cache.Get<Params<1>>(f);
  EXPECT_TRUE(cache.empty());
  {
    const Use outer(cache);
    {
      const Use inner(cache);
      cache.Get<Params<1>>(f);
      cache.Get<Params<1>>(MakeFunction());
    }
    EXPECT_EQ(TimesComputed<1>([&] { cache.Get<Params<1>>(f); }), 0);
    cache.Drop(f.get());
    EXPECT_TRUE(cache.empty());  // nobody else held the other function
    cache.Get<Params<1>>(f);
  }
  EXPECT_TRUE(cache.empty());
  EXPECT_TRUE(f->unique());
}

// Fails the first time.
class Throws {
 public:
  explicit Throws(const Expr& /*root*/) {
    if (++times == 1) throw std::runtime_error("boom");
  }
  size_t bytes() const { return 1; }
  static std::atomic<int> times;
};
std::atomic<int> Throws::times{0};

TEST(AnalysisCacheTest, AnExceptionLeavesNothingBehind) {
  AnalysisCache cache;
  const Use use(cache);
  const Function f = MakeFunction();
  EXPECT_THROW(cache.Get<Throws>(f), std::runtime_error);
  EXPECT_TRUE(cache.empty());
  cache.Get<Throws>(f);
  cache.Get<Throws>(f);
  EXPECT_EQ(Throws::times, 2);
}

// Takes its time.
class Slow {
 public:
  explicit Slow(const Expr& /*root*/) {
    ++times;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  size_t bytes() const { return 1; }
  static std::atomic<int> times;
};
std::atomic<int> Slow::times{0};

TEST(AnalysisCacheTest, ThreadsComputeOnce) {
  AnalysisCache cache;
  const Use use(cache);
  const Function f = MakeFunction();
  const Function g = MakeFunction();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { cache.Get<Slow>(i % 2 == 0 ? f : g); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Slow::times, 2);
}

TEST(AnalysisCacheTest, ThreadsGetAndDrop) {
  AnalysisCache cache(2000);
  const Use use(cache);
  std::vector<Function> functions;
  for (int i = 0; i < 20; ++i) functions.push_back(MakeFunction());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const Function& f = functions[(i * 7 + t) % functions.size()];
        EXPECT_EQ(cache.Get<Params<300>>(f)->num_params(), 1);
        if (i % 3 == 0) cache.Drop(f.get());
        if (i % 50 == 0) const Use inner(cache);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.bytes(), 2000);
}

// In contexts.

// Asks for `Params<200>` of each function.
Pass Ask() {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<Function> {
        EXPECT_EQ(context.Analyze<Params<200>>(function)->num_params(), 1);
        return function;
      },
      {.name = "Ask"});
}

// What each of `passes`, run one after the other on `module`, computes.
std::vector<int> TimesComputed(const std::vector<Pass>& passes,
                               IRModule module) {
  std::vector<int> times;
  for (const Pass& pass : passes) {
    times.push_back(TimesComputed<200>([&] {
      absl::StatusOr<IRModule> result = pass(module);
      EXPECT_TRUE(result.ok()) << result.status();
      if (result.ok()) module = *result;
    }));
  }
  return times;
}

// The same inside `context`.
std::vector<int> TimesComputed(const PassContext& context,
                               const std::vector<Pass>& passes,
                               const IRModule& module) {
  std::vector<int> times;
  const absl::Status status = context.Run([&] {
    times = TimesComputed(passes, module);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(context.analyses().empty());
  return times;
}

// Changes the first function only.
Pass ChangeMain() {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return function == module.Find<Function>("main")
                   ? toy::Wrap(function, "toy.b")
                   : function;
      },
      {.name = "ChangeMain"});
}

class ContextTest : public ::testing::TestWithParam<int> {
 protected:
  const PassContext context_{
      PassContext({.config = {{"threads", GetParam()}}})};
};
INSTANTIATE_TEST_SUITE_P(Threads, ContextTest, ::testing::Values(1, 4));

TEST_P(ContextTest, PassesShareAnalyses) {
  EXPECT_THAT(TimesComputed(context_, {Ask(), Ask(), toy::Nothing(), Ask()},
                            toy::Module(50)),
              ElementsAre(50, 0, 0, 0));
}

TEST_P(ContextTest, AReplacedFunctionIsForgotten) {
  const IRModule module = toy::Module(50);
  EXPECT_THAT(
      TimesComputed(context_, {Ask(), ChangeMain(), Ask(), Ask()}, module),
      ElementsAre(50, 0, 1, 0));
  // As soon as it is replaced, however many hold it.
  const absl::Status status = context_.Run([&]() -> absl::Status {
    EXPECT_TRUE(Ask()(module).ok());
    const size_t bytes = context_.analyses().bytes();
    EXPECT_TRUE(ChangeMain()(module).ok());
    EXPECT_EQ(context_.analyses().bytes(), bytes - bytes / 50);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
}

TEST_P(ContextTest, AModulePassForgetsWhatItReplaces) {
  const Pass remove = CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        module.Remove("f9");
        module.Set("main", toy::Wrap(module.Find<Function>("main"), "toy.b"));
        return InferTypes(module);
      },
      {.name = "Remove"});
  const IRModule module = toy::Module(10);
  EXPECT_THAT(TimesComputed(context_, {Ask(), remove, Ask()}, module),
              ElementsAre(10, 0, 1));
  const absl::Status status = context_.Run([&]() -> absl::Status {
    EXPECT_TRUE(Ask()(module).ok());
    const size_t bytes = context_.analyses().bytes();
    EXPECT_TRUE(remove(module).ok());
    EXPECT_EQ(context_.analyses().bytes(), bytes - 2 * bytes / 10);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
}

TEST(DefaultContextTest, RetainsNothingAfterTheOutermostPass) {
  const IRModule module = toy::Module(5);
  EXPECT_THAT(TimesComputed({Ask(), Ask()}, module), ElementsAre(5, 5));
  EXPECT_THAT(TimesComputed({Sequential({Ask(), Ask()}), Ask()}, module),
              ElementsAre(5, 5));
  EXPECT_TRUE(PassContext::Current().analyses().empty());
  EXPECT_TRUE(PassContext::Current()
                  .Analyze<Params<200>>(module.Find<Function>("main"))
                  .unique());
}

TEST(SettingTest, BoundsTheMemory) {
  const auto context = [](int64_t bytes) {
    return PassContext({.config = {{"analysis_cache_bytes", bytes}}});
  };
  EXPECT_THAT(TimesComputed(context(0), {Ask(), Ask()}, toy::Module(5)),
              ElementsAre(5, 5));
  EXPECT_THAT(TimesComputed(context(1000), {Ask(), Ask()}, toy::Module(2)),
              ElementsAre(2, 0));
}

}  // namespace
}  // namespace baton
