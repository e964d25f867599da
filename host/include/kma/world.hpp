// An object store on a device: objects of a schema's classes, and do-alls over them
// (cl/kma/objects).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
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

/// What a World's enqueuing call waits for, and the event of its kernel; as the last two arguments
/// of CLHPP's enqueue functions. Both may be missing.
struct Enqueue {
    const std::vector<cl::Event> *events = nullptr; ///< must have ended before it begins
    cl::Event *event = nullptr;                     ///< ends with its last kernel
};

struct WorldStates;
struct WorldReferences;

/// How a World is made.
struct WorldOptions {
    /// How the program is built; `heap` is the kind of kma_malloc, if the program includes
    /// kma/kma.cl.
    ProgramOptions program = {};
    /// Work-items of a work-group; 0: a default for the device. Above 256 kernels may need more
    /// registers than the device has.
    std::uint32_t work_group = 0;
    /// Work-items of a do-all, rounded up to whole groups; 0: as many as the device runs at once.
    std::uint32_t work_items = 0;
    /// Called with the name and event of each kernel that the world launches, for profiling.
    std::function<void(const std::string &kernel, const cl::Event &event)> launched = {};
};

/// Statistics of one class, without its subclasses.
struct ClassStats {
    std::string name;          ///< name of the class
    std::uint64_t objects = 0; ///< living objects
    std::uint64_t slots = 0;   ///< slots of its blocks
    std::uint64_t blocks = 0;  ///< its blocks
    std::uint64_t active = 0;  ///< its blocks with free slots
    /// (slots - objects) / slots; 0 without blocks (DynaSOAr, section 7.3).
    double fragmentation() const
    {
        return slots == 0 ? 0 : static_cast<double>(slots - objects) / static_cast<double>(slots);
    }
};

/// Statistics of a world at rest.
struct WorldStats {
    std::vector<ClassStats> classes; ///< in the order of Schema::Layout
    std::uint64_t blocks = 0;        ///< blocks of the world
    std::uint64_t free_blocks = 0;   ///< blocks of no class
    /// The fragmentation of all classes together.
    double fragmentation() const;
};

/// The goal of World::defragment.
struct DefragmentOptions {
    /// The share of a class's slots that may stay empty, 0 to 1; 0: as few as possible.
    /// CompactGpu's factor n corresponds to 1 / (n + 1).
    double fragmentation = 1.0 / 3;
    /// The most objects of each class to move, those of the emptiest blocks first. The next call
    /// continues.
    std::uint64_t objects = ~std::uint64_t{0};
};

/// The result of World::defragment.
struct Defragmentation {
    std::uint64_t objects = 0; ///< objects moved
    std::uint64_t blocks = 0;  ///< blocks freed
    double before = 0; ///< the largest fragmentation of a class before (ClassStats::fragmentation)
    double after = 0;          ///< the same, after
    /// Milliseconds of each step on the device, by name: fills, plan, sums, scan, sort, move,
    /// settle, forward, forward_root. Empty if the queue has no CL_QUEUE_PROFILING_ENABLE.
    std::map<std::string, double> milliseconds;
};

/// The result of World::collect.
struct WorldCollection {
    std::uint64_t kept = 0;    ///< reachable objects
    std::uint64_t deleted = 0; ///< unreachable objects, which were deleted
    unsigned rounds = 0;       ///< launches in which objects were visited, rounded up to 16
    unsigned repeats = 0;      ///< visits of all marked objects because a queue was full
};

/// Registers, for its lifetime, that a buffer has references to objects of a World (World::root).
/// Move-only.
class [[nodiscard]] WorldRoot {
public:
    /// The moved-from object registers nothing.
    WorldRoot(WorldRoot &&) = default;
    /// As the move constructor. Ends the registration that was here.
    WorldRoot &operator=(WorldRoot &&) = default;

    /// Part of a buffer.
    struct Range {
        cl::Buffer buffer;   ///< the user's buffer
        std::string cls;     ///< class of the objects, or a base of it
        std::uint32_t begin; ///< index of the first reference
        std::uint32_t count; ///< number of references
    };

private:
    friend class World;
    explicit WorldRoot(std::shared_ptr<const Range> range) : range_(std::move(range)) {}
    std::shared_ptr<const Range> range_;
};

/// A copy of all objects of a class and its subclasses on the host, as columns of values. Row i of
/// each column belongs to the same object; the order of rows is unspecified.
class WorldSnapshot {
public:
    /// Number of objects.
    std::size_t size() const noexcept { return references_.size(); }
    /// References to the objects, by row.
    const std::vector<std::uint32_t> &references() const noexcept { return references_; }
    /// The values of a field by row, `elements` values for each object if it is an array. T is the
    /// field's type on the host, such as cl_uint, float, cl_float4. Throws Error if there is no
    /// such field, or if sizeof(T) is not its size.
    template <class T> std::vector<T> column(const std::string &field) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::vector<std::byte> &bytes = raw(field, sizeof(T));
        std::vector<T> values(bytes.size() / sizeof(T));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// The row of an object; size() if it is not in the snapshot.
    std::size_t row(std::uint32_t reference) const;

private:
    friend class World;
    struct Field {
        std::uint32_t bytes;
        std::vector<std::byte> data;
    };
    const std::vector<std::byte> &raw(const std::string &field, std::size_t bytes) const;

    std::string cls_;
    std::vector<std::uint32_t> references_; ///< ascending within each class
    std::vector<std::pair<std::uint32_t, std::size_t>> rows_; ///< by reference
    std::map<std::string, Field> fields_;
};

/// An object store on a device. Owns the memory and the program; move-only. One thread at a time
/// may call its functions. Functions with a result wait for the device's queue, the others enqueue.
class World {
public:
    /// Builds the schema's text, the user's `units` and the do-alls' kernels as one program, and
    /// makes an empty world of `bytes` bytes, or of 2^25 blocks if these need less. Throws Error if
    /// one block does not fit or the device cannot allocate such a buffer; BuildError if the
    /// program does not compile.
    World(const Device &device, const Schema &schema, const std::vector<Source> &units,
          std::uint64_t bytes, const WorldOptions &options = {});

    /// The moved-from world may only be destroyed or assigned to.
    World(World &&) = default;
    /// As the move constructor.
    World &operator=(World &&) = default;

    /// Number of objects of a class, for bytes_for().
    struct Demand {
        std::string cls;       ///< the class, without its subclasses
        std::uint64_t objects; ///< objects that live at the same time
    };
    /// Bytes of a world in which all these objects can live at once, if blocks are full. Demand
    /// more objects if blocks become sparse: if long-lived objects are mixed with short-lived ones,
    /// or on a GPU, where each of some thousand warps may have a half-full block of its own.
    /// `build_options` are ProgramOptions::options. Throws Error if these need more than 2^25
    /// blocks, which hold at most 2^31 objects.
    static std::uint64_t bytes_for(const Device &device, const Schema &schema,
                                   const std::vector<Demand> &demands,
                                   const std::string &build_options = {});

    /// Creates `n` objects of class `cls`, up to 2^31, and calls `function(w, self, index,
    /// arguments…)` for each, with index 0 to n - 1. error_count(ErrorCode::out_of_memory) counts
    /// objects that could not be created for lack of memory.
    template <class... Arguments>
    void parallel_new(const std::string &cls, std::uint32_t n, const std::string &function,
                      const Arguments &...arguments)
    {
        parallel_new(Enqueue{}, cls, n, function, arguments...);
    }
    /// The same with a wait list and an event.
    template <class... Arguments>
    void parallel_new(const Enqueue &how, const std::string &cls, std::uint32_t n,
                      const std::string &function, const Arguments &...arguments)
    {
        Prepared &prepared = prepare(cls, function, true, sizeof...(arguments), n);
        wait_for(how);
        prepared.kernel.setArg(1, n);
        set_args(prepared.kernel, {function, prepared.launch->parameters, 2}, 2, arguments...);
        // Two objects for each work-item: a warp of 32 fills a block of 64 slots.
        if (n != 0)
            launch(how, prepared.kernel, std::min(n - n / 2, items_), prepared.effects, function);
        else
            device_.queue().enqueueMarkerWithWaitList(nullptr, how.event);
    }

    /// Calls `function(w, self, arguments…)` for each object of class `cls`, and of its subclasses
    /// unless the schema says otherwise, that exists when the do-all begins. Arguments are those of
    /// cl::Kernel::setArg, and heaps.
    ///
    /// The function may delete its own object, and objects of classes that the do-all does not
    /// visit, but no object of a class over which it loops. Two work-items must not delete the same
    /// object. Passing a reference to another work-item of the same kernel needs a release store
    /// and an acquire load.
    template <class... Arguments>
    void parallel_do(const std::string &cls, const std::string &function,
                     const Arguments &...arguments)
    {
        parallel_do(Enqueue{}, cls, function, arguments...);
    }
    /// The same with a wait list and an event.
    template <class... Arguments>
    void parallel_do(const Enqueue &how, const std::string &cls, const std::string &function,
                     const Arguments &...arguments)
    {
        Prepared &prepared = prepare(cls, function, false, sizeof...(arguments), 0);
        wait_for(how);
        set_args(prepared.kernel, {function, prepared.launch->parameters, 1}, 1, arguments...);
        enumerate(prepared.objects);
        launch(how, prepared.kernel, items_, prepared.effects, function);
    }

    /// Number of living objects of a class and its subclasses.
    std::uint64_t count(const std::string &cls) const;
    /// The world's statistics.
    WorldStats stats() const;
    /// Copies fields of a class and its subclasses; all fields of the class if `fields` is empty.
    WorldSnapshot snapshot(const std::string &cls,
                           const std::vector<std::string> &fields = {}) const;
    /// Checks all metadata of blocks. Returns one sentence for each broken invariant, the first ten
    /// of each kind; empty if there are none. With `references`, also checks that references in
    /// fields and roots refer to living objects of their class.
    std::vector<std::string> check(bool references = false) const;

    /// Registers `count` references of 32 bits in `buffer`, from index `begin` on, or all, to
    /// objects of class `cls` and its subclasses. For the lifetime of the result, defragment(),
    /// collect() and check() include them. Throws Error if the buffer has fewer, or if there is no
    /// such class.
    WorldRoot root(const cl::Buffer &buffer, const std::string &cls, std::uint64_t begin = 0,
                   std::optional<std::uint64_t> count = std::nullopt);

    /// Moves objects of class `cls`, and of each of its subclasses, out of their emptiest blocks
    /// into free slots of the other blocks, and frees the emptied blocks. Do-alls and loops then
    /// read fewer empty slots. Waits for the queue.
    ///
    /// References to moved objects change. Those in roots and in fields with a class as type are
    /// rewritten; those in the host's variables or in fields of other types become invalid. The
    /// first call builds a program and takes 8 bytes of device memory for each block, which the
    /// world keeps; without them it throws Error and leaves the world unchanged.
    Defragmentation defragment(const std::string &cls, const DefragmentOptions &options = {});
    /// Defragments classes automatically: `classes` and their subclasses, or all if empty. A class
    /// with more than `fragmentation` is defragmented to half of it, before a do-all or loop that
    /// finds the class changed. The eighth such enumeration is checked, later every 64th. The
    /// device decides by itself, without a wait. 1 or more: switches it off. Builds the program at
    /// once.
    void defragment_when(double fragmentation, const std::vector<std::string> &classes = {});
    /// Deletes every object that is not reachable from a root (root()) through fields with a class
    /// as type, in parallel on the device. References in fields of other types and in the host's
    /// variables are not followed. Waits for the queue. Throws Error and deletes nothing if a
    /// reference does not refer to an object of its class; check(true) lists these.
    ///
    /// Temporarily needs 8 bytes of device memory for each block, and `queue_bytes` for the queue
    /// of objects to visit; 0: one byte for each slot, at least 64 KiB. With a small queue it may
    /// take longer, but does not fail.
    WorldCollection collect(std::uint64_t queue_bytes = 0);
    /// Deletes all objects and clears the error log.
    void reset();

    /// Number of errors of this code.
    std::uint64_t error_count(ErrorCode code) const;
    /// The error log as text; empty if there are none.
    std::string error_text() const;
    /// Clears the error log.
    void clear_errors();

    /// Runs the user's kernel `kernel(global kma_world *w, arguments…)` with at least `work_items`
    /// work-items, rounded up to whole groups. `options.subclasses` is ignored.
    template <class... Arguments>
    void run(const std::string &kernel, std::uint64_t work_items, const DoAllOptions &options,
             const Arguments &...arguments)
    {
        run(Enqueue{}, kernel, work_items, options, arguments...);
    }
    /// The same with a wait list and an event.
    template <class... Arguments>
    void run(const Enqueue &how, const std::string &kernel, std::uint64_t work_items,
             const DoAllOptions &options, const Arguments &...arguments)
    {
        cl::Kernel &own = this->own(kernel);
        wait_for(how);
        set_args(own, {kernel, {}, 1}, 1, arguments...);
        launch(how, own, work_items, effects_of(options), kernel);
    }

    /// Makes the world argument `index` of `kernel`, for programs that launch it themselves.
    /// enumerate() must be called before each launch of a kernel that loops over objects, and
    /// changed() after each that creates or deletes objects.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, memory_); }
    /// Lists the objects of all classes that changed since they were last listed.
    void enumerate();
    /// Marks all classes as changed.
    void changed();
    /// The built program.
    const Program &program() const noexcept { return program_; }
    /// The world's buffer.
    const cl::Buffer &buffer() const noexcept { return memory_; }
    /// The schema.
    const Schema &schema() const noexcept { return schema_; }
    /// The layout of the classes in blocks.
    const Schema::Layout &layout() const noexcept { return layout_; }
    /// Number of blocks.
    std::uint32_t blocks() const noexcept { return blocks_; }

private:
    /// What a kernel may do, by DoAllOptions.
    struct Effects {
        bool are_declared = false;        ///< the options name the classes that change
        std::vector<bool> changes;        ///< by class number
        bool loops_anywhere = false;      ///< the options do not name the classes of its loops
        std::vector<Schema::Range> loops; ///< those that they name
    };
    /// What stays the same in all calls of a do-all or parallel_new.
    struct Prepared {
        const Schema::Launch *launch;
        cl::Kernel kernel;
        Schema::Range objects; ///< classes whose objects a do-all visits
        Effects effects;
    };
    Prepared &prepare(const std::string &cls, const std::string &function, bool is_new,
                      std::size_t arguments, std::uint32_t n);
    struct Called {
        std::string_view function, parameters;
        cl_uint own; ///< arguments before the caller's
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
    void wait_for(const Enqueue &how) const;
    void launch(const Enqueue &how, cl::Kernel &kernel, std::uint64_t work_items,
                const Effects &effects, const std::string &function);
    void enumerate(Schema::Range classes);
    Effects effects_of(const DoAllOptions &options) const;
    friend class Defragmenter;
    WorldReferences &references() const;
    cl::Kernel &visitor(const std::string &name) const;
    cl::Event visit(cl::Kernel &kernel, std::uint64_t groups, std::uint32_t group) const;
    std::vector<std::string> check_references() const;
    void watch(std::uint32_t cls);
    void enqueue(cl::Kernel &kernel, std::uint64_t groups, std::uint32_t group,
                 cl::Event *event = nullptr) const;
    std::uint64_t groups_for(std::uint64_t work_items) const;
    void run_own(cl::Kernel &kernel, std::uint64_t work_items) const;
    void init();
    WorldStates states() const;

    Device device_;
    Schema schema_;
    WorldOptions options_;
    std::uint32_t slots_;
    Schema::Layout layout_;
    std::uint32_t blocks_; // before program_: a wrong size throws before the program is built
    Program program_;
    std::uint32_t group_ = 0;
    std::uint32_t items_ = 0;
    cl::Buffer memory_;
    /// by class, function, and whether it is a parallel_new
    std::map<std::tuple<std::string, std::string, bool>, Prepared, std::less<>> prepared_;
    mutable std::map<std::string, cl::Kernel> own_;
    struct Enumeration {
        bool is_current = false;
        std::uint32_t turn = 0;
    };
    std::vector<Enumeration> enumerations_; ///< by class number
    cl::Kernel &own(const std::string &name) const;
    /// made by the first function that needs it
    mutable std::shared_ptr<WorldReferences> references_;
};

} // namespace kma
