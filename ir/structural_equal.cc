#include "baton/ir/structural_equal.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/stable_hash.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton {
namespace {

// True if every field has its default value, so that leaving the attributes
// out would mean the same to `op`.
bool AreDefaults(const Attrs& attrs, const OpNode* op) {
  if (!attrs.defined()) return true;
  if (op == nullptr || op->attrs_type() != &attrs->type()) return false;
  for (const std::unique_ptr<Field>& field : attrs->fields().fields()) {
    if (!attrs->fields().IsDefault(*field, attrs->object())) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------
// Equality.

class Comparator {
 public:
  Comparator(const StructuralEqualOptions& options, bool trace)
      : map_free_(options.map_free_vars), trace_(trace) {}

  bool Compare(const ExprNode* a, const ExprNode* b) {
    Push(a, b, -1, "");
    while (!stack_.empty()) {
      const Task task = stack_.back();
      stack_.pop_back();
      if (!Expand(task)) return false;
    }
    return true;
  }
  bool TypeDataEqual(const TypeDataNode* a, const TypeDataNode* b);
  bool CompareTypes(const Type& a, const Type& b) {
    return TypesEqual(a.get(), b.get(), map_free_);
  }

  // After Compare returned false.
  std::string TakeDifference() { return std::move(difference_); }

 private:
  struct Task {
    const ExprNode* a;
    const ExprNode* b;
    int step;  // index in steps_, -1 at the root
  };
  // How a node was reached; kept only to tell where a difference is.
  struct Step {
    int parent;
    const char* field;
    int index;  // -1 if the field is not a list
  };

  void Push(const ExprNode* a, const ExprNode* b, int parent, const char* field,
            int index = -1) {
    int step = -1;
    if (trace_ && *field != '\0') {
      step = static_cast<int>(steps_.size());
      steps_.push_back({parent, field, index});
    }
    stack_.push_back({a, b, step});
  }

  // Pushes lists so that their first elements are compared first.
  void PushAll(absl::Span<const Expr> a, absl::Span<const Expr> b, int parent,
               const char* field) {
    for (size_t i = a.size(); i-- > 0;) {
      Push(a[i].get(), b[i].get(), parent, field, static_cast<int>(i));
    }
  }

  bool Differ(int step, absl::string_view field, absl::string_view a,
              absl::string_view b) {
    if (!trace_) return false;
    std::string path = Path(step);
    if (!field.empty()) absl::StrAppend(&path, path.empty() ? "" : ".", field);
    if (path.empty()) path = "root";
    difference_ = absl::StrCat(path, ": ", a, " is not ", b);
    return false;
  }
  bool DifferInKind(const Task& task) {
    return trace_ ? Differ(task.step, "", Describe(task.a), Describe(task.b))
                  : false;
  }
  bool DifferInType(int step, absl::string_view field, const Type& a,
                    const Type& b) {
    if (!trace_) return false;
    return Differ(step, field, a.defined() ? a.ToString() : "no type",
                  b.defined() ? b.ToString() : "no type");
  }
  bool DifferInSize(int step, absl::string_view field, size_t a, size_t b) {
    if (!trace_) return false;
    return Differ(step, field, absl::StrCat(a), absl::StrCat(b));
  }

  std::string Path(int step) const;
  static std::string Describe(const ExprNode* node);

  bool Expand(const Task& task);
  bool BinderEqual(const Var& a, const Var& b, int step, const char* field,
                   int index);
  bool PatternsEqual(const PatternNode* a, const PatternNode* b, int step,
                     int clause);
  // Matches two nodes one to one. `*known` is set if they were matched before.
  bool Match(const Node* a, const Node* b, bool* known);
  bool IsMatched(const Node* a) const { return lhs_.Contains(a); }

  bool TypesEqual(const TypeNode* a, const TypeNode* b, bool map_free);
  bool DimsEqual(const Dim& a, const Dim& b, bool map_free);
  bool ValuesEqual(const AttrValue& a, const AttrValue& b);
  bool CallAttrsEqual(const CallNode* a, const CallNode* b, int step);
  bool DictsEqual(const DictAttrs& a, const DictAttrs& b, int step);

  const bool map_free_;
  const bool trace_;
  std::vector<Task> stack_;
  NodeMap<const Node*> lhs_;
  NodeMap<const Node*> rhs_;
  std::vector<Step> steps_;
  std::string difference_;
};

std::string Comparator::Path(int step) const {
  std::vector<const Step*> steps;
  for (; step >= 0; step = steps_[step].parent) steps.push_back(&steps_[step]);
  std::reverse(steps.begin(), steps.end());
  std::string path;
  constexpr size_t kEnds = 12;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == kEnds && steps.size() > 2 * kEnds + 1) {
      absl::StrAppend(&path, ".<", steps.size() - 2 * kEnds, " steps>");
      i = steps.size() - kEnds;
    }
    absl::StrAppend(&path, path.empty() ? "" : ".", steps[i]->field);
    if (steps[i]->index >= 0) absl::StrAppend(&path, "[", steps[i]->index, "]");
  }
  return path;
}

std::string Comparator::Describe(const ExprNode* node) {
  if (node == nullptr) return "nothing";
  switch (ExprKindOf(node)) {
    case ExprKind::kOp:
      return absl::StrCat("operator ",
                          static_cast<const OpNode*>(node)->name());
    case ExprKind::kGlobalVar:
      return absl::StrCat("@", static_cast<const GlobalVarNode*>(node)->name());
    case ExprKind::kVar:
      return absl::StrCat("%", static_cast<const VarNode*>(node)->name());
    case ExprKind::kConstructor:
      return absl::StrCat("constructor ",
                          static_cast<const ConstructorNode*>(node)->name());
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      if (call->op_node() == nullptr) return "a call";
      return absl::StrCat("a call of ", call->op_node()->name());
    }
    case ExprKind::kConstant: {
      const Tensor& value = static_cast<const ConstantNode*>(node)->value();
      std::string result = absl::StrCat("constant ", value.TypeToString());
      if (value.num_elements() == 1) {
        absl::StrAppend(&result, " ", value.AtAsDouble(0));
      }
      return result;
    }
    default:
      return std::string(NodeKindName(node->kind()));
  }
}

bool Comparator::Match(const Node* a, const Node* b, bool* known) {
  *known = false;
  // A node with one holder is reached but once.
  if (a->unique() && b->unique()) return true;
  const auto [match, is_new] = lhs_.TryEmplace(a);
  if (!is_new) {
    *known = true;
    return *match == b;
  }
  *match = b;
  const auto [back, back_is_new] = rhs_.TryEmplace(b);
  if (back_is_new) *back = a;
  return back_is_new;
}

bool Comparator::BinderEqual(const Var& a, const Var& b, int step,
                             const char* field, int index) {
  const auto name = [&] {
    return index < 0 ? std::string(field)
                     : absl::StrCat(field, "[", index, "]");
  };
  if (!TypesEqual(a->annotation().get(), b->annotation().get(), true)) {
    return DifferInType(step, trace_ ? name() : "", a->annotation(),
                        b->annotation());
  }
  bool known;
  if (!Match(a.get(), b.get(), &known)) {
    return trace_ ? Differ(step, name(), Describe(a.get()), Describe(b.get()))
                  : false;
  }
  return true;
}

bool Comparator::PatternsEqual(const PatternNode* a, const PatternNode* b,
                               int step, int clause) {
  std::vector<std::pair<const PatternNode*, const PatternNode*>> work = {
      {a, b}};
  while (!work.empty()) {
    const auto [x, y] = work.back();
    work.pop_back();
    const absl::Span<const Pattern> p = x->patterns();
    const absl::Span<const Pattern> q = y->patterns();
    if (x->form() != y->form() || p.size() != q.size() ||
        (x->constructor().defined() &&
         !SameConstructor(*x->constructor(), *y->constructor()))) {
      return trace_ ? Differ(step, absl::StrCat("clauses[", clause, "]"),
                             Handle(x).ToString(), Handle(y).ToString())
                    : false;
    }
    if (x->form() == PatternNode::Form::kVar &&
        !BinderEqual(x->var(), y->var(), step, "pattern", clause)) {
      return false;
    }
    for (size_t i = p.size(); i-- > 0;) {
      work.push_back({p[i].get(), q[i].get()});
    }
  }
  return true;
}

// The definitions of data types with the same constructors.
bool Comparator::TypeDataEqual(const TypeDataNode* a, const TypeDataNode* b) {
  if (a == b) return true;
  const absl::Span<const TypeVar> s = a->type_params();
  const absl::Span<const TypeVar> t = b->type_params();
  const absl::Span<const Constructor> p = a->constructors();
  const absl::Span<const Constructor> q = b->constructors();
  if (a->name() != b->name() || s.size() != t.size() || p.size() != q.size()) {
    return false;
  }
  for (size_t i = 0; i < s.size(); ++i) {
    if (!TypesEqual(s[i].get(), t[i].get(), true)) return false;
  }
  for (size_t i = 0; i < p.size(); ++i) {
    if (!SameConstructor(*p[i], *q[i]) ||
        !TypesEqual(p[i]->type().get(), q[i]->type().get(), false)) {
      return false;
    }
  }
  return true;
}

bool Comparator::Expand(const Task& task) {
  const ExprNode* a = task.a;
  const ExprNode* b = task.b;
  if (a == nullptr || b == nullptr) return a == b || DifferInKind(task);
  if (a->kind() != b->kind()) return DifferInKind(task);

  switch (ExprKindOf(a)) {
    case ExprKind::kOp:
      return a == b || DifferInKind(task);
    case ExprKind::kGlobalVar:
      return static_cast<const GlobalVarNode*>(a)->name() ==
                 static_cast<const GlobalVarNode*>(b)->name() ||
             DifferInKind(task);
    case ExprKind::kConstructor:
      return SameConstructor(*static_cast<const ConstructorNode*>(a),
                             *static_cast<const ConstructorNode*>(b)) ||
             DifferInKind(task);
    case ExprKind::kConstant: {
      const Tensor& x = static_cast<const ConstantNode*>(a)->value();
      const Tensor& y = static_cast<const ConstantNode*>(b)->value();
      if (a == b || x == y) return true;
      if (!trace_) return false;
      const std::string other =
          Describe(a) == Describe(b) ? " of other values" : "";
      return Differ(task.step, "", Describe(a), Describe(b) + other);
    }
    case ExprKind::kTupleGetItem: {
      const auto* x = static_cast<const TupleGetItemNode*>(a);
      const auto* y = static_cast<const TupleGetItemNode*>(b);
      if (x->index() != y->index()) {
        return trace_ ? Differ(task.step, "index", absl::StrCat(x->index()),
                               absl::StrCat(y->index()))
                      : false;
      }
      Push(x->tuple().get(), y->tuple().get(), task.step, "tuple");
      return true;
    }
    case ExprKind::kTuple:
      if (static_cast<const TupleNode*>(a)->fields().empty() &&
          static_cast<const TupleNode*>(b)->fields().empty()) {
        return true;
      }
      break;
    default:
      break;
  }

  if (a->kind() == ExprKind::kVar) {
    const auto* x = static_cast<const VarNode*>(a);
    const auto* y = static_cast<const VarNode*>(b);
    if (!IsMatched(a)) {
      // Free in `a`.
      if ((a != b && !map_free_) ||
          !TypesEqual(x->annotation().get(), y->annotation().get(), true)) {
        return DifferInKind(task);
      }
    }
    bool known;
    return Match(a, b, &known) || DifferInKind(task);
  }

  bool known;
  if (!Match(a, b, &known)) {
    return trace_ ? Differ(task.step, "", Describe(a),
                           "shared with the same uses in the other program")
                  : false;
  }
  if (known) return true;

  switch (ExprKindOf(a)) {
    case ExprKind::kCall: {
      const auto* x = static_cast<const CallNode*>(a);
      const auto* y = static_cast<const CallNode*>(b);
      if (x->op_node() != y->op_node()) {
        return trace_ ? Differ(task.step, "op", Describe(x->op().get()),
                               Describe(y->op().get()))
                      : false;
      }
      if (x->num_args() != y->num_args()) {
        return DifferInSize(task.step, "number of arguments",
                            static_cast<size_t>(x->num_args()),
                            static_cast<size_t>(y->num_args()));
      }
      if (!CallAttrsEqual(x, y, task.step)) return false;
      if (x->op_node() == nullptr) {
        const auto p = x->type_args();
        const auto q = y->type_args();
        if (p.size() != q.size()) {
          return DifferInSize(task.step, "number of type arguments", p.size(),
                              q.size());
        }
        for (size_t i = 0; i < p.size(); ++i) {
          if (!TypesEqual(p[i].get(), q[i].get(), map_free_)) {
            return DifferInType(task.step, "type_args", p[i], q[i]);
          }
        }
      }
      PushAll(x->args(), y->args(), task.step, "args");
      if (x->op_node() == nullptr) {
        Push(x->op().get(), y->op().get(), task.step, "op");
      }
      return true;
    }
    case ExprKind::kTuple: {
      const auto x = static_cast<const TupleNode*>(a)->fields();
      const auto y = static_cast<const TupleNode*>(b)->fields();
      if (x.size() != y.size()) {
        return DifferInSize(task.step, "number of fields", x.size(), y.size());
      }
      PushAll(x, y, task.step, "fields");
      return true;
    }
    case ExprKind::kFunction: {
      const auto* x = static_cast<const FunctionNode*>(a);
      const auto* y = static_cast<const FunctionNode*>(b);
      const auto p = x->params();
      const auto q = y->params();
      if (p.size() != q.size()) {
        return DifferInSize(task.step, "number of parameters", p.size(),
                            q.size());
      }
      const auto s = x->type_params();
      const auto t = y->type_params();
      if (s.size() != t.size()) {
        return DifferInSize(task.step, "number of type parameters", s.size(),
                            t.size());
      }
      for (size_t i = 0; i < s.size(); ++i) {
        if (!TypesEqual(s[i].get(), t[i].get(), true)) {
          return DifferInType(task.step, "type_params", s[i], t[i]);
        }
      }
      for (size_t i = 0; i < p.size(); ++i) {
        if (!BinderEqual(p[i], q[i], task.step, "params",
                         static_cast<int>(i))) {
          return false;
        }
      }
      if (!TypesEqual(x->result_type().get(), y->result_type().get(),
                      map_free_)) {
        return DifferInType(task.step, "result_type", x->result_type(),
                            y->result_type());
      }
      if (!DictsEqual(x->attrs(), y->attrs(), task.step)) return false;
      Push(x->body().get(), y->body().get(), task.step, "body");
      return true;
    }
    case ExprKind::kLet: {
      const auto* x = static_cast<const LetNode*>(a);
      const auto* y = static_cast<const LetNode*>(b);
      if (!BinderEqual(x->var(), y->var(), task.step, "var", -1)) return false;
      Push(x->body().get(), y->body().get(), task.step, "body");
      Push(x->value().get(), y->value().get(), task.step, "value");
      return true;
    }
    case ExprKind::kIf: {
      const auto* x = static_cast<const IfNode*>(a);
      const auto* y = static_cast<const IfNode*>(b);
      Push(x->false_branch().get(), y->false_branch().get(), task.step,
           "false_branch");
      Push(x->true_branch().get(), y->true_branch().get(), task.step,
           "true_branch");
      Push(x->cond().get(), y->cond().get(), task.step, "cond");
      return true;
    }
    case ExprKind::kRefCreate:
      Push(static_cast<const RefCreateNode*>(a)->value().get(),
           static_cast<const RefCreateNode*>(b)->value().get(), task.step,
           "value");
      return true;
    case ExprKind::kRefRead:
      Push(static_cast<const RefReadNode*>(a)->ref().get(),
           static_cast<const RefReadNode*>(b)->ref().get(), task.step, "ref");
      return true;
    case ExprKind::kRefWrite: {
      const auto* x = static_cast<const RefWriteNode*>(a);
      const auto* y = static_cast<const RefWriteNode*>(b);
      Push(x->value().get(), y->value().get(), task.step, "value");
      Push(x->ref().get(), y->ref().get(), task.step, "ref");
      return true;
    }
    case ExprKind::kMatch: {
      const auto* x = static_cast<const MatchNode*>(a);
      const auto* y = static_cast<const MatchNode*>(b);
      if (x->complete() != y->complete()) {
        return Differ(task.step, "complete", x->complete() ? "true" : "false",
                      y->complete() ? "true" : "false");
      }
      const size_t size = x->clauses().size();
      if (size != y->clauses().size()) {
        return DifferInSize(task.step, "number of clauses", size,
                            y->clauses().size());
      }
      for (size_t i = 0; i < size; ++i) {
        if (!PatternsEqual(x->clauses()[i].lhs.get(), y->clauses()[i].lhs.get(),
                           task.step, static_cast<int>(i))) {
          return false;
        }
      }
      for (size_t i = size; i-- > 0;) {
        Push(x->clauses()[i].rhs.get(), y->clauses()[i].rhs.get(), task.step,
             "clauses", static_cast<int>(i));
      }
      Push(x->data().get(), y->data().get(), task.step, "data");
      return true;
    }
    default:
      return DifferInKind(task);
  }
}

bool Comparator::DimsEqual(const Dim& a, const Dim& b, bool map_free) {
  if (!a.is_symbolic() || !b.is_symbolic()) return a == b;
  std::vector<std::pair<const Dim*, const Dim*>> work = {{&a, &b}};
  while (!work.empty()) {
    const auto [x, y] = work.back();
    work.pop_back();
    if (!x->is_symbolic() || !y->is_symbolic()) {
      if (*x != *y) return false;
      continue;
    }
    const DimExprNode* p = x->expr();
    const DimExprNode* q = y->expr();
    if (p->op() != q->op() || p->dtype() != q->dtype()) return false;
    if (p->is_var()) {
      if (!IsMatched(p) && p != q && !map_free) return false;
      bool known;
      if (!Match(p, q, &known)) return false;
    } else {
      work.push_back({&p->rhs(), &q->rhs()});
      work.push_back({&p->lhs(), &q->lhs()});
    }
  }
  return true;
}

bool Comparator::TypesEqual(const TypeNode* a, const TypeNode* b,
                            bool map_free) {
  struct Pair {
    const TypeNode* a;
    const TypeNode* b;
    bool map_free;
  };
  // Parts are compared in the order in which they are written: what variables
  // match depends on it.
  absl::InlinedVector<Pair, 8> work = {{a, b, map_free}};
  const auto push_all = [&work](absl::Span<const Type> x,
                                absl::Span<const Type> y, bool map) {
    if (x.size() != y.size()) return false;
    for (size_t i = x.size(); i-- > 0;) {
      work.push_back({x[i].get(), y[i].get(), map});
    }
    return true;
  };
  while (!work.empty()) {
    const auto [x, y, map] = work.back();
    work.pop_back();
    if (x == nullptr || y == nullptr) {
      if (x != y) return false;
      continue;
    }
    if (x->kind() != y->kind()) return false;
    switch (TypeKindOf(x)) {
      case TypeKind::kTensorType: {
        const auto* p = static_cast<const TensorTypeNode*>(x);
        const auto* q = static_cast<const TensorTypeNode*>(y);
        if (p->dtype() != q->dtype() || p->rank() != q->rank()) return false;
        for (int i = 0; i < p->rank(); ++i) {
          if (!DimsEqual(p->dim(i), q->dim(i), map)) return false;
        }
        continue;
      }
      case TypeKind::kTupleType:
        if (!push_all(static_cast<const TupleTypeNode*>(x)->fields(),
                      static_cast<const TupleTypeNode*>(y)->fields(), map)) {
          return false;
        }
        continue;
      case TypeKind::kFuncType: {
        const auto* p = static_cast<const FuncTypeNode*>(x);
        const auto* q = static_cast<const FuncTypeNode*>(y);
        work.push_back({p->result().get(), q->result().get(), map});
        if (!push_all(p->args(), q->args(), map)) return false;
        if (p->type_params().size() != q->type_params().size()) return false;
        for (size_t i = p->type_params().size(); i-- > 0;) {
          work.push_back(
              {p->type_params()[i].get(), q->type_params()[i].get(), true});
        }
        continue;
      }
      case TypeKind::kTypeCall: {
        const auto* p = static_cast<const TypeCallNode*>(x);
        const auto* q = static_cast<const TypeCallNode*>(y);
        if (!push_all(p->args(), q->args(), map)) return false;
        work.push_back({p->func().get(), q->func().get(), map});
        continue;
      }
      case TypeKind::kRefType:
        work.push_back({static_cast<const RefTypeNode*>(x)->value().get(),
                        static_cast<const RefTypeNode*>(y)->value().get(),
                        map});
        continue;
      case TypeKind::kGlobalTypeVar:
        if (static_cast<const GlobalTypeVarNode*>(x)->name() !=
            static_cast<const GlobalTypeVarNode*>(y)->name()) {
          return false;
        }
        continue;
      case TypeKind::kTypeVar:
        if (static_cast<const TypeVarNode*>(x)->var_kind() !=
            static_cast<const TypeVarNode*>(y)->var_kind()) {
          return false;
        }
        break;
      case TypeKind::kIncompleteType:
        if (static_cast<const IncompleteTypeNode*>(x)->var_kind() !=
            static_cast<const IncompleteTypeNode*>(y)->var_kind()) {
          return false;
        }
        break;
      default:
        return false;
    }
    if (!IsMatched(x) && x != y && !map) return false;
    bool known;
    if (!Match(x, y, &known)) return false;
  }
  return true;
}

bool Comparator::ValuesEqual(const AttrValue& a, const AttrValue& b) {
  if (const Dim* x = a.As<Dim>()) {
    const Dim* y = b.As<Dim>();
    return y != nullptr && DimsEqual(*x, *y, map_free_);
  }
  const AttrList* p = a.As<AttrList>();
  const AttrList* q = b.As<AttrList>();
  if (p != nullptr && q != nullptr) {
    if (p->size() != q->size()) return false;
    for (size_t i = 0; i < p->size(); ++i) {
      if (!ValuesEqual((*p)[i], (*q)[i])) return false;
    }
    return true;
  }
  return a == b;
}

bool Comparator::CallAttrsEqual(const CallNode* a, const CallNode* b,
                                int step) {
  const Attrs& x = a->attrs();
  const Attrs& y = b->attrs();
  if (AttrsEqual(x, y)) return true;
  if (!x.defined() || !y.defined()) {
    const OpNode* op = a->op_node();
    if (AreDefaults(x, op) && AreDefaults(y, op)) return true;
    return Differ(step, "attrs", x.defined() ? x->type().type_key() : "none",
                  y.defined() ? y->type().type_key() : "none");
  }
  if (&x->type() != &y->type()) {
    return Differ(step, "attrs", x->type().type_key(), y->type().type_key());
  }
  for (const std::unique_ptr<Field>& field : x->fields().fields()) {
    if (field->Equal(x->object(), y->object())) continue;
    const AttrValue p = field->Get(x->object());
    const AttrValue q = field->Get(y->object());
    if (!ValuesEqual(p, q)) {
      return trace_ ? Differ(step, absl::StrCat("attrs.", field->name()),
                             p.ToString(), q.ToString())
                    : false;
    }
  }
  return true;
}

bool Comparator::DictsEqual(const DictAttrs& a, const DictAttrs& b, int step) {
  if (DictAttrsEqual(a, b)) return true;
  for (const auto& [name, value] : a.entries()) {
    const AttrValue* other = b.Find(name);
    if (other == nullptr || !ValuesEqual(value, *other)) {
      return trace_
                 ? Differ(step, absl::StrCat("attrs.", name), value.ToString(),
                          other == nullptr ? "set" : other->ToString())
                 : false;
    }
  }
  for (const auto& entry : b.entries()) {
    if (a.Find(entry.first) == nullptr) {
      return trace_ ? Differ(step, absl::StrCat("attrs.", entry.first), "none",
                             entry.second.ToString())
                    : false;
    }
  }
  return true;
}

// Compares two modules; describes a difference in `*difference` if not null.
bool ModulesEqual(const IRModule& a, const IRModule& b,
                  const StructuralEqualOptions& options,
                  std::string* difference) {
  if (a.SameAs(b)) return true;
  const auto only_in = [&](const char* which, absl::string_view name) {
    if (difference != nullptr) {
      *difference = absl::StrCat(name, ": only in the ", which, " module");
    }
    return false;
  };
  for (const TypeData& type : b.types<TypeData>()) {
    if (!a.FindType(type->name()).defined()) {
      return only_in("second", type->name());
    }
  }
  for (const TypeData& type : a.types<TypeData>()) {
    const TypeData other = b.FindType<TypeData>(type->name());
    if (!other.defined()) return only_in("first", type->name());
    if (!Comparator(options, false).TypeDataEqual(type.get(), other.get())) {
      if (difference != nullptr) {
        *difference =
            absl::StrCat(type->name(), ": another definition of the type");
      }
      return false;
    }
  }
  for (const auto& definition : b.functions<Function>()) {
    if (a.Find(definition.var->name()).defined()) continue;
    return only_in("second", absl::StrCat("@", definition.var->name()));
  }
  for (const auto& definition : a.functions<Function>()) {
    const Function other = b.Find<Function>(definition.var->name());
    if (definition.function == other) continue;
    if (!other.defined()) {
      return only_in("first", absl::StrCat("@", definition.var->name()));
    }
    Comparator comparator(options, difference != nullptr);
    if (!comparator.Compare(definition.function.get(), other.get())) {
      if (difference != nullptr) {
        *difference = absl::StrCat("@", definition.var->name(), ".",
                                   comparator.TakeDifference());
      }
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------
// Hash.

// Hashes one program. Variables hash as the order in which they are met, and
// each node that can be shared takes a number when it is done, so that sharing
// shows.
class Hasher {
 public:
  uint64_t HashExpr(const ExprNode* root);
  uint64_t HashType(const TypeNode* type);
  // True if a variable was met that nothing binds.
  bool open() const { return open_; }

 private:
  struct Frame {
    const ExprNode* node;
    size_t values_base;
    uint32_t child;
  };

  // Computes or finds the hash of `node` and pushes it; else pushes a frame.
  void Arrive(const Expr& child);
  const Expr* Child(const ExprNode* node, uint32_t i) const;
  void Enter(const ExprNode* node);
  uint64_t Finish(const ExprNode* node, absl::Span<const uint64_t> children);
  uint64_t HashVar(const VarNode* var, bool binds);
  uint64_t HashDim(const Dim& dim);
  uint64_t HashValue(const AttrValue& value);
  uint64_t HashCallAttrs(const CallNode* call);
  uint64_t HashDict(const DictAttrs& attrs);
  uint64_t Number(const Node* node) {
    const auto [number, is_new] = numbers_.TryEmplace(node);
    if (is_new) *number = numbers_.size() - 1;
    return *number;
  }

  std::vector<Frame> frames_;
  std::vector<uint64_t> values_;
  NodeMap<uint64_t> memo_;
  NodeMap<uint64_t> numbers_;
  uint64_t finished_ = 0;
  bool open_ = false;
  bool type_open_ = false;
};

std::atomic<uint64_t>& MemoOf(const Node* node) {
  return internal::NodeAccess::Memo(node);
}

uint64_t HashConstant(const ConstantNode* constant) {
  std::atomic<uint64_t>& memo = MemoOf(constant);
  uint64_t hash = memo.load(std::memory_order_relaxed);
  if (hash == 0) {
    StableHash h(static_cast<uint64_t>(ExprKind::kConstant));
    h.Add(constant->value().Hash());
    hash = h.value() | 1;
    memo.store(hash, std::memory_order_relaxed);
  }
  return hash;
}

uint64_t Hasher::HashDim(const Dim& dim) {
  if (dim.is_any()) return 1;
  if (dim.is_const()) {
    return static_cast<uint64_t>(dim.value()) * 2 + 2;
  }
  type_open_ = true;
  StableHash hash(3);
  std::vector<const Dim*> work = {&dim};
  while (!work.empty()) {
    const Dim* d = work.back();
    work.pop_back();
    if (!d->is_symbolic()) {
      hash.Add(HashDim(*d));
      continue;
    }
    const DimExprNode* node = d->expr();
    hash.Add(static_cast<uint64_t>(node->op()));
    hash.AddDType(node->dtype());
    if (node->is_var()) {
      hash.Add(Number(node));
    } else {
      work.push_back(&node->rhs());
      work.push_back(&node->lhs());
    }
  }
  return hash.value();
}

uint64_t Hasher::HashType(const TypeNode* type) {
  if (type == nullptr) return 0;
  std::atomic<uint64_t>& memo = MemoOf(type);
  if (const uint64_t known = memo.load(std::memory_order_relaxed)) return known;
  // Equal types have equal parts in the same order, so one running hash over
  // a pre-order walk will do.
  const bool outer_open = std::exchange(type_open_, false);
  StableHash hash(17);
  std::vector<const TypeNode*> work = {type};
  const auto push_all = [&work, &hash](absl::Span<const Type> types) {
    hash.Add(types.size());
    for (size_t i = types.size(); i-- > 0;) work.push_back(types[i].get());
  };
  while (!work.empty()) {
    const TypeNode* node = work.back();
    work.pop_back();
    if (node == nullptr) {
      hash.Add(0);
      continue;
    }
    hash.Add(static_cast<uint64_t>(node->kind().id()) + 1);
    switch (TypeKindOf(node)) {
      case TypeKind::kTensorType: {
        const auto* tensor = static_cast<const TensorTypeNode*>(node);
        hash.AddDType(tensor->dtype());
        hash.Add(static_cast<uint64_t>(tensor->rank()));
        for (const Dim& dim : tensor->shape()) hash.Add(HashDim(dim));
        break;
      }
      case TypeKind::kTupleType:
        push_all(static_cast<const TupleTypeNode*>(node)->fields());
        break;
      case TypeKind::kFuncType: {
        const auto* func = static_cast<const FuncTypeNode*>(node);
        hash.Add(func->type_params().size());
        for (const TypeVar& param : func->type_params()) {
          type_open_ = true;
          hash.Add(static_cast<uint64_t>(param->var_kind()));
          hash.Add(Number(param.get()));
        }
        work.push_back(func->result().get());
        push_all(func->args());
        break;
      }
      case TypeKind::kTypeVar:
        type_open_ = true;
        hash.Add(static_cast<uint64_t>(
            static_cast<const TypeVarNode*>(node)->var_kind()));
        hash.Add(Number(node));
        break;
      case TypeKind::kGlobalTypeVar:
        hash.AddString(static_cast<const GlobalTypeVarNode*>(node)->name());
        break;
      case TypeKind::kTypeCall:
        push_all(static_cast<const TypeCallNode*>(node)->args());
        work.push_back(static_cast<const TypeCallNode*>(node)->func().get());
        break;
      case TypeKind::kRefType:
        work.push_back(static_cast<const RefTypeNode*>(node)->value().get());
        break;
      case TypeKind::kIncompleteType:
        type_open_ = true;
        hash.Add(static_cast<uint64_t>(
            static_cast<const IncompleteTypeNode*>(node)->var_kind()));
        break;
      default:
        break;
    }
  }
  const uint64_t result = hash.value() | 1;
  // Variables hash by their order in the program, so such types have no hash
  // of their own.
  if (!type_open_) memo.store(result, std::memory_order_relaxed);
  type_open_ |= outer_open;
  return result;
}

uint64_t Hasher::HashVar(const VarNode* var, bool binds) {
  const auto [number, is_new] = numbers_.TryEmplace(var);
  if (is_new) *number = numbers_.size() - 1;
  if (is_new && !binds) open_ = true;
  StableHash hash(static_cast<uint64_t>(ExprKind::kVar));
  hash.Add(*number);
  hash.Add(HashType(var->annotation().get()));
  return hash.value();
}

uint64_t Hasher::HashValue(const AttrValue& value) {
  if (const Dim* dim = value.As<Dim>()) return HashDim(*dim);
  if (const AttrList* list = value.As<AttrList>()) {
    StableHash hash(list->size());
    for (const AttrValue& item : *list) hash.Add(HashValue(item));
    return hash.value();
  }
  return value.Hash();
}

uint64_t Hasher::HashCallAttrs(const CallNode* call) {
  const Attrs& attrs = call->attrs();
  if (!attrs.defined() || AreDefaults(attrs, call->op_node())) return 0;
  StableHash hash(5);
  hash.AddString(attrs->type().type_key());
  for (const std::unique_ptr<Field>& field : attrs->fields().fields()) {
    if (attrs->fields().IsDefault(*field, attrs->object())) {
      hash.Add(0);
    } else {
      hash.Add(HashValue(field->Get(attrs->object())));
    }
  }
  return hash.value();
}

uint64_t Hasher::HashDict(const DictAttrs& attrs) {
  // A sum, for the order of entries does not matter.
  uint64_t sum = 0;
  for (const auto& [name, value] : attrs.entries()) {
    StableHash hash(6);
    hash.AddString(name);
    hash.Add(HashValue(value));
    sum += hash.value();
  }
  return sum;
}

const Expr* Hasher::Child(const ExprNode* node, uint32_t i) const {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      if (i == 0) return &call->op();
      return i <= static_cast<uint32_t>(call->num_args()) ? &call->args()[i - 1]
                                                          : nullptr;
    }
    case ExprKind::kTuple: {
      const auto fields = static_cast<const TupleNode*>(node)->fields();
      return i < fields.size() ? &fields[i] : nullptr;
    }
    case ExprKind::kTupleGetItem:
      return i == 0 ? &static_cast<const TupleGetItemNode*>(node)->tuple()
                    : nullptr;
    case ExprKind::kFunction:
      return i == 0 ? &static_cast<const FunctionNode*>(node)->body() : nullptr;
    case ExprKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      return i == 0 ? &let->value() : i == 1 ? &let->body() : nullptr;
    }
    case ExprKind::kIf: {
      const auto* branch = static_cast<const IfNode*>(node);
      return i == 0   ? &branch->cond()
             : i == 1 ? &branch->true_branch()
             : i == 2 ? &branch->false_branch()
                      : nullptr;
    }
    case ExprKind::kRefCreate:
      return i == 0 ? &static_cast<const RefCreateNode*>(node)->value()
                    : nullptr;
    case ExprKind::kRefRead:
      return i == 0 ? &static_cast<const RefReadNode*>(node)->ref() : nullptr;
    case ExprKind::kRefWrite: {
      const auto* write = static_cast<const RefWriteNode*>(node);
      return i == 0 ? &write->ref() : i == 1 ? &write->value() : nullptr;
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      if (i == 0) return &match->data();
      return i <= match->clauses().size() ? &match->clauses()[i - 1].rhs
                                          : nullptr;
    }
    default:
      return nullptr;
  }
}

// What comes before a node's children: the variables that it binds.
void Hasher::Enter(const ExprNode* node) {
  frames_.push_back({node, values_.size(), 0});
  if (node->kind() == ExprKind::kLet) {
    values_.push_back(
        HashVar(static_cast<const LetNode*>(node)->var().get(), true));
  } else if (node->kind() == ExprKind::kFunction) {
    const auto* function = static_cast<const FunctionNode*>(node);
    StableHash hash(function->params().size());
    hash.Add(function->type_params().size());
    for (const TypeVar& param : function->type_params()) {
      hash.Add(HashType(param.get()));
    }
    for (const Var& param : function->params()) {
      hash.Add(HashVar(param.get(), true));
    }
    hash.Add(HashType(function->result_type().get()));
    hash.Add(HashDict(function->attrs()));
    values_.push_back(hash.value());
  } else if (node->kind() == ExprKind::kMatch) {
    const auto* match = static_cast<const MatchNode*>(node);
    StableHash hash(match->complete() ? 1 : 0);
    for (const Clause& clause : match->clauses()) {
      ForEachPattern(clause.lhs.get(), [&](const PatternNode* pattern) {
        hash.Add(static_cast<uint64_t>(pattern->form()));
        hash.Add(pattern->patterns().size());
        if (pattern->var().defined()) {
          hash.Add(HashVar(pattern->var().get(), true));
        }
        if (pattern->constructor().defined()) {
          hash.AddString(pattern->constructor()->name());
        }
      });
    }
    values_.push_back(hash.value());
  }
}

uint64_t Hasher::Finish(const ExprNode* node,
                        absl::Span<const uint64_t> children) {
  StableHash hash(static_cast<uint64_t>(node->kind().id()));
  hash.Add(children.size());
  for (uint64_t child : children) hash.Add(child);
  switch (ExprKindOf(node)) {
    case ExprKind::kTupleGetItem:
      hash.Add(static_cast<uint64_t>(
          static_cast<const TupleGetItemNode*>(node)->index()));
      return hash.value();
    case ExprKind::kTuple:
      if (children.empty()) return hash.value();
      break;
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      hash.Add(HashCallAttrs(call));
      if (call->op_node() == nullptr) {
        for (const Type& type : call->type_args()) {
          hash.Add(HashType(type.get()));
        }
      }
      break;
    }
    default:
      break;
  }
  hash.Add(finished_++);
  return hash.value();
}

void Hasher::Arrive(const Expr& child) {
  const ExprNode* node = child.get();
  if (node == nullptr) {
    values_.push_back(0);
    return;
  }
  switch (ExprKindOf(node)) {
    case ExprKind::kOp: {
      std::atomic<uint64_t>& memo = MemoOf(node);
      uint64_t hash = memo.load(std::memory_order_relaxed);
      if (hash == 0) {
        StableHash h(static_cast<uint64_t>(ExprKind::kOp));
        h.AddString(static_cast<const OpNode*>(node)->name());
        hash = h.value() | 1;
        memo.store(hash, std::memory_order_relaxed);
      }
      values_.push_back(hash);
      return;
    }
    case ExprKind::kGlobalVar: {
      StableHash hash(static_cast<uint64_t>(ExprKind::kGlobalVar));
      hash.AddString(static_cast<const GlobalVarNode*>(node)->name());
      values_.push_back(hash.value());
      return;
    }
    case ExprKind::kConstructor: {
      StableHash hash(static_cast<uint64_t>(ExprKind::kConstructor));
      hash.AddString(static_cast<const ConstructorNode*>(node)->name());
      values_.push_back(hash.value());
      return;
    }
    case ExprKind::kVar:
      values_.push_back(HashVar(static_cast<const VarNode*>(node), false));
      return;
    case ExprKind::kConstant:
      values_.push_back(HashConstant(static_cast<const ConstantNode*>(node)));
      return;
    default:
      break;
  }
  if (!node->unique()) {
    if (const uint64_t* hash = memo_.Find(node); hash != nullptr) {
      values_.push_back(*hash);
      return;
    }
  }
  Enter(node);
}

uint64_t Hasher::HashExpr(const ExprNode* root) {
  const Expr handle(root);
  Arrive(handle);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (const Expr* child = Child(frame.node, frame.child)) {
      ++frame.child;
      Arrive(*child);
      continue;
    }
    const ExprNode* node = frame.node;
    const size_t base = frame.values_base;
    frames_.pop_back();
    const uint64_t hash =
        Finish(node, absl::MakeConstSpan(values_).subspan(base));
    values_.resize(base);
    values_.push_back(hash);
    if (!node->unique()) memo_[node] = hash;
  }
  return values_.back();
}

}  // namespace

bool StructuralEqual(const Expr& a, const Expr& b,
                     const StructuralEqualOptions& options) {
  if (a == b) return true;
  return Comparator(options, false).Compare(a.get(), b.get());
}

bool StructuralEqual(const Type& a, const Type& b,
                     const StructuralEqualOptions& options) {
  if (a == b) return true;
  return Comparator(options, false).CompareTypes(a, b);
}

bool StructuralEqual(const IRModule& a, const IRModule& b,
                     const StructuralEqualOptions& options) {
  return ModulesEqual(a, b, options, nullptr);
}

std::optional<std::string> FirstDifference(
    const Expr& a, const Expr& b, const StructuralEqualOptions& options) {
  if (a == b) return std::nullopt;
  Comparator comparator(options, true);
  if (comparator.Compare(a.get(), b.get())) return std::nullopt;
  return comparator.TakeDifference();
}

std::optional<std::string> FirstDifference(
    const IRModule& a, const IRModule& b,
    const StructuralEqualOptions& options) {
  std::string difference;
  if (ModulesEqual(a, b, options, &difference)) return std::nullopt;
  return difference;
}

uint64_t StructuralHash(const Expr& expr) {
  if (!expr.Is<FunctionNode>()) return Hasher().HashExpr(expr.get());
  std::atomic<uint64_t>& memo = MemoOf(expr.get());
  if (const uint64_t known = memo.load(std::memory_order_relaxed)) return known;
  Hasher hasher;
  const uint64_t hash = hasher.HashExpr(expr.get()) | 1;
  if (!hasher.open()) memo.store(hash, std::memory_order_relaxed);
  return hash;
}

uint64_t StructuralHash(const Type& type) {
  return Hasher().HashType(type.get());
}

uint64_t StructuralHash(const IRModule& module) {
  // A sum, for the order of definitions does not matter.
  uint64_t sum = static_cast<uint64_t>(module.size());
  for (const TypeData& type : module.types<TypeData>()) {
    StableHash hash(8);
    hash.AddString(type->name());
    hash.Add(type->type_params().size());
    for (const Constructor& constructor : type->constructors()) {
      hash.AddString(constructor->name());
      hash.Add(static_cast<uint64_t>(constructor->num_inputs()));
    }
    sum += hash.value();
  }
  for (const auto& definition : module.functions<Function>()) {
    StableHash hash(7);
    hash.AddString(definition.var->name());
    hash.Add(StructuralHash(definition.function));
    sum += hash.value();
  }
  return sum;
}

}  // namespace baton
