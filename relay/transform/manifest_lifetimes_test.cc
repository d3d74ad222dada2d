#include "baton/relay/transform/manifest_lifetimes.h"

#include "baton/relay/transform/pass_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(ManifestLifetimesTest, LeavesFunctionsWithoutLets) {
  ExpectPassLeaves(ManifestLifetimes(), R"(
    def @main(%x: int32) { add(%x, %x) })");
}

TEST(ManifestLifetimesTest, AfterTheLastUse) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%x: int32, %y: int32) {
      let %a = add(%x, %y);
      let %b = add(%y, %a);
      (%b, %a)
    })",
                  R"(
    def @main(%x: int32, %y: int32) {
      let %a = add(%x, %y);
      let %_ = memory.kill(%x);
      let %b = add(%y, %a);
      let %_1 = memory.kill(%y);
      (%b, %a)
    })");
}

TEST(ManifestLifetimesTest, NamesOfOneValue) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%x: int32) {
      let %a = %x;
      let %b = %a;
      let %c = add(%a, %x);
      let %d = add(%b, %c);
      %d
    })",
                  R"(
    def @main(%x: int32) {
      let %c = add(%x, %x);
      let %d = add(%x, %c);
      let %_ = memory.kill(%x);
      let %_1 = memory.kill(%c);
      %d
    })");
}

// What both branches use last ends in both, and the condition after them; what
// only one uses, in that one. The result of a branch goes on.
TEST(ManifestLifetimesTest, Branches) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%c: bool, %x: int32, %y: int32, %z: int32) {
      let %r = if (%c) {
        let %a = add(%x, %y);
        let %b = add(%a, %z);
        %b
      } else {
        let %d = add(%x, %z);
        %d
      };
      let %s = add(%r, %z);
      %s
    })",
                  R"(
    def @main(%c: bool, %x: int32, %y: int32, %z: int32) {
      let %r = if (%c) {
        let %a = add(%x, %y);
        let %_ = memory.kill(%x);
        let %_1 = memory.kill(%y);
        let %b = add(%a, %z);
        let %_2 = memory.kill(%a);
        %b
      } else {
        let %d = add(%x, %z);
        let %_3 = memory.kill(%x);
        %d
      };
      let %_4 = memory.kill(%c);
      let %s = add(%r, %z);
      let %_5 = memory.kill(%r);
      let %_6 = memory.kill(%z);
      %s
    })");
}

TEST(ManifestLifetimesTest, Clauses) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    type Maybe { Some(int32), None, }
    def @main(%x: int32) {
      let %m = Some(%x);
      let %r = match (%m) {
        Some(%v) => { let %a = add(%v, %x); %a },
        None => { %x },
      };
      let %s = add(%r, %r);
      %s
    })",
                  R"(
    type Maybe { Some(int32), None, }
    def @main(%x: int32) {
      let %m = Some(%x);
      let %r = match (%m) {
        Some(%v) => {
          let %a = add(%v, %x);
          let %_ = memory.kill(%v);
          let %_1 = memory.kill(%x);
          %a
        },
        None => { %x },
      };
      let %_2 = memory.kill(%m);
      let %s = add(%r, %r);
      let %_3 = memory.kill(%r);
      %s
    })");
}

// A function may use its variables whenever it is called.
TEST(ManifestLifetimesTest, CapturedVariablesAreNotKilled) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%x: int32, %y: int32) {
      let %f = fn (%z: int32) { add(%x, %z) };
      let %a = add(%x, %y);
      let %b = %f(%a);
      %b
    })",
                  R"(
    def @main(%x: int32, %y: int32) {
      let %f = fn (%z: int32) { add(%x, %z) };
      let %a = add(%x, %y);
      let %_ = memory.kill(%y);
      let %b = %f(%a);
      let %_1 = memory.kill(%f);
      let %_2 = memory.kill(%a);
      %b
    })");
}

}  // namespace
}  // namespace baton::relay
