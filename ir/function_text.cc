#include "baton/ir/function_text.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module_text.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"

namespace baton {
namespace {

constexpr absl::string_view kVersion = "\"0.0.5\"";

}  // namespace

Registry<TextReaderFactory>& TextReaders() {
  static auto& registry = *Registry<TextReaderFactory>::NewGlobal("keyword");
  return registry;
}

Registry<TextWriterFactory>& TextWriters() {
  static auto& registry =
      *Registry<TextWriterFactory>::NewGlobal("text of a kind");
  return registry;
}

// ---------------------------------------------------------------------------
// TextInput.

TextInput::TextInput(std::shared_ptr<const Source> source,
                     Diagnostics* diagnostics)
    : source_(std::move(source)),
      diagnostics_(diagnostics),
      lexer_(source_->text()) {}

bool TextInput::Error(int64_t begin, int64_t end, std::string message) {
  diagnostics_->Error(Span(source_, begin, end), std::move(message));
  return false;
}

bool TextInput::ErrorHere(std::string message) {
  return Error(lexer_.token().begin, lexer_.token().end, std::move(message));
}

bool TextInput::Expected(absl::string_view what) {
  if (lexer_.kind() == TokenKind::kBad) return ErrorHere(lexer_.error());
  return ErrorHere(absl::StrCat("expected ", what, ", found ",
                                TokenKindName(lexer_.kind())));
}

GlobalVar TextInput::Global(const Token& name) {
  const absl::string_view text = lexer_.Name(name);
  GlobalVar& var = globals_[text];
  if (!var.defined()) var = GlobalVar(std::string(text), {}, SpanOf(name));
  return var;
}

bool TextInput::Define(absl::string_view name, absl::string_view mark) {
  const Span span = SpanOf(lexer_.token());
  const auto [earlier, is_new] =
      defined_.try_emplace(absl::StrCat(mark, name), span);
  if (is_new) return true;
  diagnostics_->Error(span, absl::StrCat(mark, name, " is defined twice"));
  diagnostics_->Note(earlier->second, "it is defined here before");
  return false;
}

bool TextInput::IsDefined(absl::string_view name,
                          absl::string_view mark) const {
  return defined_.contains(absl::StrCat(mark, name));
}

void TextInput::ExpectNotDefined(absl::string_view name, absl::string_view mark,
                                 absl::string_view other) {
  const auto it = defined_.find(absl::StrCat(other, name));
  if (it == defined_.end()) return;
  diagnostics_->Error(SpanOf(lexer_.token()),
                      absl::StrCat(mark, name, " has the name of a ",
                                   absl::StripSuffix(other, " ")));
  diagnostics_->Note(it->second, "which is defined here");
}

Span TextInput::Place() const noexcept {
  return IfOutOfMemory([this] { return SpanOf(lexer_.token()); },
                       [] { return Span(); });
}

namespace {

// True if blanks alone are before the current token on its line.
bool AtLineBegin(const Lexer& lexer) {
  const absl::string_view before = lexer.Text(0, lexer.token().begin);
  const size_t last = before.find_last_not_of(' ');
  return last == absl::string_view::npos || before[last] == '\n';
}

}  // namespace

bool TextInput::AtDefinition() {
  if (IsReservedWord(lexer_.kind())) {
    return TextReaders().Contains(lexer_.Name());
  }
  switch (lexer_.kind()) {
    case TokenKind::kIdentifier:
      // The definition of a level that is not linked is one, too.
      return lexer_.BeforeNameOrWord() &&
             (TextReaders().Contains(lexer_.Name()) ||
              (AtLineBegin(lexer_) && lexer_.PeekChar() == '@'));
    case TokenKind::kGlobal:
      return !Decorator().empty();
    default:
      return false;
  }
}

absl::string_view TextInput::Decorator() const {
  const Token& token = lexer_.token();
  if (token.kind != TokenKind::kGlobal) return {};
  const absl::string_view text = lexer_.Text(token.begin, token.end);
  return TextReaders().Contains(text) ? text : absl::string_view();
}

void TextInput::SkipToDefinition() {
  while (!AtTextEnd() && !AtDefinition()) lexer_.Next();
}

bool TextInput::ParseVersion() {
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kVersion) return false;
  if (lexer_.Name() != kVersion) {
    ErrorHere(absl::StrCat("unknown version ", lexer_.Name(), ", known is ",
                           kVersion));
  }
  lexer_.Next();
  return true;
}

// ---------------------------------------------------------------------------
// TextOutput.

TextOutput::TextOutput(const TextOptions& options, std::ostream* os)
    : options_(options), os_(os) {
  if (options.version) absl::StrAppend(&text_, "#[version = ", kVersion, "]\n");
}

void TextOutput::Flush() {
  os_->write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

std::string TextOutput::Finish() && {
  if (os_ != nullptr) Flush();
  return std::move(text_);
}

}  // namespace baton
