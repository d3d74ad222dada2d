#include "baton/tir/transform/with_parts.h"

#include <utility>

#include "baton/ir/origin.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

PrimFunc WithParts(const PrimFunc& function, PrimFuncNode::Parts parts) {
  PrimFunc result(std::move(parts), function->span());
  LogOrigins(result, function.get());
  return result;
}

}  // namespace baton::tir
