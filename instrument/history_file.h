// Reads and writes histories as files: see docs/history.md.

#ifndef BATON_INSTRUMENT_HISTORY_FILE_H_
#define BATON_INSTRUMENT_HISTORY_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/instrument/history.h"
#include "baton/ir/binary_writer.h"

namespace baton {

struct HistoryWriteOptions {
  // For larger tensors, the file contains only a checksum.
  uint64_t max_tensor_bytes = 256;
};

// The content of a file, in pieces.
class HistoryBytes {
 public:
  absl::Span<const absl::string_view> pieces() const { return pieces_; }
  std::string ToString() const;

 private:
  friend absl::StatusOr<HistoryBytes> WriteHistory(
      const History& history, const HistoryWriteOptions& options);
  std::unique_ptr<const std::string> head_;
  BinaryModule modules_;
  std::vector<absl::string_view> pieces_;
};

// Writes `history`. The file contains nodes and tensors that states share once.
// Two equal runs give the same bytes except for the times.
absl::StatusOr<HistoryBytes> WriteHistory(
    const History& history, const HistoryWriteOptions& options = {});

// True if `bytes` begins like a history file.
bool IsHistory(absl::string_view bytes);

// Reads the history in the file `bytes`; messages name it `name`. Tensors use
// `bytes` in place; `owner` keeps `bytes` alive. For every input, the result is
// a history or an error that says what is wrong. Operators and attributes must
// be registered.
absl::StatusOr<History> ReadHistory(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    absl::string_view name);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_FILE_H_
