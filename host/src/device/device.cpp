// Selects devices and queries their properties.
#include "kma/device.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <locale>

#include "device/device_facts.hpp"
#include "device/internals.hpp"
#include "kma/error.hpp"
#include "kma/program.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::string lower(std::string text)
{
    std::ranges::transform(text, text.begin(),
                           [](char c) { return std::tolower(c, std::locale::classic()); });
    return text;
}

// Some runtimes pad names with blanks or a NUL.
std::string trimmed(std::string text)
{
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    while (!text.empty() && std::isspace(text.back(), std::locale::classic()))
        text.pop_back();
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

std::string name_of(const cl::Device &device)
{
    const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
    return trimmed(platform.getInfo<CL_PLATFORM_NAME>()) + " / " +
           trimmed(device.getInfo<CL_DEVICE_NAME>());
}

DeviceFacts facts_of(const cl::Device &device)
{
    return {.available = device.getInfo<CL_DEVICE_AVAILABLE>() != 0,
            .compiler = device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() != 0,
            .little_endian = device.getInfo<CL_DEVICE_ENDIAN_LITTLE>() != 0,
            .address_bits = device.getInfo<CL_DEVICE_ADDRESS_BITS>()};
}

struct Wanted {
    std::string substring;
    std::size_t index = 0;
};

// Parses "SUBSTRING:n". A colon not followed by just a number belongs to the substring.
Wanted parse(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        std::size_t index = 0;
        const char *end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, index);
        if (error == std::errc{} && rest == end && colon + 1 < text.size())
            return {lower(std::string(text.substr(0, colon))), index};
    }
    return {lower(std::string(text)), 0};
}

std::string listing(const std::vector<cl::Device> &devices)
{
    std::string text;
    for (const cl::Device &device : devices)
        text += "\n  " + name_of(device);
    return text;
}

constexpr const char *pocl = "Portable Computing Language";
constexpr const char *pocl_hint = ", as when it cannot write to its cache: set POCL_CACHE_DIR to a "
                                  "folder that you may write to";

struct Found {
    std::vector<cl::Device> devices;
    std::vector<std::string> left_out;
};

// Lists all devices, and the platforms and devices for which the driver returns an error.
Found find_devices()
{
    std::vector<cl::Platform> platforms;
    try {
        cl::Platform::get(&platforms);
    } catch (const cl::Error &error) {
        if (error.err() != CL_PLATFORM_NOT_FOUND_KHR)
            throw;
    }
    Found found;
    for (const cl::Platform &platform : platforms) {
        std::string name = "a platform";
        const auto leave_out = [&](const cl::Error &error) {
            found.left_out.push_back(
                say(name, ": its driver answers ", error.what(), " with error ", error.err()));
        };
        std::vector<cl::Device> here;
        try {
            name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
            platform.getDevices(CL_DEVICE_TYPE_ALL, &here);
            if (here.empty())
                found.left_out.push_back(name + ": it has no device" +
                                         (name == pocl ? pocl_hint : ""));
        } catch (const cl::Error &error) {
            leave_out(error);
        }
        for (const cl::Device &device : here) {
            try {
                name_of(device);
                facts_of(device);
                found.devices.push_back(device);
            } catch (const cl::Error &error) {
                leave_out(error);
            }
        }
    }
    return found;
}

// One line for each platform and device that kma cannot use.
std::string unusable()
{
    const Found found = find_devices();
    std::vector<std::string> lines = found.left_out;
    for (const cl::Device &device : found.devices)
        if (const std::string why = Device::obstacle(device); !why.empty())
            lines.push_back(name_of(device) + ": " + why);
    std::string text;
    for (const std::string &line : lines)
        text += "\n  " + line;
    return text;
}

cl::Device choose(const std::vector<cl::Device> &devices, std::string_view wanted)
{
    if (wanted.empty()) {
        const auto gpu = std::ranges::find_if(devices, [](const cl::Device &d) {
            return (d.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
        });
        return gpu != devices.end() ? *gpu : devices.front();
    }
    const Wanted parsed = parse(wanted);
    std::size_t matches = 0;
    for (const cl::Device &device : devices)
        if (lower(name_of(device)).find(parsed.substring) != std::string::npos &&
            matches++ == parsed.index)
            return device;
    const std::string others = unusable();
    throw Error("no OpenCL device matches \"" + std::string(wanted) + "\" (" +
                std::to_string(matches) +
                " contain the text); install that device's OpenCL driver, or ask for part of one "
                "of these names, in KMA_DEVICE or as the program has it:" +
                listing(devices) + (others.empty() ? "" : "\nkma cannot use:" + others));
}

} // namespace

std::string obstacle(const DeviceFacts &device)
{
    if (!device.available)
        return "it is not available";
    if (!device.compiler)
        return "it has no OpenCL C compiler";
    if (!device.little_endian)
        return "it is big-endian";
    if (device.address_bits != 64)
        return say("its addresses have ", device.address_bits, " bits, and kma needs 64");
    return {};
}

void require_usable(const DeviceFacts &device, const std::string &name)
{
    if (const std::string why = obstacle(device); !why.empty())
        throw Error(say("kma cannot run on ", name, ": ", why, "; choose another device"));
}

std::string Device::obstacle(const cl::Device &device)
{
    return kma::obstacle(facts_of(device));
}

std::vector<cl::Device> Device::list()
{
    std::vector<cl::Device> devices = list_all();
    std::erase_if(devices, [](const cl::Device &device) { return !obstacle(device).empty(); });
    return devices;
}

std::vector<cl::Device> Device::list_all()
{
    return find_devices().devices;
}

std::vector<std::string> Device::left_out()
{
    return find_devices().left_out;
}

Device Device::select(std::string_view wanted)
{
    const std::vector<cl::Device> devices = list();
    if (devices.empty()) {
        if (const std::string those = unusable(); !those.empty())
            throw Error("no OpenCL device found that kma can use:" + those);
        throw Error(
            "no OpenCL device found: install your GPU vendor's OpenCL driver, or PoCL for the CPU "
            "(Debian and Ubuntu: apt-get install pocl-opencl-icd)");
    }
    const std::string from_environment = environment("KMA_DEVICE");
    const cl::Device device =
        choose(devices, wanted.empty() ? std::string_view(from_environment) : wanted);
    const cl::Context context(device);
    return Device(cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE));
}

Device::Device(cl::CommandQueue queue)
    : context_(queue.getInfo<CL_QUEUE_CONTEXT>()), device_(queue.getInfo<CL_QUEUE_DEVICE>()),
      queue_(std::move(queue)), cache_(std::make_shared<ProgramCache>()),
      selftest_gate_(std::make_shared<SelftestGate>())
{
    require_usable(facts_of(device_), name());
    if (queue_.getInfo<CL_QUEUE_PROPERTIES>() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        throw Error("kma needs an in-order command queue; create one without "
                    "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
}

std::string Device::name() const
{
    return name_of(device_);
}

std::string Device::language_option() const
{
    if (const std::string forced = environment("KMA_CL_STD"); !forced.empty())
        return "-cl-std=" + forced;
    // "OpenCL 3.0 …": from 3.0 on, optional features are listed by name; before, the query is an
    // error.
    const int major =
        std::atoi(device_.getInfo<CL_DEVICE_VERSION>().c_str() + sizeof("OpenCL ") - 1);
    if (major >= 3) {
        const auto features = device_.getInfo<CL_DEVICE_OPENCL_C_FEATURES>();
        const auto has = [&](std::string_view name) {
            return std::ranges::any_of(features,
                                       [&](const cl_name_version &f) { return f.name == name; });
        };
        if (has("__opencl_c_atomic_scope_device") && has("__opencl_c_atomic_order_acq_rel"))
            return "-cl-std=CL3.0";
        return "-cl-std=CL1.2";
    }
    return device_.getInfo<CL_DEVICE_OPENCL_C_VERSION>().find("OpenCL C 2.") == 0 ? "-cl-std=CL2.0"
                                                                                  : "-cl-std=CL1.2";
}

bool Device::has_extension(std::string_view name) const
{
    const std::string all = " " + device_.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
    return all.find(" " + std::string(name) + " ") != std::string::npos;
}

std::string Device::target_options() const
{
    // Oclgrind's device claims all types.
    if ((device_.getInfo<CL_DEVICE_TYPE>() & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)) ==
        CL_DEVICE_TYPE_CPU)
        return " -DKMA_IS_CPU=1";
    // On other devices the query is an error.
    constexpr cl_device_info compute_capability_major = 0x4000;
    constexpr cl_device_info compute_capability_minor = 0x4001;
    if (!has_extension("cl_nv_device_attribute_query"))
        return {};
    cl_uint major = 0;
    cl_uint minor = 0;
    if (clGetDeviceInfo(device_(), compute_capability_major, sizeof(major), &major, nullptr) !=
            CL_SUCCESS ||
        clGetDeviceInfo(device_(), compute_capability_minor, sizeof(minor), &minor, nullptr) !=
            CL_SUCCESS)
        return {};
    return " -DKMA_NV_ARCH=" + std::to_string(major * 10 + minor);
}

std::uint64_t Device::max_buffer_bytes() const
{
    return device_.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
}

bool Device::has_svm() const
{
    cl_device_svm_capabilities capabilities = 0;
    // The C function: before OpenCL 2.0 the query is an error, which means no.
    if (clGetDeviceInfo(device_(), CL_DEVICE_SVM_CAPABILITIES, sizeof(capabilities), &capabilities,
                        nullptr) != CL_SUCCESS)
        return false;
    return (capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
}

} // namespace kma
