#include "baton/instrument/indented_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"

namespace baton {
namespace {

constexpr int kNone = -1;
// No more lines than that are searched below one line for lines that a new line
// was put around.
constexpr int kMostCandidates = 4096;

// The lines of a text as a tree, in the order of the text. Line 0 is above all
// others, and empty.
struct Tree {
  struct Node {
    absl::string_view text;
    int parent;
    int end = 0;      // the number of the first line that is not below this one
    size_t hash = 0;  // of the line and all below it
    std::vector<int> children = {};
    int partner = kNone;
  };

  explicit Tree(absl::string_view text) {
    nodes.push_back({"", kNone});
    std::vector<std::pair<size_t, int>> open = {{0, 0}};  // indentation, number
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
      if (content.empty()) continue;
      // Indentations are counted from one: line 0 has none.
      const size_t indent = line.size() - content.size() + 1;
      while (open.back().first >= indent) open.pop_back();
      const int parent = open.back().second;
      const int number = static_cast<int>(nodes.size());
      nodes[parent].children.push_back(number);
      nodes.push_back({content, parent});
      open.push_back({indent, number});
    }
    for (int i = static_cast<int>(nodes.size()); i-- > 0;) {
      Node& node = nodes[i];
      node.end =
          node.children.empty() ? i + 1 : nodes[node.children.back()].end;
      node.hash = absl::HashOf(node.text, node.children.size());
      for (const int child : node.children) {
        node.hash = absl::HashOf(node.hash, nodes[child].hash);
      }
    }
  }

  std::vector<Node> nodes;
};

// How alike two lines are that are taken for one.
enum class Key : uint8_t {
  kAll,        // they and the lines below are equal
  kText,       // they are equal
  kFirstWord,  // they begin alike: two loops, two stores to one buffer
};

size_t KeyOf(const Tree::Node& node, Key key) {
  switch (key) {
    case Key::kAll:
      return node.hash;
    case Key::kText:
      return absl::HashOf(node.text);
    case Key::kFirstWord:
      return absl::HashOf(node.text.substr(0, node.text.find_first_of(" [(:")));
  }
  return 0;
}

class Matcher {
 public:
  Matcher(Tree& before, Tree& after) : before_(before), after_(after) {}

  void Run() {
    Pair(0, 0);
    while (!pairs_.empty()) {
      const auto [a, b] = pairs_.front();
      pairs_.pop_front();
      const std::vector<int>& children = after_.nodes[b].children;
      for (const Key key : {Key::kAll, Key::kText}) {
        Match(before_.nodes[a].children, children, key);
      }
      // Lines around which, or around whose like, a line was put or dropped.
      for (const Key key : {Key::kAll, Key::kText}) {
        Match(Unmatched(before_, a), Unmatched(after_, b), key);
      }
      Match(before_.nodes[a].children, children, Key::kFirstWord);
      Match(Unmatched(before_, a), Unmatched(after_, b), Key::kFirstWord);
    }
    // Lines that moved from one place to another.
    Match(AllUnmatched(before_), AllUnmatched(after_), Key::kAll);
  }

 private:
  void Pair(int a, int b) {
    before_.nodes[a].partner = b;
    after_.nodes[b].partner = a;
    pairs_.push_back({a, b});
  }

  void PairAll(int a, int b) {
    const int count = before_.nodes[a].end - a;
    for (int i = 0; i < count; ++i) {
      if (before_.nodes[a + i].partner != kNone ||
          after_.nodes[b + i].partner != kNone) {
        continue;
      }
      before_.nodes[a + i].partner = b + i;
      after_.nodes[b + i].partner = a + i;
    }
  }

  void Match(const std::vector<int>& a, const std::vector<int>& b, Key key) {
    if (a.empty() || b.empty()) return;
    FlatHashMap<size_t, std::vector<int>> lines;  // by key, the last one first
    for (size_t i = a.size(); i-- > 0;) {
      const Tree::Node& node = before_.nodes[a[i]];
      if (node.partner == kNone) lines[KeyOf(node, key)].push_back(a[i]);
    }
    for (const int line : b) {
      const Tree::Node& node = after_.nodes[line];
      if (node.partner != kNone) continue;
      const auto it = lines.find(KeyOf(node, key));
      if (it == lines.end()) continue;
      std::vector<int>& like = it->second;
      while (!like.empty() && before_.nodes[like.back()].partner != kNone) {
        like.pop_back();
      }
      if (like.empty()) continue;
      const int partner = like.back();
      like.pop_back();
      if (key == Key::kAll &&
          before_.nodes[partner].end - partner == node.end - line) {
        PairAll(partner, line);
      } else {
        Pair(partner, line);
      }
    }
  }

  // The lines without partner below `line`, down to those that have one.
  static std::vector<int> Unmatched(const Tree& tree, int line) {
    std::vector<int> result;
    for (int i = line + 1; i < tree.nodes[line].end;) {
      if (tree.nodes[i].partner != kNone) {
        i = tree.nodes[i].end;
        continue;
      }
      result.push_back(i++);
      if (result.size() == kMostCandidates) break;
    }
    return result;
  }

  static std::vector<int> AllUnmatched(const Tree& tree) {
    std::vector<int> result;
    for (int i = 0; i < static_cast<int>(tree.nodes.size()); ++i) {
      if (tree.nodes[i].partner == kNone) result.push_back(i);
    }
    return result;
  }

  Tree& before_;
  Tree& after_;
  std::deque<std::pair<int, int>> pairs_;  // whose children are to be matched
};

// The nearest line around `line` that has a partner.
std::vector<int> MatchedParents(const Tree& tree) {
  std::vector<int> result(tree.nodes.size(), 0);
  for (size_t i = 1; i < result.size(); ++i) {
    const int parent = tree.nodes[i].parent;
    result[i] = tree.nodes[parent].partner != kNone ? parent : result[parent];
  }
  return result;
}

// Finds the lines of `after` that moved among the lines of one parent: the
// others, as many as possible, have the order of their partners.
std::vector<bool> Reordered(const Tree& after,
                            const std::vector<int>& parents) {
  std::vector<bool> result(after.nodes.size(), false);
  std::vector<std::vector<int>> groups(after.nodes.size());
  for (int i = 1; i < static_cast<int>(after.nodes.size()); ++i) {
    if (after.nodes[i].partner != kNone) groups[parents[i]].push_back(i);
  }
  std::vector<int> last;  // of the best sequence of each length
  std::vector<int> previous(after.nodes.size(), kNone);
  for (const std::vector<int>& group : groups) {
    last.clear();
    for (const int line : group) {
      const auto it =
          std::partition_point(last.begin(), last.end(), [&](int other) {
            return after.nodes[other].partner < after.nodes[line].partner;
          });
      previous[line] = it == last.begin() ? kNone : *(it - 1);
      if (it == last.end()) {
        last.push_back(line);
      } else {
        *it = line;
      }
      result[line] = true;
    }
    for (int line = last.empty() ? kNone : last.back(); line != kNone;
         line = previous[line]) {
      result[line] = false;
    }
  }
  return result;
}

// Adds the change of `line`, which has no partner. If none of the lines below
// has one, the change covers them all. Returns the number of the next line that
// no change covers.
int AddUnmatched(const Tree& tree, int line, LineChange change,
                 std::vector<LineChange>& out) {
  const int end = tree.nodes[line].end;
  bool covers_all = true;
  for (int i = line + 1; i < end && covers_all; ++i) {
    covers_all = tree.nodes[i].partner == kNone;
  }
  if (covers_all) change.below = end - line - 1;
  out.push_back(std::move(change));
  return covers_all ? end : line + 1;
}

}  // namespace

std::vector<LineChange> DiffIndented(absl::string_view before,
                                     absl::string_view after) {
  using Kind = LineChange::Kind;
  std::vector<LineChange> result;
  if (before == after) return result;
  Tree a(before);
  Tree b(after);
  Matcher(a, b).Run();
  const auto text = [](const Tree& tree, int line) {
    return std::string(tree.nodes[line].text);
  };
  for (int i = 1; i < static_cast<int>(a.nodes.size());) {
    const Tree::Node& node = a.nodes[i];
    if (node.partner != kNone) {
      ++i;
      continue;
    }
    i = AddUnmatched(a, i,
                     {.kind = Kind::kDropped,
                      .before = text(a, i),
                      .under = text(a, node.parent)},
                     result);
  }
  const std::vector<int> parents_before = MatchedParents(a);
  const std::vector<int> parents = MatchedParents(b);
  const std::vector<bool> reordered = Reordered(b, parents);
  for (int i = 1; i < static_cast<int>(b.nodes.size());) {
    const Tree::Node& node = b.nodes[i];
    if (node.partner == kNone) {
      i = AddUnmatched(b, i,
                       {.kind = Kind::kMade,
                        .after = text(b, i),
                        .under = text(b, node.parent)},
                       result);
      continue;
    }
    const Tree::Node& old = a.nodes[node.partner];
    LineChange change = {.kind = Kind::kChanged,
                         .before = text(a, node.partner),
                         .after = text(b, i),
                         .under = text(b, node.parent)};
    if (old.text != node.text) result.push_back(change);
    if (b.nodes[parents[i]].partner != parents_before[node.partner] ||
        reordered[i]) {
      change.kind = Kind::kMoved;
      change.from = text(a, old.parent);
      result.push_back(std::move(change));
    }
    ++i;
  }
  return result;
}

std::string LineChangeText(const LineChange& change, absl::string_view where) {
  using Kind = LineChange::Kind;
  const auto place = [](absl::string_view word, const std::string& line) {
    return line.empty() ? "" : absl::StrCat(" ", word, " ", line);
  };
  const std::string below =
      change.below == 0
          ? ""
          : absl::StrCat(", and ", change.below,
                         change.below == 1 ? " line" : " lines", " below it");
  const std::string at = where.empty() ? " " : absl::StrCat(" ", where, " ");
  switch (change.kind) {
    case Kind::kDropped:
      return absl::StrCat("-", at, change.before, place("under", change.under),
                          below);
    case Kind::kMade:
      return absl::StrCat("+", at, change.after, place("under", change.under),
                          below);
    case Kind::kMoved:
      return absl::StrCat(">", at, change.after, place("from", change.from),
                          place("to", change.under));
    case Kind::kChanged:
      return absl::StrCat("~", at, change.before, " -> ", change.after);
  }
  return "";
}

}  // namespace baton
