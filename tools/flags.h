// Command-line flags: fields of options structs.
//
// A flag is described once, in the field list (base/fields.h) of the struct
// that it sets:
//
//   struct GrowthOptions {
//     double max_growth = 0;
//
//     template <typename V>
//     static void VisitFields(V& v) {
//       v("max_growth", &GrowthOptions::max_growth,
//         FlagSpec{.help = "A pass must not make the program X times larger.",
//                  .value = "X"});
//     }
//   };
//
// `--max_growth=X` has the name, the type and the default of the field.
// Parsing, `--help`, the reference page, and the flags in a reproducer are
// derived from the description. A field without a FlagSpec is no flag. Types
// are bool, int, int64_t, double, std::string and std::vector<std::string>,
// written as Abseil flags of these types are.

#ifndef BATON_TOOLS_FLAGS_H_
#define BATON_TOOLS_FLAGS_H_

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/flags/marshalling.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/tools/flag_files.h"

namespace baton {

// The description of a field that is a flag.
struct FlagSpec {
  const char* help = "";
  // What the help calls the value, as in `--max_growth=X`; nothing for a bool.
  std::string value = {};
  // The heading in the help. The flags of an instrument have one heading, which
  // is not given here.
  std::string group = {};
  // The values that the flag may have; any if empty.
  std::vector<std::string> choices = {};
  // The least and the largest number that the flag may be. No flag may be NaN
  // or infinite.
  std::optional<double> least = std::nullopt;
  std::optional<double> most = std::nullopt;
  // A number outside of these bounds that stands for none, such as -1.
  std::optional<double> none = std::nullopt;

  // As the documentation of the field.
  operator const char*() const { return help; }  // NOLINT
};

struct Flag {
  std::string name;
  FlagSpec spec;
  bool is_bool = false;
  std::string default_text;  // as on the command line
  const Field* field = nullptr;
  // The field's value that `text` stands for. The error is Abseil's for the
  // type, often empty.
  absl::StatusOr<AttrValue> (*parse)(absl::string_view text) = nullptr;
};

// The flags in the field list of T, in its order.
template <typename T>
const std::vector<Flag>& FlagsOf();

// An error if a field of `object` has a value that is not one of its flag's
// choices, or a number that the flag may not be.
absl::Status CheckChoices(const std::vector<Flag>& flags, const void* object);

// A line of the help: `  --opt_level=N      Sequences run ... Default: 2.`
std::string FlagHelp(absl::string_view name, absl::string_view value,
                     absl::string_view help, absl::string_view default_text);

struct ParsedFlags {
  // Of the flags that are given; of one that is given twice, the last.
  AttrMap values;
  // The other arguments, in order.
  std::vector<std::string> rest;
};

// The flags that a program has beside those of ABSL_FLAG.
class FlagSet {
 public:
  // Adds flags, which must outlive this object. `owner` is the name that errors
  // give to their owner. `heading`, if not empty, replaces their groups. It is
  // an error if a flag of such a name is there already, here or in Abseil.
  absl::Status Add(const std::vector<Flag>& flags, absl::string_view owner,
                   absl::string_view heading = "");

  // Null if there is none.
  const Flag* Find(absl::string_view name) const;
  std::vector<std::string> Names() const;

  // Parses flags as Abseil does: `--name=value`, `--name value`, and for a bool
  // `--name` and `--noname`, with one dash or two. Arguments that are no flags
  // of this set, and all from `--` on, are the rest. An error has a line for
  // each flag that is wrong, in Abseil's words.
  absl::StatusOr<ParsedFlags> Parse(const std::vector<Argument>& args) const;

  // The help of the flags under a heading, a line each.
  std::string Help(absl::string_view heading) const;

 private:
  struct Entry {
    const Flag* flag;
    std::string owner;
    std::string heading;
  };
  std::vector<Entry> entries_;
};

// Assigns the fields of `values` that T has to `object`. Ignores other values.
template <typename T>
absl::Status AssignFlags(const AttrMap& values, T* object) {
  AttrMap own;
  for (const Flag& flag : FlagsOf<T>()) {
    for (const auto& [name, value] : values) {
      if (name == flag.name) own.emplace_back(name, value);
    }
  }
  return FieldsOf<T>().Assign(own, object);
}

// Implementation details below.

namespace internal {

template <typename T>
struct FlagCollector {
  std::vector<Flag>* flags;

  template <typename F>
  void operator()(const char* name, F T::*member, const FlagSpec& spec) {
    const auto parse = [](absl::string_view text) -> absl::StatusOr<AttrValue> {
      F value{};
      std::string error;
      if (absl::ParseFlag(text, &value, &error)) {
        return AttrTraits<F>::ToValue(value);
      }
      return absl::InvalidArgumentError(error);
    };
    flags->push_back({.name = name,
                      .spec = spec,
                      .is_bool = std::is_same_v<F, bool>,
                      .default_text = absl::UnparseFlag(T().*member),
                      .field = FieldsOf<T>().Find(name),
                      .parse = parse});
  }
  template <typename F, typename... Required>
  void operator()(const char* /*name*/, F T::* /*member*/, const char* /*doc*/,
                  Required... /*required*/) {}  // no flag
};

}  // namespace internal

template <typename T>
const std::vector<Flag>& FlagsOf() {
  static const auto* const kFlags = [] {
    auto* flags = new std::vector<Flag>();
    internal::FlagCollector<T> collector{flags};
    T::VisitFields(collector);
    return flags;
  }();
  return *kFlags;
}

}  // namespace baton

#endif  // BATON_TOOLS_FLAGS_H_
