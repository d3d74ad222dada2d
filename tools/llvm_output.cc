// Registers the writer of the format llvm.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tools/input.h"

namespace baton {
namespace {

using tir::LlvmTarget;
using tir::PrimFunc;

// The texts of an entry of a target: a string, or a list of them.
std::vector<std::string> TextsOf(const tir::Target& target,
                                 absl::string_view key) {
  std::vector<std::string> texts;
  const tir::PrimExpr value = target->config().Find(key);
  if (!value.defined()) return texts;
  if (const auto* text = value.As<tir::StringImmNode>()) {
    texts.push_back(text->value());
  }
  if (const auto* list = value.As<tir::ListNode>()) {
    for (const tir::PrimExpr& item : list->items()) {
      if (const auto* text = item.As<tir::StringImmNode>()) {
        texts.push_back(text->value());
      }
    }
  }
  return texts;
}

// The attribute `target` of a function; `given` where it has none, or leaves
// the triple out.
absl::StatusOr<LlvmTarget> TargetFor(const PrimFunc& function,
                                     const std::string& given) {
  const tir::Target target = tir::TargetOf(function);
  std::string text = given;
  if (target.defined()) {
    const std::string kind = absl::StrJoin(TextsOf(target, "kind"), "");
    if (kind != "llvm" && kind != "c") {
      return ErrorAt(function->span(),
                     absl::StrCat("the function has the target ", kind,
                                  ", which is not llvm"));
    }
    BATON_ASSIGN_OR_RETURN(const LlvmTarget other, tir::ParseLlvmTarget(given));
    text = absl::StrCat("-mtriple=", other.triple);
    for (const char* key : {"mtriple", "mcpu", "mattr"}) {
      const std::vector<std::string> texts = TextsOf(target, key);
      if (texts.empty()) continue;
      absl::StrAppend(&text, " -", key, "=", absl::StrJoin(texts, ","));
    }
  }
  return tir::ParseLlvmTarget(text);
}

// The places of calls, by the name of the function that is called; functions of
// Relay are named in `others`.
FlatHashMap<std::string, std::vector<std::string>> CallsOf(
    const IRModule& module, std::vector<std::string>& others) {
  FlatHashMap<std::string, std::vector<std::string>> places;
  for (const auto& [var, function] : module.functions()) {
    const auto* caller = function.As<relay::FunctionNode>();
    if (caller == nullptr) continue;
    others.push_back(var->name());
    relay::PostOrderVisit(caller->body(), [&places](const ExprNode* node) {
      if (node->kind() != relay::ExprKind::kCall) return;
      const auto* call = static_cast<const relay::CallNode*>(node);
      const auto* callee = call->op().As<GlobalVarNode>();
      if (callee == nullptr || !call->span().defined()) return;
      places[callee->name()].push_back(onnx::OriginName(call->span()));
    });
  }
  return places;
}

absl::StatusOr<ModuleWriter::Output> Write(
    const IRModule& module, const ModuleWriter::Options& options) {
  std::vector<std::string> others;
  const FlatHashMap<std::string, std::vector<std::string>> calls =
      CallsOf(module, others);
  tir::LlvmSourceOptions write;
  write.line_table = options.line_table;
  BATON_ASSIGN_OR_RETURN(write.target,
                         tir::ParseLlvmTarget(options.llvm_target));
  write.head.push_back("Written by baton-opt. Do not edit.");
  for (const std::string& other : others) {
    write.head.push_back(
        absl::StrCat("@", other, " is a function of Relay: it is not here."));
  }
  std::vector<tir::CppFunction> functions;
  for (const auto& [var, function] : module.functions()) {
    const auto* node = function.As<tir::PrimFuncNode>();
    if (node == nullptr) continue;
    const PrimFunc loops(node);
    BATON_ASSIGN_OR_RETURN(LlvmTarget target,
                           TargetFor(loops, options.llvm_target));
    if (write.function_targets.empty()) write.target.triple = target.triple;
    write.function_targets.push_back(std::move(target));
    const auto found = calls.find(var->name());
    functions.push_back(
        {tir::GlobalSymbolOf(loops).value_or(var->name()), loops,
         found == calls.end() ? "" : absl::StrJoin(found->second, "\n")});
  }
  if (functions.empty()) {
    return absl::InvalidArgumentError(
        "the module has no functions of loops: run LowerToTir and tir.lower "
        "first");
  }
  BATON_ASSIGN_OR_RETURN(tir::LlvmSource source,
                         tir::WriteLlvmSource(functions, write));
  struct Owner {
    std::string text;
    absl::string_view piece;
  };
  const auto owner = std::make_shared<Owner>();
  owner->text = std::move(source.text);
  owner->piece = owner->text;
  return ModuleWriter::Output{owner, absl::MakeConstSpan(&owner->piece, 1), {}};
}

[[maybe_unused]] const bool registered =
    ModuleWriters().Register("llvm", {.write = Write});

}  // namespace
}  // namespace baton
