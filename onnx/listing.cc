#include "baton/onnx/listing.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/ir/span.h"
#include "baton/onnx/model.h"

namespace baton::onnx {
namespace {

// The first line; nodes are on lines from 1, so it has the number 0.
constexpr absl::string_view kHead = "\x01ONNX\n";

// A name that has no comma, line feed or byte that is not printable.
std::string Escaped(absl::string_view name) {
  std::string result = absl::Utf8SafeCEscape(name);
  size_t comma = 0;
  while ((comma = result.find(',', comma)) != std::string::npos) {
    result.replace(comma, 1, "\\054");
  }
  return result;
}

std::string Unescaped(absl::string_view text) {
  std::string result;
  return absl::CUnescape(text, &result) ? result : std::string(text);
}

std::vector<Span> SpansIn(std::string text, std::string source_name,
                          const std::vector<std::pair<size_t, size_t>>& names) {
  const auto source =
      std::make_shared<const Source>(std::move(source_name), std::move(text),
                                     /*first_line=*/0);
  std::vector<Span> result;
  result.reserve(names.size());
  for (const auto& [begin, end] : names) {
    result.emplace_back(source, static_cast<int64_t>(begin),
                        static_cast<int64_t>(end));
  }
  return result;
}

}  // namespace

absl::string_view NodeName(const NodeProto& node) {
  if (!node.name.empty()) return node.name;
  for (absl::string_view output : node.outputs) {
    if (!output.empty()) return output;
  }
  return node.op_type;
}

absl::StatusOr<std::vector<Span>> ListNodes(
    absl::Span<const absl::string_view> nodes, std::string source_name) {
  std::vector<std::pair<size_t, size_t>> names;
  names.reserve(nodes.size());
  std::string text(kHead);
  const auto append_names = [&text](absl::Span<const absl::string_view> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ", Escaped(list[i]));
    }
  };
  for (absl::string_view message : nodes) {
    BATON_ASSIGN_OR_RETURN(const NodeProto node, ReadNode(message));
    const size_t begin = text.size();
    absl::StrAppend(&text, absl::Utf8SafeCEscape(NodeName(node)));
    names.emplace_back(begin, text.size());
    absl::StrAppend(&text, ": ", absl::Utf8SafeCEscape(node.domain),
                    node.domain.empty() ? "" : ".",
                    absl::Utf8SafeCEscape(node.op_type), "(");
    append_names(node.inputs);
    absl::StrAppend(&text, ") -> ");
    append_names(node.outputs);
    text.push_back('\n');
  }
  return SpansIn(std::move(text), std::move(source_name), names);
}

std::vector<Span> ListTensors(absl::Span<const TensorProto> tensors,
                              std::string source_name) {
  std::vector<std::pair<size_t, size_t>> names;
  names.reserve(tensors.size());
  std::string text(kHead);
  for (const TensorProto& tensor : tensors) {
    const size_t begin = text.size();
    absl::StrAppend(&text, absl::Utf8SafeCEscape(tensor.name));
    names.emplace_back(begin, text.size());
    text.push_back('\n');
  }
  return SpansIn(std::move(text), std::move(source_name), names);
}

bool IsInListing(const Span& span) {
  return span.defined() && absl::StartsWith(span->source().text(), kHead);
}

Origin OriginOf(const Span& span) {
  const absl::string_view text = span->source().text();
  const auto begin = static_cast<size_t>(span->begin());
  const auto end = static_cast<size_t>(span->end());
  Origin result;
  result.name = Unescaped(text.substr(begin, end - begin));
  const absl::string_view rest = text.substr(end, text.find('\n', end) - end);
  const size_t arrow = rest.rfind(") -> ");
  if (arrow == absl::string_view::npos) return result;
  for (absl::string_view output :
       absl::StrSplit(rest.substr(arrow + 5), ", ")) {
    result.outputs.push_back(Unescaped(output));
  }
  return result;
}

std::string OriginName(const Span& span) {
  if (!span.defined()) return "";
  if (IsInListing(span)) return OriginOf(span).name;
  return absl::StrCat(span->source().name(), ":",
                      span->source().PositionOf(span->begin()).line);
}

}  // namespace baton::onnx
