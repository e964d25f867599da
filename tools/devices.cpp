// `kma devices`: queries OpenCL and, by a kernel, the device's compiler.
#include "devices.hpp"

#include <cstdlib>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "table.hpp"

namespace tool {
namespace {

// Some runtimes count the terminating NUL, or pad with blanks.
std::string trimmed(std::string text)
{
    text.resize(std::min(text.find('\0'), text.size()));
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(" \n") + 1 - first);
}

std::string type_of(const cl::Device &device)
{
    const cl_device_type type = device.getInfo<CL_DEVICE_TYPE>();
    return type & CL_DEVICE_TYPE_GPU ? "GPU" : type & CL_DEVICE_TYPE_CPU ? "CPU" : "accelerator";
}

// Devices before 3.0 name one version, "OpenCL C 1.2 …"; later ones list all.
std::vector<std::string> c_versions(const cl::Device &device)
{
    std::vector<std::string> versions;
    const std::string version = device.getInfo<CL_DEVICE_VERSION>();
    if (std::atoi(version.c_str() + sizeof("OpenCL ") - 1) >= 3)
        for (const cl_name_version &one : device.getInfo<CL_DEVICE_OPENCL_C_ALL_VERSIONS>())
            versions.push_back(std::to_string(CL_VERSION_MAJOR(one.version)) + '.' +
                               std::to_string(CL_VERSION_MINOR(one.version)));
    if (versions.empty()) {
        std::istringstream words(device.getInfo<CL_DEVICE_OPENCL_C_VERSION>());
        std::string number;
        words >> number >> number >> number; // "OpenCL", "C", the number
        versions.push_back(number);
    }
    return versions;
}

std::string in_gib(std::uint64_t bytes)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / (1 << 30) << " GiB";
    return text.str();
}

// The device that kma uses by default; null if KMA_DEVICE matches none. Commands that need a device
// report that.
cl_device_id default_device()
{
    try {
        return kma::Device::select().device()();
    } catch (const kma::Error &) {
        return nullptr;
    }
}

} // namespace

DeviceFacts facts_of(const cl::Device &device)
{
    DeviceFacts facts;
    facts.platform =
        trimmed(cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>());
    facts.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
    facts.type = type_of(device);
    facts.version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
    facts.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
    facts.c_versions = c_versions(device);
    facts.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    facts.memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
    facts.max_buffer_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
    // in bits in OpenCL
    facts.buffer_alignment = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
    facts.svm = false;
    facts.selected = false;
    facts.obstacle = kma::Device::obstacle(device);
    if (!facts.obstacle.empty())
        return facts;
    try {
        const cl::Context context(device);
        const kma::Device ours(cl::CommandQueue(context, device));
        facts.svm = ours.has_svm();
        facts.language_option = ours.language_option() + ours.target_options();
        facts.path = kma::code_path(ours);
    } catch (const cl::Error &error) {
        facts.obstacle = std::string("its driver answers ") + error.what() + " with error " +
                         std::to_string(error.err());
    } catch (const kma::BuildError &error) {
        facts.obstacle = std::string("its compiler refuses kma's device code: ") + error.what();
    }
    return facts;
}

std::vector<DeviceFacts> all_facts()
{
    const std::vector<cl::Device> devices = kma::Device::list_all();
    if (devices.empty())
        kma::Device::select(); // throws: its message says what to install
    const cl_device_id selected = default_device();
    std::vector<DeviceFacts> all;
    for (const cl::Device &device : devices) {
        all.push_back(facts_of(device));
        all.back().selected = device() == selected;
    }
    return all;
}

std::string to_text(const DeviceFacts &facts)
{
    std::vector<std::vector<std::string>> lines = {
        {"  type", facts.type + ", " + std::to_string(facts.compute_units) + " compute units"},
        {"  driver", facts.driver},
        {"  OpenCL", facts.version},
        {"  OpenCL C", joined(facts.c_versions, ", ")},
        {"  memory", in_gib(facts.memory_bytes)},
        {"  largest buffer", in_gib(facts.max_buffer_bytes) + ", aligned to " +
                                 std::to_string(facts.buffer_alignment) + " bytes"},
    };
    if (facts.obstacle.empty()) {
        lines.push_back({"  shared virtual memory", facts.svm ? "yes" : "no"});
        lines.push_back({"  kma builds with", facts.language_option});
        lines.push_back({"  64-bit atomics", facts.path->atomic64
                                                 ? "yes"
                                                 : "no: heaps are limited, see docs/limits.md"});
        lines.push_back({"  memory path", describe(facts.path->memory)});
        lines.push_back({"  lanes path", std::string(describe(facts.path->lanes)) +
                                             ", groups of up to " +
                                             std::to_string(facts.path->lanes_met)});
    } else {
        lines.push_back({"  kma cannot run here", facts.obstacle});
    }
    return facts.platform + " / " + facts.name + (facts.selected ? " (selected)\n" : "\n") +
           table(lines);
}

void to_json(nlohmann::ordered_json &json, const DeviceFacts &facts)
{
    json = {{"platform", facts.platform},
            {"name", facts.name},
            {"selected", facts.selected},
            {"type", facts.type},
            {"compute_units", facts.compute_units},
            {"driver", facts.driver},
            {"opencl", facts.version},
            {"opencl_c", facts.c_versions},
            {"memory_bytes", facts.memory_bytes},
            {"max_buffer_bytes", facts.max_buffer_bytes},
            {"buffer_alignment", facts.buffer_alignment},
            {"svm", facts.svm},
            {"usable", facts.obstacle.empty()},
            {"obstacle", facts.obstacle},
            {"build_options", facts.language_option}};
    if (facts.path) {
        json["atomic64"] = facts.path->atomic64;
        json["memory_path"] = describe(facts.path->memory);
        json["lanes_path"] = describe(facts.path->lanes);
        json["lanes"] = facts.path->lanes_met;
    }
}

} // namespace tool
