// Packed weights that several lowerings of one model share.

#ifndef BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
#define BATON_BACKEND_CPU_SHARED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/tensor.h"

namespace baton::cpu {

// A map from a weight, a number of groups and a layout to the packed weight.
// Two weights are equal if their addresses, shapes and element types are; this
// object keeps weights alive, so that an address is not used again. `groups` is
// -1 for products. `alternate` selects one of two packed layouts: true for a
// transposed weight of a product, planar input of a convolution, or signed data
// of a convolution of bytes.
class SharedWeights {
 public:
  // Null if the weight has not been packed.
  const PackedConstants::Entry* Find(const Tensor& weight, int64_t groups,
                                     bool alternate) const {
    const auto found = entries_.find(KeyOf(weight, groups, alternate));
    return found == entries_.end() ? nullptr : &found->second.second;
  }
  void Add(const Tensor& weight, int64_t groups, bool alternate,
           PackedConstants::Entry entry) {
    entries_.insert_or_assign(KeyOf(weight, groups, alternate),
                              std::make_pair(weight, std::move(entry)));
  }

 private:
  using Key =
      std::tuple<const void*, std::vector<int64_t>, std::string, int64_t, bool>;
  static Key KeyOf(const Tensor& weight, int64_t groups, bool alternate) {
    return {weight.bytes().data(),
            {weight.shape().begin(), weight.shape().end()},
            weight.dtype().ToString(),
            groups,
            alternate};
  }

  std::map<Key, std::pair<Tensor, PackedConstants::Entry>> entries_;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
