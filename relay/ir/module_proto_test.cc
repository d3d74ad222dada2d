// Tests that ir/module.proto and relay.proto agree with the descriptions of the
// node classes, and with each other.

#include <map>
#include <string>

#include "baton/ir/module.pb.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_fields.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/relay.pb.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Numbers of the fields of a class, with their names.
std::map<int, std::string> DescribedFields(const NodeClass& node_class) {
  std::map<int, std::string> fields;
  for (const NodeFieldInfo& field : node_class.fields) {
    if (field.number != 0) fields[field.number] = std::string(field.name);
  }
  // A tensor takes three; attributes are a type and values.
  if (node_class.name == "Constant") {
    fields[2] = "shape";
    fields[3] = "buffer";
  }
  if (node_class.name == "Attrs") fields[2] = "values";
  return fields;
}

TEST(ModuleProtoTest, HasTheMessagesOfAllClassesWithoutNames) {
  const Descriptor* node = binary::Node::descriptor();
  int messages = 0;
  for (const NodeClass* node_class : NodeClasses()) {
    if (node_class->node_field == 0) continue;
    SCOPED_TRACE(std::string(node_class->name));
    ++messages;
    const FieldDescriptor* field =
        node->FindFieldByNumber(node_class->node_field);
    ASSERT_NE(field, nullptr);
    const Descriptor* message = field->message_type();
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->name(), std::string(node_class->name));
    const std::map<int, std::string> fields = DescribedFields(*node_class);
    EXPECT_EQ(message->field_count(), static_cast<int>(fields.size()));
    for (const auto& [number, name] : fields) {
      EXPECT_NE(message->FindFieldByNumber(number), nullptr) << name;
    }
  }
  // And `other`.
  EXPECT_EQ(node->oneof_decl(0)->field_count(), messages + 1);
}

TEST(ModuleProtoTest, RelayModuleIsAModuleWithNodes) {
  const Descriptor* module = binary::Module::descriptor();
  const Descriptor* relay = binary::RelayModule::descriptor();
  ASSERT_EQ(module->field_count(), relay->field_count());
  for (int i = 0; i < module->field_count(); ++i) {
    const FieldDescriptor* field = module->field(i);
    const FieldDescriptor* other = relay->field(i);
    EXPECT_EQ(field->name(), other->name());
    EXPECT_EQ(field->number(), other->number());
    if (field->name() == "nodes") {
      EXPECT_EQ(other->message_type(), binary::Node::descriptor());
    } else {
      EXPECT_EQ(field->type(), other->type());
      EXPECT_EQ(field->message_type(), other->message_type());
    }
  }
}

}  // namespace
}  // namespace baton::relay
