#include "baton/tir/jit/jit_evaluator.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/jit/jit.h"
#include "baton/tir/jit/llvm_library.h"

namespace baton::tir {

absl::StatusOr<std::shared_ptr<const JitEvaluator>> JitEvaluator::Create() {
  BATON_RETURN_IF_ERROR(LlvmLibrary::Get().status());
  return std::make_shared<const JitEvaluator>();
}

absl::StatusOr<std::vector<Tensor>> JitEvaluator::MakeArguments(
    const BaseFunc& function, MakeTensor make) const {
  const FunctionEvaluator* const interpreter =
      FindFunctionEvaluator(PrimFuncNode::kKind);
  if (interpreter == nullptr) {
    return absl::UnimplementedError("the interpreter of loops is not linked");
  }
  return interpreter->MakeArguments(function, make);
}

absl::StatusOr<std::vector<Tensor>> JitEvaluator::Evaluate(
    const IRModule& /*module*/, const BaseFunc& function,
    absl::Span<const Tensor> arguments, int64_t /*max_steps*/) const {
  const auto* node = function.As<PrimFuncNode>();
  if (node == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the just-in-time compiler compiles functions of loops, "
                     "not a ",
                     NodeKindName(function->kind())));
  }
  const PrimFunc loops(node);
  std::shared_ptr<const JitProgram> program;
  {
    // Others wait: they often call the same function.
    const absl::MutexLock lock(&mutex_);
    const auto found = compiled_.find(function.get());
    if (found != compiled_.end()) {
      program = found->second.program;
    } else {
      BATON_ASSIGN_OR_RETURN(program,
                             JitProgram::Compile({{"loops", loops, ""}}));
      compiled_[function.get()] = {function, program};
    }
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Argument> values,
                         ToArguments(loops, arguments));
  return program->Run(0, values);
}

}  // namespace baton::tir
