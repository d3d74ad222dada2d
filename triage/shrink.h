// Shrinker: generates smaller variants of a program, for a reducer.
//
// Every function here returns typed, well-formed programs, in a fixed order.
// The caller tests if they still fail.

#ifndef BATON_TRIAGE_SHRINK_H_
#define BATON_TRIAGE_SHRINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/triage/shrink_loops.h"

namespace baton {

// The size of a program: first the code, then the amount of computation.
struct ProgramSize {
  int64_t weight = 0;   // of nodes, attributes, functions
  double elements = 0;  // of parameters and constants

  friend bool operator<(const ProgramSize& a, const ProgramSize& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.elements < b.elements;
  }
};

ProgramSize SizeOf(const IRModule& module);

// `3 calls`, each node counted once, or `2 statements` of functions of loops; or
// both.
std::string SizeText(const IRModule& module);

// Makes a smaller program on demand; nullopt if the result would be invalid.
using Smaller = std::function<std::optional<IRModule>()>;

// Infers the types of `module`; nullopt if that fails or it is not well-formed.
std::optional<IRModule> Typed(const IRModule& module);

// The parts of a module of one kind, which are numbered, and variants without
// the parts `begin` to `end - 1`. Large programs lose many parts at once.
struct ProgramParts {
  size_t count = 0;
  std::function<std::vector<Smaller>(size_t begin, size_t end)> without;
};

// Makes variants of a module.
class Shrinker {
 public:
  // If true, drops unused parameters of `main` at once.
  explicit Shrinker(bool drops_unused_params)
      : drops_unused_params_(drops_unused_params) {}

  // Variants: only `main` and the functions to which it refers; each function
  // in place of `main`; without one of the others.
  std::vector<Smaller> Functions(const IRModule& module) const;

  // The functions but `main`.
  ProgramParts FunctionParts(const IRModule& module) const;

  // The nodes of the function `name` in post-order, including those of
  // functions inside it, without variables, constants and operators.
  std::vector<Expr> Nodes(const IRModule& module, absl::string_view name) const;

  // `main` returns `node`; values that `node` uses and does not bind become
  // parameters.
  std::optional<IRModule> ReturnNode(const IRModule& module,
                                     const Expr& node) const;

  // The values of nodes[begin] to nodes[end - 1] of `main` become parameters if
  // other nodes use them, and so are not computed.
  std::optional<IRModule> CutNodes(const IRModule& module,
                                   const std::vector<Expr>& nodes, size_t begin,
                                   size_t end) const;

  // The nodes of `main` but its result, as CutNodes() cuts them.
  ProgramParts NodeParts(const IRModule& module) const;

  // Variants for each node of each function, from the result on: the function
  // returns the node; the node becomes a parameter; one of its operands of the
  // same type replaces it; the body of the function that it calls; its branch;
  // its body.
  std::vector<Smaller> EachNode(const IRModule& module) const;

  // Variants: two parameters of one type become one. A constant becomes a
  // parameter, then a simple number.
  std::vector<Smaller> Leaves(const IRModule& module) const;

  // Variants: attributes of calls and functions get their defaults.
  std::vector<Smaller> Attributes(const IRModule& module) const;

  // Variants: functions of loops without a statement, with a part of a statement
  // or of an expression in its place.
  std::vector<Smaller> Loops(const IRModule& module) const;

  // The statements or the expressions of all functions of loops.
  ProgramParts LoopsParts(const IRModule& module, tir::LoopsPart part) const;

  // Variants: shapes get smaller extents. First the same number everywhere,
  // with and without that number in attributes; then one axis of one parameter.
  std::vector<Smaller> Extents(const IRModule& module) const;

 private:
  std::optional<IRModule> WithBody(const IRModule& module,
                                   const std::string& name,
                                   const Expr& body) const;

  bool drops_unused_params_;
};

}  // namespace baton

#endif  // BATON_TRIAGE_SHRINK_H_
