// Runs all cases of testing/loops.

#include "baton/testing/conformance_folder.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

TEST(ConformanceTest, PassesOfLoopsAgreeWithTheReference) {
  RunConformanceFolder("testing/loops");
}

}  // namespace
}  // namespace baton::testing
