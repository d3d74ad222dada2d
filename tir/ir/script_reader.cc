#include "baton/tir/ir/script_reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_parser.h"

namespace baton::tir {
namespace {

// Collects the errors of an expression.
class ExprContext final : public ScriptContext {
 public:
  explicit ExprContext(std::shared_ptr<const Source> source)
      : source_(std::move(source)) {}
  void Error(int64_t begin, int64_t end, std::string message) override {
    diagnostics_.Error(SpanOf(begin, end), std::move(message));
  }
  bool TooManyErrors() const override { return diagnostics_.has_errors(); }
  Span SpanOf(int64_t begin, int64_t end) override {
    return Span(source_, begin, end);
  }
  GlobalVar Global(absl::string_view name, int64_t /*begin*/,
                   int64_t /*end*/) override {
    return GlobalVar(std::string(name));
  }
  void Define(absl::string_view /*name*/, int64_t /*begin*/, int64_t /*end*/,
              PrimFunc /*function*/, bool /*is_incomplete*/) override {}
  absl::Status status() const { return diagnostics_.ToStatus(); }

 private:
  const std::shared_ptr<const Source> source_;
  Diagnostics diagnostics_;
};

}  // namespace

absl::StatusOr<PrimExpr> ParseScriptExpr(absl::string_view text,
                                         absl::Span<const Var> vars) {
  // A line that the lexer reads as the beginning of a definition.
  auto source = std::make_shared<Source>("expression", absl::StrCat("@", text));
  ExprContext context(source);
  ScriptParser parser(source->text(), 0, &context);
  PrimExpr e = parser.ParseExpressionOver(vars);
  if (absl::Status status = context.status(); !status.ok()) return status;
  if (!e.defined()) return absl::InvalidArgumentError("expected an expression");
  return e;
}

}  // namespace baton::tir
