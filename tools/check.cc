#include "baton/tools/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/tools/check_pattern.h"

namespace baton {
namespace {

constexpr size_t kNone = absl::string_view::npos;

enum class Kind { kPlain, kNext, kSame, kNot, kDag, kLabel, kCount, kEmpty };

struct Suffix {
  const char* name;
  Kind kind;
};
constexpr Suffix kSuffixes[] = {
    {"NEXT", Kind::kNext}, {"SAME", Kind::kSame},   {"NOT", Kind::kNot},
    {"DAG", Kind::kDag},   {"LABEL", Kind::kLabel}, {"EMPTY", Kind::kEmpty},
};

// Text after these, on the same line, holds no directives.
constexpr const char* kCommentPrefixes[] = {"COM:", "RUN:"};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsWordChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
         c == '_';
}

struct Directive {
  std::string name;  // as written: `CHECK-NEXT`
  Kind kind = Kind::kPlain;
  int count = 1;
  CheckPattern pattern;
  Span span;  // from the name to the end of the pattern
};

// --- Directives --------------------------------------------------------------

// The text between a prefix and its colon.
struct Head {
  Kind kind = Kind::kPlain;
  int count = 1;
  bool literal = false;
  size_t size = 0;    // with the colon
  std::string error;  // if not empty
};

// Reads `{LITERAL}` at the beginning of `text`; returns its size.
size_t ReadModifiers(absl::string_view text, Head* head) {
  if (!absl::StartsWith(text, "{")) return 0;
  const size_t end = text.find('}');
  if (end == kNone) {
    head->error = "{ without }";
    return text.size();
  }
  const absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(1, end - 1));
  if (name == "LITERAL") {
    head->literal = true;
  } else {
    head->error = absl::StrCat("unknown modifier {", name,
                               "}; the one that there is is {LITERAL}");
  }
  return end + 1;
}

// Interprets the letters after the prefix and its `-`. False if they mean
// nothing that a directive could be.
bool ReadSuffix(absl::string_view word, Head* head) {
  for (const Suffix& suffix : kSuffixes) {
    if (word == suffix.name) {
      head->kind = suffix.kind;
      return true;
    }
  }
  absl::string_view rest = word;
  if (absl::ConsumePrefix(&rest, "COUNT-")) {
    head->kind = Kind::kCount;
    if (!absl::SimpleAtoi(rest, &head->count) || head->count <= 0) {
      head->error = "-COUNT needs a positive number, as in -COUNT-2";
    }
    return true;
  }
  if (word == "COUNT") {
    head->error = "-COUNT needs a positive number, as in -COUNT-2";
    return true;
  }
  std::vector<std::string> names = {"COUNT"};
  for (const Suffix& suffix : kSuffixes) names.emplace_back(suffix.name);
  const size_t dash = word.find('-');
  if (dash != kNone) {
    const auto known = [&names](absl::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (known(word.substr(0, dash)) && known(word.substr(dash + 1))) {
      head->error =
          absl::StrCat("-", word.substr(0, dash), " and -",
                       word.substr(dash + 1), " cannot be used together");
      return true;
    }
  }
  const std::string near =
      DidYouMean(word.substr(0, std::min(dash, word.size())), names);
  if (near.empty()) return false;
  head->error = absl::StrCat("unknown directive -", word, near,
                             " (a prefix of its own must be given as one)");
  return true;
}

// Reads what follows a prefix; nullopt if it is no directive.
std::optional<Head> ReadHead(absl::string_view text) {
  Head head;
  size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '_')) {
    ++i;
    while (i < text.size() && IsWordChar(text[i])) ++i;
    const absl::string_view word = text.substr(1, i - 1);
    size_t colon = i;
    while (colon < text.size() && IsBlank(text[colon])) ++colon;
    const bool is_head =
        colon < text.size() &&
        (text[colon] == ':' || (colon == i && text[colon] == '{'));
    if (!is_head || !ReadSuffix(word, &head)) return std::nullopt;
    if (text[0] == '_' && head.error.empty()) {
      head.error = absl::StrCat("unknown directive _", word, "; did you mean -",
                                word, "?");
    }
    if (colon != i && head.error.empty()) {
      head.error = "there is a blank before the colon";
    }
    if (colon != i) i = colon;
  }
  i += ReadModifiers(text.substr(i), &head);
  if (i >= text.size() || text[i] != ':') {
    return head.error.empty() ? std::nullopt : std::optional<Head>(head);
  }
  head.size = i + 1;
  return head;
}

// --- Input -------------------------------------------------------------------

// A text with its runs of blanks made one blank each, and without the carriage
// returns at ends of lines.
class Input {
 public:
  Input(std::shared_ptr<const Source> source, bool strict)
      : source_(std::move(source)) {
    const std::string& original = source_->text();
    text_.reserve(original.size());
    for (size_t i = 0; i < original.size(); ++i) {
      const char c = original[i];
      const bool blank = !strict && IsBlank(c);
      const bool dropped =
          (blank && !text_.empty() && text_.back() == ' ') ||
          (c == '\r' && i + 1 < original.size() && original[i + 1] == '\n');
      if (dropped) {
        if (shifts_.empty() || shifts_.back().first != text_.size()) {
          shifts_.emplace_back(text_.size(), 0);
        }
        shifts_.back().second = i + 1 - text_.size();
      } else {
        text_.push_back(blank ? ' ' : c);
      }
    }
  }

  absl::string_view text() const { return text_; }

  absl::string_view Part(size_t begin, size_t end) const {
    return absl::string_view(text_).substr(begin, end - begin);
  }

  Span SpanOf(size_t begin, size_t end) const {
    return Span(source_, Original(begin), Original(std::max(begin, end)));
  }

  // The line that holds `offset`, as [begin, end).
  std::pair<size_t, size_t> LineAt(size_t offset) const {
    const size_t before = offset == 0 ? kNone : text_.rfind('\n', offset - 1);
    return {before == kNone ? 0 : before + 1,
            std::min(text_.find('\n', offset), text_.size())};
  }

  // `NAME:LINE: text of the line`, cut.
  std::string Describe(size_t offset) const {
    const int line = source_->PositionOf(Original(offset)).line;
    return absl::StrCat(source_->name(), ":", line, ": ",
                        Shortened(source_->Line(line)));
  }

  static std::string Shortened(absl::string_view text) {
    constexpr size_t kMost = 72;
    text = absl::StripAsciiWhitespace(text);
    return text.size() <= kMost ? std::string(text)
                                : absl::StrCat(text.substr(0, kMost), "...");
  }

 private:
  int64_t Original(size_t offset) const {
    auto shift = std::upper_bound(
        shifts_.begin(), shifts_.end(), offset,
        [](size_t at, const auto& entry) { return at < entry.first; });
    const size_t by = shift == shifts_.begin() ? 0 : std::prev(shift)->second;
    return static_cast<int64_t>(offset + by);
  }

  std::shared_ptr<const Source> source_;
  std::string text_;
  // From this offset on, the original is that much further.
  std::vector<std::pair<size_t, size_t>> shifts_;
};

// --- Nearest candidates ------------------------------------------------------

// The sets of three neighbouring bytes in each line of `text`.
FlatHashSet<uint32_t> Trigrams(absl::string_view text) {
  FlatHashSet<uint32_t> result;
  uint32_t last = 0;
  int size = 0;
  for (const char c : text) {
    size = c == '\n' ? 0 : size + 1;
    last = (last << 8 | static_cast<unsigned char>(c)) & 0xffffff;
    if (size >= 3) result.insert(last);
  }
  return result;
}

// The line of [begin, end) that has most in common with `wanted`, as its first
// byte; kNone if none has enough.
size_t NearestLine(const Input& input, size_t begin, size_t end,
                   absl::string_view wanted) {
  constexpr double kLeast = 0.35;
  const FlatHashSet<uint32_t> of_wanted = Trigrams(wanted);
  if (of_wanted.empty()) return kNone;
  size_t best = kNone;
  double best_score = 0;
  size_t line = begin;
  while (line < end) {
    const size_t line_end = std::min(input.text().find('\n', line), end);
    const FlatHashSet<uint32_t> of_line = Trigrams(input.Part(line, line_end));
    size_t common = 0;
    for (const uint32_t trigram : of_wanted) {
      if (of_line.contains(trigram)) ++common;
    }
    const auto n = static_cast<double>(common);
    const double covered = n / static_cast<double>(of_wanted.size());
    const double both =
        2 * n / static_cast<double>(of_wanted.size() + of_line.size());
    const double score = covered + 0.25 * both;
    if (covered >= kLeast && score > best_score) {
      best = line;
      best_score = score;
    }
    line = line_end + 1;
  }
  return best;
}

}  // namespace

struct Checks::Data {
  std::shared_ptr<const Source> source;
  CheckOptions options;
  std::vector<Directive> directives;
  std::vector<Directive> implicit;  // of -NOT
};

// --- Checking ----------------------------------------------------------------

namespace {

class Checker {
 public:
  Checker(const std::vector<Directive>& directives,
          const std::vector<Directive>& implicit, const CheckOptions& options,
          std::shared_ptr<const Source> input)
      : directives_(directives),
        implicit_(implicit),
        input_(std::move(input), options.strict_whitespace),
        variables_(options.variables.begin(), options.variables.end()) {}

  absl::Status Run() {
    size_t begin = 0;
    size_t first = 0;
    while (true) {
      size_t last = first;
      while (last < directives_.size() &&
             directives_[last].kind != Kind::kLabel) {
        ++last;
      }
      if (last == directives_.size()) {
        CheckRegion(first, last, begin, input_.text().size(), true);
        break;
      }
      const std::optional<CheckPattern::Match> label =
          Find(directives_[last], begin, input_.text().size());
      if (!label.has_value()) {
        NotFound(directives_[last], 0, begin, input_.text().size());
        break;
      }
      CheckRegion(first, last + 1, begin, label->end, false);
      begin = label->end;
      first = last + 1;
    }
    return diagnostics_.ToStatus();
  }

 private:
  struct Matched {
    const Directive* directive;
    size_t begin;
  };
  using Range = std::pair<size_t, size_t>;

  // The first match in [begin, end), with offsets in the whole input.
  std::optional<CheckPattern::Match> Find(const Directive& directive,
                                          size_t begin, size_t end) {
    const absl::string_view text = input_.Part(begin, end);
    if (directive.kind == Kind::kEmpty) {
      size_t i = text.find('\n');
      while (i != kNone && i + 1 < text.size() && text[i + 1] != '\n') {
        i = text.find('\n', i + 1);
      }
      if (i == kNone) return std::nullopt;
      return CheckPattern::Match{.begin = begin + i + 1, .end = begin + i + 1};
    }
    absl::StatusOr<std::optional<CheckPattern::Match>> match =
        directive.pattern.Find(text, variables_);
    if (!match.ok()) {
      problem_ = std::string(match.status().message());
      return std::nullopt;
    }
    if (!match->has_value()) return std::nullopt;
    (*match)->begin += begin;
    (*match)->end += begin;
    return *std::move(match);
  }

  void Accept(const Directive& directive, const CheckPattern::Match& match) {
    for (const auto& [name, value] : match.variables) variables_[name] = value;
    matched_.push_back({&directive, match.begin});
  }

  // Directives [first, last) on input [begin, end). The last one is a label,
  // but for the last region. Stops at an error.
  void CheckRegion(size_t first, size_t last, size_t begin, size_t end,
                   bool is_last) {
    std::vector<const Directive*> pending;
    const auto reset = [&] {
      pending.clear();
      for (const Directive& directive : implicit_)
        pending.push_back(&directive);
    };
    reset();
    size_t from = begin;
    for (size_t i = first; i < last; ++i) {
      const Directive& directive = directives_[i];
      if (directive.kind == Kind::kNot || directive.kind == Kind::kDag) {
        pending.push_back(&directive);
        continue;
      }
      if (!CheckPositive(directive, pending, &from, end)) return;
      reset();
    }
    if (!is_last) return;
    std::vector<const Directive*> excluded;
    if (CheckDags(pending, &excluded, &from, end)) {
      CheckNots(excluded, from, end);
    }
  }

  bool CheckPositive(const Directive& directive,
                     const std::vector<const Directive*>& pending, size_t* from,
                     size_t end) {
    std::vector<const Directive*> excluded;
    if (!CheckDags(pending, &excluded, from, end)) return false;
    const size_t start = *from;
    size_t first_begin = kNone;
    for (int i = 0; i < directive.count; ++i) {
      const std::optional<CheckPattern::Match> match =
          Find(directive, *from, end);
      if (!match.has_value()) {
        NotFound(directive, i, *from, end);
        return false;
      }
      if (i == 0) {
        first_begin = match->begin;
        if (!CheckLine(directive, start, *match)) return false;
      }
      Accept(directive, *match);
      *from = match->end;
    }
    return CheckNots(excluded, start, first_begin);
  }

  // True if `match` is on the line that `directive` requires.
  bool CheckLine(const Directive& directive, size_t from,
                 const CheckPattern::Match& match) {
    const bool same = directive.kind == Kind::kSame;
    if (!same && directive.kind != Kind::kNext &&
        directive.kind != Kind::kEmpty) {
      return true;
    }
    const absl::string_view skipped = input_.Part(from, match.begin);
    const auto lines = std::count(skipped.begin(), skipped.end(), '\n');
    if (lines == (same ? 0 : 1)) return true;
    Error(directive,
          same ? "the match is not on the line of the match before"
          : lines == 0
              ? "the match is on the line of the match before, not on the next"
              : "the match is not on the line after the match before");
    Note(match.begin, match.end, "the match");
    Note(from, from, "the match before ended here");
    if (lines > 1) {
      const size_t next = input_.text().find('\n', from) + 1;
      Note(next, input_.LineAt(next).second, "the line after it");
    }
    NoteVariables(directive);
    NoteMatched();
    return false;
  }

  // Matches the -DAG directives of `pending`, whose -NOT directives hold
  // between groups of them. `excluded`: the -NOT directives after the last
  // group. *from moves to where that ends.
  bool CheckDags(const std::vector<const Directive*>& pending,
                 std::vector<const Directive*>* excluded, size_t* from,
                 size_t end) {
    std::set<Range> group;
    for (size_t i = 0; i < pending.size(); ++i) {
      const Directive& directive = *pending[i];
      if (directive.kind == Kind::kNot) {
        excluded->push_back(&directive);
        continue;
      }
      size_t start = *from;
      while (true) {
        const std::optional<CheckPattern::Match> match =
            Find(directive, start, end);
        if (!match.has_value()) {
          NotFound(directive, 0, start, end);
          return false;
        }
        const Range range(match->begin, match->end);
        // The first of the group that ends after the match begins.
        const auto other =
            std::find_if(group.begin(), group.end(), [&](const Range& r) {
              return r.second > range.first && r.first < range.second;
            });
        if (other == group.end()) {
          group.insert(range);
          Accept(directive, *match);
          break;
        }
        start = other->second;
      }
      const bool group_ends =
          i + 1 == pending.size() || pending[i + 1]->kind == Kind::kNot;
      if (!group_ends) continue;
      if (!CheckNots(*excluded, *from, group.begin()->first)) return false;
      excluded->clear();
      for (const Range& range : group) *from = std::max(*from, range.second);
      group.clear();
    }
    return true;
  }

  bool CheckNots(const std::vector<const Directive*>& excluded, size_t begin,
                 size_t end) {
    for (const Directive* directive : excluded) {
      const std::optional<CheckPattern::Match> match =
          Find(*directive, begin, end);
      if (!match.has_value()) {
        if (problem_.empty()) continue;
        Error(*directive, std::exchange(problem_, ""));
        NoteMatched();
        return false;
      }
      Error(*directive, "there is a match, and must be none");
      Note(match->begin, match->end, "the match");
      NoteVariables(*directive);
      NoteMatched();
      return false;
    }
    return true;
  }

  // --- Messages

  void Error(const Directive& directive, absl::string_view message) {
    diagnostics_.Error(directive.span,
                       absl::StrCat(directive.name, ": ", message));
  }

  void Note(size_t begin, size_t end, std::string message) {
    diagnostics_.Note(input_.SpanOf(begin, end), std::move(message));
  }

  void NoteVariables(const Directive& directive) {
    for (const std::string& name : directive.pattern.UsedVariables()) {
      const auto value = variables_.find(name);
      if (value == variables_.end()) continue;
      diagnostics_.Note({}, absl::StrCat(name, " is \"", value->second, "\""));
    }
  }

  void NoteMatched() {
    constexpr size_t kMost = 10;
    if (matched_.empty()) {
      diagnostics_.Note({}, "nothing was matched before");
      return;
    }
    std::string text = "matched so far:";
    const size_t skipped =
        matched_.size() > kMost ? matched_.size() - kMost : 0;
    if (skipped > 0) absl::StrAppend(&text, "\n  (", skipped, " more)");
    for (size_t i = skipped; i < matched_.size(); ++i) {
      const Matched& match = matched_[i];
      const Source& source = match.directive->span->source();
      const int64_t begin = match.directive->span->begin();
      const std::string directive =
          source.text().substr(begin, match.directive->span->end() - begin);
      absl::StrAppend(&text, "\n  ", source.name(), ":",
                      source.PositionOf(begin).line, ": ",
                      Input::Shortened(directive), "\n    ",
                      input_.Describe(match.begin));
    }
    diagnostics_.Note({}, std::move(text));
  }

  void NotFound(const Directive& directive, int found, size_t begin,
                size_t end) {
    if (!problem_.empty()) {
      Error(directive, std::exchange(problem_, ""));
      NoteMatched();
      return;
    }
    Error(directive, directive.count > 1
                         ? absl::StrCat("found ", found, " of ",
                                        directive.count, " in the input")
                         : "not found in the input");
    Note(begin, begin, "looked for from here");
    if (end < input_.text().size()) Note(end, end, "up to here");
    const std::optional<CheckPattern::Match> before = Find(directive, 0, begin);
    problem_.clear();
    if (before.has_value()) {
      Note(before->begin, before->end, "there is a match earlier");
    }
    const size_t next =
        directive.kind == Kind::kNext || directive.kind == Kind::kEmpty
            ? input_.text().find('\n', begin)
            : kNone;
    if (next != kNone && next + 1 < input_.text().size()) {
      Note(next + 1, input_.LineAt(next + 1).second, "the next line");
    }
    const size_t nearest = NearestLine(
        input_, begin, end, directive.pattern.LiteralText(variables_));
    if (nearest != kNone && (next == kNone || nearest != next + 1)) {
      const size_t line_end = input_.LineAt(nearest).second;
      size_t text = nearest;
      while (text < line_end && IsBlank(input_.text()[text])) ++text;
      Note(text, line_end, "the nearest candidate");
    }
    NoteVariables(directive);
    NoteMatched();
  }

  const std::vector<Directive>& directives_;
  const std::vector<Directive>& implicit_;
  const Input input_;
  CheckVariables variables_;
  std::vector<Matched> matched_;
  Diagnostics diagnostics_;
  std::string problem_;  // of the last search
};

// --- Parsing -----------------------------------------------------------------

class Parser {
 public:
  Parser(std::shared_ptr<const Source> source, const CheckOptions& options)
      : source_(std::move(source)),
        options_(options),
        text_(source_->text()),
        seen_(options.prefixes.size(), false) {}

  std::vector<Directive> Run(Diagnostics* diagnostics) {
    diagnostics_ = diagnostics;
    size_t line = 0;
    while (line < text_.size()) {
      const size_t end = std::min(text_.find('\n', line), text_.size());
      ReadLine(line, end);
      line = end + 1;
    }
    if (diagnostics_->has_errors()) return {};
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]) continue;
      diagnostics_->Error(
          {}, absl::StrCat(source_->name(), ": there is no line with ",
                           options_.prefixes[i], ":"));
    }
    return std::move(directives_);
  }

 private:
  void ReadLine(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (i > begin && IsWordChar(text_[i - 1])) continue;
      const absl::string_view rest = text_.substr(i, end - i);
      for (const char* comment : kCommentPrefixes) {
        if (absl::StartsWith(rest, comment)) return;
      }
      // The longest prefix that makes a directive.
      size_t best = options_.prefixes.size();
      std::optional<Head> best_head;
      for (size_t p = 0; p < options_.prefixes.size(); ++p) {
        const std::string& prefix = options_.prefixes[p];
        if (!absl::StartsWith(rest, prefix)) continue;
        if (best_head.has_value() &&
            prefix.size() <= options_.prefixes[best].size()) {
          continue;
        }
        std::optional<Head> head = ReadHead(rest.substr(prefix.size()));
        if (!head.has_value()) continue;
        best = p;
        best_head = std::move(head);
      }
      if (!best_head.has_value()) continue;
      seen_[best] = true;
      ReadDirective(i, options_.prefixes[best].size(), *best_head, end);
      return;
    }
  }

  Span SpanOf(size_t begin, size_t end) const {
    return Span(source_, static_cast<int64_t>(begin),
                static_cast<int64_t>(end));
  }

  void ReadDirective(size_t begin, size_t prefix_size, const Head& head,
                     size_t end) {
    size_t text_begin = begin + prefix_size + head.size;
    const bool as_is = options_.strict_whitespace && options_.match_full_lines;
    if (end > text_begin && text_[end - 1] == '\r') --end;
    while (!as_is && text_begin < end && IsBlank(text_[text_begin])) {
      ++text_begin;
    }
    while (!as_is && end > text_begin && IsBlank(text_[end - 1])) --end;
    if (!head.error.empty()) {
      diagnostics_->Error(SpanOf(begin, end), head.error);
      return;
    }
    Directive directive;
    directive.kind = head.kind;
    directive.count = head.count;
    size_t name_end = begin + prefix_size + head.size - 1;
    directive.name = std::string(text_.substr(begin, name_end - begin));
    directive.span = SpanOf(begin, end);
    const absl::string_view text = text_.substr(text_begin, end - text_begin);
    const bool needs_before = head.kind == Kind::kNext ||
                              head.kind == Kind::kSame ||
                              head.kind == Kind::kEmpty;
    if (needs_before && !has_positive_) {
      diagnostics_->Error(
          directive.span,
          absl::StrCat(directive.name, " has no positive directive before it"));
      return;
    }
    if ((head.kind == Kind::kEmpty) != text.empty()) {
      diagnostics_->Error(
          directive.span,
          text.empty() ? absl::StrCat(directive.name, " has no pattern")
                       : absl::StrCat(directive.name, " must have no pattern"));
      return;
    }
    PatternError error;
    std::optional<CheckPattern> pattern = CheckPattern::Parse(
        text,
        {.literal = head.literal,
         .full_line = options_.match_full_lines && head.kind != Kind::kNot,
         .strict = options_.strict_whitespace},
        &error);
    if (!pattern.has_value()) {
      diagnostics_->Error(
          SpanOf(text_begin + error.begin, text_begin + error.end),
          error.message);
      return;
    }
    if (head.kind == Kind::kLabel && pattern->has_variables()) {
      diagnostics_->Error(
          directive.span,
          absl::StrCat(directive.name, " must not have variables"));
      return;
    }
    directive.pattern = *std::move(pattern);
    if (head.kind != Kind::kNot && head.kind != Kind::kDag) {
      has_positive_ = true;
    }
    directives_.push_back(std::move(directive));
  }

  const std::shared_ptr<const Source> source_;
  const CheckOptions& options_;
  const absl::string_view text_;
  std::vector<bool> seen_;  // for each prefix
  bool has_positive_ = false;
  std::vector<Directive> directives_;
  Diagnostics* diagnostics_ = nullptr;
};

absl::Status CheckPrefixes(const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return absl::InvalidArgumentError("no prefix is given");
  std::set<std::string> seen;
  for (const std::string& prefix : prefixes) {
    if (prefix.empty() ||
        !absl::ascii_isalpha(static_cast<unsigned char>(prefix[0])) ||
        !std::all_of(prefix.begin(), prefix.end(), IsWordChar)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", prefix, "\" cannot be a prefix: one begins with a letter and ",
          "has letters, digits, - and _"));
    }
    if (!seen.insert(prefix).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("prefix ", prefix, " is given twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Checks> Checks::Parse(std::shared_ptr<const Source> source,
                                     CheckOptions options) {
  const absl::Status prefixes = CheckPrefixes(options.prefixes);
  if (!prefixes.ok()) return prefixes;
  auto data = std::make_shared<Data>();
  data->source = source;
  data->options = std::move(options);
  Diagnostics diagnostics;
  data->directives = Parser(std::move(source), data->options).Run(&diagnostics);
  for (const std::string& text : data->options.implicit_check_not) {
    PatternError error;
    auto pattern_source =
        std::make_shared<const Source>("implicit_check_not", text);
    std::optional<CheckPattern> pattern = CheckPattern::Parse(
        text, {.strict = data->options.strict_whitespace}, &error);
    if (text.empty()) {
      diagnostics.Error({}, "implicit_check_not: empty pattern");
    } else if (!pattern.has_value()) {
      diagnostics.Error(Span(pattern_source, static_cast<int64_t>(error.begin),
                             static_cast<int64_t>(error.end)),
                        error.message);
    } else {
      data->implicit.push_back(
          {.name = "implicit_check_not",
           .kind = Kind::kNot,
           .pattern = *std::move(pattern),
           .span = Span(pattern_source, 0, static_cast<int64_t>(text.size()))});
    }
  }
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  return Checks(std::move(data));
}

absl::Status Checks::Check(std::shared_ptr<const Source> input) const {
  if (input->text().empty() && !data_->options.allow_empty) {
    return absl::InvalidArgumentError(
        absl::StrCat(input->name(), ": error: the input is empty"));
  }
  return Checker(data_->directives, data_->implicit, data_->options,
                 std::move(input))
      .Run();
}

int Checks::size() const { return static_cast<int>(data_->directives.size()); }

}  // namespace baton
