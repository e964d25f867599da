// Builds programs, and caches them.
#include "kma/program.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "heap/common/debug_flavour.hpp"
#include "kma/error.hpp"
#include "device/internals.hpp"
#include "device/name_lines.hpp"

namespace kma {
namespace {

// NVIDIA's assembler (ptxas 13.0) gives the functions that the slab heap calls registers in
// addition to those of their callers: a kernel with malloc would use about 160. With a limit,
// registers are spilled, mostly on rare paths.
constexpr int slab_registers = 48;

std::string all_options(const Device &device, const ProgramOptions &options)
{
    check_debug("ProgramOptions", options.debug);
    std::string text = options.options;
    if (text.find("-cl-std=") == std::string::npos)
        text = device.language_option() + " " + text;
    const std::string target = device.target_options();
    // an option of the caller takes precedence
    if (text.find(target.substr(0, target.find('=') + 1)) == std::string::npos)
        text += target;
    if (options.heap == HeapKind::slab)
        text = limit_registers(device, std::move(text), slab_registers);
    if (options.heap != default_heap_kind)
        text += std::string(" -DKMA_HEAP=") + name_of(options.heap);
    if (options.debug != 0)
        text += " -DKMA_DEBUG=" + std::to_string(options.debug);
    if (options.std_names)
        text += " -DKMA_STD_NAMES";
    return text;
}

// Heap::set_arg reads the kind of heap from the parameters' types, which needs -cl-kernel-arg-info.
// For a kernel without parameters NVIDIA's compiler (driver 580.159) then generates PTX that its
// assembler refuses: such programs are built without the option.
cl::Program build_with_arg_info(const Device &device, const std::string &text,
                                const std::string &options)
{
    try {
        return DeviceInternals::cache(device).get(device.context(), device.device(), text,
                                  options + " -cl-kernel-arg-info");
    } catch (const BuildError &error) {
        if (error.log().find("ptxas fatal") == std::string::npos)
            throw;
        return DeviceInternals::cache(device).get(device.context(), device.device(), text, options);
    }
}

// Whether an expanded text has an #include: the compiler then reads a file, which may change.
bool includes_a_file(std::string_view text)
{
    constexpr std::string_view include = "include";
    for (std::size_t at = text.find(include); at != std::string_view::npos;
         at = text.find(include, at + 1)) {
        const std::string_view before =
            text.substr(0, text.find_last_not_of(" \t\\\r\n", at - 1) + 1);
        const std::string_view line = before.substr(before.rfind('\n') + 1);
        const bool is_quoted =
            line.find("//") != std::string_view::npos || line.find('"') != std::string_view::npos;
        if ((line.ends_with('#') || line.ends_with("%:")) && !is_quoted)
            return true;
    }
    return false;
}

std::string log_of(const cl::Program &program, const cl::Device &device)
{
    return program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
}

} // namespace

// PoCL's driver for NVIDIA GPUs does not know the option.
std::string limit_registers(const Device &device, std::string options, int registers)
{
    const std::string limit = "-cl-nv-maxrregcount"; // its value follows = or a space
    if (device.has_extension("cl_nv_compiler_options") && options.find(limit) == std::string::npos)
        options += " " + limit + "=" + std::to_string(registers);
    return options;
}

cl::Program ProgramCache::get(const cl::Context &context, const cl::Device &device,
                              const std::string &text, const std::string &options)
{
    // Held during the build: two threads that request the same program build it once.
    const std::lock_guard lock(mutex_);
    std::string key = options + '\n' + text;
    if (const auto known = std::ranges::find(programs_, key, &Built::key);
        known != programs_.end()) {
        programs_.splice(programs_.begin(), programs_, known);
        return known->program;
    }
    cl::Program program(context, text);
    try {
        program.build(device, options.c_str());
    } catch (const cl::BuildError &error) {
        const std::string log = name_lines(log_of(program, device), text);
        if (error.err() == CL_INVALID_BUILD_OPTIONS)
            throw BuildError("the OpenCL compiler does not take the options \"" + options +
                                 "\"; mend those that are yours, its log is:",
                             log);
        throw BuildError("the OpenCL program does not compile with options \"" + options +
                             "\"; mend what its compiler names:",
                         log);
    }
    if (includes_a_file(text))
        return program;
    programs_.push_front({std::move(key), program});
    if (programs_.size() > capacity_)
        programs_.pop_back();
    return program;
}

Program::Program(const Device &device, const std::vector<Source> &units,
                 const ProgramOptions &options)
    : device_(device),
      program_(build_with_arg_info(device,
                                   expand(units, options.headers, all_options(device, options)),
                                   all_options(device, options)))
{
}

cl::Kernel Program::kernel(const std::string &name) const
{
    try {
        return cl::Kernel(program_, name.c_str());
    } catch (const cl::Error &error) {
        if (error.err() != CL_INVALID_KERNEL_NAME)
            throw;
        std::string names = program_.getInfo<CL_PROGRAM_KERNEL_NAMES>();
        std::ranges::replace(names, ';', ' ');
        throw Error("the program has no kernel \"" + name +
                    "\"; it has: " + (names.empty() ? "none" : names));
    }
}

std::string Program::log() const
{
    return log_of(program_, device_.device());
}

} // namespace kma
