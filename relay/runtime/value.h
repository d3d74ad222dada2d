// Value: the result of evaluating a Relay expression.

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

namespace baton::relay {

// A tensor, a tuple, a function with its captured values, a reference cell, or
// a value of a data type. Copies share their parts; only reference cells can be
// written. Destroying a value does not recurse, however deep it is.
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

  // Each may be called only for a value of that kind.
  const Tensor& tensor() const& { return std::get<Tensor>(value_); }
  Tensor tensor() && { return std::get<Tensor>(std::move(value_)); }
  absl::Span<const Value> fields() const {
    return std::get<TuplePtr>(value_) == nullptr ? absl::Span<const Value>()
                                                 : TupleFields();
  }
  const Closure& closure() const { return *std::get<ClosurePtr>(value_); }
  Cell& cell() const { return *std::get<CellPtr>(value_); }
  const Data& data() const { return *std::get<DataPtr>(value_); }

 private:
  struct TupleContent;
  // Destroys values without recursion, each after the values that only it owns.
  // Allocates nothing.
  static void Dismantle(Value root);
  static void DismantleAll(std::vector<Value>& values);
  // The last part of a value, and the number of its parts; null and 0 if the
  // value is shared or has no parts.
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
  // For local recursion: the variable that a let binds to this function and
  // that the function uses. Null if there is none.
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

// A value of a data type: a constructor and its arguments.
struct Value::Data {
  Constructor constructor;
  std::vector<Value> fields;

  Data(Constructor constructor, std::vector<Value> fields)
      : constructor(std::move(constructor)), fields(std::move(fields)) {}
  Data(Data&&) = default;
  ~Data();
};

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_VALUE_H_
