#include "baton/relay/transform/plan_devices.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/virtual_device.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/device.h"
#include "baton/relay/transform/device_domains.h"
#include "baton/relay/transform/lambda_lift.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::StatusIs;

// In the texts here, `{CPU}` and `{GPU}` are the device of what stands before
// them, or of a function; `on(CPU, e)` is an on_device, `at(CPU, e)` one that
// fixes its result, too, `free(e)` one that asks for nothing; `copy(CPU, GPU,
// e)` is a copy. HOST is where shapes are, A and B are scopes of the memory of
// the CPU. T is a type.
std::string Expanded(absl::string_view text) {
  std::string result;
  const std::vector<std::pair<absl::string_view, absl::string_view>> devices = {
      {"CPU", "\"cpu\""},
      {"GPU", "\"cuda\""},
      {"HOST",
       R"({"device_type_int"=1, "virtual_device_id"=0, "target"="llvm"})"},
      {"A", R"({"device_type_int"=1, "virtual_device_id"=0,
                "memory_scope"="a"})"},
      {"B", R"({"device_type_int"=1, "virtual_device_id"=0,
                "memory_scope"="b"})"}};
  result = std::string(text);
  for (const auto& device : devices) {
    const absl::string_view name = device.first;
    const absl::string_view value = device.second;
    const auto on = [&](absl::string_view op, absl::string_view more) {
      // `on(CPU, ` becomes `on_device(virtual_device=..., ` below.
      absl::StrReplaceAll({{absl::StrCat(op, "(", name, ", "),
                            absl::StrCat("on_device(`", value, more, "`")}},
                          &result);
    };
    on("on", "");
    on("at", ", constrain_result=True");
    on("off", ", constrain_body=False");
    for (const auto& [to, to_value] : devices) {
      absl::StrReplaceAll(
          {{absl::StrCat("copy(", name, ", ", to, ", "),
            absl::StrCat("device_copy(`src=", value, ", dst=", to_value, "`")}},
          &result);
    }
    absl::StrReplaceAll({{absl::StrCat("{", name, "}"),
                          absl::StrCat("{virtual_device=", value, "}")},
                         {absl::StrCat("[", name, "]"),
                          absl::StrCat("virtual_device=", value)}},
                        &result);
  }
  // Attributes stand behind the argument: `op(`attrs`argument)`.
  for (size_t open = result.rfind('`'); open != std::string::npos;
       open = result.rfind('`')) {
    const size_t begin = result.rfind('`', open - 1);
    std::string attrs = result.substr(begin + 1, open - begin - 1);
    absl::StrReplaceAll(
        {{"src=", "src_virtual_device="}, {"dst=", "dst_virtual_device="}},
        &attrs);
    if (attrs.rfind("src_", 0) != 0) {
      attrs = absl::StrCat("virtual_device=", attrs);
    }
    size_t end = open + 1;
    for (int depth = 0; depth > 0 || result[end] != ')'; ++end) {
      if (result[end] == '(') ++depth;
      if (result[end] == ')') --depth;
    }
    result.insert(end, absl::StrCat(", ", attrs));
    result.erase(begin, open - begin + 1);
  }
  absl::StrReplaceAll({{"T", "Tensor[(5, 7), float32]"},
                       {"True", "True"},
                       {"Tensor", "Tensor"}},
                      &result);
  return result;
}

const std::vector<std::string>& Targets() {
  static const auto* const targets =
      new std::vector<std::string>{"llvm", "cuda"};
  return *targets;
}

// `module` with all devices as the pass writes them.
class Canonical final : public ExprMutator {
 public:
  static IRModule Of(const IRModule& module) {
    IRModule result = module;
    for (const auto& [var, function] : module.functions<Function>()) {
      absl::StatusOr<Function> canonical = Canonical().MutateFunction(function);
      EXPECT_TRUE(canonical.ok()) << canonical.status();
      if (canonical.ok()) result.Set(var->name(), *canonical);
    }
    return result;
  }

 protected:
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    if (function->IsPrimitive()) return function;
    const AttrMap entries = function->attrs().entries();
    for (const auto& [key, value] : entries) {
      if (key == kVirtualDevice) function = function.WithAttr(key, Of(value));
      if (key != kParamVirtualDevices) continue;
      AttrList devices;
      for (const AttrValue& device : *value.As<AttrList>()) {
        devices.push_back(Of(device));
      }
      function = function.WithAttr(key, devices);
    }
    return function;
  }
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    Attrs attrs = call->attrs();
    if (const auto* on_device = attrs.As<OnDeviceAttrs>()) {
      OnDeviceAttrs changed = *on_device;
      changed.virtual_device = Of(changed.virtual_device);
      attrs = Attrs::Make(std::move(changed));
    } else if (const auto* copy = attrs.As<DeviceCopyAttrs>()) {
      attrs = Attrs::Make(DeviceCopyAttrs{Of(copy->src_virtual_device),
                                          Of(copy->dst_virtual_device)});
    }
    return Call(call->op(), call->args(), attrs, {}, call->type());
  }

 private:
  static AttrValue Of(const AttrValue& value) {
    static const auto* const config = [] {
      std::vector<AttrValue> targets;
      for (const std::string& text : Targets()) {
        targets.push_back(*MakeTargetValue(text, AttrValue()));
      }
      return new DeviceConfig(*DeviceConfig::Make(targets, true, 2));
    }();
    const absl::StatusOr<VirtualDevice> device =
        VirtualDevice::FromValue(value);
    EXPECT_TRUE(device.ok()) << device.status();
    return config->Canonical(*device)->ToValue();
  }
};

// What may be anywhere is on the GPU.
absl::StatusOr<IRModule> Planned(const IRModule& module) {
  PassContext context({.config = {{"relay.fallback_device_type", 2}}});
  absl::StatusOr<IRModule> result = absl::InternalError("not run");
  const absl::Status status = context.Run([&]() -> absl::Status {
    result = PlanDevices({.targets = Targets()}).Run(module);
    return result.status();
  });
  return status.ok() ? result : status;
}

void ExpectPlan(absl::string_view before, absl::string_view after) {
  const IRModule wanted = ParseTyped(Expanded(after));
  for (const absl::string_view text : {before, after}) {
    SCOPED_TRACE(text);
    const absl::StatusOr<IRModule> result = Planned(ParseTyped(Expanded(text)));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(FirstDifference(*result, Canonical::Of(wanted)), std::nullopt)
        << ToText(*result);
    // Planned again, it is the same module.
    const absl::StatusOr<IRModule> again = Planned(*result);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->IdenticalTo(*result)) << ToText(*again);
    // So it is for the targets that its devices name.
    const absl::StatusOr<IRModule> alone = PlanDevices()(*result);
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_TRUE(alone->IdenticalTo(*result)) << ToText(*alone);
  }
}

TEST(PlanDevicesTest, AllIsOnTheDefaultDevice) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T) { subtract(add(%a, %b), %b) })",
             R"(
    def @main(%a {GPU}: T, %b {GPU}: T, [GPU]) {
      subtract(add(%a, %b), %b)
    })");
}

TEST(PlanDevicesTest, CopiesWhereAnOnDeviceAllowsIt) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T, %d: T) {
      subtract(on(CPU, add(%a, %b)), add(%c, %d))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {GPU}: T, %d {GPU}: T, [GPU]) {
      subtract(copy(CPU, GPU, at(CPU, add(%a, %b))), add(%c, %d))
    })");
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T, %d: T) {
      subtract(copy(CPU, GPU, add(%a, %b)), add(%c, %d))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {GPU}: T, %d {GPU}: T, [GPU]) {
      subtract(copy(CPU, GPU, at(CPU, add(%a, %b))), add(%c, %d))
    })");
}

// Each annotation has a copy of its own.
TEST(PlanDevicesTest, SharedValues) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T) {
      %0 = add(%a, %b);
      subtract(on(CPU, %0), on(CPU, %0))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, [GPU]) {
      %0 = add(%a, %b);
      %1 = at(CPU, %0);
      %2 = at(CPU, %0);
      subtract(copy(CPU, GPU, %1), copy(CPU, GPU, %2))
    })");
  ExpectPlan(R"(
    def @main(%x: T) {
      %0 = negative(%x);
      %1 = negative(on(CPU, %0));
      %2 = negative(on(CPU, %0));
      on(CPU, negative(on(GPU, add(on(GPU, %1), on(GPU, %2)))))
    })",
             R"(
    def @main(%x {CPU}: T, [CPU]) {
      %0 = negative(%x);
      %1 = negative(copy(CPU, GPU, at(CPU, %0)));
      %2 = negative(copy(CPU, GPU, at(CPU, %0)));
      negative(copy(GPU, CPU, at(GPU, add(%1, %2))))
    })");
}

TEST(PlanDevicesTest, NothingIsCopiedToItsOwnDevice) {
  ExpectPlan(R"(
    def @main(%x: T, %y: T, %z: T) {
      on(CPU, subtract(on(CPU, add(%x, %y)), %z))
    })",
             R"(
    def @main(%x {CPU}: T, %y {CPU}: T, %z {CPU}: T, [CPU]) {
      subtract(add(%x, %y), %z)
    })");
}

// A value that calls on two devices use.
TEST(PlanDevicesTest, Conflicts) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T) {
      subtract(on(CPU, add(%a, %b)), on(GPU, add(%b, %c)))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {GPU}: T, [GPU]) {
      %0 = add(%a, %b);
      %1 = copy(CPU, GPU, %b);
      subtract(copy(CPU, GPU, at(CPU, %0)), add(%1, %c))
    })");
}

TEST(PlanDevicesTest, Lets) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T, %d: T) {
      let %l = add(%a, %b);
      let %r = add(%c, %d);
      subtract(on(CPU, %l), %r)
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {GPU}: T, %d {GPU}: T, [GPU]) {
      let %l = at(CPU, add(%a, %b));
      let %r = at(GPU, add(%c, %d));
      subtract(copy(CPU, GPU, %l), %r)
    })");
}

TEST(PlanDevicesTest, FieldsAreCopiedNotTuples) {
  ExpectPlan(R"(
    def @main(%x: Tensor[(3, 3, 4), float32]) {
      let %t = split(%x, indices_or_sections=3);
      %0 = on(CPU, %t);
      %1 = on(CPU, %t);
      on(GPU, subtract(%0.0, %1.1))
    })",
             R"(
    def @main(%x {CPU}: Tensor[(3, 3, 4), float32], [GPU]) {
      let %t = at(CPU, split(%x, indices_or_sections=3));
      %0 = %t.0;
      %1 = at(CPU, %0);
      %2 = %t.1;
      %3 = at(CPU, %2);
      subtract(copy(CPU, GPU, %1), copy(CPU, GPU, %3))
    })");
}

// Parameters and results of functions have one device for all calls.
TEST(PlanDevicesTest, Functions) {
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T, %d: T) {
      let %f = fn (%x, %y) { on(CPU, add(%x, %y)) };
      subtract(%f(%a, %b), add(%c, %d))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {CPU}: T, %d {CPU}: T, [CPU]) {
      let %f = fn (%x {CPU}, %y {CPU}, [CPU]) { add(%x, %y) };
      subtract(%f(%a, %b), add(%c, %d))
    })");
  ExpectPlan(R"(
    def @main(%a: T, %b: T, %c: T, %d: T) {
      let %f = fn (%x, %y) { add(%x, %y) };
      subtract(on(CPU, %f(%a, %b)), add(%c, %d))
    })",
             R"(
    def @main(%a {CPU}: T, %b {CPU}: T, %c {GPU}: T, %d {GPU}: T, [GPU]) {
      let %f = fn (%x {CPU}, %y {CPU}, [CPU]) { add(%x, %y) };
      subtract(copy(CPU, GPU, at(CPU, %f(%a, %b))), add(%c, %d))
    })");
  ExpectPlan(R"(
    def @f(%a: T, %b: T) -> T { add(%a, on(CPU, %b)) }
    def @main(%x: T, %y: T) -> T { @f(%y, %x) })",
             R"(
    def @f(%a {GPU}: T, %b {CPU}: T, [GPU]) -> T {
      add(%a, copy(CPU, GPU, %b))
    }
    def @main(%x {CPU}: T, %y {GPU}: T, [GPU]) -> T { @f(%y, %x) })");
}

// What is known of %a reaches %y by way of %f and %h.
TEST(PlanDevicesTest, FunctionsOfFunctions) {
  ExpectPlan(R"(
    def @main(%x: T, %y: T) {
      let %f = fn (%g) { fn (%a) { add(%g(on(CPU, %a)), %x) } };
      let %h = fn (%b) { negative(%b) };
      %0 = %f(%h);
      subtract(%x, %0(%y))
    })",
             R"(
    def @main(%x {GPU}: T, %y {CPU}: T, [GPU]) {
      let %f = fn (%g {GPU}, [GPU]) {
        fn (%a {CPU}, [GPU]) { add(%g(copy(CPU, GPU, %a)), %x) }
      };
      let %h = fn (%b {GPU}, [GPU]) { negative(%b) };
      %0 = %f(%h);
      subtract(%x, %0(%y))
    })");
  ExpectPlan(R"(
    def @main(%x: T, %y: T) {
      let %f = fn (%a: T, %b: T) { add(%a, on(CPU, %b)) };
      let %t = (%f, %x);
      %1 = %t.1;
      %2 = %t.0;
      %2(%1, %y)
    })",
             R"(
    def @main(%x {CPU}: T, %y {CPU}: T, [CPU]) {
      let %f = fn (%a {CPU}: T, %b {CPU}: T, [CPU]) { add(%a, %b) };
      let %t = at(CPU, (%f, %x));
      %1 = %t.1;
      %2 = %t.0;
      %2(%1, %y)
    })");
}

TEST(PlanDevicesTest, Recursion) {
  ExpectPlan(R"(
    def @loop(%x: T, %go: bool) -> T {
      if (%go) { @loop(add(%x, on(CPU, %x)), %go) } else { %x }
    }
    def @main(%x: T, %go: bool) -> T { on(CPU, @loop(%x, %go)) })",
             R"(
    def @loop(%x {CPU}: T, %go {CPU}: bool, [CPU]) -> T {
      if (%go) { @loop(add(%x, %x), %go) } else { %x }
    }
    def @main(%x {CPU}: T, %go {CPU}: bool, [CPU]) -> T { @loop(%x, %go) })");
}

TEST(PlanDevicesTest, Branches) {
  ExpectPlan(R"(
    def @main(%x: bool, %y: T, %z: T) {
      let %f = fn (%a) { add(%a, at(CPU, %y)) };
      let %g = fn (%b) { subtract(%b, %y) };
      let %h = if (%x) { %f } else { %g };
      %h(%z)
    })",
             R"(
    def @main(%x {CPU}: bool, %y {CPU}: T, %z {CPU}: T, [CPU]) {
      let %f = fn (%a {CPU}, [CPU]) { add(%a, %y) };
      let %g = fn (%b {CPU}, [CPU]) { subtract(%b, %y) };
      let %h = at(CPU, if (%x) { %f } else { %g });
      %h(%z)
    })");
}

TEST(PlanDevicesTest, References) {
  ExpectPlan(R"(
    def @main(%x: T, %y: T) {
      let %r = ref(%x);
      let %_ = ref_write(%r, on(CPU, %y));
      add(%x, ref_read(%r))
    })",
             R"(
    def @main(%x {GPU}: T, %y {CPU}: T, [GPU]) {
      let %r = at(GPU, ref(%x));
      let %_ = at(GPU, ref_write(%r, copy(CPU, GPU, %y)));
      add(%x, ref_read(%r))
    })");
}

TEST(PlanDevicesTest, DataTypes) {
  ExpectPlan(R"(
    type List[E] { Cons(E, List[E]), Nil, }
    def @main(%x: T, %y: T) {
      let %l = Cons(%x, Cons(at(CPU, %y), Nil));
      match? (%l) { Cons(%z, _) => %z }
    })",
             R"(
    type List[E] { Cons(E, List[E]), Nil, }
    def @main(%x {CPU}: T, %y {CPU}: T, [CPU]) {
      let %l = at(CPU, Cons(%x, Cons(%y, Nil)));
      match? (%l) { Cons(%z, _) => %z }
    })");
}

TEST(PlanDevicesTest, ShapesAreOnTheHost) {
  ExpectPlan(R"(
    def @main(%x: Tensor[(?, ?), float32]) {
      vm.shape_of(at(GPU, %x), dtype="int64")
    })",
             R"(
    def @main(%x {GPU}: Tensor[(?, ?), float32], [HOST]) {
      vm.shape_of(%x, dtype="int64")
    })");
  ExpectPlan(R"(
    def @main(%x: Tensor[(2, 8), float32], %s: Tensor[(3), int64]) {
      vm.reshape_tensor(%x, %s, newshape=[2, 4, 2])
    })",
             R"(
    def @main(%x {GPU}: Tensor[(2, 8), float32], %s {HOST}: Tensor[(3), int64],
              [GPU]) {
      vm.reshape_tensor(%x, %s, newshape=[2, 4, 2])
    })");
  ExpectPlan(R"(
    def @main(%size: int64, %shape: Tensor[(2), int64]) {
      memory.alloc_storage(%size, %shape, 64i64, virtual_device="cuda")
    })",
             R"(
    def @main(%size {HOST}: int64, %shape {HOST}: Tensor[(2), int64], [GPU]) {
      memory.alloc_storage(%size, %shape, at(HOST, 64i64),
                           virtual_device="cuda")
    })");
}

// A free on_device allows a copy, but asks for none: %a goes to scope b.
TEST(PlanDevicesTest, MemoryScopes) {
  ExpectPlan(R"(
    def @b(%x {B}: T, [B]) -> T { %x }
    def @main(%a {CPU}: T, %b {A}: T, %c {B}: T, [A]) {
      %0 = @b(off(CPU, %a));
      %1 = @b(off(CPU, %b));
      %2 = @b(off(CPU, %c));
      off(CPU, add(add(%0, %1), %2))
    })",
             R"(
    def @b(%x {B}: T, [B]) -> T { %x }
    def @main(%a {B}: T, %b {A}: T, %c {B}: T, [A]) {
      %0 = @b(%a);
      %1 = @b(copy(A, B, %b));
      %2 = @b(%c);
      copy(B, A, at(B, add(add(%0, %1), %2)))
    })");
}

TEST(PlanDevicesTest, PrimitiveFunctionsStay) {
  ExpectPlan(R"(
    def @main(%x: T) {
      %0 = fn (%a: T, Primitive=1) { negative(%a) };
      %1 = fn (%a {A}: T, [A], Primitive=1) { negative(%a) };
      %1(%0(%x))
    })",
             R"(
    def @main(%x {A}: T, [A]) {
      %0 = fn (%a: T, Primitive=1) { negative(%a) };
      %1 = fn (%a {A}: T, [A], Primitive=1) { negative(%a) };
      %1(%0(%x))
    })");
}

// What an operator makes of a function is on one device with its parameters.
TEST(PlanDevicesTest, OperatorsOnFunctions) {
  ExpectPlan(R"(
    def @main(%x: T, %y: T) {
      %0 = fn (%a: T) { %x };
      %1 = annotation.compiler_begin(%0, compiler="default");
      %2 = %1(%y);
      on(GPU, exp(%2))
    })",
             R"(
    def @main(%x {GPU}: T, %y {GPU}: T, [GPU]) {
      %0 = fn (%a {GPU}: T, [GPU]) { %x };
      %1 = annotation.compiler_begin(%0, compiler="default");
      %2 = %1(%y);
      exp(%2)
    })");
}

// Functions that are made of a planned one say where their parameters are.
TEST(PlanDevicesTest, DevicesGoWithTheirParameters) {
  const absl::StatusOr<IRModule> planned = Planned(ParseTyped(Expanded(R"(
    def @main(%a: T, %b: T, %c: T) {
      let %d = on(CPU, negative(%a));
      let %f = fn (%x: T) { subtract(on(CPU, add(add(%a, %d), %x)), %b) };
      %f(%c)
    })")));
  ASSERT_TRUE(planned.ok()) << planned.status();
  const Function main = planned->Find<Function>("main");
  const absl::Span<const AttrValue> devices = ParamDevices(*main);
  ASSERT_EQ(devices.size(), 3);
  EXPECT_NE(devices[0], devices[1]);

  absl::flat_hash_map<const VarNode*, Expr> values;
  values[main->params()[0].get()] =
      Constant(*Tensor::Zeros(DType::Float(32), {5, 7}));
  const Function bound = Bind(main, values);
  EXPECT_EQ(ParamDevices(*bound), devices.subspan(1));

  const absl::StatusOr<IRModule> lifted = LambdaLift()(*planned);
  ASSERT_TRUE(lifted.ok()) << lifted.status();
  EXPECT_EQ(lifted->size(), 2);
  for (const auto& [var, function] : lifted->functions<Function>()) {
    EXPECT_EQ(ParamDevices(*function).size(), function->params().size());
    EXPECT_NE(function->attrs().Find(kVirtualDevice), nullptr);
    if (var->name() == "main") continue;
    // It captures %a, %d and %b.
    const absl::Span<const AttrValue> captured = ParamDevices(*function);
    ASSERT_EQ(captured.size(), 3);
    EXPECT_EQ(captured[0], devices[0]);
    EXPECT_EQ(captured[1], devices[0]);
    EXPECT_EQ(captured[2], devices[1]);
  }
  // What they say is the plan: only what the closure's call makes, a function,
  // gets an annotation.
  const absl::StatusOr<IRModule> again = PlanDevices()(*lifted);
  ASSERT_TRUE(again.ok()) << again.status();
  for (const auto& [var, function] : lifted->functions<Function>()) {
    if (var->name() == "main") continue;
    EXPECT_TRUE(StructuralEqual(again->Find(var->name()), function))
        << ToText(*again);
  }
}

// A list of devices of which none is known is no list: text says nothing
// either.
TEST(PlanDevicesTest, WhatIsCapturedFromNowhere) {
  const absl::StatusOr<IRModule> lifted = LambdaLift()(ParseTyped(
      Expanded("def @main(%x: T) { fn (%y {CPU}: T, [CPU]) { %x } }")));
  ASSERT_TRUE(lifted.ok()) << lifted.status();
  ASSERT_EQ(lifted->size(), 2);
  for (const auto& [var, function] : lifted->functions<Function>()) {
    EXPECT_EQ(function->attrs().Find(kParamVirtualDevices), nullptr);
    EXPECT_EQ(function->attrs().Find(kVirtualDevice) != nullptr,
              var->name() != "main");
  }
}

TEST(PlanDevicesTest, Errors) {
  const auto plan = [](absl::string_view text) {
    return Planned(ParseTyped(Expanded(text))).status();
  };
  EXPECT_THAT(plan("def @main(%x {CPU}: T, %y {GPU}: T) { add(%x, %y) }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "wants two devices to be one"));
  EXPECT_THAT(
      plan("def @main(%x: T) { exp(on_device(%x, virtual_device=\"tpu\")) }"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "`tpu` is not the name of a device"));
  EXPECT_THAT(
      plan("def @main(%x: T) { exp(on_device(%x, virtual_device=\"metal\")) }"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "there is no target for devices of type 8"));
  EXPECT_THAT(PlanDevices({.targets = {"tpu"}})
                  .Run(ParseTyped("def @main(%x: int32) { %x }")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unknown kind of target `tpu`"));
}

// That some programs have no plan breaks no law: the pass has a waiver.
TEST(PlanDevicesTest, MayRefuse) {
  const Pass pass = PlanDevices({.targets = Targets()});
  const IRModule module = ParseTyped(
      Expanded("def @main(%x {CPU}: T, %y {GPU}: T) { add(%x, %y) }"));
  EXPECT_FALSE(pass(module).ok());
  EXPECT_THAT(testing::CheckPassLaws(pass, module), testing::IsOk());
}

}  // namespace
}  // namespace baton::relay
