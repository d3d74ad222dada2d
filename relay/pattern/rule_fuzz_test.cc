// Parses rules with random mistakes: each is a located error, or a rule that
// prints, parses back and can be applied.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "baton/base/dtype.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// Good rules, as tokens between spaces. Together they have every form.
const char* const kRules[] = {
    R"( rule @ r "A rule." { match { %gate = clip ( %x + 3f , a_min= 0f , a_max= 6f ) ;
        either ( %x * %gate / 6f , %x * ( %gate / 6f ) ) } replace { nn.relu ( %x ) }
        where { dtype ( %x ) == "float32" , elements ( %x ) >= 1 } promise { rtol = 1e-6f } } )",
    R"( rule @ r { match { exp ( negative ( %x ) ) } replace { %y = exp ( %x ) ; 1f / %y }
        apply { exclusive } promise { rtol = 1e-5f , not nan , not inf , %x in [ 0f , 1f ] } } )",
    R"( rule @ r { match { %c = %f ( %x ) ; nn.relu ( %c ) } replace { %f ( nn.relu ( %x ) , **%c ) }
        where { op ( %c ) in [ "expand_dims" , "exp" ] , rank ( %x ) < 9 , dim ( %x , -1 ) != 7 } } )",
    R"( rule @ r { match { expand_dims ( nn.relu ( %x ) , axis= a , num_newaxis= n ) }
        replace { nn.relu ( expand_dims ( %x , axis= a , num_newaxis= n ) ) } where { n == 1 } } )",
    R"( rule @ r { match { ( fn ( %a , Primitive= 1 ) { %b } ) ( %x ) } replace { let %a = %x ; %b } } )",
    R"( rule @ r { match { let %v = %a ; %body } replace { fn ( %p : type ( %a ) ) { exp ( %p ) } ( %a ) }
        apply { once } } )",
    R"( rule @ r { match { if ( %c ) { %s = exp ( %a ) ; %s } else { exp ( %b ) } }
        replace { exp ( if ( %c ) { %a } else { %b } ) } } )",
    R"( rule @ r { match { %t = ( %a , const ( %k ) , _ ) ; %t .1 } replace { %k } where { value ( %k ) > 0 } } )",
    R"( rule @ r { match { dominates ( nn.relu ( %a ) , exp ( _ ) , tanh ( ... ) ) } replace { %a }
        where { shape ( %a ) == [ 4 ] , type ( %a ) == type ( %a ) } } )",
    R"( rule @ r { match { %y = reshape ( %x * const ( %k ) ) ; %y }
        replace { reshape ( %x , newshape= shape ( %y ) ) * fold ( %k + %k ) } where { kind ( %x ) != "call" } } )",
    R"( rule @ r { match { nn.relu ( repeat ( %r , nn.relu ( either ( %r , %x ) ) ) ) } replace { nn.relu ( %x ) } } )",
};

const char* const kTokens[] = {"%x",
                               "%y",
                               "%a",
                               "_",
                               "(",
                               ")",
                               "{",
                               "}",
                               "[",
                               ",",
                               ";",
                               "=",
                               "*",
                               "/",
                               "-",
                               "...",
                               "exp",
                               "nn.relu",
                               "nope",
                               "clip",
                               "axis= 1",
                               "a_min= 0f",
                               "a_min= \"s\"",
                               "either (",
                               "fn (",
                               "let %v =",
                               "if (",
                               "else",
                               "match",
                               "replace",
                               "where",
                               "promise",
                               "apply",
                               "once",
                               "rule",
                               "3f",
                               "1e400f",
                               "-7",
                               "99999999999999999999",
                               "\"s\"",
                               ".0",
                               ".99999999999",
                               "**%x",
                               "const (",
                               "var (",
                               "dominates (",
                               "repeat (",
                               "in",
                               "==",
                               "type (",
                               "@",
                               ":",
                               "\"",
                               "/*",
                               "\xff",
                               "%",
                               "transpose",
                               "reshape (",
                               "newshape= [ 2 , 2 ]"};

std::vector<std::string> Tokens(const std::string& text) {
  std::vector<std::string> tokens;
  size_t begin = 0;
  while ((begin = text.find_first_not_of(" \n", begin)) != std::string::npos) {
    size_t end = text.find_first_of(" \n", begin);
    if (end == std::string::npos) end = text.size();
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : engine_(seed) {}

  std::string Next() {
    std::vector<std::string> tokens = Tokens(kRules[Below(std::size(kRules))]);
    for (size_t k = 1 + Below(3); k > 0 && !tokens.empty(); --k) {
      const size_t i = Below(tokens.size());
      switch (Below(5)) {
        case 0:
          tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(i));
          break;
        case 1:
          tokens.insert(tokens.begin() + static_cast<ptrdiff_t>(i),
                        kTokens[Below(std::size(kTokens))]);
          break;
        case 2:
          std::swap(tokens[i], tokens[Below(tokens.size())]);
          break;
        case 3:
          tokens[i] = tokens[Below(tokens.size())];
          break;
        default:
          tokens[i] = kTokens[Below(std::size(kTokens))];
      }
    }
    // `@ r` is one name.
    std::string text = absl::StrJoin(tokens, " ");
    if (const size_t at = text.find("@ r"); at != std::string::npos) {
      text.erase(at + 1, 1);
    }
    return text;
  }

 private:
  size_t Below(size_t n) { return engine_() % n; }
  std::mt19937_64 engine_;
};

// Programs that the rules match in part.
std::vector<Expr> Programs() {
  const Var x("x", {4}), p("p", {}, DType::Bool()), v("v"), a("a", {4});
  const Expr gate = Clip(Add(x, Const(3.0f)), 0, 6);
  const Expr exp = Exp(Negative(x));
  const std::vector<Expr> bodies = {
      Divide(Multiply(x, gate), Const(6.0f)),
      nn::Relu(exp),
      ExpandDims(nn::Relu(x), 0, 1),
      Call(Function({a}, Exp(a)).WithAttr("Primitive", AttrValue(1)), {x}),
      Let(v, Exp(x), Multiply(v, v)),
      If(p, Exp(x), Exp(Tanh(x))),
      TupleGetItem(Tuple({x, Const(2.0f), exp}), 1),
      Tanh(Exp(Exp(nn::Relu(x)))),
      nn::Relu(nn::Relu(nn::Relu(x))),
      Reshape(Multiply(x, Const(2.0f)), {2, 2}),
  };
  std::vector<Expr> programs;
  for (const Expr& body : bodies) {
    absl::StatusOr<Expr> typed = InferTypeOf(Function({x, p}, body));
    EXPECT_THAT(typed, testing::IsOk());
    if (typed.ok()) programs.push_back(*std::move(typed));
  }
  return programs;
}

TEST(RuleFuzzTest, MutatedRules) {
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [] {
    const std::vector<Expr> programs = Programs();
    RewriteOptions options;
    options.max_derivation = 1000;
    options.max_growth = 1000;
    Mutator mutator(11);
    int read = 0, applied = 0, refused = 0;
    options.on_application = [&](const RewriteRule&, const Expr&, const Expr&) {
      ++applied;
    };
    for (int i = 0; i < 20'000; ++i) {
      const std::string text = mutator.Next();
      SCOPED_TRACE(text);
      const absl::StatusOr<std::vector<RewriteRule>> rules = ParseRules(text);
      if (!rules.ok()) {
        ++refused;
        ASSERT_EQ(rules.status().code(), absl::StatusCode::kInvalidArgument);
        ASSERT_TRUE(absl::StartsWith(rules.status().message(), "rules:1:"))
            << rules.status();
        continue;
      }
      ++read;
      const std::string printed = PrintRules(*rules);
      const absl::StatusOr<std::vector<RewriteRule>> again =
          ParseRules(printed);
      ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
      ASSERT_EQ(PrintRules(*again), printed);
      for (const Expr& program : programs) {
        const absl::StatusOr<Expr> result =
            ApplyRules(*rules, program, options);
        if (result.ok()) continue;
        ASSERT_TRUE(absl::StrContains(result.status().message(), "rule r") ||
                    absl::StrContains(result.status().message(), " r"))
            << result.status();
      }
    }
    EXPECT_GT(read, 200);
    EXPECT_GT(refused, 5000);
    EXPECT_GT(applied, 1000);
  });
}

TEST(RuleFuzzTest, GoodRulesAreReadAndApplied) {
  const std::vector<Expr> programs = Programs();
  for (const char* rule : kRules) {
    SCOPED_TRACE(rule);
    std::string text = rule;
    text.erase(text.find("@ r") + 1, 1);
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<RewriteRule> rules,
                               ParseRules(text));
    ASSERT_EQ(rules.size(), 1u);
    bool changed = false;
    for (const Expr& program : programs) {
      BATON_ASSERT_OK_AND_ASSIGN(const Expr result, ApplyRules(rules, program));
      changed |= result != program;
    }
    EXPECT_TRUE(changed);
  }
}

}  // namespace
}  // namespace baton::relay
