#include "baton/relay/pattern/rule_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/number_range.h"
#include "baton/base/source.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/text_keywords.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_ast.h"
#include "baton/relay/pattern/rule_builder.h"

namespace baton::relay {
namespace {

using internal::RuleAst;
using internal::RuleAttr;
using internal::RuleBody;
using internal::RuleCondition;
using internal::RuleNode;
using internal::RulePlace;
using internal::RuleTerm;

// Expressions nested more deeply are refused; what is larger can be named part
// by part.
constexpr int kMaxDepth = 200;
constexpr int kMaxNodes = 100'000;

class RuleReader {
 public:
  // `word`: what each entry begins with, `rule` or `pattern`.
  RuleReader(std::shared_ptr<const Source> source, Diagnostics& diagnostics,
             absl::string_view word)
      : source_(std::move(source)),
        diagnostics_(diagnostics),
        lexer_(source_->text()),
        word_(word) {
    lexer_.Next();
  }

  std::vector<RewriteRule> Run() {
    std::vector<RewriteRule> rules;
    FlatHashSet<std::string> names;
    while (lexer_.kind() != TokenKind::kEnd &&
           diagnostics_.num_errors() < Diagnostics::kMaxErrors) {
      const int errors = diagnostics_.num_errors();
      auto rule = std::make_shared<RuleAst>();
      rule->is_pattern = word_ == "pattern";
      if (!AtWord(word_)) {
        Expected(absl::StrCat("a ", word_));
      } else if (ParseRule(*rule) &&
                 !names
                      .insert(absl::StrCat(
                          rule->passes.empty() ? "" : rule->passes[0], "@",
                          rule->name))
                      .second) {
        Error(name_place_, absl::StrCat("there is a ", word_, " @", rule->name,
                                        " in this text already"));
      }
      if (diagnostics_.num_errors() == errors && rule->is_in_cpp) {
        rules.push_back({.name = rule->name,
                         .passes = rule->passes,
                         .place = rule->place,
                         .ast = rule});
      } else if (diagnostics_.num_errors() == errors) {
        rules.push_back(internal::BuildRule(rule));
        if (!CheckRepetitions(*rule, rules.back())) rules.pop_back();
      } else {
        SkipToRule();
      }
    }
    return rules;
  }

 private:
  // Errors; each returns false.
  bool Error(RulePlace place, std::string message) {
    diagnostics_.Error(Span(source_, place.begin, place.end),
                       std::move(message));
    return false;
  }
  bool ErrorHere(std::string message) {
    return Error(Here(), std::move(message));
  }
  bool Expected(absl::string_view what) {
    if (lexer_.kind() == TokenKind::kBad) return ErrorHere(lexer_.error());
    return ErrorHere(
        absl::StrCat("expected ", what, ", found ",
                     lexer_.kind() == TokenKind::kIdentifier
                         ? absl::StrCat("`", lexer_.Name(), "`")
                         : std::string(TokenKindName(lexer_.kind()))));
  }
  bool Expect(TokenKind kind) {
    return lexer_.Accept(kind) || Expected(TokenKindName(kind));
  }
  RulePlace Here() const { return {lexer_.token().begin, lexer_.token().end}; }
  RulePlace From(int64_t begin) const { return {begin, lexer_.last_end()}; }
  bool AtWord(absl::string_view word) const {
    return lexer_.kind() == TokenKind::kIdentifier && lexer_.Name() == word;
  }
  bool AcceptWord(absl::string_view word) {
    if (!AtWord(word)) return false;
    lexer_.Next();
    return true;
  }
  bool AtLocal() const {
    return lexer_.kind() == TokenKind::kLocal ||
           lexer_.kind() == TokenKind::kGraph;
  }
  // The name at a local, without `%`; names in rules have no dots, so that
  // `%y.0` is a field.
  std::string LocalName() {
    while (lexer_.ShortenLocal()) {
    }
    const absl::string_view text =
        lexer_.Text(lexer_.token().begin, lexer_.token().end);
    return std::string(text.substr(1));
  }

  // The part of a repetition must not be the repetition itself.
  bool CheckRepetitions(const RuleAst& ast, const RewriteRule& rule) {
    const auto repeat = std::find_if(
        ast.match.nodes.begin(), ast.match.nodes.end(),
        [](const RuleNode& n) { return n.kind == RuleNode::Kind::kRepeat; });
    if (repeat == ast.match.nodes.end()) return true;
    const absl::Status status = Matcher(rule.pattern).status();
    return status.ok() || Error(repeat->place, std::string(status.message()));
  }

  // Goes on after a mistake: at the next `rule @name`, or `pattern @name`.
  void SkipToRule() {
    do {
      if (lexer_.kind() == TokenKind::kEnd) return;
      lexer_.Next();
    } while (!AtWord(word_) || lexer_.PeekChar() != '@');
  }

  bool ParseRule(RuleAst& rule);
  bool ParsePasses(RuleAst& rule);
  bool ParseBody(RuleBody& body, bool is_match);
  int ParseStatements(int scope, int depth);
  int ParseBlock(int depth);
  int ParseFunction(int depth);
  int ParseLet(int depth);
  int ParseIf(int depth);
  int ParseParam();
  bool ParseWhere(RuleAst& rule);
  bool ParseApply(RuleAst& rule);
  bool ParsePromise(RuleAst& rule);
  int ParseSum(int depth);
  int ParseProduct(int depth);
  int ParsePostfix(int depth);
  int ParsePrimary(int depth);
  int ParseNumberNode();
  int ParseWord(int depth);
  int ParseRepeat(RulePlace place, int depth);
  bool ParseCall(RuleNode& node, int depth);
  bool ParseAttr(RuleNode& node);
  bool ParseEllipsis(RuleNode& node);
  bool ParseOperands(RuleNode& node, TokenKind close, int depth);
  bool ParseNumber(double* value, DType* dtype, std::string* why);
  bool ParseValue(int depth, AttrValue* value);
  bool ParseTerm(RuleTerm& term);
  bool CheckCall(const RuleNode& node);
  bool CheckName(const RuleAst& rule, absl::string_view name, RulePlace place);
  bool CheckParam(const RuleNode& param,
                  const FlatHashSet<absl::string_view>& matched);
  bool CheckNames(const RuleAst& rule);
  std::vector<std::string> MatchNames(const RuleAst& rule) const;

  bool CanBeCalled(int node) const {
    switch (body_->nodes[static_cast<size_t>(node)].kind) {
      case RuleNode::Kind::kNumber:
      case RuleNode::Kind::kConst:
      case RuleNode::Kind::kShape:
      case RuleNode::Kind::kTuple:
        return false;
      default:
        return true;
    }
  }
  bool BindName(const std::string& name, RulePlace place) {
    if (!bound_.insert(name).second) {
      return Error(place, absl::StrCat("%", name, " is bound twice"));
    }
    if (used_.contains(name)) {
      return Error(place,
                   absl::StrCat("%", name, " is used before it is bound"));
    }
    return true;
  }
  // The function or let that bound these ends.
  void CloseParams(size_t first) {
    closed_.insert(params_.begin() + static_cast<ptrdiff_t>(first),
                   params_.end());
    params_.resize(first);
  }

  int Add(RuleNode node) {
    if (body_->nodes.size() >= kMaxNodes) {
      Error(node.place, "a rule has too many nodes");
      return -1;
    }
    body_->nodes.push_back(std::move(node));
    return static_cast<int>(body_->nodes.size()) - 1;
  }
  int AddCall(absl::string_view op, int lhs, int rhs, int64_t begin) {
    RuleNode node = {.kind = RuleNode::Kind::kCall, .place = From(begin)};
    node.op = Op::Find(op);
    if (!node.op.defined()) {
      Error(node.place, absl::StrCat("the operator ", op, " is not linked in"));
      return -1;
    }
    node.operands = {lhs, rhs};
    return Add(std::move(node));
  }

  const std::shared_ptr<const Source> source_;
  Diagnostics& diagnostics_;
  Lexer lexer_;
  const absl::string_view word_;
  RulePlace name_place_;
  // The body under way.
  RuleBody* body_ = nullptr;
  bool is_match_ = false;
  FlatHashSet<std::string> used_;   // names met in the body
  FlatHashSet<std::string> bound_;  // by `%y = ...;`, `var(%y)`, ...
  // The names whose function, let or block is closed, and the names that a
  // function or a let binds here.
  FlatHashSet<std::string> closed_;
  std::vector<std::string> params_;
  int num_scopes_ = 0;
};

bool RuleReader::ParseRule(RuleAst& rule) {
  lexer_.Next();
  name_place_ = Here();
  if (lexer_.kind() != TokenKind::kGlobal) return Expected("`@` and a name");
  rule.name = std::string(lexer_.Name());
  const Source::Position position = source_->PositionOf(name_place_.begin);
  rule.place =
      absl::StrCat(source_->name(), ":", position.line, ":", position.column);
  lexer_.Next();
  if (!rule.is_pattern && AtWord("of")) {
    if (!ParsePasses(rule)) return false;
    rule.is_in_cpp = lexer_.Accept(TokenKind::kSemicolon);
    if (rule.is_in_cpp) return true;
  }
  if (lexer_.kind() == TokenKind::kString) {
    rule.doc = std::string(lexer_.Name());
    lexer_.Next();
  }
  if (!Expect(TokenKind::kOpenCurly)) return false;
  bool has_match = false, has_replace = false, has_where = false,
       has_apply = false, has_promise = false;
  const auto once = [&](bool& seen, absl::string_view what) {
    if (seen) return ErrorHere(absl::StrCat("there are two `", what, "`"));
    seen = true;
    lexer_.Next();
    return true;
  };
  while (lexer_.kind() != TokenKind::kCloseCurly) {
    if (lexer_.kind() == Keyword::kMatch) {
      if (!once(has_match, "match") || !ParseBody(rule.match, true)) {
        return false;
      }
    } else if (AtWord("replace") && !rule.is_pattern) {
      if (!once(has_replace, "replace") || !ParseBody(rule.replace, false)) {
        return false;
      }
    } else if (AtWord("where")) {
      if (!has_match) {
        return ErrorHere("`where` must follow `match`, whose names it uses");
      }
      if (!once(has_where, "where") || !ParseWhere(rule)) return false;
    } else if (AtWord("apply") && !rule.is_pattern) {
      if (!once(has_apply, "apply") || !ParseApply(rule)) return false;
    } else if (AtWord("promise") && !rule.is_pattern) {
      if (!once(has_promise, "promise") || !ParsePromise(rule)) return false;
    } else {
      return Expected(
          rule.is_pattern
              ? "`match`, `where` or `}`"
              : "`match`, `replace`, `where`, `apply`, `promise` or `}`");
    }
  }
  if (!has_match || (!has_replace && !rule.is_pattern)) {
    return Error(name_place_,
                 absl::StrCat(word_, " @", rule.name, " has no `",
                              has_match ? "replace" : "match", "`"));
  }
  lexer_.Next();
  return CheckNames(rule);
}

// `of PASS, PASS`, at `of`.
bool RuleReader::ParsePasses(RuleAst& rule) {
  lexer_.Next();
  do {
    if (lexer_.kind() != TokenKind::kIdentifier) {
      return Expected("the name of a pass");
    }
    rule.passes.emplace_back(lexer_.Name());
    lexer_.Next();
  } while (lexer_.Accept(TokenKind::kComma));
  return true;
}

bool RuleReader::ParseBody(RuleBody& body, bool is_match) {
  body_ = &body;
  is_match_ = is_match;
  used_.clear();
  bound_.clear();
  closed_.clear();
  params_.clear();
  num_scopes_ = 1;
  if (!Expect(TokenKind::kOpenCurly)) return false;
  body.root = ParseStatements(/*scope=*/0, /*depth=*/0);
  return body.root >= 0;
}

// `%y = part; ... part }`, to the end.
int RuleReader::ParseStatements(int scope, int depth) {
  const size_t first_binding = body_->bindings.size();
  while (AtLocal() && lexer_.AtAssign()) {
    const RulePlace place = Here();
    const std::string name = LocalName();
    lexer_.Next();
    lexer_.Next();  // `=`
    const int node = ParseSum(depth);
    if (node < 0 || !BindName(name, place)) return -1;
    body_->bindings.push_back({name, node, scope});
    if (!Expect(TokenKind::kSemicolon)) return -1;
  }
  const int root = ParseSum(depth);
  if (root < 0 || !Expect(TokenKind::kCloseCurly)) return -1;
  if (scope == 0) return root;
  for (size_t i = first_binding; i < body_->bindings.size(); ++i) {
    closed_.insert(body_->bindings[i].name);
  }
  return root;
}

// Parses the content between braces in a function or an if.
int RuleReader::ParseBlock(int depth) {
  const int64_t begin = lexer_.token().begin;
  if (!Expect(TokenKind::kOpenCurly)) return -1;
  const int scope = num_scopes_++;
  const size_t num_bindings = body_->bindings.size();
  const int root = ParseStatements(scope, depth + 1);
  if (root < 0 || body_->bindings.size() == num_bindings) return root;
  RuleNode node = {.kind = RuleNode::Kind::kBlock, .place = From(begin)};
  node.index = scope;
  node.operands = {root};
  return Add(std::move(node));
}

// The name of a variable that a function or a let binds.
int RuleReader::ParseParam() {
  RuleNode node = {.kind = RuleNode::Kind::kParam, .place = Here()};
  if (!AtLocal()) {
    Expected("the name of a variable: `%x`");
    return -1;
  }
  node.name = LocalName();
  lexer_.Next();
  if (!BindName(node.name, node.place)) return -1;
  if (!is_match_ && lexer_.Accept(TokenKind::kColon)) {
    if (!Expect(Keyword::kType) || !Expect(TokenKind::kOpenParen)) return -1;
    if (!AtLocal()) {
      Expected("a name: `type(%x)`");
      return -1;
    }
    node.type_of = LocalName();
    lexer_.Next();
    if (!Expect(TokenKind::kCloseParen)) return -1;
    node.place = From(node.place.begin);
  }
  params_.push_back(node.name);
  return Add(std::move(node));
}

int RuleReader::ParseFunction(int depth) {
  RuleNode node = {.kind = RuleNode::Kind::kFunction, .place = Here()};
  const size_t first_param = params_.size();
  lexer_.Next();
  if (!Expect(TokenKind::kOpenParen)) return -1;
  while (lexer_.kind() != TokenKind::kCloseParen) {
    if (lexer_.kind() == TokenKind::kPeriod) {
      if (!ParseEllipsis(node)) return -1;
    } else if (lexer_.AtKey()) {
      if (!ParseAttr(node)) return -1;
      if (!node.attrs.back().is_value()) {
        Error(node.attrs.back().place, "attributes of functions have values");
        return -1;
      }
    } else {
      if (!node.attrs.empty() || node.any_operands) {
        ErrorHere("parameters must precede `...` and attributes");
        return -1;
      }
      const int param = ParseParam();
      if (param < 0) return -1;
      node.operands.push_back(param);
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kCloseParen)) return -1;
  if (node.any_operands && !node.operands.empty()) {
    Error(node.place, "a function has parameters or `...`, not both");
    return -1;
  }
  const int body = ParseBlock(depth);
  if (body < 0) return -1;
  node.operands.push_back(body);
  CloseParams(first_param);
  node.place = From(node.place.begin);
  return Add(std::move(node));
}

int RuleReader::ParseLet(int depth) {
  RuleNode node = {.kind = RuleNode::Kind::kLet, .place = Here()};
  const size_t first_param = params_.size();
  lexer_.Next();
  const int var = ParseParam();
  if (var < 0 || !Expect(TokenKind::kAssign)) return -1;
  const int value = ParseSum(depth + 1);
  if (value < 0 || !Expect(TokenKind::kSemicolon)) return -1;
  const int body = ParseSum(depth + 1);
  if (body < 0) return -1;
  node.operands = {var, value, body};
  CloseParams(first_param);
  node.place = From(node.place.begin);
  return Add(std::move(node));
}

int RuleReader::ParseIf(int depth) {
  RuleNode node = {.kind = RuleNode::Kind::kIf, .place = Here()};
  lexer_.Next();
  if (!Expect(TokenKind::kOpenParen)) return -1;
  const int condition = ParseSum(depth + 1);
  if (condition < 0 || !Expect(TokenKind::kCloseParen)) return -1;
  const int true_branch = ParseBlock(depth);
  if (true_branch < 0 || !Expect(Keyword::kElse)) return -1;
  const int false_branch = ParseBlock(depth);
  if (false_branch < 0) return -1;
  node.operands = {condition, true_branch, false_branch};
  node.place = From(node.place.begin);
  return Add(std::move(node));
}

int RuleReader::ParseSum(int depth) {
  if (depth > kMaxDepth) {
    ErrorHere("this is nested too deeply; parts can be named: `%y = ...;`");
    return -1;
  }
  const int64_t begin = lexer_.token().begin;
  int result = ParseProduct(depth);
  while (result >= 0 && (lexer_.kind() == TokenKind::kPlus ||
                         lexer_.kind() == TokenKind::kMinus)) {
    const bool plus = lexer_.kind() == TokenKind::kPlus;
    lexer_.Next();
    const int rhs = ParseProduct(depth);
    if (rhs < 0) return -1;
    result = AddCall(plus ? "add" : "subtract", result, rhs, begin);
  }
  return result;
}

int RuleReader::ParseProduct(int depth) {
  const int64_t begin = lexer_.token().begin;
  int result = ParsePostfix(depth);
  while (result >= 0 && (lexer_.kind() == TokenKind::kStar ||
                         lexer_.kind() == TokenKind::kSlash)) {
    const bool star = lexer_.kind() == TokenKind::kStar;
    lexer_.Next();
    const int rhs = ParsePostfix(depth);
    if (rhs < 0) return -1;
    result = AddCall(star ? "multiply" : "divide", result, rhs, begin);
  }
  return result;
}

int RuleReader::ParsePostfix(int depth) {
  const int64_t begin = lexer_.token().begin;
  int result = ParsePrimary(depth);
  while (result >= 0) {
    if (lexer_.kind() == TokenKind::kOpenParen && CanBeCalled(result)) {
      lexer_.Next();
      RuleNode node = {.kind = RuleNode::Kind::kCallOf};
      node.operands = {result};
      if (!ParseCall(node, depth)) return -1;
      node.place = From(begin);
      if (!node.attrs.empty()) {
        Error(node.attrs[0].place,
              "attributes are allowed in calls of named operators only");
        return -1;
      }
      result = Add(std::move(node));
      continue;
    }
    if (lexer_.kind() != TokenKind::kPeriod) break;
    lexer_.NextIndex();
    RuleNode node = {.kind = RuleNode::Kind::kField};
    if (lexer_.kind() != TokenKind::kInteger ||
        !absl::SimpleAtoi(lexer_.Name(), &node.index)) {
      Expected("the number of a field");
      return -1;
    }
    lexer_.Next();
    node.place = From(begin);
    if (body_->nodes[static_cast<size_t>(result)].kind ==
        RuleNode::Kind::kNumber) {
      Error(node.place, "a number has no fields");
      return -1;
    }
    node.operands = {result};
    result = Add(std::move(node));
  }
  return result;
}

int RuleReader::ParsePrimary(int depth) {
  const int64_t begin = lexer_.token().begin;
  switch (lexer_.kind()) {
    case TokenKind::kLocal:
    case TokenKind::kGraph: {
      RuleNode node = {.kind = RuleNode::Kind::kName, .place = Here()};
      node.name = LocalName();
      if (closed_.contains(node.name)) {
        ErrorHere(absl::StrCat("%", node.name,
                               " is bound inside of what ends before this"));
        return -1;
      }
      used_.insert(node.name);
      node.in_scope =
          std::find(params_.begin(), params_.end(), node.name) != params_.end();
      lexer_.Next();
      return Add(std::move(node));
    }
    case Keyword::kFn:
      return ParseFunction(depth);
    case Keyword::kLet:
      return ParseLet(depth);
    case Keyword::kIf:
      return ParseIf(depth);
    case TokenKind::kUnderscore: {
      if (!is_match_) {
        ErrorHere("`_` is allowed in `match` only");
        return -1;
      }
      RuleNode node = {.kind = RuleNode::Kind::kAny, .place = Here()};
      lexer_.Next();
      return Add(std::move(node));
    }
    case TokenKind::kMinus:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return ParseNumberNode();
    case TokenKind::kOpenParen: {
      lexer_.Next();
      RuleNode node = {.kind = RuleNode::Kind::kTuple};
      bool comma = false;
      if (lexer_.kind() == TokenKind::kPeriod) {
        if (!ParseEllipsis(node) || !Expect(TokenKind::kCloseParen)) return -1;
        node.place = From(begin);
        return Add(std::move(node));
      }
      while (lexer_.kind() != TokenKind::kCloseParen) {
        const int operand = ParseSum(depth + 1);
        if (operand < 0) return -1;
        node.operands.push_back(operand);
        comma = lexer_.Accept(TokenKind::kComma);
        if (!comma) break;
      }
      if (!Expect(TokenKind::kCloseParen)) return -1;
      if (node.operands.size() == 1 && !comma) return node.operands[0];
      node.place = From(begin);
      return Add(std::move(node));
    }
    case TokenKind::kIdentifier:
      return ParseWord(depth);
    default:
      Expected(is_match_ ? "a pattern" : "an expression");
      return -1;
  }
}

bool RuleReader::ParseNumber(double* value, DType* dtype, std::string* why) {
  bool negative = false;
  while (lexer_.Accept(TokenKind::kMinus)) negative = !negative;
  const Token token = lexer_.token();
  if (token.kind != TokenKind::kInteger && token.kind != TokenKind::kFloat) {
    return Expected("a number");
  }
  const absl::string_view digits = lexer_.Name(token);
  if (!absl::SimpleAtod(digits, value)) return ErrorHere("this is no number");
  if (negative) *value = -*value;
  const int width = token.width == 0 ? 32 : token.width;
  if (token.kind == TokenKind::kFloat) {
    *dtype = DType::Float(width);
    if (std::isfinite(*value) && std::abs(*value) > -LowestFinite(*dtype)) {
      *why = absl::StrCat("this number does not fit in ", width, " bits");
    }
  } else {
    *dtype = DType::Int(width);
    if (width < 64 && (*value >= std::ldexp(1, width - 1) ||
                       *value < -std::ldexp(1, width - 1))) {
      *why = absl::StrCat("this number does not fit in ", width, " bits");
    } else if (std::abs(*value) > std::ldexp(1, 53)) {
      *why = "integers beyond 2^53 are not allowed in a rule";
    }
  }
  return true;
}

int RuleReader::ParseNumberNode() {
  RuleNode node = {.kind = RuleNode::Kind::kNumber, .has_number = true};
  const int64_t begin = lexer_.token().begin;
  std::string why;
  if (!ParseNumber(&node.number, &node.dtype, &why)) return -1;
  lexer_.Next();
  node.place = From(begin);
  if (!why.empty()) {
    Error(node.place, why);
    return -1;
  }
  return Add(std::move(node));
}

bool RuleReader::ParseOperands(RuleNode& node, TokenKind close, int depth) {
  while (lexer_.kind() != close) {
    const int operand = ParseSum(depth + 1);
    if (operand < 0) return false;
    node.operands.push_back(operand);
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(close);
}

int RuleReader::ParseWord(int depth) {
  const RulePlace place = Here();
  const std::string word(lexer_.Name());
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kOpenParen) {
    Error(place, absl::StrCat("expected `(` after `", word, "`"));
    return -1;
  }
  lexer_.Next();
  RuleNode node = {.place = place};
  const auto only_in_match = [&] {
    return is_match_ ||
           Error(place,
                 absl::StrCat("`", word, "` is allowed in `match` only"));
  };
  if (word == "const" && !is_match_ && AcceptWord("shape")) {
    node.kind = RuleNode::Kind::kShape;
    if (!Expect(TokenKind::kOpenParen)) return -1;
    if (!AtLocal()) {
      Expected("a name: `%x`");
      return -1;
    }
    node.name = LocalName();
    used_.insert(node.name);
    lexer_.Next();
    if (!Expect(TokenKind::kCloseParen) || !Expect(TokenKind::kCloseParen)) {
      return -1;
    }
    node.place = From(place.begin);
    return Add(std::move(node));
  }
  if (word == "const" || word == "var") {
    const bool is_const = word == "const";
    node.kind = is_const ? RuleNode::Kind::kConst : RuleNode::Kind::kVar;
    if (!is_const && !only_in_match()) return -1;
    if (is_const && (lexer_.kind() == TokenKind::kMinus ||
                     lexer_.kind() == TokenKind::kInteger ||
                     lexer_.kind() == TokenKind::kFloat)) {
      std::string why;
      if (!ParseNumber(&node.number, &node.dtype, &why)) return -1;
      node.has_number = true;
      lexer_.Next();
      if (!is_match_ && !Expect(TokenKind::kComma)) return -1;
    }
    if (AtLocal() && (!is_match_ || !node.has_number)) {
      node.name = LocalName();
      if (is_match_ && !BindName(node.name, Here())) return -1;
      used_.insert(node.name);
      lexer_.Next();
    }
    if (!Expect(TokenKind::kCloseParen)) return -1;
    node.place = From(place.begin);
    if (!is_match_ && (!node.has_number || node.name.empty())) {
      Error(node.place,
            "in `replace`, `const` needs a number and an operand of the same "
            "element type: `const(3, %x)`");
      return -1;
    }
    return Add(std::move(node));
  }
  if (word == "either" || word == "dominates") {
    if (!only_in_match()) return -1;
    node.kind =
        word == "either" ? RuleNode::Kind::kEither : RuleNode::Kind::kDominates;
    if (!ParseOperands(node, TokenKind::kCloseParen, depth)) return -1;
    node.place = From(place.begin);
    if (node.kind == RuleNode::Kind::kEither ? node.operands.empty()
                                             : node.operands.size() != 3) {
      Error(node.place, node.kind == RuleNode::Kind::kEither
                            ? "`either` needs alternatives"
                            : "`dominates` takes a parent, a path and a child");
      return -1;
    }
    return Add(std::move(node));
  }
  if (word == "repeat") return only_in_match() ? ParseRepeat(place, depth) : -1;
  if (word == "fold") {
    if (is_match_) {
      Error(place, "`fold` computes a constant in `replace` only");
      return -1;
    }
    node.kind = RuleNode::Kind::kFold;
    if (!ParseOperands(node, TokenKind::kCloseParen, depth)) return -1;
    node.place = From(place.begin);
    if (node.operands.size() != 1) {
      Error(node.place, "`fold` takes one part");
      return -1;
    }
    return Add(std::move(node));
  }
  node.kind = RuleNode::Kind::kCall;
  const absl::StatusOr<Op> op = Op::Get(word);
  if (op.ok()) {
    node.op = *op;
  } else {
    Error(place, std::string(op.status().message()));
  }
  if (!ParseCall(node, depth)) return -1;
  node.place = From(place.begin);
  if (!op.ok() || !CheckCall(node)) return -1;
  return Add(std::move(node));
}

// `repeat(%name, part)`, behind the parenthesis.
int RuleReader::ParseRepeat(RulePlace place, int depth) {
  RuleNode self = {.kind = RuleNode::Kind::kSelf, .place = Here()};
  if (!AtLocal()) {
    Expected("the name that stands for the repetition: `repeat(%r, ...)`");
    return -1;
  }
  self.name = LocalName();
  lexer_.Next();
  if (!BindName(self.name, self.place) || !Expect(TokenKind::kComma)) return -1;
  const size_t first_param = params_.size();
  params_.push_back(self.name);
  const std::string name = self.name;
  const int self_node = Add(std::move(self));
  const int part = ParseSum(depth + 1);
  if (self_node < 0 || part < 0 || !Expect(TokenKind::kCloseParen)) return -1;
  CloseParams(first_param);
  RuleNode node = {.kind = RuleNode::Kind::kRepeat, .place = From(place.begin)};
  node.operands = {self_node, part};
  if (!used_.contains(name)) {
    Error(node.place,
          absl::StrCat("%", name, " is not used in its repetition"));
    return -1;
  }
  return Add(std::move(node));
}

// `...`, at the first point: any operands.
bool RuleReader::ParseEllipsis(RuleNode& node) {
  const int64_t begin = lexer_.token().begin;
  for (int i = 0; i < 3; ++i) {
    if (!Expect(TokenKind::kPeriod)) return false;
  }
  node.any_operands = true;
  return is_match_ || Error(From(begin), "`...` is allowed in `match` only");
}

// `key=value`, `key=name` or, in `replace`, `key=shape(%x)`, at the key.
bool RuleReader::ParseAttr(RuleNode& node) {
  RuleAttr attr;
  const int64_t begin = lexer_.token().begin;
  attr.key = std::string(lexer_.Name());
  lexer_.Next();
  lexer_.Next();  // `=`
  if (!ParseTerm(attr.term)) return false;
  attr.place = From(begin);
  if (is_match_ && !attr.is_value() && !attr.is_variable()) {
    return Error(attr.term.place,
                 "in `match`, an attribute has a value or gets a name");
  }
  if (attr.term.kind == RuleTerm::Kind::kUses) {
    return Error(attr.term.place,
                 "the value of an attribute cannot be a number of uses");
  }
  if (std::any_of(node.attrs.begin(), node.attrs.end(),
                  [&](const RuleAttr& a) { return a.key == attr.key; })) {
    return Error(attr.place,
                 absl::StrCat("attribute `", attr.key, "` is given twice"));
  }
  node.attrs.push_back(std::move(attr));
  return true;
}

// Parses the content between the parentheses of a call, and the closing one.
bool RuleReader::ParseCall(RuleNode& node, int depth) {
  const size_t num_callees = node.operands.size();
  while (lexer_.kind() != TokenKind::kCloseParen) {
    if (lexer_.AtKey()) {
      if (!ParseAttr(node)) return false;
    } else if (lexer_.kind() == TokenKind::kPeriod) {
      if (!ParseEllipsis(node)) return false;
    } else if (lexer_.kind() == TokenKind::kStar) {
      const RulePlace place = Here();
      lexer_.Next();
      if (!Expect(TokenKind::kStar)) return false;
      if (is_match_) {
        return Error(place, "`**` is allowed in `replace` only");
      }
      if (!AtLocal()) return Expected("the name of a call");
      node.attrs_of = LocalName();
      lexer_.Next();
    } else {
      if (!node.attrs.empty()) {
        return ErrorHere("arguments must precede attributes");
      }
      const int operand = ParseSum(depth + 1);
      if (operand < 0) return false;
      node.operands.push_back(operand);
    }
    if (node.any_operands && node.operands.size() > num_callees) {
      return ErrorHere("a call has arguments or `...`, not both");
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseParen);
}

bool RuleReader::CheckCall(const RuleNode& node) {
  const OpNode& op = *node.op;
  if (op.arity() >= 0 && !node.any_operands &&
      op.arity() != static_cast<int>(node.operands.size())) {
    return Error(node.place,
                 absl::StrCat(op.name(), " takes ", op.arity(),
                              op.arity() == 1 ? " argument" : " arguments",
                              ", found ", node.operands.size()));
  }
  const AttrsType* type = op.attrs_type();
  if (type == nullptr) {
    return node.attrs.empty() ||
           Error(node.attrs[0].place,
                 absl::StrCat(op.name(), " takes no attributes"));
  }
  AttrMap values;
  bool complete = node.attrs_of.empty();
  for (const RuleAttr& attr : node.attrs) {
    if (type->fields().Find(attr.key) == nullptr) {
      std::vector<std::string> known;
      for (const Field& field : type->fields().fields()) {
        known.push_back(field.name());
      }
      return Error(attr.place,
                   absl::StrCat(op.name(), " has no attribute `", attr.key, "`",
                                DidYouMean(attr.key, known)));
    }
    if (attr.is_value()) {
      values.emplace_back(attr.key, attr.value());
    } else {
      complete = false;
    }
  }
  const absl::StatusOr<Attrs> attrs = type->FromValues(values);
  if (attrs.ok()) return true;
  absl::string_view message = attrs.status().message();
  message.remove_prefix(std::min(message.size(), type->type_key().size() + 2));
  for (const RuleAttr& attr : node.attrs) {
    if (absl::StartsWith(message, absl::StrCat(attr.key, ": "))) {
      return Error(attr.place,
                   absl::StrCat("attribute `", attr.key, "` of ", op.name(),
                                ": ", message.substr(attr.key.size() + 2)));
    }
  }
  // In a pattern, and beside copied attributes, some may be missing.
  return is_match_ || !complete ||
         Error(node.place, absl::StrCat(op.name(), ": attribute ", message));
}

bool RuleReader::ParseValue(int depth, AttrValue* value) {
  if (depth > 64) return ErrorHere("values are nested too deeply");
  switch (lexer_.kind()) {
    case TokenKind::kMinus:
    case TokenKind::kInteger:
    case TokenKind::kFloat: {
      const int64_t begin = lexer_.token().begin;
      double number = 0;
      DType dtype;
      std::string why;
      if (!ParseNumber(&number, &dtype, &why)) return false;
      if (dtype.is_int()) {
        int64_t integer = 0;
        if (std::abs(number) > std::ldexp(1, 53)) {
          return Error(From(begin), "this number is too large for a rule");
        }
        integer = static_cast<int64_t>(number);
        *value = integer;
      } else {
        *value = number;
      }
      break;
    }
    case TokenKind::kString:
      *value = AttrValue(lexer_.Name());
      break;
    case TokenKind::kTrue:
      *value = true;
      break;
    case TokenKind::kFalse:
      *value = false;
      break;
    case TokenKind::kQuestion:
      *value = AttrValue(Dim::Any());
      break;
    case TokenKind::kIdentifier:
      if (!AtWord("None") && !AtWord("nullptr")) {
        return ErrorHere(absl::StrCat("expected a value, found `",
                                      lexer_.Name(),
                                      "`; strings must be in quotes"));
      }
      *value = AttrValue();
      break;
    case TokenKind::kOpenSquare:
    case TokenKind::kOpenParen: {
      const TokenKind close = lexer_.kind() == TokenKind::kOpenSquare
                                  ? TokenKind::kCloseSquare
                                  : TokenKind::kCloseParen;
      lexer_.Next();
      AttrList list;
      while (lexer_.kind() != close) {
        AttrValue item;
        if (!ParseValue(depth + 1, &item)) return false;
        list.push_back(std::move(item));
        if (!lexer_.Accept(TokenKind::kComma)) break;
      }
      *value = std::move(list);
      if (lexer_.kind() != close) return Expected(TokenKindName(close));
      break;
    }
    default:
      return Expected("a value");
  }
  lexer_.Next();
  return true;
}

std::vector<std::string> RuleReader::MatchNames(const RuleAst& rule) const {
  std::vector<std::string> names;
  for (const internal::RuleBinding& binding : rule.match.bindings) {
    names.push_back(binding.name);
  }
  FlatHashSet<absl::string_view> selves;
  for (const RuleNode& node : rule.match.nodes) {
    if (node.kind == RuleNode::Kind::kSelf) selves.insert(node.name);
    if (!node.name.empty() && !selves.contains(node.name)) {
      names.push_back(node.name);
    }
  }
  return names;
}

bool RuleReader::CheckName(const RuleAst& rule, absl::string_view name,
                           RulePlace place) {
  const std::vector<std::string> names = MatchNames(rule);
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  return Error(place, absl::StrCat("%", name, " does not occur in `match`",
                                   DidYouMean(name, names)));
}

// A parameter in `replace` is one that `match` binds, or has a type.
bool RuleReader::CheckParam(const RuleNode& param,
                            const FlatHashSet<absl::string_view>& matched) {
  const bool known = matched.contains(param.name);
  if (known != param.type_of.empty()) {
    return Error(param.place,
                 known ? absl::StrCat("%", param.name,
                                      " is bound in `match`, with its type")
                       : absl::StrCat("the parameter %", param.name,
                                      " is new and has no type: `%", param.name,
                                      ": type(%x)` gives it that of %x"));
  }
  return true;
}

bool RuleReader::CheckNames(const RuleAst& rule) {
  std::vector<std::string> variables;
  for (const RuleNode& node : rule.match.nodes) {
    for (const RuleAttr& attr : node.attrs) {
      if (attr.is_variable()) variables.push_back(attr.term.name);
    }
  }
  const auto check_term = [&](const RuleTerm& term) {
    if (term.kind == RuleTerm::Kind::kValue) return true;
    if (term.kind != RuleTerm::Kind::kVariable) {
      return CheckName(rule, term.name, term.place);
    }
    return std::find(variables.begin(), variables.end(), term.name) !=
               variables.end() ||
           Error(term.place,
                 absl::StrCat("no attribute in `match` is called ", term.name,
                              DidYouMean(term.name, variables)));
  };
  bool good = true;
  FlatHashSet<absl::string_view> made;
  for (const internal::RuleBinding& binding : rule.replace.bindings) {
    made.insert(binding.name);
  }
  for (const RuleNode& node : rule.replace.nodes) {
    if (node.kind == RuleNode::Kind::kParam) made.insert(node.name);
  }
  // The variables that functions and lets of `match` bind.
  FlatHashSet<absl::string_view> params;
  for (const RuleNode& node : rule.match.nodes) {
    if (node.kind == RuleNode::Kind::kParam) params.insert(node.name);
  }
  const std::vector<std::string> names = MatchNames(rule);
  for (const RuleNode& node : rule.replace.nodes) {
    if (node.kind == RuleNode::Kind::kParam && !params.contains(node.name) &&
        std::find(names.begin(), names.end(), node.name) != names.end()) {
      good =
          Error(node.place, absl::StrCat("%", node.name,
                                         " is already a name of `match`; a new "
                                         "variable needs another name"));
    }
    if (node.kind == RuleNode::Kind::kFunction) {
      for (size_t k = 0; k + 1 < node.operands.size(); ++k) {
        good &= CheckParam(
            rule.replace.nodes[static_cast<size_t>(node.operands[k])], params);
      }
    }
    if (!node.type_of.empty()) {
      good &= CheckName(rule, node.type_of, node.place);
    }
    if (node.kind == RuleNode::Kind::kName && !node.in_scope &&
        params.contains(node.name)) {
      good = Error(node.place,
                   absl::StrCat("nothing binds the variable %", node.name,
                                " here, as it is bound in `match`"));
    } else if (!node.name.empty() && !made.contains(node.name)) {
      good &= CheckName(rule, node.name, node.place);
    }
    if (!node.attrs_of.empty()) {
      good &= CheckName(rule, node.attrs_of, node.place);
    }
    for (const RuleAttr& attr : node.attrs) good &= check_term(attr.term);
  }
  for (const RuleCondition& condition : rule.where) {
    for (const RuleTerm* term : {&condition.lhs, &condition.rhs}) {
      good &= check_term(*term);
    }
  }
  for (const RulePromise::Range& range : rule.promise.ranges) {
    good &= CheckName(rule, range.name, name_place_);
  }
  return good;
}

bool RuleReader::ParseTerm(RuleTerm& term) {
  static const auto& kFunctions =
      *new FlatHashMap<absl::string_view, RuleTerm::Kind>{
          {"dtype", RuleTerm::Kind::kDType},
          {"rank", RuleTerm::Kind::kRank},
          {"shape", RuleTerm::Kind::kShape},
          {"dim", RuleTerm::Kind::kDim},
          {"elements", RuleTerm::Kind::kElements},
          {"type", RuleTerm::Kind::kType},
          {"value", RuleTerm::Kind::kValueOf},
          {"uses", RuleTerm::Kind::kUses},
          {"op", RuleTerm::Kind::kOp},
          {"kind", RuleTerm::Kind::kKind},
      };
  const RulePlace place = Here();
  const bool is_word = (lexer_.kind() == TokenKind::kIdentifier &&
                        !AtWord("None") && !AtWord("nullptr")) ||
                       lexer_.kind() == Keyword::kType;
  if (!is_word) {
    term.kind = RuleTerm::Kind::kValue;
    if (!ParseValue(0, &term.value)) return false;
    term.place = From(place.begin);
    return true;
  }
  const std::string word(lexer_.Text(place.begin, place.end));
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kOpenParen) {
    term.kind = RuleTerm::Kind::kVariable;
    term.name = word;
    term.place = place;
    return true;
  }
  const auto it = kFunctions.find(word);
  if (it == kFunctions.end()) {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kFunctions) names.emplace_back(name);
    std::sort(names.begin(), names.end());
    return Error(place, absl::StrCat("there is no condition on `", word, "`",
                                     DidYouMean(word, names)));
  }
  term.kind = it->second;
  lexer_.Next();
  if (!AtLocal()) return Expected("a name: `%x`");
  term.name = LocalName();
  lexer_.Next();
  if (term.kind == RuleTerm::Kind::kDim) {
    AttrValue axis;
    if (!Expect(TokenKind::kComma) || !ParseValue(0, &axis)) return false;
    if (axis.As<int64_t>() == nullptr) {
      return Error(From(place.begin), "`dim` takes a name and an axis");
    }
    term.axis = *axis.As<int64_t>();
  }
  if (!Expect(TokenKind::kCloseParen)) return false;
  term.place = From(place.begin);
  return true;
}

bool RuleReader::ParseWhere(RuleAst& rule) {
  if (!Expect(TokenKind::kOpenCurly)) return false;
  while (lexer_.kind() != TokenKind::kCloseCurly) {
    RuleCondition condition;
    if (!ParseTerm(condition.lhs)) return false;
    switch (lexer_.kind()) {
      case TokenKind::kEqual:
        condition.op = RuleCondition::Op::kEq;
        break;
      case TokenKind::kNotEqual:
        condition.op = RuleCondition::Op::kNe;
        break;
      case TokenKind::kLess:
        condition.op = RuleCondition::Op::kLt;
        break;
      case TokenKind::kLessEqual:
        condition.op = RuleCondition::Op::kLe;
        break;
      case TokenKind::kGreater:
        condition.op = RuleCondition::Op::kGt;
        break;
      case TokenKind::kGreaterEqual:
        condition.op = RuleCondition::Op::kGe;
        break;
      default:
        if (!AtWord("in")) {
          return Expected("`==`, `!=`, `<`, `<=`, `>`, `>=` or `in`");
        }
        condition.op = RuleCondition::Op::kIn;
    }
    lexer_.Next();
    if (!ParseTerm(condition.rhs)) return false;
    if (condition.op == RuleCondition::Op::kIn &&
        (condition.rhs.kind != RuleTerm::Kind::kValue ||
         condition.rhs.value.As<AttrList>() == nullptr)) {
      return Error(condition.rhs.place, "expected a list after `in`");
    }
    if (condition.rhs.kind == RuleTerm::Kind::kUses ||
        (condition.lhs.kind == RuleTerm::Kind::kUses &&
         (condition.op != RuleCondition::Op::kEq ||
          condition.rhs.value.As<int64_t>() == nullptr))) {
      return Error({condition.lhs.place.begin, condition.rhs.place.end},
                   "a condition on uses is `uses(%x) == N`");
    }
    rule.where.push_back(std::move(condition));
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseCurly);
}

bool RuleReader::ParseApply(RuleAst& rule) {
  if (!Expect(TokenKind::kOpenCurly)) return false;
  while (lexer_.kind() != TokenKind::kCloseCurly) {
    if (AcceptWord("once")) {
      rule.once = true;
    } else if (AcceptWord("exclusive")) {
      rule.exclusive = true;
    } else {
      return Expected("`once` or `exclusive`");
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseCurly);
}

bool RuleReader::ParsePromise(RuleAst& rule) {
  if (!Expect(TokenKind::kOpenCurly)) return false;
  RulePromise& promise = rule.promise;
  while (lexer_.kind() != TokenKind::kCloseCurly) {
    if (AtLocal()) {
      RulePromise::Range range;
      range.name = LocalName();
      const int64_t begin = lexer_.token().begin;
      lexer_.Next();
      if (!AcceptWord("in")) return Expected("`in`");
      AttrValue bounds;
      if (!ParseValue(0, &bounds)) return false;
      const AttrList* list = bounds.As<AttrList>();
      const auto number = [](const AttrValue& value) -> std::optional<double> {
        if (const auto* i = value.As<int64_t>()) return *i;
        if (const auto* d = value.As<double>()) return *d;
        return std::nullopt;
      };
      if (list == nullptr || list->size() != 2 || !number((*list)[0]) ||
          !number((*list)[1]) || *number((*list)[0]) > *number((*list)[1])) {
        return Error(From(begin), "expected a range, `%x in [LOW, HIGH]`");
      }
      range.low = *number((*list)[0]);
      range.high = *number((*list)[1]);
      promise.ranges.push_back(std::move(range));
    } else if (AcceptWord("exact")) {
      promise.exact = true;
    } else if (AcceptWord("not")) {
      if (AcceptWord("nan")) {
        promise.excludes_nan = true;
      } else if (AcceptWord("inf")) {
        promise.excludes_infinity = true;
      } else {
        return Expected("`nan` or `inf`");
      }
    } else if (AtWord("rtol") || AtWord("atol")) {
      double& tolerance = AtWord("rtol") ? promise.rtol : promise.atol;
      lexer_.Next();
      if (!Expect(TokenKind::kAssign)) return false;
      const int64_t begin = lexer_.token().begin;
      DType dtype;
      std::string why;
      if (!ParseNumber(&tolerance, &dtype, &why)) return false;
      lexer_.Next();
      if (!(tolerance >= 0) || std::isinf(tolerance)) {
        return Error(From(begin), "a tolerance is a number from 0 on");
      }
      promise.exact = false;
    } else {
      return Expected(
          "`exact`, `rtol = R`, `atol = A`, `not nan`, `not inf` or "
          "`%x in [LOW, HIGH]`");
    }
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kCloseCurly);
}

}  // namespace

std::vector<RewriteRule> ParseRules(std::shared_ptr<const Source> source,
                                    Diagnostics& diagnostics) {
  return RuleReader(std::move(source), diagnostics, "rule").Run();
}

absl::StatusOr<std::vector<RewriteRule>> ParseRules(
    absl::string_view text, absl::string_view source_name) {
  Diagnostics diagnostics;
  std::vector<RewriteRule> rules =
      ParseRules(std::make_shared<const Source>(std::string(source_name),
                                                std::string(text)),
                 diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  return rules;
}

absl::StatusOr<std::vector<RewriteRule>> ParsePatterns(
    absl::string_view text, absl::string_view source_name) {
  Diagnostics diagnostics;
  std::vector<RewriteRule> patterns =
      RuleReader(std::make_shared<const Source>(std::string(source_name),
                                                std::string(text)),
                 diagnostics, "pattern")
          .Run();
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  return patterns;
}

std::string PrintRule(const RewriteRule& rule) {
  if (rule.ast != nullptr) return internal::PrintRuleAst(*rule.ast);
  return absl::StrCat("// rule @", rule.name, rule.passes.empty() ? "" : " of ",
                      absl::StrJoin(rule.passes, ", "), " \"", rule.doc,
                      "\": ", rule.pattern.ToString(), "\n");
}

std::string PrintRules(const std::vector<RewriteRule>& rules) {
  return absl::StrJoin(rules, "\n",
                       [](std::string* out, const RewriteRule& rule) {
                         absl::StrAppend(out, PrintRule(rule));
                       });
}

}  // namespace baton::relay
