#include "baton/instrument/remarks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/json.h"
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/name_patterns.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/regular_expression.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/span.h"
#include "baton/transform/pass_instrument.h"
#include "re2/re2.h"

namespace baton {
namespace {

constexpr RemarkKind kKinds[] = {RemarkKind::kPassed, RemarkKind::kMissed,
                                 RemarkKind::kAnalysis};

// The bits of the kind of that name; 0 if there is none.
uint8_t KindBits(absl::string_view name) {
  uint8_t bits = 0;
  for (const RemarkKind kind : kKinds) {
    if (name == "all" || name == RemarkKindName(kind)) {
      bits |= static_cast<uint8_t>(kind);
    }
  }
  return bits;
}

}  // namespace

std::vector<RenderedRemark> RenderRemarks(const std::vector<Remark>& remarks,
                                          const IRModule& module) {
  if (remarks.empty()) return {};
  const NodeText names(module);
  // In which functions the nodes are: the first that has them.
  NodeMap<const std::string*> functions;
  for (const Remark& remark : remarks) {
    if (remark.node.defined()) functions[remark.node.get()] = nullptr;
  }
  for (const IRModule::Definition& definition : module.functions()) {
    VisitAtAnyLevel(definition.function, [&](const ExprNode* node) {
      const std::string** function = functions.Find(node);
      if (function != nullptr && *function == nullptr) {
        *function = &definition.var->name();
      }
    });
  }
  std::vector<RenderedRemark> result;
  result.reserve(remarks.size());
  for (const Remark& remark : remarks) {
    RenderedRemark& rendered = result.emplace_back();
    rendered.kind = remark.kind;
    rendered.execution = remark.execution;
    rendered.pass = std::string(remark.pass.view());
    rendered.reason = std::string(remark.reason.view());
    if (remark.node.defined()) {
      rendered.node = names.Title(remark.node);
      const std::string* const* function = functions.Find(remark.node.get());
      if (function != nullptr && *function != nullptr) {
        rendered.function = **function;
      }
      if (const Span& span = remark.node->span(); span.defined()) {
        const Source::Position position =
            span->source().PositionOf(span->begin());
        rendered.place = absl::StrCat(span->source().name(), ":", position.line,
                                      ":", position.column);
      }
    }
    for (const auto& [name, value] : remark.args) {
      rendered.args.emplace_back(name.view(), value.ToString());
    }
    for (const auto& [name, node] : remark.nodes) {
      rendered.args.emplace_back(name.view(), names.Title(node));
    }
  }
  return result;
}

std::string FormatRemark(const RenderedRemark& remark) {
  std::string text = absl::StrCat(RemarkKindName(remark.kind), " #",
                                  remark.execution, " ", remark.pass);
  if (!remark.function.empty()) absl::StrAppend(&text, " @", remark.function);
  if (!remark.node.empty()) absl::StrAppend(&text, " ", remark.node);
  absl::StrAppend(&text, ": ", remark.reason);
  if (!remark.args.empty()) {
    absl::StrAppend(&text, " (",
                    absl::StrJoin(remark.args, ", ",
                                  [](std::string* out, const auto& arg) {
                                    absl::StrAppend(out, arg.first, " ",
                                                    arg.second);
                                  }),
                    ")");
  }
  return text;
}

std::string RemarkJson(const RenderedRemark& remark) {
  JsonWriter json;
  json.BeginObject().Fields("kind", RemarkKindName(remark.kind), "execution",
                            remark.execution, "pass", remark.pass);
  const auto add = [&json](absl::string_view key, const std::string& value) {
    if (!value.empty()) json.Fields(key, value);
  };
  add("function", remark.function);
  add("node", remark.node);
  add("place", remark.place);
  add("reason", remark.reason);
  if (!remark.args.empty()) {
    json.Key("args").BeginObject();
    for (const auto& [name, value] : remark.args) json.Fields(name, value);
    json.End();
  }
  json.End();
  return std::move(json).Finish();
}

RemarkInstrument::RemarkInstrument() : PassInstrument("RemarkInstrument") {}
RemarkInstrument::~RemarkInstrument() = default;

absl::StatusOr<std::shared_ptr<RemarkInstrument>> RemarkInstrument::Create(
    RemarkOptions options) {
  auto result = absl::WrapUnique(new RemarkInstrument());
  result->statistics_ = options.statistics;
  result->on_remark_ = std::move(options.on_remark);
  for (const absl::string_view item :
       absl::StrSplit(options.remarks, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits(':', 1));
    Filter filter{.kinds = KindBits(parts.first)};
    if (filter.kinds == 0) {
      const std::string name(parts.first);
      return absl::InvalidArgumentError(absl::StrCat(
          "no kind of remark is called \"", name, "\"",
          DidYouMean(name, {"all", "analysis", "missed", "passed"}),
          "; kinds: passed, missed, analysis, all"));
    }
    if (item.size() > parts.first.size()) {
      filter.pattern = std::string(parts.second);
      BATON_ASSIGN_OR_RETURN(filter.pass, internal::CompileRegularExpression(
                                              std::string(parts.second)));
    }
    result->filters_.push_back(std::move(filter));
  }
  return std::shared_ptr<RemarkInstrument>(std::move(result));
}

uint8_t RemarkInstrument::WantedOf(const std::string& pass) {
  uint8_t wanted = statistics_ ? internal::LogListener::kCounts : uint8_t{0};
  for (Filter& filter : filters_) {
    if (filter.pass == nullptr || re2::RE2::FullMatch(pass, *filter.pass)) {
      wanted |= filter.kinds;
      filter.has_matched = true;
    }
  }
  return wanted;
}

std::vector<std::string> RemarkInstrument::UnmatchedPatterns() const {
  std::vector<std::string> patterns;
  for (const Filter& filter : filters_) {
    if (filter.pass != nullptr && !filter.has_matched) {
      patterns.push_back(filter.pattern);
    }
  }
  return patterns;
}

std::string RemarkInstrument::StatisticsText() const {
  std::string text;
  for (const auto& [name, entry] : listener_.CountsByName()) {
    absl::StrAppendFormat(&text, "%8d %s  %s\n", entry.second, name,
                          entry.first->doc());
  }
  return text;
}

absl::Status RemarkInstrument::RunBeforePass(const IRModule& /*module*/,
                                             const PassExecution& pass) {
  listener_.Before(pass, WantedOf(pass.name()));
  return absl::OkStatus();
}

absl::Status RemarkInstrument::RunAfterPass(const IRModule& /*module*/,
                                            const PassExecution& pass) {
  End(pass);
  return absl::OkStatus();
}

void RemarkInstrument::PassFailed(const IRModule& /*module*/,
                                  const PassExecution& pass,
                                  const absl::Status& /*error*/) {
  End(pass);
}

void RemarkInstrument::End(const PassExecution& pass) {
  listener_.After();
  if (!PassListener::IsComplete(pass)) return;
  const std::vector<Remark> remarks =
      std::exchange(listener_.log().remarks, {});
  if (on_remark_ == nullptr) return;
  for (const RenderedRemark& remark : RenderRemarks(remarks, pass.before())) {
    on_remark_(remark);
  }
}

namespace {

struct RemarkFlags {
  std::string remarks;
  std::string remarks_file;
  bool statistics = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("remarks", &RemarkFlags::remarks,
      FlagSpec{.help =
                   "Prints remarks: passed, missed, analysis, all; of passes "
                   "that match RE.",
               .value = "KIND[:RE],...",
               .group = kReportFlags});
    v("remarks_file", &RemarkFlags::remarks_file,
      FlagSpec{.help = "File for the remarks, as JSON lines, in place of "
                       "standard error.",
               .value = "FILE",
               .group = kReportFlags});
    v("statistics", &RemarkFlags::statistics,
      FlagSpec{.help = "Prints the statistics of passes.",
               .group = kReportFlags});
  }
};

// The flags of `flags` that had no effect on the run of `instrument`.
std::string UnusedRemarkFlags(const RemarkFlags& flags, bool any_remark,
                              const RemarkInstrument& instrument) {
  std::string lines;
  for (const std::string& pattern : instrument.UnmatchedPatterns()) {
    absl::StrAppend(&lines, "--remarks=", pattern,
                    ": this run has no pass that matches\n");
  }
  if (!flags.remarks.empty() && flags.remarks_file.empty() && !any_remark &&
      !absl::StrContains(flags.remarks, ':')) {
    absl::StrAppend(&lines, "--remarks=", flags.remarks,
                    ": no pass has such remarks\n");
  }
  if (flags.statistics && instrument.StatisticsText().empty()) {
    absl::StrAppend(&lines, "--statistics: no pass counted\n");
  }
  return lines;
}

InstrumentFactory::Made MakeRemarks(const RemarkFlags& flags,
                                    const InstrumentRun& run) {
  const bool to_file = !flags.remarks_file.empty();
  if (flags.remarks.empty() && !to_file && !flags.statistics) return nullptr;
  for (const absl::string_view item : absl::StrSplit(flags.remarks, ',')) {
    const std::vector<std::string> parts =
        absl::StrSplit(item, absl::MaxSplits(':', 1));
    if (parts.size() < 2) continue;
    BATON_RETURN_IF_ERROR(CheckPassPattern("remarks", parts[1], run.pipeline));
  }
  std::shared_ptr<std::string> json;
  if (to_file && run.output != nullptr) json = run.output(flags.remarks_file);
  const auto any_remark = std::make_shared<bool>(false);
  absl::StatusOr<std::shared_ptr<RemarkInstrument>> instrument =
      RemarkInstrument::Create(
          {.remarks = flags.remarks.empty() && to_file ? "all" : flags.remarks,
           .statistics = flags.statistics,
           .on_remark = [json, any_remark,
                         report = run.report](const RenderedRemark& remark) {
             *any_remark = true;
             if (json != nullptr) {
               absl::StrAppend(json.get(), RemarkJson(remark), "\n");
             } else {
               report(absl::StrCat(FormatRemark(remark), "\n"));
             }
           }});
  if (!instrument.ok()) {
    return absl::Status(
        instrument.status().code(),
        absl::StrCat("--remarks: ", instrument.status().message()));
  }
  (*instrument)->set_name("--remarks");
  run.in_report([made = *instrument] { return made->StatisticsText(); });
  run.at_end([flags, any_remark, made = *instrument] {
    return UnusedRemarkFlags(flags, *any_remark, *made);
  });
  return *std::move(instrument);
}

BATON_REGISTER_INSTRUMENT("remarks",
                          "Reports remarks and statistics of passes.",
                          MakeRemarks, InstrumentPhase::kMeasure);

}  // namespace

}  // namespace baton
