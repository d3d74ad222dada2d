// Comparison of programs by structure.
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
  // Whether a free variable may equal another one; the same one throughout. If
  // false, a free variable equals only itself.
  bool map_free_vars = false;
};

bool StructuralEqual(const Expr& a, const Expr& b,
                     const StructuralEqualOptions& options = {});
bool StructuralEqual(const Type& a, const Type& b,
                     const StructuralEqualOptions& options = {});
// Each function is compared on its own: sharing across functions is ignored,
// and so is the order of the functions.
bool StructuralEqual(const IRModule& a, const IRModule& b,
                     const StructuralEqualOptions& options = {});

// Where two programs differ and how; nullopt if they are equal.
//
//   @main.body.args[0].attrs.padding: [0, 0] is not [1, 1]
std::optional<std::string> FirstDifference(
    const Expr& a, const Expr& b, const StructuralEqualOptions& options = {});
std::optional<std::string> FirstDifference(
    const IRModule& a, const IRModule& b,
    const StructuralEqualOptions& options = {});

// A hash that structurally equal programs share, whatever the options. The
// same in every run. O(n); constants, types, and functions without free
// variables that were hashed before, or that a hashed module holds, take O(1).
uint64_t StructuralHash(const Expr& expr);
uint64_t StructuralHash(const Type& type);
uint64_t StructuralHash(const IRModule& module);

}  // namespace baton

#endif  // BATON_IR_STRUCTURAL_EQUAL_H_
