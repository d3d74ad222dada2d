// Programs, passes and an instrument for tests of the pass manager. None of
// them needs real operators. Linking this library registers a pass InferType,
// and the operators toy.a to toy.d of one argument.

#ifndef BATON_TESTING_TOY_PASSES_H_
#define BATON_TESTING_TOY_PASSES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton::toy {

// The kind of functions of toy passes: Relay's.
using baton::relay::Function;

// `main`, `f1`, `f2` ... : each `fn (%x) { toy.a(%x) }`, typed.
IRModule Module(int num_functions = 1);

// The operators from the outermost call in: `a`, or `b a a`.
std::string Ops(const relay::Function& function);
// As above, for `main`, or for each function: `main: a; f1: b`.
std::string Ops(const IRModule& module);
// A text that differs if the modules differ in any way.
std::string Text(const IRModule& module);

Pass InferType();

// A function pass that skips functions with a true `SkipOptimization`
// attribute, and whose finishing pass is InferType.
Pass CreateFunctionPass(FunctionPassBody<relay::Function> body, PassInfo info);

// Function pass: replaces calls of `from` by calls of `to`.
Pass Replace(absl::string_view from, absl::string_view to, PassInfo info);
Pass AToB();  // level 0
Pass BToA();  // level 0

// Function pass that does nothing.
Pass Nothing(PassInfo info = {.name = "Nothing"});

// Function pass that returns a new function every time, equal to the old one.
Pass Liar();

// Function pass that wraps the result in one more toy.a, every time.
Pass Grow();

// Module passes that fail.
Pass Fails(std::string message = "it went wrong");
Pass Throws(std::string what = "boom");

// `function` with `op` applied to its result.
relay::Function Wrap(const relay::Function& function, absl::string_view op);

// Writes a line for each call of a hook, after its name:
//   A should_run #2 Nothing
//   A before #2 Nothing
//   A after #2 Nothing (changed)
//   A failed #2 Nothing
//   A enter; A exit
class Log final : public PassInstrument {
 public:
  Log(std::string name, std::vector<std::string>* lines)
      : PassInstrument(std::move(name)), lines_(lines) {}

  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

  // Names of passes to refuse.
  std::vector<std::string> refused;
  // The hook that fails: `enter`, `before` ... with the message `NAME HOOK`.
  std::string fails_in;
  // True to write lines for should_run.
  bool logs_should_run = false;

 private:
  absl::Status Say(const std::string& hook, const std::string& rest = "");
  std::vector<std::string>* lines_;
};

// Records the passes that run, in order of start.
class Tree final : public PassInstrument {
 public:
  Tree() : PassInstrument("Tree") {}
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;

  // A line for each: two spaces for each level, number, name.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace baton::toy

#endif  // BATON_TESTING_TOY_PASSES_H_
