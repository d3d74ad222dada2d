#include "baton/runtime/value.h"

#include <memory>
#include <utility>
#include <vector>

namespace baton {

Value Value::MakeTuple(std::vector<Value> fields) {
  Value result;
  result.value_ = std::make_shared<const std::vector<Value>>(std::move(fields));
  return result;
}

Value Value::MakeClosure(Closure closure) {
  Value result;
  result.value_ = std::make_shared<const Closure>(std::move(closure));
  return result;
}

Value Value::MakeCell(Value content) {
  Value result;
  result.value_ = std::make_shared<Cell>(Cell{std::move(content)});
  return result;
}

}  // namespace baton
