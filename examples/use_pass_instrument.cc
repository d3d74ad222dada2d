// How to use pass instruments, step by step: the C++ form of the tutorial of
// that name. Run it with
//
//   ./bazelw run //examples:use_pass_instrument
//
// It sends ResNet-18 through real passes while instruments watch, and then
// shows what happens when an instrument fails.

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"

namespace {

using baton::IRModule;
using baton::PassContext;
using baton::PassExecution;
using baton::PassInstrument;
using baton::relay::Function;

// An instrument of one's own: counts how often each operator occurs, and
// records how each pass changes the counts.
class RelayCallNodeDiffer : public PassInstrument {
 public:
  using Counts = std::map<std::string, int>;
  struct Diff {
    int depth;
    std::string pass;
    Counts counts;  // of operators whose count changed
  };

  RelayCallNodeDiffer() : PassInstrument("RelayCallNodeDiffer") {}

  absl::Status EnterPassContext() override {
    diffs_.clear();
    before_.clear();
    return absl::OkStatus();
  }

  absl::Status ExitPassContext() override {
    return before_.empty() ? absl::OkStatus()
                           : absl::InternalError("the stack is not empty");
  }

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& /*pass*/) override {
    // Passes nest: a stack pairs each "before" with its "after".
    before_.push_back(Count(module));
    return absl::OkStatus();
  }

  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override {
    const Counts before = std::move(before_.back());
    before_.pop_back();
    Counts diff = Count(module);
    for (const auto& [op, count] : before) diff[op] -= count;
    std::erase_if(diff, [](const auto& entry) { return entry.second == 0; });
    // Only record passes that make a difference.
    if (!diff.empty()) {
      diffs_.push_back(
          {static_cast<int>(before_.size()), pass.name(), std::move(diff)});
    }
    return absl::OkStatus();
  }

  const std::vector<Diff>& pass_to_op_diff() const { return diffs_; }

 private:
  static Counts Count(const IRModule& module) {
    Counts counts;
    baton::relay::PostOrderVisit(
        module.Find<Function>("main"), [&](const baton::ExprNode* node) {
          const auto* call = baton::Expr(node).As<baton::relay::CallNode>();
          if (call != nullptr && call->op_node() != nullptr) {
            ++counts[call->op_node()->name()];
          }
        });
    return counts;
  }

  std::vector<Diff> diffs_;
  std::vector<Counts> before_;
};

void Print(const std::vector<RelayCallNodeDiffer::Diff>& diffs) {
  std::cout << "[";
  const char* separator = "";
  for (const RelayCallNodeDiffer::Diff& diff : diffs) {
    std::cout << separator << "(" << diff.depth << ", '" << diff.pass << "', {"
              << absl::StrJoin(diff.counts, ", ",
                               [](std::string* out, const auto& entry) {
                                 absl::StrAppend(out, "'", entry.first,
                                                 "': ", entry.second);
                               })
              << "})";
    separator = ",\n ";
  }
  std::cout << "]\n";
}

// Instruments that say what they are asked, and some that fail.
class PassFine : public PassInstrument {
 public:
  using PassInstrument::PassInstrument;

  absl::Status EnterPassContext() override { return Say("enter_pass_ctx"); }
  absl::Status ExitPassContext() override { return Say("exit_pass_ctx"); }
  absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                 const PassExecution& /*pass*/) override {
    BATON_RETURN_IF_ERROR(Say("should_run"));
    return true;
  }
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    return Say("run_before_pass");
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    return Say("run_after_pass");
  }

 protected:
  absl::Status Say(const char* what) {
    std::cout << name() << " " << what << "\n";
    return absl::OkStatus();
  }
  absl::Status Fail(const char* what) {
    std::cout << name() << " bad " << what << "!!!\n";
    return absl::InvalidArgumentError(absl::StrCat(name(), " bad ", what));
  }
};

class PassBadEnterCtx : public PassFine {
 public:
  using PassFine::PassFine;
  absl::Status EnterPassContext() override { return Fail("enter_pass_ctx"); }
};

class PassBadExitCtx : public PassFine {
 public:
  using PassFine::PassFine;
  absl::Status ExitPassContext() override { return Fail("exit_pass_ctx"); }
};

class PassBadRunBefore : public PassFine {
 public:
  using PassFine::PassFine;
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    return Fail("run_before_pass");
  }
};

// A PassFine, a bad one, and another PassFine.
template <typename Bad>
baton::PassInstruments FineBadFine(const char* bad_name) {
  return {std::make_shared<PassFine>("PassFine_0"),
          std::make_shared<Bad>(bad_name),
          std::make_shared<PassFine>("PassFine_1")};
}

// Says what went wrong; an error is what these steps expect.
void Catch(const absl::Status& status) {
  if (status.ok()) return;
  std::cout << "Catching ValueError: " << baton::OriginalMessage(status)
            << "\n";
}

absl::Status Run() {
  // Create an example Relay program: ResNet-18.
  BATON_ASSIGN_OR_RETURN(
      baton::testing::Workload workload,
      baton::testing::GetWorkload(
          "resnet{num_layers=18,batch_size=1,image_shape=[3,224,224]}"));
  IRModule module = workload.module;
  std::cout << "Printing the IR module...\n"
            << baton::AsText(module, {.metadata = false});

  // Create a PassContext with instruments.
  const auto timing = std::make_shared<baton::PassTimingInstrument>();
  {
    const PassContext context({.instruments = {timing}});
    std::string profiles;
    BATON_RETURN_IF_ERROR(context.Run([&]() -> absl::Status {
      BATON_ASSIGN_OR_RETURN(module, baton::relay::InferType()(module));
      BATON_ASSIGN_OR_RETURN(module, baton::relay::FoldScaleAxis()(module));
      // Before leaving the context, get the profile.
      BATON_ASSIGN_OR_RETURN(profiles, timing->Render());
      return absl::OkStatus();
    }));
    std::cout << "Printing results of timing profile...\n" << profiles;
  }

  // Use the current PassContext with instruments.
  const PassContext current = PassContext::Current();
  BATON_RETURN_IF_ERROR(current.OverrideInstruments({timing}));
  BATON_ASSIGN_OR_RETURN(module, baton::relay::InferType()(module));
  BATON_ASSIGN_OR_RETURN(module, baton::relay::FoldScaleAxis()(module));
  BATON_ASSIGN_OR_RETURN(const std::string profiles, timing->Render());
  std::cout << "Printing results of timing profile...\n" << profiles;
  // Registering an empty list drops the instruments; the timing instrument
  // clears its profiles when its context exits.
  BATON_RETURN_IF_ERROR(current.OverrideInstruments({}));

  // Apply passes with several instruments, one of them of our own. Instruments
  // are called in the order of the list, so the time of the first one counts
  // towards the passes that the second one measures.
  const auto differ = std::make_shared<RelayCallNodeDiffer>();
  const baton::Pass pass_seq = baton::Sequential({
      baton::relay::FoldConstant(),
      baton::relay::ConvertLayout(
          {.desired_layouts = {{"nn.conv2d",
                                baton::AttrList{"NHWC", "HWIO"}}}}),
      baton::relay::FoldConstant(),
  });
  BATON_ASSIGN_OR_RETURN(const baton::relay::Function bound,
                         baton::relay::BindParamsByName(
                             module.Find<Function>("main"), workload.params));
  module.Set("main", bound);
  {
    const PassContext context(
        {.opt_level = 3, .instruments = {differ, timing}});
    BATON_RETURN_IF_ERROR(context.Run([&]() -> absl::Status {
      BATON_ASSIGN_OR_RETURN(module, pass_seq(module));
      return timing->Render().status();
    }));
  }
  std::cout << "Printing the change in number of occurrences of each operator "
               "caused by each pass...\n";
  Print(differ->pass_to_op_diff());

  // Errors. An instrument that fails while the context is entered: those
  // before it are told that the context exits, and all are dropped.
  const auto infer_type = [&]() -> absl::Status {
    return baton::relay::InferType()(module).status();
  };
  {
    const PassContext demo(
        {.instruments = FineBadFine<PassBadEnterCtx>("PassBadEnterCtx")});
    Catch(demo.Run(infer_type));
    // Nothing is printed: the instruments are gone.
    BATON_RETURN_IF_ERROR(demo.OverrideInstruments({}));
  }
  // An instrument fails while the context is left: those behind it are not
  // called.
  {
    const PassContext demo(
        {.instruments = FineBadFine<PassBadExitCtx>("PassBadExitCtx")});
    Catch(demo.Run(infer_type));
  }
  // One that fails before a pass: the context is left as ever, and keeps its
  // instruments.
  {
    const PassContext demo(
        {.instruments = FineBadFine<PassBadRunBefore>("PassBadRunBefore")});
    Catch(demo.Run(infer_type));
    BATON_RETURN_IF_ERROR(demo.OverrideInstruments({}));
  }
  // Replace the instruments of the current context, which does not exit by
  // itself.
  BATON_RETURN_IF_ERROR(current.OverrideInstruments(
      FineBadFine<PassBadRunBefore>("PassBadRunBefore")));
  Catch(infer_type());
  return current.OverrideInstruments({});
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
