// Expressions of scripts: operators, brackets, conversions.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/near_names.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_parser.h"

namespace baton::tir {
namespace {

// The most levels of nested lists, dictionaries and arguments of forms, over
// which their destruction recurses.
constexpr int kMaxValueDepth = 100;
constexpr int kMaxLambdaDepth = 16;

constexpr uint32_t kAndSign = Sign("and");
constexpr uint32_t kOrSign = Sign("or");
constexpr uint32_t kNotSign = Sign("not");

// Reads an integer as Python writes it: `16`, `0x10`, `0b1_0000`, `0o20`. An
// underscore is between two digits or behind the base.
std::errc ReadInteger(absl::string_view text, uint64_t* value) {
  int base = 10;
  bool may_separate = false;  // an underscore may follow
  if (text.size() > 1 && text[0] == '0') {
    const char kind = absl::ascii_tolower(static_cast<unsigned char>(text[1]));
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) text.remove_prefix(2);
    may_separate = base != 10;
  }
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits.push_back(c);
    if (c == '_' && !may_separate) return std::errc::invalid_argument;
    may_separate = c != '_';
  }
  if (!may_separate) return std::errc::invalid_argument;
  // `012` was an octal number once.
  if (base == 10 && digits[0] == '0' &&
      digits.find_first_not_of('0') != std::string::npos) {
    return std::errc::invalid_argument;
  }
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, *value, base);
  return error == std::errc() && rest != end ? std::errc::invalid_argument
                                             : error;
}

// Precedences, as in Python; 0: no operator.
constexpr int kNotPrecedence = 3;
constexpr int kComparison = 4;
constexpr int kUnary = 11;
// `*a` of an item: all of the item is its operand.
constexpr int kStarred = 0;

int PrecedenceOf(uint32_t sign) {
  switch (sign) {
    case kOrSign:
      return 1;
    case kAndSign:
      return 2;
    case Sign("=="):
    case Sign("!="):
    case Sign("<"):
    case Sign("<="):
    case Sign(">"):
    case Sign(">="):
      return kComparison;
    case Sign("|"):
      return 5;
    case Sign("^"):
      return 6;
    case Sign("&"):
      return 7;
    case Sign("<<"):
    case Sign(">>"):
      return 8;
    case Sign("+"):
    case Sign("-"):
      return 9;
    case Sign("*"):
    case Sign("/"):
    case Sign("//"):
    case Sign("%"):
      return 10;
    case Sign("**"):
      return 12;
    default:
      return 0;
  }
}

bool FitsInt32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

// A sum: terms with factors, and a number.
struct Linear {
  struct Term {
    PrimExpr e;
    int64_t factor;
  };
  std::vector<Term> terms;
  int64_t number = 0;
};

// Adds `factor * e`; false if a number overflows.
bool AddTo(Linear& sum, const PrimExpr& e, int64_t factor) {
  std::vector<Linear::Term> work = {{e, factor}};
  while (!work.empty()) {
    const Linear::Term term = work.back();
    work.pop_back();
    int64_t product = 0;
    if (const auto* imm = term.e.As<IntImmNode>()) {
      if (__builtin_mul_overflow(imm->value(), term.factor, &product) ||
          __builtin_add_overflow(sum.number, product, &sum.number)) {
        return false;
      }
      continue;
    }
    if (const auto* node = term.e.As<BinaryNode>()) {
      if (node->op() == BinaryOp::kAdd || node->op() == BinaryOp::kSub) {
        work.push_back({node->b(), node->op() == BinaryOp::kAdd
                                       ? term.factor
                                       : -term.factor});
        work.push_back({node->a(), term.factor});
        continue;
      }
      const auto* imm = node->b().As<IntImmNode>();
      if (node->op() == BinaryOp::kMul && imm != nullptr &&
          !__builtin_mul_overflow(imm->value(), term.factor, &product)) {
        work.push_back({node->a(), product});
        continue;
      }
    }
    const auto same = std::find_if(
        sum.terms.begin(), sum.terms.end(), [&term](const Linear::Term& t) {
          return t.e == term.e || StructuralEqual(t.e, term.e);
        });
    if (same == sum.terms.end()) {
      sum.terms.push_back(term);
    } else if (__builtin_add_overflow(same->factor, term.factor,
                                      &same->factor)) {
      return false;
    }
  }
  return true;
}

}  // namespace

PrimExpr ExtentBetween(const PrimExpr& start, const PrimExpr& stop) {
  if (IsZero(start)) return CastTo(stop.dtype(), stop);
  if (const auto* sum = AsBinary(stop, BinaryOp::kAdd)) {
    if (sum->a() == start || StructuralEqual(sum->a(), start)) return sum->b();
  }
  PrimExpr a = stop;
  PrimExpr b = start;
  if (!MatchTypes(a, b) || !a.dtype().is_int()) return Sub(stop, start);
  const DType dtype = a.dtype();
  Linear sum;
  // Long sums are left as they are.
  if (!AddTo(sum, a, 1) || !AddTo(sum, b, -1) || sum.terms.size() > 64) {
    return Sub(stop, start);
  }
  PrimExpr result;
  for (const Linear::Term& term : sum.terms) {
    if (term.factor == 0) continue;
    PrimExpr product = Mul(term.e, IntImm(dtype, term.factor));
    result = result.defined() ? Add(std::move(result), std::move(product))
                              : std::move(product);
  }
  if (!result.defined()) return IntImm(dtype, WrapToDType(sum.number, dtype));
  return Add(std::move(result), IntImm(dtype, WrapToDType(sum.number, dtype)));
}

// ---------------------------------------------------------------------------
// The walk.

ScriptParser::Value ScriptParser::ExprValue(PrimExpr e, int64_t begin,
                                            int64_t end) {
  Value value;
  value.kind = e.Is<BufferNode>() ? Value::kBuffer : Value::kExpr;
  value.begin = begin;
  value.end = end;
  value.node = std::move(e);
  return value;
}

void ScriptParser::Push(Pending op) {
  op.bracket = pending_.size() == pending_base_ ? kNoBracket
               : pending_.back().kind >= Pending::kParen
                   ? pending_.size() - 1
                   : pending_.back().bracket;
  pending_.push_back(std::move(op));
}

ScriptParser::Pending* ScriptParser::Bracket() {
  if (pending_.size() == pending_base_) return nullptr;
  Pending& top = pending_.back();
  if (top.kind >= Pending::kParen) return &top;
  return top.bracket == kNoBracket ? nullptr : &pending_[top.bracket];
}

bool ScriptParser::ParseExpr(Value* result) {
  const size_t outer_base = pending_base_;
  const size_t values_base = values_.size();
  pending_base_ = pending_.size();
  bool want_operand = true;
  bool done = false;
  bool good = true;
  while (good && !done) {
    good = want_operand ? ParseOperand(&want_operand, &done)
                        : ParseOperator(&want_operand, &done);
  }
  good = good && ReduceTo(0);
  if (good) {
    *result = std::move(values_.back());
  } else {
    pending_.resize(pending_base_);
  }
  values_.resize(values_base);
  pending_base_ = outer_base;
  return good;
}

bool ScriptParser::ParseExprs(Value* result) {
  if (!ParseExpr(result)) return false;
  if (!AtSign(",")) return true;
  Values items = {std::move(*result)};
  const int64_t begin = items[0].begin;
  while (Accept(",")) {
    if (token().kind == Tok::kNewline || AtSign("=")) break;
    Value item;
    if (!ParseExpr(&item)) return false;
    items.push_back(std::move(item));
  }
  const int64_t end = items.back().end;
  return Compound(Value::kTuple, std::move(items), begin, end, result);
}

bool ScriptParser::ParseOperand(bool* want_operand, bool* /*done*/) {
  const Token t = token();
  Value value;
  value.begin = t.begin;
  value.end = t.end;
  Pending* bracket = Bracket();
  switch (t.kind) {
    case Tok::kInteger: {
      value.kind = Value::kInt;
      uint64_t magnitude = 0;
      const std::errc error = ReadInteger(TextOf(t), &magnitude);
      if (error == std::errc::result_out_of_range) {
        return FailHere("this integer has more than 64 bits");
      }
      if (error != std::errc()) return FailHere("this is no number");
      if (magnitude >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        // The least int64 is written with a sign.
        const bool is_least = magnitude == uint64_t{1} << 63 &&
                              !pending_.empty() &&
                              pending_.back().kind == Pending::kUnary &&
                              pending_.back().sign == Sign("-");
        if (!is_least) return FailHere("this integer has more than 63 bits");
      }
      value.number = static_cast<int64_t>(magnitude);
      break;
    }
    case Tok::kFloat:
      value.kind = Value::kFloat;
      if (!absl::SimpleAtod(absl::StrReplaceAll(TextOf(t), {{"_", ""}}),
                            &value.real)) {
        return FailHere("this is no number");
      }
      break;
    case Tok::kString:
      value.kind = Value::kString;
      if (!UnescapeScriptString(TextOf(t), &value.text)) {
        return FailHere("an escape in this string is wrong");
      }
      break;
    case Tok::kName: {
      const absl::string_view name = TextOf(t);
      if (name == "not") {
        Next();
        Pending op;
        op.kind = Pending::kUnary;
        op.sign = kNotSign;
        op.precedence = kNotPrecedence;
        op.begin = t.begin;
        Push(std::move(op));
        return true;
      }
      if (name == "lambda") {
        *want_operand = false;
        return ParseLambda();
      }
      const Token& after = TokenAt(next_ + 1);
      if (bracket != nullptr && bracket->kind == Pending::kCall &&
          pending_.back().kind == Pending::kCall && after.kind == Tok::kSign &&
          after.sign == Sign("=")) {
        bracket->keywords.emplace_back(std::string(name), values_.size());
        Next();
        Next();
        return true;
      }
      if (name == "True" || name == "False") {
        value.kind = Value::kBool;
        value.number = name == "True" ? 1 : 0;
      } else if (name == "None") {
        value.kind = Value::kNone;
      } else {
        value = Lookup(t);
        if (value.Is(Value::kPoison)) return false;
      }
      break;
    }
    case Tok::kSign: {
      Pending op;
      op.begin = t.begin;
      op.base = values_.size();
      op.item = op.base;
      if (t.sign == Sign("-") || t.sign == Sign("+") || t.sign == Sign("~")) {
        op.kind = Pending::kUnary;
        op.sign = t.sign;
        op.precedence = kUnary;
        Next();
        Push(std::move(op));
        return true;
      }
      if (t.sign == Sign("*") && bracket != nullptr &&
          &pending_.back() == bracket && bracket->kind != Pending::kDict &&
          (bracket->keywords.empty() ||
           bracket->keywords.back().second < values_.size())) {
        op.kind = Pending::kUnary;
        op.sign = t.sign;
        op.precedence = kStarred;
        Next();
        Push(std::move(op));
        return true;
      }
      if (t.sign == Sign("(") || t.sign == Sign("[") || t.sign == Sign("{")) {
        op.kind = t.sign == Sign("(")   ? Pending::kParen
                  : t.sign == Sign("[") ? Pending::kList
                                        : Pending::kDict;
        Next();
        Push(std::move(op));
        return true;
      }
      // A bracket that closes after a comma, or at once.
      const bool closes =
          t.sign == Sign(")") || t.sign == Sign("]") || t.sign == Sign("}");
      if (bracket != nullptr && &pending_.back() == bracket) {
        if (bracket->kind == Pending::kIndex &&
            (t.sign == Sign(":") ||
             (bracket->colons > 0 && (closes || t.sign == Sign(","))))) {
          // An end of a slice that is not written.
          values_.push_back(std::move(value));
          *want_operand = false;
          return true;
        }
        if (closes && bracket->colons == 0 &&
            (bracket->keywords.empty() ||
             bracket->keywords.back().second < values_.size())) {
          *want_operand = false;
          return Close(t.sign);
        }
      }
      return FailHere(absl::StrCat("expected an expression, found ", Found()));
    }
    default:
      if (t.kind == Tok::kBad) return FailHere(lexer_.MessageOf(t.begin));
      return FailHere(absl::StrCat("expected an expression, found ", Found()));
  }
  Next();
  last_end_ = t.end;
  values_.push_back(std::move(value));
  *want_operand = false;
  return true;
}

bool ScriptParser::ParseLambda() {
  const Token lambda = token();
  Next();
  Value value;
  value.kind = Value::kLambda;
  value.begin = lambda.begin;
  value.parts = std::make_shared<ScriptValues>();
  while (token().kind == Tok::kName) {
    value.parts->names.emplace_back(TextOf(token()));
    Next();
    if (!Accept(",")) break;
  }
  if (!Expect(":")) return false;
  // The body is read when the types of the parameters are known.
  value.number = static_cast<int64_t>(next_);
  int depth = 0;
  while (token().kind != Tok::kEnd && token().kind != Tok::kNewline &&
         token().kind != Tok::kBad) {
    if (token().kind == Tok::kSign) {
      const uint32_t sign = token().sign;
      if (sign == Sign("(") || sign == Sign("[") || sign == Sign("{")) ++depth;
      if (sign == Sign(")") || sign == Sign("]") || sign == Sign("}")) {
        if (depth == 0) break;
        --depth;
      }
      if (sign == Sign(",") && depth == 0) break;
    }
    last_end_ = token().end;
    Next();
  }
  value.other = static_cast<int64_t>(next_);
  value.end = last_end_;
  values_.push_back(std::move(value));
  return true;
}

bool ScriptParser::ParseOperator(bool* want_operand, bool* done) {
  const Token t = token();
  Pending* bracket = Bracket();
  if (t.kind == Tok::kName) {
    const absl::string_view name = TextOf(t);
    if (name == "and" || name == "or") {
      const uint32_t sign = name == "and" ? kAndSign : kOrSign;
      if (!ReduceTo(PrecedenceOf(sign))) return false;
      Pending op;
      op.sign = sign;
      op.precedence = PrecedenceOf(sign);
      op.begin = t.begin;
      Push(std::move(op));
      Next();
      *want_operand = true;
      return true;
    }
  }
  if (t.kind == Tok::kSign) {
    const int precedence = PrecedenceOf(t.sign);
    if (precedence != 0) {
      // `**` binds to the right.
      const bool is_power = t.sign == Sign("**");
      if (precedence == kComparison) {
        if (!ReduceTo(kComparison + 1)) return false;
        if (pending_.size() > pending_base_ &&
            pending_.back().kind == Pending::kBinary &&
            pending_.back().precedence == kComparison) {
          return FailHere("comparisons cannot be chained: join them by `and`");
        }
      } else if (!ReduceTo(is_power ? precedence + 1 : precedence)) {
        return false;
      }
      Pending op;
      op.sign = t.sign;
      op.precedence = precedence;
      op.begin = t.begin;
      Push(std::move(op));
      Next();
      *want_operand = true;
      return true;
    }
    switch (t.sign) {
      case Sign("."): {
        Next();
        if (token().kind != Tok::kName) {
          return FailHere(absl::StrCat("expected a name, found ", Found()));
        }
        Value result;
        const Token name = token();
        Next();
        last_end_ = name.end;
        if (!ApplyAttribute(values_.back(), name, &result)) return false;
        values_.back() = std::move(result);
        return true;
      }
      case Sign("("):
      case Sign("["): {
        Pending op;
        op.kind = t.sign == Sign("(") ? Pending::kCall : Pending::kIndex;
        op.begin = t.begin;
        op.base = values_.size();
        op.item = op.base;
        Push(std::move(op));
        Next();
        *want_operand = true;
        return true;
      }
      case Sign(","):
        if (bracket == nullptr) break;
        if (!EndItem()) return false;
        bracket = Bracket();
        bracket->is_tuple = true;
        if (bracket->kind == Pending::kDict &&
            bracket->num_keys * 2 != values_.size() - bracket->base) {
          return FailHere("expected `:` after a key");
        }
        Next();
        *want_operand = true;
        return true;
      case Sign(":"):
        if (bracket == nullptr) break;
        if (!ReduceTo(0)) return false;
        if (bracket->kind == Pending::kDict &&
            values_.size() - bracket->base == bracket->num_keys * 2 + 1) {
          ++bracket->num_keys;
        } else if (bracket->kind == Pending::kIndex && bracket->colons < 2) {
          ++bracket->colons;
        } else {
          return FailHere("unexpected `:`");
        }
        Next();
        *want_operand = true;
        return true;
      case Sign(")"):
      case Sign("]"):
      case Sign("}"):
        if (bracket == nullptr) break;
        return EndItem() && Close(t.sign);
      default:
        break;
    }
  }
  if (t.kind == Tok::kBad) return FailHere(lexer_.MessageOf(t.begin));
  if (bracket != nullptr) {
    const char* close =
        bracket->kind == Pending::kDict ? "`}`"
        : bracket->kind == Pending::kIndex || bracket->kind == Pending::kList
            ? "`]`"
            : "`)`";
    return FailHere(absl::StrCat("expected an operator, `,` or ", close,
                                 ", found ", Found()));
  }
  *done = true;
  return true;
}

// Ends an item of the innermost bracket: makes a slice of the parts of one.
bool ScriptParser::EndItem() {
  if (!ReduceTo(0)) return false;
  Pending& bracket = *Bracket();
  if (bracket.kind == Pending::kIndex && bracket.colons > 0) {
    Values parts(
        std::make_move_iterator(
            values_.end() - static_cast<std::ptrdiff_t>(bracket.colons + 1)),
        std::make_move_iterator(values_.end()));
    values_.resize(values_.size() - static_cast<size_t>(bracket.colons) - 1);
    parts.resize(3);
    Value slice;
    const int64_t begin = parts[0].begin;
    if (!Compound(Value::kSlice, std::move(parts), begin, last_end_, &slice)) {
      return false;
    }
    values_.push_back(std::move(slice));
    bracket.colons = 0;
  }
  if (values_.size() > bracket.base && values_.back().is_starred) {
    const Value starred = std::move(values_.back());
    values_.pop_back();
    values_.insert(values_.end(), starred.items().begin(),
                   starred.items().end());
    bracket.is_tuple = true;
  }
  bracket.item = values_.size();
  return true;
}

// At the bracket `sign`, which closes the innermost one.
bool ScriptParser::Close(uint32_t sign) {
  Pending bracket = std::move(pending_.back());
  pending_.pop_back();
  const uint32_t wanted =
      bracket.kind == Pending::kDict ? Sign("}")
      : bracket.kind == Pending::kIndex || bracket.kind == Pending::kList
          ? Sign("]")
          : Sign(")");
  if (sign != wanted) {
    return FailHere(absl::StrCat("this bracket closes none: expected `",
                                 std::string(1, static_cast<char>(wanted)),
                                 "`"));
  }
  const int64_t end = token().end;
  Next();
  last_end_ = end;
  const auto first =
      values_.begin() + static_cast<std::ptrdiff_t>(bracket.base);
  Values items(std::make_move_iterator(first),
               std::make_move_iterator(values_.end()));
  values_.resize(bracket.base);
  Value result;
  switch (bracket.kind) {
    case Pending::kParen:
      if (items.size() == 1 && !bracket.is_tuple) {
        result = std::move(items[0]);
        result.begin = bracket.begin;
        result.end = end;
      } else if (!Compound(Value::kTuple, std::move(items), bracket.begin, end,
                           &result)) {
        return false;
      }
      break;
    case Pending::kList:
      if (!Compound(Value::kList, std::move(items), bracket.begin, end,
                    &result)) {
        return false;
      }
      break;
    case Pending::kDict: {
      if (items.size() != bracket.num_keys * 2) {
        return Fail(bracket.begin, end, "a key has no value");
      }
      Values keys;
      Values entries;
      for (size_t i = 0; i < items.size(); i += 2) {
        keys.push_back(std::move(items[i]));
        entries.push_back(std::move(items[i + 1]));
      }
      if (!Compound(Value::kDict, std::move(entries), bracket.begin, end,
                    &result)) {
        return false;
      }
      result.parts->keys = std::move(keys);
      break;
    }
    case Pending::kCall: {
      std::vector<std::pair<std::string, Value>> keywords;
      const size_t num_positional =
          bracket.keywords.empty() ? items.size()
                                   : bracket.keywords[0].second - bracket.base;
      for (size_t i = 0; i < bracket.keywords.size(); ++i) {
        const size_t index = bracket.keywords[i].second - bracket.base;
        if (index != num_positional + i) {
          return Fail(bracket.begin, end,
                      "an argument without a name follows one with a name");
        }
        keywords.emplace_back(std::move(bracket.keywords[i].first),
                              std::move(items[index]));
      }
      if (num_positional + keywords.size() != items.size()) {
        return Fail(bracket.begin, end,
                    "an argument without a name follows one with a name");
      }
      items.resize(num_positional);
      const Value callee = std::move(values_.back());
      if (callee.Is(Value::kGlobal)) {
        std::vector<PrimExpr> args;
        if (!keywords.empty()) {
          return Fail(keywords[0].second,
                      "a function of the module takes no named arguments");
        }
        if (!ToExprs(items, &args)) return false;
        const auto found = functions_.find(callee.text);
        result = ExprValue(
            Call(found == functions_.end() ? DType() : found->second,
                 context_.Global(callee.text, callee.begin, callee.end),
                 std::move(args), context_.SpanOf(callee.begin, end)),
            callee.begin, end);
      } else if (callee.Is(Value::kName)) {
        absl::string_view name = callee.text;
        if (name == "range") name = "T.range";
        if (name.substr(0, 2) != "T.") {
          return Fail(callee, absl::StrCat(name, " cannot be called"));
        }
        if (!CallFunction(name.substr(2), std::move(items), std::move(keywords),
                          callee.begin, end, &result)) {
          return false;
        }
      } else if (callee.Is(Value::kMethod)) {
        if (!CallMethod(callee, std::move(items), std::move(keywords), end,
                        &result)) {
          return false;
        }
      } else {
        return Fail(callee, "this cannot be called");
      }
      values_.back() = std::move(result);
      return true;
    }
    case Pending::kIndex: {
      const Value base = std::move(values_.back());
      if (items.size() == 1 && items[0].Is(Value::kTuple)) {
        items = Values(items[0].items());
      }
      if (!ApplyIndex(base, std::move(items), end, &result)) return false;
      values_.back() = std::move(result);
      return true;
    }
    default:
      break;
  }
  values_.push_back(std::move(result));
  return true;
}

// Applies the operations on top that bind as tightly as `precedence`, or more.
bool ScriptParser::ReduceTo(int precedence) {
  while (pending_.size() > pending_base_) {
    const Pending& top = pending_.back();
    if (top.kind >= Pending::kParen || top.precedence < precedence) break;
    const uint32_t sign = top.sign;
    Value result;
    if (top.kind == Pending::kUnary) {
      Value a = std::move(values_.back());
      values_.pop_back();
      const int64_t begin = top.begin;
      pending_.pop_back();
      if (!ApplyUnary(sign, a, &result)) return false;
      result.begin = begin;
      result.end = a.end;
    } else {
      Value b = std::move(values_.back());
      values_.pop_back();
      Value a = std::move(values_.back());
      values_.pop_back();
      pending_.pop_back();
      if (!ApplyBinary(sign, a, b, &result)) return false;
      result.begin = a.begin;
      result.end = b.end;
    }
    values_.push_back(std::move(result));
  }
  return true;
}

bool ScriptParser::Compound(Value::Kind kind, Values items, int64_t begin,
                            int64_t end, Value* result) {
  int depth = 1;
  for (const Value& item : items) {
    if (item.parts != nullptr) depth = std::max(depth, item.parts->depth + 1);
  }
  if (depth > kMaxValueDepth) {
    return Fail(
        begin, end,
        absl::StrCat("values are nested more than ", kMaxValueDepth, " deep"));
  }
  *result = Value();
  result->kind = kind;
  result->begin = begin;
  result->end = end;
  result->parts = std::make_shared<ScriptValues>();
  result->parts->items = std::move(items);
  result->parts->depth = depth;
  return true;
}

PrimExpr ScriptParser::ParseExpressionOver(absl::Span<const Var> vars) {
  for (const Var& var : vars) DefineName(var->name(), ExprValue(var, 0, 0));
  Accept("@");
  Value value;
  PrimExpr e;
  if (!ParseExpr(&value) || !ToExpr(value, &e)) return {};
  if (token().kind != Tok::kNewline && token().kind != Tok::kEnd) {
    FailHere(absl::StrCat("unexpected ", Found()));
    return {};
  }
  return e;
}

bool ScriptParser::EvaluateLambda(const Value& lambda,
                                  absl::Span<const Var> vars,
                                  std::vector<PrimExpr>* results) {
  if (lambda_depth_ >= kMaxLambdaDepth) {
    return Fail(lambda, "lambdas are nested too deeply");
  }
  ++lambda_depth_;
  const size_t names = undo_.size();
  const size_t next = next_;
  for (size_t i = 0; i < vars.size(); ++i) {
    DefineName(lambda.parts->names[i],
               ExprValue(vars[i], lambda.begin, lambda.end));
  }
  next_ = static_cast<size_t>(lambda.number);
  Value value;
  bool good = ParseExpr(&value);
  if (good && next_ != static_cast<size_t>(lambda.other)) {
    good = FailHere("this does not belong to the lambda");
  }
  next_ = next;
  RestoreNames(names);
  --lambda_depth_;
  return good && ToExprList(value, results);
}

// ---------------------------------------------------------------------------
// Operators.

bool ScriptParser::ApplyUnary(uint32_t sign, const Value& a, Value* result) {
  if (sign == Sign("*")) {
    if (!a.Is(Value::kTuple) && !a.Is(Value::kList)) {
      return Fail(a, "only a list or a tuple is unpacked by `*`");
    }
    *result = a;
    result->is_starred = true;
    return true;
  }
  if (sign == Sign("-") || sign == Sign("+")) {
    const bool negates = sign == Sign("-");
    if (a.IsNumber()) {
      *result = a;
      result->kind = Value::kInt;
      if (negates) {
        result->number =
            static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a.number));
        result->real = a.number == 0 ? -a.real : 0;
      }
      return true;
    }
    if (a.Is(Value::kFloat)) {
      *result = a;
      if (negates) result->real = -a.real;
      return true;
    }
    PrimExpr e;
    if (!ToExpr(a, &e)) return false;
    if (negates) e = Mul(e, MakeConst(e.dtype(), -1));
    *result = ExprValue(std::move(e), a.begin, a.end);
    return true;
  }
  if (sign == kNotSign && (a.IsNumber() || a.Is(Value::kNone))) {
    *result = a;
    result->kind = Value::kBool;
    result->number = a.Is(Value::kNone) || a.number == 0 ? 1 : 0;
    return true;
  }
  PrimExpr e;
  if (!ToExpr(a, &e)) return false;
  if (sign == kNotSign) {
    if (!WithLanes(e.dtype(), 1).is_bool()) {
      return Fail(a, absl::StrCat("`not` takes a bool, this is ",
                                  e.dtype().ToString()));
    }
    *result = ExprValue(Not(std::move(e)), a.begin, a.end);
    return true;
  }
  if (!e.dtype().is_integral()) {
    return Fail(a, absl::StrCat("`~` takes an integer, this is ",
                                e.dtype().ToString()));
  }
  *result =
      ExprValue(CallIntrinsic("bitwise_not", {std::move(e)}), a.begin, a.end);
  return true;
}

// Operations of two numbers of Python.
bool ScriptParser::ApplyNumbers(uint32_t sign, const Value& a, const Value& b,
                                Value* result) {
  const auto boolean = [result](bool value) {
    result->kind = Value::kBool;
    result->number = value ? 1 : 0;
    return true;
  };
  if (a.Is(Value::kFloat) || b.Is(Value::kFloat) || sign == Sign("/")) {
    const double x =
        a.Is(Value::kFloat) ? a.real : static_cast<double>(a.number);
    const double y =
        b.Is(Value::kFloat) ? b.real : static_cast<double>(b.number);
    result->kind = Value::kFloat;
    switch (sign) {
      case Sign("+"):
        result->real = x + y;
        return true;
      case Sign("-"):
        result->real = x - y;
        return true;
      case Sign("*"):
        result->real = x * y;
        return true;
      case Sign("/"):
        if (y == 0) return Fail(b, "this divides by zero");
        result->real = x / y;
        return true;
      case Sign("**"):
        result->real = std::pow(x, y);
        return true;
      case Sign("=="):
        return boolean(x == y);
      case Sign("!="):
        return boolean(x != y);
      case Sign("<"):
        return boolean(x < y);
      case Sign("<="):
        return boolean(x <= y);
      case Sign(">"):
        return boolean(x > y);
      case Sign(">="):
        return boolean(x >= y);
      default:
        return Fail(a, "this operator takes no floating-point numbers");
    }
  }
  const int64_t x = a.number;
  const int64_t y = b.number;
  result->kind = Value::kInt;
  bool overflows = false;
  switch (sign) {
    case Sign("+"):
      overflows = __builtin_add_overflow(x, y, &result->number);
      break;
    case Sign("-"):
      overflows = __builtin_sub_overflow(x, y, &result->number);
      break;
    case Sign("*"):
      overflows = __builtin_mul_overflow(x, y, &result->number);
      break;
    case Sign("//"):
    case Sign("%"): {
      if (y == 0) return Fail(b, "this divides by zero");
      const PrimExpr folded = TryFold(
          sign == Sign("//") ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod,
          IntImm(DType::Int(64), x), IntImm(DType::Int(64), y));
      result->number = folded.As<IntImmNode>()->value();
      break;
    }
    case Sign("&"):
      result->number = x & y;
      break;
    case Sign("|"):
      result->number = x | y;
      break;
    case Sign("^"):
      result->number = x ^ y;
      break;
    case Sign("<<"):
    case Sign(">>"):
      if (y < 0 || y > 62) return Fail(b, "this shifts too far");
      if (sign == Sign(">>")) {
        result->number = x >> y;
      } else {
        overflows = __builtin_mul_overflow(x, int64_t{1} << y, &result->number);
      }
      break;
    case Sign("**"): {
      if (y < 0) return Fail(b, "this exponent is negative");
      int64_t power = 1;
      for (int64_t i = 0; i < y && !overflows && power != 0; ++i) {
        overflows = __builtin_mul_overflow(power, x, &power);
        if (x == 1 || (x == -1 && i % 2 == y % 2)) break;
      }
      result->number = power;
      break;
    }
    case Sign("=="):
      return boolean(x == y);
    case Sign("!="):
      return boolean(x != y);
    case Sign("<"):
      return boolean(x < y);
    case Sign("<="):
      return boolean(x <= y);
    case Sign(">"):
      return boolean(x > y);
    case Sign(">="):
      return boolean(x >= y);
    case kAndSign:
      *result = x != 0 ? b : a;
      return true;
    case kOrSign:
      *result = x != 0 ? a : b;
      return true;
    default:
      break;
  }
  if (overflows) {
    return Fail(a.begin, b.end, "the result has more than 64 bits");
  }
  return true;
}

bool ScriptParser::ApplyBinary(uint32_t sign, const Value& a, const Value& b,
                               Value* result) {
  const auto is_python = [](const Value& v) {
    return v.IsNumber() || v.Is(Value::kFloat);
  };
  if (is_python(a) && is_python(b)) return ApplyNumbers(sign, a, b, result);
  PrimExpr x;
  PrimExpr y;
  if (!ToExpr(a, &x) || !ToExpr(b, &y)) return false;
  const auto differ = [&] {
    return Fail(a.begin, b.end,
                absl::StrCat("the operands are ", x.dtype().ToString(), " and ",
                             y.dtype().ToString(),
                             ", which no conversion makes equal: cast one"));
  };
  const bool is_comparison = PrecedenceOf(sign) == kComparison;
  if (is_comparison) {
    // A number takes the type of the other side.
    const auto take = [](const Value& v, const PrimExpr& other, PrimExpr* e) {
      const DType dtype = WithLanes(other.dtype(), 1);
      if (v.IsNumber() && (dtype.is_integral() || dtype.is_float())) {
        *e = MakeConst(dtype, v.number);
      } else if (v.Is(Value::kFloat) && dtype.is_float()) {
        *e = FloatImm(dtype, v.real);
      }
    };
    take(a, y, &x);
    take(b, x, &y);
  }
  if (sign == kAndSign || sign == kOrSign) {
    if (!WithLanes(x.dtype(), 1).is_bool() ||
        !WithLanes(y.dtype(), 1).is_bool()) {
      return Fail(
          a.begin, b.end,
          absl::StrCat("`and` and `or` take bools, these are ",
                       x.dtype().ToString(), " and ", y.dtype().ToString()));
    }
    if (!MatchTypes(x, y)) return differ();
    *result = ExprValue(
        Binary(sign == kAndSign ? BinaryOp::kAnd : BinaryOp::kOr, x, y),
        a.begin, b.end);
    return true;
  }
  if (!MatchTypes(x, y)) return differ();
  const DType dtype = x.dtype();
  BinaryOp op = BinaryOp::kAdd;
  const char* intrinsic = nullptr;
  switch (sign) {
    case Sign("+"):
      break;
    case Sign("-"):
      op = BinaryOp::kSub;
      break;
    case Sign("*"):
      op = BinaryOp::kMul;
      break;
    case Sign("/"):
      if (dtype.is_integral()) {
        return Fail(a.begin, b.end,
                    "a division of integers rounds: write `//`, `T.Div` or "
                    "`T.truncdiv`");
      }
      op = BinaryOp::kDiv;
      break;
    case Sign("//"):
    case Sign("%"):
      if (!dtype.is_integral()) {
        return Fail(a.begin, b.end,
                    absl::StrCat("`//` and `%` take integers, these are ",
                                 dtype.ToString()));
      }
      op = sign == Sign("//") ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod;
      break;
    case Sign("=="):
      op = BinaryOp::kEQ;
      break;
    case Sign("!="):
      op = BinaryOp::kNE;
      break;
    case Sign("<"):
      op = BinaryOp::kLT;
      break;
    case Sign("<="):
      op = BinaryOp::kLE;
      break;
    case Sign(">"):
      op = BinaryOp::kGT;
      break;
    case Sign(">="):
      op = BinaryOp::kGE;
      break;
    case Sign("<<"):
      intrinsic = "shift_left";
      break;
    case Sign(">>"):
      intrinsic = "shift_right";
      break;
    case Sign("&"):
      intrinsic = "bitwise_and";
      break;
    case Sign("|"):
      intrinsic = "bitwise_or";
      break;
    case Sign("^"):
      intrinsic = "bitwise_xor";
      break;
    default:
      intrinsic = "pow";
      break;
  }
  PrimExpr e;
  if (intrinsic != nullptr) {
    e = CallIntrinsic(intrinsic, {std::move(x), std::move(y)});
  } else if (is_comparison) {
    e = Binary(op, std::move(x), std::move(y));
  } else {
    e = MakeBinary(op, std::move(x), std::move(y));
  }
  *result = ExprValue(std::move(e), a.begin, b.end);
  return true;
}

bool ScriptParser::ApplyAttribute(const Value& base, const Token& name,
                                  Value* result) {
  const absl::string_view attr = TextOf(name);
  result->begin = base.begin;
  result->end = name.end;
  if (base.Is(Value::kName)) {
    if (!module_name_.empty() && base.text == module_name_) {
      result->kind = Value::kGlobal;
      result->text = std::string(attr);
      return true;
    }
    result->kind = Value::kName;
    result->text = absl::StrCat(base.text, ".", attr);
    return true;
  }
  if (base.Is(Value::kBuffer)) {
    const Buffer buffer(base.node.As<BufferNode>());
    const auto list = [&](absl::Span<const PrimExpr> exprs) {
      Values items;
      for (const PrimExpr& e : exprs) {
        items.push_back(ExprValue(e, base.begin, name.end));
      }
      return Compound(Value::kTuple, std::move(items), base.begin, name.end,
                      result);
    };
    if (attr == "data") {
      *result = ExprValue(buffer->data(), base.begin, name.end);
      return true;
    }
    if (attr == "elem_offset") {
      *result = ExprValue(buffer->elem_offset(), base.begin, name.end);
      return true;
    }
    if (attr == "shape") return list(buffer->shape());
    if (attr == "strides") return list(buffer->strides());
    if (attr == "dtype" || attr == "scope") {
      result->kind = Value::kString;
      result->text = attr == "dtype" ? ScriptDType(buffer.dtype())
                                     : std::string(buffer->scope());
      return true;
    }
    if (attr == "access_ptr" || attr == "vload" || attr == "vstore") {
      result->kind = Value::kMethod;
      result->text = std::string(attr);
      result->node = base.node;
      return true;
    }
    return Fail(name.begin, name.end,
                absl::StrCat("a buffer has no `", attr,
                             "`: known are data, shape, strides, elem_offset, "
                             "dtype, scope, access_ptr, vload and vstore"));
  }
  if (base.Is(Value::kExpr) && attr == "astype") {
    result->kind = Value::kMethod;
    result->text = std::string(attr);
    result->node = base.node;
    return true;
  }
  if (base.Is(Value::kExpr) && attr == "dtype") {
    result->kind = Value::kString;
    result->text = ScriptDType(base.node.As<PrimExprNode>()->dtype());
    return true;
  }
  return Fail(name.begin, name.end,
              absl::StrCat("this has no attribute `", attr, "`"));
}

bool ScriptParser::ApplyIndex(const Value& base, Values indices, int64_t end,
                              Value* result) {
  if (base.Is(Value::kTuple) || base.Is(Value::kList)) {
    int64_t index = 0;
    if (indices.size() != 1) return Fail(base, "a list takes one index");
    if (!ToInt(indices[0], &index)) return false;
    const auto size = static_cast<int64_t>(base.items().size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) {
      return Fail(indices[0], absl::StrCat("there are ", size, " elements"));
    }
    *result = base.items()[static_cast<size_t>(index)];
    return true;
  }
  // The older forms T.Buffer[(16,), "float32"] and T.Ptr[T.float32].
  if (base.Is(Value::kName) &&
      (base.text == "T.Buffer" || base.text == "T.Ptr")) {
    const bool is_shape = base.text == "T.Buffer" && indices.size() >= 2 &&
                          !indices[1].Is(Value::kString);
    if (is_shape) {
      Value shape;
      if (!Compound(Value::kTuple, std::move(indices), base.begin, end,
                    &shape)) {
        return false;
      }
      indices = {std::move(shape)};
    }
    return CallFunction(base.text.substr(2), std::move(indices), {}, base.begin,
                        end, result);
  }
  if (!base.Is(Value::kBuffer)) {
    return Fail(base, "only buffers, lists and tuples have elements");
  }
  const Buffer buffer(base.node.As<BufferNode>());
  bool has_slice = false;
  bool has_step = false;
  for (const Value& index : indices) {
    has_slice |= index.Is(Value::kSlice);
    has_step |= index.Is(Value::kSlice) && !index.items()[2].Is(Value::kNone);
  }
  std::vector<Range> region;
  std::vector<PrimExpr> exprs;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Value& index = indices[i];
    PrimExpr start;
    if (!index.Is(Value::kSlice)) {
      if (!ToExpr(index, &start)) return false;
      const DType dtype = start.dtype();
      if (!WithLanes(dtype, 1).is_integral()) {
        return Fail(index, absl::StrCat("an index is an integer, this is ",
                                        dtype.ToString()));
      }
      exprs.push_back(start);
      region.push_back({start, MakeConst(WithLanes(dtype, 1), 1)});
      continue;
    }
    PrimExpr stop;
    if (index.items()[0].Is(Value::kNone)) {
      start = IntImm(kInt32, 0);
    } else if (!ToExpr(index.items()[0], &start)) {
      return false;
    }
    if (!index.items()[1].Is(Value::kNone)) {
      if (!ToExpr(index.items()[1], &stop)) return false;
    } else if (i < buffer->shape().size()) {
      stop = buffer->shape()[i];
    } else {
      return Fail(index, "the buffer has fewer axes");
    }
    const PrimExpr extent = ExtentBetween(start, stop);
    region.push_back({start, extent});
    if (!has_step) continue;
    PrimExpr step = IntImm(start.dtype(), 1);
    if (!index.items()[2].Is(Value::kNone) &&
        !ToExpr(index.items()[2], &step)) {
      return false;
    }
    const auto* length = extent.As<IntImmNode>();
    const auto* stride = step.As<IntImmNode>();
    if (length == nullptr || stride == nullptr || stride->value() == 0) {
      return Fail(index,
                  "the number of elements of this slice is not constant");
    }
    step = CastTo(start.dtype(), step);
    // Rounded up.
    const PrimExpr sum =
        TryFold(BinaryOp::kFloorDiv,
                IntImm(DType::Int(64), length->value() + stride->value() -
                                           (stride->value() > 0 ? 1 : -1)),
                IntImm(DType::Int(64), stride->value()));
    const int64_t lanes = sum.As<IntImmNode>()->value();
    if (lanes < 1 || lanes > 65535) {
      return Fail(index, absl::StrCat("this slice has ", lanes,
                                      " elements: 1 to 65535 are possible"));
    }
    exprs.push_back(lanes == 1
                        ? start
                        : PrimExpr(Ramp(start, step, static_cast<int>(lanes))));
  }
  if (has_slice && !has_step) {
    result->kind = Value::kRegion;
    result->begin = base.begin;
    result->end = end;
    result->node = BufferRegion(buffer, std::move(region),
                                context_.SpanOf(base.begin, end));
    return true;
  }
  *result = ExprValue(
      BufferLoad(buffer, std::move(exprs), context_.SpanOf(base.begin, end)),
      base.begin, end);
  return true;
}

// ---------------------------------------------------------------------------
// Conversions.

PrimExpr ScriptParser::LoadOf(const BufferRegion& region) {
  std::vector<PrimExpr> indices;
  for (const Range& range : region->region()) {
    const auto* extent = range.extent.As<IntImmNode>();
    if (extent == nullptr || extent->value() < 1 || extent->value() > 65535) {
      return {};
    }
    if (extent->value() == 1) {
      indices.push_back(range.min);
    } else {
      indices.push_back(Ramp(range.min, MakeConst(range.min.dtype(), 1),
                             static_cast<int>(extent->value())));
    }
  }
  return BufferLoad(region->buffer(), std::move(indices), region->span());
}

bool ScriptParser::ToExpr(const Value& value, PrimExpr* e) {
  switch (value.kind) {
    case Value::kBool:
      *e = IntImm::Bool(value.number != 0);
      return true;
    case Value::kInt:
      *e = IntImm(FitsInt32(value.number) ? kInt32 : DType::Int(64),
                  value.number);
      return true;
    case Value::kFloat:
      *e = FloatImm(DType::Float(32), value.real);
      return true;
    case Value::kString:
      *e = StringImm(value.text);
      return true;
    case Value::kExpr:
    case Value::kBuffer:
      *e = PrimExpr(value.node.As<PrimExprNode>());
      return true;
    case Value::kNewVar:
      *e = PrimExpr(value.node.As<PrimExprNode>());
      return true;
    case Value::kRegion: {
      const BufferRegion region(value.node.As<BufferRegionNode>());
      *e = LoadOf(region);
      if (e->defined()) return true;
      return Fail(value,
                  "the number of elements of this slice is not constant");
    }
    case Value::kName:
      return Fail(value, absl::StrCat(value.text, " is no expression"));
    case Value::kGlobal:
      return Fail(
          value,
          absl::StrCat(value.text, " is a function, which can be called only"));
    case Value::kForm:
      return Fail(value, absl::StrCat("T.", value.text,
                                      " is a statement, not an expression"));
    case Value::kMethod:
      return Fail(value, absl::StrCat(value.text, " is only called"));
    default:
      return Fail(value, "this is no expression");
  }
}

bool ScriptParser::ToExprs(const Values& values,
                           std::vector<PrimExpr>* result) {
  for (const Value& value : values) {
    result->emplace_back();
    if (!ToExpr(value, &result->back())) return false;
  }
  return true;
}

bool ScriptParser::ToExprList(const Value& value,
                              std::vector<PrimExpr>* result) {
  if (value.Is(Value::kTuple) || value.Is(Value::kList)) {
    return ToExprs(value.items(), result);
  }
  result->emplace_back();
  return ToExpr(value, &result->back());
}

// Values are nested at most kMaxValueDepth deep, so this may recurse.
bool ScriptParser::ToAttr(const Value& value, PrimExpr* e) {
  switch (value.kind) {
    case Value::kNone:
      *e = PrimExpr();
      return true;
    case Value::kList:
    case Value::kTuple: {
      std::vector<PrimExpr> items;
      for (const Value& item : value.items()) {
        items.emplace_back();
        if (!ToAttr(item, &items.back())) return false;
        if (!items.back().defined()) return Fail(item, "a list has no None");
      }
      *e = List(std::move(items));
      return true;
    }
    case Value::kDict: {
      std::vector<Dict::Entry> entries;
      for (size_t i = 0; i < value.items().size(); ++i) {
        const Value& key = value.parts->keys[i];
        if (!key.Is(Value::kString)) {
          return Fail(key, "a key must be a string");
        }
        PrimExpr item;
        if (!ToAttr(value.items()[i], &item)) return false;
        if (!item.defined()) {
          return Fail(value.items()[i], "a dictionary has no None");
        }
        entries.emplace_back(key.text, std::move(item));
      }
      *e = Dict::OfAll(std::move(entries));
      return true;
    }
    case Value::kRegion:
      *e = PrimExpr(value.node.As<PrimExprNode>());
      return true;
    default:
      return ToExpr(value, e);
  }
}

bool ScriptParser::ToDict(const Value& value, Dict* dict) {
  if (value.Is(Value::kNone)) return true;
  PrimExpr e;
  if (!value.Is(Value::kDict)) return Fail(value, "expected a dictionary");
  if (!ToAttr(value, &e)) return false;
  *dict = Dict(e.As<DictNode>());
  if (dict->empty()) *dict = Dict();
  return true;
}

bool ScriptParser::ToVar(const Value& value, Var* var) {
  const auto* node = value.node.As<VarNode>();
  if (node == nullptr) return Fail(value, "expected a variable");
  *var = Var(node);
  return true;
}

bool ScriptParser::ToDType(const Value& value, DType* dtype) {
  absl::string_view name = value.text;
  if (value.Is(Value::kName) && name.substr(0, 2) == "T.") {
    name = name.substr(2);
  } else if (!value.Is(Value::kString)) {
    return Fail(value, "expected a data type");
  }
  const absl::StatusOr<DType> parsed =
      DType::Parse(name == "boolean" ? "bool" : name);
  if (!parsed.ok()) return Fail(value, std::string(parsed.status().message()));
  *dtype = *parsed;
  return true;
}

bool ScriptParser::ToText(const Value& value, std::string* text) {
  if (!value.Is(Value::kString)) return Fail(value, "expected a string");
  *text = value.text;
  return true;
}

bool ScriptParser::ToInt(const Value& value, int64_t* number) {
  if (value.IsNumber()) {
    *number = value.number;
    return true;
  }
  if (const auto* imm = value.node.As<IntImmNode>()) {
    *number = imm->value();
    return true;
  }
  return Fail(value, "expected an integer");
}

bool ScriptParser::ToCondition(const Value& value, PrimExpr* e) {
  if (value.Is(Value::kInt) && (value.number == 0 || value.number == 1)) {
    *e = IntImm::Bool(value.number != 0);
    return true;
  }
  return ToTest(value, e);
}

bool ScriptParser::ToTest(const Value& value, PrimExpr* e) {
  if (!ToExpr(value, e)) return false;
  if (e->dtype().lanes() != 1 || !e->dtype().is_integral()) {
    return Fail(value, absl::StrCat("a condition is a bool or an integer, this "
                                    "is ",
                                    e->dtype().ToString()));
  }
  return true;
}

bool ScriptParser::ToRegion(const Value& value, BufferRegion* region) {
  if (value.Is(Value::kRegion)) {
    *region = BufferRegion(value.node.As<BufferRegionNode>());
    return true;
  }
  const auto* load = value.node.As<BufferLoadNode>();
  if (load == nullptr) {
    return Fail(value, "expected a buffer with indices: A[i, 0:16]");
  }
  std::vector<Range> ranges;
  for (const PrimExpr& index : load->indices()) {
    const auto* ramp = index.As<RampNode>();
    if (ramp != nullptr) {
      ranges.push_back(
          {ramp->base(), Mul(ramp->stride(),
                             MakeConst(ramp->base().dtype(), ramp->lanes()))});
    } else {
      ranges.push_back({index, MakeConst(index.dtype(), 1)});
    }
  }
  *region = BufferRegion(load->buffer(), std::move(ranges), load->span());
  return true;
}

}  // namespace baton::tir
