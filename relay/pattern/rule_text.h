// Parses and prints rewrite rules as text.
//
//   rule @hard_swish "x * clip(x + 3, 0, 6) / 6 in one instruction." {
//     match {
//       %gate = clip(%x + 3f, a_min=0f, a_max=6f);
//       either(%x * %gate / 6f, %x * (%gate / 6f))
//     }
//     replace { acme.hard_swish(%x) }
//     where { dtype(%x) == "float32", elements(%x) >= 1 }
//     promise { rtol = 1e-6f }
//   }
//
// `match` and `replace` are in Relay's syntax, with these meanings:
//
//   %x             in `match`: anything, the same node at each use; in
//                  `replace`: that node
//   %y = part;     names a part, which may be used several times; a name that
//                  no earlier part defines matches anything
//   _              in `match`: anything
//   f(a, b, k=v)   a call of an operator, arguments of a commutative one in
//                  either order. An attribute that is not written may have any
//                  value in `match`, and has its default in `replace`.
//   f(a, k=name)   in `match`: binds the value of the attribute to `name`;
//                  the same value at each use. In `replace`: that value.
//   f(a, k=shape(%x))   in `replace`: the attribute is a term of `where`, below
//   f(a, **%y)     in `replace`: the attributes of the call %y, except those
//                  that are written
//   fold(part)     in `replace`: the constant that `part` computes; `part` if
//                  it depends on more than constants. If the constant loses
//                  numbers (FoldedInRange), the rule is not applied.
//   a + b - c * d / e, (a, b), a.0       calls, a tuple, a field of a tuple
//   3f, 3, 3f64, 3i64                    in `match`: a scalar constant of that
//                  element type and value; in `replace`: such a constant
//   const(3)       in `match`: a constant whose elements all equal 3, of any
//                  shape and element type
//   const(3, %x)   in `replace`: a scalar 3 of the element type of %x
//   const(shape(%x))   in `replace`: the shape of %x, a vector of int32
//   const(%c), const(), var(%v), var()   in `match`: a constant, a variable
//   if (c) { a } else { b }
//   let %v = a; b  in `match`, %v is the variable that a let binds; in
//                  `replace`, the same variable, or a new one
//   fn (%p, k=v) { b }                   a function with attributes. In
//                  `replace`, a parameter that `match` does not bind is new:
//                  `%p: type(%x)` declares its type.
//   %f(a, b)       a call of any callee %f: an operator, a function. In
//                  `replace`, `%f(a, **%y)` has the attributes of the call %y.
//   f(...), %f(...), (...), fn (...) { b }   in `match`: any arguments, fields,
//                  parameters
//   either(p, q)   in `match`: the first of p and q that matches
//   dominates(parent, path, child)       in `match`: see Dominates()
//   repeat(%r, part)                     in `match`: `part`, in which %r is the
//                  whole repetition again: a path of any length. Names of parts
//                  in it refer to the outermost nodes of several.
//                  `repeat(%r, nn.relu(either(%r, %x)))`: one relu or more of
//                  %x
//
// Between the braces of functions and ifs, `%y = part;` also names parts.
//
// `where` has conditions, separated by commas, each `TERM OP TERM`. Terms are
// numbers, strings, lists, names of attributes, and
//
//   dtype(%x) rank(%x) shape(%x) dim(%x, 1) elements(%x) type(%x)  of its type
//   value(%c)      the value of all elements of a constant
//   op(%y)         the name of the operator that the call %y calls
//   kind(%x)       "constant", "variable", "call", "tuple", "field" of a tuple,
//                  "function", "let", "if" or "other"
//   uses(%x)       the number of its uses; only `uses(%x) == N`
//
// OP is one of == != < <= > >= and `in`, before a list. A condition on an
// unknown value (an unknown dimension) is false.
//
// `rule @name of PASS, PASS "..." { ... }` belongs to the first pass, and all
// of them apply it; see RewriteRule. `rule @name of PASS;` gives a rule in C++
// its place among the rules of that pass.
//
// `apply { once, exclusive }` has one of them or both: see RewriteRule.
//
// `promise` declares the accuracy of the replacement: `exact` (the default), or
// `rtol = R`, `atol = A`; `not nan`, `not inf` if arguments must have none, and
// `%x in [LOW, HIGH]` if an argument must be in that range.

#ifndef BATON_RELAY_PATTERN_RULE_TEXT_H_
#define BATON_RELAY_PATTERN_RULE_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay {

// Parses the rules of a file, in order. One run finds all errors: unknown
// operators, attributes and names, wrong numbers of arguments, values that an
// attribute cannot have, names without a definition. `source_name` names the
// text in messages.
absl::StatusOr<std::vector<RewriteRule>> ParseRules(
    absl::string_view text, absl::string_view source_name = "rules");

// As above, but adds errors to `diagnostics`. The result omits rules with
// errors.
std::vector<RewriteRule> ParseRules(std::shared_ptr<const Source> source,
                                    Diagnostics& diagnostics);

// Parses the patterns of a file: rules without `replace`, for tables of the
// patterns that an external compiler supports (pattern_table.h). Each result is
// a rule that replaces its match by itself.
//
//   pattern @acme.conv2d_relu "Both in one instruction." {
//     match { nn.relu(nn.conv2d(%x, const(%w))) }
//     where { dtype(%x) == "float32" }
//   }
absl::StatusOr<std::vector<RewriteRule>> ParsePatterns(
    absl::string_view text, absl::string_view source_name = "patterns");

// The text of rules that were parsed from text. Parsing the result gives the
// same rules, and printing those gives the same text. For a rule in C++: a
// comment with its name, doc and pattern.
std::string PrintRule(const RewriteRule& rule);
std::string PrintRules(const std::vector<RewriteRule>& rules);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_RULE_TEXT_H_
