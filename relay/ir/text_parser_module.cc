// Parses definitions, names, metadata and errors. See text_parser_impl.h.

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
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_keywords.h"
#include "baton/relay/ir/text_metadata_reader.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton::relay {
namespace internal {
namespace {

// Returns the position of the line `#[metadata]` from `pos` on; -1 if there is
// none.
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

TextParser::TextParser(TextInput* input)
    : input_(*input),
      lexer_(input->lexer()),
      source_(input->source()),
      diagnostics_(&input->diagnostics()),
      placeholder_(Var("error")) {}

// ---------------------------------------------------------------------------
// Names.

// The last bound names, if there are very many.
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
      // One error is enough for a definition.
      if (diagnostics_->num_errors() == errors_before_definition_) {
        Error(token.begin, token.end,
              "the text has no metadata section, which holds the values of "
              "constants; --emit=text writes it, --emit=text-no-meta does not");
      }
    }
    return {};
  }
  return metadata->Get(lexer_.Name(token), token.number,
                       Span(source_, token.begin, token.end));
}

// ---------------------------------------------------------------------------
// Whole texts.

// Reports an error if anything but a valid metadata section follows.
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

bool TextParser::ParseDefinition(absl::string_view keyword, IRModule* module) {
  if (keyword == kBareText) {
    if (Expr expr = ParseWholeExpr()) *module = ModuleFromExpr(expr);
    return true;
  }
  if (keyword == kMetadataText) {
    FinishText();
    return true;
  }
  has_definitions_ = true;
  return lexer_.kind() == Keyword::kDef ? ParseFunction(module)
                                        : ParseTypeDefinition(module);
}

void TextParser::Finish(IRModule* /*module*/) {
  if (has_definitions_) CheckTypeNames();
}

Expr TextParser::ParseExpr() {
  input_.ParseVersion();
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
  errors_before_definition_ = errors;
  PushSequence(/*in_braces=*/true);
  Expr result;
  if (Run()) {
    result = std::move(values_.back());
    values_.pop_back();
  }
  EndDefinition();
  if (!input_.AtTextEnd() && diagnostics_->num_errors() == errors) {
    Expected("`;` or the end of the text");
  }
  if (diagnostics_->num_errors() == errors) return result;
  while (!input_.AtTextEnd()) lexer_.Next();
  return {};
}

// `def @name(...) {...}`.
bool TextParser::ParseFunction(IRModule* module) {
  const int errors = diagnostics_->num_errors();
  errors_before_definition_ = errors;
  const int64_t begin = lexer_.token().begin;
  lexer_.Next();
  const Token name = lexer_.token();
  if (name.kind != TokenKind::kGlobal)
    return Expected("a global name, as in `def @main`");
  input_.Define(lexer_.Name(), "@");
  lexer_.Next();
  Function function;
  bool good = BeginFunction(begin);
  while (!frames_.empty() && !good) Unwind();
  if (good && Run()) {
    function = Function(values_.back().As<FunctionNode>());
  }
  values_.clear();
  EndDefinition();
  if (diagnostics_->num_errors() != errors) return false;
  module->Set(input_.Global(name), std::move(function));
  return true;
}

// `type List[A] { Cons(A, List[A]), Nil, }` or `extern type T[A]`.
bool TextParser::ParseTypeDefinition(IRModule* module) {
  const bool is_extern = lexer_.Accept(Keyword::kExtern);
  const Scope scope = CurrentScope();
  TypeData type;
  bool good = Expect(Keyword::kType);
  if (good && lexer_.kind() != TokenKind::kIdentifier) {
    good = Expected("the name of a type");
  }
  if (good) {
    const absl::string_view name = lexer_.Name();
    const GlobalTypeVar header = NoteTypeName(name);
    const bool is_new = input_.Define(name, "type ");
    input_.ExpectNotDefined(name, "type ", "constructor ");
    lexer_.Next();
    good = ParseTypeBody(header, is_extern, &type);
    if (good && is_new) module->SetType(std::move(type));
  }
  EndScope(scope);
  return good;
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
  const bool is_new = input_.Define(lexer_.Name(), "constructor ");
  if (lexer_.Name() != name->name()) {
    input_.ExpectNotDefined(lexer_.Name(), "constructor ", "type ");
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
    if (input_.IsDefined(name, "type ")) {
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
                       KeepsErrors() ? DidYouMean(entry.var->name(), known)
                                     : std::string()));
  }
}

void TextParser::EndDefinition() {
  EndScope({0, 0});
  graph_.clear();
  sparse_graph_.clear();
  free_vars_.clear();
}

}  // namespace internal
}  // namespace baton::relay
