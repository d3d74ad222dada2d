#include "baton/onnx/tensor_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/pages.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/onnx/model.h"
#include "baton/onnx/narrow_float.h"
#include "baton/onnx/proto_fields.h"
#include "baton/onnx/wire.h"

namespace baton::onnx {
namespace {

// The fields of a TensorProto, but for lists of elements.
struct Header {
  absl::string_view name;
  std::vector<int64_t> dims;
  int64_t element_type = 0;
  std::optional<absl::string_view> raw;
  bool is_external = false;
  bool has_values = false;  // in a list of elements
  absl::string_view location;
  absl::string_view offset;
  absl::string_view length;
};

absl::StatusOr<Header> ReadHeader(absl::string_view message) {
  Header result;
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case TensorField::kDims:
        reader.AppendInts(result.dims);
        break;
      case TensorField::kDataType:
        result.element_type = reader.Int();
        break;
      case TensorField::kSegment:
        return absl::UnimplementedError(
            "tensors in several segments are not supported");
      case TensorField::kFloatData:
      case TensorField::kInt32Data:
      case TensorField::kStringData:
      case TensorField::kInt64Data:
      case TensorField::kDoubleData:
      case TensorField::kUint64Data:
        result.has_values = true;
        break;
      case TensorField::kName:
        result.name = reader.Bytes();
        break;
      case TensorField::kRawData:
        result.raw = reader.Bytes();
        break;
      case TensorField::kExternalData: {
        absl::string_view key;
        absl::string_view value;
        BATON_RETURN_IF_ERROR(ReadFields(reader.Bytes(),
                                         ReadInto(EntryField::kKey, &key),
                                         ReadInto(EntryField::kValue, &value)));
        if (key == "location") result.location = value;
        if (key == "offset") result.offset = value;
        if (key == "length") result.length = value;
        break;
      }
      case TensorField::kDataLocation:
        result.is_external = reader.Int() == 1;
        break;
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
  return result;
}

absl::StatusOr<TensorSource::Mapped> MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block before the
  // file can be refused.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return absl::NotFoundError(absl::StrCat(
        Printable(path), ": ", std::generic_category().message(errno)));
  }
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat(Printable(path), " is no regular file"));
  }
  TensorSource::Mapped result;
  const auto size = static_cast<size_t>(info.st_size);
  if (size != 0) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      const int error = errno;
      close(fd);
      return absl::ResourceExhaustedError(absl::StrCat(
          Printable(path), ": ", std::generic_category().message(error)));
    }
    result.owner = std::shared_ptr<const void>(
        data, [size](const void* p) { munmap(const_cast<void*>(p), size); });
    result.bytes = {static_cast<const char*>(data), size};
  }
  close(fd);
  return result;
}

bool IsInside(const std::filesystem::path& file,
              const std::filesystem::path& folder) {
  const std::filesystem::path inside = file.lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

// The file of external data at `location`, which must be in the model's folder,
// links followed.
absl::StatusOr<const TensorSource::Mapped*> ExternalFile(
    absl::string_view location, TensorSource& source) {
  const std::string key(location);
  if (const auto found = source.files.find(key); found != source.files.end()) {
    return &found->second;
  }
  if (source.folder.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its data is in the file '", Printable(location),
        "', but the model was not read from a file beside which it could be"));
  }
  const std::filesystem::path relative(key);
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(source.folder, error);
  const std::filesystem::path file =
      std::filesystem::weakly_canonical(folder / relative, error);
  const bool is_inside =
      IsInside(file, folder) ||
      (!source.target_folder.empty() && IsInside(file, source.target_folder) &&
       IsInside((folder / relative).lexically_normal(), folder));
  if (key.empty() || key.find('\0') != std::string::npos || error ||
      relative.is_absolute() || !is_inside) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data must be in the model's folder, not in '",
                     Printable(location), "'"));
  }
  BATON_ASSIGN_OR_RETURN(TensorSource::Mapped mapped, MapFile(file.string()));
  return &source.files.emplace(key, std::move(mapped)).first->second;
}

absl::StatusOr<TensorSource::Mapped> ExternalBytes(const Header& header,
                                                   int64_t size,
                                                   TensorSource& source) {
  uint64_t offset = 0;
  uint64_t length = static_cast<uint64_t>(size);
  if ((!header.offset.empty() && !absl::SimpleAtoi(header.offset, &offset)) ||
      (!header.length.empty() && !absl::SimpleAtoi(header.length, &length))) {
    return absl::InvalidArgumentError(
        "the offset or the length of its external data is no number");
  }
  BATON_ASSIGN_OR_RETURN(const TensorSource::Mapped* file,
                         ExternalFile(header.location, source));
  if (offset > file->bytes.size() || length > file->bytes.size() - offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("its external data is bytes ", offset, " to ",
                     offset + length, " of '", Printable(header.location),
                     "', which has ", file->bytes.size(), " bytes"));
  }
  return TensorSource::Mapped{file->bytes.substr(offset, length), file->owner,
                              file->is_mapped};
}

absl::StatusOr<Tensor> FromBytes(DType dtype, const Header& header,
                                 int64_t elements,
                                 const TensorSource::Mapped& data) {
  const int64_t size = elements * dtype.bytes();
  if (static_cast<int64_t>(data.bytes.size()) != size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its shape takes ", size, " bytes, but it has ", data.bytes.size()));
  }
  // A small copy costs less than the page of a file that would stay in memory.
  constexpr size_t kMinInPlace = 256;
  if (data.owner != nullptr && !dtype.is_bool() &&
      (data.bytes.size() >= kMinInPlace ||
       IsAligned(data.bytes.data(), dtype.bytes()))) {
    return Tensor::FromUnaligned(dtype, header.dims, data.bytes, data.owner,
                                 data.is_mapped);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, header.dims));
  if (dtype.is_bool()) {
    // A byte other than 0 and 1 is no bool.
    for (int64_t i = 0; i < elements; ++i) {
      result.span<bool>()[i] = data.bytes[i] != 0;
    }
  } else if (!data.bytes.empty()) {
    std::memcpy(result.data(), data.bytes.data(), data.bytes.size());
  }
  return std::move(result).Freeze();
}

template <typename From>
absl::StatusOr<Tensor> FromValues(DType dtype, const Header& header,
                                  int64_t elements,
                                  const std::vector<From>& values) {
  if (static_cast<int64_t>(values.size()) != elements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its shape has ", elements, " elements, but it has ", values.size()));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, header.dims));
  VisitDType(dtype, [&]<typename T>() {
    for (size_t i = 0; i < values.size(); ++i) {
      // int32_data holds the bits of 16-bit floats.
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        if constexpr (std::is_integral_v<From>) {
          result.span<T>()[i] = T::FromBits(static_cast<uint16_t>(values[i]));
        }
      } else {
        result.span<T>()[i] = static_cast<T>(values[i]);
      }
    }
  });
  return std::move(result).Freeze();
}

int64_t PackedBytes(int64_t elements, int bits) {
  const int per_byte = 8 / bits;
  return elements / per_byte + (elements % per_byte != 0 ? 1 : 0);
}

// Elements of fewer bits than those that store them; the first one of a byte is
// in its lowest bits. `format` is null for integers.
absl::StatusOr<Tensor> Unpack(DType dtype, const Header& header,
                              int64_t elements, int bits,
                              const NarrowFloat* format,
                              absl::string_view bytes) {
  const int per_byte = 8 / bits;
  if (static_cast<int64_t>(bytes.size()) != PackedBytes(elements, bits)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its shape has ", elements, " elements of ", bits,
                     " bits, but it has ", bytes.size(), " bytes"));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, header.dims));
  const int half = dtype.is_uint() ? 1 << bits : 1 << (bits - 1);
  VisitDType(dtype, [&]<typename T>() {
    for (int64_t i = 0; i < elements; ++i) {
      const int byte = static_cast<uint8_t>(bytes[i / per_byte]);
      int value = byte >> (i % per_byte * bits) & ((1 << bits) - 1);
      if (format != nullptr) {
        result.span<T>()[i] = static_cast<T>(format->ValueOf(value));
        continue;
      }
      if (value >= half) value -= 1 << bits;
      result.span<T>()[i] = static_cast<T>(value);
    }
  });
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Read(const Header& header, absl::string_view message,
                            TensorSource& source) {
  BATON_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(header.element_type));
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         NumElements(dtype, header.dims));
  if (header.has_values && (header.is_external ||
                            (header.raw.has_value() && !header.raw->empty()))) {
    return absl::InvalidArgumentError("its elements are there in two forms");
  }
  if (const ElementType narrow = NarrowTypeOf(header.element_type);
      narrow != ElementType::kUndefined) {
    const NarrowFloat* const format = NarrowFloatOf(header.element_type);
    const int bits = format != nullptr ? format->bits : SubByteWidth(narrow);
    if (header.is_external) {
      BATON_ASSIGN_OR_RETURN(
          const TensorSource::Mapped data,
          ExternalBytes(header, PackedBytes(elements, bits), source));
      return Unpack(dtype, header, elements, bits, format, data.bytes);
    }
    if (header.raw.has_value()) {
      return Unpack(dtype, header, elements, bits, format, *header.raw);
    }
    // int32_data has one byte an element.
    std::vector<int64_t> packed;
    BATON_RETURN_IF_ERROR(
        ReadFields(message, ReadInto(TensorField::kInt32Data, &packed)));
    std::string bytes(packed.size(), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(packed[i]);
    }
    return Unpack(dtype, header, elements, bits, format, bytes);
  }
  if (header.is_external) {
    BATON_ASSIGN_OR_RETURN(
        const TensorSource::Mapped data,
        ExternalBytes(header, elements * dtype.bytes(), source));
    return FromBytes(dtype, header, elements, data);
  }
  if (header.raw.has_value()) {
    return FromBytes(dtype, header, elements,
                     {*header.raw, source.owner, source.is_mapped});
  }
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  const bool is_wide_int = dtype == DType::Int(64);
  const bool is_wide_uint =
      dtype == DType::UInt(64) || dtype == DType::UInt(32);
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case TensorField::kFloatData:
        if (dtype == DType::Float(32)) reader.AppendFloats(floats);
        break;
      case TensorField::kInt32Data:
        if (!is_wide_int && !is_wide_uint) reader.AppendInts(ints);
        break;
      case TensorField::kInt64Data:
        if (is_wide_int) reader.AppendInts(ints);
        break;
      case TensorField::kDoubleData:
        if (dtype == DType::Float(64)) reader.AppendDoubles(doubles);
        break;
      case TensorField::kUint64Data:
        if (is_wide_uint) reader.AppendInts(ints);
        break;
      default:
        break;
    }
  }
  BATON_RETURN_IF_ERROR(reader.status());
  if (dtype == DType::Float(32)) {
    return FromValues(dtype, header, elements, floats);
  }
  if (dtype == DType::Float(64)) {
    return FromValues(dtype, header, elements, doubles);
  }
  return FromValues(dtype, header, elements, ints);
}

// The fields of a SparseTensorProto.
struct SparseParts {
  absl::string_view values;
  absl::string_view indices;
  std::vector<int64_t> dims;
};

absl::StatusOr<SparseParts> ReadSparseParts(absl::string_view message) {
  SparseParts result;
  BATON_RETURN_IF_ERROR(
      ReadFields(message, ReadInto(SparseTensorField::kValues, &result.values),
                 ReadInto(SparseTensorField::kIndices, &result.indices),
                 ReadInto(SparseTensorField::kDims, &result.dims)));
  return result;
}

// The positions of the elements that have values: `indices` has one for each,
// or one for each axis.
absl::StatusOr<std::vector<int64_t>> Positions(const Tensor& indices,
                                               int64_t num_values,
                                               const std::vector<int64_t>& dims,
                                               int64_t elements) {
  const auto rank = static_cast<int64_t>(dims.size());
  const absl::Span<const int64_t> shape = indices.shape();
  const bool is_linear = shape.size() == 1;
  if (indices.dtype() != DType::Int(64) || shape.empty() || shape.size() > 2 ||
      shape[0] != num_values || (!is_linear && shape[1] != rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its indices are ", indices.dtype().ToString(), "[",
                     absl::StrJoin(shape, ", "), "], not int64[", num_values,
                     "] or int64[", num_values, ", ", rank, "]"));
  }
  std::vector<int64_t> result(static_cast<size_t>(num_values), 0);
  size_t at = 0;
  for (int64_t& position : result) {
    for (int64_t axis = 0; axis < (is_linear ? 1 : rank); ++axis) {
      const int64_t index = indices.AtAsInt64(at++);
      const int64_t extent = is_linear ? elements : dims[axis];
      if (index < 0 || index >= extent) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the index ", index, " of a value is out of 0 to ", extent - 1));
      }
      position = position * extent + index;
    }
  }
  return result;
}

absl::StatusOr<Tensor> ReadSparse(absl::string_view message,
                                  TensorSource& source) {
  BATON_ASSIGN_OR_RETURN(const SparseParts parts, ReadSparseParts(message));
  BATON_ASSIGN_OR_RETURN(const Tensor values, ReadTensor(parts.values, source));
  if (values.rank() != 1) {
    return absl::InvalidArgumentError("its values are no vector");
  }
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         NumElements(values.dtype(), parts.dims));
  if (elements > kMaxSparseBytes / values.dtype().bytes()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its shape has ", elements,
                     " elements; sparse tensors of "
                     "more than ",
                     kMaxSparseBytes, " bytes are not read"));
  }
  std::vector<int64_t> positions;
  // Without values there may be no indices.
  if (values.num_elements() != 0) {
    BATON_ASSIGN_OR_RETURN(const Tensor indices,
                           ReadTensor(parts.indices, source));
    BATON_ASSIGN_OR_RETURN(positions, Positions(indices, values.num_elements(),
                                                parts.dims, elements));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(values.dtype(), parts.dims));
  VisitDType(values.dtype(), [&]<typename T>() {
    for (size_t i = 0; i < positions.size(); ++i) {
      result.span<T>()[positions[i]] = values.span<T>()[i];
    }
  });
  return std::move(result).Freeze();
}

}  // namespace

int64_t ElementTypeIn(absl::string_view message) {
  int64_t result = 0;
  // A malformed message is an error where the tensor is read.
  ReadFields(message, ReadInto(TensorField::kDataType, &result)).IgnoreError();
  return result;
}

int64_t ElementTypeInSparse(absl::string_view message) {
  const absl::StatusOr<SparseParts> parts = ReadSparseParts(message);
  return parts.ok() ? ElementTypeIn(parts->values) : 0;
}

absl::StatusOr<Tensor> ReadSparseTensor(absl::string_view message,
                                        TensorSource& source) {
  absl::StatusOr<Tensor> result = ReadSparse(message, source);
  if (result.ok()) return result;
  return absl::Status(
      result.status().code(),
      absl::StrCat("sparse tensor: ", result.status().message()));
}

absl::StatusOr<Tensor> ReadTensor(absl::string_view message,
                                  TensorSource& source) {
  BATON_ASSIGN_OR_RETURN(const Header header, ReadHeader(message));
  absl::StatusOr<Tensor> result = Read(header, message, source);
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat("tensor '", Printable(header.name),
                                   "': ", result.status().message()));
}

}  // namespace baton::onnx
