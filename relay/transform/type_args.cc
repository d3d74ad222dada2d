#include "baton/relay/transform/type_args.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_substitution.h"

namespace baton::relay {
namespace {

// Finds what the keys of `values` stand for: where `pattern` has them, `type`
// has their values. The first one found stays.
void Match(const Type& pattern, const Type& type, int depth,
           TypeVarMap& values) {
  if (!pattern.defined() || !type.defined() || depth > kMaxTypeDepth) return;
  const auto it = values.find(pattern.get());
  if (it != values.end()) {
    if (!it->second.defined()) it->second = type;
    return;
  }
  if (pattern->kind() != type->kind()) return;
  // A polymorphic function may be an argument for a parameter of plain function
  // type: its own type parameters determine nothing.
  if (const auto* function = type.As<FuncTypeNode>();
      function != nullptr && !function->type_params().empty()) {
    return;
  }
  std::vector<Type> parts;
  ForEachTypePart(type, [&parts](const Type& part) { parts.push_back(part); });
  size_t next = 0;
  ForEachTypePart(pattern, [&](const Type& part) {
    if (next < parts.size()) Match(part, parts[next++], depth + 1, values);
  });
}

}  // namespace

std::vector<Type> MatchTypeParams(const FuncTypeNode& callee,
                                  absl::Span<const Type> args,
                                  const Type& result) {
  TypeVarMap values;
  for (const TypeVar& param : callee.type_params())
    values[param.get()] = Type();
  if (values.empty()) return {};
  Match(callee.result(), result, /*depth=*/0, values);
  for (size_t i = 0; i < std::min(args.size(), callee.args().size()); ++i) {
    Match(callee.args()[i], args[i], /*depth=*/0, values);
  }
  std::vector<Type> found;
  for (const TypeVar& param : callee.type_params()) {
    found.push_back(values[param.get()]);
  }
  return found;
}

std::vector<Type> TypeArgsOf(const FuncTypeNode& callee, const CallNode& call) {
  if (callee.type_params().empty()) return {};
  std::vector<Type> args;
  for (const Expr& arg : call.args()) args.push_back(arg->type());
  std::vector<Type> found = MatchTypeParams(callee, args, call.type());
  const size_t num_given = std::min(found.size(), call.type_args().size());
  std::copy_n(call.type_args().begin(), num_given, found.begin());
  return found;
}

}  // namespace baton::relay
