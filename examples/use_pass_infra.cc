// How to use passes, step by step: the C++ form of the tutorial of that name.
// Run it with
//
//   ./bazelw run //examples:use_pass_infra
//
// It optimizes a small program by passes that are called one by one, by a
// sequence of passes under different contexts, and by a pass of its own, and
// then watches a sequence at work.

#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/eliminate_common_subexpr.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/print_ir.h"
#include "baton/transform/sequential.h"

namespace {

using baton::DType;
using baton::Expr;
using baton::IRModule;
using baton::Pass;
using baton::PassContext;
using baton::relay::Add;
using baton::relay::Const;
using baton::relay::Constant;
using baton::relay::Function;
using baton::relay::Multiply;
using baton::relay::Var;

// The program that is optimized.
absl::StatusOr<Function> Example() {
  BATON_ASSIGN_OR_RETURN(
      const baton::Tensor ones,
      baton::Tensor::Ones(DType::Float(32), {1, 64, 54, 54}));
  const Expr c = Const(ones);
  const Var weight("weight", {64, 64, 3, 3});
  const Var x("x", {1, 64, 56, 56});
  const Expr conv = baton::relay::nn::Conv2D(x, weight);
  Expr y = Add(c, c);
  y = Multiply(y, Const(2.0f));
  y = Add(conv, y);
  const Expr z = Add(y, c);
  const Expr z1 = Add(y, c);
  return Function({x, weight}, Add(z, z1));
}

void Print(const IRModule& module) {
  std::cout << baton::ToText(module) << "\n";
}

// A pass of one's own: replaces each constant by a multiple of it.
Pass CustomPipeline(const Constant& multiplier) {
  class ReplaceConstant : public baton::relay::ExprMutator {
   public:
    explicit ReplaceConstant(Constant multiplier)
        : multiplier_(std::move(multiplier)) {}

   protected:
    Expr VisitConstant(const Constant& constant) override {
      return Multiply(multiplier_, constant);
    }

   private:
    const Constant multiplier_;
  };
  return baton::relay::CreateFunctionPass(
      [multiplier](Function function, const IRModule& /*module*/,
                   const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return ReplaceConstant(multiplier).MutateFunction(function);
      },
      {.name = "CustomPipeline", .opt_level = 1});
}

// An instrument of one's own: prints the module before each pass.
class PrintBefore : public baton::PassInstrument {
 public:
  PrintBefore() : PassInstrument("PrintIR") {}

  absl::Status RunBeforePass(const IRModule& module,
                             const baton::PassExecution& pass) override {
    std::cout << "Running pass: {} " << pass.info().ToString() << "\n";
    Print(module);
    return absl::OkStatus();
  }
};

absl::Status Run() {
  // Apply passes one by one. Each goes over all functions of the module.
  BATON_ASSIGN_OR_RETURN(const Function example, Example());
  IRModule module = ModuleFromExpr(example);
  const Pass fold_constant = baton::relay::FoldConstant();
  BATON_ASSIGN_OR_RETURN(module, fold_constant(module));
  Print(module);  // the constants are folded
  BATON_ASSIGN_OR_RETURN(module,
                         baton::relay::EliminateCommonSubexpr()(module));
  Print(module);  // `z` and `z1` are one
  // Some passes have options. At level 0 no operators are fused together.
  BATON_ASSIGN_OR_RETURN(module,
                         baton::relay::FuseOps({.fuse_opt_level = 0})(module));
  Print(module);  // each function has one operator

  // Apply a sequence of passes. It sees to the passes that these require.
  module = ModuleFromExpr(example);
  const Pass sequence = baton::Sequential({
      fold_constant,
      baton::relay::EliminateCommonSubexpr(),
      baton::relay::FuseOps({.fuse_opt_level = 2}),
  });
  BATON_ASSIGN_OR_RETURN(const IRModule module1, sequence(module));
  Print(module1);
  // There still are two equal additions: a sequence leaves out the passes
  // above level 2, unless the context says otherwise.
  BATON_ASSIGN_OR_RETURN(
      const IRModule module2,
      PassContext({.opt_level = 3}).Run([&] { return sequence(module); }));
  Print(module2);
  // A context can also leave out passes by name.
  BATON_ASSIGN_OR_RETURN(
      const IRModule module3,
      PassContext({.opt_level = 3, .disabled_pass = {"EliminateCommonSubexpr"}})
          .Run([&] { return sequence(module); }));
  Print(module3);

  // Apply the pass of our own.
  const Pass custom_pass = CustomPipeline(Const(3.0f));
  if (custom_pass.info().name != "CustomPipeline") {
    return absl::InternalError("the pass has another name");
  }
  BATON_ASSIGN_OR_RETURN(const IRModule module4, custom_pass(module));
  Print(module4);

  // Debug: the pass PrintIR prints the module, to standard error, from where
  // it stands in the sequence; an instrument can print before every pass.
  const Pass traced = baton::Sequential({
      fold_constant,
      baton::PrintIR(),
      baton::relay::EliminateCommonSubexpr(),
      baton::relay::FuseOps(),
  });
  const PassContext context(
      {.opt_level = 3, .instruments = {std::make_shared<PrintBefore>()}});
  BATON_ASSIGN_OR_RETURN(const IRModule optimized,
                         context.Run([&] { return traced(module); }));
  Print(optimized);
  std::cout << "done\n";
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) {
    std::cerr << status << "\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
