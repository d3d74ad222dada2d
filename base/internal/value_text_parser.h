// Parser of the grammar of base/value_text.h, for parsers that extend it.

#ifndef BATON_BASE_INTERNAL_VALUE_TEXT_PARSER_H_
#define BATON_BASE_INTERNAL_VALUE_TEXT_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"

namespace baton::internal {

// A recursive-descent parser over one text. Errors show their place in it.
class ValueTextParser {
 public:
  // The limit of the nesting of brackets of all kinds.
  static constexpr int kMaxDepth = 100;

  // The bytes [begin, end) of the text.
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };
  struct Word {
    std::string text;
    Range range;
  };
  // The positions of the keys and values of a list of options, in order.
  struct OptionRanges {
    std::vector<Range> keys;
    std::vector<Range> values;
  };

  ValueTextParser(absl::string_view text, absl::string_view source_name);

  // The functions below skip white space first.
  bool AtEnd();
  bool Peek(char c);
  bool Consume(char c);
  // Consumes `c`. The error says `expected ...` if another character is next.
  absl::Status Expect(char c, absl::string_view what);
  // A bare word.
  absl::StatusOr<Word> ReadWord(absl::string_view what);
  absl::StatusOr<AttrValue> ReadValue(int depth);
  // `{...}` or nothing.
  absl::StatusOr<AttrMap> ReadOptions(int depth,
                                      OptionRanges* ranges = nullptr);
  // `KEY=VALUE,...` up to the end of the text.
  absl::StatusOr<AttrMap> ReadKeyValues();

  absl::Status ErrorAt(Range range, std::string message) const;
  // An error at the next character.
  absl::Status ErrorHere(std::string message);
  // An error unless the text is at its end.
  absl::Status ExpectEnd();
  absl::Status CheckDepth(int depth);

 private:
  absl::string_view text() const { return source_->text(); }
  void SkipSpace();
  absl::StatusOr<std::string> ReadQuoted();
  absl::StatusOr<std::string> ReadKey(Range* range);
  absl::StatusOr<AttrValue> ValueOfWord(const Word& word) const;
  // Reads one `KEY SEPARATOR VALUE`, where SEPARATOR is a character of
  // `separators`. `seen` contains the keys read so far: a repeated key is an
  // error.
  absl::Status ReadPair(absl::string_view separators, int depth,
                        OptionRanges* ranges, FlatHashSet<std::string>* seen,
                        AttrMap* out);

  std::shared_ptr<const Source> source_;
  size_t pos_ = 0;
};

}  // namespace baton::internal

#endif  // BATON_BASE_INTERNAL_VALUE_TEXT_PARSER_H_
