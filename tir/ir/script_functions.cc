// Calls of `T.` functions in scripts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/near_names.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_parser.h"
#include "baton/tir/ir/script_target.h"

namespace baton::tir {
namespace {

// Calls that only statements understand.
constexpr absl::string_view kForms[] = {
    "Assert",       "Buffer",      "LetStmt",        "Range",
    "alloc_buffer", "allocate",    "allocate_const", "attr",
    "axis.R",       "axis.S",      "axis.opaque",    "axis.reduce",
    "axis.remap",   "axis.scan",   "axis.spatial",   "block",
    "block_attr",   "buffer_decl", "buffer_store",   "decl_buffer",
    "env_thread",   "evaluate",    "func_attr",      "func_ret",
    "grid",         "init",        "launch_thread",  "match_buffer",
    "parallel",     "prefetch",    "range",          "reads",
    "realize",      "serial",      "thread_binding", "unroll",
    "vectorized",   "where",       "writes"};

// Functions that make one node each.
constexpr absl::string_view kNodes[] = {
    "And",          "Broadcast", "BufferLoad", "Call",
    "Cast",         "FloatImm",  "IntImm",     "Let",
    "Not",          "Or",        "Ramp",       "Select",
    "Shuffle",      "abs",       "broadcast",  "buffer_var",
    "comm_reducer", "floordiv",  "floormod",   "index_map",
    "infinity",     "isfinite",  "isinf",      "iter_var",
    "max",          "min",       "ramp",       "target",
    "truncdiv",     "truncmod",  "var",        "handle",
    "Ptr",          "cast",      "ceildiv",    "max_value",
    "meta_var",     "min_value", "StringImm",  "llvm_lookup_intrinsic_id",
    "Add",          "Sub",       "Mul",        "Div",
    "Mod",          "FloorDiv",  "FloorMod",   "EQ",
    "NE",           "LT",        "LE",         "GT",
    "GE",           "Min",       "Max"};

struct NamedBinary {
  absl::string_view name;
  BinaryOp op;
};
constexpr NamedBinary kBinaries[] = {{"Add", BinaryOp::kAdd},
                                     {"Sub", BinaryOp::kSub},
                                     {"Mul", BinaryOp::kMul},
                                     {"Div", BinaryOp::kDiv},
                                     {"truncdiv", BinaryOp::kDiv},
                                     {"Mod", BinaryOp::kMod},
                                     {"truncmod", BinaryOp::kMod},
                                     {"FloorDiv", BinaryOp::kFloorDiv},
                                     {"floordiv", BinaryOp::kFloorDiv},
                                     {"FloorMod", BinaryOp::kFloorMod},
                                     {"floormod", BinaryOp::kFloorMod},
                                     {"Min", BinaryOp::kMin},
                                     {"min", BinaryOp::kMin},
                                     {"Max", BinaryOp::kMax},
                                     {"max", BinaryOp::kMax},
                                     {"EQ", BinaryOp::kEQ},
                                     {"NE", BinaryOp::kNE},
                                     {"LT", BinaryOp::kLT},
                                     {"LE", BinaryOp::kLE},
                                     {"GT", BinaryOp::kGT},
                                     {"GE", BinaryOp::kGE},
                                     {"And", BinaryOp::kAnd},
                                     {"Or", BinaryOp::kOr}};

// Intrinsics whose two operands have one type.
bool MatchesOperands(absl::string_view name) {
  constexpr absl::string_view kNames[] = {
      "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left",
      "shift_right", "pow",        "fmod"};
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

// Forms of older scripts, with the reason why none of them is read.
struct Removed {
  absl::string_view name;
  absl::string_view reason;
};
constexpr Removed kRemoved[] = {
    {"preflattened_buffer",
     "buffers of parameters keep their shapes, and tir.FlattenBuffer flattens "
     "them: leave this line out"},
    {"load", "a load is an element of a buffer: A[i]"},
    {"store", "a store is an assignment: A[i] = value"}};

// The largest or smallest value of a type; null if there is none that is a
// constant.
PrimExpr Limit(DType dtype, bool largest) {
  if (dtype.is_float()) {
    double value = 0;
    if (dtype == DType::Float(64)) {
      value = std::numeric_limits<double>::max();
    } else if (dtype == DType::Float(32)) {
      value = std::numeric_limits<float>::max();
    } else if (dtype == DType::Float(16)) {
      value = 65504;
    } else {
      return {};
    }
    return FloatImm(dtype, largest ? value : -value);
  }
  if (!dtype.is_integral() || dtype.lanes() != 1) return {};
  const int bits = dtype.bits();
  if (!dtype.is_int()) {
    if (!largest) return IntImm(dtype, 0);
    if (bits > 63) return {};
    return IntImm(dtype, static_cast<int64_t>((uint64_t{1} << bits) - 1));
  }
  const auto most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return IntImm(dtype, largest ? most : -most - 1);
}

bool IsForm(absl::string_view name) {
  return std::find(std::begin(kForms), std::end(kForms), name) !=
         std::end(kForms);
}

std::vector<std::string> KnownNames() {
  std::vector<std::string> names;
  for (const absl::string_view name : kForms) names.emplace_back(name);
  for (const absl::string_view name : kNodes) names.emplace_back(name);
  for (const Intrinsic& intrinsic : Intrinsics()) {
    names.emplace_back(intrinsic.script_name != nullptr ? intrinsic.script_name
                                                        : intrinsic.name);
  }
  return names;
}

}  // namespace

bool ScriptParser::Bind(const Value& form,
                        std::initializer_list<const char*> names,
                        size_t required, std::vector<const Value*>* args) {
  args->assign(names.size(), nullptr);
  const Values& items = form.items();
  if (items.size() > names.size()) {
    return Fail(items[names.size()],
                absl::StrCat("T.", form.text, " takes ", names.size(),
                             " arguments, this is one more"));
  }
  for (size_t i = 0; i < items.size(); ++i) (*args)[i] = &items[i];
  if (form.parts != nullptr) {
    for (const auto& [key, value] : form.parts->keywords) {
      const auto found =
          std::find_if(names.begin(), names.end(),
                       [&key = key](const char* name) { return key == name; });
      if (found == names.end()) {
        return Fail(
            value,
            absl::StrCat("T.", form.text, " has no argument `", key, "`",
                         DidYouMean(key, std::vector<std::string>(
                                             names.begin(), names.end()))));
      }
      const Value*& arg = (*args)[static_cast<size_t>(found - names.begin())];
      if (arg != nullptr) {
        return Fail(value, absl::StrCat("the argument `", key,
                                        "` is given a second time"));
      }
      arg = &value;
    }
  }
  for (size_t i = 0; i < required; ++i) {
    if ((*args)[i] == nullptr) {
      return Fail(form, absl::StrCat("T.", form.text, " lacks the argument `",
                                     *(names.begin() + i), "`"));
    }
  }
  for (const Value*& arg : *args) {
    if (arg != nullptr && arg->Is(Value::kNone)) arg = nullptr;
  }
  return true;
}

bool ScriptParser::CallDType(
    DType dtype, const Values& args,
    const std::vector<std::pair<std::string, Value>>& keywords,
    const Value& place, Value* result) {
  const bool is_pointer =
      dtype.code() == DType::Code::kHandle && !dtype.is_void();
  bool is_size = false;
  const Value* element_type = args.empty() ? nullptr : &args[0];
  const Value* scope_name = args.size() < 2 ? nullptr : &args[1];
  for (const auto& [key, value] : keywords) {
    if (is_pointer && key == "dtype" && element_type == nullptr) {
      element_type = &value;
    } else if (is_pointer && key == "storage_scope" && scope_name == nullptr) {
      scope_name = &value;
    } else if (key == "is_size_var" && value.IsNumber()) {
      is_size = value.number != 0;
    } else {
      return Fail(value, absl::StrCat("a data type has no argument `", key,
                                      "`: known is is_size_var=True"));
    }
  }
  if (is_pointer) {
    DType element;
    std::string scope;
    if (args.size() > 2) return Fail(args[2], "T.handle takes two arguments");
    if (element_type != nullptr && !ToDType(*element_type, &element)) {
      return false;
    }
    if (scope_name != nullptr && !ToText(*scope_name, &scope)) return false;
    result->kind = Value::kNewVar;
    result->node =
        Var(new VarNode("v", kHandle, is_size, element_type != nullptr, element,
                        std::move(scope), Span()));
    return true;
  }
  if (args.empty()) {
    result->kind = Value::kNewVar;
    result->node = Var(new VarNode("v", dtype, is_size, false, {}, {}, Span()));
    return true;
  }
  if (args.size() > 1) return Fail(args[1], "a data type takes one argument");
  const bool is_real = dtype.is_float() || IsFloat8(dtype);
  if (args[0].Is(Value::kString)) {
    const std::string& text = args[0].text;
    double value = 0;
    if (!ParseScriptFloat(text, &value)) {
      return Fail(args[0], "known are \"inf\", \"-inf\" and \"nan\"");
    }
    if (!is_real) return Fail(args[0], "this is no integer");
    *result = ExprValue(CastTo(dtype, FloatImm(WithLanes(dtype, 1), value)),
                        place.begin, place.end);
    return true;
  }
  PrimExpr e;
  if (args[0].IsNumber() && dtype.is_integral() && dtype.lanes() == 1) {
    // The number as it is written.
    const int64_t number = args[0].number;
    if (dtype.bits() < 64 && !FitsDType(number, dtype)) {
      return Fail(args[0], absl::StrCat(number, " is no ", dtype.ToString()));
    }
    e = IntImm(dtype, number);
  } else if (args[0].IsNumber() && is_real) {
    e = CastTo(dtype, FloatImm(WithLanes(dtype, 1), args[0].AsReal()));
  } else {
    if (!ToExpr(args[0], &e)) return false;
    if (e.dtype().code() == DType::Code::kHandle) {
      return Fail(args[0], "a pointer cannot be cast");
    }
    if (e.dtype().lanes() != dtype.lanes() && e.dtype().lanes() != 1) {
      return Fail(args[0], "the numbers of lanes differ");
    }
    e = CastTo(dtype, std::move(e));
  }
  *result = ExprValue(std::move(e), place.begin, place.end);
  return true;
}

bool ScriptParser::CallFunction(
    absl::string_view name, Values args,
    std::vector<std::pair<std::string, Value>> keywords, int64_t begin,
    int64_t end, Value* result) {
  *result = Value();
  result->begin = begin;
  result->end = end;
  const Value place = *result;
  if (IsForm(name)) {
    if (!Compound(Value::kForm, std::move(args), begin, end, result)) {
      return false;
    }
    result->text = std::string(name);
    for (const auto& [key, value] : keywords) {
      if (value.parts != nullptr) {
        result->parts->depth =
            std::max(result->parts->depth, value.parts->depth + 1);
      }
    }
    result->parts->keywords = std::move(keywords);
    return true;
  }
  if (const absl::StatusOr<DType> dtype =
          DType::Parse(name == "boolean" ? "bool" : name);
      dtype.ok()) {
    return CallDType(*dtype, args, keywords, place, result);
  }
  if (name == "Ptr" || name == "ptr" || name == "buffer_var") {
    const bool has_scope = std::any_of(
        keywords.begin(), keywords.end(),
        [](const auto& keyword) { return keyword.first == "storage_scope"; });
    if (args.size() < 2 && !has_scope) {
      Value scope = place;
      scope.kind = Value::kString;
      scope.text = "global";
      keywords.emplace_back("storage_scope", std::move(scope));
    }
    return CallDType(kHandle, args, keywords, place, result);
  }
  // From here on: functions of expressions.
  Value form = place;
  form.kind = Value::kForm;
  form.text = std::string(name);
  form.parts = std::make_shared<ScriptValues>();
  form.parts->items = std::move(args);
  form.parts->keywords = std::move(keywords);
  const Values& items = form.items();
  std::vector<const Value*> bound;
  const Span span = context_.SpanOf(begin, end);
  const auto give = [&](PrimExpr e) {
    *result = ExprValue(std::move(e), begin, end);
    return true;
  };
  const auto differ = [&](const PrimExpr& a, const PrimExpr& b) {
    return Fail(form, absl::StrCat("the operands are ", a.dtype().ToString(),
                                   " and ", b.dtype().ToString(),
                                   ", which no conversion makes equal"));
  };
  for (const NamedBinary& binary : kBinaries) {
    if (binary.name != name) continue;
    PrimExpr a;
    PrimExpr b;
    if (!Bind(form, {"a", "b"}, 2, &bound) || !ToExpr(*bound[0], &a) ||
        !ToExpr(*bound[1], &b)) {
      return false;
    }
    if (!MatchTypes(a, b)) return differ(a, b);
    return give(Binary(binary.op, std::move(a), std::move(b), span));
  }
  if (name == "Not") {
    PrimExpr a;
    return Bind(form, {"a"}, 1, &bound) && ToExpr(*bound[0], &a) &&
           give(Not(std::move(a), span));
  }
  if (name == "Cast") {
    DType dtype;
    PrimExpr value;
    if (!Bind(form, {"dtype", "value"}, 2, &bound) ||
        !ToDType(*bound[0], &dtype) || !ToExpr(*bound[1], &value)) {
      return false;
    }
    if (dtype.lanes() != value.dtype().lanes()) {
      return Fail(form, "the numbers of lanes differ");
    }
    return give(Cast(dtype, std::move(value), span));
  }
  if (name == "Select") {
    PrimExpr condition;
    PrimExpr a;
    PrimExpr b;
    if (!Bind(form, {"condition", "true_value", "false_value"}, 3, &bound) ||
        !ToExpr(*bound[0], &condition) || !ToExpr(*bound[1], &a) ||
        !ToExpr(*bound[2], &b)) {
      return false;
    }
    if (!MatchTypes(a, b)) return differ(a, b);
    return give(Select(std::move(condition), std::move(a), std::move(b), span));
  }
  if (name == "Ramp" || name == "ramp") {
    PrimExpr base;
    PrimExpr stride;
    int64_t lanes = 0;
    if (!Bind(form, {"base", "stride", "lanes"}, 3, &bound) ||
        !ToExpr(*bound[0], &base) || !ToExpr(*bound[1], &stride) ||
        !ToInt(*bound[2], &lanes)) {
      return false;
    }
    if (lanes < 2 || lanes > 65535 || base.dtype().lanes() != 1 ||
        stride.dtype().lanes() != 1) {
      return Fail(form, "T.Ramp takes two scalars and 2 to 65535 lanes");
    }
    return give(Ramp(base, CastTo(base.dtype(), std::move(stride)),
                     static_cast<int>(lanes), span));
  }
  if (name == "Broadcast" || name == "broadcast") {
    PrimExpr value;
    int64_t lanes = 0;
    if (!Bind(form, {"value", "lanes"}, 2, &bound) ||
        !ToExpr(*bound[0], &value) || !ToInt(*bound[1], &lanes)) {
      return false;
    }
    if (lanes < 2 || lanes > 65535 || value.dtype().lanes() != 1) {
      return Fail(form, "T.Broadcast takes a scalar and 2 to 65535 lanes");
    }
    return give(Broadcast(std::move(value), static_cast<int>(lanes), span));
  }
  if (name == "Shuffle") {
    std::vector<PrimExpr> vectors;
    std::vector<PrimExpr> indices;
    if (!Bind(form, {"vectors", "indices"}, 2, &bound) ||
        !ToExprList(*bound[0], &vectors) || !ToExprList(*bound[1], &indices)) {
      return false;
    }
    if (vectors.empty() || indices.empty() || indices.size() > 65535) {
      return Fail(form, "T.Shuffle takes vectors and indices");
    }
    return give(Shuffle(std::move(vectors), std::move(indices), span));
  }
  if (name == "Let") {
    PrimExpr body;
    if (!Bind(form, {"expr", "where"}, 2, &bound) ||
        !ToExpr(*bound[0], &body)) {
      return false;
    }
    const Value& where = *bound[1];
    if (!where.Is(Value::kDict) || where.items().size() != 1) {
      return Fail(where, "expected `{variable: value}`");
    }
    Var var;
    PrimExpr value;
    return ToVar(where.parts->keys[0], &var) &&
           ToExpr(where.items()[0], &value) &&
           give(Let(std::move(var), std::move(value), std::move(body), span));
  }
  if (name == "comm_reducer") {
    std::vector<PrimExpr> identity;
    if (!Bind(form, {"combiner", "identity"}, 2, &bound)) return false;
    const Value& combiner = *bound[0];
    if (!combiner.Is(Value::kLambda))
      return Fail(combiner, "expected a lambda");
    if (!ToExprList(*bound[1], &identity)) return false;
    const size_t n = identity.size();
    if (combiner.parts->names.size() != 2 * n || n == 0) {
      return Fail(combiner, absl::StrCat("expected ", 2 * n, " parameters"));
    }
    std::vector<Var> vars;
    for (size_t i = 0; i < 2 * n; ++i) {
      vars.emplace_back(combiner.parts->names[i], identity[i % n].dtype());
    }
    std::vector<PrimExpr> results;
    if (!EvaluateLambda(combiner, vars, &results)) return false;
    if (results.size() != n) {
      return Fail(combiner, absl::StrCat("expected ", n, " results"));
    }
    const auto middle = vars.begin() + static_cast<std::ptrdiff_t>(n);
    return give(CommReducer({vars.begin(), middle}, {middle, vars.end()},
                            std::move(results), std::move(identity), span));
  }
  if (name == "index_map") {
    if (!Bind(form, {"mapping", "inverse_index_map"}, 1, &bound)) return false;
    const auto make = [&](const Value& lambda, PrimExpr inverse,
                          PrimExpr* map) {
      if (!lambda.Is(Value::kLambda)) return Fail(lambda, "expected a lambda");
      std::vector<Var> vars;
      for (const std::string& param : lambda.parts->names) {
        vars.emplace_back(param, kInt32);
      }
      std::vector<PrimExpr> results;
      if (!EvaluateLambda(lambda, vars, &results)) return false;
      *map = IndexMap(std::move(vars), std::move(results), std::move(inverse),
                      span);
      return true;
    };
    PrimExpr inverse;
    PrimExpr map;
    if (bound[1] != nullptr && !make(*bound[1], {}, &inverse)) return false;
    return make(*bound[0], std::move(inverse), &map) && give(std::move(map));
  }
  if (name == "target") {
    if (!Bind(form, {"target_config", "host"}, 1, &bound)) return false;
    const auto config_of = [&](const Value& value, Dict* config) {
      absl::StatusOr<Dict> made;
      if (value.Is(Value::kString)) {
        made = TargetConfigOf(value.text);
      } else {
        PrimExpr e;
        if (!ToAttr(value, &e)) return false;
        if (const auto* target = e.As<TargetNode>()) {
          *config = target->config();
          return true;
        }
        const auto* dict = e.As<DictNode>();
        if (dict == nullptr) return Fail(value, "expected a dictionary");
        made = CompleteTargetConfig(Dict(dict));
      }
      if (!made.ok()) return Fail(value, std::string(made.status().message()));
      *config = *std::move(made);
      return true;
    };
    Dict config;
    if (!config_of(*bound[0], &config)) return false;
    if (bound[1] != nullptr) {
      Dict host;
      if (!config_of(*bound[1], &host)) return false;
      if (config.Find("host").defined()) {
        return Fail(*bound[1], "the target has a host");
      }
      std::vector<Dict::Entry> entries = config.Entries();
      entries.emplace_back("host", std::move(host));
      config = Dict::OfAll(std::move(entries));
    }
    return give(Target(std::move(config), span));
  }
  if (name == "iter_var") {
    if (!Bind(form, {"v", "dom", "iter_type", "thread_tag"}, 1, &bound)) {
      return false;
    }
    Var var;
    Range dom;
    std::string type_name = "DataPar";
    std::string tag;
    if (!ToVar(*bound[0], &var)) return false;
    if (bound[1] != nullptr) {
      if (!bound[1]->Is(Value::kForm) || bound[1]->text != "Range" ||
          bound[1]->items().size() != 2) {
        return Fail(*bound[1], "expected T.Range(min, extent)");
      }
      if (!ToExpr(bound[1]->items()[0], &dom.min) ||
          !ToExpr(bound[1]->items()[1], &dom.extent)) {
        return false;
      }
    }
    if (bound[2] != nullptr && !ToText(*bound[2], &type_name)) return false;
    if (bound[3] != nullptr && !ToText(*bound[3], &tag)) return false;
    for (int i = 0; i < NumValuesOf(IterVarType()); ++i) {
      const auto type = static_cast<IterVarType>(i);
      if (IterVarTypeName(type) == type_name) {
        return give(IterVar(std::move(dom), var, type, std::move(tag), span));
      }
    }
    return Fail(*bound[2], absl::StrCat("there is no kind ", type_name));
  }
  if (name == "cast") {
    PrimExpr value;
    DType dtype;
    if (!Bind(form, {"src", "dtype"}, 2, &bound) ||
        !ToExpr(*bound[0], &value) || !ToDType(*bound[1], &dtype)) {
      return false;
    }
    if (value.dtype() != dtype &&
        (value.dtype().code() == DType::Code::kHandle ||
         dtype.code() == DType::Code::kHandle ||
         (dtype.lanes() != value.dtype().lanes() &&
          value.dtype().lanes() != 1))) {
      return Fail(
          form, absl::StrCat("there is no cast from ", value.dtype().ToString(),
                             " to ", dtype.ToString()));
    }
    return give(CastTo(dtype, std::move(value)));
  }
  if (name == "max_value" || name == "min_value") {
    DType dtype;
    if (!Bind(form, {"dtype"}, 1, &bound) || !ToDType(*bound[0], &dtype)) {
      return false;
    }
    PrimExpr limit = Limit(dtype, name == "max_value");
    if (!limit.defined()) {
      return Fail(*bound[0],
                  absl::StrCat(dtype.ToString(), " has no such constant"));
    }
    return give(std::move(limit));
  }
  if (name == "ceildiv") {
    PrimExpr a;
    PrimExpr b;
    if (!Bind(form, {"lhs", "rhs"}, 2, &bound) || !ToExpr(*bound[0], &a) ||
        !ToExpr(*bound[1], &b)) {
      return false;
    }
    if (!MatchTypes(a, b)) return differ(a, b);
    if (!WithLanes(a.dtype(), 1).is_integral()) {
      return Fail(form, "T.ceildiv takes integers");
    }
    PrimExpr one = MakeConst(b.dtype(), 1);
    PrimExpr sum = Add(std::move(a), Sub(b, std::move(one)));
    return give(MakeBinary(BinaryOp::kFloorDiv, std::move(sum), std::move(b)));
  }
  if (name == "meta_var") {
    if (!Bind(form, {"value"}, 1, &bound)) return false;
    if (bound[0] == nullptr) return Fail(form, "None is no value");
    *result = *bound[0];
    result->is_meta = true;
    return true;
  }
  // Intrinsics of LLVM are named, not numbered.
  if (name == "StringImm" || name == "llvm_lookup_intrinsic_id") {
    if (!Bind(form, {"value"}, 1, &bound)) return false;
    std::string text;
    return ToText(*bound[0], &text) && give(StringImm(std::move(text)));
  }
  if (name == "abs" && items.size() == 1) {
    PrimExpr x;
    if (!ToExpr(items[0], &x)) return false;
    if (x.dtype().is_float()) {
      return give(CallIntrinsic("fabs", {std::move(x)}));
    }
    if (!x.dtype().is_int()) return give(std::move(x));
    PrimExpr zero = MakeConst(x.dtype(), 0);
    return give(Select(Binary(BinaryOp::kGE, x, zero), x,
                       Mul(x, MakeConst(x.dtype(), -1)), span));
  }
  // A call of the operator that `op_name` is.
  const auto call_named = [&](const Value& dtype_name, const Value& op_name,
                              std::vector<PrimExpr> rest) {
    DType dtype;
    std::string text;
    if (!ToDType(dtype_name, &dtype) || !ToText(op_name, &text)) return false;
    const Op op = Op::Find(text);
    if (!op.defined() || IntrinsicOf(op) == nullptr) {
      return Fail(op_name, absl::StrCat("there is no operator ", text));
    }
    return give(Call(dtype, op, std::move(rest), span));
  };
  if (name == "call_intrin" && items.size() >= 2) {
    // The data type, the name, and the arguments.
    std::vector<PrimExpr> rest;
    return ToExprs(Values(items.begin() + 2, items.end()), &rest) &&
           call_named(items[0], items[1], std::move(rest));
  }
  if (name == "Call") {
    std::vector<PrimExpr> rest;
    if (!Bind(form, {"dtype", "op", "args"}, 3, &bound) ||
        !ToExprList(*bound[2], &rest)) {
      return false;
    }
    if (!bound[1]->Is(Value::kGlobal)) {
      return call_named(*bound[0], *bound[1], std::move(rest));
    }
    DType dtype;
    if ((!bound[0]->Is(Value::kString) || !bound[0]->text.empty()) &&
        !ToDType(*bound[0], &dtype)) {
      return false;
    }
    return give(Call(
        dtype, context_.Global(bound[1]->text, bound[1]->begin, bound[1]->end),
        std::move(rest), span));
  }
  if (name == "BufferLoad") {
    if (!Bind(form, {"buffer", "indices"}, 2, &bound)) return false;
    if (!bound[0]->Is(Value::kBuffer)) {
      return Fail(*bound[0], "expected a buffer");
    }
    const Value& indices = *bound[1];
    const bool is_list = indices.Is(Value::kTuple) || indices.Is(Value::kList);
    return ApplyIndex(*bound[0],
                      is_list ? Values(indices.items()) : Values{indices}, end,
                      result);
  }
  if (name == "IntImm" || name == "FloatImm") {
    DType dtype;
    if (!Bind(form, {"dtype", "value"}, 2, &bound) ||
        !ToDType(*bound[0], &dtype)) {
      return false;
    }
    if (dtype.lanes() != 1 ||
        (name == "IntImm" ? !dtype.is_integral() : !dtype.is_float())) {
      return Fail(*bound[0],
                  absl::StrCat("T.", name, " is no ", dtype.ToString()));
    }
    if (!bound[1]->IsNumber() &&
        !(name == "FloatImm" && bound[1]->Is(Value::kFloat))) {
      return Fail(*bound[1], "expected a number");
    }
    return CallDType(dtype, {*bound[1]}, {}, place, result);
  }
  if (name == "infinity") {
    DType dtype;
    if (!Bind(form, {"dtype"}, 1, &bound) || !ToDType(*bound[0], &dtype)) {
      return false;
    }
    if (!dtype.is_float() || dtype.lanes() != 1) {
      return Fail(*bound[0],
                  absl::StrCat(dtype.ToString(), " has no infinity"));
    }
    return give(FloatImm(dtype, std::numeric_limits<double>::infinity()));
  }
  if ((name == "isinf" || name == "isfinite") && items.size() == 1) {
    PrimExpr x;
    if (!ToExpr(items[0], &x)) return false;
    const bool is_finite = name == "isfinite";
    const DType truth = WithLanes(DType::Bool(), x.dtype().lanes());
    if (x.dtype().is_integral()) {
      return give(MakeConst(truth, is_finite ? 1 : 0));
    }
    if (!x.dtype().is_float()) return Fail(items[0], "expected a number");
    const PrimExpr infinity =
        CastTo(x.dtype(), FloatImm(WithLanes(x.dtype(), 1),
                                   std::numeric_limits<double>::infinity()));
    const PrimExpr nan = CallIntrinsic(
        "isnan",
        {x.dtype().bits() == 16
             ? CastTo(WithLanes(DType::Float(32), x.dtype().lanes()), x)
             : x});
    const PrimExpr is_infinite = MakeBinary(
        BinaryOp::kAnd,
        Binary(BinaryOp::kEQ, CallIntrinsic("fabs", {x}), infinity), Not(nan));
    return give(is_finite
                    ? MakeBinary(BinaryOp::kAnd, Not(is_infinite), Not(nan))
                    : is_infinite);
  }
  if (name == "var") {
    DType dtype;
    if (!Bind(form, {"dtype", "name"}, 1, &bound) ||
        !ToDType(*bound[0], &dtype)) {
      return false;
    }
    return CallDType(dtype, {}, {}, place, result);
  }
  const Op op = FindIntrinsic(
      absl::StripPrefix(name, "tvm_call_") != name ? name.substr(4) : name);
  const Intrinsic* intrinsic = IntrinsicOf(op);
  if (intrinsic == nullptr) {
    for (const Removed& removed : kRemoved) {
      if (removed.name == name) {
        return Fail(form,
                    absl::StrCat("T.", name, " is not read: ", removed.reason));
      }
    }
    return Fail(
        begin, begin + static_cast<int64_t>(name.size()) + 2,
        absl::StrCat("there is no T.", name, DidYouMean(name, KnownNames())));
  }
  Values rest = items;
  Value type;
  bool has_type = false;
  for (const auto& [key, value] : form.parts->keywords) {
    if (key != "dtype") {
      return Fail(value, absl::StrCat("T.", name, " has no argument `", key,
                                      "`: known is dtype"));
    }
    type = value;
    has_type = true;
  }
  const bool is_given = intrinsic->type == CallType::kGiven ||
                        intrinsic->type == CallType::kGivenEnd;
  if (is_given && !has_type) {
    if (rest.empty())
      return Fail(form, absl::StrCat("T.", name, " lacks a data type"));
    if (intrinsic->type == CallType::kGiven) {
      type = rest.front();
      rest.erase(rest.begin());
    } else {
      type = rest.back();
      rest.pop_back();
    }
  }
  if (intrinsic->arity >= 0 &&
      rest.size() != static_cast<size_t>(intrinsic->arity)) {
    return Fail(form, absl::StrCat("T.", name, " takes ", intrinsic->arity,
                                   " arguments, these are ", rest.size()));
  }
  std::vector<PrimExpr> exprs;
  if (!ToExprs(rest, &exprs)) return false;
  if (MatchesOperands(name) && !MatchTypes(exprs[0], exprs[1])) {
    return differ(exprs[0], exprs[1]);
  }
  if (name == "if_then_else" && !MatchTypes(exprs[1], exprs[2])) {
    return differ(exprs[1], exprs[2]);
  }
  if (is_given) {
    DType dtype;
    return ToDType(type, &dtype) &&
           give(Call(dtype, op, std::move(exprs), span));
  }
  const PrimExpr call = CallIntrinsic(intrinsic->name, std::move(exprs));
  const auto* node = call.As<CallNode>();
  return give(
      Call(call.dtype(), op, {node->args().begin(), node->args().end()}, span));
}

bool ScriptParser::CallMethod(
    const Value& method, Values args,
    std::vector<std::pair<std::string, Value>> keywords, int64_t end,
    Value* result) {
  Value form;
  if (!Compound(Value::kForm, std::move(args), method.begin, end, &form)) {
    return false;
  }
  form.text = method.text;
  form.parts->keywords = std::move(keywords);
  std::vector<const Value*> bound;
  const Span span = context_.SpanOf(method.begin, end);
  if (method.text == "astype") {
    DType dtype;
    PrimExpr value(method.node.As<PrimExprNode>());
    if (!Bind(form, {"dtype"}, 1, &bound) || !ToDType(*bound[0], &dtype)) {
      return false;
    }
    if (value.dtype().code() == DType::Code::kHandle ||
        dtype.lanes() != value.dtype().lanes()) {
      return Fail(
          form, absl::StrCat("there is no cast from ", value.dtype().ToString(),
                             " to ", dtype.ToString()));
    }
    *result = ExprValue(CastTo(dtype, std::move(value)), method.begin, end);
    return true;
  }
  const Buffer buffer(method.node.As<BufferNode>());
  if (method.text == "access_ptr") {
    if (!Bind(form,
              {"access_mask", "ptr_type", "content_lanes", "offset", "extent"},
              1, &bound)) {
      return false;
    }
    int64_t mask = 0;
    if (bound[0]->Is(Value::kString)) {
      for (const char c : bound[0]->text) {
        if (c != 'r' && c != 'w') return Fail(*bound[0], "known are r and w");
        mask |= c == 'r' ? 1 : 2;
      }
    } else if (!ToInt(*bound[0], &mask)) {
      return false;
    }
    DType type = kHandle;
    int64_t lanes = 1;
    PrimExpr offset = IntImm(kInt32, 0);
    PrimExpr extent;
    if (bound[1] != nullptr && !ToDType(*bound[1], &type)) return false;
    if (bound[2] != nullptr && !ToInt(*bound[2], &lanes)) return false;
    if (bound[3] != nullptr && !ToExpr(*bound[3], &offset)) return false;
    if (bound[4] != nullptr && !ToExpr(*bound[4], &extent)) return false;
    if (lanes < 1 || lanes > 65535 || buffer.dtype().lanes() != 1) {
      return Fail(form, "1 to 65535 lanes of scalars are possible");
    }
    const absl::Span<const PrimExpr> shape = buffer->shape();
    PrimExpr place = buffer->elem_offset();
    if (!extent.defined()) {
      if (shape.empty()) {
        extent = IntImm(kInt32, 1);
      } else if (buffer->strides().size() == shape.size()) {
        extent = Sub(Mul(buffer->strides()[0], shape[0]), offset);
      } else {
        extent = IntImm(kInt32, 1);
        for (const PrimExpr& e : shape) extent = Mul(std::move(extent), e);
        extent = Sub(std::move(extent), offset);
      }
      if (lanes > 1) {
        extent = MakeBinary(BinaryOp::kDiv, std::move(extent),
                            MakeConst(place.dtype(), lanes));
      }
    }
    const PrimExpr e_type =
        Call(WithLanes(buffer.dtype(), static_cast<int>(lanes)),
             IntrinsicOp("type_annotation"), {});
    if (lanes > 1) {
      place =
          MakeBinary(BinaryOp::kDiv, place, MakeConst(place.dtype(), lanes));
    } else {
      place = Add(std::move(place), std::move(offset));
    }
    *result = ExprValue(Call(type, IntrinsicOp("tvm_access_ptr"),
                             {e_type, buffer->data(), std::move(place),
                              std::move(extent), IntImm(kInt32, mask)},
                             span),
                        method.begin, end);
    return true;
  }
  const bool is_load = method.text == "vload";
  if (is_load ? !Bind(form, {"begin", "dtype"}, 1, &bound)
              : !Bind(form, {"begin", "value"}, 2, &bound)) {
    return false;
  }
  std::vector<PrimExpr> indices;
  DType dtype = buffer.dtype();
  if (!ToExprList(*bound[0], &indices)) return false;
  if (is_load) {
    if (bound[1] != nullptr && !ToDType(*bound[1], &dtype)) return false;
  } else {
    PrimExpr value;
    if (!ToExpr(*bound[1], &value)) return false;
    dtype = value.dtype();
  }
  const int lanes = dtype.lanes() / buffer.dtype().lanes();
  if (WithLanes(dtype, 1) != WithLanes(buffer.dtype(), 1) ||
      lanes * buffer.dtype().lanes() != dtype.lanes()) {
    return Fail(form, absl::StrCat("a ", dtype.ToString(),
                                   " cannot be accessed in a buffer of ",
                                   buffer.dtype().ToString()));
  }
  if (lanes > 1) {
    if (indices.empty() || !indices.back().dtype().is_integral()) {
      return Fail(*bound[0], "expected indices");
    }
    PrimExpr one = MakeConst(indices.back().dtype(), 1);
    indices.back() = Ramp(indices.back(), std::move(one), lanes);
  }
  if (is_load) {
    *result = ExprValue(BufferLoad(buffer, std::move(indices), span),
                        method.begin, end);
    return true;
  }
  Values places;
  for (const PrimExpr& e : indices) {
    places.push_back(ExprValue(e, bound[0]->begin, bound[0]->end));
  }
  Value list;
  if (!Compound(Value::kTuple, std::move(places), bound[0]->begin,
                bound[0]->end, &list)) {
    return false;
  }
  Values items = {ExprValue(buffer, method.begin, end), *bound[1],
                  std::move(list)};
  if (!Compound(Value::kForm, std::move(items), method.begin, end, result)) {
    return false;
  }
  result->text = "buffer_store";
  return true;
}

// `form` is a call with the arguments of a buffer after `skip` others.
bool ScriptParser::MakeBuffer(const Value& form, absl::string_view name,
                              size_t skip, Buffer* buffer, bool* has_data) {
  std::vector<const Value*> all;
  const bool bound =
      skip == 0
          ? Bind(form,
                 {"shape", "dtype", "data", "strides", "elem_offset", "scope",
                  "align", "offset_factor", "buffer_type", "axis_separators"},
                 1, &all)
          : Bind(form,
                 {"param", "shape", "dtype", "data", "strides", "elem_offset",
                  "scope", "align", "offset_factor", "buffer_type",
                  "axis_separators"},
                 1, &all);
  if (!bound) return false;
  const std::vector<const Value*> args(
      all.begin() + static_cast<std::ptrdiff_t>(skip), all.end());
  BufferNode::Parts parts;
  parts.name = std::string(name);
  parts.dtype = DType::Float(32);
  if (args[0] != nullptr) {
    if (!ToExprList(*args[0], &parts.shape)) return false;
  } else {
    // The shape and the data type of the region.
    BufferRegion region;
    if (skip == 0 || !ToRegion(*all[0], &region)) {
      return Fail(form, absl::StrCat("T.", form.text, " lacks a shape"));
    }
    parts.dtype = region->buffer()->dtype();
    for (const Range& range : region->region()) {
      parts.shape.push_back(range.extent);
    }
  }
  for (size_t i = 0; i < parts.shape.size(); ++i) {
    if (!parts.shape[i].dtype().is_integral()) {
      return Fail(*args[0], "an extent is an integer");
    }
  }
  if (args[1] != nullptr && !ToDType(*args[1], &parts.dtype)) return false;
  std::string scope = "global";
  if (args[5] != nullptr && !ToText(*args[5], &scope)) return false;
  if (scope.empty()) scope = "global";
  *has_data = args[2] != nullptr;
  if (args[2] != nullptr) {
    if (!ToVar(*args[2], &parts.data)) return false;
    if (parts.data.dtype().code() != DType::Code::kHandle) {
      return Fail(*args[2], "expected a pointer");
    }
  } else {
    parts.data = Var::Pointer(
        std::string(name),
        parts.dtype == DType::Bool() ? DType::Int(8) : parts.dtype, scope);
  }
  if (args[3] != nullptr) {
    if (!args[3]->Is(Value::kTuple) && !args[3]->Is(Value::kList)) {
      return Fail(*args[3], "expected a tuple of strides");
    }
    for (const Value& stride : args[3]->items()) {
      if (stride.Is(Value::kString)) {
        parts.strides.push_back(Var(stride.text, kInt32));
        continue;
      }
      parts.strides.emplace_back();
      if (!ToExpr(stride, &parts.strides.back())) return false;
    }
  }
  if (args[4] != nullptr && !ToExpr(*args[4], &parts.elem_offset)) return false;
  if (args[6] != nullptr && !ToInt(*args[6], &parts.alignment)) return false;
  parts.offset_factor = 0;
  if (args[7] != nullptr && !ToInt(*args[7], &parts.offset_factor)) {
    return false;
  }
  if (!parts.elem_offset.defined() && parts.offset_factor != 0) {
    parts.elem_offset = Var(
        "elem_offset", parts.shape.empty() ? kInt32 : parts.shape[0].dtype());
  }
  if (args[8] != nullptr) {
    std::string kind;
    if (!ToText(*args[8], &kind)) return false;
    if (kind == "auto" || kind == "auto_broadcast") {
      parts.kind = BufferKind::kAutoBroadcast;
    } else if (kind != "default" && !kind.empty()) {
      return Fail(*args[8], "known are \"auto\" and \"default\"");
    }
  }
  if (args[9] != nullptr) {
    if (!args[9]->Is(Value::kList) && !args[9]->Is(Value::kTuple)) {
      return Fail(*args[9], "expected a list of integers");
    }
    for (const Value& item : args[9]->items()) {
      parts.axis_separators.emplace_back();
      if (!ToInt(item, &parts.axis_separators.back())) return false;
    }
  }
  *buffer = Buffer(std::move(parts), context_.SpanOf(form.begin, form.end));
  return true;
}

}  // namespace baton::tir
