// Packed weights that several lowerings of one model share.

#ifndef BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
#define BATON_BACKEND_CPU_SHARED_WEIGHTS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/tensor.h"

namespace baton::cpu {

// A packed weight for each weight, number of groups and form. Weights are equal
// if address, shape and element type are, so this object keeps them alive. `groups` is -1
// for products. `form` selects one of two packed layouts: true for a transposed
// weight of a product, planar input of a convolution, or signed data of a
// convolution of bytes.
class SharedWeights {
 public:
  // Null if the weight has not been packed.
  const PackedConstants::Entry* Find(const Tensor& weight, int64_t groups,
                                     bool form) const {
    const auto found = entries_.find(KeyOf(weight, groups, form));
    return found == entries_.end() ? nullptr : &found->second.second;
  }
  void Add(const Tensor& weight, int64_t groups, bool form,
           PackedConstants::Entry entry) {
    entries_.insert_or_assign(KeyOf(weight, groups, form),
                              std::make_pair(weight, std::move(entry)));
  }

  // Replaces `weight` by a tensor of its type at the address of its packed form,
  // which it keeps alive, and returns that tensor; or returns `weight` if it has
  // no packed form, several, or a smaller one.
  absl::StatusOr<Tensor> ReplaceByPacked(const Tensor& weight) {
    auto found = entries_.end();
    for (auto it =
             entries_.lower_bound(Key{weight.data(), {}, "", kLeast, false});
         it != entries_.end() && std::get<0>(it->first) == weight.data();
         ++it) {
      if (found != entries_.end()) return weight;
      found = it;
    }
    if (found == entries_.end() ||
        found->second.first.shape() != weight.shape()) {
      return weight;
    }
    const Tensor packed = found->second.second.tensor;
    if (packed.byte_size() < weight.byte_size()) return weight;
    absl::StatusOr<Tensor> result = Tensor::FromBuffer(
        weight.dtype(), weight.shape(),
        packed.bytes().substr(0, static_cast<size_t>(weight.byte_size())),
        std::make_shared<Tensor>(packed));
    if (!result.ok()) return result;
    const Key key = found->first;
    PackedConstants::Entry entry = std::move(found->second.second);
    entries_.erase(found);
    Add(*result, std::get<3>(key), std::get<4>(key), std::move(entry));
    replaced_.insert(result->data());
    return result;
  }
  // True for tensors that ReplaceByPacked() made.
  bool IsPacked(const Tensor& weight) const {
    return replaced_.count(weight.data()) > 0;
  }

 private:
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

  using Key =
      std::tuple<const void*, std::vector<int64_t>, std::string, int64_t, bool>;
  static Key KeyOf(const Tensor& weight, int64_t groups, bool form) {
    return {weight.data(),
            {weight.shape().begin(), weight.shape().end()},
            weight.dtype().ToString(),
            groups,
            form};
  }

  std::map<Key, std::pair<Tensor, PackedConstants::Entry>> entries_;
  std::set<const void*> replaced_;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
