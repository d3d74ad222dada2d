// Parses types. See text_parser_impl.h.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/near_names.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/text_keywords.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton::relay {
namespace internal {
namespace {

// Types nested more deeply than this are refused.
constexpr size_t kMaxTypeFrames = size_t{1} << 20;

// True for what cannot be the name of a data type because it begins like an
// element type.
bool LooksLikeDType(absl::string_view name) {
  return absl::StartsWith(name, "int") || absl::StartsWith(name, "uint") ||
         absl::StartsWith(name, "float") || absl::StartsWith(name, "bfloat") ||
         absl::StartsWith(name, "bool");
}

std::string UnknownDType(absl::string_view name) {
  return absl::StrCat(
      "unknown element type `", name, "`",
      DidYouMean(name, {"float16", "float32", "float64", "bfloat16", "int8",
                        "int16", "int32", "int64", "uint8", "uint16", "uint32",
                        "uint64", "bool"}));
}

}  // namespace

// Null after an error. Parts wait in `type_values_` until their whole, a
// TypeFrame, is complete.
Type TextParser::ParseTypeText() {
  const size_t frames = type_frames_.size();
  const size_t values = type_values_.size();
  const int64_t begin = lexer_.token().begin;
  bool good = true;
  do {
    bool done = false;
    good = type_frames_.size() <= kMaxTypeFrames
               ? BeginType(&done)
               : ErrorHere("types are nested too deeply");
    while (good && done && type_frames_.size() > frames) {
      good = EndTypePart(&done);
    }
    if (good && done) {
      Type result = std::move(type_values_.back());
      type_values_.pop_back();
      return result;
    }
  } while (good);
  while (type_frames_.size() > frames) {
    EndScope(type_frames_.back().scope);
    type_frames_.pop_back();
  }
  type_values_.resize(values);
  // Forget names first used in a type that cannot be parsed: they may not be
  // names of types.
  type_names_.EraseIf(
      [begin](const auto& entry) { return entry.second.begin >= begin; });
  return {};
}

// Reads a type that has no parts, or the beginning of one that has.
bool TextParser::BeginType(bool* done) {
  *done = true;
  const auto leaf = [this](Type type) {
    type_values_.push_back(std::move(type));
    return true;
  };
  const auto open = [&](TypeFrame::Kind kind) -> TypeFrame& {
    *done = false;
    type_frames_.push_back({kind, type_values_.size(), {}, {}, CurrentScope()});
    return type_frames_.back();
  };
  switch (lexer_.kind()) {
    case TokenKind::kUnderscore:
      lexer_.Next();
      return leaf(IncompleteType());
    case TokenKind::kOpenParen:
      lexer_.Next();
      if (lexer_.Accept(TokenKind::kCloseParen)) return leaf(TupleType({}));
      open(TypeFrame::kTuple);
      return true;
    case Keyword::kRef:
      lexer_.Next();
      open(TypeFrame::kRef);
      return Expect(TokenKind::kOpenParen);
    case Keyword::kFn: {
      lexer_.Next();
      TypeFrame& frame = open(TypeFrame::kFuncArgs);
      if (lexer_.kind() == TokenKind::kOpenSquare &&
          !ParseTypeParams(&frame.type_params)) {
        return false;
      }
      if (!Expect(TokenKind::kOpenParen)) return false;
      if (lexer_.Accept(TokenKind::kCloseParen)) {
        frame.kind = TypeFrame::kFuncResult;
        return Expect(TokenKind::kArrow);
      }
      return true;
    }
    case TokenKind::kIdentifier:
      break;
    default:
      return Expected("a type");
  }
  const absl::string_view name = lexer_.Name();
  if (name == "Tensor" && lexer_.PeekChar() == '[') return ParseTensorType();
  const TypeVarNode* const bound = type_vars_.Find(name);
  Type head;
  if (bound != nullptr) {
    head = TypeVar(bound);
    lexer_.Next();
    if (lexer_.kind() != TokenKind::kOpenSquare) return leaf(std::move(head));
  } else if (LooksLikeDType(name)) {
    Type& type = types_by_text_[name];
    if (!type.defined()) {
      const absl::StatusOr<DType> dtype = DType::Parse(name);
      if (!dtype.ok()) return ErrorHere(UnknownDType(name));
      type = TensorType::Scalar(*dtype);
    }
    lexer_.Next();
    return leaf(type);
  } else {
    head = NoteTypeName(name);
    lexer_.Next();
    if (lexer_.kind() != TokenKind::kOpenSquare) {
      return leaf(TypeCall(std::move(head), {}));
    }
  }
  lexer_.Next();  // `[`
  if (lexer_.Accept(TokenKind::kCloseSquare)) {
    return leaf(TypeCall(std::move(head), {}));
  }
  open(TypeFrame::kCall).head = std::move(head);
  return true;
}

// A part is complete: completes its whole if it was the last one, else leaves
// the next to be read.
bool TextParser::EndTypePart(bool* done) {
  TypeFrame& frame = type_frames_.back();
  const TokenKind close = frame.kind == TypeFrame::kCall
                              ? TokenKind::kCloseSquare
                              : TokenKind::kCloseParen;
  if (frame.kind == TypeFrame::kRef) {
    if (!Expect(close)) return false;
  } else if (frame.kind != TypeFrame::kFuncResult) {
    const bool comma = lexer_.Accept(TokenKind::kComma);
    if (!lexer_.Accept(close)) {
      if (!comma) {
        return Expected(absl::StrCat("`,` or ", TokenKindName(close)));
      }
      *done = false;
      return true;
    }
    if (frame.kind == TypeFrame::kFuncArgs) {
      frame.kind = TypeFrame::kFuncResult;
      *done = false;
      return Expect(TokenKind::kArrow);
    }
  }
  std::vector<Type> parts(
      std::make_move_iterator(type_values_.begin() +
                              static_cast<int64_t>(frame.values)),
      std::make_move_iterator(type_values_.end()));
  type_values_.resize(frame.values);
  Type type;
  switch (frame.kind) {
    case TypeFrame::kTuple:
      type = TupleType(std::move(parts));
      break;
    case TypeFrame::kCall:
      type = TypeCall(std::move(frame.head), std::move(parts));
      break;
    case TypeFrame::kRef:
      type = RefType(std::move(parts[0]));
      break;
    default: {
      Type result = std::move(parts.back());
      parts.pop_back();
      type = FuncType(std::move(parts), std::move(result),
                      std::move(frame.type_params));
    }
  }
  EndScope(frame.scope);
  type_frames_.pop_back();
  type_values_.push_back(std::move(type));
  return true;
}

// `Tensor[(1, ?), float32]`.
bool TextParser::ParseTensorType() {
  const int64_t begin = lexer_.token().begin;
  // Equal texts are equal types.
  const absl::string_view text = TextUpTo(']');
  if (!text.empty()) {
    const auto it = types_by_text_.find(text);
    if (it != types_by_text_.end()) {
      type_values_.push_back(it->second);
      lexer_.SkipTo(begin + static_cast<int64_t>(text.size()));
      return true;
    }
  }
  lexer_.Next();
  lexer_.Next();
  Dims shape;
  if (!ParseShape(&shape) || !Expect(TokenKind::kComma)) return false;
  if (lexer_.kind() != TokenKind::kIdentifier) {
    return Expected("an element type");
  }
  const absl::string_view name = lexer_.Name();
  const absl::StatusOr<DType> dtype = DType::Parse(name);
  if (!dtype.ok()) return ErrorHere(UnknownDType(name));
  lexer_.Next();
  if (!Expect(TokenKind::kCloseSquare)) return false;
  Type type = TensorType(shape, *dtype);
  if (lexer_.last_end() == begin + static_cast<int64_t>(text.size())) {
    types_by_text_.emplace(text, type);
  }
  type_values_.push_back(std::move(type));
  return true;
}

bool TextParser::ParseShape(Dims* shape) {
  const int64_t begin = lexer_.token().begin;
  if (!Expect(TokenKind::kOpenParen)) return false;
  while (lexer_.kind() != TokenKind::kCloseParen) {
    const Token token = lexer_.token();
    switch (token.kind) {
      case TokenKind::kInteger: {
        int64_t value = 0;
        if (!absl::SimpleAtoi(lexer_.Name(), &value) || value > Dim::kMax) {
          ErrorHere("this dimension is too large");
          value = 0;
        }
        shape->push_back(Dim(value));
        lexer_.Next();
        break;
      }
      case TokenKind::kQuestion:
        shape->push_back(Dim::Any());
        lexer_.Next();
        break;
      case TokenKind::kMeta: {
        MetaItem item = ParseMeta();
        Dim dim;
        if (const auto* value = std::get_if<AttrValue>(&item)) {
          if (!AttrTraits<Dim>::FromValue(*value, &dim).ok()) {
            Error(token.begin, token.end, "this is not a dimension");
          }
        } else if (!std::holds_alternative<std::monostate>(item)) {
          Error(token.begin, token.end, "this is not a dimension");
        }
        shape->push_back(std::move(dim));
        break;
      }
      default:
        return Expected("a dimension");
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  const absl::Status rank = CheckRank(static_cast<int64_t>(shape->size()));
  if (!rank.ok())
    return Error(begin, lexer_.last_end(), std::string(rank.message()));
  return Expect(TokenKind::kCloseParen);
}

// `[A, B]`. They are bound to the end of the scope.
bool TextParser::ParseTypeParams(std::vector<TypeVar>* params) {
  lexer_.Next();
  while (lexer_.kind() != TokenKind::kCloseSquare) {
    if (lexer_.kind() != TokenKind::kIdentifier) {
      return Expected("a type parameter");
    }
    const absl::string_view name = lexer_.Name();
    for (const TypeVar& earlier : *params) {
      if (earlier->name() == name) {
        return ErrorHere(absl::StrCat("two type parameters are called ", name));
      }
    }
    TypeVar param{std::string(name)};
    type_vars_.Push(param.get());
    params->push_back(std::move(param));
    lexer_.Next();
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseSquare);
}

}  // namespace internal
}  // namespace baton::relay
