// What users do wrong, chapter by chapter of docs/messages.md: each provocation does it, with the real library on the
// device of KMA_DEVICE, and returns what the user gets to read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace messages {

struct Provocation {
    std::string what; ///< what the user does wrong
    std::function<std::vector<std::string>()> messages;
};

std::vector<Provocation> host_provocations();
std::vector<Provocation> file_provocations();
std::vector<Provocation> kernel_provocations();
std::vector<Provocation> compiler_provocations();
std::vector<Provocation> compiler_word_provocations(); ///< what they say in words that are not kma's
std::vector<Provocation> opencl_provocations();
std::vector<Provocation> check_provocations();
std::vector<Provocation> scatter_check_provocations();
std::vector<Provocation> slab_check_provocations();
std::vector<Provocation> object_provocations(); ///< of schemas and worlds
std::vector<Provocation> collector_provocations();
std::vector<Provocation> object_kernel_provocations();
std::vector<Provocation> world_check_provocations();
std::vector<Provocation> build_provocations(); ///< CMake and quickstart
std::vector<Provocation> samples_provocations();
std::vector<Provocation> tool_provocations();

/// A provocation by what an action throws.
template <class Action> Provocation thrown(std::string what, Action action)
{
    return {std::move(what), [action]() -> std::vector<std::string> {
                try {
                    action();
                } catch (const kma::Error &error) {
                    return {error.what()};
                } catch (const cl::Error &error) {
                    return {std::string("OpenCL's ") + error.what() + " failed with error " +
                            std::to_string(error.err())};
                }
                return {"(nothing was thrown)"};
            }};
}

/// All that a shell command writes, blanks and ends of lines as one blank each: CMake breaks its lines.
std::string output_of(const std::string &command);

} // namespace messages
