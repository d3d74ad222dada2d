#include "baton/tools/bisect_points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/checksum.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module_text.h"
#include "baton/tools/files.h"
#include "baton/tools/reduced_test.h"
#include "baton/tools/temporary_folder.h"

namespace baton {
namespace {

class StatePoints final : public BisectPoints {
 public:
  StatePoints(std::string file, uint64_t key, History history, bool as_text,
              std::unique_ptr<TemporaryFolder> folder)
      : file_(std::move(file)),
        key_(key),
        history_(std::move(history)),
        as_text_(as_text),
        folder_(std::move(folder)) {
    FindPasses();
    std::set<int> ends = {0};
    for (const HistoryExecution* pass : passes_) {
      if (pass->before < pass->after) ends.insert(pass->after);
    }
    for (const int state : ends) {
      if (history_.states[state].kept) states_.push_back(state);
    }
  }

  int64_t first() const override { return 0; }
  int64_t last() const override {
    return static_cast<int64_t>(states_.size()) - 1;
  }
  absl::StatusOr<int64_t> PointOf(int64_t number) const override {
    BATON_ASSIGN_OR_RETURN(const int state, history_.StateAfter(number));
    // The last that is not later: 0 is always one.
    return std::upper_bound(states_.begin(), states_.end(), state) -
           states_.begin() - 1;
  }

  absl::StatusOr<Given> Give(int64_t point) override {
    const IRModule& module = history_.states[states_[point]].module;
    const std::string path = absl::StrCat(
        folder_->path(), "/", point, as_text_ ? FileEnding(module) : ".baton");
    std::string content;
    if (as_text_) {
      content = AsText(module);
      if (content.empty() || content.back() != '\n') content += '\n';
    } else {
      BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
      content = binary.ToString();
    }
    BATON_RETURN_IF_ERROR(WriteFileAtomically(path, content));
    if (!last_path_.empty() && last_path_ != path) {
      std::error_code ignored;
      std::filesystem::remove(last_path_, ignored);
    }
    last_path_ = path;
    return Given{path, Checksum(content)};
  }

  std::string Name(int64_t point) const override {
    const int state = states_[point];
    if (state == 0) return "before all passes";
    return absl::StrCat("after ", NameOf(*Maker(state)));
  }

  std::vector<std::string> Between(int64_t good, int64_t bad) const override {
    std::vector<std::string> names;
    for (int state = states_[good] + 1; state <= states_[bad]; ++state) {
      const HistoryExecution* maker = Maker(state);
      if (maker == nullptr) continue;
      std::string name = NameOf(*maker);
      if (names.empty() || names.back() != name) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }

  std::string Hint(int64_t good, int64_t bad) const override {
    const auto number = [this](int state) {
      return state == 0 ? 0 : Maker(state)->number;
    };
    return absl::StrCat("  baton-history ", ShellWord(file_), " diff ",
                        number(states_[good]), " ", number(states_[bad]), "\n");
  }

  uint64_t key() const override { return key_; }

 private:
  static std::string NameOf(const HistoryExecution& execution) {
    return absl::StrCat("#", execution.number, " ", execution.text);
  }

  // All executions but those that only finish the work of another one: that
  // run in one which changed the module before or after them.
  void FindPasses() {
    const std::vector<HistoryExecution>& all = history_.executions;
    std::vector<int> last_child(all.size(), -1);
    std::vector<bool> works(all.size(), false);  // or what it runs in does
    for (size_t i = 0; i < all.size(); ++i) {
      const int parent = all[i].parent;
      if (parent < 0) continue;
      works[parent] = works[parent] || (last_child[parent] < 0 &&
                                        all[i].before != all[parent].before);
      last_child[parent] = static_cast<int>(i);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const int child = last_child[i];
      if (child >= 0 && all[i].after >= 0 && all[child].after != all[i].after) {
        works[i] = true;
      }
      const int parent = all[i].parent;  // before it in the list
      if (parent >= 0 && works[parent]) {
        works[i] = true;
      } else {
        passes_.push_back(&all[i]);
      }
    }
  }

  // The innermost pass after which the module was `state`; of a state that is
  // no point, the one it was made in.
  const HistoryExecution* Maker(int state) const {
    const HistoryExecution* maker = nullptr;
    for (const HistoryExecution* pass : passes_) {
      if (pass->before < state && (pass->after < 0 || state <= pass->after) &&
          (maker == nullptr || pass->depth >= maker->depth)) {
        maker = pass;
      }
    }
    return maker;
  }

  const std::string file_;
  const uint64_t key_;
  const History history_;
  const bool as_text_;
  const std::unique_ptr<TemporaryFolder> folder_;
  std::vector<const HistoryExecution*> passes_;
  std::vector<int> states_;  // of each point
  std::string last_path_;
};

class LimitPoints final : public BisectPoints {
 public:
  explicit LimitPoints(int64_t last) : last_(last) {}

  int64_t first() const override { return 0; }
  int64_t last() const override { return last_; }
  absl::StatusOr<int64_t> PointOf(int64_t number) const override {
    return number;
  }
  absl::StatusOr<Given> Give(int64_t point) override {
    return Given{absl::StrCat(point), static_cast<uint64_t>(point)};
  }
  std::string Name(int64_t point) const override {
    return absl::StrCat("limit ", point);
  }
  // As BisectInstrument reports it, if the command shows its report.
  std::vector<std::string> Between(int64_t good, int64_t bad) const override {
    std::vector<std::string> names;
    for (int64_t point = good + 1; point <= bad; ++point) {
      const auto it = last_executed_.find(point);
      names.push_back(
          it == last_executed_.end()
              ? absl::StrCat("execution ", point, " of those that limits count")
              : it->second);
    }
    return names;
  }
  std::string Hint(int64_t /*good*/, int64_t bad) const override {
    if (last_executed_.find(bad) != last_executed_.end()) return "";
    return absl::StrCat("  what --bisect_limit=", bad,
                        " reports has its name\n");
  }
  uint64_t key() const override { return static_cast<uint64_t>(last_); }

  void SetOutput(int64_t point, const std::string& output) override {
    const std::string last = ", last ";
    const size_t line =
        output.find(absl::StrCat("bisect: limit ", point, ": "));
    if (line == std::string::npos) return;
    const size_t begin = output.find(last, line);
    const size_t end = output.find("; ", line);
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
      return;
    }
    last_executed_[point] =
        output.substr(begin + last.size(), end - begin - last.size());
  }

 private:
  const int64_t last_;
  std::map<int64_t, std::string> last_executed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BisectPoints>> PointsOfHistory(
    const std::string& file, bool as_text, std::ostream& reports) {
  BATON_ASSIGN_OR_RETURN(const FileContent content, MapFile(file));
  BATON_ASSIGN_OR_RETURN(History history,
                         ReadHistory(content.bytes, content.owner, file));
  if (history.left_out_tensors > 0) {
    reports << "baton-bisect: " << Plural(history.left_out_tensors, "tensor")
            << (history.left_out_tensors == 1 ? " is" : " are")
            << " not in the file: modules have other values there; record with "
               "--record_tensors to keep them\n";
  }
  BATON_ASSIGN_OR_RETURN(std::unique_ptr<TemporaryFolder> folder,
                         TemporaryFolder::Create("baton-bisect"));
  const uint64_t key = Checksum(content.bytes) + (as_text ? 0 : 1);
  return std::make_unique<StatePoints>(file, key, std::move(history), as_text,
                                       std::move(folder));
}

std::unique_ptr<BisectPoints> PointsOfLimits(int64_t last) {
  return std::make_unique<LimitPoints>(last);
}

}  // namespace baton
