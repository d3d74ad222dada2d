// Tests binary files: the content that is kept, and the files that are refused.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using Checksums = BinaryReadOptions::Checksums;
using ::testing::HasSubstr;

struct EveryAttrs {
  bool flag = false;
  int64_t number = 0;
  double real = 0;
  std::string text;
  DType dtype;
  Dim dim = Dim::Any();
  Dims dims;
  std::optional<int64_t> maybe;
  AttrValue any;
  AttrMap map;

  static constexpr char kTypeKey[] = "test.EveryAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("flag", &EveryAttrs::flag, "");
    v("number", &EveryAttrs::number, "");
    v("real", &EveryAttrs::real, "");
    v("text", &EveryAttrs::text, "");
    v("dtype", &EveryAttrs::dtype, "");
    v("dim", &EveryAttrs::dim, "");
    v("dims", &EveryAttrs::dims, "");
    v("maybe", &EveryAttrs::maybe, "");
    v("any", &EveryAttrs::any, "");
    v("map", &EveryAttrs::map, "");
  }
};
BATON_REGISTER_ATTRS(EveryAttrs);

std::string Write(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  EXPECT_TRUE(binary.ok()) << binary.status();
  if (!binary.ok()) return "";
  EXPECT_EQ(binary->size(), binary->ToString().size());
  return binary->ToString();
}

absl::StatusOr<IRModule> Read(const std::string& bytes,
                              Checksums checksums = Checksums::kAll) {
  absl::StatusOr<BinaryContent> content =
      ReadBinary(bytes, nullptr, "m.baton", {.checksums = checksums});
  if (!content.ok()) return content.status();
  return content->module;
}

std::string ErrorOf(const std::string& bytes,
                    Checksums checksums = Checksums::kAll) {
  return std::string(Read(bytes, checksums).status().message());
}

IRModule AfterRoundTrip(const IRModule& module) {
  const std::string bytes = Write(module);
  const absl::StatusOr<IRModule> read = Read(bytes);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return {};
  EXPECT_EQ(FirstDifference(module, *read, {.map_free_vars = true}),
            std::nullopt);
  EXPECT_EQ(AsText(*read), AsText(module));
  EXPECT_EQ(Write(*read), bytes);
  return *read;
}

IRModule Parsed(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text, "test.relay");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : IRModule();
}

constexpr absl::string_view kEveryNode = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}

extern type Opaque[A, B]

def @id[T](%x: T) -> T {
  %x
}

def @length[A](%list: List[A]) -> int32 {
  match (%list) {
    Cons(_, %rest) => @length(%rest),
    Nil => 7,
  }
}

def @main(%x: Tensor[(1, ?), float32], %c: bool, Primitive=1, Name="m",
          List=[1, [2.5f, "x"]]) -> Tensor[(1, ?), float32] {
  let %r = ref(%x);
  let %f = fn (%y: Tensor[(1, ?), float32]) {
    let %w = ref_write(%r, %y);
    ref_read(%r)
  };
  %0 = (%x, %x, (), 3i64, True);
  %1 = %f(%0.1);
  %2 = @id(%1);
  if (%c) {
    %2
  } else {
    match? ((%2, %1)) {
      (%a, _) => %a,
    }
  }
}
)";

TEST(BinaryFormatTest, EveryNode) {
  const IRModule module = Parsed(kEveryNode);
  AfterRoundTrip(module);
  const absl::StatusOr<IRModule> typed = InferTypes(module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  const IRModule again = AfterRoundTrip(*typed);
  // Types are there already.
  const absl::StatusOr<IRModule> inferred = InferTypes(again);
  ASSERT_TRUE(inferred.ok()) << inferred.status();
  EXPECT_TRUE(inferred->SameAs(again));
}

TEST(BinaryFormatTest, NothingIsShort) {
  const std::string bytes = Write(IRModule());
  EXPECT_EQ(bytes.size(), 64);
  EXPECT_TRUE(IsBinary(bytes));
  AfterRoundTrip(IRModule());
}

TEST(BinaryFormatTest, Comment) {
  const absl::StatusOr<BinaryModule> binary =
      WriteBinary(IRModule(), {.comment = std::string("a\0b", 3)});
  ASSERT_TRUE(binary.ok());
  const absl::StatusOr<BinaryContent> content =
      ReadBinary(binary->ToString(), nullptr, "m.baton");
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->comment, std::string("a\0b", 3));
}

TEST(BinaryFormatTest, EveryAttribute) {
  const Dim n(
      new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32), {}, {}));
  const Dim twice(
      new DimExprNode(DimExprNode::Op::kMul, "", DType::Int(64), n, 2));
  EveryAttrs value;
  value.flag = true;
  value.number = std::numeric_limits<int64_t>::min();
  value.real = -0.0;
  value.text = std::string("\0\xff", 2);
  value.dtype = DType(DType::Code::kInt, 8, 4);
  value.dim = n;
  value.dims = {1, Dim::Any(), n, twice, -5};
  value.maybe = 7;
  value.any = AttrList{AttrList{}, twice, AttrMap{{"k", AttrValue()}}};
  value.map = {{"", DType()}, {"z", AttrList{true}}};
  const Var x("x", TensorType({n, twice, 3}, DType::Float(32)));
  const Var f("f");
  const Attrs attrs = Attrs::Make(value);
  IRModule module = ModuleFromExpr(
      Function({x, f}, Call(f, {Call(f, {x}, attrs), x}, attrs)));
  const std::string bytes = Write(module);
  const absl::StatusOr<IRModule> read = Read(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Write(*read), bytes);
  const auto* outer = read->Find<Function>("main")->body().As<CallNode>();
  const auto* inner = outer->arg(0).As<CallNode>();
  EXPECT_EQ(inner->attrs(), outer->attrs());
  const auto* back = outer->attrs_as<EveryAttrs>();
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->number, value.number);
  EXPECT_TRUE(std::signbit(back->real));
  EXPECT_EQ(back->text, value.text);
  EXPECT_EQ(back->dtype, value.dtype);
  EXPECT_EQ(back->dims[0], Dim(1));
  EXPECT_EQ(back->dims[4], Dim(-5));
  EXPECT_EQ(back->dims[2], back->dim);
  EXPECT_EQ(back->dims[3].expr()->lhs(), back->dim);
  EXPECT_EQ(back->maybe, 7);
  EXPECT_EQ((*back->any.As<AttrList>())[1], AttrValue(back->dims[3]));
  EXPECT_EQ(back->map, value.map);
  const auto* type = read->Find<Function>("main")
                         ->params()[0]
                         ->annotation()
                         .As<TensorTypeNode>();
  EXPECT_EQ(type->dim(0), back->dim);
}

TEST(BinaryFormatTest, SharingIsKept) {
  const Var x("x", {2});
  const Expr shared = Tuple({x, x});
  const Expr once = Tuple({shared, shared, Tuple({x, x})});
  const IRModule read = AfterRoundTrip(ModuleFromExpr(Function({x}, once)));
  const auto* tuple = read.Find<Function>("main")->body().As<TupleNode>();
  EXPECT_EQ(tuple->fields()[0], tuple->fields()[1]);
  EXPECT_NE(tuple->fields()[0], tuple->fields()[2]);
  EXPECT_EQ(tuple->fields()[2].As<TupleNode>()->fields()[0],
            read.Find<Function>("main")->params()[0]);
}

std::vector<Tensor> Tensors(const IRModule& module) {
  std::vector<Tensor> tensors;
  for (const Expr& field :
       module.Find<Function>("main")->body().As<TupleNode>()->fields()) {
    tensors.push_back(field.As<ConstantNode>()->value());
  }
  return tensors;
}

IRModule ModuleOf(const std::vector<Tensor>& tensors) {
  std::vector<Expr> fields;
  for (const Tensor& tensor : tensors) fields.push_back(Constant(tensor));
  return ModuleFromExpr(Tuple(std::move(fields)));
}

TEST(BinaryFormatTest, Tensors) {
  std::vector<Tensor> tensors;
  for (const DType dtype :
       {DType::Float(16), DType::Float(32), DType::Float(64), DType::BFloat(16),
        DType::Bool(), DType::Int(8), DType::Int(64), DType::UInt(32)}) {
    tensors.push_back(Tensor::ScalarOf(dtype, 1));
    tensors.push_back(*Tensor::Ones(dtype, {3, 101}));
    tensors.push_back(*Tensor::Zeros(dtype, {0, 5}));
  }
  tensors.push_back(tensors[1]);
  tensors.push_back(*tensors[1].Reshaped({101, 3}));
  const IRModule module = ModuleOf(tensors);
  const std::string bytes = Write(module);
  // If the bytes are aligned, so are the tensors, and nothing is copied.
  const Tensor block = *Tensor::FromValues<uint8_t>(
      {static_cast<int64_t>(bytes.size())},
      absl::MakeSpan(reinterpret_cast<const uint8_t*>(bytes.data()),
                     bytes.size()));
  const auto owner = std::make_shared<const Tensor>(block);
  absl::StatusOr<BinaryContent> content =
      ReadBinary(block.bytes(), owner, "m.baton");
  ASSERT_TRUE(content.ok()) << content.status();
  const std::vector<Tensor> read = Tensors(content->module);
  ASSERT_EQ(read.size(), tensors.size());
  const std::less<const void*> before;
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i], tensors[i]) << i;
    if (read[i].byte_size() <= 64) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read[i].data()) % 64, 0);
    EXPECT_FALSE(before(read[i].data(), block.data()));
    EXPECT_TRUE(before(read[i].data(), block.bytes().end()));
  }
  const size_t n = read.size();
  EXPECT_TRUE(read[1].SharesBufferWith(read[n - 2]));
  EXPECT_TRUE(read[1].SharesBufferWith(read[n - 1]));
  EXPECT_FALSE(read[1].SharesBufferWith(read[4]));
  // Also at an odd address.
  const std::string shifted = "x" + bytes;
  content = ReadBinary(absl::string_view(shifted).substr(1), owner, "m.baton");
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(Write(content->module), bytes);
}

TEST(BinaryFormatTest, SharedBufferIsWrittenOnce) {
  const Tensor big = *Tensor::Zeros(DType::Float(32), {10000});
  EXPECT_LT(Write(ModuleOf({big, big, *big.Reshaped({100, 100})})).size(),
            41000);
}

TEST(BinaryFormatTest, WhatIsMissingCannotBeWritten) {
  const absl::StatusOr<BinaryModule> binary =
      WriteBinary(ModuleFromExpr(Function({}, Tuple({Tuple({}), Expr()}))));
  EXPECT_EQ(binary.status().message(), "@main: a Tuple has no field");
}

// Types that are small in memory and huge in writing are refused both ways.
TEST(BinaryFormatTest, TypesThatExplode) {
  Type type = TensorType::Scalar(DType::Float(32));
  for (int i = 0; i < 40; ++i) type = TupleType({type, type});
  const Var x("x", type);
  EXPECT_THAT(WriteBinary(ModuleFromExpr(Function({x}, x))).status().message(),
              HasSubstr("a TupleType is, written out, larger than"));
}

TEST(BinaryFormatTest, RanksHaveALimit) {
  const std::vector<Dim> shape(5, Dim(1));
  const Var x("x", TensorType(shape, DType::Float(32)));
  const std::string of_type = Write(ModuleFromExpr(Function({x}, x)));
  const std::string of_constant = Write(ModuleFromExpr(
      Function({}, Constant(*Tensor::Zeros(DType::Float(32), {1, 1, 1, 1})))));
  EXPECT_EQ(ErrorOf(of_type), "");
  EXPECT_EQ(ErrorOf(of_constant), "");
  const Limits limits = {.max_rank = 3};
  const ScopedLimits scope(limits);
  EXPECT_THAT(ErrorOf(of_type), HasSubstr("5 dimensions is over the limit "
                                          "(limits.max_rank=3)"));
  EXPECT_THAT(ErrorOf(of_constant), HasSubstr("shape: "));
  EXPECT_THAT(ErrorOf(of_constant), HasSubstr("4 dimensions is over the limit "
                                              "(limits.max_rank=3)"));
}

// --- Damage ------------------------------------------------------------------

// Makes the checksums fit again, so that what they hide is seen.
std::string Resealed(std::string bytes) {
  const auto put = [&bytes](size_t offset, uint64_t value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
  };
  uint64_t message_size = 0;
  std::memcpy(&message_size, bytes.data() + 24, sizeof(message_size));
  put(16, bytes.size());
  put(32, Checksum(absl::string_view(bytes).substr(64, message_size)));
  put(56, Checksum(absl::string_view(bytes).substr(0, 56)));
  return bytes;
}

// `message` with nothing after it.
std::string FileOf(const std::string& message) {
  std::string bytes = Write(IRModule()) + message;
  const uint64_t size = message.size();
  std::memcpy(bytes.data() + 24, &size, sizeof(size));
  return Resealed(std::move(bytes));
}

TEST(BinaryFormatTest, Header) {
  const std::string good = Write(Parsed(kEveryNode));
  EXPECT_EQ(ErrorOf(""),
            "m.baton: byte 0: magic: this is not a binary module "
            "file");
  EXPECT_EQ(ErrorOf("def @main() { 1 }"),
            "m.baton: byte 0: magic: this is not a binary module file");
  EXPECT_EQ(ErrorOf(good.substr(0, 63)),
            "m.baton: byte 63: the file ends in its header of 64 bytes");
  std::string bytes = good;
  bytes[8] = 4;
  EXPECT_EQ(ErrorOf(bytes),
            "m.baton: byte 56: checksum of the header: the file is damaged");
  EXPECT_EQ(ErrorOf(Resealed(bytes)),
            "m.baton: byte 8: version: the file has format 4, but this program "
            "knows none newer than 3; use a newer Baton");
  EXPECT_EQ(ErrorOf(good.substr(0, 100)),
            absl::StrCat("m.baton: byte 16: file_size: the file should have ",
                         good.size(), " bytes, but has 100: it was cut off"));
  EXPECT_EQ(ErrorOf(good + "x"),
            absl::StrCat("m.baton: byte 16: file_size: the file should have ",
                         good.size(), " bytes, but has ", good.size() + 1));
  bytes = good;
  bytes[30] = 1;
  EXPECT_EQ(ErrorOf(Resealed(bytes)),
            absl::StrCat("m.baton: byte 24: message_size: ",
                         (uint64_t{1} << 48) + good.size() - 64,
                         " bytes go past the end of the file"));
}

TEST(BinaryFormatTest, DamagedMessage) {
  const std::string good = Write(Parsed(kEveryNode));
  std::string bytes = good;
  bytes.replace(bytes.find("length"), 6, "Length");
  EXPECT_EQ(ErrorOf(bytes),
            absl::StrCat("m.baton: byte 32: checksum of the message, bytes 64 "
                         "to ",
                         good.size(), ": the file is damaged"));
  // An impossible part is closer to where the damage is.
  bytes = good;
  const size_t tag = bytes.find("\"\x06");
  ASSERT_NE(tag, std::string::npos);
  bytes[tag] = 'B';
  EXPECT_THAT(ErrorOf(bytes), HasSubstr(absl::StrCat(
                                  "m.baton: byte ", tag,
                                  ": tag: the message has no field 8 (the "
                                  "checksum of the message differs: the file "
                                  "is damaged)")));
}

TEST(BinaryFormatTest, ImpossibleMessages) {
  EXPECT_EQ(ErrorOf(FileOf("\x22\xff\xff\xff\xff\xff\x7f")),
            "m.baton: byte 64: length of field 4: it goes past the end of the "
            "message at byte 71");
  EXPECT_EQ(ErrorOf(FileOf("\x20")),
            "m.baton: byte 64: tag: no field of the message has this tag");
  EXPECT_EQ(ErrorOf(FileOf(std::string("\x22\x00", 2))),
            "m.baton: byte 64: node 1 (of no kind): it is of no kind that is "
            "known");
  // Node{call{}}, node{tuple{fields: 1}}, node{tuple_get_item{tuple: 9}}.
  EXPECT_EQ(ErrorOf(FileOf(std::string("\x22\x02\x12\x00", 4))),
            "m.baton: byte 64: node 1 (call): op: an expression is missing");
  EXPECT_EQ(ErrorOf(FileOf("\x22\x05\x2a\x03\x0a\x01\x01")),
            "m.baton: byte 64: node 1 (tuple): fields[0]: node 1 does not come "
            "before this");
  // A type variable, then a tuple of it.
  EXPECT_EQ(ErrorOf(FileOf("\x22\x06\xca\x01\x03\x0a\x01T"
                           "\x22\x05\x2a\x03\x0a\x01\x01")),
            "m.baton: byte 72: node 2 (tuple): fields[0]: node 1 is a TypeVar, "
            "not an expression");
  EXPECT_EQ(ErrorOf(FileOf("\x22\x05\x6a\x03\x0a\x01T")),
            "m.baton: byte 64: node 1 (op): name: unknown operator \"T\"");
  EXPECT_EQ(ErrorOf(FileOf("\x22\x05\x6a\x03\x0a\x01")),
            "m.baton: byte 64: length of field 4: it goes past the end of the "
            "message at byte 70");
  EXPECT_EQ(ErrorOf(FileOf("\x22\x05\x6a\x03\x0a\x02T")),
            "m.baton: byte 64: node 1 (op): this is no message of that type");
  EXPECT_EQ(ErrorOf(FileOf("\x22\x05\x6a\x03\x12\x01T")),
            "m.baton: byte 64: node 1 (op): Op has no field 2");
  // A buffer of 2^40 bytes.
  EXPECT_THAT(ErrorOf(FileOf("\x12\x07\x10\x80\x80\x80\x80\x80\x20")),
              HasSubstr("m.baton: byte 64: buffers[0]: size: 1099511627776 "
                        "bytes from byte 128 go past the end of the file"));
}

TEST(BinaryFormatTest, DamagedTensors) {
  const std::string good = Write(
      ModuleOf({*Tensor::Ones(DType::Float(32), {100}), Tensor::Scalar(1.0f),
                *Tensor::Ones(DType::Bool(), {100})}));
  const size_t first =
      good.find(std::string("\0\0\x80\x3f", 4) + std::string(2, '\0'), 192);
  ASSERT_NE(first, std::string::npos);
  std::string bytes = good;
  bytes[first + 100] = 1;
  EXPECT_THAT(ErrorOf(bytes),
              ::testing::ContainsRegex(
                  "m.baton: byte [0-9]*[02468]: checksum of the tensor of 400 "
                  "bytes that begins here: the file is damaged"));
  EXPECT_TRUE(Read(bytes, Checksums::kNotTensors).ok());
  // A bool is a bool in any case.
  bytes = good;
  bytes.back() = 2;
  EXPECT_THAT(ErrorOf(bytes, Checksums::kNotTensors),
              HasSubstr("buffer: a bool that is neither 0 nor 1"));
}

TEST(BinaryFormatTest, EveryTruncationIsRefused) {
  const IRModule module = Parsed(kEveryNode);
  const std::string good = Write(module);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Read(good.substr(0, size)).ok()) << size;
    if (size >= 64) {
      Read(Resealed(good.substr(0, size))).status().IgnoreError();
    }
  }
}

TEST(BinaryFormatTest, EveryFlippedBitIsFound) {
  const std::string good = Write(
      ModuleOf({*Tensor::Ones(DType::Float(32), {33}), Tensor::Scalar(1.0f),
                *Tensor::Ones(DType::Int(8), {77})}));
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(Read(bytes).ok()) << "byte " << i << " bit " << bit;
    }
  }
}

}  // namespace
}  // namespace baton::relay
