#include "baton/relay/ir/text_parser.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton {
namespace {

std::shared_ptr<const Source> MakeSource(absl::string_view text,
                                         absl::string_view source_name) {
  return std::make_shared<Source>(std::string(source_name), std::string(text));
}

// What `parse` makes of the text; nothing, with an error, without memory.
template <typename MakeSourceFn, typename Parse>
auto WithParser(const MakeSourceFn& make_source, Diagnostics& diagnostics,
                const Parse& parse) {
  std::optional<internal::TextParser> parser;
  using Result = decltype(parse(*parser));
  return IfOutOfMemory(
      [&] { return parse(parser.emplace(make_source(), &diagnostics)); },
      [&] {
        diagnostics.OutOfMemory(parser.has_value() ? parser->Place() : Span(),
                                "what the text says");
        return Result();
      });
}

template <typename Parse>
auto ParseText(absl::string_view text, absl::string_view source_name,
               Diagnostics& diagnostics, const Parse& parse) {
  return WithParser([&] { return MakeSource(text, source_name); }, diagnostics,
                    parse);
}

}  // namespace

IRModule ParseModule(absl::string_view text, absl::string_view source_name,
                     Diagnostics& diagnostics) {
  return ParseText(
      text, source_name, diagnostics,
      [](internal::TextParser& parser) { return parser.ParseModule(); });
}

IRModule ParseModule(std::shared_ptr<const Source> source,
                     Diagnostics& diagnostics) {
  return WithParser(
      [&] { return std::move(source); }, diagnostics,
      [](internal::TextParser& parser) { return parser.ParseModule(); });
}

absl::StatusOr<IRModule> ParseModule(absl::string_view text,
                                     absl::string_view source_name) {
  Diagnostics diagnostics;
  IRModule module = ParseModule(text, source_name, diagnostics);
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return module;
}

absl::StatusOr<Expr> ParseExpr(absl::string_view text,
                               absl::string_view source_name) {
  Diagnostics diagnostics;
  Expr expr = ParseText(
      text, source_name, diagnostics,
      [](internal::TextParser& parser) { return parser.ParseExpr(); });
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return expr;
}

absl::StatusOr<Type> ParseType(absl::string_view text,
                               absl::string_view source_name) {
  Diagnostics diagnostics;
  Type type = ParseText(
      text, source_name, diagnostics,
      [](internal::TextParser& parser) { return parser.ParseType(); });
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return type;
}

}  // namespace baton
