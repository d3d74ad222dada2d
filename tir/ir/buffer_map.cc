#include "baton/tir/ir/buffer_map.h"

namespace baton::tir {

Buffer BufferMap::FindOrMake(const Buffer& buffer,
                             absl::FunctionRef<void(BufferNode::Parts&)> edit) {
  if (const Buffer* known = Find(buffer)) return *known;
  BufferNode::Parts parts = buffer->parts();
  edit(parts);
  Buffer result(std::move(parts), buffer->span());
  Set(buffer, result);
  return result;
}

}  // namespace baton::tir
