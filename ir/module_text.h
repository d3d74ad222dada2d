// Modules as text: a version line and a list of definitions.
//
//   #[version = "0.0.5"]
//   def @main(%x: Tensor[(1, 8), float32]) {
//     nn.relu(%x)
//   }
//
//   absl::StatusOr<IRModule> module = ParseModule(text);
//   std::string text = AsText(*module);
//
// One text holds functions of all kinds. The level that defines a kind
// registers the reader and the writer of its definitions: see function_text.h.
// Relay's is in //relay/ir:text_parser and //relay/ir:text_printer;
// relay/ir/text_parser.h and text_printer.h describe it. A program reads and
// writes the kinds whose text it links.

#ifndef BATON_IR_MODULE_TEXT_H_
#define BATON_IR_MODULE_TEXT_H_

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"

namespace baton {

// A module. An expression by itself becomes its `main`. `source_name` is for
// messages. One run finds all errors: after an error, the parser goes on with
// the next statement or definition. A keyword that no linked library registers
// is an error.
absl::StatusOr<IRModule> ParseModule(absl::string_view text,
                                     absl::string_view source_name = "input");

// The same; errors and warnings go to `diagnostics`. The module has the
// definitions that have no errors.
IRModule ParseModule(absl::string_view text, absl::string_view source_name,
                     Diagnostics& diagnostics);

// The same for a text that may be a part of something longer.
IRModule ParseModule(std::shared_ptr<const Source> source,
                     Diagnostics& diagnostics);

struct TextOptions {
  // The first line, `#[version = "0.0.5"]`.
  bool version = true;
  // The `#[metadata]` section, if there is anything to put there.
  bool metadata = true;
  // If `metadata` is false and something was omitted: a comment that says so.
  bool note_omitted_metadata = true;
  // The types found by inference, as `/* ty=... */`.
  bool types = true;
};

// For people: neither version line nor metadata.
inline constexpr TextOptions kTextForPeople = {
    .version = false, .metadata = false, .note_omitted_metadata = false};

// The whole text, which can be parsed again if `metadata` is on: data types,
// then functions, both sorted by name. A definition whose kind has no writer in
// the program becomes a line that says so,
//
//   unprintable @f  // Loop: this program links no text for it
//
// which is an error when it is parsed.
std::string AsText(const IRModule& module, const TextOptions& options = {});

// The same to a stream.
void AsText(const IRModule& module, std::ostream& os,
            const TextOptions& options = {});

// AsText() with kTextForPeople.
std::string ToText(const IRModule& module);

}  // namespace baton

#endif  // BATON_IR_MODULE_TEXT_H_
