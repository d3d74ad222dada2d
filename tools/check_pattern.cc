#include "baton/tools/check_pattern.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace baton {
namespace {

// The budget for finding a value of a variable that agrees with its uses in the
// same line: the number of bytes examined, plus a number for each byte of the
// text.
constexpr size_t kMinWork = 4 << 20;
constexpr size_t kWorkPerByte = 64;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsNameStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// One blank for each run of them.
std::string CollapseBlanks(absl::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!IsBlank(c)) {
      result.push_back(c);
    } else if (result.empty() || result.back() != ' ') {
      result.push_back(' ');
    }
  }
  return result;
}

RE2::Options RegexOptions() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);  // bytes
  options.set_log_errors(false);
  options.set_never_nl(true);
  return options;
}

std::string Escaped(absl::string_view text) {
  return RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
}

// The error of a regular expression. If there is none, sets the number of its
// groups.
std::string RegexProblem(const std::string& regex, int* groups) {
  const RE2 compiled(regex, RegexOptions());
  if (!compiled.ok()) return compiled.error();
  *groups = compiled.NumberOfCapturingGroups();
  return "";
}

// The end of the expression of `[[NAME:expression]]`: the first `]]` that no
// bracket in the expression and no backslash takes; npos if there is none.
size_t FindVariableEnd(absl::string_view text, size_t from) {
  int depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (depth == 0 && absl::StartsWith(text.substr(i), "]]")) {
      return i;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']' && depth > 0) {
      --depth;
    }
  }
  return absl::string_view::npos;
}

}  // namespace

std::optional<CheckPattern> CheckPattern::Parse(absl::string_view text,
                                                const PatternOptions& options,
                                                PatternError* error) {
  CheckPattern pattern;
  pattern.options_ = options;
  const auto fail = [&](size_t begin, size_t end, std::string message) {
    *error = {begin, end, std::move(message)};
    return std::nullopt;
  };
  const auto collapsed = [&](absl::string_view part) {
    return options.strict ? std::string(part) : CollapseBlanks(part);
  };
  std::vector<Piece>& pieces = pattern.pieces_;
  std::map<std::string, int> defined;
  std::string pending;  // text
  const auto flush = [&] {
    if (pending.empty()) return;
    pieces.push_back({.kind = Kind::kText, .text = collapsed(pending)});
    pending.clear();
  };
  size_t i = options.literal ? text.size() : 0;
  if (options.literal) pending = std::string(text);
  while (i < text.size()) {
    const absl::string_view rest = text.substr(i);
    if (absl::StartsWith(rest, "{{")) {
      const size_t end = rest.find("}}", 2);
      if (end == absl::string_view::npos) {
        return fail(i, i + 2, "{{ without }}");
      }
      flush();
      Piece piece = {.kind = Kind::kRegex,
                     .text = "",
                     .regex = collapsed(rest.substr(2, end - 2))};
      const std::string problem = RegexProblem(piece.regex, &piece.groups);
      if (!problem.empty()) {
        return fail(i, i + end + 2,
                    absl::StrCat("bad regular expression: ", problem,
                                 absl::StartsWith(rest.substr(end), "}}}")
                                     ? " (the first }} ends it)"
                                     : ""));
      }
      pieces.push_back(std::move(piece));
      i += end + 2;
      continue;
    }
    if (rest.size() < 3 || !absl::StartsWith(rest, "[[") ||
        !IsNameStart(rest[2])) {
      pending.push_back(text[i++]);
      continue;
    }
    size_t name_end = 2;
    while (name_end < rest.size() && IsNameChar(rest[name_end])) ++name_end;
    std::string name(rest.substr(2, name_end - 2));
    if (absl::StartsWith(rest.substr(name_end), "]]")) {
      flush();
      const auto definition = defined.find(name);
      const bool own = definition != defined.end();
      if (own && pattern.first_own_use_ < 0) {
        pattern.first_own_use_ = static_cast<int>(pieces.size());
      }
      pieces.push_back({.kind = own ? Kind::kOwnUse : Kind::kUse,
                        .text = std::move(name),
                        .definition = own ? definition->second : -1});
      i += name_end + 2;
      continue;
    }
    if (name_end >= rest.size() || rest[name_end] != ':') {
      return fail(i, i + name_end,
                  absl::StrCat("expected : or ]] after the name of a variable; "
                               "to match the text [[",
                               name, ", write {{\\[\\[}}", name));
    }
    const size_t end = FindVariableEnd(rest, name_end + 1);
    if (end == absl::string_view::npos) {
      return fail(i, i + name_end, "[[ without ]]");
    }
    flush();
    if (defined.count(name) > 0) {
      return fail(i, i + end + 2,
                  absl::StrCat("variable ", name, " is set twice"));
    }
    Piece piece = {
        .kind = Kind::kDefine,
        .text = name,
        .regex = collapsed(rest.substr(name_end + 1, end - name_end - 1))};
    const std::string problem = RegexProblem(piece.regex, &piece.groups);
    if (!problem.empty()) {
      return fail(i, i + end + 2,
                  absl::StrCat("bad regular expression: ", problem));
    }
    defined.emplace(std::move(name), static_cast<int>(pieces.size()));
    pieces.push_back(std::move(piece));
    i += end + 2;
  }
  flush();
  if (!options.full_line && pieces.size() == 1 &&
      pieces[0].kind == Kind::kText) {
    pattern.only_text_ = pieces[0].text;
  } else if (pattern.UsedVariables().empty()) {
    auto compiled =
        std::make_shared<const Compiled>(Compile(pieces, options, {}));
    if (!compiled->regex->ok()) {
      return fail(0, text.size(),
                  absl::StrCat("bad pattern: ", compiled->regex->error()));
    }
    pattern.compiled_ = std::move(compiled);
  }
  return pattern;
}

std::vector<std::string> CheckPattern::UsedVariables() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kUse) names.push_back(piece.text);
  }
  return names;
}

bool CheckPattern::has_variables() const {
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
    return piece.kind != Kind::kText && piece.kind != Kind::kRegex;
  });
}

std::string CheckPattern::LiteralText(const CheckVariables& variables) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kText) {
      text += piece.text;
    } else if (piece.kind == Kind::kUse) {
      const auto value = variables.find(piece.text);
      if (value != variables.end()) text += value->second;
    }
    text += '\n';  // separates the words on both sides of a gap
  }
  return text;
}

CheckPattern::Compiled CheckPattern::Compile(const std::vector<Piece>& pieces,
                                             const PatternOptions& options,
                                             const CheckVariables& variables) {
  Compiled compiled;
  int groups = 0;
  const absl::string_view blanks = options.strict ? "" : " *";
  std::string regex = "(?m)";
  if (options.full_line) absl::StrAppend(&regex, "^", blanks);
  for (const Piece& piece : pieces) {
    int group = 0;
    switch (piece.kind) {
      case Kind::kText:
        regex += Escaped(piece.text);
        break;
      case Kind::kRegex:
        absl::StrAppend(&regex, "(?:", piece.regex, ")");
        groups += piece.groups;
        break;
      case Kind::kDefine:
        group = ++groups;
        absl::StrAppend(&regex, "(", piece.regex, ")");
        groups += piece.groups;
        break;
      case Kind::kUse:
        regex += Escaped(variables.at(piece.text));
        break;
      case Kind::kOwnUse:
        group = ++groups;
        absl::StrAppend(&regex, "(", pieces[piece.definition].regex, ")");
        groups += pieces[piece.definition].groups;
        break;
    }
    compiled.group.push_back(group);
  }
  if (options.full_line) absl::StrAppend(&regex, blanks, "$");
  compiled.num_groups = groups + 1;
  compiled.regex = std::make_unique<RE2>(regex, RegexOptions());
  return compiled;
}

// The first match at or after `from`. `agrees`: whether the variables that it
// sets have these values where they are used in it, too.
std::optional<CheckPattern::Match> CheckPattern::FindRegex(
    const Compiled& compiled, absl::string_view text, size_t from,
    bool* agrees) const {
  *agrees = true;
  std::vector<re2::StringPiece> groups(compiled.num_groups);
  const re2::StringPiece whole(text.data(), text.size());
  if (!compiled.regex->Match(whole, from, text.size(), RE2::UNANCHORED,
                             groups.data(), compiled.num_groups)) {
    return std::nullopt;
  }
  Match match;
  match.begin = static_cast<size_t>(groups[0].data() - text.data());
  match.end = match.begin + groups[0].size();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.kind == Kind::kDefine) {
      const re2::StringPiece& value = groups[compiled.group[i]];
      match.variables.emplace_back(piece.text,
                                   std::string(value.data(), value.size()));
    } else if (piece.kind == Kind::kOwnUse &&
               groups[compiled.group[i]] !=
                   groups[compiled.group[piece.definition]]) {
      *agrees = false;
    }
  }
  return match;
}

// RE2 has no references to what a group matched. So a use of a variable in the
// line that sets it matches what may be the variable's value, and must turn out
// to be it. If it does not anywhere in a line, each value that the variable can
// have there is tried.
absl::StatusOr<std::optional<CheckPattern::Match>> CheckPattern::FindRepeated(
    const Compiled& compiled, absl::string_view text,
    const CheckVariables& variables) const {
  const size_t max_work = kMinWork + kWorkPerByte * text.size();
  size_t work = 0;
  const int definition = pieces_[first_own_use_].definition;
  const RE2 value_regex(pieces_[definition].regex, RegexOptions());
  size_t from = 0;
  while (from <= text.size()) {
    bool agrees = false;
    std::optional<Match> match = FindRegex(compiled, text, from, &agrees);
    if (!match.has_value()) return std::nullopt;
    const size_t line_end =
        std::min(text.find('\n', match->begin), text.size());
    const absl::string_view before = text.substr(0, match->begin);
    const size_t newline = before.rfind('\n');
    const size_t line_begin =
        std::max(from, newline == absl::string_view::npos ? 0 : newline + 1);
    while (match.has_value() && match->begin < line_end) {
      if (agrees) return match;
      work += line_end - match->begin;
      if (work > max_work) break;
      match = FindRegex(compiled, text, match->begin + 1, &agrees);
    }
    std::set<absl::string_view> tried;
    for (size_t begin = line_begin; begin < line_end; ++begin) {
      for (size_t end = line_end; end > begin; --end) {
        work += line_end - begin;
        if (work > max_work) {
          return absl::ResourceExhaustedError(absl::StrCat(
              "there are too many ways to set ", pieces_[definition].text,
              ", which is used in the same line: use it in a line of its own, "
              "or make its expression match less"));
        }
        const absl::string_view value = text.substr(begin, end - begin);
        if (text.substr(end, line_end - end).find(value) ==
                absl::string_view::npos ||
            !RE2::FullMatch(re2::StringPiece(value.data(), value.size()),
                            value_regex) ||
            !tried.insert(value).second) {
          continue;
        }
        std::vector<Piece> pieces = pieces_;
        pieces[definition].regex = Escaped(value);
        pieces[definition].groups = 0;
        const Compiled fixed = Compile(pieces, options_, variables);
        std::optional<Match> found =
            FindRegex(fixed, text.substr(0, line_end), line_begin, &agrees);
        if (found.has_value() && agrees) return found;
      }
    }
    from = line_end + 1;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<CheckPattern::Match>> CheckPattern::Find(
    absl::string_view text, const CheckVariables& variables) const {
  if (only_text_.has_value()) {
    const size_t begin = text.find(*only_text_);
    if (begin == absl::string_view::npos) return std::nullopt;
    return Match{.begin = begin, .end = begin + only_text_->size()};
  }
  std::shared_ptr<const Compiled> compiled = compiled_;
  if (compiled == nullptr) {
    for (const std::string& name : UsedVariables()) {
      if (variables.count(name) == 0) {
        return absl::NotFoundError(
            absl::StrCat("variable ", name, " has no value here"));
      }
    }
    compiled =
        std::make_shared<const Compiled>(Compile(pieces_, options_, variables));
    if (!compiled->regex->ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bad pattern: ", compiled->regex->error()));
    }
  }
  if (first_own_use_ >= 0) return FindRepeated(*compiled, text, variables);
  bool agrees = false;  // true: it sets nothing that it uses
  return FindRegex(*compiled, text, 0, &agrees);
}

}  // namespace baton
