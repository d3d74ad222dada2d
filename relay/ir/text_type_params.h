// TypeParamNames: the names of type parameters in a text.

#ifndef BATON_RELAY_IR_TEXT_TYPE_PARAMS_H_
#define BATON_RELAY_IR_TEXT_TYPE_PARAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"

namespace baton::relay {

// In a text, a name means the innermost type parameter of this name or, if
// there is none in scope, a data type. A type parameter whose name already has
// a meaning where the parameter is declared gets a number behind its name.
class TypeParamNames {
 public:
  // Data types may be named anywhere.
  void AddDataType(const std::string& name) { ++users_[name]; }
  void AddDataTypesIn(const Type& type);
  // Brings a type parameter into scope, and returns its name there.
  const std::string& Declare(const TypeVar& param);
  // Ends the scope of `params`, which were declared last.
  void EndScope(absl::Span<const TypeVar> params);
  // Begins a definition: no type parameter is in scope, and numbers begin
  // again.
  void Clear() {
    names_.clear();
    last_number_.clear();
  }
  // `type` with the type parameters in scope, and those that it declares
  // itself, replaced by parameters with their names in the text.
  Type Named(const Type& type) {
    return names_.empty() && !HasTypeParams(type) ? type : Named(type, 0);
  }

 private:
  // Deeper types, which inference does not enter either, stay as they are.
  static constexpr int kMaxTypeDepth = 1000;

  static bool HasTypeParams(const Type& type);
  Type Named(const Type& type, int depth);
  std::vector<Type> AllNamed(absl::Span<const Type> types, int depth);

  // The name of a type parameter in the text, and the number of scopes around
  // the current place that declare it.
  struct Name {
    TypeVar var;
    int scopes = 0;
  };
  FlatHashMap<const TypeNode*, Name> names_;
  // The number of data types, and of type parameters in scope, with each name.
  FlatHashMap<std::string, int> users_;
  FlatHashMap<std::string, int64_t> last_number_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_TYPE_PARAMS_H_
