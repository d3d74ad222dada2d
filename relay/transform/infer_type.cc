#include "baton/relay/transform/infer_type.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/node_kind.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// True if inference of `function` needs other functions.
bool RefersToOthers(const Function& function) {
  bool refers = false;
  PostOrderVisit(
      function,
      [&](const ExprNode* node) {
        // Typed expressions are not entered.
        return !refers && !node->type().defined();
      },
      [&refers](const ExprNode* node) {
        refers |= node->kind() == ExprKind::kGlobalVar;
      });
  return refers;
}

// Types those functions of `module` at `indices` that refer to no others, and
// puts them into `functions`. If one of them has an error, all stay untyped.
void InferTypesOfGroup(const IRModule& module, absl::Span<const int> indices,
                       std::vector<BaseFunc>& functions) {
  IRModule group;
  std::vector<int> members;
  members.reserve(indices.size());
  for (const int i : indices) {
    if (RefersToOthers(Function(functions[i].As<FunctionNode>()))) continue;
    group.Set(module.functions()[i].var, functions[i]);
    members.push_back(i);
  }
  if (members.empty()) return;
  for (const TypeDefinition& type : module.types()) group.SetType(type);
  Diagnostics diagnostics;
  try {
    group = InferTypes(group, diagnostics);
  } catch (...) {
    return;  // a type relation throws: again when all are typed together
  }
  // Errors are reported when all functions are typed together.
  if (diagnostics.has_errors()) return;
  for (size_t i = 0; i < members.size(); ++i) {
    functions[members[i]] = group.functions()[i].function;
  }
}

// The functions of `module` are typed in this many groups of neighbours, at
// most. With one group, the row "FuseOps" of benchmarks/threads_benchmark gains
// 1.2 times from a second thread (processor time of the busiest one), with 64
// groups 1.9 times. The number must not depend on the number of threads: an
// expression that is part of two functions stays one only within a group.
constexpr int kMaxGroups = 64;

absl::StatusOr<IRModule> InferTypesInGroups(IRModule module,
                                            const PassContext& context) {
  const auto definitions = module.functions();
  const auto is_typed = [](const IRModule::Definition& definition) {
    return definition.function->type().defined() ||
           !definition.function.Is<FunctionNode>();
  };
  if (std::all_of(definitions.begin(), definitions.end(), is_typed)) {
    return module;
  }
  std::vector<BaseFunc> functions;
  functions.reserve(definitions.size());
  std::vector<int> untyped;
  for (int i = 0; i < module.size(); ++i) {
    functions.push_back(definitions[i].function);
    if (!is_typed(definitions[i])) untyped.push_back(i);
  }
  if (untyped.size() < 2) return InferTypes(module);
  const int num_untyped = static_cast<int>(untyped.size());
  const int num_groups = std::min(num_untyped, kMaxGroups);
  const auto begin_of = [&](int group) {
    return static_cast<size_t>(int64_t{num_untyped} * group / num_groups);
  };
  ParallelFor(context, num_groups, [&](int begin, int end) {
    for (int group = begin; group < end; ++group) {
      const size_t first = begin_of(group);
      InferTypesOfGroup(module,
                        absl::MakeConstSpan(untyped).subspan(
                            first, begin_of(group + 1) - first),
                        functions);
    }
  });
  IRModule result = module.WithFunctions(functions);
  DropModule(context, std::move(module));
  return InferTypes(result);
}

}  // namespace

Pass InferType() {
  return CreateModulePass(InferTypesInGroups,
                          {.name = "InferType",
                           .doc = "Infers the type of every expression.",
                           .establishes = {"typed"},
                           .idempotent = true,
                           .always_run = true});
}

BATON_REGISTER_PASS(InferType);

}  // namespace baton::relay
