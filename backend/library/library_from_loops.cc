#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/backend/library/library_model.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/ir/function.h"

namespace baton {
namespace {

using relay::CallNode;
using relay::ExprKind;
using tir::PrimFunc;

struct Slot {
  LibrarySlot place;
  int first = -1;  // steps
  int last = -1;
};

// One call of a function, or a copy.
struct Step {
  int function = -1;  // -1: a copy of `slots[0]` to `slots[1]`
  std::vector<int> slots;
  std::string origin;
  int64_t workspace_bytes = 0;
  int64_t workspace_offset = 0;
};

// `model.relay:12: fused_nn_dense`, the place of a call.
std::string OriginOf(const ExprNode* call, absl::string_view name) {
  if (!call->span().defined()) return std::string(name);
  const Source& source = call->span()->source();
  const int line = source.PositionOf(call->span()->begin()).line;
  return absl::StrCat(name, ", ", source.name(), ":", line);
}

// --- The steps of a model ----------------------------------------------------

class LoopsReader {
 public:
  explicit LoopsReader(const IRModule& module) : module_(module) {}

  absl::StatusOr<LibraryModel> Read() {
    const relay::Function main = module_.Find<relay::Function>("main");
    if (!main.defined()) {
      return absl::InvalidArgumentError("the module has no function @main");
    }
    for (const relay::Var& param : main->params()) {
      const Type& type =
          param->type().defined() ? param->type() : param->annotation();
      const int slot = AddSlot(type, LibrarySpace::kInput, param.get());
      if (slot < 0) continue;
      slots_[static_cast<size_t>(slot)].place.index =
          static_cast<int>(inputs_.size());
      inputs_.push_back(slot);
      values_[param.get()] = {slot};
    }
    relay::PostOrderVisit(
        main->body(),
        [](const ExprNode* node) {
          return node->kind() != ExprKind::kFunction;
        },
        [this](const ExprNode* node) { Visit(node); });
    BATON_RETURN_IF_ERROR(problems_.ToStatus());
    const std::vector<int>* results = values_.Find(main->body().get());
    if (results == nullptr) {
      return absl::InvalidArgumentError("the function @main has no result");
    }
    MakeOutputs(*results);
    tir::CppSourceOptions probe;
    probe.name_space = "probe";
    BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                           WriteCppSource(model_.functions, probe));
    model_.emitted = std::move(source.functions);
    PlaceArena();
    MakeSteps();
    return std::move(model_);
  }

 private:
  int AddSlot(const Type& type, LibrarySpace space, const ExprNode* node) {
    const auto* tensor = type.As<TensorTypeNode>();
    if (tensor == nullptr || !tensor->is_static() ||
        !tensor->dtype().IsStorable()) {
      problems_.Error(
          node->span(),
          absl::StrCat(type.defined() ? type.ToString() : "an untyped value",
                       " is no tensor of constant shape: give its dimensions "
                       "with --dims"));
      return -1;
    }
    Slot slot;
    slot.place.space = space;
    slot.place.dtype = tensor->dtype();
    slot.place.bytes = tensor->dtype().bytes();
    for (const Dim& dim : tensor->shape()) {
      slot.place.shape.push_back(dim.value());
      if (__builtin_mul_overflow(slot.place.bytes, dim.value(),
                                 &slot.place.bytes)) {
        problems_.Error(node->span(),
                        absl::StrCat(type.ToString(), " is too large"));
        return -1;
      }
    }
    slots_.push_back(std::move(slot));
    return static_cast<int>(slots_.size()) - 1;
  }

  void Visit(const ExprNode* node) {
    if (values_.Contains(node)) return;
    switch (relay::ExprKindOf(node)) {
      case ExprKind::kConstant:
        return AddConstant(static_cast<const relay::ConstantNode*>(node));
      case ExprKind::kTuple: {
        std::vector<int> parts;
        for (const Expr& field :
             static_cast<const relay::TupleNode*>(node)->fields()) {
          if (const std::vector<int>* known = values_.Find(field.get())) {
            parts.insert(parts.end(), known->begin(), known->end());
          }
        }
        values_[node] = std::move(parts);
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const relay::TupleGetItemNode*>(node);
        const std::vector<int>* known = values_.Find(item->tuple().get());
        const auto index = static_cast<size_t>(item->index());
        if (known != nullptr && index < known->size()) {
          const int slot = (*known)[index];
          values_[node] = {slot};
        }
        return;
      }
      case ExprKind::kLet:
        problems_.Error(
            node->span(),
            "a let is not compiled yet: run the pass ToGraphNormalForm");
        return;
      case ExprKind::kCall:
        return AddCall(static_cast<const CallNode*>(node));
      case ExprKind::kOp:
      case ExprKind::kGlobalVar:
      case ExprKind::kVar:
        return;
      case ExprKind::kFunction:
        return;  // named by its call
      default:
        problems_.Error(node->span(), absl::StrCat(NodeKindName(node->kind()),
                                                   " cannot be compiled"));
        return;
    }
  }

  void AddConstant(const relay::ConstantNode* node) {
    const Tensor& value = node->value();
    Slot slot;
    slot.place.space = LibrarySpace::kConstant;
    slot.place.dtype = value.dtype();
    slot.place.shape.assign(value.shape().begin(), value.shape().end());
    slot.place.bytes = static_cast<int64_t>(value.bytes().size());
    slot.place.index = model_.ConstantIndex(value);
    slots_.push_back(std::move(slot));
    values_[node] = {static_cast<int>(slots_.size()) - 1};
  }

  // Names the operators of a call that is not lowered.
  void Refuse(const CallNode* call) {
    bool named = false;
    const auto name = [&](const ExprNode* node) {
      if (node->kind() != ExprKind::kCall) return;
      const OpNode* op = static_cast<const CallNode*>(node)->op_node();
      if (op == nullptr) return;
      Span span = node->span();
      if (!span.defined()) span = call->span();
      problems_.Error(span,
                      absl::StrCat("operator ", op->name(),
                                   " has no loops: it cannot be compiled"));
      named = true;
    };
    if (const auto* function = call->op().As<relay::FunctionNode>()) {
      relay::PostOrderVisit(function->body(), name);
    } else {
      name(call);
    }
    if (!named) {
      problems_.Error(call->span(), "this call cannot be compiled");
    }
  }

  void AddCall(const CallNode* call) {
    const auto* var = call->op().As<GlobalVarNode>();
    const PrimFunc function =
        var == nullptr ? PrimFunc() : module_.Find<PrimFunc>(var->name());
    if (!function.defined()) return Refuse(call);
    Step step;
    for (const Expr& arg : call->args()) {
      const std::vector<int>* known = values_.Find(arg.get());
      if (known == nullptr) return;  // there is an error already
      step.slots.insert(step.slots.end(), known->begin(), known->end());
    }
    std::vector<Type> types = {call->type()};
    if (const auto* tuple = call->type().As<TupleTypeNode>()) {
      types.assign(tuple->fields().begin(), tuple->fields().end());
    }
    std::vector<int> results;
    for (const Type& type : types) {
      const int slot = AddSlot(type, LibrarySpace::kArena, call);
      if (slot < 0) return;
      results.push_back(slot);
    }
    step.slots.insert(step.slots.end(), results.begin(), results.end());
    if (step.slots.size() != function->params().size()) {
      problems_.Error(call->span(),
                      absl::StrCat("function @", var->name(), " has ",
                                   function->params().size(),
                                   " parameters, its call passes ",
                                   step.slots.size(), " tensors"));
      return;
    }
    step.origin = OriginOf(call, var->name());
    step.function = FunctionIndex(var->name(), function, step.origin);
    steps_.push_back(std::move(step));
    values_[call] = std::move(results);
  }

  int FunctionIndex(const std::string& name, const PrimFunc& function,
                    const std::string& origin) {
    const auto [found, is_new] =
        by_name_.emplace(name, static_cast<int>(model_.functions.size()));
    if (is_new) {
      model_.functions.push_back({name, function, origin});
    } else {
      absl::StrAppend(
          &model_.functions[static_cast<size_t>(found->second)].origin, "\n",
          origin);
    }
    return found->second;
  }

  // Results that steps compute are written to the caller's memory at once; the
  // others are copied.
  void MakeOutputs(const std::vector<int>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      const int slot = results[i];
      Slot& made = slots_[static_cast<size_t>(slot)];
      if (made.place.space == LibrarySpace::kArena) {
        made.place.space = LibrarySpace::kOutput;
        made.place.index = static_cast<int>(i);
        outputs_.push_back(slot);
        continue;
      }
      Slot copy = made;
      copy.place.space = LibrarySpace::kOutput;
      copy.place.index = static_cast<int>(i);
      slots_.push_back(std::move(copy));
      outputs_.push_back(static_cast<int>(slots_.size()) - 1);
      steps_.push_back({-1, {slot, outputs_.back()}, "copy of a result"});
    }
  }

  void PlaceArena() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const int slot : steps_[i].slots) {
        Slot& value = slots_[static_cast<size_t>(slot)];
        if (value.first < 0) value.first = static_cast<int>(i);
        value.last = static_cast<int>(i);
      }
    }
    std::vector<executor::Lifetime> blocks;
    std::vector<int64_t*> offsets;
    for (Slot& slot : slots_) {
      if (slot.place.space != LibrarySpace::kArena || slot.first < 0) continue;
      blocks.push_back(
          {std::max<int64_t>(slot.place.bytes, 1), slot.first, slot.last});
      offsets.push_back(&slot.place.offset);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      if (step.function < 0) continue;
      step.workspace_bytes =
          model_.emitted[static_cast<size_t>(step.function)].workspace_bytes;
      if (step.workspace_bytes == 0) continue;
      blocks.push_back({step.workspace_bytes, static_cast<int32_t>(i),
                        static_cast<int32_t>(i)});
      offsets.push_back(&step.workspace_offset);
    }
    const executor::ArenaPlan plan = executor::PlanArena(blocks);
    for (size_t i = 0; i < offsets.size(); ++i) *offsets[i] = plan.offsets[i];
    model_.arena_bytes = plan.bytes;
    model_.arena_lower_bound = plan.lower_bound;
  }

  void MakeSteps() {
    for (Step& step : steps_) {
      LibraryStep made;
      made.function = step.function;
      made.origin = std::move(step.origin);
      for (const int slot : step.slots) {
        made.slots.push_back(slots_[static_cast<size_t>(slot)].place);
      }
      made.workspace_bytes = step.workspace_bytes;
      made.workspace_offset = step.workspace_offset;
      if (step.function < 0) {
        made.kernel = "copy";
        made.sources.emplace_back();
        made.sources.back().statements = absl::StrCat(
            "  __builtin_memcpy(@1@, @0@, ", made.slots[0].bytes, ");\n");
      } else {
        made.kernel = model_.emitted[static_cast<size_t>(step.function)].name;
      }
      model_.plan_steps.emplace_back(model_.steps.size(), model_.steps.size());
      model_.steps.push_back(std::move(made));
    }
    for (const int slot : inputs_) {
      model_.inputs.push_back(slots_[static_cast<size_t>(slot)].place);
    }
    for (const int slot : outputs_) {
      model_.outputs.push_back(slots_[static_cast<size_t>(slot)].place);
    }
  }

  const IRModule& module_;
  Diagnostics problems_;
  LibraryModel model_;
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<int> inputs_;   // slots, by parameter
  std::vector<int> outputs_;  // slots, by result
  NodeMap<std::vector<int>> values_;
  FlatHashMap<std::string, int> by_name_;
};

}  // namespace

absl::StatusOr<LibraryModel> LibraryFromLoops(const IRModule& module) {
  return LoopsReader(module).Read();
}

}  // namespace baton
