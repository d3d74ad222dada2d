// Compares and hashes programs by structure.
//
// Two programs are structurally equal if they differ at most in the names of
// bound variables, in spans, and in the types that inference attached. Global
// functions are matched by name, constants by value, attributes field by
// field. Sharing matters: a node used twice does not equal two nodes used
// once, except where the node is a constant, a projection or the empty tuple.
// A call without attributes equals one whose attributes are all defaults.

#ifndef BATON_IR_STRUCTURAL_EQUAL_H_
#define BATON_IR_STRUCTURAL_EQUAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"

namespace baton {

struct StructuralEqualOptions {
  // If true, a free variable may match another one, always the same one. If
  // false, a free variable equals only itself.
  bool map_free_vars = false;
};

bool StructuralEqual(const Expr& a, const Expr& b,
                     const StructuralEqualOptions& options = {});
bool StructuralEqual(const Type& a, const Type& b,
                     const StructuralEqualOptions& options = {});
// Compares each function separately: ignores sharing across functions, and the
// order of the functions.
bool StructuralEqual(const IRModule& a, const IRModule& b,
                     const StructuralEqualOptions& options = {});

// The place and kind of the first difference; nullopt if the programs are
// equal.
//
//   @main.body.args[0].attrs.padding: [0, 0] is not [1, 1]
std::optional<std::string> FirstDifference(
    const Expr& a, const Expr& b, const StructuralEqualOptions& options = {});
std::optional<std::string> FirstDifference(
    const IRModule& a, const IRModule& b,
    const StructuralEqualOptions& options = {});

// A hash that is equal for structurally equal programs, whatever the options,
// and equal in every run. Takes time linear in the program. Constants, types,
// and functions without free variables take O(1) if they were hashed before or
// a hashed module contains them.
uint64_t StructuralHash(const Expr& expr);
uint64_t StructuralHash(const Type& type);
uint64_t StructuralHash(const IRModule& module);

}  // namespace baton

#endif  // BATON_IR_STRUCTURAL_EQUAL_H_
