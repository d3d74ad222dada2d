#include "baton/base/flags.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/near_names.h"

namespace baton {
namespace {

// Splits `--name=value`; false if `arg` is no flag. `value` is nullopt without
// an equals sign.
bool SplitFlag(absl::string_view arg, absl::string_view* name,
               std::optional<absl::string_view>* value) {
  if (!absl::ConsumePrefix(&arg, "-")) return false;
  absl::ConsumePrefix(&arg, "-");
  const size_t equals = arg.find('=');
  *name = arg.substr(0, equals);
  if (equals != absl::string_view::npos) *value = arg.substr(equals + 1);
  return !name->empty();
}

void SetValue(const std::string& name, AttrValue value, AttrMap& values) {
  for (auto& [old_name, old_value] : values) {
    if (old_name != name) continue;
    old_value = std::move(value);
    return;
  }
  values.emplace_back(name, std::move(value));
}

// Why `value` is no number that the flag may be; empty if it may be, or is no
// number.
std::string OutOfRange(const FlagSpec& spec, const AttrValue& value) {
  double number = 0;
  if (const double* real = value.As<double>()) {
    number = *real;
  } else if (const int64_t* integer = value.As<int64_t>()) {
    number = static_cast<double>(*integer);
  } else {
    return "";
  }
  if (!std::isfinite(number)) return "it must be a finite number";
  if (spec.none == number) return "";
  const std::string or_none =
      spec.none.has_value() ? absl::StrCat(", or ", *spec.none) : "";
  const bool is_below = spec.least.has_value() && number < *spec.least;
  const bool is_above = spec.most.has_value() && number > *spec.most;
  if (!is_below && !is_above) return "";
  if (spec.least.has_value() && spec.most.has_value()) {
    return absl::StrCat("it must be from ", *spec.least, " to ", *spec.most,
                        or_none);
  }
  return is_below ? absl::StrCat("it must be at least ", *spec.least, or_none)
                  : absl::StrCat("it must be at most ", *spec.most, or_none);
}

// The part of an error that says which values the flag takes.
std::string ExpectedText(const Flag& flag) {
  const std::string type = flag.field->type_name();
  return absl::StrCat("expected ", flag.is_bool      ? "true or false"
                                   : type == "int"   ? "an integer of 64 bits"
                                   : type == "float" ? "a number"
                                                     : type);
}

// The text of the value of `flag`, which is given as `--name` or `--noname`
// (`negative`), perhaps with a value; `next` is the argument behind it, if any,
// and null if it was taken. Adds to `errors` and `notes`.
std::optional<std::string> ValueText(const Flag& flag, bool negative,
                                     std::optional<absl::string_view> value,
                                     const std::string*& next,
                                     std::vector<std::string>& errors,
                                     std::vector<std::string>& notes) {
  const auto error = [&](absl::string_view what) {
    errors.push_back(
        absl::StrCat("--", negative ? "no" : "", flag.name, ": ", what));
    return std::nullopt;
  };
  if (flag.is_bool) {
    if (negative && value.has_value()) return error("takes no value");
    if (value.has_value() && value->empty()) return error("needs a value");
    return std::string(value.value_or(negative ? "false" : "true"));
  }
  if (negative) return error("the flag has a value, and no negative form");
  if (value.has_value()) return std::string(*value);
  if (flag.spec.value_optional) return "";
  if (next == nullptr) return error("needs a value");
  if (absl::StartsWith(*next, "-") &&
      flag.field->type_name() == AttrTraits<std::string>::Name()) {
    notes.push_back(absl::StrCat("--", flag.name, ": takes ", *next,
                                 " as its value; --", flag.name, "=", *next,
                                 " says so"));
  }
  std::string text = *next;
  next = nullptr;
  return text;
}

// Keeps the text of a flag's value in `given`; adds to `notes` if that replaces
// another value.
void NoteReplaced(const std::string& name, const std::string& text,
                  std::map<std::string, std::string>& given,
                  std::vector<std::string>& notes) {
  const auto [earlier, is_first] = given.emplace(name, text);
  if (is_first || earlier->second == text) return;
  notes.push_back(absl::StrCat("--", name, "=", earlier->second,
                               ": has no effect, since --", name, "=", text,
                               " follows"));
  earlier->second = text;
}

}  // namespace

absl::Status CheckFlagValues(const std::vector<Flag>& flags,
                             const void* object) {
  for (const Flag& flag : flags) {
    const AttrValue value = flag.field->Get(object);
    const std::string why = OutOfRange(flag.spec, value);
    if (!why.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag.name, "=", value.ToString(), ": ", why));
    }
    const std::vector<std::string>& choices = flag.spec.choices;
    if (choices.empty()) continue;
    const std::string text = value.As<std::string>() != nullptr
                                 ? *value.As<std::string>()
                                 : value.ToString();
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
      continue;
    }
    std::vector<std::string> named = choices;  // but the default, if empty
    std::erase(named, "");
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag.name, "=", text, ": unknown value", DidYouMean(text, named),
        " (expected one of ", absl::StrJoin(named, ", "), ")"));
  }
  return absl::OkStatus();
}

std::string FlagHelp(absl::string_view name, absl::string_view value,
                     absl::string_view help, absl::string_view default_text) {
  std::string line =
      absl::StrCat("  --", name, value.empty() ? "" : "=", value);
  constexpr size_t kColumn = 28;
  if (line.size() + 2 > kColumn) {
    line += "  ";
  } else {
    line.resize(kColumn, ' ');
  }
  absl::StrAppend(&line, help);
  if (!value.empty() && !default_text.empty()) {
    // Without quotes, the folder "." would look like "..".
    const absl::string_view quote =
        absl::EndsWith(default_text, ".") ? "'" : "";
    absl::StrAppend(&line, " Default: ", quote, default_text, quote, ".");
  }
  return line + "\n";
}

absl::Status FlagSet::Add(const std::vector<Flag>& flags,
                          absl::string_view owner, absl::string_view heading) {
  for (const Flag& flag : flags) {
    std::string other;
    for (const Entry& entry : entries_) {
      if (entry.flag->name == flag.name) other = entry.owner;
    }
    if (const absl::CommandLineFlag* known =
            absl::FindCommandLineFlag(flag.name)) {
      other = known->Filename();
    }
    if (!other.empty()) {
      return absl::AlreadyExistsError(absl::StrCat(
          "there are two flags --", flag.name, ", of ", other, " and ", owner));
    }
    entries_.push_back(
        {&flag, std::string(owner),
         heading.empty() ? flag.spec.group : std::string(heading)});
  }
  return absl::OkStatus();
}

const Flag* FlagSet::Find(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.flag->name == name) return entry.flag;
  }
  return nullptr;
}

std::vector<std::string> FlagSet::Names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.flag->name);
  return names;
}

absl::StatusOr<ParsedFlags> FlagSet::Parse(
    const std::vector<Argument>& args) const {
  ParsedFlags result;
  std::vector<std::string> errors;
  std::map<std::string, std::string> on_command_line;
  bool flags_end = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i].text;
    const std::string& where = args[i].where;
    flags_end = flags_end || arg == "--";
    absl::string_view name;
    std::optional<absl::string_view> value;
    const Flag* flag = nullptr;
    bool negative = false;
    if (!flags_end && SplitFlag(arg, &name, &value)) {
      flag = Find(name);
      negative = flag == nullptr && absl::ConsumePrefix(&name, "no");
      if (negative) flag = Find(name);
    }
    if (flag == nullptr) {
      result.rest.push_back(arg);
      continue;
    }
    const bool is_last = i + 1 == args.size();
    const std::string* next = is_last ? nullptr : &args[i + 1].text;
    const std::optional<std::string> text =
        ValueText(*flag, negative, value, next, errors, result.notes);
    if (!is_last && next == nullptr) ++i;
    if (!text.has_value()) continue;
    absl::StatusOr<AttrValue> parsed = flag->parse(*text);
    const std::string why =
        parsed.ok() ? OutOfRange(flag->spec, *parsed) : ExpectedText(*flag);
    if (parsed.ok() && why.empty()) {
      // A value of a flag file may be replaced without a word.
      if (where.empty()) {
        NoteReplaced(flag->name, *text, on_command_line, result.notes);
      }
      SetValue(flag->name, *std::move(parsed), result.values);
      continue;
    }
    errors.push_back(absl::StrCat("--", flag->name, "=", *text, ": ", why));
  }
  if (errors.empty()) return result;
  errors.insert(errors.end(), result.notes.begin(), result.notes.end());
  return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

std::string FlagSet::Help(absl::string_view heading) const {
  std::string help;
  for (const Entry& entry : entries_) {
    if (entry.heading != heading) continue;
    const FlagSpec& spec = entry.flag->spec;
    absl::StrAppend(&help, spec.value_optional
                               ? FlagHelp(absl::StrCat(entry.flag->name,
                                                       "[=", spec.value, "]"),
                                          "", spec.help, "")
                               : FlagHelp(entry.flag->name, spec.value,
                                          spec.help, entry.flag->default_text));
  }
  return help;
}

}  // namespace baton
