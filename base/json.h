// JsonWriter: writes JSON.
//
//   JsonWriter json;
//   json.BeginObject().Fields("pass", name, "runs", 3).Key("sums");
//   json.BeginArray();
//   for (double us : sums) json.NewLine().Object("us", JsonFixed{us, 3});
//   json.End().End();
//   std::string text = std::move(json).Finish();
//
// makes, for two sums,
//
//   {"pass":"FuseOps","runs":3,"sums":[
//   {"us":1.500},
//   {"us":2.000}]}

#ifndef BATON_BASE_JSON_H_
#define BATON_BASE_JSON_H_

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {

// Converts `text` to a JSON string with its quotes. The result is UTF-8: bytes
// of `text` that are not UTF-8 become U+FFFD.
std::string JsonString(absl::string_view text);

// A number with this many digits after the point.
struct JsonFixed {
  double value;
  int digits;
};

// A value that is JSON already.
struct JsonText {
  absl::string_view text;
};

// Writes one value, without spaces. A value is a bool, an integer, a double (in
// six digits), a string, a JsonFixed, a JsonText, or a container of values,
// which becomes an array. A number that is not finite becomes null. The caller
// closes what it begins.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Begin('{', '}'); }
  JsonWriter& BeginArray() { return Begin('[', ']'); }
  // Ends the innermost object or array.
  JsonWriter& End();

  // The key of the next value.
  JsonWriter& Key(absl::string_view key);

  // The next value of an array, or the next key, begins a line.
  JsonWriter& NewLine() {
    new_line_ = true;
    return *this;
  }

  template <typename V>
  JsonWriter& Value(const V& value) {
    if constexpr (std::is_same_v<V, bool>) {
      return Raw(value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<V>) {
      static_assert(!std::is_same_v<V, char>);
      if constexpr (std::is_floating_point_v<V>) {
        if (!std::isfinite(value)) return Raw("null");
      }
      return Raw(absl::AlphaNum(value).Piece());
    } else if constexpr (std::is_convertible_v<const V&, absl::string_view>) {
      return Raw(JsonString(value));
    } else if constexpr (std::is_same_v<V, JsonText>) {
      return Raw(value.text);
    } else if constexpr (std::is_same_v<V, JsonFixed>) {
      return Fixed(value);
    } else {
      BeginArray();
      for (const auto& element : value) Value(element);
      return End();
    }
  }

  // Keys, each followed by its value.
  JsonWriter& Fields() { return *this; }
  template <typename V, typename... More>
  JsonWriter& Fields(absl::string_view key, const V& value,
                     const More&... more) {
    return Key(key).Value(value).Fields(more...);
  }

  // An object of these keys and values.
  template <typename... KeysAndValues>
  JsonWriter& Object(const KeysAndValues&... fields) {
    return BeginObject().Fields(fields...).End();
  }

  // Nothing may be open.
  std::string Finish() && { return std::move(text_); }

 private:
  JsonWriter& Begin(char open, char close);
  // Writes what is between the last value and the next.
  void Separate();
  JsonWriter& Raw(absl::string_view text);
  JsonWriter& Fixed(const JsonFixed& number);

  std::string text_;
  std::string closing_;  // of what is open, the innermost last
  bool needs_comma_ = false;
  bool new_line_ = false;
};

}  // namespace baton

#endif  // BATON_BASE_JSON_H_
