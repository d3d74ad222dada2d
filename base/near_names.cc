#include "baton/base/near_names.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, or
// `limit` + 1 if there are more than `limit`.
size_t EditDistance(absl::string_view a, absl::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  // Further from the diagonal than `limit` there are more edits: that part of a
  // row is not looked at.
  const size_t far = limit + 1;
  std::vector<size_t> before(a.size() + 2, far), previous(a.size() + 2, far),
      current(a.size() + 2, far);
  for (size_t i = 0; i <= std::min(a.size(), limit); ++i) previous[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    const size_t first = j > limit ? j - limit : 1;
    const size_t last = std::min(a.size(), j + limit);
    current[first - 1] = first == 1 ? j : far;
    current[last + 1] = far;
    size_t least = first == 1 ? j : far;
    for (size_t i = first; i <= last; ++i) {
      size_t edits = previous[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits = std::min({edits, previous[i] + 1, current[i - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits = std::min(edits, before[i - 2] + 1);
      }
      current[i] = edits;
      least = std::min(least, edits);
    }
    if (least > limit) return limit + 1;
    before.swap(previous);
    previous.swap(current);
  }
  return previous[a.size()];
}

// The part after the last dot.
absl::string_view LastComponent(absl::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == absl::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::vector<std::string> NearestNames(
    absl::string_view name, const std::vector<std::string>& candidates,
    size_t limit) {
  constexpr size_t kLongest = 200;
  if (name.empty() || name.size() > kLongest) return {};
  const std::string lower = absl::AsciiStrToLower(name);
  // Only few edits of long names that are alike are mistakes.
  constexpr size_t kMostEdits = 12;
  const size_t most =
      std::min(kMostEdits, std::max<size_t>(1, name.size() / 3));
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest || candidate == name) continue;
    const std::string other = absl::AsciiStrToLower(candidate);
    size_t distance = EditDistance(lower, other, most);
    // `conv2d` means `nn.conv2d`, and the other way round.
    if (LastComponent(other) == lower || LastComponent(lower) == other ||
        LastComponent(other) == LastComponent(lower)) {
      distance = std::min<size_t>(distance, 1);
    }
    // Names without a letter in common do not resemble each other.
    if (distance >= std::max(lower.size(), other.size())) continue;
    if (distance <= most) near.emplace_back(distance, &candidate);
  }
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  if (near.size() > limit) near.resize(limit);
  std::vector<std::string> result;
  for (const auto& entry : near) result.push_back(*entry.second);
  return result;
}

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = NearestNames(name, candidates);
  if (near.empty()) return "";
  std::string result = "; did you mean ";
  for (size_t i = 0; i < near.size(); ++i) {
    if (i != 0) result.append(i + 1 == near.size() ? " or " : ", ");
    absl::StrAppend(&result, "\"", near[i], "\"");
  }
  result.push_back('?');
  return result;
}

}  // namespace baton
