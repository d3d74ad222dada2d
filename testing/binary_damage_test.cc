// Reads ten thousand damaged binary files: each is refused with an error that
// names a byte, or is the module that was written; none takes much time or
// memory.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using Checksums = BinaryReadOptions::Checksums;

constexpr int kFiles = 10'000;
constexpr size_t kHeaderSize = 64;

std::string Written(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  EXPECT_THAT(binary, IsOk());
  return binary.ok() ? binary->ToString() : "";
}

// A network with weights and without, and some of the conformance modules, as
// far as they can be typed in both forms.
std::vector<std::string> GoodFiles() {
  std::vector<std::string> files;
  const absl::StatusOr<Workload> workload =
      GetWorkload("resnet{num_layers=8,image_shape=[3,28,28],num_classes=10}");
  EXPECT_THAT(workload, IsOk());
  files.push_back(Written(workload->module));
  files.push_back(Written(relay::ModuleFromExpr(*relay::BindParamsByName(
      workload->module.Find<relay::Function>("main"), workload->params))));
  const absl::StatusOr<std::vector<ConformanceCase>> cases =
      ReadConformanceCases(RunfilePath("testing/conformance"));
  EXPECT_THAT(cases, IsOk());
  constexpr size_t kStep = 17;
  for (size_t i = 0; i < cases->size(); i += kStep) {
    const absl::StatusOr<IRModule> module = ParseModule((*cases)[i].before);
    if (!module.ok()) continue;
    files.push_back(Written(*module));
    const absl::StatusOr<IRModule> typed = relay::InferTypes(*module);
    if (typed.ok()) files.push_back(Written(*typed));
  }
  EXPECT_GT(files.size(), 20);
  return files;
}

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  size_t Below(size_t n) { return random_() % n; }

  // Changes `file` in one to three places. Heads and messages are more
  // interesting than weights.
  void Apply(std::string* file) {
    for (size_t n = 1 + Below(3); n > 0 && !file->empty(); --n) {
      const size_t part = Below(8) == 0 ? file->size()
                          : Below(4) == 0
                              ? std::min(kHeaderSize, file->size())
                              : std::min(size_t{4096}, file->size());
      ApplyAt(Below(part), file);
    }
  }

 private:
  void ApplyAt(size_t at, std::string* file) {
    const size_t length = std::min(file->size() - at, 1 + Below(10));
    switch (Below(8)) {
      case 0:
      case 1:
      case 2:
        (*file)[at] = static_cast<char>((*file)[at] ^ (1 << Below(8)));
        return;
      case 3:
        (*file)[at] = static_cast<char>(Below(256));
        return;
      case 4:
        file->resize(at);
        return;
      case 5:  // the longest length
        std::fill_n(file->begin() + static_cast<std::ptrdiff_t>(at), length,
                    '\xff');
        return;
      case 6:  // a number of 64 bits
        if (length == 10) {
          const uint64_t number = random_() >> Below(64);
          std::memcpy(file->data() + at, &number, sizeof(number));
        } else {
          file->insert(at, file->substr(Below(file->size()), length));
        }
        return;
      default:
        file->erase(at, length);
        return;
    }
  }

  std::mt19937_64 random_;
};

TEST(BinaryDamageTest, IsFoundOrHarmless) {
  const std::vector<std::string> good = GoodFiles();
  Damage damage(20'220'623);
  int refused = 0;
  int possible = 0;  // to readers that look at no checksums
  std::chrono::duration<double> longest{0};
  for (int i = 0; i < kFiles; ++i) {
    const std::string& original = good[damage.Below(good.size())];
    std::string file = original;
    damage.Apply(&file);
    const auto start = std::chrono::steady_clock::now();
    const absl::StatusOr<BinaryContent> content =
        ReadBinary(file, nullptr, "file");
    const absl::StatusOr<BinaryContent> unchecked =
        ReadBinary(file, nullptr, "file", {.checksums = Checksums::kNone});
    longest = std::max<std::chrono::duration<double>>(
        longest, std::chrono::steady_clock::now() - start);
    possible += unchecked.ok() ? 1 : 0;
    if (!unchecked.ok()) {
      EXPECT_TRUE(absl::StartsWith(unchecked.status().message(), "file: byte "))
          << i << ": " << unchecked.status();
    }
    if (content.ok()) {
      EXPECT_EQ(Written(content->module), original) << i;
    } else {
      ++refused;
      EXPECT_TRUE(absl::StartsWith(content.status().message(), "file: byte "))
          << i << ": " << content.status();
    }
  }
  EXPECT_LT(longest.count(), 1.0);
  EXPECT_GT(refused, kFiles * 9 / 10);
  // So the checksums did not hide the rest of the reader from this test.
  EXPECT_GT(possible, kFiles / 100);
  struct rusage usage;
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  constexpr int64_t kGibInKib = int64_t{1} << 20;
  EXPECT_LT(usage.ru_maxrss, kGibInKib);
  RecordProperty("refused", refused);
  RecordProperty("possible", possible);
  RecordProperty("longest_us", static_cast<int>(longest.count() * 1e6));
  RecordProperty("max_rss_kib", static_cast<int>(usage.ru_maxrss));
}

}  // namespace
}  // namespace baton::testing
