#include "baton/testing/fitting_loops.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {
namespace {

// Draws one function and the steps for it.
class Maker {
 public:
  explicit Maker(uint32_t seed)
      : random_(seed),
        type_(OneOf({"int32", "int32", "int64", "float32", "float16"})) {}

  absl::StatusOr<FittingLoops> Make(absl::string_view step);

 private:
  int Random(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Random(static_cast<int>(values.size())));
  }
  // True for one of `n` numbers.
  bool OneIn(int n) { return Random(n) == 0; }

  // --- Text ------------------------------------------------------------------

  // A line of the function's body, at `depth`.
  void Line(int depth, absl::string_view text) {
    absl::StrAppend(&body_,
                    std::string(static_cast<size_t>(4 * depth + 4), ' '), text,
                    "\n");
  }
  // Extents as Python writes a tuple of them.
  static std::string Tuple(absl::string_view extents) {
    const bool is_one = !absl::StrContains(extents, ',');
    return absl::StrCat("(", extents, is_one ? ",)" : ")");
  }
  void Param(absl::string_view name, absl::string_view shape) {
    params_.push_back(
        absl::StrCat(name, ": T.Buffer(", Tuple(shape), ", \"", type_, "\")"));
  }
  void Alloc(absl::string_view name, absl::string_view shape) {
    Line(0, absl::StrCat(name, " = T.alloc_buffer(", Tuple(shape), ", \"",
                         type_, "\")"));
  }
  std::string Number(int n) const {
    return absl::StrCat("T.", type_, "(", n, ")");
  }
  void Step(absl::string_view name, absl::string_view parameters) {
    steps_.push_back(
        absl::StrCat("{\"name\": \"", name, "\", ", parameters, "}"));
  }
  static std::string LoopOf(absl::string_view block, int loop) {
    return absl::StrCat("{\"loop\": ", loop, ", \"of\": \"", block, "\"}");
  }
  void Split(absl::string_view block, int loop, int factor) {
    Step("split", absl::StrCat("\"loop\": ", LoopOf(block, loop),
                               ", \"factors\": [null, ", factor,
                               "], \"preserve_unit_iters\": ",
                               OneIn(2) ? "true" : "false"));
  }
  // A binding of an axis that has that loop.
  std::string Axis(absl::string_view kind, int extent, absl::string_view loop) {
    return absl::StrCat("T.axis.", kind, "(", extent, ", ", loop, ")");
  }
  // A value made of an element.
  std::string Changed(absl::string_view element) {
    switch (Random(4)) {
      case 0:
        return absl::StrCat(element, " * ", Number(2));
      case 1:
        return absl::StrCat(element, " + ", Number(1));
      case 2:
        return absl::StrCat("T.max(", element, ", ", Number(0), ")");
      default:
        return std::string(element);
    }
  }
  // How `target` and an element become the next value of a reduction.
  struct Reducer {
    std::string init;
    std::string update;  // of $0, the value before, and $1, an element
  };
  Reducer AnyReducer() {
    switch (Random(4)) {
      case 0:
        return {Number(-99), "T.max($0, $1)"};
      case 1:
        return {Number(99), "T.min($0, $1)"};
      default:
        return {Number(0), "$0 + $1"};
    }
  }
  // The lines of a reduction to `target`, which has an element of `value` for
  // each of its iterations.
  void Reduce(int depth, absl::string_view target, absl::string_view value) {
    const Reducer reducer = AnyReducer();
    Line(depth, "with T.init():");
    Line(depth + 1, absl::StrCat(target, " = ", reducer.init));
    Line(depth, absl::StrCat(target, " = ",
                             absl::Substitute(reducer.update, target, value)));
  }

  // --- Functions -------------------------------------------------------------

  // Nests of equal loops, of which the later ones read what the first ones
  // wrote, in this or another order.
  void ForMerge() {
    const int rank = 1 + Random(2);
    const int n = OneOf({3, 4, 5});
    const int nests = 2 + Random(2);
    std::vector<std::string> loops;
    std::vector<std::string> vars;
    for (int i = 0; i < rank; ++i) {
      loops.push_back(absl::StrCat("i", i));
      vars.push_back(absl::StrCat("v", i));
    }
    const std::string shape =
        rank == 1 ? absl::StrCat(n) : absl::StrCat(n, ", ", n);
    Param("A", shape);
    Param("C0", shape);
    for (int k = 1; k < nests; ++k) {
      if (OneIn(2)) {
        Param(absl::StrCat("C", k), shape);
      } else {
        Alloc(absl::StrCat("C", k), shape);
      }
    }
    const std::string at = absl::StrJoin(vars, ", ");
    for (int k = 0; k < nests; ++k) {
      // The last nest writes the output, so that all of them matter.
      const std::string target = absl::StrCat("C", k == nests - 1 ? 0 : k + 1);
      const std::string source =
          k == 0 || OneIn(3) ? "A" : absl::StrCat("C", 1 + Random(k));
      std::string from = at;
      if (OneIn(3)) {
        from = rank == 2 && OneIn(2) ? "v1, v0"
               : rank == 2           ? absl::StrCat("(v0 + 1) % ", n, ", v1")
               : OneIn(2)            ? absl::StrCat(n - 1, " - v0")
                                     : absl::StrCat("(v0 + 1) % ", n);
      }
      int depth = 0;
      for (const std::string& loop : loops) {
        Line(depth++, absl::StrCat("for ", loop, " in range(", n, "):"));
      }
      Line(depth++, absl::StrCat("with T.block(\"S", k, "\"):"));
      for (int i = 0; i < rank; ++i) {
        Line(depth, absl::StrCat(vars[i], " = ", Axis("spatial", n, loops[i])));
      }
      Line(depth, absl::StrCat(target, "[", at, "] = ",
                               Changed(absl::StrCat(source, "[", from, "]"))));
    }
    const int a = Random(nests - 1);
    std::vector<std::string> merged;
    const int loop = Random(rank);
    for (int k = a; k <= a + 1 + Random(nests - a - 1); ++k) {
      merged.push_back(LoopOf(absl::StrCat("S", k), loop));
    }
    Step("merge",
         absl::StrCat("\"loops\": [", absl::StrJoin(merged, ", "), "]"));
  }

  // A reduction over one or two loops, in any order with the spatial ones.
  void ForRFactor() {
    const int spatial = Random(3);
    const int reducing = 1 + Random(2);
    std::vector<std::string> shape;
    std::vector<std::string> in;
    std::vector<std::string> at;
    std::vector<std::string> all;
    std::vector<std::pair<std::string, int>> loops;
    std::vector<std::string> axes;
    for (int i = 0; i < spatial + reducing; ++i) {
      const bool is_spatial = i < spatial;
      const int n = OneOf({2, 3, 4, 6});
      const std::string loop = absl::StrCat(is_spatial ? "i" : "k", i);
      const std::string var = absl::StrCat("v", i);
      in.push_back(absl::StrCat(n));
      all.push_back(var);
      axes.push_back(absl::StrCat(
          var, " = ", Axis(is_spatial ? "spatial" : "reduce", n, loop)));
      if (is_spatial) {
        shape.push_back(absl::StrCat(n));
        at.push_back(var);
      }
      loops.emplace_back(loop, n);
    }
    if (shape.empty()) {
      shape.push_back("1");
      at.push_back("0");
    }
    Param("A", absl::StrJoin(in, ", "));
    Param("C", absl::StrJoin(shape, ", "));
    const int swapped = OneIn(4) ? Random(spatial + reducing) : spatial;
    if (swapped < spatial) std::swap(loops[swapped], loops.back());
    int depth = 0;
    for (const auto& [loop, n] : loops) {
      Line(depth++, absl::StrCat("for ", loop, " in range(", n, "):"));
    }
    Line(depth++, "with T.block(\"S\"):");
    for (const std::string& axis : axes) Line(depth, axis);
    Reduce(depth, absl::StrCat("C[", absl::StrJoin(at, ", "), "]"),
           absl::StrCat("A[", absl::StrJoin(all, ", "), "]"));
    int loop = spatial + Random(reducing);
    switch (Random(4)) {
      case 0:  // of which the last part may be smaller
        Split("S", loop, OneOf({2, 3}));
        loop += Random(2);
        break;
      case 1:
        if (reducing < 2) break;
        Step("fuse", absl::StrCat("\"loops\": [", LoopOf("S", spatial), ", ",
                                  LoopOf("S", spatial + 1),
                                  "], \"preserve_unit_iters\": true"));
        Split("S", spatial, OneOf({2, 3, 4}));
        loop = spatial + Random(2);
        break;
      default:
        break;
    }
    Step("rfactor",
         absl::StrCat("\"loop\": ", LoopOf("S", loop),
                      ", \"factor_axis\": ", Random(spatial + 2) - 1));
  }

  // A producer of one or two axes, and a consumer that reads windows of it.
  // The name of a loop around the consumer is drawn from those that the split
  // makes.
  int Windows() {
    const int rank = 1 + Random(2);
    const int window = 1 + Random(3);
    const int stride = OneIn(4) ? 2 : 1;
    const bool padded = OneIn(4);  // reads what is not there, in part
    std::vector<std::string> from_shape;
    std::vector<std::string> to_shape;
    std::vector<int> from;
    std::vector<int> to;
    for (int i = 0; i < rank; ++i) {
      to.push_back(OneOf({4, 5, 6, 8}));
      from.push_back((to.back() - 1) * stride + window);
      from_shape.push_back(absl::StrCat(from.back()));
      to_shape.push_back(absl::StrCat(to.back()));
    }
    Param("A", absl::StrJoin(from_shape, ", "));
    Param("C", absl::StrJoin(to_shape, ", "));
    Alloc("B", absl::StrJoin(from_shape, ", "));
    int depth = 0;
    std::vector<std::string> at;
    for (int i = 0; i < rank; ++i) {
      Line(depth++, absl::StrCat("for i", i, " in range(", from[i], "):"));
      at.push_back(absl::StrCat("v", i));
    }
    Line(depth++, "with T.block(\"B\"):");
    for (int i = 0; i < rank; ++i) {
      Line(depth, absl::StrCat("v", i, " = ",
                               Axis("spatial", from[i], absl::StrCat("i", i))));
    }
    const std::string here = absl::StrJoin(at, ", ");
    Line(depth, absl::StrCat("B[", here,
                             "] = ", Changed(absl::StrCat("A[", here, "]"))));
    depth = 0;
    std::vector<std::string> reads;
    for (int i = 0; i < rank; ++i) {
      Line(depth++, absl::StrCat("for j", i, " in range(", to[i], "):"));
    }
    for (int i = 0; i < rank; ++i) {
      Line(depth++, absl::StrCat("for k", i, " in range(", window, "):"));
    }
    Line(depth++, "with T.block(\"C\"):");
    for (int i = 0; i < rank; ++i) {
      Line(depth, absl::StrCat("w", i, " = ",
                               Axis("spatial", to[i], absl::StrCat("j", i))));
    }
    for (int i = 0; i < rank; ++i) {
      Line(depth, absl::StrCat("r", i, " = ",
                               Axis("reduce", window, absl::StrCat("k", i))));
      reads.push_back(stride == 1 ? absl::StrCat("w", i, " + r", i)
                                  : absl::StrCat("w", i, " * 2 + r", i));
    }
    std::vector<std::string> writes;
    for (int i = 0; i < rank; ++i) writes.push_back(absl::StrCat("w", i));
    std::string element = absl::StrCat("B[", absl::StrJoin(reads, ", "), "]");
    if (padded) {
      element = absl::StrCat("T.if_then_else(w0 < ", to[0] - 1, ", ", element,
                             ", ", Number(0), ")");
    }
    Reduce(depth, absl::StrCat("C[", absl::StrJoin(writes, ", "), "]"),
           element);
    int loops = rank;
    for (int i = rank; i-- > 0;) {
      if (OneIn(2)) continue;
      Split("C", i, OneOf({2, 3, 4}));
      ++loops;
    }
    return loops;
  }

  void ComputeBAt(int loop) {
    Step("compute_at",
         absl::StrCat(
             "\"block\": {\"block\": \"B\"}, \"loop\": ", LoopOf("C", loop),
             ", \"preserve_unit_loops\": ", OneIn(2) ? "true" : "false"));
  }

  void ForComputeAt() { ComputeBAt(Random(Windows())); }

  void ForRollingBuffer() {
    ComputeBAt(Random(Windows()));
    Step("rolling_buffer",
         "\"block\": {\"block\": \"B\"}, \"write_buffer_index\": 0");
  }

  // A block that pads, and one that reads its result.
  void ForDecomposePadding() {
    const int rank = 1 + Random(2);
    std::vector<std::string> from_shape;
    std::vector<std::string> to_shape;
    std::vector<int> to;
    std::vector<std::string> conditions;
    std::vector<std::string> reads;
    std::vector<std::string> vars;
    for (int i = 0; i < rank; ++i) {
      const int n = OneOf({3, 4, 6});
      const int before = Random(3);
      const int after = Random(3);
      to.push_back(n + before + after);
      from_shape.push_back(absl::StrCat(n));
      to_shape.push_back(absl::StrCat(to.back()));
      if (before > 0) {
        conditions.push_back(absl::StrCat(before, " <= v", i));
      }
      if (after > 0 || conditions.empty()) {
        conditions.push_back(absl::StrCat("v", i, " < ", n + before));
      }
      reads.push_back(before == 0 ? absl::StrCat("v", i)
                                  : absl::StrCat("v", i, " - ", before));
      vars.push_back(absl::StrCat("v", i));
    }
    const bool is_output = OneIn(2);
    Param("A", absl::StrJoin(from_shape, ", "));
    Param("C", absl::StrJoin(to_shape, ", "));
    if (!is_output) Alloc("B", absl::StrJoin(to_shape, ", "));
    const std::string at = absl::StrJoin(vars, ", ");
    const auto nest = [&](absl::string_view block, absl::string_view stmt) {
      int depth = 0;
      for (int i = 0; i < rank; ++i) {
        Line(depth++, absl::StrCat("for i", i, " in range(", to[i], "):"));
      }
      Line(depth++, absl::StrCat("with T.block(\"", block, "\"):"));
      for (int i = 0; i < rank; ++i) {
        Line(depth, absl::StrCat("v", i, " = ",
                                 Axis("spatial", to[i], absl::StrCat("i", i))));
      }
      Line(depth, stmt);
    };
    nest("B", absl::StrCat(
                  is_output ? "C" : "B", "[", at, "] = T.if_then_else(",
                  absl::StrJoin(conditions, " and "), ", ",
                  Changed(absl::StrCat("A[", absl::StrJoin(reads, ", "), "]")),
                  ", ", Number(Random(3) - 1), ")"));
    if (!is_output) {
      nest("C", absl::StrCat("C[", at,
                             "] = ", Changed(absl::StrCat("B[", at, "]"))));
    }
    int loops = rank;
    switch (Random(4)) {
      case 0:
        Split("B", Random(rank), OneOf({2, 3}));
        ++loops;
        break;
      case 1:
        if (is_output) break;
        ComputeBAt(Random(rank));
        break;
      default:
        break;
    }
    Step("decompose_padding",
         absl::StrCat("\"block\": {\"block\": \"B\"}, \"loop\": ",
                      LoopOf("B", Random(loops))));
  }

  // A block of loops that changes a buffer, perhaps one after another.
  void ForCacheInplace() {
    const int n = OneOf({4, 6, 8});
    const int times = OneOf({1, 1, 2, 3});
    const bool second = OneIn(3);
    const bool after = OneIn(2);
    Param("A", absl::StrCat(n));
    Param("C", absl::StrCat(n));
    int depth = 0;
    if (second) {
      Line(0, absl::StrCat("for i in range(", n, "):"));
      Line(1, "with T.block(\"F\"):");
      Line(2, absl::StrCat("v = ", Axis("spatial", n, "i")));
      Line(2, "C[v] = A[v]");
    }
    if (times > 1 || OneIn(2)) {
      Line(depth++, absl::StrCat("for t in range(", times, "):"));
      Line(depth++, "with T.block(\"S\"):");
      Line(depth, absl::StrCat("o = ", Axis("opaque", times, "t")));
    } else {
      Line(depth++, "with T.block(\"S\"):");
    }
    const int part = OneIn(3) ? n / 2 : n;
    Line(depth, absl::StrCat("T.reads(C[0:", part, "], A[0:", n, "])"));
    Line(depth, absl::StrCat("T.writes(C[0:", part, "])"));
    Line(depth++, absl::StrCat("for i in range(", part, "):"));
    Line(depth++, "with T.block(\"U\"):");
    Line(depth, absl::StrCat("v = ", Axis("spatial", part, "i")));
    Line(depth, absl::StrCat("C[v] = C[v] + A[", n - 1, " - v]"));
    if (after) {
      Line(0, absl::StrCat("for i in range(", n, "):"));
      Line(1, "with T.block(\"G\"):");
      Line(2, absl::StrCat("v = ", Axis("spatial", n, "i")));
      Line(2, "C[v] = C[v] + A[v]");
    }
    const char* const blocks[] = {"S", "S", "U", "G"};
    Step(
        "cache_inplace",
        absl::StrCat("\"block\": {\"block\": \"", blocks[Random(after ? 4 : 3)],
                     "\"}, \"read_buffer_index\": ", Random(8) == 0 ? 1 : 0,
                     ", \"storage_scope\": \"",
                     OneOf({"global", "local", "shared"}), "\""));
  }

  // An annotation that goes again.
  void ForUnannotate() {
    const int n = OneOf({3, 4});
    Param("A", absl::StrCat(n));
    Param("C", absl::StrCat(n));
    Line(0, absl::StrCat("for i in range(", n, "):"));
    Line(1, "with T.block(\"S\"):");
    Line(2, absl::StrCat("v = ", Axis("spatial", n, "i")));
    Line(2, absl::StrCat("C[v] = ", Changed("A[v]")));
    const std::string site = absl::StrCat(
        "\"block_or_loop\": ", OneIn(2) ? "{\"block\": \"S\"}" : LoopOf("S", 0),
        ", \"ann_key\": ");
    const int keys = 1 + Random(2);
    for (int i = 0; i < keys; ++i) {
      Step("annotate", absl::StrCat(site, "\"key", i, "\", \"ann_val\": 1"));
    }
    if (OneIn(2)) Split("S", 0, 2);
    Step("unannotate", absl::StrCat(site, "\"key", Random(keys), "\""));
  }

  struct Kind {
    absl::string_view step;
    void (Maker::*make)();
  };
  static const Kind kKinds[];
  friend std::vector<absl::string_view> testing::StepsWithFittingLoops();

  std::mt19937 random_;
  std::string type_;
  std::vector<std::string> params_;
  std::string body_;
  std::vector<std::string> steps_;
};

const Maker::Kind Maker::kKinds[] = {
    {"cache_inplace", &Maker::ForCacheInplace},
    {"compute_at", &Maker::ForComputeAt},
    {"decompose_padding", &Maker::ForDecomposePadding},
    {"merge", &Maker::ForMerge},
    {"rfactor", &Maker::ForRFactor},
    {"rolling_buffer", &Maker::ForRollingBuffer},
    {"unannotate", &Maker::ForUnannotate},
};

absl::StatusOr<FittingLoops> Maker::Make(absl::string_view step) {
  for (const Kind& kind : kKinds) {
    if (kind.step == step) (this->*kind.make)();
  }
  if (steps_.empty()) {
    return absl::NotFoundError(absl::StrCat("no functions fit ", step));
  }
  FittingLoops result;
  result.script = absl::StrCat("@T.prim_func\ndef main(",
                               absl::StrJoin(params_, ", "), "):\n", body_);
  BATON_ASSIGN_OR_RETURN(
      const IRModule module,
      ParseModule(result.script, absl::StrCat(step, ".tir")));
  result.function = module.Find<tir::PrimFunc>("main");
  result.steps = std::move(steps_);
  return result;
}

}  // namespace

std::vector<absl::string_view> StepsWithFittingLoops() {
  std::vector<absl::string_view> result;
  for (const Maker::Kind& kind : Maker::kKinds) result.push_back(kind.step);
  return result;
}

absl::StatusOr<FittingLoops> LoopsForStep(absl::string_view step,
                                          uint32_t seed) {
  return Maker(seed).Make(step);
}

}  // namespace baton::testing
