#include "baton/tools/compile_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/json.h"
#include "baton/ir/attrs.h"
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
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton {
namespace {

using tir::CppCommentText;
using tir::CppIdentifier;
using tir::CppIsa;
using tir::CppParam;
using tir::PrimFunc;
using tir::PrimFuncNode;

// --- Values --------------------------------------------------------------

enum class Space { kInput, kOutput, kConstant, kArena };

// A tensor in memory.
struct Slot {
  Space space = Space::kArena;
  int index = 0;  // among the inputs, outputs or constants
  DType dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  int64_t offset = 0;  // in the arena, or among the weights
  int first = -1;      // steps
  int last = -1;
};

// One call of a function, or a copy.
struct Step {
  int function = -1;  // -1: a copy of `slots[0]` to `slots[1]`
  std::vector<int> slots;
  std::string origin;
};

std::string DescribeTensor(const Slot& slot) {
  return absl::StrCat(slot.dtype.ToString(), "[",
                      absl::StrJoin(slot.shape, ","), "]");
}

// `model.relay:12: fused_nn_dense`, the place of a call.
std::string OriginOf(const ExprNode* call, absl::string_view name) {
  if (!call->span().defined()) return std::string(name);
  const Source& source = call->span()->source();
  const int line = source.PositionOf(call->span()->begin()).line;
  return absl::StrCat(name, ", ", source.name(), ":", line);
}

// --- The steps of a model ----------------------------------------------------

class ModelReader {
 public:
  ModelReader(const IRModule& module, const CompileModelOptions& options)
      : module_(module), options_(options) {}

  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<tir::CppFunction> functions;
  std::vector<int> inputs;   // slots, by parameter
  std::vector<int> outputs;  // slots, by result
  std::vector<Tensor> constants;

  absl::Status Read() {
    const Function main = module_.Find<Function>("main");
    if (!main.defined()) {
      return absl::InvalidArgumentError("the module has no function @main");
    }
    for (const Var& param : main->params()) {
      const Type& type =
          param->type().defined() ? param->type() : param->annotation();
      const int slot = AddSlot(type, Space::kInput, param.get());
      if (slot < 0) continue;
      slots[static_cast<size_t>(slot)].index = static_cast<int>(inputs.size());
      inputs.push_back(slot);
      values_[param.get()] = {slot};
    }
    PostOrderVisit(
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
    return MakeOutputs(*results);
  }

  // Equal contents are kept once.
  int ConstantIndex(const Tensor& value) {
    std::vector<int>& same = by_contents_[std::string(
        value.bytes().substr(0, std::min<size_t>(value.bytes().size(), 64)))];
    for (const int i : same) {
      if (constants[static_cast<size_t>(i)].bytes() == value.bytes()) return i;
    }
    constants.push_back(value);
    same.push_back(static_cast<int>(constants.size()) - 1);
    return same.back();
  }

  // The input that has the value of output i in the next run; -1 for none.
  int StateInput(size_t output) const {
    if (output >= options_.output_names.size()) return -1;
    for (const auto& [from, to] : options_.state) {
      if (from != options_.output_names[output]) continue;
      const auto found = std::find(options_.input_names.begin(),
                                   options_.input_names.end(), to);
      if (found != options_.input_names.end()) {
        return static_cast<int>(found - options_.input_names.begin());
      }
    }
    return -1;
  }

 private:
  int AddSlot(const Type& type, Space space, const ExprNode* node) {
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
    slot.space = space;
    slot.dtype = tensor->dtype();
    slot.bytes = tensor->dtype().bytes();
    for (const Dim& dim : tensor->shape()) {
      slot.shape.push_back(dim.value());
      slot.bytes *= dim.value();
    }
    slots.push_back(std::move(slot));
    return static_cast<int>(slots.size()) - 1;
  }

  void Visit(const ExprNode* node) {
    if (values_.Contains(node)) return;
    switch (ExprKindOf(node)) {
      case ExprKind::kConstant:
        return AddConstant(static_cast<const ConstantNode*>(node));
      case ExprKind::kTuple: {
        std::vector<int> parts;
        for (const Expr& field :
             static_cast<const TupleNode*>(node)->fields()) {
          if (const std::vector<int>* known = values_.Find(field.get())) {
            parts.insert(parts.end(), known->begin(), known->end());
          }
        }
        values_[node] = std::move(parts);
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(node);
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

  void AddConstant(const ConstantNode* node) {
    const Tensor& value = node->value();
    Slot slot;
    slot.space = Space::kConstant;
    slot.dtype = value.dtype();
    slot.shape.assign(value.shape().begin(), value.shape().end());
    slot.bytes = static_cast<int64_t>(value.bytes().size());
    slot.index = ConstantIndex(value);
    slots.push_back(std::move(slot));
    values_[node] = {static_cast<int>(slots.size()) - 1};
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
    if (const auto* function = call->op().As<FunctionNode>()) {
      PostOrderVisit(function->body(), name);
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
      const int slot = AddSlot(type, Space::kArena, call);
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
    steps.push_back(std::move(step));
    values_[call] = std::move(results);
  }

  int FunctionIndex(const std::string& name, const PrimFunc& function,
                    const std::string& origin) {
    const auto [found, is_new] =
        by_name_.emplace(name, static_cast<int>(functions.size()));
    if (is_new) {
      functions.push_back({name, function, origin});
    } else {
      absl::StrAppend(&functions[static_cast<size_t>(found->second)].origin,
                      "\n", origin);
    }
    return found->second;
  }

  // Results that steps compute are written to the caller's memory at once; the
  // others are copied.
  absl::Status MakeOutputs(const std::vector<int>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      const int slot = results[i];
      const bool is_state = StateInput(i) >= 0;
      const bool is_first =
          std::find(outputs.begin(), outputs.end(), slot) == outputs.end();
      if (slots[static_cast<size_t>(slot)].space == Space::kArena && is_first &&
          !is_state) {
        slots[static_cast<size_t>(slot)].space = Space::kOutput;
        slots[static_cast<size_t>(slot)].index = static_cast<int>(i);
        outputs.push_back(slot);
        continue;
      }
      Slot copy = slots[static_cast<size_t>(slot)];
      copy.space = Space::kOutput;
      copy.index = static_cast<int>(i);
      copy.first = copy.last = -1;
      slots.push_back(std::move(copy));
      const int made = static_cast<int>(slots.size()) - 1;
      outputs.push_back(made);
      steps.push_back({-1, {slot, made}, "copy of a result"});
    }
    // State: kept in the arena from run to run.
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int input = StateInput(i);
      if (input < 0) continue;
      Slot& to = slots[static_cast<size_t>(inputs[static_cast<size_t>(input)])];
      const Slot& from = slots[static_cast<size_t>(outputs[i])];
      if (to.dtype != from.dtype || to.shape != from.shape) {
        return absl::InvalidArgumentError(
            absl::StrCat("--state: output ", options_.output_names[i], " is ",
                         DescribeTensor(from), ", input ",
                         options_.input_names[static_cast<size_t>(input)],
                         " is ", DescribeTensor(to)));
      }
    }
    return absl::OkStatus();
  }

  const IRModule& module_;
  const CompileModelOptions& options_;
  Diagnostics problems_;
  NodeMap<std::vector<int>> values_;
  FlatHashMap<std::string, int> by_name_;
  FlatHashMap<std::string, std::vector<int>> by_contents_;
};

// --- Files -----------------------------------------------------------------

std::string Hex(uint64_t value) { return absl::StrFormat("%016x", value); }

// The namespaces and the name of a class.
struct ClassName {
  std::vector<std::string> namespaces;
  std::string name;
};

absl::StatusOr<ClassName> ParseClass(const std::string& text) {
  ClassName result;
  for (absl::string_view part : absl::StrSplit(text, "::")) {
    if (part.empty() || CppIdentifier(part) != part) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cpp_class=", text, ": '", part,
                       "' is no C++ identifier (write acme::Mlp)"));
    }
    result.namespaces.emplace_back(part);
  }
  result.name = result.namespaces.back();
  result.namespaces.pop_back();
  return result;
}

// A member of Inputs or Outputs.
struct Member {
  std::string name;
  const Slot* slot = nullptr;
  int index = 0;
};

// The type of an element behind a member, without its namespace.
std::string MemberElement(DType dtype) {
  return dtype.is_bool() ? "bool" : tir::CppElementType(dtype);
}

class ModelWriter {
 public:
  ModelWriter(ModelReader& model, const CompileModelOptions& options,
              ClassName cpp_class)
      : model_(model), options_(options), class_(std::move(cpp_class)) {}

  absl::StatusOr<CompiledModel> Write() {
    // The functions name their workspaces and constants; their text is the same
    // for all instructions.
    tir::CppSourceOptions probe_options;
    probe_options.name_space = "probe";
    BATON_ASSIGN_OR_RETURN(const tir::CppSource probe,
                           WriteCppSource(model_.functions, probe_options));
    emitted_ = probe.functions;
    for (const tir::CppEmitted& emitted : emitted_) {
      can_fail_ |= emitted.can_fail;
      std::vector<int> constants;
      for (const Tensor& tensor : emitted.constants) {
        constants.push_back(model_.ConstantIndex(tensor));
      }
      function_constants_.push_back(std::move(constants));
    }
    PlaceWeights();
    PlaceArena();
    MakeHash(probe.text);
    MakeMembers();
    CompiledModel result;
    result.files.push_back({options_.name + ".h", Header()});
    for (const CppIsa isa : options_.isas) {
      tir::CppSourceOptions options;
      options.isa = isa;
      options.name_space = NameSpace(isa);
      options.head = Head(isa);
      options.tail = RunFunction();
      if (isa == options_.isas.back()) options.before = Implementation();
      BATON_ASSIGN_OR_RETURN(tir::CppSource source,
                             WriteCppSource(model_.functions, options));
      result.files.push_back(
          {absl::StrCat(options_.name, "_", tir::CppIsaName(isa), ".cc"),
           std::move(source.text)});
    }
    result.files.push_back(
        {options_.name + ".report.json", Report(result.files)});
    result.weights.machine = options_.machine;
    tir::ElfConstant weights;
    weights.symbol = WeightsSymbol();
    for (const Tensor& tensor : model_.constants) {
      weights.pieces.push_back(tensor.bytes());
    }
    result.weights.constants.push_back(std::move(weights));
    result.tensors = model_.constants;
    result.arena_bytes = arena_bytes_;
    result.arena_lower_bound = arena_lower_bound_;
    result.weight_bytes = weight_bytes_;
    result.num_steps = static_cast<int64_t>(model_.steps.size());
    return result;
  }

 private:
  // --- Places ----------------------------------------------------------------

  void PlaceWeights() {
    for (const Tensor& tensor : model_.constants) {
      weight_bytes_ = executor::AlignUp(weight_bytes_);
      weight_offsets_.push_back(weight_bytes_);
      weight_bytes_ += static_cast<int64_t>(tensor.bytes().size());
    }
  }

  void PlaceArena() {
    const int end = static_cast<int>(model_.steps.size());
    for (int i = 0; i < end; ++i) {
      for (const int slot : model_.steps[static_cast<size_t>(i)].slots) {
        Slot& value = model_.slots[static_cast<size_t>(slot)];
        if (value.first < 0) value.first = i;
        value.last = i;
      }
    }
    // State lives always; its output, which is no member, until the copy.
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const int input = model_.StateInput(i);
      if (input < 0) continue;
      Slot& state = model_.slots[static_cast<size_t>(
          model_.inputs[static_cast<size_t>(input)])];
      state.space = Space::kArena;
      state.first = 0;
      state.last = end + 1;
      Slot& result = model_.slots[static_cast<size_t>(model_.outputs[i])];
      result.space = Space::kArena;
      result.last = end + 1;
      state_copies_.push_back(
          {model_.outputs[i], model_.inputs[static_cast<size_t>(input)]});
    }
    std::vector<executor::Lifetime> blocks;
    std::vector<Slot*> owners;
    for (Slot& slot : model_.slots) {
      if (slot.space != Space::kArena || slot.first < 0) continue;
      blocks.push_back(
          {std::max<int64_t>(slot.bytes, 1), slot.first, slot.last});
      owners.push_back(&slot);
    }
    const size_t num_values = blocks.size();
    std::vector<size_t> workspace_steps;
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const int function = model_.steps[i].function;
      if (function < 0) continue;
      const int64_t bytes =
          emitted_[static_cast<size_t>(function)].workspace_bytes;
      if (bytes == 0) continue;
      blocks.push_back(
          {bytes, static_cast<int32_t>(i), static_cast<int32_t>(i)});
      workspace_steps.push_back(i);
    }
    const executor::ArenaPlan plan = executor::PlanArena(blocks);
    for (size_t i = 0; i < num_values; ++i) owners[i]->offset = plan.offsets[i];
    workspace_offsets_.assign(model_.steps.size(), 0);
    for (size_t i = 0; i < workspace_steps.size(); ++i) {
      workspace_offsets_[workspace_steps[i]] = plan.offsets[num_values + i];
    }
    arena_bytes_ = plan.bytes;
    arena_lower_bound_ = plan.lower_bound;
  }

  // Hashes all that header, sources and object must agree on: functions, weights,
  // places, and the steps with their operands.
  void MakeHash(absl::string_view functions) {
    StableHash hash(1);
    hash.AddString(functions);
    for (const Tensor& tensor : model_.constants)
      hash.AddString(tensor.bytes());
    for (const Slot& slot : model_.slots) {
      hash.Add(static_cast<uint64_t>(slot.offset));
      hash.Add(static_cast<uint64_t>(slot.bytes));
    }
    for (const Step& step : model_.steps) {
      hash.Add(static_cast<uint64_t>(step.function));
      hash.Add(step.slots.size());
      for (const int slot : step.slots) hash.Add(static_cast<uint64_t>(slot));
    }
    hash.AddString(options_.cpp_class);
    hash_ = hash.value();
  }

  void MakeMembers() {
    tir::CppNames input_names;
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      const Slot& slot = model_.slots[static_cast<size_t>(model_.inputs[i])];
      const std::string name = i < options_.input_names.size()
                                   ? options_.input_names[i]
                                   : absl::StrCat("input_", i);
      if (slot.space == Space::kArena) continue;  // state
      inputs_.push_back({input_names.Unique(name), &slot, static_cast<int>(i)});
    }
    tir::CppNames output_names;
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const Slot& slot = model_.slots[static_cast<size_t>(model_.outputs[i])];
      const std::string name = i < options_.output_names.size()
                                   ? options_.output_names[i]
                                   : absl::StrCat("output_", i);
      if (slot.space == Space::kArena) continue;
      outputs_.push_back(
          {output_names.Unique(name), &slot, static_cast<int>(i)});
    }
  }

  // --- Names -----------------------------------------------------------------

  std::string WeightsSymbol() const {
    return absl::StrCat(CppIdentifier(options_.name), "_model_", Hex(hash_));
  }
  // The namespace of the functions for these instructions; no other model has
  // it.
  std::string NameSpace(CppIsa isa) const {
    return absl::StrCat(CppIdentifier(options_.name), "_", Hex(hash_), "_",
                        tir::CppIsaName(isa));
  }
  std::string QualifiedClass() const {
    std::vector<std::string> parts = class_.namespaces;
    parts.push_back(class_.name);
    return absl::StrCat("::", absl::StrJoin(parts, "::"));
  }
  absl::string_view ResultType() const { return can_fail_ ? "int" : "void"; }

  std::vector<std::string> Head(CppIsa isa) const {
    return {absl::StrCat("The model ", options_.model, " for ",
                         tir::CppIsaName(isa), ": see ", options_.name, ".h."),
            "Written by baton-compile. Do not edit."};
  }

  // --- Texts -----------------------------------------------------------------

  void AppendMembers(absl::string_view type, const std::vector<Member>& members,
                     bool is_const, std::string& text) const {
    absl::StrAppend(&text, "  struct ", type, " {\n");
    for (const Member& member : members) {
      const std::string element = MemberElement(member.slot->dtype);
      // Types of fixed width are of <cstdint>.
      absl::StrAppend(&text, "    ", is_const ? "const " : "",
                      absl::EndsWith(element, "_t") ? "std::" : "", element,
                      "* ", member.name, ";  // ", DescribeTensor(*member.slot),
                      "\n");
    }
    absl::StrAppend(&text, "  };\n");
  }

  std::string Header() const {
    const std::string guard = absl::StrCat(
        "BATON_MODEL_", absl::AsciiStrToUpper(CppIdentifier(options_.name)),
        "_", absl::AsciiStrToUpper(Hex(hash_)), "_H_");
    std::string text = absl::StrCat(
        "// The model ", CppCommentText(options_.model),
        ".\n// Written by baton-compile. Do not edit.\n//\n"
        "//   alignas(64) static unsigned char arena[",
        class_.name, "::kArenaBytes];\n//   ", class_.name,
        " model(arena);\n//   model.Run({input, ...}, {output, ...});\n"
        "//\n// An object is for one thread at a time; further ones share the "
        "weights.\n\n#ifndef ",
        guard, "\n#define ", guard,
        "\n\n#include <cstddef>\n#include <cstdint>\n\n",
        "// The weights. An undefined symbol of this name says that header and "
        "object\n// are not of one model.\nextern \"C\" const unsigned char ",
        WeightsSymbol(), "[];\n\n");
    for (const std::string& name : class_.namespaces) {
      absl::StrAppend(&text, "namespace ", name, " {\n");
    }
    absl::StrAppend(
        &text, "\nclass ", class_.name, " {\n public:\n",
        "  static constexpr std::size_t kArenaBytes = ",
        std::max<int64_t>(arena_bytes_, 1),
        ";\n  static constexpr std::size_t kArenaAlign = 64;\n"
        "  static constexpr std::size_t kWeightBytes = ",
        weight_bytes_,
        ";\n  static constexpr std::size_t kCalls = ", model_.steps.size(),
        ";\n  static constexpr std::uint64_t kModelHash = 0x", Hex(hash_),
        "u;\n\n");
    AppendMembers("Inputs", inputs_, /*is_const=*/true, text);
    AppendMembers("Outputs", outputs_, /*is_const=*/false, text);
    if (can_fail_) {
      absl::StrAppend(&text,
                      "  // kValue: an asserted condition on values does not "
                      "hold.\n  enum class Error : int { kOk = 0, kValue = 1 "
                      "};\n");
    }
    absl::StrAppend(
        &text,
        "\n  // `arena` has kArenaBytes bytes, aligned to kArenaAlign.\n",
        "  explicit ", class_.name, "(void* arena) noexcept\n",
        "      : arena_(static_cast<unsigned char*>(arena)),\n        "
        "weights_(",
        WeightsSymbol(), ") {\n    Reset();\n  }\n",
        "  // Sets the state to zero.\n  void Reset() noexcept;\n",
        "  // True if the processor has the instructions of ",
        tir::CppIsaName(options_.isas.back()), ".\n",
        "  static bool IsSupported() noexcept;\n",
        "  // The instructions that Run uses here.\n"
        "  static const char* Instructions() noexcept;\n",
        "  // Allocates nothing, locks nothing and calls no system. Pointers "
        "are "
        "aligned\n  // to their elements; outputs overlap nothing.\n  ",
        can_fail_ ? "Error" : "void",
        " Run(const Inputs& inputs, const Outputs& outputs) noexcept;\n\n"
        " private:\n  unsigned char* arena_;\n  const unsigned char* "
        "weights_;\n"
        "};\n\n");
    for (auto name = class_.namespaces.rbegin();
         name != class_.namespaces.rend(); ++name) {
      absl::StrAppend(&text, "}  // namespace ", *name, "\n");
    }
    absl::StrAppend(&text, "\n#endif  // ", guard, "\n");
    return text;
  }

  std::string PointerTo(const Slot& slot, const std::string& type) const {
    switch (slot.space) {
      case Space::kInput:
        return absl::StrCat("static_cast<", type, ">(inputs[", slot.index,
                            "])");
      case Space::kOutput:
        return absl::StrCat("static_cast<", type, ">(outputs[", slot.index,
                            "])");
      case Space::kConstant:
        return absl::StrCat("reinterpret_cast<", type, ">(weights + ",
                            weight_offsets_[static_cast<size_t>(slot.index)],
                            ")");
      case Space::kArena:
        return absl::StrCat("reinterpret_cast<", type, ">(arena + ",
                            slot.offset, ")");
    }
    return "";
  }

  static std::string WithoutRestrict(absl::string_view type) {
    const size_t at = type.find(" __restrict__");
    return std::string(type.substr(0, at));
  }

  static std::string Copy(const std::string& to, const std::string& from,
                          int64_t bytes) {
    return absl::StrCat("  __builtin_memcpy(", to, ", ", from, ", ", bytes,
                        ");\n");
  }

  // The calls, in order.
  std::string RunFunction() const {
    std::string text = absl::StrCat(
        "\n", ResultType(),
        " Run(const void* const* inputs, void* const* outputs,\n"
        "         unsigned char* arena, const unsigned char* weights) {\n"
        "  (void)inputs;\n  (void)outputs;\n  (void)arena;\n  "
        "(void)weights;\n");
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const Step& step = model_.steps[i];
      absl::StrAppend(&text, "  // ", CppCommentText(step.origin), "\n");
      if (step.function < 0) {
        const Slot& from = model_.slots[static_cast<size_t>(step.slots[0])];
        const Slot& to = model_.slots[static_cast<size_t>(step.slots[1])];
        absl::StrAppend(
            &text, Copy(PointerTo(to, "unsigned char*"),
                        PointerTo(from, "const unsigned char*"), from.bytes));
        continue;
      }
      const tir::CppEmitted& emitted =
          emitted_[static_cast<size_t>(step.function)];
      std::vector<std::string> args;
      for (const CppParam& param : emitted.params) {
        const std::string type = WithoutRestrict(param.type);
        switch (param.kind) {
          case CppParam::Kind::kPointer:
            args.push_back(
                PointerTo(model_.slots[static_cast<size_t>(
                              step.slots[static_cast<size_t>(param.index)])],
                          type));
            break;
          case CppParam::Kind::kConstant: {
            const int constant =
                function_constants_[static_cast<size_t>(step.function)]
                                   [static_cast<size_t>(param.index)];
            args.push_back(absl::StrCat(
                "reinterpret_cast<", type, ">(weights + ",
                weight_offsets_[static_cast<size_t>(constant)], ")"));
            break;
          }
          case CppParam::Kind::kWorkspace:
            args.push_back(absl::StrCat("arena + ", workspace_offsets_[i]));
            break;
          case CppParam::Kind::kNumber:
          case CppParam::Kind::kExtent:
            args.push_back("0");
            break;
        }
      }
      const std::string call = absl::StrCat(
          emitted.name, "(", absl::StrJoin(args, ",\n      "), ")");
      if (emitted.can_fail) {
        absl::StrAppend(&text, "  if (", call, " != 0) return 1;\n");
      } else {
        absl::StrAppend(&text, "  ", call, ";\n");
      }
    }
    for (const auto& [from, to] : state_copies_) {
      const Slot& source = model_.slots[static_cast<size_t>(from)];
      absl::StrAppend(
          &text, "  // state\n",
          Copy(PointerTo(model_.slots[static_cast<size_t>(to)],
                         "unsigned char*"),
               PointerTo(source, "const unsigned char*"), source.bytes));
    }
    if (can_fail_) absl::StrAppend(&text, "  return 0;\n");
    absl::StrAppend(&text, "}\n");
    return text;
  }

  // The condition that the processor has the instructions of `isa`.
  static absl::string_view CpuTest(CppIsa isa) {
    switch (isa) {
      case CppIsa::kAvx2:
        return "level >= 1";
      case CppIsa::kAvx512:
        return "level >= 2";
      default:
        return "true";
    }
  }

  // The members of the class, compiled without special instructions.
  std::string Implementation() const {
    std::string text = absl::StrCat("#include \"", options_.name, ".h\"\n\n");
    for (const CppIsa isa : options_.isas) {
      absl::StrAppend(&text, "namespace ", NameSpace(isa), " {\n", ResultType(),
                      " Run(const void* const* inputs, void* const* outputs,\n"
                      "         unsigned char* arena, const unsigned char* "
                      "weights);\n}\n");
    }
    const bool asks =
        std::any_of(options_.isas.begin(), options_.isas.end(), [](CppIsa isa) {
          return isa == CppIsa::kAvx2 || isa == CppIsa::kAvx512;
        });
    const std::string own = absl::StrCat(CppIdentifier(options_.name), "_",
                                         Hex(hash_), "_dispatch");
    absl::StrAppend(&text, "\nnamespace ", own, " {\n\n");
    if (asks) absl::StrAppend(&text, kCpuid);
    absl::StrAppend(&text,
                    "// The place of the instructions among those of the "
                    "sources.\nstatic int Choose() {\n");
    if (asks) absl::StrAppend(&text, "  const int level = Level();\n");
    for (size_t i = 0; i + 1 < options_.isas.size(); ++i) {
      absl::StrAppend(&text, "  if (", CpuTest(options_.isas[i]), ") return ",
                      i, ";  // ", tir::CppIsaName(options_.isas[i]), "\n");
    }
    const bool last_asks = CpuTest(options_.isas.back()) != "true";
    if (asks && options_.isas.size() == 1 && !last_asks) {
      absl::StrAppend(&text, "  (void)level;\n");
    }
    absl::StrAppend(
        &text, "  return ",
        last_asks ? absl::StrCat(CpuTest(options_.isas.back()), " ? ",
                                 options_.isas.size() - 1, " : ",
                                 options_.isas.size())
                  : absl::StrCat(options_.isas.size() - 1),
        ";\n}\n\n// Chosen by the first call; calls of several "
        "threads choose the same.\nstatic int chosen = -1;\n"
        "static int Chosen() {\n"
        "  int number = __atomic_load_n(&chosen, __ATOMIC_RELAXED);\n"
        "  if (number < 0) {\n    number = Choose();\n"
        "    __atomic_store_n(&chosen, number, __ATOMIC_RELAXED);\n"
        "  }\n  return number;\n}\n\n}  // namespace ",
        own, "\n\n");
    const std::string name = QualifiedClass().substr(2);
    absl::StrAppend(&text, "bool ", name,
                    "::IsSupported() noexcept {\n  return ", own,
                    "::Chosen() < ", options_.isas.size(), ";\n}\n\n");
    absl::StrAppend(&text, "const char* ", name,
                    "::Instructions() noexcept {\n  switch (", own,
                    "::Chosen()) {\n");
    for (size_t i = 0; i < options_.isas.size(); ++i) {
      absl::StrAppend(&text, "    case ", i, ":\n      return \"",
                      tir::CppIsaName(options_.isas[i]), "\";\n");
    }
    absl::StrAppend(&text, "    default:\n      return \"\";\n  }\n}\n\n");
    absl::StrAppend(&text, "void ", name, "::Reset() noexcept {\n");
    if (state_copies_.empty()) {
      absl::StrAppend(&text, "  // There is no state.\n");
    }
    for (const auto& [from, to] : state_copies_) {
      const Slot& slot = model_.slots[static_cast<size_t>(to)];
      absl::StrAppend(&text, "  __builtin_memset(arena_ + ", slot.offset,
                      ", 0, ", slot.bytes, ");\n");
    }
    absl::StrAppend(&text, "}\n\n");
    absl::StrAppend(&text, can_fail_ ? absl::StrCat(name, "::Error") : "void",
                    " ", name,
                    "::Run(const Inputs& inputs,\n    const Outputs& outputs) "
                    "noexcept {\n  (void)inputs;\n  (void)outputs;\n");
    // The places of inputs that are state stay empty.
    absl::StrAppend(&text, "  const void* const from[] = {",
                    PointersOf("inputs", inputs_, model_.inputs.size()),
                    "};\n  void* const to[] = {",
                    PointersOf("outputs", outputs_, model_.outputs.size()),
                    "};\n  switch (", own, "::Chosen()) {\n");
    for (size_t i = 0; i < options_.isas.size(); ++i) {
      if (i + 1 == options_.isas.size()) {
        absl::StrAppend(&text, "    default:\n");
      } else {
        absl::StrAppend(&text, "    case ", i, ":\n");
      }
      const std::string call =
          absl::StrCat("::", NameSpace(options_.isas[i]),
                       "::Run(from, to, arena_, weights_)");
      absl::StrAppend(
          &text, "      return ",
          can_fail_ ? absl::StrCat("static_cast<Error>(", call, ")") : call,
          ";\n");
    }
    absl::StrAppend(&text, "  }\n}\n");
    return text;
  }

  static std::string PointersOf(absl::string_view from,
                                const std::vector<Member>& members,
                                size_t count) {
    std::vector<std::string> texts(std::max<size_t>(count, 1), "nullptr");
    for (const Member& member : members) {
      texts[static_cast<size_t>(member.index)] =
          absl::StrCat(from, ".", member.name);
    }
    return absl::StrJoin(texts, ", ");
  }

  std::string Report(const std::vector<CompiledModel::File>& files) const {
    std::string text = absl::StrCat(
        "{\"model\":", JsonString(options_.model),
        ",\n\"class\":", JsonString(options_.cpp_class), ",\n\"hash\":\"",
        Hex(hash_), "\",\n\"arena_bytes\":", arena_bytes_,
        ",\n\"arena_lower_bound\":", arena_lower_bound_,
        ",\n\"weight_bytes\":", weight_bytes_, ",\n\"files\":[");
    const char* comma = "";
    for (const CompiledModel::File& file : files) {
      absl::StrAppend(&text, comma, "\n{\"name\":", JsonString(file.name),
                      ",\"bytes\":", file.text.size(), "}");
      comma = ",";
    }
    const auto members = [&text](absl::string_view name,
                                 const std::vector<Member>& list) {
      absl::StrAppend(&text, "],\n\"", name, "\":[");
      const char* between = "";
      for (const Member& member : list) {
        absl::StrAppend(
            &text, between, "\n{\"member\":", JsonString(member.name),
            ",\"type\":", JsonString(DescribeTensor(*member.slot)), "}");
        between = ",";
      }
    };
    members("inputs", inputs_);
    members("outputs", outputs_);
    absl::StrAppend(&text, "],\n\"weights\":[");
    comma = "";
    for (size_t i = 0; i < model_.constants.size(); ++i) {
      absl::StrAppend(
          &text, comma, "\n{\"offset\":", weight_offsets_[i],
          ",\"bytes\":", model_.constants[i].bytes().size(),
          ",\"type\":", JsonString(model_.constants[i].TypeToString()), "}");
      comma = ",";
    }
    absl::StrAppend(&text, "],\n\"steps\":[");
    comma = "";
    for (size_t i = 0; i < model_.steps.size(); ++i) {
      const Step& step = model_.steps[i];
      absl::StrAppend(
          &text, comma, "\n{\"function\":",
          JsonString(step.function < 0
                         ? "copy"
                         : emitted_[static_cast<size_t>(step.function)].name),
          ",\"origin\":", JsonString(step.origin), ",\"values\":[");
      comma = ",";
      const char* between = "";
      for (const int index : step.slots) {
        const Slot& slot = model_.slots[static_cast<size_t>(index)];
        const char* space = slot.space == Space::kInput      ? "input"
                            : slot.space == Space::kOutput   ? "output"
                            : slot.space == Space::kConstant ? "weights"
                                                             : "arena";
        absl::StrAppend(&text, between, "{\"space\":\"", space,
                        "\",\"offset\":",
                        slot.space == Space::kConstant
                            ? weight_offsets_[static_cast<size_t>(slot.index)]
                        : slot.space == Space::kArena ? slot.offset
                                                      : slot.index,
                        ",\"type\":", JsonString(DescribeTensor(slot)), "}");
        between = ",";
      }
      absl::StrAppend(&text, "]");
      if (step.function >= 0) {
        const int64_t bytes =
            emitted_[static_cast<size_t>(step.function)].workspace_bytes;
        if (bytes > 0) {
          absl::StrAppend(&text, ",\"workspace_bytes\":", bytes,
                          ",\"workspace_offset\":", workspace_offsets_[i]);
        }
      }
      absl::StrAppend(&text, "}");
    }
    absl::StrAppend(&text, "]}\n");
    return text;
  }

  // The level of the processor: 0, 1 with AVX2 and FMA, 2 with AVX-512 too, as
  // far as the operating system keeps the registers.
  static constexpr char kCpuid[] =
      R"(static void Cpuid(unsigned leaf, unsigned r[4]) {
  __asm__ volatile("cpuid"
                   : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                   : "a"(leaf), "c"(0));
}

// 0; 1 with AVX2 and FMA; 2 with AVX-512, too: as far as the operating system
// keeps their registers.
static int Level() {
  unsigned r[4];
  Cpuid(0, r);
  if (r[0] < 7) return 0;
  Cpuid(1, r);
  const unsigned kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28;
  if ((r[2] & kFma) == 0 || (r[2] & kOsxsave) == 0 || (r[2] & kAvx) == 0) {
    return 0;
  }
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0x6) != 0x6) return 0;
  Cpuid(7, r);
  if ((r[1] & (1u << 5)) == 0) return 0;
  // F, DQ, BW, VL.
  const unsigned k512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  return (low & 0xe6) == 0xe6 && (r[1] & k512) == k512 ? 2 : 1;
}

)";

  ModelReader& model_;
  const CompileModelOptions& options_;
  ClassName class_;
  std::vector<tir::CppEmitted> emitted_;
  std::vector<std::vector<int>> function_constants_;
  std::vector<int64_t> weight_offsets_;
  std::vector<int64_t> workspace_offsets_;
  std::vector<std::pair<int, int>> state_copies_;
  std::vector<Member> inputs_;
  std::vector<Member> outputs_;
  int64_t weight_bytes_ = 0;
  int64_t arena_bytes_ = 0;
  int64_t arena_lower_bound_ = 0;
  uint64_t hash_ = 0;
  bool can_fail_ = false;
};

}  // namespace

absl::StatusOr<CompiledModel> CompileModel(const IRModule& module,
                                           const CompileModelOptions& options) {
  if (options.isas.empty()) {
    return absl::InvalidArgumentError("--isas names no set of instructions");
  }
  for (const auto& [output, input] : options.state) {
    const auto check = [](const std::vector<std::string>& names,
                          const std::string& name, absl::string_view what) {
      return std::find(names.begin(), names.end(), name) != names.end()
                 ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat(
                       "--state: the model has no ", what, " ", name,
                       "; it has ", absl::StrJoin(names, ", ")));
    };
    BATON_RETURN_IF_ERROR(check(options.output_names, output, "output"));
    BATON_RETURN_IF_ERROR(check(options.input_names, input, "input"));
  }
  BATON_ASSIGN_OR_RETURN(ClassName cpp_class, ParseClass(options.cpp_class));
  ModelReader reader(module, options);
  BATON_RETURN_IF_ERROR(reader.Read());
  return ModelWriter(reader, options, std::move(cpp_class)).Write();
}

CompiledTest MakeCompiledTest(const CompileModelOptions& options,
                              absl::Span<const Tensor> inputs,
                              absl::Span<const Tensor> outputs) {
  CompiledTest test;
  test.tensors.assign(inputs.begin(), inputs.end());
  test.tensors.insert(test.tensors.end(), outputs.begin(), outputs.end());
  test.data.machine = options.machine;
  const std::string prefix =
      absl::StrCat(CppIdentifier(options.name), "_test_data_");
  const std::string name = absl::StrCat("::", options.cpp_class);
  std::string& text = test.source;
  absl::StrAppend(&text, "// Runs the model ", CppCommentText(options.model),
                  " and compares with the evaluator, byte for byte.\n"
                  "// Written by baton-compile. Do not edit.\n\n"
                  "#include <cstdint>\n#include <cstdio>\n#include <cstring>\n"
                  "\n#include \"",
                  options.name, ".h\"\n\n");
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::string buffers;
  std::string checks;
  tir::CppNames input_names;
  const auto is_state = [&options](const std::string& output_or_input,
                                   bool is_output) {
    return std::any_of(
        options.state.begin(), options.state.end(), [&](const auto& pair) {
          return (is_output ? pair.first : pair.second) == output_or_input;
        });
  };
  const auto add = [&](const Tensor& tensor, const std::string& symbol) {
    test.data.constants.push_back({symbol, {tensor.bytes()}});
    absl::StrAppend(&text, "extern \"C\" const unsigned char ", symbol,
                    "[];\n");
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < options.input_names.size() &&
        is_state(options.input_names[i], false)) {
      continue;
    }
    const std::string symbol = absl::StrCat(prefix, "input_", i);
    add(inputs[i], symbol);
    from.push_back(absl::StrCat("reinterpret_cast<const ",
                                MemberElement(inputs[i].dtype()), "*>(", symbol,
                                ")"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string output_name = i < options.output_names.size()
                                        ? options.output_names[i]
                                        : absl::StrCat("output_", i);
    if (is_state(output_name, true)) continue;
    const std::string symbol = absl::StrCat(prefix, "output_", i);
    add(outputs[i], symbol);
    const size_t bytes = outputs[i].bytes().size();
    absl::StrAppend(&buffers, "alignas(64) static unsigned char result_", i,
                    "[", std::max<size_t>(bytes, 1), "];\n");
    to.push_back(absl::StrCat("reinterpret_cast<",
                              MemberElement(outputs[i].dtype()), "*>(result_",
                              i, ")"));
    absl::StrAppend(&checks, "  if (std::memcmp(result_", i, ", ", symbol, ", ",
                    bytes, ") != 0) {\n    std::printf(\"output ", i,
                    " differs from the evaluator's\\n\");\n    failed = 1;\n"
                    "  }\n");
  }
  absl::StrAppend(
      &text, "\nalignas(64) static unsigned char arena[", name,
      "::kArenaBytes];\n", buffers, "\nint main() {\n  if (!", name,
      "::IsSupported()) {\n    std::printf(\"skipped: the processor lacks the "
      "instructions\\n\");\n    return 0;\n  }\n  std::printf(\"%s\\n\", ",
      name, "::Instructions());\n  int failed = 0;\n  ", name,
      " model(arena);\n  const ", name, "::Inputs inputs = {",
      absl::StrJoin(from, ", "), "};\n  const ", name, "::Outputs outputs = {",
      absl::StrJoin(to, ", "),
      "};\n  // The second run finds the arena used.\n"
      "  for (int run = 0; run < 2; ++run) {\n    model.Reset();\n"
      "    static_cast<void>(model.Run(inputs, outputs));\n  ",
      absl::StrJoin(absl::StrSplit(checks, "\n  "), "\n    "),
      "  }\n  return failed;\n}\n");
  return test;
}

}  // namespace baton
