#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/half_tensors.h"
#include "baton/backend/cpu/known_sizes.h"
#include "baton/backend/cpu/lower.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/cpu/row_groups.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/loops_check.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/lower/lower_to_tir.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

using cpu::Graph;
using cpu::GraphNode;
using cpu::GraphRegion;
using cpu::GraphTensor;
using cpu::GraphValue;
using relay::CallNode;
using relay::Function;

// The name of a node of an ONNX model; `model.relay:12` elsewhere, without
// folders.
std::string PlaceOf(const Span& span) {
  if (!span.defined() || onnx::IsInListing(span)) return onnx::OriginName(span);
  const std::string place = onnx::OriginName(span);
  return place.substr(place.rfind('/') + 1);
}

// Makes the lanes of folds (lower/lane_fold.h) the innermost loops, which are
// vectors then.
tir::PrimFunc WithLanesInside(const tir::PrimFunc& function) {
  std::vector<std::string> blocks;
  const auto name_of = [&blocks](const tir::Stmt& stmt) {
    const auto* block = stmt.As<tir::BlockNode>();
    if (block != nullptr && (absl::EndsWith(block->name(), "_lanes") ||
                             absl::EndsWith(block->name(), "_few"))) {
      blocks.push_back(std::string(block->name()));
    }
  };
  tir::PostOrderVisit(
      function->body(), [](const tir::PrimExpr&) {}, name_of);
  tir::Schedule schedule(function);
  for (const std::string& name : blocks) {
    const absl::StatusOr<tir::BlockRef> block = schedule.GetBlock(name);
    if (!block.ok()) continue;
    const absl::StatusOr<std::vector<tir::LoopRef>> loops =
        schedule.GetLoops(*block);
    if (!loops.ok() || loops->size() < 2) continue;
    const tir::LoopRef& position = loops->back();
    // Folds of nothing have no positions.
    if (!absl::StartsWith(position.var->name(), "k")) continue;
    const tir::LoopRef& lane = (*loops)[loops->size() - 2];
    if (!schedule.Reorder({position, lane}).ok()) continue;
    // A fold for which the step is refused stays as it is.
    static_cast<void>(schedule.DecomposeReduction(*block, position).ok());
  }
  return schedule.function();
}

// `nn_softmax` for `nn.softmax`.
std::string FunctionName(absl::string_view op) {
  return absl::StrReplaceAll(op, {{".", "_"}});
}

// Appends to `problems` the steps that cannot be compiled. The model is not to
// be used if there are any.
absl::StatusOr<LibraryModel> ReadGraph(const Graph& graph,
                                       const LibraryModelOptions& options,
                                       Diagnostics& problems);

class PlanReader {
 public:
  PlanReader(const Graph& graph, std::shared_ptr<executor::Plan> plan,
             const LibraryModelOptions& options, Diagnostics& problems)
      : graph_(graph),
        plan_(std::move(plan)),
        options_(options),
        problems_(problems),
        thread_counts_(ThreadCounts(options.max_threads)) {}

  absl::StatusOr<LibraryModel> Read() {
    BATON_RETURN_IF_ERROR(MakeFunctions());
    if (problems_.has_errors()) return LibraryModel();
    AddWorkspaces();
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      const size_t first = model_.steps.size();
      if (regions_[i].empty()) {
        BATON_RETURN_IF_ERROR(AddStep(i));
      } else {
        BATON_RETURN_IF_ERROR(AddRegion(i));
      }
      model_.plan_steps.emplace_back(first, model_.steps.size() - 1);
    }
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      model_.inputs.push_back(
          PortSlot(graph_.inputs[i], LibrarySpace::kInput, i));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      model_.outputs.push_back(
          PortSlot(graph_.outputs[i], LibrarySpace::kOutput, i));
    }
    model_.arena_bytes = plan_->arena_bytes;
    model_.arena_lower_bound = plan_->arena_lower_bound;
    return std::move(model_);
  }

 private:
  const GraphTensor& TensorOf(int t) const {
    return graph_.tensors[static_cast<size_t>(t)];
  }
  const GraphNode* NodeOf(size_t step) const {
    const std::vector<int32_t>& sources = plan_->notes[step].sources;
    return sources.empty() ? nullptr
                           : &graph_.nodes[static_cast<size_t>(sources[0])];
  }
  // True if the results have no elements: there is nothing to compute.
  bool HasNoResults(const GraphNode& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(),
                       [this](int t) { return HasNoElements(t); });
  }
  bool HasNoElements(int t) const { return TensorOf(t).num_elements() == 0; }

  // True if the arguments without elements, of which no loops are made, leave
  // constants alone to depend on.
  bool IsComputedNow(const GraphNode& node) const {
    const auto is_known = [this](int t) {
      return HasNoElements(t) || TensorOf(t).constant.has_value();
    };
    return node.region == nullptr &&
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [this](int t) { return HasNoElements(t); }) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), is_known);
  }

  // True if the result is the first operand: there are no updates.
  bool ScattersNothing(const GraphNode& node) const {
    constexpr size_t kUpdates = 2;
    return (node.op_name() == "scatter_elements" ||
            node.op_name() == "scatter_nd") &&
           HasNoElements(node.inputs[kUpdates]);
  }

  // True if each element of the result is one of the first operand, at a place
  // that values give, and that operand has none: the evaluator fails for all
  // values.
  bool AlwaysFails(const GraphNode& node) const {
    const absl::string_view op = node.op_name();
    return (op == "take" || op == "gather" || op == "gather_nd" ||
            op == "adv_index") &&
           HasNoElements(node.inputs[0]);
  }

  // Makes step `i` a copy of its results, which are computed here.
  absl::Status ComputeNow(size_t i) {
    const GraphNode& node = *NodeOf(i);
    IRModule module;
    module.Set("main", FunctionOf(node));
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    std::vector<relay::Value> args;
    for (const int t : node.inputs) {
      if (IsNumber(t)) continue;
      const GraphTensor& tensor = TensorOf(t);
      if (tensor.constant.has_value()) {
        args.emplace_back(*tensor.constant);
        continue;
      }
      BATON_ASSIGN_OR_RETURN(Tensor none,
                             Tensor::Zeros(tensor.dtype, tensor.shape));
      args.emplace_back(std::move(none));
    }
    BATON_ASSIGN_OR_RETURN(const relay::Value result,
                           relay::EvaluateFunction(module, "main", args));
    known_results_[i] = relay::TensorsOf(result);
    const size_t count = known_results_[i].size();
    cpu::StepSource& source = sources_[i].emplace_back();
    for (size_t k = 0; k < count; ++k) {
      absl::StrAppend(&source.statements, "  __builtin_memcpy(@", count + k,
                      "@, @", k, "@, ", known_results_[i][k].bytes().size(),
                      ");\n");
    }
    return absl::OkStatus();
  }

  // A number in the text of a function.
  bool IsNumber(int t) const {
    const GraphTensor& tensor = TensorOf(t);
    return tensor.constant.has_value() && tensor.shape.empty();
  }

  cpu::RowGroups GroupsOf(const GraphNode& node) const {
    std::vector<bool> has_part;
    for (const int t : node.inputs) has_part.push_back(!IsNumber(t));
    return cpu::RowGroupsOf(graph_, node, has_part);
  }

  // The call of a node, for one of its groups, as a function of its operands
  // that are no numbers.
  Function FunctionOf(const GraphNode& node,
                      const cpu::RowGroups& groups = {}) const {
    std::vector<relay::Var> params;
    size_t next = 0;
    const auto expr_of = [&](const GraphValue& value,
                             const auto& self) -> Expr {
      if (!value.is_tensor()) {
        std::vector<Expr> fields;
        for (const GraphValue& field : value.fields) {
          fields.push_back(self(field, self));
        }
        return relay::Tuple(std::move(fields));
      }
      const int t = node.inputs[next++];
      if (IsNumber(t)) return relay::Constant(*TensorOf(t).constant);
      const relay::Var param(
          absl::StrCat("p", params.size()),
          TensorType::Of(groups.ShapeOfPart(TensorOf(t).shape),
                         TensorOf(t).dtype));
      params.push_back(param);
      return param;
    };
    std::vector<Expr> args;
    for (const GraphValue& arg : node.args) {
      args.push_back(expr_of(arg, expr_of));
    }
    const absl::Span<const Type> types = node.call->type_args();
    const relay::Call body(node.call->op(), absl::MakeConstSpan(args),
                           node.call->attrs(), {types.begin(), types.end()},
                           Type(), node.call->span());
    return Function(std::move(params), body);
  }

  // The parts of a step that are worth a thread each.
  static int64_t WorthParts(const executor::Step& step) {
    // A part that takes less is not worth waking a thread for.
    constexpr double kMinPartNs = 4000;
    return static_cast<int64_t>(
        std::clamp<double>(step.cost_ns / kMinPartNs, 1, 1e6));
  }
  // As above, for as many threads as a run may have.
  int64_t MostParts(const executor::Step& step) const {
    return std::min<int64_t>(WorthParts(step), thread_counts_.back());
  }

  // The sources of a step for thread_counts_, or one where these are equal;
  // none for steps without a source.
  std::vector<cpu::StepSource> SourcesOf(const executor::Step& step) const {
    std::vector<cpu::StepSource> sources;
    const auto most = static_cast<int>(MostParts(step));
    bool are_equal = true;
    for (const int threads : thread_counts_) {
      std::optional<cpu::StepSource> source =
          cpu::SourceOf(step, std::min(threads, most));
      if (!source.has_value()) return {};
      // The source may do without the workspace that the executor's kernel needs.
      const bool has_workspace =
          absl::StrContains(source->statements, "workspace");
      source->workspace_bytes =
          has_workspace ? executor::AlignUp(source->workspace_bytes) : 0;
      sources.push_back(*std::move(source));
      if (most == 1) break;
      const cpu::StepSource& one = sources.front();
      const cpu::StepSource& last = sources.back();
      are_equal = are_equal && one.definitions == last.definitions &&
                  one.statements == last.statements &&
                  one.items == last.items &&
                  one.workspace_bytes == last.workspace_bytes;
    }
    if (are_equal) sources.resize(1);
    return sources;
  }

  // Makes loops of the steps that have no source.
  absl::Status MakeFunctions() {
    function_of_.assign(plan_->steps.size(), -1);
    groups_.assign(plan_->steps.size(), 1);
    sources_.resize(plan_->steps.size());
    regions_.resize(plan_->steps.size());
    known_results_.resize(plan_->steps.size());
    fails_.assign(plan_->steps.size(), false);
    FlatHashMap<uint64_t, std::vector<size_t>> by_hash;
    std::vector<Function> functions;
    std::vector<const GraphNode*> nodes;  // the first of each function
    std::vector<size_t> steps;            // as above
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      sources_[i] = SourcesOf(plan_->steps[i]);
      if (!sources_[i].empty()) continue;
      const GraphNode* const node = NodeOf(i);
      if (node == nullptr) {
        return absl::InternalError(absl::StrCat("step ", plan_->notes[i].kernel,
                                                " has no source and no node"));
      }
      if (HasNoResults(*node)) {
        sources_[i].emplace_back();
        continue;
      }
      if (ScattersNothing(*node)) {
        sources_[i].emplace_back().statements =
            absl::StrCat("  __builtin_memcpy(@", node->inputs.size(),
                         "@, @0@, ", TensorOf(node->inputs[0]).bytes(), ");\n");
        continue;
      }
      if (AlwaysFails(*node)) {
        fails_[i] = true;
        continue;
      }
      if (IsComputedNow(*node)) {
        const absl::Status status = ComputeNow(i);
        if (!status.ok()) {
          problems_.Error(node->call->span(), std::string(status.message()));
        }
        continue;
      }
      if (node->region != nullptr) {
        if (node->region->kind == GraphRegion::Kind::kEvaluate) {
          problems_.Error(node->call->span(),
                          "a function that calls itself cannot be compiled, "
                          "unless that is all it does with the result, and "
                          "shapes are constant");
          continue;
        }
        for (const Graph& part : node->region->graphs) {
          BATON_ASSIGN_OR_RETURN(LibraryModel model,
                                 ReadGraph(part, options_, problems_));
          regions_[i].push_back(std::move(model));
        }
        continue;
      }
      const cpu::RowGroups groups = GroupsOf(*node);
      groups_[i] = groups.count;
      Function function = FunctionOf(*node, groups);
      std::vector<size_t>& equal = by_hash[StructuralHash(function)];
      for (const size_t known : equal) {
        if (StructuralEqual(functions[known], function)) {
          function_of_[i] = static_cast<int>(known);
        }
      }
      if (function_of_[i] >= 0) continue;
      function_of_[i] = static_cast<int>(functions.size());
      equal.push_back(functions.size());
      functions.push_back(std::move(function));
      nodes.push_back(node);
      steps.push_back(i);
    }
    IRModule module;
    std::vector<std::string> names;
    for (size_t i = 0; i < functions.size(); ++i) {
      const std::string base = FunctionName(nodes[i]->op_name());
      std::string name = base;
      for (int k = 1; module.Find(name).defined(); ++k) {
        name = absl::StrCat(base, "_", k);
      }
      module.Set(name, functions[i]);
      names.push_back(std::move(name));
    }
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline("tir.lower"));
    PassContextOptions context = options_.lowering;
    context.opt_level = OptLevelOf(pipeline);
    if (options_.check != nullptr) {
      context.instruments.push_back(options_.check);
    }
    const PassContext lowering(context);
    IRModule loops;
    extra_constants_.resize(functions.size());
    for (size_t i = 0; i < functions.size(); ++i) {
      absl::StatusOr<lower::LoweredFunction> lowered = lower::LowerFunction(
          module.Find<Function>(names[i]), names[i],
          /*refused=*/nullptr, lower::HasNoAlias(lowering));
      if (!lowered.ok()) {
        // At each call, so that all places are named.
        for (size_t step = 0; step < plan_->steps.size(); ++step) {
          if (function_of_[step] != static_cast<int>(i)) continue;
          problems_.Error(
              NodeOf(step)->call->span(),
              absl::StrCat("operator ", nodes[i]->op_name(),
                           " has no loops: it cannot be compiled (",
                           lowered.status().message(), ")",
                           absl::StartsWith(nodes[i]->op_name(), "qnn.")
                               ? "; --passes=qnn.Legalize,"
                                 "qnn.CanonicalizeOps makes other "
                                 "operators of it"
                               : ""));
        }
        continue;
      }
      loops.Set(names[i], lowered->function);
      if (options_.check != nullptr) {
        BATON_RETURN_IF_ERROR(options_.check->AddFunction(
            module, names[i], lowered->constants, OriginOf(steps[i])));
        BATON_RETURN_IF_ERROR(
            options_.check->Check(loops, names[i], "the lowering to loops"));
      }
      loops.Set(names[i], WithLanesInside(lowered->function));
      if (options_.check != nullptr) {
        BATON_RETURN_IF_ERROR(
            options_.check->Check(loops, names[i], "the order of lanes"));
      }
      for (const relay::Constant& constant : lowered->constants) {
        extra_constants_[i].push_back(constant->value());
      }
    }
    if (functions.empty() || problems_.has_errors()) return absl::OkStatus();
    BATON_ASSIGN_OR_RETURN(loops,
                           lowering.Run([&] { return pipeline(loops); }));
    if (options_.lowered != nullptr) options_.lowered(lowering);
    for (const std::string& name : names) {
      model_.functions.push_back({name, loops.Find<tir::PrimFunc>(name), ""});
    }
    tir::CppSourceOptions probe;
    probe.name_space = "probe";
    absl::StatusOr<tir::CppSource> source =
        WriteCppSource(model_.functions, probe);
    if (source.ok()) {
      model_.emitted = std::move(source->functions);
      return absl::OkStatus();
    }
    // At each call, as above.
    for (size_t i = 0; i < functions.size(); ++i) {
      const absl::Status status =
          WriteCppSource({model_.functions[i]}, probe).status();
      if (status.ok()) continue;
      for (size_t step = 0; step < plan_->steps.size(); ++step) {
        if (function_of_[step] != static_cast<int>(i)) continue;
        problems_.Error(
            NodeOf(step)->call->span(),
            absl::StrCat("operator ", nodes[i]->op_name(),
                         " cannot be compiled (", status.message(), ")"));
      }
    }
    return problems_.has_errors() ? absl::OkStatus() : source.status();
  }

  // A line for each node of a step: the operator and its place.
  std::string OriginOf(size_t step) const {
    std::string origin;
    for (const int32_t source : plan_->notes[step].sources) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(source)];
      absl::StrAppend(&origin, origin.empty() ? "" : "\n", node.op_name());
      const std::string place = PlaceOf(node.call->span());
      if (!place.empty()) absl::StrAppend(&origin, ", ", place);
    }
    return origin;
  }

  // The bytes that a state of a loop takes.
  int64_t StateBytes(const GraphNode& node) const {
    int64_t bytes = 0;
    for (int k = 0; k < node.region->num_state; ++k) {
      bytes += executor::AlignUp(
          TensorOf(node.inputs[static_cast<size_t>(k)]).bytes());
    }
    return bytes;
  }

  // The memory of the nested plans, one after another; in a loop, then a
  // condition and two states.
  int64_t RegionBytes(size_t step) const {
    int64_t bytes = 0;
    for (const LibraryModel& part : regions_[step]) {
      bytes = std::max(bytes, executor::AlignUp(part.arena_bytes));
    }
    const GraphNode& node = *NodeOf(step);
    if (node.region->kind == GraphRegion::Kind::kLoop) {
      bytes += executor::kAlignment + 2 * StateBytes(node);
    }
    return bytes;
  }

  // The bytes of the workspaces of all threads for the sources of step `i`.
  int64_t WorkspacesOf(size_t i) const {
    const std::vector<cpu::StepSource>& sources = sources_[i];
    int64_t most = 0;
    for (size_t k = 0; k < sources.size(); ++k) {
      const int threads = sources.size() > 1 && k != kUnknownThreadsLevel
                              ? thread_counts_[k]
                              : thread_counts_.back();
      const int64_t parts = std::min(
          {int64_t{threads}, sources[k].items, MostParts(plan_->steps[i])});
      most = std::max(most, parts * sources[k].workspace_bytes);
    }
    return most;
  }

  // The bytes of the workspace that a call of the function of step `i` needs.
  int64_t GroupWorkspaceOf(size_t i) const {
    return executor::AlignUp(
        model_.emitted[static_cast<size_t>(function_of_[i])].workspace_bytes);
  }

  void AddWorkspaces() {
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      executor::Step& step = plan_->steps[i];
      // In place of the size that the executor's kernel needs.
      step.workspace_bytes =
          !regions_[i].empty() ? RegionBytes(i)
          : function_of_[i] < 0
              ? WorkspacesOf(i)
              : GroupWorkspaceOf(i) *
                    std::min({groups_[i], MostParts(plan_->steps[i]),
                              int64_t{thread_counts_.back()}});
      if (step.workspace < 0 && step.workspace_bytes > 0) {
        step.workspace = static_cast<int32_t>(plan_->values.size());
        plan_->values.emplace_back();
      }
      if (step.workspace < 0) continue;
      plan_->values[static_cast<size_t>(step.workspace)].bytes =
          step.workspace_bytes;
      if (step.workspace_bytes == 0) step.workspace = -1;
    }
    executor::PlaceValues(*plan_);
  }

  absl::StatusOr<LibrarySlot> SlotOf(const executor::Operand& operand) {
    const executor::Value& value =
        plan_->values[static_cast<size_t>(operand.value)];
    LibrarySlot slot;
    slot.offset = operand.offset;
    slot.bytes = operand.bytes;
    slot.dtype = DType::Float(32);
    slot.shape = {operand.bytes / 4};
    slot.index = value.index;
    switch (value.space) {
      case executor::Space::kArena:
        slot.space = LibrarySpace::kArena;
        slot.offset += value.offset;
        break;
      case executor::Space::kInput:
        slot.space = LibrarySpace::kInput;
        break;
      case executor::Space::kOutput:
        slot.space = LibrarySpace::kOutput;
        break;
      case executor::Space::kConstant: {
        slot.space = LibrarySpace::kConstant;
        const executor::Constant& constant =
            plan_->constants[static_cast<size_t>(value.index)];
        BATON_ASSIGN_OR_RETURN(
            const Tensor bytes,
            Tensor::FromBuffer(DType::UInt(8), {constant.bytes},
                               {static_cast<const char*>(constant.data),
                                static_cast<size_t>(constant.bytes)},
                               plan_));
        slot.index = model_.ConstantIndex(bytes);
        break;
      }
    }
    return slot;
  }

  void AddConstants(const std::vector<Tensor>& constants,
                    std::vector<LibrarySlot>& slots) {
    for (const Tensor& constant : constants) {
      LibrarySlot slot;
      slot.space = LibrarySpace::kConstant;
      slot.index = model_.ConstantIndex(constant);
      slot.dtype = constant.dtype();
      slot.shape.assign(constant.shape().begin(), constant.shape().end());
      slot.bytes = static_cast<int64_t>(constant.bytes().size());
      slots.push_back(std::move(slot));
    }
  }

  absl::Status AddStep(size_t i) {
    const executor::Step& step = plan_->steps[i];
    const executor::StepNote& note = plan_->notes[i];
    if (fails_[i]) {
      AddControl(LibraryControl::kFail, note.kernel, i, {});
      return absl::OkStatus();
    }
    LibraryStep added;
    added.kernel = note.kernel;
    added.reason = note.reason;
    added.flops = note.flops;
    added.most_parts = WorthParts(step);
    added.origin = OriginOf(i);
    const GraphNode* const node = NodeOf(i);
    const bool is_call = function_of_[i] >= 0;
    std::vector<LibrarySlot> results;
    for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
      const bool is_result = k >= step.num_inputs;
      if (!is_result && !known_results_[i].empty()) continue;
      int tensor = -1;
      if (is_call) {
        tensor = is_result
                     ? node->outputs[static_cast<size_t>(k - step.num_inputs)]
                     : node->inputs[static_cast<size_t>(k)];
        if (!is_result && IsNumber(tensor)) continue;
      } else if (static_cast<size_t>(k) < note.tensors.size() &&
                 !note.tensors[static_cast<size_t>(k)].is_blocked) {
        tensor = note.tensors[static_cast<size_t>(k)].number;
      }
      BATON_ASSIGN_OR_RETURN(
          LibrarySlot slot,
          SlotOf(plan_->operands[static_cast<size_t>(step.first_operand + k)]));
      if (tensor >= 0) {
        slot.dtype = TensorOf(tensor).dtype;
        slot.shape.assign(TensorOf(tensor).shape.begin(),
                          TensorOf(tensor).shape.end());
      }
      slot.operand = k;
      slot.is_result = is_result;
      slot.has_groups = is_call && groups_[i] > 1;
      (is_result ? results : added.slots).push_back(std::move(slot));
    }
    if (is_call) {
      added.function = function_of_[i];
      added.groups = groups_[i];
      added.group_workspace_bytes = GroupWorkspaceOf(i);
      const size_t function = static_cast<size_t>(function_of_[i]);
      added.kernel = model_.functions[function].symbol;
      std::string& origin = model_.functions[function].origin;
      absl::StrAppend(&origin, origin.empty() ? "" : "\n", added.origin);
      AddConstants(extra_constants_[function], added.slots);
    } else {
      added.sources = std::move(sources_[i]);
      AddConstants(known_results_[i], added.slots);
    }
    added.slots.insert(added.slots.end(), results.begin(), results.end());
    if (step.workspace >= 0) {
      added.workspace_bytes = step.workspace_bytes;
      added.workspace_offset =
          plan_->values[static_cast<size_t>(step.workspace)].offset;
    }
    model_.steps.push_back(std::move(added));
    return absl::OkStatus();
  }

  // --- Branches and loops ----------------------------------------------------

  void AddControl(LibraryControl control, absl::string_view name, size_t step,
                  std::vector<LibrarySlot> slots) {
    LibraryStep added;
    added.control = control;
    added.kernel = std::string(name);
    added.origin = OriginOf(step);
    added.slots = std::move(slots);
    model_.steps.push_back(std::move(added));
  }

  // Appends the steps of a nested plan, whose arena is at `arena` of this one.
  void AddPart(const LibraryModel& part, const std::vector<LibrarySlot>& inputs,
               const std::vector<LibrarySlot>& outputs, int64_t arena) {
    const int first_function = static_cast<int>(model_.functions.size());
    model_.functions.insert(model_.functions.end(), part.functions.begin(),
                            part.functions.end());
    model_.emitted.insert(model_.emitted.end(), part.emitted.begin(),
                          part.emitted.end());
    for (LibraryStep step : part.steps) {
      if (step.function >= 0) step.function += first_function;
      step.workspace_offset += arena;
      for (LibrarySlot& slot : step.slots) {
        slot.operand = -1;  // of the executor's step, which has other ones
        if (slot.space == LibrarySpace::kConstant) {
          slot.index = model_.ConstantIndex(
              part.constants[static_cast<size_t>(slot.index)]);
          continue;
        }
        if (slot.space == LibrarySpace::kArena) {
          slot.offset += arena;
          continue;
        }
        const LibrarySlot& port =
            (slot.space == LibrarySpace::kInput
                 ? inputs
                 : outputs)[static_cast<size_t>(slot.index)];
        slot.space = port.space;
        slot.index = port.index;
        slot.offset += port.offset;
      }
      model_.steps.push_back(std::move(step));
    }
  }

  void AddCopy(const LibrarySlot& from, LibrarySlot to, size_t step) {
    if (to.bytes == 0) return;
    LibraryStep copy;
    copy.kernel = "copy";
    copy.origin = OriginOf(step);
    cpu::StepSource& source = copy.sources.emplace_back();
    source.statements =
        absl::StrCat("  __builtin_memcpy(@1@, @0@, ", to.bytes, ");\n");
    to.is_result = true;
    copy.slots = {from, std::move(to)};
    for (LibrarySlot& slot : copy.slots) slot.operand = -1;
    model_.steps.push_back(std::move(copy));
  }

  // The steps of the nested plans of step `i`.
  absl::Status AddRegion(size_t i) {
    const executor::Step& step = plan_->steps[i];
    const GraphNode& node = *NodeOf(i);
    std::vector<LibrarySlot> inputs;
    std::vector<LibrarySlot> outputs;
    for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
      BATON_ASSIGN_OR_RETURN(
          LibrarySlot slot,
          SlotOf(plan_->operands[static_cast<size_t>(step.first_operand + k)]));
      slot.is_result = k >= step.num_inputs;
      const int tensor =
          slot.is_result
              ? node.outputs[static_cast<size_t>(k - step.num_inputs)]
              : node.inputs[static_cast<size_t>(k)];
      slot.dtype = TensorOf(tensor).dtype;
      slot.shape.assign(TensorOf(tensor).shape.begin(),
                        TensorOf(tensor).shape.end());
      slot.operand = k;
      (slot.is_result ? outputs : inputs).push_back(std::move(slot));
    }
    const std::vector<LibraryModel>& parts = regions_[i];
    // Branches that need no memory have no workspace.
    const int64_t arena =
        step.workspace < 0
            ? 0
            : plan_->values[static_cast<size_t>(step.workspace)].offset;
    // The inputs of part `p`; `state`, if it is not null, replaces the first.
    const auto inputs_of = [&](size_t p,
                               const std::vector<LibrarySlot>* state) {
      std::vector<LibrarySlot> result;
      for (const int from : node.region->inputs[p]) {
        const auto number = static_cast<size_t>(from);
        result.push_back(state != nullptr && number < state->size()
                             ? (*state)[number]
                             : inputs[number]);
      }
      return result;
    };
    if (node.region->kind == GraphRegion::Kind::kIf) {
      AddControl(LibraryControl::kIf, "if", i, inputs);
      AddPart(parts[0], inputs_of(0, nullptr), outputs, arena);
      AddControl(LibraryControl::kElse, "else", i, {});
      AddPart(parts[1], inputs_of(1, nullptr), outputs, arena);
      AddControl(LibraryControl::kEnd, "end of if", i, outputs);
      return absl::OkStatus();
    }
    // Behind the memory of the plans.
    int64_t at = arena + step.workspace_bytes - executor::kAlignment -
                 2 * StateBytes(node);
    const auto place = [&at](LibrarySlot slot) {
      slot.space = LibrarySpace::kArena;
      slot.index = 0;
      slot.offset = at;
      slot.operand = -1;
      at += executor::AlignUp(slot.bytes);
      return slot;
    };
    LibrarySlot condition;
    condition.dtype = DType::Bool();
    condition.bytes = 1;
    condition = place(condition);
    std::vector<LibrarySlot> states[2];  // before and after a round
    for (std::vector<LibrarySlot>& state : states) {
      for (int k = 0; k < node.region->num_state; ++k) {
        state.push_back(place(inputs[static_cast<size_t>(k)]));
      }
    }
    AddControl(LibraryControl::kMark, "loop", i, inputs);
    for (size_t k = 0; k < states[0].size(); ++k) {
      AddCopy(inputs[k], states[0][k], i);
    }
    AddControl(LibraryControl::kLoop, "rounds", i, {});
    AddPart(parts[0], inputs_of(0, &states[0]), {condition}, arena);
    AddControl(LibraryControl::kBreak, "last round", i, {condition});
    model_.steps.back().continue_value = node.region->continue_value;
    AddPart(parts[1], inputs_of(1, &states[0]), states[1], arena);
    for (size_t k = 0; k < states[0].size(); ++k) {
      AddCopy(states[1][k], states[0][k], i);
    }
    AddControl(LibraryControl::kEnd, "end of a round", i, {});
    AddPart(parts[2], inputs_of(2, &states[0]), outputs, arena);
    AddControl(LibraryControl::kMark, "end of loop", i, outputs);
    return absl::OkStatus();
  }

  LibrarySlot PortSlot(int t, LibrarySpace space, size_t index) const {
    const GraphTensor& tensor = TensorOf(t);
    LibrarySlot slot;
    slot.space = space;
    slot.index = static_cast<int>(index);
    slot.dtype = tensor.dtype;
    slot.shape.assign(tensor.shape.begin(), tensor.shape.end());
    slot.bytes = tensor.bytes();
    return slot;
  }

  const Graph& graph_;
  const std::shared_ptr<executor::Plan> plan_;
  const LibraryModelOptions& options_;
  Diagnostics& problems_;
  LibraryModel model_;
  std::vector<int> function_of_;  // of steps
  std::vector<int64_t> groups_;   // of the operands of steps with functions
  const std::vector<int> thread_counts_;
  std::vector<std::vector<cpu::StepSource>> sources_;  // of steps
  std::vector<std::vector<Tensor>> extra_constants_;   // of functions
  // By step: its results, if they do not depend on inputs of the model.
  std::vector<std::vector<Tensor>> known_results_;
  std::vector<bool> fails_;  // by step: whatever its operands are
  // By step: the models of the graphs of a branch or a loop.
  std::vector<std::vector<LibraryModel>> regions_;
};

absl::StatusOr<LibraryModel> ReadGraph(const Graph& graph,
                                       const LibraryModelOptions& options,
                                       Diagnostics& problems) {
  Graph held = graph;
  BATON_RETURN_IF_ERROR(cpu::ComputeHalvesInFloat32(held));
  BATON_ASSIGN_OR_RETURN(executor::Plan plan,
                         cpu::LowerGraph(held, {.only_sources = true}));
  return PlanReader(held, std::make_shared<executor::Plan>(std::move(plan)),
                    options, problems)
      .Read();
}

// Names the calls of operators that have neither a kernel with C++ source nor
// loops, in a module without a plan, since values decide how large some results
// are.
class CallsWithoutPlan {
 public:
  CallsWithoutPlan(const LibraryModelOptions& options, Diagnostics& problems)
      : problems_(problems) {
    options_.lowering = options.lowering;
  }

  void Name(const IRModule& module) {
    std::vector<const CallNode*> calls;
    ForEachCall(module,
                [&calls](const CallNode* call) { calls.push_back(call); });
    for (const CallNode* call : calls) {
      if (cpu::HasKnownSizes(call->type()) && HasSizedArguments(call)) {
        TryAlone(call);
      }
    }
  }

 private:
  // Calls of operators, in the functions of Relay that `main` reaches.
  static void ForEachCall(const IRModule& module,
                          absl::FunctionRef<void(const CallNode*)> fn) {
    std::vector<std::string> names = {"main"};
    FlatHashSet<std::string> seen = {"main"};
    for (size_t i = 0; i < names.size(); ++i) {
      const auto function = module.Find<Function>(names[i]);
      if (!function.defined()) continue;
      relay::PostOrderVisit(function, [&](const ExprNode* node) {
        if (const auto* var = Expr(node).As<GlobalVarNode>()) {
          if (seen.insert(var->name()).second) names.push_back(var->name());
        } else if (const auto* call = Expr(node).As<CallNode>()) {
          if (call->op_node() != nullptr) fn(call);
        }
      });
    }
  }

  static bool HasSizedArguments(const CallNode* call) {
    return std::all_of(
        call->args().begin(), call->args().end(),
        [](const Expr& arg) { return cpu::HasKnownSizes(arg->type()); });
  }

  // Compiles the call as a model of its own, and names what is wrong with it.
  void TryAlone(const CallNode* call) {
    std::vector<relay::Var> params;
    std::vector<Expr> args;
    // Parameters for the tensors of which a value of `type` is made.
    const auto value_of = [&params](const Type& type,
                                    const auto& self) -> Expr {
      const auto* tuple = type.As<TupleTypeNode>();
      if (tuple == nullptr) {
        params.emplace_back(absl::StrCat("p", params.size()), type);
        return params.back();
      }
      std::vector<Expr> fields;
      for (const Type& field : tuple->fields()) {
        fields.push_back(self(field, self));
      }
      return relay::Tuple(std::move(fields));
    };
    for (const Expr& arg : call->args()) {
      args.push_back(arg.Is<relay::ConstantNode>()
                         ? arg
                         : value_of(arg->type(), value_of));
    }
    const absl::Span<const Type> types = call->type_args();
    const Function function(
        std::move(params),
        relay::Call(call->op(), absl::MakeConstSpan(args), call->attrs(),
                    {types.begin(), types.end()}, Type(), call->span()));
    for (const Tried& tried : tried_[StructuralHash(function)]) {
      if (!StructuralEqual(tried.function, function)) continue;
      for (const std::string& message : tried.messages) {
        problems_.Error(call->span(), message);
      }
      return;
    }
    Tried tried = {function, {}};
    Diagnostics found;
    const absl::Status status = Compile(function, found);
    for (const Diagnostic& problem : found.list()) {
      tried.messages.push_back(problem.message);
    }
    // An error that names no place is one of this call.
    if (!status.ok()) {
      tried.messages.push_back(absl::StrCat(
          "operator ", call->op_node()->name(), ": ", status.message()));
    }
    for (const std::string& message : tried.messages) {
      problems_.Error(call->span(), message);
    }
    tried_[StructuralHash(function)].push_back(std::move(tried));
  }

  absl::Status Compile(const Function& function, Diagnostics& found) const {
    IRModule module;
    module.Set("main", function);
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    BATON_ASSIGN_OR_RETURN(const Graph graph, cpu::BuildGraph(module, "main"));
    return ReadGraph(graph, options_, found).status();
  }

  // A call that was compiled, and what is wrong with it.
  struct Tried {
    Function function;
    std::vector<std::string> messages;
  };

  LibraryModelOptions options_;
  Diagnostics& problems_;
  FlatHashMap<uint64_t, std::vector<Tried>> tried_;
};

}  // namespace

absl::StatusOr<LibraryModel> LibraryFromPlan(
    const IRModule& module, const LibraryModelOptions& options) {
  Diagnostics problems;
  BATON_ASSIGN_OR_RETURN(cpu::PaddedModule padded,
                         cpu::PadToBounds(module, problems));
  if (problems.has_errors()) {
    CallsWithoutPlan(options, problems).Name(module);
    return problems.ToStatus();
  }
  BATON_ASSIGN_OR_RETURN(const Graph graph,
                         cpu::BuildGraph(padded.module, "main"));
  BATON_ASSIGN_OR_RETURN(LibraryModel model,
                         ReadGraph(graph, options, problems));
  BATON_RETURN_IF_ERROR(problems.ToStatus());
  model.padded = std::move(padded);
  return model;
}

}  // namespace baton
