#include "baton/base/out_of_memory.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {

absl::Status OutOfMemoryError(absl::string_view what) noexcept {
  try {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": out of memory"));
  } catch (...) {
    // A code alone takes no memory.
    return absl::Status(absl::StatusCode::kResourceExhausted, "");
  }
}

}  // namespace baton
