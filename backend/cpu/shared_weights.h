// Packed weights that several lowerings of one model share.

#ifndef BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
#define BATON_BACKEND_CPU_SHARED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/tensor.h"

namespace baton::cpu {

// A packed weight for each weight, number of groups and form. It keeps the
// weights, by whose memory it knows them.
class SharedWeights {
 public:
  // Null if the weight has not been packed.
  const PackedConstants::Entry* Find(const Tensor& weight, int64_t groups,
                                     bool form) const {
    const auto found = entries_.find({weight.data(), groups, form});
    return found == entries_.end() ? nullptr : &found->second.second;
  }
  void Add(const Tensor& weight, int64_t groups, bool form,
           PackedConstants::Entry entry) {
    entries_.insert_or_assign(std::make_tuple(weight.data(), groups, form),
                              std::make_pair(weight, std::move(entry)));
  }

 private:
  std::map<std::tuple<const void*, int64_t, bool>,
           std::pair<Tensor, PackedConstants::Entry>>
      entries_;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_SHARED_WEIGHTS_H_
