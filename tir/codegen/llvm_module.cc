#include "baton/tir/codegen/llvm_module.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/ir/span.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/source_texts.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir::llvm {
namespace {

// Conversions between float and the bits of a half, for any number of lanes.
// $f, $i, $h: types of 32 bits, of 32 bits and of 16; $(x): x in all lanes.
struct HalfConversion {
  const char* name;
  bool to_half;
  const char* body;
};
constexpr HalfConversion kHalfConversions[] = {
    {"from_f16", false, R"(  %wide = zext $h %x to $i
  %negative = and $i %wide, $(32768)
  %sign = shl $i %negative, $(16)
  %rest = and $i %wide, $(32767)
  %magnitude = shl $i %rest, $(13)
  %small = bitcast $i %magnitude to $f
  %scaled = fmul $f %small, $(0x46F0000000000000)
  %finite = bitcast $f %scaled to $i
  %is_other = icmp uge $i %magnitude, $(260046848)
  %other = select $b %is_other, $i $(2139095040), $i $(0)
  %signed = or $i %sign, %finite
  %bits = or $i %signed, %other
  %result = bitcast $i %bits to $f
)"},
    {"to_f16", true, R"(  %wide = bitcast $f %x to $i
  %high = lshr $i %wide, $(16)
  %sign = and $i %high, $(32768)
  %magnitude = and $i %wide, $(2147483647)
  %place = lshr $i %magnitude, $(13)
  %payload = and $i %place, $(1023)
  %nan = or $i %payload, $(32256)
  %number = bitcast $i %magnitude to $f
  %shifted = fadd $f %number, $(0x3FE0000000000000)
  %shifted.bits = bitcast $f %shifted to $i
  %subnormal = sub $i %shifted.bits, $(1056964608)
  %odd = and $i %place, $(1)
  %biased = sub $i %magnitude, $(939524096)
  %half = add $i %biased, $(4095)
  %rounded = add $i %half, %odd
  %normal = lshr $i %rounded, $(13)
  %is_small = icmp ult $i %magnitude, $(947912704)
  %finite = select $b %is_small, $i %subnormal, $i %normal
  %is_large = icmp uge $i %magnitude, $(1199566848)
  %bounded = select $b %is_large, $i $(31744), $i %finite
  %is_nan = icmp ugt $i %magnitude, $(2139095040)
  %unsigned = select $b %is_nan, $i %nan, $i %bounded
  %bits = or $i %sign, %unsigned
  %result = trunc $i %bits to $h
)"},
    {"from_bf16", false, R"(  %wide = zext $h %x to $i
  %bits = shl $i %wide, $(16)
  %result = bitcast $i %bits to $f
)"},
    {"to_bf16", true, R"(  %wide = bitcast $f %x to $i
  %high = lshr $i %wide, $(16)
  %odd = and $i %high, $(1)
  %half = add $i %wide, $(32767)
  %sum = add $i %half, %odd
  %rounded = lshr $i %sum, $(16)
  %nan = or $i %high, $(64)
  %magnitude = and $i %wide, $(2147483647)
  %is_nan = icmp ugt $i %magnitude, $(2139095040)
  %bits = select $b %is_nan, $i %nan, $i %rounded
  %result = trunc $i %bits to $h
)"},
};

// The definition of a conversion for `lanes` lanes.
std::string DefineConversion(const HalfConversion& conversion, int lanes) {
  std::string body;
  const absl::string_view text = conversion.body;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      body += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'f':
        body += InLanes("float", lanes);
        break;
      case 'i':
        body += InLanes("i32", lanes);
        break;
      case 'h':
        body += InLanes("i16", lanes);
        break;
      case 'b':
        body += InLanes("i1", lanes);
        break;
      default: {
        const size_t end = text.find(')', i);
        const std::string number(text.substr(i + 1, end - i - 1));
        body += InAllLanes(absl::StartsWith(number, "0x") ? "float" : "i32",
                           number, lanes);
        i = end;
        break;
      }
    }
  }
  const std::string real = InLanes("float", lanes);
  const std::string bits = InLanes("i16", lanes);
  const std::string& from = conversion.to_half ? real : bits;
  const std::string& to = conversion.to_half ? bits : real;
  return absl::StrCat("define internal ", to, " @baton.", conversion.name, ".x",
                      lanes, "(", from, " %x) alwaysinline #0 {\n", body,
                      "  ret ", to, " %result\n}\n");
}

// Functions of integers that no instruction computes.
constexpr char kPower[] =
    R"(define internal i64 @baton.power(i64 %a, i64 %b) #0 {
entry:
  br label %loop
loop:
  %power = phi i64 [ 1, %entry ], [ %next.power, %body ]
  %square = phi i64 [ %a, %entry ], [ %next.square, %body ]
  %rest = phi i64 [ %b, %entry ], [ %next.rest, %body ]
  %done = icmp eq i64 %rest, 0
  br i1 %done, label %end, label %body
body:
  %bit = and i64 %rest, 1
  %is_set = icmp ne i64 %bit, 0
  %product = mul i64 %power, %square
  %next.power = select i1 %is_set, i64 %product, i64 %power
  %next.square = mul i64 %square, %square
  %next.rest = lshr i64 %rest, 1
  br label %loop
end:
  ret i64 %power
}
)";
constexpr char kMultiplyShift[] =
    R"(define internal i64 @baton.multiply_shift(i64 %x, i64 %y, i64 %q, i64 %shift) #0 {
  %is_left = icmp sgt i64 %shift, 0
  %left = select i1 %is_left, i64 %shift, i64 0
  %negative = sub i64 0, %shift
  %right = select i1 %is_left, i64 0, i64 %negative
  %total = add i64 %q, %right
  %too_small = icmp slt i64 %total, 1
  %too_large = icmp sgt i64 %total, 100
  %too_far = icmp sgt i64 %left, 62
  %bad.1 = or i1 %too_small, %too_large
  %bad = or i1 %bad.1, %too_far
  %left.safe = select i1 %bad, i64 0, i64 %left
  %total.safe = select i1 %bad, i64 1, i64 %total
  %scaled = shl i64 %x, %left.safe
  %x.wide = sext i64 %scaled to i128
  %y.wide = sext i64 %y to i128
  %product = mul i128 %x.wide, %y.wide
  %total.wide = zext i64 %total.safe to i128
  %less.one = sub i128 %total.wide, 1
  %half = shl i128 1, %less.one
  %sum = add i128 %product, %half
  %shifted = ashr i128 %sum, %total.wide
  %narrow = trunc i128 %shifted to i64
  %result = select i1 %bad, i64 0, i64 %narrow
  ret i64 %result
}
)";

int LineOf(const Span& span) {
  return span.defined() ? span->source().PositionOf(span->begin()).line : 0;
}

}  // namespace

std::string LaneType(DType dtype) {
  if (dtype == kHandle) return "ptr";
  if (dtype.is_bool()) return "i1";
  if (dtype.is_half()) return "float";
  if (!WithLanes(dtype, 1).IsStorable()) return "";
  if (dtype.is_float()) return dtype.bits() == 64 ? "double" : "float";
  return absl::StrCat("i", dtype.bits());
}

std::string InLanes(const std::string& type, int lanes) {
  return lanes == 1 ? type : absl::StrCat("<", lanes, " x ", type, ">");
}

std::string ValueType(DType dtype) {
  return InLanes(LaneType(dtype), dtype.lanes());
}

std::string StoredType(DType dtype) {
  if (dtype.is_bool()) return "i8";
  if (dtype.is_half()) return "i16";
  return LaneType(WithLanes(dtype, 1));
}

std::string Suffix(DType dtype) {
  const char* const code = dtype.is_float() ? "f" : "i";
  const int bits = dtype.is_half() ? 32 : dtype.bits();
  return dtype.lanes() == 1 ? absl::StrCat(code, bits)
                            : absl::StrCat("v", dtype.lanes(), code, bits);
}

std::string RealText(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return absl::StrFormat("0x%016X", bits);
}

std::string InAllLanes(const std::string& lane_type, const std::string& text,
                       int lanes) {
  if (lanes == 1) return text;
  const std::string one = absl::StrCat(lane_type, " ", text);
  return absl::StrCat(
      "<", absl::StrJoin(std::vector<std::string>(lanes, one), ", "), ">");
}

bool IsConstant(const Value& value) {
  return value.text.empty() || value.text[0] != '%';
}

std::string Typed(const Value& value) {
  return absl::StrCat(ValueType(value.dtype), " ", value.text);
}

void Module::UseMathFunction(const std::string& name) {
  if (!math_functions_.emplace(name, "").second) return;
  const absl::string_view all = kLlvmMathText;
  const size_t begin = all.find(absl::StrCat("@", name, "("));
  if (begin == absl::string_view::npos) return;
  const size_t start = all.rfind("define ", begin);
  const size_t end = all.find("\n}\n", begin) + 3;
  const absl::string_view definition = all.substr(start, end - start);
  math_functions_[name] = std::string(definition);
  for (absl::string_view line : absl::StrSplit(definition, '\n')) {
    const size_t call = line.find(" = call ");
    if (call == absl::string_view::npos) continue;
    DeclareCalled(line.substr(call + 8));
  }
}

int Module::AttributesOf(const LlvmTarget& target) {
  std::string text = "nounwind";
  if (!target.cpu.empty()) {
    absl::StrAppend(&text, " \"target-cpu\"=\"", target.cpu, "\"");
  }
  if (!target.features.empty()) {
    absl::StrAppend(&text, " \"target-features\"=\"", target.features, "\"");
  }
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i] == text) return static_cast<int>(i);
  }
  attributes_.push_back(std::move(text));
  return static_cast<int>(attributes_.size()) - 1;
}

int Module::AddMetadata(std::string text) {
  metadata_.push_back(std::move(text));
  return static_cast<int>(metadata_.size()) - 1;
}

int Module::UnrolledLoop() {
  if (unroll_ < 0) unroll_ = AddMetadata("!{!\"llvm.loop.unroll.full\"}");
  const int number = static_cast<int>(metadata_.size());
  return AddMetadata(absl::StrCat("distinct !{!", number, ", !", unroll_, "}"));
}

int Module::AddSubprogram(const std::string& name, const std::string& symbol,
                          const Span& span) {
  const int file = FileOf(span);
  if (unit_ < 0) {
    unit_ = AddMetadata(absl::StrCat(
        "distinct !DICompileUnit(language: DW_LANG_C99, file: !", file,
        ", producer: \"Baton\", isOptimized: true, runtimeVersion: 0, "
        "emissionKind: FullDebug)"));
    const int types = AddMetadata("!{}");
    type_ = AddMetadata(absl::StrCat("!DISubroutineType(types: !", types, ")"));
  }
  const int line = LineOf(span);
  return AddMetadata(absl::StrCat(
      "distinct !DISubprogram(name: \"", name, "\", linkageName: \"", symbol,
      "\", scope: !", file, ", file: !", file, ", line: ", line, ", type: !",
      type_, ", scopeLine: ", line,
      ", spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !", unit_,
      ")"));
}

int Module::AddLocation(const Span& span, int subprogram) {
  const Source::Position position =
      span.defined() ? span->source().PositionOf(span->begin())
                     : Source::Position{0, 0};
  // LLVM has 16 bits for columns.
  const int column = position.column < (1 << 16) ? position.column : 0;
  const std::string text =
      absl::StrCat("!DILocation(line: ", position.line, ", column: ", column,
                   ", scope: !", subprogram, ")");
  const auto [found, is_new] = locations_.emplace(text, 0);
  if (is_new) found->second = AddMetadata(text);
  return found->second;
}

std::string Module::Rest(absl::string_view definitions) {
  std::string text;
  for (const auto& [name, lanes] : conversions_) {
    for (const HalfConversion& conversion : kHalfConversions) {
      if (name == conversion.name) {
        absl::StrAppend(&text, "\n", DefineConversion(conversion, lanes));
      }
    }
  }
  for (const auto& [name, definition] : math_functions_) {
    absl::StrAppend(&text, "\n", definition);
  }
  if (uses_power_) absl::StrAppend(&text, "\n", kPower);
  if (uses_multiply_shift_) absl::StrAppend(&text, "\n", kMultiplyShift);
  if (!declarations_.empty()) text += "\n";
  for (const std::string& prototype : declarations_) {
    absl::StrAppend(&text, "declare ", prototype, "\n");
  }
  text += "\n";
  for (size_t i = 0; i < attributes_.size(); ++i) {
    absl::StrAppend(&text, "attributes #", i, " = { ", attributes_[i], " }\n");
  }
  // The compiler must not take a call of libm for one of another function.
  if (absl::StrContains(text, absl::StrCat("#", kLibraryAttributes)) ||
      absl::StrContains(definitions, absl::StrCat("#", kLibraryAttributes))) {
    absl::StrAppend(&text, "attributes #", kLibraryAttributes,
                    " = { nobuiltin nounwind }\n");
  }
  if (unit_ >= 0) {
    const int version = AddMetadata("!{i32 2, !\"Debug Info Version\", i32 3}");
    const int dwarf = AddMetadata("!{i32 7, !\"Dwarf Version\", i32 4}");
    absl::StrAppend(&text, "\n!llvm.dbg.cu = !{!", unit_,
                    "}\n!llvm.module.flags = !{!", version, ", !", dwarf,
                    "}\n");
  }
  if (!metadata_.empty()) text += "\n";
  for (size_t i = 0; i < metadata_.size(); ++i) {
    absl::StrAppend(&text, "!", i, " = ", metadata_[i], "\n");
  }
  return text;
}

void Module::DeclareCalled(absl::string_view call) {
  const size_t open = call.find('(');
  std::vector<absl::string_view> types;
  for (absl::string_view arg :
       absl::StrSplit(call.substr(open + 1, call.find(')') - open - 1), ", ")) {
    types.push_back(arg.substr(0, arg.find(' ')));
  }
  Declare(
      absl::StrCat(call.substr(0, open), "(", absl::StrJoin(types, ", "), ")"));
}

int Module::FileOf(const Span& span) {
  const std::string text = absl::StrCat(
      "!DIFile(filename: \"",
      CppQuotedText(span.defined() ? span->source().name() : "unknown"),
      "\", directory: \"\")");
  const auto [found, is_new] = files_.emplace(text, 0);
  if (is_new) found->second = AddMetadata(text);
  return found->second;
}

}  // namespace baton::tir::llvm
