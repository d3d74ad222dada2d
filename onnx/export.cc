#include "baton/onnx/export.h"

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
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/tail_recursion.h"
#include "baton/onnx/tensor_names.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/transform/defuse_ops.h"
#include "baton/relay/transform/inline_globals.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/relay/transform/to_graph_normal_form.h"

namespace baton {

using relay::CallNode;
using relay::ExprKind;
using relay::ExprKindOf;
using relay::Function;
using relay::FunctionNode;
using relay::LetNode;
using relay::Var;

namespace onnx {
namespace {

// Branches and loops inside of each other beyond which a module is refused.
constexpr int kMaxDepth = 50;

// Loops beyond which a module is refused: functions that call functions several
// times are very many.
constexpr int kMaxLoops = 10'000;

// Tensors in tuples of tuples, all together, beyond which a module is refused:
// a few tuples of each other hold very many.
constexpr int kMaxNested = 1 << 22;

// The features of a program that ONNX does not have.
struct Forms {
  bool has_function = false;
  bool has_global = false;
  bool has_let = false;
  bool has_if = false;
};

Forms FormsIn(const Expr& body) {
  Forms result;
  const relay::IndexedGraph graph(body);
  for (int i = 0; i < graph.size(); ++i) {
    const ExprNode* node = graph.node(i);
    switch (ExprKindOf(node)) {
      case ExprKind::kFunction:
        result.has_function = true;
        break;
      case ExprKind::kGlobalVar:
        result.has_global = true;
        break;
      case ExprKind::kLet:
        result.has_let = true;
        break;
      case ExprKind::kIf:
        result.has_if = true;
        break;
      default:
        break;
    }
  }
  return result;
}

Function WithBody(const Function& function, Expr body) {
  return Function(
      std::vector<Var>(function->params().begin(), function->params().end()),
      std::move(body), function->result_type(), {}, function->attrs());
}

// `main` as a graph; where there are branches, in A-normal form, which says
// what is computed inside of them.
absl::StatusOr<Function> Normalized(IRModule module) {
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(Function main, module.Lookup<Function>("main"));
  Forms forms = FormsIn(main->body());
  if (forms.has_global) {
    for (const auto& [var, function] : module.functions<Function>()) {
      if (var->name() == "main") continue;
      module.Set(var, function.WithAttr(relay::attr::kInline, AttrValue(1)));
    }
    BATON_ASSIGN_OR_RETURN(module, relay::InlineGlobalsInModule(module));
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    BATON_ASSIGN_OR_RETURN(main, module.Lookup<Function>("main"));
    forms = FormsIn(main->body());
  }
  Expr body = main->body();
  if (forms.has_let) {
    BATON_ASSIGN_OR_RETURN(body, relay::ToGraphNormalFormInExpr(body));
  }
  if (forms.has_function) {
    BATON_ASSIGN_OR_RETURN(body, relay::DefuseOpsInExpr(body));
  }
  if (body != main->body()) main = WithBody(main, std::move(body));
  if (forms.has_if) {
    BATON_ASSIGN_OR_RETURN(main, relay::ToANormalFormInFunction(main));
  }
  module.Set("main", main);
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  return module.Lookup<Function>("main");
}

// The i-th of the names in an attribute; `otherwise` if there is none.
std::string NameIn(const Function& main, absl::string_view attribute, size_t i,
                   std::string otherwise) {
  const AttrValue* value = main->attrs().Find(attribute);
  const AttrList* list = value == nullptr ? nullptr : value->As<AttrList>();
  if (list == nullptr || i >= list->size()) return otherwise;
  const std::string* name = (*list)[i].As<std::string>();
  return name == nullptr || name->empty() ? otherwise : *name;
}

// Returns the number of tensors of a value of a type: a tuple of tuples becomes
// its tensors, one after the other. Stops counting at the limit.
int NumTensors(const Type& type) {
  int result = 0;
  std::vector<const Type*> work = {&type};
  while (!work.empty() && result < kMaxNested) {
    const Type* next = work.back();
    work.pop_back();
    if (const auto* tuple = next->As<TupleTypeNode>()) {
      for (const Type& field : tuple->fields()) work.push_back(&field);
    } else {
      ++result;
    }
  }
  return result;
}

bool HasTuple(const TupleTypeNode& tuple) {
  return std::any_of(
      tuple.fields().begin(), tuple.fields().end(),
      [](const Type& field) { return field.Is<TupleTypeNode>(); });
}

// Their types, in order.
std::vector<Type> TensorTypes(const Type& type) {
  std::vector<Type> result;
  std::vector<const Type*> work = {&type};
  while (!work.empty() && result.size() < kMaxNested) {
    const Type* next = work.back();
    work.pop_back();
    if (const auto* tuple = next->As<TupleTypeNode>()) {
      for (size_t i = tuple->fields().size(); i-- > 0;) {
        work.push_back(&tuple->fields()[i]);
      }
    } else {
      result.push_back(*next);
    }
  }
  return result;
}

class Exporter {
 public:
  Exporter(const Function& main, int opset) : main_(main), opset_(opset) {}

  absl::StatusOr<Graph> Export();

 private:
  // The values of an expression that has been exported.
  const Values& ValuesOf(const Expr& expr);
  // The expression to which a let binds `expr`; `expr` itself otherwise.
  const Expr& Definition(const Expr& expr) const {
    const auto found = bound_.find(expr.get());
    return found == bound_.end() ? expr : found->second;
  }
  // The function that an expression is; null if it is none.
  const FunctionNode* FunctionOf(const Expr& expr) const {
    const Expr* result = &expr;
    while (result->Is<relay::VarNode>() && bound_.contains(result->get())) {
      result = &Definition(*result);
    }
    return result->As<FunctionNode>();
  }
  void Fail(const Expr& expr, std::string message) {
    diagnostics_.Error(expr->span(), std::move(message));
  }

  void SetValues(const Expr& expr, Values values);
  // The values of `expr` are those of `other`.
  void SameValues(const Expr& expr, const Expr& other);

  // All that `expr` depends on and has no value yet, then `expr`.
  void ExportGraph(const Expr& expr);
  void ExportLet(const LetNode& let);
  // A chain of lets and its result.
  void ExportBlock(const Expr& expr);
  void ExportNode(const Expr& expr);
  Values ExportCall(const Expr& expr, const CallNode& call);
  Values ExportIf(const relay::IfNode& node, const Expr& expr);
  Values ExportLoop(const Expr& expr, const CallNode& call,
                    const Function& function);
  // The values of expressions in the body of a function, in front of which
  // these lets stand, when its parameters have these values. The lets are
  // exported as far as they are needed. Afterwards nothing in the body has a
  // value.
  std::vector<Values> ExportInstance(const Function& function,
                                     absl::Span<const ValueId> params,
                                     const LetValues& let_values,
                                     absl::Span<const LetNode* const> lets,
                                     absl::Span<const Expr> exprs);
  Values Unknown(const Expr& expr) const;
  // The values of a field of a tuple.
  Values FieldOf(const Expr& tuple, int index);
  std::vector<Graph::Output> OutputsOf(const Expr& expr);

  const Function& main_;
  int opset_;
  Graph graph_;
  Diagnostics diagnostics_;
  FlatHashMap<const ExprNode*, Values> values_;
  // The expressions that got values since an instance began.
  std::vector<const ExprNode*> new_values_;
  int num_instances_ = 0;
  FlatHashMap<const ExprNode*, Expr> bound_;
  // The places of the fields among the values, and their number; empty if all
  // fields are tensors. Of tuples of which a field was taken.
  FlatHashMap<const TupleTypeNode*, std::vector<int>> field_begins_;
  int num_nested_ = 0;
  int num_loops_ = 0;
  int depth_ = 0;
};

// As many as the type has tensors, so that what comes after can be looked at.
Values Exporter::Unknown(const Expr& expr) const {
  return Values(std::max(NumTensors(expr->type()), 1), kNoValue);
}

Values Exporter::FieldOf(const Expr& tuple, int index) {
  const Values& values = ValuesOf(tuple);
  const TupleTypeNode* type = tuple->tuple_type();
  if (type == nullptr || index >= static_cast<int>(type->fields().size())) {
    return {kNoValue};
  }
  const auto [entry, is_new] = field_begins_.try_emplace(type);
  std::vector<int>& begins = entry->second;
  if (is_new && HasTuple(*type)) {
    begins = {0};
    for (const Type& field : type->fields()) {
      begins.push_back(std::min(begins.back() + NumTensors(field), kMaxNested));
    }
  }
  size_t begin = static_cast<size_t>(index);
  size_t count = 1;
  if (!begins.empty()) {
    count = static_cast<size_t>(begins[index + 1] - begins[index]);
    begin = static_cast<size_t>(begins[index]);
  }
  if (begin + count > values.size()) return {kNoValue};
  return Values(values.begin() + begin, values.begin() + begin + count);
}

const Values& Exporter::ValuesOf(const Expr& expr) {
  const auto found = values_.find(expr.get());
  if (found != values_.end()) return found->second;
  ExportGraph(expr);
  return values_.at(expr.get());
}

void Exporter::ExportGraph(const Expr& expr) {
  const relay::IndexedGraph graph(expr, [this](const ExprNode* node) {
    return !values_.contains(node) && ExprKindOf(node) != ExprKind::kFunction &&
           ExprKindOf(node) != ExprKind::kIf &&
           ExprKindOf(node) != ExprKind::kLet;
  });
  for (int i = 0; i < graph.size(); ++i) {
    if (values_.contains(graph.node(i))) continue;
    ExportNode(Expr(graph.node(i)));
  }
}

void Exporter::SetValues(const Expr& expr, Values values) {
  values_[expr.get()] = std::move(values);
  // A constant is the same in all instances.
  if (num_instances_ > 0 && !expr.Is<relay::ConstantNode>()) {
    new_values_.push_back(expr.get());
  }
}

void Exporter::SameValues(const Expr& expr, const Expr& other) {
  // A copy: the table may move what it holds when it grows.
  Values values = values_.at(other.get());
  SetValues(expr, std::move(values));
}

void Exporter::ExportLet(const LetNode& let) {
  ExportGraph(let.value());
  SameValues(let.var(), let.value());
  bound_[let.var().get()] = let.value();
}

void Exporter::ExportBlock(const Expr& expr) {
  Expr rest = expr;
  while (const auto* let = rest.As<LetNode>()) {
    ExportLet(*let);
    rest = let->body();
  }
  ExportGraph(rest);
  if (expr != rest) SameValues(expr, rest);
}

Values Exporter::ExportCall(const Expr& expr, const CallNode& call) {
  const OpNode* op = call.op_node();
  if (op == nullptr) {
    if (const FunctionNode* function = FunctionOf(call.op())) {
      return ExportLoop(expr, call, Function(function));
    }
    Fail(expr,
         "a call of a function that cannot be inlined has no form in "
         "ONNX");
    return Unknown(expr);
  }
  const ExportFn* exporter = OnnxExporters().Get(*op);
  if (exporter == nullptr) {
    Fail(expr, absl::StrCat("operator ", op->name(), " has no form in ONNX"));
    return Unknown(expr);
  }
  for (const Expr& arg : call.args()) {
    const Values& values = ValuesOf(arg);
    if (std::find(values.begin(), values.end(), kNoValue) != values.end()) {
      return Unknown(expr);  // it was said why
    }
  }
  const auto lookup = [this](const Expr& e) -> const Values& {
    return ValuesOf(e);
  };
  const auto resolve = [this](const Expr& e) -> const Expr& {
    return Definition(e);
  };
  CallExport context(call, opset_, graph_, lookup, resolve);
  absl::StatusOr<Values> result = (*exporter)(context);
  if (result.ok() && !context.status().ok()) result = context.status();
  if (!result.ok()) {
    Fail(expr,
         absl::StrCat("operator ", op->name(), " has no form in ONNX of opset ",
                      opset_, ": ", result.status().message()));
    return Unknown(expr);
  }
  if (const TupleTypeNode* tuple = expr->tuple_type()) {
    for (size_t i = 0; i < result->size() && i < tuple->fields().size(); ++i) {
      graph_.SetType((*result)[i], tuple->fields()[i]);
    }
  } else {
    graph_.SetType((*result)[0], expr->type());
  }
  return *std::move(result);
}

std::vector<Graph::Output> Exporter::OutputsOf(const Expr& expr) {
  std::vector<Graph::Output> result;
  const Values& values = ValuesOf(expr);
  const std::vector<Type> types = TensorTypes(expr->type());
  if (types.empty()) {
    Fail(expr, "a result without tensors has no form in ONNX");
    return result;
  }
  for (size_t i = 0; i < values.size() && i < types.size(); ++i) {
    const Type& type = types[i];
    if (!type.Is<TensorTypeNode>()) {
      Fail(expr, absl::StrCat("an output of type ", type.ToString(),
                              " has no form in ONNX"));
    }
    result.push_back({values[i], "", type});
  }
  return result;
}

Values Exporter::ExportIf(const relay::IfNode& node, const Expr& expr) {
  if (depth_ >= kMaxDepth) {
    Fail(expr, "branches are nested too deeply for ONNX");
    return Unknown(expr);
  }
  const ValueId condition = ValuesOf(node.cond())[0];
  ++depth_;
  std::vector<std::pair<absl::string_view, int>> graphs;
  for (const bool is_then : {true, false}) {
    const Expr& branch = is_then ? node.true_branch() : node.false_branch();
    graph_.BeginGraph();
    ExportBlock(branch);
    graphs.emplace_back(is_then ? "then_branch" : "else_branch",
                        graph_.EndGraph(OutputsOf(branch)));
  }
  --depth_;
  const Values unknown = Unknown(expr);
  if (diagnostics_.has_errors()) return unknown;
  return graph_.AddNodeWithGraphs("If", {condition}, std::move(graphs),
                                  static_cast<int>(unknown.size()),
                                  expr->span());
}

std::vector<Values> Exporter::ExportInstance(
    const Function& function, absl::Span<const ValueId> params,
    const LetValues& let_values, absl::Span<const LetNode* const> lets,
    absl::Span<const Expr> exprs) {
  const size_t begin = new_values_.size();
  ++num_instances_;
  for (size_t i = 0; i < params.size(); ++i) {
    SetValues(function->params()[i], {params[i]});
  }
  const auto uses = let_values.Uses(exprs);
  for (const LetNode* let : lets) {
    if (uses.contains(let->var().get())) ExportLet(*let);
  }
  std::vector<Values> result;
  for (const Expr& expr : exprs) {
    ExportBlock(expr);
    result.push_back(ValuesOf(expr));
  }
  --num_instances_;
  for (size_t i = begin; i < new_values_.size(); ++i) {
    values_.erase(new_values_[i]);
  }
  new_values_.resize(begin);
  return result;
}

Values Exporter::ExportLoop(const Expr& expr, const CallNode& call,
                            const Function& function) {
  const Values unknown = Unknown(expr);
  const auto is_self = [&](const Expr& callee) {
    return FunctionOf(callee) == function.get();
  };
  const absl::StatusOr<TailRecursion> recursion =
      FindTailRecursion(function, is_self);
  if (!recursion.ok()) {
    Fail(expr, absl::StrCat("a call of a function that cannot be inlined has "
                            "no form in ONNX: ",
                            recursion.status().message()));
    return unknown;
  }
  if (depth_ >= kMaxDepth || ++num_loops_ > kMaxLoops) {
    Fail(expr, depth_ >= kMaxDepth ? "loops are nested too deeply for ONNX"
                                   : "there are too many loops for ONNX");
    return unknown;
  }
  const size_t count = function->params().size();
  std::vector<ValueId> initial;
  std::vector<Expr> initial_exprs;
  for (size_t i = 0; i < count; ++i) {
    const Var& param = function->params()[i];
    if (param->tensor_type() == nullptr) {
      Fail(expr,
           absl::StrCat("a loop over %", param->name(), " of type ",
                        param->type().ToString(), " has no form in ONNX"));
      return unknown;
    }
    initial.push_back(ValuesOf(call.arg(static_cast<int>(i)))[0]);
    initial_exprs.push_back(Definition(call.arg(static_cast<int>(i))));
    if (initial.back() == kNoValue) return unknown;  // it was said why
  }
  const LetValues let_values(*recursion);
  const LoopForm form =
      LoopFormOf(function, *recursion, let_values, initial_exprs);
  const Type int64 = TensorType::Scalar(DType::Int(64));
  const Type boolean = TensorType::Scalar(DType::Bool());
  ++depth_;

  // The condition for another round, for these values of the parameters.
  const auto goes_on = [&](absl::Span<const ValueId> params) -> ValueId {
    if (!form.condition.defined()) {
      return graph_.AddConstant(Tensor::Scalar<bool>(true));
    }
    const ValueId condition =
        ExportInstance(function, params, let_values, recursion->before,
                       {form.condition})[0][0];
    if (recursion->goes_on_if || condition == kNoValue) return condition;
    const ValueId result =
        graph_.AddNode("Not", {condition}, {}, 1, expr->span())[0];
    graph_.SetType(result, boolean);
    return result;
  };
  ValueId limit = kNoValue;
  if (form.limit.defined()) {
    limit = ExportInstance(function, initial, let_values, recursion->before,
                           {form.limit})[0][0];
  }
  Values inputs = {limit,
                   form.condition.defined() ? goes_on(initial) : kNoValue};

  graph_.BeginGraph();
  const ValueId round = graph_.AddInput("round", int64);
  const ValueId condition = graph_.AddInput("goes_on", boolean);
  std::vector<ValueId> params = initial;
  for (size_t i = 0; i < count; ++i) {
    const Var& param = function->params()[i];
    switch (form.params[i]) {
      case LoopParam::kCounter:
        params[i] = round;
        break;
      case LoopParam::kCondition:
        params[i] = condition;
        break;
      case LoopParam::kCarried:
        params[i] = graph_.AddInput(param->name(), param->type());
        inputs.push_back(initial[i]);
        break;
      case LoopParam::kInvariant:
      case LoopParam::kStacked:  // no round uses it
        break;
    }
  }
  // The results of a round; for a stack, the element.
  std::vector<Expr> given = recursion->next;
  for (size_t i = 0; i < count; ++i) {
    if (form.params[i] == LoopParam::kStacked) given[i] = form.elements[i];
  }
  std::vector<const LetNode*> lets = recursion->before;
  lets.insert(lets.end(), recursion->round.begin(), recursion->round.end());
  const std::vector<Values> values =
      ExportInstance(function, params, let_values, lets, given);
  std::vector<ValueId> next;
  for (const Values& value : values) next.push_back(value[0]);
  std::vector<Graph::Output> outputs = {{goes_on(next), "", boolean}};
  std::vector<size_t> result_params;
  for (size_t i = 0; i < count; ++i) {
    if (form.params[i] != LoopParam::kCarried) continue;
    outputs.push_back({next[i], "", function->params()[i]->type()});
    result_params.push_back(i);
  }
  for (size_t i = 0; i < count; ++i) {
    if (form.params[i] != LoopParam::kStacked) continue;
    const TensorTypeNode& type = *form.elements[i]->tensor_type();
    const Type element = TensorType(
        Dims(type.shape().begin() + 1, type.shape().end()), type.dtype());
    const ValueId axis =
        graph_.AddConstant(*Tensor::FromValues<int64_t>({1}, {int64_t{0}}));
    const ValueId squeezed =
        graph_.AddNode("Squeeze", {next[i], axis}, {}, 1, expr->span())[0];
    graph_.SetType(squeezed, element);
    outputs.push_back({squeezed, "", element});
    result_params.push_back(i);
  }
  const int body = graph_.EndGraph(std::move(outputs));
  --depth_;
  if (diagnostics_.has_errors()) return unknown;

  if (!result_params.empty()) {
    const Values results = graph_.AddNodeWithGraphs(
        "Loop", inputs, {{"body", body}},
        static_cast<int>(result_params.size()), expr->span());
    for (size_t k = 0; k < results.size(); ++k) {
      graph_.SetType(results[k], function->params()[result_params[k]]->type());
      params[result_params[k]] = results[k];
    }
  }
  return ExportInstance(function, params, let_values, recursion->before,
                        {recursion->result})[0];
}

void Exporter::ExportNode(const Expr& expr) {
  Values result;
  switch (ExprKindOf(expr)) {
    case ExprKind::kOp:
      break;
    case ExprKind::kConstant:
      result = {graph_.AddConstant(expr.As<relay::ConstantNode>()->value(),
                                   expr->span())};
      break;
    case ExprKind::kTuple:
      if (HasTuple(*expr->tuple_type())) {
        num_nested_ =
            std::min(num_nested_ + NumTensors(expr->type()), kMaxNested);
        if (num_nested_ == kMaxNested) {
          Fail(expr, "tuples of so many tensors have no form in ONNX");
          SetValues(expr, {kNoValue});
          return;
        }
      }
      for (const Expr& field : expr.As<relay::TupleNode>()->fields()) {
        const Values& values = ValuesOf(field);
        result.insert(result.end(), values.begin(), values.end());
      }
      SetValues(expr, std::move(result));  // none of an empty tuple
      return;
    case ExprKind::kTupleGetItem: {
      const auto* item = expr.As<relay::TupleGetItemNode>();
      SetValues(expr, FieldOf(item->tuple(), item->index()));
      return;
    }
    case ExprKind::kCall:
      result = ExportCall(expr, *expr.As<CallNode>());
      break;
    case ExprKind::kIf:
      result = ExportIf(*expr.As<relay::IfNode>(), expr);
      break;
    default:
      // A function that is called says so at the call.
      if (expr.Is<FunctionNode>() || expr.Is<GlobalVarNode>()) break;
      Fail(expr, "references and data types have no form in ONNX");
      break;
  }
  if (result.empty()) result = Unknown(expr);
  SetValues(expr, std::move(result));
}

absl::StatusOr<Graph> Exporter::Export() {
  for (size_t i = 0; i < main_->params().size(); ++i) {
    const Var& param = main_->params()[i];
    if (param->tensor_type() == nullptr) {
      Fail(param,
           absl::StrCat("the input %", param->name(), " of type ",
                        param->type().ToString(), " has no form in ONNX"));
    }
    values_[param.get()] = {graph_.AddInput(
        NameIn(main_, attr::kInputTensorNames, i, param->name()),
        param->type())};
  }
  ExportBlock(main_->body());
  std::vector<Graph::Output> outputs = OutputsOf(main_->body());
  if (diagnostics_.has_errors()) {
    return absl::UnimplementedError(diagnostics_.ToString());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].name = NameIn(main_, attr::kOutputTensorNames, i,
                             outputs.size() == 1 ? std::string("output")
                                                 : absl::StrCat("output_", i));
  }
  graph_.SetOutputs(std::move(outputs));
  graph_.Simplify();
  return std::move(graph_);
}

// The texts in the attribute kModelMetadata.
std::vector<std::string> MetadataOf(const Function& main) {
  std::vector<std::string> result;
  const AttrValue* value = main->attrs().Find(attr::kModelMetadata);
  const auto* list = value == nullptr ? nullptr : value->As<AttrList>();
  if (list == nullptr) return result;
  for (const AttrValue& element : *list) {
    const auto* text = element.As<std::string>();
    result.push_back(text == nullptr ? "" : *text);
  }
  return result;
}

}  // namespace
}  // namespace onnx

absl::StatusOr<onnx::OnnxModel> ExportOnnx(const IRModule& module,
                                           const OnnxExportOptions& options) {
  if (options.opset < onnx::kOldestExportOpset ||
      options.opset > onnx::kNewestExportOpset) {
    return absl::InvalidArgumentError(absl::StrCat(
        "opset ", options.opset, " is not written; ", onnx::kOldestExportOpset,
        " to ", onnx::kNewestExportOpset, " are"));
  }
  BATON_ASSIGN_OR_RETURN(const Function main, onnx::Normalized(module));
  BATON_ASSIGN_OR_RETURN(onnx::Graph graph,
                         onnx::Exporter(main, options.opset).Export());
  return graph.Write({.opset = options.opset,
                      .graph_name = options.graph_name,
                      .metadata = onnx::MetadataOf(main),
                      .external_data = options.external_data,
                      .external_bytes = options.external_bytes});
}

}  // namespace baton
