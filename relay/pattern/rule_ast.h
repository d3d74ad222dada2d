// The syntax tree of a rule's text, from which BuildRule() makes a RewriteRule.

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

// The place of something in the text, in bytes.
struct RulePlace {
  int64_t begin = 0;
  int64_t end = 0;
};

struct RuleAttr {
  std::string key;
  std::string variable;  // if not empty, in place of the value
  AttrValue value;
  RulePlace place;
};

// One node of `match` or `replace`. Operands have smaller numbers.
struct RuleNode {
  enum class Kind : uint8_t {
    kName,       // %name
    kAny,        // _
    kNumber,     // 3f
    kConst,      // const(...): `number` if it has one, `name` if it has one
    kVar,        // var(...)
    kCall,       // op(...): a call of an operator
    kCallOf,     // operand(...): a call of what the first operand is
    kTuple,      // (...)
    kField,      // operand.index
    kEither,     // either(...)
    kDominates,  // dominates(...)
    kRepeat,     // repeat(%name, ...): what stands for it, and the part
    kSelf,       // %name, where a repetition binds it
    kParam,      // %name, where a function or a let binds it
    kFunction,   // fn (...) { ... }: parameters, then the body
    kLet,        // let %name = ...; ...: variable, value, body
    kIf,         // if (...) { ... } else { ... }
    kBlock,      // the last part between braces that have bindings
  };
  Kind kind;
  RulePlace place;
  std::string name;
  bool has_number = false;
  double number = 0;
  DType dtype;
  Op op;
  int index = 0;  // of kField; of kBlock, the scope of its bindings
  // Of kCall, kCallOf, kTuple, kFunction: any operands, written `...`.
  bool any_operands = false;
  // Of kName: a function or a let around it binds the name.
  bool in_scope = false;
  std::vector<int> operands;
  std::vector<RuleAttr> attrs;
  std::string attrs_of;  // the name after `**`
  std::string type_of;   // of a kParam: `%name: type(%type_of)`
};

struct RuleBinding {
  std::string name;
  int node;
  int scope = 0;  // the block that it stands in; 0 for that of the body
};

// `match` or `replace`.
struct RuleBody {
  std::vector<RuleNode> nodes;
  std::vector<RuleBinding> bindings;
  int root = -1;
};

struct RuleTerm {
  enum class Kind : uint8_t {
    kValue,     // a literal
    kVariable,  // an attribute
    kDType,
    kRank,
    kShape,
    kDim,
    kElements,
    kType,
    kValueOf,
    kUses,
    kOp,
  };
  Kind kind;
  RulePlace place;
  AttrValue value;
  std::string name;
  int64_t axis = 0;
};

struct RuleCondition {
  enum class Op : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn };
  RuleTerm lhs;
  Op op;
  RuleTerm rhs;
};

struct RuleAst {
  // `pattern`: without `replace` and `promise`.
  bool is_pattern = false;
  std::string name;
  std::string place;  // `file:line:column` of the name
  std::string doc;
  RuleBody match;
  RuleBody replace;
  std::vector<RuleCondition> where;
  bool once = false;
  bool exclusive = false;
  RulePromise promise;
};

std::string PrintRuleAst(const RuleAst& rule);
std::string PrintCondition(const RuleCondition& condition);

}  // namespace baton::relay::internal

#endif  // BATON_RELAY_PATTERN_RULE_AST_H_
