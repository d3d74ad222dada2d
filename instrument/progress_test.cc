#include "baton/instrument/progress.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The shown texts while `pass` runs.
std::vector<std::string> Shown(const Pass& pass) {
  std::vector<std::string> shown;
  const auto progress = std::make_shared<ProgressInstrument>(
      pass, [&shown](std::string text) { shown.push_back(std::move(text)); });
  PassContext({.instruments = {progress}})
      .Run([&] { return pass(toy::Module()); })
      .IgnoreError();
  return shown;
}

TEST(ProgressInstrumentTest, PlaceInThePipeline) {
  EXPECT_THAT(
      Shown(Sequential(
          {Sequential({toy::Fails()}, {.name = "Skipped", .opt_level = 4}),
           toy::Nothing({.name = "Nothing", .required = {"InferType"}}),
           toy::Fails()})),
      ElementsAre("[1/3]",                      // the sequence
                  "[1/3] InferType",            // required
                  "[1/3]", "[2/3] Nothing",     //
                  "[2/3] Nothing > InferType",  //
                  "[2/3] Nothing", "[2/3]",     //
                  "[3/3] Fails", "[3/3]"));
}

TEST(ProgressInstrumentTest, APassByItself) {
  EXPECT_THAT(Shown(toy::Nothing()),
              ElementsAre("Nothing", "Nothing > InferType", "Nothing"));
}

// Collects what a line writes.
class Terminal {
 public:
  void Write(absl::string_view text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    absl::StrAppend(&text_, text);
    changed_.notify_all();
  }
  // Waits until something was written after the first `size` bytes.
  std::string WaitForMoreThan(size_t size) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return text_.size() > size; });
    return text_;
  }
  std::string text() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

TEST(ProgressLineTest, WritesOverItself) {
  Terminal terminal;
  {
    ProgressLine line([&](absl::string_view text) { terminal.Write(text); },
                      std::chrono::milliseconds(0));
    line.Show("first");
    const std::string before = terminal.WaitForMoreThan(0);
    EXPECT_THAT(before, StartsWith("\rfirst  0s\x1b[K"));
    line.Show(std::string(200, 'x'));
    const std::string after = terminal.WaitForMoreThan(before.size());
    EXPECT_THAT(after.substr(before.size()),
                StartsWith(absl::StrCat("\r", std::string(75, 'x'), "  0s")));
    line.Hide();
    const std::string hidden = terminal.text();
    EXPECT_EQ(hidden.substr(hidden.size() - 4), "\r\x1b[K");
    line.Hide();
    EXPECT_EQ(terminal.text(), hidden);
    line.Show("last");
    terminal.WaitForMoreThan(hidden.size());
  }
  const std::string text = terminal.text();
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST(ProgressLineTest, NothingAtFirst) {
  Terminal terminal;
  {
    ProgressLine line([&](absl::string_view text) { terminal.Write(text); },
                      std::chrono::minutes(10));
    line.Show("never");
  }
  EXPECT_THAT(terminal.text(), IsEmpty());
}

}  // namespace
}  // namespace baton
