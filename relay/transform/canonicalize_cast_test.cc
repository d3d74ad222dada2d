#include "baton/relay/transform/canonicalize_cast.h"

#include "absl/strings/string_view.h"
#include "baton/relay/transform/pass_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

void ExpectMakes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(CanonicalizeCast(), before, after);
  ExpectPassLeaves(CanonicalizeCast(), after);
}

void ExpectLeaves(absl::string_view text) {
  ExpectPassLeaves(CanonicalizeCast(), text);
}

TEST(CanonicalizeCastTest, EachUseGetsACastOfItsOwn) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(4), int8]) {
        %0 = cast(%x, dtype="float32");
        (exp(%0), add(%0, %0))
      })",
              R"(
      def @main(%x: Tensor[(4), int8]) {
        %0 = cast(%x, dtype="float32");
        %1 = cast(%x, dtype="float32");
        %2 = cast(%x, dtype="float32");
        (exp(%0), add(%1, %2))
      })");
}

TEST(CanonicalizeCastTest, OtherUsersShareItWithTheFirst) {
  // The outer addition uses its first argument before the second is computed.
  ExpectMakes(R"(
      def @main(%x: Tensor[(4, 4), int8]) {
        %0 = cast(%x, dtype="float32");
        %1 = add(%0, exp(%0));
        (%1, nn.dense(%0, %0, units=None))
      })",
              R"(
      def @main(%x: Tensor[(4, 4), int8]) {
        %0 = cast(%x, dtype="float32");
        %1 = cast(%x, dtype="float32");
        %2 = add(%0, exp(%1));
        (%2, nn.dense(%0, %0, units=None))
      })");
}

TEST(CanonicalizeCastTest, CopiesShareTheCastThatTheyCast) {
  ExpectPassMakes(CanonicalizeCast(), R"(
      def @main(%x: Tensor[(4), int8]) {
        %0 = cast(%x, dtype="int16");
        %1 = cast(%0, dtype="int32");
        (add(%1, 1), negative(%1), negative(%0))
      })",
                  R"(
      def @main(%x: Tensor[(4), int8]) {
        %0 = cast(%x, dtype="int16");
        %1 = cast(%0, dtype="int32");
        %2 = cast(%0, dtype="int32");
        %3 = cast(%x, dtype="int16");
        (add(%1, 1), negative(%2), negative(%3))
      })");
}

TEST(CanonicalizeCastTest, NarrowingCastsAndSingleUsesStay) {
  ExpectLeaves(R"(
      def @main(%x: Tensor[(4), float32], %y: Tensor[(4, 4), int8]) {
        %0 = cast(%x, dtype="float16");
        %1 = cast(%y, dtype="float32");
        (exp(%0), exp(%0), exp(%1), nn.dense(%1, %1, units=None))
      })");
}

}  // namespace
}  // namespace baton::relay
