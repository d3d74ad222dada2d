#include "baton/relay/op/tensor/scheduled_layout.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton::relay {

absl::StatusOr<ScheduledLayout> ScheduledLayout::Parse(absl::string_view field,
                                                       absl::string_view text) {
  ScheduledLayout layout;
  int64_t extent = 0;
  bool in_axis = false;
  for (const char c : text) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      extent = extent * 10 + (c - '0');
      if (extent > std::numeric_limits<int32_t>::max()) {
        return absl::InvalidArgumentError(
            absl::StrCat(field, "=\"", text, "\" is out of range"));
      }
      in_axis = false;
    } else if (c >= 'A' && c <= 'z') {
      if (extent != 0) layout.extents.push_back(extent);
      extent = 0;
      if (!in_axis) layout.axes.emplace_back();
      layout.axes.back().push_back(c);
      in_axis = true;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          field, "=\"", text, "\" is not a sequence of extents and axes"));
    }
  }
  return layout;
}

}  // namespace baton::relay
