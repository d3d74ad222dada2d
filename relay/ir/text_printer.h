// Prints Relay text: byte for byte the output of TVM 0.14 where that can be
// read back.
//
//   #[version = "0.0.5"]
//   def @main(%x: Tensor[(1, 8), float32]) {
//     %0 = nn.relu(%x);
//     add(%0, %0)
//   }
//
// Shared and nested nodes are numbered; `%0` is visible to the end of its
// definition. Constants that are not plain numbers are written as
// `meta[relay.Constant][0]`; their data follows in a `#[metadata]` section,
// which is TVM's JSON.
//
// Departures from TVM: a float prints in six significant digits only if they
// read back to the same bits, else in the shortest form that does; a NaN with a
// payload goes to the metadata; characters that no name may contain are written
// `_`; an unknown type is written `_`.

#ifndef BATON_RELAY_IR_TEXT_PRINTER_H_
#define BATON_RELAY_IR_TEXT_PRINTER_H_

#include <ostream>
#include <string>

#include "baton/ir/module_text.h"  // IWYU pragma: export
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// ir/module_text.h declares the functions for modules. Linking this library
// adds Relay's functions and data types to them.

// The whole text; it can be parsed again if `metadata` is on.
std::string AsText(const Expr& expr, const TextOptions& options = {});

// Writes the same text to a stream. Buffers only nested functions, branches and
// lets until they are complete.
void AsText(const Expr& expr, std::ostream& os,
            const TextOptions& options = {});

// AsText() with kTextForPeople.
std::string ToText(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_PRINTER_H_
