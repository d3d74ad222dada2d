#include "baton/onnx/dim_names.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"

namespace baton::onnx {
namespace {

// Parentheses nested deeper are no formula.
constexpr int kMaxDepth = 20;

bool BeginsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }

// The length of the name with which `text` begins.
size_t NameLength(absl::string_view text) {
  size_t length = 0;
  while (length < text.size() &&
         (BeginsName(text[length]) || absl::ascii_isdigit(text[length]))) {
    ++length;
  }
  return length;
}

// Evaluates sums, differences, products and floor divisions (`//`).
class Formula {
 public:
  Formula(absl::string_view text,
          const FlatHashMap<std::string, int64_t>& sizes)
      : rest_(text), sizes_(sizes) {}

  std::optional<int64_t> Value() {
    const std::optional<int64_t> value = Sum();
    SkipSpace();
    if (!value.has_value() || !rest_.empty() || !has_names_ || *value < 0) {
      return std::nullopt;
    }
    return value;
  }

 private:
  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  bool Take(absl::string_view token) {
    SkipSpace();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<int64_t> Sum() {
    std::optional<int64_t> value = Product();
    while (value.has_value()) {
      const bool adds = Take("+");
      if (!adds && !Take("-")) break;
      const std::optional<int64_t> other = Product();
      int64_t result = 0;
      if (!other.has_value() ||
          (adds ? __builtin_add_overflow(*value, *other, &result)
                : __builtin_sub_overflow(*value, *other, &result))) {
        return std::nullopt;
      }
      value = result;
    }
    return value;
  }

  std::optional<int64_t> Product() {
    std::optional<int64_t> value = Factor();
    while (value.has_value()) {
      const bool divides = Take("//");
      if (!divides && !Take("*")) break;
      const std::optional<int64_t> other = Factor();
      if (!other.has_value()) return std::nullopt;
      if (divides) {
        if (*other <= 0) return std::nullopt;
        const int64_t rounds_up = *value % *other < 0 ? 1 : 0;
        value = *value / *other - rounds_up;
        continue;
      }
      int64_t result = 0;
      if (__builtin_mul_overflow(*value, *other, &result)) return std::nullopt;
      value = result;
    }
    return value;
  }

  std::optional<int64_t> Factor() {
    if (Take("(")) {
      if (++depth_ > kMaxDepth) return std::nullopt;
      const std::optional<int64_t> value = Sum();
      --depth_;
      return Take(")") ? value : std::nullopt;
    }
    SkipSpace();
    const size_t length = NameLength(rest_);
    const absl::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (word.empty()) return std::nullopt;
    if (BeginsName(word[0])) {
      const auto found = sizes_.find(std::string(word));
      if (found == sizes_.end()) return std::nullopt;
      has_names_ = true;
      return found->second;
    }
    int64_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
    return number;
  }

  absl::string_view rest_;
  const FlatHashMap<std::string, int64_t>& sizes_;
  int depth_ = 0;
  bool has_names_ = false;
};

}  // namespace

std::optional<int64_t> SizeOfDim(
    absl::string_view name, const FlatHashMap<std::string, int64_t>& sizes) {
  if (sizes.empty()) return std::nullopt;
  if (const auto found = sizes.find(std::string(name)); found != sizes.end()) {
    return found->second;
  }
  return Formula(name, sizes).Value();
}

bool MentionsDim(absl::string_view formula, absl::string_view name) {
  while (!formula.empty()) {
    const size_t length = NameLength(formula);
    if (length != 0 && formula.substr(0, length) == name) return true;
    formula.remove_prefix(length == 0 ? 1 : length);
  }
  return false;
}

}  // namespace baton::onnx
