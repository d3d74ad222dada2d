#include "baton/base/internal/value_text_parser.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"

namespace baton::internal {
namespace {

bool IsWordChar(char c) {
  return !absl::ascii_isspace(static_cast<unsigned char>(c)) &&
         absl::string_view(",:=()[]{}\"\\").find(c) == absl::string_view::npos;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decimal, and not a word such as `infinity`.
bool LooksLikeNumber(absl::string_view word) {
  return word.find_first_not_of("0123456789+-.eE") == absl::string_view::npos &&
         word.find_first_of("0123456789") != absl::string_view::npos;
}

bool IsInteger(absl::string_view word) {
  if (word[0] == '-' || word[0] == '+') word.remove_prefix(1);
  for (char c : word) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return !word.empty();
}

}  // namespace

ValueTextParser::ValueTextParser(absl::string_view text,
                                 absl::string_view source_name)
    : source_(std::make_shared<const Source>(std::string(source_name),
                                             std::string(text))) {}

void ValueTextParser::SkipSpace() {
  while (pos_ < text().size() &&
         absl::ascii_isspace(static_cast<unsigned char>(text()[pos_]))) {
    ++pos_;
  }
}

bool ValueTextParser::AtEnd() {
  SkipSpace();
  return pos_ == text().size();
}

bool ValueTextParser::Peek(char c) { return !AtEnd() && text()[pos_] == c; }

bool ValueTextParser::Consume(char c) {
  if (!Peek(c)) return false;
  ++pos_;
  return true;
}

absl::Status ValueTextParser::ErrorAt(Range range, std::string message) const {
  return absl::InvalidArgumentError(
      LocatedMessage(*source_, range.begin, range.end, "error", message));
}

absl::Status ValueTextParser::ErrorHere(std::string message) {
  SkipSpace();
  const auto pos = static_cast<int64_t>(pos_);
  return ErrorAt({pos, pos + 1}, std::move(message));
}

absl::Status ValueTextParser::Expect(char c, absl::string_view what) {
  if (Consume(c)) return absl::OkStatus();
  return ErrorHere(absl::StrCat("expected ", what));
}

absl::Status ValueTextParser::ExpectEnd() {
  return AtEnd() ? absl::OkStatus() : ErrorHere("expected the end");
}

absl::Status ValueTextParser::CheckDepth(int depth) {
  return depth <= kMaxDepth
             ? absl::OkStatus()
             : ErrorHere(absl::StrCat("nested more than ", kMaxDepth,
                                      " brackets deep"));
}

absl::StatusOr<ValueTextParser::Word> ValueTextParser::ReadWord(
    absl::string_view what) {
  SkipSpace();
  const size_t begin = pos_;
  while (pos_ < text().size() && IsWordChar(text()[pos_])) ++pos_;
  if (pos_ == begin) return ErrorHere(absl::StrCat("expected ", what));
  return Word{std::string(text().substr(begin, pos_ - begin)),
              {static_cast<int64_t>(begin), static_cast<int64_t>(pos_)}};
}

absl::StatusOr<std::string> ValueTextParser::ReadQuoted() {
  const auto begin = static_cast<int64_t>(pos_);
  std::string result;
  ++pos_;
  while (pos_ < text().size()) {
    const char c = text()[pos_++];
    if (c == '"') return result;
    if (c != '\\') {
      result.push_back(c);
      continue;
    }
    const auto escape = static_cast<int64_t>(pos_) - 1;
    const char next = pos_ < text().size() ? text()[pos_++] : '\0';
    switch (next) {
      case '"':
      case '\\':
        result.push_back(next);
        break;
      case 'n':
        result.push_back('\n');
        break;
      case 'r':
        result.push_back('\r');
        break;
      case 't':
        result.push_back('\t');
        break;
      case 'x': {
        const int high = pos_ < text().size() ? HexDigit(text()[pos_]) : -1;
        const int low =
            pos_ + 1 < text().size() ? HexDigit(text()[pos_ + 1]) : -1;
        if (high < 0 || low < 0) {
          return ErrorAt({escape, escape + 2},
                         "expected two hexadecimal digits after \\x");
        }
        result.push_back(static_cast<char>(high * 16 + low));
        pos_ += 2;
        break;
      }
      default:
        return ErrorAt({escape, escape + 2},
                       "unknown escape (known: \\\" \\\\ \\n \\r \\t \\xHH)");
    }
  }
  return ErrorAt({begin, begin + 1}, "the quote is not closed");
}

absl::StatusOr<AttrValue> ValueTextParser::ValueOfWord(const Word& word) const {
  const std::string& text = word.text;
  if (text == "true") return AttrValue(true);
  if (text == "false") return AttrValue(false);
  if (text == "none") return AttrValue();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (text == "inf") return AttrValue(kInf);
  if (text == "-inf") return AttrValue(-kInf);
  if (text == "nan") return AttrValue(std::numeric_limits<double>::quiet_NaN());
  if (IsInteger(text)) {
    int64_t integer = 0;
    if (absl::SimpleAtoi(text, &integer)) return AttrValue(integer);
    return ErrorAt(word.range, "the number does not fit in 64 bits");
  }
  double number = 0;
  if (LooksLikeNumber(text) && absl::SimpleAtod(text, &number)) {
    return AttrValue(number);
  }
  return AttrValue(text);
}

absl::StatusOr<AttrValue> ValueTextParser::ReadValue(int depth) {
  BATON_RETURN_IF_ERROR(CheckDepth(depth));
  if (Peek('"')) {
    BATON_ASSIGN_OR_RETURN(std::string quoted, ReadQuoted());
    return AttrValue(std::move(quoted));
  }
  if (Consume('[')) {
    AttrList list;
    if (Consume(']')) return AttrValue(std::move(list));
    do {
      BATON_ASSIGN_OR_RETURN(AttrValue item, ReadValue(depth + 1));
      list.push_back(std::move(item));
    } while (Consume(','));
    BATON_RETURN_IF_ERROR(Expect(']', "\",\" or \"]\""));
    return AttrValue(std::move(list));
  }
  if (Consume('{')) {
    AttrMap map;
    if (Consume('}')) return AttrValue(std::move(map));
    FlatHashSet<std::string> seen;
    do {
      BATON_RETURN_IF_ERROR(ReadPair(":=", depth + 1, nullptr, &seen, &map));
    } while (Consume(','));
    BATON_RETURN_IF_ERROR(Expect('}', "\",\" or \"}\""));
    return AttrValue(std::move(map));
  }
  BATON_ASSIGN_OR_RETURN(const Word word, ReadWord("a value"));
  return ValueOfWord(word);
}

absl::StatusOr<std::string> ValueTextParser::ReadKey(Range* range) {
  if (Peek('"')) {
    range->begin = static_cast<int64_t>(pos_);
    BATON_ASSIGN_OR_RETURN(std::string key, ReadQuoted());
    range->end = static_cast<int64_t>(pos_);
    return key;
  }
  BATON_ASSIGN_OR_RETURN(Word word, ReadWord("a name"));
  *range = word.range;
  return std::move(word.text);
}

absl::Status ValueTextParser::ReadPair(absl::string_view separators, int depth,
                                       OptionRanges* ranges,
                                       FlatHashSet<std::string>* seen,
                                       AttrMap* out) {
  Range key_range;
  BATON_ASSIGN_OR_RETURN(std::string key, ReadKey(&key_range));
  if (!seen->insert(key).second) {
    return ErrorAt(key_range, absl::StrCat(key, " is given twice"));
  }
  if (AtEnd() || separators.find(text()[pos_]) == absl::string_view::npos) {
    return ErrorHere(separators.size() == 1 ? "expected \"=\""
                                            : "expected \":\" or \"=\"");
  }
  ++pos_;
  SkipSpace();
  const auto begin = static_cast<int64_t>(pos_);
  BATON_ASSIGN_OR_RETURN(AttrValue value, ReadValue(depth));
  out->emplace_back(std::move(key), std::move(value));
  if (ranges != nullptr) {
    ranges->keys.push_back(key_range);
    ranges->values.push_back({begin, static_cast<int64_t>(pos_)});
  }
  return absl::OkStatus();
}

absl::StatusOr<AttrMap> ValueTextParser::ReadOptions(int depth,
                                                     OptionRanges* ranges) {
  AttrMap options;
  if (!Consume('{') || Consume('}')) return options;
  FlatHashSet<std::string> seen;
  do {
    BATON_RETURN_IF_ERROR(ReadPair("=", depth + 1, ranges, &seen, &options));
  } while (Consume(','));
  BATON_RETURN_IF_ERROR(Expect('}', "\",\" or \"}\""));
  return options;
}

absl::StatusOr<AttrMap> ValueTextParser::ReadKeyValues() {
  AttrMap result;
  if (AtEnd()) return result;
  FlatHashSet<std::string> seen;
  do {
    BATON_RETURN_IF_ERROR(ReadPair("=", 1, nullptr, &seen, &result));
  } while (Consume(','));
  BATON_RETURN_IF_ERROR(AtEnd() ? absl::OkStatus()
                                : ErrorHere("expected \",\" or the end"));
  return result;
}

}  // namespace baton::internal
