#include "baton/triage/progress_page.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

struct ProgressPage::Content {
  int64_t item;
  int64_t number;
  double seconds;
  char pass[256];
};

// Remembers what is open, so that an outer pass is under way again when an
// inner one has ended.
class ProgressPage::Instrument final : public PassInstrument {
 public:
  explicit Instrument(Content* content)
      : PassInstrument("ProgressPage"), content_(content) {}

  absl::Status EnterPassContext() override {
    open_.clear();
    Show();
    return absl::OkStatus();
  }
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& pass) override {
    const PassExecution* const parent = pass.parent();
    const bool finishes =
        pass.info().always_run && parent != nullptr &&
        parent->info().granularity != PassGranularity::kSequence;
    if (finishes && !open_.empty()) {
      open_.push_back(open_.back());
    } else {
      open_.emplace_back(pass.number(), pass.name());
    }
    Show();
    return absl::OkStatus();
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    Pop();
    return absl::OkStatus();
  }
  void PassFailed(const IRModule& /*module*/, const PassExecution& /*pass*/,
                  const absl::Status& /*error*/) override {
    Pop();
  }

 private:
  void Pop() {
    if (!open_.empty()) open_.pop_back();
    Show();
  }
  void Show() {
    const std::string name = open_.empty() ? "" : open_.back().second;
    const size_t size = std::min(name.size(), sizeof(content_->pass) - 1);
    std::memcpy(content_->pass, name.data(), size);
    content_->pass[size] = '\0';
    const int64_t number = open_.empty() ? 0 : open_.back().first;
    if (content_->number != number) content_->seconds = ProcessorSeconds();
    content_->number = number;
  }

  Content* const content_;
  std::vector<std::pair<int64_t, std::string>> open_;
};

absl::StatusOr<std::shared_ptr<ProgressPage>> ProgressPage::Create() {
  void* const page = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return absl::ErrnoToStatus(errno, "cannot share memory with a process");
  }
  return std::shared_ptr<ProgressPage>(
      new ProgressPage(static_cast<Content*>(page)));
}

ProgressPage::~ProgressPage() { munmap(content_, sizeof(Content)); }

void ProgressPage::set_item(int64_t item) { content_->item = item; }
int64_t ProgressPage::item() const { return content_->item; }
int64_t ProgressPage::number() const { return content_->number; }
std::string ProgressPage::pass() const { return content_->pass; }
double ProgressPage::seconds() const { return content_->seconds; }

std::shared_ptr<PassInstrument> ProgressPage::MakeInstrument() {
  return std::make_shared<Instrument>(content_);
}

}  // namespace baton
