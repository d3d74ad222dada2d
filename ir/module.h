// IRModule: named functions, and the algebraic data types that they use.
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

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton {

class IRModule {
 public:
  struct Definition {
    GlobalVar var;
    Function function;
  };

  // Empty.
  IRModule();

  // A module whose `main` is `expr`: itself if it is a function, otherwise a
  // function of the free variables of `expr`.
  static IRModule FromExpr(const Expr& expr);

  // The functions in the order in which they were first added.
  absl::Span<const Definition> functions() const;
  int size() const { return static_cast<int>(functions().size()); }

  // Null if there is none of that name.
  Function Find(absl::string_view name) const;
  // The same; an error names the nearest known functions.
  absl::StatusOr<Function> Lookup(absl::string_view name) const;
  // The GlobalVar under which `name` was added; null if there is none.
  GlobalVar FindGlobalVar(absl::string_view name) const;

  // Adds a function or replaces the one of that name, which keeps its place.
  void Set(absl::string_view name, Function function);
  void Set(const GlobalVar& var, Function function);
  void Remove(absl::string_view name);

  // The data types in the order in which they were first added.
  absl::Span<const TypeData> types() const;
  // Null if there is none of that name.
  TypeData FindType(absl::string_view name) const;
  // Adds a data type or replaces the one of that name, which keeps its place.
  void SetType(TypeData type);

  // This module with the i-th function replaced by functions[i], for all i.
  // The same module if nothing differs.
  IRModule WithFunctions(absl::Span<const Function> functions) const;

  // True if both are one and the same: O(1).
  bool SameAs(const IRModule& other) const { return data_ == other.data_; }
  // True if the functions and data types are the same nodes under the same
  // names, in order.
  bool IdenticalTo(const IRModule& other) const;

 private:
  struct Data {
    std::vector<Definition> functions;
    std::vector<TypeData> types;
    // Shared by versions of a module that differ in bodies only.
    std::shared_ptr<const absl::flat_hash_map<std::string, int>> index;
  };
  explicit IRModule(std::shared_ptr<Data> data) : data_(std::move(data)) {}
  Data& Mutable();
  int IndexOf(absl::string_view name) const;  // -1 if absent

  std::shared_ptr<Data> data_;
};

}  // namespace baton

#endif  // BATON_IR_MODULE_H_
