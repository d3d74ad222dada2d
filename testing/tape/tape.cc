#include "baton/testing/tape/tape.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/near_names.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"

namespace baton {
namespace tape {

BATON_REGISTER_NODE_LEVEL("tape", kNodeLevel, BATON_TAPE_NODES)

namespace {

std::vector<Register> LocalsOf(const std::vector<Register>& params,
                               const std::vector<Step>& steps) {
  NodeSet seen;
  for (const Register& param : params) seen.Insert(param.get());
  std::vector<Register> locals;
  for (const Step& step : steps) {
    if (seen.Insert(step->result().get())) locals.push_back(step->result());
  }
  return locals;
}

class TapeReader final : public FunctionTextReader {
 public:
  explicit TapeReader(TextInput* input)
      : input_(*input), lexer_(input->lexer()) {}

  bool ParseDefinition(absl::string_view /*keyword*/,
                       IRModule* module) override {
    registers_.clear();
    const int64_t begin = lexer_.token().begin;
    lexer_.Next();
    const Token name = lexer_.token();
    if (name.kind != TokenKind::kGlobal) {
      return input_.Expected("a global name");
    }
    bool good = input_.Define(lexer_.Name(), "@");
    lexer_.Next();
    std::vector<Register> params;
    if (!ParseRegisters(/*are_params=*/true, params, good) ||
        !input_.Expect(TokenKind::kOpenCurly)) {
      return false;
    }
    std::vector<Step> steps;
    while (lexer_.kind() == TokenKind::kLocal) {
      if (!ParseStep(steps, good)) return false;
    }
    if (!lexer_.AtWord("return")) return input_.Expected("a step or `return`");
    lexer_.Next();
    Register result;
    if (!ParseRegister(result, good) || !input_.Expect(TokenKind::kSemicolon) ||
        !input_.Expect(TokenKind::kCloseCurly)) {
      return false;
    }
    if (good) {
      module->Set(input_.Global(name),
                  Tape(std::move(params), std::move(steps), std::move(result),
                       {}, input_.SpanFrom(begin)));
    }
    return true;
  }

 private:
  // Each of these returns false if reading cannot go on, and makes `good` false
  // if there was a mistake after which it can.

  bool ParseStep(std::vector<Step>& steps, bool& good) {
    const Token target = lexer_.token();
    lexer_.Next();
    if (!input_.Expect(TokenKind::kAssign)) return false;
    Expr callee;
    if (lexer_.kind() == TokenKind::kGlobal) {
      callee = input_.Global(lexer_.token());
    } else if (IsWord(lexer_.kind())) {
      const auto op = Op::Get(lexer_.Name());
      if (op.ok()) {
        callee = *op;
      } else {
        good = input_.ErrorHere(std::string(op.status().message()));
      }
    } else {
      return input_.Expected("an operator or a global name");
    }
    lexer_.Next();
    std::vector<Register> args;
    if (!ParseRegisters(/*are_params=*/false, args, good)) return false;
    auto [place, is_new] = registers_.try_emplace(lexer_.Name(target));
    if (is_new) place->second = Register(std::string(place->first));
    if (good) {
      steps.push_back(Step(place->second, std::move(callee), std::move(args),
                           input_.SpanFrom(target.begin)));
    }
    return input_.Expect(TokenKind::kSemicolon);
  }

  // `(%a, %b)`.
  bool ParseRegisters(bool are_params, std::vector<Register>& registers,
                      bool& good) {
    if (!input_.Expect(TokenKind::kOpenParen)) return false;
    while (lexer_.kind() == TokenKind::kLocal) {
      Register next;
      if (are_params && !registers_.contains(lexer_.Name())) {
        registers_[lexer_.Name()] = Register(std::string(lexer_.Name()));
      } else if (are_params) {
        good = input_.ErrorHere("a second parameter of that name");
      }
      if (!ParseRegister(next, good)) return false;
      registers.push_back(std::move(next));
      if (!lexer_.Accept(TokenKind::kComma)) break;
    }
    return input_.Expect(TokenKind::kCloseParen);
  }

  // A register that is known.
  bool ParseRegister(Register& result, bool& good) {
    if (lexer_.kind() != TokenKind::kLocal) {
      return input_.Expected("a register");
    }
    const auto found = registers_.find(lexer_.Name());
    if (found == registers_.end()) {
      good = input_.ErrorHere(
          absl::StrCat("%", lexer_.Name(), " holds nothing here"));
    } else {
      result = found->second;
    }
    lexer_.Next();
    return true;
  }

  TextInput& input_;
  Lexer& lexer_;
  absl::flat_hash_map<absl::string_view, Register> registers_;
};
BATON_REGISTER_TEXT_READER(TapeReader, "tape");

class TapeWriter final : public FunctionTextWriter {
 public:
  explicit TapeWriter(TextOutput* output) : text_(output->text()) {}

  void WriteFunction(const GlobalVar& var, const BaseFunc& function) override {
    names_.Clear();
    taken_.clear();
    const auto* tape = function.As<TapeNode>();
    absl::StrAppend(&text_, "tape @", var->name());
    WriteRegisters(tape->params());
    text_ += " {\n";
    for (const Step& step : tape->steps()) {
      absl::StrAppend(&text_, "  ", NameOf(step->result()), " = ");
      if (const auto* op = step->callee().As<OpNode>()) {
        text_ += op->name();
      } else {
        absl::StrAppend(&text_, "@",
                        step->callee().As<GlobalVarNode>()->name());
      }
      WriteRegisters(step->args());
      text_ += ";\n";
    }
    absl::StrAppend(&text_, "  return ", NameOf(tape->result()), ";\n}");
  }

 private:
  void WriteRegisters(absl::Span<const Register> registers) {
    text_ += "(";
    const char* separator = "";
    for (const Register& place : registers) {
      absl::StrAppend(&text_, separator, NameOf(place));
      separator = ", ";
    }
    text_ += ")";
  }

  // `%name`, with a number behind the names of other registers.
  const std::string& NameOf(const Register& place) {
    std::string& name = names_[place.get()];
    if (name.empty()) {
      const int earlier = taken_[place->name()]++;
      name = absl::StrCat("%", place->name());
      if (earlier > 0) absl::StrAppend(&name, "_", earlier);
    }
    return name;
  }

  std::string& text_;
  NodeMap<std::string> names_;
  absl::flat_hash_map<std::string, int> taken_;
};
BATON_REGISTER_TEXT_WRITER(TapeWriter, TapeNode::kKind);

// Registers are written before they are read, and functions that are called
// exist.
class TapeVerifier final : public FunctionVerifier {
 public:
  void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                       const BaseFunc& function,
                       Diagnostics& diagnostics) const override {
    const auto* tape = function.As<TapeNode>();
    NodeSet written;
    for (const Register& param : tape->params()) written.Insert(param.get());
    const auto read = [&](const Register& place, const Span& span) {
      if (written.Contains(place.get())) return;
      diagnostics.Error(span,
                        absl::StrCat("in @", var->name(), ": %", place->name(),
                                     " is read before a step writes it"));
    };
    for (const Step& step : tape->steps()) {
      for (const Register& arg : step->args()) read(arg, step->span());
      const auto* callee = step->callee().As<GlobalVarNode>();
      if (callee != nullptr && !module.Find(callee->name()).defined()) {
        diagnostics.Error(
            step->span(),
            absl::StrCat("in @", var->name(), ": the module has no function @",
                         callee->name()));
      }
      written.Insert(step->result().get());
    }
    read(tape->result(), tape->span());
  }
};
BATON_REGISTER_FUNCTION_VERIFIER(TapeNode, TapeVerifier);

}  // namespace

Tape::Tape(std::vector<Register> params, std::vector<Step> steps,
           Register result, DictAttrs attrs, Span span)
    : BaseFunc([&] {
        std::vector<Register> locals = LocalsOf(params, steps);
        return new TapeNode(std::move(params), std::move(locals),
                            std::move(steps), std::move(result),
                            std::move(attrs), std::move(span));
      }()) {}

}  // namespace tape
}  // namespace baton
