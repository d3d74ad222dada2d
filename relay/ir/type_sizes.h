// Counts the nodes of types as trees.
//
// Types share their parts: sixty tuples, each of which has the previous tuple
// twice, are sixty nodes, but a tree of 2^60. Code that walks or prints a type
// as a tree takes that long, so inference bounds the trees (base/limits.h).

#ifndef BATON_RELAY_IR_TYPE_SIZES_H_
#define BATON_RELAY_IR_TYPE_SIZES_H_

#include <cstdint>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"

namespace baton::relay {

// Counts the nodes of types, symbolic dimensions among them, as trees. Visits
// each node once, even if several nodes share it.
class TypeSizes {
 public:
  // At most kMost. Null is 0.
  int64_t Of(const Type& type);

  // The number of different types and dimensions with parts that were counted.
  int64_t num_counted() const { return static_cast<int64_t>(sizes_.size()); }

  // The count of all larger types.
  static constexpr int64_t kMost = int64_t{1} << 40;

 private:
  // The counts of types and dimensions that have parts.
  FlatHashMap<const Node*, int64_t> sizes_;
  std::vector<Type> held_;  // so that no address is used again
};

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TYPE_SIZES_H_
