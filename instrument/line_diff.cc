#include "baton/instrument/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton {
namespace {

using Lines = std::vector<absl::string_view>;

Lines SplitLines(absl::string_view text) {
  Lines lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

// For each line of `a`, the line of `b` that it is paired with, or -1: a
// longest common subsequence by Myers' greedy algorithm. Texts that differ in
// more than kMost lines are not worth the time; then nothing is paired.
std::vector<int> PairLines(absl::Span<const absl::string_view> a,
                           absl::Span<const absl::string_view> b) {
  constexpr int kMost = 2000;
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMost);
  std::vector<int> pairs(a.size(), -1);
  // furthest[d][k + d]: how far along `a` d insertions and deletions lead on
  // diagonal k = x - y.
  std::vector<std::vector<int>> furthest;
  for (int d = 0; d <= most; ++d) {
    furthest.emplace_back(static_cast<size_t>(2 * d + 1));
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        const std::vector<int>& last = furthest[static_cast<size_t>(d - 1)];
        const auto at = [&](int diagonal) {
          return last[static_cast<size_t>(diagonal + d - 1)];
        };
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        x = down ? at(k + 1) : at(k - 1) + 1;
      }
      int y = x - k;
      while (x < n && y < m &&
             a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      furthest.back()[static_cast<size_t>(k + d)] = x;
      if (x < n || y < m) continue;
      // Back along the path.
      for (int e = d; e >= 0; --e) {
        int from_x = 0;
        int from_k = 0;
        if (e > 0) {
          const std::vector<int>& last = furthest[static_cast<size_t>(e - 1)];
          const auto at = [&](int diagonal) {
            return last[static_cast<size_t>(diagonal + e - 1)];
          };
          const bool down = k == -e || (k != e && at(k - 1) < at(k + 1));
          from_k = down ? k + 1 : k - 1;
          from_x = at(from_k);
          const int start = down ? from_x : from_x + 1;
          while (x > start) {
            --x;
            --y;
            pairs[static_cast<size_t>(x)] = y;
          }
        } else {
          while (x > 0) {
            --x;
            --y;
            pairs[static_cast<size_t>(x)] = y;
          }
        }
        x = from_x;
        k = from_k;
        y = x - k;
      }
      return pairs;
    }
  }
  return pairs;
}

// Lines [begin, end) as the unified format has it: `FIRST,COUNT`, or `FIRST`
// for one line; for none the first is the one before.
std::string Range(size_t begin, size_t end) {
  if (end == begin + 1) return absl::StrCat(end);
  return absl::StrCat(end == begin ? begin : begin + 1, ",", end - begin);
}

}  // namespace

std::string DiffLines(absl::string_view before, absl::string_view after) {
  constexpr size_t kContext = 3;
  const Lines a = SplitLines(before);
  const Lines b = SplitLines(after);
  // Common lines at the beginning and at the end are paired at once.
  size_t prefix = 0;
  while (prefix < a.size() && prefix < b.size() && a[prefix] == b[prefix]) {
    ++prefix;
  }
  size_t suffix = 0;
  while (suffix < a.size() - prefix && suffix < b.size() - prefix &&
         a[a.size() - 1 - suffix] == b[b.size() - 1 - suffix]) {
    ++suffix;
  }
  const std::vector<int> pairs =
      PairLines(absl::MakeSpan(a).subspan(prefix, a.size() - prefix - suffix),
                absl::MakeSpan(b).subspan(prefix, b.size() - prefix - suffix));

  // The script: one entry for each line printed.
  struct Step {
    char mark;
    absl::string_view line;
    size_t a;  // lines of each before this step
    size_t b;
  };
  std::vector<Step> steps;
  size_t j = 0;
  for (size_t i = 0; i <= a.size(); ++i) {
    size_t partner = b.size();
    bool paired = true;
    if (i < prefix) {
      partner = i;
    } else if (i >= a.size() - suffix) {
      partner = b.size() - (a.size() - i);
    } else if (const int p = pairs[i - prefix]; p >= 0) {
      partner = prefix + static_cast<size_t>(p);
    } else {
      paired = false;
    }
    if (!paired) {
      steps.push_back({'-', a[i], i, j});
      continue;
    }
    for (; j < partner; ++j) steps.push_back({'+', b[j], i, j});
    if (i < a.size()) {
      steps.push_back({' ', a[i], i, j});
      ++j;
    }
  }

  std::string text;
  size_t printed = 0;  // steps before this are out, or skipped
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].mark == ' ') continue;
    // A group: this change, those that follow closely, and what is around.
    const size_t begin = std::max(printed, i < kContext ? 0 : i - kContext);
    size_t end = i + 1;
    for (size_t k = end; k < steps.size() && k <= end + 2 * kContext; ++k) {
      if (steps[k].mark != ' ') end = k + 1;
    }
    i = end - 1;
    end = std::min(steps.size(), end + kContext);
    const size_t a_end = end < steps.size() ? steps[end].a : a.size();
    const size_t b_end = end < steps.size() ? steps[end].b : b.size();
    absl::StrAppend(&text, "@@ -", Range(steps[begin].a, a_end), " +",
                    Range(steps[begin].b, b_end), " @@\n");
    for (size_t k = begin; k < end; ++k) {
      absl::StrAppend(&text, absl::string_view(&steps[k].mark, 1),
                      steps[k].line, "\n");
    }
    printed = end;
  }
  return text;
}

}  // namespace baton
