#include "baton/relay/transform/dynamic_to_static.h"

#include "absl/strings/string_view.h"
#include "baton/relay/transform/pass_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

void ExpectMakes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(DynamicToStatic(), before, after);
  ExpectPassLeaves(DynamicToStatic(), after);
}

TEST(DynamicToStaticTest, ShapesOfWhatHasBecomeStatic) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(4, 7), float32], %y: Tensor[(2, 7, 2), float32],
                %z: float32) {
        %0 = dyn.reshape(%x, shape_of(%y, dtype="int64"), newshape=[]);
        %1 = dyn.tile(%0, shape_of(%0, dtype="int64"), reps=[]);
        dyn.broadcast_to(%z, shape_of(%1, dtype="int64"), shape=None)
      })",
              R"(
      def @main(%x: Tensor[(4, 7), float32], %y: Tensor[(2, 7, 2), float32],
                %z: float32) {
        broadcast_to(%z, shape=[4, 49, 4])
      })");
}

TEST(DynamicToStaticTest, ShapesThatAreComputed) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(4, 6), float32]) {
        %0 = shape_of(%x, dtype="int64");
        %1 = take(%0, 0, axis=0);
        %2 = floor_divide(take(%0, 1, axis=0), 2i64);
        dyn.reshape(%x, stack((%1, 2i64, %2), axis=0), newshape=[])
      })",
              R"(
      def @main(%x: Tensor[(4, 6), float32]) {
        reshape(%x, newshape=[4, 2, 3])
      })");
}

TEST(DynamicToStaticTest, ArgumentsBecomeAttributes) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(1, 3), float32], %i: Tensor[(2), int32],
                %f: float32) {
        %0 = shape_of(%x, dtype="int64");
        (dyn.zeros(%0, shape=None, dtype="float32"),
         dyn.ones(%0, shape=None, dtype="int32"),
         dyn.full(%f, %0, shape=None, dtype="float32"),
         dyn.squeeze(%x, cast(reshape(0, newshape=[1]), dtype="int64")),
         dyn.one_hot(%i, 1f, 0f, 3, depth=0, axis=-1, dtype="float32"),
         dyn.nn.pad(%x, reshape(stack((0i64, 1i64, 2i64, 3i64)),
                                newshape=[2, 2]), 0f, pad_width=[]))
      })",
              R"(
      def @main(%x: Tensor[(1, 3), float32], %i: Tensor[(2), int32],
                %f: float32) {
        (zeros(shape=[1, 3], dtype="float32"),
         ones(shape=[1, 3], dtype="int32"),
         full(%f, shape=[1, 3], dtype="float32"),
         squeeze(%x, axis=[0]),
         one_hot(%i, 1f, 0f, depth=3, axis=-1, dtype="float32"),
         nn.pad(%x, 0f, pad_width=[[0, 1], [2, 3]]))
      })");
}

TEST(DynamicToStaticTest, TypesOfFunctionsAndBranchesFollow) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(4, 6), float32], %c: bool)
          -> Tensor[(?), float32] {
        if (%c) {
          dyn.reshape(%x, expand_dims(ndarray_size(%x, dtype="int64"),
                                      axis=0), newshape=[])
        } else {
          dyn.reshape(%x, reshape(ndarray_size(%x, dtype="int64"),
                                  newshape=[1]), newshape=[])
        }
      })",
              R"(
      def @main(%x: Tensor[(4, 6), float32], %c: bool)
          -> Tensor[(24), float32] {
        if (%c) { reshape(%x, newshape=[24]) }
        else { reshape(%x, newshape=[24]) }
      })");
}

TEST(DynamicToStaticTest, ShapesThatArgumentsTellStay) {
  ExpectPassLeaves(DynamicToStatic(), R"(
      def @main(%x: Tensor[(4, 7), float32], %s: Tensor[(2), int64]) {
        dyn.reshape(%x, %s, newshape=[])
      })");
}

}  // namespace
}  // namespace baton::relay
