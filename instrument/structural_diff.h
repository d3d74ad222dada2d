// The difference of two modules by structure: which nodes a change dropped,
// made, moved and altered. Numbers (`%12`), names of variables and the order of
// definitions do not count.
//
//   const StructuralDiff diff = DiffStructure(before, after);
//   std::string text = StructuralDiffText(diff);
//
//   - @main %37 = nn.relu(%36); %36 takes its place
//
// Nodes that both modules share are the same; nodes that a rewrite had to build
// again, because something below them changed, are matched with what they were
// built from. What is left over has been dropped or made.
//
// Lets, and local functions that are called where they are defined, are seen
// through: an operator that FuseOps puts into a function has moved.

#ifndef BATON_INSTRUMENT_STRUCTURAL_DIFF_H_
#define BATON_INSTRUMENT_STRUCTURAL_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

// One field of a node that has another value afterwards: `attrs.strides`,
// `args[1]`, `type`.
struct FieldChange {
  std::string field;
  // The values as text; of operands, the nodes instead.
  std::string before = {};
  std::string after = {};
  Expr before_node = {};
  Expr after_node = {};
};

struct NodeChange {
  enum class Kind : uint8_t { kDropped, kMade, kMoved, kChanged };
  Kind kind;
  // The global function in which it is or, if dropped, was.
  std::string function;
  // Null if it was made; null if it was dropped.
  Expr before = {};
  Expr after = {};
  // Of one that was dropped: what its users use now. Of one that was made: what
  // they used before. Null where users do not say, or do not agree.
  Expr place = {};
  // Of one that moved: the functions, global (then null) or local, in which it
  // was and is, and the name of the global function in which it was.
  Expr from = {};
  Expr to = {};
  std::string from_function = {};
  // Sorted as the class lists its fields.
  std::vector<FieldChange> fields = {};
};

struct StructuralDiff {
  IRModule before;
  IRModule after;
  // Names of global functions, in the order of the modules.
  std::vector<std::string> dropped_functions;
  std::vector<std::string> made_functions;
  // Names of data types that were dropped, made or changed.
  std::vector<std::string> changed_types;
  // Calls, tuples and other nodes with children. Variables, constants, lets,
  // local functions and their calls are no changes of their own: where they
  // matter, an operand of another node changed. What was dropped comes first.
  std::vector<NodeChange> changes;
  // Lets, local functions and their calls that were made and dropped.
  int64_t wrappers_made = 0;
  int64_t wrappers_dropped = 0;
  // Expressions that have an inferred type now and had none, and the reverse.
  int64_t types_found = 0;
  int64_t types_lost = 0;

  // True if nothing differs but names, numbers, spans and the order of
  // definitions.
  bool empty() const;
};

// Takes time linear in the functions that are not the same node in both.
StructuralDiff DiffStructure(const IRModule& before, const IRModule& after);

// A line for each change, empty if there is none. `%N` on lines with `-`, and
// what is left of an arrow, is a node of the text before; all else, after.
//
//   - @main %37 = nn.relu(%36); %36 takes its place
//   + @main %5 = layout_transform(%4, src_layout="NCHW", dst_layout="NHWC") in
//     place of %4
//   ~ @main %6 = nn.conv2d(%5, %w): attrs.data_layout NCHW -> NHWC
//   > @main nn.dense, nn.relu into %3 = fn
std::string StructuralDiffText(const StructuralDiff& diff);

// {"dropped_functions":[...],"made_functions":[...],"changed_types":[...],
//  "wrappers_made":0,"wrappers_dropped":0,"types_found":0,"types_lost":0,
//  "changes":[{"kind":"dropped","function":"main","before":"%37 =
//  nn.relu(%36)",
//    "place":"%36"},...]}
std::string StructuralDiffJson(const StructuralDiff& diff);

}  // namespace baton

#endif  // BATON_INSTRUMENT_STRUCTURAL_DIFF_H_
