#include "baton/relay/runtime/kernel_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

bool SameType(const Type& a, const Type& b) {
  if (a == b) return true;
  return a.defined() && b.defined() && TypeEqual(a, b);
}

// True for the same elements at the same address: the cache compares no others.
bool SameTensor(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() &&
         a.shape() == b.shape();
}

}  // namespace

bool KernelCache::Flatten(absl::Span<const Value> values, Parts& parts) {
  std::vector<const Value*> work;
  const auto push = [&work](absl::Span<const Value> fields) {
    for (size_t i = fields.size(); i-- > 0;) work.push_back(&fields[i]);
  };
  push(values);
  while (!work.empty()) {
    const Value& value = *work.back();
    work.pop_back();
    if (value.is_tensor()) {
      parts.push_back({&value.tensor(), 0});
    } else if (value.is_tuple()) {
      parts.push_back({nullptr, value.fields().size()});
      push(value.fields());
    } else {
      return false;
    }
  }
  return true;
}

uint64_t KernelCache::HashOf(const CallNode& call, const Parts& parts) {
  size_t hash = absl::HashOf(call.op_node());
  for (const Part& part : parts) {
    hash = part.tensor == nullptr
               ? absl::HashOf(hash, part.num_fields)
               : absl::HashOf(hash, part.tensor->data(), part.tensor->shape());
  }
  return hash;
}

bool KernelCache::Matches(const Entry& entry, const CallNode& call,
                          const Parts& parts) {
  return entry.op == call.op() &&
         std::equal(
             entry.parts.begin(), entry.parts.end(), parts.begin(), parts.end(),
             [](const Part& a, const Part& b) {
               if (a.tensor == nullptr || b.tensor == nullptr) {
                 return a.tensor == b.tensor && a.num_fields == b.num_fields;
               }
               return SameTensor(*a.tensor, *b.tensor);
             }) &&
         AttrsEqual(entry.attrs, call.attrs()) &&
         SameType(entry.type, call.type()) &&
         std::equal(entry.type_args.begin(), entry.type_args.end(),
                    call.type_args().begin(), call.type_args().end(), SameType);
}

const Value* KernelCache::Find(const CallNode& call,
                               absl::Span<const Value> args) {
  Parts parts;
  if (Flatten(args, parts)) {
    const auto it = entries_.find(HashOf(call, parts));
    if (it != entries_.end()) {
      for (Entry& entry : it->second) {
        if (!Matches(entry, call, parts)) continue;
        entry.used = true;
        ++hits_;
        return &entry.result;
      }
    }
  }
  ++misses_;
  return nullptr;
}

Tensor KernelCache::Canonical(const Tensor& tensor, uint64_t hash) {
  const auto it = tensors_.find(hash);
  if (it == tensors_.end()) return tensor;
  for (const Tensor& held : it->second) {
    if (held == tensor) return held;
  }
  return tensor;
}

void KernelCache::Hold(const Entry& entry) {
  Parts results;
  Flatten(absl::MakeConstSpan(&entry.result, 1), results);
  size_t i = 0;
  for (const Part& part : results) {
    if (part.tensor == nullptr) continue;
    std::vector<Tensor>& held = tensors_[entry.result_hashes[i++]];
    const bool is_held = std::any_of(
        held.begin(), held.end(),
        [&](const Tensor& tensor) { return SameTensor(tensor, *part.tensor); });
    if (is_held) continue;
    held.push_back(*part.tensor);
    bytes_ += part.tensor->byte_size();
  }
}

Value KernelCache::Add(const CallNode& call, absl::Span<const Value> args,
                       Value result) {
  Parts results;
  // Kernels return tensors and tuples of tensors.
  if (bytes_ >= max_bytes_ ||
      !Flatten(absl::MakeConstSpan(&result, 1), results)) {
    return result;
  }
  Entry entry = {
      .op = call.op(),
      .attrs = call.attrs(),
      .type = call.type(),
      .type_args = {call.type_args().begin(), call.type_args().end()},
      .args = {args.begin(), args.end()},
      .parts = {},
      .result = {},
      .result_hashes = {},
      .used = true};
  if (!Flatten(entry.args, entry.parts)) return result;
  std::vector<Value> fields;
  for (const Part& part : results) {
    if (part.tensor == nullptr) continue;
    entry.result_hashes.push_back(part.tensor->Hash());
    fields.emplace_back(Canonical(*part.tensor, entry.result_hashes.back()));
  }
  if (result.is_tensor()) {
    entry.result = fields[0];
  } else if (results.size() == result.fields().size() + 1 &&
             fields.size() == result.fields().size()) {
    // A tuple of nothing but tensors.
    entry.result = Value::MakeTuple(std::move(fields));
  } else {
    entry.result = result;
  }
  Value known = entry.result;
  Hold(entry);
  entries_[HashOf(call, entry.parts)].push_back(std::move(entry));
  return known;
}

void KernelCache::NextRound() {
  tensors_.clear();
  bytes_ = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    std::vector<Entry>& entries = it->second;
    std::erase_if(entries, [](const Entry& entry) { return !entry.used; });
    for (Entry& entry : entries) {
      entry.used = false;
      Hold(entry);
    }
    const auto next = std::next(it);
    if (entries.empty()) entries_.erase(it);
    it = next;
  }
}

}  // namespace baton::relay
