// Prints types as Relay text, appended to a string. Type::ToString writes
// symbolic dimensions as expressions over their names; the module printer
// writes them as references into the metadata.

#ifndef BATON_IR_TYPE_TEXT_H_
#define BATON_IR_TYPE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "baton/ir/type.h"

namespace baton {

// Appends the text of a symbolic dimension.
using DimTextFn = absl::FunctionRef<void(const DimExprNode*, std::string*)>;

// Appends the expression: `n`, `(n * 16)`.
void AppendDimExpr(const DimExprNode* dim, std::string* out);

// Appends the text of `type`, which is not null, to any nesting depth.
void AppendType(const TypeNode* type, DimTextFn dim_text, std::string* out);

// Appends decimal digits; faster than a stream or StrAppend.
void AppendInt(int64_t value, std::string* out);

}  // namespace baton

#endif  // BATON_IR_TYPE_TEXT_H_
