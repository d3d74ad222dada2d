#include "baton/tir/arith/rewrite_rules.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/arith/rule.h"

namespace baton::tir {
namespace {

constexpr absl::string_view kTexts[] = {
    // kAddVector
    R"(
ramp(b1, s1, lanes) + ramp(b2, s2, lanes) -> ramp(b1 + b2, s1 + s2, lanes)
ramp(b1, s1, lanes) + broadcast(x, lanes) -> ramp(b1 + x, s1, lanes)
broadcast(x, lanes) + ramp(b1, s1, lanes) -> ramp(x + b1, s1, lanes)
broadcast(x, lanes) + broadcast(y, lanes) -> broadcast(x + y, lanes)
x + broadcast(f1, lanes) -> x if f1 == 0
)",
    // kAddIndex
    R"(
x - y + y -> x
x + (y - x) -> y
x - y + (y - z) -> x - z
x - y + (z - x) -> z - y
min(x, y - z) + z -> min(x + z, y)
min(x - z, y) + z -> min(x, y + z)
max(x, y - z) + z -> max(x + z, y)
max(x - z, y) + z -> max(x, y + z)
min(x, y + z * c1) + z * c2 -> min(x + z * c2, y) if c1 == -c2
max(x, y + z * c1) + z * c2 -> max(x + z * c2, y) if c1 == -c2
min(y + z * c1, x) + z * c2 -> min(x + z * c2, y) if c1 == -c2
max(y + z * c1, x) + z * c2 -> max(x + z * c2, y) if c1 == -c2
max(x, y) + min(x, y) -> x + y
min(x, y) + max(x, y) -> x + y
max(x, y) + min(y, x) -> x + y
min(x, y) + max(y, x) -> x + y
min(x, y + c1) + c2 -> min(x + c2, y) if c1 == -c2
min(x + c1, y) + c2 -> min(x, y + c2) if c1 == -c2
max(x, y + c1) + c2 -> max(x + c2, y) if c1 == -c2
max(x + c1, y) + c2 -> max(x, y + c2) if c1 == -c2
x + c1 + c2 -> x + (c1 + c2)
x + x -> x * 2
x * y + x -> x * (y + 1)
y * x + x -> x * (y + 1)
x + y * x -> x * (y + 1)
x + x * y -> x * (y + 1)
x * y + x * z -> x * (y + z)
y * x + x * z -> x * (y + z)
x * y + z * x -> x * (y + z)
y * x + z * x -> x * (y + z)
div(x, c1) * c1 + mod(x, c1) -> x
x // y * y + x % y -> x
y * (x // y) + x % y -> x
x % y + x // y * y -> x
x % y + y * (x // y) -> x
(x % c2 + c1) // c2 + x // c2 -> (x + c1) // c2 if c2 > 0
x // 2 + x % 2 => (x + 1) // 2
(x + c1) % 2 + x % 2 -> 1 if c1 % 2 == 1
x % 2 + (x + c1) % 2 -> 1 if c1 % 2 == 1
x + (c1 - y) => x - y + c1
c1 - y + x => x - y + c1
x + c1 + y => x + y + c1
x + (c1 + y) => x + y + c1
x + (y + c1) => x + y + c1
x + max(y, z) => max(y, z) + x
x + min(y, z) => min(y, z) + x
mod(y, c1) + x * c1 => x * c1 + mod(y, c1)
y % c1 + x * c1 => x * c1 + y % c1
)",
    // kAddAny
    R"(
select(x, b1, b2) + select(x, s1, s2) -> select(x, b1 + s1, b2 + s2)
)",
    // kSubVector
    R"(
ramp(b1, s1, lanes) - ramp(b2, s2, lanes) -> ramp(b1 - b2, s1 - s2, lanes)
ramp(b1, s1, lanes) - broadcast(x, lanes) -> ramp(b1 - x, s1, lanes)
broadcast(x, lanes) - ramp(b1, s1, lanes) -> ramp(x - b1, 0 - s1, lanes)
broadcast(x, lanes) - broadcast(y, lanes) -> broadcast(x - y, lanes)
)",
    // kSubIndex
    R"(
x + y - y -> x
y + x - y -> x
x - (y + x) -> 0 - y
x - (x + y) -> 0 - y
min(x, y) - y -> min(x - y, 0)
x - max(y, x) -> min(x - y, 0)
x - max(x, y) -> min(0, x - y)
min(y, x) - y -> min(0, x - y)
max(x, y) - y -> max(x - y, 0)
x - min(y, x) -> max(x - y, 0)
x - min(x, y) -> max(0, x - y)
max(y, x) - y -> max(0, x - y)
x - x -> 0
x * y - x -> x * (y - 1)
y * x - x -> x * (y - 1)
x - y * x -> x * (1 - y)
x - x * y -> x * (1 - y)
x * y - x * z -> x * (y - z)
y * x - x * z -> x * (y - z)
x * y - z * x -> x * (y - z)
y * x - z * x -> x * (y - z)
x + c1 - c2 -> x + (c1 - c2)
c1 - x - (c2 - y) -> y - x + (c1 - c2)
x + y - (x + z) -> y - z
x + y - (z + x) -> y - z
y + x - (z + x) -> y - z
y + x - (x + z) -> y - z
min(x + y, z) - x -> min(y, z - x)
min(y + x, z) - x -> min(y, z - x)
min(z, x + y) - x -> min(z - x, y)
min(z, y + x) - x -> min(z - x, y)
max(x + y, z) - x -> max(y, z - x)
max(y + x, z) - x -> max(y, z - x)
max(z, x + y) - x -> max(z - x, y)
max(z, y + x) - x -> max(z - x, y)
x - min(x + y, z) -> max(0 - y, x - z)
x - min(y + x, z) -> max(0 - y, x - z)
x - min(z, x + y) -> max(x - z, 0 - y)
x - min(z, y + x) -> max(x - z, 0 - y)
x - max(x + y, z) -> min(0 - y, x - z)
x - max(y + x, z) -> min(0 - y, x - z)
x - max(z, x + y) -> min(x - z, 0 - y)
x - max(z, y + x) -> min(x - z, 0 - y)
min(x, y) - min(y, x) -> 0
max(x, y) - max(y, x) -> 0
min(b1, b2) - min(s1, s2) -> b1 - s1 if zero(b1 - s1 - (b2 - s2))
min(b1, b2) - min(s2, s1) -> b1 - s1 if zero(b1 - s1 - (b2 - s2))
max(b1, b2) - max(s1, s2) -> b1 - s1 if zero(b1 - s1 - (b2 - s2))
max(b1, b2) - max(s2, s1) -> b1 - s1 if zero(b1 - s1 - (b2 - s2))
x - div(x, c1) * c1 -> mod(x, c1) if c1 != 0
div(x, c1) * c1 - x -> 0 - mod(x, c1) if c1 != 0
x - div(x + y, c1) * c1 -> mod(x + y, c1) - y if c1 != 0
div(x + y, c1) * c1 - x -> y - mod(x + y, c1) if c1 != 0
x - div(x - y, c1) * c1 -> mod(x - y, c1) + y if c1 != 0
div(x - y, c1) * c1 - x -> 0 - mod(x - y, c1) - y if c1 != 0
x * c2 - div(x, c1) * c3 -> mod(x, c1) * c2 if c1 != 0 && c3 == c1 * c2
div(x, c1) * c3 - x * c2 -> 0 - mod(x, c1) * c2 if c1 != 0 && c3 == c1 * c2
x * c2 - div(x + y, c1) * c3 -> (mod(x + y, c1) - y) * c2 if c1 != 0 && c3 == c1 * c2
div(x + y, c1) * c3 - x * c2 -> (y - mod(x + y, c1)) * c2 if c1 != 0 && c3 == c1 * c2
x * c2 - div(x - y, c1) * c3 -> (mod(x - y, c1) + y) * c2 if c1 != 0 && c3 == c1 * c2
div(x - y, c1) * c3 - x * c2 -> (0 - mod(x - y, c1) - y) * c2 if c1 != 0 && c3 == c1 * c2
div(x + c1, c3) - div(x + c2, c3) -> div(mod(x + c2 % c3, c3) + (c1 - c2), c3) if ge(x, -c2) && ge(x, 0 - c2 % c3) && c1 >= c2 && c3 > 0
div(x + c1, c3) - div(x, c3) -> div(mod(x, c3) + c1, c3) if ge(x, 0) && c1 >= 0 && c3 > 0
x - x // c1 * c1 -> x % c1 if c1 != 0
x // c1 * c1 - x -> 0 - x % c1 if c1 != 0
x - (x + y) // c1 * c1 -> (x + y) % c1 - y if c1 != 0
(x + y) // c1 * c1 - x -> y - (x + y) % c1 if c1 != 0
x - (x - y) // c1 * c1 -> (x - y) % c1 + y if c1 != 0
(x - y) // c1 * c1 - x -> 0 - (x - y) % c1 - y if c1 != 0
(x + c1) // 2 - (x + c2) // 2 => x % 2 * (c1 % 2 - c2 % 2) + (c1 // 2 - c2 // 2)
x // 2 - (x + c2) // 2 => x % 2 * (0 - c2 % 2) - c2 // 2
(x + c1) // 2 - x // 2 => x % 2 * (c1 % 2) + c1 // 2
x * c2 - x // c1 * c3 -> x % c1 * c2 if c1 != 0 && c3 == c1 * c2
x // c1 * c3 - x * c2 -> 0 - x % c1 * c2 if c1 != 0 && c3 == c1 * c2
x * c2 - (x + y) // c1 * c3 -> ((x + y) % c1 - y) * c2 if c1 != 0 && c3 == c1 * c2
(x + y) // c1 * c3 - x * c2 -> (y - (x + y) % c1) * c2 if c1 != 0 && c3 == c1 * c2
x * c2 - (x - y) // c1 * c3 -> ((x - y) % c1 + y) * c2 if c1 != 0 && c3 == c1 * c2
(x - y) // c1 * c3 - x * c2 -> (0 - (x - y) % c1 - y) * c2 if c1 != 0 && c3 == c1 * c2
(x + 1) // 2 - x % 2 => x // 2
(x + c1) // c3 - (x + c2) // c3 -> ((x + c2 % c3) % c3 + (c1 - c2)) // c3 if c3 > 0
(x + c1) // c3 - x // c3 -> (x % c3 + c1) // c3 if c3 > 0
x - c1 -> x + (0 - c1)
x + c1 - y => x - y + c1
x - (y + c1) => x - y + (0 - c1)
x - (y - z) => x + z - y
x - y * c1 => x + y * (0 - c1)
)",
    // kSubFloat
    R"(
x - x -> 0 if reads(x)
x + y - y -> x if reads(y)
x + y - x -> y if reads(x)
x - (y + x) -> 0 - y if reads(x)
x - (x + y) -> 0 - y if reads(x)
)",
    // kSubAny
    R"(
select(x, b1, b2) - select(x, s1, s2) -> select(x, b1 - s1, b2 - s2)
select(x, y, z) - z -> select(x, y - z, 0)
select(x, y, z) - y -> select(x, 0, z - y)
)",
    // kMulVector
    R"(
broadcast(x, lanes) * broadcast(y, lanes) -> broadcast(x * y, lanes)
ramp(b1, s1, lanes) * broadcast(x, lanes) -> ramp(b1 * x, s1 * x, lanes)
broadcast(x, lanes) * ramp(b1, s1, lanes) -> ramp(b1 * x, s1 * x, lanes)
broadcast(f1, lanes) * x -> broadcast(f1, lanes) if f1 == 0
)",
    // kMulIndex
    R"(
(x + c1) * c2 -> x * c2 + c1 * c2
x * c1 * c2 -> x * (c1 * c2)
min(x, y) * max(x, y) -> x * y
max(x, y) * min(x, y) -> x * y
(x - x % c2) // c1 * c1 -> x - x % c2 if c1 == -c2
x * (c1 * y) => x * y * c1
c1 * x => x * c1
(x - y) * c1 => (y - x) * (0 - c1) if c1 < 0
)",
    // kDivVector
    R"(
div(broadcast(x, lanes), broadcast(y, lanes)) -> broadcast(div(x, y), lanes)
)",
    // kDivIndex
    R"(
div(div(x, c1), c2) -> div(x, c1 * c2) if c1 > 0 && c2 > 0
div(div(x, c1) + c2, c3) -> div(x + c1 * c2, c1 * c3) if c1 > 0 && c2 >= 0 && c3 > 0 && ge(x, 0)
div(x * c1, c2) -> x * div(c1, c2) if c1 > 0 && c2 > 0 && c1 % c2 == 0
div(x * c1, c2) -> div(x, div(c2, c1)) if c1 > 0 && c2 > 0 && c2 % c1 == 0
div(x, x) -> 1
div(x * c1, x) -> c1
div(c1 * x, x) -> c1
div(x * c1 + y, c2) -> x * div(c1, c2) + div(y, c2) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(min(x * c1, y), c2) -> min(x * div(c1, c2), div(y, c2)) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(max(x * c1, y), c2) -> max(x * div(c1, c2), div(y, c2)) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(y + x * c1, c2) -> div(y, c2) + x * div(c1, c2) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(min(y, x * c1), c2) -> min(div(y, c2), x * div(c1, c2)) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(max(y, x * c1), c2) -> max(div(y, c2), x * div(c1, c2)) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y, 0)
div(x * c1 + y + z, c2) -> x * div(c1, c2) + div(y + z, c2) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y + z, 0)
div(x * c1 - y + z, c2) -> x * div(c1, c2) + div(z - y, c2) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(z - y, 0)
div(x * c1 + y - z, c2) -> x * div(c1, c2) + div(y - z, c2) if c1 >= 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y - z, 0)
div(y + x * c1 + z, c2) -> x * div(c1, c2) + div(y + z, c2) if c1 > 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y + z, 0)
div(x + c1, c2) -> div(x, c2) + div(c1, c2) if c1 > 0 && c2 > 0 && c1 % c2 == 0 && ge(x, 0)
div(x + y, x) -> div(y, x) + 1 if ge(x, 0) && ge(y, 0)
div(y + x, x) -> div(y, x) + 1 if ge(x, 0) && ge(y, 0)
div(x + y + z, x) -> div(y + z, x) + 1 if ge(x, 0) && ge(y + z, 0)
div(y + x + z, x) -> div(y + z, x) + 1 if ge(x, 0) && ge(y + z, 0)
div(y + (z + x), x) -> div(y + z, x) + 1 if ge(x, 0) && ge(y + z, 0)
div(y + (x + z), x) -> div(y + z, x) + 1 if ge(x, 0) && ge(y + z, 0)
div(x * y, y) -> x if ge(x, 0) && ge(y, 0)
div(y * x, y) -> x if ge(x, 0) && ge(y, 0)
div(x * z + y, z) -> x + div(y, z) if ge(x, 0) && ge(y, 0) && ge(z, 0)
div(z * x + y, z) -> x + div(y, z) if ge(x, 0) && ge(y, 0) && ge(z, 0)
div(y + x * z, z) -> div(y, z) + x if ge(x, 0) && ge(y, 0) && ge(z, 0)
div(y + z * x, z) -> div(y, z) + x if ge(x, 0) && ge(y, 0) && ge(z, 0)
)",
    // kModVector
    R"(
mod(broadcast(x, lanes), broadcast(y, lanes)) -> broadcast(mod(x, y), lanes)
)",
    // kModIndex
    R"(
mod(x * c1, c2) -> 0 if c2 != 0 && c1 % c2 == 0
mod(x * c1 + y, c2) -> mod(y, c2) if c2 > 0 && c1 % c2 == 0 && ge(x * c1, 0) && ge(y, 0)
mod(x + c1, c2) -> mod(x, c2) if c2 > 0 && c1 >= 0 && c1 % c2 == 0 && ge(x, 0)
mod(x + y * c1, c2) -> mod(x, c2) if c2 > 0 && c1 % c2 == 0 && ge(x, 0) && ge(y * c1, 0)
mod(x, c1) => mod(x, 0 - c1) if c1 < 0
)",
    // kFloorDivVector
    R"(
broadcast(x, lanes) // broadcast(y, lanes) -> broadcast(x // y, lanes)
)",
    // kFloorDivNested
    R"(
x // c1 // c2 -> x // (c1 * c2) if c1 > 0 && c2 > 0
(x // c1 + c2) // c3 -> (x + c1 * c2) // (c1 * c3) if c1 > 0 && c3 > 0
)",
    // kFloorDivIndex
    R"(
x // x -> 1
x * c1 // x -> c1
c1 * x // x -> c1
(x % 2 + 1) // 2 -> x % 2
min(x * c1, y) // c2 -> min(x * (c1 // c2), y // c2) if c2 > 0 && c1 % c2 == 0
max(x * c1, y) // c2 -> max(x * (c1 // c2), y // c2) if c2 > 0 && c1 % c2 == 0
min(y, x * c1) // c2 -> min(y // c2, x * (c1 // c2)) if c2 > 0 && c1 % c2 == 0
max(y, x * c1) // c2 -> max(y // c2, x * (c1 // c2)) if c2 > 0 && c1 % c2 == 0
(x * c1 + y + z) // c2 -> x * (c1 // c2) + (y + z) // c2 if c2 > 0 && c1 % c2 == 0
(x * c1 + y + z) // c2 -> x // (c2 // c1) if c1 > 0 && c2 > 0 && c2 % c1 == 0 && zero((y + z) // c1)
(x * c1 - y + z) // c2 -> x * (c1 // c2) + (z - y) // c2 if c2 > 0 && c1 % c2 == 0
(x * c1 + z - y) // c2 -> x * (c1 // c2) + (z - y) // c2 if c2 > 0 && c1 % c2 == 0
(y + x * c1 + z) // c2 -> x * (c1 // c2) + (y + z) // c2 if c2 > 0 && c1 % c2 == 0
(x + c1) // c2 -> x // c2 + c1 // c2 if c2 > 0 && c1 % c2 == 0
x * c1 // (x * c2) -> c1 // c2 if c2 > 0
(x + y) // x -> y // x + 1 if ge(x, 0)
(y + x) // x -> y // x + 1 if ge(x, 0)
(x + y + z) // x -> (y + z) // x + 1 if ge(x, 0)
(y + x + z) // x -> (y + z) // x + 1 if ge(x, 0)
(y + (z + x)) // x -> (y + z) // x + 1 if ge(x, 0)
(y + (x + z)) // x -> (y + z) // x + 1 if ge(x, 0)
x * y // y -> x if ge(y, 0)
y * x // y -> x if ge(y, 0)
(x * z + y) // z -> x + y // z if ge(z, 0)
(z * x + y) // z -> x + y // z if ge(z, 0)
(y + x * z) // z -> y // z + x if ge(z, 0)
(y + z * x) // z -> y // z + x if ge(z, 0)
(x - x % c1) // c1 -> x // c1 if c1 != 0
)",
    // kFloorModVector
    R"(
broadcast(x, lanes) % broadcast(y, lanes) -> broadcast(x % y, lanes)
)",
    // kFloorModIndex
    R"(
x * c1 % c2 -> x * (c1 % c2) % c2 if c2 != 0
(x * c1 + y) % c2 -> x % (c2 // c1) * c1 + y if c1 > 0 && c2 > 0 && c2 % c1 == 0 && zero(y // c1)
(x * c1 + y) % c2 -> (x * (c1 % c2) + y) % c2 if c2 > 0
(x + c1) % c2 -> (x + c1 % c2) % c2 if c2 > 0 && (c1 >= c2 || c1 < 0)
(x + y * c1) % c2 -> (x + y * (c1 % c2)) % c2 if c2 > 0
x * c1 % (x * c2) -> x * (c1 % c2) if c2 != 0
x * y % y -> 0
y * x % y -> 0
(x + z % y) % y -> 0 if zero((x + z) % y)
(z % y + x) % y -> 0 if zero((x + z) % y)
(x - x % z) % y -> 0 if zero(y - z) || zero(y + z)
(x % z - x) % y -> 0 if zero(y - z) || zero(y + z)
)",
    // kMinVector
    R"(
min(broadcast(x, lanes), broadcast(y, lanes)) -> broadcast(min(x, y), lanes)
min(min(x, broadcast(y, lanes)), broadcast(z, lanes)) -> min(x, broadcast(min(y, z), lanes))
)",
    // kMinIndex
    R"(
min(x + c1, x + c2) -> x + c1 if c1 < c2
min(x + c1, x + c2) -> x + c2 if c1 >= c2
min(x + c1, x) -> x + c1 if c1 < 0
min(x + c1, x) -> x if c1 >= 0
min(x, x + c1) -> x + c1 if c1 < 0
min(x, x + c1) -> x if c1 >= 0
min(c1 - x, c2 - x) -> c1 - x if c1 < c2
min(c1 - x, c2 - x) -> c2 - x if c1 >= c2
min(div(x + c1, c2) * c2, x) -> x if c2 > 0 && c1 + 1 == c2
min(x, div(x + c1, c2) * c2) -> x if c2 > 0 && c1 + 1 == c2
min((x + c1) // c2 * c2, x) -> x if c2 > 0 && c1 + 1 == c2
min(x, (x + c1) // c2 * c2) -> x if c2 > 0 && c1 + 1 == c2
min(div(x + c1, c2) * c2, max(x, c2)) -> max(x, c2) if c2 > 0 && c1 + 1 == c2 && ge(x, 1)
min(max(x, c2), div(x + c1, c2) * c2) -> max(x, c2) if c2 > 0 && c1 + 1 == c2 && ge(x, 1)
min((x + c1) // c2 * c2, max(x, c2)) -> max(x, c2) if c2 > 0 && c1 + 1 == c2 && ge(x, 1)
min(max(x, c2), (x + c1) // c2 * c2) -> max(x, c2) if c2 > 0 && c1 + 1 == c2 && ge(x, 1)
min(x, x // c2 * c2) -> x // c2 * c2 if c2 > 0
min(x // c2 * c2, x) -> x // c2 * c2 if c2 > 0
min(max(x, y), min(x, y)) -> min(x, y)
min(max(x, y), min(y, x)) -> min(x, y)
min(min(x, y), max(x, y)) -> min(x, y)
min(min(x, y), max(y, x)) -> min(x, y)
min(min(x, y), x) -> min(x, y)
min(min(x, y), y) -> min(x, y)
min(x, min(x, y)) -> min(x, y)
min(y, min(x, y)) -> min(x, y)
min(max(x, y), x) -> x
min(max(y, x), x) -> x
min(x, max(x, y)) -> x
min(x, max(y, x)) -> x
min(min(min(x, y), z), y) -> min(min(x, y), z)
min(min(min(min(x, y), z), s1), y) -> min(min(min(x, y), z), s1)
min(min(min(min(min(x, y), z), s1), s2), y) -> min(min(min(min(x, y), z), s1), s2)
min(max(x, y), max(x, z)) -> max(min(y, z), x)
min(max(x, y), max(z, x)) -> max(min(y, z), x)
min(max(y, x), max(x, z)) -> max(min(y, z), x)
min(max(y, x), max(z, x)) -> max(min(y, z), x)
min(min(x, y), min(x, z)) -> min(min(y, z), x)
min(min(x, y), min(z, x)) -> min(min(y, z), x)
min(min(y, x), min(x, z)) -> min(min(y, z), x)
min(min(y, x), min(z, x)) -> min(min(y, z), x)
min(y + x, z + x) -> min(y, z) + x
min(y + x, x + z) -> min(y, z) + x
min(x + y, x + z) -> min(y, z) + x
min(x + y, z + x) -> min(y, z) + x
min(y - x, z - x) -> min(y, z) - x
min(x - y, x - z) -> x - max(y, z)
min(min(x, c1), c2) -> min(x, min(c1, c2))
min(div(x, c1), div(y, c1)) -> div(min(x, y), c1) if c1 > 0
min(div(x, c1), div(y, c1)) -> div(max(x, y), c1) if c1 < 0
min(x // c1, y // c1) -> min(x, y) // c1 if c1 > 0
min(x // c1, y // c1) -> max(x, y) // c1 if c1 < 0
min(x * c1, y * c1) -> min(x, y) * c1 if c1 > 0
min(x * c1, y * c1) -> max(x, y) * c1 if c1 <= 0
min(x * c1, c2) -> min(x, c2 // c1) * c1 if c1 > 0 && c2 % c1 == 0
min(x * c1, c2) -> max(x, c2 // c1) * c1 if c1 < 0 && c2 % c1 == 0
min(min(x, c1), y) => min(min(x, y), c1)
min(c1 - x, c2) => c1 - max(x, c1 - c2) if c2 != 0
)",
    // kMinAny
    R"(
min(select(x, y, z), select(x, s1, s2)) -> select(x, min(y, s1), min(z, s2))
)",
    // kMaxVector
    R"(
max(broadcast(x, lanes), broadcast(y, lanes)) -> broadcast(max(x, y), lanes)
max(max(x, broadcast(y, lanes)), broadcast(z, lanes)) -> max(x, broadcast(max(y, z), lanes))
)",
    // kMaxIndex
    R"(
max(x + c1, x + c2) -> x + c1 if c1 > c2
max(x + c1, x + c2) -> x + c2 if c1 <= c2
max(x + c1, x) -> x + c1 if c1 > 0
max(x + c1, x) -> x if c1 <= 0
max(x, x + c1) -> x + c1 if c1 > 0
max(x, x + c1) -> x if c1 <= 0
max(c1 - x, c2 - x) -> c1 - x if c1 > c2
max(c1 - x, c2 - x) -> c2 - x if c1 <= c2
max(div(x + c1, c2) * c2, x) -> div(x + c1, c2) * c2 if c2 > 0 && c1 + 1 == c2
max(x, div(x + c1, c2) * c2) -> div(x + c1, c2) * c2 if c2 > 0 && c1 + 1 == c2
max((x + c1) // c2 * c2, x) -> (x + c1) // c2 * c2 if c2 > 0 && c1 + 1 == c2
max(x, (x + c1) // c2 * c2) -> (x + c1) // c2 * c2 if c2 > 0 && c1 + 1 == c2
max(x // c2 * c2, x) -> x if c2 > 0
max(x, x // c2 * c2) -> x if c2 > 0
max(min(x, y), x) -> x
max(min(y, x), x) -> x
max(x, min(x, y)) -> x
max(x, min(y, x)) -> x
max(min(x, y), max(x, y)) -> max(x, y)
max(min(x, y), max(y, x)) -> max(x, y)
max(max(x, y), min(x, y)) -> max(x, y)
max(max(x, y), min(y, x)) -> max(x, y)
max(max(x, y), x) -> max(x, y)
max(max(x, y), y) -> max(x, y)
max(x, max(x, y)) -> max(x, y)
max(y, max(x, y)) -> max(x, y)
max(max(max(x, y), z), y) -> max(max(x, y), z)
max(max(max(max(x, y), z), s1), y) -> max(max(max(x, y), z), s1)
max(max(max(max(max(x, y), z), s1), s2), y) -> max(max(max(max(x, y), z), s1), s2)
max(max(x, y), max(x, z)) -> max(max(y, z), x)
max(max(x, y), max(z, x)) -> max(max(y, z), x)
max(max(y, x), max(x, z)) -> max(max(y, z), x)
max(max(y, x), max(z, x)) -> max(max(y, z), x)
max(min(x, y), min(x, z)) -> min(max(y, z), x)
max(min(x, y), min(z, x)) -> min(max(y, z), x)
max(min(y, x), min(x, z)) -> min(max(y, z), x)
max(min(y, x), min(z, x)) -> min(max(y, z), x)
max(y + x, z + x) -> max(y, z) + x
max(y + x, x + z) -> max(y, z) + x
max(x + y, x + z) -> max(y, z) + x
max(x + y, z + x) -> max(y, z) + x
max(y - x, z - x) -> max(y, z) - x
max(x - y, x - z) -> x - min(y, z)
max(max(x, c1), c2) -> max(x, max(c1, c2))
max(div(x, c1), div(y, c1)) -> div(max(x, y), c1) if c1 > 0
max(div(x, c1), div(y, c1)) -> div(min(x, y), c1) if c1 < 0
max(x // c1, y // c1) -> max(x, y) // c1 if c1 > 0
max(x // c1, y // c1) -> min(x, y) // c1 if c1 < 0
max(x * c1, y * c1) -> max(x, y) * c1 if c1 > 0
max(x * c1, y * c1) -> min(x, y) * c1 if c1 <= 0
max(x * c1, c2) -> max(x, c2 // c1) * c1 if c1 > 0 && c2 % c1 == 0
max(x * c1, c2) -> min(x, c2 // c1) * c1 if c1 < 0 && c2 % c1 == 0
max(max(x, c1), y) => max(max(x, y), c1)
max(c1 - x, c2) => c1 - min(x, c1 - c2) if c2 != 0
)",
    // kMaxAny
    R"(
max(select(x, y, z), select(x, s1, s2)) -> select(x, max(y, s1), max(z, s2))
)",
    // kEqVector
    R"(
broadcast(x, lanes) == broadcast(y, lanes) -> broadcast(x == y, lanes)
)",
    // kEqIndex
    R"(
c1 == x -> x == c1
x - c1 == c2 -> x == c2 + c1
c1 - x == c2 -> x == c1 - c2
x + c1 == c2 -> x == c2 - c1
x * y == 0 => x == 0 || y == 0
)",
    // kLtVector
    R"(
broadcast(x, lanes) < broadcast(y, lanes) -> broadcast(x < y, lanes)
ramp(x, s1, lanes) < ramp(y, s1, lanes) -> broadcast(x < y, lanes)
)",
    // kLtIndex
    R"(
x + y < x + z -> y < z
x + y < z + x -> y < z
y + x < x + z -> y < z
y + x < z + x -> y < z
y - x < z - x -> y < z
x - y < x - z -> z < y
x < x + z -> 0 < z
x < z + x -> 0 < z
x < x - z -> z < 0
x * c1 < y * c1 -> x < y if c1 > 0
x * c1 < y * c1 -> y < x if c1 < 0
x * c2 < c1 -> x < div(c1 - 1, c2) + 1 if c1 > 0 && c2 > 0
x * c2 < c1 -> x < div(c1, c2) if c1 <= 0 && c2 > 0
x * c2 < c1 -> div(c1 - 1, c2) - 1 < x if c1 > 0 && c2 < 0
x * c2 < c1 -> div(c1, c2) < x if c1 <= 0 && c2 < 0
c1 < x * c2 -> div(c1 + 1, c2) - 1 < x if c1 < 0 && c2 > 0
c1 < x * c2 -> div(c1, c2) < x if c1 >= 0 && c2 > 0
c1 < x * c2 -> x < div(c1 + 1, c2) + 1 if c1 < 0 && c2 < 0
c1 < x * c2 -> x < div(c1, c2) if c1 >= 0 && c2 < 0
div(x, c1) < c2 -> x < c1 * c2 if c1 > 0 && c2 > 0
div(x, c1) < c2 -> x < c1 * (c2 - 1) + 1 if c1 > 0 && c2 <= 0
c1 < div(x, c2) -> (c1 + 1) * c2 - 1 < x if c1 >= 0 && c2 > 0
c1 < div(x, c2) -> c1 * c2 < x if c1 < 0 && c2 > 0
div(x, c1) * c1 < x -> 0 < mod(x, c1) if c1 > 0
div(x, c1) * c1 < x + y -> 0 < mod(x, c1) + y if c1 > 0
div(x, c1) * c1 < x - y -> y < mod(x, c1) if c1 > 0
div(x + c2, c1) * c1 < x -> c2 < mod(x + c2, c1) if c1 > 0
div(x + c2, c1) * c1 < x + y -> c2 < mod(x + c2, c1) + y if c1 > 0
div(x + c2, c1) * c1 < x - y -> y < mod(x + c2, c1) + (0 - c2) if c1 > 0
x // c1 < c2 -> x < c1 * c2 if c1 > 0
c1 < x // c2 -> (c1 + 1) * c2 - 1 < x if c2 > 0
x // c1 * c1 < x -> 0 < x % c1 if c1 > 0
x // c1 * c1 < x + y -> 0 < x % c1 + y if c1 > 0
x // c1 * c1 < x - y -> y < x % c1 if c1 > 0
(x + c2) // c1 * c1 < x -> c2 < (x + c2) % c1 if c1 > 0
(x + c2) // c1 * c1 < x + y -> c2 < (x + c2) % c1 + y if c1 > 0
(x + c2) // c1 * c1 < x - y -> y < (x + c2) % c1 + (0 - c2) if c1 > 0
min(x, y) < z => x < z || y < z
max(x, y) < z => x < z && y < z
z < min(x, y) => z < x && z < y
z < max(x, y) => z < x || z < y
c1 < x + c2 => c1 - c2 < x
c1 - x < c2 => c1 - c2 < x
c1 < c2 - x => x < c2 - c1
x + c1 < c2 => x < c2 - c1
c1 < x - c2 => c1 + c2 < x
x - c2 < c1 => x < c1 + c2
x < c1 - y => x + y < c1
c1 - y < x => c1 < x + y
x < c1 + y => x - y < c1
c1 + y < x => c1 < x - y
)",
    // kNotVector
    R"(
!broadcast(x, lanes) -> broadcast(!x, lanes)
)",
    // kNotAny
    R"(
!!x -> x
!(x <= y) -> y < x if ordered(x)
!(x >= y) -> x < y if ordered(x)
!(x < y) -> y <= x if ordered(x)
!(x > y) -> x <= y if ordered(x)
!(x == y) -> x != y
!(x != y) -> x == y
!(x || y) => !x && !y
!(x && y) => !x || !y
)",
    // kAndVector
    R"(
broadcast(x, lanes) && broadcast(y, lanes) -> broadcast(x && y, lanes)
)",
    // kAndAny
    R"(
x == y && x != y -> false
x != y && x == y -> false
x && !x -> false
x <= y && y < x -> false
y < x && x <= y -> false
x < c1 && c2 < x -> false if c2 + 1 >= c1
c2 < x && x < c1 -> false if c2 + 1 >= c1
x < c1 && c2 <= x -> false if c2 >= c1
c2 <= x && x < c1 -> false if c2 >= c1
x <= c1 && c2 < x -> false if c2 >= c1
c2 < x && x <= c1 -> false if c2 >= c1
x <= c1 && c2 <= x -> false if c2 > c1
c2 <= x && x <= c1 -> false if c2 > c1
x == c1 && x == c2 -> x == c1 && c1 == c2
x == c1 && x != c2 -> x == c1 && c1 != c2
x != c2 && x == c1 -> x == c1 && c1 != c2
x // c2 == c1 && x % c2 == c3 => x == c1 * c2 + c3 if c2 > 0 && c3 >= 0 && c3 < c2
x % c2 == c3 && x // c2 == c1 => x == c1 * c2 + c3 if c2 > 0 && c3 >= 0 && c3 < c2
0 <= x - y * c1 && x - y * c1 < c1 => y == x // c1 if c1 > 0
x - y * c1 < c1 && 0 <= x - y * c1 => y == x // c1 if c1 > 0
c1 < x - y * c1 && x - y * c1 <= 0 => y == x // c1 if c1 < 0
0 <= x + y * c2 && x + y * c2 < c1 => y == x // c1 if c1 > 0 && c2 == -c1
x + y * c2 < c1 && 0 <= x + y * c2 => y == x // c1 if c1 > 0 && c2 == -c1
x < c1 && x % c2 < c3 => x < c1 - c2 + c3 && x % c2 < c3 if c2 > 0 && c3 <= c2 && c1 % c2 == 0
x < c1 && x % c2 < c3 => x < c1 - c1 % c2 + c3 && x % c2 < c3 if c2 > 0 && c1 % c2 > c3
x <= c1 && x % c2 < c3 => x < c1 + 1 - c2 + c3 && x % c2 < c3 if c2 > 0 && c3 <= c2 && (c1 + 1) % c2 == 0
x <= c1 && x % c2 < c3 => x < c1 + 1 - c1 % c2 + c3 && x % c2 < c3 if c2 > 0 && (c1 + 1) % c2 > c3
x // c2 == c1 && x % c2 < c3 => c1 * c2 <= x && x < c1 * c2 + c3 if c2 > 0 && c3 <= c2
x % c2 < c3 && x // c2 == c1 => c1 * c2 <= x && x < c1 * c2 + c3 if c2 > 0 && c3 <= c2
x // c2 == c1 && x % c2 <= c3 => c1 * c2 <= x && x <= c1 * c2 + c3 if c2 > 0 && c3 < c2
x % c2 <= c3 && x // c2 == c1 => c1 * c2 <= x && x <= c1 * c2 + c3 if c2 > 0 && c3 < c2
x // c2 == c1 && c3 <= x % c2 => c1 * c2 + c3 <= x && x < (c1 + 1) * c2 if c2 > 0 && c3 >= 0
c3 <= x % c2 && x // c2 == c1 => c1 * c2 + c3 <= x && x < (c1 + 1) * c2 if c2 > 0 && c3 >= 0
x // c2 == c1 && c3 < x % c2 => c1 * c2 + c3 < x && x < (c1 + 1) * c2 if c2 > 0 && c3 >= -1
c3 < x % c2 && x // c2 == c1 => c1 * c2 + c3 < x && x < (c1 + 1) * c2 if c2 > 0 && c3 >= -1
x && (y && z) => x && y && z
)",
    // kOrVector
    R"(
broadcast(x, lanes) || broadcast(y, lanes) -> broadcast(x || y, lanes)
)",
    // kOrAny
    R"(
x == y || x != y -> true
x != y || x == y -> true
x || !x -> true
x <= y || y < x -> true if ordered(x)
y < x || x <= y -> true if ordered(x)
x < y || y < x -> x != y if ordered(x)
x < c1 || c2 < x -> true if c2 < c1
c2 < x || x < c1 -> true if c2 < c1
x <= c1 || c2 < x -> true if c2 <= c1
c2 < x || x <= c1 -> true if c2 <= c1
x < c1 || c2 <= x -> true if c2 <= c1
c2 <= x || x < c1 -> true if c2 <= c1
x <= c1 || c2 <= x -> true if c2 <= c1 + 1
c2 <= x || x <= c1 -> true if c2 <= c1 + 1
x != c1 || x != c2 -> x != c1 || c1 != c2
x != c1 || x == c2 -> x != c1 || c1 == c2
x == c2 || x != c1 -> x != c1 || c1 == c2
x < y || x == y => x <= y
x < y || y == x => x <= y
x == y || x < y => x <= y
y == x || x < y => x <= y
x || (y || z) => x || y || z
)",
    // kSelectAny
    R"(
select(x, y, y) -> y
)",
};

std::vector<RuleSet> ParseAll() {
  std::vector<RuleSet> sets;
  for (const absl::string_view text : kTexts) {
    absl::StatusOr<RuleSet> set = RuleSet::Parse(text);
    if (!set.ok()) {
      std::fprintf(stderr, "%s\n", std::string(set.status().message()).c_str());
      std::abort();
    }
    sets.push_back(*std::move(set));
  }
  return sets;
}

}  // namespace

absl::string_view RewriteRulesText(RewriteRules rules) {
  return kTexts[static_cast<int>(rules)];
}

const RuleSet& RewriteRuleSet(RewriteRules rules) {
  static const auto* const sets = new std::vector<RuleSet>(ParseAll());
  return (*sets)[static_cast<int>(rules)];
}

}  // namespace baton::tir
