#include "baton/relay/target.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace baton::relay {
namespace {

std::vector<Target>& Stack() {
  static thread_local std::vector<Target> stack;
  return stack;
}

}  // namespace

Target::Target(absl::string_view text) {
  options_ = absl::StrSplit(text, ' ', absl::SkipWhitespace());
  if (!options_.empty()) {
    kind_ = std::move(options_.front());
    options_.erase(options_.begin());
  }
}

std::string Target::ToString() const {
  return options_.empty() ? kind_ : kind_ + " " + absl::StrJoin(options_, " ");
}

std::optional<Target> Target::Current() {
  if (Stack().empty()) return std::nullopt;
  return Stack().back();
}

Target::Scope::Scope(Target target) { Stack().push_back(std::move(target)); }

Target::Scope::~Scope() { Stack().pop_back(); }

}  // namespace baton::relay
