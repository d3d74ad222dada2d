#include "baton/triage/shrink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/plural.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/triage/shrink_loops.h"

namespace baton {
namespace {

using relay::CallNode;
using relay::Constant;
using relay::ConstantNode;
using relay::ExprKind;
using relay::Function;
using relay::FunctionNode;
using relay::PostOrderVisit;
using relay::Var;
using relay::VarNode;

constexpr char kMain[] = "main";

using Replacements = FlatHashMap<const ExprNode*, Expr>;

// The weight of a node: higher for nodes that are harder to understand.
int64_t WeightOf(const ExprNode* node) {
  switch (relay::ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      int64_t weight = 1000;
      if (call->attrs().defined()) {
        const AttrsNode& attrs = *call->attrs();
        for (const Field& field : attrs.fields().fields()) {
          if (!attrs.fields().IsDefault(field, attrs.object())) ++weight;
        }
      }
      return weight;
    }
    case ExprKind::kFunction:
      return 500;
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
      return 100;
    case ExprKind::kVar:
      return 20;
    case ExprKind::kConstant: {
      const Tensor& value = static_cast<const ConstantNode*>(node)->value();
      const bool is_simple = value.rank() == 0 && (value.AtAsDouble(0) == 0 ||
                                                   value.AtAsDouble(0) == 1);
      return is_simple ? 25 : value.rank() == 0 ? 27 : 30;
    }
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
      return 0;
    default:
      return 300;
  }
}

double ElementsOf(const Type& type) {
  std::vector<const Type*> parts = {&type};
  double sum = 0;
  while (!parts.empty()) {
    const Type& part = *parts.back();
    parts.pop_back();
    if (const auto* tensor = part.As<TensorTypeNode>()) {
      double product = 1;
      for (const Dim& dim : tensor->shape()) {
        if (dim.is_const()) product *= static_cast<double>(dim.value());
      }
      sum += product;
    } else if (const auto* tuple = part.As<TupleTypeNode>()) {
      for (const Type& field : tuple->fields()) parts.push_back(&field);
    }
  }
  return sum;
}

// Puts other expressions in the place of nodes.
class Replacer final : public relay::ExprMutator {
 public:
  explicit Replacer(const Replacements& replacements)
      : replacements_(replacements) {}

 protected:
  Expr Before(const ExprNode* node) override {
    const auto it = replacements_.find(node);
    return it == replacements_.end() ? Expr() : it->second;
  }

 private:
  const Replacements& replacements_;
};

Expr Replaced(const Expr& expr, const Replacements& replacements) {
  const absl::StatusOr<Expr> result = Replacer(replacements).Mutate(expr);
  return result.ok() ? *result : Expr();
}

const Type& TypeOf(const Var& var) {
  return var->type().defined() ? var->type() : var->annotation();
}

// `module` without the functions that `main` does not reach.
IRModule ReachableFromMain(const IRModule& module) {
  const std::vector<std::string> names = ReachableFunctions(module, {kMain});
  const FlatHashSet<std::string> reachable(names.begin(), names.end());
  IRModule result = module;
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    if (!reachable.contains(name)) result.Remove(name);
  }
  return result;
}

// Rebuilds a value from its leaves, which may be nested to any depth.
// `parts(value)` is null for a leaf.
template <typename T, typename Parts, typename Leaf, typename Join>
T Rebuilt(const T& root, const Parts& parts, const Leaf& leaf,
          const Join& join) {
  struct Open {
    absl::Span<const T> parts;
    std::vector<T> done;
  };
  std::vector<Open> open;
  const T* next = &root;
  while (true) {
    T result;
    if (const std::optional<absl::Span<const T>> inner = parts(*next)) {
      open.push_back({*inner, {}});
    } else {
      result = leaf(*next);
      if (open.empty()) return result;
      open.back().done.push_back(std::move(result));
    }
    while (open.back().done.size() == open.back().parts.size()) {
      result = join(std::move(open.back().done));
      open.pop_back();
      if (open.empty()) return result;
      open.back().done.push_back(std::move(result));
    }
    next = &open.back().parts[open.back().done.size()];
  }
}

AttrValue Resized(const AttrValue& value, int64_t from, int64_t to) {
  using Parts = std::optional<absl::Span<const AttrValue>>;
  return Rebuilt(
      value,
      [](const AttrValue& part) -> Parts {
        const auto* list = part.As<AttrList>();
        return list == nullptr ? Parts() : Parts(*list);
      },
      [&](const AttrValue& part) -> AttrValue {
        const auto* number = part.As<int64_t>();
        return number != nullptr && *number == from ? AttrValue(to) : part;
      },
      [](AttrList list) { return AttrValue(std::move(list)); });
}

Type Resized(const Type& type, int64_t from, int64_t to) {
  using Parts = std::optional<absl::Span<const Type>>;
  return Rebuilt(
      type,
      [](const Type& part) -> Parts {
        const auto* tuple = part.As<TupleTypeNode>();
        return tuple == nullptr ? Parts() : Parts(tuple->fields());
      },
      [&](const Type& part) -> Type {
        const auto* tensor = part.As<TensorTypeNode>();
        if (tensor == nullptr) return part;
        Dims dims(tensor->shape().begin(), tensor->shape().end());
        for (Dim& dim : dims) {
          if (dim.is_const(from)) dim = Dim(to);
        }
        return TensorType(dims, tensor->dtype());
      },
      [](std::vector<Type> fields) -> Type {
        return TupleType(std::move(fields));
      });
}

// The first elements of `tensor` along every axis; null if it fails.
std::optional<Tensor> Corner(const Tensor& tensor,
                             absl::Span<const int64_t> shape) {
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(tensor.dtype(), shape);
  if (!result.ok()) return std::nullopt;
  const auto bytes = static_cast<size_t>(tensor.dtype().bytes());
  auto* const out = static_cast<char*>(result->data());
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < result->num_elements(); ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      from = from * tensor.shape()[axis] + index[axis];
    }
    std::memcpy(out + static_cast<size_t>(i) * bytes,
                tensor.bytes().data() + static_cast<size_t>(from) * bytes,
                bytes);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return std::move(*result).Freeze();
}

struct Resizing {
  int64_t from = 0;
  int64_t to = 0;
  bool attrs = false;
  // If not null, only this parameter, on this axis.
  const VarNode* var = nullptr;
  int axis = 0;
};

// Rebuilds a function with other extents and without types.
class Resizer final : public relay::ExprMutator {
 public:
  explicit Resizer(const Resizing& how) : how_(how) {}

 protected:
  Expr VisitVar(const Var& var) override {
    Expr& result = vars_[var.get()];
    if (result.defined()) return result;
    Type type = TypeOf(var);
    if (how_.var == nullptr) {
      type = Resized(type, how_.from, how_.to);
    } else if (how_.var == var.get()) {
      const auto* tensor = type.As<TensorTypeNode>();
      Dims dims(tensor->shape().begin(), tensor->shape().end());
      dims[static_cast<size_t>(how_.axis)] = Dim(how_.to);
      type = TensorType(dims, tensor->dtype());
    } else if (!params_.contains(var.get())) {
      type = Type();  // inference finds it
    }
    if (!params_.contains(var.get())) type = Type();
    result = Var(var->name(), std::move(type));
    held_.push_back(var);
    return result;
  }
  Expr VisitGlobalVar(const GlobalVar& var) override {
    return GlobalVar(var->name());
  }
  Expr VisitConstant(const Constant& constant) override {
    if (how_.var != nullptr) return Constant(constant->value());
    TensorShape shape(constant->value().shape().begin(),
                      constant->value().shape().end());
    std::replace(shape.begin(), shape.end(), how_.from, how_.to);
    std::optional<Tensor> value = Corner(constant->value(), shape);
    return value.has_value() ? Expr(Constant(*std::move(value)))
                             : Expr(Constant(constant->value()));
  }
  Expr VisitCall(const CallNode* original, relay::Call call) override {
    Attrs attrs = call->attrs();
    if (how_.attrs && attrs.defined()) {
      AttrMap values = attrs->fields().NonDefault(attrs->object());
      for (auto& [name, value] : values) {
        value = Resized(value, how_.from, how_.to);
      }
      absl::StatusOr<Attrs> changed = attrs->type().FromValues(values);
      if (changed.ok()) attrs = *std::move(changed);
    }
    return relay::Call(
        call->op(), call->args(), std::move(attrs),
        {original->type_args().begin(), original->type_args().end()});
  }
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    return Function(
        {function->params().begin(), function->params().end()},
        function->body(), Type(),
        {function->type_params().begin(), function->type_params().end()},
        function->attrs());
  }

 public:
  absl::StatusOr<Function> Run(const Function& function) {
    for (const Var& param : function->params()) params_.insert(param.get());
    PostOrderVisit(function, [this](const ExprNode* node) {
      if (const auto* inner = Expr(node).As<FunctionNode>()) {
        for (const Var& param : inner->params()) params_.insert(param.get());
      }
    });
    return MutateFunction(function);
  }

 private:
  const Resizing how_;
  FlatHashSet<const VarNode*> params_;
  FlatHashMap<const VarNode*, Expr> vars_;
  std::vector<Var> held_;  // so that their addresses stay theirs
};

std::optional<IRModule> ResizedModule(const IRModule& module,
                                      const Resizing& how) {
  IRModule result = module;
  for (const auto& [var, function] : module.functions<Function>()) {
    absl::StatusOr<Function> resized = Resizer(how).Run(function);
    if (!resized.ok()) return std::nullopt;
    result.Set(var->name(), *std::move(resized));
  }
  return Typed(result);
}

// Operands of `node` that have its type.
std::vector<Expr> Bypasses(const ExprNode* node) {
  std::vector<Expr> result;
  const auto add = [&](const Expr& child) {
    if (child.defined() && child->type().defined() &&
        TypeEqual(child->type(), node->type())) {
      result.push_back(child);
    }
  };
  if (const auto* let = Expr(node).As<relay::LetNode>()) {
    Replacements value;
    value[let->var().get()] = let->value();
    result.push_back(Replaced(let->body(), value));
    return result;
  }
  if (const auto* item = Expr(node).As<relay::TupleGetItemNode>()) {
    if (const auto* tuple = item->tuple().As<relay::TupleNode>()) {
      result.push_back(tuple->fields()[static_cast<size_t>(item->index())]);
    }
  }
  if (const auto* call = Expr(node).As<CallNode>()) {
    if (const auto* function = call->op().As<FunctionNode>()) {
      Replacements args;
      for (int i = 0; i < call->num_args(); ++i) {
        args[function->params()[static_cast<size_t>(i)].get()] = call->arg(i);
      }
      result.push_back(Replaced(function->body(), args));
    }
  }
  relay::ForEachChild(node, [&](const Expr& child) {
    add(child);
    if (const auto* tuple = child.As<relay::TupleNode>()) {
      for (const Expr& field : tuple->fields()) add(field);
    }
  });
  return result;
}

// True if values of the type are tensors and tuples of tensors.
bool IsData(const Type& type) {
  if (!type.defined()) return false;
  std::vector<const Type*> parts = {&type};
  while (!parts.empty()) {
    const Type& part = *parts.back();
    parts.pop_back();
    if (const auto* tuple = part.As<TupleTypeNode>()) {
      for (const Type& field : tuple->fields()) parts.push_back(&field);
    } else if (part.As<TensorTypeNode>() == nullptr) {
      return false;
    }
  }
  return true;
}

// The variables that `function` uses and does not define.
std::vector<tir::Var> UndefinedIn(const tir::PrimFunc& function) {
  std::vector<tir::Var> defined(function->defined().begin(),
                                function->defined().end());
  defined.insert(defined.end(), function->params().begin(),
                 function->params().end());
  return tir::UndefinedVars(function->body(), defined);
}

// `module` with `smaller` for its function `name`. Nullopt if that has free
// variables that are not in `free`: its text is not read back.
std::optional<IRModule> WithLoops(const IRModule& module,
                                  const std::string& name,
                                  const tir::PrimFunc& smaller,
                                  absl::Span<const tir::Var> free) {
  for (const tir::Var& used : UndefinedIn(smaller)) {
    if (std::find(free.begin(), free.end(), used) == free.end()) {
      return std::nullopt;
    }
  }
  IRModule changed = module;
  changed.Set(name, smaller);
  return changed;
}

}  // namespace

ProgramSize SizeOf(const IRModule& module) {
  ProgramSize size;
  for (const IRModule::Definition& definition : module.functions()) {
    size.weight += 2000;
    if (const auto* loops = definition.function.As<tir::PrimFuncNode>()) {
      size.weight += tir::SizeOfLoops(tir::PrimFunc(loops)).weight;
    }
    const auto* function = definition.function.As<FunctionNode>();
    if (function == nullptr) continue;
    PostOrderVisit(Expr(function), [&](const ExprNode* node) {
      size.weight += WeightOf(node);
      if (const auto* constant = Expr(node).As<ConstantNode>()) {
        size.elements += static_cast<double>(constant->value().num_elements());
      }
    });
    for (const Var& param : function->params()) {
      size.elements += ElementsOf(TypeOf(param));
    }
    size.weight += static_cast<int64_t>(function->params().size());
    size.weight += static_cast<int64_t>(function->attrs().entries().size());
  }
  size.weight += 500 * static_cast<int64_t>(module.types().size());
  return size;
}

std::string SizeText(const IRModule& module) {
  int64_t calls = 0;
  for (const auto& [var, function] : module.functions<Function>()) {
    PostOrderVisit(function, [&](const ExprNode* node) {
      if (relay::ExprKindOf(node) == ExprKind::kCall) ++calls;
    });
  }
  int64_t statements = 0;
  bool has_loops = false;
  for (const auto& [var, function] : module.functions<tir::PrimFunc>()) {
    statements += tir::SizeOfLoops(function).statements;
    has_loops = true;
  }
  const std::string text = Plural(calls, "call");
  if (!has_loops) return text;
  const std::string loops = Plural(statements, "statement");
  return calls == 0 ? loops : absl::StrCat(text, " and ", loops);
}

std::optional<IRModule> Typed(const IRModule& module) {
  Diagnostics diagnostics;
  IRModule typed = relay::InferTypes(module, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  CheckWellFormed(typed, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return typed;
}

std::optional<IRModule> Shrinker::WithBody(const IRModule& module,
                                           const std::string& name,
                                           const Expr& body) const {
  const Function function = module.Find<Function>(name);
  if (!function.defined() || !body.defined()) return std::nullopt;
  std::vector<Var> params(function->params().begin(), function->params().end());
  Expr new_body = body;
  if (name == kMain) {
    const std::vector<Var> free = relay::FreeVars(body);
    FlatHashSet<const VarNode*> is_free;
    for (const Var& var : free) is_free.insert(var.get());
    FlatHashSet<const VarNode*> is_param;
    for (const Var& var : params) is_param.insert(var.get());
    if (drops_unused_params_) {
      params.erase(std::remove_if(params.begin(), params.end(),
                                  [&](const Var& var) {
                                    return !is_free.contains(var.get());
                                  }),
                   params.end());
    }
    // Variables bound by lets or functions inside become parameters.
    Replacements given;
    for (const Var& var : free) {
      if (is_param.contains(var.get())) continue;
      if (!IsData(TypeOf(var))) return std::nullopt;
      if (var->annotation().defined()) {
        params.push_back(var);
      } else {
        params.emplace_back(var->name(), TypeOf(var));
        given[var.get()] = params.back();
      }
    }
    if (!given.empty()) new_body = Replaced(body, given);
  }
  IRModule result = module;
  result.Set(name, Function(std::move(params), std::move(new_body), Type(),
                            {function->type_params().begin(),
                             function->type_params().end()},
                            function->attrs()));
  return Typed(result);
}

std::vector<Smaller> Shrinker::Functions(const IRModule& module) const {
  std::vector<Smaller> result;
  if (module.size() < 2) return result;
  result.push_back([module] { return Typed(ReachableFromMain(module)); });
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    if (name == kMain) continue;
    result.push_back([module, name]() -> std::optional<IRModule> {
      IRModule changed = module;
      changed.Set(kMain, module.Find(name));
      return Typed(ReachableFromMain(changed));
    });
  }
  const ProgramParts parts = FunctionParts(module);
  for (size_t i = 0; i < parts.count; ++i) {
    for (Smaller& smaller : parts.without(i, i + 1)) {
      result.push_back(std::move(smaller));
    }
  }
  return result;
}

ProgramParts Shrinker::FunctionParts(const IRModule& module) const {
  std::vector<std::string> others;
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    if (name != kMain) others.push_back(name);
  }
  const auto names =
      std::make_shared<const std::vector<std::string>>(std::move(others));
  const auto without = [module, names](size_t begin, size_t end) {
    return std::vector<Smaller>{[module, names, begin, end] {
      IRModule fewer = module;
      for (size_t i = begin; i < end; ++i) fewer.Remove((*names)[i]);
      return Typed(fewer);
    }};
  };
  return {.count = names->size(), .without = without};
}

std::vector<Expr> Shrinker::Nodes(const IRModule& module,
                                  absl::string_view name) const {
  std::vector<Expr> nodes;
  const Function function = module.Find<Function>(name);
  if (!function.defined()) return nodes;
  PostOrderVisit(function->body(), [&](const ExprNode* node) {
    if (!IsLeaf(node->kind())) nodes.emplace_back(node);
  });
  return nodes;
}

std::optional<IRModule> Shrinker::ReturnNode(const IRModule& module,
                                             const Expr& node) const {
  return WithBody(module, kMain, node);
}

std::optional<IRModule> Shrinker::CutNodes(const IRModule& module,
                                           const std::vector<Expr>& nodes,
                                           size_t begin, size_t end) const {
  const Function main = module.Find<Function>(kMain);
  if (!main.defined()) return std::nullopt;
  FlatHashSet<const ExprNode*> inside;
  for (size_t i = begin; i < end; ++i) inside.insert(nodes[i].get());
  Replacements cut;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i >= begin && i < end) continue;
    relay::ForEachChild(nodes[i].get(), [&](const Expr& child) {
      if (!inside.contains(child.get()) || !IsData(child->type())) return;
      Expr& var = cut[child.get()];
      if (!var.defined()) var = Var("x", child->type());
    });
  }
  if (cut.empty()) return std::nullopt;
  return WithBody(module, kMain, Replaced(main->body(), cut));
}

ProgramParts Shrinker::NodeParts(const IRModule& module) const {
  const auto nodes =
      std::make_shared<const std::vector<Expr>>(Nodes(module, kMain));
  const auto without = [this, module, nodes](size_t begin, size_t end) {
    return std::vector<Smaller>{[this, module, nodes, begin, end] {
      return CutNodes(module, *nodes, begin, end);
    }};
  };
  return {.count = nodes->empty() ? 0 : nodes->size() - 1, .without = without};
}

std::vector<Smaller> Shrinker::EachNode(const IRModule& module) const {
  std::vector<Smaller> result;
  for (const auto& [var, function] : module.functions<Function>()) {
    const std::string name = var->name();
    const Expr body = function->body();
    const std::vector<Expr> nodes = Nodes(module, name);
    for (size_t i = nodes.size(); i-- > 0;) {
      const Expr node = nodes[i];
      if (name == kMain && node.get() != body.get()) {
        result.push_back(
            [this, module, node] { return ReturnNode(module, node); });
      }
      const auto replace = [this, module, name, body,
                            node](const Expr& by) -> std::optional<IRModule> {
        Replacements replacement;
        replacement[node.get()] = by;
        return WithBody(module, name, Replaced(body, replacement));
      };
      if (name == kMain && node.get() != body.get() && IsData(node->type())) {
        result.push_back(
            [replace, node] { return replace(Var("x", node->type())); });
      }
      for (const Expr& bypass : Bypasses(node.get())) {
        if (!bypass.defined()) continue;
        result.push_back([replace, bypass] { return replace(bypass); });
      }
      // One field less.
      const auto* tuple = node.As<relay::TupleNode>();
      if (tuple != nullptr && node.get() == body.get()) {
        for (size_t k = 0; k < tuple->fields().size(); ++k) {
          std::vector<Expr> fields(tuple->fields().begin(),
                                   tuple->fields().end());
          fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(k));
          result.push_back(
              [replace, fields] { return replace(relay::Tuple(fields)); });
        }
      }
    }
  }
  return result;
}

std::vector<Smaller> Shrinker::Leaves(const IRModule& module) const {
  std::vector<Smaller> result;
  for (const auto& [var, function] : module.functions<Function>()) {
    const std::string name = var->name();
    const Expr body = function->body();
    const auto replace = [this, module, name, body](
                             const Expr& node,
                             const Expr& by) -> std::optional<IRModule> {
      Replacements replacement;
      replacement[node.get()] = by;
      return WithBody(module, name, Replaced(body, replacement));
    };
    const absl::Span<const Var> params = function->params();
    if (name == kMain) {
      for (size_t i = 0; i < params.size(); ++i) {
        for (size_t k = i + 1; k < params.size(); ++k) {
          if (!TypeEqual(TypeOf(params[i]), TypeOf(params[k]))) continue;
          result.push_back([replace, from = params[k], to = params[i]] {
            return replace(from, to);
          });
        }
      }
    }
    std::vector<Constant> constants;
    PostOrderVisit(body, [&](const ExprNode* node) {
      if (const auto* constant = Expr(node).As<ConstantNode>()) {
        constants.emplace_back(constant);
      }
    });
    for (const Constant& constant : constants) {
      if (name == kMain) {
        result.push_back([replace, constant] {
          return replace(constant, Var("c", constant->ValueType()));
        });
      }
      const Tensor& value = constant->value();
      for (const double number : {1.0, 0.0}) {
        result.push_back([replace, constant, number] {
          return replace(constant, Constant(Tensor::ScalarOf(
                                       constant->value().dtype(), number)));
        });
      }
      if (value.rank() > 0 && value.num_elements() > 0) {
        result.push_back([replace, constant] {
          return replace(constant, Constant(Tensor::ScalarOf(
                                       constant->value().dtype(),
                                       constant->value().AtAsDouble(0))));
        });
      }
    }
  }
  return result;
}

std::vector<Smaller> Shrinker::Attributes(const IRModule& module) const {
  std::vector<Smaller> result;
  for (const auto& [var, function] : module.functions<Function>()) {
    const std::string name = var->name();
    const Expr body = function->body();
    for (const auto& [key, value] : function->attrs().entries()) {
      result.push_back([module, name, function = function,
                        key = key]() -> std::optional<IRModule> {
        IRModule changed = module;
        changed.Set(name, Function({function->params().begin(),
                                    function->params().end()},
                                   function->body(), Type(),
                                   {function->type_params().begin(),
                                    function->type_params().end()},
                                   function->attrs().Without(key)));
        return Typed(changed);
      });
    }
    for (const Expr& node : Nodes(module, name)) {
      const auto* call = node.As<CallNode>();
      if (call == nullptr || !call->attrs().defined()) continue;
      const Attrs& attrs = call->attrs();
      const AttrMap values = attrs->fields().NonDefault(attrs->object());
      for (size_t i = 0; i < values.size(); ++i) {
        if (attrs->fields().Find(values[i].first)->required()) continue;
        result.push_back([this, module, name, body, node, values,
                          i]() -> std::optional<IRModule> {
          const auto* call = node.As<CallNode>();
          AttrMap fewer = values;
          fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
          absl::StatusOr<Attrs> attrs = call->attrs()->type().FromValues(fewer);
          if (!attrs.ok()) return std::nullopt;
          Replacements replacement;
          replacement[node.get()] =
              relay::Call(call->op(), call->args(), *std::move(attrs),
                          {call->type_args().begin(), call->type_args().end()});
          return WithBody(module, name, Replaced(body, replacement));
        });
      }
    }
  }
  return result;
}

std::vector<Smaller> Shrinker::Loops(const IRModule& module) const {
  std::vector<Smaller> result;
  for (const auto& [var, function] : module.functions<tir::PrimFunc>()) {
    const std::vector<tir::Var> free = UndefinedIn(function);
    const int count = tir::NumSmallerLoops(function);
    for (int i = 0; i < count; ++i) {
      result.push_back([module, name = var->name(), function = function, free,
                        i]() -> std::optional<IRModule> {
        const std::optional<tir::PrimFunc> smaller =
            tir::SmallerLoops(function, i);
        if (!smaller.has_value()) return std::nullopt;
        std::optional<IRModule> changed =
            WithLoops(module, name, *smaller, free);
        return changed.has_value() ? Typed(*changed) : std::nullopt;
      });
    }
  }
  return result;
}

ProgramParts Shrinker::LoopsParts(const IRModule& module,
                                  tir::LoopsPart part) const {
  struct Numbered {
    std::string name;
    tir::PrimFunc function;
    std::vector<tir::Var> free;
    size_t begin;
    size_t end;
  };
  std::vector<Numbered> all;
  size_t count = 0;
  for (const auto& [var, function] : module.functions<tir::PrimFunc>()) {
    const auto size = static_cast<size_t>(tir::NumLoopsParts(function, part));
    all.push_back(
        {var->name(), function, UndefinedIn(function), count, count + size});
    count += size;
  }
  const auto variant =
      [module, part,
       all = std::make_shared<const std::vector<Numbered>>(std::move(all))](
          size_t begin, size_t end, bool opens) {
        std::optional<IRModule> result = module;
        for (const auto& [name, function, free, first, last] : *all) {
          if (last <= begin || end <= first) continue;
          const size_t from = std::max(begin, first) - first;
          const size_t to = std::min(end, last) - first;
          result = WithLoops(
              *result, name,
              tir::WithoutLoopsParts(function, part, static_cast<int>(from),
                                     static_cast<int>(to), opens),
              free);
          if (!result.has_value()) return result;
        }
        return Typed(*result);
      };
  const auto without = [variant](size_t begin, size_t end) {
    return std::vector<Smaller>{
        [variant, begin, end] { return variant(begin, end, false); },
        [variant, begin, end] { return variant(begin, end, true); }};
  };
  return {.count = count, .without = without};
}

std::vector<Smaller> Shrinker::Extents(const IRModule& module) const {
  std::set<int64_t, std::greater<>> extents;
  const auto note = [&extents](const Type& type) {
    std::vector<const Type*> parts = {&type};
    while (!parts.empty()) {
      const Type& part = *parts.back();
      parts.pop_back();
      if (const auto* tensor = part.As<TensorTypeNode>()) {
        for (const Dim& dim : tensor->shape()) {
          if (dim.is_const() && dim.value() > 1) extents.insert(dim.value());
        }
      } else if (const auto* tuple = part.As<TupleTypeNode>()) {
        for (const Type& field : tuple->fields()) parts.push_back(&field);
      }
    }
  };
  for (const auto& [var, function] : module.functions<Function>()) {
    PostOrderVisit(function, [&](const ExprNode* node) {
      if (const auto* constant = Expr(node).As<ConstantNode>()) {
        note(constant->ValueType());
      } else if (const auto* inner = Expr(node).As<FunctionNode>()) {
        for (const Var& param : inner->params()) note(TypeOf(param));
      }
    });
  }
  std::vector<Smaller> result;
  const auto add = [&](const Resizing& how) {
    result.push_back([module, how] { return ResizedModule(module, how); });
  };
  const auto smaller = [](int64_t extent) {
    std::vector<int64_t> sizes;
    for (const int64_t size :
         {int64_t{1}, int64_t{2}, int64_t{3}, extent / 2}) {
      if (size < extent &&
          std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
        sizes.push_back(size);
      }
    }
    return sizes;
  };
  for (const int64_t extent : extents) {
    for (const int64_t size : smaller(extent)) {
      add({.from = extent, .to = size, .attrs = true});
      add({.from = extent, .to = size});
    }
  }
  const Function main = module.Find<Function>(kMain);
  if (!main.defined()) return result;
  for (const Var& param : main->params()) {
    const auto* tensor = TypeOf(param).As<TensorTypeNode>();
    if (tensor == nullptr) continue;
    for (int axis = 0; axis < tensor->rank(); ++axis) {
      const Dim& dim = tensor->dim(axis);
      if (!dim.is_const() || dim.value() < 2) continue;
      for (const int64_t size : smaller(dim.value())) {
        add({.to = size, .var = param.get(), .axis = axis});
      }
    }
  }
  return result;
}

}  // namespace baton
