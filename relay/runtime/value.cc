#include "baton/relay/runtime/value.h"

#include <iterator>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"

namespace baton {

struct Value::TupleContent {
  std::vector<Value> fields;

  explicit TupleContent(std::vector<Value> fields)
      : fields(std::move(fields)) {}
  ~TupleContent() {
    if (!fields.empty()) Dismantle(std::move(fields));
  }
};

Value::Closure::~Closure() {
  if (captured.empty()) return;
  std::vector<Value> values;
  values.reserve(captured.size());
  for (auto& [var, value] : captured) values.push_back(std::move(value));
  Dismantle(std::move(values));
}

Value::Cell::~Cell() {
  if (content.is_tensor()) return;
  std::vector<Value> values;
  values.push_back(std::move(content));
  Dismantle(std::move(values));
}

Value::Data::~Data() {
  if (!fields.empty()) Dismantle(std::move(fields));
}

void Value::Dismantle(std::vector<Value> values) {
  const auto take_all = [&values](std::vector<Value>& from) {
    values.insert(values.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
    from.clear();
  };
  while (!values.empty()) {
    const Value value = std::move(values.back());
    values.pop_back();
    // What nobody else holds is about to be destroyed: it may be emptied.
    if (const auto* tuple = std::get_if<TuplePtr>(&value.value_)) {
      if (tuple->use_count() == 1) {
        take_all(const_cast<TupleContent&>(**tuple).fields);
      }
    } else if (const auto* data = std::get_if<DataPtr>(&value.value_)) {
      if (data->use_count() == 1) take_all(const_cast<Data&>(**data).fields);
    } else if (const auto* cell = std::get_if<CellPtr>(&value.value_)) {
      if (cell->use_count() == 1) {
        values.push_back(std::exchange((*cell)->content, Value()));
      }
    } else if (const auto* closure = std::get_if<ClosurePtr>(&value.value_)) {
      if (closure->use_count() == 1) {
        auto& captured = const_cast<Closure&>(**closure).captured;
        for (auto& entry : captured) values.push_back(std::move(entry.second));
        captured.clear();
      }
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

}  // namespace baton
