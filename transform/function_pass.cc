#include "baton/transform/function_pass.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/transform/internal/run_scope.h"
#include "baton/transform/internal/thread_pool.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"

namespace baton {
namespace {

using internal::CommitOrder;
using internal::ThreadPool;
using internal::ThreadState;

using Definition = IRModule::Definition;

// One application of a pass to the functions of a module.
struct Job {
  absl::FunctionRef<internal::FunctionTransform> transform;
  const std::string& pass;
  const IRModule& module;
  const PassContext& context;
  absl::Span<const Definition> functions;

  // Puts what function i becomes into `result`, which is null before; it is
  // left so if the function stays as it is.
  // A pass without rewrites of its own rewrites functions.
  absl::Status Apply(int i, BaseFunc& result) const {
    const RewriteGate* const gate = internal::rewrite_gate;
    const int64_t requests = gate == nullptr ? 0 : gate->num_requests();
    absl::Status status = internal::CatchExceptions(
        pass, [&] { return transform(functions[i].function, module, result); });
    if (gate != nullptr && status.ok() && result.defined() &&
        gate->num_requests() == requests && !MayRewrite()) {
      result = BaseFunc();
    }
    return status;
  }
};

// Runs a job on several threads. They take the functions in chunks, in order,
// so that a body that waits for earlier ones waits for bodies that are running
// or have ended.
class ParallelRun : public std::enable_shared_from_this<ParallelRun> {
 public:
  ParallelRun(const Job& job, int num_threads)
      : job_(job),
        scope_(job.context),
        submitter_(scope_.submitter()),
        num_functions_(static_cast<int>(job.functions.size())),
        chunk_size_(ChunkSize(num_functions_, num_threads)),
        num_chunks_((num_functions_ + chunk_size_ - 1) / chunk_size_),
        first_number_(submitter_.executions()),
        results_(job.functions.size()),
        listeners_(internal::log_listeners),
        observer_(submitter_.function_watch() != nullptr
                      ? (*submitter_.function_watch())(job.module)
                      : nullptr),
        chunks_(num_chunks_) {
    // So that helpers allocate nothing.
    executions_before_.reserve(num_chunks_ + 1);
    if (listeners_ != nullptr) logs_.resize(job.functions.size());
  }

  absl::StatusOr<IRModule> Run(int num_threads) {
    const std::shared_ptr<ParallelRun> self = shared_from_this();
    ThreadPool::Shared().Submit(std::min(num_threads, num_chunks_) - 1,
                                [self] { self->Help(); });
    Help();
    {
      // Helpers that start from now on find no chunk left.
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return num_active_ == 0; });
    }
    return Finish();
  }

 private:
  static int ChunkSize(int num_functions, int num_threads) {
    return std::clamp(num_functions / (num_threads * 8), 1, 64);
  }

  struct Chunk {
    bool ended = false;
    int64_t executions = 0;  // of passes, inside the bodies
  };

  // The turn of the body that one thread is running.
  class BodyTurn final : public CommitOrder {
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
    ThreadPool::Shared().InjectDelayForTest();
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
    if (!submitter_.is_next()) {
      BATON_ASSIGN_OR_RETURN(base, submitter_.turn()->Await());
    }
    return base + first_number_ + executions;
  }

  // Takes and runs chunks until none is left.
  void Help() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_chunk_ == num_chunks_) return;
      ++num_active_;
    }
    {
      // Passes inside the bodies have watches of their own, or none.
      internal::RunScope::Use use(scope_);
      BodyTurn turn(this);
      while (true) {
        ThreadPool::Shared().InjectDelayForTest();
        int chunk;
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (next_chunk_ == num_chunks_ || next_chunk_ > failed_chunk_) break;
          chunk = next_chunk_++;
        }
        RunChunk(chunk, use.state(), turn);
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
      ThreadPool::Shared().InjectDelayForTest();
      const absl::Status status = Apply(i);
      if (!status.ok()) {
        Fail(chunk, i, status, state, executions);
        return;
      }
      executions += state.executions();
    }
    ThreadPool::Shared().InjectDelayForTest();
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

  // The log of function i is kept until those of the functions before it are
  // added.
  absl::Status Apply(int i) {
    if (logs_.empty()) return ApplyObserved(i);
    logs_[i] = internal::ForkedLogs(listeners_);
    const internal::ForkedLogs::Use use(logs_[i]);
    return ApplyObserved(i);
  }

  absl::Status ApplyObserved(int i) {
    if (observer_ == nullptr) return job_.Apply(i, results_[i]);
    observer_->Before(static_cast<size_t>(i));
    absl::Status status = job_.Apply(i, results_[i]);
    observer_->After(static_cast<size_t>(i));
    return status;
  }

  void Fail(int chunk, int index, const absl::Status& status,
            const ThreadState& state, int64_t executions_in_chunk) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (chunk < failed_chunk_) {
      failed_chunk_ = chunk;
      failed_index_ = index;
      error_ = status;
      error_had_turn_ = state.is_next();
      error_executions_before_ = executions_in_chunk;
      error_executions_ = state.executions();
    }
    changed_.notify_all();
  }

  absl::StatusOr<IRModule> Finish() {
    const int last =
        failed_chunk_ == kNone ? num_functions_ - 1 : failed_index_;
    for (int i = 0; i <= last && !logs_.empty(); ++i) {
      logs_[i].Join(listeners_);
    }
    scope_.Join();
    if (observer_ != nullptr) {
      observer_->Done(static_cast<size_t>(last) + 1);
      observer_ = nullptr;  // late helpers must not keep it alive
    }
    if (failed_chunk_ == kNone) {
      submitter_.AddExecutions(executions_before_.back());
      // Helpers that come late must not keep the functions alive.
      return internal::ReplaceFunctions(job_.module, std::move(results_));
    }
    // All chunks before the failed one have ended. Corrects numbers of
    // executions that were assigned before the counts of those chunks were
    // known.
    const int64_t before =
        executions_before_[failed_chunk_] + error_executions_before_;
    if (error_had_turn_) {
      BATON_RETURN_IF_ERROR(submitter_.AwaitPredecessors());
    } else if (auto error = GetPassError(error_); error.has_value()) {
      for (PassError::Frame& frame : error->frames) {
        frame.number += submitter_.number_base() + first_number_ + before;
      }
      error_ = WithPassError(error_, *error);
    }
    submitter_.AddExecutions(before + error_executions_);
    return internal::InFunction(error_, job_.functions[failed_index_]);
  }

  static constexpr int kNone = 0x7fffffff;

  const Job& job_;            // late helpers must not use it
  internal::RunScope scope_;  // nor this
  ThreadState& submitter_;
  const int num_functions_;
  const int chunk_size_;
  const int num_chunks_;
  const int64_t first_number_;  // executions of the submitter so far
  std::vector<BaseFunc> results_;
  // The listeners of the submitting thread, and the events of each function;
  // empty if there are none.
  internal::LogListener* const listeners_;
  std::vector<internal::ForkedLogs> logs_;
  std::unique_ptr<FunctionObserver> observer_;  // null: nobody is interested

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

}  // namespace

const FunctionWatch* SetFunctionWatch(const FunctionWatch* watch) {
  return ThreadState::Get().SetFunctionWatch(watch);
}

bool internal::FunctionsAreWatched() {
  return ThreadState::Get().function_watch() != nullptr ||
         rewrite_gate != nullptr;
}

absl::Status internal::InFunction(const absl::Status& status,
                                  const IRModule::Definition& definition) {
  // In a frame that the pass manager completes.
  PassError error = GetPassError(status).value_or(
      PassError{.message = std::string(status.message())});
  error.frames.insert(error.frames.begin(),
                      PassError::Frame{.function = definition.var->name()});
  return WithPassError(status, error);
}

IRModule internal::ReplaceFunctions(const IRModule& module,
                                    std::vector<BaseFunc> results) {
  if (std::none_of(results.begin(), results.end(),
                   [](const BaseFunc& f) { return f.defined(); })) {
    return module;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) results[i] = module.functions()[i].function;
  }
  return module.WithFunctions(results);
}

absl::StatusOr<IRModule> internal::TransformFunctionsInParallel(
    IRModule module, const PassContext& context, int num_threads,
    const std::string& pass, absl::FunctionRef<FunctionTransform> transform) {
  // A gate numbers rewrites in the order of the functions.
  if (rewrite_gate != nullptr) num_threads = 1;
  const Job job{transform, pass, module, context, module.functions()};
  BATON_ASSIGN_OR_RETURN(
      IRModule result,
      std::make_shared<ParallelRun>(job, num_threads)->Run(num_threads));
  if (num_threads != 1 && !result.SameAs(module)) {
    DropModule(context, std::move(module));
  }
  return result;
}

}  // namespace baton
