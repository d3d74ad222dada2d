#include "baton/tir/codegen/cpp_source.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/codegen/source_texts.h"
#include "baton/tir/codegen/statement_writer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// --- Types -------------------------------------------------------------------

bool IsPowerOfTwo(int n) { return n > 0 && (n & (n - 1)) == 0; }

// True for vectors that are values of a vector type of the compiler.
bool IsNativeVector(DType dtype) {
  return dtype.lanes() > 1 && dtype.lanes() <= 64 &&
         IsPowerOfTwo(dtype.lanes()) && !dtype.is_half() &&
         !CppElementType(WithLanes(dtype, 1)).empty();
}

// The name of a vector type: `f32x8`; truth values are `i32x8`.
std::string VectorType(DType dtype) {
  if (dtype.is_bool()) return absl::StrCat("i32x", dtype.lanes());
  const char code = dtype.is_float() ? 'f' : dtype.is_uint() ? 'u' : 'i';
  return absl::StrFormat("%c%dx%d", code, dtype.bits(), dtype.lanes());
}

// --- Lanes -------------------------------------------------------------------

// Replaces an expression of vectors by that of one lane of it.
class LaneOf : public Rewriter {
 public:
  explicit LaneOf(PrimExpr lane) : lane_(std::move(lane)) {}
  bool failed = false;

  PrimExpr Of(const PrimExpr& e) {
    return e.dtype().lanes() == 1 ? e : Rewrite(e);
  }

 protected:
  PrimExpr VisitRamp(const RampNode* node) override {
    return Add(node->base(),
               Mul(node->stride(), CastTo(node->stride().dtype(), lane_)));
  }
  PrimExpr VisitBroadcast(const BroadcastNode* node) override {
    return node->value();
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    return Binary(node->op(), Of(node->a()), Of(node->b()), node->span());
  }
  PrimExpr VisitNot(const NotNode* node) override {
    return Not(Of(node->a()), node->span());
  }
  PrimExpr VisitCast(const CastNode* node) override {
    return Cast(WithLanes(node->dtype(), 1), Of(node->value()), node->span());
  }
  PrimExpr VisitSelect(const SelectNode* node) override {
    return Select(Of(node->condition()), Of(node->true_value()),
                  Of(node->false_value()), node->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    // Vectors as elements have lanes of their own.
    if (node->buffer().dtype().lanes() != 1) failed = true;
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : node->indices()) indices.push_back(Of(index));
    return BufferLoad(node->buffer(), std::move(indices), node->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const Intrinsic* intrinsic = IntrinsicOf(node->op());
    if (intrinsic == nullptr || intrinsic->effect > CallEffect::kPure) {
      failed = true;
    }
    std::vector<PrimExpr> args;
    for (const PrimExpr& arg : node->args()) args.push_back(Of(arg));
    return Call(WithLanes(node->dtype(), 1), node->op(), std::move(args),
                node->span());
  }
  PrimExpr VisitVar(const VarNode* node) override {
    failed = true;
    return PrimExpr(node);
  }
  PrimExpr VisitShuffle(const ShuffleNode* node) override {
    failed = true;
    return node->vectors()[0];
  }
  PrimExpr VisitLet(const LetNode* node) override {
    failed = true;
    return node->body();
  }

 private:
  PrimExpr lane_;
};

// --- Expressions and statements ------------------------------------------

// The precedence of the operator at the root of a text.
enum class Binding { kAny, kCompare, kAdd, kMultiply, kPrimary };

struct Text {
  std::string text;
  Binding binding = Binding::kPrimary;
  Interval range;
};

std::string Bare(const Text& text) { return text.text; }
std::string At(const Text& text, Binding least) {
  return text.binding >= least ? text.text : absl::StrCat("(", text.text, ")");
}

// Intrinsics on floats. $T: the type; $a, $b, $c: the arguments; $D(...): a
// double rounded to the type. Those of `math::` are the house's.
struct FloatIntrinsic {
  const char* name;
  const char* f32;
  const char* f64;
};
constexpr FloatIntrinsic kFloatIntrinsics[] = {
    {"exp", "math::Exp($a)", "math::Exp($a)"},
    {"tanh", "math::Tanh($a)", "math::Tanh($a)"},
    {"sigmoid", "math::Sigmoid($a)", "math::Sigmoid($a)"},
    {"erf", "math::Erf($a)", "math::Erf($a)"},
    {"log", "math::Log($a)", "math::Log($a)"},
    {"log2", "math::Log2($a)", "math::Log2($a)"},
    {"log10", "math::Log10($a)", "math::Log10($a)"},
    {"sin", "math::AnySin($a)", "math::AnySin($a)"},
    {"cos", "math::AnyCos($a)", "math::AnyCos($a)"},
    {"tan", "math::AnyTan($a)", "math::AnyTan($a)"},
    {"sinh", "math::Sinh($a)", "math::Sinh($a)"},
    {"cosh", "math::Cosh($a)", "math::Cosh($a)"},
    {"asin", "math::Asin($a)", "math::Asin($a)"},
    {"acos", "math::Acos($a)", "math::Acos($a)"},
    {"atan", "math::Atan($a)", "math::Atan($a)"},
    {"asinh", "math::Asinh($a)", "math::Asinh($a)"},
    {"acosh", "math::Acosh($a)", "math::Acosh($a)"},
    {"atanh", "math::Atanh($a)", "math::Atanh($a)"},
    {"pow", "math::AnyPower($a, $b)", "math::AnyPower($a, $b)"},
    {"sqrt", "__builtin_sqrtf($a)", "__builtin_sqrt($a)"},
    {"rsqrt", "(1.0f / __builtin_sqrtf($a))", "(1.0 / __builtin_sqrt($a))"},
    {"floor", "__builtin_floorf($a)", "__builtin_floor($a)"},
    {"ceil", "__builtin_ceilf($a)", "__builtin_ceil($a)"},
    {"round", "__builtin_roundf($a)", "__builtin_round($a)"},
    {"nearbyint", "__builtin_nearbyintf($a)", "__builtin_nearbyint($a)"},
    {"trunc", "__builtin_truncf($a)", "__builtin_trunc($a)"},
    {"fabs", "__builtin_fabsf($a)", "__builtin_fabs($a)"},
    {"copysign", "__builtin_copysignf($a, $b)", "__builtin_copysign($a, $b)"},
    {"fma", "__builtin_fmaf($a, $b, $c)", "__builtin_fma($a, $b, $c)"},
    {"nextafter", "__builtin_nextafterf($a, $b)",
     "__builtin_nextafter($a, $b)"},
    {"exp2", "static_cast<float>(__builtin_exp2($a))", "__builtin_exp2($a)"},
    {"exp10", "static_cast<float>(__builtin_pow(10.0, $a))",
     "__builtin_pow(10.0, $a)"},
    {"log1p", "static_cast<float>(__builtin_log1p($a))", "__builtin_log1p($a)"},
    {"atan2", "static_cast<float>(__builtin_atan2($a, $b))",
     "__builtin_atan2($a, $b)"},
    {"hypot", "static_cast<float>(__builtin_hypot($a, $b))",
     "__builtin_hypot($a, $b)"},
    {"fmod", "__builtin_fmodf($a, $b)", "__builtin_fmod($a, $b)"},
    {"ldexp", "static_cast<float>(__builtin_ldexp($a, static_cast<int>($b)))",
     "__builtin_ldexp($a, static_cast<int>($b))"},
};

// The words of lines of C++ that are no directives, without comments.
FlatHashMap<absl::string_view, bool> WordsOf(absl::string_view text) {
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  FlatHashMap<absl::string_view, bool> words;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "#")) continue;
    line = line.substr(0, line.find("//"));
    for (size_t i = 0; i < line.size();) {
      size_t end = i;
      while (end < line.size() && is_word(line[end])) ++end;
      if (end > i) words.emplace(line.substr(i, end - i), true);
      i = end + 1;
    }
  }
  return words;
}

class FunctionWriter final : private StatementWriter {
 public:
  FunctionWriter(const CppFunction& function, const CppSourceOptions& options,
                 CppNames& symbols, Diagnostics& problems)
      : function_(function), options_(options), problems_(problems) {
    for (const char* name :
         {"rt", "math", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
          "uint16_t", "uint32_t", "uint64_t", "size_t", "std", "workspace",
          "main"}) {
      names_.Reserve(name);
    }
    emitted_.name = symbols.Unique(function.symbol);
    names_.Reserve(emitted_.name);
  }

  // The definition of the function.
  std::string Write(FlatHashMap<std::string, DType>& vectors) {
    const PrimFuncNode* node = function_.function.get();
    written_.Visit(node->body());
    AddParams(node);
    body_.reserve(4096);
    indent_ = 1;
    WriteStmt(node->body(), /*depth=*/0);
    if (emitted_.can_fail) Line("return 0;");
    if (workspace_.bytes() > 0) {
      emitted_.workspace_bytes = workspace_.bytes();
      emitted_.params.push_back(WorkspaceParam());
    }
    const FlatHashMap<absl::string_view, bool> used_names = WordsOf(body_);
    std::vector<std::string> params;
    for (const CppParam& param : emitted_.params) {
      const bool used = param.kind == CppParam::Kind::kWorkspace ||
                        used_names.count(param.name) != 0;
      params.push_back(absl::StrCat(param.type, " ", used ? "" : "/*",
                                    param.name, used ? "" : "*/"));
    }
    const absl::string_view result =
        emitted_.can_fail || returns_ ? "int" : "void";
    emitted_.declaration = absl::StrCat(result, " ", emitted_.name, "(",
                                        absl::StrJoin(params, ", "), ")");
    vectors.insert(vectors_.begin(), vectors_.end());
    std::string text;
    if (!function_.origin.empty()) {
      for (absl::string_view line : absl::StrSplit(function_.origin, '\n')) {
        absl::StrAppend(&text, "// ", CppCommentText(line), "\n");
      }
    }
    absl::StrAppend(&text, options_.is_shared ? kCppShared : "static ",
                    emitted_.declaration, " {\n", body_, "}\n",
                    options_.line_table ? kCppOwnLines : "");
    return text;
  }

  CppEmitted emitted() && { return std::move(emitted_); }
  bool uses_math() const { return uses_math_; }

 private:
  // --- Problems --------------------------------------------------------------

  Text Refuse(const ExprNode* node, absl::string_view message) {
    Span span = PlaceOf(node);
    if (!span.defined()) span = statement_span_;
    problems_.Error(span, absl::StrCat("function ", function_.symbol, ": ",
                                       message, " cannot be written as C++"));
    return {"0", Binding::kPrimary, {}};
  }

  void RefuseStatement(const ExprNode* node,
                       absl::string_view message) override {
    Refuse(node, message);
  }

  // --- Names and parameters ----------------------------------------------

  struct Variable {
    std::string name;
    Interval range;
    DType element;  // of a pointer
  };

  void AddParams(const PrimFuncNode* node) {
    emitted_.params =
        ParamsOf(node, written_, names_,
                 [this](const ExprNode* part, absl::string_view message) {
                   Refuse(part, message);
                 });
    for (const CppParam& param : emitted_.params) {
      const bool is_pointer = param.kind == CppParam::Kind::kPointer;
      variables_[param.variable] = {
          param.name, is_pointer ? Interval() : RangeOf(param.variable),
          is_pointer ? param.dtype : DType()};
    }
  }

  std::string Define(const VarNode* var, Interval range, DType element = {}) {
    has_let_ = true;
    std::string name = names_.Unique(var->name());
    variables_[var] = {name, range, element};
    return name;
  }

  std::string Vector(DType dtype) {
    const std::string name = VectorType(dtype);
    vectors_.emplace(name, dtype);
    return absl::StrCat("rt::", name);
  }

  // --- Expressions -----------------------------------------------------------

  Text Emit(const PrimExpr& e) {
    return OnDeepStack([this, &e] { return EmitNode(e); });
  }

  Text EmitNode(const PrimExpr& e) {
    switch (e->kind().To<TirKind>()) {
      case TirKind::kVar: {
        const auto* var = e.As<VarNode>();
        const Variable* known = variables_.Find(var);
        if (known == nullptr) {
          return Refuse(var, absl::StrCat("variable ", var->name(),
                                          ", which nothing defines,"));
        }
        return {known->name, Binding::kPrimary, known->range};
      }
      case TirKind::kIntImm:
        return Integer(e.dtype(), e.As<IntImmNode>()->value());
      case TirKind::kFloatImm:
        return {Real(e.dtype(), e.As<FloatImmNode>()->value()),
                Binding::kPrimary,
                {}};
      case TirKind::kCast:
        return EmitCast(e.As<CastNode>());
      case TirKind::kBinary:
        return EmitBinary(e.As<BinaryNode>());
      case TirKind::kNot: {
        const auto* node = e.As<NotNode>();
        const Text a = Emit(node->a());
        const bool is_vector = e.dtype().lanes() > 1;
        return {absl::StrCat(is_vector ? "~" : "!", At(a, Binding::kPrimary)),
                Binding::kMultiply,
                {0, 1}};
      }
      case TirKind::kSelect: {
        const auto* node = e.As<SelectNode>();
        return EmitChoice(node->condition(), node->true_value(),
                          node->false_value());
      }
      case TirKind::kRamp: {
        const auto* node = e.As<RampNode>();
        if (!IsNativeVector(e.dtype())) return RefuseVector(node);
        return Primary(absl::StrCat("rt::Ramp<", Vector(e.dtype()), ", ",
                                    CppValueType(node->base().dtype()), ">(",
                                    Bare(Emit(node->base())), ", ",
                                    Bare(Emit(node->stride())), ")"));
      }
      case TirKind::kBroadcast: {
        const auto* node = e.As<BroadcastNode>();
        if (!IsNativeVector(e.dtype())) return RefuseVector(node);
        const Text value = Emit(node->value());
        if (e.dtype().is_bool()) {
          return Primary(
              absl::StrCat("rt::Splat<", Vector(e.dtype()), ", int32_t>(",
                           At(value, Binding::kCompare), " ? -1 : 0)"));
        }
        return Primary(absl::StrCat("rt::Splat<", Vector(e.dtype()), ", ",
                                    CppValueType(e.dtype()), ">(", Bare(value),
                                    ")"));
      }
      case TirKind::kShuffle:
        return EmitShuffle(e.As<ShuffleNode>());
      case TirKind::kBufferLoad:
        return EmitLoad(e.As<BufferLoadNode>());
      case TirKind::kCall:
        return EmitCall(e.As<CallNode>());
      case TirKind::kLet: {
        const auto* node = e.As<LetNode>();
        const Text value = Emit(node->value());
        const std::string type = TypeOf(node->value().dtype(), node);
        const std::string name = Define(node->var().get(), value.range);
        const Text body = Emit(node->body());
        return {
            absl::StrCat("([&] { [[maybe_unused]] const ", type, " ", name,
                         " = ", Bare(value), "; return ", Bare(body), "; }())"),
            Binding::kPrimary, body.range};
      }
      default:
        return Refuse(e.get(), "a part of a definition or an annotation");
    }
  }

  static Text Primary(std::string text) {
    return {std::move(text), Binding::kPrimary, {}};
  }

  Text RefuseVector(const PrimExprNode* node) {
    return Refuse(node, absl::StrCat("a vector of type ",
                                     node->dtype().ToString(), " here"));
  }

  // The type of a variable.
  std::string TypeOf(DType dtype, const ExprNode* node) {
    if (dtype.lanes() > 1) {
      if (IsNativeVector(dtype)) return Vector(dtype);
      Refuse(node, absl::StrCat("a variable of type ", dtype.ToString()));
      return "int32_t";
    }
    std::string type = CppValueType(dtype);
    if (type.empty()) {
      Refuse(node, absl::StrCat("a variable of type ", dtype.ToString()));
      return "int32_t";
    }
    return type;
  }

  Text Integer(DType dtype, int64_t value) {
    Interval range{value, value};
    if (dtype.is_bool())
      return {value != 0 ? "true" : "false", Binding::kPrimary, range};
    if (dtype.is_uint()) {
      if (dtype.bits() == 64) {
        return {absl::StrCat("uint64_t{", static_cast<uint64_t>(value), "u}"),
                Binding::kPrimary,
                {}};
      }
      return {absl::StrCat(value, dtype.bits() == 32 ? "u" : ""),
              Binding::kPrimary, range};
    }
    if (dtype.bits() == 64) {
      if (value == std::numeric_limits<int64_t>::min()) {
        return {"(-int64_t{9223372036854775807} - 1)", Binding::kPrimary,
                range};
      }
      return {absl::StrCat(value < 0 ? "-" : "", "int64_t{",
                           value < 0 ? -value : value, "}"),
              value < 0 ? Binding::kMultiply : Binding::kPrimary, range};
    }
    if (value == std::numeric_limits<int32_t>::min()) {
      return {"(-2147483647 - 1)", Binding::kPrimary, range};
    }
    return {absl::StrCat(value),
            value < 0 ? Binding::kMultiply : Binding::kPrimary, range};
  }

  std::string Real(DType dtype, double value) {
    const bool is_double = dtype.bits() == 64;
    const char* suffix = is_double ? "" : "f";
    if (std::isnan(value))
      return absl::StrCat("__builtin_nan", suffix, "(\"\")");
    value = RoundedTo(dtype, value);
    if (std::isinf(value)) {
      return absl::StrCat(value < 0 ? "(-" : "", "__builtin_inf", suffix, "()",
                          value < 0 ? ")" : "");
    }
    // The shortest decimal text that is the number again, if it is short.
    std::string text = is_double ? absl::StrFormat("%.15g", value)
                                 : absl::StrFormat("%.6g", value);
    const double back = is_double ? std::strtod(text.c_str(), nullptr)
                                  : std::strtof(text.c_str(), nullptr);
    if (back != value) {
      text = absl::StrFormat("%a", value);
    } else if (text.find_first_of(".en") == std::string::npos) {
      text += ".0";
    }
    const bool negative = std::signbit(value);
    return absl::StrCat(negative ? "(" : "", text, suffix, negative ? ")" : "");
  }

  // `text` of a float rounded to a half, where `dtype` is one.
  static std::string Rounded(DType dtype, std::string text) {
    if (!dtype.is_half()) return text;
    return absl::StrCat(
        IsBFloat(dtype) ? "rt::RoundBFloat16(" : "rt::RoundFloat16(", text,
        ")");
  }

  Text EmitCast(const CastNode* node) {
    const DType from = node->value().dtype();
    const DType to = node->dtype();
    Text value = Emit(node->value());
    if (from == to) return value;
    if (to.lanes() > 1) return EmitVectorCast(node, value, from, to);
    if (from == kHandle || to == kHandle)
      return Refuse(node, "a cast of a pointer");
    const std::string type = TypeOf(to, node);
    if (to.is_bool()) {
      const char* zero = from.is_bool() ? "" : " != 0";
      return {absl::StrCat(At(value, Binding::kAdd), zero),
              Binding::kCompare,
              {0, 1}};
    }
    if (to.is_float()) {
      std::string text =
          absl::StrCat("static_cast<", type, ">(", Bare(value), ")");
      return Primary(Rounded(to, std::move(text)));
    }
    if (from.is_float()) {
      return {absl::StrCat("rt::ToInteger<", type, ", ", CppValueType(from),
                           ">(", Bare(value), ")"),
              Binding::kPrimary, RangeOf(to)};
    }
    const Interval all = RangeOf(to);
    const bool fits = value.range.low >= all.low &&
                      value.range.high <= all.high &&
                      !(from.is_uint() && from.bits() == 64);
    return {absl::StrCat("static_cast<", type, ">(", Bare(value), ")"),
            Binding::kPrimary, fits ? value.range : all};
  }

  Text EmitVectorCast(const CastNode* node, const Text& value, DType from,
                      DType to) {
    if (!IsNativeVector(from) || !IsNativeVector(to)) return RefuseVector(node);
    const std::string type = Vector(to);
    if (to.is_bool()) {
      return Primary(absl::StrCat("rt::Convert<", type, ">(", Bare(value),
                                  " != ", Vector(from), "{})"));
    }
    if (from.is_bool()) {
      return Primary(absl::StrCat("rt::Convert<", type, ">(-",
                                  At(value, Binding::kPrimary), ")"));
    }
    if (from.is_float() && !to.is_float()) {
      return Primary(absl::StrCat("rt::Map<", type, ">(", Bare(value),
                                  ", rt::ToInteger<", CppValueType(to), ", ",
                                  CppValueType(from), ">)"));
    }
    return Primary(absl::StrCat("rt::Convert<", type, ">(", Bare(value), ")"));
  }

  Text EmitChoice(const PrimExpr& condition, const PrimExpr& yes,
                  const PrimExpr& no) {
    const Text c = Emit(condition);
    const Text a = Emit(yes);
    const Text b = Emit(no);
    const DType dtype = yes.dtype();
    if (condition.dtype().lanes() > 1) {
      if (!IsNativeVector(dtype)) return RefuseVector(yes.get());
      const std::string type = Vector(dtype);
      return Primary(absl::StrCat("rt::Select<", type, ">(", Bare(c), ", ",
                                  Bare(a), ", ", Bare(b), ")"));
    }
    if (dtype.lanes() > 1 && !IsNativeVector(dtype)) {
      return RefuseVector(yes.get());
    }
    // Operands of less than 32 bits are promoted.
    return {absl::StrCat(At(c, Binding::kCompare), " ? ", At(a, Binding::kAdd),
                         " : ", At(b, Binding::kAdd)),
            Binding::kAny,
            {std::min(a.range.low, b.range.low),
             std::max(a.range.high, b.range.high)}};
  }

  Text EmitShuffle(const ShuffleNode* node) {
    if (node->dtype().lanes() > 1 && !IsNativeVector(node->dtype())) {
      return RefuseVector(node);
    }
    // Lanes are numbered through all vectors.
    std::vector<std::string> lanes;
    for (const PrimExpr& vector : node->vectors()) {
      const Text text = Emit(vector);
      const int n = vector.dtype().lanes();
      if (n > 1 && !IsNativeVector(vector.dtype())) return RefuseVector(node);
      for (int i = 0; i < n; ++i) {
        lanes.push_back(
            n == 1 ? At(text, Binding::kPrimary)
                   : absl::StrCat(At(text, Binding::kPrimary), "[", i, "]"));
      }
    }
    std::vector<std::string> chosen;
    for (const PrimExpr& index : node->indices()) {
      const auto* number = index.As<IntImmNode>();
      if (number == nullptr || number->value() < 0 ||
          number->value() >= static_cast<int64_t>(lanes.size())) {
        return Refuse(node, "a shuffle by lanes that are no constants");
      }
      chosen.push_back(lanes[static_cast<size_t>(number->value())]);
    }
    if (node->dtype().lanes() == 1 && !chosen.empty())
      return Primary(chosen[0]);
    return Primary(absl::StrCat(Vector(node->dtype()), "{",
                                absl::StrJoin(chosen, ", "), "}"));
  }

  Text EmitBinary(const BinaryNode* node) {
    const Text a = Emit(node->a());
    const Text b = Emit(node->b());
    const DType dtype = node->a().dtype();
    if (dtype.lanes() > 1) return EmitVectorBinary(node, a, b);
    const BinaryOp op = node->op();
    if (IsLogical(op)) return EmitLogical(op, dtype, a, b);
    if (dtype.is_float()) return EmitFloatBinary(op, dtype, a, b);
    if (dtype.is_bool()) {
      // Truth values wrap at 2; no quotient has a meaning.
      const char* sign = op == BinaryOp::kMul || op == BinaryOp::kMin   ? " && "
                         : op == BinaryOp::kAdd || op == BinaryOp::kMax ? " || "
                         : op == BinaryOp::kSub                         ? " != "
                                                : nullptr;
      if (sign == nullptr) return Refuse(node, "a division of truth values");
      return {absl::StrCat(At(a, Binding::kPrimary), sign,
                           At(b, Binding::kPrimary)),
              Binding::kAny,
              {0, 1}};
    }
    const std::string type = CppValueType(dtype);
    if (type.empty()) {
      return Refuse(node, absl::StrCat("an operation on ", dtype.ToString()));
    }
    const auto call = [&](absl::string_view name, Interval range) {
      return Text{absl::StrCat("rt::", name, "<", type, ">(", Bare(a), ", ",
                               Bare(b), ")"),
                  Binding::kPrimary, range};
    };
    const bool wide = dtype.is_uint() && dtype.bits() >= 32;
    switch (op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
      case BinaryOp::kMul: {
        Interval range;
        const bool exact = Combine(op, a.range, b.range, dtype, range);
        if (!exact) range = RangeOf(dtype);
        if (!exact && !wide) {
          return call(op == BinaryOp::kAdd   ? "Add"
                      : op == BinaryOp::kSub ? "Sub"
                                             : "Mul",
                      range);
        }
        if (op == BinaryOp::kMul) {
          return {absl::StrCat(At(a, Binding::kMultiply), " * ",
                               At(b, Binding::kPrimary)),
                  Binding::kMultiply, range};
        }
        return {absl::StrCat(At(a, Binding::kAdd),
                             op == BinaryOp::kAdd ? " + " : " - ",
                             At(b, Binding::kMultiply)),
                Binding::kAdd, range};
      }
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
      case BinaryOp::kFloorDiv:
      case BinaryOp::kFloorMod: {
        const bool is_quotient =
            op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
        const bool plain = a.range.low >= 0 && b.range.low > 0 &&
                           !(dtype.is_uint() && dtype.bits() == 64);
        if (plain) {
          const Interval range =
              is_quotient
                  ? Interval{a.range.low / b.range.high,
                             a.range.high / b.range.low}
                  : Interval{0, std::min(a.range.high, b.range.high - 1)};
          return {absl::StrCat(At(a, Binding::kMultiply),
                               is_quotient ? " / " : " % ",
                               At(b, Binding::kPrimary)),
                  Binding::kMultiply, range};
        }
        return call(op == BinaryOp::kDiv        ? "Div"
                    : op == BinaryOp::kMod      ? "Mod"
                    : op == BinaryOp::kFloorDiv ? "FloorDiv"
                                                : "FloorMod",
                    RangeOf(dtype));
      }
      case BinaryOp::kMin:
        return call("Min", {std::min(a.range.low, b.range.low),
                            std::min(a.range.high, b.range.high)});
      case BinaryOp::kMax:
        return call("Max", {std::max(a.range.low, b.range.low),
                            std::max(a.range.high, b.range.high)});
      default:
        return Refuse(node, "an operation on integers");
    }
  }

  // The result of a comparison of a value with itself, of which compilers warn.
  static bool OfEqual(BinaryOp op) {
    return op == BinaryOp::kEQ || op == BinaryOp::kLE || op == BinaryOp::kGE;
  }
  static Text Known(bool value) {
    return {value ? "true" : "false",
            Binding::kPrimary,
            {value ? 1 : 0, value ? 1 : 0}};
  }

  Text EmitLogical(BinaryOp op, DType dtype, const Text& a, const Text& b) {
    const char* sign = "";
    switch (op) {
      case BinaryOp::kEQ:
        sign = " == ";
        break;
      case BinaryOp::kNE:
        sign = " != ";
        break;
      case BinaryOp::kLT:
        sign = " < ";
        break;
      case BinaryOp::kLE:
        sign = " <= ";
        break;
      case BinaryOp::kGT:
        sign = " > ";
        break;
      case BinaryOp::kGE:
        sign = " >= ";
        break;
      case BinaryOp::kAnd:
        return {absl::StrCat(At(a, Binding::kCompare), " && ",
                             At(b, Binding::kCompare)),
                Binding::kAny,
                {0, 1}};
      default:
        return {absl::StrCat(At(a, Binding::kCompare), " || ",
                             At(b, Binding::kCompare)),
                Binding::kAny,
                {0, 1}};
    }
    if (!dtype.is_float() && a.text == b.text) return Known(OfEqual(op));
    // Compilers warn of comparisons that the types of operands decide.
    const bool integers =
        dtype.is_integral() && !(dtype.is_uint() && dtype.bits() == 64);
    if (integers && !dtype.is_bool()) {
      const bool less = a.range.high < b.range.low;
      const bool greater = a.range.low > b.range.high;
      const bool at_most = a.range.high <= b.range.low;
      const bool at_least = a.range.low >= b.range.high;
      int known = -1;
      if (op == BinaryOp::kLT && (less || at_least)) known = less ? 1 : 0;
      if (op == BinaryOp::kLE && (at_most || greater)) known = at_most ? 1 : 0;
      if (op == BinaryOp::kGT && (greater || at_most)) known = greater ? 1 : 0;
      if (op == BinaryOp::kGE && (at_least || less)) known = at_least ? 1 : 0;
      if ((op == BinaryOp::kEQ || op == BinaryOp::kNE) && (less || greater)) {
        known = op == BinaryOp::kNE ? 1 : 0;
      }
      if (known >= 0) return Known(known == 1);
    }
    return {absl::StrCat(At(a, Binding::kAdd), sign, At(b, Binding::kAdd)),
            Binding::kCompare,
            {0, 1}};
  }

  Text EmitFloatBinary(BinaryOp op, DType dtype, const Text& a, const Text& b) {
    const std::string type = CppValueType(dtype);
    Text result;
    const auto infix = [&](const char* sign, Binding binding, Binding right) {
      result = {absl::StrCat(At(a, binding), sign, At(b, right)), binding, {}};
    };
    // Computed in double, and rounded.
    const auto in_double = [&](absl::string_view text) {
      result = Primary(absl::StrCat(
          "static_cast<", type, ">(",
          absl::StrReplaceAll(
              text,
              {{"$a", absl::StrCat("static_cast<double>(", Bare(a), ")")},
               {"$b", absl::StrCat("static_cast<double>(", Bare(b), ")")}}),
          ")"));
    };
    switch (op) {
      case BinaryOp::kAdd:
        infix(" + ", Binding::kAdd, Binding::kMultiply);
        break;
      case BinaryOp::kSub:
        infix(" - ", Binding::kAdd, Binding::kMultiply);
        break;
      case BinaryOp::kMul:
        infix(" * ", Binding::kMultiply, Binding::kPrimary);
        break;
      case BinaryOp::kDiv:
        infix(" / ", Binding::kMultiply, Binding::kPrimary);
        break;
      case BinaryOp::kMod:
        in_double("__builtin_fmod($a, $b)");
        break;
      case BinaryOp::kFloorDiv:
        in_double("__builtin_floor($a / $b)");
        break;
      case BinaryOp::kFloorMod:
        in_double("$a - __builtin_floor($a / $b) * $b");
        break;
      default:
        return Primary(
            absl::StrCat(op == BinaryOp::kMin ? "rt::Min<" : "rt::Max<", type,
                         ">(", Bare(a), ", ", Bare(b), ")"));
    }
    if (dtype.is_half()) return Primary(Rounded(dtype, Bare(result)));
    return result;
  }

  Text EmitVectorBinary(const BinaryNode* node, const Text& a, const Text& b) {
    const DType dtype = node->a().dtype();
    if (!IsNativeVector(dtype)) return RefuseVector(node);
    const BinaryOp op = node->op();
    const std::string type = Vector(dtype);
    const std::string left = At(a, Binding::kPrimary);
    const std::string right = At(b, Binding::kPrimary);
    const auto infix = [&](const char* sign) {
      return absl::StrCat(left, sign, right);
    };
    if (IsLogical(op)) {
      const char* sign = op == BinaryOp::kEQ    ? " == "
                         : op == BinaryOp::kNE  ? " != "
                         : op == BinaryOp::kLT  ? " < "
                         : op == BinaryOp::kLE  ? " <= "
                         : op == BinaryOp::kGT  ? " > "
                         : op == BinaryOp::kGE  ? " >= "
                         : op == BinaryOp::kAnd ? " & "
                                                : " | ";
      if (!IsComparison(op)) return {infix(sign), Binding::kAny, {}};
      if (!dtype.is_float() && a.text == b.text) {
        return Primary(absl::StrCat("rt::Splat<", Vector(node->dtype()),
                                    ", int32_t>(", OfEqual(op) ? "-1" : "0",
                                    ")"));
      }
      return Primary(absl::StrCat("rt::Convert<", Vector(node->dtype()), ">(",
                                  infix(sign), ")"));
    }
    if (dtype.is_bool()) return Refuse(node, "arithmetic on truth values");
    if (op == BinaryOp::kMin || op == BinaryOp::kMax) {
      return Primary(
          absl::StrCat(op == BinaryOp::kMin ? "rt::MinV<" : "rt::MaxV<", type,
                       ">(", Bare(a), ", ", Bare(b), ")"));
    }
    const char* sign = op == BinaryOp::kAdd   ? " + "
                       : op == BinaryOp::kSub ? " - "
                       : op == BinaryOp::kMul ? " * "
                       : op == BinaryOp::kDiv ? " / "
                                              : nullptr;
    const std::string scalar = CppValueType(dtype);
    if (dtype.is_float()) {
      if (sign != nullptr) {
        return {infix(sign),
                op == BinaryOp::kAdd || op == BinaryOp::kSub
                    ? Binding::kAdd
                    : Binding::kMultiply,
                {}};
      }
      const char* expression = op == BinaryOp::kMod ? "__builtin_fmod(x, y)"
                               : op == BinaryOp::kFloorDiv
                                   ? "__builtin_floor(x / y)"
                                   : "x - __builtin_floor(x / y) * y";
      return Primary(
          absl::StrCat("rt::Map<", type, ">(", Bare(a), ", ", Bare(b),
                       ", [](double x, double y) { return static_cast<", scalar,
                       ">(", expression, "); })"));
    }
    if (sign != nullptr && op != BinaryOp::kDiv) {
      if (dtype.is_uint()) {
        return {infix(sign),
                op == BinaryOp::kMul ? Binding::kMultiply : Binding::kAdd,
                {}};
      }
      // Unsigned lanes wrap.
      const std::string bits =
          Vector(DType(DType::Code::kUInt, dtype.bits(), dtype.lanes()));
      return Primary(absl::StrCat("((", type, ")((", bits, ")", left, sign, "(",
                                  bits, ")", right, "))"));
    }
    const char* name = op == BinaryOp::kDiv        ? "Div"
                       : op == BinaryOp::kMod      ? "Mod"
                       : op == BinaryOp::kFloorDiv ? "FloorDiv"
                                                   : "FloorMod";
    return Primary(absl::StrCat("rt::Map<", type, ">(", Bare(a), ", ", Bare(b),
                                ", rt::", name, "<", scalar, ">)"));
  }

  // --- Memory ----------------------------------------------------------------

  // The pointer of `buffer`, to elements of its type.
  std::string PointerOf(const Buffer& buffer, bool is_store,
                        const ExprNode* node) {
    const Variable* known = variables_.Find(buffer->data().get());
    const DType element = WithLanes(buffer.dtype(), 1);
    const std::string type = CppElementType(element);
    if (type.empty()) {
      Refuse(node, absl::StrCat("an access of ", buffer.dtype().ToString()));
      return "nullptr";
    }
    if (known == nullptr) {
      Refuse(node, absl::StrCat("buffer ", buffer->name(),
                                ", whose memory nothing defines,"));
      return "nullptr";
    }
    if (CppElementType(known->element) == type) return known->name;
    // `rt::float_at` may alias any other type.
    return absl::StrCat("reinterpret_cast<", is_store ? "" : "const ",
                        "rt::", type, "_at*>(", known->name, ")");
  }

  // `pointer + index`, or the pointer itself.
  static std::string Plus(const std::string& pointer, const Text& index) {
    if (index.text == "0") return pointer;
    return absl::StrCat(pointer, " + ", At(index, Binding::kMultiply));
  }

  Text EmitLoad(const BufferLoadNode* node) {
    const Buffer& buffer = node->buffer();
    const PrimExpr flat = FlatIndex(buffer, node->indices());
    const std::string pointer = PointerOf(buffer, /*is_store=*/false, node);
    const DType dtype = node->dtype();
    if (dtype.lanes() == 1) {
      NoteAccess(buffer, flat, loaded_);
      const Text index = Emit(flat);
      std::string element = absl::StrCat(pointer, "[", Bare(index), "]");
      if (dtype.is_bool()) {
        return {absl::StrCat(element, " != 0"), Binding::kCompare, {0, 1}};
      }
      if (dtype.is_half()) {
        return Primary(absl::StrCat(
            IsBFloat(dtype) ? "rt::FromBFloat16(" : "rt::FromFloat16(", element,
            ")"));
      }
      return {std::move(element), Binding::kPrimary, RangeOf(dtype)};
    }
    if (!IsNativeVector(dtype)) return RefuseVector(node);
    // Truth values are bytes.
    const DType stored =
        dtype.is_bool() ? DType(DType::Code::kUInt, 8, dtype.lanes()) : dtype;
    const std::string type = Vector(stored);
    std::string vector;
    Text address;
    switch (Address(buffer, flat, address, node)) {
      case Access::kRefused:
        return {"0", Binding::kPrimary, {}};
      case Access::kAdjacent:
        vector =
            absl::StrCat("rt::Load<", type, ">(", Plus(pointer, address), ")");
        break;
      case Access::kScattered:
        vector = absl::StrCat("rt::Gather<", type, ">(", pointer, ", ",
                              Bare(address), ")");
        break;
    }
    if (dtype.is_bool()) {
      return Primary(absl::StrCat("rt::Convert<", Vector(dtype), ">(", vector,
                                  " != ", type, "{})"));
    }
    return Primary(std::move(vector));
  }

  // The first element of adjacent ones, or a vector of indices.
  Access Address(const Buffer& buffer, const PrimExpr& flat, Text& address,
                 const ExprNode* node) {
    const AccessedElements elements = ElementsOf(buffer, flat);
    if (elements.access == Access::kRefused) {
      Refuse(node, "an access of vectors by vectors");
    } else {
      address = Emit(elements.index);
    }
    return elements.access;
  }

  // --- Calls -----------------------------------------------------------------

  Text EmitCall(const CallNode* node) {
    const auto* op = node->op().As<OpNode>();
    if (op == nullptr) return Refuse(node, "a call of another function");
    const absl::string_view name =
        absl::StripPrefix(absl::string_view(op->name()), "tir.");
    const absl::Span<const PrimExpr> args = node->args();
    if (name == "if_then_else" && args.size() == 3) {
      return EmitChoice(args[0], args[1], args[2]);
    }
    if (name == "likely" && args.size() == 1) return Emit(args[0]);
    if (name == "assume") return {"true", Binding::kPrimary, {1, 1}};
    if (name == "large_uint_imm" && args.size() == 2) {
      const std::optional<int64_t> value = LargeUInt(*node);
      if (!value.has_value()) return Refuse(node, "this number");
      return Integer(node->dtype(), *value);
    }
    if (name == "reinterpret" && args.size() == 1) {
      return EmitReinterpret(node);
    }
    if (name == "address_of" && args.size() == 1) {
      const auto* load = args[0].As<BufferLoadNode>();
      if (load == nullptr) return Refuse(node, "this address");
      return {absl::StrCat(
                  "&", PointerOf(load->buffer(), /*is_store=*/true, node), "[",
                  Bare(Emit(FlatIndex(load->buffer(), load->indices()))), "]"),
              Binding::kMultiply,
              {}};
    }
    if (name == "call_pure_extern") return EmitExtern(node);
    return EmitFunction(node, name);
  }

  Text EmitExtern(const CallNode* node) {
    const std::string name = LibraryFunctionOf(node);
    if (name.empty()) return Refuse(node, "this T.call_pure_extern");
    std::vector<std::string> texts;
    for (const PrimExpr& arg : node->args().subspan(1)) {
      texts.push_back(Bare(Emit(arg)));
    }
    return Primary(
        absl::StrCat("__builtin_", name, "(", absl::StrJoin(texts, ", "), ")"));
  }

  Text EmitReinterpret(const CallNode* node) {
    const PrimExpr& arg = node->args()[0];
    const DType from = arg.dtype();
    const DType to = node->dtype();
    const Text value = Emit(arg);
    if (from.lanes() != to.lanes() || from.bits() != to.bits() ||
        from == kHandle || to == kHandle || from.is_bool()) {
      return Refuse(node, "this reinterpretation");
    }
    if (from == to) return value;
    if (to.lanes() > 1) {
      if (!IsNativeVector(from) || !IsNativeVector(to)) {
        return RefuseVector(node);
      }
      return Primary(absl::StrCat("rt::BitCast<", Vector(to), ", ",
                                  Vector(from), ">(", Bare(value), ")"));
    }
    std::string bits = Bare(value);
    if (from.is_half()) {
      bits = absl::StrCat(IsBFloat(from) ? "rt::ToBFloat16(" : "rt::ToFloat16(",
                          bits, ")");
    }
    const std::string from_type = CppElementType(from);
    const std::string to_type = CppElementType(to);
    if (from_type.empty() || to_type.empty()) {
      return Refuse(node, "this reinterpretation");
    }
    bits =
        absl::StrCat("rt::BitCast<", to_type, ", ", from_type, ">(", bits, ")");
    if (to.is_half()) {
      bits = absl::StrCat(
          IsBFloat(to) ? "rt::FromBFloat16(" : "rt::FromFloat16(", bits, ")");
    }
    return {std::move(bits), Binding::kPrimary, RangeOf(to)};
  }

  // The text of an intrinsic on scalars whose arguments have the texts `args`;
  // empty if there is none.
  std::string ScalarFunction(absl::string_view name, DType dtype,
                             absl::Span<const std::string> args) {
    if (dtype.is_float()) {
      if (name == "isnan" && args.size() == 1) {
        return absl::StrCat("(__builtin_isnan(", args[0], ") != 0)");
      }
      for (const FloatIntrinsic& known : kFloatIntrinsics) {
        if (name != known.name) continue;
        const absl::string_view pattern =
            dtype.bits() == 64 ? known.f64 : known.f32;
        if (absl::StrContains(pattern, "math::")) uses_math_ = true;
        std::vector<std::pair<std::string, std::string>> parts;
        const char* const letters[] = {"$a", "$b", "$c"};
        for (size_t i = 0; i < 3 && i < args.size(); ++i) {
          parts.push_back({letters[i], args[i]});
        }
        const size_t arity = absl::StrContains(pattern, "$c")   ? 3
                             : absl::StrContains(pattern, "$b") ? 2
                                                                : 1;
        if (arity != args.size()) return "";
        return Rounded(dtype, absl::StrReplaceAll(pattern, parts));
      }
      return "";
    }
    const std::string type = CppValueType(dtype);
    if (type.empty() || args.empty()) return "";
    const auto narrowed = [&type](std::string text) {
      return absl::StrCat("static_cast<", type, ">(", text, ")");
    };
    if (args.size() == 1) {
      if (name == "bitwise_not") {
        return dtype.is_bool() ? "true" : narrowed(absl::StrCat("~", args[0]));
      }
      if (name == "popcount") {
        return narrowed(
            absl::StrCat("rt::CountBits<", type, ">(", args[0], ")"));
      }
      if (name == "clz" && !dtype.is_bool()) {
        return absl::StrCat("rt::CountLeadingZeros<", type, ">(", args[0], ")");
      }
      if (name == "fabs") {
        return dtype.is_uint()
                   ? args[0]
                   : absl::StrCat("rt::Magnitude<", type, ">(", args[0], ")");
      }
      if (name == "floor" || name == "ceil" || name == "round" ||
          name == "nearbyint" || name == "trunc") {
        return args[0];
      }
      return "";
    }
    if (name == "q_multiply_shift" && args.size() == 4) {
      return absl::StrCat("rt::MultiplyShift(", absl::StrJoin(args, ", "), ")");
    }
    if (args.size() != 2) return "";
    const char* sign = name == "bitwise_and"   ? " & "
                       : name == "bitwise_or"  ? " | "
                       : name == "bitwise_xor" ? " ^ "
                                               : nullptr;
    if (sign != nullptr) {
      return narrowed(absl::StrCat(args[0], sign, args[1]));
    }
    const char* function = name == "shift_left"    ? "ShiftLeft"
                           : name == "shift_right" ? "ShiftRight"
                           : name == "pow"         ? "IntegerPower"
                                                   : nullptr;
    if (function == nullptr || dtype.is_bool()) return "";
    return absl::StrCat("rt::", function, "<", type, ">(", args[0], ", ",
                        args[1], ")");
  }

  Text EmitFunction(const CallNode* node, absl::string_view name) {
    const absl::Span<const PrimExpr> args = node->args();
    const auto refuse = [&] {
      return Refuse(node,
                    absl::StrCat("T.", ScriptName(*node->op().As<OpNode>())));
    };
    if (args.empty() || node->dtype() == kHandle) return refuse();
    std::vector<std::string> texts;
    bool any_vector = false;
    for (const PrimExpr& arg : args) {
      if (arg.dtype() == kHandle) return refuse();
      const Text text = Emit(arg);
      // Parenthesized for infix patterns; a comma separates the others.
      texts.push_back(At(text, Binding::kPrimary));
      any_vector |= arg.dtype().lanes() > 1;
    }
    const DType dtype = WithLanes(args[0].dtype(), 1);
    if (!any_vector) {
      std::string text = ScalarFunction(name, dtype, texts);
      if (text.empty()) return refuse();
      return {std::move(text), Binding::kPrimary,
              RangeOf(WithLanes(node->dtype(), 1))};
    }
    if (!IsNativeVector(node->dtype()) || args.size() > 3) {
      return RefuseVector(node);
    }
    const std::string type = Vector(node->dtype());
    if (name == "fma" && dtype == DType::Float(32)) {
      const char* builtin = FmaBuiltin(node->dtype().lanes());
      if (builtin != nullptr) {
        return Primary(absl::StrReplaceAll(
            builtin, {{"$a", texts[0]}, {"$b", texts[1]}, {"$c", texts[2]}}));
      }
    }
    const char* const letters[] = {"x", "y", "z"};
    std::vector<std::string> vectors;
    std::vector<std::string> inner;
    std::vector<std::string> params;
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].dtype().lanes() == 1) {
        return Refuse(node, "a function of vectors and scalars");
      }
      if (!IsNativeVector(args[i].dtype()) || args[i].dtype().is_bool()) {
        return RefuseVector(node);
      }
      vectors.push_back(texts[i]);
      inner.push_back(letters[i]);
      params.push_back(
          absl::StrCat(CppValueType(args[i].dtype()), " ", letters[i]));
    }
    const std::string text = ScalarFunction(name, dtype, inner);
    if (text.empty()) return refuse();
    const char* truth = node->dtype().is_bool() ? " ? -1 : 0" : "";
    return Primary(absl::StrCat(
        "rt::Map<", type, ">(", absl::StrJoin(vectors, ", "), ", [](",
        absl::StrJoin(params, ", "), ") { return ", text, truth, "; })"));
  }

  // The instruction for vectors of float32, where one is known.
  const char* FmaBuiltin(int lanes) const {
    const bool avx512 = options_.isa == CppIsa::kAvx512;
    const bool avx2 = avx512 || options_.isa == CppIsa::kAvx2;
    if (avx512 && lanes == 16) {
      // All lanes, rounded as the thread rounds. The type of the mask is signed
      // for g++ and unsigned for clang: -1 is what both take without a warning.
      return "__builtin_ia32_vfmaddps512_mask($a, $b, $c, -1, 4)";
    }
    if (avx2 && lanes == 8) return "__builtin_ia32_vfmaddps256($a, $b, $c)";
    if (avx2 && lanes == 4) return "__builtin_ia32_vfmaddps($a, $b, $c)";
    return nullptr;
  }

  // --- Statements ------------------------------------------------------------

  void Line(absl::string_view text) {
    if (static_cast<int64_t>(body_.size()) > options_.max_text_bytes) return;
    if (options_.line_table && statement_span_.defined()) {
      const Source& source = statement_span_->source();
      body_ += CppLineDirective(
          source.PositionOf(statement_span_->begin()).line, source.name());
    }
    absl::StrAppend(&body_, std::string(static_cast<size_t>(indent_) * 2, ' '),
                    text, "\n");
  }

  void WriteWhile(const WhileNode* node, int depth) override {
    Line(absl::StrCat("while (", Bare(Emit(node->condition())), ") {"));
    Nested(node->body(), depth + 1);
    Line("}");
  }

  void WriteIf(const IfThenElseNode* node, int depth) override {
    Line(absl::StrCat("if (", Bare(Emit(node->condition())), ") {"));
    ++num_guards_;
    Nested(node->then_case(), depth);
    if (node->else_case().defined()) {
      Line("} else {");
      Nested(node->else_case(), depth);
    }
    --num_guards_;
    Line("}");
  }

  void WriteCheck(const AssertStmtNode* node) override {
    emitted_.can_fail = true;
    const Text condition = Emit(node->condition());
    const auto* message = node->message().As<StringImmNode>();
    Line(absl::StrCat(
        "if (!", At(condition, Binding::kPrimary), ") return 1;  // ",
        message == nullptr ? "asserted" : CppCommentText(message->value())));
  }

  void Nested(const Stmt& body, int depth) {
    ++indent_;
    WriteStmt(body, depth);
    --indent_;
  }

  // A comment that names the outermost loop.
  void WriteOrigin(const ForNode* node) {
    const absl::string_view origin = function_.origin.empty()
                                         ? absl::string_view(function_.symbol)
                                         : absl::string_view(function_.origin);
    Line(absl::StrCat(
        "// ", CppCommentText(origin), ": ",
        CppCommentText(absl::StrJoin(WrittenNames(Stmt(node)), ", "))));
  }

  void WriteFor(const ForNode* node, int depth) override {
    const VarNode* var = node->loop_var().get();
    const Text min = Emit(node->min());
    const Text extent = Emit(node->extent());
    const std::string type = TypeOf(var->dtype(), node);
    const auto* first = node->min().As<IntImmNode>();
    const PrimExpr last = first != nullptr && first->value() == 0
                              ? node->extent()
                              : Add(node->min(), node->extent());
    const Text end = Emit(last);
    const Interval range = RangeOfLoop(min.range, end.range);
    if (depth == 0) WriteOrigin(node);
    const size_t begin = body_.size();
    const auto* count = node->extent().As<IntImmNode>();
    if (node->for_kind() == ForKind::kUnrolled) {
      if (count != nullptr && count->value() > 0 && count->value() <= 64) {
        Line(absl::StrCat("#pragma GCC unroll ", count->value()));
      }
    }
    const std::string name = Define(var, range);
    // The end is computed once: the body may write the memory it is loaded from.
    std::string bound = At(end, Binding::kAdd);
    std::string kept;
    if (HasLoad(last)) {
      bound = names_.Unique(absl::StrCat(name, "_end"));
      kept = absl::StrCat(", ", bound, " = ", Bare(end));
    }
    Line(absl::StrCat("for (", type, " ", name, " = ", Bare(min), kept, "; ",
                      name, " < ", bound, "; ++", name, ") {"));
    if (count != nullptr && count->value() == 1) {
      // Compilers see no loop here, but the one around it.
      Nested(node->body(), depth + 1);
      Line("}");
      return;
    }
    const int64_t loop = BeginLoop(node->loop_var());
    Nested(node->body(), depth + 1);
    EndLoop(begin, loop);
  }

  // Called behind a loop's first line, and at its end: `begin` is where the
  // loop's text begins, `loop` what BeginLoop() returned. EndLoop() writes the
  // closing brace.
  int64_t BeginLoop(const Var& var) {
    loop_var_ = var;
    loaded_.Clear();
    stored_.Clear();
    has_group_ = false;
    has_let_ = false;
    return ++num_loops_;
  }

  // g++, versions up to 13 at least, computes a group of loads that have masks
  // with the mask of the first one. A group is several elements of one memory
  // that an iteration accesses and the next one does not, such as x[2 * i] and
  // x[2 * i + 1]; masks come from conditions. Where conditions decide what an
  // innermost loop loads, a pragma forbids the unrolling that makes groups, and
  // if its body has one, the loop has no vectors.
  void EndLoop(size_t begin, int64_t loop) {
    const bool is_kept = loop == num_loops_ && IsGuarded(begin);
    if (is_kept && has_group_) {
      ++indent_;
      Line("rt::KeepScalar();");
      --indent_;
    }
    Line("}");
    if (is_kept) KeepRolled(begin);
  }

  // True if the compiler may load with masks: for any processor, if none is
  // named.
  bool HasMasks() const {
    return options_.isa != CppIsa::kSse2 && options_.isa != CppIsa::kNeon;
  }

  // `accessed` is loaded_ or stored_.
  void NoteAccess(const Buffer& buffer, const PrimExpr& index,
                  NodeMap<PrimExpr>& accessed) {
    if (!HasMasks() || has_group_ || !loop_var_.defined()) return;
    const auto [first, is_new] = accessed.TryEmplace(buffer->data().get());
    if (is_new) {
      *first = index;
    } else if (!ExprDeepEqual(*first, index)) {
      has_group_ = IsStrided(*first) || IsStrided(index);
    }
  }

  // True if neighboring iterations of the loop may be several elements apart.
  bool IsStrided(const PrimExpr& index) const {
    // The variable of a let may depend on the loop's.
    if (has_let_) return true;
    const std::vector<PrimExpr> factors =
        DetectLinearEquation(index, {loop_var_});
    if (factors.empty()) return true;  // as behind a cast
    const auto* factor = factors[0].As<IntImmNode>();
    return factor == nullptr || factor->value() < -1 || factor->value() > 1;
  }

  // True if conditions decide what the code since `begin` loads, which vectors
  // with masks do.
  bool IsGuarded(size_t begin) const {
    if (!HasMasks()) return false;
    const absl::string_view text = absl::string_view(body_).substr(begin);
    bool is_guarded = num_guards_ > 0;
    // An operand that only one branch of a function needs may be loaded there.
    for (const absl::string_view guard :
         {" ? ", " && ", " || ", "if (", "rt::Shift", "rt::Div", "rt::Mod",
          "rt::Floor"}) {
      is_guarded = is_guarded || absl::StrContains(text, guard);
    }
    return is_guarded;
  }

  // Keeps a loop whose text begins at `begin` from being unrolled.
  void KeepRolled(size_t begin) {
    const absl::string_view text = absl::string_view(body_).substr(begin);
    constexpr absl::string_view kUnroll = "#pragma GCC unroll ";
    // Loops inside have pragmas of their own.
    const size_t before = text.substr(0, text.find("for (")).find(kUnroll);
    if (before != absl::string_view::npos) {
      const size_t count = begin + before + kUnroll.size();
      body_.replace(count, body_.find('\n', count) - count, "1");
      return;
    }
    body_.insert(
        begin, absl::StrCat(std::string(static_cast<size_t>(indent_) * 2, ' '),
                            kUnroll, "1\n"));
  }

  void WriteLet(const LetStmtNode* node, int depth) override {
    const VarNode* var = node->var().get();
    if (var->dtype() == kHandle) {
      const Text value = Emit(node->value());
      const DType element =
          var->typed_pointer() ? WithLanes(var->element(), 1) : DType::UInt(8);
      const std::string type = CppElementType(element);
      if (type.empty()) {
        Refuse(node, absl::StrCat("a pointer to ", element.ToString()));
        return;
      }
      const std::string name = Define(var, {}, element);
      Line(absl::StrCat("[[maybe_unused]] ", type, "* const ", name, " = ",
                        "reinterpret_cast<", type, "*>(", Bare(value), ");"));
      return WriteStmt(node->body(), depth);
    }
    const Text value = Emit(node->value());
    const std::string type = TypeOf(node->value().dtype(), node);
    const std::string name = Define(var, value.range);
    Line(absl::StrCat("[[maybe_unused]] const ", type, " ", name, " = ",
                      Bare(value), ";"));
    WriteStmt(node->body(), depth);
  }

  // The stored form of a scalar of `dtype`.
  static std::string Stored(DType dtype, const Text& value) {
    if (dtype.is_half()) {
      return absl::StrCat(
          IsBFloat(dtype) ? "rt::ToBFloat16(" : "rt::ToFloat16(", Bare(value),
          ")");
    }
    if (dtype.is_bool()) {
      return absl::StrCat(At(value, Binding::kCompare), " ? 1 : 0");
    }
    // Integers of fewer bits than int are computed as int.
    if (dtype.is_integral() && dtype.bits() < 32) {
      return absl::StrCat("static_cast<", CppElementType(dtype), ">(",
                          Bare(value), ")");
    }
    return Bare(value);
  }

  void WriteStore(const BufferStoreNode* node) override {
    const Buffer& buffer = node->buffer();
    const PrimExpr flat = FlatIndex(buffer, node->indices());
    const DType dtype = node->value().dtype();
    const DType element = WithLanes(buffer.dtype(), 1);
    if (dtype.lanes() == 1) {
      NoteAccess(buffer, flat, stored_);
      const std::string pointer = PointerOf(buffer, /*is_store=*/true, node);
      const Text value = Emit(node->value());
      Line(absl::StrCat(pointer, "[", Bare(Emit(flat)),
                        "] = ", Stored(element, value), ";"));
      return;
    }
    if (!CanBeVector(node->value()) || !CanBeVector(flat)) {
      return WriteStoreByLanes(node, flat);
    }
    const std::string pointer = PointerOf(buffer, /*is_store=*/true, node);
    const Text value = Emit(node->value());
    const DType stored =
        dtype.is_bool() ? DType(DType::Code::kUInt, 8, dtype.lanes()) : dtype;
    const std::string type = Vector(stored);
    std::string vector = Bare(value);
    if (dtype.is_bool()) {
      vector = absl::StrCat("rt::Convert<", type, ">(-",
                            At(value, Binding::kPrimary), ")");
    }
    Text address;
    switch (Address(buffer, flat, address, node)) {
      case Access::kRefused:
        return;
      case Access::kAdjacent:
        Line(absl::StrCat("rt::Store<", type, ">(", Plus(pointer, address),
                          ", ", vector, ");"));
        return;
      case Access::kScattered:
        Line(absl::StrCat("rt::Scatter(", pointer, ", ", Bare(address), ", ",
                          vector, ");"));
        return;
    }
  }

  // True if all vectors in `e` have types of the compiler.
  static bool CanBeVector(const PrimExpr& e) {
    bool can = true;
    PostOrderVisit(e, [&can](const PrimExpr& part) {
      if (part.dtype().lanes() > 1 && part.dtype() != kHandle &&
          !IsNativeVector(part.dtype())) {
        can = false;
      }
    });
    return can;
  }

  // All lanes are computed before the first is stored.
  void WriteStoreByLanes(const BufferStoreNode* node, const PrimExpr& flat) {
    const Buffer& buffer = node->buffer();
    const int lanes = node->value().dtype().lanes();
    const DType element = WithLanes(buffer.dtype(), 1);
    const std::string type = CppElementType(element);
    const Var lane("lane", kInt32);
    LaneOf of_lane(lane);
    const PrimExpr value = of_lane.Of(node->value());
    const PrimExpr index = of_lane.Of(flat);
    if (of_lane.failed || type.empty() || buffer.dtype().lanes() != 1 ||
        flat.dtype().lanes() != lanes) {
      RefuseVector(node->value().get());
      return;
    }
    const std::string pointer = PointerOf(buffer, /*is_store=*/true, node);
    const std::string name = Define(lane.get(), {0, lanes - 1});
    const std::string values = names_.Unique("lanes");
    Line("{");
    ++indent_;
    Line(absl::StrCat(type, " ", values, "[", lanes, "];"));
    const auto for_each_lane = [&](absl::FunctionRef<std::string()> statement) {
      const size_t begin = body_.size();
      const int64_t loop = BeginLoop(lane);
      Line(absl::StrCat("for (int32_t ", name, " = 0; ", name, " < ", lanes,
                        "; ++", name, ") {"));
      ++indent_;
      Line(statement());
      --indent_;
      EndLoop(begin, loop);
    };
    for_each_lane([&] {
      return absl::StrCat(values, "[", name,
                          "] = ", Stored(element, Emit(value)), ";");
    });
    for_each_lane([&] {
      return absl::StrCat(pointer, "[", Bare(Emit(index)), "] = ", values, "[",
                          name, "];");
    });
    --indent_;
    Line("}");
  }

  void WriteAllocate(const AllocateNode* node, int depth) override {
    const AllocationSize size = SizeOf(node);
    if (!size.error.empty()) {
      Refuse(node, size.error);
      return;
    }
    const DType element = WithLanes(node->dtype(), 1);
    const std::string type = CppElementType(element);
    const std::string name = Define(node->var().get(), {}, element);
    if (size.bytes <= options_.max_stack_bytes) {
      Line(absl::StrCat("[[maybe_unused]] alignas(64) ", type, " ", name, "[",
                        std::max<int64_t>(size.elements, 1), "];"));
      return WriteStmt(node->body(), depth);
    }
    const int64_t offset = workspace_.Take(size.bytes);
    Line(absl::StrCat("[[maybe_unused]] ", type, "* const ", name,
                      " = reinterpret_cast<", type, "*>(workspace + ", offset,
                      ");  // ", size.bytes, " bytes"));
    WriteStmt(node->body(), depth);
    workspace_.Release(offset);
  }

  void WriteConstant(const AllocateConstNode* node, int depth) override {
    const DType element = WithLanes(node->dtype(), 1);
    const std::string type = CppElementType(element);
    if (type.empty()) {
      Refuse(node, absl::StrCat("a constant of ", node->dtype().ToString()));
      return;
    }
    CppParam param;
    param.kind = CppParam::Kind::kConstant;
    param.index = static_cast<int>(emitted_.constants.size());
    param.dtype = element;
    param.name = Define(node->var().get(), {}, element);
    param.type = absl::StrCat("const ", type, "*");
    emitted_.params.push_back(param);
    emitted_.constants.push_back(node->data());
    WriteStmt(node->body(), depth);
  }

  void WriteEvaluate(const EvaluateNode* node) override {
    const PrimExpr& value = node->value();
    if (value.As<IntImmNode>() != nullptr) return;
    if (const auto* call = value.As<CallNode>()) {
      const auto* op = call->op().As<OpNode>();
      if (op != nullptr && op->name() == "tir.ret" &&
          call->args().size() == 1) {
        const auto* number = call->args()[0].As<IntImmNode>();
        if (number != nullptr && number->value() == 0) {
          returns_ = true;
          emitted_.can_fail = true;
          return Line("return 0;");
        }
        Refuse(node, "a result of a function");
        return;
      }
      const Intrinsic* intrinsic = IntrinsicOf(call->op());
      if (intrinsic == nullptr || intrinsic->effect > CallEffect::kReadState) {
        if (op != nullptr && op->name() == "tir.assume") return;
        Emit(value);
        return;
      }
    }
    // The value of an expression without effects.
  }

  const CppFunction& function_;
  const CppSourceOptions& options_;
  Diagnostics& problems_;
  CppNames names_;
  CppEmitted emitted_;
  WrittenPointers written_;
  NodeMap<Variable> variables_;
  FlatHashMap<std::string, DType> vectors_;
  std::string body_;
  int indent_ = 0;
  int64_t num_loops_ = 0;   // that were written
  int64_t num_guards_ = 0;  // conditions of statements around the next one
  // For the last loop that began, its variable, and the index of the first load
  // from and the first store to each memory.
  Var loop_var_;
  NodeMap<PrimExpr> loaded_, stored_;
  bool has_group_ = false;  // see EndLoop()
  bool has_let_ = false;    // a variable was defined in the loop
  Workspace workspace_;
  bool returns_ = false;
  bool uses_math_ = false;
};

// --- Sources -----------------------------------------------------------------

// Instructions for all functions that follow, and arithmetic as it is written.
// `has_kernels`: comparisons of the functions that are not loops do not trap,
// and their roots set no errno, as those of the executor's kernels: both would
// keep loops scalar. Loops of x86-64 begin with a line of the cache: elsewhere
// the same loops took 2 to 3 % longer.
std::string Instructions(CppIsa isa, bool has_kernels) {
  absl::string_view features;
  absl::string_view gcc_only;
  if (isa == CppIsa::kAvx2) features = "avx2,fma";
  if (isa == CppIsa::kAvx512) {
    features = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma";
    gcc_only = ",prefer-vector-width=512";
  }
  std::string text;
  absl::StrAppend(&text,
                  "#if defined(__clang__)\n"
                  "#pragma STDC FP_CONTRACT OFF\n");
  if (!features.empty()) {
    absl::StrAppend(&text,
                    "#pragma clang attribute push(__attribute__((target(\"",
                    features, "\"))), apply_to = function)\n");
  }
  const std::string optimize = absl::StrCat(
      "optimize(\"fp-contract=off\", ",
      has_kernels ? "\"no-trapping-math\", \"no-math-errno\", " : "",
      isa == CppIsa::kAvx2 || isa == CppIsa::kAvx512 ? "\"align-loops=64\", "
                                                     : "",
      "\"O3\")");
  // The pragma does not reach lambdas.
  constexpr absl::string_view kLambda =
      "#define BATON_LAMBDA __attribute__((always_inline";
  absl::StrAppend(
      &text, has_kernels ? absl::StrCat(kLambda, "))\n") : "",
      "#else\n#pragma GCC ", optimize, "\n",
      has_kernels ? absl::StrCat(kLambda, ", \\\n  ", optimize, "))\n") : "");
  if (!features.empty()) {
    absl::StrAppend(&text, "#pragma GCC target(\"", features, gcc_only,
                    "\")\n");
  }
  absl::StrAppend(&text,
                  "#endif\n"
                  "// Vectors are parameters of functions that are inlined.\n"
                  "#pragma GCC diagnostic ignored \"-Wpsabi\"\n",
                  has_kernels ? "extern \"C\" __attribute__((const, nothrow)) "
                                "float sqrtf(float);\n"
                              : "");
  return text;
}

// Shared libraries have copies of their own, which they call directly.
constexpr char kHidden[] = " __attribute__((visibility(\"hidden\")))";

// Types of memory that may be that of any other type.
constexpr const char* kStoredTypes[] = {
    "int8_t",   "int16_t",  "int32_t",  "int64_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "float",   "double"};

std::string VectorTypes(const FlatHashMap<std::string, DType>& vectors) {
  std::vector<std::string> names;
  for (const auto& [name, dtype] : vectors) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const char* type : kStoredTypes) {
    absl::StrAppend(&text, "typedef ", type, " ", type,
                    "_at __attribute__((may_alias));\n");
  }
  for (const std::string& name : names) {
    const DType dtype = vectors.find(name)->second;
    // The prelude has those of truth values.
    if (dtype.is_bool() || (dtype.is_int() && dtype.bits() == 32)) continue;
    absl::StrAppend(&text, "typedef ", CppElementType(WithLanes(dtype, 1)), " ",
                    name, " __attribute__((vector_size(",
                    dtype.bits() / 8 * dtype.lanes(), ")));\n");
  }
  return text;
}

// Puts the numbers of lines into the directives kCppOwnLines.
std::string WithOwnLines(absl::string_view text, absl::string_view name) {
  std::string result;
  int line = 1;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == absl::string_view::npos ? text.size() : end + 1;
    const absl::string_view here = text.substr(0, size);
    if (here == kCppOwnLines) {
      result += CppLineDirective(line + 1, name);
    } else {
      absl::StrAppend(&result, here);
    }
    text.remove_prefix(size);
    ++line;
  }
  return result;
}

}  // namespace

absl::string_view CppIsaName(CppIsa isa) {
  switch (isa) {
    case CppIsa::kNone:
      return "native";
    case CppIsa::kSse2:
      return "sse2";
    case CppIsa::kAvx2:
      return "avx2";
    case CppIsa::kAvx512:
      return "avx512";
    case CppIsa::kNeon:
      return "neon";
  }
  return "";
}

std::string CppLineDirective(int line, absl::string_view file) {
  return absl::StrCat("#line ", line, " \"", CppQuotedText(file), "\"\n");
}

uint64_t CppPreludeHash() {
  StableHash hash(1);
  for (absl::string_view text :
       {kPreludeText, kMathBaseText, kMathText, kMathAnyText}) {
    hash.AddString(text);
  }
  for (const CppIsa isa :
       {CppIsa::kNone, CppIsa::kSse2, CppIsa::kAvx2, CppIsa::kAvx512}) {
    hash.AddString(Instructions(isa, /*has_kernels=*/true));
  }
  return hash.value();
}

absl::StatusOr<CppSource> WriteCppSource(
    absl::Span<const CppFunction> functions, const CppSourceOptions& options) {
  Diagnostics problems;
  CppNames symbols;
  for (const char* name : {"rt", "math", "std", "main"}) symbols.Reserve(name);
  CppSource source;
  FlatHashMap<std::string, DType> vectors;
  std::string definitions;
  const bool has_kernels = !options.prelude.empty();
  bool uses_math = options.prelude_uses_math;
  const auto is_too_long = [&options](const std::string& text) {
    return static_cast<int64_t>(text.size()) > options.max_text_bytes;
  };
  const absl::Status too_long = absl::ResourceExhaustedError(absl::StrCat(
      "the C++ source has more than ", options.max_text_bytes, " bytes"));
  for (const CppFunction& function : functions) {
    FunctionWriter writer(function, options, symbols, problems);
    absl::StrAppend(&definitions, "\n", writer.Write(vectors));
    uses_math |= writer.uses_math();
    source.functions.push_back(std::move(writer).emitted());
    if (is_too_long(definitions)) return too_long;
  }
  BATON_RETURN_IF_ERROR(problems.ToStatus());

  for (const std::string& line : options.head) {
    absl::StrAppend(&source.text, "// ", CppCommentText(line), "\n");
  }
  // Before it, GCC has no conversions of vectors.
  absl::StrAppend(&source.text, "#include <cstddef>\n#include <cstdint>\n\n",
                  "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < "
                  "11\n#error \"this source needs GCC 11 or later, or Clang\"\n"
                  "#endif\n\n",
                  options.before, options.before.empty() ? "" : "\n",
                  Instructions(options.isa, has_kernels), "\nnamespace ",
                  options.name_space, options.is_shared ? kHidden : "", " {\n");
  if (options.has_prelude) {
    absl::StrAppend(&source.text, "\nnamespace rt {\n", kPreludeText, "\n",
                    VectorTypes(vectors), "}  // namespace rt\n");
  }
  if (uses_math) {
    absl::StrAppend(
        &source.text, "\nnamespace math {\nnamespace base {\n", kMathBaseText,
        "}  // namespace base\n",
        has_kernels ? kMathText
                    : absl::StrReplaceAll(
                          kMathText,
                          {{"BATON_LAMBDA", "__attribute__((always_inline))"}}),
        kMathAnyText, "}  // namespace math\n");
  }
  if (has_kernels && !definitions.empty()) {
    definitions = absl::StrCat(
        "\n#if !defined(__clang__)\n#pragma GCC push_options\n"
        "#pragma GCC optimize(\"trapping-math\", \"math-errno\")\n#endif\n",
        definitions,
        "\n#if !defined(__clang__)\n#pragma GCC pop_options\n#endif\n");
  }
  absl::StrAppend(&source.text, options.prelude, definitions, options.tail,
                  "\n}  // namespace ", options.name_space, "\n",
                  options.after);
  if (options.isa == CppIsa::kAvx2 || options.isa == CppIsa::kAvx512) {
    absl::StrAppend(&source.text,
                    "#if defined(__clang__)\n"
                    "#pragma clang attribute pop\n"
                    "#endif\n");
  }
  if (options.line_table) {
    source.text = WithOwnLines(source.text, options.source_name);
  }
  if (is_too_long(source.text)) return too_long;
  return source;
}

}  // namespace baton::tir
