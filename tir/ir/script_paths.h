// ScriptPaths: finds the places in a function at which variables and buffers
// are used. The printer declares variables and buffers that nothing defines at
// the innermost place around all their uses.

#ifndef BATON_TIR_IR_SCRIPT_PATHS_H_
#define BATON_TIR_IR_SCRIPT_PATHS_H_

#include <cstdint>
#include <vector>

#include "baton/ir/node.h"
#include "baton/ir/node_map.h"

namespace baton::tir {

// A place is a statement, a function, a lambda, or a node that occurs several
// times. The place of a variable or buffer is the innermost place around all
// its uses, including those in each occurrence of a node; nodes are visited
// once.
class ScriptPaths {
 public:
  ScriptPaths() = default;
  // `root` is a function, a statement or an expression.
  explicit ScriptPaths(const Node* root);
  ScriptPaths(const ScriptPaths&) = delete;
  ScriptPaths& operator=(const ScriptPaths&) = delete;

  // The place of a variable or buffer; -1 if it does not occur.
  int PlaceOf(const Node* variable) const;
  // The node of a place, and the place around it, -1 at the root.
  const Node* NodeAt(int place) const { return places_[place].node; }
  int ParentOf(int place) const { return places_[place].parent; }
  // True if all uses of `variable` are inside of `node`, wherever it occurs.
  bool IsAround(const Node* node, const Node* variable) const;
  // The number of uses of `variable`.
  int64_t CountOf(const Node* variable) const;

 private:
  struct Place {
    const Node* node;
    int parent;
    int end;  // the places inside have numbers up to this one
    bool open;
    int shared;  // the innermost place around all occurrences of the node
  };
  struct Use {
    int place = 0;   // around the uses, each where it is first met
    int shared = 0;  // around the occurrences of each
    int64_t count = 0;
  };
  struct Met {
    const Node* variable;
    int place;
  };
  void Meet(const Node* variable, int place);
  // The place, or the innermost one around it that is still open.
  int OpenAround(int place) const;

  std::vector<Place> places_;
  std::vector<Met> met_;
  NodeMap<Use> uses_;
  NodeMap<int> pointers_;  // the places that define them
  NodeMap<int> place_of_node_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_PATHS_H_
