// kma's exceptions. OpenCL's errors pass through as cl::Error.
#pragma once

#include <stdexcept>
#include <string>

namespace kma {

/// An error that the caller can fix; what() is one or two sentences that say how.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A program that did not compile. what() includes the log.
class BuildError : public Error {
public:
    /// what() is `message` and `log`.
    BuildError(const std::string &message, std::string log)
        : Error(message + "\n" + log), log_(std::move(log))
    {
    }

    /// The compiler's log. Its lines name the user's and kma's files if the compiler obeys line
    /// directives.
    const std::string &log() const noexcept { return log_; }

private:
    std::string log_;
};

} // namespace kma
