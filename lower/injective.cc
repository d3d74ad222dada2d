// Computations of operators whose elements are elements of an argument, or
// numbers, at an index that the index of the result gives.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/lower/computation.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/op/vision/vision.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

size_t Place(int64_t axis, int rank) {
  return static_cast<size_t>(NormalAxis(axis, rank));
}

// result[at] = argument[index(at)].
template <typename Fn>
absl::Status MapIndices(LoopBuilder& loops, const Fn& index) {
  loops.Store(loops.output(),
              [&](const Indices& at) { return loops.Load(0, index(at)); });
  return absl::OkStatus();
}

// The index into an array of shape `from` with the row-major number that `at`
// has in one of shape `to`.
Indices ReshapedIndices(const Indices& at, const std::vector<int64_t>& to,
                        const std::vector<int64_t>& from) {
  std::vector<int64_t> to_long, from_long;
  Indices at_long;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) continue;
    to_long.push_back(to[i]);
    at_long.push_back(at[i]);
  }
  for (const int64_t extent : from) {
    if (extent != 1) from_long.push_back(extent);
  }
  if (to_long != from_long) return Unflatten(Flatten(at, to), from);
  // Axes of one element come and go.
  Indices result;
  size_t next = 0;
  for (const int64_t extent : from) {
    result.push_back(extent == 1 ? Index(0) : at_long[next++]);
  }
  return result;
}

absl::Status LowerReshape(LoopBuilder& loops) {
  const std::vector<int64_t> to = ShapeOf(loops.output());
  return MapIndices(loops, [&](const Indices& at) {
    return ReshapedIndices(at, to, loops.shape());
  });
}

absl::Status LowerTranspose(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::TransposeAttrs>();
  const size_t rank = loops.shape().size();
  return MapIndices(loops, [&](const Indices& at) {
    Indices from(rank);
    for (size_t i = 0; i < rank; ++i) {
      const size_t axis = attrs.axes.has_value() && !attrs.axes->empty()
                              ? Place((*attrs.axes)[i], loops.rank())
                              : rank - 1 - i;
      from[axis] = at[i];
    }
    return from;
  });
}

// The arguments one after another along `axis`, each `extent(i)` long.
template <typename Load>
absl::Status Choose(LoopBuilder& loops, size_t axis,
                    const std::vector<int64_t>& extents, const Load& load) {
  loops.Store(loops.output(), [&](const Indices& at) {
    int64_t begin = 0;
    for (const int64_t extent : extents) begin += extent;
    PrimExpr value;
    for (size_t i = extents.size(); i-- > 0;) {
      begin -= extents[i];
      const PrimExpr here =
          load(static_cast<int>(i), at, tir::Sub(at[axis], Index(begin)));
      value = value.defined()
                  ? IfThenElse(Less(at[axis], Index(begin + extents[i])), here,
                               value)
                  : here;
    }
    return value;
  });
  return absl::OkStatus();
}

absl::Status LowerConcatenate(LoopBuilder& loops) {
  const size_t axis =
      Place(loops.attrs<relay::ConcatenateAttrs>().axis, loops.rank());
  std::vector<int64_t> extents;
  for (int i = 0; i < loops.num_inputs(); ++i) {
    extents.push_back(loops.shape(i)[axis]);
  }
  return Choose(loops, axis, extents,
                [&](int i, Indices at, const PrimExpr& index) {
                  at[axis] = index;
                  return loops.Load(i, at);
                });
}

absl::Status LowerStack(LoopBuilder& loops) {
  const size_t axis =
      Place(loops.attrs<relay::StackAttrs>().axis, loops.rank() + 1);
  const std::vector<int64_t> extents(static_cast<size_t>(loops.num_inputs()),
                                     1);
  return Choose(loops, axis, extents,
                [&](int i, Indices at, const PrimExpr& /*index*/) {
                  at.erase(at.begin() + static_cast<int64_t>(axis));
                  return loops.Load(i, at);
                });
}

absl::Status LowerSplit(LoopBuilder& loops) {
  const size_t axis =
      Place(loops.attrs<relay::SplitAttrs>().axis, loops.rank());
  int64_t begin = 0;
  std::vector<int64_t> begins;
  for (int i = 0; i < loops.num_outputs(); ++i) {
    begins.push_back(begin);
    begin += ShapeOf(loops.output(i))[axis];
  }
  if (begin != loops.shape()[axis]) return NoLoops("the parts overlap");
  for (int i = 0; i < loops.num_outputs(); ++i) {
    loops.Store(loops.output(i), [&](Indices at) {
      at[axis] = tir::Add(at[axis], Index(begins[static_cast<size_t>(i)]));
      return loops.Load(0, at);
    });
  }
  return absl::OkStatus();
}

absl::Status LowerStridedSlice(LoopBuilder& loops) {
  const std::vector<int64_t>& shape = loops.shape();
  BATON_ASSIGN_OR_RETURN(
      const auto slices,
      relay::SlicesOf(Dims(shape.begin(), shape.end()),
                      loops.attrs<relay::StridedSliceAttrs>(),
                      relay::CrossedEnds::kEmpty));
  return MapIndices(loops, [&](Indices at) {
    for (const relay::AxisSlice& slice : slices) {
      PrimExpr& index = at[static_cast<size_t>(slice.axis)];
      index =
          tir::Add(tir::Mul(index, Index(slice.stride)), Index(slice.begin));
    }
    return at;
  });
}

absl::Status LowerSameIndex(LoopBuilder& loops) {
  return MapIndices(loops, [](const Indices& at) { return at; });
}

// An index that the program computes, as an index of an axis.
PrimExpr GivenIndex(const PrimExpr& index) { return Cast(tir::kInt32, index); }

// Fails at run time if an element of argument 1 is not in [least, most].
void RequireRange(LoopBuilder& loops, int64_t least, int64_t most) {
  const DType wide = DType::Int(64);
  loops.Run({}, ForEach("check", loops.shape(1), [&](const Indices& at) {
              return With(
                  "given", Cast(wide, loops.Load(1, at)),
                  [&](const PrimExpr& given) {
                    return Require(
                        And(Op2(BinaryOp::kLE, tir::IntImm(wide, least), given),
                            Op2(BinaryOp::kLE, given, tir::IntImm(wide, most))),
                        "an index is out of range", Nothing());
                  });
            }));
}

absl::Status LowerTake(LoopBuilder& loops) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  const auto& attrs = loops.attrs<relay::TakeAttrs>();
  const int64_t batch = attrs.batch_dims < 0 ? attrs.batch_dims + loops.rank(1)
                                             : attrs.batch_dims;
  const bool is_flat = !attrs.axis.has_value();
  const std::vector<int64_t>& shape = loops.shape();
  const size_t axis = is_flat ? 0 : Place(*attrs.axis, loops.rank());
  const int64_t extent = is_flat ? NumElementsOf(shape) : shape[axis];
  const size_t count = static_cast<size_t>(loops.rank(1) - batch);
  if (attrs.mode == "fast") RequireRange(loops, 0, extent - 1);
  return MapIndices(loops, [&](const Indices& at) {
    // The index of the index: shared axes, and those in the place of `axis`.
    Indices which(at.begin(), at.begin() + batch);
    const auto first = at.begin() + static_cast<int64_t>(axis);
    which.insert(which.end(), first, first + static_cast<int64_t>(count));
    // In 64 bits, which hold the extent.
    PrimExpr index = Cast(DType::Int(64), loops.Load(1, which));
    const auto number = [](int64_t value) -> PrimExpr {
      return tir::IntImm(DType::Int(64), value);
    };
    if (attrs.mode == "wrap") {
      index = Op2(BinaryOp::kFloorMod, index, number(extent));
    } else if (attrs.mode != "fast") {
      index = Op2(BinaryOp::kMax, number(0),
                  Op2(BinaryOp::kMin, index, number(extent - 1)));
    }
    index = GivenIndex(index);
    if (is_flat) return Unflatten(index, shape);
    Indices from(at.begin(), first);
    from.push_back(index);
    from.insert(from.end(), first + static_cast<int64_t>(count), at.end());
    return from;
  });
}

absl::Status LowerGather(LoopBuilder& loops) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  const size_t axis =
      Place(loops.attrs<relay::GatherAttrs>().axis.value_or(0), loops.rank());
  const int64_t extent = loops.shape()[axis];
  RequireRange(loops, -extent, extent - 1);
  return MapIndices(loops, [&](Indices at) {
    const PrimExpr index = GivenIndex(Cast(DType::Int(64), loops.Load(1, at)));
    at[axis] = tir::Select(Less(index, Index(0)),
                           tir::Add(index, Index(extent)), index);
    return at;
  });
}

absl::Status LowerOneHot(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::OneHotAttrs>();
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 0));
  const size_t axis = Place(attrs.axis, loops.rank() + 1);
  const DType dtype = loops.output().dtype();
  const DType wide = DType::Int(64);
  loops.Store(loops.output(), [&](const Indices& at) {
    Indices which = at;
    which.erase(which.begin() + static_cast<int64_t>(axis));
    const auto number = [&](int i) {
      return Convert(dtype,
                     loops.Load(i, Indices(loops.shape(i).size(), Index(0))));
    };
    return tir::Select(Op2(BinaryOp::kEQ, Cast(wide, loops.Load(0, which)),
                           Cast(wide, at[axis])),
                       number(1), number(2));
  });
  return absl::OkStatus();
}

// Reverses the beginning of each sequence.
absl::Status LowerReverseSequence(LoopBuilder& loops) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  const auto& attrs = loops.attrs<relay::ReverseSequenceAttrs>();
  const size_t axis = Place(attrs.seq_axis, loops.rank());
  const size_t batch = Place(attrs.batch_axis, loops.rank());
  RequireRange(loops, 0, loops.shape()[axis]);
  return MapIndices(loops, [&](Indices at) {
    const PrimExpr length = GivenIndex(loops.Load(1, {at[batch]}));
    const PrimExpr reversed =
        Op2(BinaryOp::kSub, Op2(BinaryOp::kSub, length, Index(1)), at[axis]);
    at[axis] =
        tir::Select(Op2(BinaryOp::kLT, at[axis], length), reversed, at[axis]);
    return at;
  });
}

// The places of the channels, the rows and the columns in a layout.
absl::Status FindAxes(const std::string& layout, size_t& c, size_t& h,
                      size_t& w) {
  if (layout != "NCHW" && layout != "NHWC") {
    return NoLoops("the layout " + layout);
  }
  c = layout.find('C');
  h = layout.find('H');
  w = layout.find('W');
  return absl::OkStatus();
}

absl::Status LowerDepthToSpace(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::SubPixelAttrs>();
  const int64_t block = attrs.block_size;
  size_t c, h, w;
  BATON_RETURN_IF_ERROR(FindAxes(attrs.layout, c, h, w));
  const int64_t channels = loops.shape()[c] / (block * block);
  return MapIndices(loops, [&](Indices at) {
    const PrimExpr inside = tir::Add(tir::Mul(Rest(at[h], block), Index(block)),
                                     Rest(at[w], block));
    at[c] = attrs.mode == "CDR"
                ? tir::Add(tir::Mul(at[c], Index(block * block)), inside)
                : tir::Add(tir::Mul(inside, Index(channels)), at[c]);
    at[h] = Divide(at[h], block);
    at[w] = Divide(at[w], block);
    return at;
  });
}

absl::Status LowerSpaceToDepth(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::SubPixelAttrs>();
  const int64_t block = attrs.block_size;
  size_t c, h, w;
  BATON_RETURN_IF_ERROR(FindAxes(attrs.layout, c, h, w));
  const int64_t channels = loops.shape()[c];
  return MapIndices(loops, [&](Indices at) {
    const PrimExpr inside = Divide(at[c], channels);
    at[h] = tir::Add(tir::Mul(at[h], Index(block)), Divide(inside, block));
    at[w] = tir::Add(tir::Mul(at[w], Index(block)), Rest(inside, block));
    at[c] = Rest(at[c], channels);
    return at;
  });
}

absl::Status LowerRepeat(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::RepeatAttrs>();
  const size_t axis = Place(attrs.axis.value_or(0), loops.rank());
  return MapIndices(loops, [&](Indices at) {
    at[axis] = Divide(at[axis], attrs.repeats);
    return at;
  });
}

absl::Status LowerTile(LoopBuilder& loops) {
  const std::vector<int64_t>& shape = loops.shape();
  return MapIndices(loops, [&](const Indices& at) {
    const size_t skipped = at.size() - shape.size();
    Indices from;
    for (size_t i = 0; i < shape.size(); ++i) {
      from.push_back(Rest(at[skipped + i], shape[i]));
    }
    return from;
  });
}

absl::Status LowerReverse(LoopBuilder& loops) {
  const size_t axis =
      Place(loops.attrs<relay::ReverseAttrs>().axis.value_or(0), loops.rank());
  return MapIndices(loops, [&](Indices at) {
    at[axis] = tir::Sub(Index(loops.shape()[axis] - 1), at[axis]);
    return at;
  });
}

absl::Status LowerBroadcastTo(LoopBuilder& loops) {
  const std::vector<int64_t>& shape = loops.shape();
  return MapIndices(loops, [&](const Indices& at) {
    const size_t skipped = at.size() - shape.size();
    Indices from;
    for (size_t i = 0; i < shape.size(); ++i) {
      from.push_back(shape[i] == 1 ? Index(0) : at[skipped + i]);
    }
    return from;
  });
}

absl::Status LowerLayoutTransform(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::LayoutTransformAttrs>();
  BATON_ASSIGN_OR_RETURN(const Layout src, Layout::Parse(attrs.src_layout));
  BATON_ASSIGN_OR_RETURN(const Layout dst, Layout::Parse(attrs.dst_layout));
  const std::vector<int64_t>& shape = loops.shape();
  if (src.ndim() != loops.rank()) return NoLoops("the layout does not fit");
  const DType dtype = loops.dtype();
  loops.Store(loops.output(), [&](const Indices& at) {
    Indices from(shape.size());
    PrimExpr inside;
    for (int i = 0; i < dst.ndim(); ++i) {
      const char letter = dst.axis(i).letter;
      if (!Layout::IsPrimal(letter)) continue;
      const char sub = Layout::ToSub(letter);
      // The position along the axis as a whole.
      PrimExpr position = at[static_cast<size_t>(i)];
      int64_t extent = ShapeOf(loops.output())[static_cast<size_t>(i)];
      if (const int block = dst.IndexOf(sub); block >= 0) {
        const int64_t factor = dst.FactorOf(sub);
        position = tir::Add(tir::Mul(position, Index(factor)),
                            at[static_cast<size_t>(block)]);
        extent *= factor;
      }
      const size_t outer = static_cast<size_t>(src.IndexOf(letter));
      int64_t exists = shape[outer];
      if (const int block = src.IndexOf(sub); block >= 0) {
        const int64_t factor = src.FactorOf(sub);
        exists *= factor;
        from[outer] = Divide(position, factor);
        from[static_cast<size_t>(block)] = Rest(position, factor);
      } else {
        from[outer] = position;
      }
      // Elements that only fill a block up are zero.
      if (exists < extent) inside = And(inside, Less(position, Index(exists)));
    }
    const PrimExpr value = loops.Load(0, from);
    return inside.defined() ? IfThenElse(inside, value, Number(dtype, 0))
                            : value;
  });
  return absl::OkStatus();
}

absl::Status LowerPad(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::PadAttrs>();
  const std::vector<int64_t>& shape = loops.shape();
  const DType dtype = loops.dtype();
  const std::string& mode = attrs.pad_mode;
  loops.Store(loops.output(), [&](const Indices& at) {
    Indices from;
    PrimExpr inside;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t before = attrs.pad_width[i][0];
      const int64_t after = attrs.pad_width[i][1];
      PrimExpr index = tir::Sub(at[i], Index(before));
      if (mode == "edge") {
        if (before > 0) index = Op2(BinaryOp::kMax, index, Index(0));
        if (after > 0) index = Op2(BinaryOp::kMin, index, Index(shape[i] - 1));
      } else if (mode == "reflect") {
        if (after > 0) {
          index = tir::Select(Less(index, Index(shape[i])), index,
                              tir::Sub(Index(2 * (shape[i] - 1)), index));
        }
        if (before > 0) {
          index = tir::Select(Less(index, Index(0)), tir::Sub(Index(0), index),
                              index);
        }
      } else {
        if (before > 0) {
          inside = And(inside, Op2(BinaryOp::kLE, Index(0), index));
        }
        if (after > 0) inside = And(inside, Less(index, Index(shape[i])));
      }
      from.push_back(index);
    }
    const PrimExpr value = loops.Load(0, from);
    if (!inside.defined()) return value;
    const Indices zero(loops.shape(1).size(), Index(0));
    return IfThenElse(inside, value, Convert(dtype, loops.Load(1, zero)));
  });
  return absl::OkStatus();
}

absl::Status LowerMirrorPad(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::MirrorPadAttrs>();
  const std::vector<int64_t>& shape = loops.shape();
  // 1 if the elements at the borders occur twice.
  const int64_t twice = attrs.mode == "SYMMETRIC" ? 1 : 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    for (const int64_t width : attrs.pad_width[i]) {
      if (width < 0 || width > shape[i] - 1 + twice) {
        return NoLoops("the padding is wider than the data");
      }
    }
  }
  return MapIndices(loops, [&](const Indices& at) {
    Indices from;
    for (size_t i = 0; i < shape.size(); ++i) {
      PrimExpr index = tir::Sub(at[i], Index(attrs.pad_width[i][0]));
      if (attrs.pad_width[i][1] > 0) {
        index = tir::Select(Less(index, Index(shape[i])), index,
                            tir::Sub(Index(2 * (shape[i] - 1) + twice), index));
      }
      if (attrs.pad_width[i][0] > 0) {
        index = tir::Select(Less(index, Index(0)),
                            tir::Sub(Index(-twice), index), index);
      }
      from.push_back(index);
    }
    return from;
  });
}

absl::Status LowerDilate(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::DilateAttrs>();
  for (const Dim& stride : attrs.strides) {
    if (!stride.is_const() || stride.value() < 1) {
      return NoLoops("a stride is not a positive number");
    }
  }
  const DType dtype = loops.dtype();
  const PrimExpr fill =
      Convert(dtype, tir::FloatImm(DType::Float(64), attrs.dilation_value));
  loops.Store(loops.output(), [&](const Indices& at) {
    Indices from;
    PrimExpr whole;
    for (size_t i = 0; i < at.size(); ++i) {
      const int64_t stride = attrs.strides[i].value();
      from.push_back(Divide(at[i], stride));
      if (stride != 1) {
        whole = And(whole, Op2(BinaryOp::kEQ, Rest(at[i], stride), Index(0)));
      }
    }
    const PrimExpr value = loops.Load(0, from);
    return whole.defined() ? IfThenElse(whole, value, fill) : value;
  });
  return absl::OkStatus();
}

// The elements of `data` in blocks, of which each offset becomes an image of
// the batch.
absl::Status LowerSpaceToBatch(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::SpaceToBatchNDAttrs>();
  const std::vector<int64_t>& shape = loops.shape();
  std::vector<int64_t> images = attrs.block_shape;
  images.push_back(shape[0]);
  const PrimExpr fill =
      Convert(loops.dtype(), tir::FloatImm(DType::Float(64), attrs.pad_value));
  loops.Store(loops.output(), [&](const Indices& at) {
    const Indices offsets = Unflatten(at[0], images);
    Indices from = at;
    from[0] = offsets.back();
    PrimExpr inside;
    for (size_t i = 0; i + 1 < images.size(); ++i) {
      const int64_t before = attrs.paddings[i][0];
      PrimExpr& index = from[i + 1];
      index = tir::Sub(tir::Add(tir::Mul(index, Index(images[i])), offsets[i]),
                       Index(before));
      if (before > 0) {
        inside = And(inside, Op2(BinaryOp::kLE, Index(0), index));
      }
      if (attrs.paddings[i][1] > 0) {
        inside = And(inside, Less(index, Index(shape[i + 1])));
      }
    }
    const PrimExpr value = loops.Load(0, from);
    return inside.defined() ? IfThenElse(inside, value, fill) : value;
  });
  return absl::OkStatus();
}

absl::Status LowerBatchToSpace(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::BatchToSpaceNDAttrs>();
  std::vector<int64_t> images = attrs.block_shape;
  images.push_back(ShapeOf(loops.output())[0]);
  return MapIndices(loops, [&](Indices at) {
    Indices offsets;
    for (size_t i = 0; i + 1 < images.size(); ++i) {
      const PrimExpr index = tir::Add(at[i + 1], Index(attrs.crops[i][0]));
      offsets.push_back(Rest(index, images[i]));
      at[i + 1] = Divide(index, images[i]);
    }
    offsets.push_back(at[0]);
    at[0] = Flatten(offsets, images);
    return at;
  });
}

// The elements of sequences; behind the end of each a number.
absl::Status LowerSequenceMask(LoopBuilder& loops) {
  BATON_RETURN_IF_ERROR(CheckIndices(loops, 1));
  const auto& attrs = loops.attrs<relay::SequenceMaskAttrs>();
  if (loops.rank(1) != 1) return NoLoops("the lengths are no vector");
  const size_t axis = static_cast<size_t>(attrs.axis);
  const DType wide = DType::Int(64);
  const PrimExpr fill =
      Convert(loops.dtype(), tir::FloatImm(DType::Float(64), attrs.mask_value));
  loops.Store(loops.output(), [&](const Indices& at) {
    return IfThenElse(Op2(BinaryOp::kLT, Cast(wide, at[axis]),
                          Cast(wide, loops.Load(1, {at[1 - axis]}))),
                      loops.Load(0, at), fill);
  });
  return absl::OkStatus();
}

absl::Status LowerSlidingWindow(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::SlidingWindowAttrs>();
  const size_t axis = Place(attrs.axis, loops.rank());
  const size_t count = attrs.window_shape.size();
  if (axis + count != loops.rank()) {
    return NoLoops("windows that do not end at the last axis");
  }
  return MapIndices(loops, [&](const Indices& at) {
    Indices from(at.begin(), at.begin() + static_cast<int64_t>(axis));
    for (size_t i = 0; i < count; ++i) {
      from.push_back(tir::Add(tir::Mul(at[axis + i], Index(attrs.strides[i])),
                              at[axis + count + i]));
    }
    return from;
  });
}

// Vector i along an axis of grid i.
absl::Status LowerMeshgrid(LoopBuilder& loops) {
  const bool swaps = loops.attrs<relay::MeshgridAttrs>().indexing == "xy" &&
                     loops.num_inputs() >= 2;
  for (int i = 0; i < loops.num_outputs(); ++i) {
    const size_t axis = static_cast<size_t>(swaps && i < 2 ? 1 - i : i);
    loops.Store(loops.output(i), [&](const Indices& at) {
      return loops.Load(i, loops.rank(i) == 0 ? Indices() : Indices{at[axis]});
    });
  }
  return absl::OkStatus();
}

// The data is read as if it had fewer channels of more elements.
absl::Status LowerYoloReorg(LoopBuilder& loops) {
  const int64_t stride = loops.attrs<relay::YoloReorgAttrs>().stride;
  const std::vector<int64_t>& shape = loops.shape();
  const int64_t few = shape[1] / (stride * stride);
  if (few == 0 || few * stride * stride != shape[1] || shape[2] % stride != 0 ||
      shape[3] % stride != 0) {
    return NoLoops("extents that the stride does not divide");
  }
  const std::vector<int64_t> wide = {shape[0], few, shape[2] * stride,
                                     shape[3] * stride};
  // The result has a row for each `stride` rows, but the kernel fills it as if
  // it had all of them.
  std::vector<int64_t> filled = shape;
  const std::vector<int64_t> to = ShapeOf(loops.output());
  return MapIndices(loops, [&](const Indices& at) {
    const Indices place = Unflatten(Flatten(at, to), filled);
    const PrimExpr offset = Divide(place[1], few);
    return Unflatten(Flatten({place[0], Rest(place[1], few),
                              tir::Add(tir::Mul(place[2], Index(stride)),
                                       Divide(offset, stride)),
                              tir::Add(tir::Mul(place[3], Index(stride)),
                                       Rest(offset, stride))},
                             wide),
                     shape);
  });
}

template <int kValue>
absl::Status LowerFill(LoopBuilder& loops) {
  const DType dtype = loops.output().dtype();
  loops.Store(loops.output(),
              [&](const Indices&) { return Number(dtype, kValue); });
  return absl::OkStatus();
}

// The only element of argument i.
template <int i>
absl::Status LowerFull(LoopBuilder& loops) {
  const DType dtype = loops.output().dtype();
  loops.Store(loops.output(), [&](const Indices&) {
    return Convert(dtype,
                   loops.Load(i, Indices(loops.shape(i).size(), Index(0))));
  });
  return absl::OkStatus();
}

absl::Status LowerArange(LoopBuilder& loops) {
  const DType dtype = loops.output().dtype();
  bool is_whole = true;
  for (int i = 0; i < 3; ++i) {
    is_whole = is_whole && loops.dtype(i).is_integral();
  }
  const DType compute = is_whole ? DType::Int(64) : DType::Float(64);
  const auto bound = [&](int i) {
    return Convert(compute,
                   loops.Load(i, Indices(loops.shape(i).size(), Index(0))));
  };
  loops.Store(loops.output(), [&](const Indices& at) {
    return Convert(dtype,
                   Op2(BinaryOp::kAdd, bound(0),
                       Op2(BinaryOp::kMul, Cast(compute, at[0]), bound(2))));
  });
  return absl::OkStatus();
}

// The elements on one side of a diagonal, others are zero.
absl::Status LowerTrilu(LoopBuilder& loops) {
  const bool is_upper = loops.attrs<relay::TriluAttrs>().upper;
  const DType wide = DType::Int(64);
  const PrimExpr diagonal =
      Cast(wide, loops.Load(1, Indices(loops.shape(1).size(), Index(0))));
  loops.Store(loops.output(), [&](const Indices& at) {
    const size_t rank = at.size();
    const PrimExpr place =
        Op2(BinaryOp::kSub, Cast(wide, at[rank - 1]), Cast(wide, at[rank - 2]));
    return IfThenElse(
        Op2(is_upper ? BinaryOp::kGE : BinaryOp::kLE, place, diagonal),
        loops.Load(0, at), Number(loops.dtype(), 0));
  });
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("reshape", LowerReshape);
BATON_ROW("contrib_reverse_reshape", LowerReshape);
BATON_ROW("reshape_like", LowerReshape);
BATON_ROW("expand_dims", LowerReshape);
BATON_ROW("squeeze", LowerReshape);
BATON_ROW("nn.batch_flatten", LowerReshape);
BATON_ROW("transpose", LowerTranspose);
BATON_ROW("concatenate", LowerConcatenate);
BATON_ROW("stack", LowerStack);
BATON_ROW("split", LowerSplit);
BATON_ROW("strided_slice", LowerStridedSlice);
BATON_ROW("slice_like", LowerSameIndex);
BATON_ROW("take", LowerTake);
BATON_ROW("gather", LowerGather);
BATON_ROW("one_hot", LowerOneHot);
BATON_ROW("reverse_sequence", LowerReverseSequence);
BATON_ROW("nn.depth_to_space", LowerDepthToSpace);
BATON_ROW("nn.space_to_depth", LowerSpaceToDepth);
BATON_ROW("repeat", LowerRepeat);
BATON_ROW("tile", LowerTile);
BATON_ROW("reverse", LowerReverse);
BATON_ROW("broadcast_to", LowerBroadcastTo);
BATON_ROW("broadcast_to_like", LowerBroadcastTo);
BATON_ROW("layout_transform", LowerLayoutTransform);
BATON_ROW("nn.pad", LowerPad);
BATON_ROW("nn.mirror_pad", LowerMirrorPad);
BATON_ROW("nn.dilate", LowerDilate);
BATON_ROW("nn.space_to_batch_nd", LowerSpaceToBatch);
BATON_ROW("nn.batch_to_space_nd", LowerBatchToSpace);
BATON_ROW("sequence_mask", LowerSequenceMask);
BATON_ROW("sliding_window", LowerSlidingWindow);
BATON_ROW("meshgrid", LowerMeshgrid);
BATON_ROW("vision.yolo_reorg", LowerYoloReorg);
BATON_ROW("zeros", LowerFill<0>);
BATON_ROW("ones", LowerFill<1>);
BATON_ROW("zeros_like", LowerFill<0>);
BATON_ROW("ones_like", LowerFill<1>);
BATON_ROW("full", LowerFull<0>);
BATON_ROW("full_like", LowerFull<1>);
BATON_ROW("arange", LowerArange);
BATON_ROW("trilu", LowerTrilu);

}  // namespace
}  // namespace baton::lower
