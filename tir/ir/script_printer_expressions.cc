// Expressions of ScriptPrinter.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_class.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_printer_impl.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir::internal {
namespace {

// The sign of an operation, or the name of the function that stands for it.
struct Sign {
  const char* infix;  // null: there is none
  const char* function;
  Precedence precedence;
};

Sign SignOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return {" + ", "T.Add", kSumPrecedence};
    case BinaryOp::kSub:
      return {" - ", "T.Sub", kSumPrecedence};
    case BinaryOp::kMul:
      return {" * ", "T.Mul", kProductPrecedence};
    case BinaryOp::kDiv:
      return {" / ", "T.Div", kProductPrecedence};
    case BinaryOp::kMod:
      return {nullptr, "T.truncmod", kAtomPrecedence};
    case BinaryOp::kFloorDiv:
      return {" // ", "T.FloorDiv", kProductPrecedence};
    case BinaryOp::kFloorMod:
      return {" % ", "T.FloorMod", kProductPrecedence};
    case BinaryOp::kMin:
      return {nullptr, "T.min", kAtomPrecedence};
    case BinaryOp::kMax:
      return {nullptr, "T.max", kAtomPrecedence};
    case BinaryOp::kEQ:
      return {" == ", "T.EQ", kComparisonPrecedence};
    case BinaryOp::kNE:
      return {" != ", "T.NE", kComparisonPrecedence};
    case BinaryOp::kLT:
      return {" < ", "T.LT", kComparisonPrecedence};
    case BinaryOp::kLE:
      return {" <= ", "T.LE", kComparisonPrecedence};
    case BinaryOp::kGT:
      return {" > ", "T.GT", kComparisonPrecedence};
    case BinaryOp::kGE:
      return {" >= ", "T.GE", kComparisonPrecedence};
    case BinaryOp::kAnd:
      return {" and ", "T.And", kAndPrecedence};
    case BinaryOp::kOr:
      return {" or ", "T.Or", kOrPrecedence};
  }
  return {nullptr, "T.Any", kAtomPrecedence};
}

// True if reading the infix form gives this node and not a folded one.
bool IsInfix(const BinaryNode* node) {
  if (SignOf(node->op()).infix == nullptr) return false;
  if (node->a().dtype() != node->b().dtype()) return false;
  if (node->op() == BinaryOp::kDiv && node->a().dtype().is_integral()) {
    return false;
  }
  const auto is_zero_imm = [](const PrimExpr& e) {
    const auto* f = e.As<FloatImmNode>();
    return IsZero(e) || (f != nullptr && f->value() == 0);
  };
  const bool divides = node->op() == BinaryOp::kDiv ||
                       node->op() == BinaryOp::kFloorDiv ||
                       node->op() == BinaryOp::kFloorMod;
  if (divides && is_zero_imm(node->b())) return false;
  return !TryFold(node->op(), node->a(), node->b()).defined();
}

Precedence PrecedenceOf(const Node* node) {
  if (node == nullptr) return kAtomPrecedence;
  if (node->kind() == TirKind::kBinary) {
    const auto* binary = static_cast<const BinaryNode*>(node);
    return IsInfix(binary) ? SignOf(binary->op()).precedence : kAtomPrecedence;
  }
  if (node->kind() == TirKind::kNot) return kNotPrecedence;
  return kAtomPrecedence;
}

}  // namespace

void ScriptPrinter::PrintParts(const Mark& mark, std::string& out) {
  // The strings to which text is appended: the last one is the current, the
  // first the output.
  std::vector<std::string*> to = {&out};
  while (parts_.size() > mark.parts) {
    const Part part = parts_.back();
    parts_.pop_back();
    switch (part.kind) {
      case Part::kText:
        *to.back() += part.text;
        break;
      case Part::kOwned:
        *to.back() += owned_[part.index];
        break;
      case Part::kNode:
        PrintNode(part, *to.back());
        break;
      case Part::kEnd:
        PopFrame();
        break;
      case Part::kDivert:
        to.push_back(
            diverted_.emplace_back(std::make_unique<std::string>()).get());
        break;
      case Part::kResume:
        owned_[part.index] = std::move(*to.back());
        to.pop_back();
        diverted_.pop_back();
        break;
      case Part::kParams: {
        const bool is_map = part.node->kind() == TirKind::kIndexMap;
        Frame& frame = PushFrame(part.node, 0);
        const char* separator = "";
        const auto print = [&](absl::Span<const Var> vars) {
          for (const Var& var : vars) {
            absl::StrAppend(to.back(), separator, DefineVar(var.get(), frame));
            separator = ", ";
          }
        };
        if (is_map) {
          print(static_cast<const IndexMapNode*>(part.node)->initial());
        } else {
          const auto* reducer = static_cast<const CommReducerNode*>(part.node);
          print(reducer->lhs());
          print(reducer->rhs());
        }
        break;
      }
    }
  }
  owned_.resize(mark.owned);
  kept_.resize(mark.kept);
}

void ScriptPrinter::PushIndices(absl::Span<const PrimExpr> indices) {
  if (indices.empty()) return Push("[()]");
  Push("]");
  for (size_t i = indices.size(); i-- > 0;) {
    const auto* ramp = indices[i].As<RampNode>();
    if (ramp != nullptr && ramp->stride().Is<IntImmNode>()) {
      if (!IsOne(ramp->stride())) {
        PushNode(ramp->stride().get());
        Push(":");
      }
      PushSlice(ramp->base(),
                Add(ramp->base(),
                    Mul(IntImm(kInt32, ramp->lanes()), ramp->stride())));
    } else {
      PushNode(indices[i].get());
    }
    if (i > 0) Push(", ");
  }
  Push("[");
}

void ScriptPrinter::PushRegion(absl::Span<const Range> region) {
  if (region.empty()) return Push("[()]");
  Push("]");
  for (size_t i = region.size(); i-- > 0;) {
    if (IsOne(region[i].extent)) {
      PushNode(region[i].min.get());
    } else {
      PushSlice(region[i].min, Add(region[i].min, region[i].extent));
    }
    if (i > 0) Push(", ");
  }
  Push("[");
}

// Pushes what is written for one node; parts of it wait on the stack.
void ScriptPrinter::PrintNode(const Part& part, std::string& out) {
  const Node* node = part.node;
  if (node == nullptr) {
    out += "None";
    return;
  }
  if (node->kind() == IrKind::kGlobalVar) {
    if (!module_.empty()) absl::StrAppend(&out, module_, ".");
    out += static_cast<const GlobalVarNode*>(node)->name();
    return;
  }
  if (part.precedence != kAny) {
    const Precedence own = PrecedenceOf(node);
    if (own < part.precedence || (part.strict && own == part.precedence)) {
      out.push_back('(');
      Push(")");
    }
  }
  switch (node->kind().To<TirKind>()) {
    case TirKind::kVar:
      out += VarText(static_cast<const VarNode*>(node));
      return;
    case TirKind::kIntImm: {
      const auto* imm = static_cast<const IntImmNode*>(node);
      if (imm->dtype() == kInt32) {
        absl::StrAppend(&out, imm->value());
      } else if (imm->dtype() == DType::Bool()) {
        out += imm->value() != 0 ? "T.bool(True)" : "T.bool(False)";
      } else {
        absl::StrAppend(&out, "T.", ScriptDType(imm->dtype()), "(",
                        imm->value(), ")");
      }
      return;
    }
    case TirKind::kFloatImm: {
      const auto* imm = static_cast<const FloatImmNode*>(node);
      absl::StrAppend(&out, "T.", ScriptDType(imm->dtype()), "(",
                      ScriptFloat(imm->value()), ")");
      return;
    }
    case TirKind::kStringImm:
      out += ScriptString(static_cast<const StringImmNode*>(node)->value());
      return;
    case TirKind::kCast: {
      const auto* cast = static_cast<const CastNode*>(node);
      absl::StrAppend(&out, "T.Cast(", ScriptString(ScriptDType(cast->dtype())),
                      ", ");
      Push(")");
      PushNode(cast->value().get());
      return;
    }
    case TirKind::kBinary: {
      const auto* binary = static_cast<const BinaryNode*>(node);
      const Sign sign = SignOf(binary->op());
      if (IsInfix(binary)) {
        PushNode(binary->b().get(), sign.precedence, true);
        Push(sign.infix);
        // Python would chain comparisons.
        PushNode(binary->a().get(), sign.precedence,
                 IsComparison(binary->op()));
      } else {
        Push(")");
        PushNode(binary->b().get());
        Push(", ");
        PushNode(binary->a().get());
        absl::StrAppend(&out, sign.function, "(");
      }
      return;
    }
    case TirKind::kNot: {
      const auto* not_node = static_cast<const NotNode*>(node);
      const auto* imm = not_node->a().As<IntImmNode>();
      if (imm != nullptr && imm->dtype() == kInt32) {
        out += "T.Not(";
        Push(")");
        PushNode(not_node->a().get());
      } else {
        out += "not ";
        PushNode(not_node->a().get(), kNotPrecedence);
      }
      return;
    }
    case TirKind::kSelect: {
      const auto* select = static_cast<const SelectNode*>(node);
      out += "T.Select(";
      Push(")");
      PushNode(select->false_value().get());
      Push(", ");
      PushNode(select->true_value().get());
      Push(", ");
      PushNode(select->condition().get());
      return;
    }
    case TirKind::kRamp: {
      const auto* ramp = static_cast<const RampNode*>(node);
      out += "T.Ramp(";
      PushOwned(absl::StrCat(", ", ramp->lanes(), ")"));
      PushNode(ramp->stride().get());
      Push(", ");
      PushNode(ramp->base().get());
      return;
    }
    case TirKind::kBroadcast: {
      const auto* broadcast = static_cast<const BroadcastNode*>(node);
      out += "T.Broadcast(";
      PushOwned(absl::StrCat(", ", broadcast->lanes(), ")"));
      PushNode(broadcast->value().get());
      return;
    }
    case TirKind::kShuffle: {
      const auto* shuffle = static_cast<const ShuffleNode*>(node);
      out += "T.Shuffle([";
      Push("])");
      PushList(shuffle->indices());
      Push("], [");
      PushList(shuffle->vectors());
      return;
    }
    case TirKind::kBufferLoad: {
      const auto* load = static_cast<const BufferLoadNode*>(node);
      out += BufferText(load->buffer().get());
      PushIndices(load->indices());
      return;
    }
    case TirKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      CallType type = CallType::kFirst;
      if (const auto* op = call->op().As<OpNode>()) {
        absl::StrAppend(&out, "T.", ScriptName(*op));
        if (const Intrinsic* intrinsic = IntrinsicOf(call->op())) {
          type = intrinsic->type;
        }
      } else {
        absl::StrAppend(&out, module_, module_.empty() ? "" : ".",
                        call->op().As<GlobalVarNode>() != nullptr
                            ? call->op().As<GlobalVarNode>()->name()
                            : "unknown");
      }
      out.push_back('(');
      const std::string dtype = ScriptString(ScriptDType(call->dtype()));
      Push(")");
      if (type == CallType::kGivenEnd) {
        PushOwned(absl::StrCat(call->args().empty() ? "" : ", ", dtype));
      }
      PushList(call->args());
      if (type == CallType::kGiven) {
        absl::StrAppend(&out, dtype, call->args().empty() ? "" : ", ");
      }
      return;
    }
    case TirKind::kLet: {
      // The definition is written last, but comes first in the text.
      const auto* let = static_cast<const LetNode*>(node);
      const size_t where = owned_.size();
      owned_.emplace_back();
      Push(")");
      Part text{Part::kOwned};
      text.index = where;
      parts_.push_back(text);
      PushNode(let->body().get());
      Push("T.Let(");
      Part resume{Part::kResume};
      resume.index = where;
      parts_.push_back(resume);
      Push("}");
      PushNode(let->value().get());
      Push(": ");
      PushNode(let->var().get());
      Push(", where={");
      parts_.push_back({Part::kDivert});
      return;
    }
    case TirKind::kReduce: {
      const auto* reduce = static_cast<const ReduceNode*>(node);
      out += "T.reduce(";
      PushOwned(absl::StrCat(", value_index=", reduce->value_index(), ")"));
      PushNode(reduce->condition().get());
      Push("], condition=");
      for (size_t i = reduce->axis().size(); i-- > 0;) {
        PushNode(reduce->axis()[i].get());
        if (i > 0) Push(", ");
      }
      Push("], axis=[");
      PushList(reduce->init());
      Push("], init=[");
      PushList(reduce->source());
      Push(", source=[");
      PushNode(reduce->combiner().get());
      return;
    }
    case TirKind::kCommReducer: {
      const auto* reducer = static_cast<const CommReducerNode*>(node);
      out += "T.comm_reducer(lambda ";
      Push("])");
      PushList(reducer->identity());
      Push(", [");
      parts_.push_back({Part::kEnd});
      const bool is_tuple = reducer->result().size() != 1;
      if (is_tuple) Push(")");
      PushList(reducer->result());
      if (is_tuple) Push("(");
      Push(": ");
      Part params{Part::kParams};
      params.node = node;
      parts_.push_back(params);
      return;
    }
    case TirKind::kIterVar: {
      const auto* iter_var = static_cast<const IterVarNode*>(node);
      out += "T.iter_var(";
      PushOwned(absl::StrCat(
          ", ", ScriptString(IterVarTypeName(iter_var->iter_type())), ", ",
          ScriptString(iter_var->thread_tag()), ")"));
      if (iter_var->extent().defined()) {
        Push(")");
        PushNode(iter_var->extent().get());
        Push(", ");
        PushNode(iter_var->min().get());
        Push(", T.Range(");
      } else {
        Push(", None");
      }
      PushNode(iter_var->var().get());
      return;
    }
    case TirKind::kIndexMap: {
      const auto* map = static_cast<const IndexMapNode*>(node);
      out += "T.index_map(";
      Push(")");
      const auto push_lambda = [this](const IndexMapNode* m) {
        parts_.push_back({Part::kEnd});
        Push(m->final_indices().size() == 1 ? ",)" : ")");
        PushList(m->final_indices());
        Push(": (");
        Part params{Part::kParams};
        params.node = m;
        parts_.push_back(params);
        Push("lambda ");
      };
      if (const auto* inverse = map->inverse().As<IndexMapNode>()) {
        push_lambda(inverse);
        Push(", inverse_index_map=");
      }
      push_lambda(map);
      return;
    }
    case TirKind::kBuffer:
      out += BufferText(static_cast<const BufferNode*>(node));
      return;
    case TirKind::kBufferRegion: {
      const auto* region = static_cast<const BufferRegionNode*>(node);
      out += BufferText(region->buffer().get());
      PushRegion(region->region());
      return;
    }
    case TirKind::kList:
      out.push_back('[');
      Push("]");
      PushList(static_cast<const ListNode*>(node)->items());
      return;
    case TirKind::kDict: {
      const auto* dict = static_cast<const DictNode*>(node);
      out.push_back('{');
      Push("}");
      for (size_t i = dict->keys().size(); i-- > 0;) {
        PushNode(dict->values()[i].get());
        PushOwned(absl::StrCat(i > 0 ? ", " : "", ScriptString(dict->keys()[i]),
                               ": "));
      }
      return;
    }
    case TirKind::kTarget:
      out += "T.target(";
      Push(")");
      PushNode(static_cast<const TargetNode*>(node)->config().get());
      return;
    default:
      // No expression: statements and functions stand in none.
      absl::StrAppend(&out, "T.", NodeKindName(node->kind()), "()");
      return;
  }
}

}  // namespace baton::tir::internal
