// The computation of sums of products in Einstein notation.

#include "baton/runtime/kernels/einsum.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/lane_fold.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {
namespace {

using kernels::EinsumPlan;
using tir::BinaryOp;
using tir::PrimExpr;
using tir::Stmt;

// The loops of one call. Sums have the order of the kernel: along the last axis
// in lanes, which are added to the sum of the other axes.
class Sums {
 public:
  Sums(LoopBuilder& loops, EinsumPlan plan, DType dtype)
      : loops_(loops), plan_(std::move(plan)), dtype_(dtype) {}

  // Fills `to`, of dtype `dtype`.
  void Fill(const tir::Buffer& to) {
    for (const EinsumPlan::Step& step : plan_.steps) {
      tir::Buffer result = to;
      if (&step != &plan_.steps.back()) {
        result = loops_.Temporary("T_contracted", dtype_, ExtentsOf(step.kept));
      }
      if (step.summed.empty()) {
        loops_.Store(result, [&](const Indices& at) {
          return Term(step, Numbered(step.kept, at));
        });
      } else {
        Sum(step, result);
      }
      results_.push_back(result);
    }
  }

 private:
  using Places = std::map<char, PrimExpr>;

  std::vector<int64_t> ExtentsOf(const std::string& axes) const {
    std::vector<int64_t> extents;
    for (const char c : axes) extents.push_back(plan_.extents.at(c));
    return extents;
  }

  static Places Numbered(const std::string& axes, const Indices& at,
                         Places places = {}) {
    for (size_t i = 0; i < axes.size(); ++i) places[axes[i]] = at[i];
    return places;
  }

  const std::string& AxesOf(int operand) const {
    return plan_.axes[static_cast<size_t>(operand)];
  }

  // The element of an operand or of the result of a step.
  PrimExpr Element(int operand, const Places& places) const {
    const int number = operand - loops_.num_inputs();
    Indices at;
    for (size_t d = 0; d < AxesOf(operand).size(); ++d) {
      const char c = AxesOf(operand)[d];
      const int64_t extent =
          number < 0 ? loops_.shape(operand)[d] : plan_.extents.at(c);
      at.push_back(extent == 1 ? Index(0) : places.at(c));
    }
    if (number >= 0) {
      return tir::BufferLoad(results_[static_cast<size_t>(number)], at);
    }
    return Convert(dtype_, Convert(loops_.dtype(), loops_.Load(operand, at)));
  }

  PrimExpr Term(const EinsumPlan::Step& step, const Places& places) const {
    const PrimExpr left = Element(step.left, places);
    if (step.right < 0) return left;
    return Op2(BinaryOp::kMul, left, Element(step.right, places));
  }

  // True if terms are adjacent along axis `c`, so that they make vectors.
  bool IsAdjacent(const EinsumPlan::Step& step, char c) const {
    bool is_adjacent = false;
    for (const int operand : {step.left, step.right}) {
      if (operand < 0) continue;
      const std::string& axes = AxesOf(operand);
      const size_t at = axes.find(c);
      if (at == std::string::npos) continue;
      if (at + 1 != axes.size()) return false;
      is_adjacent = true;
    }
    return is_adjacent && plan_.extents.at(c) > 1;
  }

  // The columns that are summed side by side.
  int64_t ColumnsOf(const EinsumPlan::Step& step) const {
    if (step.kept.empty() || !IsAdjacent(step, step.kept.back()) ||
        IsAdjacent(step, step.summed.back())) {
      return 1;
    }
    constexpr int64_t kLeast = 8;
    constexpr int64_t kMost = 64;
    const int64_t extent = plan_.extents.at(step.kept.back());
    int64_t columns = kMost;
    while (extent % columns != 0) --columns;
    // All columns at once, if the sums of a row do not take much memory.
    constexpr int64_t kMostOfRow = 512;
    return columns < kLeast && extent <= kMostOfRow ? extent : columns;
  }

  void Sum(const EinsumPlan::Step& step, const tir::Buffer& to) {
    const int64_t columns = ColumnsOf(step);
    std::vector<int64_t> groups = ExtentsOf(step.kept);
    if (!groups.empty()) groups.back() /= columns;
    const tir::Buffer lanes =
        loops_.Temporary("T_lanes", dtype_, {kPartialLanes.lanes, columns});
    const tir::Buffer sums = loops_.Temporary("T_sums", dtype_, {columns});
    const auto for_columns =
        [&](const std::function<Stmt(const PrimExpr&)>& body) {
          return ForEach("c", {columns},
                         [&](const Indices& c) { return body(c[0]); });
        };
    const PrimExpr zero = Number(dtype_, 0);
    loops_.Run(
        {to, lanes, sums},
        ForEach(
            "group", groups,
            [&](const Indices& group) {
              const auto place = [&](const PrimExpr& c) {
                Indices at = group;
                if (!at.empty()) {
                  at.back() = tir::Add(tir::Mul(at.back(), Index(columns)), c);
                }
                return at;
              };
              const Stmt clear = for_columns([&](const PrimExpr& c) -> Stmt {
                return tir::BufferStore(sums, zero, {c});
              });
              const Stmt store = for_columns([&](const PrimExpr& c) -> Stmt {
                return tir::BufferStore(to, tir::BufferLoad(sums, {c}),
                                        place(c));
              });
              const std::string inner =
                  step.summed.substr(0, step.summed.size() - 1);
              const Stmt sum =
                  ForEach("k", ExtentsOf(inner), [&](const Indices& k) {
                    const auto term = [&](const PrimExpr& last,
                                          const PrimExpr& c) {
                      Places places =
                          Numbered(inner, k, Numbered(step.kept, place(c)));
                      places[step.summed.back()] = last;
                      return Term(step, places);
                    };
                    return Line(plan_.extents.at(step.summed.back()), columns,
                                lanes, sums, term);
                  });
              return InOrder({clear, sum, store});
            }),
        results_);
  }

  // Adds the sums of `count` terms to `sums`.
  Stmt Line(int64_t count, int64_t columns, const tir::Buffer& lanes,
            const tir::Buffer& sums,
            const std::function<PrimExpr(const PrimExpr& k, const PrimExpr& c)>&
                term) const {
    constexpr int64_t kLanes = kPartialLanes.lanes;
    const int64_t whole = count / kLanes * kLanes;
    const int64_t used = whole == 0 ? 1 : kLanes;
    const auto add = [](const tir::Buffer& buffer, const Indices& at,
                        const PrimExpr& value) -> Stmt {
      return tir::BufferStore(
          buffer, Op2(BinaryOp::kAdd, tir::BufferLoad(buffer, at), value), at);
    };
    std::vector<Stmt> stmts;
    stmts.push_back(
        ForEach("clear", {used, columns}, [&](const Indices& at) -> Stmt {
          return tir::BufferStore(lanes, Number(dtype_, 0), at);
        }));
    if (whole > 0) {
      stmts.push_back(ForEach(
          "lane", {whole / kLanes, kLanes, columns}, [&](const Indices& at) {
            return add(
                lanes, {at[1], at[2]},
                term(tir::Add(tir::Mul(at[0], Index(kLanes)), at[1]), at[2]));
          }));
    }
    if (whole < count) {
      stmts.push_back(
          ForEach("rest", {count - whole, columns}, [&](const Indices& at) {
            return add(lanes, {Index(0), at[1]},
                       term(tir::Add(at[0], Index(whole)), at[1]));
          }));
    }
    for (int64_t half = used / 2; half > 0; half /= 2) {
      stmts.push_back(ForEach("half", {half, columns}, [&](const Indices& at) {
        return add(
            lanes, at,
            tir::BufferLoad(lanes, {tir::Add(at[0], Index(half)), at[1]}));
      }));
    }
    stmts.push_back(ForEach("sum", {columns}, [&](const Indices& at) {
      return add(sums, at, tir::BufferLoad(lanes, {Index(0), at[0]}));
    }));
    return tir::MakeSeq(std::move(stmts));
  }

  LoopBuilder& loops_;
  const EinsumPlan plan_;
  const DType dtype_;
  std::vector<tir::Buffer> results_;  // of steps
};

absl::Status LowerEinsum(LoopBuilder& loops) {
  std::vector<std::vector<int64_t>> shapes;
  for (int i = 0; i < loops.num_inputs(); ++i) {
    shapes.push_back(loops.shape(i));
  }
  BATON_ASSIGN_OR_RETURN(
      EinsumPlan plan,
      kernels::PlanEinsum(shapes, loops.attrs<relay::EinsumAttrs>().equation));
  for (const auto& [axis, extent] : plan.extents) {
    if (extent == 0) return NoLoops("there is nothing to sum");
  }
  DType dtype = loops.dtype();
  if (!dtype.IsStorable() || dtype.is_bool()) {
    return NoLoops(absl::StrCat(dtype.ToString(), " is not multiplied"));
  }
  if (dtype.is_integral() && dtype.bits() < 32) dtype = DType::Int(32);
  dtype = WideDType(dtype);
  const tir::Buffer& out = loops.output();
  const tir::Buffer sums =
      out->dtype() == dtype ? out
                            : loops.Temporary(absl::StrCat(out->name(), "_sum"),
                                              dtype, ShapeOf(out));
  Sums(loops, std::move(plan), dtype).Fill(sums);
  if (out->dtype() != dtype) {
    loops.Store(out, [&](const Indices& at) {
      return Convert(out->dtype(), tir::BufferLoad(sums, at));
    });
  }
  return absl::OkStatus();
}

BATON_EXTEND_OP("einsum").Set(Computations(), LowerEinsum);

}  // namespace
}  // namespace baton::lower
