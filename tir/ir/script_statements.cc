// Statements and functions of scripts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/ir/attrs.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_parser.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// No target of a loop has a star.
constexpr size_t kNoStar = std::numeric_limits<size_t>::max();

bool IsAugmented(uint32_t sign) {
  return sign == Sign("+=") || sign == Sign("-=") || sign == Sign("*=") ||
         sign == Sign("/=") || sign == Sign("%=") || sign == Sign("//=");
}

// `+` of `+=`.
uint32_t OperatorOf(uint32_t augmented) {
  return augmented == Sign("//=") ? Sign("//") : augmented & 0xff;
}

bool ContainsRealize(const Stmt& root) {
  // Statements of a body that was just read: a tree.
  std::vector<Stmt> stack = {root};
  while (!stack.empty()) {
    const Stmt stmt = std::move(stack.back());
    stack.pop_back();
    if (!stmt.defined()) continue;
    if (stmt.Is<BlockRealizeNode>()) return true;
    if (const auto* seq = stmt.As<SeqStmtNode>()) {
      stack.insert(stack.end(), seq->seq().begin(), seq->seq().end());
    } else if (const auto* branch = stmt.As<IfThenElseNode>()) {
      stack.push_back(branch->then_case());
      stack.push_back(branch->else_case());
    } else if (const auto* loop = stmt.As<ForNode>()) {
      stack.push_back(loop->body());
    } else if (const auto* loop = stmt.As<WhileNode>()) {
      stack.push_back(loop->body());
    } else if (const auto* let = stmt.As<LetStmtNode>()) {
      stack.push_back(let->body());
    } else if (const auto* attr = stmt.As<AttrStmtNode>()) {
      stack.push_back(attr->body());
    } else if (const auto* check = stmt.As<AssertStmtNode>()) {
      stack.push_back(check->body());
    } else if (const auto* allocate = stmt.As<AllocateNode>()) {
      stack.push_back(allocate->body());
    } else if (const auto* allocate = stmt.As<AllocateConstNode>()) {
      stack.push_back(allocate->body());
    } else if (const auto* decl = stmt.As<DeclBufferNode>()) {
      stack.push_back(decl->body());
    } else if (const auto* realize = stmt.As<BufferRealizeNode>()) {
      stack.push_back(realize->body());
    } else if (const auto* block = stmt.As<BlockNode>()) {
      stack.push_back(block->body());
      stack.push_back(block->init());
    }
  }
  return false;
}

}  // namespace

// ---------------------------------------------------------------------------
// Tokens and names.

bool ScriptParser::Fail(int64_t begin, int64_t end, std::string message) {
  good_ = false;
  context_.Error(begin, std::max(begin, end), std::move(message));
  return false;
}

std::string ScriptParser::Found() const {
  switch (token().kind) {
    case Tok::kEnd:
      return "the end of the definition";
    case Tok::kNewline:
      return "the end of the line";
    case Tok::kIndent:
      return "an indented line";
    case Tok::kDedent:
      return "the end of the indented lines";
    default:
      return absl::StrCat("`", TextOf(token()), "`");
  }
}

bool ScriptParser::Expect(const char* sign) {
  if (AtSign(sign)) {
    last_end_ = token().end;
    Next();
    return true;
  }
  if (token().kind == Tok::kBad)
    return FailHere(lexer_.MessageOf(token().begin));
  return FailHere(absl::StrCat("expected `", sign, "`, found ", Found()));
}

void ScriptParser::DefineName(absl::string_view name, Value value) {
  const auto [place, is_new] = names_.try_emplace(std::string(name));
  undo_.push_back({std::string(name), !is_new,
                   is_new ? Value() : std::move(place->second)});
  place->second = std::move(value);
}

void ScriptParser::RestoreNames(size_t size) {
  while (undo_.size() > size) {
    Undo& undo = undo_.back();
    if (undo.was_defined) {
      names_[undo.name] = std::move(undo.value);
    } else {
      names_.erase(undo.name);
    }
    undo_.pop_back();
  }
}

ScriptParser::Value ScriptParser::Lookup(const Token& t) {
  const absl::string_view name = TextOf(t);
  Value value;
  value.begin = t.begin;
  value.end = t.end;
  const auto found = names_.find(name);
  if (found != names_.end()) {
    value = found->second;
    value.begin = t.begin;
    value.end = t.end;
    if (value.Is(Value::kPoison)) good_ = false;
    return value;
  }
  if (name == "T" || name == "I" || name == "range" ||
      (!module_name_.empty() && name == module_name_)) {
    value.kind = Value::kName;
    value.text = std::string(name);
    return value;
  }
  // In a class the functions are named after the module.
  const bool is_call = TokenAt(next_ + 1).kind == Tok::kSign &&
                       TokenAt(next_ + 1).sign == Sign("(");
  if (functions_.contains(std::string(name)) ||
      (module_name_.empty() && is_call)) {
    value.kind = Value::kGlobal;
    value.text = std::string(name);
    return value;
  }
  std::vector<std::string> known;
  for (const auto& [other, unused] : names_) known.push_back(other);
  std::sort(known.begin(), known.end());
  Fail(t.begin, t.end,
       absl::StrCat("`", name, "` is not defined here",
                    DidYouMean(name, known)));
  value.kind = Value::kPoison;
  return value;
}

bool ScriptParser::Expects(absl::string_view what) {
  if (token().kind == Tok::kBad) {
    return FailHere(lexer_.MessageOf(token().begin));
  }
  return FailHere(absl::StrCat("expected ", what, ", found ", Found()));
}

void ScriptParser::SkipLine() {
  while (token().kind != Tok::kNewline && token().kind != Tok::kEnd) Next();
  if (token().kind == Tok::kNewline) Next();
}

// Skips lines that are indented more.
void ScriptParser::SkipBody() {
  if (token().kind != Tok::kIndent) return;
  int depth = 0;
  do {
    if (token().kind == Tok::kIndent) ++depth;
    if (token().kind == Tok::kDedent) --depth;
    Next();
  } while (depth > 0 && token().kind != Tok::kEnd);
}

// ---------------------------------------------------------------------------
// Scopes.

ScriptParser::Scope& ScriptParser::Open(Scope::Kind kind, bool concise,
                                        int64_t begin) {
  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  scope.kind = kind;
  scope.concise = concise;
  scope.names = undo_.size();
  scope.begin = begin;
  scope.header_end = last_end_;
  return scope;
}

void ScriptParser::CloseTop() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (!scope.concise) RestoreNames(scope.names);
  Stmt body = MakeSeq(std::move(scope.stmts));
  const Span span = context_.SpanOf(scope.begin, scope.header_end);
  switch (scope.kind) {
    case Scope::kFunction:
      return;
    case Scope::kBody:
      Append(scope.make(std::move(body), span));
      return;
    case Scope::kThen:
      Append(IfThenElse(std::move(scope.condition), std::move(body), {}, span));
      return;
    case Scope::kElse:
      Append(IfThenElse(std::move(scope.condition), std::move(scope.then_case),
                        std::move(body), span));
      return;
    case Scope::kInit: {
      Scope* block = InnerBlock();
      if (block != nullptr) block->block.init = std::move(body);
      return;
    }
    case Scope::kBlock: {
      BlockNode::Parts parts = std::move(scope.block);
      parts.body = std::move(body);
      if (!scope.has_reads || !scope.has_writes) MarkIncomplete(scope, parts);
      Block block(std::move(parts), span);
      if (scope.no_realize) {
        Append(std::move(block));
      } else {
        Append(BlockRealize(std::move(scope.iter_values),
                            scope.predicate.defined()
                                ? std::move(scope.predicate)
                                : PrimExpr(IntImm::Bool(true)),
                            std::move(block), span));
      }
      return;
    }
  }
}

// Regions that are not written are found when the function is complete.
void ScriptParser::MarkIncomplete(const Scope& scope, BlockNode::Parts& parts) {
  is_incomplete_ = true;
  const int64_t mask = (scope.has_reads ? 0 : kDetectReads) +
                       (scope.has_writes ? 0 : kDetectWrites);
  std::vector<Dict::Entry> entries;
  if (const DictNode* dict = parts.annotations.get(); dict != nullptr) {
    for (size_t i = 0; i < dict->keys().size(); ++i) {
      entries.emplace_back(dict->keys()[i], dict->values()[i]);
    }
  }
  entries.emplace_back(std::string(kDetectAccess),
                       IntImm(DType::Int(64), mask));
  parts.annotations = Dict::Of(std::move(entries));
}

ScriptParser::Scope* ScriptParser::InnerBlock() {
  for (size_t i = scopes_.size(); i-- > 0;) {
    if (scopes_[i].kind == Scope::kBlock) return &scopes_[i];
    if (!scopes_[i].concise) return nullptr;
  }
  return nullptr;
}

// At the end of indented lines.
void ScriptParser::CloseBody() {
  while (scopes_.back().concise) CloseTop();
  Scope& scope = scopes_.back();
  if (scope.kind == Scope::kFunction) return;
  if (scope.kind == Scope::kThen && (AtName("else") || AtName("elif"))) {
    const bool is_elif = AtName("elif");
    const int64_t begin = token().begin;
    RestoreNames(scope.names);
    scope.then_case = MakeSeq(std::move(scope.stmts));
    scope.stmts.clear();
    scope.kind = Scope::kElse;
    scope.chained = is_elif;
    Next();
    if (!is_elif) {
      if (!Expect(":") || token().kind != Tok::kNewline) {
        if (good_) Expects("the end of the line");
        SkipLine();
      } else {
        Next();
      }
      if (token().kind != Tok::kIndent) {
        Expects("an indented line");
        CloseTop();
        return;
      }
      Next();
      return;
    }
    Value condition;
    PrimExpr e;
    if (!ParseExpr(&condition) || !ToTest(condition, &e) || !Expect(":") ||
        token().kind != Tok::kNewline) {
      SkipLine();
      e = IntImm::Bool(true);
    } else {
      Next();
    }
    Scope& then = Open(Scope::kThen, false, begin);
    then.condition = std::move(e);
    if (token().kind != Tok::kIndent) {
      Expects("an indented line");
      CloseTop();
      while (scopes_.back().kind == Scope::kElse && scopes_.back().chained) {
        CloseTop();
      }
      return;
    }
    Next();
    return;
  }
  CloseTop();
  // `elif` ends with the branch in it.
  while (scopes_.back().kind == Scope::kElse && scopes_.back().chained) {
    CloseTop();
  }
}

// ---------------------------------------------------------------------------
// Definitions.

void ScriptParser::ParseDefinition() {
  const size_t names = undo_.size();
  // Past decorators to the word that says what is defined.
  size_t i = next_;
  while (TokenAt(i).kind != Tok::kEnd &&
         !(TokenAt(i).kind == Tok::kName &&
           (i == next_ || TokenAt(i - 1).kind == Tok::kNewline))) {
    ++i;
  }
  if (TokenAt(i).kind == Tok::kName && TextOf(TokenAt(i)) == "class") {
    ParseClass();
  } else {
    ParseFunction();
  }
  if (good_ && token().kind != Tok::kEnd) Expects("the end of the definition");
  RestoreNames(names);
}

bool ScriptParser::ParseDecorators(bool* is_private) {
  *is_private = false;
  while (Accept("@")) {
    // `T.prim_func`, `I.ir_module`, with or without arguments.
    const Token begin = token();
    Value value;
    while (token().kind == Tok::kName || AtSign(".")) Next();
    const absl::string_view name =
        text_.substr(static_cast<size_t>(begin.begin),
                     static_cast<size_t>(TokenAt(next_ - 1).end - begin.begin));
    if (name != "T.prim_func" && name != "I.ir_module" &&
        name != "tvm.script.ir_module") {
      return Fail(begin.begin, TokenAt(next_ - 1).end,
                  "known decorators are @T.prim_func and @I.ir_module");
    }
    if (Accept("(")) {
      while (token().kind == Tok::kName) {
        const Token key = token();
        Next();
        if (!Expect("=")) return false;
        const bool is_true = AtName("True");
        if (!is_true && !AtName("False")) return Expects("True or False");
        if (TextOf(key) == "private") {
          *is_private = is_true;
        } else if (TextOf(key) != "check_well_formed") {
          return Fail(key.begin, key.end,
                      "expected `private` or `check_well_formed`");
        }
        Next();
        if (!Accept(",")) break;
      }
      if (!Expect(")")) return false;
    }
    if (token().kind != Tok::kNewline) return Expects("the end of the line");
    Next();
  }
  return true;
}

void ScriptParser::ParseClass() {
  bool is_private = false;
  if (!ParseDecorators(&is_private)) return;
  Next();  // `class`
  if (token().kind != Tok::kName) {
    Expects("the name of a class");
    return;
  }
  module_name_ = std::string(TextOf(token()));
  Next();
  if (!Expect(":")) return;
  if (token().kind != Tok::kNewline) {
    Expects("the end of the line");
    return;
  }
  Next();
  if (token().kind != Tok::kIndent) {
    Expects("an indented line");
    return;
  }
  // The functions of the class, with their results.
  int depth = 0;
  for (size_t i = next_; TokenAt(i).kind != Tok::kEnd; ++i) {
    if (TokenAt(i).kind == Tok::kIndent) ++depth;
    if (TokenAt(i).kind == Tok::kDedent) --depth;
    if (depth != 1 || TokenAt(i).kind != Tok::kName ||
        TextOf(TokenAt(i)) != "def" || TokenAt(i + 1).kind != Tok::kName) {
      continue;
    }
    DType result;
    for (size_t j = i;
         TokenAt(j).kind != Tok::kEnd && TokenAt(j).kind != Tok::kNewline;
         ++j) {
      if (TokenAt(j).kind == Tok::kSign && TokenAt(j).sign == Sign("->") &&
          TokenAt(j + 3).kind == Tok::kName) {
        const absl::StatusOr<DType> dtype =
            DType::Parse(TextOf(TokenAt(j + 3)));
        if (dtype.ok()) result = *dtype;
      }
    }
    functions_[std::string(TextOf(TokenAt(i + 1)))] = result;
  }
  Next();
  while (token().kind != Tok::kDedent && token().kind != Tok::kEnd) {
    if (context_.TooManyErrors()) return;
    // Nothing, a docstring, and what older printers left.
    if (AtName("pass") || AtName("__tvm_meta__") ||
        token().kind == Tok::kString) {
      SkipLine();
      continue;
    }
    if (AtName("I")) {
      FailHere("modules have no attributes: I.module_attrs is not read");
      SkipLine();
      continue;
    }
    if (!AtSign("@")) {
      Expects("@T.prim_func");
      SkipLine();
      SkipBody();
      continue;
    }
    good_ = true;
    ParseFunction();
  }
  if (token().kind == Tok::kDedent) Next();
}

void ScriptParser::ParseFunction() {
  function_ = {};
  has_attrs_ = false;
  is_incomplete_ = false;
  root_buffers_.clear();
  env_threads_.clear();
  scopes_.clear();
  const size_t names = undo_.size();
  const auto give_up = [&] {
    SkipLine();
    SkipBody();
    RestoreNames(names);
  };
  if (!ParseDecorators(&is_private_)) return give_up();
  const int64_t begin = token().begin;
  if (!AtName("def")) {
    Expects("`def`");
    return give_up();
  }
  Next();
  const Token name = token();
  if (name.kind != Tok::kName) {
    Expects("the name of a function");
    return give_up();
  }
  function_name_ = std::string(TextOf(name));
  Next();
  if (!Expect("(")) return give_up();
  FlatHashSet<std::string> param_names;
  while (!AtSign(")")) {
    if (!ParseParam(&param_names, &function_)) return give_up();
    if (!Accept(",")) break;
  }
  if (!Expect(")")) return give_up();
  if (Accept("->")) {
    Value type;
    if (!ParseExpr(&type)) return give_up();
    if (!type.Is(Value::kNone) && !ToDType(type, &function_.ret_type)) {
      return give_up();
    }
  }
  if (!Expect(":")) return give_up();
  if (token().kind != Tok::kNewline) {
    Expects("the end of the line");
    return give_up();
  }
  Next();
  if (token().kind != Tok::kIndent) {
    Expects("an indented line");
    return give_up();
  }
  Next();
  Open(Scope::kFunction, false, begin);
  scopes_.back().header_end = name.end;
  ParseBody();
  // Open scopes end with the definition.
  while (scopes_.size() > 1) CloseTop();
  Stmt body = MakeSeq(std::move(scopes_.back().stmts));
  scopes_.pop_back();
  RestoreNames(names);
  context_.Define(function_name_, name.begin, name.end,
                  good_ ? MakeFunction(std::move(body)) : PrimFunc(),
                  is_incomplete_);
}

PrimFunc ScriptParser::MakeFunction(Stmt body) {
  // The block around the body that scripts do not write.
  const auto* realize = body.As<BlockRealizeNode>();
  if (!root_buffers_.empty() ||
      (realize != nullptr && !realize->block()->iter_vars().empty()) ||
      (realize == nullptr && ContainsRealize(body))) {
    BlockNode::Parts root;
    root.name = "root";
    root.alloc_buffers = std::move(root_buffers_);
    root.body = std::move(body);
    body = BlockRealize({}, IntImm::Bool(true), Block(std::move(root)));
  }
  if (!is_private_ && function_.attrs.Find(kGlobalSymbol) == nullptr) {
    function_.attrs =
        function_.attrs.With(std::string(kGlobalSymbol), function_name_);
  }
  function_.body = std::move(body);
  std::stable_sort(function_.buffers.begin(), function_.buffers.end(),
                   [](const ParamBuffer& a, const ParamBuffer& b) {
                     return a.param < b.param;
                   });
  return PrimFunc(std::move(function_));
}

bool ScriptParser::ParseParam(FlatHashSet<std::string>* names,
                              PrimFuncNode::Parts* parts) {
  const Token name = token();
  if (name.kind != Tok::kName) return Expects("the name of a parameter");
  Next();
  if (!AtSign(":")) {
    return FailHere(
        "a parameter needs a type: T.handle, T.int32, T.Buffer(...)");
  }
  Next();
  Value type;
  if (!ParseExpr(&type)) return false;
  const std::string text(TextOf(name));
  if (!names->insert(text).second) {
    return Fail(name.begin, name.end, "another parameter has the same name");
  }
  if (type.Is(Value::kForm)) {
    if (type.text != "Buffer" && type.text != "buffer_decl") {
      return Fail(type,
                  "a parameter is a T.Buffer(...), a T.handle or a number");
    }
    Buffer buffer;
    bool has_data = false;
    if (!MakeBuffer(type, text, 0, &buffer, &has_data)) return false;
    parts->buffers.push_back(
        {static_cast<int64_t>(parts->params.size()), buffer});
    parts->params.emplace_back(text + "_handle", kHandle);
    DefineName(text, ExprValue(buffer, name.begin, name.end));
    return true;
  }
  const Span span = context_.SpanOf(name.begin, name.end);
  Var var;
  if (type.Is(Value::kNewVar)) {
    const auto* proto = type.node.As<VarNode>();
    var = Var(new VarNode(text, proto->dtype(), proto->is_size(),
                          proto->typed_pointer(), proto->element(),
                          proto->scope(), span));
  } else {
    DType dtype;
    if (!ToDType(type, &dtype)) return false;
    var = Var(text, dtype, span);
  }
  parts->params.push_back(var);
  DefineName(text, ExprValue(var, name.begin, name.end));
  return true;
}

// From the first indented line past the last one.
void ScriptParser::ParseBody() {
  while (!context_.TooManyErrors()) {
    if (token().kind == Tok::kEnd) return;
    if (token().kind == Tok::kDedent) {
      Next();
      while (scopes_.back().concise) CloseTop();
      if (scopes_.back().kind == Scope::kFunction) return;
      CloseBody();
      continue;
    }
    if (token().kind == Tok::kIndent) {
      FailHere("this line is indented, but no statement begins above it");
      SkipBody();
      continue;
    }
    const size_t start = next_;
    if (!ParseStmt()) {
      // Go on behind the statement and its body.
      good_ = false;
      next_ = start;
      SkipLine();
      SkipBody();
    }
  }
}

bool ScriptParser::ParseStmt() {
  const Token t = token();
  if (t.kind == Tok::kBad) return FailHere(lexer_.MessageOf(t.begin));
  if (t.kind == Tok::kName) {
    const absl::string_view word = TextOf(t);
    if (word == "for") {
      Next();
      return ParseFor(t.begin);
    }
    if (word == "with") {
      Next();
      return ParseWith(t.begin);
    }
    if (word == "if" || word == "while") {
      Next();
      Value value;
      PrimExpr condition;
      if (!ParseExpr(&value)) return false;
      const bool is_if = word == "if";
      if (!ToTest(value, &condition) || !Expect(":")) return false;
      if (token().kind != Tok::kNewline) return Expects("the end of the line");
      Next();
      if (token().kind != Tok::kIndent) return Expects("an indented line");
      Next();
      Scope& scope = Open(is_if ? Scope::kThen : Scope::kBody, false, t.begin);
      if (is_if) {
        scope.condition = std::move(condition);
      } else {
        scope.make = [condition](Stmt body, Span span) {
          return While(condition, std::move(body), std::move(span));
        };
      }
      return true;
    }
    if (word == "else" || word == "elif") {
      return FailHere("no `if` stands above this");
    }
    if (word == "return") {
      return FailHere("functions return nothing: write T.ret(...)");
    }
    if (word == "def" || word == "class" || word == "import" ||
        word == "from") {
      return FailHere(
          absl::StrCat("`", word, "` is not allowed in a function"));
    }
    if (word == "pass") {
      Next();
      if (token().kind != Tok::kNewline) return Expects("the end of the line");
      Next();
      return true;
    }
  }
  if (!ParseSimple(t.begin)) return false;
  if (token().kind == Tok::kBad)
    return FailHere(lexer_.MessageOf(token().begin));
  if (token().kind != Tok::kNewline) return Expects("the end of the line");
  Next();
  return true;
}

bool ScriptParser::SpreadTargets(const std::vector<Token>& names,
                                 size_t starred, size_t num_values,
                                 const Value& values,
                                 std::vector<NamedTarget>* targets) {
  if (names.size() == 1 && starred == kNoStar && num_values > 1) starred = 0;
  const size_t fixed = names.size() - (starred == kNoStar ? 0 : 1);
  if (starred == kNoStar ? num_values != fixed : num_values < fixed) {
    return Fail(values, absl::StrCat("T.", values.text, " has ", num_values,
                                     " values for ", names.size(), " names"));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name(TextOf(names[i]));
    if (i != starred) {
      targets->push_back({name, names[i], i});
      continue;
    }
    for (size_t k = 0; k < num_values - fixed; ++k) {
      targets->push_back({absl::StrCat(name, "_", k), names[i], i});
    }
  }
  return true;
}

void ScriptParser::DefineTargets(const std::vector<Token>& names,
                                 size_t starred,
                                 const std::vector<NamedTarget>& targets,
                                 const std::vector<Var>& vars) {
  if (names.size() == 1 && targets.size() > 1) starred = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    Values items;
    for (size_t k = 0; k < targets.size(); ++k) {
      if (targets[k].group != i) continue;
      items.push_back(ExprValue(vars[k], names[i].begin, names[i].end));
    }
    Value value;
    if (i != starred) {
      value = std::move(items[0]);
    } else if (!Compound(Value::kTuple, std::move(items), names[i].begin,
                         names[i].end, &value)) {
      continue;
    }
    DefineName(TextOf(names[i]), std::move(value));
  }
}

bool ScriptParser::ParseFor(int64_t begin) {
  std::vector<Token> targets;
  size_t starred = kNoStar;
  const bool in_brackets = Accept("(");
  while (token().kind == Tok::kName || AtSign("*")) {
    if (AtSign("*")) {
      if (starred != kNoStar) return FailHere("this is the second `*`");
      starred = targets.size();
      Next();
      if (token().kind != Tok::kName) return Expects("a loop variable");
    }
    targets.push_back(token());
    Next();
    if (!Accept(",")) break;
  }
  if (in_brackets && !Expect(")")) return false;
  if (targets.empty()) return Expects("a loop variable");
  if (!AtName("in")) return Expects("`in`");
  Next();
  Value form;
  if (!ParseExpr(&form)) return false;
  if (!form.Is(Value::kForm)) {
    return Fail(form,
                "expected range, T.serial, T.grid, T.parallel, T.vectorized, "
                "T.unroll or T.thread_binding");
  }
  if (!Expect(":")) return false;
  if (token().kind != Tok::kNewline) return Expects("the end of the line");
  Next();
  if (token().kind != Tok::kIndent) return Expects("an indented line");
  Next();

  std::vector<ForNode::Parts> loops;
  std::vector<NamedTarget> names;
  if (form.text == "grid") {
    std::vector<PrimExpr> extents;
    if (!ToExprs(form.items(), &extents) ||
        !SpreadTargets(targets, starred, extents.size(), form, &names)) {
      return false;
    }
    for (size_t i = 0; i < extents.size(); ++i) {
      const DType dtype = extents[i].dtype();
      if (!dtype.is_integral() || dtype.lanes() != 1) {
        return Fail(form.items()[i], "an extent is an integer");
      }
      const Token& at = names[i].token;
      loops.push_back(
          {Var(names[i].name, dtype, context_.SpanOf(at.begin, at.end)),
           IntImm(dtype, 0),
           extents[i],
           ForKind::kSerial,
           {},
           {},
           {}});
    }
  } else {
    ForNode::Parts loop;
    if (form.text == "parallel") {
      loop.kind = ForKind::kParallel;
    } else if (form.text == "vectorized") {
      loop.kind = ForKind::kVectorized;
    } else if (form.text == "unroll") {
      loop.kind = ForKind::kUnrolled;
    } else if (form.text == "thread_binding") {
      loop.kind = ForKind::kThreadBinding;
    } else if (form.text != "range" && form.text != "serial") {
      return Fail(form, absl::StrCat("T.", form.text, " is no loop"));
    }
    std::vector<const Value*> args;
    std::string thread;
    if (loop.kind == ForKind::kThreadBinding) {
      if (!Bind(form, {"start", "stop", "thread", "annotations"}, 1, &args)) {
        return false;
      }
      if (args[1] != nullptr && args[1]->Is(Value::kString) &&
          args[2] == nullptr) {
        std::swap(args[1], args[2]);
      }
      if (args[2] == nullptr) return Fail(form, "a thread is missing");
      if (!ToText(*args[2], &thread)) return false;
      args.erase(args.begin() + 2);
    } else if (!Bind(form, {"start", "stop", "annotations"}, 1, &args)) {
      return false;
    }
    if (targets.size() != 1 || starred != kNoStar) {
      return Fail(form, "this loop has one variable");
    }
    names.push_back({std::string(TextOf(targets[0])), targets[0], 0});
    PrimExpr first;
    if (!ToExpr(*args[0], &first)) return false;
    if (args[1] == nullptr) {
      loop.min = IntImm(first.dtype(), 0);
      loop.extent = first;
    } else {
      PrimExpr stop;
      if (!ToExpr(*args[1], &stop)) return false;
      if (!first.dtype().is_integral() || !stop.dtype().is_integral()) {
        return Fail(form, "a range has integers");
      }
      loop.min = first;
      loop.extent = ExtentBetween(first, stop);
    }
    if (!loop.extent.dtype().is_integral() ||
        loop.extent.dtype().lanes() != 1 || loop.min.dtype().lanes() != 1) {
      return Fail(form, "a range has integers");
    }
    const int bits =
        std::max(loop.min.dtype().bits(), loop.extent.dtype().bits());
    const DType dtype(loop.min.dtype().code(), bits);
    loop.min = CastTo(dtype, loop.min);
    loop.extent = CastTo(dtype, loop.extent);
    loop.loop_var = Var(std::string(TextOf(targets[0])), dtype,
                        context_.SpanOf(targets[0].begin, targets[0].end));
    if (loop.kind == ForKind::kThreadBinding) {
      loop.thread = IterVar({}, Var("iter", kInt32), IterVarType::kThreadIndex,
                            std::move(thread));
    }
    if (args[2] != nullptr && !ToDict(*args[2], &loop.annotations)) {
      return false;
    }
    loops.push_back(std::move(loop));
  }
  Scope& scope = Open(Scope::kBody, false, begin);
  std::vector<Var> vars;
  for (const ForNode::Parts& loop : loops) {
    *loop_ranges_.TryEmplace(loop.loop_var.get()).first = {loop.min,
                                                           loop.extent};
    vars.push_back(loop.loop_var);
  }
  DefineTargets(targets, starred, names, vars);
  scope.make = [loops](Stmt body, const Span& span) {
    for (size_t i = loops.size(); i-- > 0;) {
      ForNode::Parts parts = loops[i];
      parts.body = std::move(body);
      body = For(std::move(parts), span);
    }
    return body;
  };
  return true;
}

bool ScriptParser::ParseWith(int64_t begin) {
  Value form;
  if (!ParseExpr(&form)) return false;
  Token name;
  bool has_name = false;
  if (AtName("as")) {
    Next();
    name = token();
    if (name.kind != Tok::kName) return Expects("a name");
    has_name = true;
    Next();
  }
  if (!Expect(":")) return false;
  if (token().kind != Tok::kNewline) return Expects("the end of the line");
  Next();
  if (token().kind != Tok::kIndent) return Expects("an indented line");
  Next();
  if (!form.Is(Value::kForm)) return Fail(form, "this has no body");
  if (form.text == "block") {
    std::vector<const Value*> args;
    std::string block_name;
    if (!Bind(form, {"name", "no_realize"}, 0, &args)) return false;
    if (args[0] != nullptr && !ToText(*args[0], &block_name)) return false;
    Scope& scope = Open(Scope::kBlock, false, begin);
    scope.block.name = std::move(block_name);
    scope.no_realize = args[1] != nullptr && args[1]->number != 0;
    return true;
  }
  if (form.text == "init") {
    Scope* block = InnerBlock();
    if (block == nullptr) return Fail(form, "T.init() stands in a block");
    if (block->block.init.defined()) {
      return Fail(form, "this is the second T.init() of the block");
    }
    Open(Scope::kInit, false, begin);
    return true;
  }
  return ScopeForm(form, has_name ? &name : nullptr, true, begin);
}

// ---------------------------------------------------------------------------
// Simple statements.

bool ScriptParser::ParseSimple(int64_t begin) {
  if (AtName("assert")) {
    Next();
    Value condition;
    Value message;
    if (!ParseExpr(&condition) || !Expect(",") || !ParseExpr(&message)) {
      return false;
    }
    PrimExpr test;
    PrimExpr text;
    if (!ToTest(condition, &test) || !ToExpr(message, &text)) return false;
    Open(Scope::kBody, true, begin).make = [test, text](Stmt body,
                                                        const Span& span) {
      return AssertStmt(test, text, std::move(body), span);
    };
    return true;
  }
  // `a = ...`, `a, b = ...`, `(a, b) = ...`, `a: type = ...`
  const bool in_brackets = AtSign("(");
  if (token().kind == Tok::kName || in_brackets) {
    std::vector<Token> names;
    size_t i = next_ + (in_brackets ? 1 : 0);
    while (TokenAt(i).kind == Tok::kName) {
      names.push_back(TokenAt(i));
      ++i;
      if (TokenAt(i).kind != Tok::kSign || TokenAt(i).sign != Sign(",")) break;
      ++i;
    }
    bool closes = !in_brackets;
    if (in_brackets && !names.empty() && TokenAt(i).kind == Tok::kSign &&
        TokenAt(i).sign == Sign(")")) {
      closes = true;
      ++i;
    }
    const Token after = TokenAt(i);
    if (closes && after.kind == Tok::kSign && after.sign == Sign("=")) {
      next_ = i + 1;
      Value value;
      if (!ParseExprs(&value) || !Assign(names, value, begin)) {
        // Further uses of the names are no new mistakes.
        for (const Token& name : names) {
          Value poison;
          poison.kind = Value::kPoison;
          DefineName(TextOf(name), std::move(poison));
        }
        return false;
      }
      return true;
    }
    if (!in_brackets && after.kind == Tok::kSign && after.sign == Sign(":") &&
        names.size() == 1) {
      next_ = i + 1;
      Value type;
      Value value;
      if (!ParseExpr(&type) || !Expect("=") || !ParseExpr(&value) ||
          !AssignAnnotated(names[0], type, value, begin)) {
        Value poison;
        poison.kind = Value::kPoison;
        DefineName(TextOf(names[0]), std::move(poison));
        return false;
      }
      return true;
    }
  }
  Value target;
  if (!ParseExpr(&target)) return false;
  if (Accept("=")) {
    Value value;
    return ParseExpr(&value) && Store(target, value, begin);
  }
  if (token().kind == Tok::kSign && IsAugmented(token().sign)) {
    const uint32_t sign = OperatorOf(token().sign);
    Next();
    Value operand;
    Value value;
    return ParseExpr(&operand) && ApplyBinary(sign, target, operand, &value) &&
           Store(target, value, begin);
  }
  return ExpressionStmt(target, begin);
}

bool ScriptParser::Store(const Value& target, const Value& value,
                         int64_t begin) {
  PrimExpr place;
  PrimExpr e;
  if (target.Is(Value::kRegion)) {
    place = LoadOf(BufferRegion(target.node.As<BufferRegionNode>()));
    if (!place.defined()) {
      return Fail(target,
                  "the number of elements of this slice is not constant");
    }
  } else if (target.node.Is<BufferLoadNode>()) {
    place = PrimExpr(target.node.As<PrimExprNode>());
  } else {
    return Fail(target, "only names and elements of buffers are assigned to");
  }
  const auto* load = place.As<BufferLoadNode>();
  if (!ToExpr(value, &e)) return false;
  if (e.dtype() != load->dtype()) {
    const bool is_pointer = e.dtype().code() == DType::Code::kHandle ||
                            load->dtype().code() == DType::Code::kHandle;
    if (is_pointer || (e.dtype().lanes() != load->dtype().lanes() &&
                       e.dtype().lanes() != 1)) {
      return Fail(value, absl::StrCat("a ", e.dtype().ToString(),
                                      " is stored where there is a ",
                                      load->dtype().ToString()));
    }
    e = CastTo(load->dtype(), std::move(e));
  }
  Append(BufferStore(load->buffer(), std::move(e),
                     {load->indices().begin(), load->indices().end()},
                     SpanFrom(begin)));
  return true;
}

bool ScriptParser::Assign(const std::vector<Token>& names, const Value& value,
                          int64_t begin) {
  if (value.Is(Value::kForm) && value.text.substr(0, 5) == "axis.") {
    return AxisForm(names, value);
  }
  if (names.size() > 1) {
    if (!value.Is(Value::kTuple) && !value.Is(Value::kList)) {
      return Fail(value,
                  absl::StrCat("one value for ", names.size(), " names"));
    }
    if (value.items().size() != names.size()) {
      return Fail(value, absl::StrCat(value.items().size(), " values for ",
                                      names.size(), " names"));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      Value item = value.items()[i];
      item.is_meta |= value.is_meta;
      if (!Assign({names[i]}, item, begin)) return false;
    }
    return true;
  }
  const Token& name = names[0];
  const std::string text(TextOf(name));
  const Span span = context_.SpanOf(name.begin, name.end);
  if (value.is_meta) {
    Value meaning = value;
    meaning.is_meta = false;
    DefineName(text, std::move(meaning));
    return true;
  }
  switch (value.kind) {
    case Value::kForm:
      return AssignForm(name, value, begin);
    case Value::kNewVar: {
      const auto* proto = value.node.As<VarNode>();
      DefineName(
          text,
          ExprValue(Var(new VarNode(text, proto->dtype(), proto->is_size(),
                                    proto->typed_pointer(), proto->element(),
                                    proto->scope(), span)),
                    name.begin, name.end));
      return true;
    }
    case Value::kBuffer:
    case Value::kTuple:
    case Value::kList:
    case Value::kDict:
    case Value::kString:
      // Another name for a value.
      DefineName(text, value);
      return true;
    case Value::kExpr:
      if (value.node.Is<IterVarNode>() || value.node.Is<TargetNode>()) {
        DefineName(text, value);
        return true;
      }
      break;
    default:
      break;
  }
  PrimExpr e;
  if (!ToExpr(value, &e)) return false;
  const auto* source = e.As<VarNode>();
  Var var(source == nullptr
              ? new VarNode(text, e.dtype(), false, false, {}, {}, span)
              : new VarNode(text, e.dtype(), false, source->typed_pointer(),
                            source->element(), source->scope(), span));
  // The reference gives it the data type only.
  if (source != nullptr && source->typed_pointer()) {
    var = Var(text, e.dtype(), span);
  }
  DefineName(text, ExprValue(var, name.begin, name.end));
  Open(Scope::kBody, true, begin).make = [var, e](Stmt body, const Span& s) {
    return LetStmt(var, e, std::move(body), s);
  };
  return true;
}

bool ScriptParser::AssignAnnotated(const Token& name, const Value& type,
                                   const Value& value, int64_t begin) {
  PrimExpr e;
  if (!ToExpr(value, &e)) return false;
  const std::string text(TextOf(name));
  const Span span = context_.SpanOf(name.begin, name.end);
  Var var;
  if (type.Is(Value::kNewVar)) {
    const auto* proto = type.node.As<VarNode>();
    var = Var(new VarNode(text, proto->dtype(), proto->is_size(),
                          proto->typed_pointer(), proto->element(),
                          proto->scope(), span));
  } else {
    DType dtype;
    if (!ToDType(type, &dtype)) return false;
    var = Var(text, dtype, span);
  }
  if (e.dtype() != var.dtype()) {
    // Numbers take the type that is written.
    if (value.IsNumber() || value.Is(Value::kFloat)) {
      e = CastTo(var.dtype(), std::move(e));
    } else {
      return Fail(value,
                  absl::StrCat("this is ", e.dtype().ToString(),
                               ", the variable is ", var.dtype().ToString()));
    }
  }
  DefineName(text, ExprValue(var, name.begin, name.end));
  Open(Scope::kBody, true, begin).make = [var, e](Stmt body, const Span& s) {
    return LetStmt(var, e, std::move(body), s);
  };
  return true;
}

bool ScriptParser::AssignForm(const Token& name, const Value& form,
                              int64_t begin) {
  const std::string text(TextOf(name));
  const auto define = [&](const Buffer& buffer) {
    DefineName(text, ExprValue(buffer, name.begin, name.end));
  };
  Buffer buffer;
  bool has_data = false;
  if (form.text == "Buffer" || form.text == "buffer_decl") {
    if (!MakeBuffer(form, text, 0, &buffer, &has_data)) return false;
    define(buffer);
    return true;
  }
  if (form.text == "alloc_buffer") {
    if (!MakeBuffer(form, text, 0, &buffer, &has_data)) return false;
    define(buffer);
    for (size_t i = scopes_.size(); i-- > 0;) {
      if (scopes_[i].kind == Scope::kBlock) {
        scopes_[i].block.alloc_buffers.push_back(buffer);
        return true;
      }
    }
    root_buffers_.push_back(buffer);
    return true;
  }
  if (form.text == "match_buffer") {
    if (!MakeBuffer(form, text, 1, &buffer, &has_data)) return false;
    std::vector<const Value*> args;
    const Value* source = form.items().empty() ? &form.parts->keywords[0].second
                                               : &form.items()[0];
    if (const auto* param = source->node.As<VarNode>()) {
      for (size_t i = 0; i < function_.params.size(); ++i) {
        if (function_.params[i].get() != param) continue;
        for (const ParamBuffer& other : function_.buffers) {
          if (other.param == static_cast<int64_t>(i)) {
            return Fail(*source, "this parameter has a buffer already");
          }
        }
        function_.buffers.push_back({static_cast<int64_t>(i), buffer});
        define(buffer);
        return true;
      }
      return Fail(*source, "this is no parameter of the function");
    }
    BufferRegion region;
    if (!ToRegion(*source, &region)) return false;
    Scope* block = InnerBlock();
    if (block == nullptr) {
      return Fail(form, "a region is matched in a block only");
    }
    block->block.match_buffers.emplace_back(
        buffer, std::move(region), context_.SpanOf(form.begin, form.end));
    define(buffer);
    return true;
  }
  if (form.text == "env_thread") {
    std::vector<const Value*> args;
    std::string tag;
    if (!Bind(form, {"thread_tag"}, 1, &args) || !ToText(*args[0], &tag)) {
      return false;
    }
    env_threads_[text] = tag;
    DefineName(text, ExprValue(Var(text, kInt32,
                                   context_.SpanOf(name.begin, name.end)),
                               name.begin, name.end));
    return true;
  }
  return ScopeForm(form, &name, false, begin);
}

bool ScriptParser::AxisForm(const std::vector<Token>& names,
                            const Value& form) {
  Scope* block = InnerBlock();
  if (block == nullptr) {
    return Fail(form, absl::StrCat("T.", form.text, " is not in a block"));
  }
  std::vector<const Value*> args;
  const auto add = [&](const std::string& name, const Token& token, Range dom,
                       DType dtype, IterVarType type, PrimExpr value) {
    Var var(name, dtype, context_.SpanOf(token.begin, token.end));
    block->block.iter_vars.emplace_back(std::move(dom), var, type);
    if (value.defined()) block->iter_values.push_back(std::move(value));
    return var;
  };
  if (form.text == "axis.remap") {
    std::string kinds;
    std::vector<PrimExpr> values;
    if (!Bind(form, {"kinds", "bindings", "dtype"}, 2, &args) ||
        !ToText(*args[0], &kinds) || !ToExprList(*args[1], &values)) {
      return false;
    }
    if (kinds.size() != values.size() || values.empty() ||
        (names.size() != values.size() && names.size() != 1)) {
      return Fail(form,
                  absl::StrCat(kinds.size(), " kinds and ", values.size(),
                               " loop variables for ", names.size(), " names"));
    }
    std::vector<NamedTarget> targets;
    if (!SpreadTargets(names, kNoStar, values.size(), form, &targets)) {
      return false;
    }
    std::vector<Var> vars;
    for (size_t i = 0; i < values.size(); ++i) {
      const Range* range = values[i].Is<VarNode>()
                               ? loop_ranges_.Find(values[i].get())
                               : nullptr;
      if (range == nullptr) {
        return Fail(*args[1], "T.axis.remap takes variables of loops");
      }
      if (kinds[i] != 'S' && kinds[i] != 'R') {
        return Fail(*args[0], "known kinds are S and R");
      }
      vars.push_back(add(
          targets[i].name, targets[i].token, *range, values[i].dtype(),
          kinds[i] == 'S' ? IterVarType::kDataPar : IterVarType::kCommReduce,
          values[i]));
    }
    DefineTargets(names, kNoStar, targets, vars);
    return true;
  }
  IterVarType type = IterVarType::kDataPar;
  if (form.text == "axis.reduce" || form.text == "axis.R") {
    type = IterVarType::kCommReduce;
  } else if (form.text == "axis.scan") {
    type = IterVarType::kOrdered;
  } else if (form.text == "axis.opaque") {
    type = IterVarType::kOpaque;
  }
  if (names.size() != 1) return Fail(form, "this gives one variable");
  if (!Bind(form, {"dom", "binding", "dtype"}, 1, &args)) return false;
  Range dom;
  if (args[0]->Is(Value::kTuple) || args[0]->Is(Value::kList)) {
    PrimExpr stop;
    if (args[0]->items().size() != 2) {
      return Fail(*args[0], "a range is `(begin, end)`");
    }
    if (!ToExpr(args[0]->items()[0], &dom.min) ||
        !ToExpr(args[0]->items()[1], &stop)) {
      return false;
    }
    dom.extent = ExtentBetween(dom.min, stop);
  } else {
    if (!ToExpr(*args[0], &dom.extent)) return false;
    dom.min = IntImm(dom.extent.dtype(), 0);
  }
  if (!dom.extent.dtype().is_integral() || !dom.min.dtype().is_integral()) {
    return Fail(*args[0], "an extent is an integer");
  }
  DType dtype = kInt32;
  if (args[2] != nullptr && !ToDType(*args[2], &dtype)) return false;
  PrimExpr value;
  if (args[1] != nullptr && !ToExpr(*args[1], &value)) return false;
  const int bits = std::max(
      {dom.min.dtype().bits(), dom.extent.dtype().bits(), dtype.bits()});
  const Token& token = names[0];
  const Var var = add(std::string(TextOf(token)), token, dom,
                      DType(dtype.code(), bits), type, std::move(value));
  DefineName(TextOf(token), ExprValue(var, token.begin, token.end));
  return true;
}

// Forms that are a part of a block.
bool ScriptParser::BlockForm(const Value& form) {
  Scope* block = InnerBlock();
  if (block == nullptr) {
    return Fail(form, absl::StrCat("T.", form.text, " is not in a block"));
  }
  std::vector<const Value*> args;
  if (form.text == "where") {
    if (!Bind(form, {"predicate"}, 1, &args)) return false;
    if (block->predicate.defined()) {
      return Fail(form, "this is the second T.where of the block");
    }
    return ToCondition(*args[0], &block->predicate);
  }
  if (form.text == "block_attr") {
    if (!Bind(form, {"attrs"}, 1, &args)) return false;
    if (block->block.annotations.defined()) {
      return Fail(form, "this is the second T.block_attr of the block");
    }
    return ToDict(*args[0], &block->block.annotations);
  }
  bool& has = form.text == "reads" ? block->has_reads : block->has_writes;
  if (has) {
    return Fail(form, absl::StrCat("this is the second T.", form.text,
                                   " of the block"));
  }
  has = true;
  Values items = form.items();
  if (items.size() == 1 &&
      (items[0].Is(Value::kList) || items[0].Is(Value::kTuple))) {
    items = Values(items[0].items());
  }
  auto& regions =
      form.text == "reads" ? block->block.reads : block->block.writes;
  for (const Value& item : items) {
    regions.emplace_back();
    if (!ToRegion(item, &regions.back())) {
      regions.pop_back();
      return false;
    }
  }
  return true;
}

bool ScriptParser::ExpressionStmt(const Value& value, int64_t begin) {
  if (value.Is(Value::kString) || value.Is(Value::kNone)) return true;
  if (!value.Is(Value::kForm)) {
    PrimExpr e;
    if (!ToExpr(value, &e)) return false;
    Append(Evaluate(std::move(e), SpanFrom(begin)));
    return true;
  }
  std::vector<const Value*> args;
  if (value.text == "evaluate") {
    PrimExpr e;
    if (!Bind(value, {"value"}, 1, &args) || !ToExpr(*args[0], &e)) {
      return false;
    }
    Append(Evaluate(std::move(e), SpanFrom(begin)));
    return true;
  }
  if (value.text == "func_attr") {
    Dict dict;
    if (!Bind(value, {"attrs"}, 1, &args) || !ToDict(*args[0], &dict)) {
      return false;
    }
    if (has_attrs_) return Fail(value, "this is the second T.func_attr");
    has_attrs_ = true;
    if (dict.empty()) return true;
    AttrValue attrs;
    if (!AttrOfExpr(dict, attrs)) {
      return Fail(value,
                  "attributes of functions are numbers, strings, targets, and "
                  "lists and dictionaries of them");
    }
    if (is_private_ && dict.Find(kGlobalSymbol).defined()) {
      return Fail(value, "a private function has no global_symbol");
    }
    function_.attrs = DictAttrs(*attrs.As<AttrMap>());
    return true;
  }
  if (value.text == "func_ret") {
    return Bind(value, {"ret_type"}, 1, &args) &&
           ToDType(*args[0], &function_.ret_type);
  }
  if (value.text == "reads" || value.text == "writes" ||
      value.text == "where" || value.text == "block_attr") {
    return BlockForm(value);
  }
  if (value.text == "buffer_store") {
    Value target;
    if (!Bind(value, {"buffer", "value", "indices"}, 3, &args)) return false;
    Values indices = args[2]->Is(Value::kList) || args[2]->Is(Value::kTuple)
                         ? Values(args[2]->items())
                         : Values{*args[2]};
    return ApplyIndex(*args[0], std::move(indices), value.end, &target) &&
           Store(target, *args[1], begin);
  }
  if (value.text == "prefetch") {
    if (!Bind(value, {"buffer", "bounds"}, 2, &args)) return false;
    const auto* buffer = args[0]->node.As<BufferNode>();
    if (buffer == nullptr) return Fail(*args[0], "expected a buffer");
    std::vector<Range> bounds;
    for (const Value& item : args[1]->items()) {
      Range range;
      if (!item.Is(Value::kForm) || item.text != "Range" ||
          item.items().size() != 2) {
        return Fail(item, "expected T.Range(min, extent)");
      }
      if (!ToExpr(item.items()[0], &range.min) ||
          !ToExpr(item.items()[1], &range.extent)) {
        return false;
      }
      bounds.push_back(std::move(range));
    }
    Append(Prefetch(Buffer(buffer), std::move(bounds), SpanFrom(begin)));
    return true;
  }
  return ScopeForm(value, nullptr, false, begin);
}

}  // namespace baton::tir
