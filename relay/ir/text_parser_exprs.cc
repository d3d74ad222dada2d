// Parses expressions. See text_parser_impl.h.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/near_names.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/text_keywords.h"
#include "baton/relay/ir/text_parser_impl.h"
#include "baton/relay/ir/virtual_device.h"

namespace baton::relay {
namespace internal {
namespace {

// Expressions nested more deeply than this are refused.
constexpr size_t kMaxFrames = size_t{1} << 20;

// States of frames. Those of a sequence:
constexpr uint8_t kStart = 0;
constexpr uint8_t kLetValue = 1;
constexpr uint8_t kGraphValue = 2;
constexpr uint8_t kValue = 3;
// The states of a binary operator:
constexpr uint8_t kOperand = 0;
constexpr uint8_t kPostfix = 1;
// The states of a list of elements:
constexpr uint8_t kElement = 0;
constexpr uint8_t kAfterElement = 1;
constexpr uint8_t kAfterComma = 2;

struct BinaryOperator {
  TokenKind kind;
  int precedence;
  const char* op;
};
constexpr BinaryOperator kBinaryOperators[] = {
    {TokenKind::kStar, 12, "multiply"},
    {TokenKind::kSlash, 12, "divide"},
    {TokenKind::kPlus, 10, "add"},
    {TokenKind::kMinus, 10, "subtract"},
    {TokenKind::kLess, 8, "less"},
    {TokenKind::kLessEqual, 8, "less_equal"},
    {TokenKind::kGreater, 8, "greater"},
    {TokenKind::kGreaterEqual, 8, "greater_equal"},
    {TokenKind::kEqual, 7, "equal"},
    {TokenKind::kNotEqual, 7, "not_equal"},
};

// Position in kBinaryOperators; -1 if it is none.
int FindBinaryOperator(TokenKind kind) {
  if (kind < TokenKind::kStar || kind > TokenKind::kNotEqual) return -1;
  for (int i = 0; i < static_cast<int>(std::size(kBinaryOperators)); ++i) {
    if (kBinaryOperators[i].kind == kind) return i;
  }
  return -1;
}

// The value of a literal, of which an exact decimal form may be too small or
// too large: then it is zero or infinite.
template <typename T>
T RealValue(absl::string_view text) {
  if (text == "inf") return std::numeric_limits<T>::infinity();
  if (text == "nan") return std::numeric_limits<T>::quiet_NaN();
  T value = 0;
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    double wide = 0;
    if (absl::SimpleAtod(text, &wide)) value = static_cast<T>(wide);
  }
  return value;
}

}  // namespace

// ---------------------------------------------------------------------------
// Frames.

bool TextParser::Run() {
  while (!frames_.empty()) {
    if (Step()) continue;
    if (!Recover()) return false;
  }
  return true;
}

bool TextParser::Step() {
  switch (frames_.back().kind) {
    case Frame::kSequence:
      return StepSequence();
    case Frame::kBinary:
      return StepBinary();
    case Frame::kCall:
      return StepCall();
    case Frame::kParens:
      return StepParens();
    case Frame::kBlock:
      return StepBlock();
    case Frame::kIf:
      return StepIf();
    case Frame::kFunction:
      return StepFunction();
    case Frame::kRef:
      return StepRef();
    case Frame::kMatch:
      return StepMatch();
  }
  return false;
}

TextParser::Frame TextParser::NewFrame(Frame::Kind kind, int64_t begin) const {
  Frame frame;
  frame.kind = kind;
  frame.values = static_cast<uint32_t>(values_.size());
  frame.scope = CurrentScope();
  frame.begin = begin;
  return frame;
}

TextParser::Frame& TextParser::Push(Frame::Kind kind, int64_t begin) {
  frames_.push_back(NewFrame(kind, begin));
  return frames_.back();
}

void TextParser::PushSequence(bool in_braces) {
  Frame& frame = Push(Frame::kSequence, lexer_.token().begin);
  frame.in_braces = in_braces;
  frame.stack = static_cast<uint32_t>(lets_.size());
}

void TextParser::PushBinary() {
  Frame& frame = Push(Frame::kBinary, lexer_.token().begin);
  frame.stack = static_cast<uint32_t>(operators_.size());
}

// Ends the innermost frame, whose value is `value`.
void TextParser::Pop(Expr value) {
  values_.resize(frames_.back().values);
  values_.push_back(std::move(value));
  frames_.pop_back();
}

// Drops the innermost frame and what it has on the stacks.
void TextParser::Unwind() {
  const Frame& frame = frames_.back();
  values_.resize(frame.values);
  switch (frame.kind) {
    case Frame::kSequence:
      lets_.resize(frame.stack);
      break;
    case Frame::kBinary:
      operators_.resize(frame.stack);
      break;
    case Frame::kFunction:
      functions_.pop_back();
      break;
    case Frame::kMatch:
      matches_.pop_back();
      break;
    default:
      break;
  }
  EndScope(frame.scope);
  frames_.pop_back();
}

// After a mistake in the syntax: false if nothing of the definition can be read
// any more.
bool TextParser::Recover() {
  while (!frames_.empty() && !(frames_.back().kind == Frame::kSequence &&
                               frames_.back().in_braces)) {
    Unwind();
  }
  if (frames_.empty() || TooManyErrors()) {
    while (!frames_.empty()) Unwind();
    return false;
  }
  Frame& frame = frames_.back();
  values_.resize(frame.values);
  if (frame.state == kLetValue) lets_.back().value = placeholder_;
  if (frame.state == kGraphValue) {
    BindGraph(frame.number, lexer_.token().begin, placeholder_);
  }
  int64_t depth = 0;
  while (true) {
    if (input_.AtTextEnd() || input_.AtDefinition()) {
      while (!frames_.empty()) Unwind();
      return false;
    }
    switch (lexer_.kind()) {
      case TokenKind::kOpenCurly:
        ++depth;
        break;
      case TokenKind::kCloseCurly:
        if (depth == 0) {
          values_.push_back(placeholder_);
          frame.state = kValue;
          return true;
        }
        --depth;
        break;
      case TokenKind::kSemicolon:
        if (depth == 0) {
          lexer_.Next();
          frame.state = kStart;
          return true;
        }
        break;
      default:
        break;
    }
    lexer_.Next();
  }
}

// ---------------------------------------------------------------------------
// Sequences of statements.

bool TextParser::StepSequence() {
  while (true) {
    Frame& frame = frames_.back();
    switch (frame.state) {
      case kStart: {
        if (lexer_.kind() == Keyword::kFreeVar) {
          if (!ParseFreeVar()) return false;
          continue;
        }
        const size_t frames = frames_.size();
        if (!BeginStatement()) return false;
        if (frames_.size() != frames) return true;
        continue;
      }
      case kLetValue:
        if (!Expect(TokenKind::kSemicolon)) return false;
        lets_.back().value = std::move(values_.back());
        values_.pop_back();
        frame.state = kStart;
        continue;
      case kGraphValue: {
        if (!Expect(TokenKind::kSemicolon)) return false;
        Expr value = std::move(values_.back());
        values_.pop_back();
        frame.state = kStart;
        BindGraph(frame.number, frame.begin, std::move(value));
        continue;
      }
      default:
        if (!frame.ends_with_value && lexer_.Accept(TokenKind::kSemicolon)) {
          lets_.push_back({Var(""), std::move(values_.back()), frame.begin});
          values_.pop_back();
          frame.state = kStart;
          continue;
        }
        FinishSequence();
        return true;
    }
  }
}

bool TextParser::BeginStatement() {
  Frame& frame = frames_.back();
  frame.begin = lexer_.token().begin;
  if (lexer_.kind() == Keyword::kLet) {
    if (!BeginLet()) return false;
    frame.state = kLetValue;
    if (lexer_.kind() == Keyword::kLet) {
      // `let %x = let %y = 1; %y;`: a let in the value of a let.
      PushSequence(/*in_braces=*/false);
      frames_.back().ends_with_value = true;
      return true;
    }
  } else if (lexer_.kind() == TokenKind::kGraph && lexer_.AtAssign()) {
    frame.number = lexer_.token().number;
    frame.state = kGraphValue;
    lexer_.Next();
    lexer_.Next();  // `=`
  } else {
    frame.state = kValue;
  }
  return BeginBinary();
}

bool TextParser::ParseFreeVar() {
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kLocal) return Expected("a variable");
  const absl::string_view name = lexer_.Name();
  const Token token = lexer_.token();
  lexer_.Next();
  Type type;
  if (lexer_.Accept(TokenKind::kColon)) {
    type = ParseTypeText();
    if (!type.defined()) return false;
  }
  const auto [it, inserted] = free_vars_.try_emplace(name);
  if (inserted) {
    it->second = Var(std::string(name), std::move(type),
                     Span(source_, token.begin, token.end));
  } else if (!TypeEqual(it->second->annotation(), type)) {
    Error(token.begin, token.end,
          absl::StrCat("%", name, " is declared with another type before"));
  }
  return Expect(TokenKind::kSemicolon);
}

// Parses up to the value.
bool TextParser::BeginLet() {
  const int64_t begin = lexer_.token().begin;
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kLocal) return Expected("a variable");
  const Token token = lexer_.token();
  lexer_.Next();
  Type type;
  if (lexer_.Accept(TokenKind::kColon)) {
    type = ParseTypeText();
    if (!type.defined()) return false;
  }
  if (!Expect(TokenKind::kAssign)) return false;
  const absl::string_view name = lexer_.Name(token);
  Var var(std::string(name), std::move(type),
          Span(source_, token.begin, token.end));
  // The value sees the variable: it may be a function that calls itself.
  vars_.Push(var.get());
  lets_.push_back({std::move(var), {}, begin});
  return true;
}

void TextParser::FinishSequence() {
  const Frame frame = frames_.back();
  Expr result = std::move(values_.back());
  const int64_t end = lexer_.last_end();
  while (lets_.size() > frame.stack) {
    PendingLet& let = lets_.back();
    result = Let(std::move(let.var), std::move(let.value), std::move(result),
                 {}, Span(source_, let.begin, end));
    lets_.pop_back();
  }
  EndScope(frame.scope);
  Pop(std::move(result));
}

// Null if the number is not bound.
const Expr* TextParser::FindGraph(int64_t number) const {
  const auto n = static_cast<size_t>(number);
  if (n < graph_.size() && graph_[n].defined()) return &graph_[n];
  if (sparse_graph_.empty()) return nullptr;
  const auto it = sparse_graph_.find(number);
  return it == sparse_graph_.end() ? nullptr : &it->second;
}

void TextParser::BindGraph(int64_t number, int64_t begin, Expr value) {
  if (FindGraph(number) != nullptr) {
    Error(begin, begin + 1,
          absl::StrCat("%", number, " is already bound in this definition"));
    return;
  }
  constexpr size_t kGap = 64;
  const auto n = static_cast<size_t>(number);
  if (n > graph_.size() + kGap) {
    sparse_graph_[number] = std::move(value);
    return;
  }
  if (n >= graph_.size()) graph_.resize(n + 1);
  graph_[n] = std::move(value);
}

// ---------------------------------------------------------------------------
// Operators and what follows an operand.

// Parses a value, which needs no frames if it is an atom or a call of atoms.
bool TextParser::BeginBinary() {
  switch (lexer_.kind()) {
    case TokenKind::kLocal:
    case TokenKind::kGraph:
    case TokenKind::kGlobal:
    case TokenKind::kIdentifier:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kMinus:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
    case TokenKind::kMeta:
      break;
    default:
      PushBinary();
      return true;
  }
  Frame binary = NewFrame(Frame::kBinary, lexer_.token().begin);
  binary.stack = static_cast<uint32_t>(operators_.size());
  binary.number = binary.begin;
  binary.state = kPostfix;
  if (!Operand()) return false;
  if (lexer_.kind() == TokenKind::kOpenParen) {
    lexer_.Next();
    Frame call = NewFrame(Frame::kCall, binary.begin);
    call.values -= 1;  // the callee
    int64_t begin = 0;
    const Progress progress = ParseCall(call, &begin);
    if (progress == Progress::kFailed) return false;
    if (progress != Progress::kDone) {
      frames_.push_back(binary);
      frames_.push_back(call);
      PushElement(progress, begin);
      return true;
    }
  }
  switch (lexer_.kind()) {
    case TokenKind::kOpenParen:
    case TokenKind::kPeriod:
      break;
    default:
      if (FindBinaryOperator(lexer_.kind()) < 0) return true;
  }
  frames_.push_back(binary);
  return true;
}

bool TextParser::StepBinary() {
  while (true) {
    Frame& frame = frames_.back();
    if (frame.state == kOperand) {
      frame.state = kPostfix;
      frame.number = lexer_.token().begin;
      const size_t frames = frames_.size();
      if (!Operand()) return false;
      if (frames_.size() != frames) return true;
      continue;
    }
    switch (lexer_.kind()) {
      case TokenKind::kOpenParen: {
        const int64_t begin = frame.number;
        lexer_.Next();
        // The callee is the first of the call's values.
        Push(Frame::kCall, begin).values -= 1;
        return true;
      }
      case TokenKind::kPeriod:
        if (!ParseProjection(frame.number)) return false;
        continue;
      default: {
        const int operation = FindBinaryOperator(lexer_.kind());
        if (operation < 0) {
          Reduce(frame, 0);
          frames_.pop_back();
          return true;
        }
        Reduce(frame, kBinaryOperators[operation].precedence);
        operators_.push_back({operation, frame.number});
        lexer_.Next();
        frame.state = kOperand;
      }
    }
  }
}

// Applies the waiting operators that bind at least as strongly.
void TextParser::Reduce(Frame& frame, int precedence) {
  if (binary_ops_.empty()) binary_ops_.resize(std::size(kBinaryOperators));
  while (operators_.size() > frame.stack) {
    const PendingOperator waiting = operators_.back();
    const BinaryOperator& operation = kBinaryOperators[waiting.operation];
    if (operation.precedence < precedence) return;
    operators_.pop_back();
    Expr& op = binary_ops_[waiting.operation];
    if (!op.defined()) {
      op = Op::Find(operation.op);
      if (!op.defined()) {
        Error(waiting.begin, lexer_.last_end(),
              absl::StrCat("operator `", operation.op, "` is not registered"));
        op = placeholder_;
      }
    }
    const size_t left = values_.size() - 2;
    Call call(op, absl::MakeConstSpan(&values_[left], 2),
              DefaultAttrs(op.As<OpNode>(), waiting.begin), {}, {},
              SpanFrom(waiting.begin));
    values_.pop_back();
    values_.back() = std::move(call);
    frame.number = waiting.begin;
  }
}

bool TextParser::ParseProjection(int64_t begin) {
  lexer_.NextIndex();
  if (lexer_.kind() != TokenKind::kInteger) {
    return Expected("the number of a field");
  }
  int index = 0;
  if (!absl::SimpleAtoi(lexer_.Name(), &index)) {
    ErrorHere("this number of a field is too large");
  }
  lexer_.Next();
  values_.back() =
      TupleGetItem(std::move(values_.back()), index, {}, SpanFrom(begin));
  return true;
}

// Parses an operand, or pushes the frame of one.
bool TextParser::Operand() {
  const int64_t begin = lexer_.token().begin;
  if (frames_.size() > kMaxFrames) {
    return ErrorHere("expressions are nested too deeply");
  }
  switch (lexer_.kind()) {
    case TokenKind::kLocal:
      return ParseLocal();
    case TokenKind::kGraph:
      return ParseGraph();
    case TokenKind::kGlobal: {
      values_.push_back(input_.Global(lexer_.token()));
      lexer_.Next();
      return true;
    }
    case TokenKind::kIdentifier:
      return ParseName();
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kMinus:
      return ParseNumber();
    case TokenKind::kTrue:
    case TokenKind::kFalse: {
      const bool value = lexer_.kind() == TokenKind::kTrue;
      lexer_.Next();
      PushConstant(Tensor::Scalar(value), begin);
      return true;
    }
    case TokenKind::kMeta: {
      const Token token = lexer_.token();
      MetaItem item = ParseMeta();
      if (const auto* constant = std::get_if<Constant>(&item)) {
        values_.push_back(*constant);
        return true;
      }
      if (!std::holds_alternative<std::monostate>(item)) {
        Error(token.begin, token.end, "this is not an expression");
      }
      values_.push_back(placeholder_);
      return true;
    }
    case TokenKind::kOpenParen:
      lexer_.Next();
      Push(Frame::kParens, begin);
      return true;
    case TokenKind::kOpenCurly:
      lexer_.Next();
      Push(Frame::kBlock, begin);
      PushSequence(/*in_braces=*/true);
      return true;
    case Keyword::kIf:
      lexer_.Next();
      if (!Expect(TokenKind::kOpenParen)) return false;
      Push(Frame::kIf, begin);
      PushSequence(/*in_braces=*/false);
      return true;
    case Keyword::kFn:
      lexer_.Next();
      return BeginFunction(begin);
    case Keyword::kRef:
    case Keyword::kRefRead:
    case Keyword::kRefWrite: {
      const TokenKind kind = lexer_.kind();
      lexer_.Next();
      if (!Expect(TokenKind::kOpenParen)) return false;
      Push(Frame::kRef, begin).number = static_cast<int64_t>(kind);
      PushSequence(/*in_braces=*/false);
      return true;
    }
    case Keyword::kMatch:
    case Keyword::kPartialMatch: {
      const TokenKind kind = lexer_.kind();
      lexer_.Next();
      Push(Frame::kMatch, begin).number = static_cast<int64_t>(kind);
      matches_.emplace_back();
      PushBinary();
      return true;
    }
    default:
      return Expected("an expression");
  }
}

// ---------------------------------------------------------------------------
// Atoms.

bool TextParser::ParseLocal() {
  const Token token = lexer_.token();
  const absl::string_view whole = lexer_.Name();
  do {
    const absl::string_view name = lexer_.Name();
    if (const VarNode* const bound = vars_.Find(name)) {
      values_.emplace_back(bound);
      lexer_.Next();
      return true;
    }
    const auto free = free_vars_.find(name);
    if (free != free_vars_.end()) {
      values_.push_back(free->second);
      lexer_.Next();
      return true;
    }
  } while (lexer_.ShortenLocal());
  Error(token.begin, token.end,
        absl::StrCat(
            "unknown variable %", whole,
            KeepsErrors() ? DidYouMean(whole, NamesInScope()) : std::string()));
  values_.push_back(placeholder_);
  lexer_.Rewind(token, lexer_.last_end());
  lexer_.Next();
  return true;
}

bool TextParser::ParseGraph() {
  const int64_t number = lexer_.token().number;
  const Expr* value = FindGraph(number);
  if (value == nullptr) {
    ErrorHere(absl::StrCat("unknown variable %", number));
    value = &placeholder_;
  }
  values_.push_back(*value);
  lexer_.Next();
  return true;
}

bool TextParser::ParseName() {
  const absl::string_view name = lexer_.Name();
  if (!constructors_.empty()) {
    const auto constructor = constructors_.find(name);
    if (constructor != constructors_.end()) {
      const int64_t begin = lexer_.token().begin;
      lexer_.Next();
      if (lexer_.kind() == TokenKind::kOpenParen ||
          constructor->second->num_inputs() > 0) {
        values_.push_back(constructor->second);
      } else {
        values_.push_back(
            Call(constructor->second, {}, {}, {}, {}, SpanFrom(begin)));
      }
      return true;
    }
  }
  const OpNode* op = ops_.Find(name);
  if (op == nullptr) {
    op = OpRegistry::Global().Find(name);
    if (op != nullptr) ops_.Push(op);
  }
  if (op == nullptr) {
    // A definition of another level: this one is not closed.
    if (input_.AtDefinition()) return Expected("an expression");
    std::vector<std::string> known;
    if (KeepsErrors()) {
      for (const auto& entry : constructors_) known.emplace_back(entry.first);
      for (const OpNode* each : OpRegistry::Global().List()) {
        known.push_back(each->name());
      }
    }
    ErrorHere(
        absl::StrCat("unknown operator `", name, "`", DidYouMean(name, known)));
  }
  values_.push_back(op != nullptr ? Expr(op) : placeholder_);
  lexer_.Next();
  return true;
}

bool TextParser::ParseNumber() {
  const int64_t begin = lexer_.token().begin;
  bool negative = false;
  while (lexer_.kind() == TokenKind::kMinus) {
    negative = !negative;
    lexer_.Next();
  }
  const Token token = lexer_.token();
  if (token.kind == TokenKind::kInteger) {
    lexer_.Next();
    return PushInteger(token, negative, begin);
  }
  if (token.kind == TokenKind::kFloat) {
    lexer_.Next();
    return PushFloat(token, negative, begin);
  }
  return Expected("a number");
}

bool TextParser::PushInteger(const Token& token, bool negative, int64_t begin) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const absl::string_view digits = lexer_.Name(token);
  uint64_t magnitude = 0;
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  int64_t value = 0;
  bool fits = result.ec == std::errc();
  if (fits && negative) {
    fits = magnitude <= kMax + 1;
    value = static_cast<int64_t>(-magnitude);
  } else if (fits) {
    fits = magnitude <= kMax;
    value = static_cast<int64_t>(magnitude);
  }
  const auto fits_in = [value](int bits) {
    const int64_t limit = int64_t{1} << (bits - 1);
    return value >= -limit && value < limit;
  };
  int width = token.width;
  if (width == 0) width = !fits || fits_in(32) ? 32 : 64;
  if (!fits || (width < 64 && !fits_in(width))) {
    Error(begin, token.end,
          absl::StrCat("this number does not fit in ",
                       token.width == 0 ? 64 : width, " bits"));
    values_.push_back(placeholder_);
    return true;
  }
  if (width == 16) {
    PushConstant(Tensor::Scalar(static_cast<int16_t>(value)), begin);
  } else if (width == 32) {
    PushConstant(Tensor::Scalar(static_cast<int32_t>(value)), begin);
  } else {
    PushConstant(Tensor::Scalar(value), begin);
  }
  return true;
}

bool TextParser::PushFloat(const Token& token, bool negative, int64_t begin) {
  constexpr float kMaxHalf = 65504.0f;
  const absl::string_view digits = lexer_.Name(token);
  bool fits = true;
  const auto fitting = [&](auto value) {
    // An infinity is written as such.
    if (std::isinf(value) && digits != "inf") fits = false;
    return negative ? -value : value;
  };
  if (token.width == 64) {
    PushConstant(Tensor::Scalar(fitting(RealValue<double>(digits))), begin);
  } else {
    const float value = fitting(RealValue<float>(digits));
    if (token.width != 16) {
      PushConstant(Tensor::Scalar(value), begin);
    } else {
      if (std::abs(value) > kMaxHalf && digits != "inf") fits = false;
      PushConstant(Tensor::Scalar(Float16(value)), begin);
    }
  }
  if (!fits) {
    Error(begin, token.end,
          absl::StrCat("this number does not fit in ",
                       token.width == 0 ? 32 : int{token.width}, " bits"));
  }
  return true;
}

void TextParser::PushConstant(Tensor value, int64_t begin) {
  values_.push_back(Constant(std::move(value), {}, SpanFrom(begin)));
}

// ---------------------------------------------------------------------------
// Calls and tuples.

// Parses an element of a list that is an atom; `*begin` is where it begins.
TextParser::Progress TextParser::ParseAtom(int64_t* begin) {
  *begin = lexer_.token().begin;
  switch (lexer_.kind()) {
    case TokenKind::kGraph:
      if (lexer_.PeekChar() == '=') return Progress::kNew;
      [[fallthrough]];
    case TokenKind::kLocal:
    case TokenKind::kGlobal:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kMinus:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
    case TokenKind::kMeta:
      if (!Operand()) return Progress::kFailed;
      return lexer_.kind() == TokenKind::kComma ||
                     lexer_.kind() == TokenKind::kCloseParen
                 ? Progress::kDone
                 : Progress::kHasValue;
    default:
      return Progress::kNew;
  }
}

// Pushes the frames of an element that ParseAtom could not complete.
void TextParser::PushElement(Progress progress, int64_t begin) {
  PushSequence(/*in_braces=*/false);
  if (progress == Progress::kNew) return;
  // It goes on: as if its frames had been there.
  frames_.back().begin = begin;
  frames_.back().state = kValue;
  frames_.back().values -= 1;
  PushBinary();
  frames_.back().begin = begin;
  frames_.back().number = begin;
  frames_.back().state = kPostfix;
  frames_.back().values -= 1;
}

bool TextParser::StepCall() {
  int64_t begin = 0;
  switch (const Progress progress = ParseCall(frames_.back(), &begin)) {
    case Progress::kFailed:
      return false;
    case Progress::kDone:
      frames_.pop_back();
      return true;
    default:
      PushElement(progress, begin);
      return true;
  }
}

// Parses a call from an element on, or from behind one, to its end or to an
// element that needs frames, which begins at `*begin`. `call` need not be on
// the stack of frames, to which nothing is pushed.
TextParser::Progress TextParser::ParseCall(Frame& call, int64_t* begin) {
  while (true) {
    if (call.state == kAfterElement) {
      if (!lexer_.Accept(TokenKind::kComma) &&
          lexer_.kind() != TokenKind::kCloseParen) {
        Expected("`,` or `)`");
        return Progress::kFailed;
      }
      call.state = kElement;
    }
    if (lexer_.Accept(TokenKind::kCloseParen)) {
      return FinishCall(
          call, DefaultAttrs(values_[call.values].As<OpNode>(), call.begin));
    }
    if (lexer_.AtKey()) {
      Attrs attrs;
      if (!ParseCallAttrs(values_[call.values], &attrs)) {
        return Progress::kFailed;
      }
      return FinishCall(call, std::move(attrs));
    }
    call.state = kAfterElement;
    if (lexer_.kind() == TokenKind::kMeta && lexer_.PeekChar() == ')') {
      const Token token = lexer_.token();
      const int64_t last_end = lexer_.last_end();
      MetaItem item = ParseMeta();
      if (auto* attrs = std::get_if<Attrs>(&item)) {
        if (!Expect(TokenKind::kCloseParen)) return Progress::kFailed;
        return FinishCall(call, std::move(*attrs));
      }
      if (std::holds_alternative<std::monostate>(item)) {
        values_.push_back(placeholder_);
        continue;
      }
      lexer_.Rewind(token, last_end);
    }
    const Progress progress = ParseAtom(begin);
    if (progress != Progress::kDone) return progress;
  }
}

// After the `)`.
TextParser::Progress TextParser::FinishCall(const Frame& call, Attrs attrs) {
  Expr* const callee = &values_[call.values];
  const size_t num_args = values_.size() - call.values - 1;
  *callee =
      Call::Taking(std::move(*callee), absl::MakeSpan(callee + 1, num_args),
                   std::move(attrs), {}, {}, SpanFrom(call.begin));
  values_.resize(call.values + 1);
  return Progress::kDone;
}

bool TextParser::StepParens() {
  while (true) {
    const Frame frame = frames_.back();
    const size_t count = values_.size() - frame.values;
    if (frame.state == kAfterElement) {
      if (lexer_.Accept(TokenKind::kComma)) {
        frames_.back().state = kAfterComma;
      } else if (lexer_.kind() != TokenKind::kCloseParen) {
        return Expected("`,` or `)`");
      } else if (count == 1) {
        lexer_.Next();
        frames_.pop_back();  // its value stays
        return true;
      }
    }
    if (lexer_.Accept(TokenKind::kCloseParen)) {
      std::vector<Expr> fields(
          std::make_move_iterator(values_.begin() + frame.values),
          std::make_move_iterator(values_.end()));
      Pop(Tuple(std::move(fields), {}, SpanFrom(frame.begin)));
      return true;
    }
    frames_.back().state = kAfterElement;
    int64_t begin = 0;
    switch (const Progress progress = ParseAtom(&begin)) {
      case Progress::kFailed:
        return false;
      case Progress::kDone:
        continue;
      default:
        PushElement(progress, begin);
        return true;
    }
  }
}

// ---------------------------------------------------------------------------
// Blocks, branches, functions, references. A frame's state counts the parts
// that are done.

bool TextParser::StepBlock() {
  if (!Expect(TokenKind::kCloseCurly)) return false;
  frames_.pop_back();  // its value stays
  return true;
}

bool TextParser::StepIf() {
  const uint8_t state = frames_.back().state++;
  switch (state) {
    case 0:
      if (!Expect(TokenKind::kCloseParen)) return false;
      break;
    case 1:
      if (!Expect(TokenKind::kCloseCurly)) return false;
      if (!Expect(Keyword::kElse)) return false;
      break;
    default: {
      if (!Expect(TokenKind::kCloseCurly)) return false;
      const size_t n = values_.size();
      Pop(If(std::move(values_[n - 3]), std::move(values_[n - 2]),
             std::move(values_[n - 1]), {}, SpanFrom(frames_.back().begin)));
      return true;
    }
  }
  if (!Expect(TokenKind::kOpenCurly)) return false;
  PushSequence(/*in_braces=*/true);
  return true;
}

// Parses up to the body: `[A](%x: A, Primitive=1) -> A {`.
bool TextParser::BeginFunction(int64_t begin) {
  Push(Frame::kFunction, begin);
  functions_.emplace_back();
  PendingFunction& function = functions_.back();
  if (lexer_.kind() == TokenKind::kOpenSquare &&
      !ParseTypeParams(&function.type_params)) {
    return false;
  }
  if (!ParseParams(&function)) return false;
  if (lexer_.Accept(TokenKind::kArrow)) {
    function.result_type = ParseTypeText();
    if (!function.result_type.defined()) return false;
  }
  if (!Expect(TokenKind::kOpenCurly)) return false;
  PushSequence(/*in_braces=*/true);
  return true;
}

bool TextParser::ParseParams(PendingFunction* function) {
  const int64_t begin = lexer_.token().begin;
  if (!Expect(TokenKind::kOpenParen)) return false;
  while (lexer_.kind() != TokenKind::kCloseParen) {
    if (lexer_.AtKey()) {
      if (!ParseFunctionAttrs(&function->attrs)) return false;
      break;
    }
    if (!ParseParam(function, begin)) return false;
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  if (!function->param_devices.empty()) {
    function->param_devices.resize(function->params.size());
    function->attrs =
        WithParamDevices(function->attrs, std::move(function->param_devices));
  }
  return Expect(TokenKind::kCloseParen);
}

// `list` is where the list of parameters begins.
bool TextParser::ParseParam(PendingFunction* function, int64_t list) {
  if (lexer_.kind() != TokenKind::kLocal) return Expected("a parameter");
  const Token token = lexer_.token();
  const absl::string_view name = lexer_.Name();
  lexer_.Next();
  if (lexer_.kind() == TokenKind::kOpenCurly) {
    const int64_t begin = lexer_.token().begin;
    lexer_.Next();
    std::vector<ParsedAttr> attrs;
    if (!ParseAttrList(TokenKind::kCloseCurly, &attrs)) return false;
    if (!Expect(TokenKind::kCloseCurly)) return false;
    bool ignored = attrs.empty();
    for (ParsedAttr& attr : attrs) {
      if (attr.key == kVirtualDevice) {
        function->param_devices.resize(function->params.size() + 1);
        function->param_devices.back() = std::move(attr.value);
      } else {
        ignored = true;
      }
    }
    if (ignored) {
      diagnostics_->Warning(SpanFrom(begin),
                            "of the attributes of parameters, only "
                            "virtual_device is kept");
    }
  }
  Type type;
  if (lexer_.Accept(TokenKind::kColon)) {
    type = ParseTypeText();
    if (!type.defined()) return false;
  }
  const VarNode* const hidden = vars_.Find(name);
  if (hidden != nullptr && hidden->span()->begin() > list) {
    Error(token.begin, token.end,
          absl::StrCat("two parameters are called %", name));
  }
  Var var(std::string(name), std::move(type),
          Span(source_, token.begin, token.end));
  vars_.Push(var.get());
  function->params.push_back(std::move(var));
  return true;
}

bool TextParser::StepFunction() {
  if (!Expect(TokenKind::kCloseCurly)) return false;
  PendingFunction function = std::move(functions_.back());
  functions_.pop_back();
  const Frame frame = frames_.back();
  EndScope(frame.scope);
  Pop(Function(std::move(function.params), std::move(values_.back()),
               std::move(function.result_type), std::move(function.type_params),
               std::move(function.attrs), {}, SpanFrom(frame.begin)));
  return true;
}

bool TextParser::StepRef() {
  const Frame frame = frames_.back();
  const auto kind = static_cast<TokenKind>(frame.number);
  if (kind == Keyword::kRefWrite && frame.state == 0) {
    if (!Expect(TokenKind::kComma)) return false;
    frames_.back().state = 1;
    PushSequence(/*in_braces=*/false);
    return true;
  }
  if (!Expect(TokenKind::kCloseParen)) return false;
  Expr last = std::move(values_.back());
  const Span span = SpanFrom(frame.begin);
  if (kind == Keyword::kRef) {
    Pop(RefCreate(std::move(last), {}, span));
  } else if (kind == Keyword::kRefRead) {
    Pop(RefRead(std::move(last), {}, span));
  } else {
    Pop(RefWrite(std::move(values_[frame.values]), std::move(last), {}, span));
  }
  return true;
}

// ---------------------------------------------------------------------------
// Matches. The state is 0 before the clauses, then 1.

bool TextParser::StepMatch() {
  if (frames_.back().state == 0) {
    frames_.back().state = 1;
    if (!Expect(TokenKind::kOpenCurly)) return false;
  } else {
    EndScope(matches_.back().scope);
    if (!lexer_.Accept(TokenKind::kComma) &&
        lexer_.kind() != TokenKind::kCloseCurly) {
      return Expected("`,` or `}`");
    }
  }
  if (lexer_.kind() != TokenKind::kCloseCurly) return BeginClause();
  lexer_.Next();
  const Frame frame = frames_.back();
  PendingMatch match = std::move(matches_.back());
  matches_.pop_back();
  std::vector<Clause> clauses;
  clauses.reserve(match.patterns.size());
  for (size_t i = 0; i < match.patterns.size(); ++i) {
    clauses.push_back({std::move(match.patterns[i]),
                       std::move(values_[frame.values + 1 + i])});
  }
  const bool complete = static_cast<TokenKind>(frame.number) == Keyword::kMatch;
  Pop(Match(std::move(values_[frame.values]), std::move(clauses), complete, {},
            SpanFrom(frame.begin)));
  return true;
}

// `Cons(%x, _) =>`.
bool TextParser::BeginClause() {
  matches_.back().scope = CurrentScope();
  Pattern pattern;
  if (!ParsePattern(0, &pattern)) return false;
  matches_.back().patterns.push_back(std::move(pattern));
  if (!Expect(TokenKind::kFatArrow)) return false;
  PushSequence(/*in_braces=*/false);
  return true;
}

bool TextParser::ParsePattern(int depth, Pattern* pattern) {
  if (depth > kMaxPatternDepth) {
    return ErrorHere("patterns are nested too deeply");
  }
  const Token token = lexer_.token();
  switch (token.kind) {
    case TokenKind::kUnderscore:
      lexer_.Next();
      *pattern = Pattern::Wildcard(SpanFrom(token.begin));
      return true;
    case TokenKind::kLocal: {
      lexer_.Next();
      Type type;
      if (lexer_.Accept(TokenKind::kColon)) {
        type = ParseTypeText();
        if (!type.defined()) return false;
      }
      const absl::string_view name = lexer_.Name(token);
      Var var(std::string(name), std::move(type),
              Span(source_, token.begin, token.end));
      vars_.Push(var.get());
      *pattern = Pattern::OfVar(std::move(var), SpanFrom(token.begin));
      return true;
    }
    case TokenKind::kIdentifier: {
      const absl::string_view name = lexer_.Name();
      const auto it = constructors_.find(name);
      if (it == constructors_.end()) {
        std::vector<std::string> known;
        if (KeepsErrors()) {
          for (const auto& entry : constructors_) {
            known.emplace_back(entry.first);
          }
        }
        return ErrorHere(absl::StrCat("unknown constructor `", name, "`",
                                      DidYouMean(name, known)));
      }
      lexer_.Next();
      std::vector<Pattern> parts;
      if (lexer_.kind() == TokenKind::kOpenParen &&
          !ParsePatternParts(depth + 1, &parts)) {
        return false;
      }
      *pattern = Pattern::OfConstructor(it->second, std::move(parts),
                                        SpanFrom(token.begin));
      return true;
    }
    case TokenKind::kOpenParen: {
      std::vector<Pattern> parts;
      if (!ParsePatternParts(depth + 1, &parts)) return false;
      *pattern = Pattern::OfTuple(std::move(parts), SpanFrom(token.begin));
      return true;
    }
    default:
      return Expected("a pattern");
  }
}

bool TextParser::ParsePatternParts(int depth, std::vector<Pattern>* parts) {
  lexer_.Next();
  while (lexer_.kind() != TokenKind::kCloseParen) {
    if (!ParsePattern(depth, &parts->emplace_back())) return false;
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseParen);
}

}  // namespace internal
}  // namespace baton::relay
