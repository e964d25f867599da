// lists: each work-item makes and keeps ten objects of 4 or 8 bytes (Spliet, thesis 6.2.2): by a
// malloc for each, in an arena, and in an array list, by each way to grow it. Then work-items read
// their objects, to measure the effect of the list's order (thesis 5.3.2).
#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr cl_uint objects_each = 10; // BENCH_OBJECTS of lists.cl

class Lists {
public:
    Lists(Bench &bench, std::size_t work_items, cl_uint bytes)
        : bench_(bench), n_(work_items), bytes_(bytes),
          places_(bench.array("places", work_items * objects_each)),
          sums_(bench.array("sums", work_items))
    {
        bench_.progress("lists", in_words(parameters()));
    }

    /// Measures ten mallocs by each work-item.
    void by_malloc()
    {
        const kma::Heap &heap = fresh();
        begin();
        const Rounds rounds = bench_.measure([&] {
            const double ms = bench_.time("objects_by_malloc", n_, heap, places_, bytes_);
            look([&](const cl::Buffer &counts) {
                bench_.time("check_blocks", n_, heap, cl_ulong{bench_.heap_bytes()}, places_,
                            counts);
            });
            if (bench_.reuses())
                bench_.time("free_objects", n_, heap, places_);
            else
                bench_.heap().reset();
            return std::vector{ms};
        });
        add("malloc", rounds);
    }

    /// Measures the same in an arena, a new one for each round; `options` may reserve memory for
    /// all objects.
    void by_arena(const std::string &metric, const kma::ArenaOptions &options)
    {
        const kma::Heap &heap = fresh();
        begin();
        const Rounds rounds = bench_.measure([&] {
            const kma::Arena arena(heap, options);
            const double ms =
                bench_.time("objects_by_arena", n_, heap, arena.ref(), places_, bytes_);
            look([&](const cl::Buffer &counts) {
                bench_.time("check_blocks", n_, heap, cl_ulong{bench_.heap_bytes()}, places_,
                            counts);
            });
            if (bench_.reuses())
                arena.destroy();
            else
                fresh();
            return std::vector{ms};
        });
        add(metric, rounds);
    }

    /// The largest request that the heap serves; 0: all of it.
    std::uint64_t largest_request() const
    {
        const kma::HeapOptions options = bench_.heap().options();
        return std::max(options.superblock.bytes, options.scatter.region_bytes);
    }

    /// Measures an arena with memory for all objects from the start, if the heap has it in one
    /// piece.
    void by_arena_with_room()
    {
        const std::uint64_t room = n_ * objects_each * ((bytes_ + 15) / 16 * 16),
                            superblock = largest_request();
        if (superblock != 0 && room > superblock / 2)
            bench_.note("lists", "arena_with_room was left out: the heap has no room in one piece");
        else
            by_arena("arena_with_room", {.room = room});
    }

    /// Measures the same in a list that grows by `each` objects at a time.
    void by_list(const char *kernel, const std::string &metric, cl_uint each,
                 const kma::ArrayListOptions &options = {})
    {
        begin();
        const Rounds rounds =
            with_lists(options, [&](const kma::Heap &heap, const kma::ArrayList &list) {
                const double ms = bench_.time(kernel, n_, heap, list.ref(), places_, each);
                look_at(heap, list);
                return ms;
            });
        add(metric, rounds);
    }

    /// Measures grow_local with blocks of equal length, if a few of them fit into the heap.
    void in_blocks_of(cl_uint block_bytes, const std::string &metric)
    {
        const std::uint64_t superblock = largest_request();
        if (block_bytes > bench_.heap_bytes() / 64 ||
            (superblock != 0 && block_bytes > superblock / 2))
            bench_.note("lists", metric + " was left out: the blocks are too large for the heap");
        else
            by_list("objects_by_grow_local", metric, 1,
                    {.objects_per_block = block_bytes / bytes_});
    }

    /// Options that reserve memory for the objects of all work-items.
    kma::ArrayListOptions with_room() const
    {
        return {.room = static_cast<cl_uint>(n_) * objects_each};
    }

    /// Measures how work-items read the objects that they made by `kernel` in a list.
    void read(const char *kernel, const std::string &metric, cl_uint stride)
    {
        begin();
        const Rounds rounds =
            with_lists({}, [&](const kma::Heap &heap, const kma::ArrayList &list) {
                bench_.time(kernel, n_, heap, list.ref(), places_, objects_each);
                const double ms =
                    bench_.time("read_objects", n_, heap, list.ref(), places_, stride, sums_);
                look_at(heap, list);
                const std::vector<cl_uint> sums = bench_.read(sums_, n_);
                for (std::size_t me = 0; me < n_; me++) // objects me * 10 to me * 10 + 9
                    right_ = right_ && sums[me] == static_cast<cl_uint>(
                                                       me * objects_each * objects_each +
                                                       objects_each * (objects_each - 1) / 2);
                return ms;
            });
        add(metric, rounds);
    }

private:
    Parameters parameters() const { return {{"work_items", n_}, {"bytes", bytes_}}; }

    const kma::Heap &fresh()
    {
        bench_.heap().reset();
        return bench_.heap();
    }

    void begin()
    {
        nulls_ = 0;
        right_ = true;
    }

    // Measures rounds, each on a new list, and, if the heap reuses no memory, in a fresh heap.
    template <class Round>
    Rounds with_lists(const kma::ArrayListOptions &options, const Round &round)
    {
        const kma::Heap &heap = fresh();
        return bench_.measure([&] {
            const kma::ArrayList list(heap, bytes_, options);
            const double ms = round(heap, list);
            if (bench_.reuses())
                list.destroy();
            else
                fresh();
            return std::vector{ms};
        });
    }

    void look_at(const kma::Heap &heap, const kma::ArrayList &list)
    {
        look([&](const cl::Buffer &counts) {
            bench_.time("check_objects", n_, heap, list.ref(), places_, counts);
        });
        right_ = right_ && list.size() + bench_.counts().nulls == n_ * objects_each;
    }

    template <class Check> void look(const Check &check)
    {
        check(bench_.no_counts());
        const Counts seen = bench_.counts();
        nulls_ += seen.nulls;
        right_ = right_ && seen.wrong == 0 && seen.nulls < n_ * objects_each;
    }

    void add(const std::string &metric, const Rounds &rounds)
    {
        bench_.add({.suite = "lists",
                    .heap = {},
                    .parameters = parameters(),
                    .metric = metric,
                    .unit = "ms",
                    .figure = {},
                    .nulls = nulls_,
                    .verified = right_},
                   rounds);
    }

    Bench &bench_;
    std::size_t n_;
    cl_uint bytes_;
    cl::Buffer places_, sums_;
    std::uint64_t nulls_ = 0;
    bool right_ = true;
};

} // namespace

void lists(Bench &bench)
{
    for (const cl_uint bytes : {4u, 8u})
        for (std::size_t n = 1u << 8; n <= 1u << 17; n *= 2) {
            if ((bench.quick() && n != 1u << 14) ||
                !fits(bench, "lists", line_of(n * objects_each, {bytes}), bench.heap_bytes()))
                continue;
            Lists lists(bench, n, bytes);
            lists.by_malloc();
            lists.by_arena("arena", {});
            lists.by_arena_with_room();
            lists.by_list("objects_by_grow_local", "grow_local", 1);
            lists.by_list("objects_by_grow_local", "grow_local_with_room", 1, lists.with_room());
            lists.by_list("objects_by_grow_max", "grow_max", 1);
            if (n != 1u << 10 && n != 1u << 14 && n != 1u << 17)
                continue; // of the other sizes only these curves
            lists.by_list("objects_by_grow", "grow", 1);
            lists.by_list("objects_by_grow", "grow_with_room", 1, lists.with_room());
            lists.in_blocks_of(1 << 16, "grow_local_blocks_of_64_KiB");
            lists.in_blocks_of(1 << 20, "grow_local_blocks_of_1_MiB");
            lists.by_list("objects_by_grow_local", "grow_local_of_10", objects_each);
            lists.by_list("objects_by_grow_max", "grow_max_of_10", objects_each);
            lists.read("objects_by_grow_local", "read_side_by_side", 1);
            lists.read("objects_by_grow_max", "read_interleaved", work_group);
        }
    bench.heap().reset();
}

} // namespace bench
