#include "baton/ir/structural_equal.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/stable_hash.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/type.h"

namespace baton {
namespace {

using internal::NodeComparator;
using internal::NodeHasher;

// Compares two modules; describes a difference in `*difference` if not null.
bool ModulesEqual(const IRModule& a, const IRModule& b,
                  const StructuralEqualOptions& options,
                  std::string* difference) {
  if (a.SameAs(b)) return true;
  const auto only_in = [&](const char* which, absl::string_view name) {
    if (difference != nullptr) {
      *difference = absl::StrCat(name, ": only in the ", which, " module");
    }
    return false;
  };
  for (const TypeDefinition& type : b.types()) {
    if (!a.FindType(type->name()).defined()) {
      return only_in("second", type->name());
    }
  }
  for (const TypeDefinition& type : a.types()) {
    const TypeDefinition other = b.FindType(type->name());
    if (!other.defined()) return only_in("first", type->name());
    if (type == other) continue;
    // Definitions have no free variables.
    if (!NodeComparator(/*map_free=*/false, /*trace=*/false)
             .Compare(type.get(), other.get())) {
      if (difference != nullptr) {
        *difference =
            absl::StrCat(type->name(), ": another definition of the type");
      }
      return false;
    }
  }
  for (const IRModule::Definition& definition : b.functions()) {
    if (a.Find(definition.var->name()).defined()) continue;
    return only_in("second", absl::StrCat("@", definition.var->name()));
  }
  for (const IRModule::Definition& definition : a.functions()) {
    const BaseFunc other = b.Find(definition.var->name());
    if (definition.function == other) continue;
    if (!other.defined()) {
      return only_in("first", absl::StrCat("@", definition.var->name()));
    }
    NodeComparator comparator(options.map_free_vars, difference != nullptr);
    if (!comparator.Compare(definition.function.get(), other.get())) {
      if (difference != nullptr) {
        *difference = absl::StrCat("@", definition.var->name(), ".",
                                   comparator.TakeDifference());
      }
      return false;
    }
  }
  return true;
}

}  // namespace

bool StructuralEqual(const Expr& a, const Expr& b,
                     const StructuralEqualOptions& options) {
  if (a == b) return true;
  return NodeComparator(options.map_free_vars, /*trace=*/false)
      .Compare(a.get(), b.get());
}

bool StructuralEqual(const Type& a, const Type& b,
                     const StructuralEqualOptions& options) {
  if (a == b) return true;
  return NodeComparator(options.map_free_vars, /*trace=*/false)
      .CompareTypes(a.get(), b.get());
}

bool StructuralEqual(const IRModule& a, const IRModule& b,
                     const StructuralEqualOptions& options) {
  return ModulesEqual(a, b, options, nullptr);
}

std::optional<std::string> FirstDifference(
    const Expr& a, const Expr& b, const StructuralEqualOptions& options) {
  if (a == b) return std::nullopt;
  NodeComparator comparator(options.map_free_vars, /*trace=*/true);
  if (comparator.Compare(a.get(), b.get())) return std::nullopt;
  return comparator.TakeDifference();
}

std::optional<std::string> FirstDifference(
    const IRModule& a, const IRModule& b,
    const StructuralEqualOptions& options) {
  std::string difference;
  if (ModulesEqual(a, b, options, &difference)) return std::nullopt;
  return difference;
}

uint64_t StructuralHash(const Expr& expr) {
  if (!expr.Is<BaseFuncNode>()) return NodeHasher().Hash(expr.get());
  std::atomic<uint64_t>& memo = internal::NodeAccess::Memo(expr.get());
  const uint64_t known = memo.load(std::memory_order_relaxed);
  if (internal::IsHash(known)) return internal::HashOfMemo(known);
  NodeHasher hasher;
  const uint64_t hash = internal::HashForMemo(hasher.Hash(expr.get()));
  if (!hasher.open()) memo.store(known | hash, std::memory_order_relaxed);
  return hash;
}

uint64_t StructuralHash(const Type& type) {
  return NodeHasher().HashTree(type.get());
}

uint64_t StructuralHash(const IRModule& module) {
  // A sum, for the order of definitions does not matter.
  uint64_t sum = static_cast<uint64_t>(module.size());
  for (const TypeDefinition& type : module.types()) {
    StableHash hash(8);
    hash.AddString(type->name());
    hash.Add(NodeHasher().Hash(type.get()));
    sum += hash.value();
  }
  for (const IRModule::Definition& definition : module.functions()) {
    StableHash hash(7);
    hash.AddString(definition.var->name());
    hash.Add(StructuralHash(definition.function));
    sum += hash.value();
  }
  return sum;
}

}  // namespace baton
