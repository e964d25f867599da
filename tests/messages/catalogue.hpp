// docs/messages.md as the catalogue of messages. A test provokes a message and passes its text to a
// Section, which finds the row. Texts stand in the catalogue only.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "heap_support.hpp"

namespace messages {

using Texts = std::vector<std::string>;
using Where = std::source_location;

inline constexpr const char *some_device = "Some platform / Some device";

/// Whether `text` is `message`, each "…" of it replaced by something or nothing.
bool matches(const std::string &text, const std::string &message);

/// The rows under one heading. Fails the test for a text that matches none of them and, in the
/// destructor, for each row that no text matched.
class Section {
public:
    /// `within`: other text may stand around the message.
    explicit Section(const std::string &heading, bool within = false);
    ~Section();
    Section(const Section &) = delete;
    Section &operator=(const Section &) = delete;

    /// Marks the rows of these texts as provoked.
    void says(const Texts &texts, Where where = Where::current());

    /// The same for the message of the kma::Error or cl::Error that `action` throws.
    void throws(const std::function<void()> &action, Where where = Where::current());

    /// The same for the error output of each command under this heading in commands.sh.
    void runs_commands();

private:
    struct Row {
        std::string message;
        int line;
        bool is_provoked;
    };

    std::string heading_;
    bool within_;
    std::vector<Row> rows_;
};

/// Statements that throw a message of the Section named `section`.
#define PROVOKE(...) section.throws([&] { __VA_ARGS__; })

/// Overwrites the memory of a heap or world.
class Damage {
public:
    explicit Damage(cl::Buffer memory, std::function<Texts()> check = nullptr);

    template <class T> Damage &write(std::uint64_t byte, T value)
    {
        test::device().queue().enqueueWriteBuffer(memory_, CL_TRUE, byte, sizeof value, &value);
        return *this;
    }

    /// Returns what `check` finds, and restores the memory as the constructor saw it.
    Texts found();

private:
    cl::Buffer memory_;
    std::function<Texts()> check_;
    std::vector<std::byte> before_;
};

} // namespace messages
