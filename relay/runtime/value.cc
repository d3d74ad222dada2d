#include "baton/relay/runtime/value.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"

namespace baton::relay {

struct Value::TupleContent {
  std::vector<Value> fields;

  explicit TupleContent(std::vector<Value> fields)
      : fields(std::move(fields)) {}
  ~TupleContent() { DismantleAll(fields); }
};

Value::Closure::~Closure() {
  for (; !captured.empty(); captured.pop_back()) {
    Dismantle(std::move(captured.back().second));
  }
}

Value::Cell::~Cell() { Dismantle(std::move(content)); }

Value::Data::~Data() { DismantleAll(fields); }

void Value::DismantleAll(std::vector<Value>& values) {
  for (; !values.empty(); values.pop_back()) {
    Dismantle(std::move(values.back()));
  }
}

Value* Value::LastPlace(const Value& value, size_t* size) {
  const auto last = [size](std::vector<Value>& values) {
    *size = values.size();
    return values.empty() ? nullptr : &values.back();
  };
  *size = 0;
  // A part that is not shared is about to be destroyed, so it may be changed.
  if (const auto* tuple = std::get_if<TuplePtr>(&value.value_)) {
    if (tuple->use_count() == 1) {
      return last(const_cast<TupleContent&>(**tuple).fields);
    }
  } else if (const auto* data = std::get_if<DataPtr>(&value.value_)) {
    if (data->use_count() == 1) return last(const_cast<Data&>(**data).fields);
  } else if (const auto* cell = std::get_if<CellPtr>(&value.value_)) {
    if (cell->use_count() == 1) {
      *size = 1;
      return &(*cell)->content;
    }
  } else if (const auto* closure = std::get_if<ClosurePtr>(&value.value_)) {
    auto* captured = closure->use_count() == 1
                         ? &const_cast<Closure&>(**closure).captured
                         : nullptr;
    if (captured != nullptr && !captured->empty()) {
      *size = captured->size();
      return &captured->back().second;
    }
  }
  return nullptr;
}

void Value::DropLastPlace(const Value& value) {
  if (const auto* tuple = std::get_if<TuplePtr>(&value.value_)) {
    const_cast<TupleContent&>(**tuple).fields.pop_back();
  } else if (const auto* data = std::get_if<DataPtr>(&value.value_)) {
    const_cast<Data&>(**data).fields.pop_back();
  } else if (const auto* cell = std::get_if<CellPtr>(&value.value_)) {
    (*cell)->content = Value();
  } else if (const auto* closure = std::get_if<ClosurePtr>(&value.value_)) {
    const_cast<Closure&>(**closure).captured.pop_back();
  }
}

// Walks down through the parts that each value alone owns, and up again. The
// link to the parent is stored in the last part of each value on the way, which
// is moved out (pointer reversal: Schorr and Waite, CACM 1967).
void Value::Dismantle(Value root) {
  Value current = std::move(root);
  Value parent;
  size_t depth = 0;
  while (true) {
    size_t size = 0;
    if (Value* const place = LastPlace(current, &size)) {
      Value child = std::move(*place);
      *place = std::move(parent);
      parent = std::move(current);
      current = std::move(child);
      ++depth;
      continue;
    }
    current = Value();
    // Up to one that holds something else.
    while (true) {
      if (depth == 0) return;
      Value* const place = LastPlace(parent, &size);
      Value up = std::move(*place);
      DropLastPlace(parent);
      if (size > 1) {
        Value* const next = LastPlace(parent, &size);
        current = std::move(*next);
        *next = std::move(up);
        break;
      }
      parent = std::move(up);  // and it is destroyed, empty
      --depth;
    }
  }
}

absl::Span<const Value> Value::TupleFields() const {
  return std::get<TuplePtr>(value_)->fields;
}

Value Value::MakeTuple(std::vector<Value> fields) {
  Value result;
  result.value_ = std::make_shared<TupleContent>(std::move(fields));
  return result;
}

Value Value::MakeClosure(Closure closure) {
  Value result;
  result.value_ = std::make_shared<Closure>(std::move(closure));
  return result;
}

Value Value::MakeCell(Value content) {
  Value result;
  result.value_ = std::make_shared<Cell>(std::move(content));
  return result;
}

Value Value::MakeData(Data data) {
  Value result;
  result.value_ = std::make_shared<Data>(std::move(data));
  return result;
}

}  // namespace baton::relay
