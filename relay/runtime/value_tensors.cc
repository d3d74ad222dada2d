#include "baton/relay/runtime/value_tensors.h"

#include <vector>

#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

// Calls `visit` with `value` if it is no tuple, or with its fields at any depth
// that are none, in order.
template <typename Visit>
void VisitLeaves(const Value& value, const Visit& visit) {
  std::vector<Value> open = {value};  // the next one last
  while (!open.empty()) {
    const Value next = open.back();
    open.pop_back();
    if (!next.is_tuple()) {
      visit(next);
      continue;
    }
    open.insert(open.end(), next.fields().rbegin(), next.fields().rend());
  }
}

}  // namespace

std::vector<Tensor> TensorsOf(const Value& value) {
  std::vector<Tensor> tensors;
  VisitLeaves(value, [&tensors](const Value& leaf) {
    if (leaf.is_tensor()) tensors.push_back(leaf.tensor());
  });
  return tensors;
}

bool HasOnlyTensors(const Value& value) {
  bool only_tensors = true;
  VisitLeaves(value, [&only_tensors](const Value& leaf) {
    only_tensors = only_tensors && leaf.is_tensor();
  });
  return only_tensors;
}

}  // namespace baton::relay
