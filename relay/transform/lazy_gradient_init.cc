#include "baton/relay/transform/lazy_gradient_init.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<GradCellForm>& GradCellForms() {
  static auto* const kForms = new OpProperty<GradCellForm>;
  return *kForms;
}

namespace {

BATON_EXTEND_OP("add").Set(GradCellForms(), GradCellForm::kSum);
BATON_EXTEND_OP("multiply").Set(GradCellForms(), GradCellForm::kProduct);
BATON_EXTEND_OP("ones").Set(GradCellForms(), GradCellForm::kOnes);
BATON_EXTEND_OP("ones_like").Set(GradCellForms(), GradCellForm::kOnes);
BATON_EXTEND_OP("zeros").Set(GradCellForms(), GradCellForm::kZeros);
BATON_EXTEND_OP("zeros_like").Set(GradCellForms(), GradCellForm::kZeros);

// The definitions in the reference's library.
constexpr absl::string_view kCells = R"(
type GradCell[T] {
  Raw(T),
  One(fn () -> T),
  Zero(fn () -> T),
}

def @FromGradCell[T](%cell: GradCell[T]) -> T {
  match (%cell) {
    Raw(%tensor) => { %tensor },
    One(%make) => { %make() },
    Zero(%make) => { %make() },
  }
}

def @AddGradCell[T](%add: fn (T, T) -> T, %l: GradCell[T], %r: GradCell[T]) -> GradCell[T] {
  match ((%l, %r)) {
    (Zero(_), _) => { %r },
    (_, Zero(_)) => { %l },
    _ => { Raw(%add(@FromGradCell(%l), @FromGradCell(%r))) },
  }
}

def @MultiplyGradCell[T](%multiply: fn (T, T) -> T, %l: GradCell[T], %r: GradCell[T]) -> GradCell[T] {
  match ((%l, %r)) {
    (Zero(_), _) => { %l },
    (_, Zero(_)) => { %r },
    (One(_), _) => { %r },
    (_, One(_)) => { %l },
    _ => { Raw(%multiply(@FromGradCell(%l), @FromGradCell(%r))) },
  }
}
)";

constexpr char kCellType[] = "GradCell";
constexpr absl::string_view kFunctions[] = {"FromGradCell", "AddGradCell",
                                            "MultiplyGradCell"};

// The type GradCell and its functions, in a module.
class Cells {
 public:
  static absl::StatusOr<Cells> In(const IRModule& module) {
    Cells cells;
    cells.type_ = module.FindType<TypeData>(kCellType);
    if (!cells.type_.defined()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the module has no data type ", kCellType));
    }
    for (const absl::string_view name : {"Raw", "One", "Zero"}) {
      const absl::Span<const Constructor> all = cells.type_->constructors();
      const auto found =
          std::find_if(all.begin(), all.end(), [name](const Constructor& c) {
            return c->name() == name && c->num_inputs() == 1;
          });
      if (found == all.end()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the data type ", kCellType, " has no constructor ", name));
      }
      cells.constructors_.push_back(*found);
    }
    for (const absl::string_view name : kFunctions) {
      const GlobalVar var = module.FindGlobalVar(name);
      if (!var.defined()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "there is a data type ", kCellType, ", but no @", name));
      }
      cells.functions_.push_back(var);
    }
    return cells;
  }

  Type CellOf(const Type& tensor) const {
    return TypeCall(type_->header(), {tensor});
  }
  Expr Raw(Expr tensor) const { return Call(constructors_[0], {tensor}); }
  Expr One(Expr make) const { return Call(constructors_[1], {make}); }
  Expr Zero(Expr make) const { return Call(constructors_[2], {make}); }
  Expr From(Expr cell) const { return Call(functions_[0], {cell}); }
  Expr Sum(Expr add, Expr l, Expr r) const {
    return Call(functions_[1], {add, l, r});
  }
  Expr Product(Expr multiply, Expr l, Expr r) const {
    return Call(functions_[2], {multiply, l, r});
  }

 private:
  TypeData type_;
  std::vector<Constructor> constructors_;  // Raw, One, Zero
  std::vector<GlobalVar> functions_;       // as kFunctions
};

// Types nested more deeply than this are left alone.
constexpr int kMaxTypeDepth = 100;

// True if cells can replace the tensors in a value of that type. `data`: only
// tensors and tuples of them.
bool IsSupported(const Type& type, bool data, int depth = 0) {
  if (depth > kMaxTypeDepth) return false;
  const auto all = [&](absl::Span<const Type> types) {
    return std::all_of(types.begin(), types.end(), [&](const Type& t) {
      return IsSupported(t, data, depth + 1);
    });
  };
  if (type.Is<TensorTypeNode>()) return true;
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    return all(tuple->fields());
  }
  if (data) return false;
  if (const auto* function = type.As<FuncTypeNode>()) {
    return function->type_params().empty() && all(function->args()) &&
           IsSupported(function->result(), data, depth + 1);
  }
  if (const auto* ref = type.As<RefTypeNode>()) {
    return IsSupported(ref->value(), data, depth + 1);
  }
  return false;
}

// A function that is being rewritten.
class Initializer {
 public:
  Initializer(const IndexedGraph& graph, const Cells& cells)
      : graph_(graph), cells_(cells), results_(graph.size()) {}

  static bool CanRewrite(const IndexedGraph& graph) {
    for (int i = 0; i < graph.size(); ++i) {
      if (!CanRewrite(graph, i)) return false;
    }
    const auto& function = *graph.As<FunctionNode>(graph.root());
    return function.type_params().empty() &&
           IsSupported(function.func_type()->result(), /*data=*/true) &&
           std::all_of(function.params().begin(), function.params().end(),
                       [](const Var& param) {
                         return IsSupported(param->type(), /*data=*/true);
                       });
  }

  // The function of the root, which keeps its type.
  Function Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      results_[i] = Rewrite(i);
      LogOrigins(results_[i], graph_.node(i));
    }
    const auto& function = *graph_.As<FunctionNode>(graph_.root());
    std::vector<Expr> args;
    for (const Var& param : function.params()) {
      args.push_back(Wrap(param, param->type(), /*with_lets=*/true));
    }
    const Type& type = function.func_type()->result();
    const Expr cells = Bind(Call(results_[graph_.root()], args), "result");
    Expr body = Unwrap(cells, type, /*with_lets=*/true);
    for (size_t i = lets_.size(); i > 0; --i) {
      body = Let(lets_[i - 1].first, lets_[i - 1].second, std::move(body));
    }
    const Function result({function.params().begin(), function.params().end()},
                          std::move(body), type, {}, function.attrs(), {},
                          function.span());
    LogOrigins(result, &function);
    return result;
  }

 private:
  static bool CanRewrite(const IndexedGraph& graph, int i) {
    const ExprNode* node = graph.node(i);
    switch (ExprKindOf(node)) {
      case ExprKind::kOp:
        return true;
      case ExprKind::kCall: {
        const auto* call = graph.As<CallNode>(i);
        if (call->op_node() == nullptr) break;
        if (!IsSupported(node->type(), /*data=*/true)) return false;
        for (const Expr& arg : call->args()) {
          if (!IsSupported(arg->type(), /*data=*/true)) return false;
        }
        return true;
      }
      case ExprKind::kFunction:
        // The root says what it is by its parts.
        if (i == graph.root()) return true;
        if (static_cast<const FunctionNode*>(node)->attrs().defined()) {
          return false;
        }
        break;
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        break;
      default:
        return false;  // other functions, and data types
    }
    return node->type().defined() && IsSupported(node->type(), /*data=*/false);
  }

  // `type` with cells for tensors.
  Type CellType(const Type& type) const {
    if (type.Is<TensorTypeNode>()) return cells_.CellOf(type);
    return MapTypeParts(type,
                        [this](const Type& part) { return CellType(part); });
  }

  // A new let, whose variable stands for `value`.
  Expr Bind(Expr value, std::string name) {
    Var var(std::move(name));
    lets_.push_back({var, std::move(value)});
    return var;
  }

  Expr Field(const Expr& tuple, size_t k, bool with_lets) {
    if (const auto* literal = tuple.As<TupleNode>()) {
      return literal->fields()[k];
    }
    Expr field = TupleGetItem(tuple, static_cast<int>(k));
    return with_lets ? Bind(std::move(field), "field") : field;
  }

  // `value`, of tensors, in cells.
  Expr Wrap(const Expr& value, const Type& type, bool with_lets) {
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr) return cells_.Raw(value);
    std::vector<Expr> fields;
    for (size_t k = 0; k < tuple->fields().size(); ++k) {
      fields.push_back(
          Wrap(Field(value, k, with_lets), tuple->fields()[k], with_lets));
    }
    return Tuple(std::move(fields));
  }

  // The tensors of `value`, which has cells; `type` is that of the tensors.
  Expr Unwrap(const Expr& value, const Type& type, bool with_lets) {
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr) return cells_.From(value);
    std::vector<Expr> fields;
    for (size_t k = 0; k < tuple->fields().size(); ++k) {
      fields.push_back(
          Unwrap(Field(value, k, with_lets), tuple->fields()[k], with_lets));
    }
    return Tuple(std::move(fields));
  }

  Expr Rewrite(int i) {
    const ExprNode* node = graph_.node(i);
    switch (ExprKindOf(node)) {
      case ExprKind::kVar: {
        const auto& var = *graph_.As<VarNode>(i);
        return Var(var.name(), CellType(var.type()), var.span());
      }
      case ExprKind::kConstant:
        return cells_.Raw(Expr(node));
      case ExprKind::kCall:
        if (graph_.As<CallNode>(i)->op_node() != nullptr) {
          return RewriteOpCall(i, *graph_.As<CallNode>(i));
        }
        return WithRewrittenChildren(i);
      case ExprKind::kFunction: {
        const auto& function = *graph_.As<FunctionNode>(i);
        std::vector<Var> params;
        for (const int child :
             graph_.children(i).first(graph_.children(i).size() - 1)) {
          params.push_back(Var(results_[child].As<VarNode>()));
        }
        return Function(std::move(params), results_[graph_.children(i).back()],
                        CellType(function.body()->type()), {}, {}, {},
                        function.span());
      }
      case ExprKind::kIf: {
        const absl::Span<const int> children = graph_.children(i);
        const Type& type = graph_.node(children[0])->type();
        return If(Unwrap(Child(children[0]), type, /*with_lets=*/false),
                  Child(children[1]), Child(children[2]), {}, node->span());
      }
      default:
        return WithRewrittenChildren(i);
    }
  }

  // The replacement of node `i`; for a constant, a new cell each time.
  Expr Child(int i) const {
    if (graph_.kind(i) == ExprKind::kConstant) {
      return cells_.Raw(Expr(graph_.node(i)));
    }
    return results_[i];
  }

  Expr WithRewrittenChildren(int i) const {
    std::vector<Expr> children;
    for (const int child : graph_.children(i)) {
      children.push_back(Child(child));
    }
    return WithChildren(graph_.node(i), children);
  }

  Expr RewriteOpCall(int i, const CallNode& call) {
    const GradCellForm* form = GradCellForms().Get(call.op());
    if (form != nullptr &&
        (*form == GradCellForm::kSum || *form == GradCellForm::kProduct) &&
        call.num_args() == 2 &&
        TypeEqual(call.arg(0)->type(), call.arg(1)->type())) {
      const Type& type = call.arg(0)->type();
      const Var l("lhs", type);
      const Var r("rhs", type);
      Expr function =
          Function({l, r}, Call(call.op(), {l, r}, call.attrs()), call.type());
      const Expr lhs = Child(graph_.args(i)[0]);
      const Expr rhs = Child(graph_.args(i)[1]);
      return *form == GradCellForm::kSum
                 ? cells_.Sum(std::move(function), lhs, rhs)
                 : cells_.Product(std::move(function), lhs, rhs);
    }
    std::vector<Expr> args;
    for (const int arg : graph_.args(i)) {
      args.push_back(Unwrap(Child(arg), graph_.node(arg)->type(),
                            /*with_lets=*/false));
    }
    Expr result = Call(call.op(), args, call.attrs(), {}, {}, call.span());
    if (form != nullptr && *form == GradCellForm::kOnes) {
      return cells_.One(Function({}, std::move(result), call.type()));
    }
    if (form != nullptr && *form == GradCellForm::kZeros) {
      return cells_.Zero(Function({}, std::move(result), call.type()));
    }
    return Wrap(result, call.type(), /*with_lets=*/false);
  }

  const IndexedGraph& graph_;
  const Cells& cells_;
  std::vector<Expr> results_;
  std::vector<std::pair<Var, Expr>> lets_;
};

// `module` with the type GradCell and its functions.
absl::StatusOr<IRModule> WithCells(IRModule module) {
  if (module.FindType(kCellType).defined()) return module;
  BATON_ASSIGN_OR_RETURN(const IRModule library,
                         ParseModule(kCells, "GradCell"));
  module.SetType(library.FindType(kCellType));
  for (const absl::string_view name : kFunctions) {
    if (module.Find(name).defined()) {
      return absl::FailedPreconditionError(
          absl::StrCat("@", name, " is something else"));
    }
    module.Set(library.FindGlobalVar(name), library.Find(name));
  }
  return module;
}

absl::StatusOr<IRModule> Rewrite(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const IRModule typed, InferTypes(module));
  std::vector<IRModule::DefinitionOf<Function>> pending;
  for (const auto& definition : typed.functions<Function>()) {
    if (!RelayFunctions().SkipReason(definition.function).empty()) continue;
    if (Initializer::CanRewrite(IndexedGraph(definition.function))) {
      pending.push_back(definition);
    }
  }
  if (pending.empty()) return module;
  BATON_ASSIGN_OR_RETURN(IRModule result, WithCells(typed));
  for (const auto& definition : result.functions<Function>()) {
    if (typed.Find(definition.var->name()) == definition.function) continue;
    LogOrigins(definition.function, pending.front().function.get());
  }
  BATON_ASSIGN_OR_RETURN(const Cells cells, Cells::In(result));
  for (const auto& definition : pending) {
    const IndexedGraph graph(definition.function);
    result.Set(definition.var, Initializer(graph, cells).Run());
  }
  return InferTypes(result);
}

}  // namespace

Pass LazyGradientInit() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return Rewrite(module);
      },
      {.name = "LazyGradientInit",
       .opt_level = 2,
       .doc = "Makes tensors of zeros and ones only where they are needed.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .exact = false});
}
BATON_REGISTER_PASS(LazyGradientInit);

}  // namespace baton::relay
