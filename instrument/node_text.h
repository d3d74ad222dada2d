// Names nodes as they appear in the text of a module, for reports about passes.

#ifndef BATON_INSTRUMENT_NODE_TEXT_H_
#define BATON_INSTRUMENT_NODE_TEXT_H_

#include <string>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"

namespace baton {

// Names the nodes of one module. Nodes of other modules have no numbers.
class NodeText {
 public:
  // Takes time linear in the size of the module, which must outlive the object.
  explicit NodeText(const IRModule& module);

  // `%12`, `%x`, `2`; `nn.relu` for an expression that the text writes in
  // place; `nothing` for null.
  std::string Name(const Expr& expr) const;
  // `%12 = nn.relu`, or without the number if it has none.
  std::string Title(const Expr& expr) const;
  // `%12 = nn.relu(%11)`, or without the number if it has none.
  std::string Line(const Expr& expr) const;
  // `nn.relu`, `Tuple`: without operands.
  static std::string Head(const Expr& expr);
  // The number of `expr` in the text; -1 if it has none.
  int Number(const Expr& expr) const;

 private:
  std::string Body(const Expr& expr) const;

  NodeMap<int> numbers_;  // the number plus one
};

// The name of an operator, a global function (`@f`) or a constructor, which has
// the same meaning everywhere; empty for any other node.
std::string NameOfGlobal(const ExprNode* node);

}  // namespace baton

#endif  // BATON_INSTRUMENT_NODE_TEXT_H_
