#include "baton/backend/cpu/executable_file.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/checksum.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/bound_workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;
using ::testing::ElementsAre;

constexpr char kVersion[] = "0.1.0";

absl::StatusOr<IRModule> TypedWorkload(const std::string& spec) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, testing::BoundWorkload(spec));
  return relay::InferTypes(module);
}

// A file's bytes, as if they were mapped.
struct Mapped {
  std::shared_ptr<char> memory;
  absl::string_view bytes;

  explicit Mapped(absl::string_view content) {
    constexpr size_t kPage = 4096;
    memory.reset(static_cast<char*>(std::aligned_alloc(
                     kPage, (content.size() / kPage + 1) * kPage)),
                 std::free);
    std::memcpy(memory.get(), content.data(), content.size());
    bytes = {memory.get(), content.size()};
  }
};

absl::StatusOr<std::string> FileOf(const IRModule& module) {
  absl::StatusOr<ExecutableFile> file = WriteExecutable(
      module, {.version = kVersion,
               .origin_of = [](const Span&) { return std::string("origin"); },
               .output_names = {"scores"}});
  if (!file.ok()) return file.status();
  return file->ToString();
}

absl::StatusOr<MappedExecutable> Read(absl::string_view bytes) {
  const Mapped mapped(bytes);
  return ReadExecutable(mapped.bytes, mapped.memory, "M.exe",
                        {.version = kVersion});
}

absl::StatusOr<std::vector<Tensor>> RunOn(const Executable& executable,
                                          const IRModule& module) {
  absl::StatusOr<std::vector<relay::Value>> args =
      relay::RandomInputs(module.Find<relay::Function>("main"), 7);
  if (!args.ok()) return args.status();
  std::vector<Tensor> inputs;
  for (const relay::Value& arg : *args) inputs.push_back(arg.tensor());
  absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Create(executable);
  if (!session.ok()) return session.status();
  return (*session)->Run(inputs);
}

class WorkloadFilesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WorkloadFilesTest, GiveTheBytesOfTheModel) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, TypedWorkload(GetParam()));
  BATON_ASSERT_OK_AND_ASSIGN(const Executable compiled, Compile(module, {}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> want,
                             RunOn(compiled, module));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string file, FileOf(module));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string again, FileOf(module));
  EXPECT_EQ(file, again) << "two files of one module differ";
  const Mapped mapped(file);
  BATON_ASSERT_OK_AND_ASSIGN(const MappedExecutable read,
                             ReadExecutable(mapped.bytes, mapped.memory,
                                            "M.exe", {.version = kVersion}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                             RunOn(read.executable, read.module));
  EXPECT_EQ(got, want);
  EXPECT_THAT(read.output_names, ElementsAre("scores"));
  ASSERT_FALSE(read.executable.sources().empty());
  EXPECT_EQ(read.executable.sources()[0].origin, "origin");
  EXPECT_EQ(read.executable.inputs()[0].name, compiled.inputs()[0].name);
  // The constants are the mapped bytes.
  int64_t outside = 0;
  for (const executor::Constant& constant : read.executable.plan().constants) {
    const auto* const data = static_cast<const char*>(constant.data);
    if (data < mapped.bytes.data() ||
        data + constant.bytes > mapped.bytes.data() + mapped.bytes.size()) {
      outside += constant.bytes;
    }
  }
  EXPECT_LT(outside, 16 << 10);
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkloadFilesTest,
    ::testing::Values(
        "mlp", "resnet{num_layers=8,image_shape=[3,12,12],num_classes=4}",
        "lstm{iterations=3,num_hidden=8}"));

TEST(ExecutableFileTest, HasThePartThatTheEvaluatorComputes) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 3), float32]) {
  %0 = nn.dense(exp(%x), full(0.5f, shape=[5, 3], dtype="float32"), units=5);
  (%0, take(%0, take(argwhere(greater(%x, 0f)), 0, axis=1), axis=0))
})");
  BATON_ASSERT_OK_AND_ASSIGN(const Executable compiled, Compile(module, {}));
  ASSERT_NE(compiled.evaluated_part(), nullptr);
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> want,
                             RunOn(compiled, module));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string file, FileOf(module));
  BATON_ASSERT_OK_AND_ASSIGN(const MappedExecutable read, Read(file));
  ASSERT_NE(read.executable.evaluated_part(), nullptr);
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                             RunOn(read.executable, read.module));
  EXPECT_EQ(got, want);
}

TEST(ExecutableFileTest, DamagedFilesAreRefused) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      TypedWorkload(
          "resnet{num_layers=8,image_shape=[3,12,12],num_classes=4}"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string file, FileOf(module));
  ASSERT_THAT(Read(file), IsOk());
  std::vector<size_t> places;
  for (size_t i = 0; i < 256; ++i) places.push_back(i);
  // A byte of each region of 1/200 of the file, and the last.
  std::mt19937 random(1);
  for (size_t k = 0; k < 200; ++k) {
    places.push_back(k * file.size() / 200 + random() % (file.size() / 200));
  }
  places.push_back(file.size() - 1);
  for (const size_t place : places) {
    std::string damaged = file;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << random() % 8));
    const absl::StatusOr<MappedExecutable> read = Read(damaged);
    EXPECT_THAT(read.status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "M.exe: "))
        << "byte " << place;
  }
  for (size_t size = 0; size < 300; ++size) {
    EXPECT_FALSE(Read(file.substr(0, size)).ok()) << size;
  }
  for (size_t k = 1; k < 50; ++k) {
    EXPECT_THAT(Read(file.substr(0, file.size() * k / 50)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, " bytes, not "));
  }
  EXPECT_THAT(Read(file + "x").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is damaged"));
}

// `file` with other bytes in its header, and the checksum that fits.
std::string WithHeader(std::string file, size_t place,
                       absl::string_view bytes) {
  constexpr size_t kChecksum = 184;
  file.replace(place, bytes.size(), bytes.data(), bytes.size());
  const uint64_t checksum =
      Checksum(absl::string_view(file).substr(0, kChecksum));
  std::memcpy(file.data() + kChecksum, &checksum, sizeof(checksum));
  return file;
}

TEST(ExecutableFileTest, FilesForOthersAreRefused) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, TypedWorkload("mlp"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string file, FileOf(module));
  EXPECT_THAT(Read(WithHeader(file, 0, "BATEXE")), IsOk());
  EXPECT_THAT(
      Read(WithHeader(file, 8, absl::string_view("\x06\0\0\0", 4))).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "of version 6 of the format; this program reads version 5"));
  EXPECT_THAT(
      Read(WithHeader(file, 12, absl::string_view("\x63\0\0\0", 4))).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "needs an unknown instruction set, which this processor does "
               "not have"));
  EXPECT_THAT(
      ReadExecutable(file, nullptr, "M.exe", {.version = "0.2.0"}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "an executable of Baton 0.1.0; this is Baton 0.2.0"));
  EXPECT_THAT(Read("#[version = \"0.0.5\"]").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "this is no executable of Baton"));
}

// Files whose checksums fit whatever was changed in them.
class Forger {
 public:
  Forger(std::string file, uint32_t seed)
      : good_(std::move(file)), random_(seed) {}

  // A copy of the file with one to three changes, of which the first is in
  // section `section`: 0 the header, 1 names, 2 the module, 3 packed weights.
  std::string Next(int section) {
    std::string file = good_;
    for (uint32_t k = 1 + Below(3); k-- > 0;) Change(section, file);
    StableHash hash(5);
    constexpr size_t kChunk = size_t{1} << 20;
    const absl::string_view content = absl::string_view(file).substr(192);
    for (size_t at = 0; at < content.size(); at += kChunk) {
      hash.Add(Checksum(content.substr(at, kChunk)));
    }
    const uint64_t checksum = hash.value();
    return WithHeader(std::move(file), 80,
                      {reinterpret_cast<const char*>(&checksum), 8});
  }

 private:
  uint32_t Below(uint64_t n) { return static_cast<uint32_t>(random_() % n); }

  // Changes the messages of sections rather than the weights behind them.
  void Change(int section, std::string& file) {
    uint64_t begin = 16;
    uint64_t size = 64;  // sizes, places and the number of steps
    if (section > 0) {
      const size_t fields[] = {56, 24, 40};
      std::memcpy(&begin, good_.data() + fields[section - 1], 8);
      std::memcpy(&size, good_.data() + fields[section - 1] + 8, 8);
      if (section > 1 && Below(16) > 0) {
        uint64_t message;
        std::memcpy(&message, good_.data() + begin + 24, 8);
        size = 64 + message;
      }
    }
    const size_t at = begin + Below(size);
    constexpr int64_t kNumbers[] = {
        0,  1,       2,       3,       7,         16,        127, 128,
        -1, 1 << 14, 1 << 20, 1 << 30, INT32_MAX, INT64_MAX, 64,  INT64_MIN};
    const int64_t number = kNumbers[Below(std::size(kNumbers))];
    switch (Below(5)) {
      case 0:
        file[at] = static_cast<char>(file[at] ^ (1 << Below(8)));
        break;
      case 1:
        file[at] = static_cast<char>(number);
        break;
      case 2:
        file[at] = static_cast<char>(file[at] + (Below(2) == 0 ? 1 : -1));
        break;
      case 3: {
        const size_t bytes = std::min<size_t>(8, file.size() - at);
        std::memcpy(file.data() + at, &number, bytes);
        break;
      }
      default: {
        const size_t from = begin + Below(size);
        const size_t bytes =
            std::min<size_t>(1 + Below(16), file.size() - std::max(at, from));
        std::memmove(file.data() + at, file.data() + from, bytes);
      }
    }
  }

  const std::string good_;
  std::mt19937 random_;
};

// Whoever can compute checksums gets errors, or results of another model.
TEST(ExecutableFileTest, ForgedFilesAreRefusedOrRun) {
  const uint32_t files = testing::TestSetting(
      "BATON_PROGRAMS", testing::IsLongTest() ? 4000 : 100);
  const uint32_t seed = testing::TestSetting("BATON_FIRST_SEED", 1);
  int refused = 0;
  int ran = 0;
  for (const char* const spec :
       {"mlp", "resnet{num_layers=8,image_shape=[3,12,12],num_classes=4}",
        "lstm{iterations=3,num_hidden=8}"}) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, TypedWorkload(spec));
    BATON_ASSERT_OK_AND_ASSIGN(const std::string file, FileOf(module));
    Forger forger(file, seed);
    for (uint32_t k = 0; k < files; ++k) {
      const std::string forged = forger.Next(static_cast<int>(k % 4));
      const absl::StatusOr<MappedExecutable> read = Read(forged);
      if (!read.ok()) {
        ++refused;
        EXPECT_FALSE(read.status().message().empty());
        continue;
      }
      // A forged plan with a large arena would take long.
      if (read->executable.plan().arena_bytes > (64 << 20)) continue;
      const absl::StatusOr<std::vector<Tensor>> results =
          RunOn(read->executable, read->module);
      if (results.ok()) ++ran;
    }
  }
  std::printf("%d forged files were refused, %d gave results\n", refused, ran);
  EXPECT_GT(refused, 0);
  EXPECT_GT(ran, 0);
}

TEST(ExecutableFileTest, SecondSessionCostsItsArena) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, TypedWorkload("mlp"));
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, Compile(module, {}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> first,
                             Session::Create(executable));
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<int64_t>(info.uordblks + info.hblkhd);
  };
  const int64_t before = in_use();
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> second,
                             Session::Create(executable));
  EXPECT_LE(in_use() - before, executable.plan().arena_bytes + (16 << 10));
}

}  // namespace
}  // namespace baton
