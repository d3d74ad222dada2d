#include "baton/runtime/io/npy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/dtype.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace baton {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

template <typename T>
T Number(absl::string_view bytes, size_t at) {
  T value = 0;
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) {
    std::memcpy(&value, bytes.data() + at, sizeof(T));
  }
  return value;
}

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

absl::StatusOr<DType> DTypeOfDescr(absl::string_view descr) {
  // Byte order, kind, bytes.
  if (descr.size() < 3 || descr[0] == '>') {
    return absl::UnimplementedError(
        absl::StrCat("arrays of '", descr, "' are not supported"));
  }
  int bytes = 0;
  if (absl::SimpleAtoi(descr.substr(2), &bytes) && bytes > 0 && bytes <= 8) {
    DType dtype;
    switch (descr[1]) {
      case 'f':
        dtype = DType::Float(8 * bytes);
        break;
      case 'i':
        dtype = DType::Int(8 * bytes);
        break;
      case 'u':
        dtype = DType::UInt(8 * bytes);
        break;
      case 'b':
        dtype = DType::Bool();
        break;
      default:
        break;
    }
    if (dtype.IsStorable()) return dtype;
  }
  return absl::UnimplementedError(
      absl::StrCat("arrays of '", descr, "' are not supported"));
}

std::string DescrOf(DType dtype) {
  if (dtype.is_bool()) return "|b1";
  const char kind = dtype.is_float() ? 'f' : dtype.is_int() ? 'i' : 'u';
  return absl::StrCat(dtype.bytes() == 1 ? "|" : "<", std::string(1, kind),
                      dtype.bytes());
}

// The part of `text` between `begin` and `end`.
absl::StatusOr<absl::string_view> Between(absl::string_view text,
                                          absl::string_view begin,
                                          absl::string_view end) {
  const size_t at = text.find(begin);
  if (at != absl::string_view::npos) {
    text.remove_prefix(at + begin.size());
    const size_t to = text.find(end);
    if (to != absl::string_view::npos) return text.substr(0, to);
  }
  return absl::InvalidArgumentError("no header of a .npy file");
}

// The checksum of zip and gzip.
uint32_t Crc32(absl::string_view bytes) {
  static const auto& table = *new std::array<uint32_t, 256>([] {
    std::array<uint32_t, 256> result;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
      result[i] = c;
    }
    return result;
  }());
  uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  }
  return crc ^ 0xffffffffu;
}

// The bytes that the method makes of one byte at most.
constexpr uint64_t kMostRatio = 1032;

// The content of a compressed entry of an archive. `stored`: the bytes in the
// archive; `size` and `crc`: the size and the checksum of the content. A gzip
// file is the same stream with a head and an end.
absl::StatusOr<std::string> Inflate(absl::string_view stored, uint64_t size,
                                    uint32_t crc) {
  using google::protobuf::io::ArrayInputStream;
  const auto damaged = absl::InvalidArgumentError("is damaged");
  if (size / kMostRatio > stored.size()) return damaged;
  const std::string head("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string end;
  Append(end, crc);
  Append(end, static_cast<uint32_t>(size));
  std::deque<ArrayInputStream> parts;  // of at most a gigabyte
  const auto add = [&parts](absl::string_view part) {
    parts.emplace_back(part.data(), static_cast<int>(part.size()));
  };
  add(head);
  for (size_t at = 0; at < stored.size(); at += size_t{1} << 30) {
    add(stored.substr(at, size_t{1} << 30));
  }
  add(end);
  std::vector<google::protobuf::io::ZeroCopyInputStream*> streams;
  for (ArrayInputStream& part : parts) streams.push_back(&part);
  google::protobuf::io::ConcatenatingInputStream all(
      streams.data(), static_cast<int>(streams.size()));
  google::protobuf::io::GzipInputStream plain(
      &all, google::protobuf::io::GzipInputStream::GZIP);
  std::string content;
  const void* data = nullptr;
  int length = 0;
  while (plain.Next(&data, &length)) {
    if (content.size() + length > size) return damaged;
    content.append(static_cast<const char*>(data), length);
  }
  if (content.size() != size || Crc32(content) != crc) return damaged;
  return content;
}

}  // namespace

absl::StatusOr<Tensor> ReadNpy(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < 12) {
    return absl::InvalidArgumentError("no .npy file");
  }
  const int version = bytes[6];
  const size_t prefix = version == 1 ? 10 : 12;
  const size_t size =
      version == 1 ? Number<uint16_t>(bytes, 8) : Number<uint32_t>(bytes, 8);
  if (size > bytes.size() - prefix) {
    return absl::InvalidArgumentError("the header of a .npy file is cut off");
  }
  const absl::string_view header = bytes.substr(prefix, size);
  const absl::string_view data = bytes.substr(prefix + size);
  BATON_ASSIGN_OR_RETURN(const absl::string_view descr,
                         Between(header, "'descr': '", "'"));
  BATON_ASSIGN_OR_RETURN(const absl::string_view order,
                         Between(header, "'fortran_order': ", ","));
  BATON_ASSIGN_OR_RETURN(const absl::string_view dims,
                         Between(header, "'shape': (", ")"));
  BATON_ASSIGN_OR_RETURN(const DType dtype, DTypeOfDescr(descr));
  TensorShape shape;
  for (const absl::string_view dim : absl::StrSplit(dims, ',')) {
    const absl::string_view digits = absl::StripAsciiWhitespace(dim);
    if (digits.empty()) continue;
    int64_t value = 0;
    if (!absl::SimpleAtoi(digits, &value)) {
      return absl::InvalidArgumentError(
          "the shape of the .npy file is malformed");
    }
    shape.push_back(value);
  }
  // In Fortran's order the first axis is the innermost.
  const bool is_reversed =
      absl::StripAsciiWhitespace(order) != "False" && shape.size() > 1;
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype, shape));
  if (static_cast<int64_t>(data.size()) != elements * dtype.bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a .npy file has ", data.size(), " bytes of data where ",
                     elements * dtype.bytes(), " belong"));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  if (is_reversed) {
    const auto bytes = static_cast<size_t>(dtype.bytes());
    auto* const out = static_cast<char*>(tensor.data());
    std::vector<int64_t> steps(shape.size(), 1);  // in the file
    for (size_t i = 1; i < shape.size(); ++i) {
      steps[i] = steps[i - 1] * shape[i - 1];
    }
    std::vector<int64_t> index(shape.size());
    int64_t at = 0;
    for (int64_t i = 0; i < elements; ++i) {
      std::memcpy(out + i * bytes, data.data() + at * bytes, bytes);
      if (dtype.is_bool()) out[i] = out[i] != 0;
      for (size_t k = shape.size(); k-- > 0;) {
        at += steps[k];
        if (++index[k] < shape[k]) break;
        at -= steps[k] * shape[k];
        index[k] = 0;
      }
    }
  } else if (dtype.is_bool()) {
    for (int64_t i = 0; i < elements; ++i) {
      tensor.span<bool>()[i] = data[i] != 0;
    }
  } else if (!data.empty()) {
    std::memcpy(tensor.data(), data.data(), data.size());
  }
  return std::move(tensor).Freeze();
}

absl::StatusOr<NamedTensors> ReadNpz(absl::string_view bytes) {
  const auto cut = [] {
    return absl::InvalidArgumentError(
        "not a .npz file, or one that is cut off");
  };
  uint64_t inflated = 0;  // bytes of compressed arrays so far
  // The end of the directory is in the last 64 KB, before a comment.
  constexpr absl::string_view kEnd("PK\5\6", 4);
  const size_t end = bytes.rfind(kEnd);
  if (end == absl::string_view::npos) return cut();
  uint64_t count = Number<uint16_t>(bytes, end + 10);
  uint64_t at = Number<uint32_t>(bytes, end + 16);
  // For archives of more than 4 GB.
  constexpr absl::string_view kEnd64("PK\6\6", 4);
  if (at == std::numeric_limits<uint32_t>::max()) {
    const size_t end64 = bytes.rfind(kEnd64);
    if (end64 == absl::string_view::npos) return cut();
    count = Number<uint64_t>(bytes, end64 + 32);
    at = Number<uint64_t>(bytes, end64 + 48);
  }
  NamedTensors result;
  std::set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 ||
        !absl::StartsWith(bytes.substr(at), absl::string_view("PK\1\2", 4))) {
      return cut();
    }
    const auto method = Number<uint16_t>(bytes, at + 10);
    uint64_t size = Number<uint32_t>(bytes, at + 20);
    const auto name_size = Number<uint16_t>(bytes, at + 28);
    const auto extra_size = Number<uint16_t>(bytes, at + 30);
    const auto comment_size = Number<uint16_t>(bytes, at + 32);
    const auto crc = Number<uint32_t>(bytes, at + 16);
    uint64_t local = Number<uint32_t>(bytes, at + 42);
    if (bytes.size() - at - 46 <
        uint64_t{name_size} + extra_size + comment_size) {
      return cut();
    }
    absl::string_view name = bytes.substr(at + 46, name_size);
    absl::string_view extra = bytes.substr(at + 46 + name_size, extra_size);
    // Sizes of 64 bits stand in a field of their own, those that are needed.
    uint64_t plain_size = Number<uint32_t>(bytes, at + 24);
    while (extra.size() >= 4) {
      const auto id = Number<uint16_t>(extra, 0);
      const auto length = Number<uint16_t>(extra, 2);
      if (id == 1) {
        size_t field = 4;
        const auto take = [&](uint64_t& value) {
          if (value != std::numeric_limits<uint32_t>::max()) return;
          value = Number<uint64_t>(extra, field);
          field += 8;
        };
        take(plain_size);
        take(size);
        take(local);
      }
      if (extra.size() < size_t{4} + length) break;
      extra.remove_prefix(4 + length);
    }
    at += uint64_t{46} + name_size + extra_size + comment_size;
    constexpr int kStored = 0;
    constexpr int kDeflated = 8;
    if (method != kStored && method != kDeflated) {
      return absl::UnimplementedError(
          absl::StrCat("'", Printable(name), "' is compressed by method ",
                       method, ", which numpy does not write"));
    }
    if (local > bytes.size() || bytes.size() - local < 30) return cut();
    const uint64_t data = local + 30 + Number<uint16_t>(bytes, local + 26) +
                          Number<uint16_t>(bytes, local + 28);
    if (data > bytes.size() || bytes.size() - data < size) return cut();
    absl::StatusOr<Tensor> tensor = absl::InvalidArgumentError("");
    if (method == kStored) {
      tensor = ReadNpy(bytes.substr(data, size));
    } else {
      const absl::StatusOr<std::string> content =
          Inflate(bytes.substr(data, size), plain_size, crc);
      // Entries may refer to the same bytes.
      inflated += content.ok() ? plain_size : 0;
      if (inflated / kMostRatio > bytes.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "'", Printable(name), "': arrays overlap in the file"));
      }
      tensor = content.ok() ? ReadNpy(*content) : content.status();
    }
    if (!tensor.ok()) {
      return absl::Status(
          tensor.status().code(),
          absl::StrCat("'", Printable(name), "': ", tensor.status().message()));
    }
    absl::ConsumeSuffix(&name, ".npy");
    if (!names.insert(std::string(name)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two arrays '", Printable(name), "'"));
    }
    result.emplace_back(std::string(name), *std::move(tensor));
  }
  return result;
}

namespace {

std::string NpyOf(const Tensor& given) {
  Tensor tensor = given;
  if (given.dtype() == DType::BFloat(16)) {
    absl::StatusOr<MutableTensor> wide =
        MutableTensor::Create(DType::Float(32), given.shape());
    for (int64_t i = 0; wide.ok() && i < given.num_elements(); ++i) {
      wide->span<float>()[i] = static_cast<float>(given.AtAsDouble(i));
    }
    if (wide.ok()) tensor = std::move(*wide).Freeze();
  }
  std::string header = absl::StrCat("{'descr': '", DescrOf(tensor.dtype()),
                                    "', 'fortran_order': False, 'shape': (");
  for (const int64_t dim : tensor.shape()) absl::StrAppend(&header, dim, ", ");
  absl::StrAppend(&header, "), }");
  // Data begins at a multiple of 64.
  constexpr size_t kPrefix = 10;
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header.push_back('\n');
  std::string result(kMagic);
  result.push_back('\1');
  result.push_back('\0');
  Append(result, static_cast<uint16_t>(header.size()));
  result += header;
  result.append(tensor.bytes().data(), tensor.bytes().size());
  return result;
}

}  // namespace

absl::StatusOr<std::string> WriteNpz(const NamedTensors& tensors) {
  std::string result;
  std::string directory;
  size_t count = 0;
  std::map<std::string, const Tensor*> written;
  for (const auto& [name, tensor] : tensors) {
    const auto [known, is_new] = written.emplace(name, &tensor);
    if (!is_new) {
      // A result that is given twice is one array.
      if (*known->second == tensor) continue;
      return absl::UnimplementedError(
          absl::StrCat("a .npz file has no two arrays of one name, '",
                       Printable(name), "'"));
    }
    // No reader could decode what is no UTF-8.
    const std::string file =
        absl::StrCat(IsUtf8(name) ? name : Printable(name), ".npy");
    if (file.size() > std::numeric_limits<uint16_t>::max()) {
      return absl::UnimplementedError(
          absl::StrCat("a name in a .npz file has at most 65531 bytes, but '",
                       Printable(absl::string_view(name).substr(0, 32)),
                       "...' has ", name.size()));
    }
    if (++count > std::numeric_limits<uint16_t>::max()) {
      return absl::UnimplementedError("more than 65535 arrays in a .npz file");
    }
    const std::string content = NpyOf(tensor);
    if (content.size() + file.size() + 256 + result.size() + directory.size() >
        std::numeric_limits<uint32_t>::max()) {
      return absl::UnimplementedError("more than 4 GB in a .npz file");
    }
    const bool is_ascii = std::all_of(file.begin(), file.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x80;
    });
    const auto offset = static_cast<uint32_t>(result.size());
    // The fields that the header of a file and its directory entry share.
    std::string fields;
    Append<uint16_t>(fields, 20);  // version needed
    // Flags: whether the name is UTF-8, and not of code page 437.
    Append<uint16_t>(fields, is_ascii ? 0 : 0x800);
    Append<uint16_t>(fields, 0);         // stored
    Append<uint32_t>(fields, 0x210000);  // the first day there is, at midnight
    Append<uint32_t>(fields, Crc32(content));
    Append<uint32_t>(fields, static_cast<uint32_t>(content.size()));
    Append<uint32_t>(fields, static_cast<uint32_t>(content.size()));
    Append<uint16_t>(fields, static_cast<uint16_t>(file.size()));
    Append<uint16_t>(fields, 0);  // extra
    absl::StrAppend(&result, absl::string_view("PK\3\4", 4), fields, file,
                    content);
    absl::StrAppend(&directory, absl::string_view("PK\1\2", 4));
    Append<uint16_t>(directory, 20);  // version made by
    directory += fields;
    Append<uint16_t>(directory, 0);  // comment
    Append<uint16_t>(directory, 0);  // disk
    Append<uint16_t>(directory, 0);
    Append<uint32_t>(directory, 0);
    Append<uint32_t>(directory, offset);
    directory += file;
  }
  const auto offset = static_cast<uint32_t>(result.size());
  result += directory;
  absl::StrAppend(&result, absl::string_view("PK\5\6", 4));
  Append<uint32_t>(result, 0);
  Append<uint16_t>(result, static_cast<uint16_t>(count));
  Append<uint16_t>(result, static_cast<uint16_t>(count));
  Append<uint32_t>(result, static_cast<uint32_t>(directory.size()));
  Append<uint32_t>(result, offset);
  Append<uint16_t>(result, 0);
  return result;
}

}  // namespace baton
