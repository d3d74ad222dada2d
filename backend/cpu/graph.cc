#include "baton/backend/cpu/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/branch_places.h"
#include "baton/backend/cpu/byte_groups.h"
#include "baton/backend/cpu/clipped_bytes.h"
#include "baton/base/hash_table.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"

namespace baton::cpu {
namespace {

using relay::Call;
using relay::CallNode;
using relay::ExprKind;
using relay::Function;
using relay::FunctionNode;
using relay::Var;
using relay::VarNode;

// Functions inside of functions, their calls, and branches inside of branches.
constexpr int kMaxDepth = 200;
constexpr int64_t kMaxNodes = 10'000'000;
// In branches and loops, which may have copies of what they share.
constexpr int64_t kMaxInnerNodes = 100'000;

// The value of an expression: a tensor, a tuple, or a function.
struct ExprValue {
  enum class Kind { kTensor, kTuple, kFunction } kind = Kind::kTuple;
  int tensor = -1;
  std::vector<ExprValue> fields;
  const FunctionNode* function = nullptr;
  const struct Scope* scope = nullptr;  // of the function's free variables
};

// The variables and values of one call of a function.
struct Scope {
  const Scope* parent = nullptr;
  class GraphBuilder* owner = nullptr;  // has the tensors of the values
  FlatHashMap<const ExprNode*, ExprValue> values;
  FlatHashMap<const VarNode*, const ExprNode*> lets;
  // The expression that is evaluated in the scope, and where to compute what its
  // branches share: null before the first branch.
  const ExprNode* root = nullptr;
  std::shared_ptr<const BranchPlaces> places;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const IRModule& module)
      : module_(module), num_inner_nodes_(std::make_shared<int64_t>(0)) {}
  // For a graph inside of a node of the graph of `outer`.
  explicit GraphBuilder(GraphBuilder* outer)
      : module_(outer->module_),
        outer_(outer),
        num_inner_nodes_(outer->num_inner_nodes_),
        loops_(outer->loops_),
        depth_(outer->depth_) {}

  absl::StatusOr<Graph> Build(absl::string_view name) {
    BATON_ASSIGN_OR_RETURN(const Function function,
                           module_.Lookup<Function>(name));
    Scope* const scope = NewScope(nullptr);
    for (const Var& param : function->params()) {
      if (!param->type().defined() || !param->type().Is<TensorTypeNode>()) {
        return Refuse(param.get(), absl::StrCat("parameter %", param->name(),
                                                " is not a tensor"));
      }
      BATON_ASSIGN_OR_RETURN(ExprValue value,
                             NewResult(param.get(), param->type()));
      graph_.tensors[static_cast<size_t>(value.tensor)].input =
          static_cast<int>(graph_.inputs.size());
      graph_.inputs.push_back(value.tensor);
      graph_.input_names.push_back(std::string(param->name()));
      scope->values.insert_or_assign(param.get(), std::move(value));
    }
    BATON_ASSIGN_OR_RETURN(const ExprValue result,
                           Evaluate(function->body().get(), scope));
    return Finish(function->body().get(), result);
  }

 private:
  absl::StatusOr<Graph> Finish(const ExprNode* node, const ExprValue& result) {
    BATON_ASSIGN_OR_RETURN(graph_.result, ToGraphValue(node, result));
    Flatten(graph_.result, graph_.outputs);
    DropUnused();
    CastClippedToBytes(graph_);
    ConvolveGroupsInFloats(graph_);
    return std::move(graph_);
  }

  Scope* NewScope(const Scope* parent) {
    scopes_.push_back(std::make_unique<Scope>());
    scopes_.back()->parent = parent;
    scopes_.back()->owner = this;
    return scopes_.back().get();
  }

  // Names the nearest place that is known.
  static absl::Status Refuse(const ExprNode* node, std::string message) {
    Diagnostics diagnostics;
    diagnostics.Error(node->span(), std::move(message));
    return absl::UnimplementedError(diagnostics.ToStatus().message());
  }

  // The operator that `node` calls; null for other expressions.
  static const OpNode* OperatorOf(const ExprNode* node) {
    return relay::ExprKindOf(node) == ExprKind::kCall
               ? static_cast<const CallNode*>(node)->op_node()
               : nullptr;
  }

  static void Flatten(const GraphValue& root, std::vector<int>& tensors) {
    std::vector<const GraphValue*> work = {&root};
    while (!work.empty()) {
      const GraphValue* const value = work.back();
      work.pop_back();
      if (value->is_tensor()) {
        tensors.push_back(value->tensor);
        continue;
      }
      for (size_t i = value->fields.size(); i-- > 0;) {
        work.push_back(&value->fields[i]);
      }
    }
  }

  static absl::StatusOr<GraphValue> ToGraphValue(const ExprNode* node,
                                                 const ExprValue& value,
                                                 int depth = 0) {
    GraphValue result;
    if (value.kind == ExprValue::Kind::kTensor) {
      result.tensor = value.tensor;
      return result;
    }
    if (value.kind == ExprValue::Kind::kFunction) {
      return Refuse(node, "a function that is not called has no plan");
    }
    if (depth > kMaxDepth) return Refuse(node, "tuples are too deep");
    for (const ExprValue& field : value.fields) {
      BATON_ASSIGN_OR_RETURN(GraphValue converted,
                             ToGraphValue(node, field, depth + 1));
      result.fields.push_back(std::move(converted));
    }
    return result;
  }

  // A new tensor, or a tuple of new ones.
  absl::StatusOr<ExprValue> NewResult(const ExprNode* node, const Type& type,
                                      int depth = 0) {
    ExprValue value;
    if (const auto* tensor = type.As<TensorTypeNode>()) {
      const auto shape = ConstDims(tensor->shape());
      if (!shape.has_value()) {
        // All operands have shapes of numbers.
        if (relay::ExprKindOf(node) != ExprKind::kVar) {
          const OpNode* const op = OperatorOf(node);
          return Refuse(
              node,
              absl::StrCat("a plan has no memory for the result of ",
                           op == nullptr ? "a branch or a loop" : op->name(),
                           ", ", type.ToString(),
                           ": the values of the operands decide how large it "
                           "is; run the evaluator (--executor=evaluator)"));
        }
        return Refuse(node,
                      absl::StrCat("a plan needs shapes that are numbers, not ",
                                   type.ToString(),
                                   ": give the extents of the inputs "
                                   "(--input_shapes) or bounds of dimensions "
                                   "with names (--dims), or run the "
                                   "evaluator"));
      }
      // Memory is planned for it.
      BATON_RETURN_IF_ERROR(NumElements(tensor->dtype(), *shape).status());
      value.kind = ExprValue::Kind::kTensor;
      value.tensor = static_cast<int>(graph_.tensors.size());
      graph_.tensors.push_back({tensor->dtype(), *shape, std::nullopt, -1});
      return value;
    }
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr || depth > kMaxDepth) {
      return Refuse(
          node, absl::StrCat("a plan has no values of type ", type.ToString()));
    }
    for (const Type& field : tuple->fields()) {
      BATON_ASSIGN_OR_RETURN(ExprValue converted,
                             NewResult(node, field, depth + 1));
      value.fields.push_back(std::move(converted));
    }
    return value;
  }

  // The value of `node` where it is known: in `scope` or in those around it.
  struct Known {
    const ExprValue* value = nullptr;
    GraphBuilder* owner = nullptr;
  };
  static Known Look(const ExprNode* node, const Scope* scope) {
    // A let's variable is its value.
    for (const Scope* s = scope; s != nullptr; s = s->parent) {
      const ExprNode* at = node;
      while (at->kind() == ExprKind::kVar) {
        const auto let = s->lets.find(static_cast<const VarNode*>(at));
        if (let == s->lets.end()) break;
        at = let->second;
      }
      const auto found = s->values.find(at);
      if (found != s->values.end()) return {&found->second, s->owner};
      node = at;
    }
    return {};
  }
  std::optional<ExprValue> Find(const ExprNode* node, const Scope* scope) {
    const Known known = Look(node, scope);
    if (known.value == nullptr) return std::nullopt;
    return Import(*known.value, known.owner);
  }

  // The value of this graph that is `value` of the graph of `owner`, which is
  // this builder or one around it.
  ExprValue Import(ExprValue value, GraphBuilder* owner) {
    if (owner == this) return value;
    value = outer_->Import(std::move(value), owner);
    ImportTensors(value);
    return value;
  }

  void ImportTensors(ExprValue& value) {
    std::vector<ExprValue*> work = {&value};
    while (!work.empty()) {
      ExprValue* const part = work.back();
      work.pop_back();
      for (ExprValue& field : part->fields) work.push_back(&field);
      if (part->kind != ExprValue::Kind::kTensor) continue;
      const int captured = part->tensor;
      const auto [place, is_new] =
          imported_.emplace(captured, static_cast<int>(graph_.tensors.size()));
      part->tensor = place->second;
      if (!is_new) continue;
      GraphTensor tensor =
          outer_->graph_.tensors[static_cast<size_t>(captured)];
      tensor.input = -1;
      graph_.tensors.push_back(std::move(tensor));
      if (graph_.tensors.back().constant.has_value()) continue;
      AddInput(part->tensor);
      captures_.push_back(captured);
    }
  }

  void AddInput(int tensor) {
    graph_.tensors[static_cast<size_t>(tensor)].input =
        static_cast<int>(graph_.inputs.size());
    graph_.inputs.push_back(tensor);
    graph_.input_names.emplace_back();
  }

  absl::StatusOr<ExprValue> ValueOf(const ExprNode* node, const Scope* scope) {
    if (std::optional<ExprValue> value = Find(node, scope)) return *value;
    if (node->kind() == ExprKind::kVar) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable %", static_cast<const VarNode*>(node)->name(),
                       " has no value"));
    }
    return absl::InternalError("an expression has no value");
  }

  absl::StatusOr<ExprValue> Evaluate(const ExprNode* root, Scope* scope) {
    if (std::optional<ExprValue> value = Find(root, scope)) return *value;
    if (depth_ >= kMaxDepth) {
      return Refuse(root, absl::StrCat("a plan has no recursion, nor calls and "
                                       "branches more than ",
                                       kMaxDepth, " inside of each other"));
    }
    ++depth_;
    const bool is_outermost = scope->root == nullptr;
    if (is_outermost) scope->root = root;
    absl::Status status;
    relay::PostOrderVisit(
        Handle(root),
        [&](const ExprNode* node) {
          if (node->kind() == ExprKind::kLet) {
            const auto* let = static_cast<const relay::LetNode*>(node);
            scope->lets.insert_or_assign(let->var().get(), let->value().get());
          }
          // A value of a scope around this one is not computed again.
          return status.ok() && node->kind() != ExprKind::kFunction &&
                 node->kind() != ExprKind::kIf &&
                 Look(node, scope).value == nullptr;
        },
        [&](const ExprNode* node) {
          if (!status.ok() || node->kind() == ExprKind::kVar ||
              Look(node, scope).value != nullptr) {
            return;
          }
          status = Visit(node, scope);
        });
    --depth_;
    if (is_outermost) {
      scope->root = nullptr;
      scope->places = nullptr;
    }
    BATON_RETURN_IF_ERROR(status);
    return ValueOf(root, scope);
  }

  // Evaluates what is placed at the start of a region.
  absl::Status EvaluateStart(const RegionStart& start, Scope* scope) {
    for (const relay::LetNode* let : start.lets) {
      scope->lets.insert_or_assign(let->var().get(), let->value().get());
    }
    for (const RegionStart::Item& item : start.items) {
      const absl::Status status = Evaluate(item.node, scope).status();
      if (item.is_early && absl::IsUnimplemented(status)) continue;
      BATON_RETURN_IF_ERROR(status);
    }
    return absl::OkStatus();
  }

  // The start of a branch of `branch` in the region of `scope`.
  absl::Status EvaluateStart(const relay::IfNode* branch, bool taken,
                             Scope* scope) {
    const std::shared_ptr<const BranchPlaces> places = scope->places;
    const auto found = places->branches.find(branch);
    if (found == places->branches.end()) return absl::OkStatus();
    return EvaluateStart(found->second[taken ? 0 : 1], scope);
  }

  // Places what branches share, before the first branch that is evaluated.
  absl::Status PlaceShared(Scope* scope) {
    if (scope->places != nullptr) return absl::OkStatus();
    const auto is_known = [&](const ExprNode* node) {
      return Look(node, scope).value != nullptr;
    };
    scope->places = std::make_shared<const BranchPlaces>(
        PlaceBranches(scope->root, is_known, kMaxDepth));
    return EvaluateStart(scope->places->root, scope);
  }

  static Expr Handle(const ExprNode* node) { return Expr(node); }

  // The tensor with the elements of `constant`: equal ones are there once,
  // though passes may have made them anew for each step of a recurrence.
  int AddConstant(const Tensor& constant) {
    const auto number = static_cast<int>(graph_.tensors.size());
    const auto bytes =
        static_cast<size_t>(constant.num_elements() * constant.dtype().bytes());
    if (bytes > 0) {
      // Samples differ where contents do, mostly. Those of large constants are
      // at both ends, near what the reader of the file has read: each page of a
      // mapped file costs a fault, and rows of a table may never be read.
      constexpr size_t kSamples = 16;
      constexpr size_t kSampleBytes = 8;
      constexpr size_t kEndBytes = 4096;
      StableHash hash(bytes);
      const absl::string_view data = constant.bytes();
      const auto add_samples = [&hash](absl::string_view part, size_t count) {
        const size_t step = (part.size() - kSampleBytes) / (count - 1);
        for (size_t i = 0; i < count; ++i) {
          hash.AddString(part.substr(step * i, kSampleBytes));
        }
      };
      if (bytes <= kSamples * kSampleBytes) {
        hash.AddString(data);
      } else if (bytes <= 2 * kEndBytes) {
        add_samples(data, kSamples);
      } else {
        add_samples(data.substr(0, kEndBytes), kSamples / 2);
        add_samples(data.substr(bytes - kEndBytes), kSamples / 2);
      }
      std::vector<int>& alike = constants_[hash.value()];
      for (const int other : alike) {
        if (graph_.tensors[static_cast<size_t>(other)].constant == constant) {
          return other;
        }
      }
      alike.push_back(number);
    }
    graph_.tensors.push_back(
        {constant.dtype(),
         TensorShape(constant.shape().begin(), constant.shape().end()),
         constant, -1});
    return number;
  }

  absl::Status Visit(const ExprNode* node, Scope* scope) {
    ExprValue value;
    switch (relay::ExprKindOf(node)) {
      case ExprKind::kVar:
      case ExprKind::kOp:
        return absl::OkStatus();
      case ExprKind::kConstant: {
        const Tensor& tensor =
            static_cast<const relay::ConstantNode*>(node)->value();
        value.kind = ExprValue::Kind::kTensor;
        value.tensor = AddConstant(tensor);
        break;
      }
      case ExprKind::kGlobalVar: {
        BATON_ASSIGN_OR_RETURN(
            const Function function,
            module_.Lookup<Function>(
                static_cast<const GlobalVarNode*>(node)->name()));
        value.kind = ExprValue::Kind::kFunction;
        value.function = function.get();
        break;
      }
      case ExprKind::kFunction:
        value.kind = ExprValue::Kind::kFunction;
        value.function = static_cast<const FunctionNode*>(node);
        value.scope = scope;
        break;
      case ExprKind::kTuple: {
        for (const Expr& field :
             static_cast<const relay::TupleNode*>(node)->fields()) {
          BATON_ASSIGN_OR_RETURN(ExprValue part, ValueOf(field.get(), scope));
          value.fields.push_back(std::move(part));
        }
        break;
      }
      case ExprKind::kTupleGetItem: {
        const auto* get = static_cast<const relay::TupleGetItemNode*>(node);
        BATON_ASSIGN_OR_RETURN(const ExprValue tuple,
                               ValueOf(get->tuple().get(), scope));
        if (tuple.kind != ExprValue::Kind::kTuple || get->index() < 0 ||
            static_cast<size_t>(get->index()) >= tuple.fields.size()) {
          return absl::InternalError("a field that a tuple lacks");
        }
        value = tuple.fields[static_cast<size_t>(get->index())];
        break;
      }
      case ExprKind::kLet: {
        BATON_ASSIGN_OR_RETURN(
            value,
            ValueOf(static_cast<const relay::LetNode*>(node)->body().get(),
                    scope));
        break;
      }
      case ExprKind::kIf: {
        const auto* branch = static_cast<const relay::IfNode*>(node);
        BATON_RETURN_IF_ERROR(PlaceShared(scope));
        if (Look(node, scope).value != nullptr) return absl::OkStatus();
        BATON_ASSIGN_OR_RETURN(const ExprValue cond,
                               Evaluate(branch->cond().get(), scope));
        if (cond.kind != ExprValue::Kind::kTensor ||
            !graph_.tensors[static_cast<size_t>(cond.tensor)]
                 .constant.has_value()) {
          BATON_ASSIGN_OR_RETURN(value, AddBranch(branch, cond, scope));
          break;
        }
        const Tensor& tensor =
            *graph_.tensors[static_cast<size_t>(cond.tensor)].constant;
        const bool taken = tensor.AtAsInt64(0) != 0;
        BATON_RETURN_IF_ERROR(EvaluateStart(branch, taken, scope));
        BATON_ASSIGN_OR_RETURN(
            value,
            Evaluate(
                (taken ? branch->true_branch() : branch->false_branch()).get(),
                scope));
        break;
      }
      case ExprKind::kCall: {
        BATON_ASSIGN_OR_RETURN(
            value, VisitCall(static_cast<const CallNode*>(node), scope));
        break;
      }
      case ExprKind::kConstructor:
      case ExprKind::kMatch:
        return Refuse(node, "a plan has no values of data types");
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        return Refuse(node, "a plan has no references");
    }
    scope->values.insert_or_assign(node, std::move(value));
    return absl::OkStatus();
  }

  // Counts a node of this graph, or of one of the graphs inside.
  absl::Status CountNode(const ExprNode* node) {
    if (outer_ == nullptr ? std::ssize(graph_.nodes) < kMaxNodes
                          : ++*num_inner_nodes_ <= kMaxInnerNodes) {
      return absl::OkStatus();
    }
    Diagnostics diagnostics;
    diagnostics.Error(
        node->span(),
        outer_ == nullptr
            ? absl::StrCat("a plan of more than ", kMaxNodes, " steps")
            : absl::StrCat("a plan of more than ", kMaxInnerNodes,
                           " steps in branches and loops, which have copies of "
                           "what they share: run the evaluator "
                           "(--executor=evaluator)"));
    return absl::ResourceExhaustedError(diagnostics.ToStatus().message());
  }

  absl::StatusOr<ExprValue> VisitCall(const CallNode* call, Scope* scope) {
    std::vector<ExprValue> args;
    for (const Expr& arg : call->args()) {
      BATON_ASSIGN_OR_RETURN(ExprValue value, ValueOf(arg.get(), scope));
      args.push_back(std::move(value));
    }
    if (call->op_node() == nullptr) {
      BATON_ASSIGN_OR_RETURN(const ExprValue callee,
                             ValueOf(call->op().get(), scope));
      if (callee.kind != ExprValue::Kind::kFunction) {
        return Refuse(call, "a plan has no such call");
      }
      return CallFunction(call, callee, std::move(args));
    }
    if (!call->type().defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a call of ", call->op_node()->name(), " has no type"));
    }
    BATON_RETURN_IF_ERROR(CountNode(call));
    GraphNode node;
    // Without the arguments: weights are held as tensors of the graph alone.
    node.call = Call(
        call->op(), {}, call->attrs(),
        std::vector<Type>(call->type_args().begin(), call->type_args().end()),
        call->type(), call->span());
    for (const ExprValue& arg : args) {
      BATON_ASSIGN_OR_RETURN(GraphValue value, ToGraphValue(call, arg));
      Flatten(value, node.inputs);
      node.args.push_back(std::move(value));
    }
    if (args.empty() && !relay::IsStateful(call->op())) {
      // Zeros and the like, which passes do not fold.
      const std::optional<ExprValue> constant = ComputeNow(node.call);
      if (constant.has_value()) return *constant;
    }
    // Passes do not see that large constants are equal, nor what is equal
    // because of that.
    Computed* computed = nullptr;
    if (std::all_of(node.args.begin(), node.args.end(),
                    [](const GraphValue& arg) { return arg.is_tensor(); }) &&
        !relay::IsStateful(call->op())) {
      StableHash hash(reinterpret_cast<uintptr_t>(call->op_node()));
      for (const int t : node.inputs) hash.Add(static_cast<uint64_t>(t));
      computed = &computed_[hash.value()];
      for (const auto& [number, value] : *computed) {
        const GraphNode& other = graph_.nodes[number];
        if (other.call->op() == call->op() && other.inputs == node.inputs &&
            other.args.size() == node.args.size() &&
            AttrsEqual(other.call->attrs(), call->attrs())) {
          return value;
        }
      }
    }
    BATON_ASSIGN_OR_RETURN(const ExprValue result,
                           NewResult(call, call->type()));
    BATON_ASSIGN_OR_RETURN(node.result, ToGraphValue(call, result));
    Flatten(node.result, node.outputs);
    if (computed != nullptr) {
      computed->emplace_back(graph_.nodes.size(), result);
    }
    graph_.nodes.push_back(std::move(node));
    return result;
  }

  // The small constant tensor that a call without arguments gives; nullopt if
  // it gives none.
  std::optional<ExprValue> ComputeNow(const Call& call) {
    constexpr int64_t kMostBytes = 1 << 20;
    const auto* type = call->type().As<TensorTypeNode>();
    if (type == nullptr) return std::nullopt;
    const auto shape = ConstDims(type->shape());
    if (!shape.has_value()) return std::nullopt;
    const absl::StatusOr<int64_t> elements = NumElements(type->dtype(), *shape);
    if (!elements.ok() || *elements * type->dtype().bytes() > kMostBytes) {
      return std::nullopt;
    }
    const absl::StatusOr<relay::Value> value = relay::RunKernel(*call, {});
    if (!value.ok() || !value->is_tensor() ||
        value->tensor().dtype() != type->dtype() ||
        value->tensor().shape() != absl::MakeConstSpan(*shape)) {
      return std::nullopt;
    }
    ExprValue result;
    result.kind = ExprValue::Kind::kTensor;
    result.tensor = AddConstant(value->tensor());
    return result;
  }

  absl::StatusOr<ExprValue> CallFunction(const CallNode* call,
                                         const ExprValue& callee,
                                         std::vector<ExprValue> args) {
    const absl::Span<const Var> params = callee.function->params();
    if (params.size() != args.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a function takes ", params.size(), " arguments, found ",
                       args.size()));
    }
    if (IsRecursive(callee)) return AddRecursion(call, callee, args);
    Scope* const scope = NewScope(callee.scope);
    for (size_t i = 0; i < args.size(); ++i) {
      scope->values.insert_or_assign(params[i].get(), std::move(args[i]));
    }
    absl::StatusOr<ExprValue> result =
        Evaluate(callee.function->body().get(), scope);
    // The nodes inside of fused functions often have no place.
    if (!result.ok() && call->span().defined() &&
        absl::IsUnimplemented(result.status()) &&
        !callee.function->body()->span().defined()) {
      return Refuse(call, std::string(result.status().message()));
    }
    return result;
  }

  // A graph inside of a node.
  struct Inner {
    Graph graph;
    std::vector<int> captures;  // tensors of this graph: the last inputs of it
  };

  absl::StatusOr<Inner> BuildInner(const relay::IfNode* branch, bool taken,
                                   const Scope* around) {
    GraphBuilder inner(this);
    Scope* const scope = inner.NewScope(around);
    const ExprNode* const node =
        (taken ? branch->true_branch() : branch->false_branch()).get();
    scope->root = node;
    scope->places = around->places;
    BATON_RETURN_IF_ERROR(inner.EvaluateStart(branch, taken, scope));
    BATON_ASSIGN_OR_RETURN(const ExprValue result, inner.Evaluate(node, scope));
    BATON_ASSIGN_OR_RETURN(Graph graph, inner.Finish(node, result));
    return Inner{std::move(graph), std::move(inner.captures_)};
  }

  // The node of a region with these inputs.
  absl::StatusOr<ExprValue> AddRegion(const ExprNode* node, const Op& op,
                                      GraphRegion region,
                                      std::vector<int> inputs) {
    if (!node->type().defined()) {
      return Refuse(node, "a branch or a loop has no type");
    }
    BATON_RETURN_IF_ERROR(CountNode(node));
    GraphNode added;
    added.call = Call(op, {}, Attrs(), {}, node->type(), node->span());
    for (const int t : inputs) added.args.push_back({.tensor = t});
    added.inputs = std::move(inputs);
    BATON_ASSIGN_OR_RETURN(const ExprValue result,
                           NewResult(node, node->type()));
    BATON_ASSIGN_OR_RETURN(added.result, ToGraphValue(node, result));
    Flatten(added.result, added.outputs);
    // The last graph of a loop has the result; so have all of a branch.
    for (size_t i = region.kind == GraphRegion::Kind::kLoop ? 2 : 0;
         i < region.graphs.size(); ++i) {
      if (!HasTypes(region.graphs[i], added.outputs)) {
        return Refuse(node, "the results of branches have different types");
      }
    }
    added.region = std::make_shared<const GraphRegion>(std::move(region));
    graph_.nodes.push_back(std::move(added));
    return result;
  }

  // True if the outputs of `inner` have the types of `tensors` of this graph.
  bool HasTypes(const Graph& inner, const std::vector<int>& tensors) const {
    if (inner.outputs.size() != tensors.size()) return false;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const GraphTensor& a =
          inner.tensors[static_cast<size_t>(inner.outputs[i])];
      const GraphTensor& b = graph_.tensors[static_cast<size_t>(tensors[i])];
      if (a.dtype != b.dtype || a.shape != b.shape) return false;
    }
    return true;
  }

  // Adds `captures` to the inputs of a node. Returns their places.
  static std::vector<int> Places(const std::vector<int>& captures,
                                 std::vector<int>& inputs) {
    std::vector<int> places;
    for (const int t : captures) {
      places.push_back(static_cast<int>(inputs.size()));
      inputs.push_back(t);
    }
    return places;
  }

  absl::StatusOr<ExprValue> AddBranch(const relay::IfNode* branch,
                                      const ExprValue& cond,
                                      const Scope* scope) {
    if (cond.kind != ExprValue::Kind::kTensor) {
      return Refuse(branch, "the condition of a branch is no tensor");
    }
    GraphRegion region;
    region.kind = GraphRegion::Kind::kIf;
    std::vector<int> inputs = {cond.tensor};
    for (const bool taken : {true, false}) {
      BATON_ASSIGN_OR_RETURN(Inner inner, BuildInner(branch, taken, scope));
      region.inputs.push_back(Places(inner.captures, inputs));
      region.graphs.push_back(std::move(inner.graph));
    }
    return AddRegion(branch, BATON_OP("cpu.if"), std::move(region),
                     std::move(inputs));
  }

  // True if the body of a function refers to the function.
  bool IsRecursive(const ExprValue& callee) {
    const auto [known, is_new] = is_recursive_.emplace(callee.function, false);
    if (!is_new) return known->second;
    bool found = false;
    relay::PostOrderVisit(
        Handle(callee.function->body().get()),
        [&](const ExprNode* /*node*/) { return !found; },
        [&](const ExprNode* node) { found = found || IsSelf(node, callee); });
    is_recursive_[callee.function] = found;
    return found;
  }

  bool IsSelf(const ExprNode* node, const ExprValue& callee) {
    if (node->kind() == ExprKind::kGlobalVar) {
      const Function function = module_.Find<Function>(
          static_cast<const GlobalVarNode*>(node)->name());
      return function.get() == callee.function;
    }
    if (node->kind() != ExprKind::kVar || callee.scope == nullptr) return false;
    const ExprValue* const value = Look(node, callee.scope).value;
    return value != nullptr && value->kind == ExprValue::Kind::kFunction &&
           value->function == callee.function;
  }

  absl::StatusOr<ExprValue> AddRecursion(const CallNode* call,
                                         const ExprValue& callee,
                                         const std::vector<ExprValue>& args) {
    if (std::find(loops_.begin(), loops_.end(), callee.function) !=
        loops_.end()) {
      return Refuse(call,
                    "a plan has no recursion but at the end of a function");
    }
    loops_.push_back(callee.function);
    absl::StatusOr<ExprValue> result = AddLoop(call, callee, args);
    loops_.pop_back();
    if (!absl::IsUnimplemented(result.status())) return result;
    absl::StatusOr<ExprValue> evaluated = AddEvaluation(call, callee, args);
    return absl::IsUnimplemented(evaluated.status()) ? result : evaluated;
  }

  // Registers the lets before the value of `node`, which it returns, and adds
  // their values to `lets`.
  static const ExprNode* AfterLets(const ExprNode* node, Scope* scope,
                                   std::vector<const ExprNode*>& lets) {
    while (true) {
      if (node->kind() == ExprKind::kLet) {
        const auto* let = static_cast<const relay::LetNode*>(node);
        scope->lets.insert_or_assign(let->var().get(), let->value().get());
        lets.push_back(let->value().get());
        node = let->body().get();
        continue;
      }
      if (node->kind() != ExprKind::kVar) return node;
      const auto let = scope->lets.find(static_cast<const VarNode*>(node));
      if (let == scope->lets.end()) return node;
      node = let->second;
    }
  }

  // The parts of a function that calls itself at its end.
  struct TailCall {
    const ExprNode* condition = nullptr;
    bool continue_value = true;
    const CallNode* next = nullptr;
    const ExprNode* result = nullptr;
    // Values of lets: before the condition, the call and the result.
    std::vector<const ExprNode*> before;
    std::vector<const ExprNode*> before_next;
    std::vector<const ExprNode*> before_result;
  };

  // Registers the lets of the body in `scope`.
  std::optional<TailCall> FindTailCall(const ExprValue& callee, Scope* scope) {
    TailCall tail;
    const ExprNode* const body =
        AfterLets(callee.function->body().get(), scope, tail.before);
    if (body->kind() != ExprKind::kIf) return std::nullopt;
    const auto* branch = static_cast<const relay::IfNode*>(body);
    std::vector<const ExprNode*> lets[2];
    const ExprNode* const taken[] = {
        AfterLets(branch->true_branch().get(), scope, lets[0]),
        AfterLets(branch->false_branch().get(), scope, lets[1])};
    const auto is_self = [&](const ExprNode* node) {
      return node->kind() == ExprKind::kCall &&
             IsSelf(static_cast<const CallNode*>(node)->op().get(), callee);
    };
    if (is_self(taken[0]) == is_self(taken[1])) return std::nullopt;
    tail.condition = branch->cond().get();
    tail.continue_value = is_self(taken[0]);
    const int next = tail.continue_value ? 0 : 1;
    tail.next = static_cast<const CallNode*>(taken[next]);
    tail.result = taken[1 - next];
    // A variable of a let may be the branch or the call.
    std::erase(tail.before, body);
    std::erase(lets[next], taken[next]);
    tail.before_next = std::move(lets[next]);
    tail.before_result = std::move(lets[1 - next]);
    return tail;
  }

  absl::StatusOr<ExprValue> AddLoop(const CallNode* call,
                                    const ExprValue& callee,
                                    const std::vector<ExprValue>& args) {
    GraphRegion region;
    region.kind = GraphRegion::Kind::kLoop;
    std::vector<int> inputs;
    for (const ExprValue& arg : args) {
      BATON_ASSIGN_OR_RETURN(const GraphValue value, ToGraphValue(call, arg));
      Flatten(value, inputs);
    }
    const std::vector<int> state = inputs;
    region.num_state = static_cast<int>(state.size());
    for (int part = 0; part < 3; ++part) {
      GraphBuilder inner(this);
      Scope* const scope = inner.NewScope(callee.scope);
      for (const Var& param : callee.function->params()) {
        if (!param->type().defined()) {
          return Refuse(call, "a parameter of a loop has no type");
        }
        BATON_ASSIGN_OR_RETURN(ExprValue value,
                               inner.NewResult(call, param->type()));
        BATON_ASSIGN_OR_RETURN(const GraphValue tensors,
                               ToGraphValue(param.get(), value));
        std::vector<int> flat;
        Flatten(tensors, flat);
        for (const int t : flat) inner.AddInput(t);
        scope->values.insert_or_assign(param.get(), std::move(value));
      }
      const std::optional<TailCall> tail = inner.FindTailCall(callee, scope);
      if (!tail.has_value()) {
        return Refuse(call,
                      "a plan has no recursion but at the end of a function");
      }
      region.continue_value = tail->continue_value;
      std::vector<const ExprNode*> lets = tail->before;
      const std::vector<const ExprNode*>& more =
          part == 1 ? tail->before_next : tail->before_result;
      if (part > 0) lets.insert(lets.end(), more.begin(), more.end());
      for (const ExprNode* let : lets) {
        BATON_RETURN_IF_ERROR(inner.Evaluate(let, scope).status());
      }
      ExprValue result;
      const ExprNode* node = tail->next;
      if (part == 1) {
        for (const Expr& arg : tail->next->args()) {
          BATON_ASSIGN_OR_RETURN(ExprValue value,
                                 inner.Evaluate(arg.get(), scope));
          result.fields.push_back(std::move(value));
        }
      } else {
        node = part == 0 ? tail->condition : tail->result;
        BATON_ASSIGN_OR_RETURN(result, inner.Evaluate(node, scope));
      }
      BATON_ASSIGN_OR_RETURN(Graph graph, inner.Finish(node, result));
      if (part == 1 && !HasTypes(graph, state)) {
        return Refuse(call, "a round of a loop changes the type of its state");
      }
      std::vector<int> places(state.size());
      std::iota(places.begin(), places.end(), 0);
      for (const int place : Places(inner.captures_, inputs)) {
        places.push_back(place);
      }
      region.inputs.push_back(std::move(places));
      region.graphs.push_back(std::move(graph));
    }
    return AddRegion(call, BATON_OP("cpu.loop"), std::move(region),
                     std::move(inputs));
  }

  // A call that the evaluator computes: of a function that uses nothing around
  // it but itself.
  absl::StatusOr<ExprValue> AddEvaluation(const CallNode* call,
                                          const ExprValue& callee,
                                          const std::vector<ExprValue>& args) {
    std::vector<int> inputs;
    std::vector<Var> params;
    std::vector<Expr> operands;
    for (const ExprValue& arg : args) {
      if (arg.kind != ExprValue::Kind::kTensor) {
        return Refuse(call, "an argument is no tensor");
      }
      inputs.push_back(arg.tensor);
      const GraphTensor& tensor =
          graph_.tensors[static_cast<size_t>(arg.tensor)];
      params.push_back(Var(absl::StrCat("x", params.size()),
                           TensorType::Of(tensor.shape, tensor.dtype)));
      operands.push_back(params.back());
    }
    // A function in a let refers to itself by the variable.
    Expr body = Call(call->op(), std::move(operands));
    if (const auto* var = call->op().As<VarNode>()) {
      body = relay::Let(Var(var), Function(callee.function), std::move(body));
    } else if (call->op().As<GlobalVarNode>() == nullptr) {
      return Refuse(call, "a plan has no such call");
    }
    GraphRegion region;
    region.kind = GraphRegion::Kind::kEvaluate;
    region.function = Function(std::move(params), std::move(body));
    region.module = module_;
    if (!relay::FreeVars(region.function).empty()) {
      return Refuse(call, "a function that calls itself uses values around it");
    }
    return AddRegion(call, BATON_OP("cpu.evaluate"), std::move(region),
                     std::move(inputs));
  }

  // Drops nodes whose results nothing uses.
  void DropUnused() {
    std::vector<bool> used(graph_.tensors.size(), false);
    for (const int tensor : graph_.outputs) {
      used[static_cast<size_t>(tensor)] = true;
    }
    std::vector<GraphNode> kept;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      GraphNode& node = graph_.nodes[i];
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](int t) { return used[static_cast<size_t>(t)]; })) {
        continue;
      }
      for (const int tensor : node.inputs) {
        used[static_cast<size_t>(tensor)] = true;
      }
      kept.push_back(std::move(node));
    }
    std::reverse(kept.begin(), kept.end());
    graph_.nodes = std::move(kept);
  }

  const IRModule& module_;
  GraphBuilder* const outer_ = nullptr;
  Graph graph_;
  // Tensors of the graph around this one, and what they are here.
  FlatHashMap<int, int> imported_;
  std::vector<int> captures_;  // tensors of the graph around: the last inputs
  FlatHashMap<uint64_t, std::vector<int>> constants_;  // by a hash of samples
  // Nodes and their values, by a hash of the operator and the inputs.
  using Computed = std::vector<std::pair<size_t, ExprValue>>;
  FlatHashMap<uint64_t, Computed> computed_;
  FlatHashMap<const FunctionNode*, bool> is_recursive_;
  // In all graphs inside of the outermost one, with those that were dropped.
  const std::shared_ptr<int64_t> num_inner_nodes_;
  std::vector<const FunctionNode*> loops_;  // that are being added
  std::vector<std::unique_ptr<Scope>> scopes_;
  int depth_ = 0;
};

}  // namespace

int64_t GraphTensor::num_elements() const {
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  return count;
}

absl::StatusOr<Graph> BuildGraph(const IRModule& module,
                                 absl::string_view name) {
  return GraphBuilder(module).Build(name);
}

}  // namespace baton::cpu
