// Smaller programs: what a reducer tries.
//
// Every function here returns programs that are typed and well-formed, in a
// fixed order; whether they still show what is looked for is for others to say.

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

namespace baton {

// How much there is to read in a program, then how much there is to compute.
struct ProgramSize {
  int64_t weight = 0;   // of nodes, attributes, functions
  double elements = 0;  // of parameters and constants

  friend bool operator<(const ProgramSize& a, const ProgramSize& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.elements < b.elements;
  }
};

ProgramSize SizeOf(const IRModule& module);

// Calls in all functions, each node counted once.
int64_t NumCalls(const IRModule& module);

// Makes a smaller program when it is asked; nullopt if that would not be one.
using Smaller = std::function<std::optional<IRModule>()>;

// `module` with types; nullopt if it has none or is not well-formed.
std::optional<IRModule> Typed(const IRModule& module);

class Shrinker {
 public:
  // Whether parameters of `main` that nothing uses are dropped at once.
  explicit Shrinker(bool drops_unused_params)
      : drops_unused_params_(drops_unused_params) {}

  // `main` alone with what it refers to; then with each function in the place
  // of `main`; then without one of the others.
  std::vector<Smaller> Functions(const IRModule& module) const;

  // The nodes of `name` that are neither variables, constants nor operators, in
  // post-order, those of functions inside it among them.
  std::vector<Expr> Nodes(const IRModule& module, absl::string_view name) const;

  // `main` returns `node`; what `node` uses and does not bind are parameters.
  std::optional<IRModule> ReturnNode(const IRModule& module,
                                     const Expr& node) const;

  // The values of nodes[begin] to nodes[end - 1] of `main` that something else
  // uses are parameters, and so not computed.
  std::optional<IRModule> CutNodes(const IRModule& module,
                                   const std::vector<Expr>& nodes, size_t begin,
                                   size_t end) const;

  // For each node of each function, from the result on: the function returns
  // it; it is a parameter; one of its operands of the same type; what a
  // function that it calls makes; its branch, its body.
  std::vector<Smaller> EachNode(const IRModule& module) const;

  // Two parameters of one type are one. A constant is a parameter, then a
  // simple number.
  std::vector<Smaller> Leaves(const IRModule& module) const;

  // Attributes of calls and functions have their defaults.
  std::vector<Smaller> Attributes(const IRModule& module) const;

  // Shapes have smaller extents: the same number everywhere, with and without
  // that number in attributes; then on one axis of one parameter.
  std::vector<Smaller> Extents(const IRModule& module) const;

 private:
  std::optional<IRModule> WithBody(const IRModule& module,
                                   const std::string& name,
                                   const Expr& body) const;

  bool drops_unused_params_;
};

}  // namespace baton

#endif  // BATON_TRIAGE_SHRINK_H_
