#include "baton/ir/packed_records.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node_binary.h"

namespace baton {
namespace {

using internal::kMaxVarintBytes;
using internal::PutVarint;
using internal::Varints;
using internal::VarintSize;
using internal::WireType;

// The first number of a packed item: one of these, or kFirstKind plus the kind
// of the following record.
enum Item : uint64_t {
  kBytes = 0,   // a size, and that many bytes
  kRecord = 1,  // a tag, a size, and that many bytes: a record
  // A record of an earlier kind: a bit for each byte, from the lowest bit of
  // the first byte, that says that it differs from that byte of the last record
  // of the kind; then the different bytes.
  kFirstKind = 2,
};

// The records of one field and size.
struct Kind {
  uint64_t tag = 0;
  uint64_t size = 0;
  size_t last = 0;  // where the last one begins in the message
};

// In the order of first appearance.
class Kinds {
 public:
  // The number of the kind of records with that head. If it is new, `last` is
  // where the first one begins.
  std::pair<size_t, bool> Add(uint64_t tag, uint64_t size, size_t last) {
    const auto [it, is_new] =
        numbers_.try_emplace(std::make_pair(tag, size), kinds_.size());
    if (is_new) kinds_.push_back({tag, size, last});
    return {it->second, is_new};
  }
  Kind& operator[](size_t number) { return kinds_[number]; }
  size_t size() const { return kinds_.size(); }

 private:
  FlatHashMap<std::pair<uint64_t, uint64_t>, size_t> numbers_;
  std::vector<Kind> kinds_;
};

size_t MaskSize(size_t size) { return (size + 7) / 8; }

void Append(uint64_t value, std::string& out) {
  char bytes[kMaxVarintBytes];
  out.append(bytes, static_cast<size_t>(PutVarint(value, bytes) - bytes));
}

// Appends what `record` differs in from `last`, of the same size.
void AppendDifference(absl::string_view record, absl::string_view last,
                      std::string& out) {
  const size_t mask = out.size();
  out.resize(mask + MaskSize(record.size()));
  for (size_t i = 0; i < record.size(); ++i) {
    if (record[i] == last[i]) continue;
    out[mask + i / 8] = static_cast<char>(out[mask + i / 8] | 1 << (i % 8));
    out.push_back(record[i]);
  }
}

// Reads the head of a field that has a length; false if there is none, or if it
// is not written in the fewest bytes, so that it could not be restored.
bool ReadHead(absl::string_view bytes, uint64_t* tag, uint64_t* size,
              size_t* head_size) {
  Varints head(bytes);
  if (!head.Next(tag) || !head.Next(size) ||
      (*tag & 7) != static_cast<uint64_t>(WireType::kBytes)) {
    return false;
  }
  *head_size = VarintSize(*tag) + VarintSize(*size);
  return head.next() == bytes.data() + *head_size &&
         *size <= bytes.size() - *head_size;
}

}  // namespace

std::string PackRecords(absl::string_view message) {
  std::string out;
  out.reserve(message.size() / 2);
  Kinds kinds;
  size_t at = 0;
  while (at < message.size()) {
    uint64_t tag = 0;
    uint64_t size = 0;
    size_t head_size = 0;
    if (!ReadHead(message.substr(at), &tag, &size, &head_size)) {
      // Whatever it is: nothing behind it is a record for certain.
      Append(kBytes, out);
      Append(message.size() - at, out);
      out.append(message.data() + at, message.size() - at);
      break;
    }
    const size_t begin = at + head_size;
    const absl::string_view record = message.substr(begin, size);
    const auto [number, is_new] = kinds.Add(tag, size, begin);
    const size_t out_begin = out.size();
    if (!is_new) {
      Append(kFirstKind + number, out);
      AppendDifference(record, message.substr(kinds[number].last, size), out);
      kinds[number].last = begin;
    }
    if (is_new || out.size() - out_begin > 1 + head_size + size) {
      out.resize(out_begin);
      Append(kRecord, out);
      out.append(message.data() + at, head_size + size);
    }
    at = begin + size;
  }
  return out;
}

absl::StatusOr<std::string> UnpackRecords(absl::string_view packed) {
  std::string message;
  message.reserve(2 * packed.size());
  Kinds kinds;
  Varints rest(packed);
  while (!rest.at_end()) {
    const size_t offset = static_cast<size_t>(rest.next() - packed.data());
    const auto wrong = [offset](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat("packed byte ", offset, ": ", what));
    };
    uint64_t item = 0;
    if (!rest.Next(&item)) return wrong("a number that has no end");
    if (item == kBytes || item == kRecord) {
      uint64_t tag = 0;
      uint64_t size = 0;
      absl::string_view bytes;
      if ((item == kRecord && !rest.Next(&tag)) || !rest.Next(&size) ||
          !rest.Skip(size, &bytes)) {
        return wrong("bytes that are cut off");
      }
      if (item == kRecord) {
        Append(tag, message);
        Append(size, message);
        const auto [number, is_new] = kinds.Add(tag, size, message.size());
        kinds[number].last = message.size();
      }
      message.append(bytes.data(), bytes.size());
      continue;
    }
    const uint64_t number = item - kFirstKind;
    if (number >= kinds.size()) {
      return wrong(absl::StrCat("there was no record of kind ", number));
    }
    Kind& kind = kinds[number];
    absl::string_view mask;
    if (!rest.Skip(MaskSize(kind.size), &mask)) {
      return wrong("a record that is cut off");
    }
    Append(kind.tag, message);
    Append(kind.size, message);
    const size_t begin = message.size();
    message.append(message, kind.last, kind.size);
    kind.last = begin;
    for (size_t i = 0; i < mask.size(); ++i) {
      // The changed bytes of these eight.
      const auto changed = static_cast<uint8_t>(mask[i]);
      absl::string_view bytes;
      if ((i + 1 == mask.size() && kind.size % 8 != 0 &&
           changed >> (kind.size % 8) != 0) ||
          !rest.Skip(static_cast<uint64_t>(std::popcount(changed)), &bytes)) {
        return wrong("a record whose differences are cut off");
      }
      size_t next = 0;
      for (int bit = 0; bit < 8; ++bit) {
        if ((changed >> bit & 1) == 0) continue;
        message[begin + 8 * i + static_cast<size_t>(bit)] = bytes[next++];
      }
    }
  }
  return message;
}

}  // namespace baton
