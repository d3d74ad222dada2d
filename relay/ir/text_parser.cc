#include "baton/relay/ir/text_parser.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser_impl.h"

namespace baton {
namespace {

std::shared_ptr<const Source> MakeSource(absl::string_view text,
                                         absl::string_view source_name) {
  return std::make_shared<Source>(std::string(source_name), std::string(text));
}

}  // namespace

IRModule ParseModule(absl::string_view text, absl::string_view source_name,
                     Diagnostics& diagnostics) {
  return ParseModule(MakeSource(text, source_name), diagnostics);
}

IRModule ParseModule(std::shared_ptr<const Source> source,
                     Diagnostics& diagnostics) {
  return internal::TextParser(std::move(source), &diagnostics).ParseModule();
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
  Expr expr = internal::TextParser(MakeSource(text, source_name), &diagnostics)
                  .ParseExpr();
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return expr;
}

absl::StatusOr<Type> ParseType(absl::string_view text,
                               absl::string_view source_name) {
  Diagnostics diagnostics;
  Type type = internal::TextParser(MakeSource(text, source_name), &diagnostics)
                  .ParseType();
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return type;
}

}  // namespace baton
