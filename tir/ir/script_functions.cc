// Calls of `T.` functions in scripts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/dtype.h"
#include "baton/base/near_names.h"
#include "baton/base/number_range.h"
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
  if (dtype.lanes() != 1 || dtype == DType::BFloat(16)) return {};
  if (dtype.is_float()) {
    const std::optional<NumberRange> range = FiniteRange(dtype);
    if (!range.has_value()) return {};
    return FloatImm(dtype, largest ? range->high : range->low);
  }
  if (!dtype.is_integral()) return {};
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

}  // namespace

// A call of a function of expressions.
struct ScriptParser::FunctionCall {
  absl::string_view name;
  Value form;  // the arguments, and the place
  Span span;
  Value* result;
  std::vector<const Value*> bound = {};  // by Bind()
};

// The functions that make nodes, but for those that are named as a binary
// operation, a data type or an intrinsic.
const ScriptParser::FunctionRow ScriptParser::kFunctions[] = {
    {"abs", &ScriptParser::ReadAbs},
    {"Broadcast", &ScriptParser::ReadBroadcast},
    {"broadcast", &ScriptParser::ReadBroadcast},
    {"BufferLoad", &ScriptParser::ReadBufferLoad},
    {"Call", &ScriptParser::ReadCall},
    {"call_intrin", &ScriptParser::ReadCallIntrin},
    {"Cast", &ScriptParser::ReadCastNode},
    {"cast", &ScriptParser::ReadCast},
    {"ceildiv", &ScriptParser::ReadCeilDiv},
    {"comm_reducer", &ScriptParser::ReadCommReducer},
    {"FloatImm", &ScriptParser::ReadImm},
    {"index_map", &ScriptParser::ReadIndexMap},
    {"infinity", &ScriptParser::ReadInfinity},
    {"IntImm", &ScriptParser::ReadImm},
    {"isfinite", &ScriptParser::ReadIsInfinite},
    {"isinf", &ScriptParser::ReadIsInfinite},
    {"iter_var", &ScriptParser::ReadIterVar},
    {"Let", &ScriptParser::ReadLet},
    {"llvm_lookup_intrinsic_id", &ScriptParser::ReadText},
    {"max_value", &ScriptParser::ReadLimit},
    {"meta_var", &ScriptParser::ReadMetaVar},
    {"min_value", &ScriptParser::ReadLimit},
    {"Not", &ScriptParser::ReadNot},
    {"Ramp", &ScriptParser::ReadRamp},
    {"ramp", &ScriptParser::ReadRamp},
    {"Select", &ScriptParser::ReadSelect},
    {"Shuffle", &ScriptParser::ReadShuffle},
    {"StringImm", &ScriptParser::ReadText},
    {"target", &ScriptParser::ReadTarget},
    {"var", &ScriptParser::ReadVar},
};

std::vector<std::string> ScriptParser::FunctionNames() {
  std::vector<std::string> names = {"Ptr", "buffer_var", "handle"};
  for (const absl::string_view name : kForms) names.emplace_back(name);
  for (const NamedBinary& row : kBinaries) names.emplace_back(row.name);
  for (const FunctionRow& row : kFunctions) names.emplace_back(row.name);
  for (const Intrinsic& intrinsic : Intrinsics()) {
    names.emplace_back(intrinsic.script_name != nullptr ? intrinsic.script_name
                                                        : intrinsic.name);
  }
  return names;
}

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
  FunctionCall call{.name = name,
                    .form = place,
                    .span = context_.SpanOf(begin, end),
                    .result = result};
  call.form.kind = Value::kForm;
  call.form.text = std::string(name);
  call.form.parts = std::make_shared<ScriptValues>();
  call.form.parts->items = std::move(args);
  call.form.parts->keywords = std::move(keywords);
  const auto is_named = [&](const auto& row) { return row.name == name; };
  const auto* const binary =
      std::find_if(std::begin(kBinaries), std::end(kBinaries), is_named);
  if (binary != std::end(kBinaries)) return ReadBinary(call, binary->op);
  const auto* const row =
      std::find_if(std::begin(kFunctions), std::end(kFunctions), is_named);
  return row == std::end(kFunctions) ? ReadIntrinsic(call)
                                     : (this->*row->read)(call);
}

bool ScriptParser::Bind(FunctionCall& call,
                        std::initializer_list<const char*> names,
                        size_t required) {
  return Bind(call.form, names, required, &call.bound);
}

bool ScriptParser::Give(FunctionCall& call, PrimExpr e) {
  *call.result = ExprValue(std::move(e), call.form.begin, call.form.end);
  return true;
}

bool ScriptParser::FailToMatch(const FunctionCall& call, const PrimExpr& a,
                               const PrimExpr& b) {
  return Fail(call.form, absl::StrCat("the operands are ", a.dtype().ToString(),
                                      " and ", b.dtype().ToString(),
                                      ", which no conversion makes equal"));
}

bool ScriptParser::ReadBinary(FunctionCall& call, BinaryOp op) {
  PrimExpr a;
  PrimExpr b;
  if (!Bind(call, {"a", "b"}, 2) || !ToExpr(*call.bound[0], &a) ||
      !ToExpr(*call.bound[1], &b)) {
    return false;
  }
  if (!MatchTypes(a, b)) return FailToMatch(call, a, b);
  return Give(call, Binary(op, std::move(a), std::move(b), call.span));
}

bool ScriptParser::ReadNot(FunctionCall& call) {
  PrimExpr a;
  return Bind(call, {"a"}, 1) && ToExpr(*call.bound[0], &a) &&
         Give(call, Not(std::move(a), call.span));
}

bool ScriptParser::ReadCastNode(FunctionCall& call) {
  DType dtype;
  PrimExpr value;
  if (!Bind(call, {"dtype", "value"}, 2) || !ToDType(*call.bound[0], &dtype) ||
      !ToExpr(*call.bound[1], &value)) {
    return false;
  }
  if (dtype.lanes() != value.dtype().lanes()) {
    return Fail(call.form, "the numbers of lanes differ");
  }
  return Give(call, Cast(dtype, std::move(value), call.span));
}

bool ScriptParser::ReadSelect(FunctionCall& call) {
  PrimExpr condition;
  PrimExpr a;
  PrimExpr b;
  if (!Bind(call, {"condition", "true_value", "false_value"}, 3) ||
      !ToExpr(*call.bound[0], &condition) || !ToExpr(*call.bound[1], &a) ||
      !ToExpr(*call.bound[2], &b)) {
    return false;
  }
  if (!MatchTypes(a, b)) return FailToMatch(call, a, b);
  return Give(call, Select(std::move(condition), std::move(a), std::move(b),
                           call.span));
}

bool ScriptParser::ReadRamp(FunctionCall& call) {
  PrimExpr base;
  PrimExpr stride;
  int64_t lanes = 0;
  if (!Bind(call, {"base", "stride", "lanes"}, 3) ||
      !ToExpr(*call.bound[0], &base) || !ToExpr(*call.bound[1], &stride) ||
      !ToInt(*call.bound[2], &lanes)) {
    return false;
  }
  if (lanes < 2 || lanes > 65535 || base.dtype().lanes() != 1 ||
      stride.dtype().lanes() != 1) {
    return Fail(call.form, "T.Ramp takes two scalars and 2 to 65535 lanes");
  }
  return Give(call, Ramp(base, CastTo(base.dtype(), std::move(stride)),
                         static_cast<int>(lanes), call.span));
}

bool ScriptParser::ReadBroadcast(FunctionCall& call) {
  PrimExpr value;
  int64_t lanes = 0;
  if (!Bind(call, {"value", "lanes"}, 2) || !ToExpr(*call.bound[0], &value) ||
      !ToInt(*call.bound[1], &lanes)) {
    return false;
  }
  if (lanes < 2 || lanes > 65535 || value.dtype().lanes() != 1) {
    return Fail(call.form, "T.Broadcast takes a scalar and 2 to 65535 lanes");
  }
  return Give(call,
              Broadcast(std::move(value), static_cast<int>(lanes), call.span));
}

bool ScriptParser::ReadShuffle(FunctionCall& call) {
  std::vector<PrimExpr> vectors;
  std::vector<PrimExpr> indices;
  if (!Bind(call, {"vectors", "indices"}, 2) ||
      !ToExprList(*call.bound[0], &vectors) ||
      !ToExprList(*call.bound[1], &indices)) {
    return false;
  }
  if (vectors.empty() || indices.empty() || indices.size() > 65535) {
    return Fail(call.form, "T.Shuffle takes vectors and indices");
  }
  return Give(call, Shuffle(std::move(vectors), std::move(indices), call.span));
}

bool ScriptParser::ReadLet(FunctionCall& call) {
  PrimExpr body;
  if (!Bind(call, {"expr", "where"}, 2) || !ToExpr(*call.bound[0], &body)) {
    return false;
  }
  const Value& where = *call.bound[1];
  if (!where.Is(Value::kDict) || where.items().size() != 1) {
    return Fail(where, "expected `{variable: value}`");
  }
  Var var;
  PrimExpr value;
  return ToVar(where.parts->keys[0], &var) &&
         ToExpr(where.items()[0], &value) &&
         Give(call, Let(std::move(var), std::move(value), std::move(body),
                        call.span));
}

bool ScriptParser::ReadCommReducer(FunctionCall& call) {
  std::vector<PrimExpr> identity;
  if (!Bind(call, {"combiner", "identity"}, 2)) return false;
  const Value& combiner = *call.bound[0];
  if (!combiner.Is(Value::kLambda)) return Fail(combiner, "expected a lambda");
  if (!ToExprList(*call.bound[1], &identity)) return false;
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
  return Give(call,
              CommReducer({vars.begin(), middle}, {middle, vars.end()},
                          std::move(results), std::move(identity), call.span));
}

bool ScriptParser::ReadIndexMap(FunctionCall& call) {
  if (!Bind(call, {"mapping", "inverse_index_map"}, 1)) return false;
  const auto make = [&](const Value& lambda, PrimExpr inverse, PrimExpr* map) {
    if (!lambda.Is(Value::kLambda)) return Fail(lambda, "expected a lambda");
    std::vector<Var> vars;
    for (const std::string& param : lambda.parts->names) {
      vars.emplace_back(param, kInt32);
    }
    std::vector<PrimExpr> results;
    if (!EvaluateLambda(lambda, vars, &results)) return false;
    *map = IndexMap(std::move(vars), std::move(results), std::move(inverse),
                    call.span);
    return true;
  };
  PrimExpr inverse;
  PrimExpr map;
  if (call.bound[1] != nullptr && !make(*call.bound[1], {}, &inverse))
    return false;
  return make(*call.bound[0], std::move(inverse), &map) &&
         Give(call, std::move(map));
}

bool ScriptParser::ReadTarget(FunctionCall& call) {
  if (!Bind(call, {"target_config", "host"}, 1)) return false;
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
  if (!config_of(*call.bound[0], &config)) return false;
  if (call.bound[1] != nullptr) {
    Dict host;
    if (!config_of(*call.bound[1], &host)) return false;
    if (config.Find("host").defined()) {
      return Fail(*call.bound[1], "the target has a host");
    }
    std::vector<Dict::Entry> entries = config.Entries();
    entries.emplace_back("host", std::move(host));
    config = Dict::OfAll(std::move(entries));
  }
  return Give(call, Target(std::move(config), call.span));
}

bool ScriptParser::ReadIterVar(FunctionCall& call) {
  if (!Bind(call, {"v", "dom", "iter_type", "thread_tag"}, 1)) {
    return false;
  }
  Var var;
  Range dom;
  std::string type_name = "DataPar";
  std::string tag;
  if (!ToVar(*call.bound[0], &var)) return false;
  if (call.bound[1] != nullptr) {
    if (!call.bound[1]->Is(Value::kForm) || call.bound[1]->text != "Range" ||
        call.bound[1]->items().size() != 2) {
      return Fail(*call.bound[1], "expected T.Range(min, extent)");
    }
    if (!ToExpr(call.bound[1]->items()[0], &dom.min) ||
        !ToExpr(call.bound[1]->items()[1], &dom.extent)) {
      return false;
    }
  }
  if (call.bound[2] != nullptr && !ToText(*call.bound[2], &type_name))
    return false;
  if (call.bound[3] != nullptr && !ToText(*call.bound[3], &tag)) return false;
  for (int i = 0; i < NumValuesOf(IterVarType()); ++i) {
    const auto type = static_cast<IterVarType>(i);
    if (IterVarTypeName(type) == type_name) {
      return Give(
          call, IterVar(std::move(dom), var, type, std::move(tag), call.span));
    }
  }
  return Fail(*call.bound[2], absl::StrCat("there is no kind ", type_name));
}

bool ScriptParser::ReadCast(FunctionCall& call) {
  PrimExpr value;
  DType dtype;
  if (!Bind(call, {"src", "dtype"}, 2) || !ToExpr(*call.bound[0], &value) ||
      !ToDType(*call.bound[1], &dtype)) {
    return false;
  }
  if (value.dtype() != dtype && (value.dtype().code() == DType::Code::kHandle ||
                                 dtype.code() == DType::Code::kHandle ||
                                 (dtype.lanes() != value.dtype().lanes() &&
                                  value.dtype().lanes() != 1))) {
    return Fail(call.form,
                absl::StrCat("there is no cast from ", value.dtype().ToString(),
                             " to ", dtype.ToString()));
  }
  return Give(call, CastTo(dtype, std::move(value)));
}

bool ScriptParser::ReadLimit(FunctionCall& call) {
  DType dtype;
  if (!Bind(call, {"dtype"}, 1) || !ToDType(*call.bound[0], &dtype)) {
    return false;
  }
  PrimExpr limit = Limit(dtype, call.name == "max_value");
  if (!limit.defined()) {
    return Fail(*call.bound[0],
                absl::StrCat(dtype.ToString(), " has no such constant"));
  }
  return Give(call, std::move(limit));
}

bool ScriptParser::ReadCeilDiv(FunctionCall& call) {
  PrimExpr a;
  PrimExpr b;
  if (!Bind(call, {"lhs", "rhs"}, 2) || !ToExpr(*call.bound[0], &a) ||
      !ToExpr(*call.bound[1], &b)) {
    return false;
  }
  if (!MatchTypes(a, b)) return FailToMatch(call, a, b);
  if (!WithLanes(a.dtype(), 1).is_integral()) {
    return Fail(call.form, "T.ceildiv takes integers");
  }
  PrimExpr one = MakeConst(b.dtype(), 1);
  PrimExpr sum = Add(std::move(a), Sub(b, std::move(one)));
  return Give(call,
              MakeBinary(BinaryOp::kFloorDiv, std::move(sum), std::move(b)));
}

bool ScriptParser::ReadMetaVar(FunctionCall& call) {
  if (!Bind(call, {"value"}, 1)) return false;
  if (call.bound[0] == nullptr) return Fail(call.form, "None is no value");
  *call.result = *call.bound[0];
  call.result->is_meta = true;
  return true;
}

// Intrinsics of LLVM are named, not numbered.
bool ScriptParser::ReadText(FunctionCall& call) {
  if (!Bind(call, {"value"}, 1)) return false;
  std::string text;
  return ToText(*call.bound[0], &text) &&
         Give(call, StringImm(std::move(text)));
}

bool ScriptParser::ReadAbs(FunctionCall& call) {
  if (call.form.items().size() != 1) return ReadIntrinsic(call);
  PrimExpr x;
  if (!ToExpr(call.form.items()[0], &x)) return false;
  if (x.dtype().is_float()) {
    return Give(call, CallIntrinsic("fabs", {std::move(x)}));
  }
  if (!x.dtype().is_int()) return Give(call, std::move(x));
  PrimExpr zero = MakeConst(x.dtype(), 0);
  return Give(call, Select(Binary(BinaryOp::kGE, x, zero), x,
                           Mul(x, MakeConst(x.dtype(), -1)), call.span));
}

bool ScriptParser::CallNamed(FunctionCall& call, const Value& dtype_name,
                             const Value& op_name, std::vector<PrimExpr> args) {
  DType dtype;
  std::string text;
  if (!ToDType(dtype_name, &dtype) || !ToText(op_name, &text)) return false;
  const Op op = Op::Find(text);
  if (!op.defined() || IntrinsicOf(op) == nullptr) {
    return Fail(op_name, absl::StrCat("there is no operator ", text));
  }
  return Give(call, Call(dtype, op, std::move(args), call.span));
}

// The data type, the name, and the arguments.
bool ScriptParser::ReadCallIntrin(FunctionCall& call) {
  const Values& items = call.form.items();
  if (items.size() < 2) return ReadIntrinsic(call);
  std::vector<PrimExpr> args;
  return ToExprs(Values(items.begin() + 2, items.end()), &args) &&
         CallNamed(call, items[0], items[1], std::move(args));
}

bool ScriptParser::ReadCall(FunctionCall& call) {
  std::vector<PrimExpr> rest;
  if (!Bind(call, {"dtype", "op", "args"}, 3) ||
      !ToExprList(*call.bound[2], &rest)) {
    return false;
  }
  if (!call.bound[1]->Is(Value::kGlobal)) {
    return CallNamed(call, *call.bound[0], *call.bound[1], std::move(rest));
  }
  DType dtype;
  if ((!call.bound[0]->Is(Value::kString) || !call.bound[0]->text.empty()) &&
      !ToDType(*call.bound[0], &dtype)) {
    return false;
  }
  return Give(call,
              Call(dtype,
                   context_.Global(call.bound[1]->text, call.bound[1]->begin,
                                   call.bound[1]->end),
                   std::move(rest), call.span));
}

bool ScriptParser::ReadBufferLoad(FunctionCall& call) {
  if (!Bind(call, {"buffer", "indices"}, 2)) return false;
  if (!call.bound[0]->Is(Value::kBuffer)) {
    return Fail(*call.bound[0], "expected a buffer");
  }
  const Value& indices = *call.bound[1];
  const bool is_list = indices.Is(Value::kTuple) || indices.Is(Value::kList);
  return ApplyIndex(*call.bound[0],
                    is_list ? Values(indices.items()) : Values{indices},
                    call.form.end, call.result);
}

bool ScriptParser::ReadImm(FunctionCall& call) {
  DType dtype;
  if (!Bind(call, {"dtype", "value"}, 2) || !ToDType(*call.bound[0], &dtype)) {
    return false;
  }
  if (dtype.lanes() != 1 ||
      (call.name == "IntImm" ? !dtype.is_integral() : !dtype.is_float())) {
    return Fail(*call.bound[0],
                absl::StrCat("T.", call.name, " is no ", dtype.ToString()));
  }
  if (!call.bound[1]->IsNumber() &&
      !(call.name == "FloatImm" && call.bound[1]->Is(Value::kFloat))) {
    return Fail(*call.bound[1], "expected a number");
  }
  return CallDType(dtype, {*call.bound[1]}, {}, call.form, call.result);
}

bool ScriptParser::ReadInfinity(FunctionCall& call) {
  DType dtype;
  if (!Bind(call, {"dtype"}, 1) || !ToDType(*call.bound[0], &dtype)) {
    return false;
  }
  if (!dtype.is_float() || dtype.lanes() != 1) {
    return Fail(*call.bound[0],
                absl::StrCat(dtype.ToString(), " has no infinity"));
  }
  return Give(call, FloatImm(dtype, std::numeric_limits<double>::infinity()));
}

bool ScriptParser::ReadIsInfinite(FunctionCall& call) {
  if (call.form.items().size() != 1) return ReadIntrinsic(call);
  PrimExpr x;
  if (!ToExpr(call.form.items()[0], &x)) return false;
  const bool is_finite = call.name == "isfinite";
  const DType truth = WithLanes(DType::Bool(), x.dtype().lanes());
  if (x.dtype().is_integral()) {
    return Give(call, MakeConst(truth, is_finite ? 1 : 0));
  }
  if (!x.dtype().is_float())
    return Fail(call.form.items()[0], "expected a number");
  const PrimExpr infinity =
      CastTo(x.dtype(), FloatImm(WithLanes(x.dtype(), 1),
                                 std::numeric_limits<double>::infinity()));
  const PrimExpr nan = CallIntrinsic(
      "isnan", {x.dtype().bits() == 16
                    ? CastTo(WithLanes(DType::Float(32), x.dtype().lanes()), x)
                    : x});
  const PrimExpr is_infinite = MakeBinary(
      BinaryOp::kAnd,
      Binary(BinaryOp::kEQ, CallIntrinsic("fabs", {x}), infinity), Not(nan));
  return Give(call, is_finite
                        ? MakeBinary(BinaryOp::kAnd, Not(is_infinite), Not(nan))
                        : is_infinite);
}

bool ScriptParser::ReadVar(FunctionCall& call) {
  DType dtype;
  if (!Bind(call, {"dtype", "name"}, 1) || !ToDType(*call.bound[0], &dtype)) {
    return false;
  }
  return CallDType(dtype, {}, {}, call.form, call.result);
}

bool ScriptParser::FailUnknown(const FunctionCall& call) {
  for (const Removed& removed : kRemoved) {
    if (removed.name == call.name) {
      return Fail(call.form, absl::StrCat("T.", call.name,
                                          " is not read: ", removed.reason));
    }
  }
  return Fail(call.form.begin,
              call.form.begin + static_cast<int64_t>(call.name.size()) + 2,
              absl::StrCat("there is no T.", call.name,
                           DidYouMean(call.name, FunctionNames())));
}

bool ScriptParser::ReadIntrinsic(FunctionCall& call) {
  const Op op =
      FindIntrinsic(absl::StripPrefix(call.name, "tvm_call_") != call.name
                        ? call.name.substr(4)
                        : call.name);
  const Intrinsic* intrinsic = IntrinsicOf(op);
  if (intrinsic == nullptr) return FailUnknown(call);
  Values rest = call.form.items();
  Value type;
  bool has_type = false;
  for (const auto& [key, value] : call.form.parts->keywords) {
    if (key != "dtype") {
      return Fail(value, absl::StrCat("T.", call.name, " has no argument `",
                                      key, "`: known is dtype"));
    }
    type = value;
    has_type = true;
  }
  const bool is_given = intrinsic->type == CallType::kGiven ||
                        intrinsic->type == CallType::kGivenEnd;
  if (is_given && !has_type) {
    if (rest.empty()) {
      return Fail(call.form,
                  absl::StrCat("T.", call.name, " lacks a data type"));
    }
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
    return Fail(call.form,
                absl::StrCat("T.", call.name, " takes ", intrinsic->arity,
                             " arguments, these are ", rest.size()));
  }
  std::vector<PrimExpr> exprs;
  if (!ToExprs(rest, &exprs)) return false;
  if (MatchesOperands(call.name) && !MatchTypes(exprs[0], exprs[1])) {
    return FailToMatch(call, exprs[0], exprs[1]);
  }
  if (call.name == "if_then_else" && !MatchTypes(exprs[1], exprs[2])) {
    return FailToMatch(call, exprs[1], exprs[2]);
  }
  if (is_given) {
    DType dtype;
    return ToDType(type, &dtype) &&
           Give(call, Call(dtype, op, std::move(exprs), call.span));
  }
  const PrimExpr made = CallIntrinsic(intrinsic->name, std::move(exprs));
  const auto* node = made.As<CallNode>();
  return Give(call,
              Call(made.dtype(), op, {node->args().begin(), node->args().end()},
                   call.span));
}

}  // namespace baton::tir
