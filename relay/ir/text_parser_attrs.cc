// Parses attributes of calls and functions. See text_parser_impl.h.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/near_names.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/op.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton::relay {
namespace internal {
namespace {

// Lists nested more deeply than this are refused: unlike expressions, a value
// that nests is destroyed and compared by recursion.
constexpr int kMaxDepth = 64;

constexpr char kTypeKeyName[] = "attrs_type_key";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The names of `known` that resemble `name`; all, if none does and they are few.
std::string NamesInstead(absl::string_view name,
                         const std::vector<std::string>& known) {
  const std::string near = DidYouMean(name, known);
  if (!near.empty() || known.empty() || known.size() > 12) return near;
  return absl::StrCat("; it has ", absl::StrJoin(known, ", "));
}

}  // namespace

// The string that a token means.
std::string TextParser::StringValue(const Token& token) {
  const absl::string_view raw = lexer_.Name(token);
  if (raw.find('\\') == absl::string_view::npos) return std::string(raw);
  std::string result;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      result.push_back(raw[i]);
      continue;
    }
    const int64_t at = token.name_begin + static_cast<int64_t>(i);
    const char c = raw[++i];
    switch (c) {
      case '"':
      case '\'':
      case '\\':
        result.push_back(c);
        break;
      case 'n':
        result.push_back('\n');
        break;
      case 't':
        result.push_back('\t');
        break;
      case 'r':
        result.push_back('\r');
        break;
      case 'x': {
        const int high = i + 1 < raw.size() ? HexDigit(raw[i + 1]) : -1;
        const int low = i + 2 < raw.size() ? HexDigit(raw[i + 2]) : -1;
        if (high < 0 || low < 0) {
          Error(at, at + 2, "expected two hexadecimal digits after `\\x`");
          return result;
        }
        result.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default: {
        // Up to three octal digits.
        int value = 0;
        size_t digits = 0;
        while (digits < 3 && i + digits < raw.size() &&
               raw[i + digits] >= '0' && raw[i + digits] <= '7') {
          value = value * 8 + (raw[i + digits++] - '0');
        }
        if (digits == 0 || value > 255) {
          Error(at, at + 2, "unknown escape in a string");
          return result;
        }
        result.push_back(static_cast<char>(value));
        i += digits - 1;
      }
    }
  }
  return result;
}

bool TextParser::ParseAttrValue(int depth, AttrValue* value) {
  if (depth > kMaxDepth) return ErrorHere("values are nested too deeply");
  bool negative = false;
  const int64_t begin = lexer_.token().begin;
  while (lexer_.kind() == TokenKind::kMinus) {
    negative = !negative;
    lexer_.Next();
  }
  const Token token = lexer_.token();
  const absl::string_view text = lexer_.Name();
  if (negative && token.kind != TokenKind::kInteger &&
      token.kind != TokenKind::kFloat) {
    return Expected("a number");
  }
  switch (token.kind) {
    case TokenKind::kInteger: {
      uint64_t magnitude = 0;
      const auto result =
          std::from_chars(text.data(), text.data() + text.size(), magnitude);
      constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
      if (result.ec != std::errc() || magnitude > kMax + (negative ? 1 : 0)) {
        Error(begin, token.end, "this number does not fit in 64 bits");
      }
      *value = static_cast<int64_t>(negative ? -magnitude : magnitude);
      break;
    }
    case TokenKind::kFloat: {
      double number = 0;
      if (!absl::SimpleAtod(text, &number)) {
        Error(begin, token.end, "this is not a number");
      }
      *value = negative ? -number : number;
      break;
    }
    case TokenKind::kTrue:
      *value = true;
      break;
    case TokenKind::kFalse:
      *value = false;
      break;
    case TokenKind::kString:
      *value = StringValue(token);
      break;
    case TokenKind::kQuestion:
      *value = AttrValue(Dim::Any());
      break;
    case TokenKind::kIdentifier:
      if (text != "None" && text != "nullptr") {
        return ErrorHere(absl::StrCat("expected a value, found `", text,
                                      "`; strings must be in quotes"));
      }
      *value = AttrValue();
      break;
    case TokenKind::kMeta: {
      MetaItem item = ParseMeta();
      if (auto* found = std::get_if<AttrValue>(&item)) {
        *value = std::move(*found);
      } else if (const auto* constant = std::get_if<Constant>(&item);
                 constant != nullptr && IntegersOf(*constant, value)) {
        // A shape that the reference keeps as a tensor.
      } else if (!std::holds_alternative<std::monostate>(item)) {
        Error(token.begin, token.end, "this is not a value");
      }
      return true;
    }
    case TokenKind::kOpenSquare:
      return ParseAttrItems(TokenKind::kCloseSquare, depth, value);
    case TokenKind::kOpenParen:
      return ParseAttrItems(TokenKind::kCloseParen, depth, value);
    case TokenKind::kOpenCurly:
      return ParseAttrMap(depth, value);
    default:
      return Expected("a value");
  }
  lexer_.Next();
  return true;
}

// Integers, one or a vector of them, as a value; false if the constant is
// something else, or long.
bool TextParser::IntegersOf(const Constant& constant, AttrValue* value) {
  constexpr int64_t kLongest = 1000;
  const Tensor& tensor = constant->value();
  if (!tensor.dtype().is_integral() || tensor.dtype().is_bool() ||
      tensor.rank() > 1 || tensor.num_elements() > kLongest) {
    return false;
  }
  if (tensor.rank() == 0) {
    *value = tensor.AtAsInt64(0);
    return true;
  }
  AttrList list;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    list.emplace_back(tensor.AtAsInt64(i));
  }
  *value = std::move(list);
  return true;
}

// `[1, 2]`, and the same in parentheses; but `(1)` is 1.
bool TextParser::ParseAttrItems(TokenKind close, int depth, AttrValue* value) {
  lexer_.Next();
  AttrList list;
  bool comma = false;
  while (lexer_.kind() != close) {
    AttrValue item;
    if (!ParseAttrValue(depth + 1, &item)) return false;
    list.push_back(std::move(item));
    comma = lexer_.Accept(TokenKind::kComma);
    if (!comma) break;
  }
  if (!Expect(close)) return false;
  if (close == TokenKind::kCloseParen && list.size() == 1 && !comma) {
    AttrValue only = std::move(list[0]);
    *value = std::move(only);
  } else {
    *value = std::move(list);
  }
  return true;
}

// `{"a"=1, b=[2]}`; a colon may stand for `=`.
bool TextParser::ParseAttrMap(int depth, AttrValue* value) {
  lexer_.Next();
  AttrMap map;
  while (lexer_.kind() != TokenKind::kCloseCurly) {
    std::string key;
    if (lexer_.kind() == TokenKind::kString) {
      key = StringValue(lexer_.token());
    } else if (lexer_.kind() == TokenKind::kIdentifier) {
      key = std::string(lexer_.Name());
    } else {
      return Expected("a key");
    }
    lexer_.Next();
    if (!lexer_.Accept(TokenKind::kColon) && !Expect(TokenKind::kAssign)) {
      return false;
    }
    AttrValue item;
    if (!ParseAttrValue(depth + 1, &item)) return false;
    map.emplace_back(std::move(key), std::move(item));
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  *value = std::move(map);
  return Expect(TokenKind::kCloseCurly);
}

// `a=1, b="x"`, up to `close`, which stays.
bool TextParser::ParseAttrList(TokenKind close,
                               std::vector<ParsedAttr>* attrs) {
  while (lexer_.kind() != close) {
    if (!lexer_.AtKey()) return Expected("an attribute");
    ParsedAttr attr;
    attr.key = std::string(lexer_.Name());
    attr.begin = lexer_.token().begin;
    lexer_.Next();
    lexer_.Next();  // `=`
    if (!ParseAttrValue(0, &attr.value)) return false;
    attr.end = lexer_.last_end();
    if (attrs->size() >= 1000)
      return ErrorHere("there are too many attributes");
    if (std::any_of(attrs->begin(), attrs->end(),
                    [&](const ParsedAttr& a) { return a.key == attr.key; })) {
      Error(attr.begin, attr.end,
            absl::StrCat("attribute `", attr.key, "` is given twice"));
    } else {
      attrs->push_back(std::move(attr));
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return lexer_.kind() == close ||
         Expected(absl::StrCat("`,` or ", TokenKindName(close)));
}

bool TextParser::ParseFunctionAttrs(DictAttrs* attrs) {
  std::vector<ParsedAttr> parsed;
  if (!ParseAttrList(TokenKind::kCloseParen, &parsed)) return false;
  AttrMap entries;
  for (ParsedAttr& attr : parsed) {
    entries.emplace_back(std::move(attr.key), std::move(attr.value));
  }
  *attrs = DictAttrs(std::move(entries));
  return true;
}

// The attributes of a call of `callee`, and its `)`.
bool TextParser::ParseCallAttrs(const Expr& callee, Attrs* attrs) {
  const OpNode* op = callee.As<OpNode>();
  const AttrsType* type = op == nullptr ? nullptr : op->attrs_type();
  const int64_t begin = lexer_.token().begin;
  // Equal texts have equal meanings everywhere.
  const absl::string_view text =
      type == nullptr ? absl::string_view() : TextUpTo(')');
  const int64_t end = begin + static_cast<int64_t>(text.size());
  if (!text.empty()) {
    const auto it = attrs_by_text_.find({type, text});
    if (it != attrs_by_text_.end()) {
      *attrs = it->second;
      lexer_.SkipTo(end);
      return true;
    }
  }
  std::vector<ParsedAttr> parsed;
  if (!ParseAttrList(TokenKind::kCloseParen, &parsed)) return false;
  if (!Expect(TokenKind::kCloseParen)) return false;
  std::string owner = op == nullptr ? "this call" : op->name();
  if (type == nullptr) {
    for (size_t i = 0; i < parsed.size(); ++i) {
      const std::string* key = parsed[i].value.As<std::string>();
      if (parsed[i].key != kTypeKeyName || key == nullptr) continue;
      type = FindAttrsType(*key);
      if (type == nullptr) {
        Error(parsed[i].begin, parsed[i].end,
              absl::StrCat("unknown attribute type `", *key, "`"));
        return true;
      }
      owner = *key;
      parsed.erase(parsed.begin() + static_cast<int64_t>(i));
      break;
    }
    if (type == nullptr) {
      if (callee == placeholder_) return true;
      Error(parsed[0].begin, parsed.back().end,
            op != nullptr
                ? absl::StrCat(op->name(), " takes no attributes")
                : absl::StrCat("the attributes of a call to a function need `",
                               kTypeKeyName, "`"));
      return true;
    }
    *attrs = MakeAttrs(*type, owner, std::move(parsed), begin);
    return true;
  }
  *attrs = MakeAttrs(*type, owner, std::move(parsed), begin);
  if (attrs->defined() && lexer_.last_end() == end) {
    attrs_by_text_.emplace(std::make_pair(type, text), *attrs);
  }
  return true;
}

// Null, with errors, if that cannot be.
Attrs TextParser::MakeAttrs(const AttrsType& type, absl::string_view owner,
                            std::vector<ParsedAttr> attrs, int64_t begin) {
  AttrMap values;
  bool good = true;
  for (ParsedAttr& attr : attrs) {
    if (type.fields().Find(attr.key) == nullptr) {
      std::vector<std::string> known;
      if (KeepsErrors()) {
        for (const Field& field : type.fields().fields()) {
          known.push_back(field.name());
        }
      }
      Error(attr.begin, attr.end,
            absl::StrCat(owner, " has no attribute `", attr.key, "`",
                         NamesInstead(attr.key, known)));
      good = false;
      continue;
    }
    values.emplace_back(attr.key, std::move(attr.value));
  }
  if (!good) return {};
  absl::StatusOr<Attrs> result = type.FromValues(values);
  if (result.ok()) return *std::move(result);
  // The message begins with the type's key and the attribute's.
  absl::string_view message = result.status().message();
  message.remove_prefix(type.type_key().size() + 2);
  for (const ParsedAttr& attr : attrs) {
    if (absl::StartsWith(message, absl::StrCat(attr.key, ": "))) {
      Error(attr.begin, attr.end,
            absl::StrCat("attribute `", attr.key, "` of ", owner, ": ",
                         message.substr(attr.key.size() + 2)));
      return {};
    }
  }
  Error(begin, lexer_.last_end(), absl::StrCat(owner, ": attribute ", message));
  return {};
}

// The attributes of a call that gives none: null if the operator takes none.
Attrs TextParser::DefaultAttrs(const OpNode* op, int64_t begin) {
  if (op == nullptr || op->attrs_type() == nullptr) return {};
  const auto it = attrs_by_text_.find({op->attrs_type(), ""});
  if (it != attrs_by_text_.end()) return it->second;
  Attrs attrs = MakeAttrs(*op->attrs_type(), op->name(), {}, begin);
  if (attrs.defined()) {
    attrs_by_text_.emplace(
        std::make_pair(op->attrs_type(), absl::string_view()), attrs);
  }
  return attrs;
}

}  // namespace internal
}  // namespace baton::relay
