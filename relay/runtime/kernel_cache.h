// KernelCache: keeps results of kernels from one evaluation to the next, so
// that values that two programs share are computed once.
//
// The key of a call is its operator, its attributes and the tensors of its
// arguments. The node itself does not matter: the call may be in another
// function, bound by a let, or built anew. A result that has the bits of a
// tensor in the cache is replaced by that tensor. So calls that follow a change
// that changes no values are found as well.

#ifndef BATON_RELAY_RUNTIME_KERNEL_CACHE_H_
#define BATON_RELAY_RUNTIME_KERNEL_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// Not thread-safe.
class KernelCache {
 public:
  // Adds nothing once the results in the cache have `max_bytes` bytes.
  explicit KernelCache(int64_t max_bytes = int64_t{2} << 30)
      : max_bytes_(max_bytes) {}
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // The result of an equal call; null if there is none. Valid until the next
  // Add or NextRound. `call` is a typed call of an operator.
  const Value* Find(const CallNode& call, absl::Span<const Value> args);

  // Adds the result of a kernel for a call that Find did not find. Returns the
  // result, with cached tensors in place of equal ones.
  Value Add(const CallNode& call, absl::Span<const Value> args, Value result);

  // Call it before each evaluation. Drops entries that were neither found nor
  // added since the last call of NextRound.
  void NextRound();

  int64_t hits() const { return hits_; }      // calls that Find found
  int64_t misses() const { return misses_; }  // calls that Find did not find

 private:
  // A tensor, or the beginning of a tuple with `num_fields` fields.
  struct Part {
    const Tensor* tensor;  // null for a tuple
    size_t num_fields;
  };
  using Parts = std::vector<Part>;

  // The parts of the call, and not the call itself: a second handle to a node
  // makes traversals slower (Node::unique).
  struct Entry {
    Expr op;
    Attrs attrs;
    Type type;
    std::vector<Type> type_args;
    std::vector<Value> args;  // own the tensors of `parts`
    Parts parts;
    Value result;
    std::vector<uint64_t> result_hashes;  // of the tensors in the result
    bool used;                            // in this round
  };

  // Returns false if a part is neither a tensor nor a tuple: such calls are not
  // cached.
  static bool Flatten(absl::Span<const Value> values, Parts& parts);
  static uint64_t HashOf(const CallNode& call, const Parts& parts);
  static bool Matches(const Entry& entry, const CallNode& call,
                      const Parts& parts);
  // The cached tensor with these bits; `tensor` if there is none.
  Tensor Canonical(const Tensor& tensor, uint64_t hash);
  void Hold(const Entry& entry);

  const int64_t max_bytes_;
  int64_t bytes_ = 0;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
  FlatHashMap<uint64_t, std::vector<Entry>> entries_;
  FlatHashMap<uint64_t, std::vector<Tensor>> tensors_;  // by Tensor::Hash
};

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_KERNEL_CACHE_H_
