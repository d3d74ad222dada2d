#include "baton/transform/function_pass.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/analysis_cache.h"
#include "baton/transform/config.h"
#include "baton/transform/internal/thread_pool.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"

namespace baton {
namespace {

using internal::ThreadPool;
using internal::ThreadState;
using internal::Turn;

using KnownTypes = ThreadState::KnownTypes;
using Definition = IRModule::Definition;

// `status` with the function to which it happened, in a frame that the pass
// manager completes.
absl::Status InFunction(const absl::Status& status, const Definition& def) {
  PassError error = GetPassError(status).value_or(
      PassError{.message = std::string(status.message())});
  error.frames.insert(error.frames.begin(),
                      PassError::Frame{.function = def.var->name()});
  return WithPassError(status, error);
}

// Whether inference of `function` would look at other functions.
bool RefersToOthers(const Function& function) {
  bool refers = false;
  PostOrderVisit(
      function,
      [&](const ExprNode* node) {
        // What has a type is not looked into.
        return !refers && !node->type().defined();
      },
      [&refers](const ExprNode* node) {
        refers |= node->kind() == ExprKind::kGlobalVar;
      });
  return refers;
}

// What became of one function.
struct Result {
  Function function;  // null if it stays as it is
  Function typed;     // null if it is not known
};

// One application of a body to the functions of a module.
struct Job {
  const FunctionPassBody& body;
  const std::string& pass;
  const IRModule& module;
  const PassContext& context;
  absl::Span<const Definition> functions;

  absl::StatusOr<Result> Apply(const Definition& definition) const {
    if (IsSkippedByFunctionPasses(definition.function)) return Result();
    absl::StatusOr<Function> result = internal::CatchExceptions(
        pass, [&] { return body(definition.function, module, context); });
    if (!result.ok()) return result.status();
    if (*result == definition.function) return Result();
    if (!result->defined()) {
      return absl::InternalError(
          absl::StrCat(pass, " returned no function (a null handle)"));
    }
    context.analyses().Drop(definition.function.get());
    return Result{.function = *std::move(result)};
  }
};

// After bodies, functions are typed in groups of this many neighbours, so that
// what inference needs is set up less often. It must not depend on the number
// of threads: in a group, nodes that functions share stay shared.
int GroupSize(int num_functions) {
  return std::clamp(num_functions / 256, 1, 16);
}

// Types those of `results`, the results for the functions from `begin` on, that
// can be typed without the others of the module.
void TypeGroup(const Job& job, int begin, absl::Span<Result> results) {
  // One that is alone is typed soon enough.
  if (job.functions.size() == 1) return;
  IRModule group;
  absl::InlinedVector<Result*, 16> members;
  for (size_t i = 0; i < results.size(); ++i) {
    const Function& function = results[i].function;
    if (!function.defined() || function->type().defined() ||
        RefersToOthers(function)) {
      continue;
    }
    group.Set(job.functions[begin + i].var, function);
    members.push_back(&results[i]);
  }
  if (members.empty()) return;
  for (const TypeData& type : job.module.types()) group.SetType(type);
  Diagnostics diagnostics;
  try {
    group = InferTypes(group, diagnostics);
  } catch (...) {
    return;
  }
  // Errors are reported when all functions are typed together.
  if (diagnostics.has_errors()) return;
  for (size_t i = 0; i < members.size(); ++i) {
    members[i]->typed = group.functions()[i].function;
  }
}

// The module in which functions have become `results`.
KnownTypes Assemble(const Job& job, std::vector<Result> results) {
  const auto assemble = [&](Function Result::*which) {
    std::vector<Function> functions;
    functions.reserve(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const Result& result = results[i];
      functions.push_back((result.*which).defined() ? result.*which
                          : result.function.defined()
                              ? result.function
                              : job.functions[i].function);
    }
    return job.module.WithFunctions(functions);
  };
  KnownTypes modules;
  modules.untyped = assemble(&Result::function);
  const bool any_typed =
      std::any_of(results.begin(), results.end(),
                  [](const Result& result) { return result.typed.defined(); });
  modules.typed = any_typed ? assemble(&Result::typed) : modules.untyped;
  return modules;
}

absl::StatusOr<KnownTypes> RunInOrder(const Job& job) {
  const int num_functions = static_cast<int>(job.functions.size());
  const int group_size = GroupSize(num_functions);
  std::vector<Result> results;  // empty as long as nothing changes
  for (int begin = 0; begin < num_functions; begin += group_size) {
    const int end = std::min(begin + group_size, num_functions);
    bool changed = false;
    for (int i = begin; i < end; ++i) {
      absl::StatusOr<Result> result = job.Apply(job.functions[i]);
      if (!result.ok()) return InFunction(result.status(), job.functions[i]);
      if (!result->function.defined()) continue;
      if (results.empty()) results.resize(num_functions);
      results[i] = *std::move(result);
      changed = true;
    }
    if (changed) {
      TypeGroup(job, begin,
                absl::MakeSpan(results).subspan(begin, end - begin));
    }
  }
  if (results.empty()) return KnownTypes{job.module, job.module};
  return Assemble(job, std::move(results));
}

// Runs a job on several threads. They take the functions in chunks, in order,
// so that a body which waits for those before it waits for bodies that are
// under way.
class ParallelRun : public std::enable_shared_from_this<ParallelRun> {
 public:
  ParallelRun(const Job& job, int num_threads, ThreadState& submitter)
      : job_(job),
        submitter_(submitter),
        num_functions_(static_cast<int>(job.functions.size())),
        group_size_(GroupSize(num_functions_)),
        chunk_size_(ChunkSize(num_functions_, num_threads)),
        num_chunks_((num_functions_ + chunk_size_ - 1) / chunk_size_),
        first_number_(submitter.executions()),
        results_(job.functions.size()),
        chunks_(num_chunks_) {}

  absl::StatusOr<KnownTypes> Run(int num_threads) {
    const std::shared_ptr<ParallelRun> self = shared_from_this();
    ThreadPool::Shared().Ask(std::min(num_threads, num_chunks_) - 1,
                             [self] { self->Help(); });
    Help();
    {
      // Helpers that come from now on find nothing left to take.
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return num_active_ == 0; });
    }
    return Finish();
  }

 private:
  static int ChunkSize(int num_functions, int num_threads) {
    const int group_size = GroupSize(num_functions);
    const int size = std::clamp(num_functions / (num_threads * 8), 1, 64);
    return (size + group_size - 1) / group_size * group_size;
  }

  struct Chunk {
    bool ended = false;
    int64_t executions = 0;  // of passes, inside the bodies
  };

  // The turn of the body that one thread is running.
  class BodyTurn final : public Turn {
   public:
    explicit BodyTurn(ParallelRun* run) : run_(run) {}
    void Set(int chunk, int64_t executions_in_chunk) {
      chunk_ = chunk;
      executions_in_chunk_ = executions_in_chunk;
    }
    absl::StatusOr<int64_t> Await() override {
      BATON_ASSIGN_OR_RETURN(const int64_t before, run_->AwaitChunk(chunk_));
      return before + executions_in_chunk_;
    }

   private:
    ParallelRun* run_;
    int chunk_ = 0;
    int64_t executions_in_chunk_ = 0;
  };

  // Waits for all chunks before this one, then for the turn of the submitter.
  absl::StatusOr<int64_t> AwaitChunk(int chunk) {
    ThreadPool::Shared().LetOthersPass();
    int64_t executions = 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] {
        return num_ended_in_order_ >= chunk || failed_chunk_ < chunk;
      });
      if (failed_chunk_ < chunk) {
        return absl::CancelledError("a function before this one failed");
      }
      executions = executions_before_[chunk];
    }
    int64_t base = submitter_.number_base();
    if (!submitter_.has_turn()) {
      BATON_ASSIGN_OR_RETURN(base, submitter_.turn()->Await());
    }
    return base + first_number_ + executions;
  }

  // Takes chunks until there are none.
  void Help() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_chunk_ == num_chunks_) return;
      ++num_active_;
    }
    {
      ThreadState state(job_.context, submitter_.running());
      const ThreadState::Adopt adopt(&state);
      BodyTurn turn(this);
      while (true) {
        ThreadPool::Shared().LetOthersPass();
        int chunk;
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (next_chunk_ == num_chunks_ || next_chunk_ > failed_chunk_) break;
          chunk = next_chunk_++;
        }
        RunChunk(chunk, state, turn);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    next_chunk_ = num_chunks_;
    --num_active_;
    changed_.notify_all();
  }

  void RunChunk(int chunk, ThreadState& state, BodyTurn& turn) {
    int64_t executions = 0;
    const int begin = chunk * chunk_size_;
    const int end = std::min(begin + chunk_size_, num_functions_);
    for (int i = begin; i < end; ++i) {
      turn.Set(chunk, executions);
      state.set_turn(&turn);
      ThreadPool::Shared().LetOthersPass();
      absl::StatusOr<Result> result = job_.Apply(job_.functions[i]);
      if (!result.ok()) {
        Fail(chunk, i, result.status(), state, executions);
        return;
      }
      executions += state.executions();
      results_[i] = *std::move(result);
    }
    for (int i = begin; i < end; i += group_size_) {
      TypeGroup(
          job_, i,
          absl::MakeSpan(results_).subspan(i, std::min(group_size_, end - i)));
    }
    ThreadPool::Shared().LetOthersPass();
    const std::lock_guard<std::mutex> lock(mutex_);
    chunks_[chunk] = {.ended = true, .executions = executions};
    while (num_ended_in_order_ < num_chunks_ &&
           chunks_[num_ended_in_order_].ended) {
      executions_before_.push_back(executions_before_.back() +
                                   chunks_[num_ended_in_order_].executions);
      ++num_ended_in_order_;
    }
    changed_.notify_all();
  }

  void Fail(int chunk, int index, const absl::Status& status,
            const ThreadState& state, int64_t executions_in_chunk) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (chunk < failed_chunk_) {
      failed_chunk_ = chunk;
      failed_index_ = index;
      error_ = status;
      error_had_turn_ = state.has_turn();
      error_executions_before_ = executions_in_chunk;
      error_executions_ = state.executions();
    }
    changed_.notify_all();
  }

  absl::StatusOr<KnownTypes> Finish() {
    if (failed_chunk_ == kNone) {
      submitter_.AddExecutions(executions_before_.back());
      // Helpers that come late must not keep the functions alive.
      std::vector<Result> results = std::move(results_);
      const bool changed =
          std::any_of(results.begin(), results.end(),
                      [](const Result& r) { return r.function.defined(); });
      if (!changed) return KnownTypes{job_.module, job_.module};
      return Assemble(job_, std::move(results));
    }
    // All chunks before the failed one have ended. Numbers that were given
    // before those chunks' counts were known are put right.
    const int64_t before =
        executions_before_[failed_chunk_] + error_executions_before_;
    if (error_had_turn_) {
      BATON_RETURN_IF_ERROR(submitter_.TakeTurn());
    } else if (auto error = GetPassError(error_); error.has_value()) {
      for (PassError::Frame& frame : error->frames) {
        frame.number += submitter_.number_base() + first_number_ + before;
      }
      error_ = WithPassError(error_, *error);
    }
    submitter_.AddExecutions(before + error_executions_);
    return InFunction(error_, job_.functions[failed_index_]);
  }

  static constexpr int kNone = 0x7fffffff;

  const Job& job_;          // not for helpers that come late
  ThreadState& submitter_;  // neither is this
  const int num_functions_;
  const int group_size_;
  const int chunk_size_;  // whole groups
  const int num_chunks_;
  const int64_t first_number_;  // executions of the submitter so far
  std::vector<Result> results_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int next_chunk_ = 0;
  int num_active_ = 0;
  std::vector<Chunk> chunks_;
  int num_ended_in_order_ = 0;
  // [i]: in the chunks before i, for those up to the first that has not ended.
  std::vector<int64_t> executions_before_ = {0};

  int failed_chunk_ = kNone;  // the first one
  int failed_index_ = 0;
  absl::Status error_;
  bool error_had_turn_ = false;
  int64_t error_executions_before_ = 0;
  int64_t error_executions_ = 0;
};

int NumThreads(const PassContext& context, size_t num_functions) {
  int64_t threads = context.Get(ThreadsConfig());
  if (threads <= 0) threads = std::thread::hardware_concurrency();
  threads = std::min<int64_t>(threads, ThreadPool::kMaxThreads);
  threads = std::min<int64_t>(threads, static_cast<int64_t>(num_functions));
  return static_cast<int>(std::max<int64_t>(threads, 1));
}

// Functions that are dropped when this is, on several threads: to destroy is
// much of the work.
class Leftovers {
 public:
  explicit Leftovers(int num_threads) : num_threads_(num_threads) {}
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;
  ~Leftovers() {
    if (num_threads_ == 1) return;
    ThreadPool::Shared().ForEachPart(static_cast<int>(functions_.size()),
                                     num_threads_, [this](int begin, int end) {
                                       for (int i = begin; i < end; ++i)
                                         functions_[i] = Function();
                                     });
  }

  void Add(const IRModule& module) {
    if (num_threads_ == 1) return;
    functions_.reserve(functions_.size() + module.size());
    for (const Definition& definition : module.functions()) {
      functions_.push_back(definition.function);
    }
  }

 private:
  const int num_threads_;
  std::vector<Function> functions_;
};

class FunctionPass final : public PassImpl {
 public:
  FunctionPass(FunctionPassBody body, PassInfo info, PassOptions options)
      : PassImpl(std::move(info), std::move(options)), body_(std::move(body)) {}

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    if (body_ == nullptr) return absl::InternalError("the pass has no body");
    absl::StatusOr<Pass> infer_type = RegistryOf(context).Get("InferType");
    if (!infer_type.ok()) {
      return absl::Status(
          infer_type.status().code(),
          absl::StrCat("InferType runs after every function pass: ",
                       infer_type.status().message()));
    }
    const int num_threads = NumThreads(context, module.size());
    Leftovers leftovers(num_threads);  // until those who share them are gone
    BATON_ASSIGN_OR_RETURN(KnownTypes modules,
                           RunBodies(module, context, num_threads));
    if (modules.untyped.SameAs(modules.typed)) {
      // The old module is dropped before its successor is typed.
      module = IRModule();
      modules.typed = IRModule();
      return infer_type->Run(std::move(modules.untyped));
    }
    leftovers.Add(module);
    leftovers.Add(modules.untyped);
    module = IRModule();
    ThreadState& state = ThreadState::Get();
    state.set_known_types(&modules);
    absl::StatusOr<IRModule> result = infer_type->Run(modules.untyped);
    state.set_known_types(nullptr);
    return result;
  }

  absl::StatusOr<KnownTypes> RunBodies(const IRModule& module,
                                       const PassContext& context,
                                       int num_threads) const {
    const Job job{body_, info().name, module, context, module.functions()};
    if (num_threads == 1) return RunInOrder(job);
    return std::make_shared<ParallelRun>(job, num_threads, ThreadState::Get())
        ->Run(num_threads);
  }

  FunctionPassBody body_;
};

}  // namespace

const ConfigKey<int64_t>& ThreadsConfig() {
  static const auto* const key = new ConfigKey<int64_t>(
      "threads", 1,
      "On how many threads function passes work; 0: as many as the machine "
      "has. Output does not depend on it.");
  return *key;
}

namespace {
// Registered before any context is made.
[[maybe_unused]] const ConfigKey<int64_t>& registered_threads = ThreadsConfig();
}  // namespace

IRModule WithKnownTypes(const IRModule& module) {
  const KnownTypes* known = ThreadState::Get().known_types();
  return known != nullptr && known->untyped.SameAs(module) ? known->typed
                                                           : module;
}

bool IsSkippedByFunctionPasses(const Function& function) {
  const DictAttrs& attrs = function->attrs();
  return attrs.defined() &&
         (attrs.Find(attr::kCompiler) != nullptr ||
          attrs.IsTrue(attr::kExtern) || attrs.IsTrue(attr::kSkipOptimization));
}

Pass CreateFunctionPass(FunctionPassBody body, PassInfo info,
                        PassOptions options) {
  info.granularity = PassGranularity::kFunction;
  return Pass(std::make_shared<const FunctionPass>(
      std::move(body), std::move(info), std::move(options)));
}

}  // namespace baton
