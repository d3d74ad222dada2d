// The verifier refuses mutated plans, or they give the bytes of the plan.
//
// An accepted mutation is decided by running it: each step of the plan gets a
// function that hashes all bytes of its operands, and spoils its results and
// its workspace before it reads. Equal bytes of outputs then mean equal terms.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/parallel_for.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_runner.h"
#include "baton/runtime/executor/plan_verifier.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/bound_workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::executor {
namespace {

using ::baton::testing::IsOk;

constexpr int kThreads = 3;

absl::StatusOr<Plan> PlanOf(const std::string& spec) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, testing::BoundWorkload(spec));
  BATON_ASSIGN_OR_RETURN(const IRModule typed, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Executable executable,
                         Compile(typed, {.max_threads = kThreads}));
  return executable.plan();
}

// The parameters of a step that hashes: the sizes that its function knows,
// whatever the plan says.
struct Sizes {
  uint64_t number = 0;
  std::vector<int64_t> inputs;
  std::vector<int64_t> outputs;
  int64_t workspace = 0;
  int64_t items = 1;
  bool is_elementwise = false;
};

uint64_t HashOf(uint64_t seed, const void* data, int64_t bytes) {
  StableHash hash(seed);
  hash.AddString({static_cast<const char*>(data), static_cast<size_t>(bytes)});
  return hash.value();
}

int HashStep(const StepCall& call) {
  const auto& sizes = *static_cast<const Sizes*>(call.params);
  if (sizes.workspace > 0) {
    std::memset(call.workspace, 0xa5, static_cast<size_t>(sizes.workspace));
  }
  // True for inputs that the step may overwrite: it reads them element by
  // element.
  const auto is_elementwise = [&](size_t k) {
    return sizes.is_elementwise && sizes.inputs[k] == sizes.outputs[0];
  };
  bool in_place = false;
  for (size_t k = 0; k < sizes.inputs.size(); ++k) {
    in_place =
        in_place || (is_elementwise(k) && call.inputs[k] == call.outputs[0]);
  }
  // The bytes of result k that items [begin, end) write.
  const auto begin = [&](size_t k) {
    return sizes.outputs[k] * call.begin / sizes.items;
  };
  const auto end = [&](size_t k) {
    return sizes.outputs[k] * call.end / sizes.items;
  };
  if (!in_place) {
    for (size_t k = 0; k < sizes.outputs.size(); ++k) {
      std::memset(static_cast<char*>(call.outputs[k]) + begin(k), 0x5a,
                  static_cast<size_t>(end(k) - begin(k)));
    }
  }
  uint64_t hash = sizes.number;
  for (size_t k = 0; k < sizes.inputs.size(); ++k) {
    if (!is_elementwise(k) && sizes.inputs[k] > 0) {
      hash = HashOf(hash, call.inputs[k], sizes.inputs[k]);
    }
  }
  for (size_t k = 0; k < sizes.outputs.size(); ++k) {
    auto* const bytes = static_cast<unsigned char*>(call.outputs[k]);
    for (int64_t i = begin(k); i < end(k); ++i) {
      uint64_t word = hash + static_cast<uint64_t>(i) * 0x9ddfea08eb382d69ull;
      for (size_t j = 0; j < sizes.inputs.size(); ++j) {
        if (is_elementwise(j)) {
          word += static_cast<const unsigned char*>(call.inputs[j])[i];
        }
      }
      bytes[i] =
          static_cast<unsigned char>((word * 0xc2b2ae3d27d4eb4full) >> 40);
    }
  }
  return 0;
}

// Parts run last to first, on other threads than usual.
class Reversed final : public ParallelFor {
 public:
  int num_threads() const override { return kThreads; }
  void Run(int parts, Body body, void* context) override {
    for (int part = parts; part-- > 0;) body(context, part, part % kThreads);
  }
};

// The plan of a workload with functions that hash, with workspaces and with
// values that overwrite others.
class HashedPlan {
 public:
  explicit HashedPlan(Plan plan) : plan_(std::move(plan)) {
    constants_.resize(plan_.constants.size());
    for (size_t i = 0; i < constants_.size(); ++i) {
      // Fewer bytes to hash, but different ones for each constant.
      constants_[i].assign(static_cast<size_t>(plan_.constants[i].bytes),
                           static_cast<char>(i + 1));
      plan_.constants[i].data = constants_[i].data();
      if (constants_[i].empty()) plan_.constants[i].data = "";
    }
    std::map<int32_t, int> uses;
    for (const Operand& operand : plan_.operands) ++uses[operand.value];
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      const Operand* const operands = &plan_.operands[step.first_operand];
      auto sizes = std::make_shared<Sizes>();
      sizes->number = i + 1;
      for (int32_t k = 0; k < step.num_inputs; ++k) {
        sizes->inputs.push_back(operands[k].bytes);
      }
      for (int32_t k = 0; k < step.num_outputs; ++k) {
        sizes->outputs.push_back(operands[step.num_inputs + k].bytes);
      }
      if (step.workspace >= 0) plan_.values[step.workspace].bytes = 0;
      step.workspace = -1;
      step.workspace_bytes = 0;
      if (i % 3 == 1) {
        step.workspace_bytes = sizes->workspace = 64 * (1 + i % 5);
        step.workspace = static_cast<int32_t>(plan_.values.size());
        Value value;
        value.bytes = step.workspace_bytes * kThreads;
        plan_.values.push_back(value);
      }
      step.items = sizes->items = 1 + static_cast<int64_t>(i % 4);
      step.cost_ns = 1e6;
      step.function = HashStep;
      Value& result = plan_.values[operands[step.num_inputs].value];
      result.overwrites = -1;
      step.overwritable = Step::kNoInput;
      if (step.num_outputs == 1 && step.num_inputs > 0 && i % 2 == 0) {
        step.overwritable = Step::kAnyInput;
        sizes->is_elementwise = true;
        const Value& input = plan_.values[operands[0].value];
        if (input.space == Space::kArena && result.space == Space::kArena &&
            input.bytes == result.bytes && uses[operands[0].value] == 2 &&
            operands[0].bytes == input.bytes &&
            operands[step.num_inputs].bytes == result.bytes) {
          result.overwrites = operands[0].value;
        }
      }
      step.params = sizes.get();
      plan_.owners.push_back(std::move(sizes));
    }
    PlaceValues(plan_);
  }

  const Plan& plan() const { return plan_; }

  // The outputs of `plan`, a mutation of this one; empty if it writes outside
  // of its memory.
  static std::vector<std::string> Run(const Plan& plan, bool reversed) {
    constexpr size_t kGuard = 4096;
    const auto guarded = [](int64_t bytes, char fill) {
      return std::string(kGuard + static_cast<size_t>(bytes) + kGuard, fill);
    };
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<const void*> input_data;
    std::vector<void*> output_data;
    for (const int64_t bytes : plan.input_bytes) {
      inputs.push_back(guarded(bytes, static_cast<char>(0x70 + inputs.size())));
    }
    for (const int64_t bytes : plan.output_bytes) {
      outputs.push_back(guarded(bytes, 0x11));
    }
    for (const std::string& input : inputs) {
      input_data.push_back(input.data() + kGuard);
    }
    for (std::string& output : outputs) {
      output_data.push_back(output.data() + kGuard);
    }
    std::vector<char> arena(
        static_cast<size_t>(plan.arena_bytes) + 2 * kGuard + 64, 0x22);
    auto at = reinterpret_cast<uintptr_t>(arena.data()) + kGuard;
    at = (at + 63) / 64 * 64;
    PlanRunner runner(plan, reinterpret_cast<void*>(at));
    Reversed threads;
    if (runner
            .Run(input_data, absl::MakeSpan(output_data),
                 reversed ? &threads : nullptr, nullptr)
            .step >= 0) {
      return {};
    }
    std::vector<std::string> result;
    const auto is = [](char fill) {
      return [fill](char c) { return c == fill; };
    };
    const size_t begin = at - reinterpret_cast<uintptr_t>(arena.data());
    if (!std::all_of(arena.begin(), arena.begin() + begin, is(0x22)) ||
        !std::all_of(arena.begin() + begin + plan.arena_bytes, arena.end(),
                     is(0x22))) {
      return {};
    }
    for (const std::string& output : outputs) {
      if (!std::all_of(output.begin(), output.begin() + kGuard, is(0x11)) ||
          !std::all_of(output.end() - kGuard, output.end(), is(0x11))) {
        return {};
      }
      result.push_back(output.substr(kGuard, output.size() - 2 * kGuard));
    }
    return result;
  }

 private:
  Plan plan_;
  std::vector<std::string> constants_;
};

// Changes one thing of a plan. Returns a description; empty if the plan has no
// such thing, or is unchanged.
std::string Mutate(std::mt19937& random, Plan& plan) {
  const auto below = [&](size_t n) {
    return static_cast<size_t>(random() % std::max<size_t>(n, 1));
  };
  const auto delta = [&]() -> int64_t {
    constexpr int64_t kDeltas[] = {-4096, -256, -64, -4,  -1,
                                   1,     4,    64,  256, 4096};
    return kDeltas[below(std::size(kDeltas))];
  };
  const size_t v = below(plan.values.size());
  Value& value = plan.values[v];
  const size_t s = below(plan.steps.size());
  Step& step = plan.steps[s];
  const size_t o = below(plan.operands.size());
  Operand& operand = plan.operands[o];
  const auto changed = [&](absl::string_view what, auto& field, int64_t to) {
    const int64_t from = static_cast<int64_t>(field);
    field = static_cast<std::decay_t<decltype(field)>>(to);
    return from == static_cast<int64_t>(field)
               ? std::string()
               : absl::StrCat(what, " ", from, " -> ", to);
  };
  const std::string of_value = absl::StrCat("value ", v, ": ");
  const std::string of_step = absl::StrCat("step ", s, ": ");
  const std::string of_operand = absl::StrCat("operand ", o, ": ");
  switch (below(26)) {
    case 0:
      return changed(of_value + "offset", value.offset,
                     value.offset + 64 * delta());
    case 1:
      return changed(of_value + "offset", value.offset,
                     plan.values[below(plan.values.size())].offset);
    case 2:
      return changed(of_value + "offset", value.offset, value.offset + delta());
    case 3:
      return changed(of_value + "size", value.bytes, value.bytes + delta());
    case 4:
      return changed(of_value + "first", value.first_step,
                     value.first_step + static_cast<int32_t>(delta()) % 3);
    case 5:
      return changed(of_value + "last", value.last_step,
                     value.last_step + static_cast<int32_t>(delta()) % 3);
    case 6:
      return changed(of_value + "overwrites", value.overwrites,
                     static_cast<int64_t>(below(plan.values.size())));
    case 7:
      return changed(of_value + "overwrites", value.overwrites, -1);
    case 8: {
      // An alias that looks right: with the place of what it overwrites.
      const Value& other = plan.values[below(plan.values.size())];
      value.offset = other.offset;
      return changed(of_value + "overwrites at its place", value.overwrites,
                     &other - plan.values.data());
    }
    case 9:
      return changed(of_value + "space", value.space,
                     static_cast<int64_t>(below(4)));
    case 10:
      return changed(of_value + "index", value.index,
                     static_cast<int64_t>(below(plan.constants.size() + 1)));
    case 11:
    case 12: {
      const size_t other = s + 1 < plan.steps.size() ? s + 1 : 0;
      std::swap(step, plan.steps[other]);
      std::swap(plan.notes[s], plan.notes[other]);
      return other == s ? "" : of_step + "exchanged with the next";
    }
    case 13: {
      const size_t other = below(plan.steps.size());
      std::swap(step, plan.steps[other]);
      std::swap(plan.notes[s], plan.notes[other]);
      return other == s ? "" : absl::StrCat(of_step, "exchanged with ", other);
    }
    case 14:
      plan.steps.erase(plan.steps.begin() + static_cast<ptrdiff_t>(s));
      plan.notes.erase(plan.notes.begin() + static_cast<ptrdiff_t>(s));
      return of_step + "dropped";
    case 15:
      return changed(of_step + "workspace", step.workspace,
                     static_cast<int64_t>(below(plan.values.size())));
    case 16:
      return changed(of_step + "workspace", step.workspace, -1);
    case 17:
      return changed(of_step + "workspace_bytes", step.workspace_bytes,
                     step.workspace_bytes + 64 * delta());
    case 18:
      return changed("arena_bytes", plan.arena_bytes,
                     plan.arena_bytes + 64 * delta());
    case 19:
      return changed("arena_lower_bound", plan.arena_lower_bound,
                     plan.arena_lower_bound + 64 * delta());
    case 20:
      return changed(of_operand + "value", operand.value,
                     static_cast<int64_t>(below(plan.values.size())));
    case 21:
      return changed(of_operand + "offset", operand.offset,
                     operand.offset + delta());
    case 22:
      return changed(of_operand + "bytes", operand.bytes,
                     operand.bytes + delta());
    case 23: {
      // Exchanges two outputs, or two constants.
      Value& other = plan.values[below(plan.values.size())];
      if (other.space != value.space || other.index == value.index) return "";
      std::swap(value.index, other.index);
      return of_value + "exchanged with another of its space";
    }
    case 24:
      return changed("max_threads", plan.max_threads,
                     static_cast<int64_t>(below(8)));
    default:
      return changed(of_step + "items", step.items, step.items + delta());
  }
}

struct Count {
  int refused = 0;
  int equivalent = 0;
};

// Mutates a plan until `refused` mutations are refused. Others are equivalent.
void Decide(const std::string& spec, int refused, uint32_t seed, Count& total) {
  SCOPED_TRACE(spec);
  BATON_ASSERT_OK_AND_ASSIGN(Plan plan, PlanOf(spec));
  ASSERT_THAT(VerifyPlan(plan), IsOk());
  const HashedPlan hashed(std::move(plan));
  ASSERT_THAT(VerifyPlan(hashed.plan()), IsOk());
  const std::vector<std::string> want = HashedPlan::Run(hashed.plan(), false);
  ASSERT_FALSE(want.empty());
  ASSERT_EQ(HashedPlan::Run(hashed.plan(), true), want);
  std::mt19937 random(seed);
  Count count;
  while (count.refused < refused) {
    Plan mutated = hashed.plan();
    std::string description = Mutate(random, mutated);
    if (description.empty()) continue;
    // Every fourth has a second mutation that may hide the first.
    if (random() % 4 == 0) {
      absl::StrAppend(&description, "; ", Mutate(random, mutated));
    }
    if (!VerifyPlan(mutated).ok()) {
      ++count.refused;
      continue;
    }
    ++count.equivalent;
    EXPECT_EQ(HashedPlan::Run(mutated, false), want) << description;
    EXPECT_EQ(HashedPlan::Run(mutated, true), want) << description;
  }
  EXPECT_GT(count.refused, count.equivalent);
  total.refused += count.refused;
  total.equivalent += count.equivalent;
}

TEST(PlanMutationsTest, ThousandAreRefusedAndOthersAreEquivalent) {
  Count count;
  Decide("mlp", 200, 1, count);
  Decide("resnet{num_layers=8,image_shape=[3,12,12],num_classes=4}", 300, 2,
         count);
  Decide("lstm{iterations=3,num_hidden=8}", 250, 3, count);
  Decide("mobilenet{alpha=0.125,image_shape=[3,32,32],num_classes=5}", 250, 4,
         count);
  EXPECT_EQ(count.refused, 1000);
  RecordProperty("refused", count.refused);
  RecordProperty("equivalent", count.equivalent);
  std::printf("%d refused, %d equivalent\n", count.refused, count.equivalent);
}

}  // namespace
}  // namespace baton::executor
