#include "baton/relay/transform/legalize.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<LegalizationRule>& LegalizationRules(absl::string_view kind,
                                                absl::string_view target) {
  using Rules = OpProperty<LegalizationRule>;
  static auto* const kMutex = new std::mutex;
  static auto* const kMaps =
      new std::map<std::pair<std::string, std::string>, Rules>;
  const std::lock_guard<std::mutex> lock(*kMutex);
  return (*kMaps)[{std::string(kind), std::string(target)}];
}

namespace {

// A clip to the range that a qnn.requantize has anyway.
absl::StatusOr<Expr> LegalizeClip(const CallNode& call,
                                  absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<ClipAttrs>();
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (attrs == nullptr || type == nullptr ||
      !IsCallTo(args[0], BATON_OP("qnn.requantize"))) {
    return Expr();
  }
  const std::optional<qnn::Range> range = qnn::RangeOf(type->dtype());
  if (!range.has_value() || range->low != attrs->a_min ||
      range->high != attrs->a_max) {
    return Expr();
  }
  return args[0];
}

// Transposed convolutions compute with the channels in front.

absl::StatusOr<Expr> LegalizeConv2DTranspose(const CallNode& call,
                                             absl::Span<const Expr> args) {
  const auto* old = call.attrs_as<Conv2DTransposeAttrs>();
  if (old == nullptr) return Expr();
  const bool channels_last = old->data_layout == "NHWC";
  const bool same_kernel = old->kernel_layout == "IOHW";
  if ((!channels_last && old->data_layout != "NCHW") ||
      (!channels_last && same_kernel)) {
    return Expr();
  }
  Conv2DTransposeAttrs attrs = *old;
  attrs.data_layout = "NCHW";
  attrs.kernel_layout = "IOHW";
  Expr kernel = args[1];
  if (!same_kernel) {
    kernel = LayoutTransform(std::move(kernel), old->kernel_layout, "IOHW");
  }
  if (!channels_last) {
    return nn::Conv2DTranspose(args[0], std::move(kernel), std::move(attrs));
  }
  return Transpose(nn::Conv2DTranspose(Transpose(args[0], {{0, 3, 1, 2}}),
                                       std::move(kernel), std::move(attrs)),
                   {{0, 2, 3, 1}});
}

absl::StatusOr<Expr> LegalizeConv3DTranspose(const CallNode& call,
                                             absl::Span<const Expr> args) {
  const auto* old = call.attrs_as<Conv3DTransposeAttrs>();
  if (old == nullptr || old->data_layout != "NDHWC") return Expr();
  Expr kernel = args[1];
  if (old->kernel_layout == "DHWIO") {
    kernel = Transpose(std::move(kernel), {{3, 4, 0, 1, 2}});
  } else if (old->kernel_layout == "DHWOI") {
    kernel = Transpose(std::move(kernel), {{4, 3, 0, 1, 2}});
  } else if (old->kernel_layout == "OIDHW") {
    kernel = Transpose(std::move(kernel), {{1, 0, 2, 3, 4}});
  } else if (old->kernel_layout != "IODHW") {
    return Expr();
  }
  Conv3DTransposeAttrs attrs = *old;
  attrs.data_layout = "NCDHW";
  attrs.kernel_layout = "IODHW";
  return Transpose(nn::Conv3DTranspose(Transpose(args[0], {{0, 4, 1, 2, 3}}),
                                       std::move(kernel), std::move(attrs)),
                   {{0, 2, 3, 4, 1}});
}

constexpr char kLegalize[] = "FTVMLegalize";

BATON_EXTEND_OP("clip").Set(LegalizationRules(kLegalize), LegalizeClip);
BATON_EXTEND_OP("nn.conv2d_transpose")
    .Set(LegalizationRules(kLegalize), LegalizeConv2DTranspose);
BATON_EXTEND_OP("nn.conv3d_transpose")
    .Set(LegalizationRules(kLegalize), LegalizeConv3DTranspose);

using Maps = std::vector<const OpProperty<LegalizationRule>*>;

const LegalizationRule* FindRule(const Maps& maps, const Expr& op) {
  for (const auto* map : maps) {
    if (const LegalizationRule* rule = map->Get(op)) return rule;
  }
  return nullptr;
}

absl::StatusOr<Function> LegalizeFunction(const Function& function,
                                          const Maps& maps) {
  if (absl::c_none_of(maps, [&function](const auto* map) {
        return CallsOpOf(function, *map);
      })) {
    return function;
  }
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      rewriter.Rewrite<CallNode>(
          [&](int i, const CallNode& call) -> absl::StatusOr<Expr> {
            const LegalizationRule* rule = FindRule(maps, call.op());
            if (rule == nullptr) return Expr();
            const int arity = call.op_node()->arity();
            if (arity >= 0 && call.num_args() != arity) return Expr();
            absl::StatusOr<Expr> replacement = (*rule)(call, rewriter.Args(i));
            if (!replacement.ok()) {
              return absl::Status(replacement.status().code(),
                                  absl::StrCat(call.op_node()->name(), ": ",
                                               replacement.status().message()));
            }
            return replacement;
          }));
  return Function(result.As<FunctionNode>());
}

}  // namespace

Pass CreateLegalizationPass(absl::string_view kind, absl::string_view target,
                            PassInfo info, PassOptions options) {
  info.uses_target = target.empty();
  return CreateFunctionPass(
      [kind = std::string(kind), given = std::string(target)](
          const Function& function, const IRModule& /*module*/,
          const PassContext& context) -> absl::StatusOr<Function> {
        const std::string& target =
            given.empty() ? context.target().kind : given;
        Maps maps;
        if (!target.empty()) maps.push_back(&LegalizationRules(kind, target));
        maps.push_back(&LegalizationRules(kind));
        return LegalizeFunction(function, maps);
      },
      std::move(info), std::move(options));
}

Pass Legalize(LegalizeOptions options) {
  const bool is_exact =
      options.target.empty() && options.legalize_map_attr_name ==
                                    LegalizeOptions().legalize_map_attr_name;
  return CreateLegalizationPass(
      options.legalize_map_attr_name, options.target,
      {.name = "Legalize",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Replaces calls by others that a target has, or computes faster.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = is_exact},
      options);
}
BATON_REGISTER_PASS(Legalize);

}  // namespace baton::relay
