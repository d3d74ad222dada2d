#include "baton/relay/runtime/value_tensors.h"

#include <vector>

#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

std::vector<Tensor> TensorsOf(const Value& value) {
  std::vector<Tensor> tensors;
  std::vector<Value> open = {value};  // the next one last
  while (!open.empty()) {
    const Value next = open.back();
    open.pop_back();
    if (next.is_tensor()) tensors.push_back(next.tensor());
    if (!next.is_tuple()) continue;
    open.insert(open.end(), next.fields().rbegin(), next.fields().rend());
  }
  return tensors;
}

}  // namespace baton::relay
