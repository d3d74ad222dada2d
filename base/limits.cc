#include "baton/base/limits.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace baton {
namespace {

constexpr Limits kDefaults;

// Null for the defaults.
constinit thread_local const Limits* current_limits = nullptr;

}  // namespace

const Limits& CurrentLimits() {
  return current_limits == nullptr ? kDefaults : *current_limits;
}

const Limits* internal::SetCurrentLimits(const Limits* limits) {
  return std::exchange(current_limits, limits);
}

ScopedLimits::ScopedLimits(const Limits& limits)
    : previous_(internal::SetCurrentLimits(&limits)) {}

ScopedLimits::~ScopedLimits() { internal::SetCurrentLimits(previous_); }

absl::Status CheckRank(int64_t rank) {
  const int64_t limit = CurrentLimits().max_rank;
  if (rank <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a tensor of ", rank,
      " dimensions is over the limit (limits.max_rank=", limit, ")"));
}

absl::Status CheckFields(int64_t fields) {
  const int64_t limit = CurrentLimits().max_fields;
  if (fields <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a tuple of ", fields,
      " fields is over the limit (limits.max_fields=", limit, ")"));
}

absl::Status CheckTensorBytes(int64_t bytes) {
  const int64_t limit = CurrentLimits().max_tensor_bytes;
  if (bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a tensor of ", bytes,
      " bytes is over the limit (limits.max_tensor_bytes=", limit, ")"));
}

absl::Status CheckCopiedNodes(int64_t nodes) {
  const int64_t limit = CurrentLimits().max_copied_nodes;
  if (nodes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("copies of functions would add more nodes than the limit "
                   "(limits.max_copied_nodes=",
                   limit, ")"));
}

absl::Status CheckCalls(int64_t calls) {
  const int64_t limit = CurrentLimits().max_calls;
  if (calls <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "more calls of functions than the limit (limits.max_calls=", limit, ")"));
}

absl::Status CheckStreamBytes(int64_t bytes) {
  const int64_t limit = CurrentLimits().max_stream_bytes;
  if (bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "an input of more bytes than the limit (limits.max_stream_bytes=", limit,
      ")"));
}

}  // namespace baton
