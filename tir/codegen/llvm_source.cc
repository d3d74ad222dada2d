#include "baton/tir/codegen/llvm_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/codegen/llvm_module.h"
#include "baton/tir/codegen/statement_writer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

using llvm::FloatForm;
using llvm::FloatFunction;
using llvm::InAllLanes;
using llvm::InLanes;
using llvm::IsConstant;
using llvm::kFloatFunctions;
using llvm::LaneType;
using llvm::Module;
using llvm::RealText;
using llvm::StoredType;
using llvm::Suffix;
using llvm::Typed;
using llvm::Value;
using llvm::ValueType;

class FunctionWriter final : private StatementWriter {
 public:
  FunctionWriter(const CppFunction& function, const LlvmTarget& target,
                 CppNames& symbols, Module& module, Diagnostics& problems)
      : function_(function),
        target_(target),
        module_(module),
        problems_(problems) {
    names_.Reserve("workspace");
    names_.Reserve("entry");
    emitted_.name = symbols.Unique(function.symbol);
  }

  // The definition of the function.
  std::string Write() {
    const PrimFuncNode* node = function_.function.get();
    written_.Visit(node->body());
    emitted_.params =
        ParamsOf(node, written_, names_,
                 [this](const ExprNode* part, absl::string_view message) {
                   Refuse(part, message);
                 });
    for (const CppParam& param : emitted_.params) {
      const bool is_pointer = param.kind == CppParam::Kind::kPointer;
      variables_[param.variable] = {
          {is_pointer ? kHandle : param.dtype, absl::StrCat("%", param.name),
           is_pointer ? Interval() : RangeOf(param.variable)},
          is_pointer ? param.dtype : DType()};
    }
    if (module_.options().line_table) {
      statement_span_ = PlaceOf(node->body().get());
      const Span span = node->span().defined() ? node->span() : statement_span_;
      const std::string origin =
          function_.origin.substr(0, function_.origin.find('\n'));
      subprogram_ = module_.AddSubprogram(
          CppQuotedText(origin.empty() ? function_.symbol : origin),
          emitted_.name, span);
    }
    WriteStmt(node->body(), /*depth=*/0);
    Line(emitted_.can_fail ? "ret i32 0" : "ret void");
    if (workspace_.bytes() > 0) {
      emitted_.workspace_bytes = workspace_.bytes();
      emitted_.params.push_back(WorkspaceParam());
    }
    std::vector<std::string> params;
    std::vector<std::string> prototype;
    for (const CppParam& param : emitted_.params) {
      prototype.push_back(absl::StrCat(param.type, " ", param.name));
      params.push_back(absl::StrCat(ParamType(param), " %", param.name));
    }
    emitted_.declaration =
        absl::StrCat(emitted_.can_fail ? "int " : "void ", emitted_.name, "(",
                     absl::StrJoin(prototype, ", "), ")");
    std::string text;
    if (!function_.origin.empty()) {
      for (absl::string_view line : absl::StrSplit(function_.origin, '\n')) {
        absl::StrAppend(&text, "; ", CppCommentText(line), "\n");
      }
    }
    absl::StrAppend(&text, "define ", emitted_.can_fail ? "i32" : "void", " @",
                    emitted_.name, "(", absl::StrJoin(params, ", "), ") #",
                    module_.AttributesOf(target_),
                    subprogram_ < 0 ? "" : absl::StrCat(" !dbg !", subprogram_),
                    " {\nentry:\n", entry_, body_, "}\n");
    return text;
  }

  // The definition of LlvmSourceOptions::entries.
  std::string Entry() const {
    std::string text = absl::StrCat(
        "define i32 @", emitted_.name, ".entry(ptr nocapture readonly %all) #",
        module_.AttributesOf(target_), " {\nentry:\n");
    std::vector<std::string> arguments;
    for (size_t i = 0; i < emitted_.params.size(); ++i) {
      const CppParam& param = emitted_.params[i];
      absl::StrAppend(
          &text, "  %place.", i, " = getelementptr ptr, ptr %all, i64 ", i,
          "\n  %pointer.", i, " = load ptr, ptr %place.", i, ", align 8\n");
      std::string value = absl::StrCat("%pointer.", i);
      if (param.kind == CppParam::Kind::kNumber ||
          param.kind == CppParam::Kind::kExtent) {
        const bool is_bool = param.dtype.is_bool();
        absl::StrAppend(&text, "  %number.", i, " = load ",
                        is_bool ? "i8" : ValueType(param.dtype), ", ptr ",
                        value, ", align 1\n");
        value = absl::StrCat("%number.", i);
        if (is_bool) {
          absl::StrAppend(&text, "  %bit.", i, " = trunc i8 ", value,
                          " to i1\n");
          value = absl::StrCat("%bit.", i);
        }
      }
      arguments.push_back(absl::StrCat(ParamType(param), " ", value));
    }
    absl::StrAppend(
        &text, emitted_.can_fail ? "  %result = call i32 @" : "  call void @",
        emitted_.name, "(", absl::StrJoin(arguments, ", "), ")\n", "  ret i32 ",
        emitted_.can_fail ? "%result" : "0", "\n}\n");
    return text;
  }

  CppEmitted emitted() && { return std::move(emitted_); }

 private:
  struct Variable {
    Value value;
    DType element;  // of a pointer
  };

  // --- Problems --------------------------------------------------------------

  Value Refuse(const ExprNode* node, absl::string_view message,
               DType dtype = kInt32) {
    Span span = PlaceOf(node);
    if (!span.defined()) span = statement_span_;
    problems_.Error(span,
                    absl::StrCat("function ", function_.symbol, ": ", message,
                                 " cannot be written as LLVM's text"));
    return {LaneType(dtype).empty() ? kInt32 : dtype, "poison", {}};
  }
  Value Refuse(const PrimExprNode* node, absl::string_view message) {
    return Refuse(node, message, node->dtype());
  }

  void RefuseStatement(const ExprNode* node,
                       absl::string_view message) override {
    Refuse(node, message);
  }

  // True if values of the type exist.
  bool Check(DType dtype, const ExprNode* node) {
    if (!LaneType(dtype).empty()) return true;
    Refuse(node, absl::StrCat("a value of type ", dtype.ToString()));
    return false;
  }

  std::string ParamType(const CppParam& param) const {
    if (param.kind == CppParam::Kind::kWorkspace) {
      return "ptr noalias nocapture";
    }
    if (param.kind == CppParam::Kind::kPointer ||
        param.kind == CppParam::Kind::kConstant) {
      const bool no_alias = function_.function->attrs().IsTrue("tir.noalias");
      return absl::StrCat("ptr", no_alias ? " noalias" : "", " nocapture",
                          param.is_written ? "" : " readonly");
    }
    const DType dtype = param.dtype;
    // Callers extend them on x86-64, and do not on AArch64.
    const char* extension = absl::StartsWith(target_.triple, "x86_64-") &&
                                    dtype.is_integral() && dtype.bits() < 32
                                ? dtype.is_uint() ? " zeroext" : " signext"
                                : "";
    return absl::StrCat(ValueType(dtype), extension);
  }

  // --- Instructions ----------------------------------------------------------

  void Line(absl::string_view text) {
    if (static_cast<int64_t>(body_.size()) > module_.options().max_text_bytes) {
      return;
    }
    absl::StrAppend(&body_, "  ", text);
    if (subprogram_ >= 0) {
      absl::StrAppend(&body_, ", !dbg !",
                      module_.AddLocation(statement_span_, subprogram_));
    }
    body_ += "\n";
  }
  void Comment(absl::string_view text) {
    absl::StrAppend(&body_, "  ; ", CppCommentText(text), "\n");
  }

  std::string NewName() { return absl::StrCat("%.", ++last_name_); }
  std::string NewLabel(absl::string_view name) {
    return absl::StrCat(name, ".", ++last_label_);
  }

  void StartBlock(const std::string& label) {
    if (static_cast<int64_t>(body_.size()) <=
        module_.options().max_text_bytes) {
      absl::StrAppend(&body_, label, ":\n");
    }
    block_ = label;
  }
  void Branch(const std::string& label) {
    Line(absl::StrCat("br label %", label));
  }
  void Branch(const Value& condition, const std::string& yes,
              const std::string& no) {
    Line(absl::StrCat("br i1 ", condition.text, ", label %", yes, ", label %",
                      no));
  }

  // The result of an instruction.
  Value Instruction(DType dtype, absl::string_view text, Interval range = {}) {
    std::string name = NewName();
    Line(absl::StrCat(name, " = ", text));
    return {dtype, std::move(name), range};
  }
  Value Two(absl::string_view op, const Value& a, const Value& b,
            Interval range = {}) {
    return Instruction(a.dtype, absl::StrCat(op, " ", Typed(a), ", ", b.text),
                       range);
  }
  static DType Truth(DType dtype) {
    return WithLanes(DType::Bool(), dtype.lanes());
  }
  // `op`: `icmp slt`, `fcmp oeq`.
  Value Compare(absl::string_view op, const Value& a, const Value& b) {
    Value result = Two(op, a, b, {0, 1});
    result.dtype = Truth(a.dtype);
    return result;
  }
  Value Choose(const Value& condition, const Value& yes, const Value& no) {
    return Instruction(yes.dtype,
                       absl::StrCat("select ", Typed(condition), ", ",
                                    Typed(yes), ", ", Typed(no)),
                       {std::min(yes.range.low, no.range.low),
                        std::max(yes.range.high, no.range.high)});
  }
  // `op` to another type: `sext`, `bitcast`.
  Value Convert(absl::string_view op, const Value& value, DType to,
                Interval range = {}) {
    return Instruction(
        to, absl::StrCat(op, " ", Typed(value), " to ", ValueType(to)), range);
  }
  Value Call(DType dtype, const std::string& name, absl::Span<const Value> args,
             bool is_library = false) {
    std::vector<std::string> typed;
    std::vector<std::string> types;
    for (const Value& arg : args) {
      typed.push_back(Typed(arg));
      types.push_back(ValueType(arg.dtype));
    }
    if (!absl::StartsWith(name, "baton.")) {
      module_.Declare(absl::StrCat(ValueType(dtype), " @", name, "(",
                                   absl::StrJoin(types, ", "), ")"));
    }
    return Instruction(
        dtype,
        absl::StrCat(
            "call ", ValueType(dtype), " @", name, "(",
            absl::StrJoin(typed, ", "), ")",
            is_library ? absl::StrCat(" #", Module::kLibraryAttributes) : ""));
  }
  Value CallOne(DType dtype, const std::string& name, const Value& arg) {
    return Call(dtype, name, {&arg, 1});
  }

  // A constant in all lanes.
  static Value Integer(DType dtype, int64_t value) {
    const std::string text =
        dtype.is_bool() ? (value != 0 ? "true" : "false") : absl::StrCat(value);
    Interval range{value, value};
    if (dtype.is_uint() && dtype.bits() == 64) range = {};
    return {dtype, InAllLanes(LaneType(dtype), text, dtype.lanes()), range};
  }
  static Value Real(DType dtype, double value) {
    return {dtype,
            InAllLanes(LaneType(dtype), RealText(RoundedTo(dtype, value)),
                       dtype.lanes()),
            {}};
  }

  Value Splat(const Value& value, int lanes) {
    const DType dtype = WithLanes(value.dtype, lanes);
    if (lanes == 1) return value;
    if (IsConstant(value)) {
      return {dtype, InAllLanes(LaneType(dtype), value.text, lanes),
              value.range};
    }
    const Value first =
        Instruction(dtype, absl::StrCat("insertelement ", ValueType(dtype),
                                        " poison, ", Typed(value), ", i32 0"));
    return Instruction(
        dtype,
        absl::StrCat("shufflevector ", Typed(first), ", ", ValueType(dtype),
                     " poison, <", lanes, " x i32> zeroinitializer"),
        value.range);
  }
  Value LaneOf(const Value& vector, int lane) {
    if (vector.dtype.lanes() == 1) return vector;
    return Instruction(
        WithLanes(vector.dtype, 1),
        absl::StrCat("extractelement ", Typed(vector), ", i32 ", lane),
        vector.range);
  }
  // A vector of one value for each lane.
  Value Vector(DType dtype, absl::FunctionRef<Value(int)> lane_of) {
    if (dtype.lanes() == 1) return lane_of(0);
    Value vector{dtype, "poison", {}};
    for (int i = 0; i < dtype.lanes(); ++i) {
      const Value lane = lane_of(i);
      vector = Instruction(dtype, absl::StrCat("insertelement ", Typed(vector),
                                               ", ", Typed(lane), ", i32 ", i));
    }
    return vector;
  }

  // --- Halves ----------------------------------------------------------------

  static DType BitsType(DType dtype) {
    return DType(DType::Code::kUInt, dtype.bits(), dtype.lanes());
  }
  // The stored bits of the float that a half is computed as.
  Value ToBits(const Value& value) {
    const char* name = IsBFloat(value.dtype) ? "to_bf16" : "to_f16";
    const int lanes = value.dtype.lanes();
    module_.UseConversion(name, lanes);
    return CallOne(BitsType(value.dtype),
                   absl::StrCat("baton.", name, ".x", lanes), value);
  }
  Value FromBits(const Value& bits, DType dtype) {
    const char* name = IsBFloat(dtype) ? "from_bf16" : "from_f16";
    module_.UseConversion(name, dtype.lanes());
    return CallOne(dtype, absl::StrCat("baton.", name, ".x", dtype.lanes()),
                   bits);
  }
  // A float, rounded to a half where `dtype` is one.
  Value Rounded(Value value, DType dtype) {
    value.dtype = dtype;
    return dtype.is_half() ? FromBits(ToBits(value), dtype) : value;
  }

  // --- Expressions -----------------------------------------------------------

  Value Emit(const PrimExpr& e) {
    return OnDeepStack([this, &e] { return EmitNode(e); });
  }

  Value EmitNode(const PrimExpr& e) {
    // The text is refused: the rest is not needed.
    if (static_cast<int64_t>(body_.size()) > module_.options().max_text_bytes) {
      return Refused(e.dtype());
    }
    switch (e->kind().To<TirKind>()) {
      case TirKind::kVar: {
        const auto* var = e.As<VarNode>();
        const Variable* known = variables_.Find(var);
        if (known == nullptr) {
          return Refuse(var, absl::StrCat("variable ", var->name(),
                                          ", which nothing defines,"));
        }
        return known->value;
      }
      case TirKind::kIntImm:
        if (!Check(e.dtype(), e.get())) return Refused(e.dtype());
        return Integer(e.dtype(), e.As<IntImmNode>()->value());
      case TirKind::kFloatImm:
        if (!Check(e.dtype(), e.get())) return Refused(e.dtype());
        return Real(e.dtype(), e.As<FloatImmNode>()->value());
      case TirKind::kCast:
        return EmitCast(e.As<CastNode>());
      case TirKind::kBinary:
        return EmitBinary(e.As<BinaryNode>());
      case TirKind::kNot: {
        const Value a = Emit(e.As<NotNode>()->a());
        return Two("xor", a, Integer(a.dtype, 1), {0, 1});
      }
      case TirKind::kSelect: {
        const auto* node = e.As<SelectNode>();
        const Value condition = Emit(node->condition());
        const Value yes = Emit(node->true_value());
        return Choose(condition, yes, Emit(node->false_value()));
      }
      case TirKind::kRamp:
        return EmitRamp(e.As<RampNode>());
      case TirKind::kBroadcast: {
        const auto* node = e.As<BroadcastNode>();
        return Splat(Emit(node->value()), node->lanes());
      }
      case TirKind::kShuffle:
        return EmitShuffle(e.As<ShuffleNode>());
      case TirKind::kBufferLoad:
        return EmitLoad(e.As<BufferLoadNode>());
      case TirKind::kCall:
        return EmitCall(e.As<CallNode>());
      case TirKind::kLet: {
        const auto* node = e.As<LetNode>();
        variables_[node->var().get()] = {Emit(node->value()), {}};
        return Emit(node->body());
      }
      default:
        return Refuse(e.get(), "a part of a definition or an annotation");
    }
  }

  static Value Refused(DType dtype) {
    return {LaneType(dtype).empty() ? kInt32 : dtype, "poison", {}};
  }

  Value EmitRamp(const RampNode* node) {
    const Value base = Emit(node->base());
    const Value stride = Emit(node->stride());
    if (!base.dtype.is_integral() || stride.dtype != base.dtype) {
      return Refuse(node, "a ramp of floats");
    }
    std::vector<std::string> lanes;
    const std::string type = LaneType(base.dtype);
    for (int i = 0; i < node->lanes(); ++i) {
      // Wraps as the type does.
      lanes.push_back(absl::StrCat(
          type, " ", WrapToDType(i, DType::Int(base.dtype.bits()))));
    }
    const Value steps{
        node->dtype(), absl::StrCat("<", absl::StrJoin(lanes, ", "), ">"), {}};
    const Value first = Splat(base, node->lanes());
    const auto* one = node->stride().As<IntImmNode>();
    if (one != nullptr && one->value() == 1) return Two("add", first, steps);
    return Two("add", first, Two("mul", Splat(stride, node->lanes()), steps));
  }

  Value EmitShuffle(const ShuffleNode* node) {
    std::vector<std::pair<Value, int>> lanes;
    for (const PrimExpr& vector : node->vectors()) {
      const Value value = Emit(vector);
      for (int i = 0; i < vector.dtype().lanes(); ++i) {
        lanes.push_back({value, i});
      }
    }
    std::vector<size_t> chosen;
    for (const PrimExpr& index : node->indices()) {
      const auto* number = index.As<IntImmNode>();
      if (number == nullptr || number->value() < 0 ||
          number->value() >= static_cast<int64_t>(lanes.size())) {
        return Refuse(node, "a shuffle by lanes that are no constants");
      }
      chosen.push_back(static_cast<size_t>(number->value()));
    }
    if (chosen.size() != static_cast<size_t>(node->dtype().lanes())) {
      return Refuse(node, "a shuffle of other lanes");
    }
    return Vector(node->dtype(), [&](int i) {
      const auto& [value, lane] = lanes[chosen[static_cast<size_t>(i)]];
      return LaneOf(value, lane);
    });
  }

  Value EmitCast(const CastNode* node) {
    return CastOf(Emit(node->value()), node->dtype(), node);
  }

  Value CastOf(const Value& value, DType to, const PrimExprNode* node) {
    const DType from = value.dtype;
    if (from == to) return value;
    if (from == kHandle || to == kHandle) {
      return Refuse(node, "a cast of a pointer");
    }
    if (from.lanes() != to.lanes()) return Refuse(node, "this cast");
    if (!Check(to, node)) return Refused(to);
    if (to.is_bool()) {
      return from.is_float() ? Compare("fcmp une", value, Real(from, 0))
                             : Compare("icmp ne", value, Integer(from, 0));
    }
    if (to.is_float()) {
      const DType real =
          to.is_half() ? WithLanes(DType::Float(32), to.lanes()) : to;
      if (from.is_integral()) {
        return Rounded(
            Convert(from.is_uint() ? "uitofp" : "sitofp", value, real), to);
      }
      const int from_bits = from.bits() == 64 ? 64 : 32;
      if (from_bits == real.bits()) return Rounded(value, to);
      return Rounded(
          Convert(from_bits < real.bits() ? "fpext" : "fptrunc", value, real),
          to);
    }
    if (from.is_float()) {
      // The nearest integer that the type has, 0 for a NaN.
      return CallOne(to,
                     absl::StrCat("llvm.fpto", to.is_uint() ? "u" : "s",
                                  "i.sat.", Suffix(to), ".", Suffix(from)),
                     value);
    }
    const Interval all = RangeOf(to);
    const bool fits = value.range.low >= all.low &&
                      value.range.high <= all.high &&
                      !(from.is_uint() && from.bits() == 64);
    const Interval range = fits ? value.range : all;
    if (from.bits() == to.bits()) return {to, value.text, range};
    return Convert(from.bits() > to.bits() ? "trunc"
                   : from.is_uint()        ? "zext"
                                           : "sext",
                   value, to, range);
  }

  // True for expressions that may be computed though their values are not used:
  // they are short and read no memory.
  static bool IsCheap(const PrimExpr& e, int& budget) {
    if (--budget < 0) return false;
    switch (e->kind().To<TirKind>()) {
      case TirKind::kVar:
      case TirKind::kIntImm:
      case TirKind::kFloatImm:
        return true;
      case TirKind::kCast:
        return IsCheap(e.As<CastNode>()->value(), budget);
      case TirKind::kBinary:
        return IsCheap(e.As<BinaryNode>()->a(), budget) &&
               IsCheap(e.As<BinaryNode>()->b(), budget);
      case TirKind::kNot:
        return IsCheap(e.As<NotNode>()->a(), budget);
      case TirKind::kRamp:
        return IsCheap(e.As<RampNode>()->base(), budget) &&
               IsCheap(e.As<RampNode>()->stride(), budget);
      case TirKind::kBroadcast:
        return IsCheap(e.As<BroadcastNode>()->value(), budget);
      default:
        return false;
    }
  }
  static bool IsCheap(const PrimExpr& e) {
    int budget = 16;
    return IsCheap(e, budget);
  }

  // The value of one of two expressions; the other is not computed.
  Value EmitChoice(const Value& condition, DType dtype,
                   absl::FunctionRef<Value()> yes,
                   absl::FunctionRef<Value()> no) {
    const std::string yes_label = NewLabel("yes");
    const std::string no_label = NewLabel("no");
    const std::string end_label = NewLabel("chosen");
    Branch(condition, yes_label, no_label);
    StartBlock(yes_label);
    const Value a = yes();
    const std::string a_block = block_;
    Branch(end_label);
    StartBlock(no_label);
    const Value b = no();
    const std::string b_block = block_;
    Branch(end_label);
    StartBlock(end_label);
    return Instruction(
        dtype,
        absl::StrCat("phi ", ValueType(dtype), " [ ", a.text, ", %", a_block,
                     " ], [ ", b.text, ", %", b_block, " ]"),
        {std::min(a.range.low, b.range.low),
         std::max(a.range.high, b.range.high)});
  }

  Value EmitIfThenElse(const PrimExpr& condition, const PrimExpr& yes,
                       const PrimExpr& no) {
    const Value c = Emit(condition);
    if (c.dtype.lanes() > 1 || (IsCheap(yes) && IsCheap(no))) {
      const Value a = Emit(yes);
      return Choose(c, a, Emit(no));
    }
    return EmitChoice(
        c, yes.dtype(), [&] { return Emit(yes); }, [&] { return Emit(no); });
  }

  // `a` and `b`, `a` or `b`; the second is computed only where it counts.
  Value EmitConnective(const BinaryNode* node) {
    const bool is_and = node->op() == BinaryOp::kAnd;
    const Value a = Emit(node->a());
    if (a.dtype.lanes() > 1 || IsCheap(node->b())) {
      return Two(is_and ? "and" : "or", a, Emit(node->b()), {0, 1});
    }
    const auto second = [&] { return Emit(node->b()); };
    const auto known = [&] { return Integer(a.dtype, is_and ? 0 : 1); };
    Value result = is_and ? EmitChoice(a, a.dtype, second, known)
                          : EmitChoice(a, a.dtype, known, second);
    result.range = {0, 1};
    return result;
  }

  Value EmitBinary(const BinaryNode* node) {
    const BinaryOp op = node->op();
    if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
      return EmitConnective(node);
    }
    const Value a = Emit(node->a());
    const Value b = Emit(node->b());
    if (a.dtype == kHandle || a.dtype != b.dtype) {
      return Refuse(node, "an operation on pointers");
    }
    if (IsLogical(op)) return EmitComparison(op, a, b);
    if (a.dtype.is_float()) return EmitFloatBinary(op, a, b);
    if (a.dtype.is_bool()) {
      // Truth values wrap at 2; no quotient has a meaning.
      const char* name = op == BinaryOp::kMul || op == BinaryOp::kMin   ? "and"
                         : op == BinaryOp::kAdd || op == BinaryOp::kMax ? "or"
                         : op == BinaryOp::kSub                         ? "xor"
                                                : nullptr;
      if (name == nullptr) return Refuse(node, "a division of truth values");
      return Two(name, a, b, {0, 1});
    }
    return EmitIntegerBinary(op, a, b);
  }

  Value EmitComparison(BinaryOp op, const Value& a, const Value& b) {
    const bool real = a.dtype.is_float();
    const char* sign = a.dtype.is_uint() ? "u" : "s";
    if (real) sign = "o";
    std::string name;
    switch (op) {
      case BinaryOp::kEQ:
        name = real ? "oeq" : "eq";
        break;
      case BinaryOp::kNE:
        name = real ? "une" : "ne";
        break;
      case BinaryOp::kLT:
        name = absl::StrCat(sign, "lt");
        break;
      case BinaryOp::kLE:
        name = absl::StrCat(sign, "le");
        break;
      case BinaryOp::kGT:
        name = absl::StrCat(sign, "gt");
        break;
      default:
        name = absl::StrCat(sign, "ge");
        break;
    }
    return Compare(absl::StrCat(real ? "fcmp " : "icmp ", name), a, b);
  }

  // The second operand only where it is less, or greater: of a NaN the first.
  Value EmitLesser(bool is_min, const Value& a, const Value& b) {
    const Value second = is_min ? EmitComparison(BinaryOp::kLT, b, a)
                                : EmitComparison(BinaryOp::kLT, a, b);
    Value result = Choose(second, b, a);
    if (a.dtype.is_integral()) {
      result.range = is_min ? Interval{std::min(a.range.low, b.range.low),
                                       std::min(a.range.high, b.range.high)}
                            : Interval{std::max(a.range.low, b.range.low),
                                       std::max(a.range.high, b.range.high)};
    }
    return result;
  }

  Value EmitFloatBinary(BinaryOp op, const Value& a, const Value& b) {
    const DType dtype = a.dtype;
    // Computed in double, and rounded.
    const auto in_double = [&](absl::FunctionRef<Value(Value, Value)> compute) {
      const DType wide = WithLanes(DType::Float(64), dtype.lanes());
      if (dtype == wide) return compute(a, b);
      const Value x = Convert("fpext", a, wide);
      const Value result = compute(x, Convert("fpext", b, wide));
      return Rounded(Convert("fptrunc", result,
                             WithLanes(DType::Float(32), dtype.lanes())),
                     dtype);
    };
    const auto floor_of_quotient = [this](const Value& x, const Value& y) {
      return CallOne(x.dtype, absl::StrCat("llvm.floor.", Suffix(x.dtype)),
                     Two("fdiv", x, y));
    };
    switch (op) {
      case BinaryOp::kAdd:
        return Rounded(Two("fadd", a, b), dtype);
      case BinaryOp::kSub:
        return Rounded(Two("fsub", a, b), dtype);
      case BinaryOp::kMul:
        return Rounded(Two("fmul", a, b), dtype);
      case BinaryOp::kDiv:
        return Rounded(Two("fdiv", a, b), dtype);
      case BinaryOp::kMod:
        return in_double([this](const Value& x, const Value& y) {
          return Two("frem", x, y);
        });
      case BinaryOp::kFloorDiv:
        return in_double(floor_of_quotient);
      case BinaryOp::kFloorMod:
        return in_double([&](const Value& x, const Value& y) {
          const Value whole = Two("fmul", floor_of_quotient(x, y), y);
          return Two("fsub", x, whole);
        });
      default:
        return EmitLesser(op == BinaryOp::kMin, a, b);
    }
  }

  Value EmitIntegerBinary(BinaryOp op, const Value& a, const Value& b) {
    const DType dtype = a.dtype;
    switch (op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
      case BinaryOp::kMul: {
        Interval range;
        const bool exact =
            dtype.lanes() == 1 && Combine(op, a.range, b.range, dtype, range);
        if (!exact) range = RangeOf(dtype);
        return Two(absl::StrCat(op == BinaryOp::kAdd   ? "add"
                                : op == BinaryOp::kSub ? "sub"
                                                       : "mul",
                                !exact            ? ""
                                : dtype.is_uint() ? " nuw"
                                                  : " nsw"),
                   a, b, range);
      }
      case BinaryOp::kMin:
      case BinaryOp::kMax:
        return EmitLesser(op == BinaryOp::kMin, a, b);
      default:
        return EmitDivision(op, a, b);
    }
  }

  // A division by zero is zero; the quotient of the least number and -1 wraps.
  Value EmitDivision(BinaryOp op, const Value& a, const Value& b) {
    const DType dtype = a.dtype;
    const bool is_quotient = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
    const bool floors = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
    const bool no_sign = dtype.is_uint();
    const char* divide = no_sign ? "udiv" : "sdiv";
    const char* rest_of = no_sign ? "urem" : "srem";
    const bool positive = b.range.low > 0 && !(no_sign && dtype.bits() == 64);
    Interval range = RangeOf(dtype);
    if (positive && a.range.low >= 0) {
      range =
          is_quotient
              ? Interval{a.range.low / b.range.high, a.range.high / b.range.low}
              : Interval{0, std::min(a.range.high, b.range.high - 1)};
      return Two(is_quotient ? divide : rest_of, a, b, range);
    }
    const Value zero = Integer(dtype, 0);
    const Value one = Integer(dtype, 1);
    Value divisor = b;
    Value is_zero;
    Value is_minus_one;
    if (!positive) {
      is_zero = Compare("icmp eq", b, zero);
      divisor = Choose(is_zero, one, b);
      if (!no_sign) {
        is_minus_one = Compare("icmp eq", b, Integer(dtype, -1));
        divisor = Choose(is_minus_one, one, divisor);
      }
    }
    // By 1, the rest is zero as it should be.
    Value rest;
    if (!is_quotient || floors) rest = Two(rest_of, a, divisor, range);
    Value adjust;
    if (floors && !no_sign) {
      const Value has_rest = Compare("icmp ne", rest, zero);
      const Value rest_sign = Compare("icmp slt", rest, zero);
      const Value sign = Compare("icmp slt", b, zero);
      adjust = Two("and", has_rest, Two("xor", rest_sign, sign));
    }
    if (!is_quotient) {
      if (adjust.text.empty()) return rest;
      return Choose(adjust, Two("add", rest, b), rest);
    }
    Value quotient = Two(divide, a, divisor);
    if (!is_minus_one.text.empty()) {
      quotient = Choose(is_minus_one, Two("sub", zero, a), quotient);
    }
    if (!adjust.text.empty()) {
      quotient = Two("sub", quotient, Convert("zext", adjust, dtype));
    }
    if (!is_zero.text.empty()) quotient = Choose(is_zero, zero, quotient);
    quotient.range = range;
    return quotient;
  }

  // --- Memory ----------------------------------------------------------------

  // The pointer of `buffer`; empty after an error.
  std::string PointerOf(const Buffer& buffer, const ExprNode* node) {
    const Variable* known = variables_.Find(buffer->data().get());
    if (CppElementType(WithLanes(buffer.dtype(), 1)).empty()) {
      Refuse(node, absl::StrCat("an access of ", buffer.dtype().ToString()));
      return "";
    }
    if (known == nullptr) {
      Refuse(node, absl::StrCat("buffer ", buffer->name(),
                                ", whose memory nothing defines,"));
      return "";
    }
    return known->value.text;
  }

  // An index of 64 bits.
  Value Wide(const Value& index) {
    if (index.dtype.bits() == 64) return index;
    return Convert(
        index.dtype.is_uint() || index.range.low >= 0 ? "zext" : "sext", index,
        WithLanes(DType::Int(64), index.dtype.lanes()), index.range);
  }

  std::string AddressOf(const std::string& pointer, DType element,
                        const Value& index, bool in_bounds = true) {
    if (index.text == "0") return pointer;
    return Instruction(kHandle, absl::StrCat("getelementptr ",
                                             in_bounds ? "inbounds " : "",
                                             StoredType(element), ", ptr ",
                                             pointer, ", ", Typed(Wide(index))))
        .text;
  }

  // The type of a value in memory.
  static std::string MemoryType(DType dtype) {
    return InLanes(StoredType(dtype), dtype.lanes());
  }
  static DType MemoryDType(DType dtype) {
    if (dtype.is_bool()) {
      return DType(DType::Code::kUInt, 8, dtype.lanes());
    }
    return dtype.is_half() ? BitsType(dtype) : dtype;
  }
  static int Alignment(DType dtype) { return WithLanes(dtype, 1).bytes(); }

  Value LoadFrom(const std::string& address, DType dtype) {
    const Value stored =
        Instruction(MemoryDType(dtype),
                    absl::StrCat("load ", MemoryType(dtype), ", ptr ", address,
                                 ", align ", Alignment(dtype)),
                    dtype.lanes() == 1 ? RangeOf(dtype) : Interval());
    return stored;
  }
  Value FromMemory(const Value& stored, DType dtype) {
    if (dtype.is_bool()) {
      return Compare("icmp ne", stored, Integer(stored.dtype, 0));
    }
    if (dtype.is_half()) return FromBits(stored, dtype);
    return stored;
  }
  Value ToMemory(const Value& value) {
    if (value.dtype.is_bool()) {
      return Convert("zext", value, MemoryDType(value.dtype));
    }
    return value.dtype.is_half() ? ToBits(value) : value;
  }
  void StoreTo(const std::string& address, const Value& stored) {
    Line(absl::StrCat("store ", Typed(stored), ", ptr ", address, ", align ",
                      Alignment(stored.dtype)));
  }

  // The first element of adjacent ones, or a vector of indices.
  Access Address(const Buffer& buffer, const PrimExpr& flat, Value& address,
                 const ExprNode* node) {
    const AccessedElements elements = ElementsOf(buffer, flat);
    if (elements.access == Access::kRefused) {
      Refuse(node, "an access of vectors by vectors");
    } else {
      address = Emit(elements.index);
    }
    return elements.access;
  }

  Value EmitLoad(const BufferLoadNode* node) {
    const Buffer& buffer = node->buffer();
    const DType dtype = node->dtype();
    const std::string pointer = PointerOf(buffer, node);
    if (pointer.empty()) return Refused(dtype);
    Value index;
    const Access access =
        Address(buffer, FlatIndex(buffer, node->indices()), index, node);
    if (access == Access::kRefused) return Refused(dtype);
    if (access == Access::kAdjacent) {
      return FromMemory(LoadFrom(AddressOf(pointer, dtype, index), dtype),
                        dtype);
    }
    const Value wide = Wide(index);
    const DType lane = WithLanes(dtype, 1);
    return FromMemory(Vector(MemoryDType(dtype),
                             [&](int i) {
                               return LoadFrom(
                                   AddressOf(pointer, lane, LaneOf(wide, i)),
                                   lane);
                             }),
                      dtype);
  }

  // --- Calls -----------------------------------------------------------------

  Value EmitCall(const CallNode* node) {
    const auto* op = node->op().As<OpNode>();
    if (op == nullptr) return Refuse(node, "a call of another function");
    const absl::string_view name =
        absl::StripPrefix(absl::string_view(op->name()), "tir.");
    const absl::Span<const PrimExpr> args = node->args();
    if (name == "if_then_else" && args.size() == 3) {
      return EmitIfThenElse(args[0], args[1], args[2]);
    }
    if (name == "likely" && args.size() == 1) return Emit(args[0]);
    if (name == "assume") return Integer(DType::Bool(), 1);
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
      const std::string pointer = PointerOf(load->buffer(), node);
      if (pointer.empty()) return Refused(kHandle);
      const Value index = Emit(FlatIndex(load->buffer(), load->indices()));
      return {kHandle,
              AddressOf(pointer, load->buffer().dtype(), index,
                        /*in_bounds=*/false),
              {}};
    }
    if (name == "call_pure_extern") return EmitExtern(node);
    return EmitFunction(node, name);
  }

  Value EmitExtern(const CallNode* node) {
    const std::string name = LibraryFunctionOf(node);
    if (name.empty()) return Refuse(node, "this T.call_pure_extern");
    std::vector<Value> values;
    for (const PrimExpr& arg : node->args().subspan(1))
      values.push_back(Emit(arg));
    return Call(DType::Float(64), name, values, true);
  }

  Value EmitReinterpret(const CallNode* node) {
    const Value value = Emit(node->args()[0]);
    const DType from = value.dtype;
    const DType to = node->dtype();
    if (from == to) return value;
    if (from.lanes() != to.lanes() || from.bits() != to.bits() ||
        from == kHandle || to == kHandle || from.is_bool() || to.is_bool() ||
        LaneType(to).empty()) {
      return Refuse(node, "this reinterpretation");
    }
    Value bits = value;
    if (from.is_half()) {
      bits = ToBits(value);
    } else if (from.is_float()) {
      bits = Convert("bitcast", value, BitsType(from));
    }
    if (to.is_half()) return FromBits(bits, to);
    if (to.is_float()) return Convert("bitcast", bits, to);
    return {to, bits.text, RangeOf(to)};
  }

  Value EmitFunction(const CallNode* node, absl::string_view name) {
    const auto refuse = [&] {
      return Refuse(node,
                    absl::StrCat("T.", ScriptName(*node->op().As<OpNode>())));
    };
    if (node->args().empty() || node->dtype() == kHandle) return refuse();
    std::vector<Value> args;
    for (const PrimExpr& arg : node->args()) {
      if (arg.dtype() == kHandle) return refuse();
      args.push_back(Emit(arg));
      if (args.back().dtype.lanes() != node->dtype().lanes()) {
        return Refuse(node, "a function of vectors and scalars");
      }
    }
    Value result;
    const bool known = args[0].dtype.is_float()
                           ? EmitFloatFunction(name, args, result)
                           : EmitIntegerFunction(name, args, node, result);
    if (!known) return refuse();
    return result;
  }

  // Computes each lane.
  Value ByLanes(DType dtype, absl::Span<const Value> args,
                absl::FunctionRef<Value(absl::Span<const Value>)> compute) {
    return Vector(dtype, [&](int i) {
      std::vector<Value> lanes;
      for (const Value& arg : args) lanes.push_back(LaneOf(arg, i));
      return compute(lanes);
    });
  }

  bool EmitFloatFunction(absl::string_view name, std::vector<Value>& args,
                         Value& result) {
    const DType dtype = args[0].dtype;
    // Halves are computed as floats.
    const DType real =
        WithLanes(DType::Float(dtype.bits() == 64 ? 64 : 32), dtype.lanes());
    const DType lane = WithLanes(real, 1);
    const DType wide = DType::Float(64);
    if (name == "isnan" && args.size() == 1) {
      result = Compare("fcmp uno", args[0], args[0]);
      return true;
    }
    for (Value& arg : args) {
      if (arg.dtype == dtype) arg.dtype = real;
    }
    const auto widened = [&](const Value& value) {
      return value.dtype == wide ? value : Convert("fpext", value, wide);
    };
    const auto narrowed = [&](const Value& value) {
      return lane == wide ? value : Convert("fptrunc", value, lane);
    };
    if (name == "rsqrt" && args.size() == 1) {
      const Value root =
          CallOne(real, absl::StrCat("llvm.sqrt.", Suffix(real)), args[0]);
      result = Rounded(Two("fdiv", Real(real, 1), root), dtype);
      return true;
    }
    if (name == "exp10" && args.size() == 1) {
      result = Rounded(
          ByLanes(real, args,
                  [&](absl::Span<const Value> lanes) {
                    const Value both[] = {Real(wide, 10), widened(lanes[0])};
                    return narrowed(Call(wide, "pow", both, true));
                  }),
          dtype);
      return true;
    }
    if (name == "ldexp" && args.size() == 2 && args[1].dtype.is_integral()) {
      const Value exponent =
          CastOf(args[1], WithLanes(kInt32, real.lanes()), nullptr);
      const Value both[] = {args[0], exponent};
      result = Rounded(
          ByLanes(real, both,
                  [&](absl::Span<const Value> lanes) {
                    const Value operands[] = {widened(lanes[0]), lanes[1]};
                    return narrowed(Call(wide, "ldexp", operands, true));
                  }),
          dtype);
      return true;
    }
    for (const Value& arg : args) {
      if (arg.dtype != real) return false;
    }
    for (const FloatFunction& function : kFloatFunctions) {
      if (name != function.name ||
          static_cast<int>(args.size()) != function.arity) {
        continue;
      }
      result = Rounded(CallFloat(function, real, args), dtype);
      return true;
    }
    return false;
  }

  Value CallFloat(const FloatFunction& function, DType real,
                  absl::Span<const Value> args) {
    const DType lane = WithLanes(real, 1);
    const bool is_double = real.bits() == 64;
    switch (function.form) {
      case FloatForm::kIntrinsic:
        return Call(real,
                    absl::StrCat("llvm.", function.name, ".", Suffix(real)),
                    args);
      case FloatForm::kDefined: {
        const std::string name = absl::StrCat("baton.", function.name, ".",
                                              is_double ? "f64" : "f32");
        module_.UseMathFunction(name);
        return ByLanes(real, args, [&](absl::Span<const Value> lanes) {
          return Call(lane, name, lanes);
        });
      }
      case FloatForm::kLibrary: {
        const std::string name =
            absl::StrCat(function.name, is_double ? "" : "f");
        return ByLanes(real, args, [&](absl::Span<const Value> lanes) {
          return Call(lane, name, lanes, true);
        });
      }
      case FloatForm::kDouble:
        break;
    }
    const DType wide = DType::Float(64);
    return ByLanes(real, args, [&](absl::Span<const Value> lanes) {
      std::vector<Value> operands;
      for (const Value& value : lanes) {
        operands.push_back(is_double ? value : Convert("fpext", value, wide));
      }
      const Value value = Call(wide, function.name, operands, true);
      return is_double ? value : Convert("fptrunc", value, lane);
    });
  }

  bool EmitIntegerFunction(absl::string_view name, absl::Span<const Value> args,
                           const CallNode* node, Value& result) {
    const Value& a = args[0];
    const DType dtype = a.dtype;
    const DType wide = WithLanes(DType::Int(64), dtype.lanes());
    if (!dtype.is_integral()) return false;
    for (const Value& arg : args) {
      if (!arg.dtype.is_integral()) return false;
    }
    if (args.size() == 1) {
      if (name == "bitwise_not") {
        result = dtype.is_bool() ? Integer(dtype, 1)
                                 : Two("xor", a, Integer(dtype, -1));
      } else if (name == "popcount" && !dtype.is_bool()) {
        result = CallOne(dtype, absl::StrCat("llvm.ctpop.", Suffix(dtype)), a);
      } else if (name == "clz" && !dtype.is_bool()) {
        const Value both[] = {a, {DType::Bool(), "false", {}}};
        result = Call(dtype, absl::StrCat("llvm.ctlz.", Suffix(dtype)), both);
      } else if (name == "fabs") {
        const Value zero = Integer(dtype, 0);
        result = dtype.is_uint() ? a
                                 : Choose(Compare("icmp slt", a, zero),
                                          Two("sub", zero, a), a);
      } else if (name == "floor" || name == "ceil" || name == "round" ||
                 name == "nearbyint" || name == "trunc") {
        result = a;
      } else {
        return false;
      }
      result.range = RangeOf(dtype);
      result = CastOf(result, node->dtype(), node);
      return true;
    }
    if (name == "q_multiply_shift" && args.size() == 4) {
      std::vector<Value> words;
      for (const Value& arg : args) words.push_back(CastOf(arg, wide, node));
      module_.UseMultiplyShift();
      result = CastOf(ByLanes(wide, words,
                              [&](absl::Span<const Value> lanes) {
                                return Call(DType::Int(64),
                                            "baton.multiply_shift", lanes);
                              }),
                      node->dtype(), node);
      return true;
    }
    if (args.size() != 2) return false;
    const Value& b = args[1];
    const char* bitwise = name == "bitwise_and"   ? "and"
                          : name == "bitwise_or"  ? "or"
                          : name == "bitwise_xor" ? "xor"
                                                  : nullptr;
    if (bitwise != nullptr) {
      if (a.dtype != b.dtype) return false;
      result = Two(bitwise, a, b, RangeOf(dtype));
      return true;
    }
    if (dtype.is_bool()) return false;
    const Value word = CastOf(a, wide, node);
    const Value by = CastOf(b, wide, node);
    Value shifted;
    if (name == "shift_left" || name == "shift_right") {
      const Value most = Integer(wide, 63);
      const Value too_far = Compare("icmp ugt", by, most);
      const Value bounded = Choose(too_far, most, by);
      shifted = name == "shift_left"
                    ? Choose(too_far, Integer(wide, 0), Two("shl", word, by))
                    : Two(dtype.is_uint() ? "lshr" : "ashr", word, bounded);
    } else if (name == "pow") {
      module_.UsePower();
      const Value zero = Integer(wide, 0);
      Value exponent = by;
      if (!b.dtype.is_uint()) {
        exponent = Choose(Compare("icmp slt", by, zero), zero, by);
      }
      const Value both[] = {word, exponent};
      shifted = ByLanes(wide, both, [&](absl::Span<const Value> lanes) {
        return Call(DType::Int(64), "baton.power", lanes);
      });
    } else {
      return false;
    }
    shifted.range = {};
    result = CastOf(shifted, dtype, node);
    result.range = RangeOf(dtype);
    return true;
  }

  // --- Statements ------------------------------------------------------------

  void WriteWhile(const WhileNode* node, int depth) override {
    const std::string head = NewLabel("while");
    const std::string body = NewLabel("body");
    const std::string end = NewLabel("end");
    Branch(head);
    StartBlock(head);
    Branch(Emit(node->condition()), body, end);
    StartBlock(body);
    WriteStmt(node->body(), depth + 1);
    Branch(head);
    StartBlock(end);
  }

  void WriteIf(const IfThenElseNode* node, int depth) override {
    const bool has_else = node->else_case().defined();
    const std::string yes = NewLabel("then");
    const std::string no = has_else ? NewLabel("else") : "";
    const std::string end = NewLabel("end");
    Branch(Emit(node->condition()), yes, has_else ? no : end);
    StartBlock(yes);
    WriteStmt(node->then_case(), depth);
    Branch(end);
    if (has_else) {
      StartBlock(no);
      WriteStmt(node->else_case(), depth);
      Branch(end);
    }
    StartBlock(end);
  }

  void WriteCheck(const AssertStmtNode* node) override {
    emitted_.can_fail = true;
    const std::string holds = NewLabel("holds");
    const std::string fails = NewLabel("fails");
    Branch(Emit(node->condition()), holds, fails);
    StartBlock(fails);
    Line("ret i32 1");
    StartBlock(holds);
  }

  void WriteFor(const ForNode* node, int depth) override {
    const VarNode* var = node->loop_var().get();
    const DType dtype = var->dtype();
    if (!dtype.is_integral() || dtype.is_bool() || !Check(dtype, node)) {
      Refuse(node, "a loop over other than integers");
      return;
    }
    if (depth == 0) {
      Comment(absl::StrCat(
          function_.origin.empty() ? function_.symbol : function_.origin, ": ",
          absl::StrJoin(WrittenNames(Stmt(node)), ", ")));
    }
    const Value min = CastOf(Emit(node->min()), dtype, node->min().get());
    const auto* first = node->min().As<IntImmNode>();
    const PrimExpr last = first != nullptr && first->value() == 0
                              ? node->extent()
                              : Add(node->min(), node->extent());
    const Value end = CastOf(Emit(last), dtype, last.get());
    const std::string name = absl::StrCat("%", names_.Unique(var->name()));
    const std::string before = block_;
    const std::string head = NewLabel("for");
    const std::string body = NewLabel("body");
    const std::string latch = NewLabel("next");
    const std::string exit = NewLabel("end");
    Branch(head);
    StartBlock(head);
    const std::string type = ValueType(dtype);
    Line(absl::StrCat(name, " = phi ", type, " [ ", min.text, ", %", before,
                      " ], [ ", name, ".next, %", latch, " ]"));
    const Value value{dtype, name, RangeOfLoop(min.range, end.range)};
    variables_[var] = {value, {}};
    Branch(EmitComparison(BinaryOp::kLT, value, end), body, exit);
    StartBlock(body);
    WriteStmt(node->body(), depth + 1);
    Branch(latch);
    StartBlock(latch);
    Line(absl::StrCat(name, ".next = add ", dtype.is_uint() ? "nuw " : "nsw ",
                      type, " ", name, ", 1"));
    const auto* count = node->extent().As<IntImmNode>();
    const bool unrolls = node->for_kind() == ForKind::kUnrolled &&
                         count != nullptr && count->value() > 0 &&
                         count->value() <= 64;
    Line(absl::StrCat(
        "br label %", head,
        unrolls ? absl::StrCat(", !llvm.loop !", module_.UnrolledLoop()) : ""));
    StartBlock(exit);
  }

  void WriteLet(const LetStmtNode* node, int depth) override {
    const VarNode* var = node->var().get();
    const Value value = Emit(node->value());
    DType element;
    if (var->dtype() == kHandle) {
      element =
          var->typed_pointer() ? WithLanes(var->element(), 1) : DType::UInt(8);
      if (CppElementType(element).empty()) {
        Refuse(node, absl::StrCat("a pointer to ", element.ToString()));
        return;
      }
    }
    variables_[var] = {value, element};
    WriteStmt(node->body(), depth);
  }

  void WriteStore(const BufferStoreNode* node) override {
    const Buffer& buffer = node->buffer();
    const PrimExpr flat = FlatIndex(buffer, node->indices());
    const std::string pointer = PointerOf(buffer, node);
    if (pointer.empty()) return;
    const Value value = Emit(node->value());
    const DType element = WithLanes(buffer.dtype(), value.dtype.lanes());
    if (value.dtype != element) {
      Refuse(node, absl::StrCat("a store of ", value.dtype.ToString(), " to ",
                                buffer.dtype().ToString()));
      return;
    }
    Value index;
    const Access access = Address(buffer, flat, index, node);
    if (access == Access::kRefused) return;
    const Value stored = ToMemory(value);
    if (access == Access::kAdjacent) {
      return StoreTo(AddressOf(pointer, element, index), stored);
    }
    const Value wide = Wide(index);
    for (int i = 0; i < element.lanes(); ++i) {
      StoreTo(AddressOf(pointer, element, LaneOf(wide, i)), LaneOf(stored, i));
    }
  }

  void WriteAllocate(const AllocateNode* node, int depth) override {
    const AllocationSize size = SizeOf(node);
    if (!size.error.empty()) {
      Refuse(node, size.error);
      return;
    }
    const DType element = WithLanes(node->dtype(), 1);
    const std::string name =
        absl::StrCat("%", names_.Unique(node->var()->name()));
    variables_[node->var().get()] = {{kHandle, name, {}}, element};
    if (size.bytes <= module_.options().max_stack_bytes) {
      // Once for each call, not for each iteration.
      const int64_t bytes = std::max<int64_t>(size.bytes, 1);
      absl::StrAppend(&entry_, "  ", name, " = alloca [", bytes,
                      " x i8], align 64\n");
      module_.Declare("void @llvm.lifetime.start.p0(i64, ptr nocapture)");
      module_.Declare("void @llvm.lifetime.end.p0(i64, ptr nocapture)");
      Line(absl::StrCat("call void @llvm.lifetime.start.p0(i64 ", bytes,
                        ", ptr ", name, ")"));
      WriteStmt(node->body(), depth);
      Line(absl::StrCat("call void @llvm.lifetime.end.p0(i64 ", bytes, ", ptr ",
                        name, ")"));
      return;
    }
    const int64_t offset = workspace_.Take(size.bytes);
    Comment(absl::StrCat(size.bytes, " bytes"));
    Line(absl::StrCat(
        name, " = getelementptr inbounds i8, ptr %workspace, i64 ", offset));
    WriteStmt(node->body(), depth);
    workspace_.Release(offset);
  }

  void WriteConstant(const AllocateConstNode* node, int depth) override {
    if (written_.Contains(node->var().get())) {
      Refuse(node, "a store to a constant");
      return;
    }
    const DType element = WithLanes(node->dtype(), 1);
    CppParam param;
    param.kind = CppParam::Kind::kConstant;
    param.index = static_cast<int>(emitted_.constants.size());
    param.dtype = element;
    param.name = names_.Unique(node->var()->name());
    const std::string type = CppElementType(element);
    if (type.empty()) {
      Refuse(node, absl::StrCat("a constant of ", node->dtype().ToString()));
      return;
    }
    param.type = absl::StrCat("const ", type, "*");
    variables_[node->var().get()] = {
        {kHandle, absl::StrCat("%", param.name), {}}, element};
    emitted_.params.push_back(std::move(param));
    emitted_.constants.push_back(node->data());
    WriteStmt(node->body(), depth);
  }

  void WriteEvaluate(const EvaluateNode* node) override {
    const PrimExpr& value = node->value();
    if (value.As<IntImmNode>() != nullptr) return;
    const auto* call = value.As<CallNode>();
    if (call == nullptr) return;
    const auto* op = call->op().As<OpNode>();
    if (op != nullptr && op->name() == "tir.ret" && call->args().size() == 1) {
      const auto* number = call->args()[0].As<IntImmNode>();
      if (number == nullptr || number->value() != 0) {
        Refuse(node, "a result of a function");
        return;
      }
      emitted_.can_fail = true;
      Line("ret i32 0");
      return StartBlock(NewLabel("dead"));
    }
    const Intrinsic* intrinsic = IntrinsicOf(call->op());
    if (intrinsic == nullptr || intrinsic->effect > CallEffect::kReadState) {
      if (op != nullptr && op->name() == "tir.assume") return;
      Emit(value);
    }
  }

  const CppFunction& function_;
  const LlvmTarget& target_;
  Module& module_;
  Diagnostics& problems_;
  CppNames names_;
  CppEmitted emitted_;
  WrittenPointers written_;
  NodeMap<Variable> variables_;
  std::string entry_;  // instructions that the entry begins with
  std::string body_;
  std::string block_ = "entry";
  Workspace workspace_;
  int last_name_ = 0;
  int last_label_ = 0;
  int subprogram_ = -1;  // of the line table
};

// Layouts of data that both ends of the range of versions take: the compiler
// adds to them what later versions know.
absl::StatusOr<absl::string_view> DataLayout(absl::string_view triple) {
  if (!absl::StrContains(triple, "linux") &&
      !absl::StrContains(triple, "elf")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the triple ", triple,
        " is not known: its system is not linux, and its format not elf"));
  }
  if (absl::StartsWith(triple, "x86_64-")) {
    return "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:"
           "64-S128";
  }
  if (absl::StartsWith(triple, "aarch64-")) {
    return "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128";
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the triple ", triple,
                   " is not known: it begins with x86_64- or aarch64-"));
}

// True for text that needs no escapes between quotes.
bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || absl::StrContains("-_+,.", c);
  });
}

}  // namespace

absl::StatusOr<LlvmTarget> ParseLlvmTarget(absl::string_view text) {
  LlvmTarget target;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (word == "llvm") continue;
    const auto fail = [&](absl::string_view message) {
      return absl::InvalidArgumentError(
          absl::StrCat("target \"", text, "\": ", message, ": ", word));
    };
    if (!IsPlain(absl::StrReplaceAll(word, {{"=", ""}}))) {
      return fail("a character that no option has");
    }
    if (absl::ConsumePrefix(&word, "-mtriple=")) {
      target.triple = std::string(word);
    } else if (absl::ConsumePrefix(&word, "-mcpu=")) {
      target.cpu = std::string(word);
    } else if (absl::ConsumePrefix(&word, "-mattr=")) {
      target.features = std::string(word);
    } else {
      return fail("not one of -mtriple=, -mcpu=, -mattr=");
    }
  }
  BATON_RETURN_IF_ERROR(DataLayout(target.triple).status());
  return target;
}

absl::StatusOr<LlvmSource> WriteLlvmSource(
    absl::Span<const CppFunction> functions, const LlvmSourceOptions& options) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view layout,
                         DataLayout(options.target.triple));
  if (!options.function_targets.empty() &&
      options.function_targets.size() != functions.size()) {
    return absl::InvalidArgumentError(
        "LlvmSourceOptions: a target for each function, or none");
  }
  Diagnostics problems;
  CppNames symbols;
  for (const char* name : {"main", "memcpy", "memmove", "memset"}) {
    symbols.Reserve(name);
  }
  for (const FloatFunction& function : kFloatFunctions) {
    symbols.Reserve(function.name);
    symbols.Reserve(absl::StrCat(function.name, "f"));
  }
  symbols.Reserve("ldexp");
  Module module(options);
  module.AttributesOf(options.target);
  LlvmSource source;
  std::string definitions;
  for (size_t i = 0; i < functions.size(); ++i) {
    const LlvmTarget& target = options.function_targets.empty()
                                   ? options.target
                                   : options.function_targets[i];
    if (target.triple != options.target.triple) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function ", functions[i].symbol, " is for ", target.triple,
          ", others are for ", options.target.triple));
    }
    FunctionWriter writer(functions[i], target, symbols, module, problems);
    absl::StrAppend(&definitions, "\n", writer.Write());
    if (options.entries) absl::StrAppend(&definitions, "\n", writer.Entry());
    source.functions.push_back(std::move(writer).emitted());
    if (static_cast<int64_t>(definitions.size()) > options.max_text_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "LLVM's text has more than ", options.max_text_bytes, " bytes"));
    }
  }
  BATON_RETURN_IF_ERROR(problems.ToStatus());
  for (const std::string& line : options.head) {
    absl::StrAppend(&source.text, "; ", CppCommentText(line), "\n");
  }
  absl::StrAppend(&source.text, "target datalayout = \"", layout,
                  "\"\ntarget triple = \"", options.target.triple, "\"\n",
                  definitions, module.Rest(definitions));
  return source;
}

}  // namespace baton::tir
