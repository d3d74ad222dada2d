// Writes the literals of Relay's text.

#ifndef BATON_RELAY_IR_TEXT_LITERALS_H_
#define BATON_RELAY_IR_TEXT_LITERALS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton::relay {

// Appends `text` in quotes, with escapes.
void AppendQuoted(absl::string_view text, std::string* out);

// Appends `value` with six significant digits if they read back as `value`;
// otherwise the shortest text that does.
void AppendReal(double value, std::string* out);

// Appends a scalar that can be written in place; false if it cannot.
bool AppendScalar(const Tensor& tensor, std::string* out);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_LITERALS_H_
