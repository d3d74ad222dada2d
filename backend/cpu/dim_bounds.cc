#include "baton/backend/cpu/dim_bounds.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/dim_math.h"

namespace baton {
namespace {

using relay::Function;
using relay::Var;

// Types and dimensions nested deeper stay as they are, as in inference.
constexpr int kMaxDepth = 1000;

class DimSubstituter final : public relay::ExprMutator {
 public:
  explicit DimSubstituter(const FlatHashMap<const DimExprNode*, Dim>& values)
      : known_(values) {}

 private:
  Dim Substituted(const Dim& dim) {
    if (!dim.is_symbolic() || depth_ > kMaxDepth) return dim;
    const DimExprNode* const expr = dim.expr();
    if (const auto found = known_.find(expr); found != known_.end()) {
      return found->second;
    }
    Dim result = dim;
    if (!expr->is_var()) {
      ++depth_;
      const Dim lhs = Substituted(expr->lhs());
      const Dim rhs = Substituted(expr->rhs());
      --depth_;
      if (lhs != expr->lhs() || rhs != expr->rhs()) {
        result = Computed(expr->op(), lhs, rhs);
      }
    }
    known_.emplace(expr, result);
    return result;
  }

  static Dim Computed(DimExprNode::Op op, const Dim& lhs, const Dim& rhs) {
    using relay::operator+;
    using relay::operator-;
    using relay::operator*;
    switch (op) {
      case DimExprNode::Op::kAdd:
        return lhs + rhs;
      case DimExprNode::Op::kSub:
        return lhs - rhs;
      case DimExprNode::Op::kMul:
        return lhs * rhs;
      case DimExprNode::Op::kFloorDiv:
        return relay::FloorDiv(lhs, rhs);
      case DimExprNode::Op::kVar:
      case DimExprNode::Op::kSizeVar:
        break;
    }
    return Dim::Any();
  }

  // True if one of `types` changed.
  bool SubstituteAll(absl::Span<const Type> types, std::vector<Type>& result) {
    bool changed = false;
    for (const Type& type : types) {
      result.push_back(Substituted(type));
      changed |= result.back().get() != type.get();
    }
    return changed;
  }

  Type Substituted(const Type& type) {
    if (!type.defined() || depth_ > kMaxDepth) return type;
    ++depth_;
    Type result = SubstitutedParts(type);
    --depth_;
    return result;
  }

  Type SubstitutedParts(const Type& type) {
    if (const auto* tensor = type.As<TensorTypeNode>(); tensor != nullptr) {
      Dims dims;
      bool changed = false;
      for (const Dim& dim : tensor->shape()) {
        dims.push_back(Substituted(dim));
        changed |= dims.back() != dim;
      }
      return changed ? Type(TensorType(std::move(dims), tensor->dtype()))
                     : type;
    }
    std::vector<Type> parts;
    if (const auto* tuple = type.As<TupleTypeNode>(); tuple != nullptr) {
      return SubstituteAll(tuple->fields(), parts)
                 ? Type(TupleType(std::move(parts)))
                 : type;
    }
    if (const auto* call = type.As<TypeCallNode>(); call != nullptr) {
      return SubstituteAll(call->args(), parts)
                 ? Type(TypeCall(call->func(), std::move(parts)))
                 : type;
    }
    if (const auto* ref = type.As<RefTypeNode>(); ref != nullptr) {
      Type value = Substituted(ref->value());
      return value.get() != ref->value().get() ? Type(RefType(std::move(value)))
                                               : type;
    }
    if (const auto* function = type.As<FuncTypeNode>(); function != nullptr) {
      bool changed = SubstituteAll(function->args(), parts);
      Type result = Substituted(function->result());
      changed |= result.get() != function->result().get();
      if (!changed) return type;
      return FuncType(
          std::move(parts), std::move(result),
          {function->type_params().begin(), function->type_params().end()});
    }
    return type;
  }

  Expr VisitVar(const Var& var) override {
    const auto [entry, is_new] = vars_.try_emplace(var.get(), var);
    if (is_new) {
      Type annotation = Substituted(var->annotation());
      if (annotation.get() != var->annotation().get() ||
          Substituted(var->type()).get() != var->type().get()) {
        entry->second = Var(var->name(), std::move(annotation), var->span());
      }
    }
    return entry->second;
  }

  Expr VisitFunction(const relay::FunctionNode* /*original*/,
                     Function function) override {
    Type result = Substituted(function->result_type());
    if (result.get() == function->result_type().get()) return function;
    return Function(
        {function->params().begin(), function->params().end()},
        function->body(), std::move(result),
        {function->type_params().begin(), function->type_params().end()},
        function->attrs(), Type(), function->span());
  }

  Expr VisitCall(const relay::CallNode* /*original*/,
                 relay::Call call) override {
    std::vector<Type> type_args;
    bool changed = SubstituteAll(call->type_args(), type_args);
    Attrs attrs = call->attrs();
    if (attrs.defined()) {
      AttrMap values = attrs->fields().NonDefault(attrs->object());
      bool has_other = false;
      for (auto& [name, value] : values) has_other |= Substitute(value);
      if (has_other) {
        absl::StatusOr<Attrs> made = attrs->type().FromValues(values);
        if (!made.ok()) return Fail(made.status());
        attrs = *std::move(made);
        changed = true;
      }
    }
    if (!changed) return call;
    return relay::Call(call->op(), call->args(), std::move(attrs),
                       std::move(type_args), Type(), call->span());
  }

  // True if a dimension in `value` changed.
  bool Substitute(AttrValue& value) {
    if (const auto* list = value.As<AttrList>(); list != nullptr) {
      AttrList copy = *list;
      bool changed = false;
      for (AttrValue& element : copy) changed |= Substitute(element);
      if (changed) value = AttrValue(std::move(copy));
      return changed;
    }
    const auto* foreign = value.As<ForeignValue>();
    const Dim* const dim = foreign == nullptr ? nullptr : foreign->As<Dim>();
    if (dim == nullptr) return false;
    const Dim other = Substituted(*dim);
    if (other == *dim) return false;
    value = AttrTraits<Dim>::ToValue(other);
    return true;
  }

  FlatHashMap<const DimExprNode*, Dim> known_;
  int depth_ = 0;
  // Owns the keys, too: an address is not used again while it is here.
  FlatHashMap<const relay::VarNode*, Var> vars_;
};

}  // namespace

std::string DimName(const Dim& dim) {
  return dim.is_symbolic() && dim.expr()->is_var()
             ? std::string(dim.expr()->name())
             : "";
}

absl::StatusOr<IRModule> SubstituteDims(
    const IRModule& module,
    const FlatHashMap<const DimExprNode*, Dim>& values) {
  IRModule result = module;
  for (const auto& [name, function] : module.functions<Function>()) {
    BATON_ASSIGN_OR_RETURN(Function bound,
                           DimSubstituter(values).MutateFunction(function));
    if (bound.get() != function.get()) result.Set(name, std::move(bound));
  }
  return result;
}

absl::StatusOr<IRModule> BindDims(const IRModule& module,
                                  const std::string& function,
                                  const std::vector<DimBound>& bounds,
                                  const std::vector<int64_t>& sizes) {
  BATON_ASSIGN_OR_RETURN(const Function main,
                         module.Lookup<Function>(function));
  FlatHashMap<const DimExprNode*, Dim> values;
  for (const Var& param : main->params()) {
    const TensorTypeNode* type = param->tensor_type();
    if (type == nullptr) continue;
    for (const Dim& dim : type->shape()) {
      const std::string name = DimName(dim);
      for (size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].name == name) values.emplace(dim.expr(), sizes[i]);
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(IRModule result, SubstituteDims(module, values));
  // The declared type of the result may follow from the shapes.
  BATON_ASSIGN_OR_RETURN(const Function bound,
                         result.Lookup<Function>(function));
  result.Set(
      function,
      Function({bound->params().begin(), bound->params().end()}, bound->body(),
               Type(),
               {bound->type_params().begin(), bound->type_params().end()},
               bound->attrs()));
  return relay::InferTypes(result);
}

absl::Status CheckDimBounds(absl::Span<const DimBound> bounds) {
  for (size_t i = 0; i < bounds.size(); ++i) {
    const DimBound& bound = bounds[i];
    if (bound.least < 0 || bound.least > bound.most || bound.most > Dim::kMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the bounds of dimension ", bound.name, " are ", bound.least, "..",
          bound.most, ": the least size must be from 0 to the greatest, and ",
          "that at most ", Dim::kMax));
    }
    for (const DimBound& other : bounds.subspan(0, i)) {
      if (other.name == bound.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension ", bound.name, " has two bounds"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DimBound>> ParseDimBounds(absl::string_view text) {
  std::vector<DimBound> bounds;
  for (const absl::string_view pair :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const size_t equals = pair.rfind('=');
    DimBound bound;
    bool is_valid = equals != absl::string_view::npos && equals > 0;
    if (is_valid) {
      bound.name = std::string(pair.substr(0, equals));
      const absl::string_view value = pair.substr(equals + 1);
      const size_t dots = value.find("..");
      is_valid =
          dots == absl::string_view::npos
              ? absl::SimpleAtoi(value, &bound.least)
              : absl::SimpleAtoi(value.substr(0, dots), &bound.least) &&
                    absl::SimpleAtoi(value.substr(dots + 2), &bound.most);
      if (dots == absl::string_view::npos) bound.most = bound.least;
    }
    if (!is_valid) {
      return absl::InvalidArgumentError(absl::StrCat(
          "expected NAME=N or NAME=LEAST..MOST, as in batch=1..64, found `",
          pair, "`"));
    }
    bounds.push_back(std::move(bound));
  }
  BATON_RETURN_IF_ERROR(CheckDimBounds(bounds));
  return bounds;
}

}  // namespace baton
