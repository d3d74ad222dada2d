#include "baton/relay/ir/text_parser.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/function_text.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton::relay {
namespace {

std::shared_ptr<const Source> MakeSource(absl::string_view text,
                                         absl::string_view source_name) {
  return std::make_shared<Source>(std::string(source_name), std::string(text));
}

using internal::TextParser;
BATON_REGISTER_TEXT_READER(TextParser, "def", "extern", "type", kBareText,
                           kMetadataText);

// The result of `parse` on a text that is one expression or one type.
template <typename Parse>
auto ParseText(absl::string_view text, absl::string_view source_name,
               Diagnostics& diagnostics, const Parse& parse) {
  return ReadText([&] { return MakeSource(text, source_name); }, diagnostics,
                  [&](TextInput& input) {
                    TextParser parser(&input);
                    return parse(parser);
                  });
}

}  // namespace

absl::StatusOr<Expr> ParseExpr(absl::string_view text,
                               absl::string_view source_name) {
  Diagnostics diagnostics;
  Expr expr = ParseText(text, source_name, diagnostics,
                        [](TextParser& parser) { return parser.ParseExpr(); });
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return expr;
}

absl::StatusOr<Type> ParseType(absl::string_view text,
                               absl::string_view source_name) {
  Diagnostics diagnostics;
  Type type = ParseText(text, source_name, diagnostics,
                        [](TextParser& parser) { return parser.ParseType(); });
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return type;
}

}  // namespace baton::relay
