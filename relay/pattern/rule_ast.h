// RuleAst: the syntax tree of a rule's text. BuildRule() makes a RewriteRule of
// it.

#ifndef BATON_RELAY_PATTERN_RULE_AST_H_
#define BATON_RELAY_PATTERN_RULE_AST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay::internal {

// A range of the text, in bytes.
struct RulePlace {
  int64_t begin = 0;
  int64_t end = 0;
};

// An operand of a condition, or the value of an attribute.
struct RuleTerm {
  enum class Kind : uint8_t {
    kValue,     // a literal
    kVariable,  // an attribute
    kDType,     // dtype(%x)
    kRank,      // rank(%x)
    kShape,     // shape(%x)
    kDim,       // dim(%x, axis)
    kElements,  // elements(%x)
    kType,      // type(%x)
    kValueOf,   // value(%x)
    kUses,      // uses(%x)
    kOp,        // op(%x)
    kKind,      // kind(%x)
  };
  Kind kind;
  RulePlace place;
  AttrValue value;   // of a kValue
  std::string name;  // of a kVariable; otherwise `x` in `%x`
  int64_t axis = 0;  // of a kDim
};

// An attribute of a call or a function in a rule: `key=value`, `key=name` or,
// in `replace`, `key=shape(%x)`.
struct RuleAttr {
  std::string key;
  RuleTerm term;
  RulePlace place;

  bool is_value() const { return term.kind == RuleTerm::Kind::kValue; }
  bool is_variable() const { return term.kind == RuleTerm::Kind::kVariable; }
  const AttrValue& value() const { return term.value; }
};

// One node of `match` or `replace`. Operands have smaller numbers.
struct RuleNode {
  enum class Kind : uint8_t {
    kName,       // %name
    kAny,        // _
    kNumber,     // 3f
    kConst,      // const(...): `number` or `name` if present
    kShape,      // const(shape(%name))
    kVar,        // var(...)
    kCall,       // op(...): a call of an operator
    kCallOf,     // operand(...): a call of the first operand
    kTuple,      // (...)
    kField,      // operand.index
    kEither,     // either(...)
    kDominates,  // dominates(...)
    kRepeat,     // repeat(%name, ...): its kSelf, and the part
    kSelf,       // %name, where a repetition binds it
    kParam,      // %name, where a function or a let binds it
    kFunction,   // fn (...) { ... }: parameters, then the body
    kLet,        // let %name = ...; ...: variable, value, body
    kIf,         // if (...) { ... } else { ... }
    kBlock,      // the last part between braces with bindings
    kFold,       // fold(operand)
  };
  Kind kind;
  RulePlace place;
  std::string name;
  bool has_number = false;
  double number = 0;
  DType dtype;
  Op op;
  int index = 0;  // for kField; for kBlock, the scope of its bindings
  // For kCall, kCallOf, kTuple, kFunction: any operands, written `...`.
  bool any_operands = false;
  // For kName: an enclosing function or let binds the name.
  bool in_scope = false;
  std::vector<int> operands;
  std::vector<RuleAttr> attrs;
  std::string attrs_of;  // the name after `**`
  std::string type_of;   // for a kParam: `%name: type(%type_of)`
};

// A binding `%name = part;`.
struct RuleBinding {
  std::string name;
  int node;
  int scope = 0;  // the block that contains it; 0 for that of the body
};

// The content of `match` or `replace`.
struct RuleBody {
  std::vector<RuleNode> nodes;
  std::vector<RuleBinding> bindings;
  int root = -1;
};

// A condition `TERM OP TERM`.
struct RuleCondition {
  enum class Op : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn };
  RuleTerm lhs;
  Op op;
  RuleTerm rhs;
};

// A rule, or a pattern of a pattern table.
struct RuleAst {
  // True for a `pattern`, which lacks `replace` and `promise`.
  bool is_pattern = false;
  // True for `rule @name of P;`, which names a rule that pass P implements in
  // C++; such a rule has no `match`.
  bool is_in_cpp = false;
  std::string name;
  // The passes that apply the rule: `of P, Q`.
  std::vector<std::string> passes;
  std::string place;  // `file:line:column` of the name
  std::string doc;
  RuleBody match;
  RuleBody replace;
  std::vector<RuleCondition> where;
  bool once = false;       // the options `once` and `exclusive`: see
  bool exclusive = false;  // rewrite_rule.h
  RulePromise promise;
};

std::string PrintRuleAst(const RuleAst& rule);
std::string PrintCondition(const RuleCondition& condition);
std::string PrintTerm(const RuleTerm& term);

}  // namespace baton::relay::internal

#endif  // BATON_RELAY_PATTERN_RULE_AST_H_
