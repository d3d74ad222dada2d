// Calls of `T.` functions that make a statement around a body, in scripts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_parser.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

struct ScriptParser::ScopeCall {
  const Value& form;
  const Token* name;  // of what is defined; null for none
  bool concise;
  int64_t begin;     // of the statement
  std::string text;  // the name, or "v"
  Span span;
  std::vector<const Value*> args = {};  // by Bind()
};

const ScriptParser::ScopeRow ScriptParser::kScopes[] = {
    {"allocate", &ScriptParser::ReadAllocate},
    {"allocate_const", &ScriptParser::ReadAllocateConst},
    {"Assert", &ScriptParser::ReadAssert},
    {"attr", &ScriptParser::ReadAttr},
    {"decl_buffer", &ScriptParser::ReadDeclBuffer},
    {"launch_thread", &ScriptParser::ReadLaunchThread},
    {"LetStmt", &ScriptParser::ReadLetStmt},
    {"realize", &ScriptParser::ReadRealize},
};

bool ScriptParser::ScopeForm(const Value& form, const Token* name, bool in_with,
                             int64_t begin) {
  const auto* const row = std::find_if(
      std::begin(kScopes), std::end(kScopes),
      [&](const ScopeRow& scope) { return scope.name == form.text; });
  if (row == std::end(kScopes)) {
    return Fail(form, absl::StrCat("T.", form.text, " is not allowed here"));
  }
  ScopeCall call{.form = form,
                 .name = name,
                 .concise = !in_with,
                 .begin = begin,
                 .text = name == nullptr ? "v" : std::string(TextOf(*name)),
                 .span = name == nullptr
                             ? SpanFrom(begin)
                             : context_.SpanOf(name->begin, name->end)};
  return (this->*row->read)(call);
}

ScriptParser::Scope& ScriptParser::OpenBody(const ScopeCall& call) {
  return Open(Scope::kBody, call.concise, call.begin);
}

void ScriptParser::DefineResult(const ScopeCall& call, const PrimExpr& e) {
  if (call.name == nullptr) return;
  DefineName(call.text, ExprValue(e, call.name->begin, call.name->end));
}

bool ScriptParser::ReadAllocate(ScopeCall& call) {
  std::vector<PrimExpr> extents;
  DType dtype;
  std::string scope = "global";
  PrimExpr condition = IntImm::Bool(true);
  Dict annotations;
  if (!Bind(call.form,
            {"extents", "dtype", "scope", "condition", "annotations"}, 2,
            &call.args) ||
      !ToExprList(*call.args[0], &extents) || !ToDType(*call.args[1], &dtype)) {
    return false;
  }
  if (call.args[2] != nullptr && !ToText(*call.args[2], &scope)) return false;
  if (call.args[3] != nullptr && !ToCondition(*call.args[3], &condition))
    return false;
  if (call.args[4] != nullptr && !ToDict(*call.args[4], &annotations))
    return false;
  Var var = Var::Pointer(call.text, dtype, std::move(scope), call.span);
  OpenBody(call).make = [var, dtype, extents, condition, annotations](
                            Stmt body, const Span& s) {
    return Allocate(var, dtype, extents, condition, annotations,
                    std::move(body), s);
  };
  DefineResult(call, var);
  return true;
}

bool ScriptParser::ReadAllocateConst(ScopeCall& call) {
  DType dtype;
  std::vector<PrimExpr> extents;
  Dict annotations;
  if (!Bind(call.form, {"data", "dtype", "extents", "annotations"}, 3,
            &call.args) ||
      !ToDType(*call.args[1], &dtype) || !ToExprList(*call.args[2], &extents)) {
    return false;
  }
  if (call.args[3] != nullptr && !ToDict(*call.args[3], &annotations))
    return false;
  if (!dtype.IsStorable()) {
    return Fail(*call.args[1],
                absl::StrCat("no constant has the type ", dtype.ToString()));
  }
  const Values& items = call.args[0]->items();
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (const PrimExpr& extent : extents) {
    const auto* imm = extent.As<IntImmNode>();
    if (imm == nullptr || imm->value() < 0 ||
        __builtin_mul_overflow(elements, imm->value(), &elements)) {
      return Fail(*call.args[2], "the extents of a constant are numbers");
    }
    shape.push_back(imm->value());
  }
  if (elements != static_cast<int64_t>(items.size())) {
    // The reference prints the first values of a long constant only.
    if (elements < static_cast<int64_t>(items.size())) {
      return Fail(*call.args[0],
                  absl::StrCat("there are ", items.size(), " values for ",
                               elements, " elements"));
    }
    shape = {static_cast<int64_t>(items.size())};
  }
  absl::StatusOr<MutableTensor> tensor = MutableTensor::Create(dtype, shape);
  if (!tensor.ok())
    return Fail(call.form, std::string(tensor.status().message()));
  for (size_t i = 0; i < items.size(); ++i) {
    double real = items[i].AsReal();
    if (!items[i].IsNumber() && !items[i].Is(Value::kFloat) &&
        !(items[i].Is(Value::kString) && dtype.is_float() &&
          ParseScriptFloat(items[i].text, &real))) {
      return Fail(items[i], "expected a number");
    }
    if (items[i].Is(Value::kFloat) && dtype.is_integral()) {
      return Fail(items[i], "expected an integer");
    }
    const int64_t number = items[i].number;
    VisitDType(dtype, [&]<typename E>() {
      E& element = tensor->span<E>()[i];
      if constexpr (std::is_integral_v<E>) {
        element = static_cast<E>(number);
      } else {
        element = static_cast<E>(static_cast<float>(real));
        if constexpr (std::is_same_v<E, double>) element = real;
      }
    });
  }
  const Tensor data = std::move(*tensor).Freeze();
  Var var = Var::Pointer(call.text, dtype, "", call.span);
  OpenBody(call).make = [var, dtype, extents, data, annotations](
                            Stmt body, const Span& s) {
    return AllocateConst(var, dtype, extents, data, annotations,
                         std::move(body), s);
  };
  DefineResult(call, var);
  return true;
}

bool ScriptParser::ReadDeclBuffer(ScopeCall& call) {
  Buffer buffer;
  bool has_data = false;
  if (!MakeBuffer(call.form, call.text, 0, &buffer, &has_data)) return false;
  OpenBody(call).make = [buffer, has_data](Stmt body, const Span& s) -> Stmt {
    Stmt decl = DeclBuffer(buffer, std::move(body), s);
    if (has_data) return decl;
    return Allocate(buffer->data(), buffer.dtype(),
                    {buffer->shape().begin(), buffer->shape().end()},
                    IntImm::Bool(true), {}, std::move(decl), s);
  };
  DefineResult(call, buffer);
  return true;
}

bool ScriptParser::ReadAttr(ScopeCall& call) {
  PrimExpr node;
  PrimExpr value;
  std::string key;
  if (!Bind(call.form, {"node", "attr_key", "value"}, 3, &call.args) ||
      !ToAttr(*call.args[0], &node) || !ToText(*call.args[1], &key) ||
      !ToExpr(*call.args[2], &value)) {
    return false;
  }
  if (!node.defined())
    return Fail(*call.args[0], "an attribute is of something");
  OpenBody(call).make = [node, key, value](Stmt body, const Span& s) {
    return AttrStmt(node, key, value, std::move(body), s);
  };
  return true;
}

bool ScriptParser::ReadLaunchThread(ScopeCall& call) {
  PrimExpr extent;
  std::string tag;
  if (!Bind(call.form, {"thread", "extent"}, 2, &call.args) ||
      !ToExpr(*call.args[1], &extent)) {
    return false;
  }
  Var var;
  if (call.args[0]->Is(Value::kString)) {
    tag = call.args[0]->text;
    var = Var(call.text, kInt32, call.span);
  } else {
    if (!ToVar(*call.args[0], &var)) return false;
    const auto found = env_threads_.find(var->name());
    if (found == env_threads_.end()) {
      return Fail(*call.args[0], "this is no variable of T.env_thread");
    }
    tag = found->second;
  }
  const IterVar iter_var({IntImm(kInt32, 0), extent}, var,
                         IterVarType::kThreadIndex, tag, call.span);
  const std::string key = tag == "vthread" ? "virtual_thread" : "thread_extent";
  OpenBody(call).make = [iter_var, key, extent](Stmt body, const Span& s) {
    return AttrStmt(iter_var, key, extent, std::move(body), s);
  };
  DefineResult(call, var);
  return true;
}

bool ScriptParser::ReadRealize(ScopeCall& call) {
  BufferRegion region;
  std::string scope;
  PrimExpr condition = IntImm::Bool(true);
  if (!Bind(call.form, {"buffer_slice", "storage_scope", "condition"}, 1,
            &call.args) ||
      !ToRegion(*call.args[0], &region)) {
    return false;
  }
  const bool has_scope = call.args[1] != nullptr;
  if (has_scope && !ToText(*call.args[1], &scope)) return false;
  if (call.args[2] != nullptr && !ToCondition(*call.args[2], &condition))
    return false;
  OpenBody(call).make = [region, scope, has_scope, condition](
                            Stmt body, const Span& s) -> Stmt {
    Stmt realize = BufferRealize(
        region->buffer(), {region->region().begin(), region->region().end()},
        condition, std::move(body), s);
    if (!has_scope) return realize;
    return AttrStmt(region->buffer(), "realize_scope", StringImm(scope),
                    std::move(realize), s);
  };
  return true;
}

bool ScriptParser::ReadLetStmt(ScopeCall& call) {
  PrimExpr value;
  if (!Bind(call.form, {"value", "type_annotation", "var"}, 1, &call.args) ||
      !ToExpr(*call.args[0], &value)) {
    return false;
  }
  Var var;
  if (call.args[2] != nullptr) {
    if (!ToVar(*call.args[2], &var)) return false;
  } else if (call.args[1] != nullptr && call.args[1]->Is(Value::kNewVar)) {
    const auto* proto = call.args[1]->node.As<VarNode>();
    var = Var(new VarNode(call.text, proto->dtype(), proto->is_size(),
                          proto->typed_pointer(), proto->element(),
                          proto->scope(), call.span));
  } else {
    DType dtype = value.dtype();
    if (call.args[1] != nullptr && !ToDType(*call.args[1], &dtype))
      return false;
    var = Var(call.text, dtype, call.span);
  }
  OpenBody(call).make = [var, value](Stmt body, const Span& s) {
    return LetStmt(var, value, std::move(body), s);
  };
  DefineResult(call, var);
  return true;
}

bool ScriptParser::ReadAssert(ScopeCall& call) {
  PrimExpr condition;
  PrimExpr message;
  if (!Bind(call.form, {"condition", "message"}, 2, &call.args) ||
      !ToCondition(*call.args[0], &condition) ||
      !ToExpr(*call.args[1], &message)) {
    return false;
  }
  OpenBody(call).make = [condition, message](Stmt body, const Span& s) {
    return AssertStmt(condition, message, std::move(body), s);
  };
  return true;
}

}  // namespace baton::tir
