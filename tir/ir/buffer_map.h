// BufferMap: the buffers that replace others in a rewrite.

#ifndef BATON_TIR_IR_BUFFER_MAP_H_
#define BATON_TIR_IR_BUFFER_MAP_H_

#include <utility>

#include "absl/functional/function_ref.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Maps buffers, by identity, to their replacements. The map keeps its keys
// alive, so that no later buffer has the address of an earlier one.
class BufferMap {
 public:
  bool empty() const { return entries_.empty(); }

  // The replacement of `buffer`; null if there is none. Valid until the next
  // insertion.
  const Buffer* Find(const Buffer& buffer) const {
    const auto* entry = entries_.Find(buffer.get());
    return entry == nullptr ? nullptr : &entry->second;
  }

  void Set(const Buffer& buffer, Buffer replacement) {
    entries_[buffer.get()] = {buffer, std::move(replacement)};
  }

  // The replacement of `buffer`. If there is none, makes one from the parts of
  // `buffer`, which `edit` changes. `edit` may use the map.
  Buffer FindOrMake(const Buffer& buffer,
                    absl::FunctionRef<void(BufferNode::Parts&)> edit);

 private:
  NodeMap<std::pair<Buffer, Buffer>> entries_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_IR_BUFFER_MAP_H_
