// Converts data types, strings and numbers to and from the text of scripts, for
// the printer and the reader.

#ifndef BATON_TIR_IR_SCRIPT_NAMES_H_
#define BATON_TIR_IR_SCRIPT_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton::tir {

// `float32`, `uint1x4`, `handle`, `void`.
std::string ScriptDType(DType dtype);

// `text` in double quotes, with escapes.
std::string ScriptString(absl::string_view text);

// 17 digits, as short as they can be: `0.5`, `1`, `-3.4028234663852886e+38`;
// `"inf"` and `"nan"` are in quotes.
std::string ScriptFloat(double value);

// Reads what ScriptFloat puts in quotes: `inf`, `-inf`, `nan`.
bool ParseScriptFloat(absl::string_view text, double* value);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_NAMES_H_
