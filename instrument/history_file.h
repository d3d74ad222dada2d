// Histories as files: docs/history.md.

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
  // Of larger tensors only a checksum is kept.
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

// Nodes and tensors that states share are written once. Apart from the times,
// the same run gives the same bytes.
absl::StatusOr<HistoryBytes> WriteHistory(
    const History& history, const HistoryWriteOptions& options = {});

// True if `bytes` begin as a history file does.
bool IsHistory(absl::string_view bytes);

// The history in the file `bytes`; messages call it `name`. Tensors use `bytes`
// in place; `owner` keeps them alive. For any input, a history or an error that
// says what is wrong. Operators and attributes must be registered.
absl::StatusOr<History> ReadHistory(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    absl::string_view name);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_FILE_H_
