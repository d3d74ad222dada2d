#include "baton/instrument/recorder.h"

#include <cstddef>
#include <iterator>
#include <memory>

#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using Hook = PassRecorder::Hook;

TEST(PassRecorderTest, RecordsEverything) {
  const auto recorder = std::make_shared<PassRecorder>();
  ASSERT_TRUE(PassContext({.instruments = {recorder}})
                  .Run([] { return toy::AToB()(toy::Module()); })
                  .ok());
  struct Expected {
    Hook hook;
    const char* pass;
    int number;
    int depth;
    bool changed;
  };
  const Expected expected[] = {
      {Hook::kEnterPassContext, "", 0, 0, false},
      {Hook::kShouldRun, "AToB", 1, 0, false},
      {Hook::kRunBeforePass, "AToB", 1, 0, false},
      {Hook::kShouldRun, "InferType", 2, 1, false},
      {Hook::kRunBeforePass, "InferType", 2, 1, false},
      {Hook::kRunAfterPass, "InferType", 2, 1, true},
      {Hook::kRunAfterPass, "AToB", 1, 0, true},
      {Hook::kExitPassContext, "", 0, 0, false},
  };
  ASSERT_EQ(recorder->events().size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const PassRecorder::Event& event = recorder->events()[i];
    EXPECT_EQ(event.hook, expected[i].hook) << i;
    EXPECT_EQ(event.pass, expected[i].pass) << i;
    EXPECT_EQ(event.number, expected[i].number) << i;
    EXPECT_EQ(event.depth, expected[i].depth) << i;
    EXPECT_EQ(event.changed, expected[i].changed) << i;
  }
}

TEST(PassRecorderTest, CountsAndText) {
  const auto recorder = std::make_shared<PassRecorder>();
  ASSERT_FALSE(PassContext({.instruments = {recorder}})
                   .Run([] {
                     return Sequential({toy::AToB(), toy::BToA(),
                                        toy::Nothing(),
                                        toy::Fails()})(toy::Module());
                   })
                   .ok());
  EXPECT_EQ(recorder->CountRuns(), 8);
  EXPECT_EQ(recorder->CountRuns("InferType"), 3);
  EXPECT_EQ(recorder->CountRuns("Fails"), 1);
  EXPECT_EQ(recorder->CountRuns("Other"), 0);
  EXPECT_EQ(recorder->CountChanges("BToA"), 1);
  EXPECT_EQ(recorder->CountChanges("Nothing"), 0);
  EXPECT_EQ(recorder->ToString(),
            "1 sequential !\n"
            "  2 AToB *\n"
            "    3 InferType *\n"
            "  4 BToA *\n"
            "    5 InferType *\n"
            "  6 Nothing\n"
            "    7 InferType\n"
            "  8 Fails !\n");
}

}  // namespace
}  // namespace baton
