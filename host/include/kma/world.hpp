// An object store on a device: objects of a schema's classes, do-alls over them (cl/kma/objects).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/device.hpp"
#include "kma/error.hpp"
#include "kma/heap.hpp"
#include "kma/heap_errors.hpp"
#include "kma/program.hpp"
#include "kma/schema.hpp"

namespace kma {

struct WorldStates;
struct WorldReferences;

/// How a World is made.
struct WorldOptions {
    /// How the program is built; `heap` is what kma_malloc in it means, if it includes kma/kma.cl.
    ProgramOptions program = {};
    /// Work-items of a work-group, 0: what is usual for the device. Above 256 kernels may need more
    /// registers than there are.
    std::uint32_t work_group = 0;
    /// Work-items of a do-all, rounded up to whole groups; 0: as many as the device runs at a time.
    std::uint32_t work_items = 0;
    /// Called for each kernel that the world launches: its name, and its event, for profiling.
    std::function<void(const std::string &kernel, const cl::Event &event)> launched = {};
};

/// Numbers of one class, without its subclasses.
struct ClassStats {
    std::string name;          ///< of the class
    std::uint64_t objects = 0; ///< that live
    std::uint64_t slots = 0;   ///< in its blocks
    std::uint64_t blocks = 0;  ///< of it
    std::uint64_t active = 0;  ///< those of its blocks that have room
    /// (slots - objects) / slots, 0 without blocks (paper, 7.3).
    double fragmentation() const
    {
        return slots == 0 ? 0 : static_cast<double>(slots - objects) / static_cast<double>(slots);
    }
};

/// Numbers of a world at rest.
struct WorldStats {
    std::vector<ClassStats> classes; ///< as in Schema::Layout
    std::uint64_t blocks = 0;        ///< in all
    std::uint64_t free_blocks = 0;   ///< of no class
    /// Over all classes.
    double fragmentation() const;
};

/// What World::defragment shall reach.
struct DefragmentOptions {
    /// The share of a class's slots in blocks that may stay empty, 0 to 1. 0: as few as can be.
    /// (CompactGpu's factor n is 1 / (n + 1) here.)
    double fragmentation = 1.0 / 3;
    /// How many objects may move at most, of each class; those of the emptiest blocks do first.
    /// What is left is for the next call.
    std::uint64_t objects = ~std::uint64_t{0};
};

/// What a defragmentation did.
struct Defragmentation {
    std::uint64_t objects = 0; ///< that moved
    std::uint64_t blocks = 0;  ///< that were freed
    double before = 0;         ///< the largest fragmentation of a class (ClassStats::fragmentation)
    double after = 0;          ///< the same behind it
    /// Milliseconds of each step on the device, by its name: fills, plan, sums, scan, sort, move,
    /// settle, forward, forward_root. Empty if the queue does not measure
    /// (CL_QUEUE_PROFILING_ENABLE).
    std::map<std::string, double> milliseconds;
};

/// What World::collect did.
struct WorldCollection {
    std::uint64_t kept = 0;    ///< objects that a root reaches
    std::uint64_t deleted = 0; ///< all others, which are gone
    unsigned rounds = 0;       ///< launches in which objects were visited, rounded up to 16
    unsigned repeats = 0;      ///< visits of all marked objects because a queue was full
};

/// Says, as long as it lives, that a buffer has references to objects of a World (World::root).
/// Move-only.
class [[nodiscard]] WorldRoot {
public:
    /// What was moved from says nothing.
    WorldRoot(WorldRoot &&) = default;
    /// The same; what this said before is no longer said.
    WorldRoot &operator=(WorldRoot &&) = default;

    /// Part of a buffer.
    struct Range {
        cl::Buffer buffer;   ///< of the program's own
        std::string cls;     ///< of the objects, or a base
        std::uint32_t begin; ///< the first reference, counted in references
        std::uint32_t count; ///< of them
    };

private:
    friend class World;
    explicit WorldRoot(std::shared_ptr<const Range> range) : range_(std::move(range)) {}
    std::shared_ptr<const Range> range_;
};

/// All objects of a class and its subclasses, copied to the host: columns of plain values. In no
/// order that means anything; row i of each column is of the same object.
class WorldSnapshot {
public:
    /// How many objects there are.
    std::size_t size() const noexcept { return references_.size(); }
    /// Their references, as fields of other objects have them.
    const std::vector<std::uint32_t> &references() const noexcept { return references_; }
    /// A field of each, `elements` values for each object where it is an array. T is what the
    /// field's type is on the host: cl_uint, float, cl_float4. Throws Error if there is no such
    /// field, or if sizeof(T) is not its size.
    template <class T> std::vector<T> column(const std::string &field) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::vector<std::byte> &bytes = raw(field, sizeof(T));
        std::vector<T> values(bytes.size() / sizeof(T));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// The row of an object; size() if the reference is to none of them.
    std::size_t row(std::uint32_t reference) const;

private:
    friend class World;
    struct Field {
        std::uint32_t bytes;
        std::vector<std::byte> data;
    };
    const std::vector<std::byte> &raw(const std::string &field, std::size_t bytes) const;

    std::string cls_;
    std::vector<std::uint32_t> references_; ///< of each class ascending
    std::vector<std::pair<std::uint32_t, std::size_t>> rows_; ///< by reference
    std::map<std::string, Field> fields_;
};

/// Owns the memory and the program; move-only. Calls are for one thread at a time; those that
/// return something wait for the device's queue, the others enqueue.
class World {
public:
    /// Builds the schema's text, the user's `units` and the do-alls' kernels as one program, and
    /// makes an empty world of `bytes` bytes, or of what 2^25 blocks need if that is less. Throws
    /// Error if there is no room for one block, or the device cannot have such a buffer; BuildError
    /// if the program does not compile.
    World(const Device &device, const Schema &schema, const std::vector<Source> &units,
          std::uint64_t bytes, const WorldOptions &options = {});

    /// What was moved from may only be destroyed or assigned to.
    World(World &&) = default;
    /// The same.
    World &operator=(World &&) = default;

    /// How many of a class there shall be.
    struct Demand {
        std::string cls;       ///< without its subclasses
        std::uint64_t objects; ///< that live at once
    };
    /// Bytes of a world in which all these can live at once, if blocks are full. Those that live
    /// long among others that come and go leave blocks half empty, and on a GPU each of some
    /// thousand warps may have a block of its own half full: ask for as many objects more.
    /// `build_options` are ProgramOptions::options. Throws Error if that are more than 2^25 blocks,
    /// 2^31 objects or fewer.
    static std::uint64_t bytes_for(const Device &device, const Schema &schema,
                                   const std::vector<Demand> &demands,
                                   const std::string &build_options = {});

    /// Creates `n` objects of class `cls`, up to 2^31, and calls `function(w, self, index,
    /// arguments…)` for each, index from 0 to n - 1. For want of memory some may not be created:
    /// error_count(ErrorCode::out_of_memory) counts them.
    template <class... Arguments>
    void parallel_new(const std::string &cls, std::uint32_t n, const std::string &function,
                      const Arguments &...arguments)
    {
        Prepared &prepared = prepare(cls, function, true, sizeof...(arguments), n);
        prepared.kernel.setArg(1, n);
        set_args(prepared.kernel, {function, prepared.launch->parameters, 2}, 2, arguments...);
        // two for a work-item: a warp of 32 fills a block of 64, so that loops and do-alls meet
        // full ones
        if (n != 0)
            launch(prepared.kernel, std::min(n - n / 2, items_), prepared.launch->options,
                   function);
    }

    /// Calls `function(w, self, arguments…)` for each object of class `cls`, and of its subclasses
    /// unless the schema says otherwise, that exists now. An object that is created meanwhile is
    /// not met. The function may delete its own object and objects of classes that the do-all is
    /// not for, but none of a class over which it loops; and two work-items may not delete the same
    /// object. Who hands a reference to another work-item of the same kernel does so by a release
    /// and an acquire. Arguments are what cl::Kernel::setArg takes, and heaps.
    template <class... Arguments>
    void parallel_do(const std::string &cls, const std::string &function,
                     const Arguments &...arguments)
    {
        Prepared &prepared = prepare(cls, function, false, sizeof...(arguments), 0);
        set_args(prepared.kernel, {function, prepared.launch->parameters, 1}, 1, arguments...);
        enumerate(cls, prepared.launch->options.subclasses);
        launch(prepared.kernel, items_, prepared.launch->options, function);
    }

    /// Objects of a class and its subclasses that live.
    std::uint64_t count(const std::string &cls) const;
    /// The world in numbers.
    WorldStats stats() const;
    /// Copies fields of a class and its subclasses; without `fields`, all that the class has.
    WorldSnapshot snapshot(const std::string &cls,
                           const std::vector<std::string> &fields = {}) const;
    /// Walks all that tells of blocks, and says of each invariant that is broken, in a sentence,
    /// which and where; of one kind the first ten. With `references`, also of references in fields
    /// and roots to what is no object of the class that they name. Empty: all is well.
    std::vector<std::string> check(bool references = false) const;

    /// Says that `buffer` has references, 32 bits each, to objects of class `cls` and its
    /// subclasses, from number `begin` on `count` of them, or all. As long as the result lives,
    /// what follows references follows these, too. Throws Error if the buffer has not so many, or
    /// there is no such class.
    WorldRoot root(const cl::Buffer &buffer, const std::string &cls, std::uint64_t begin = 0,
                   std::optional<std::uint64_t> count = std::nullopt);

    /// Moves objects of class `cls`, and of each of its subclasses, out of their emptiest blocks
    /// into free slots of the others, so that loops and do-alls read fewer slots without objects,
    /// and frees the blocks. Objects that move have other references: those in fields that name a
    /// class and in roots are rewritten; all others, in the host's variables or in fields of other
    /// types, are void. Waits for the queue. The first call builds a program and needs 8 bytes of
    /// device memory for each block, which the world keeps; without them it throws Error and leaves
    /// the world as it was.
    Defragmentation defragment(const std::string &cls, const DefragmentOptions &options = {});
    /// From now on some enumerations that find a class changed, before a do-all or a loop, first
    /// defragment it, to half of `fragmentation`, if a larger share of its slots in blocks than
    /// that is empty: the eighth, and at last each sixty-fourth. The device decides so by itself,
    /// and nothing waits. 1 and more: no longer. `classes`: only these and their subclasses; empty:
    /// all. Builds the program for it at once.
    void defragment_when(double fragmentation, const std::vector<std::string> &classes = {});
    /// Deletes every object to which no reference leads from a root (root()), directly or through
    /// fields that name a class of other objects, all in parallel on the device. References in
    /// fields of other types and in the host's variables are not followed. Waits for the queue.
    /// Needs device memory for the time: 8 bytes for each block, and `queue_bytes` for objects that
    /// are known and not visited yet, or without that one for each slot and 64 KiB at least; with
    /// less it may take longer, and never fails for that. Throws Error, and deletes nothing, if a
    /// reference leads to what is no object of the class that it names: check(true) tells of them.
    WorldCollection collect(std::uint64_t queue_bytes = 0);
    /// No objects any more; the log of errors is empty.
    void reset();

    /// How often an error happened.
    std::uint64_t error_count(ErrorCode code) const;
    /// The log of errors as text, empty if there were none.
    std::string error_text() const;
    /// Empties it.
    void clear_errors();

    /// Runs a kernel of the user's own in the program, kernel(global kma_world *w, arguments…),
    /// with at least `work_items`, rounded up to whole groups. Of `options`, subclasses means
    /// nothing.
    template <class... Arguments>
    void run(const std::string &kernel, std::uint64_t work_items, const DoAllOptions &options,
             const Arguments &...arguments)
    {
        cl::Kernel &own = this->own(kernel);
        set_args(own, {kernel, {}, 1}, 1, arguments...);
        launch(own, work_items, options, kernel);
    }

    /// For whoever launches kernels on the world by himself: makes it argument `index` of one.
    /// Before each launch of a kernel that loops over objects, enumerate() must be called; after
    /// each that creates or deletes, changed().
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, memory_); }
    /// Lists the objects of all classes of which that is not done since they changed.
    void enumerate();
    /// Any class may have other objects now.
    void changed();
    /// The program.
    const Program &program() const noexcept { return program_; }
    /// The memory.
    const cl::Buffer &buffer() const noexcept { return memory_; }
    /// What is in it.
    const Schema &schema() const noexcept { return schema_; }
    /// How they lie in blocks.
    const Schema::Layout &layout() const noexcept { return layout_; }
    /// How many blocks there are.
    std::uint32_t blocks() const noexcept { return blocks_; }

private:
    struct Prepared {
        const Schema::Launch *launch;
        cl::Kernel kernel;
    };
    Prepared &prepare(const std::string &cls, const std::string &function, bool is_new,
                      std::size_t arguments, std::uint32_t n);
    struct Called {
        std::string function, parameters;
        cl_uint own; ///< arguments in front of the caller's
    };
    static void set_args(cl::Kernel &, const Called &, cl_uint) {}
    template <class First, class... Rest>
    static void set_args(cl::Kernel &kernel, const Called &called, cl_uint index,
                         const First &first, const Rest &...rest)
    {
        try {
            if constexpr (std::is_same_v<First, Heap>)
                first.set_arg(kernel, index);
            else
                kernel.setArg(index, first);
        } catch (const cl::Error &error) {
            refuse_argument(called, index, error);
        }
        set_args(kernel, called, index + 1, rest...);
    }
    [[noreturn]] static void refuse_argument(const Called &called, cl_uint index,
                                             const cl::Error &error);
    void launch(cl::Kernel &kernel, std::uint64_t work_items, const DoAllOptions &options,
                const std::string &function);
    void enumerate(const std::string &cls, bool subclasses);
    void enumerate(std::uint32_t cls);
    std::vector<bool> may_change(const DoAllOptions &options) const;
    friend class Defragmenter;
    WorldReferences &references() const;
    cl::Kernel &visitor(const std::string &name) const;
    cl::Event visit(cl::Kernel &kernel, std::uint64_t groups, std::uint32_t group) const;
    std::vector<std::string> check_references() const;
    void watch(std::uint32_t cls);
    void enqueue(cl::Kernel &kernel, std::uint64_t work_items, cl::Event &event) const;
    void tell(const cl::Kernel &kernel, const cl::Event &event) const;
    void run_own(cl::Kernel &kernel, std::uint64_t work_items) const;
    void init();
    WorldStates states() const;

    Device device_;
    Schema schema_;
    WorldOptions options_;
    std::uint32_t slots_;
    Schema::Layout layout_;
    std::uint32_t blocks_; // before the program: a wrong size shall be told before that is built
    Program program_;
    std::uint32_t group_ = 0;
    std::uint32_t items_ = 0;
    cl::Buffer memory_;
    std::map<std::string, Prepared> prepared_;
    mutable std::map<std::string, cl::Kernel> own_;
    struct Enumeration {
        bool is_current = false;
        std::uint32_t turn = 0;
    };
    std::vector<Enumeration> enumerations_; ///< by class
    cl::Kernel &own(const std::string &name) const;
    mutable std::shared_ptr<WorldReferences> references_; ///< made by what first needs it
};

} // namespace kma
