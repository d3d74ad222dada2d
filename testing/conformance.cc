#include "baton/testing/conformance.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/base/value_text.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/round_trip.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton::testing {
namespace {

// The attributes that the reference's tests give to calls of functions.
struct TestAttrs {
  int axis = 0;
  std::string name;

  static constexpr char kTypeKey[] = "attrs.TestAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &TestAttrs::axis, "An axis.");
    v("name", &TestAttrs::name, "A name.", kRequired);
  }
};
BATON_REGISTER_ATTRS(TestAttrs);

constexpr StructuralEqualOptions kMapFreeVars = {.map_free_vars = true};

absl::Status SetHeader(absl::string_view key, absl::string_view value,
                       ConformanceCase& c) {
  const auto choice = [&](absl::string_view yes,
                          absl::string_view no) -> absl::StatusOr<bool> {
    if (value == yes || value == no) return value == yes;
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": expected ", yes, " or ", no, ", got ", value));
  };
  const auto list = [&]() -> std::vector<std::string> {
    std::vector<std::string> items = absl::StrSplit(value, ',');
    for (std::string& item : items) absl::StripAsciiWhitespace(&item);
    return items;
  };
  if (key == "from") {
    c.from = std::string(value);
  } else if (key == "passes") {
    c.passes = std::string(value);
  } else if (key == "step") {
    c.step = std::string(value);
    c.passes = absl::StrCat("tir.Schedule{steps=[",
                            AttrValue(c.step).ToString(), "]}");
    c.direct = true;
  } else if (key == "run") {
    BATON_ASSIGN_OR_RETURN(c.direct, choice("direct", "sequential"));
  } else if (key == "opt_level") {
    if (!absl::SimpleAtoi(value, &c.opt_level)) {
      return absl::InvalidArgumentError(
          absl::StrCat("opt_level: not a number: ", value));
    }
  } else if (key == "disabled_pass") {
    c.disabled_pass = list();
  } else if (key == "required_pass") {
    c.required_pass = list();
  } else if (key == "config") {
    BATON_ASSIGN_OR_RETURN(AttrMap entries, ParseKeyValues(value));
    for (auto& [name, setting] : entries) {
      // As the reference's language writes them.
      const auto* word = setting.As<std::string>();
      if (word != nullptr && (*word == "True" || *word == "False")) {
        setting = *word == "True";
      }
    }
    std::move(entries.begin(), entries.end(), std::back_inserter(c.config));
  } else if (key == "expect") {
    BATON_ASSIGN_OR_RETURN(c.expects_error, choice("error", "module"));
  } else {
    return absl::InvalidArgumentError(absl::StrCat("unknown header ", key));
  }
  return absl::OkStatus();
}

// The text without comments and white space.
std::string Essence(absl::string_view text) {
  std::string result;
  bool in_comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const absl::string_view next = text.substr(i, 2);
    if (in_comment ? next == "*/" : next == "/*") {
      in_comment = !in_comment;
      ++i;
    } else if (!in_comment && !absl::ascii_isspace(text[i])) {
      result += text[i];
    }
  }
  return result;
}

// Why a case did not pass.
struct Failure {
  std::string reason;
  std::string message;
};

class Runner {
 public:
  explicit Runner(const ConformanceCase& c) : case_(c) {}

  ConformanceResult Run() {
    result_.kind = ConformanceKind::kError;
    if (!case_.expects_error) {
      result_.kind = Essence(case_.before) == Essence(case_.after)
                         ? ConformanceKind::kKeeps
                         : ConformanceKind::kChanges;
    }
    std::optional<Failure> failure = Check();
    if (!failure.has_value()) failure = law_;
    if (failure.has_value()) {
      result_.reason = std::move(failure->reason);
      result_.message = std::move(failure->message);
    }
    return std::move(result_);
  }

 private:
  std::optional<Failure> Check() {
    IRModule module;
    std::optional<Failure> failure = Produce(module);
    if (case_.expects_error) {
      // Only the program can be wrong, not what should be done with it.
      if (failure.has_value() && failure->reason != "no_pass") {
        return std::nullopt;
      }
      if (!failure.has_value()) {
        failure = {"accepted", "an error was expected"};
      }
      return failure;
    }
    IRModule expected_untyped;
    IRModule expected;
    std::optional<Failure> bad_expectation =
        ReadAndInfer("expected", case_.after, expected_untyped, expected);
    if (!bad_expectation.has_value()) FindKind(expected_untyped, expected);
    if (failure.has_value()) return failure;
    result_.result = AsText(module);
    result_.same_text =
        absl::StripAsciiWhitespace(result_.result) ==
        absl::StripAsciiWhitespace(absl::string_view(case_.after));
    if (bad_expectation.has_value()) return bad_expectation;
    if (case_.is_text && !result_.same_text) {
      return Failure{"differs", "the printed text is another one"};
    }
    return Compare(module, expected);
  }

  // Runs the case on its first module.
  std::optional<Failure> Produce(IRModule& module) {
    Pass pass;
    if (std::optional<Failure> failure = MakePass(pass)) return failure;
    if (std::optional<Failure> failure =
            ReadAndInfer("before", case_.before, before_, module)) {
      return failure;
    }
    before_typed_ = module;
    if (!pass.defined()) return std::nullopt;
    const PassContext context = MakeContext();
    absl::StatusOr<IRModule> made = context.Run([&] { return pass(module); });
    if (!made.ok()) {
      return Failure{"failed", std::string(made.status().message())};
    }
    return Infer("result", *made, module);
  }

  std::optional<Failure> MakePass(Pass& pass) const {
    if (case_.passes.empty()) return std::nullopt;
    absl::StatusOr<Pass> pipeline = ParsePipeline(case_.passes);
    if (!pipeline.ok()) {
      return Failure{"no_pass", std::string(pipeline.status().message())};
    }
    if (!case_.direct) {
      pass = *std::move(pipeline);
      return std::nullopt;
    }
    const auto passes = pipeline->impl().listed_passes();
    if (passes.size() != 1) {
      return Failure{"no_pass", "only one pass can be called by itself"};
    }
    pass = passes[0];
    return std::nullopt;
  }

  PassContext MakeContext() const {
    AttrMap config;
    for (const auto& entry : case_.config) {
      if (ConfigRegistry().Contains(entry.first)) config.push_back(entry);
    }
    return PassContext({.opt_level = case_.opt_level,
                        .required_pass = case_.required_pass,
                        .disabled_pass = case_.disabled_pass,
                        .config = std::move(config)});
  }

  std::optional<Failure> ReadAndInfer(absl::string_view what,
                                      const std::string& text,
                                      IRModule& untyped, IRModule& module) {
    absl::StatusOr<IRModule> read =
        ParseModule(text, absl::StrCat(case_.name(), " (", what, ")"));
    if (!read.ok()) {
      return Failure{"unread", std::string(read.status().message())};
    }
    CheckPrinting(what, *read, /*typed=*/false);
    untyped = *std::move(read);
    return Infer(what, untyped, module);
  }

  std::optional<Failure> Infer(absl::string_view what, const IRModule& untyped,
                               IRModule& module) {
    absl::StatusOr<IRModule> typed = InferTypesOfAllKinds(untyped);
    if (!typed.ok()) {
      return Failure{"untyped",
                     absl::StrCat(what, ": ", typed.status().message())};
    }
    CheckPrinting(what, *typed, /*typed=*/true);
    module = *std::move(typed);
    return std::nullopt;
  }

  // Printing and parsing a module gives that module, and the same text again.
  void CheckPrinting(absl::string_view what, const IRModule& module,
                     bool typed) {
    if (law_.has_value()) return;
    absl::Status status = CheckRoundTrip(module, typed);
    if (!status.ok()) {
      law_ = {"law", absl::StrCat(what, typed ? ", typed: " : ", untyped: ",
                                  status.message())};
    }
  }

  // InferType changes what is written; other passes change a typed module.
  void FindKind(const IRModule& expected_untyped, const IRModule& expected) {
    if (before_typed_.size() == 0) return;  // it could not be read
    const bool keeps =
        case_.passes.empty() || case_.passes == "InferType"
            ? StructuralEqual(before_, expected_untyped, kMapFreeVars)
            : StructuralEqual(before_typed_, expected, kMapFreeVars);
    result_.kind = keeps ? ConformanceKind::kKeeps : ConformanceKind::kChanges;
  }

  static std::optional<Failure> Compare(const IRModule& module,
                                        const IRModule& expected) {
    std::optional<std::string> difference =
        FirstDifference(module, expected, kMapFreeVars);
    if (!difference.has_value()) return std::nullopt;
    if (absl::StatusOr<IRModule> again = ParseModule(AsText(module));
        again.ok()) {
      again = InferTypesOfAllKinds(*again);
      if (again.ok() && StructuralEqual(*again, expected, kMapFreeVars)) {
        return std::nullopt;
      }
    }
    return Failure{"differs", *std::move(difference)};
  }

  const ConformanceCase& case_;
  ConformanceResult result_;
  IRModule before_;
  IRModule before_typed_;
  std::optional<Failure> law_;
};

}  // namespace

absl::StatusOr<ConformanceCase> ParseConformanceCase(absl::string_view group,
                                                     absl::string_view id,
                                                     absl::string_view text) {
  ConformanceCase c;
  c.group = std::string(group);
  c.id = std::string(id);
  // Ends of lines belong to the modules only where they are inside.
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, "// -----\n");
  // Two parts: a text that reading and printing does not change.
  if (parts.size() != 2 && parts.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(c.name(),
                     ": expected two or three parts separated by lines "
                     "\"// -----\", got ",
                     parts.size()));
  }
  for (absl::string_view line : absl::StrSplit(parts[0], '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const std::pair<absl::string_view, absl::string_view> header =
        absl::StrSplit(absl::StripPrefix(line, "//"), absl::MaxSplits(':', 1));
    const absl::Status status =
        SetHeader(absl::StripAsciiWhitespace(header.first),
                  absl::StripAsciiWhitespace(header.second), c);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(c.name(), ": ", status.message()));
    }
  }
  c.before = std::string(parts[1]);
  c.after = std::string(parts.back());
  c.is_text = parts.size() == 2;
  return c;
}

absl::StatusOr<std::vector<ConformanceCase>> ReadConformanceCases(
    const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> files;
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(path, error)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".relay" || extension == ".tir") {
        files.push_back(entry.path());
      }
    }
  } else {
    files.push_back(path);
  }
  // The folder of a file, below `path`.
  const auto group = [&](const fs::path& file) {
    if (file == path) {
      return fs::absolute(file, error).parent_path().filename().string();
    }
    return fs::relative(file.parent_path(), path, error).string();
  };
  std::vector<ConformanceCase> cases;
  for (const fs::path& file : files) {
    BATON_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file.string()));
    BATON_ASSIGN_OR_RETURN(
        ConformanceCase c,
        ParseConformanceCase(group(file), file.stem().string(), text));
    cases.push_back(std::move(c));
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot read ", path, ": ", error.message()));
  }
  std::sort(cases.begin(), cases.end(),
            [](const ConformanceCase& a, const ConformanceCase& b) {
              return std::tie(a.group, a.id) < std::tie(b.group, b.id);
            });
  return cases;
}

ConformanceResult RunConformanceCase(const ConformanceCase& c) {
  return Runner(c).Run();
}

void ConformanceTable::Add(const ConformanceCase& c,
                           const ConformanceResult& result) {
  Row& row = rows_[c.group];
  Count& count = row.kinds[static_cast<int>(result.kind)];
  ++count.total;
  count.passed += result.passed() ? 1 : 0;
  if (result.kind != ConformanceKind::kError) {
    ++row.texts.total;
    row.texts.passed += result.same_text ? 1 : 0;
  }
}

std::string ConformanceTable::ToString(const std::string& name,
                                       const Row& row) {
  std::string line = absl::StrFormat("%-28s", name);
  Count all;
  const auto add = [&line](const Count& count) {
    absl::StrAppendFormat(
        &line, "%10s",
        count.total == 0 ? "-" : absl::StrCat(count.passed, "/", count.total));
  };
  for (const Count& count : row.kinds) {
    add(count);
    all.passed += count.passed;
    all.total += count.total;
  }
  add(all);
  add(row.texts);
  return line + "\n";
}

std::string ConformanceTable::ToString() const {
  std::string result =
      absl::StrFormat("%-28s%10s%10s%10s%10s%10s\n", "", "changes", "keeps",
                      "error", "all", "same text");
  Row sum;
  const auto add = [](const Count& from, Count& to) {
    to.passed += from.passed;
    to.total += from.total;
  };
  for (const auto& [name, row] : rows_) {
    result += ToString(name, row);
    for (int i = 0; i < 3; ++i) add(row.kinds[i], sum.kinds[i]);
    add(row.texts, sum.texts);
  }
  return result + ToString("all", sum);
}

}  // namespace baton::testing
