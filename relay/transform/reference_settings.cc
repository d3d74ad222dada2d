// Registers the reference's settings that nothing in Baton reads: those of its
// back ends, schedules and loop programs. Programs that set them run unchanged,
// and a misspelled setting is still an error. A setting that takes an object
// accepts any value.

#include <cstdint>
#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/transform/config.h"

namespace baton::relay {
namespace {

constexpr char kUnread[] = "A setting of the reference; not read.";

[[maybe_unused]] const ConfigKey<bool> kSwitches[] = {
    {"ir.enable_si_builder", false, kUnread},
    {"relay.backend.use_auto_scheduler", false, kUnread},
    {"relay.backend.use_meta_schedule", false, kUnread},
    {"relay.frontend.fill_span", true, kUnread},
    {"relay.remove_standalone_reshapes.enable", true, kUnread},
    {"te.keep_schedule_record", false, kUnread},
    {"testing.immutable_module", false, kUnread},
    {"tir.contrib.ethos-u.copy_compute_reordering_reorder_by_cycles", false,
     kUnread},
    {"tir.debug_keep_trivial_loop", false, kUnread},
    {"tir.detect_global_barrier", false, kUnread},
    {"tir.enable_debug", false, kUnread},
    {"tir.is_entry_func", false, kUnread},
};

[[maybe_unused]] const ConfigKey<int64_t> kNumbers[] = {
    {"relay.backend.use_meta_schedule_dispatch", 0, kUnread},
    {"relay.collage.byoc_max_depth", 0, kUnread},
    {"relay.collage.tvm_max_depth", 0, kUnread},
    {"tir.contrib.ethos-u.copy_compute_reordering_max_copy_movements", 0,
     kUnread},
    {"tir.vtcm_capacity", 0, kUnread},
};

[[maybe_unused]] const ConfigKey<std::string> kTexts[] = {
    {"relay.backend.tir_converter", "default", kUnread},
    {"relay.ext.vitis_ai.options.build_dir", "", kUnread},
    {"relay.ext.vitis_ai.options.export_runtime_module", "", kUnread},
    {"relay.ext.vitis_ai.options.load_runtime_module", "", kUnread},
    {"relay.ext.vitis_ai.options.target", "", kUnread},
    {"relay.ext.vitis_ai.options.work_dir", "", kUnread},
};

[[maybe_unused]] const ConfigKey<std::vector<std::string>> kLists[] = {
    {"relay.collage.byoc_fusion_style", {}, kUnread},
};

[[maybe_unused]] const ConfigKey<AttrValue> kObjects[] = {
    {"relay.ext.cmsisnn.options", {}, kUnread},
    {"relay.ext.ethos-n.options", {}, kUnread},
    {"relay.ext.ethos-u.options", {}, kUnread},
    {"relay.ext.verilator.options", {}, kUnread},
    {"relay.ext.vitis_ai.options", {}, kUnread},
};

}  // namespace
}  // namespace baton::relay
