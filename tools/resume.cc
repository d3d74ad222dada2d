#include "baton/tools/resume.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

std::string NameOf(const HistoryExecution& execution) {
  return absl::StrCat("#", execution.number, " ", execution.pass);
}

// Follows a pipeline along the executions of a history.
class Rest {
 public:
  explicit Rest(const History& history) : executions_(history.executions) {}

  // Appends the texts of the passes that follow execution `last` (an index) in
  // `pass`, which is execution `index`.
  absl::Status After(const Pass& pass, int index, int last) {
    if (index == last) return absl::OkStatus();
    if (!pass.defined() || pass.impl().list_keyword() != "Sequential") {
      return absl::InvalidArgumentError(absl::StrCat(
          NameOf(executions_[last]), " runs inside of ",
          NameOf(executions_[index]),
          ", which runs as a whole; give the number of an execution in a "
          "sequence"));
    }
    const absl::Span<const Pass> parts = pass.impl().listed_passes();
    // The path from `last` up to the child of `index`.
    int child = last;
    while (executions_[child].parent != index) {
      child = executions_[child].parent;
    }
    size_t next = 0;  // the first part that has not begun
    const Pass* current = nullptr;
    for (int i = index + 1; i <= child; ++i) {
      if (executions_[i].parent != index) continue;
      BATON_ASSIGN_OR_RETURN(current, PartOf(parts, executions_[i], next));
    }
    if (child != last) {
      BATON_RETURN_IF_ERROR(
          After(current == nullptr ? Pass() : *current, child, last));
    }
    for (size_t i = next; i < parts.size(); ++i) {
      BATON_ASSIGN_OR_RETURN(texts_.emplace_back(), parts[i].ToString());
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  // The part that `execution` is, and moves `next` behind it; null for a pass
  // that a part requires.
  static absl::StatusOr<const Pass*> PartOf(absl::Span<const Pass> parts,
                                            const HistoryExecution& execution,
                                            size_t& next) {
    for (size_t i = next; i < parts.size(); ++i) {
      BATON_ASSIGN_OR_RETURN(const std::string text, parts[i].ToString());
      if (text == execution.text) {
        next = i + 1;
        return &parts[i];
      }
      const std::vector<std::string>& required = parts[i].info().required;
      if (std::find(required.begin(), required.end(), execution.pass) !=
          required.end()) {
        next = i;
        return nullptr;
      }
    }
    return nullptr;
  }

  const std::vector<HistoryExecution>& executions_;
  std::vector<std::string> texts_;
};

// The index of the last execution that ended before one that failed or did not
// end; -1 for the start.
absl::StatusOr<int> LastGood(const History& history, const std::string& file) {
  using End = HistoryExecution::End;
  int stopped = -1;  // the innermost
  for (size_t i = 0; i < history.executions.size(); ++i) {
    if (history.executions[i].end != End::kDone) stopped = static_cast<int>(i);
  }
  if (stopped < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--resume: the run in ", file,
        " ended without an error; --start_after=N says where to begin"));
  }
  // A pass is not resumed in its middle, unless it is a sequence.
  const auto is_sequence = [&](int index) {
    const absl::StatusOr<Pass> pass =
        ParsePipeline(history.executions[index].text);
    return pass.ok() &&
           history.executions[index].text.compare(0, 10, "Sequential") == 0;
  };
  // If a check failed, only the sequences around the checked pass are recorded
  // as failed: the pass is the last execution inside.
  if (is_sequence(stopped)) {
    const int around = stopped;
    for (size_t i = 0; i < history.executions.size(); ++i) {
      if (history.executions[i].parent == around) stopped = static_cast<int>(i);
    }
  }
  for (int parent = history.executions[stopped].parent; parent >= 0;
       parent = history.executions[parent].parent) {
    if (!is_sequence(parent)) stopped = parent;
  }
  int last = -1;
  for (int i = 0; i < stopped; ++i) {
    if (history.executions[i].parent == history.executions[stopped].parent) {
      last = i;
    }
  }
  return last;
}

}  // namespace

absl::StatusOr<ResumedRun> ResumeRun(const History& history,
                                     const std::string& file,
                                     int64_t start_after) {
  if (history.executions.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--resume: no pass ran in ", file));
  }
  int last = -1;
  if (start_after < 0) {
    BATON_ASSIGN_OR_RETURN(last, LastGood(history, file));
  } else if (start_after > 0) {
    const absl::StatusOr<const HistoryExecution*> found =
        history.Find(start_after);
    if (!found.ok()) {
      return absl::Status(
          found.status().code(),
          absl::StrCat("--start_after: ", found.status().message()));
    }
    last = static_cast<int>(*found - history.executions.data());
  }
  if (history.left_out_tensors > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--resume: ", Plural(history.left_out_tensors, "tensor"),
        " of the run are not in ", file, "; --record_tensors keeps them"));
  }
  ResumedRun result;
  const int64_t number = last < 0 ? 0 : history.executions[last].number;
  result.place = last < 0 ? "the start" : NameOf(history.executions[last]);
  BATON_ASSIGN_OR_RETURN(result.module, history.ModuleAfter(number));
  // Outermost executions follow each other.
  Rest rest(history);
  std::vector<std::string> texts;
  for (size_t i = 0; i < history.executions.size(); ++i) {
    const HistoryExecution& execution = history.executions[i];
    if (execution.parent >= 0) continue;
    int root = last;
    while (root >= 0 && history.executions[root].parent >= 0) {
      root = history.executions[root].parent;
    }
    if (static_cast<int>(i) < root) continue;
    if (static_cast<int>(i) > root) {
      texts.push_back(execution.text);
      continue;
    }
    absl::StatusOr<Pass> parsed = ParsePipeline(execution.text);
    if (!parsed.ok()) {
      return absl::Status(
          parsed.status().code(),
          absl::StrCat("--resume: ", parsed.status().message()));
    }
    // The text of one pass is parsed as a sequence of it.
    const Pass pass = parsed->impl().listed_passes().size() == 1
                          ? parsed->impl().listed_passes()[0]
                          : *parsed;
    const absl::Status after = rest.After(pass, root, last);
    if (!after.ok()) {
      return absl::Status(after.code(),
                          absl::StrCat("--start_after: ", after.message()));
    }
    texts.insert(texts.end(), rest.texts().begin(), rest.texts().end());
  }
  result.passes = absl::StrJoin(texts, ",");
  return result;
}

}  // namespace baton
