// Definitions, names, metadata and errors. See text_parser_impl.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/near_names.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_lexer.h"
#include "baton/relay/ir/text_metadata_reader.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton {
namespace internal {
namespace {

constexpr absl::string_view kVersion = "\"0.0.5\"";

// Where the line `#[metadata]` stands, from `pos` on; -1 if there is none.
int64_t FindMetadata(absl::string_view text, size_t pos) {
  while ((pos = text.find('#', pos)) != absl::string_view::npos) {
    const size_t line = text.rfind('\n', pos);
    const size_t begin = line == absl::string_view::npos ? 0 : line + 1;
    const absl::string_view before = text.substr(begin, pos - begin);
    const absl::string_view after = text.substr(pos, 64);
    const size_t close = after.find(']');
    if (absl::StripAsciiWhitespace(before).empty() && after.size() > 2 &&
        after[1] == '[' && close != absl::string_view::npos &&
        absl::StripAsciiWhitespace(after.substr(2, close - 2)) == "metadata") {
      return static_cast<int64_t>(pos);
    }
    ++pos;
  }
  return -1;
}

}  // namespace

TextParser::TextParser(std::shared_ptr<const Source> source,
                       Diagnostics* diagnostics)
    : source_(std::move(source)),
      diagnostics_(diagnostics),
      lexer_(source_->text()),
      placeholder_(Var("error")) {}

Span TextParser::Place() const noexcept {
  return IfOutOfMemory(
      [this] {
        return Span(source_, lexer_.token().begin, lexer_.token().end);
      },
      [] { return Span(); });
}

// ---------------------------------------------------------------------------
// Errors.

bool TextParser::Error(int64_t begin, int64_t end, std::string message) {
  diagnostics_->Error(Span(source_, begin, end), std::move(message));
  return false;
}

bool TextParser::ErrorHere(std::string message) {
  return Error(lexer_.token().begin, lexer_.token().end, std::move(message));
}

bool TextParser::Expected(absl::string_view what) {
  if (lexer_.kind() == TokenKind::kBad) return ErrorHere(lexer_.error());
  return ErrorHere(absl::StrCat("expected ", what, ", found ",
                                TokenKindName(lexer_.kind())));
}

bool TextParser::Expect(TokenKind kind) {
  return lexer_.Accept(kind) || Expected(TokenKindName(kind));
}

// ---------------------------------------------------------------------------
// Names.

// Those bound last, if there are very many.
std::vector<std::string> TextParser::NamesInScope() const {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  for (uint32_t i = vars_.size(); i-- > 0 && names.size() < kMost;) {
    names.push_back(vars_[i]->name());
  }
  for (const auto& [name, var] : free_vars_) {
    if (names.size() >= 2 * kMost) break;
    names.emplace_back(name);
  }
  return names;
}

const GlobalTypeVar& TextParser::NoteTypeName(absl::string_view name) {
  TypeName& entry = type_names_[name];
  if (!entry.var.defined()) {
    entry.var = GlobalTypeVar(std::string(name));
    entry.begin = lexer_.token().begin;
    entry.end = lexer_.token().end;
  }
  return entry.var;
}

absl::string_view TextParser::TextUpTo(char last) const {
  constexpr size_t kFar = 1024;
  const auto begin = static_cast<size_t>(lexer_.token().begin);
  const absl::string_view near =
      absl::string_view(source_->text()).substr(begin, kFar);
  const size_t end = near.find(last);
  return end == absl::string_view::npos ? absl::string_view()
                                        : near.substr(0, end + 1);
}

// ---------------------------------------------------------------------------
// Metadata.

// Null if there is none or it cannot be read.
MetadataReader* TextParser::Metadata() {
  if (metadata_sought_) return metadata_.get();
  metadata_sought_ = true;
  metadata_offset_ =
      FindMetadata(source_->text(), static_cast<size_t>(lexer_.last_end()));
  if (metadata_offset_ < 0) return nullptr;
  metadata_ = std::make_unique<MetadataReader>(source_, diagnostics_);
  const size_t json =
      source_->text().find(']', static_cast<size_t>(metadata_offset_)) + 1;
  if (!metadata_->Scan(static_cast<int64_t>(json))) metadata_.reset();
  return metadata_.get();
}

MetaItem TextParser::ParseMeta() {
  const Token token = lexer_.token();
  lexer_.Next();
  MetadataReader* const metadata = Metadata();
  if (metadata == nullptr) {
    if (metadata_offset_ < 0) {
      Error(token.begin, token.end, "the text has no metadata section");
    }
    return {};
  }
  return metadata->Get(lexer_.Name(token), token.number,
                       Span(source_, token.begin, token.end));
}

// ---------------------------------------------------------------------------
// Whole texts.

bool TextParser::ParseVersion() {
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kVersion) return false;
  if (lexer_.Name() != kVersion) {
    ErrorHere(absl::StrCat("unknown version ", lexer_.Name(), ", known is ",
                           kVersion));
  }
  lexer_.Next();
  return true;
}

// Sees that nothing but the metadata section is left, and that it is sound.
void TextParser::FinishText() {
  if (lexer_.kind() == TokenKind::kEnd) return;
  if (lexer_.kind() != TokenKind::kMetadata) {
    Expected("the end of the text");
    return;
  }
  if (!metadata_sought_) Metadata();
  if (metadata_offset_ != lexer_.token().begin) {
    ErrorHere("the metadata section must begin a line, and be the only one");
  }
}

IRModule TextParser::ParseModule() {
  const bool versioned = ParseVersion();
  IRModule module;
  switch (lexer_.kind()) {
    case TokenKind::kDef:
    case TokenKind::kType:
    case TokenKind::kExtern:
      ParseDefinitions(&module);
      CheckTypeNames();
      break;
    case TokenKind::kEnd:
    case TokenKind::kMetadata:
      if (!versioned) Expected("a definition or an expression");
      break;
    default:
      if (Expr expr = ParseWholeExpr()) module = ModuleFromExpr(expr);
  }
  if (!TooManyErrors()) FinishText();
  return module;
}

Expr TextParser::ParseExpr() {
  ParseVersion();
  Expr result = ParseWholeExpr();
  if (!TooManyErrors()) FinishText();
  return diagnostics_->has_errors() ? Expr() : result;
}

Type TextParser::ParseType() {
  lexer_.Next();
  Type result = ParseTypeText();
  if (result.defined()) FinishText();
  return diagnostics_->has_errors() ? Type() : result;
}

// Null after an error.
Expr TextParser::ParseWholeExpr() {
  const int errors = diagnostics_->num_errors();
  PushSequence(/*in_braces=*/true);
  Expr result;
  if (Run()) {
    result = std::move(values_.back());
    values_.pop_back();
  }
  EndDefinition();
  if (!AtTextEnd() && diagnostics_->num_errors() == errors) {
    Expected("`;` or the end of the text");
  }
  if (diagnostics_->num_errors() == errors) return result;
  while (!AtTextEnd()) lexer_.Next();
  return {};
}

void TextParser::ParseDefinitions(IRModule* module) {
  while (!AtTextEnd() && !TooManyErrors()) {
    if (lexer_.kind() == TokenKind::kDef) {
      ParseDefinition(module);
    } else if (lexer_.kind() == TokenKind::kType ||
               lexer_.kind() == TokenKind::kExtern) {
      ParseTypeDefinition(module);
    } else {
      Expected("a definition");
      lexer_.Next();
      SkipToDefinition();
    }
  }
}

void TextParser::SkipToDefinition() {
  while (!AtTextEnd() && lexer_.kind() != TokenKind::kDef &&
         lexer_.kind() != TokenKind::kType &&
         lexer_.kind() != TokenKind::kExtern) {
    lexer_.Next();
  }
}

// `def @name(...) {...}`.
void TextParser::ParseDefinition(IRModule* module) {
  const int errors = diagnostics_->num_errors();
  const int64_t begin = lexer_.token().begin;
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kGlobal) {
    Expected("a global name");
    SkipToDefinition();
    return;
  }
  const absl::string_view name = lexer_.Name();
  const Span span(source_, lexer_.token().begin, lexer_.token().end);
  Define(name, "@");
  lexer_.Next();
  Function function;
  bool good = BeginFunction(begin);
  while (!frames_.empty() && !good) Unwind();
  if (good && Run()) {
    function = Function(values_.back().As<FunctionNode>());
  }
  values_.clear();
  EndDefinition();
  if (diagnostics_->num_errors() != errors) {
    SkipToDefinition();
    return;
  }
  GlobalVar& var = globals_[name];
  if (!var.defined()) var = GlobalVar(std::string(name), {}, span);
  module->Set(var, std::move(function));
}

bool TextParser::Define(absl::string_view name, absl::string_view mark) {
  const Span span(source_, lexer_.token().begin, lexer_.token().end);
  const auto [earlier, is_new] =
      defined_.try_emplace(absl::StrCat(mark, name), span);
  if (is_new) return true;
  diagnostics_->Error(span, absl::StrCat(mark, name, " is defined twice"));
  diagnostics_->Note(earlier->second, "it is defined here before");
  return false;
}

// A data type and a constructor of another one have two names: in a pattern or
// a call it could not be told which of them is meant.
void TextParser::ExpectNot(absl::string_view name, absl::string_view mark,
                           absl::string_view other) {
  const auto it = defined_.find(absl::StrCat(other, name));
  if (it == defined_.end()) return;
  const Span span(source_, lexer_.token().begin, lexer_.token().end);
  diagnostics_->Error(span, absl::StrCat(mark, name, " has the name of a ",
                                         absl::StripSuffix(other, " ")));
  diagnostics_->Note(it->second, "which is defined here");
}

// `type List[A] { Cons(A, List[A]), Nil, }` or `extern type T[A]`.
void TextParser::ParseTypeDefinition(IRModule* module) {
  const bool is_extern = lexer_.Accept(TokenKind::kExtern);
  const Scope scope = CurrentScope();
  TypeData type;
  bool good = Expect(TokenKind::kType);
  if (good && lexer_.kind() != TokenKind::kIdentifier) {
    good = Expected("the name of a type");
  }
  if (good) {
    const absl::string_view name = lexer_.Name();
    const GlobalTypeVar header = NoteTypeName(name);
    const bool is_new = Define(name, "type ");
    ExpectNot(name, "type ", "constructor ");
    lexer_.Next();
    good = ParseTypeBody(header, is_extern, &type);
    if (good && is_new) module->SetType(std::move(type));
  }
  EndScope(scope);
  if (!good) SkipToDefinition();
}

// `[A] { Cons(A, List[A]), Nil, }`.
bool TextParser::ParseTypeBody(const GlobalTypeVar& name, bool is_extern,
                               TypeData* type) {
  std::vector<TypeVar> params;
  std::vector<Constructor> constructors;
  if (lexer_.kind() == TokenKind::kOpenSquare && !ParseTypeParams(&params)) {
    return false;
  }
  const int64_t begin = lexer_.token().begin;
  if (lexer_.Accept(TokenKind::kOpenCurly)) {
    while (lexer_.kind() != TokenKind::kCloseCurly) {
      if (!ParseConstructor(name, params, &constructors)) return false;
      if (!lexer_.Accept(TokenKind::kComma)) break;
    }
    if (!Expect(TokenKind::kCloseCurly)) return false;
    if (is_extern && !constructors.empty()) {
      Error(begin, lexer_.last_end(), "an extern type has no constructors");
    }
  }
  *type = TypeData(name, std::move(params), std::move(constructors));
  return true;
}

bool TextParser::ParseConstructor(const GlobalTypeVar& name,
                                  const std::vector<TypeVar>& params,
                                  std::vector<Constructor>* constructors) {
  if (lexer_.kind() != TokenKind::kIdentifier) {
    return Expected("the name of a constructor");
  }
  const Token token = lexer_.token();
  const bool is_new = Define(lexer_.Name(), "constructor ");
  if (lexer_.Name() != name->name()) {
    ExpectNot(lexer_.Name(), "constructor ", "type ");
  }
  lexer_.Next();
  std::vector<Type> inputs;
  if (lexer_.Accept(TokenKind::kOpenParen) &&
      !ParseTypes(TokenKind::kCloseParen, &inputs)) {
    return false;
  }
  Constructor constructor(std::string(lexer_.Name(token)), std::move(inputs),
                          name, params, Span(source_, token.begin, token.end));
  if (is_new) constructors_.emplace(lexer_.Name(token), constructor);
  constructors->push_back(std::move(constructor));
  return true;
}

// Types up to and with `close`.
bool TextParser::ParseTypes(TokenKind close, std::vector<Type>* types) {
  while (lexer_.kind() != close) {
    Type type = ParseTypeText();
    if (!type.defined()) return false;
    types->push_back(std::move(type));
    if (!lexer_.Accept(TokenKind::kComma)) break;
  }
  return Expect(close);
}

// Reports names of types that nothing defines.
void TextParser::CheckTypeNames() {
  std::vector<TypeName> missing;
  std::vector<std::string> known;
  for (const auto& [name, entry] : type_names_) {
    if (defined_.contains(absl::StrCat("type ", name))) {
      known.emplace_back(name);
    } else {
      missing.push_back(entry);
    }
  }
  std::sort(
      missing.begin(), missing.end(),
      [](const TypeName& a, const TypeName& b) { return a.begin < b.begin; });
  std::sort(known.begin(), known.end());
  for (const TypeName& entry : missing) {
    Error(entry.begin, entry.end,
          absl::StrCat("unknown type `", entry.var->name(), "`",
                       DidYouMean(entry.var->name(), known)));
  }
}

void TextParser::EndDefinition() {
  EndScope({0, 0});
  graph_.clear();
  sparse_graph_.clear();
  free_vars_.clear();
}

}  // namespace internal
}  // namespace baton
