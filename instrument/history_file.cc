#include "baton/instrument/history_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/checksum.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history.pb.h"
#include "baton/instrument/provenance.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/packed_records.h"
#include "baton/ir/pass_log.h"

namespace baton {
namespace {

constexpr char kMagic[8] = {'\x89', 'B', 'A', 'T', 'H', 'I', 'S', '\n'};
// Since version 2 the message is packed (ir/packed_records.h).
constexpr uint32_t kVersionUnpacked = 1;
constexpr uint32_t kVersion = 2;

using internal::AlignBinary;
using internal::BinaryHeader;

// --- Writing -----------------------------------------------------------------

class Writer {
 public:
  Writer(const History& history, const NodeMap<uint64_t>& numbers)
      : history_(history), numbers_(numbers) {}

  std::string Message() {
    AddExecutions();
    AddRemarks();
    for (const HistoryCount& count : history_.counts) {
      history::Count& message = *message_.add_counts();
      message.set_name(count.name);
      message.set_doc(count.doc);
      message.set_count(count.count);
    }
    AddPlaces();
    AddOrigins();
    message_.set_signal(history_.signal);
    return message_.SerializeAsString();
  }

 private:
  uint64_t NumberOf(const Node* node) const {
    const uint64_t* number = numbers_.Find(node);
    return number == nullptr ? 0 : *number;
  }

  void AddExecutions() {
    uint64_t modules = 0;
    for (const HistoryState& state : history_.states) {
      message_.add_states(state.kept ? ++modules : 0);
    }
    for (const HistoryExecution& execution : history_.executions) {
      history::Execution& message = *message_.add_executions();
      message.set_number(execution.number);
      message.set_parent(static_cast<uint64_t>(execution.parent + 1));
      message.set_depth(static_cast<uint64_t>(execution.depth));
      message.set_pass(execution.pass);
      if (execution.text != execution.pass) message.set_text(execution.text);
      message.set_end(static_cast<history::Execution::End>(execution.end));
      message.set_error(execution.error);
      message.set_before(static_cast<uint64_t>(execution.before));
      message.set_after(static_cast<uint64_t>(execution.after + 1));
      message.set_start(execution.start);
      message.set_total(execution.total);
      if (execution.memory.has_value()) {
        history::Execution::Memory& memory = *message.mutable_memory();
        memory.set_nodes(execution.memory->nodes);
        memory.set_node_bytes(execution.memory->node_bytes);
        memory.set_kept(execution.memory->kept);
        memory.set_tensor_bytes(execution.memory->tensor_bytes);
        memory.set_peak_bytes(execution.memory->peak_bytes);
      }
    }
  }

  void AddRemarks() {
    FlatHashMap<int64_t, uint64_t> indices;
    for (size_t i = 0; i < history_.executions.size(); ++i) {
      indices[history_.executions[i].number] = i;
    }
    for (const Remark& remark : history_.remarks) {
      history::Remark& message = *message_.add_remarks();
      message.set_kind(static_cast<uint64_t>(remark.kind));
      message.set_execution(indices[remark.execution]);
      message.set_node(NumberOf(remark.node.get()));
      message.set_reason(std::string(remark.reason.view()));
      for (const auto& [name, value] : remark.args) {
        history::Remark::Arg& arg = *message.add_args();
        arg.set_name(std::string(name.view()));
        arg.set_text(value.ToString());
      }
      for (const auto& [name, node] : remark.nodes) {
        history::Remark::Arg& arg = *message.add_args();
        arg.set_name(std::string(name.view()));
        arg.set_node(NumberOf(node.get()));
      }
    }
  }

  void AddPlace(uint64_t number, const std::string& source, int line,
                int column) {
    history::Places& places = *message_.mutable_places();
    const auto [it, is_new] = sources_.try_emplace(source, sources_.size());
    if (is_new) places.add_sources(source);
    places.add_nodes(static_cast<int64_t>(number) - last_node_);
    places.add_source(it->second);
    places.add_lines(line - last_line_);
    places.add_columns(static_cast<uint64_t>(column));
    last_node_ = static_cast<int64_t>(number);
    last_line_ = line;
  }

  void AddPlaces() {
    for (const auto& [node, place] : history_.places) {
      const uint64_t number = NumberOf(node.get());
      if (number == 0) continue;
      AddPlace(number, place.source, place.line, place.column);
    }
    if (history_.states.empty()) return;
    // Shared by the functions of the module.
    NodeSet seen;
    const IRModule& first = history_.states.front().module;
    for (const IRModule::Definition& definition : first.functions()) {
      VisitAtAnyLevel(definition.function, seen, [&](const ExprNode* node) {
        const uint64_t number = NumberOf(node);
        if (number == 0 || !node->span().defined()) return;
        const SpanNode& span = *node->span();
        const Source::Position position =
            span.source().PositionOf(span.begin());
        AddPlace(number, span.source().name(), position.line, position.column);
      });
    }
  }

  // Adds the origins of nodes of states, by execution and number.
  void AddOrigins() {
    const Provenance provenance(history_);
    std::map<int64_t, std::vector<std::pair<uint64_t, uint64_t>>> origins;
    NodeSet seen;
    for (const HistoryState& state : history_.states) {
      for (const auto& definition : state.module.functions()) {
        VisitAtAnyLevel(definition.function, seen, [&](const ExprNode* node) {
          if (!HasOrigin(node) || provenance.FirstStateOf(node) == 0) {
            return;
          }
          const Provenance::Making making = provenance.MakingOf(node);
          for (const ExprNode* from : making.from) {
            origins[making.execution].emplace_back(NumberOf(node),
                                                   NumberOf(from));
          }
        });
      }
    }
    for (auto& [execution, pairs] : origins) {
      // The origins of one node stay in order.
      std::stable_sort(
          pairs.begin(), pairs.end(),
          [](const auto& a, const auto& b) { return a.first < b.first; });
      history::Origins& message = *message_.add_origins();
      message.set_execution(execution);
      int64_t last = 0;
      for (const auto& [made, from] : pairs) {
        message.add_made(static_cast<int64_t>(made) - last);
        message.add_from(static_cast<int64_t>(from) -
                         static_cast<int64_t>(made));
        last = static_cast<int64_t>(made);
      }
    }
  }

  const History& history_;
  const NodeMap<uint64_t>& numbers_;
  history::History message_;
  FlatHashMap<std::string, uint64_t> sources_;
  int64_t last_node_ = 0;
  int last_line_ = 0;
};

// --- Reading -----------------------------------------------------------------

class Reader {
 public:
  explicit Reader(BinaryModulesContent content)
      : content_(std::move(content)) {}

  absl::StatusOr<History> Read(const history::History& message) {
    for (const uint64_t index : message.states()) {
      if (index > content_.modules.size()) return Wrong("states");
      result_.states.push_back({.kept = index != 0});
      if (index != 0) {
        result_.states.back().module = content_.modules[index - 1];
      }
    }
    if (result_.states.empty() && message.executions_size() > 0) {
      return Wrong("states");
    }
    BATON_RETURN_IF_ERROR(ReadExecutions(message));
    BATON_RETURN_IF_ERROR(ReadRemarks(message));
    for (const history::Count& count : message.counts()) {
      result_.counts.push_back({count.name(), count.doc(), count.count()});
    }
    BATON_RETURN_IF_ERROR(ReadPlaces(message.places()));
    BATON_RETURN_IF_ERROR(ReadOrigins(message));
    result_.signal = message.signal();
    result_.left_out_tensors = content_.left_out_tensors;
    return std::move(result_);
  }

 private:
  static absl::Status Wrong(absl::string_view field) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": the file is damaged"));
  }
  // Null if there is none.
  const Node* NodeOf(uint64_t number) const {
    return number < content_.nodes.size() ? content_.nodes[number].get()
                                          : nullptr;
  }
  Expr ExprOf(uint64_t number) const {
    const Node* node = NodeOf(number);
    if (node == nullptr || !ExprNode::ClassOf(node->kind())) return Expr();
    return Expr(static_cast<const ExprNode*>(node));
  }

  absl::Status ReadExecutions(const history::History& message) {
    for (const history::Execution& from : message.executions()) {
      const size_t index = result_.executions.size();
      if (from.parent() > index || from.before() >= result_.states.size() ||
          from.after() > result_.states.size() ||
          (index > 0 && from.number() <= result_.executions.back().number) ||
          from.number() < 1 || !history::Execution::End_IsValid(from.end()) ||
          (from.after() != 0) != (from.end() == history::Execution::DONE) ||
          from.depth() !=
              (from.parent() == 0
                   ? uint64_t{0}
                   : static_cast<uint64_t>(
                         result_.executions[from.parent() - 1].depth) +
                         1)) {
        return Wrong(absl::StrCat("executions[", index, "]"));
      }
      result_.executions.push_back(
          {.number = from.number(),
           .parent = static_cast<int>(from.parent()) - 1,
           .depth = static_cast<int>(from.depth()),
           .pass = from.pass(),
           .text = from.text().empty() ? from.pass() : from.text(),
           .end = static_cast<HistoryExecution::End>(from.end()),
           .error = from.error(),
           .before = static_cast<int>(from.before()),
           .after = static_cast<int>(from.after()) - 1,
           .start = from.start(),
           .total = from.total()});
      if (!from.has_memory()) continue;
      const history::Execution::Memory& memory = from.memory();
      if (memory.nodes() < 0 || memory.node_bytes() < 0 || memory.kept() < 0 ||
          memory.tensor_bytes() < 0 || memory.peak_bytes() < -1) {
        return Wrong(absl::StrCat("executions[", index, "].memory"));
      }
      result_.executions.back().memory = {.nodes = memory.nodes(),
                                          .node_bytes = memory.node_bytes(),
                                          .kept = memory.kept(),
                                          .tensor_bytes = memory.tensor_bytes(),
                                          .peak_bytes = memory.peak_bytes()};
    }
    return absl::OkStatus();
  }

  absl::Status ReadRemarks(const history::History& message) {
    for (const history::Remark& from : message.remarks()) {
      if (from.execution() >= result_.executions.size() ||
          (from.kind() != 1 && from.kind() != 2 && from.kind() != 4)) {
        return Wrong(absl::StrCat("remarks[", result_.remarks.size(), "]"));
      }
      const HistoryExecution& execution = result_.executions[from.execution()];
      Remark& remark = result_.remarks.emplace_back(
          Remark{.kind = static_cast<RemarkKind>(from.kind()),
                 .node = ExprOf(from.node()),
                 .reason = from.reason(),
                 .pass = execution.pass,
                 .execution = execution.number});
      for (const history::Remark::Arg& arg : from.args()) {
        if (arg.node() != 0) {
          remark.nodes.push_back({arg.name(), ExprOf(arg.node())});
        } else {
          remark.args.push_back({arg.name(), arg.text()});
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadPlaces(const history::Places& places) {
    int64_t node = 0;
    int64_t line = 0;
    const int n = places.nodes_size();
    if (places.source_size() != n || places.lines_size() != n ||
        places.columns_size() != n) {
      return Wrong("places");
    }
    for (int i = 0; i < n; ++i) {
      // Wraps around rather than overflows.
      node = static_cast<int64_t>(static_cast<uint64_t>(node) +
                                  static_cast<uint64_t>(places.nodes(i)));
      line = static_cast<int64_t>(static_cast<uint64_t>(line) +
                                  static_cast<uint64_t>(places.lines(i)));
      const Expr expr = ExprOf(static_cast<uint64_t>(node));
      if (!expr.defined() || line < 0 || line > INT32_MAX ||
          places.columns(i) > INT32_MAX ||
          places.source(i) >= static_cast<uint64_t>(places.sources_size())) {
        return Wrong(absl::StrCat("places[", i, "]"));
      }
      result_.places.emplace_back(
          expr, HistoryPlace{places.sources(static_cast<int>(places.source(i))),
                             static_cast<int>(line),
                             static_cast<int>(places.columns(i))});
    }
    return absl::OkStatus();
  }

  absl::Status ReadOrigins(const history::History& message) {
    int64_t last_execution = 0;
    for (const history::Origins& origins : message.origins()) {
      if (origins.from_size() != origins.made_size() ||
          origins.execution() < last_execution) {
        return Wrong("origins");
      }
      last_execution = origins.execution();
      result_.origins.SetExecution(origins.execution());
      uint64_t made = 0;
      for (int i = 0; i < origins.made_size(); ++i) {
        made += static_cast<uint64_t>(origins.made(i));
        const uint64_t from = made + static_cast<uint64_t>(origins.from(i));
        const Node* made_node = NodeOf(made);
        const Node* from_node = NodeOf(from);
        if (made_node == nullptr || from_node == nullptr) {
          return Wrong("origins");
        }
        result_.origins.Add(Origin(made_node, from_node, /*is_first=*/false));
      }
    }
    return absl::OkStatus();
  }

  BinaryModulesContent content_;
  History result_;
};

}  // namespace

std::string HistoryBytes::ToString() const {
  std::string text;
  for (const absl::string_view piece : pieces_) {
    text.append(piece.data(), piece.size());
  }
  return text;
}

absl::StatusOr<HistoryBytes> WriteHistory(const History& history,
                                          const HistoryWriteOptions& options) {
  std::vector<IRModule> modules;
  for (const HistoryState& state : history.states) {
    if (state.kept) modules.push_back(state.module);
  }
  NodeMap<uint64_t> numbers;
  HistoryBytes result;
  BATON_ASSIGN_OR_RETURN(
      result.modules_,
      WriteBinaryModules(modules, {.max_tensor_bytes = options.max_tensor_bytes,
                                   .packed = true,
                                   .numbers = &numbers}));
  const std::string message = PackRecords(Writer(history, numbers).Message());
  BinaryHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.message_size = message.size();
  header.message_checksum = Checksum(message);
  const uint64_t head_size = AlignBinary(sizeof(header) + message.size());
  header.file_size = head_size + result.modules_.size();
  header.checksum =
      Checksum(absl::string_view(reinterpret_cast<const char*>(&header),
                                 offsetof(BinaryHeader, checksum)));
  auto head = std::make_unique<std::string>(
      reinterpret_cast<const char*>(&header), sizeof(header));
  *head += message;
  head->resize(head_size);
  result.head_ = std::move(head);
  result.pieces_.push_back(*result.head_);
  for (const absl::string_view piece : result.modules_.pieces()) {
    result.pieces_.push_back(piece);
  }
  return result;
}

bool IsHistory(absl::string_view bytes) {
  return bytes.substr(0, sizeof(kMagic)) ==
         absl::string_view(kMagic, sizeof(kMagic));
}

absl::StatusOr<History> ReadHistory(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    absl::string_view name) {
  const auto error = [name](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", what));
  };
  if (!IsHistory(bytes)) {
    return error("this is no history; baton-opt --record=FILE writes one");
  }
  BinaryHeader header;
  if (bytes.size() < sizeof(header)) return error("the file was cut off");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.checksum !=
      Checksum(bytes.substr(0, offsetof(BinaryHeader, checksum)))) {
    return error("checksum of the header: the file is damaged");
  }
  if (header.version == 0) return error("there is no format 0 of histories");
  if (header.version > kVersion) {
    return error(absl::StrCat("the file has format ", header.version,
                              ", but this program knows none newer than ",
                              kVersion));
  }
  if (header.file_size != bytes.size()) {
    return error(absl::StrCat(
        "the file should have ", header.file_size, " bytes, but has ",
        bytes.size(),
        bytes.size() < header.file_size ? ": it was cut off" : ""));
  }
  if (header.message_size > bytes.size() - sizeof(header) ||
      AlignBinary(sizeof(header) + header.message_size) > bytes.size()) {
    return error("the message goes past the end of the file");
  }
  absl::string_view message_bytes =
      bytes.substr(sizeof(header), header.message_size);
  if (Checksum(message_bytes) != header.message_checksum) {
    return error("checksum of the message: the file is damaged");
  }
  std::string unpacked;
  if (header.version != kVersionUnpacked) {
    absl::StatusOr<std::string> result = UnpackRecords(message_bytes);
    if (!result.ok()) return error(result.status().message());
    unpacked = *std::move(result);
    message_bytes = unpacked;
  }
  history::History message;
  if (!message.ParseFromArray(message_bytes.data(),
                              static_cast<int>(message_bytes.size()))) {
    return error("the message cannot be read: the file is damaged");
  }
  BATON_ASSIGN_OR_RETURN(
      BinaryModulesContent content,
      ReadBinaryModules(
          bytes.substr(AlignBinary(sizeof(header) + header.message_size)),
          std::move(owner), absl::StrCat(name, ": modules")));
  absl::StatusOr<History> history =
      CatchOutOfMemory(name, [&]() -> absl::StatusOr<History> {
        return Reader(std::move(content)).Read(message);
      });
  if (!history.ok()) {
    return absl::Status(history.status().code(),
                        absl::StrCat(name, ": ", history.status().message()));
  }
  return history;
}

}  // namespace baton
