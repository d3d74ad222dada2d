// Imports arbitrary ONNX files: each is imported or refused with an error, in
// bounded time and memory. An imported module can be exported or is refused
// with an error, and an exported model is valid.
//
// Each input is imported unchanged, and then with changes of its structure: it
// is read as a protobuf message without its schema, and fields are removed,
// doubled, exchanged, nested into each other, or given hostile values: names of
// other values (graphs become cyclic), absurd dimensions, other element types,
// external data elsewhere.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/limits.h"
#include "baton/ir/module.h"
#include "baton/onnx/export.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/import.h"
#include "baton/relay/ir/text_printer.h"

namespace baton {
namespace {

// The limit for one tensor.
constexpr int64_t kMaxTensorBytes = 1 << 20;

// The number of changed messages that are made of an input.
constexpr int kChanged = 8;

// Messages in messages that are taken apart; deeper ones are bytes.
constexpr int kMaxDepth = 16;

constexpr size_t kMaxBytes = size_t{1} << 20;

[[noreturn]] void Fail(absl::string_view what, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", std::string(what).c_str(),
               std::string(status.message()).c_str());
  std::abort();
}

// --- Messages without a schema ---------------------------------------------

enum WireType : uint64_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kFixed32 = 5,
};

struct WireField {
  uint64_t number = 0;
  uint64_t type = kVarint;
  uint64_t value = 0;             // of a varint
  std::string bytes;              // of all others that are no messages
  std::vector<WireField> fields;  // of a message
};

std::optional<uint64_t> ReadVarint(absl::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest[0]);
    rest.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// The fields of a message; nullopt if the bytes are none.
std::optional<std::vector<WireField>> ReadFields(absl::string_view rest,
                                                 int depth) {
  std::vector<WireField> result;
  while (!rest.empty()) {
    const std::optional<uint64_t> tag = ReadVarint(rest);
    if (!tag.has_value() || *tag >> 3 == 0 || *tag >> 3 > 100) {
      return std::nullopt;
    }
    WireField field = {.number = *tag >> 3, .type = *tag & 7};
    uint64_t size = 0;
    switch (field.type) {
      case kVarint: {
        const std::optional<uint64_t> value = ReadVarint(rest);
        if (!value.has_value()) return std::nullopt;
        field.value = *value;
        break;
      }
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kBytes: {
        const std::optional<uint64_t> length = ReadVarint(rest);
        if (!length.has_value()) return std::nullopt;
        size = *length;
        break;
      }
      default:
        return std::nullopt;
    }
    if (size > rest.size()) return std::nullopt;
    const absl::string_view content = rest.substr(0, size);
    rest.remove_prefix(size);
    std::optional<std::vector<WireField>> inner;
    if (field.type == kBytes && size > 1 && depth < kMaxDepth) {
      inner = ReadFields(content, depth + 1);
    }
    if (inner.has_value()) {
      field.fields = *std::move(inner);
    } else {
      field.bytes = std::string(content);
    }
    result.push_back(std::move(field));
  }
  return result;
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

// Depths are those of what was read, and of what was nested since.
std::string Written(const std::vector<WireField>& fields) {
  std::string out;
  for (const WireField& field : fields) {
    AppendVarint(field.number << 3 | field.type, out);
    if (field.type == kVarint) {
      AppendVarint(field.value, out);
      continue;
    }
    const std::string content =
        field.fields.empty() ? field.bytes : Written(field.fields);
    if (field.type == kBytes) AppendVarint(content.size(), out);
    out += content;
  }
  return out;
}

// --- Changes ---------------------------------------------------------------

constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 10,
                                 11,
                                 16,
                                 64,
                                 1000,
                                 1 << 20,
                                 uint64_t{1} << 31,
                                 uint64_t{1} << 33,
                                 uint64_t{1} << 40,
                                 uint64_t{1} << 62,
                                 INT64_MAX,
                                 uint64_t{1} << 63,
                                 static_cast<uint64_t>(-1),
                                 static_cast<uint64_t>(-2)};
constexpr const char* kTexts[] = {
    "",         "x",          "y",      "../x",    "/etc/passwd",
    ".",        "Loop",       "If",     "Scan",    "location",
    "offset",   "length",     "-1",     "1e9",     "99999999999999999999",
    "\xff\xfe", "SAME_UPPER", "linear", "ai.onnx", "a->",
};

class Changer {
 public:
  Changer(std::vector<WireField> root, uint32_t seed)
      : root_(std::move(root)), random_(seed) {}

  std::string Next() {
    std::vector<WireField> fields = root_;
    nestings_ = 0;
    const size_t times = 1 + Below(OneIn(4) ? 12 : 3);
    for (size_t i = 0; i < times && !fields.empty(); ++i) Change(fields);
    std::string bytes = Written(fields);
    if (OneIn(8)) bytes.resize(Below(bytes.size() + 1));
    if (bytes.size() > kMaxBytes) bytes.resize(kMaxBytes);
    return bytes;
  }

 private:
  struct Place {
    std::vector<WireField>* fields;
    size_t index;
    WireField& field() const { return (*fields)[index]; }
  };

  size_t Below(size_t n) { return random_() % n; }
  bool OneIn(size_t n) { return Below(n) == 0; }

  static std::vector<Place> Places(std::vector<WireField>& root) {
    std::vector<Place> result;
    std::vector<std::vector<WireField>*> work = {&root};
    while (!work.empty()) {
      std::vector<WireField>* fields = work.back();
      work.pop_back();
      for (size_t i = 0; i < fields->size(); ++i) {
        result.push_back({fields, i});
        if (!(*fields)[i].fields.empty()) work.push_back(&(*fields)[i].fields);
      }
    }
    return result;
  }

  void Change(std::vector<WireField>& root) {
    const std::vector<Place> places = Places(root);
    const Place& place = places[Below(places.size())];
    const Place& other = places[Below(places.size())];
    WireField& field = place.field();
    switch (Below(10)) {
      case 0:
        place.fields->erase(place.fields->begin() +
                            static_cast<ptrdiff_t>(place.index));
        return;
      case 1: {
        const WireField copy = field;
        place.fields->insert(
            place.fields->begin() +
                static_cast<ptrdiff_t>(Below(place.fields->size() + 1)),
            copy);
        return;
      }
      case 2:
        std::swap(field, (*place.fields)[Below(place.fields->size())]);
        return;
      case 3: {
        // The content of another field with this number.
        for (size_t tries = 0; tries < 50; ++tries) {
          const WireField& from = places[Below(places.size())].field();
          if (from.number != field.number || &from == &field) continue;
          const WireField copy = from;
          field = copy;
          return;
        }
        return;
      }
      case 4: {
        // Graphs in graphs. Each time may double the depth.
        constexpr int kMaxNestings = 3;
        if (field.fields.empty() || nestings_ == kMaxNestings) return;
        ++nestings_;
        const WireField copy = other.field();
        field.fields.push_back(copy);
        return;
      }
      case 5:
        field.number = 1 + Below(OneIn(3) ? 30 : 15);
        return;
      case 6:
        if (field.type == kBytes && field.fields.empty()) {
          field.bytes = kTexts[Below(std::size(kTexts))];
        }
        return;
      case 7:
        if (!field.bytes.empty()) {
          field.bytes[Below(field.bytes.size())] = static_cast<char>(random_());
        }
        return;
      default:
        // Numbers and names are changed more often than fields are moved.
        if (field.type == kVarint) {
          field.value =
              OneIn(3) ? Below(30) : kNumbers[Below(std::size(kNumbers))];
        } else if (field.type == kBytes && field.fields.empty() &&
                   other.field().type == kBytes) {
          const std::string copy = other.field().bytes;
          field.bytes = copy;
        }
        return;
    }
  }

  const std::vector<WireField> root_;
  std::mt19937 random_;
  int nestings_ = 0;
};

// --- What is done with a file ----------------------------------------------

void ImportOne(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  const absl::StatusOr<IRModule> module =
      ImportOnnx(*owner, owner, {.name = "fuzz.onnx", .folder = "."});
  if (!module.ok()) {
    if (module.status().message().empty()) {
      Fail("an error says nothing", module.status());
    }
    return;
  }
  const absl::StatusOr<onnx::OnnxModel> model = ExportOnnx(*module);
  if (!model.ok()) return;
  const auto written = std::make_shared<const std::string>(model->ToString());
  const absl::StatusOr<IRModule> again = ImportOnnx(*written, written);
  // Operators that make shapes known may not be exportable.
  if (!again.ok() && !absl::IsUnimplemented(again.status())) {
    std::fprintf(stderr, "%s\n", AsText(*module).substr(0, 4000).c_str());
    Fail("what is exported is refused", again.status());
  }
}

}  // namespace
}  // namespace baton

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const baton::Limits limits = {.max_tensor_bytes = baton::kMaxTensorBytes};
  const baton::ScopedLimits scope(limits);
  std::string bytes;
  if (size > 0) bytes.assign(reinterpret_cast<const char*>(data), size);
  baton::ImportOne(bytes);
  std::optional<std::vector<baton::WireField>> fields =
      baton::ReadFields(bytes, 0);
  if (!fields.has_value() || fields->empty()) return 0;
  uint32_t seed = 0;
  for (const char byte : bytes) {
    seed = seed * 31 + static_cast<unsigned char>(byte);
  }
  baton::Changer changer(*std::move(fields), seed);
  for (int i = 0; i < baton::kChanged; ++i) baton::ImportOne(changer.Next());
  return 0;
}
