// Command-line flags, declared as fields of options structs.
//
// A flag is described once, in the field list (base/fields.h) of its options
// struct:
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
// derived from the description. A field without a FlagSpec is not a flag. Types
// are bool, int, int64_t, double, std::string and std::vector<std::string>,
// written like Abseil flags of these types.

#ifndef BATON_BASE_FLAGS_H_
#define BATON_BASE_FLAGS_H_

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/flags/marshalling.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"

namespace baton {

// The description of a field that is a flag.
struct FlagSpec {
  const char* help = "";
  // The name of the value in the help, as in `--max_growth=X`; empty for a
  // bool.
  std::string value = {};
  // The heading in the help. Leave it empty for flags of an instrument, which
  // have a heading of their own.
  std::string group = {};
  // If true, `--name` alone means `--name=`, and the next argument is not its
  // value.
  bool value_optional = false;
  // The allowed values of the flag; if empty, any value.
  std::vector<std::string> choices = {};
  // The least and the largest number that the flag may be. No flag may be NaN
  // or infinite.
  std::optional<double> least = std::nullopt;
  std::optional<double> most = std::nullopt;
  // A number outside of these bounds that means that the flag is not set, such
  // as -1.
  std::optional<double> none = std::nullopt;

  // Lets a FlagSpec be the documentation that VisitFields takes.
  operator const char*() const { return help; }  // NOLINT
};

// A field that is a flag.
struct Flag {
  std::string name;
  FlagSpec spec;
  bool is_bool = false;
  std::string default_text;  // as written on the command line
  const Field* field = nullptr;
  // Converts `text` to the value of the field.
  absl::StatusOr<AttrValue> (*parse)(absl::string_view text) = nullptr;
};

// The flags in the field list of T, in its order.
template <typename T>
const std::vector<Flag>& FlagsOf();

// Returns an error if a field of `object` has a value that is not one of its
// flag's choices, or a number outside of its flag's bounds.
absl::Status CheckFlagValues(const std::vector<Flag>& flags,
                             const void* object);

// A line of the help: `  --opt_level=N      Sequences run ... Default: 2.`
std::string FlagHelp(absl::string_view name, absl::string_view value,
                     absl::string_view help, absl::string_view default_text);

// One argument of a command line, and its place in a flag file.
struct Argument {
  std::string text;
  std::string where;  // `FILE:LINE: `; empty on the command line
};

// The result of FlagSet::Parse().
struct ParsedFlags {
  // The values of the given flags; for a flag that is given twice, the last
  // value.
  AttrMap values;
  // The other arguments, in order.
  std::vector<std::string> rest;
  // Lines for the user about arguments that may not be meant, such as
  // `--level=1: has no effect, since --level=3 follows`.
  std::vector<std::string> notes;
};

// The flags of a program in addition to those of ABSL_FLAG.
class FlagSet {
 public:
  // Adds flags, which must outlive this object. `owner` is the name of their
  // owner in errors. If `heading` is not empty, it replaces their groups. An
  // error if a flag of that name already exists, here or in Abseil.
  absl::Status Add(const std::vector<Flag>& flags, absl::string_view owner,
                   absl::string_view heading = "");

  // Null if there is none.
  const Flag* Find(absl::string_view name) const;
  std::vector<std::string> Names() const;

  // Parses flags as Abseil does: `--name=value`, `--name value`, and for a bool
  // `--name` and `--noname`, with one dash or two. `rest` receives the
  // arguments that are not flags of this set, and all arguments from `--` on.
  // The error has a line for each wrong flag: `--level=high: expected ...`; the
  // notes follow.
  absl::StatusOr<ParsedFlags> Parse(const std::vector<Argument>& args) const;

  // The help of the flags under `heading`, a line each.
  std::string Help(absl::string_view heading) const;

 private:
  struct Entry {
    const Flag* flag;
    std::string owner;
    std::string heading;
  };
  std::vector<Entry> entries_;
};

// Assigns the values in `values` to the fields of `object` that T has. Ignores
// other values.
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
                  Required... /*required*/) {}  // not a flag
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

#endif  // BATON_BASE_FLAGS_H_
