#include "baton/instrument/print_ir_instrument.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/line_diff.h"
#include "baton/instrument/name_patterns.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/regular_expression.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "re2/re2.h"

namespace baton {
namespace {

// Null if there is none.
absl::StatusOr<std::unique_ptr<const re2::RE2>> Compile(
    const std::string& pattern) {
  if (pattern.empty()) return nullptr;
  return internal::CompileRegularExpression(pattern);
}

bool Matches(const std::unique_ptr<const re2::RE2>& pattern,
             const std::string& name) {
  return pattern != nullptr && re2::RE2::FullMatch(name, *pattern);
}

bool IsNumber(const PrintIrOptions& options, const PassExecution& pass) {
  return options.numbers.empty() || options.numbers.count(pass.number()) > 0;
}

std::string NumberAndName(const PassExecution& pass) {
  return absl::StrCat("#", pass.number(), " ", pass.name());
}

// The text of one function of `module`; empty if it has none of that name.
std::string FunctionText(const IRModule& module, const GlobalVar& var,
                         const TextOptions& options) {
  const BaseFunc function = module.Find(var->name());
  if (!function.defined()) return "";
  IRModule alone;
  alone.Set(var, function);
  return AsText(alone, options);
}

// The changes, function by function.
std::string DiffModules(const IRModule& before, const IRModule& after,
                        const TextOptions& options) {
  std::string result;
  const auto add = [&](const GlobalVar& var) {
    const std::string diff = DiffLines(FunctionText(before, var, options),
                                       FunctionText(after, var, options));
    if (diff.empty()) return;
    absl::StrAppend(&result, "--- @", var->name(), "\n+++ @", var->name(), "\n",
                    diff);
  };
  for (const IRModule::Definition& definition : before.functions()) {
    if (after.Find(definition.var->name()) != definition.function) {
      add(definition.var);
    }
  }
  for (const IRModule::Definition& definition : after.functions()) {
    if (!before.Find(definition.var->name()).defined()) add(definition.var);
  }
  return result;
}

// True if an enclosing pass will print the change.
bool IsReportedByParent(const PassExecution& pass) {
  return pass.info().always_run && pass.parent() != nullptr &&
         pass.parent()->info().granularity != PassGranularity::kSequence;
}

}  // namespace

absl::StatusOr<std::shared_ptr<PrintIrInstrument>> PrintIrInstrument::Create(
    PrintIrOptions options) {
  auto before = Compile(options.before);
  BATON_RETURN_IF_ERROR(before.status());
  auto after = Compile(options.after);
  BATON_RETURN_IF_ERROR(after.status());
  auto op = Compile(options.op);
  BATON_RETURN_IF_ERROR(op.status());
  auto result = absl::WrapUnique(new PrintIrInstrument(std::move(options)));
  result->op_ = *std::move(op);
  result->before_ = *std::move(before);
  result->after_ = *std::move(after);
  return std::shared_ptr<PrintIrInstrument>(std::move(result));
}

PrintIrInstrument::PrintIrInstrument(PrintIrOptions options)
    : PassInstrument("PrintIrInstrument"), options_(std::move(options)) {}
PrintIrInstrument::~PrintIrInstrument() = default;

void PrintIrInstrument::Print(absl::string_view where,
                              const PassExecution& pass,
                              const std::string& text) {
  has_printed_ = true;
  std::string heading = absl::StrCat("// ", where, " ", NumberAndName(pass));
  for (const PassExecution* outer = pass.parent(); outer != nullptr;
       outer = outer->parent()) {
    absl::StrAppend(&heading, ", in ", NumberAndName(*outer));
  }
  absl::StrAppend(&heading, "\n", text, "\n");
  if (options_.write != nullptr) {
    options_.write(heading);
  } else {
    (options_.out != nullptr ? *options_.out : std::cerr)
        << heading << std::flush;
  }
}

void PrintIrInstrument::PrintModule(absl::string_view where,
                                    const PassExecution& pass,
                                    const IRModule& module) {
  const IRModule filtered = Filtered(module, IRModule());
  if (HasFilter() && filtered.size() == 0) return;
  Print(where, pass, AsText(filtered, options_.text));
}

IRModule PrintIrInstrument::Filtered(const IRModule& module,
                                     const IRModule& other) const {
  if (!HasFilter()) return module;
  const auto calls_op = [this](const BaseFunc& function) {
    if (op_ == nullptr) return true;
    bool calls = false;
    VisitAtAnyLevel(function, [&](const ExprNode* node) {
      calls = calls || re2::RE2::FullMatch(NodeText::Head(Expr(node)), *op_);
    });
    return calls;
  };
  IRModule result;
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    if (!options_.function.empty() && name != options_.function) continue;
    if (calls_op(definition.function) || calls_op(other.Find(name))) {
      result.Set(definition.var, definition.function);
    }
  }
  return result;
}

absl::Status PrintIrInstrument::RunBeforePass(const IRModule& module,
                                              const PassExecution& pass) {
  last_number_ = std::max(last_number_, pass.number());
  if (options_.numbers.count(pass.number()) > 0) reached_.insert(pass.number());
  if (!Matches(before_, pass.name())) return absl::OkStatus();
  matched_before_ = true;
  if (IsNumber(options_, pass)) PrintModule("IR before", pass, module);
  return absl::OkStatus();
}

absl::Status PrintIrInstrument::RunAfterPass(const IRModule& module,
                                             const PassExecution& pass) {
  using Changed = PrintIrOptions::Changed;
  const bool matches = Matches(after_, pass.name());
  matched_after_ = matched_after_ || matches;
  any_change_ = any_change_ || pass.changed();
  if (!options_.function.empty()) {
    matched_function_ =
        matched_function_ || module.Find(options_.function).defined();
  }
  if (!IsNumber(options_, pass)) return absl::OkStatus();
  const bool tells_change =
      options_.changed != Changed::kNone && pass.changed() &&
      pass.info().granularity != PassGranularity::kSequence &&
      !IsReportedByParent(pass);
  if (matches || (tells_change && options_.changed == Changed::kFull)) {
    PrintModule("IR after", pass, module);
  }
  if (tells_change && options_.changed == Changed::kDiff) {
    const std::string diff =
        DiffModules(Filtered(pass.before(), module),
                    Filtered(module, pass.before()), options_.text);
    if (!diff.empty()) Print("IR changed by", pass, diff);
  }
  if (tells_change && options_.changed == Changed::kStructural) {
    const std::string diff = StructuralDiffText(DiffStructure(
        Filtered(pass.before(), module), Filtered(module, pass.before())));
    if (!diff.empty()) Print("IR changed by", pass, diff);
  }
  return absl::OkStatus();
}

std::string PrintIrInstrument::MissedNumbers() const {
  std::string lines;
  for (const int64_t number : options_.numbers) {
    if (reached_.count(number) > 0) continue;
    absl::StrAppend(&lines, "--print_executions=", number,
                    ": the last execution of this run is #", last_number_,
                    "\n");
  }
  return lines;
}

std::string PrintIrInstrument::Unmatched() const {
  std::string lines;
  const auto add = [&lines](const char* flag, const std::string& pattern) {
    absl::StrAppend(&lines, "--", flag, "=", pattern,
                    ": this run has no pass that matches\n");
  };
  if (before_ != nullptr && !matched_before_) {
    add("print_before", options_.before);
  }
  if (after_ != nullptr && !matched_after_) add("print_after", options_.after);
  if (has_printed_ || last_number_ == 0) return lines + MissedNumbers();
  const std::string before = lines;
  absl::StrAppend(&lines, MissedNumbers());
  if (!options_.function.empty() && !matched_function_) {
    absl::StrAppend(&lines, "--print_function=", options_.function,
                    ": this run has no such function\n");
  }
  if (options_.changed != PrintIrOptions::Changed::kNone && !any_change_) {
    absl::StrAppend(&lines, "--print_changed: no pass changed the module\n");
  }
  if (lines != before) return lines;
  if (op_ != nullptr) {
    absl::StrAppend(&lines, "--print_op=", options_.op,
                    ": no function that would be printed calls it\n");
  } else if (lines.empty() && !options_.numbers.empty()) {
    absl::StrAppend(&lines,
                    "--print_executions: nothing is to be printed at these\n");
  } else if (lines.empty() && !options_.function.empty()) {
    absl::StrAppend(&lines, "--print_function=", options_.function,
                    ": no pass changed it\n");
  }
  return lines;
}

namespace {

struct PrintFlags {
  std::string print_before;
  std::string print_after;
  std::string print_changed = "none";
  std::vector<std::string> print_executions;
  std::string print_function;
  std::string print_op;

  template <typename V>
  static void VisitFields(V& v) {
    v("print_before", &PrintFlags::print_before,
      FlagSpec{.help = "Prints the module before passes whose whole name "
                       "matches RE (RE2).",
               .value = "RE",
               .group = kReportFlags});
    v("print_after", &PrintFlags::print_after,
      FlagSpec{
          .help = "Prints the module after passes whose whole name matches RE.",
          .value = "RE",
          .group = kReportFlags});
    v("print_changed", &PrintFlags::print_changed,
      FlagSpec{
          .help = "Prints changes of passes: none, full, diff or structural.",
          .value = "HOW",
          .group = kReportFlags,
          .choices = {"none", "full", "diff", "structural"}});
    v("print_executions", &PrintFlags::print_executions,
      FlagSpec{.help = "Prints only at these executions; after them, if no "
                       "other flag says when.",
               .value = "N,N",
               .group = kReportFlags});
    v("print_function", &PrintFlags::print_function,
      FlagSpec{.help = "Prints only this function.",
               .value = "NAME",
               .group = kReportFlags});
    v("print_op", &PrintFlags::print_op,
      FlagSpec{.help = "Prints only functions that call this operator (RE2).",
               .value = "RE",
               .group = kReportFlags});
  }
};

InstrumentFactory::Made MakePrintIr(const PrintFlags& flags,
                                    const InstrumentRun& run) {
  using Changed = PrintIrOptions::Changed;
  PrintIrOptions print = {
      .before = flags.print_before,
      .after = flags.print_after,
      .changed = flags.print_changed == "full"         ? Changed::kFull
                 : flags.print_changed == "diff"       ? Changed::kDiff
                 : flags.print_changed == "structural" ? Changed::kStructural
                                                       : Changed::kNone,
      .function = flags.print_function,
      .op = flags.print_op,
      .write = run.report};
  for (const std::string& text : flags.print_executions) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--print_executions: expected numbers from 1, found `", text, "`"));
    }
    print.numbers.insert(number);
  }
  BATON_RETURN_IF_ERROR(
      CheckPassPattern("print_before", print.before, run.pipeline));
  BATON_RETURN_IF_ERROR(
      CheckPassPattern("print_after", print.after, run.pipeline));
  BATON_RETURN_IF_ERROR(CheckOperatorPattern("print_op", print.op));
  const char* name = print.changed != Changed::kNone ? "--print_changed"
                     : !print.before.empty()         ? "--print_before"
                                                     : "--print_after";
  if (print.before.empty() && print.after.empty() &&
      print.changed == Changed::kNone) {
    if (print.numbers.empty()) {
      if (print.function.empty() && print.op.empty()) return nullptr;
      return absl::InvalidArgumentError(absl::StrCat(
          print.op.empty() ? "--print_function" : "--print_op",
          ": needs --print_before, --print_after or --print_changed"));
    }
    print.after = ".*";
  }
  BATON_ASSIGN_OR_RETURN(const std::shared_ptr<PrintIrInstrument> instrument,
                         PrintIrInstrument::Create(std::move(print)));
  instrument->set_name(name);
  run.at_end([instrument] { return instrument->Unmatched(); });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("print_ir",
                          "Prints the module before and after passes.",
                          MakePrintIr, InstrumentPhase::kPrint);

}  // namespace

}  // namespace baton
