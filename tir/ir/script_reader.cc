#include "baton/tir/ir/script_reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_parser.h"

namespace baton::tir {
namespace {

// Reads definitions of a module.
class ScriptReader final : public FunctionTextReader, private ScriptContext {
 public:
  explicit ScriptReader(TextInput* input) : input_(*input) {}

  bool ParseDefinition(absl::string_view keyword, IRModule* module) override {
    module_ = module;
    const std::string& text = input_.source()->text();
    const int64_t begin = input_.lexer().token().begin;
    if (keyword == "from" || keyword == "import") {
      // Imports say what T and I are, which is known.
      const size_t end = text.find('\n', static_cast<size_t>(begin));
      input_.lexer().SkipTo(
          static_cast<int64_t>(end == std::string::npos ? text.size() : end));
      return true;
    }
    const bool at_line_begin =
        begin == 0 || text[static_cast<size_t>(begin) - 1] == '\n';
    if (!at_line_begin) {
      return input_.ErrorHere("a decorator begins a line");
    }
    ScriptParser parser(text, begin, this);
    parser.ParseDefinition();
    input_.lexer().SkipTo(parser.end());
    return true;
  }

 private:
  void Error(int64_t begin, int64_t end, std::string message) override {
    if (!input_.TooManyErrors()) input_.Error(begin, end, std::move(message));
  }
  bool TooManyErrors() const override { return input_.TooManyErrors(); }
  Span SpanOf(int64_t begin, int64_t end) override {
    return Span(input_.source(), begin, end);
  }
  GlobalVar Global(absl::string_view /*name*/, int64_t begin,
                   int64_t end) override {
    // Only the last part of `Module.name`.
    const std::string& text = input_.source()->text();
    const size_t dot = text.rfind('.', static_cast<size_t>(end) - 1);
    if (dot != std::string::npos && static_cast<int64_t>(dot) >= begin) {
      begin = static_cast<int64_t>(dot) + 1;
    }
    return input_.Global(NameToken(begin, end));
  }
  void Define(absl::string_view name, int64_t begin, int64_t end,
              PrimFunc function) override {
    Lexer& lexer = input_.lexer();
    const Token here = lexer.token();
    const int64_t last_end = lexer.last_end();
    // Errors are at the name.
    lexer.Rewind(NameToken(begin, end), last_end);
    const bool is_new = input_.Define(name, "@");
    lexer.Rewind(here, last_end);
    if (is_new && function.defined()) {
      module_->Set(input_.Global(NameToken(begin, end)), std::move(function));
    }
  }
  static Token NameToken(int64_t begin, int64_t end) {
    Token token;
    token.kind = TokenKind::kGlobal;
    token.begin = begin;
    token.end = end;
    token.name_begin = begin;
    token.name_end = end;
    return token;
  }

  TextInput& input_;
  IRModule* module_ = nullptr;
};
BATON_REGISTER_TEXT_READER(ScriptReader, "@T.prim_func", "@I.ir_module", "from",
                           "import");

// Collects the errors of an expression.
class ExprContext final : public ScriptContext {
 public:
  explicit ExprContext(std::shared_ptr<const Source> source)
      : source_(std::move(source)) {}
  void Error(int64_t begin, int64_t end, std::string message) override {
    diagnostics_.Error(SpanOf(begin, end), std::move(message));
  }
  bool TooManyErrors() const override { return diagnostics_.has_errors(); }
  Span SpanOf(int64_t begin, int64_t end) override {
    return Span(source_, begin, end);
  }
  GlobalVar Global(absl::string_view name, int64_t /*begin*/,
                   int64_t /*end*/) override {
    return GlobalVar(std::string(name));
  }
  void Define(absl::string_view /*name*/, int64_t /*begin*/, int64_t /*end*/,
              PrimFunc /*function*/) override {}
  absl::Status status() const { return diagnostics_.ToStatus(); }

 private:
  const std::shared_ptr<const Source> source_;
  Diagnostics diagnostics_;
};

}  // namespace

absl::StatusOr<PrimExpr> ParseScriptExpr(absl::string_view text,
                                         absl::Span<const Var> vars) {
  // One line that the lexer takes for the beginning of a definition.
  auto source = std::make_shared<Source>("expression", absl::StrCat("@", text));
  ExprContext context(source);
  ScriptParser parser(source->text(), 0, &context);
  PrimExpr e = parser.ParseExpressionOver(vars);
  if (absl::Status status = context.status(); !status.ok()) return status;
  if (!e.defined()) return absl::InvalidArgumentError("expected an expression");
  return e;
}

}  // namespace baton::tir
