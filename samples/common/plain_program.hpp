// Programs that run kernels by name, and the kernels' times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kma/kma.hpp"

namespace samples {

/// Milliseconds by kernel name.
struct Times {
    std::map<std::string, double> kernels;
    double total() const;
    double enumeration() const; ///< of an object store's enumerations for do-alls
    void add(const Times &others);
    /// Prints one line per kernel: its milliseconds per step.
    void print(double steps) const;
};

/// Collects kernels' events and sums up their times.
class KernelClock {
public:
    void note(const std::string &kernel, const cl::Event &event)
    {
        events_.emplace_back(kernel, event);
    }
    /// Waits for the queue. Returns the times of all kernels noted since the last call.
    Times read(const kma::Device &device);

private:
    std::vector<std::pair<std::string, cl::Event>> events_;
};

/// Returns the source of that name among a sample's sources. Throws kma::Error if there is none.
kma::Source source_named(const std::vector<kma::Source> &sources, const std::string &name);

/// Returns options that let a program include `headers`.
kma::ProgramOptions build_with(const std::vector<kma::Source> &headers, const std::string &options);

/// A program without an object store.
class PlainProgram {
public:
    /// Builds the source named `file` of `sources`; it may include the others.
    PlainProgram(const kma::Device &device, const std::vector<kma::Source> &sources,
                 const std::string &file, const std::string &options);

    /// Enqueues a kernel with at least `items` work-items: a whole number of groups of the device's
    /// default size.
    template <class... Arguments>
    void run(const std::string &name, std::uint32_t items, const Arguments &...arguments)
    {
        const auto known = kernels_.find(name);
        cl::Kernel &kernel = known != kernels_.end()
                                 ? known->second
                                 : kernels_.emplace(name, program_.kernel(name)).first->second;
        cl_uint index = 0;
        (set(kernel, index++, arguments), ...);
        enqueue(name, kernel, items);
    }
    /// Returns about how many work-items the device runs at a time.
    std::uint32_t strided() const noexcept { return strided_; }
    Times times() { return clock_.read(device_); }

private:
    template <class T> static void set(cl::Kernel &kernel, cl_uint index, const T &value)
    {
        kernel.setArg(index, value);
    }
    static void set(cl::Kernel &kernel, cl_uint index, const kma::Heap &heap)
    {
        heap.set_arg(kernel, index);
    }
    void enqueue(const std::string &name, const cl::Kernel &kernel, std::uint32_t items);

    kma::Device device_;
    kma::Program program_;
    std::uint32_t group_, strided_;
    std::map<std::string, cl::Kernel> kernels_;
    KernelClock clock_;
};

} // namespace samples
