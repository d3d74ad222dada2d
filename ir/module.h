// IRModule: named functions, of any kinds, and the data types that they use.
//
// A module is a value: copying it copies a pointer, so a snapshot costs
// nothing, and two modules that share it are recognized at once. Setting a
// function copies the table first if another module shares it.

#ifndef BATON_IR_MODULE_H_
#define BATON_IR_MODULE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/expr.h"
#include "baton/ir/type.h"

namespace baton {

// A set of named functions and data types; see the top of this file.
class IRModule {
 public:
  struct Definition {
    GlobalVar var;
    BaseFunc function;
  };
  // A definition whose function is an F.
  template <typename F>
  struct DefinitionOf {
    GlobalVar var;
    F function;
  };

  // Empty.
  IRModule();

  // The functions in the order in which they were first added.
  absl::Span<const Definition> functions() const;
  // The functions that are an F (a handle class such as Function), in the same
  // order.
  template <typename F>
  std::vector<DefinitionOf<F>> functions() const;
  int size() const { return static_cast<int>(functions().size()); }

  // The function of that name; null if there is none. Find<F> is also null if
  // the function is not an F.
  BaseFunc Find(absl::string_view name) const;
  template <typename F>
  F Find(absl::string_view name) const;
  // As Find, but with an error that names the nearest known functions or the
  // kind of the function.
  absl::StatusOr<BaseFunc> Lookup(absl::string_view name) const;
  template <typename F>
  absl::StatusOr<F> Lookup(absl::string_view name) const;
  // The GlobalVar under which `name` was added; null if there is none.
  GlobalVar FindGlobalVar(absl::string_view name) const;

  // Adds a function or replaces the one of that name in its position.
  void Set(absl::string_view name, BaseFunc function);
  void Set(const GlobalVar& var, BaseFunc function);
  void Remove(absl::string_view name);

  // The data types in the order in which they were first added.
  absl::Span<const TypeDefinition> types() const;
  // The data types that are a T (a handle class such as TypeData), in that
  // order.
  template <typename T>
  std::vector<T> types() const;
  // The data type of that name; null if there is none. FindType<T> is also null
  // if the data type is not a T.
  TypeDefinition FindType(absl::string_view name) const;
  template <typename T>
  T FindType(absl::string_view name) const;
  // Adds a data type or replaces the one of that name in its position.
  void SetType(TypeDefinition type);

  // Returns this module with the i-th of functions<F>() replaced by
  // functions[i] for all i. Returns the same module if nothing differs.
  template <typename F>
  IRModule WithFunctions(const std::vector<F>& functions) const;

  // True if both are copies of one module, unchanged since: O(1).
  bool SameAs(const IRModule& other) const { return data_ == other.data_; }
  // True if the functions and data types are the same nodes under the same
  // names, in order.
  bool IdenticalTo(const IRModule& other) const;

 private:
  struct Data {
    std::vector<Definition> functions;
    std::vector<TypeDefinition> types;
    // Versions of a module that differ only in function bodies share the index.
    std::shared_ptr<const FlatHashMap<std::string, int>> index;
  };
  explicit IRModule(std::shared_ptr<Data> data) : data_(std::move(data)) {}
  IRModule WithAllFunctions(absl::Span<const BaseFunc> functions) const;
  static absl::Status WrongKind(absl::string_view name, const BaseFunc& is,
                                absl::string_view wanted);
  Data& Mutable();
  int IndexOf(absl::string_view name) const;  // -1 if absent

  std::shared_ptr<Data> data_;
};

// Implementation details below.

template <typename F>
std::vector<IRModule::DefinitionOf<F>> IRModule::functions() const {
  std::vector<DefinitionOf<F>> result;
  result.reserve(functions().size());
  for (const Definition& definition : functions()) {
    if (const auto* node = definition.function.As<NodeOf<F>>()) {
      result.push_back({definition.var, F(node)});
    }
  }
  return result;
}

template <typename F>
F IRModule::Find(absl::string_view name) const {
  return F(Find(name).As<NodeOf<F>>());
}

template <typename F>
absl::StatusOr<F> IRModule::Lookup(absl::string_view name) const {
  absl::StatusOr<BaseFunc> found = Lookup(name);
  if (!found.ok()) return found.status();
  const auto* node = found->As<NodeOf<F>>();
  if (node == nullptr) return WrongKind(name, *found, NodeOf<F>::kName);
  return F(node);
}

template <typename F>
IRModule IRModule::WithFunctions(const std::vector<F>& functions) const {
  std::vector<BaseFunc> all;
  all.reserve(this->functions().size());
  auto next = functions.begin();
  for (const Definition& definition : this->functions()) {
    all.push_back(definition.function.Is<NodeOf<F>>() ? BaseFunc(*next++)
                                                      : definition.function);
  }
  return WithAllFunctions(all);
}

template <typename T>
std::vector<T> IRModule::types() const {
  std::vector<T> result;
  result.reserve(types().size());
  for (const TypeDefinition& type : types()) {
    if (const auto* node = type.As<NodeOf<T>>()) result.push_back(T(node));
  }
  return result;
}

template <typename T>
T IRModule::FindType(absl::string_view name) const {
  return T(FindType(name).As<NodeOf<T>>());
}

}  // namespace baton

#endif  // BATON_IR_MODULE_H_
