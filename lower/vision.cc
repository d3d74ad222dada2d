// Computations of object detection: regions of maps, and the choice of boxes,
// in the order of the kernels (runtime/kernels/detection.cc, boxes.cc).

#include "baton/relay/op/vision/vision.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/double_math.h"
#include "baton/lower/line_sort.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;
using tir::Stmt;

// std::min and std::max, which return `a` where one is NaN.
PrimExpr Least(const PrimExpr& a, const PrimExpr& b) {
  return tir::Select(Less(b, a), b, a);
}
PrimExpr Most(const PrimExpr& a, const PrimExpr& b) {
  return tir::Select(Less(a, b), b, a);
}

// Variables that are computed one after another, around a statement.
class Variables {
 public:
  PrimExpr Add(absl::string_view name, const PrimExpr& value) {
    const tir::Var var(std::string(name), value.dtype());
    all_.emplace_back(var, value);
    return var;
  }
  Stmt Around(Stmt body) const {
    for (size_t i = all_.size(); i-- > 0;) {
      body = tir::LetStmt(all_[i].first, all_[i].second, std::move(body));
    }
    return body;
  }

 private:
  std::vector<std::pair<tir::Var, PrimExpr>> all_;
};

// Runs `body` for the numbers from `begin` on, before `end`.
Stmt Repeat(absl::string_view name, const PrimExpr& begin, const PrimExpr& end,
            const std::function<Stmt(const PrimExpr&)>& body) {
  tir::ForNode::Parts loop;
  loop.loop_var = tir::Var(std::string(name), tir::kInt32);
  loop.min = Index(0);
  loop.extent = tir::Sub(end, begin);
  loop.body = body(tir::Add(begin, loop.loop_var));
  return tir::For(std::move(loop));
}

// --- Regions of maps ---------------------------------------------------------

// The bounds of a region along an axis.
struct Side {
  PrimExpr begin;
  PrimExpr end;
};

// Runs `body` with the image of each region and its sides, down and across.
// Regions that the kernel refuses end the run.
Stmt ForEachRegion(
    const LoopBuilder& loops, double scale,
    const std::function<Stmt(const PrimExpr& region, const PrimExpr& image,
                             const Side& down, const Side& across)>& body) {
  return ForEach("region", {loops.shape(1)[0]}, [&](const Indices& at) {
    const PrimExpr& region = at[0];
    const auto number = [&](int64_t k) {
      return Cast(kDouble, loops.Load(1, {region, Index(k)}));
    };
    Variables variables;
    const PrimExpr image = variables.Add("image", number(0));
    std::vector<PrimExpr> box;
    PrimExpr fits =
        And(AtMost(Real(0), image),
            Less(image, Real(static_cast<double>(loops.shape()[0]))));
    for (int64_t k = 1; k < 5; ++k) {
      box.push_back(variables.Add(absl::StrCat("corner", k),
                                  Times(number(k), Real(scale))));
      fits =
          And(fits, Less(tir::CallIntrinsic("fabs", {box.back()}), Real(1e9)));
    }
    return variables.Around(
        Require(fits, "a region is out of range",
                With("map", Cast(tir::kInt32, image), [&](const PrimExpr& map) {
                  return body(region, map, {box[1], box[3]}, {box[0], box[2]});
                })));
  });
}

template <typename A>
absl::Status CheckRegions(const LoopBuilder& loops, const A& attrs) {
  if (attrs.layout != "NCHW") {
    return NoLoops(absl::StrCat("the layout ", attrs.layout));
  }
  if (loops.shape()[2] == 0 || loops.shape()[3] == 0) {
    return NoLoops("the feature map is empty");
  }
  const std::vector<int64_t> to = ShapeOf(loops.output());
  if (to[2] == 0 || to[3] == 0) return NoLoops("the result is empty");
  if (loops.shape(1)[1] != 5) {
    return NoLoops("regions that are not of an image and four corners");
  }
  return absl::OkStatus();
}

// The samples of the bins of a region along an axis.
struct Samples {
  PrimExpr first;
  PrimExpr bin;
  PrimExpr count;  // of a bin, int32
  int64_t extent = 1;
};

absl::Status CheckSamples(int ratio, int64_t bins, int64_t extent) {
  constexpr int64_t kMostPoints = int64_t{1} << 24;
  const int64_t most = ratio > 0 ? ratio : 4 * extent + 4;
  if (ratio > 1024 || most > kMostPoints / bins) {
    return NoLoops("there are too many samples");
  }
  return absl::OkStatus();
}

Samples SamplesOf(Variables& variables, absl::string_view name, int ratio,
                  bool half_pixel, const Side& side, int64_t bins,
                  int64_t extent) {
  Samples samples;
  samples.extent = extent;
  PrimExpr length = Minus(side.end, side.begin);
  samples.first = side.begin;
  if (half_pixel) {
    samples.first = variables.Add(absl::StrCat(name, "_first"),
                                  Minus(side.begin, Real(0.5)));
  } else {
    length = Most(length, Real(1));
  }
  samples.bin = variables.Add(absl::StrCat(name, "_bin"),
                              Over(length, Real(static_cast<double>(bins))));
  if (ratio > 0) {
    samples.count = Index(ratio);
    return samples;
  }
  const PrimExpr whole = tir::CallIntrinsic("ceil", {samples.bin});
  samples.count = variables.Add(
      absl::StrCat(name, "_samples"),
      Cast(tir::kInt32, Least(Most(whole, Real(0)),
                              Real(static_cast<double>(4 * extent + 4)))));
  return samples;
}

// A sample between two elements.
struct Sample {
  PrimExpr is_inside;
  PrimExpr before;
  PrimExpr behind;
  PrimExpr weight_before;
  PrimExpr weight_behind;
};

// Sample `k` of bin `i`.
Sample SampleAt(Variables& variables, absl::string_view name,
                const Samples& samples, const PrimExpr& i, const PrimExpr& k) {
  const auto size = static_cast<double>(samples.extent);
  const PrimExpr at = variables.Add(
      absl::StrCat(name, "_at"),
      Plus(Plus(samples.first, Times(Cast(kDouble, i), samples.bin)),
           Over(Times(Plus(Cast(kDouble, k), Real(0.5)), samples.bin),
                Cast(kDouble, samples.count))));
  const PrimExpr bounded = variables.Add(
      absl::StrCat(name, "_in_map"), Least(Most(at, Real(0)), Real(size - 1)));
  Sample sample;
  sample.is_inside = And(AtMost(Real(-1), at), AtMost(at, Real(size)));
  sample.before =
      variables.Add(absl::StrCat(name, "_before"), Cast(tir::kInt32, bounded));
  sample.behind =
      Op2(BinaryOp::kMin, Op2(BinaryOp::kAdd, sample.before, Index(1)),
          Index(samples.extent - 1));
  sample.weight_behind =
      variables.Add(absl::StrCat(name, "_weight"),
                    Minus(bounded, Cast(kDouble, sample.before)));
  sample.weight_before = Minus(Real(1), sample.weight_behind);
  return sample;
}

template <bool kHalfPixel>
absl::Status LowerRoiAlign(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ROIAlignAttrs>();
  BATON_RETURN_IF_ERROR(CheckRegions(loops, attrs));
  const bool takes_largest = attrs.mode == "max";
  if (!takes_largest && attrs.mode != "avg") {
    return NoLoops(absl::StrCat("the mode ", attrs.mode));
  }
  const std::vector<int64_t>& shape = loops.shape();
  const tir::Buffer& out = loops.output();
  const std::vector<int64_t> to = ShapeOf(out);
  const int64_t channels = to[1];
  const int ratio = attrs.sample_ratio;
  BATON_RETURN_IF_ERROR(CheckSamples(ratio, to[2], shape[2]));
  BATON_RETURN_IF_ERROR(CheckSamples(ratio, to[3], shape[3]));
  const PrimExpr start =
      Real(takes_largest ? -std::numeric_limits<double>::infinity() : 0);
  // The values of a bin so far, by channel.
  const tir::Buffer folds = loops.Temporary("T_folds", kDouble, {channels});
  const auto bin = [&](const PrimExpr& image, const Samples& down,
                       const Samples& across, const Indices& at) {
    const Stmt begin = ForEach("c", {channels}, [&](const Indices& c) -> Stmt {
      return tir::BufferStore(folds, start, c);
    });
    const auto add = [&](const PrimExpr& a, const PrimExpr& b) {
      Variables variables;
      const Sample y = SampleAt(variables, "y", down, at[1], a);
      const Sample x = SampleAt(variables, "x", across, at[2], b);
      const PrimExpr is_inside = And(y.is_inside, x.is_inside);
      return variables.Around(
          ForEach("c", {channels}, [&](const Indices& c) -> Stmt {
            const auto corner =
                [&](const PrimExpr& row_weight, const PrimExpr& column_weight,
                    const PrimExpr& row, const PrimExpr& column) {
                  return Times(
                      Times(row_weight, column_weight),
                      Cast(kDouble, loops.Load(0, {image, c[0], row, column})));
                };
            const PrimExpr value = Plus(
                Plus(Plus(corner(y.weight_before, x.weight_before, y.before,
                                 x.before),
                          corner(y.weight_before, x.weight_behind, y.before,
                                 x.behind)),
                     corner(y.weight_behind, x.weight_before, y.behind,
                            x.before)),
                corner(y.weight_behind, x.weight_behind, y.behind, x.behind));
            return With("value", IfThenElse(is_inside, value, Real(0)),
                        [&](const PrimExpr& sample) -> Stmt {
                          const PrimExpr fold = tir::BufferLoad(folds, c);
                          return tir::BufferStore(folds,
                                                  takes_largest
                                                      ? Most(fold, sample)
                                                      : Plus(fold, sample),
                                                  c);
                        });
          }));
    };
    const Stmt all = Repeat("a", Index(0), down.count, [&](const PrimExpr& a) {
      return Repeat("b", Index(0), across.count,
                    [&](const PrimExpr& b) { return add(a, b); });
    });
    const PrimExpr count = Op2(BinaryOp::kMul, down.count, across.count);
    const Stmt end = ForEach("c", {channels}, [&](const Indices& c) -> Stmt {
      const PrimExpr fold = tir::BufferLoad(folds, c);
      // A box of no size has no samples.
      const PrimExpr value =
          IfThenElse(Op2(BinaryOp::kEQ, count, Index(0)), Real(0),
                     takes_largest ? fold : Over(fold, Cast(kDouble, count)));
      return tir::BufferStore(out, Convert(out->dtype(), value),
                              {at[0], c[0], at[1], at[2]});
    });
    return InOrder({begin, all, end});
  };
  loops.Run(
      {out, folds},
      ForEachRegion(
          loops, attrs.spatial_scale,
          [&](const PrimExpr& region, const PrimExpr& image, const Side& down,
              const Side& across) {
            Variables variables;
            const Samples rows = SamplesOf(variables, "rows", ratio, kHalfPixel,
                                           down, to[2], shape[2]);
            const Samples columns =
                SamplesOf(variables, "columns", ratio, kHalfPixel, across,
                          to[3], shape[3]);
            return variables.Around(
                ForEach("bin", {to[2], to[3]}, [&](const Indices& at) {
                  return bin(image, rows, columns, {region, at[0], at[1]});
                }));
          }));
  return absl::OkStatus();
}

// The elements [begin, end) of bin `i` of `bins` along an axis of `extent`.
Side ElementsOf(Variables& variables, absl::string_view name, const Side& side,
                const PrimExpr& i, int64_t bins, int64_t extent) {
  const auto whole = [](absl::string_view function, const PrimExpr& x) {
    return PrimExpr(tir::CallIntrinsic(function, {x}));
  };
  const PrimExpr first =
      variables.Add(absl::StrCat(name, "_first"), whole("round", side.begin));
  const PrimExpr length =
      Most(Plus(Minus(whole("round", side.end), first), Real(1)), Real(1));
  const PrimExpr bin =
      variables.Add(absl::StrCat(name, "_bin"),
                    Over(length, Real(static_cast<double>(bins))));
  const auto bounded = [&](absl::string_view end, const PrimExpr& place) {
    const PrimExpr at = Plus(place, first);
    return variables.Add(
        absl::StrCat(name, end),
        Cast(tir::kInt32,
             Least(Most(at, Real(0)), Real(static_cast<double>(extent)))));
  };
  const PrimExpr next = Op2(BinaryOp::kAdd, i, Index(1));
  return {bounded("_begin", whole("floor", Times(Cast(kDouble, i), bin))),
          bounded("_end", whole("ceil", Times(Cast(kDouble, next), bin)))};
}

absl::Status LowerRoiPool(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ROIPoolAttrs>();
  BATON_RETURN_IF_ERROR(CheckRegions(loops, attrs));
  const std::vector<int64_t>& shape = loops.shape();
  const tir::Buffer& out = loops.output();
  const std::vector<int64_t> to = ShapeOf(out);
  const tir::Buffer largest = loops.Temporary("T_largest", kDouble, {1});
  const Indices only = {Index(0)};
  const auto bin = [&](const PrimExpr& image, const Side& rows,
                       const Side& columns, const Indices& at) {
    const auto element = [&](const PrimExpr& row, const PrimExpr& column) {
      return Cast(kDouble, loops.Load(0, {image, at[1], row, column}));
    };
    const auto result = [&](const PrimExpr& value) {
      return tir::BufferStore(out, Convert(out->dtype(), value), at);
    };
    const Stmt fold = Repeat("a", rows.begin, rows.end, [&](const PrimExpr& a) {
      return Repeat(
          "b", columns.begin, columns.end, [&](const PrimExpr& b) -> Stmt {
            return tir::BufferStore(
                largest, Most(tir::BufferLoad(largest, only), element(a, b)),
                only);
          });
    });
    return Stmt(tir::IfThenElse(
        And(Less(rows.begin, rows.end), Less(columns.begin, columns.end)),
        InOrder({tir::BufferStore(largest, element(rows.begin, columns.begin),
                                  only),
                 fold, result(tir::BufferLoad(largest, only))}),
        result(Real(0))));
  };
  loops.Run({out, largest},
            ForEachRegion(
                loops, attrs.spatial_scale,
                [&](const PrimExpr& region, const PrimExpr& image,
                    const Side& down, const Side& across) {
                  return ForEach("bin", {to[2], to[3]}, [&](const Indices& at) {
                    Variables variables;
                    const Side rows = ElementsOf(variables, "rows", down, at[0],
                                                 to[2], shape[2]);
                    const Side columns = ElementsOf(
                        variables, "columns", across, at[1], to[3], shape[3]);
                    return variables.Around(
                        ForEach("c", {to[1]}, [&](const Indices& c) {
                          return bin(image, rows, columns,
                                     {region, c[0], at[0], at[1]});
                        }));
                  });
                }));
  return absl::OkStatus();
}

// --- Boxes that overlap less than others -------------------------------------

// A box by its corners, in float32.
struct Box {
  PrimExpr top, left, bottom, right;
  PrimExpr Area() const {
    return Op2(BinaryOp::kMul, Op2(BinaryOp::kSub, bottom, top),
               Op2(BinaryOp::kSub, right, left));
  }
};

Box BoxOf(const LoopBuilder& loops, Variables& variables,
          absl::string_view name, const PrimExpr& image, const PrimExpr& i) {
  const auto corner = [&](int64_t k) {
    return variables.Add(absl::StrCat(name, k),
                         loops.Load(0, {image, i, Index(k)}));
  };
  const PrimExpr y0 = corner(0), x0 = corner(1), y1 = corner(2), x1 = corner(3);
  return {Least(y0, y1), Least(x0, x1), Most(y0, y1), Most(x0, x1)};
}

// True if the intersection of the boxes over their union is above `threshold`,
// a double.
PrimExpr Overlap(Variables& variables, const Box& a, const Box& b,
                 const PrimExpr& threshold) {
  const PrimExpr zero = Number(DType::Float(32), 0);
  const PrimExpr height = variables.Add(
      "height",
      Op2(BinaryOp::kSub, Least(a.bottom, b.bottom), Most(a.top, b.top)));
  const PrimExpr width = variables.Add(
      "width",
      Op2(BinaryOp::kSub, Least(a.right, b.right), Most(a.left, b.left)));
  const PrimExpr shared =
      variables.Add("shared", Op2(BinaryOp::kMul, height, width));
  const PrimExpr whole = variables.Add(
      "whole",
      Op2(BinaryOp::kSub, Op2(BinaryOp::kAdd, a.Area(), b.Area()), shared));
  const PrimExpr has_area =
      And(And(Less(zero, height), Less(zero, width)), Less(zero, whole));
  return And(has_area, Less(threshold,
                            Cast(kDouble, Op2(BinaryOp::kDiv, shared, whole))));
}

absl::Status LowerAllClassNonMaxSuppression(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::AllClassNonMaximumSuppressionAttrs>();
  if (attrs.output_format != "onnx") {
    return NoLoops(absl::StrCat("output_format=", attrs.output_format));
  }
  if (loops.dtype(0) != DType::Float(32) ||
      loops.dtype(1) != DType::Float(32)) {
    return NoLoops("boxes that are no float32");
  }
  const std::vector<int64_t>& boxes = loops.shape(0);
  const std::vector<int64_t>& shape = loops.shape(1);
  if (boxes[0] != shape[0] || boxes[1] != shape[2] || boxes[2] != 4) {
    return NoLoops("boxes and scores that do not fit");
  }
  BATON_RETURN_IF_ERROR(LineSort::Check(loops, 1, 2));
  const DType wide = DType::Int(64);
  const auto limit = [&](int i, DType dtype) {
    return Convert(dtype,
                   loops.Load(i, Indices(loops.shape(i).size(), Index(0))));
  };
  const tir::Buffer& rows = loops.output(0);
  const tir::Buffer& total = loops.output(1);
  const tir::Buffer state = loops.Temporary("T_state", tir::kInt32, {3});
  const Indices found = {Index(0)}, chosen = {Index(1)}, is_new = {Index(2)};
  const auto get = [&](const Indices& which) -> PrimExpr {
    return tir::BufferLoad(state, which);
  };
  const auto set = [&](const Indices& which, const PrimExpr& value) -> Stmt {
    return tir::BufferStore(state, value, which);
  };
  const auto add = [](const PrimExpr& a, const PrimExpr& b) {
    return Op2(BinaryOp::kAdd, a, b);
  };
  const LineSort sort(loops, 1, 2, /*is_ascending=*/false);
  // Stores box `i` unless one that is chosen overlaps it.
  const auto try_box = [&](const PrimExpr& image, const PrimExpr& label,
                           const PrimExpr& i) {
    const Stmt compare =
        Repeat("j", Index(0), get(chosen), [&](const PrimExpr& j) {
          Variables variables;
          const PrimExpr better = variables.Add(
              "better",
              Cast(tir::kInt32,
                   tir::BufferLoad(rows, {add(get(found), j), Index(2)})));
          const Box a = BoxOf(loops, variables, "a", image, better);
          const Box b = BoxOf(loops, variables, "b", image, i);
          const PrimExpr overlaps = Overlap(variables, a, b, limit(3, kDouble));
          return variables.Around(
              tir::IfThenElse(overlaps, set(is_new, Index(0))));
        });
    std::vector<Stmt> stores;
    const PrimExpr row = add(get(found), get(chosen));
    const PrimExpr values[] = {image, label, i};
    for (int64_t k = 0; k < 3; ++k) {
      stores.push_back(
          tir::BufferStore(rows, Cast(wide, values[k]), {row, Index(k)}));
    }
    stores.push_back(set(chosen, add(get(chosen), Index(1))));
    return InOrder({set(is_new, Index(1)), compare,
                    tir::IfThenElse(Op2(BinaryOp::kEQ, get(is_new), Index(1)),
                                    tir::MakeSeq(std::move(stores)))});
  };
  const Stmt clear =
      ForEach("i", ShapeOf(rows), [&](const Indices& at) -> Stmt {
        return tir::BufferStore(rows, Number(wide, 0), at);
      });
  const Stmt lines =
      ForEach("line", {shape[0], shape[1]}, [&](const Indices& line) {
        const Stmt choose = ForEach("i", {shape[2]}, [&](const Indices& at) {
          return With(
              "box", sort.Position(at[0]), [&](const PrimExpr& box) -> Stmt {
                const PrimExpr score =
                    Cast(kDouble, loops.Load(1, {line[0], line[1], box}));
                return tir::IfThenElse(
                    And(Less(limit(4, kDouble), score),
                        Less(Cast(wide, get(chosen)), limit(2, wide))),
                    try_box(line[0], line[1], box));
              });
        });
        return InOrder({sort.Sort({line[0], line[1], Index(0)}),
                        set(chosen, Index(0)), choose,
                        set(found, add(get(found), get(chosen)))});
      });
  std::vector<tir::Buffer> written = sort.buffers();
  written.insert(written.end(), {rows, total, state});
  loops.Run(
      written,
      InOrder({clear, set(found, Index(0)), lines,
               tir::BufferStore(total, Cast(wide, get(found)), {Index(0)})}));
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("vision.roi_align", LowerRoiAlign<false>);
BATON_ROW("vision.roi_align_half_pixel", LowerRoiAlign<true>);
BATON_ROW("vision.roi_pool", LowerRoiPool);
BATON_ROW("vision.all_class_non_max_suppression",
          LowerAllClassNonMaxSuppression);

}  // namespace
}  // namespace baton::lower
