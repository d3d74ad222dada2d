#include "baton/backend/cpu/executable_file.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/pages.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton {
namespace {

using kernels::blocked::Width;

// ASCII and bytes that transfers in text mode damage.
constexpr char kMagic[8] = {'B', 'A', 'T', 'E', 'X', 'E', '\r', '\n'};
constexpr uint32_t kFormat = 5;
constexpr size_t kPage = 4096;
constexpr size_t kChunk = size_t{1} << 20;

// The first bytes of a file. All numbers are little-endian, as all processors
// are that have kernels.
struct Header {
  char magic[8];
  uint32_t format;
  uint32_t width;  // kernels::blocked::Width
  uint64_t file_bytes;
  uint64_t module_offset;
  uint64_t module_bytes;
  uint64_t packed_offset;
  uint64_t packed_bytes;
  uint64_t names_offset;
  uint64_t names_bytes;
  uint64_t num_steps;
  uint64_t content_checksum;  // of all after the header
  char version[24];           // of the program
  char commit[72];
  uint64_t header_checksum;  // of all before
};
static_assert(sizeof(Header) == 192 && std::is_trivially_copyable_v<Header>);

template <size_t kSize>
absl::string_view TextOf(const char (&text)[kSize]) {
  return {text,
          static_cast<size_t>(std::find(text, text + kSize, '\0') - text)};
}

uint64_t HeaderChecksum(const Header& header) {
  return Checksum({reinterpret_cast<const char*>(&header),
                   offsetof(Header, header_checksum)});
}

// Hashes bytes that are given in pieces: the hash of the checksums of chunks.
class ContentChecksum {
 public:
  void Add(absl::string_view bytes) {
    while (!bytes.empty()) {
      const size_t count = std::min(bytes.size(), kChunk - buffer_.size());
      if (buffer_.empty() && count == kChunk) {
        hash_.Add(Checksum(bytes.substr(0, kChunk)));
      } else {
        buffer_.append(bytes.data(), count);
        if (buffer_.size() == kChunk) Flush();
      }
      bytes.remove_prefix(count);
    }
  }
  uint64_t Finish() {
    if (!buffer_.empty()) Flush();
    return hash_.value();
  }

 private:
  void Flush() {
    hash_.Add(Checksum(buffer_));
    buffer_.clear();
  }

  StableHash hash_{kFormat};
  std::string buffer_;
};

// The checksum of bytes in memory; releases the pages of a mapped file.
uint64_t ChecksumOf(absl::string_view bytes, bool is_mapped) {
  ContentChecksum checksum;
  for (size_t at = 0; at < bytes.size(); at += kChunk) {
    const absl::string_view chunk = bytes.substr(at, kChunk);
    checksum.Add(chunk);
    if (is_mapped) AdviseWholePages(chunk.data(), chunk.size(), MADV_DONTNEED);
  }
  return checksum.Finish();
}

absl::string_view WidthName(uint32_t width) {
  switch (static_cast<Width>(width)) {
    case Width::kPlain128:
      return "vectors of 128 bits";
    case Width::k128:
    case Width::k256:
    case Width::kHalves512:
      return "AVX2 and FMA";
    case Width::k512:
      return "AVX-512";
  }
  return "an unknown instruction set";
}

void AppendString(absl::string_view text, std::string& out) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  absl::StrAppend(&out, text);
}

bool ConsumeString(absl::string_view& in, std::string& text) {
  uint32_t size;
  if (in.size() < sizeof(size)) return false;
  std::memcpy(&size, in.data(), sizeof(size));
  in.remove_prefix(sizeof(size));
  if (in.size() < size) return false;
  text = std::string(in.substr(0, size));
  in.remove_prefix(size);
  return true;
}

bool ConsumeStrings(absl::string_view& in, std::vector<std::string>& texts) {
  std::string count;
  if (!ConsumeString(in, count) || count.size() != 8) return false;
  uint64_t n;
  std::memcpy(&n, count.data(), 8);
  for (uint64_t i = 0; i < n; ++i) {
    if (!ConsumeString(in, texts.emplace_back())) return false;
  }
  return true;
}

void AppendStrings(absl::Span<const std::string> texts, std::string& out) {
  const uint64_t n = texts.size();
  AppendString({reinterpret_cast<const char*>(&n), sizeof(n)}, out);
  for (const std::string& text : texts) AppendString(text, out);
}

// Packed constants as a module: a tuple of pairs of a constant and its number.
IRModule ModuleOf(const cpu::PackedConstants& packed) {
  std::vector<Expr> fields;
  for (const cpu::PackedConstants::Entry& entry : packed.entries()) {
    fields.push_back(relay::Constant(entry.tensor));
    fields.push_back(relay::Constant(Tensor::Scalar<int64_t>(entry.number)));
  }
  IRModule module;
  module.Set("packed", relay::Function({}, relay::Tuple(std::move(fields))));
  return module;
}

absl::StatusOr<std::vector<cpu::PackedConstants::Entry>> EntriesOf(
    const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const relay::Function packed,
                         module.Lookup<relay::Function>("packed"));
  const auto* tuple = packed->body().As<relay::TupleNode>();
  std::vector<cpu::PackedConstants::Entry> entries;
  if (tuple == nullptr || tuple->fields().size() % 2 != 0) {
    return absl::InternalError("packed constants are malformed");
  }
  for (size_t i = 0; i < tuple->fields().size(); i += 2) {
    const auto* tensor = tuple->fields()[i].As<relay::ConstantNode>();
    const auto* number = tuple->fields()[i + 1].As<relay::ConstantNode>();
    if (tensor == nullptr || number == nullptr ||
        number->value().dtype() != DType::Int(64) ||
        number->value().num_elements() != 1) {
      return absl::InternalError("packed constants are malformed");
    }
    entries.push_back({tensor->value(), number->value().AtAsInt64(0)});
  }
  return entries;
}

}  // namespace

std::string ExecutableFile::ToString() const {
  std::string result;
  for (const absl::string_view piece : pieces_) absl::StrAppend(&result, piece);
  return result;
}

class ExecutableWriter {
 public:
  absl::StatusOr<ExecutableFile> Write(IRModule module,
                                       const WriteExecutableOptions& options) {
    CompileOptions compile = options.compile;
    if (!compile.pipeline.empty()) {
      BATON_ASSIGN_OR_RETURN(module,
                             RunNamedPipeline(compile.pipeline, module));
      BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
      compile.pipeline.clear();
    }
    // The costs decide what is packed.
    compile.costs_width = kernels::blocked::BestWidth();
    cpu::PackedConstants packed;
    compile.packed = &packed;
    BATON_ASSIGN_OR_RETURN(const Executable executable,
                           Compile(module, compile));
    std::vector<std::string> origins;
    for (const Executable::Source& source : executable.sources()) {
      origins.push_back(
          options.origin_of == nullptr ? "" : options.origin_of(source.span));
    }
    std::string names;
    AppendString(compile.function, names);
    AppendString(compile.costs == nullptr ? "" : compile.costs->ToString(),
                 names);
    AppendStrings(options.output_names, names);
    AppendStrings(origins, names);

    BATON_ASSIGN_OR_RETURN(file_.module_, WriteBinary(module));
    BATON_ASSIGN_OR_RETURN(file_.packed_, WriteBinary(ModuleOf(packed)));
    file_.names_ = std::make_unique<const std::string>(std::move(names));
    file_.padding_ = std::make_unique<const std::string>(kPage, '\0');
    Header header = {};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    header.format = kFormat;
    header.width = static_cast<uint32_t>(kernels::blocked::BestWidth());
    options.version.copy(header.version, sizeof(header.version) - 1);
    options.commit.copy(header.commit, sizeof(header.commit) - 1);
    header.num_steps = executable.plan().steps.size();
    at_ = sizeof(Header);
    header.names_offset = AddSection({*file_.names_}, header.names_bytes);
    header.module_offset =
        AddSection(file_.module_.pieces(), header.module_bytes);
    header.packed_offset =
        AddSection(file_.packed_.pieces(), header.packed_bytes);
    header.file_bytes = at_;
    header.content_checksum = checksum_.Finish();
    header.header_checksum = HeaderChecksum(header);
    file_.header_ = std::make_unique<const std::string>(
        reinterpret_cast<const char*>(&header), sizeof(header));
    file_.pieces_.insert(file_.pieces_.begin(), *file_.header_);
    return std::move(file_);
  }

 private:
  // Sections begin at pages: their tensors are aligned in the mapped file.
  uint64_t AddSection(absl::Span<const absl::string_view> pieces,
                      uint64_t& bytes) {
    AddPiece(absl::string_view(*file_.padding_)
                 .substr(0, (kPage - at_ % kPage) % kPage));
    const uint64_t begin = at_;
    for (const absl::string_view piece : pieces) AddPiece(piece);
    bytes = at_ - begin;
    return begin;
  }
  void AddPiece(absl::string_view piece) {
    if (piece.empty()) return;
    file_.pieces_.push_back(piece);
    checksum_.Add(piece);
    at_ += piece.size();
  }

  ExecutableFile file_;
  ContentChecksum checksum_;
  uint64_t at_ = 0;
};

absl::StatusOr<ExecutableFile> WriteExecutable(
    IRModule module, const WriteExecutableOptions& options) {
  return ExecutableWriter().Write(std::move(module), options);
}

bool IsExecutable(absl::string_view bytes) {
  return bytes.substr(0, sizeof(kMagic)) ==
         absl::string_view(kMagic, sizeof(kMagic));
}

absl::StatusOr<MappedExecutable> ReadExecutable(
    absl::string_view bytes, std::shared_ptr<const void> owner,
    absl::string_view name, const ReadExecutableOptions& options) {
  const auto refuse = [&](const auto&... text) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", text...));
  };
  if (!IsExecutable(bytes)) return refuse("this is no executable of Baton");
  Header header;
  if (bytes.size() < sizeof(header)) {
    return refuse("the executable is cut off after ", bytes.size(), " bytes");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  // A file of another version may have another header.
  if (header.format != kFormat) {
    return refuse("an executable of version ", header.format,
                  " of the format; this program reads version ", kFormat,
                  ": write it again with baton-opt --emit=executable");
  }
  if (header.header_checksum != HeaderChecksum(header)) {
    return refuse("the executable is damaged: its header has another checksum");
  }
  if (header.file_bytes != bytes.size()) {
    return refuse("the executable is damaged: it has ", bytes.size(),
                  " bytes, not ", header.file_bytes);
  }
  const absl::string_view version = TextOf(header.version);
  if (version != options.version) {
    return refuse("an executable of Baton ", version, "; this is Baton ",
                  options.version,
                  ": write it again with baton-opt --emit=executable");
  }
  if (header.width > static_cast<uint32_t>(Width::k512) ||
      !kernels::blocked::IsSupported(static_cast<Width>(header.width))) {
    return refuse("the executable needs ", WidthName(header.width),
                  ", which this processor does not have");
  }
  if (ChecksumOf(bytes.substr(sizeof(header)), options.is_mapped) !=
      header.content_checksum) {
    return refuse(
        "the executable is damaged: its content has another checksum");
  }
  const auto section = [&](uint64_t offset, uint64_t size) {
    return bytes.substr(std::min<uint64_t>(offset, bytes.size()), size);
  };
  const BinaryReadOptions unchecked = {.checksums =
                                           BinaryReadOptions::Checksums::kNone};
  BATON_ASSIGN_OR_RETURN(
      BinaryContent content,
      ReadBinary(section(header.module_offset, header.module_bytes), owner,
                 name, unchecked));
  BATON_ASSIGN_OR_RETURN(
      const BinaryContent packed_content,
      ReadBinary(section(header.packed_offset, header.packed_bytes), owner,
                 name, unchecked));
  // Checksums are against accidents alone, and kernels trust types.
  absl::Status is_sound = CheckWellFormed(content.module);
  if (is_sound.ok()) is_sound = CheckTypes(content.module);
  if (!is_sound.ok()) {
    return refuse("the executable is damaged: ", is_sound.message());
  }
  BATON_ASSIGN_OR_RETURN(std::vector<cpu::PackedConstants::Entry> entries,
                         EntriesOf(packed_content.module));
  std::vector<std::string> output_names;
  std::vector<std::string> origins;
  CompileOptions compile;
  absl::string_view names = section(header.names_offset, header.names_bytes);
  std::string costs;
  if (!ConsumeString(names, compile.function) || !ConsumeString(names, costs) ||
      !ConsumeStrings(names, output_names) || !ConsumeStrings(names, origins)) {
    return refuse("the executable is damaged: names are missing");
  }
  if (!costs.empty()) {
    BATON_ASSIGN_OR_RETURN(
        cpu::KernelCosts table,
        cpu::KernelCosts::Parse(costs, absl::StrCat(name, ", costs")));
    compile.costs = std::make_shared<const cpu::KernelCosts>(std::move(table));
  }
  compile.costs_width = static_cast<Width>(header.width);
  cpu::PackedConstants packed(std::move(entries));
  compile.pipeline.clear();
  compile.max_threads = options.max_threads;
  compile.packed = &packed;
  compile.keep_graph = options.keep_graph;
  compile.use_amx = options.use_amx;
  compile.origins = std::move(origins);
  absl::StatusOr<Executable> executable = Compile(content.module, compile);
  // The plan of other sources may need other constants.
  absl::Status status = executable.status();
  if (status.ok() && (!packed.is_used_up() ||
                      executable->plan().steps.size() != header.num_steps)) {
    status = absl::InternalError("the plan is another one");
  }
  if (!status.ok()) {
    return absl::Status(
        status.code(), absl::StrCat(name, ": ", status.message(),
                                    " (the executable was written by Baton ",
                                    version, ", ", TextOf(header.commit), ")"));
  }
  return MappedExecutable{*std::move(executable), std::move(content.module),
                          std::move(output_names)};
}

}  // namespace baton
