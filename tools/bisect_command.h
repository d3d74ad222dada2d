// Runs the command of `baton-bisect`, and keeps its results in a file.

#ifndef BATON_TOOLS_BISECT_COMMAND_H_
#define BATON_TOOLS_BISECT_COMMAND_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tools/bisect_points.h"
#include "baton/triage/bisection.h"
#include "baton/triage/command.h"

namespace baton {

// `good`, `bad` or `skip`.
absl::string_view AnswerName(Answer answer);

// A file of results: a head that identifies the search, then a line for each
// result. Without a path, nothing is read or written.
class BisectProgress {
 public:
  BisectProgress(std::string path, std::string head)
      : path_(std::move(path)), text_(std::move(head)) {}

  // The results in the file, if there is one; an error if it is of another
  // search.
  absl::StatusOr<std::map<int64_t, PointAnswers>> Read();

  // Adds a result to the file.
  absl::Status Add(int64_t point, Answer answer);

 private:
  const std::string path_;
  std::string text_;
};

// Options of the runs of a command.
struct CommandOptions {
  double timeout = 0;  // of a run, in seconds; 0: no limit
  // The meaning of a crash: "bad", "skip", or "abort", which is an error.
  std::string crash = "abort";
};

// Runs a command on points. `{}` in an argument of the command stands for the
// text of the point. A command of one word is a command line for the shell, in
// which the text is quoted.
class CommandTester {
 public:
  CommandTester(const CommandOptions& options, std::vector<std::string> command,
                BisectPoints& points, std::ostream& reports)
      : options_(options),
        command_(std::move(command)),
        points_(points),
        reports_(reports) {}

  // The result of the command at `point`. A point with the key of an earlier
  // one has its result. An error if the command could not run or was
  // interrupted.
  absl::StatusOr<Answer> operator()(int64_t point);

  int64_t runs() const { return runs_; }
  // The signal that interrupted a run; 0 if none did.
  int signal() const { return signal_; }

 private:
  absl::StatusOr<Answer> AnswerOf(const CommandResult& run, int64_t point);
  absl::StatusOr<Answer> OfCrash(int number, int64_t point) const;

  const CommandOptions options_;
  const std::vector<std::string> command_;
  BisectPoints& points_;
  std::ostream& reports_;
  // By the key of a point: the point at which the command ran, and the result.
  std::map<uint64_t, std::pair<int64_t, Answer>> asked_;
  int64_t runs_ = 0;
  int signal_ = 0;
};

}  // namespace baton

#endif  // BATON_TOOLS_BISECT_COMMAND_H_
