// Random steps of schedules on random functions: each is refused or keeps what
// the function computes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/fitting_loops.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_table.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tir/transform/verify_scopes.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using tir::PrimExpr;
using tir::PrimFunc;

// Steps that are not drawn, and why.
constexpr absl::string_view kNotDrawn[] = {
    "enter_postproc",             // changes nothing
    "sample_categorical",         // changes nothing
    "sample_compute_location",    // changes nothing
    "sample_partitioned_tile",    // changes nothing
    "sample_perfect_tile",        // changes nothing
    "tensorize",                  // needs an intrinsic: tensorize_test
    "unsafe_hide_buffer_access",  // is unsafe: what reads are hidden may move
    "unsafe_set_dtype",           // is unsafe: rounds values
};

// Mends what cache_index makes, as the reference does: `T.reads` of blocks do not
// name the buffers of indices, and these have one stride whatever their axes.
class IndexBufferMender final : public tir::Rewriter {
 protected:
  tir::Buffer RewriteBuffer(const tir::Buffer& buffer) override {
    if (!absl::StartsWith(buffer->name(), "index_var_") ||
        buffer->strides().size() == buffer->shape().size()) {
      return buffer;
    }
    tir::Buffer& mended = mended_[buffer.get()];
    if (!mended.defined()) {
      tir::BufferNode::Parts parts = buffer->parts();
      parts.strides.clear();
      mended = tir::Buffer(std::move(parts));
    }
    return mended;
  }
  tir::Stmt VisitBlock(const tir::BlockNode* block) override {
    const tir::Stmt rewritten = Rewriter::VisitBlock(block);
    tir::BlockNode::Parts parts = rewritten.As<tir::BlockNode>()->parts();
    if (parts.name == "root") return rewritten;
    tir::PostOrderVisit(
        parts.body,
        [&parts](const tir::PrimExpr& e) {
          const auto* load = e.As<tir::BufferLoadNode>();
          if (load == nullptr ||
              !absl::StartsWith(load->buffer()->name(), "index_var_")) {
            return;
          }
          for (const tir::BufferRegion& read : parts.reads) {
            if (read->buffer() == load->buffer()) return;
          }
          std::vector<tir::Range> all;
          for (const tir::PrimExpr& extent : load->buffer()->shape()) {
            all.push_back({tir::IntImm(extent.dtype(), 0), extent});
          }
          parts.reads.push_back(tir::BufferRegion(load->buffer(), all));
        },
        [](const tir::Stmt&) {});
    return tir::Block(std::move(parts));
  }

 private:
  std::map<const tir::BufferNode*, tir::Buffer> mended_;
};

// The function after the step.
absl::StatusOr<PrimFunc> Take(const PrimFunc& function, const tir::Step& step) {
  tir::Schedule schedule(function);
  const absl::Status status = schedule.Apply(step);
  if (!status.ok()) {
    EXPECT_EQ(schedule.function(), function) << step.name;
    return status;
  }
  if (step.name != "cache_index") return schedule.function();
  tir::PrimFuncNode::Parts parts = schedule.function()->parts();
  parts.body = IndexBufferMender().Rewrite(parts.body);
  return PrimFunc(std::move(parts));
}

// A block and the number of loops around it.
struct BlockAt {
  std::string name;
  int loops = 0;
  int vars = 0;
};

class BlockFinder final : public tir::Visitor {
 public:
  std::vector<BlockAt> blocks;

 private:
  void VisitFor(const tir::ForNode* node) override {
    ++loops_;
    Visitor::VisitFor(node);
    --loops_;
  }
  void VisitBlockRealize(const tir::BlockRealizeNode* node) override {
    const tir::Block& block = node->block();
    if (block->name() != "root") {
      blocks.push_back(
          {block->name(), loops_, static_cast<int>(block->iter_vars().size())});
    }
    const int loops = std::exchange(loops_, 0);
    Visitor::VisitBlockRealize(node);
    loops_ = loops;
  }

  int loops_ = 0;
};

// Draws steps for a function as text.
class Drawer {
 public:
  Drawer(std::mt19937& random, const PrimFunc& function) : random_(random) {
    BlockFinder finder;
    finder.Visit(function->body());
    blocks_ = std::move(finder.blocks);
  }
  bool empty() const { return blocks_.empty(); }

  // The step of that name; empty for one that is not drawn.
  std::string Draw(const std::string& name) {
    current_ = blocks_[Index(blocks_.size())];
    const std::string parameters = Parameters(name);
    if (parameters.empty()) return {};
    return absl::StrCat("{\"name\": \"", name, "\", ", parameters, "}");
  }

 private:
  int Random(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }
  size_t Index(size_t n) { return random_() % n; }

  std::string BlockParam() const {
    return absl::StrCat("{\"block\": \"", current_.name, "\"}");
  }
  std::string OtherBlock() {
    return absl::StrCat("{\"block\": \"", blocks_[Index(blocks_.size())].name,
                        "\"}");
  }
  std::string LoopOf(const BlockAt& block, int loop) const {
    return absl::StrCat("{\"loop\": ", loop, ", \"of\": \"", block.name, "\"}");
  }
  std::string Loop() {
    return LoopOf(current_, Random(std::max(current_.loops, 1)));
  }
  // A loop around another block.
  std::string OtherLoop() {
    const BlockAt other = blocks_[Index(blocks_.size())];
    return LoopOf(other, Random(std::max(other.loops, 1)));
  }
  std::string Site() { return Random(2) == 0 ? Loop() : BlockParam(); }
  std::string Flag() { return Random(2) == 0 ? "true" : "false"; }
  std::string Permutation(int n) {
    std::vector<int> order;
    for (int i = 0; i < n; ++i) order.push_back(i);
    for (size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[Index(i + 1)]);
    }
    return absl::StrJoin(order, ", ");
  }
  std::string Scope() {
    const char* const scopes[] = {"global", "shared", "local"};
    return scopes[Random(3)];
  }
  // A map of one to three indices.
  std::string Map(int rank) {
    const char* const maps[][4] = {
        {"lambda i: (i // 4, i % 4)", "lambda i: (i,)", "lambda i: (i, 0)",
         "lambda i: (i + 1,)"},
        {"lambda i, j: (j, i)", "lambda i, j: (i, j // 2, j % 2)",
         "lambda i, j: (i * 8 + j,)", "lambda i, j: (i, j)"},
        {"lambda i, j, k: (k, j, i)", "lambda i, j, k: (i, j * 4 + k)",
         "lambda i, j, k: (i, j, k)", "lambda i, j, k: (j, i, k)"}};
    return maps[std::clamp(rank, 1, 3) - 1][Random(4)];
  }

  std::string Parameters(const std::string& name) {
    const std::string block = absl::StrCat("\"block\": ", BlockParam());
    const std::string index = absl::StrCat(Random(4) / 2);
    const auto scope = [&] {
      return absl::StrCat(", \"storage_scope\": \"", Scope(), "\"");
    };
    const auto loop = [&] { return absl::StrCat("\"loop\": ", Loop()); };
    if (name == "parallel" || name == "vectorize" || name == "unroll") {
      return loop();
    }
    if (name == "compute_inline" || name == "reverse_compute_inline") {
      return block;
    }
    if (name == "split") {
      const char* const factors[] = {"null, 2", "2, null",    "null, 4",
                                     "2, 3",    "null, 2, 2", "null, 1"};
      return absl::StrCat(loop(), ", \"factors\": [", factors[Random(6)],
                          "], \"preserve_unit_iters\": ", Flag());
    }
    if (name == "fuse" || name == "merge" || name == "reorder") {
      std::vector<std::string> loops;
      const int n = 2 + Random(2);
      const int first = Random(std::max(current_.loops, 1));
      for (int i = 0; i < n; ++i) {
        loops.push_back(name == "fuse"    ? LoopOf(current_, first + i)
                        : name == "merge" ? OtherLoop()
                                          : Loop());
      }
      return absl::StrCat(
          name == "reorder" ? "\"ordered_loops\": [" : "\"loops\": [",
          absl::StrJoin(loops, ", "), "]");
    }
    if (name == "add_unit_loop") {
      return absl::StrCat("\"block_or_loop\": ", Site());
    }
    if (name == "annotate") {
      return absl::StrCat("\"block_or_loop\": ", Site(),
                          ", \"ann_key\": \"key\", \"ann_val\": 1");
    }
    if (name == "unannotate") {
      return absl::StrCat("\"block_or_loop\": ", Site(),
                          ", \"ann_key\": \"key\"");
    }
    if (name == "bind") {
      return absl::StrCat(loop(), ", \"thread_axis\": \"threadIdx.x\"");
    }
    if (name == "blockize") {
      if (Random(3) > 0) return absl::StrCat("\"target\": ", Loop());
      const std::string other = OtherBlock();
      return absl::StrCat("\"target\": [", BlockParam(), ", ", other, "]");
    }
    if (name == "cache_index") {
      return absl::StrCat(block, scope(), ", \"cse_thresh\": ", Random(2));
    }
    if (name == "cache_read" || name == "cache_inplace") {
      return absl::StrCat(block, ", \"read_buffer_index\": ", index, scope());
    }
    if (name == "cache_write") {
      return absl::StrCat(block, ", \"write_buffer_index\": 0", scope());
    }
    if (name == "reindex_cache_read") {
      return absl::StrCat(block, ", \"read_buffer_index\": ", index, scope(),
                          ", \"index_map\": \"", Map(current_.vars), "\"");
    }
    if (name == "reindex_cache_write") {
      return absl::StrCat(block, ", \"write_buffer_index\": 0", scope(),
                          ", \"index_map\": \"", Map(current_.vars), "\"");
    }
    if (name == "compute_at" || name == "reverse_compute_at") {
      return absl::StrCat(block, ", \"loop\": ", OtherLoop(),
                          ", \"preserve_unit_loops\": ", Flag());
    }
    if (name == "decompose_reduction" || name == "decompose_padding") {
      return absl::StrCat(block, ", ", loop());
    }
    if (name == "pad_einsum") {
      std::vector<int> padding;
      for (int i = 0; i < current_.vars; ++i) padding.push_back(1 + Random(4));
      return absl::StrCat(block, ", \"padding\": [",
                          absl::StrJoin(padding, ", "), "]");
    }
    if (name == "read_at") {
      return absl::StrCat(block, ", ", loop(),
                          ", \"read_buffer_index\": ", index, scope());
    }
    if (name == "write_at") {
      return absl::StrCat(block, ", ", loop(), ", \"write_buffer_index\": 0",
                          scope());
    }
    if (name == "reindex") {
      return absl::StrCat(block, ", \"buffer\": [\"",
                          Random(2) == 0 ? "read" : "write", "\", ", index,
                          "]");
    }
    if (name == "reorder_block_iter_var") {
      return absl::StrCat(block, ", \"new_order\": [",
                          Permutation(current_.vars), "]");
    }
    if (name == "rfactor") {
      return absl::StrCat(loop(), ", \"factor_axis\": ", Random(3));
    }
    if (name == "rolling_buffer") {
      return absl::StrCat(block, ", \"write_buffer_index\": 0");
    }
    if (name == "set_axis_separator") {
      return absl::StrCat(block,
                          ", \"buffer\": [\"write\", 0], "
                          "\"axis_separators\": [1]");
    }
    if (name == "set_scope") {
      return absl::StrCat(block, ", \"buffer_index\": 0", scope());
    }
    if (name == "storage_align") {
      return absl::StrCat(block, ", \"buffer_index\": 0, \"axis\": ", Random(2),
                          ", \"factor\": 8, \"offset\": ", Random(8));
    }
    if (name == "transform_block_layout") {
      return absl::StrCat(block, ", \"index_map\": \"", Map(current_.vars),
                          "\"");
    }
    if (name == "transform_layout") {
      return absl::StrCat(block, ", \"buffer\": [\"",
                          Random(2) == 0 ? "read" : "write", "\", ", index,
                          "], \"index_map\": \"", Map(1 + Random(3)), "\"");
    }
    return {};
  }

  std::mt19937& random_;
  std::vector<BlockAt> blocks_;
  BlockAt current_;
};

struct Count {
  int taken = 0;
  int refused = 0;
  int breaches = 0;
  std::string breach;  // the first three
};

// The threads that share the memory of the copy fill it together. Run one after
// the other, as loops, each copies also what those after it will write.
bool ThreadsCopyTogether(const tir::Step& step, const PrimFunc& after) {
  return step.name == "write_at" &&
         absl::StrContains(AsText(ModuleOfLoops(after)), "T.thread_binding") &&
         std::any_of(step.params.begin(), step.params.end(),
                     [](const auto& param) {
                       return param.first == "storage_scope" &&
                              param.second != AttrValue("global");
                     });
}

// Describes the first fault of `after`; empty if there is none.
std::string BreachOf(const PrimFunc& after, const std::vector<Tensor>& want,
                     bool check_initialized) {
  const IRModule module = ModuleOfLoops(after);
  absl::Status status = CheckWellFormed(module);
  if (status.ok()) status = tir::VerifyScopes()(module).status();
  if (status.ok()) status = CheckBinaryRoundTrip(module);
  if (!status.ok()) return std::string(status.message());
  const absl::StatusOr<std::vector<Tensor>> got =
      RunOnSmallIntegers(after, {.check_initialized = check_initialized,
                                 .shuffle_seed = 7,
                                 .max_steps = 2'000'000});
  if (absl::IsResourceExhausted(got.status())) return {};
  if (!got.ok()) return std::string(got.status().message());
  return FirstOtherNumber(want, *got).value_or("");
}

bool HasOtherParameters(const PrimFunc& a, const PrimFunc& b) {
  for (int i = 0; i < static_cast<int>(a->params().size()); ++i) {
    if (a->BufferOf(i) != b->BufferOf(i)) return true;
  }
  return false;
}

// Describes the fault that `steps` make of `function`; empty if one is refused,
// or if there is a fault before the last.
std::string BreachOf(PrimFunc function, const std::vector<tir::Step>& steps,
                     const std::vector<Tensor>& want) {
  std::string breach;
  bool check_initialized = true;
  for (const tir::Step& step : steps) {
    const absl::StatusOr<PrimFunc> after = Take(function, step);
    if (!after.ok() || !breach.empty()) return {};
    check_initialized &= !ThreadsCopyTogether(step, *after);
    breach = BreachOf(*after, want, check_initialized);
    if (&step == &steps.back() && !breach.empty()) {
      absl::StrAppend(&breach, "\nafter ", tir::StepText(step), " of\n",
                      AsText(ModuleOfLoops(function)), "which made\n",
                      AsText(ModuleOfLoops(*after)));
    }
    function = *after;
  }
  return breach;
}

// Describes the fault that the last of `steps` makes, without those before that
// it does not need.
std::string DescribeBreach(const PrimFunc& function,
                           std::vector<tir::Step> steps,
                           const std::vector<Tensor>& want) {
  for (size_t i = steps.size() - 1; i-- > 0;) {
    std::vector<tir::Step> fewer = steps;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!BreachOf(function, fewer, want).empty()) steps = std::move(fewer);
  }
  std::string result = BreachOf(function, steps, want);
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    absl::StrAppend(&result, i == 0 ? "Steps before:\n" : "",
                    tir::StepText(steps[i]), "\n");
  }
  return result;
}

// Takes steps of one function, and checks the function after each, up to the
// first breach.
class Walk {
 public:
  // `name` is that of the function in messages.
  Walk(std::string name, const PrimFunc& function,
       std::map<std::string, Count>& counts)
      : name_(std::move(name)),
        first_(function),
        function_(function),
        counts_(counts) {}

  // False if the function cannot be run.
  bool Start() {
    absl::StatusOr<std::vector<Tensor>> want = RunOnSmallIntegers(function_);
    EXPECT_THAT(want.status(), IsOk()) << name_;
    if (want.ok()) want_ = *std::move(want);
    return want.ok();
  }

  // Takes the step; false after a breach.
  bool Try(const std::string& text) {
    const absl::StatusOr<tir::Step> step = tir::ParseStep(text);
    EXPECT_THAT(step.status(), IsOk()) << text;
    if (!step.ok()) return false;
    Count& count = counts_[step->name];
    const absl::StatusOr<PrimFunc> after = Take(function_, *step);
    if (!after.ok()) {
      ++count.refused;
      return true;
    }
    ++count.taken;
    // The caller's data has another layout: values cannot be compared.
    if (step->name == "transform_layout" &&
        HasOtherParameters(function_, *after)) {
      return true;
    }
    taken_.push_back(*step);
    check_initialized_ &= !ThreadsCopyTogether(*step, *after);
    if (!BreachOf(*after, want_, check_initialized_).empty()) {
      if (++count.breaches <= 3) {
        absl::StrAppend(&count.breach, name_, ": ",
                        DescribeBreach(first_, taken_, want_), "\n");
      }
      return false;
    }
    function_ = *after;
    return true;
  }

  // Takes up to `num_steps` random steps.
  void TryRandomSteps(std::mt19937& random, int num_steps) {
    const std::vector<std::string> names = tir::StepNames();
    for (int i = 0; i < num_steps; ++i) {
      Drawer drawer(random, function_);
      if (drawer.empty()) return;
      const std::string text = drawer.Draw(names[random() % names.size()]);
      if (!text.empty() && !Try(text)) return;
    }
  }

 private:
  std::string name_;
  PrimFunc first_;
  PrimFunc function_;
  std::vector<Tensor> want_;
  std::vector<tir::Step> taken_;
  bool check_initialized_ = true;
  std::map<std::string, Count>& counts_;
};

void PrintAndCheck(const std::map<std::string, Count>& counts) {
  for (const auto& [name, count] : counts) {
    std::cout << name << ": " << count.taken << " taken, " << count.refused
              << " refused, " << count.breaches << " breaches\n";
    EXPECT_TRUE(count.breach.empty()) << name << ": " << count.breach;
  }
}

// Each step is taken so often that a fault shows.
TEST(ScheduleLawsTest, StepsKeepValues) {
  std::map<std::string, Count> counts;
  const uint32_t first = TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t seeds = IsLongTest() ? 300 : 100;
  for (uint32_t seed = first; seed < first + seeds; ++seed) {
    RandomLoopsOptions options;
    options.size = 2 + static_cast<int>(seed % 4);
    options.symbolic = seed % 3 == 0;
    std::mt19937 random(seed);
    Walk walk(absl::StrCat("seed ", seed), RandomLoops(seed, options), counts);
    if (walk.Start()) walk.TryRandomSteps(random, 40);
  }
  const uint32_t fitting_seeds = IsLongTest() ? 200 : 24;
  for (const absl::string_view step : StepsWithFittingLoops()) {
    for (uint32_t seed = first; seed < first + fitting_seeds; ++seed) {
      BATON_ASSERT_OK_AND_ASSIGN(const FittingLoops fitting,
                                 LoopsForStep(step, seed));
      std::mt19937 random(seed);
      Walk walk(absl::StrCat("function ", seed, " for ", step),
                fitting.function, counts);
      bool goes_on = walk.Start();
      for (const std::string& text : fitting.steps) {
        goes_on = goes_on && walk.Try(text);
      }
      if (goes_on) walk.TryRandomSteps(random, 6);
    }
  }
  PrintAndCheck(counts);
  std::set<std::string> undrawn(std::begin(kNotDrawn), std::end(kNotDrawn));
  for (const std::string& name : tir::StepNames()) {
    if (undrawn.erase(name) > 0) continue;
    EXPECT_GE(counts[name].taken, IsLongTest() ? 20 : 3) << name;
  }
  EXPECT_TRUE(undrawn.empty()) << absl::StrJoin(undrawn, ", ");
}

// A nest of loops around one block, as deep as functions may be.
PrimFunc DeepNest(int depth) {
  const tir::Buffer buffer = [] {
    tir::BufferNode::Parts parts;
    parts.name = "A";
    parts.dtype = tir::kInt32;
    parts.shape = {tir::IntImm(tir::kInt32, 4)};
    parts.data = tir::Var::Pointer("A", tir::kInt32, "global");
    return tir::Buffer(std::move(parts));
  }();
  const tir::Var v("v", tir::kInt32);
  tir::BlockNode::Parts block;
  block.name = "S";
  const tir::Range all = {tir::IntImm(tir::kInt32, 0),
                          tir::IntImm(tir::kInt32, 4)};
  const tir::Range one = {v, tir::IntImm(tir::kInt32, 1)};
  block.iter_vars = {tir::IterVar(all, v, tir::IterVarType::kDataPar)};
  block.writes = {tir::BufferRegion(buffer, {one})};
  block.body =
      tir::BufferStore(buffer, tir::IntImm(tir::kInt32, 1), {PrimExpr(v)});
  std::vector<tir::Var> vars;
  for (int i = 0; i < depth; ++i) vars.emplace_back("i", tir::kInt32);
  tir::Stmt body =
      tir::BlockRealize({PrimExpr(vars.back())}, tir::IntImm::Bool(true),
                        tir::Block(std::move(block)));
  for (int i = depth; i-- > 0;) {
    tir::ForNode::Parts loop;
    loop.loop_var = vars[static_cast<size_t>(i)];
    loop.min = tir::IntImm(tir::kInt32, 0);
    loop.extent = tir::IntImm(tir::kInt32, i + 1 == depth ? 4 : 1);
    loop.body = std::move(body);
    body = tir::For(std::move(loop));
  }
  tir::BlockNode::Parts root;
  root.name = "root";
  root.body = std::move(body);
  tir::PrimFuncNode::Parts parts;
  parts.params = {tir::Var("p", tir::kHandle)};
  parts.buffers = {{0, buffer}};
  parts.body = tir::BlockRealize({}, tir::IntImm::Bool(true),
                                 tir::Block(std::move(root)));
  return PrimFunc(std::move(parts));
}

// Each step is taken or refused in a small stack, whatever the depth.
TEST(ScheduleLawsTest, StepsTakeDeepFunctions) {
  int taken = 0;
  RunWithStack(SmallStackBytesOfThisBuild(), [&taken] {
    const PrimFunc function = DeepNest(IsLongTest() ? 100'000 : 2'000);
    std::mt19937 random(1);
    for (const std::string& name : tir::StepNames()) {
      for (int i = 0; i < 2; ++i) {
        Drawer drawer(random, function);
        const std::string text = drawer.Draw(name);
        if (text.empty()) break;
        const absl::StatusOr<tir::Step> step = tir::ParseStep(text);
        ASSERT_THAT(step.status(), IsOk()) << text;
        tir::Schedule schedule(function);
        if (!schedule.Apply(*step).ok()) continue;
        ++taken;
        EXPECT_THAT(CheckWellFormed(ModuleOfLoops(schedule.function())), IsOk())
            << text;
      }
    }
  });
  EXPECT_GE(taken, 20);
}

}  // namespace
}  // namespace baton::testing
