#include "baton/relay/transform/convert_to_sparse.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/sparse.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/weight_params.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr char kNHWC[] = "NHWC";
constexpr char kNCHW[] = "NCHW";

// A weight, or an extent, too large for the sizes below to be numbers.
constexpr int64_t kMaxExtent = int64_t{1} << 31;

void EmitKept(const CallNode& call, RemarkText reason) {
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  LogRemark({.kind = RemarkKind::kMissed,
             .node = Expr(&call),
             .reason = std::move(reason)});
}

// The types of the three parts of a sparse matrix.
struct SparseType {
  TensorType data;
  TensorType indices;
  TensorType indptr;
};
using SparseWeights = FlatHashMap<std::string, SparseType>;

// The weights that options name. Their shapes are the shape of the values, of
// rank 3 or one in `other_rank`, and the lengths of indices and row pointers.
absl::StatusOr<SparseWeights> NamedWeights(
    absl::Span<const std::string> names,
    absl::Span<const std::vector<int64_t>> shapes,
    std::optional<size_t> other_rank) {
  if (names.size() != shapes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight_name has ", names.size(),
                     " elements, weight_shape has ", shapes.size()));
  }
  SparseWeights result;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<int64_t>& shape = shapes[i];
    const size_t rank = shape.size() < 2 ? 0 : shape.size() - 2;
    if (rank != 3 && rank != other_rank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weight_shape of ", names[i], " has ", shape.size(), " numbers, not ",
          other_rank.has_value() ? "4 or 5" : "5"));
    }
    for (const int64_t extent : shape) {
      if (extent >= 0 && extent < kMaxExtent) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("weight_shape of ", names[i], " has the extent ", extent,
                       ", which is negative or too large"));
    }
    const Dims data(shape.begin(), shape.begin() + rank);
    result.insert_or_assign(
        names[i],
        SparseType{TensorType(data, DType::Float(32)),
                   TensorType({Dim(shape[rank])}, DType::Int(32)),
                   TensorType({Dim(shape[rank + 1])}, DType::Int(32))});
  }
  return result;
}

absl::Status CheckConvOptions(const std::string& layout, int kernel_size) {
  if (layout != kNHWC && layout != kNCHW) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout=\"", layout, "\" is neither NHWC nor NCHW"));
  }
  if (kernel_size < 1 || kernel_size % 2 == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel_size=", kernel_size, " is not an odd positive number"));
  }
  return absl::OkStatus();
}

bool IsFloat32(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type == nullptr || type->dtype() == DType::Float(32);
}

// True if nn.sparse_dense can compute `dense`.
bool IsSparseDense(const CallNode& dense) {
  const auto* attrs = dense.attrs_as<DenseAttrs>();
  const TensorTypeNode* data = dense.arg(0)->tensor_type();
  return IsFloat32(dense.arg(0)) && IsFloat32(Expr(&dense)) &&
         (data == nullptr || data->rank() == 2) &&
         (attrs == nullptr || attrs->out_dtype.is_void() ||
          attrs->out_dtype == DType::Float(32));
}

// True if nn.sparse_conv2d with these options can compute `conv`.
bool IsSparseConv(const CallNode& conv, const std::string& layout,
                  int kernel_size) {
  const auto* attrs = conv.attrs_as<Conv2DAttrs>();
  if (attrs == nullptr) return false;
  const auto all = [](absl::Span<const Dim> dims, int64_t value) {
    return absl::c_all_of(dims,
                          [&](const Dim& dim) { return dim == Dim(value); });
  };
  // A sparse kernel has its extent in the attribute or the weight's shape.
  Dims kernel = attrs->kernel_size;
  if (const TensorTypeNode* weight = conv.arg(1)->tensor_type();
      kernel.empty() && weight != nullptr && weight->rank() == 4) {
    const int first = layout == kNHWC ? 0 : 2;
    kernel = {weight->dim(first), weight->dim(first + 1)};
  }
  Dims padding = attrs->padding;
  SpellOutPadding(2, padding);
  return attrs->data_layout == layout &&
         (attrs->out_layout.empty() || attrs->out_layout == layout) &&
         attrs->kernel_layout == (layout == kNHWC ? "HWIO" : "OIHW") &&
         attrs->groups == 1 && all(attrs->strides, 1) &&
         all(attrs->dilation, 1) && kernel.size() == 2 &&
         all(kernel, kernel_size) && all(padding, kernel_size / 2) &&
         IsFloat32(conv.arg(0)) && IsFloat32(Expr(&conv)) &&
         (attrs->out_dtype.is_void() || attrs->out_dtype == DType::Float(32));
}

Attrs SparseConvAttrs(const std::string& layout, int kernel_size) {
  SparseConv2DAttrs attrs;
  attrs.layout = layout;
  attrs.kernel_size = {Dim(kernel_size), Dim(kernel_size)};
  return Attrs::Make(std::move(attrs));
}

// `function` with calls of `op` that `fits` and whose weight is a parameter
// in `weights` replaced by calls of `sparse_op`.
template <typename Fits>
Function ReplaceParams(const Function& function, const Op& op,
                       const Op& sparse_op, const Attrs& attrs,
                       const SparseWeights& weights, const Fits& fits) {
  if (weights.empty() || !CallsOp(function, op)) return function;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.RewriteAll<CallNode>([&](int i, const CallNode& call) -> Expr {
        if (call.op() != op || call.num_args() != 2) return {};
        const auto* weight = call.arg(1).As<VarNode>();
        if (weight == nullptr || !IsParam(function, call.arg(1))) return {};
        const auto it = weights.find(weight->name());
        if (it == weights.end()) return {};
        if (!fits(call)) {
          EmitKept(call, "no sparse layer computes the same");
          return {};
        }
        const auto part = [&](const char* suffix, const TensorType& type) {
          Var var(absl::StrCat(weight->name(), suffix), type, weight->span());
          LogOrigin(var, weight);
          return var;
        };
        const Expr args[] = {rewriter.Args(i)[0],
                             part(".data", it->second.data),
                             part(".indices", it->second.indices),
                             part(".indptr", it->second.indptr)};
        return Call(sparse_op, args, attrs, {}, {}, call.span());
      });
  if (result == function) return function;
  Function used = WithUsedParams(Function(result.As<FunctionNode>()));
  LogOrigins(used, function.get());
  return used;
}

// A matrix in the BSR format.
struct BlockMatrix {
  std::vector<float> values;
  std::vector<int32_t> indices;
  std::vector<int32_t> indptr = {0};
};

// The blocks of `weight`, a matrix of `rows` times `columns`, that are not all
// zeros. The element in row r and column c is weight[r * row_stride + c *
// column_stride].
BlockMatrix ToBlocks(absl::Span<const float> weight, int64_t rows,
                     int64_t columns, int64_t row_stride, int64_t column_stride,
                     int64_t height, int64_t width) {
  BlockMatrix result;
  std::vector<float> block(height * width);
  for (int64_t row = 0; row < rows; row += height) {
    for (int64_t column = 0; column < columns; column += width) {
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          block[i * width + j] =
              weight[(row + i) * row_stride + (column + j) * column_stride];
        }
      }
      if (absl::c_all_of(block, [](float value) { return value == 0; })) {
        continue;
      }
      result.values.insert(result.values.end(), block.begin(), block.end());
      result.indices.push_back(static_cast<int32_t>(column / width));
    }
    result.indptr.push_back(static_cast<int32_t>(result.indices.size()));
  }
  return result;
}

template <typename T>
absl::StatusOr<Expr> ConstantOf(const std::vector<T>& values, DType dtype,
                                absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  std::copy(values.begin(), values.end(), tensor.span<T>().begin());
  return Expr(Constant(std::move(tensor).Freeze()));
}

// The three parts of the weight of a convolution; none if it is not sparse
// enough, or not made of whole blocks.
absl::StatusOr<std::vector<Expr>> SparseParts(
    const CallNode& conv, const Conv2dToSparse2Options& options) {
  const Tensor& weight = conv.arg(1).As<ConstantNode>()->value();
  const bool is_nhwc = options.layout == kNHWC;  // HWIO
  const int64_t rows = weight.shape()[is_nhwc ? 3 : 0];
  const int64_t columns = rows == 0 ? 0 : weight.num_elements() / rows;
  const int64_t height = options.blocksize[0];
  const int64_t width = options.blocksize[1];
  if (rows == 0 || columns == 0 || rows % height != 0 || columns % width != 0) {
    EmitKept(conv, "the weight is not made of whole blocks");
    return std::vector<Expr>();
  }
  const BlockMatrix matrix =
      ToBlocks(weight.span<float>(), rows, columns, is_nhwc ? 1 : columns,
               is_nhwc ? rows : 1, height, width);
  const double sparsity = 1 - static_cast<double>(matrix.values.size()) /
                                  static_cast<double>(weight.num_elements());
  if (sparsity < options.sparsity_threshold) {
    EmitKept(conv, "the weight is not sparse enough");
    return std::vector<Expr>();
  }
  const auto num_blocks = static_cast<int64_t>(matrix.indices.size());
  BATON_ASSIGN_OR_RETURN(
      Expr values,
      ConstantOf(matrix.values, DType::Float(32), {num_blocks, height, width}));
  BATON_ASSIGN_OR_RETURN(
      Expr indices, ConstantOf(matrix.indices, DType::Int(32), {num_blocks}));
  BATON_ASSIGN_OR_RETURN(Expr indptr, ConstantOf(matrix.indptr, DType::Int(32),
                                                 {rows / height + 1}));
  return std::vector<Expr>{std::move(values), std::move(indices),
                           std::move(indptr)};
}

constexpr char kParamsChange[] = "Parameters change.";

absl::StatusOr<Function> MakeDenseSparse(const Function& function,
                                         const DenseToSparseOptions& options) {
  BATON_ASSIGN_OR_RETURN(
      const SparseWeights weights,
      NamedWeights(options.weight_name, options.weight_shape, std::nullopt));
  return ReplaceParams(function, BATON_OP("nn.dense"),
                       BATON_OP("nn.sparse_dense"),
                       Attrs::Make(SparseDenseAttrs()), weights, IsSparseDense);
}

absl::StatusOr<Function> MakeConvSparse(const Function& function,
                                        const Conv2dToSparseOptions& options) {
  BATON_RETURN_IF_ERROR(CheckConvOptions(options.layout, options.kernel_size));
  BATON_ASSIGN_OR_RETURN(
      const SparseWeights weights,
      NamedWeights(options.weight_name, options.weight_shape, 2));
  return ReplaceParams(
      function, BATON_OP("nn.conv2d"), BATON_OP("nn.sparse_conv2d"),
      SparseConvAttrs(options.layout, options.kernel_size), weights,
      [&options](const CallNode& conv) {
        return IsSparseConv(conv, options.layout, options.kernel_size);
      });
}

absl::StatusOr<Function> MakeConstantConvSparse(
    const Function& function, const Conv2dToSparse2Options& options) {
  BATON_RETURN_IF_ERROR(CheckConvOptions(options.layout, options.kernel_size));
  if (options.blocksize.size() != 2 ||
      absl::c_any_of(options.blocksize, [](int64_t extent) {
        return extent < 1 || extent >= kMaxExtent;
      })) {
    return absl::InvalidArgumentError(
        "blocksize must be the height and the width of a block");
  }
  const Op& conv2d = BATON_OP("nn.conv2d");
  if (!CallsOp(function, conv2d)) return function;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const absl::StatusOr<Expr> result = rewriter.RewriteAll<CallNode>(
      [&](int i, const CallNode& call) -> absl::StatusOr<Expr> {
        if (call.op() != conv2d || call.num_args() != 2) return Expr();
        const auto* weight = call.arg(1).As<ConstantNode>();
        if (weight == nullptr || weight->value().rank() != 4 ||
            weight->value().dtype() != DType::Float(32) ||
            weight->value().num_elements() >= kMaxExtent) {
          return Expr();
        }
        if (!IsSparseConv(call, options.layout, options.kernel_size)) {
          EmitKept(call, "no sparse layer computes the same");
          return Expr();
        }
        BATON_ASSIGN_OR_RETURN(std::vector<Expr> args,
                               SparseParts(call, options));
        if (args.empty()) return Expr();
        args.insert(args.begin(), rewriter.Args(i)[0]);
        return Expr(Call(BATON_OP("nn.sparse_conv2d"), args,
                         SparseConvAttrs(options.layout, options.kernel_size),
                         {}, {}, call.span()));
      });
  BATON_RETURN_IF_ERROR(result.status());
  return Function(result->As<FunctionNode>());
}

}  // namespace

Pass DenseToSparse(DenseToSparseOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return MakeDenseSparse(function, options);
      },
      {.name = "DenseToSparse",
       .opt_level = 4,
       .required = {"DeadCodeElimination"},
       .doc = "Makes nn.dense of named weights nn.sparse_dense.",
       .idempotent = true,
       .waivers = {{"values", kParamsChange}}},
      options);
}
BATON_REGISTER_PASS(DenseToSparse);
BATON_REGISTER_REMARKS("DenseToSparse",
                       {.missed = "why a call was not converted"});

Pass Conv2dToSparse(Conv2dToSparseOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return MakeConvSparse(function, options);
      },
      {.name = "Conv2dToSparse",
       .opt_level = 4,
       .required = {"DeadCodeElimination"},
       .doc = "Makes nn.conv2d of named weights nn.sparse_conv2d.",
       .idempotent = true,
       .waivers = {{"values", kParamsChange}}},
      options);
}
BATON_REGISTER_PASS(Conv2dToSparse);
BATON_REGISTER_REMARKS("Conv2dToSparse",
                       {.missed = "why a call was not converted"});

Pass Conv2dToSparse2(Conv2dToSparse2Options options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return MakeConstantConvSparse(function, options);
      },
      {.name = "Conv2dToSparse2",
       .opt_level = 5,
       .required = {"DeadCodeElimination"},
       .doc = "Makes nn.conv2d of constant weights that are sparse "
              "nn.sparse_conv2d.",
       .idempotent = true,
       .exact = false},
      options);
}
BATON_REGISTER_PASS(Conv2dToSparse2);
BATON_REGISTER_REMARKS("Conv2dToSparse2",
                       {.missed = "why a call was not converted"});

}  // namespace baton::relay
