#include "baton/tools/drop_weights.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/triage/shrink.h"

namespace baton {
namespace {

constexpr char kMain[] = "main";

class ConstantReplacer final : public ExprMutator {
 public:
  FlatHashMap<const ConstantNode*, Var> params;

 protected:
  Expr VisitConstant(const Constant& constant) override {
    const auto it = params.find(constant.get());
    return it == params.end() ? Expr(constant) : Expr(it->second);
  }
};

// Parameters of `main`, behind those it has, in the place of `constants`.
absl::StatusOr<IRModule> WithParams(const IRModule& module,
                                    absl::Span<const Constant> constants) {
  const Function main = module.Find<Function>(kMain);
  std::vector<Var> params(main->params().begin(), main->params().end());
  ConstantReplacer replacer;
  for (const Constant& constant : constants) {
    Var param(absl::StrCat("weight", params.size()), constant->ValueType());
    replacer.params[constant.get()] = param;
    params.push_back(std::move(param));
  }
  BATON_ASSIGN_OR_RETURN(const Function replaced,
                         replacer.MutateFunction(main));
  IRModule result = module;
  result.Set(kMain,
             Function(std::move(params), replaced->body(), main->result_type(),
                      {main->type_params().begin(), main->type_params().end()},
                      main->attrs(), {}, main->span()));
  return result;
}

}  // namespace

absl::StatusOr<IRModule> DropWeights(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails,
    const DropWeightsOptions& options) {
  const Function main = module.Find<Function>(kMain);
  if (!main.defined()) return module;
  std::vector<Constant> large;
  PostOrderVisit(main, [&](const ExprNode* node) {
    const auto* constant = Expr(node).As<ConstantNode>();
    if (constant != nullptr && constant->value().byte_size() >=
                                   static_cast<uint64_t>(options.min_bytes)) {
      large.emplace_back(constant);
    }
  });
  IRModule best = module;
  std::vector<Constant> dropped;
  // Pieces that are not tried yet, the last first.
  std::vector<std::pair<size_t, size_t>> pieces;
  if (!large.empty()) pieces.emplace_back(0, large.size());
  for (int tests = 0; tests < options.max_tests && !pieces.empty(); ++tests) {
    const auto [begin, end] = pieces.back();
    pieces.pop_back();
    std::vector<Constant> tried = dropped;
    for (size_t i = begin; i < end; ++i) tried.push_back(large[i]);
    BATON_ASSIGN_OR_RETURN(IRModule candidate, WithParams(module, tried));
    BATON_ASSIGN_OR_RETURN(const bool still, fails(candidate));
    if (still) {
      best = std::move(candidate);
      dropped = std::move(tried);
    } else if (end - begin > 1) {
      const size_t middle = begin + (end - begin) / 2;
      pieces.emplace_back(middle, end);
      pieces.emplace_back(begin, middle);
    }
  }
  return best;
}

absl::StatusOr<IRModule> CutToFailure(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails) {
  const Shrinker shrinker(/*drops_unused_params=*/true);
  IRModule best = module;
  // Tests `candidate`; if it fails, it becomes the best.
  const auto try_it =
      [&](const std::optional<IRModule>& candidate) -> absl::StatusOr<bool> {
    if (!candidate.has_value()) return false;
    BATON_ASSIGN_OR_RETURN(const bool still, fails(*candidate));
    if (still) best = *candidate;
    return still;
  };
  std::vector<Expr> nodes = shrinker.Nodes(module, kMain);
  for (size_t begin = 0, end = nodes.size(); begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    BATON_ASSIGN_OR_RETURN(const bool still,
                           try_it(shrinker.ReturnNode(module, nodes[middle])));
    if (still) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  const IRModule returned = best;
  nodes = shrinker.Nodes(returned, kMain);
  for (size_t begin = 0, end = nodes.size(); begin < end;) {
    const size_t middle = begin + (end - begin + 1) / 2;
    BATON_ASSIGN_OR_RETURN(const bool still, try_it(shrinker.CutNodes(
                                                 returned, nodes, 0, middle)));
    if (still) {
      begin = middle;
    } else {
      end = middle - 1;
    }
  }
  return best;
}

}  // namespace baton
