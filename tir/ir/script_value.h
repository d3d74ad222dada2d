// The value of an expression of a script while it is read: an expression of the
// IR, a value of Python, or a call of a `T.` function that a statement
// interprets.

#ifndef BATON_TIR_IR_SCRIPT_VALUE_H_
#define BATON_TIR_IR_SCRIPT_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

struct ScriptValues;

struct ScriptValue {
  enum Kind : uint8_t {
    kPoison,  // of a mistake that was reported
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kExpr,    // `node` is a PrimExpr
    kBuffer,  // `node` is a Buffer
    kRegion,  // `node` is a BufferRegion: an access with slices
    kNewVar,  // `node` is a Var that an assignment is to name
    kGlobal,  // `text` is the name of a function of the module
    kName,    // `text` is `T.exp`, `I`, the name of the module ...
    kForm,    // a call of `T.text` that a statement interprets
    kMethod,  // `text` is a method of `node`: A.vload, x.astype
    kList,
    kTuple,
    kDict,   // `parts->keys` and `parts->items`
    kSlice,  // three items
    kLambda  // `parts->names` are parameters; tokens [number, other) the body
  };
  Kind kind = kNone;
  bool is_meta = false;     // of T.meta_var: a name for it defines nothing
  bool is_starred = false;  // of kList, kTuple: its items replace it
  int64_t begin = 0;        // of its text in the script, in bytes
  int64_t end = 0;
  int64_t number = 0;  // of kBool, kInt; of kLambda, the first token
  int64_t other = 0;   // of kLambda: the token after its last
  double real = 0;     // of kFloat; of kInt, -0.0 if it was written as -0
  std::string text;
  Expr node;
  std::shared_ptr<ScriptValues> parts;

  bool Is(Kind k) const { return kind == k; }
  bool IsNumber() const { return kind == kBool || kind == kInt; }
  // A kBool, kInt or kFloat as a floating-point number: `-0` is -0.0.
  double AsReal() const {
    if (kind == kFloat || number == 0) return real;
    return static_cast<double>(number);
  }
  const std::vector<ScriptValue>& items() const;
};

struct ScriptValues {
  std::vector<ScriptValue> items;
  std::vector<ScriptValue> keys;  // of kDict
  // kForm: keyword arguments.
  std::vector<std::pair<std::string, ScriptValue>> keywords;
  std::vector<std::string> names;  // of kLambda
  int depth = 1;                   // how deeply values are nested
};

inline const std::vector<ScriptValue>& ScriptValue::items() const {
  static const auto& none = *new std::vector<ScriptValue>;
  return parts == nullptr ? none : parts->items;
}

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_VALUE_H_
