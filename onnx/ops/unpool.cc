// Converters of the inverse of a pool, and of bags of n-grams.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/spatial_windows.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Call;

using Ints = std::vector<int64_t>;

// The limit of the elements of constants that the importer makes.
constexpr int64_t kMaxElements = int64_t{1} << 24;

absl::StatusOr<Outputs> MaxUnpool(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const Window window, ReadWindow(node, x, {}, false));
  const size_t axes = window.kernel.size();
  // Positions are those in a result of the size that the pool implies.
  Ints pooled = shape;
  for (size_t i = 0; i < axes; ++i) {
    pooled[i + 2] = (shape[i + 2] - 1) * window.strides[i] + window.kernel[i] -
                    window.pads[i] - window.pads[i + axes];
  }
  Ints wanted = pooled;
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(wanted, node.ConstantInts(2));
    if (wanted.size() != pooled.size()) {
      return absl::InvalidArgumentError("the output shape has another rank");
    }
  }
  std::vector<Ints> padding;
  for (size_t i = 0; i < pooled.size(); ++i) {
    if (wanted[i] < pooled[i] || pooled[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", i, " of the result has ", wanted[i],
                       " elements, but the pool needs ", pooled[i]));
    }
    padding.push_back({0, wanted[i] - pooled[i]});
  }
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype, pooled));
  Expr result = relay::Reshape(
      Call(BATON_OP("scatter_elements"),
           {relay::Zeros({elements}, dtype),
            relay::Reshape(node.Input(1), {-1}), relay::Reshape(x, {-1})},
           Attrs::Make(relay::ScatterElementsAttrs{.axis = 0})),
      pooled);
  if (wanted != pooled) {
    result =
        relay::nn::Pad(std::move(result), std::move(padding), ScalarLike(0, x));
  }
  return One(std::move(result));
}

// Col2Im of shapes that are computed or not known.
absl::StatusOr<Outputs> Col2ImDynamic(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* image_type,
                         TensorTypeOf(node.Input(1)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* block_type,
                         TensorTypeOf(node.Input(2)));
  if (type->rank() != 3 || image_type->rank() != 1 || block_type->rank() != 1) {
    return absl::InvalidArgumentError(
        "the data must have rank 3, and image_shape and block_shape be "
        "vectors");
  }
  const Dim& count =
      image_type->dim(0).is_const() ? image_type->dim(0) : block_type->dim(0);
  if (!count.is_const() || count.value() < 1 || count.value() > 8) {
    // The rank of the result depends on the value.
    BATON_RETURN_IF_ERROR(node.ConstantInts(1).status());
    return absl::UnimplementedError("images must have 1 to 8 spatial axes");
  }
  const int axes = static_cast<int>(count.value());
  const auto numbers = [&](const char* name, int size, int64_t otherwise) {
    return node.Ints(name).value_or(Ints(size, otherwise));
  };
  const Ints dilations = numbers("dilations", axes, 1);
  const Ints pads = numbers("pads", 2 * axes, 0);
  const Ints strides = numbers("strides", axes, 1);
  if (dilations.size() != static_cast<size_t>(axes) ||
      pads.size() != static_cast<size_t>(2 * axes) ||
      strides.size() != static_cast<size_t>(axes)) {
    return absl::InvalidArgumentError(
        "dilations and strides must have one number for each axis of the "
        "image, and pads two");
  }
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const auto multiples = [&](const Expr& size, int64_t step, int trailing) {
    Expr result = relay::Multiply(
        relay::Arange(number(0), size, number(1), DType::Int(64)),
        number(step));
    return trailing == 0 ? result
                         : relay::ExpandDims(std::move(result), 1, trailing);
  };
  const auto one = [](const Expr& scalar) {
    return relay::ExpandDims(scalar, 0);
  };
  const auto vector = [](std::vector<Expr> parts) {
    return relay::Concatenate(std::move(parts), 0);
  };
  const Expr image = AsInt64(node.Input(1));
  const Expr block = AsInt64(node.Input(2));
  // Places in the image with its padding: of axes for the places in a block and
  // as many for the windows.
  std::vector<Expr> extents;
  Expr places;
  Expr plane = number(1);
  Expr elements = number(1);
  for (int i = axes - 1; i >= 0; --i) {
    const Expr size = relay::Take(block, number(i), {.axis = 0});
    const Expr extent = relay::Add(relay::Take(image, number(i), {.axis = 0}),
                                   number(pads[i] + pads[i + axes]));
    const Expr free = relay::Subtract(
        extent, relay::Add(relay::Multiply(relay::Subtract(size, number(1)),
                                           number(dilations[i])),
                           number(1)));
    const Expr steps =
        relay::Add(relay::FloorDivide(free, number(strides[i])), number(1));
    const Expr on_axis = relay::Multiply(
        relay::Add(multiples(size, dilations[i], 2 * axes - 1 - i),
                   multiples(steps, strides[i], axes - 1 - i)),
        plane);
    places = places.defined() ? relay::Add(places, on_axis) : on_axis;
    plane = relay::Multiply(plane, extent);
    elements = relay::Multiply(elements, size);
    extents.insert(extents.begin(), one(extent));
  }
  BATON_ASSIGN_OR_RETURN(places,
                         node.Typed(relay::Reshape(std::move(places), {-1})));
  const Expr batch = one(ExtentOf(x, 0));
  const Expr channels = one(relay::FloorDivide(ExtentOf(x, 1), elements));
  const Expr rows =
      Call(BATON_OP("dyn.reshape"),
           {x, vector({batch, channels, one(ExtentOf(places, 0))})},
           Attrs::Make(relay::ReshapeAttrs{.allowzero = true}));
  const Expr zeros =
      Call(BATON_OP("dyn.zeros"), {vector({batch, channels, one(plane)})},
           Attrs::Make(relay::InitOpAttrs{.dtype = type->dtype()}));
  const Expr sums = Call(
      BATON_OP("scatter_elements"),
      {zeros,
       BroadcastTo(places, vector({batch, channels, one(ExtentOf(places, 0))})),
       rows},
      Attrs::Make(relay::ScatterElementsAttrs{.axis = 2, .reduction = "add"}));
  std::vector<Expr> padded = {batch, channels};
  padded.insert(padded.end(), extents.begin(), extents.end());
  const Expr whole =
      Call(BATON_OP("dyn.reshape"), {sums, vector(std::move(padded))},
           Attrs::Make(relay::ReshapeAttrs{.allowzero = true}));
  Ints begin = {0, 0};
  begin.insert(begin.end(), pads.begin(), pads.begin() + axes);
  const Expr first = VectorConstant(begin);
  return One(
      Call(BATON_OP("dyn.strided_slice"),
           {whole, first, relay::Add(first, vector({batch, channels, image})),
            VectorConstant(Ints(axes + 2, 1))},
           Attrs::Make(relay::StridedSliceAttrs{})));
}

// Adds up the elements of windows where they come from: the inverse of cutting
// data into windows.
absl::StatusOr<Outputs> Col2Im(NodeContext& node) {
  const Expr& x = node.Input(0);
  const absl::StatusOr<Ints> known_shape = ShapeOf(x);
  const absl::StatusOr<Ints> known_image = node.ConstantInts(1);
  const absl::StatusOr<Ints> known_block = node.ConstantInts(2);
  if (!known_shape.ok() || !known_image.ok() || !known_block.ok()) {
    return Col2ImDynamic(node);
  }
  const Ints& shape = *known_shape;
  const Ints& image = *known_image;
  const Ints& block = *known_block;
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const size_t axes = image.size();
  const auto numbers = [&](const char* name, size_t size, int64_t otherwise) {
    return node.Ints(name).value_or(Ints(size, otherwise));
  };
  const Ints dilations = numbers("dilations", axes, 1);
  const Ints pads = numbers("pads", 2 * axes, 0);
  const Ints strides = numbers("strides", axes, 1);
  if (shape.size() != 3 || axes < 1 || block.size() != axes ||
      dilations.size() != axes || pads.size() != 2 * axes ||
      strides.size() != axes) {
    return absl::InvalidArgumentError(
        "the data must have 3 axes, and block_shape, dilations and strides "
        "must have one number for each axis of the image, and pads two");
  }
  // Places in the image with its padding, for each place in the block and each
  // window.
  Ints padded;
  Ints places = {0};
  int64_t elements = 1;  // of a block
  int64_t windows = 1;   // on the axes so far
  int64_t plane = 1;     // of the padded image
  for (size_t i = 0; i < axes; ++i) {
    constexpr int64_t kMost = int64_t{1} << 20;
    for (const int64_t value : {image[i], block[i], dilations[i], strides[i]}) {
      if (value < 1 || value > kMost) {
        return absl::InvalidArgumentError("a number is out of range");
      }
    }
    if (pads[i] < 0 || pads[i] > kMost || pads[i + axes] < 0 ||
        pads[i + axes] > kMost) {
      return absl::InvalidArgumentError("a padding is out of range");
    }
    const int64_t extent = image[i] + pads[i] + pads[i + axes];
    const int64_t free = extent - dilations[i] * (block[i] - 1) - 1;
    if (free < 0) return absl::InvalidArgumentError("a block is too large");
    const int64_t steps = free / strides[i] + 1;
    if (block[i] * steps > kMaxElements / static_cast<int64_t>(places.size()) ||
        extent > kMaxElements / plane) {
      return absl::UnimplementedError("an image of this size is not supported");
    }
    // places[(element, window)], row by row.
    Ints next;
    next.reserve(places.size() * block[i] * steps);
    for (int64_t e = 0; e < elements; ++e) {
      for (int64_t k = 0; k < block[i]; ++k) {
        for (int64_t w = 0; w < windows; ++w) {
          const int64_t outer = places[e * windows + w] * extent;
          for (int64_t s = 0; s < steps; ++s) {
            next.push_back(outer + k * dilations[i] + s * strides[i]);
          }
        }
      }
    }
    places = std::move(next);
    padded.push_back(extent);
    elements *= block[i];
    windows *= steps;
    plane *= extent;
  }
  if (shape[1] % elements != 0 || shape[2] != windows) {
    return absl::InvalidArgumentError("the data does not fit the image");
  }
  const int64_t channels = shape[1] / elements;
  const int64_t count = elements * windows;
  Ints result = {shape[0], channels};
  result.insert(result.end(), padded.begin(), padded.end());
  Expr sum =
      relay::Reshape(Call(BATON_OP("scatter_elements"),
                          {relay::Zeros({shape[0], channels, plane}, dtype),
                           relay::BroadcastTo(VectorConstant(places),
                                              {shape[0], channels, count}),
                           relay::Reshape(x, {shape[0], channels, count})},
                          Attrs::Make(relay::ScatterElementsAttrs{
                              .axis = 2, .reduction = "add"})),
                     std::move(result));
  if (padded != image) {
    Ints inner(axes);
    std::iota(inner.begin(), inner.end(), 2);
    Ints end(axes);
    for (size_t i = 0; i < axes; ++i) end[i] = pads[i] + image[i];
    sum = relay::StridedSlice(
        std::move(sum), Ints(pads.begin(), pads.begin() + axes), std::move(end),
        {.strides = Ints(axes, 1), .axes = std::move(inner)});
  }
  return One(std::move(sum));
}

// Counts the n-grams of a pool of integers in each row.
absl::StatusOr<Outputs> TfIdfVectorizer(NodeContext& node) {
  const Expr& x = node.Input(0);
  if (node.HasAttr("pool_strings")) {
    return absl::UnimplementedError("strings are not supported");
  }
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const Ints counts = node.Ints("ngram_counts").value_or(Ints());
  const Ints indexes = node.Ints("ngram_indexes").value_or(Ints());
  const Ints pool = node.Ints("pool_int64s").value_or(Ints());
  const std::vector<double> weights = node.Floats("weights");
  const int64_t min_length = node.Int("min_gram_length", 1);
  const int64_t max_length = node.Int("max_gram_length", 1);
  const int64_t max_skip = node.Int("max_skip_count", 0);
  const std::string mode = node.String("mode", "TF");
  if (shape.empty() || shape.size() > 2 || indexes.empty() ||
      (!weights.empty() && weights.size() != indexes.size())) {
    return absl::InvalidArgumentError(
        "the data must have 1 or 2 axes, and ngram_indexes must have as many "
        "numbers as weights, but at least one");
  }
  const int64_t rows = shape.size() == 2 ? shape[0] : 1;
  const int64_t columns = shape.back();
  const int64_t results = *std::max_element(indexes.begin(), indexes.end()) + 1;
  if (*std::min_element(indexes.begin(), indexes.end()) < 0 ||
      results > 1 << 24) {
    return absl::InvalidArgumentError(
        "an element of ngram_indexes is negative or too large");
  }
  const Expr data = relay::Reshape(x, {rows, columns});
  Expr total = relay::Zeros({rows, results}, DType::Float(32));
  size_t gram = 0;  // number of the next n-gram in the pool
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t length = static_cast<int64_t>(i) + 1;
    const int64_t begin = counts[i];
    const int64_t end = i + 1 < counts.size()
                            ? counts[i + 1]
                            : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) ||
        (end - begin) % length != 0) {
      return absl::InvalidArgumentError(
          "ngram_counts must ascend within the pool, in steps of whole "
          "n-grams");
    }
    const int64_t grams = (end - begin) / length;
    if (gram + grams > indexes.size()) {
      return absl::InvalidArgumentError("ngram_indexes are too few");
    }
    const size_t first = gram;
    gram += grams;
    if (grams == 0 || length < min_length || length > max_length) continue;
    // Skips that give the same single elements (a length of 1) count once.
    Ints positions;
    const int64_t skips = length == 1 ? 0 : std::min(max_skip, columns);
    if (grams * results > kMaxElements ||
        columns * (skips + 1) > kMaxElements ||
        columns * (skips + 1) * length > kMaxElements) {
      return absl::UnimplementedError("the pool or the data is too large");
    }
    for (int64_t skip = 0; skip <= skips; ++skip) {
      for (int64_t at = 0; at + (length - 1) * (skip + 1) < columns; ++at) {
        for (int64_t k = 0; k < length; ++k) {
          positions.push_back(at + k * (skip + 1));
        }
      }
    }
    const int64_t places = static_cast<int64_t>(positions.size()) / length;
    if (places == 0) continue;
    BATON_ASSIGN_OR_RETURN(
        const Tensor where,
        Tensor::FromValues<int64_t>({places, length}, positions));
    BATON_ASSIGN_OR_RETURN(MutableTensor grams_tensor,
                           MutableTensor::Create(dtype, {grams, 1, length}));
    VisitDType(dtype, [&]<typename T>() {
      for (int64_t k = 0; k < grams * length; ++k) {
        grams_tensor.span<T>()[k] = static_cast<T>(pool[begin + k]);
      }
    });
    // (rows, 1, places, length) against (grams, 1, length).
    const Expr windows = relay::ExpandDims(
        relay::Take(data, relay::Const(where), {.axis = 1}), 1);
    const Expr is_there = relay::All(
        relay::Equal(windows, relay::Const(std::move(grams_tensor).Freeze())),
        {.axis = Ints{-1}});
    const Expr found =
        relay::Sum(relay::Cast(is_there, DType::Float(32)), {.axis = Ints{-1}});
    // (rows, grams) times a selection of columns.
    BATON_ASSIGN_OR_RETURN(
        MutableTensor selection,
        MutableTensor::Create(DType::Float(32), {grams, results}));
    for (int64_t g = 0; g < grams; ++g) {
      selection.span<float>()[g * results + indexes[first + g]] = 1;
    }
    total = relay::Add(
        std::move(total),
        relay::Sum(relay::Multiply(relay::ExpandDims(found, 2),
                                   relay::Const(std::move(selection).Freeze())),
                   {.axis = Ints{1}}));
  }
  if (mode == "IDF" || mode == "TFIDF") {
    std::vector<float> by_index(results, 1);
    for (size_t g = 0; g < weights.size(); ++g) {
      by_index[indexes[g]] = static_cast<float>(weights[g]);
    }
    BATON_ASSIGN_OR_RETURN(const Tensor scale,
                           Tensor::FromValues<float>({results}, by_index));
    if (mode == "IDF") {
      total = relay::Minimum(std::move(total), relay::Const(1.0f));
    }
    total = relay::Multiply(std::move(total), relay::Const(scale));
  } else if (mode != "TF") {
    return absl::InvalidArgumentError(
        absl::StrCat("the mode '", mode, "' is none of TF, IDF and TFIDF"));
  }
  if (shape.size() == 1) total = relay::Reshape(std::move(total), {results});
  return One(std::move(total));
}

BATON_ONNX_CONVERTERS({
    {"Col2Im", Col2Im, 18},
    {"MaxUnpool", MaxUnpool, 9},
    {"TfIdfVectorizer", TfIdfVectorizer, 9},
});

}  // namespace
}  // namespace baton::onnx
