// Compares two modules by structure: finds the nodes that a change dropped,
// made, moved or altered. Ignores numbers (`%12`), names of variables and the
// order of definitions.
//
//   const StructuralDiff diff = DiffStructure(before, after);
//   std::string text = StructuralDiffText(diff);
//
//   - @main %37 = nn.relu(%36); %36 takes its place
//
// Nodes that both modules share match. A node that a rewrite had to build
// again, because a node below it changed, matches the node from which it was
// built. All unmatched nodes are dropped or made.
//
// The comparison looks through lets, and through local functions that are
// called where they are defined: an operator that FuseOps puts into a function
// has moved.
//
// A function of another level than Relay is compared by the lines of its text
// (indented_diff.h), in which names of variables count:
//
//   ~ @main for i in range(16): -> for i in T.parallel(16):

#ifndef BATON_INSTRUMENT_STRUCTURAL_DIFF_H_
#define BATON_INSTRUMENT_STRUCTURAL_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/instrument/field_changes.h"
#include "baton/instrument/indented_diff.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

// The change of one node.
struct NodeChange {
  using Kind = ChangeKind;
  Kind kind;
  // The global function that contains the node or, if it was dropped, contained
  // it.
  std::string function;
  // `before` is null if the node was made; `after` is null if it was dropped.
  Expr before = {};
  Expr after = {};
  // For a dropped node: the node that its users use now. For a made node: the
  // node that its users used before. Null if it has no users or they disagree.
  Expr place = {};
  // For a moved node: the functions that contained and contain it, global (then
  // null) or local, and the name of the global function that contained it.
  Expr from = {};
  Expr to = {};
  std::string from_function = {};
  // The changed fields, in the order of the class.
  std::vector<FieldChange> fields = {};
  // For a function of another level than Relay: the changed lines of its text.
  // Empty if the program links no text for it, and if the text would be very
  // long since the function is deeply nested.
  std::vector<LineChange> lines = {};
};

// All changes between two modules.
struct StructuralDiff {
  IRModule before;
  IRModule after;
  // Names of global functions, in the order of the modules.
  std::vector<std::string> dropped_functions;
  std::vector<std::string> made_functions;
  // Names of data types that were dropped, made or changed.
  std::vector<std::string> changed_types;
  // Calls, tuples and other nodes with children; dropped nodes first. Changes
  // of variables, constants, lets, local functions and their calls are not
  // listed: where they matter, an operand of another node changed.
  std::vector<NodeChange> changes;
  // The numbers of lets, local functions and their calls that were made and
  // dropped.
  int64_t wrappers_made = 0;
  int64_t wrappers_dropped = 0;
  // The numbers of expressions that gained and lost an inferred type.
  int64_t types_found = 0;
  int64_t types_lost = 0;

  // True if the modules differ at most in names, numbers, spans and the order
  // of definitions.
  bool empty() const;
};

// Takes time linear in the functions that are different nodes in the two
// modules.
StructuralDiff DiffStructure(const IRModule& before, const IRModule& after);

// A line for each change; empty if there is none. `%N` on lines with `-`, and
// on the left of an arrow, is a number in the text of the first module;
// elsewhere, in the text of the second.
//
//   - @main %37 = nn.relu(%36); %36 takes its place
//   + @main %5 = layout_transform(%4, src_layout="NCHW", dst_layout="NHWC") in
//     place of %4
//   ~ @main %6 = nn.conv2d(%5, %w): attrs.data_layout NCHW -> NHWC
//   > @main nn.dense, nn.relu into %3 = fn
//   + @loops for j in range(4): under for i in range(16):, and 2 lines below it
std::string StructuralDiffText(const StructuralDiff& diff);

// {"dropped_functions":[...],"made_functions":[...],"changed_types":[...],
//  "wrappers_made":0,"wrappers_dropped":0,"types_found":0,"types_lost":0,
//  "changes":[{"kind":"dropped","function":"main","before":"%37 =
//  nn.relu(%36)",
//    "place":"%36"},...]}
//
// The change of a function with changed lines has
//
//   "lines":[{"kind":"made","after":"for j in range(4):",
//             "under":"for i in range(16):","below":2},...]
std::string StructuralDiffJson(const StructuralDiff& diff);

}  // namespace baton

#endif  // BATON_INSTRUMENT_STRUCTURAL_DIFF_H_
