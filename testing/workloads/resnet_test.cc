#include "baton/testing/workloads/resnet.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/golden.h"
#include "baton/testing/sha256.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

std::string DigestOf(const Workload& workload) {
  Sha256 sha;
  for (const auto& [name, tensor] : workload.params) sha.Update(tensor.bytes());
  return sha.Digest();
}

TEST(Sha256Test, KnownDigests) {
  Sha256 empty;
  EXPECT_EQ(empty.Digest(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.Update("abc");
  EXPECT_EQ(abc.Digest(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ResNetTest, ResNet18PrintsAsTheReference) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      GetWorkloadModule(
          "resnet{num_layers=18,batch_size=1,image_shape=[3,224,224]}"));
  EXPECT_TRUE(
      MatchesGolden(AsText(module, {.metadata = false}), "resnet18.relay"));
}

TEST(ResNetTest, WeightsEqualTheReferenceBitForBit) {
  BATON_ASSERT_OK_AND_ASSIGN(const Workload workload, GetWorkload("resnet"));
  size_t i = 0;
  const std::string golden = ReadGolden("resnet18_weights.tsv");
  for (absl::string_view line :
       absl::StrSplit(golden, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    ASSERT_LT(i, workload.params.size());
    const auto& [name, tensor] = workload.params[i++];
    EXPECT_EQ(name, columns[0]);
    EXPECT_EQ(absl::StrJoin(tensor.shape(), "x"), columns[1]) << name;
    Sha256 sha;
    sha.Update(tensor.bytes());
    EXPECT_EQ(sha.Digest(), columns[2]) << name;
  }
  EXPECT_EQ(i, 99u);
  EXPECT_EQ(i, workload.params.size());
  EXPECT_EQ(DigestOf(workload),
            "67b609c52ab7fa068992d71faf1376f6e4d590e2c5894f8701e5dc5da29d0ef1");
}

TEST(ResNetTest, WeightsOfOtherSizes) {
  BATON_ASSERT_OK_AND_ASSIGN(const Workload resnet50,
                             GetWorkload("resnet{num_layers=50}"));
  EXPECT_EQ(resnet50.params.size(), 259u);
  EXPECT_EQ(DigestOf(resnet50),
            "789e794cd3c01f2f726257475b4b8b069cafcbd9aa8e3805f8fdf524b8e9d34c");
  BATON_ASSERT_OK_AND_ASSIGN(
      const Workload nhwc,
      GetWorkload("resnet{layout=NHWC,image_shape=[224,224,3]}"));
  EXPECT_EQ(DigestOf(nhwc),
            "c13c4d452ac56b9b7b5e69342e9d07f0c4df322d1cce6fd229cae1d72e739d6a");
}

TEST(ResNetTest, EverySizeIsTyped) {
  for (const char* spec :
       {"resnet{num_layers=34}", "resnet{num_layers=101}",
        "resnet{num_layers=152,batch_size=8}", "resnet{num_layers=200}",
        "resnet{num_layers=269}",
        "resnet{num_layers=20,image_shape=[3,28,28],num_classes=10}",
        "resnet{num_layers=164,image_shape=[3,28,28],num_classes=10}",
        "resnet{num_layers=18,image_shape=[3,32,32],num_classes=10}"}) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, GetWorkloadModule(spec));
    EXPECT_TRUE(module.Find<relay::Function>("main")->type().defined()) << spec;
  }
}

TEST(WorkloadTest, BadSpecsNameTheCulprit) {
  using absl::StatusCode;
  EXPECT_THAT(
      GetWorkload("resnett"),
      StatusIs(StatusCode::kNotFound,
               "unknown workload \"resnett\"; did you mean \"resnet\""));
  EXPECT_THAT(GetWorkload("resnet{num_layer=18}"),
              StatusIs(StatusCode::kInvalidArgument, "num_layers"));
  EXPECT_THAT(GetWorkload("resnet{num_layers=17}"),
              StatusIs(StatusCode::kInvalidArgument, "18, 34, 50"));
  EXPECT_THAT(GetWorkload("resnet{num_layers=big}"),
              StatusIs(StatusCode::kInvalidArgument, "num_layers"));
  EXPECT_THAT(GetWorkload("resnet{batch_size=0}"),
              StatusIs(StatusCode::kInvalidArgument, "batch_size"));
  EXPECT_THAT(GetWorkload("resnet{num_classes=-1}"),
              StatusIs(StatusCode::kInvalidArgument, "num_classes"));
  EXPECT_THAT(GetWorkload("resnet{image_shape=[3,224]}"),
              StatusIs(StatusCode::kInvalidArgument, "image_shape"));
  EXPECT_THAT(GetWorkload("resnet{image_shape=[3,-224,224]}"),
              StatusIs(StatusCode::kInvalidArgument, "image_shape"));
  EXPECT_THAT(GetWorkload("resnet{layout=NCWH}"),
              StatusIs(StatusCode::kInvalidArgument, "NCHW or NHWC"));
  EXPECT_THAT(GetWorkload("resnet{"),
              StatusIs(StatusCode::kInvalidArgument, ""));
}

}  // namespace
}  // namespace baton::testing
