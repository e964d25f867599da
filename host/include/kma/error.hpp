// What kma throws. OpenCL's own errors pass through as cl::Error.
#pragma once

#include <stdexcept>
#include <string>

namespace kma {

/// Something the caller can mend; what() is a sentence or two that say how.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A program that did not compile. what() includes the log.
class BuildError : public Error {
public:
    /// `message` and `log` make up what().
    BuildError(const std::string &message, std::string log)
        : Error(message + "\n" + log), log_(std::move(log))
    {
    }

    /// The compiler's log; lines name the user's and kma's own files where the compiler heeds line
    /// directives.
    const std::string &log() const noexcept { return log_; }

private:
    std::string log_;
};

} // namespace kma
