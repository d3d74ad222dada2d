#include "baton/tir/transform/instrument_profile_intrinsics.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/deep_stack.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

BATON_REGISTER_CONFIG(kDisableFunctions, bool, "tir.lwp_disable_func_prof",
                      false, "Does not mark functions for profilers.");
BATON_REGISTER_CONFIG(kMaxDepth, int64_t, "tir.lwp_max_depth", 0,
                      "Depth up to which loops are marked for profilers.");
BATON_REGISTER_CONFIG(kMinHeight, int64_t, "tir.lwp_min_height", 1,
                      "Levels of loops inside of a loop that is marked for "
                      "profilers.");
BATON_REGISTER_CONFIG(kSiblings, bool, "tir.instr_siblings", true,
                      "Marks only loops beside other loops for profilers.");
BATON_REGISTER_CONFIG(kResetStartId, bool, "tir.reset_start_id", false,
                      "Accepted: the numbers of marks begin at 0 in each "
                      "module.");
BATON_REGISTER_CONFIG(kInstrument, bool, "tir.instrument_lwp", false,
                      "Marks loops for profilers in the pipeline tir.lower.");

struct LoopInfo {
  int32_t id = 0;
  int64_t depth = 0;
  int64_t height = 0;  // levels of loops inside
  bool has_siblings = false;
  bool in_parallel = false;  // inside of a parallel loop
};

// Numbers loops and measures their nests. A nest ends at blocks: a loop below
// one is the outermost of a further nest, if there is no loop around it.
class LoopAnalysis final : public Visitor {
 public:
  LoopAnalysis(int32_t& next_id, NodeMap<LoopInfo>& loops)
      : next_id_(next_id), loops_(loops) {}

  void VisitFor(const ForNode* loop) override {
    LoopInfo info{.id = next_id_++};
    info.height = Height(loop->body(), 0, false);
    loops_[loop] = info;
  }

 private:
  // Measures a loop in a nest; returns the height of its body.
  int64_t Enter(const ForNode* loop, int64_t depth, bool in_parallel) {
    const LoopInfo info{
        .id = next_id_++, .depth = depth + 1, .in_parallel = in_parallel};
    const bool parallel = in_parallel || loop->for_kind() == ForKind::kParallel;
    const int64_t height = Height(loop->body(), depth + 1, parallel);
    LoopInfo& entry = loops_[loop];
    entry = info;
    entry.height = height;
    return height;
  }

  int64_t Height(const Stmt& stmt, int64_t depth, bool in_parallel) {
    return OnDeepStack([&]() -> int64_t {
      if (const auto* loop = stmt.As<ForNode>()) {
        return Enter(loop, depth, in_parallel) + 1;
      }
      if (const auto* seq = stmt.As<SeqStmtNode>()) {
        return HeightOfSequence(seq, depth, in_parallel);
      }
      if (const auto* branch = stmt.As<IfThenElseNode>()) {
        const int64_t height = Height(branch->then_case(), depth, in_parallel);
        if (!branch->else_case().defined()) return height;
        return std::max(height,
                        Height(branch->else_case(), depth, in_parallel));
      }
      if (const auto* let = stmt.As<LetStmtNode>()) {
        return Height(let->body(), depth, in_parallel);
      }
      if (const auto* attr = stmt.As<AttrStmtNode>()) {
        return Height(attr->body(), depth, in_parallel);
      }
      if (const auto* allocate = stmt.As<AllocateNode>()) {
        return Height(allocate->body(), depth, in_parallel);
      }
      return 0;
    });
  }

  int64_t HeightOfSequence(const SeqStmtNode* seq, int64_t depth,
                           bool in_parallel) {
    std::vector<const ForNode*> siblings;
    int64_t height = 0;
    for (const Stmt& stmt : seq->seq()) {
      const auto* loop = stmt.As<ForNode>();
      if (loop == nullptr) continue;
      siblings.push_back(loop);
      height = std::max(height, Enter(loop, depth, in_parallel));
      // The height of a loop is that of the highest one up to it.
      loops_[loop].height = height;
    }
    if (siblings.empty()) return height;
    for (const ForNode* loop : siblings) {
      loops_[loop].has_siblings = siblings.size() > 1;
    }
    return height + 1;
  }

  int32_t& next_id_;
  NodeMap<LoopInfo>& loops_;
};

struct Limits {
  int64_t max_depth;
  int64_t min_height;
  bool siblings;
};

Stmt Marked(int32_t id, Stmt stmt) {
  const auto mark = [id](const char* name) {
    return Evaluate(CallIntrinsic(name, {IntImm(kInt32, id)}));
  };
  std::vector<Stmt> seq = {mark("start_profile_intrinsic")};
  AppendFlattened(stmt, seq);
  seq.push_back(mark("end_profile_intrinsic"));
  return SeqStmt(std::move(seq));
}

class LoopMarker final : public Rewriter {
 public:
  LoopMarker(const NodeMap<LoopInfo>& loops, const Limits& limits)
      : loops_(loops), limits_(limits) {}

  Stmt VisitFor(const ForNode* loop) override {
    Stmt result = Rewriter::VisitFor(loop);
    const LoopInfo* info = loops_.Find(loop);
    if (info == nullptr || info->in_parallel ||
        info->height < limits_.min_height) {
      return result;
    }
    const bool selected = limits_.siblings ? info->has_siblings
                                           : info->depth <= limits_.max_depth;
    return selected ? Marked(info->id, std::move(result)) : result;
  }

 private:
  const NodeMap<LoopInfo>& loops_;
  const Limits limits_;
};

PrimFunc MarkFunction(const PrimFunc& function, bool mark_function,
                      const Limits& limits, int32_t& next_id) {
  const int32_t id = next_id++;
  NodeMap<LoopInfo> loops;
  LoopAnalysis(next_id, loops).Visit(function->body());
  Stmt body = LoopMarker(loops, limits).Rewrite(function->body());
  if (mark_function) body = Marked(id, std::move(body));
  if (body == function->body()) return function;
  PrimFuncNode::Parts parts = function->parts();
  parts.body = std::move(body);
  return WithParts(function, std::move(parts));
}

}  // namespace

Pass InstrumentProfileIntrinsics() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& context) -> absl::StatusOr<IRModule> {
        const Limits limits = {.max_depth = context.Get(kMaxDepth),
                               .min_height = context.Get(kMinHeight),
                               .siblings = context.Get(kSiblings)};
        const bool mark_functions = !context.Get(kDisableFunctions);
        int32_t next_id = 0;
        IRModule result = module;
        for (const IRModule::Definition& definition : module.functions()) {
          const auto* function = definition.function.As<PrimFuncNode>();
          if (function == nullptr) continue;
          PrimFunc changed =
              MarkFunction(PrimFunc(function), mark_functions, limits, next_id);
          if (changed.get() != function) {
            result.Set(definition.var, std::move(changed));
          }
        }
        return result;
      },
      {.name = "tir.InstrumentProfileIntrinsics",
       .doc = "Marks the begin and end of loops and functions for "
              "profilers."});
}
BATON_REGISTER_PASS_AS("tir.InstrumentProfileIntrinsics",
                       InstrumentProfileIntrinsics);

}  // namespace baton::tir
