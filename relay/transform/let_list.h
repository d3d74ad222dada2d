// LetList: builds a program as a sequence of lets, from first to last.

#ifndef BATON_RELAY_TRANSFORM_LET_LIST_H_
#define BATON_RELAY_TRANSFORM_LET_LIST_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Makes names for new variables: x_0, x_1, ...
class VarNames {
 public:
  std::string Next() { return absl::StrCat("x_", next_++); }

 private:
  int next_ = 0;
};

// Collects bindings, then wraps an expression in them:
//
//   LetList lets(names);
//   const Var two_x = lets.Push(Add(x, x));
//   return lets.Close(Add(two_x, two_x));  // let %x_0 = ...; add(%x_0, %x_0)
//
// `names` must outlive the list.
class LetList {
 public:
  explicit LetList(VarNames& names) : names_(&names) {}

  // Binds a new variable to `value`. If `type` is given, the variable is
  // annotated and typed with it.
  Var Push(Expr value, const Type& type = {}) {
    return Push(Var(new VarNode(names_->Next(), type, type, {})),
                std::move(value));
  }
  Var Push(Var var, Expr value) {
    lets_.emplace_back(var, std::move(value));
    return var;
  }

  bool empty() const { return lets_.empty(); }

  // Wraps `body` in the bindings, and clears them.
  Expr Close(Expr body) {
    for (size_t i = lets_.size(); i > 0; --i) {
      auto& [var, value] = lets_[i - 1];
      body = Let(std::move(var), std::move(value), std::move(body));
    }
    lets_.clear();
    return body;
  }

 private:
  VarNames* names_;
  std::vector<std::pair<Var, Expr>> lets_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LET_LIST_H_
