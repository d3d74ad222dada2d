#include "baton/instrument/peak_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace baton {

PeakMemory::PeakMemory()
    : reset_(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)),
      status_(open("/proc/self/status", O_RDONLY | O_CLOEXEC)) {}

PeakMemory::~PeakMemory() {
  if (reset_ >= 0) close(reset_);
  if (status_ >= 0) close(status_);
}

int64_t PeakMemory::Take() {
  if (reset_ < 0 || status_ < 0) return -1;
  char buffer[4096];
  const ssize_t n = pread(status_, buffer, sizeof(buffer), 0);
  if (n <= 0) return -1;
  const absl::string_view text(buffer, static_cast<size_t>(n));
  constexpr absl::string_view kName = "VmHWM:";
  const size_t found = text.find(kName);
  if (found == absl::string_view::npos) return -1;
  absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(text.substr(found + kName.size()));
  int64_t kilobytes = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &kilobytes)) return -1;
  // 5 resets the peak alone (proc(5)).
  if (pwrite(reset_, "5", 1, 0) != 1) return -1;
  return kilobytes * 1024;
}

}  // namespace baton
