// UniqueNames: makes unique names, the wanted name or that name with a number.

#ifndef BATON_RELAY_IR_TEXT_UNIQUE_NAMES_H_
#define BATON_RELAY_IR_TEXT_UNIQUE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/type_text.h"
#include "baton/relay/ir/text_name_table.h"

namespace baton::relay {
namespace internal {

// One string contains all names; a hash table contains their indices. Memory
// bounds the speed on a text of 100,000 variables.
class UniqueNames {
 public:
  // To make a name, append it to the string that Begin() returns, and call
  // Finish().
  std::string& Begin() {
    begin_ = text_.size();
    return text_;
  }
  // Ends a name and returns its index. The name is the text appended since
  // Begin(). If that name is taken, appends the first of 1, 2, ... that makes
  // it unique.
  size_t Finish();

  // Valid until the next Begin().
  absl::string_view operator[](size_t i) const {
    const Name& name = names_[i];
    return absl::string_view(text_).substr(name.begin, name.size);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Name {
    size_t begin;
    uint32_t size;
    uint32_t hash;
    int64_t last_number;  // the last number appended to it
  };
  // Contains the hash, so that most comparisons of different names need no
  // other cache line.
  struct Bucket {
    uint32_t hash = 0;
    uint32_t index = kNone;  // kNone: empty
  };

  // Adds the name at the end of text_ and returns true if it is new. Otherwise
  // sets `*known` to the index of the equal name.
  bool Add(uint32_t* known);
  void Grow();

  std::string text_;
  size_t begin_ = 0;
  std::vector<Name> names_;
  // Open addressing. The size is a power of two, and at most half of the
  // buckets are in use.
  std::vector<Bucket> buckets_;
};

inline size_t UniqueNames::Finish() {
  uint32_t known = 0;
  if (!Add(&known)) {
    const size_t size = text_.size();
    uint32_t longer = 0;
    do {
      text_.resize(size);
      AppendInt(++names_[known].last_number, &text_);
    } while (!Add(&longer));
  }
  return names_.size() - 1;
}

inline bool UniqueNames::Add(uint32_t* known) {
  if (2 * names_.size() >= buckets_.size()) Grow();
  const absl::string_view name = absl::string_view(text_).substr(begin_);
  const uint32_t hash = HashOfName(name);
  const size_t mask = buckets_.size() - 1;
  size_t i = hash & mask;
  for (; buckets_[i].index != kNone; i = (i + 1) & mask) {
    const Bucket& bucket = buckets_[i];
    if (bucket.hash == hash && IsSameName((*this)[bucket.index], name)) {
      *known = bucket.index;
      return false;
    }
  }
  buckets_[i] = {hash, static_cast<uint32_t>(names_.size())};
  names_.push_back({begin_, static_cast<uint32_t>(name.size()), hash, 0});
  return true;
}

inline void UniqueNames::Grow() {
  const size_t size = buckets_.empty() ? 16 : 2 * buckets_.size();
  buckets_.assign(size, Bucket());
  for (uint32_t index = 0; index < names_.size(); ++index) {
    const uint32_t hash = names_[index].hash;
    size_t i = hash & (size - 1);
    while (buckets_[i].index != kNone) i = (i + 1) & (size - 1);
    buckets_[i] = {hash, index};
  }
}

}  // namespace internal
}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_UNIQUE_NAMES_H_
