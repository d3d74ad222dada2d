// Computations whose statements run in their order: scans, sorting, selections
// of the first elements, and stores at indices that an argument gives.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/line_sort.h"
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

// --- Sorting -----------------------------------------------------------------

// Stores the first elements of each line as they are sorted, and their
// positions; a buffer may be null.
absl::Status SortInto(LoopBuilder& loops, size_t axis, bool is_ascending,
                      const tir::Buffer& values, const tir::Buffer& positions) {
  BATON_RETURN_IF_ERROR(LineSort::Check(loops, 0, axis));
  const LineSort sort(loops, 0, axis, is_ascending);
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

// --- unique ------------------------------------------------------------------

// Sorts the elements, so that equal ones follow each other, the first one in
// front. Then numbers the distinct ones, in this order or in the order in which
// they first occur.
absl::Status LowerUnique(LoopBuilder& loops) {
  const int64_t size = loops.shape()[0];
  if (size == 0) return NoLoops("no elements");
  BATON_RETURN_IF_ERROR(LineSort::Check(loops, 0, 0));
  const auto& attrs = loops.attrs<relay::UniqueAttrs>();
  const LineSort sort(loops, 0, 0, /*is_ascending=*/true);
  const tir::Buffer& values = loops.output(0);
  const tir::Buffer& indices = loops.output(1);
  const tir::Buffer& inverse = loops.output(2);
  const tir::Buffer counts =
      attrs.return_counts
          ? loops.output(4)
          : loops.Temporary("T_counts", tir::kInt32, loops.shape());
  // By position: the first position of an equal element, and the number of a
  // distinct one.
  const tir::Buffer first =
      loops.Temporary("T_first", tir::kInt32, loops.shape());
  const tir::Buffer rank =
      loops.Temporary("T_rank", tir::kInt32, loops.shape());
  const tir::Buffer state = loops.Temporary("T_state", tir::kInt32, {2});
  const Indices found = {Index(0)}, current = {Index(1)};
  const DType dtype = loops.dtype();
  const auto load = [&](const PrimExpr& position) {
    return Cast(dtype.is_bool() ? DType::UInt(8) : WideDType(dtype),
                loops.Load(0, {position}));
  };
  // Gives the distinct element at `position` the next number.
  const auto number = [&](const PrimExpr& position) {
    return tir::MakeSeq(
        {tir::BufferStore(rank, Element(state, found), {position}),
         tir::BufferStore(state, tir::Add(Element(state, found), Index(1)),
                          found)});
  };
  const auto clear = [&](const Indices& i) {
    return tir::MakeSeq({tir::BufferStore(values, Number(dtype, 0), i),
                         tir::BufferStore(indices, Index(0), i),
                         tir::BufferStore(counts, Index(0), i)});
  };
  const auto find = [&](const Indices& i) {
    return With("p", sort.Position(i[0]), [&](const PrimExpr& p) -> Stmt {
      std::vector<Stmt> begin = {tir::BufferStore(state, p, current)};
      if (attrs.sorted) begin.push_back(number(p));
      const PrimExpr is_new = tir::MakeBinary(
          BinaryOp::kOr, Op2(BinaryOp::kEQ, i[0], Index(0)),
          Op2(BinaryOp::kNE, load(p), load(Element(state, current))));
      return InOrder({tir::IfThenElse(is_new, InOrder(begin)),
                      tir::BufferStore(first, Element(state, current), {p})});
    });
  };
  const auto store = [&](const Indices& at) {
    const PrimExpr& p = at[0];
    const PrimExpr is_first = Op2(BinaryOp::kEQ, Element(first, at), p);
    std::vector<Stmt> stmts;
    if (!attrs.sorted) stmts.push_back(tir::IfThenElse(is_first, number(p)));
    stmts.push_back(
        With("k", Element(rank, {Element(first, at)}), [&](const PrimExpr& k) {
          return InOrder(
              {tir::IfThenElse(
                   is_first, tir::MakeSeq({tir::BufferStore(
                                               values, loops.Load(0, at), {k}),
                                           tir::BufferStore(indices, p, {k})})),
               tir::BufferStore(inverse, k, at),
               tir::BufferStore(
                   counts, tir::Add(Element(counts, {k}), Index(1)), {k})});
        }));
    return InOrder(stmts);
  };
  std::vector<tir::Buffer> written = sort.buffers();
  for (const tir::Buffer& buffer : {values, indices, inverse, loops.output(3),
                                    counts, first, rank, state}) {
    written.push_back(buffer);
  }
  loops.Run(written,
            InOrder({tir::BufferStore(state, Index(0), found),
                     tir::BufferStore(state, Index(0), current),
                     ForEach("c", {size}, clear), sort.Sort({Index(0)}),
                     ForEach("i", {size}, find), ForEach("p", {size}, store),
                     tir::BufferStore(loops.output(3), Element(state, found),
                                      {Index(0)})}));
  return absl::OkStatus();
}

// --- Scatter -----------------------------------------------------------------

absl::Status CheckScatter(const LoopBuilder& loops, const std::string& mode) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  return mode == "mean" ? NoLoops("a mean of updates") : absl::OkStatus();
}

// The result of a scatter, whose elements are combined with updates. Halves are
// combined as float32, and rounded when all updates are done.
class Scattered {
 public:
  // `mode` must outlive this object.
  Scattered(LoopBuilder& loops, const std::string& mode)
      : loops_(loops),
        mode_(mode),
        dtype_(loops.dtype()),
        wide_(mode == "update"   ? dtype_
              : dtype_.is_bool() ? DType::UInt(8)
                                 : WideDType(dtype_)),
        result_(wide_ == dtype_
                    ? loops.output()
                    : loops.Temporary("T_wide", wide_, loops.shape())) {
    loops.Store(result_, [&](const Indices& at) {
      return Cast(wide_, loops.Load(0, at));
    });
  }

  const tir::Buffer& buffer() const { return result_; }

  // Combines the element at `to` with the update at `from`.
  Stmt Update(const Indices& to, const Indices& from) const {
    return tir::BufferStore(
        result_,
        Combined(Element(result_, to), Cast(wide_, loops_.Load(2, from))), to);
  }

  // Call it after all updates.
  void Finish() const {
    if (wide_ == dtype_) return;
    loops_.Store(loops_.output(), [&](const Indices& at) {
      return Cast(dtype_, Element(result_, at));
    });
  }

 private:
  // The element `a` combined with the update `b`. A sum of bools is true if one
  // of them is.
  PrimExpr Combined(const PrimExpr& a, const PrimExpr& b) const {
    const bool is_bool = dtype_.is_bool();
    if (mode_ == "add" && !is_bool) return Op2(BinaryOp::kAdd, a, b);
    if (mode_ == "mul" && !is_bool) return Op2(BinaryOp::kMul, a, b);
    // Nothing is less or greater than a NaN: the old element stays.
    if (mode_ == "min" || mode_ == "mul") return tir::Select(Less(b, a), b, a);
    if (mode_ == "max" || mode_ == "add") return tir::Select(Less(a, b), b, a);
    return b;
  }

  LoopBuilder& loops_;
  const std::string& mode_;
  const DType dtype_;
  const DType wide_;
  const tir::Buffer result_;
};

absl::Status LowerScatterElements(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ScatterElementsAttrs>();
  const std::string& mode = attrs.reduction;
  BATON_RETURN_IF_ERROR(CheckScatter(loops, mode));
  const size_t axis = static_cast<size_t>(NormalAxis(attrs.axis, loops.rank()));
  const Scattered result(loops, mode);
  loops.Run({result.buffer()},
            ForEach("u", loops.shape(1), [&](const Indices& at) {
              return WithIndex("index", loops.Load(1, at), loops.shape()[axis],
                               [&](const PrimExpr& index) {
                                 Indices to = at;
                                 to[axis] = index;
                                 return result.Update(to, at);
                               });
            }));
  result.Finish();
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
  const Scattered result(loops, mode);
  loops.Run({result.buffer()},
            ForEach("point", points, [&](const Indices& point) {
              return WithIndices(
                  loops, point, absl::MakeConstSpan(shape).first(length), {},
                  [&](const Indices& to) {
                    return ForEach("row", rows, [&](const Indices& row) {
                      return result.Update(Joined(to, row), Joined(point, row));
                    });
                  });
            }));
  result.Finish();
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

// Indices of the first axes, which are broadcast.
absl::Status LowerAdvIndex(LoopBuilder& loops) {
  const std::vector<int64_t>& shape = loops.shape();
  const tir::Buffer& result = loops.output();
  const std::vector<int64_t> to = ShapeOf(result);
  const auto count = static_cast<size_t>(loops.num_inputs() - 1);
  for (int i = 1; i < loops.num_inputs(); ++i) {
    BATON_RETURN_IF_ERROR(CheckIndices(loops, i));
  }
  const size_t points_rank = to.size() + count - shape.size();
  const std::vector<int64_t> points(
      to.begin(), to.begin() + static_cast<int64_t>(points_rank));
  const std::vector<int64_t> rows(shape.begin() + static_cast<int64_t>(count),
                                  shape.end());
  loops.Run(
      {result}, ForEach("point", points, [&](const Indices& point) {
        const auto index_of = [&](size_t d) {
          const int input = static_cast<int>(d) + 1;
          const std::vector<int64_t>& given = loops.shape(input);
          Indices which;
          for (size_t i = 0; i < given.size(); ++i) {
            which.push_back(given[i] == 1
                                ? PrimExpr(Index(0))
                                : point[points_rank - given.size() + i]);
          }
          return loops.Load(input, which);
        };
        return WithIndices(
            absl::MakeConstSpan(shape).first(count), {}, index_of,
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
BATON_ROW("unique", LowerUnique);
BATON_ROW("scatter_elements", LowerScatterElements);
BATON_ROW("scatter_nd", LowerScatterNd);
BATON_ROW("gather_nd", LowerGatherNd);
BATON_ROW("adv_index", LowerAdvIndex);

}  // namespace
}  // namespace baton::lower
