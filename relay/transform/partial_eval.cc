#include "baton/relay/transform/partial_eval.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/opaque_function.h"
#include "baton/relay/analysis/sharing.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/copy_with.h"
#include "baton/relay/transform/let_list.h"
#include "baton/relay/transform/type_args.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

// How it works. An evaluator goes through the program as an interpreter would,
// with two things for each value: what is known of it, if anything, and an atom
// that stands for it in the program that is being written. Whatever has to be
// computed is pushed onto the row of lets that is open at the time; branches,
// clauses and function literals that must be written open rows of their own.
//
// The variables of the program given never get into the one that is written, so
// one body can be evaluated several times: each time it binds variables anew.

namespace baton::relay {
namespace {

BATON_STATISTIC(kInlined, "PartialEval", "inlined", "Calls inlined.");
BATON_STATISTIC(kComputed, "PartialEval", "computed",
                "Calls of operators computed.");

// The free variables of all function literals of a program, in time linear in
// its size and theirs.
class Captures {
 public:
  // Adds the literals in `function`, no part of which is used more than once.
  void Add(const FunctionNode* function);

  // The captured variables of a literal that was added.
  absl::Span<const VarNode* const> Of(const FunctionNode* literal) const {
    const auto* vars = captures_.Find(literal);
    return vars == nullptr ? absl::Span<const VarNode* const>() : *vars;
  }

 private:
  // For each variable: how many of the functions that are open have it among
  // their captures, or are around its binder.
  NodeMap<size_t> num_done_;
  NodeMap<std::vector<const VarNode*>> captures_;
};

void Captures::Add(const FunctionNode* function) {
  struct OpenFunction {
    const FunctionNode* node;
    std::vector<const VarNode*> captures;
  };
  std::vector<OpenFunction> open;
  const auto bind = [&](const Var& var) { num_done_[var.get()] = open.size(); };
  // Null: the innermost open function ends.
  std::vector<const ExprNode*> pending = {function};
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    if (node == nullptr) {
      OpenFunction& done = open.back();
      for (const VarNode* var : done.captures) {
        num_done_[var] = open.size() - 1;
      }
      captures_[done.node] = std::move(done.captures);
      open.pop_back();
      continue;
    }
    if (node->kind() == ExprKind::kVar) {
      const auto* var = static_cast<const VarNode*>(node);
      size_t& num_done = num_done_[var];
      for (; num_done < open.size(); ++num_done) {
        open[num_done].captures.push_back(var);
      }
      continue;
    }
    const size_t first = pending.size();
    if (const auto* literal = Expr(node).As<FunctionNode>()) {
      open.push_back({literal, {}});
      for (const Var& param : literal->params()) bind(param);
      pending.push_back(nullptr);
      pending.push_back(literal->body().get());
      continue;
    }
    if (const auto* let = Expr(node).As<LetNode>()) {
      bind(let->var());
      pending.push_back(let->value().get());
      pending.push_back(let->body().get());
    } else if (const auto* match = Expr(node).As<MatchNode>()) {
      pending.push_back(match->data().get());
      for (const Clause& clause : match->clauses()) {
        ForEachVar(clause.lhs.get(), bind);
        pending.push_back(clause.rhs.get());
      }
    } else {
      ForEachChild(node,
                   [&](const Expr& child) { pending.push_back(child.get()); });
    }
    std::reverse(pending.begin() + first, pending.end());
  }
}

struct Known;

// A value: what is known of it, null if nothing, and an atom for it.
struct Partial {
  const Known* known = nullptr;
  Expr atom;
  int64_t time = 0;  // when it was made
};

// A tensor, or a tuple of data, as a value and as an expression.
struct KnownData {
  Value value;
  Expr expr;
};
struct KnownTuple {
  std::vector<Partial> fields;
};
struct KnownConstruct {
  const ConstructorNode* constructor;
  std::vector<Partial> fields;
};
// A reference. What it contains is in the stores.
struct KnownCell {};
struct KnownOp {
  const OpNode* op;
};
struct KnownConstructor {
  const ConstructorNode* constructor;
};
struct KnownFunction {
  const FunctionNode* function;
  const VarNode* self;  // by which it calls itself; may be null
  Expr name;            // the atom for it
  std::vector<std::pair<const VarNode*, Partial>> captured;
  const TypeVarMap* types;
};

struct Known {
  // Set for tensors and for tuples all of whose fields have it.
  std::optional<KnownData> data;
  std::variant<KnownTuple, KnownConstruct, KnownCell, KnownOp, KnownConstructor,
               KnownFunction>
      form;

  const Tensor* tensor() const {
    return data.has_value() && data->value.is_tensor() ? &data->value.tensor()
                                                       : nullptr;
  }
  // Null if it is another form.
  template <typename Form>
  const Form* As() const {
    return tensor() != nullptr ? nullptr : std::get_if<Form>(&form);
  }
};

// The limit of inlining a function into itself. For each argument: its age, and
// its value if that is a positive integer, otherwise 0. Neither can decrease
// forever.
struct Measure {
  int64_t time;
  int64_t number;
};

int64_t NumberOf(const Partial& value) {
  const Tensor* tensor =
      value.known == nullptr ? nullptr : value.known->tensor();
  if (tensor == nullptr || tensor->rank() != 0) return 0;
  if (tensor->dtype() == DType::Int(32)) {
    return std::max<int64_t>(0, tensor->span<int32_t>()[0]);
  }
  if (tensor->dtype() == DType::Int(64)) {
    return std::max<int64_t>(0, tensor->span<int64_t>()[0]);
  }
  return 0;
}

// Contents of references, as far as they are known. There is one for each
// branch, clause and function that is being written: what happens in it does
// not count outside.
struct Store {
  FlatHashMap<const Known*, Partial> contents;
  // False if the stores around it do not count any more.
  bool sees_outer = true;
};

class Evaluator {
 public:
  Evaluator(const IRModule& module, const PartialEvalOptions& options)
      : module_(module), result_(module), options_(options), stores_(1) {}

  absl::StatusOr<IRModule> Run() {
    for (const auto& [var, function] : module_.functions<Function>()) {
      VisitGlobal(var);
      while (!steps_.empty()) {
        const Step step = std::move(steps_.back());
        steps_.pop_back();
        visited_ = step.visited;
        BATON_RETURN_IF_ERROR(step.run());
      }
      values_.clear();
    }
    return result_;
  }

 private:
  struct Step {
    std::function<absl::Status()> run;
    const ExprNode* visited;  // as it was when the step was added
  };

  // The steps to do: the last one first. A step may add others.
  void Then(std::function<absl::Status()> run) {
    steps_.push_back({std::move(run), visited_});
  }
  void ThenVisit(const Expr& expr) {
    Then([this, node = expr.get()] { return Visit(node); });
  }

  void Return(Partial value) { values_.push_back(std::move(value)); }
  Partial TakeValue() {
    Partial value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  std::vector<Partial> TakeValues(size_t n) {
    std::vector<Partial> result(values_.end() - n, values_.end());
    values_.erase(values_.end() - n, values_.end());
    return result;
  }
  Expr TakeBlock() {
    Expr block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }

  Partial Unknown(Expr atom) { return {nullptr, std::move(atom), ++time_}; }
  template <typename Form>
  Partial Knowing(Form form, Expr atom) {
    return {&known_.emplace_back(Known{std::nullopt, std::move(form)}),
            std::move(atom), ++time_};
  }
  Partial KnowingTensor(const Tensor& tensor, const Expr& expr, Expr atom) {
    return {&known_.emplace_back(
                Known{KnownData{Value(tensor), expr}, KnownTuple()}),
            std::move(atom), ++time_};
  }
  Partial KnowingTuple(std::vector<Partial> fields, Expr atom) {
    Known known{std::nullopt, KnownTuple{std::move(fields)}};
    std::vector<Value> values;
    std::vector<Expr> exprs;
    for (const Partial& field : std::get<KnownTuple>(known.form).fields) {
      if (field.known == nullptr || !field.known->data.has_value()) break;
      values.push_back(field.known->data->value);
      exprs.push_back(field.known->data->expr);
    }
    if (values.size() == std::get<KnownTuple>(known.form).fields.size()) {
      known.data = KnownData{Value::MakeTuple(std::move(values)),
                             Tuple(std::move(exprs))};
    }
    return {&known_.emplace_back(std::move(known)), std::move(atom), ++time_};
  }

  // Writes a let of `value`, a node whose operands are atoms.
  Expr Bind(Expr value) {
    nodes_written_ += 3;  // the let, its variable and `value`
    LogOrigins(value, visited_);
    Expr atom = lets_.back().Push(std::move(value));
    LogOrigin(atom, visited_);
    return atom;
  }

  void Set(const VarNode* var, Partial value) {
    Partial& place = environment_[var];
    replaced_.emplace_back(var, std::exchange(place, std::move(value)));
  }

  // A type of the program given, in the one that is written. Null if it is not
  // known entirely.
  Type Translate(const Type& type) const {
    const Type result = SubstituteTypeVars(type, *types_);
    return result.defined() && result->complete() ? result : Type();
  }
  std::vector<Type> TranslateAll(absl::Span<const Type> types) const {
    std::vector<Type> result;
    for (const Type& type : types) {
      result.push_back(Translate(type));
      if (!result.back().defined()) return {};
    }
    return result;
  }
  Var Fresh(const VarNode* var) const {
    Var fresh(var->name(), Translate(var->annotation()), var->span());
    LogOrigin(fresh, var);
    return fresh;
  }

  const Partial* Find(const Known* cell) const {
    for (size_t i = stores_.size(); i > 0; --i) {
      const Store& store = stores_[i - 1];
      const auto it = store.contents.find(cell);
      if (it != store.contents.end()) return &it->second;
      if (!store.sees_outer) break;
    }
    return nullptr;
  }
  // Something unknown happens: references may have other contents.
  void ForgetContents() {
    stores_.back().contents.clear();
    stores_.back().sees_outer = false;
  }

  absl::Status Visit(const ExprNode* node) {
    visited_ = node;
    switch (ExprKindOf(node)) {
      case ExprKind::kVar: {
        const Partial* value =
            environment_.Find(static_cast<const VarNode*>(node));
        if (value == nullptr || !value->atom.defined()) {
          return ErrorAt(
              node->span(),
              absl::StrCat("%", static_cast<const VarNode*>(node)->name(),
                           " is not bound"));
        }
        Return(*value);
        return absl::OkStatus();
      }
      case ExprKind::kGlobalVar:
        VisitGlobal(GlobalVar(static_cast<const GlobalVarNode*>(node)));
        return absl::OkStatus();
      case ExprKind::kConstant: {
        const auto* constant = static_cast<const ConstantNode*>(node);
        const Expr expr(constant);
        Return(KnowingTensor(constant->value(), expr, Bind(expr)));
        return absl::OkStatus();
      }
      case ExprKind::kOp:
        Return(Knowing(KnownOp{static_cast<const OpNode*>(node)}, Expr(node)));
        return absl::OkStatus();
      case ExprKind::kConstructor:
        Return(
            Knowing(KnownConstructor{static_cast<const ConstructorNode*>(node)},
                    Expr(node)));
        return absl::OkStatus();
      case ExprKind::kTuple: {
        const auto* tuple = static_cast<const TupleNode*>(node);
        Then([this, tuple] {
          std::vector<Partial> fields = TakeValues(tuple->fields().size());
          Expr atom = Bind(Tuple(AtomsOf(fields), {}, tuple->span()));
          Return(KnowingTuple(std::move(fields), std::move(atom)));
          return absl::OkStatus();
        });
        for (size_t i = tuple->fields().size(); i > 0; --i) {
          ThenVisit(tuple->fields()[i - 1]);
        }
        return absl::OkStatus();
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(node);
        Then([this, item] { return Project(item); });
        ThenVisit(item->tuple());
        return absl::OkStatus();
      }
      case ExprKind::kLet: {
        const auto* let = static_cast<const LetNode*>(node);
        ThenVisit(let->body());
        Then([this, let] {
          Set(let->var().get(), TakeValue());
          return absl::OkStatus();
        });
        if (const auto* function = let->value().As<FunctionNode>()) {
          return VisitFunction(function, let->var().get());
        }
        ThenVisit(let->value());
        return absl::OkStatus();
      }
      case ExprKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(node);
        Then([this, branch] { return Decide(branch); });
        ThenVisit(branch->cond());
        return absl::OkStatus();
      }
      case ExprKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(node);
        Then([this, match] { return Decide(match); });
        ThenVisit(match->data());
        return absl::OkStatus();
      }
      case ExprKind::kRefCreate: {
        const auto* create = static_cast<const RefCreateNode*>(node);
        Then([this, create] {
          Partial content = TakeValue();
          Partial cell = Knowing(
              KnownCell(), Bind(RefCreate(content.atom, {}, create->span())));
          stores_.back().contents[cell.known] = std::move(content);
          Return(std::move(cell));
          return absl::OkStatus();
        });
        ThenVisit(create->value());
        return absl::OkStatus();
      }
      case ExprKind::kRefRead: {
        const auto* read = static_cast<const RefReadNode*>(node);
        Then([this, read] {
          const Partial cell = TakeValue();
          const Partial* content =
              cell.known == nullptr ? nullptr : Find(cell.known);
          Return(content != nullptr
                     ? *content
                     : Unknown(Bind(RefRead(cell.atom, {}, read->span()))));
          return absl::OkStatus();
        });
        ThenVisit(read->ref());
        return absl::OkStatus();
      }
      case ExprKind::kRefWrite: {
        const auto* write = static_cast<const RefWriteNode*>(node);
        Then([this, write] {
          Partial content = TakeValue();
          const Partial cell = TakeValue();
          Expr atom =
              Bind(RefWrite(cell.atom, content.atom, {}, write->span()));
          if (cell.known == nullptr) {
            ForgetContents();
          } else {
            stores_.back().contents[cell.known] = std::move(content);
          }
          Return(KnowingTuple({}, std::move(atom)));
          return absl::OkStatus();
        });
        ThenVisit(write->value());
        ThenVisit(write->ref());
        return absl::OkStatus();
      }
      case ExprKind::kFunction:
        return VisitFunction(static_cast<const FunctionNode*>(node), nullptr);
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        Then([this, call] { return Apply(call); });
        for (int i = call->num_args(); i > 0; --i) ThenVisit(call->arg(i - 1));
        ThenVisit(call->op());
        return absl::OkStatus();
      }
    }
    return ErrorAt(node->span(),
                   absl::StrCat("a ", NodeKindName(node->kind()),
                                " cannot be partially evaluated"));
  }

  static std::vector<Expr> AtomsOf(absl::Span<const Partial> values) {
    std::vector<Expr> atoms;
    atoms.reserve(values.size());
    for (const Partial& value : values) atoms.push_back(value.atom);
    return atoms;
  }

  absl::Status Project(const TupleGetItemNode* item) {
    const Partial tuple = TakeValue();
    if (tuple.known == nullptr) {
      Return(Unknown(
          Bind(TupleGetItem(tuple.atom, item->index(), {}, item->span()))));
      return absl::OkStatus();
    }
    const auto* known = tuple.known->As<KnownTuple>();
    if (known == nullptr || item->index() < 0 ||
        item->index() >= static_cast<int>(known->fields.size())) {
      return ErrorAt(item->span(), absl::StrCat("there is no field ",
                                                item->index(), " to take"));
    }
    Return(known->fields[item->index()]);
    return absl::OkStatus();
  }

  absl::Status Decide(const IfNode* branch) {
    const Partial cond = TakeValue();
    if (cond.known != nullptr) {
      const Tensor* tensor = cond.known->tensor();
      if (tensor == nullptr || tensor->rank() != 0 ||
          !tensor->dtype().is_bool()) {
        return ErrorAt(branch->cond()->span(),
                       "the condition is not a scalar of type bool");
      }
      ThenVisit(tensor->span<bool>()[0] ? branch->true_branch()
                                        : branch->false_branch());
      return absl::OkStatus();
    }
    Then([this, branch, atom = cond.atom] {
      const Expr on_false = TakeBlock();
      const Expr on_true = TakeBlock();
      ForgetContents();
      Return(Unknown(Bind(If(atom, on_true, on_false, {}, branch->span()))));
      return absl::OkStatus();
    });
    ThenWriteBlock(branch->false_branch());
    ThenWriteBlock(branch->true_branch());
    return absl::OkStatus();
  }

  absl::Status Decide(const MatchNode* match) {
    const Partial data = TakeValue();
    for (const Clause& clause : match->clauses()) {
      switch (Matches(clause.lhs.get(), data)) {
        case Fit::kYes:
          ThenVisit(clause.rhs);
          return absl::OkStatus();
        case Fit::kNo:
          continue;
        case Fit::kUnknown:
          WriteMatch(match, data.atom);
          return absl::OkStatus();
      }
    }
    return ErrorAt(match->span(), "no clause fits what is matched");
  }

  enum class Fit { kYes, kNo, kUnknown };

  // Binds the variables of the pattern as far as it goes.
  Fit Matches(const PatternNode* pattern, const Partial& value) {
    std::vector<std::pair<const PatternNode*, const Partial*>> pending = {
        {pattern, &value}};
    Fit fit = Fit::kYes;
    while (!pending.empty()) {
      const auto [part, of] = pending.back();
      pending.pop_back();
      absl::Span<const Partial> fields;
      switch (part->form()) {
        case PatternNode::Form::kWildcard:
          continue;
        case PatternNode::Form::kVar:
          Set(part->var().get(), *of);
          continue;
        case PatternNode::Form::kConstructor: {
          if (of->known == nullptr) {
            fit = Fit::kUnknown;
            continue;
          }
          const auto* construct = of->known->As<KnownConstruct>();
          if (construct == nullptr ||
              !SameConstructor(*construct->constructor, *part->constructor())) {
            return Fit::kNo;
          }
          fields = construct->fields;
          break;
        }
        case PatternNode::Form::kTuple: {
          if (of->known == nullptr) {
            fit = Fit::kUnknown;
            continue;
          }
          const auto* tuple = of->known->As<KnownTuple>();
          if (tuple == nullptr) return Fit::kNo;
          fields = tuple->fields;
          break;
        }
      }
      if (fields.size() != part->patterns().size()) return Fit::kNo;
      for (size_t i = fields.size(); i > 0; --i) {
        pending.emplace_back(part->patterns()[i - 1].get(), &fields[i - 1]);
      }
    }
    return fit;
  }

  void WriteMatch(const MatchNode* match, const Expr& data) {
    const size_t n = match->clauses().size();
    std::vector<Pattern> patterns;
    std::vector<std::vector<std::pair<const VarNode*, Var>>> vars(n);
    for (size_t i = 0; i < n; ++i) {
      patterns.push_back(
          WithBinders(match->clauses()[i].lhs, [&](const Var& var) {
            vars[i].emplace_back(var.get(), Fresh(var.get()));
            return vars[i].back().second;
          }));
    }
    Then([this, match, data, patterns] {
      std::vector<Clause> clauses(patterns.size());
      for (size_t i = patterns.size(); i > 0; --i) {
        clauses[i - 1] = {patterns[i - 1], TakeBlock()};
      }
      ForgetContents();
      Return(Unknown(Bind(Match(data, std::move(clauses), match->complete(), {},
                                match->span()))));
      return absl::OkStatus();
    });
    for (size_t i = n; i > 0; --i) {
      ThenWriteBlock(match->clauses()[i - 1].rhs, std::move(vars[i - 1]));
    }
  }

  void OpenBlock() {
    stores_.emplace_back();
    lets_.emplace_back(names_);
  }
  Expr CloseBlock(Expr result) {
    Expr block = lets_.back().Close(std::move(result));
    lets_.pop_back();
    stores_.pop_back();
    return block;
  }

  // Writes `expr` as a row of lets of its own, where nothing is known of
  // `vars`. The result is the last of the blocks.
  void ThenWriteBlock(const Expr& expr,
                      std::vector<std::pair<const VarNode*, Var>> vars = {}) {
    Then([this] {
      blocks_.push_back(CloseBlock(TakeValue().atom));
      return absl::OkStatus();
    });
    ThenVisit(expr);
    Then([this, vars = std::move(vars)] {
      OpenBlock();
      for (const auto& [var, fresh] : vars) Set(var, Unknown(fresh));
      return absl::OkStatus();
    });
  }

  void VisitGlobal(const GlobalVar& var) {
    const auto it = globals_.find(var->name());
    if (it != globals_.end()) {
      Return(it->second);
      return;
    }
    const Function function = module_.Find<Function>(var->name());
    if (!function.defined()) {
      Return(Unknown(var));
      return;
    }
    const Partial value = Knowing(
        KnownFunction{function.get(), nullptr, var, {}, &no_types_}, var);
    globals_.emplace(var->name(), value);
    Then([this, value] {
      Return(value);
      return absl::OkStatus();
    });
    if (IsOpaque(*function)) return;
    captures_.Add(function.get());
    Then([this, var, function] {
      const Expr written = TakeBlock();
      if (!StructuralEqual(written, function)) {
        result_.Set(var, Function(written.As<FunctionNode>()));
      }
      return absl::OkStatus();
    });
    WriteFunction(*value.known->As<KnownFunction>(), value);
  }

  // A function literal; `bound_to` is the variable that a let binds it to, or
  // null.
  absl::Status VisitFunction(const FunctionNode* function,
                             const VarNode* bound_to) {
    Var name = bound_to == nullptr ? Var(names_.Next()) : Fresh(bound_to);
    KnownFunction closure{function, bound_to, name, {}, types_};
    for (const VarNode* var : captures_.Of(function)) {
      if (var == bound_to) continue;
      const Partial* value = environment_.Find(var);
      if (value == nullptr || !value->atom.defined()) {
        return ErrorAt(function->span(),
                       absl::StrCat("%", var->name(), " is not bound"));
      }
      closure.captured.emplace_back(var, *value);
    }
    const Known* known =
        &known_.emplace_back(Known{std::nullopt, std::move(closure)});
    const auto& kept = *known->As<KnownFunction>();
    Then([this, name, known] {
      lets_.back().Push(name, TakeBlock());
      Return({known, name, ++time_});
      return absl::OkStatus();
    });
    if (IsOpaque(*function)) return WriteCopy(kept);
    WriteFunction(kept, {known, name, ++time_});
    return absl::OkStatus();
  }

  // Writes the function, of whose arguments nothing is known. The result is the
  // last of the blocks. `self` is the function's value in its own body.
  void WriteFunction(const KnownFunction& closure, const Partial& self) {
    const FunctionNode* function = closure.function;
    OpenBlock();
    ForgetContents();
    // A global function keeps its binders: it is written once.
    const bool is_global = closure.name.Is<GlobalVarNode>();
    const TypeVarMap fresh_types =
        is_global ? TypeVarMap() : FreshTypeVars(function->type_params());
    std::vector<TypeVar> type_params;
    std::vector<Type> type_args;
    for (const TypeVar& type : function->type_params()) {
      const auto it = fresh_types.find(type.get());
      const Type fresh = it == fresh_types.end() ? Type(type) : it->second;
      type_args.push_back(fresh);
      type_params.push_back(TypeVar(fresh.As<TypeVarNode>()));
    }
    const TypeVarMap* outer_types =
        std::exchange(types_, TypesIn(closure, type_args));
    std::vector<Var> params;
    std::vector<Partial> args;
    for (const Var& param : function->params()) {
      params.push_back(is_global ? param : Fresh(param.get()));
      args.push_back(Unknown(params.back()));
    }
    const Type result_type = Translate(function->result_type());
    types_ = outer_types;
    Then([this, function, params, result_type, type_params] {
      Expr body = CloseBlock(TakeValue().atom);
      blocks_.push_back(Function(params, std::move(body), result_type,
                                 type_params, function->attrs(), {},
                                 function->span()));
      LogOrigins(blocks_.back(), function);
      return absl::OkStatus();
    });
    if (Enter(closure, self, args, type_args)) return;
    // It is being inlined into itself, with arguments that make more progress
    // than unknown ones.
    steps_.pop_back();
    CloseBlock(Expr());
    Then([this, &closure] { return WriteCopy(closure); });
  }

  // Writes the function as it was given. The result is the last of the blocks.
  absl::Status WriteCopy(const KnownFunction& closure) {
    FlatHashMap<const VarNode*, Expr> values;
    for (const auto& [var, value] : closure.captured) values[var] = value.atom;
    if (closure.self != nullptr) values[closure.self] = closure.name;
    TypeVarMap types = *closure.types;
    PostOrderVisit(Expr(closure.function), [&types](const ExprNode* node) {
      if (node->kind() != ExprKind::kFunction) return;
      types.merge(
          FreshTypeVars(static_cast<const FunctionNode*>(node)->type_params()));
    });
    BATON_ASSIGN_OR_RETURN(
        Expr copy, CopyWith(Expr(closure.function), std::move(values), types));
    LogOrigins(copy, closure.function);
    blocks_.push_back(std::move(copy));
    return absl::OkStatus();
  }

  // The types that the type parameters of `function` stand for in `call`; none
  // if they are not all known.
  std::vector<Type> TypeArgsFor(const FunctionNode& function,
                                const CallNode& call) const {
    const auto* type = function.type().As<FuncTypeNode>();
    return TranslateAll(type == nullptr ? std::vector<Type>()
                                        : TypeArgsOf(*type, call));
  }

  // The types that the type variables of `closure` stand for in a call.
  const TypeVarMap* TypesIn(const KnownFunction& closure,
                            absl::Span<const Type> type_args) {
    const auto type_params = closure.function->type_params();
    if (type_params.empty()) return closure.types;
    TypeVarMap& types = type_maps_.emplace_back(*closure.types);
    for (size_t i = 0; i < type_params.size(); ++i) {
      types[type_params[i].get()] =
          i < type_args.size() ? type_args[i] : Type(IncompleteType());
    }
    return &types;
  }

  // Lets the body of `closure` be evaluated with these arguments, as many as it
  // has. False if it is being evaluated already and the arguments make no
  // progress.
  bool Enter(const KnownFunction& closure, const Partial& self,
             absl::Span<const Partial> args, absl::Span<const Type> type_args) {
    const FunctionNode* function = closure.function;
    std::optional<std::vector<Measure>>& limit = limits_[function];
    std::vector<Measure> measures;
    bool progress = !limit.has_value();
    for (size_t i = 0; i < args.size(); ++i) {
      Measure measure{args[i].time, NumberOf(args[i])};
      if (limit.has_value()) {
        const Measure& before = (*limit)[i];
        progress |=
            measure.time < before.time || measure.number < before.number;
        measure.time = std::min(measure.time, before.time);
        measure.number = std::min(measure.number, before.number);
      }
      measures.push_back(measure);
    }
    if (!progress) return false;
    Then([this, function, outer = std::exchange(limit, std::move(measures)),
          types = types_, mark = replaced_.size()] {
      limits_[function] = outer;
      types_ = types;
      while (replaced_.size() > mark) {
        environment_[replaced_.back().first] =
            std::move(replaced_.back().second);
        replaced_.pop_back();
      }
      return absl::OkStatus();
    });
    types_ = TypesIn(closure, type_args);
    if (closure.self != nullptr) Set(closure.self, self);
    for (size_t i = 0; i < args.size(); ++i) {
      Set(function->params()[i].get(), args[i]);
    }
    for (const auto& [var, value] : closure.captured) Set(var, value);
    ThenVisit(function->body());
    return true;
  }

  absl::Status Apply(const CallNode* call) {
    const std::vector<Partial> args = TakeValues(call->num_args());
    const Partial callee = TakeValue();
    const std::vector<Type> type_args = TranslateAll(call->type_args());
    const auto bind_call = [&](std::vector<Type> types) {
      return Bind(Call(callee.atom, AtomsOf(args), call->attrs(),
                       std::move(types), {}, call->span()));
    };
    if (callee.known == nullptr) {
      ForgetContents();
      Return(Unknown(bind_call(type_args)));
      return absl::OkStatus();
    }
    if (const auto* op = callee.known->As<KnownOp>()) {
      const Expr computed = CanCompute(Expr(op->op))
                                ? WithKnownArgs(call, callee.atom, args)
                                : Expr();
      const std::optional<Value> value = Compute(computed, args);
      Return(value.has_value() ? Reify(*value) : Unknown(bind_call(type_args)));
      return absl::OkStatus();
    }
    if (const auto* known = callee.known->As<KnownConstructor>()) {
      Expr atom = bind_call({});
      Return(
          Knowing(KnownConstruct{known->constructor, args}, std::move(atom)));
      return absl::OkStatus();
    }
    const auto* closure = callee.known->As<KnownFunction>();
    if (closure == nullptr) {
      return ErrorAt(call->span(), "the callee is not a function");
    }
    const FunctionNode* function = closure->function;
    if (args.size() != function->params().size()) {
      return ErrorAt(call->span(),
                     absl::StrCat("a function of ", function->params().size(),
                                  " parameters is called with ", args.size(),
                                  " arguments"));
    }
    if (IsOpaque(*function)) {
      const Expr computed = function->IsPrimitive() &&
                                    closure->captured.empty() &&
                                    CanComputeAll(Expr(function))
                                ? WithKnownArgs(call, Expr(function), args)
                                : Expr();
      const std::optional<Value> value = Compute(computed, args);
      // Another compiler may do anything with its functions.
      if (!function->IsPrimitive() || MayWrite(Expr(function))) {
        ForgetContents();
      }
      Return(value.has_value() ? Reify(*value) : Unknown(bind_call(type_args)));
      return absl::OkStatus();
    }
    if (MayInline() &&
        Enter(*closure, callee, args, TypeArgsFor(*function, *call))) {
      ++num_inlined_;
      kInlined.Add(1);
      return absl::OkStatus();
    }
    ForgetContents();
    Return(Unknown(bind_call(type_args)));
    return absl::OkStatus();
  }

  // False if calls that are inlined have reached a limit.
  bool MayInline() {
    if (nodes_given_ == 0) {
      for (const auto& [var, function] : module_.functions<Function>()) {
        PostOrderVisit(function,
                       [this](const ExprNode*) { nodes_given_ += 3; });
      }
    }
    return num_inlined_ < options_.max_calls &&
           nodes_written_ - nodes_given_ < CurrentLimits().max_copied_nodes;
  }

  // True if a call of `function` may write to references.
  static bool MayWrite(const Expr& function) {
    bool may = false;
    PostOrderVisit(function, [&may](const ExprNode* node) {
      const auto* call = Expr(node).As<CallNode>();
      may =
          may || node->kind() == ExprKind::kRefWrite ||
          (call != nullptr && call->op_node() == nullptr &&
           !call->op().Is<FunctionNode>() && !call->op().Is<ConstructorNode>());
    });
    return may;
  }

  static bool CanCompute(const Expr& op) {
    return !IsStateful(op) && !IsDeviceCopy(op) && Kernels().Get(op) != nullptr;
  }
  // True if CanCompute() is true for all operators in `function`.
  static bool CanComputeAll(const Expr& function) {
    bool can = true;
    PostOrderVisit(function, [&can](const ExprNode* node) {
      if (node->kind() == IrKind::kOp) can = can && CanCompute(Expr(node));
    });
    return can;
  }

  // A call of `callee` with what `args` are known to be, with types; null if
  // that is not known, or if the result would be too large.
  Expr WithKnownArgs(const CallNode* call, const Expr& callee,
                     absl::Span<const Partial> args) const {
    std::vector<Expr> exprs;
    for (const Partial& arg : args) {
      if (arg.known == nullptr || !arg.known->data.has_value()) return {};
      exprs.push_back(arg.known->data->expr);
    }
    const absl::StatusOr<Expr> typed =
        InferTypeOf(Call(callee, exprs, call->attrs()));
    if (!typed.ok() || !IsSmall((*typed)->type())) return {};
    return *typed;
  }

  // True if `type` is a tensor that is not too large, or a tuple of such
  // tensors.
  bool IsSmall(const Type& type) const {
    if (const auto* tuple = type.As<TupleTypeNode>()) {
      return std::all_of(tuple->fields().begin(), tuple->fields().end(),
                         [this](const Type& field) {
                           return field.Is<TensorTypeNode>() && IsSmall(field);
                         });
    }
    const auto* tensor = type.As<TensorTypeNode>();
    if (tensor == nullptr) return false;
    int64_t elements = 1;
    for (const Dim& dim : tensor->shape()) {
      if (!dim.is_const()) return true;  // the kernel finds out
      if (dim.value() != 0 && elements > options_.max_elements / dim.value()) {
        return false;
      }
      elements *= dim.value();
    }
    return true;
  }

  // The value of `call`, which may be null; nullopt if it cannot be computed.
  static std::optional<Value> Compute(const Expr& call,
                                      absl::Span<const Partial> args) {
    if (!call.defined()) return std::nullopt;
    std::vector<Value> values;
    for (const Partial& arg : args) values.push_back(arg.known->data->value);
    const auto* node = call.As<CallNode>();
    absl::StatusOr<Value> value = node->op_node() != nullptr
                                      ? RunKernel(*node, values)
                                      : Evaluate(call, /*module=*/nullptr);
    if (!value.ok()) return std::nullopt;
    const auto is_tensor = [](const Value& v) { return v.is_tensor(); };
    if (!value->is_tensor() &&
        !(value->is_tuple() && absl::c_all_of(value->fields(), is_tensor))) {
      return std::nullopt;
    }
    kComputed.Add(1);
    return *std::move(value);
  }

  // A tensor or a tuple of tensors that was computed.
  Partial Reify(const Value& value) {
    if (value.is_tensor()) {
      const Tensor& tensor = value.tensor();
      const Expr expr =
          Constant(tensor, TensorType::Of(tensor.shape(), tensor.dtype()));
      return KnowingTensor(tensor, expr, Bind(expr));
    }
    std::vector<Partial> fields;
    for (const Value& field : value.fields()) fields.push_back(Reify(field));
    Expr atom = Bind(Tuple(AtomsOf(fields)));
    return KnowingTuple(std::move(fields), std::move(atom));
  }

  const IRModule& module_;
  IRModule result_;
  const PartialEvalOptions& options_;
  VarNames names_;
  const TypeVarMap no_types_;

  std::vector<Step> steps_;
  const ExprNode* visited_ = nullptr;  // what is written comes from it
  std::vector<Partial> values_;        // results of steps
  std::vector<Expr> blocks_;           // expressions that steps have written
  std::vector<LetList> lets_;          // of the blocks that are being written
  std::vector<Store> stores_;          // one more

  // The values of variables of the program given, and what they were before.
  NodeMap<Partial> environment_;
  std::vector<std::pair<const VarNode*, Partial>> replaced_;
  const TypeVarMap* types_ = &no_types_;  // the values of type variables
  FlatHashMap<std::string, Partial> globals_;
  // For functions that are being evaluated.
  FlatHashMap<const FunctionNode*, std::optional<std::vector<Measure>>> limits_;
  int64_t num_inlined_ = 0;
  int64_t nodes_written_ = 0;
  int64_t nodes_given_ = 0;  // that the functions given need, if all is bound
  int64_t time_ = 0;

  std::deque<Known> known_;
  std::deque<TypeVarMap> type_maps_;
  Captures captures_;
};

}  // namespace

absl::StatusOr<IRModule> PartialEvalInModule(
    const IRModule& module, const PartialEvalOptions& options) {
  Diagnostics diagnostics;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (IsOpaque(*function)) continue;
    ReportSharing(function, "cannot be partially evaluated", diagnostics);
  }
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  return Evaluator(module, options).Run();
}

Pass PartialEval(PartialEvalOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return PartialEvalInModule(module, options);
      },
      {.name = "PartialEval",
       .opt_level = 1,
       .doc = "Inlines calls of known functions and computes what is known.",
       .invalidates = {"basic_block_normal_form"},
       .waivers = {{"runs",
                    "Expressions that are used more than once are refused, "
                    "as the reference does."}}},
      options);
}
BATON_REGISTER_PASS(PartialEval);

}  // namespace baton::relay
