// Values: what Relay expressions evaluate to.

#ifndef BATON_RUNTIME_VALUE_H_
#define BATON_RUNTIME_VALUE_H_

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/tensor.h"

namespace baton {

// A tensor, a tuple, a function with what it captured, or a reference cell.
// Copying shares; only reference cells can be written.
class Value {
 public:
  struct Closure;
  struct Cell;

  Value() = default;  // the empty tuple
  Value(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT
  static Value MakeTuple(std::vector<Value> fields);
  static Value MakeClosure(Closure closure);
  static Value MakeCell(Value content);

  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  bool is_tuple() const { return std::holds_alternative<TuplePtr>(value_); }
  bool is_closure() const { return std::holds_alternative<ClosurePtr>(value_); }
  bool is_cell() const { return std::holds_alternative<CellPtr>(value_); }

  // Each only for a value of that kind.
  const Tensor& tensor() const { return std::get<Tensor>(value_); }
  absl::Span<const Value> fields() const {
    const TuplePtr& tuple = std::get<TuplePtr>(value_);
    return tuple == nullptr ? absl::Span<const Value>() : *tuple;
  }
  const Closure& closure() const { return *std::get<ClosurePtr>(value_); }
  Cell& cell() const { return *std::get<CellPtr>(value_); }

 private:
  using TuplePtr = std::shared_ptr<const std::vector<Value>>;
  using ClosurePtr = std::shared_ptr<const Closure>;
  using CellPtr = std::shared_ptr<Cell>;
  std::variant<TuplePtr, Tensor, ClosurePtr, CellPtr> value_;
};

// A function and the values of its free variables.
struct Value::Closure {
  Function function;
  std::vector<std::pair<Var, Value>> captured;
  // The variable that a let binds to this very function and that the function
  // uses: local recursion. Null if there is none.
  Var self;
};

struct Value::Cell {
  Value content;
};

}  // namespace baton

#endif  // BATON_RUNTIME_VALUE_H_
