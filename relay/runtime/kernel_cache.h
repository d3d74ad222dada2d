// KernelCache: results of kernels, kept from one evaluation to the next, so
// that what two programs share is computed once.
//
// A call is known again by its operator, its attributes and the tensors that it
// is given, wherever it stands: in another function, bound by a let, or in a
// node that was built anew. A result with the bits of a tensor that the cache
// holds is that tensor, so what follows a change that changes no values is
// known again as well.

#ifndef BATON_RELAY_RUNTIME_KERNEL_CACHE_H_
#define BATON_RELAY_RUNTIME_KERNEL_CACHE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton {

class KernelCache {
 public:
  // Adds nothing once the results that it holds have so many bytes.
  explicit KernelCache(int64_t max_bytes = int64_t{2} << 30)
      : max_bytes_(max_bytes) {}
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // The result of an equal call, valid until the next Add or NextRound; null if
  // there is none. `call` is a typed call of an operator.
  const Value* Find(const CallNode& call, absl::Span<const Value> args);

  // Remembers what a kernel returned for a call that Find did not know. Returns
  // it, with known tensors in place of equal ones.
  Value Add(const CallNode& call, absl::Span<const Value> args, Value result);

  // Call it before each evaluation: forgets what was neither found nor added
  // since the last call of NextRound.
  void NextRound();

  int64_t hits() const { return hits_; }      // calls that Find knew
  int64_t misses() const { return misses_; }  // and those that it did not

 private:
  // A tensor, or the beginning of a tuple of so many fields.
  struct Part {
    const Tensor* tensor;  // null for a tuple
    size_t num_fields;
  };
  using Parts = std::vector<Part>;

  // Has what makes the call known again, and not the call: a node with one more
  // holder is slower to walk over.
  struct Entry {
    Expr op;
    Attrs attrs;
    Type type;
    std::vector<Type> type_args;
    std::vector<Value> args;  // own the tensors of `parts`
    Parts parts;
    Value result;
    std::vector<uint64_t> result_hashes;  // of its tensors
    bool used;                            // in this round
  };

  // False if a part is neither a tensor nor a tuple: such a call is not kept.
  static bool Flatten(absl::Span<const Value> values, Parts& parts);
  static uint64_t HashOf(const CallNode& call, const Parts& parts);
  static bool Matches(const Entry& entry, const CallNode& call,
                      const Parts& parts);
  // The tensor that is held with these bits; `tensor` if there is none.
  Tensor Canonical(const Tensor& tensor, uint64_t hash);
  void Hold(const Entry& entry);

  const int64_t max_bytes_;
  int64_t bytes_ = 0;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
  FlatHashMap<uint64_t, std::vector<Entry>> entries_;
  FlatHashMap<uint64_t, std::vector<Tensor>> tensors_;  // by Tensor::Hash
};

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_KERNEL_CACHE_H_
