// Evaluates functions of loops by code that is compiled at the first call.

#ifndef BATON_TIR_JIT_JIT_EVALUATOR_H_
#define BATON_TIR_JIT_JIT_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/tir/jit/jit.h"

namespace baton::tir {

// For EvaluateOptions::other_level. Keeps the code of the functions that it
// ran.
class JitEvaluator final : public FunctionEvaluator {
 public:
  // An error if no LLVM is installed.
  static absl::StatusOr<std::shared_ptr<const JitEvaluator>> Create();

  // As the registered evaluator of functions of loops.
  absl::StatusOr<std::vector<Tensor>> MakeArguments(
      const BaseFunc& function, MakeTensor make) const override;
  // Steps are not counted: a loop that does not end does not return.
  absl::StatusOr<std::vector<Tensor>> Evaluate(
      const IRModule& module, const BaseFunc& function,
      absl::Span<const Tensor> arguments, int64_t max_steps) const override;

 private:
  struct Compiled {
    BaseFunc function;  // keeps the key alive
    std::shared_ptr<const JitProgram> program;
  };

  mutable absl::Mutex mutex_;
  mutable FlatHashMap<const BaseFuncNode*, Compiled> compiled_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace baton::tir

#endif  // BATON_TIR_JIT_JIT_EVALUATOR_H_
