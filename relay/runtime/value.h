// Values: what Relay expressions evaluate to.

#ifndef BATON_RELAY_RUNTIME_VALUE_H_
#define BATON_RELAY_RUNTIME_VALUE_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// A tensor, a tuple, a function with what it captured, a reference cell, or a
// value of a data type.
// Copying shares; only reference cells can be written. Destroying a value does
// not recurse, however deep it is.
class Value {
 public:
  struct Closure;
  struct Cell;
  struct Data;

  Value() = default;                                   // the empty tuple
  Value(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT
  static Value MakeTuple(std::vector<Value> fields);
  static Value MakeClosure(Closure closure);
  static Value MakeCell(Value content);
  static Value MakeData(Data data);

  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  bool is_tuple() const { return std::holds_alternative<TuplePtr>(value_); }
  bool is_closure() const { return std::holds_alternative<ClosurePtr>(value_); }
  bool is_cell() const { return std::holds_alternative<CellPtr>(value_); }
  bool is_data() const { return std::holds_alternative<DataPtr>(value_); }

  // Each only for a value of that kind.
  const Tensor& tensor() const { return std::get<Tensor>(value_); }
  absl::Span<const Value> fields() const {
    return std::get<TuplePtr>(value_) == nullptr ? absl::Span<const Value>()
                                                 : TupleFields();
  }
  const Closure& closure() const { return *std::get<ClosurePtr>(value_); }
  Cell& cell() const { return *std::get<CellPtr>(value_); }
  const Data& data() const { return *std::get<DataPtr>(value_); }

 private:
  struct TupleContent;
  // Destroys values, one after the other, each after what it alone holds.
  // Takes no memory.
  static void Dismantle(Value root);
  static void DismantleAll(std::vector<Value>& values);
  // What a value that nobody else holds has in its last place, and how many
  // places it has; null and 0 if others hold it, or if it has none.
  static Value* LastPlace(const Value& value, size_t* size);
  static void DropLastPlace(const Value& value);
  absl::Span<const Value> TupleFields() const;

  using TuplePtr = std::shared_ptr<const TupleContent>;
  using ClosurePtr = std::shared_ptr<const Closure>;
  using CellPtr = std::shared_ptr<Cell>;
  using DataPtr = std::shared_ptr<const Data>;
  std::variant<TuplePtr, Tensor, ClosurePtr, CellPtr, DataPtr> value_;
};

// A function and the values of its free variables.
struct Value::Closure {
  Function function;
  std::vector<std::pair<Var, Value>> captured;
  // The variable that a let binds to this very function and that the function
  // uses: local recursion. Null if there is none.
  Var self;

  Closure() = default;
  Closure(Closure&&) = default;
  ~Closure();
};

struct Value::Cell {
  Value content;

  explicit Cell(Value value) : content(std::move(value)) {}
  ~Cell();
};

// What a constructor makes of its arguments.
struct Value::Data {
  Constructor constructor;
  std::vector<Value> fields;

  Data(Constructor constructor, std::vector<Value> fields)
      : constructor(std::move(constructor)), fields(std::move(fields)) {}
  Data(Data&&) = default;
  ~Data();
};

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_VALUE_H_
