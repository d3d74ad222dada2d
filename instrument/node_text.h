// Nodes as a reader finds them in the text of a module: in reports of what
// passes did.

#ifndef BATON_INSTRUMENT_NODE_TEXT_H_
#define BATON_INSTRUMENT_NODE_TEXT_H_

#include <string>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"

namespace baton {

// Of the nodes of one module. Others have no numbers.
class NodeText {
 public:
  // Linear in the module, which must outlive this.
  explicit NodeText(const IRModule& module);

  // `%12`, `%x`, `2`; of what is written in place, `nn.relu`; `nothing` of
  // null.
  std::string Name(const Expr& expr) const;
  // `%12 = nn.relu`, or without the number if it has none.
  std::string Title(const Expr& expr) const;
  // `%12 = nn.relu(%11)`, or without the number if it has none.
  std::string Line(const Expr& expr) const;
  // `nn.relu`, `Tuple`: without operands.
  static std::string Head(const Expr& expr);
  // -1 if it has none.
  int Number(const Expr& expr) const;

 private:
  std::string Body(const Expr& expr) const;

  NodeMap<int> numbers_;  // and one more
};

// The name of an operator, a global function (`@f`) or a constructor, which
// mean the same wherever they stand; empty for any other node.
std::string NameOfGlobal(const ExprNode* node);

}  // namespace baton

#endif  // BATON_INSTRUMENT_NODE_TEXT_H_
