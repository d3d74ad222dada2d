// Reads functions of loops in modules: definitions that begin with
// `@T.prim_func` or `@I.ir_module` (ir/module_text.h).

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_parser.h"
#include "baton/tir/script/complete_blocks.h"

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
              PrimFunc function, bool is_incomplete) override {
    Lexer& lexer = input_.lexer();
    const Token here = lexer.token();
    const int64_t last_end = lexer.last_end();
    if (is_incomplete && function.defined()) {
      std::vector<Span> unclear;
      function = CompleteBlocks(function, &unclear);
      for (const Span& span : unclear) {
        Error(span->begin(), span->end(),
              "this block uses the pointer of a buffer: it needs T.reads(...) "
              "and T.writes(...)");
      }
    }
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
BATON_REGISTER_TEXT_READER(ScriptReader, "@T.prim_func", "@I.ir_module",
                           "@tvm.script.ir_module", "from", "import");

}  // namespace
}  // namespace baton::tir
