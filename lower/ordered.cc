// Computations whose statements run in their order: scans, sorting, selections
// of the first elements, and stores at indices that an argument gives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;
using tir::Stmt;

PrimExpr Less(const PrimExpr& a, const PrimExpr& b) {
  return Op2(BinaryOp::kLT, a, b);
}

PrimExpr Element(const tir::Buffer& buffer, const Indices& at) {
  return tir::BufferLoad(buffer, at);
}

Indices Joined(Indices first, const Indices& others) {
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

// --- Scans -------------------------------------------------------------------

template <BinaryOp kOp, int kStart>
absl::Status LowerScan(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ScanopAttrs>();
  const DType dtype = loops.output().dtype();
  if (dtype.is_bool()) return NoLoops("a scan of bools");
  const bool is_flat = !attrs.axis.has_value();
  const std::vector<int64_t> shape = ShapeOf(loops.output());
  const size_t axis =
      is_flat ? 0 : static_cast<size_t>(NormalAxis(*attrs.axis, loops.rank()));
  const DType wide = WideDType(dtype);
  const tir::Buffer total =
      dtype == wide ? loops.output() : loops.Temporary("T_wide", wide, shape);
  const auto load = [&](const Indices& at) {
    const Indices from = is_flat ? Unflatten(at[0], loops.shape()) : at;
    return Convert(wide, Convert(dtype, loops.Load(0, from)));
  };
  const PrimExpr start = Number(wide, kStart);
  std::vector<int64_t> first = shape;
  first[axis] = 1;
  std::vector<int64_t> others = shape;
  --others[axis];
  std::vector<Stmt> stmts;
  stmts.push_back(ForEach("first", first, [&](const Indices& at) -> Stmt {
    return tir::BufferStore(
        total, attrs.exclusive ? start : Op2(kOp, start, load(at)), at);
  }));
  if (others[axis] > 0) {
    stmts.push_back(ForEach("i", others, [&](const Indices& before) -> Stmt {
      Indices at = before;
      at[axis] = tir::Add(at[axis], Index(1));
      return tir::BufferStore(
          total,
          Op2(kOp, Element(total, before), load(attrs.exclusive ? before : at)),
          at);
    }));
  }
  loops.Run({total}, tir::MakeSeq(std::move(stmts)));
  if (dtype != wide) {
    loops.Store(loops.output(), [&](const Indices& at) {
      return Convert(dtype, Element(total, at));
    });
  }
  return absl::OkStatus();
}

// The order of elements: a NaN is behind all others, and equal to itself.
PrimExpr IsBefore(const PrimExpr& a, const PrimExpr& b, bool is_ascending) {
  const PrimExpr& x = is_ascending ? a : b;
  const PrimExpr& y = is_ascending ? b : a;
  if (!a.dtype().is_float()) return Less(x, y);
  const auto is_number = [](const PrimExpr& value) {
    return Op2(BinaryOp::kEQ, value, value);
  };
  return tir::Select(is_number(y), Less(x, y), is_number(x));
}

// --- Sorting -----------------------------------------------------------------

// The positions of the elements of a line in the order of IsBefore; equal ones
// keep their order. Runs of 1, 2, 4, ... positions are merged two by two, from
// one half of a buffer to the other.
class LineSort {
 public:
  LineSort(LoopBuilder& loops, size_t axis, bool is_ascending)
      : loops_(loops),
        axis_(axis),
        is_ascending_(is_ascending),
        extent_(loops.shape()[axis]) {
    while ((int64_t{1} << num_rounds_) < extent_) ++num_rounds_;
    positions_ = loops.Temporary("T_positions", tir::kInt32,
                                 {2, std::max<int64_t>(extent_, 1)});
    heads_ = loops.Temporary("T_heads", tir::kInt32, {2});
  }

  static absl::Status Check(const LoopBuilder& loops, size_t axis) {
    // Positions beyond the end of a run are computed.
    constexpr int64_t kMost = int64_t{1} << 29;
    return loops.shape()[axis] > kMost ? NoLoops("lines of so many elements")
                                       : absl::OkStatus();
  }

  std::vector<tir::Buffer> buffers() const { return {positions_, heads_}; }

  // The position of the i-th element of the line that was sorted last.
  PrimExpr Position(const PrimExpr& i) const {
    return Element(positions_, {Index(num_rounds_ % 2), i});
  }

  // Sorts the line whose index along the axis is any.
  Stmt Sort(const Indices& line) const {
    std::vector<Stmt> stmts = {
        ForEach("i", {extent_}, [&](const Indices& at) -> Stmt {
          return tir::BufferStore(positions_, at[0], {Index(0), at[0]});
        })};
    if (num_rounds_ > 0) {
      stmts.push_back(
          ForEach("round", {num_rounds_}, [&](const Indices& round) {
            return With("width",
                        tir::CallIntrinsic("shift_left", {Index(1), round[0]}),
                        [&](const PrimExpr& width) {
                          return Merge(line, Rest(round[0], Index(2)), width);
                        });
          }));
    }
    return tir::MakeSeq(std::move(stmts));
  }

 private:
  static PrimExpr Rest(const PrimExpr& a, const PrimExpr& b) {
    return tir::MakeBinary(BinaryOp::kFloorMod, a, b);
  }
  static PrimExpr Least(const PrimExpr& a, const PrimExpr& b) {
    return Op2(BinaryOp::kMin, a, b);
  }

  // Merges runs of `width` positions of half `from`.
  Stmt Merge(const Indices& line, const PrimExpr& from,
             const PrimExpr& width) const {
    const PrimExpr end = Index(extent_);
    const auto value = [&](const PrimExpr& head) {
      Indices at = line;
      at[axis_] = Element(positions_, {from, head});
      const PrimExpr element = loops_.Load(0, at);
      const DType dtype = element.dtype();
      return Cast(dtype.is_bool() ? DType::UInt(8) : WideDType(dtype), element);
    };
    const Stmt merge = ForEach("i", {extent_}, [&](const Indices& at) -> Stmt {
      const PrimExpr& i = at[0];
      const auto take = [&](int run, const PrimExpr& head) {
        return tir::MakeSeq(
            {tir::BufferStore(positions_, Element(positions_, {from, head}),
                              {tir::Sub(Index(1), from), i}),
             tir::BufferStore(heads_, tir::Add(head, Index(1)), {Index(run)})});
      };
      // The place of `i` in two runs, and the ends of these.
      const PrimExpr place = Rest(i, tir::Mul(width, Index(2)));
      const Stmt begin = tir::IfThenElse(
          Op2(BinaryOp::kEQ, place, Index(0)),
          tir::MakeSeq({tir::BufferStore(heads_, i, {Index(0)}),
                        tir::BufferStore(heads_, Least(tir::Add(i, width), end),
                                         {Index(1)})}));
      const auto step = [&](const PrimExpr& first, const PrimExpr& left,
                            const PrimExpr& right) {
        const PrimExpr left_end = Least(tir::Add(first, width), end);
        const PrimExpr right_end =
            Least(tir::Add(first, tir::Mul(width, Index(2))), end);
        const Stmt compared =
            tir::IfThenElse(IsBefore(value(right), value(left), is_ascending_),
                            take(1, right), take(0, left));
        const Stmt left_is_there =
            tir::IfThenElse(Less(left, left_end), compared, take(1, right));
        return tir::IfThenElse(Less(right, right_end), left_is_there,
                               take(0, left));
      };
      const Stmt merged =
          With("first", tir::Sub(i, place), [&](const PrimExpr& first) {
            return With("left", Element(heads_, {Index(0)}),
                        [&](const PrimExpr& left) {
                          return With("right", Element(heads_, {Index(1)}),
                                      [&](const PrimExpr& right) -> Stmt {
                                        return step(first, left, right);
                                      });
                        });
          });
      return tir::MakeSeq({begin, merged});
    });
    // Compilers do not see that the first place begins a run.
    return tir::MakeSeq({tir::BufferStore(heads_, Index(0), {Index(0)}),
                         tir::BufferStore(heads_, Index(0), {Index(1)}),
                         merge});
  }

  LoopBuilder& loops_;
  size_t axis_;
  bool is_ascending_;
  int64_t extent_;
  int64_t num_rounds_ = 0;
  tir::Buffer positions_;  // [2, extent]
  tir::Buffer heads_;      // The next positions of the runs that are merged.
};

// Stores the first elements of each line as they are sorted, and their
// positions; a buffer may be null.
absl::Status SortInto(LoopBuilder& loops, size_t axis, bool is_ascending,
                      const tir::Buffer& values, const tir::Buffer& positions) {
  BATON_RETURN_IF_ERROR(LineSort::Check(loops, axis));
  const LineSort sort(loops, axis, is_ascending);
  std::vector<tir::Buffer> written = sort.buffers();
  for (const tir::Buffer& buffer : {values, positions}) {
    if (buffer.defined()) written.push_back(buffer);
  }
  const int64_t count = ShapeOf(values.defined() ? values : positions)[axis];
  std::vector<int64_t> lines = loops.shape();
  lines[axis] = 1;
  loops.Run(
      written, ForEach("line", lines, [&](const Indices& line) {
        return InOrder(
            {sort.Sort(line), ForEach("i", {count}, [&](const Indices& i) {
               Indices to = line;
               to[axis] = i[0];
               std::vector<Stmt> stores;
               if (values.defined()) {
                 Indices from = line;
                 from[axis] = sort.Position(i[0]);
                 stores.push_back(
                     tir::BufferStore(values, loops.Load(0, from), to));
               }
               if (positions.defined()) {
                 stores.push_back(tir::BufferStore(
                     positions, Cast(positions->dtype(), sort.Position(i[0])),
                     to));
               }
               return tir::MakeSeq(std::move(stores));
             })});
      }));
  return absl::OkStatus();
}

absl::Status LowerSort(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ArgsortAttrs>();
  return SortInto(loops,
                  static_cast<size_t>(NormalAxis(attrs.axis, loops.rank())),
                  attrs.is_ascend, loops.output(), tir::Buffer());
}

absl::Status LowerArgsort(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ArgsortAttrs>();
  return SortInto(loops,
                  static_cast<size_t>(NormalAxis(attrs.axis, loops.rank())),
                  attrs.is_ascend, tir::Buffer(), loops.output());
}

// --- topk --------------------------------------------------------------------

// Keeps the first k elements of a line in order: an element that comes before
// the last of them is put behind all that do not come after it. Lines of which
// many are kept are sorted.
absl::Status LowerTopK(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::TopKAttrs>();
  const std::vector<int64_t>& shape = loops.shape();
  const size_t axis = static_cast<size_t>(NormalAxis(attrs.axis, loops.rank()));
  const bool has_values = attrs.ret_type != "indices";
  const bool has_indices = attrs.ret_type != "values";
  const std::vector<int64_t> to = ShapeOf(loops.output());
  const int64_t k = to[axis];
  const DType dtype = loops.dtype();
  // An insertion passes all k.
  constexpr int64_t kMost = 1024;
  if (k > kMost) {
    return SortInto(
        loops, axis, attrs.is_ascend,
        has_values ? loops.output() : tir::Buffer(),
        has_indices ? loops.output(has_values ? 1 : 0) : tir::Buffer());
  }
  const DType key = WideDType(dtype);
  const tir::Buffer values =
      has_values ? loops.output() : loops.Temporary("T_values", dtype, to);
  const tir::Buffer indices = loops.output(has_indices && has_values ? 1 : 0);
  std::vector<tir::Buffer> written = {values};
  if (has_indices) written.push_back(indices);
  std::vector<int64_t> lines = shape;
  lines[axis] = 1;
  loops.Run(
      written, ForEach("line", lines, [&](const Indices& line) {
        const auto place = [&](const PrimExpr& p) {
          Indices at = line;
          at[axis] = p;
          return at;
        };
        const auto store = [&](const PrimExpr& p, const PrimExpr& value,
                               const PrimExpr& index) {
          std::vector<Stmt> stores = {
              tir::BufferStore(values, value, place(p))};
          if (has_indices) {
            stores.push_back(tir::BufferStore(indices, index, place(p)));
          }
          return stores;
        };
        return ForEach("i", {shape[axis]}, [&](const Indices& element) {
          const PrimExpr& i = element[0];
          return With(
              "value", loops.Load(0, place(i)), [&](const PrimExpr& value) {
                const auto is_before = [&](const PrimExpr& p) {
                  return IsBefore(Cast(key, value),
                                  Cast(key, Element(values, place(p))),
                                  attrs.is_ascend);
                };
                const PrimExpr index =
                    has_indices ? Cast(indices.dtype(), i) : i;
                // `insert` puts the element at the given place and moves it to
                // the front.
                const auto insert = [&](const PrimExpr& from) {
                  std::vector<Stmt> stmts = store(from, value, index);
                  if (k > 1) {
                    stmts.push_back(
                        ForEach("j", {k - 1}, [&](const Indices& at) {
                          const PrimExpr p = tir::Sub(Index(k - 1), at[0]);
                          const PrimExpr front = tir::Sub(Index(k - 2), at[0]);
                          std::vector<Stmt> moves =
                              store(p, Element(values, place(front)),
                                    has_indices ? Element(indices, place(front))
                                                : front);
                          for (Stmt& stmt : store(front, value, index)) {
                            moves.push_back(std::move(stmt));
                          }
                          const Stmt move = tir::IfThenElse(
                              is_before(front), tir::MakeSeq(moves));
                          return tir::IfThenElse(Op2(BinaryOp::kLE, p, from),
                                                 move);
                        }));
                  }
                  return tir::MakeSeq(std::move(stmts));
                };
                const Stmt full = tir::IfThenElse(is_before(Index(k - 1)),
                                                  insert(Index(k - 1)));
                return Stmt(
                    tir::IfThenElse(Less(i, Index(k)), insert(i), full));
              });
        });
      }));
  return absl::OkStatus();
}

// --- Scatter -----------------------------------------------------------------

absl::Status CheckScatter(const LoopBuilder& loops, const std::string& mode) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  if (mode == "mean") return NoLoops("a mean of updates");
  if (mode != "update" &&
      (loops.dtype().is_bool() || loops.dtype().is_half())) {
    return NoLoops(absl::StrCat("a combination of ", loops.dtype().ToString()));
  }
  return absl::OkStatus();
}

// The element `a` combined with the update `b`.
PrimExpr Combined(const std::string& mode, const PrimExpr& a,
                  const PrimExpr& b) {
  if (mode == "add") return Op2(BinaryOp::kAdd, a, b);
  if (mode == "mul") return Op2(BinaryOp::kMul, a, b);
  // Nothing is less or greater than a NaN: the old element stays.
  if (mode == "min") return tir::Select(Less(b, a), b, a);
  if (mode == "max") return tir::Select(Less(a, b), b, a);
  return b;
}

void CopyData(LoopBuilder& loops) {
  loops.Store(loops.output(),
              [&](const Indices& at) { return loops.Load(0, at); });
}

Stmt Update(const LoopBuilder& loops, const std::string& mode,
            const Indices& to, const Indices& from) {
  const tir::Buffer& result = loops.output();
  return tir::BufferStore(
      result, Combined(mode, Element(result, to), loops.Load(2, from)), to);
}

absl::Status LowerScatterElements(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ScatterElementsAttrs>();
  const std::string& mode = attrs.reduction;
  BATON_RETURN_IF_ERROR(CheckScatter(loops, mode));
  const size_t axis = static_cast<size_t>(NormalAxis(attrs.axis, loops.rank()));
  CopyData(loops);
  loops.Run({loops.output()},
            ForEach("u", loops.shape(1), [&](const Indices& at) {
              return WithIndex("index", loops.Load(1, at), loops.shape()[axis],
                               [&](const PrimExpr& index) {
                                 Indices to = at;
                                 to[axis] = index;
                                 return Update(loops, mode, to, at);
                               });
            }));
  return absl::OkStatus();
}

absl::Status LowerScatterNd(LoopBuilder& loops) {
  const std::string& mode = loops.attrs<relay::ScatterNDAttrs>().mode;
  BATON_RETURN_IF_ERROR(CheckScatter(loops, mode));
  const std::vector<int64_t>& shape = loops.shape();
  const std::vector<int64_t>& indices = loops.shape(1);
  const auto length = static_cast<size_t>(indices[0]);
  const std::vector<int64_t> points(indices.begin() + 1, indices.end());
  const std::vector<int64_t> rows(shape.begin() + static_cast<int64_t>(length),
                                  shape.end());
  CopyData(loops);
  loops.Run(
      {loops.output()}, ForEach("point", points, [&](const Indices& point) {
        return WithIndices(
            loops, point, absl::MakeConstSpan(shape).first(length), {},
            [&](const Indices& to) {
              return ForEach("row", rows, [&](const Indices& row) {
                return Update(loops, mode, Joined(to, row), Joined(point, row));
              });
            });
      }));
  return absl::OkStatus();
}

// --- gather_nd ---------------------------------------------------------------

absl::Status LowerGatherNd(LoopBuilder& loops) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  const auto batch =
      static_cast<size_t>(loops.attrs<relay::GatherNDAttrs>().batch_dims);
  const std::vector<int64_t>& shape = loops.shape();
  const std::vector<int64_t>& indices = loops.shape(1);
  const auto length = static_cast<size_t>(indices[0]);
  const std::vector<int64_t> points(indices.begin() + 1, indices.end());
  const std::vector<int64_t> rows(
      shape.begin() + static_cast<int64_t>(batch + length), shape.end());
  const tir::Buffer& result = loops.output();
  loops.Run(
      {result}, ForEach("point", points, [&](const Indices& point) {
        return WithIndices(
            loops, point, absl::MakeConstSpan(shape).subspan(batch, length),
            Indices(point.begin(), point.begin() + static_cast<int64_t>(batch)),
            [&](const Indices& from) {
              return ForEach("row", rows, [&](const Indices& row) -> Stmt {
                return tir::BufferStore(result,
                                        loops.Load(0, Joined(from, row)),
                                        Joined(point, row));
              });
            });
      }));
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("cumsum", (LowerScan<BinaryOp::kAdd, 0>));
BATON_ROW("cumprod", (LowerScan<BinaryOp::kMul, 1>));
BATON_ROW("sort", LowerSort);
BATON_ROW("argsort", LowerArgsort);
BATON_ROW("topk", LowerTopK);
BATON_ROW("scatter_elements", LowerScatterElements);
BATON_ROW("scatter_nd", LowerScatterNd);
BATON_ROW("gather_nd", LowerGatherNd);

}  // namespace
}  // namespace baton::lower
