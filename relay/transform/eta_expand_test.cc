#include "baton/relay/transform/eta_expand.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/transform/pass_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

constexpr EtaExpandOptions kFunctions = {.expand_global_var = true};
constexpr EtaExpandOptions kConstructors = {.expand_constructor = true};

constexpr absl::string_view kList = R"(
    type List[A] { Cons(A, List[A]), Nil, }
    type Box[A] { Wrap(A), }
)";

std::string WithList(absl::string_view text) {
  return absl::StrCat(kList, text);
}

TEST(EtaExpandTest, GlobalFunctions) {
  ExpectPassMakes(EtaExpand(kFunctions), R"(
      def @f(%x: int32, %y: Tensor[(2), float32]) { (%x, %y) }
      def @main() { @f }
      def @calls(%z: Tensor[(2), float32]) { (@f(1, %z), @f(2, %z)) })",
                  R"(
      def @f(%x: int32, %y: Tensor[(2), float32]) { (%x, %y) }
      def @main() {
        fn (%a: int32, %b: Tensor[(2), float32])
            -> (int32, Tensor[(2), float32]) { @f(%a, %b) }
      }
      def @calls(%z: Tensor[(2), float32]) {
        %0 = fn (%a: int32, %b: Tensor[(2), float32])
            -> (int32, Tensor[(2), float32]) { @f(%a, %b) };
        (%0(1, %z), %0(2, %z))
      })");
}

TEST(EtaExpandTest, AttributesAndTypeParametersAreThoseOfTheFunction) {
  ExpectPassMakes(EtaExpand(kFunctions), R"(
      def @id[A](%x: A, Inline=1) -> A { %x }
      def @main() { @id(1) })",
                  R"(
      def @id[A](%x: A, Inline=1) -> A { %x }
      def @main() {
        %0 = fn [A](%y: A, Inline=1) -> A { @id(%y) };
        %0(1)
      })");
}

TEST(EtaExpandTest, Constructors) {
  ExpectPassMakes(EtaExpand(kConstructors), WithList(R"(
      def @main(%f: fn (fn (int32, List[int32]) -> List[int32]) -> int32,
                %g: fn (fn (int32) -> Box[int32]) -> int32) {
        (%f(Cons), %g(Wrap))
      })"),
                  WithList(R"(
      def @main(%f: fn (fn (int32, List[int32]) -> List[int32]) -> int32,
                %g: fn (fn (int32) -> Box[int32]) -> int32) {
        %0 = fn [A](%x: A, %xs: List[A]) -> List[A] { Cons(%x, %xs) };
        %1 = fn [A](%y: A) -> Box[A] { Wrap(%y) };
        (%f(%0), %g(%1))
      })"));
}

TEST(EtaExpandTest, ConstructorsThatAreCalledStay) {
  ExpectPassLeaves(EtaExpand(kConstructors), WithList(R"(
      def @f() { 1 }
      def @main() { Cons(@f(), Cons(2, Nil())) })"));
}

TEST(EtaExpandTest, ArgumentsOfConstructorsAreExpanded) {
  ExpectPassMakes(
      EtaExpand({.expand_constructor = true, .expand_global_var = true}),
      WithList(R"(
      def @f(%x: int32) -> int32 { %x }
      def @main() { Cons(@f, Nil()) })"),
      WithList(R"(
      def @f(%x: int32) -> int32 { %x }
      def @main() {
        Cons(fn (%x: int32) -> int32 { @f(%x) }, Nil())
      })"));
}

TEST(EtaExpandTest, NothingIsExpandedThatIsNotAskedFor) {
  ExpectPassLeaves(EtaExpand(), WithList(R"(
      def @f() { 1 }
      def @main() { (@f, Wrap) })"));
}

}  // namespace
}  // namespace baton::relay
