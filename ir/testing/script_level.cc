#include "baton/ir/testing/script_level.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"

namespace baton {
namespace script {

BATON_REGISTER_NODE_LEVEL("script", kNodeLevel, BATON_SCRIPT_NODES)

namespace {

class ScriptReader final : public FunctionTextReader {
 public:
  explicit ScriptReader(TextInput* input)
      : input_(*input), lexer_(input->lexer()) {}

  bool ParseDefinition(absl::string_view keyword, IRModule* module) override {
    return keyword == "script" ? ParseScript(module) : ParseRecord(module);
  }

  // Every function that is called is there.
  void Finish(IRModule* /*module*/) override {
    for (const Token& call : calls_) {
      const absl::string_view name = lexer_.Name(call);
      if (input_.IsDefined(name, "@")) continue;
      input_.Error(call.begin, call.end,
                   absl::StrCat("the module has no function @", name));
    }
  }

 private:
  bool ParseScript(IRModule* module) {
    const int64_t begin = lexer_.token().begin;
    lexer_.Next();
    const Token name = lexer_.token();
    if (name.kind != TokenKind::kGlobal) {
      return input_.Expected("a global name");
    }
    const bool is_new = input_.Define(lexer_.Name(), "@");
    lexer_.Next();
    if (!input_.Expect(TokenKind::kOpenCurly)) return false;
    std::vector<GlobalVar> calls;
    while (lexer_.kind() == TokenKind::kGlobal) {
      calls_.push_back(lexer_.token());
      calls.push_back(input_.Global(lexer_.token()));
      lexer_.Next();
      if (!input_.Expect(TokenKind::kSemicolon)) return false;
    }
    if (!input_.Expect(TokenKind::kCloseCurly)) return false;
    if (is_new) {
      module->Set(input_.Global(name),
                  Script(std::move(calls), Type(), input_.SpanFrom(begin)));
    }
    return true;
  }

  bool ParseRecord(IRModule* module) {
    lexer_.Next();
    if (!IsWord(lexer_.kind())) return input_.Expected("the name of a record");
    const std::string name(lexer_.Name());
    const bool is_new = input_.Define(name, "type ");
    lexer_.Next();
    if (!input_.Expect(TokenKind::kOpenCurly)) return false;
    std::vector<std::string> fields;
    while (IsWord(lexer_.kind())) {
      fields.emplace_back(lexer_.Name());
      lexer_.Next();
      if (!input_.Expect(TokenKind::kComma)) return false;
    }
    if (!input_.Expect(TokenKind::kCloseCurly)) return false;
    if (is_new) module->SetType(Record(GlobalTypeVar(name), std::move(fields)));
    return true;
  }

  TextInput& input_;
  Lexer& lexer_;
  std::vector<Token> calls_;
};
BATON_REGISTER_TEXT_READER(ScriptReader, "script", "record");

class ScriptWriter final : public FunctionTextWriter {
 public:
  explicit ScriptWriter(TextOutput* output) : output_(*output) {}

  void WriteFunction(const GlobalVar& var, const BaseFunc& function) override {
    std::string& text = output_.text();
    absl::StrAppend(&text, "script @", var->name(), " {\n");
    for (const GlobalVar& call : function.As<ScriptNode>()->calls()) {
      absl::StrAppend(&text, "  @", call->name(), ";\n");
    }
    text += "}";
  }

  void WriteType(const TypeDefinition& type) override {
    std::string& text = output_.text();
    absl::StrAppend(&text, "record ", type->name(), " {\n");
    for (const std::string& field : type.As<RecordNode>()->fields()) {
      absl::StrAppend(&text, "  ", field, ",\n");
    }
    text += "}";
  }

 private:
  TextOutput& output_;
};
BATON_REGISTER_TEXT_WRITER(ScriptWriter, ScriptNode::kKind, RecordNode::kKind);

class ScriptVerifier final : public FunctionVerifier {
 public:
  void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                       const BaseFunc& function,
                       Diagnostics& diagnostics) const override {
    for (const GlobalVar& call : function.As<ScriptNode>()->calls()) {
      if (module.Find(call->name()).defined()) continue;
      diagnostics.Error(
          call->span(),
          absl::StrCat("in @", var->name(), ": the module has no function @",
                       call->name()));
    }
  }
};
BATON_REGISTER_FUNCTION_VERIFIER(ScriptNode, ScriptVerifier);

}  // namespace
}  // namespace script
}  // namespace baton
