// The rules of functions of loops.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Operands have one type, accesses have as many indices as the buffer has axes,
// stores have the type of what is stored, blocks as many values as variables,
// and functions that are called exist.
class PrimFuncVerifier final : public FunctionVerifier {
 public:
  void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                       const BaseFunc& function,
                       Diagnostics& diagnostics) const override {
    NodeSet seen;
    std::vector<const Node*> stack = {function.get()};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (node->kind().level() != kNodeLevel) continue;
      if (!node->unique() && !seen.Insert(node)) continue;
      const std::string problem = ProblemOf(node, module);
      if (!problem.empty()) {
        diagnostics.Error(static_cast<const ExprNode*>(node)->span(),
                          absl::StrCat("in @", var->name(), ": ", problem));
      }
      ForEachReference(node,
                       [&stack](const Node* part) { stack.push_back(part); });
    }
  }

 private:
  static std::string RankProblem(const Buffer& buffer, size_t indices) {
    if (buffer->shape().size() == indices) return {};
    return absl::StrCat("buffer ", buffer->name(), " has ",
                        buffer->shape().size(), " axes, this is an access by ",
                        indices, " indices");
  }

  // Returns the error of one node; empty if there is none.
  static std::string ProblemOf(const Node* node, const IRModule& module) {
    switch (node->kind().To<TirKind>()) {
      case TirKind::kBinary: {
        const auto* binary = static_cast<const BinaryNode*>(node);
        if (binary->a().dtype() == binary->b().dtype()) return {};
        return absl::StrCat("the operands of ", BinaryOpName(binary->op()),
                            " are ", binary->a().dtype().ToString(), " and ",
                            binary->b().dtype().ToString());
      }
      case TirKind::kSelect: {
        const auto* select = static_cast<const SelectNode*>(node);
        if (select->true_value().dtype() == select->false_value().dtype()) {
          return {};
        }
        return "the values of a Select have two types";
      }
      case TirKind::kBufferLoad: {
        const auto* load = static_cast<const BufferLoadNode*>(node);
        return RankProblem(load->buffer(), load->indices().size());
      }
      case TirKind::kBufferStore: {
        const auto* store = static_cast<const BufferStoreNode*>(node);
        std::string problem =
            RankProblem(store->buffer(), store->indices().size());
        const DType dtype = AccessDType(store->buffer(), store->indices());
        if (problem.empty() && store->value().dtype() != dtype) {
          problem =
              absl::StrCat("a ", store->value().dtype().ToString(),
                           " is stored where there is a ", dtype.ToString());
        }
        return problem;
      }
      case TirKind::kFor: {
        const auto* loop = static_cast<const ForNode*>(node);
        const DType dtype = loop->loop_var().dtype();
        if (loop->min().dtype() == dtype && loop->extent().dtype() == dtype) {
          return {};
        }
        return absl::StrCat("the loop variable ", loop->loop_var()->name(),
                            " and its range have two types");
      }
      case TirKind::kBlockRealize: {
        const auto* realize = static_cast<const BlockRealizeNode*>(node);
        if (realize->iter_values().size() ==
            realize->block()->iter_vars().size()) {
          return {};
        }
        return absl::StrCat("block ", realize->block()->name(), " has ",
                            realize->block()->iter_vars().size(),
                            " variables, and ", realize->iter_values().size(),
                            " values");
      }
      case TirKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        const auto* callee = call->op().As<GlobalVarNode>();
        if (callee == nullptr || module.Find(callee->name()).defined()) {
          return {};
        }
        return absl::StrCat("the module has no function @", callee->name());
      }
      default:
        return {};
    }
  }
};
BATON_REGISTER_FUNCTION_VERIFIER(PrimFuncNode, PrimFuncVerifier);

}  // namespace
}  // namespace baton::tir
