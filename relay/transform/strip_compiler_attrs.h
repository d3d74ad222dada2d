// Removes attributes that become wrong when a function is rewritten.

#ifndef BATON_RELAY_TRANSFORM_STRIP_COMPILER_ATTRS_H_
#define BATON_RELAY_TRANSFORM_STRIP_COMPILER_ATTRS_H_

#include "baton/ir/attrs.h"

namespace baton::relay {

// Removes from `attrs` the attributes Primitive, Composite, Compiler, Extern
// and global_symbol, and the artifact of a code generator.
DictAttrs StripCompilerAttrs(DictAttrs attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_STRIP_COMPILER_ATTRS_H_
