// Random damage to images and files of lively heaps: damage_flips ROUNDS SEED. Each kind of heap gets ROUNDS, in equal
// parts for its flavours; their files get a fiftieth of that. Prints what reproduces a failure.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <random>
#include <sanitizer/common_interface_defs.h>

#include "damage.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace {

using damage::Patch;
using damage::Patient;

// What was found once, by this test or by a fuzzer; in every flavour of the kind.
struct Regression {
    const char *what;
    kma::HeapKind kind;
    std::vector<Patch> patches;
};

// Words of a superblock heap.
constexpr std::uint32_t offer_of_4096 =
    (offsetof(kma::layout::kma_superblock, classes) + 27 * sizeof(kma::layout::kma_superblock_class)) / 4;

const std::vector<Regression> regressions = {
    {"a spent offer whose draws are about to run over into its superblock",
     kma::HeapKind::superblock,
     {{offer_of_4096, 0xffffffff, true}}},
};

// A file costs as much as some twenty heaps: one for so many of them.
constexpr std::uint64_t files_in = 50;

using Random = std::mt19937_64;

std::uint32_t below(Random &random, std::uint64_t limit)
{
    return static_cast<std::uint32_t>(random() % limit);
}

// One bit, several, a random word, or one that may lead somewhere.
Patch random_patch(Random &random, std::uint32_t words)
{
    const std::uint32_t word = below(random, words);
    const std::uint32_t way = below(random, 4), bit = 1u << below(random, 32);
    if (way < 2)
        return {word, way == 0 ? bit : bit | 1u << below(random, 32), false};
    const std::uint32_t near = below(random, 64);
    return {word, way == 2 ? static_cast<std::uint32_t>(random()) : below(random, 2) ? near : 0u - near, true};
}

// A single bit in half of the rounds, else up to 16 patches; mostly in the first `likely` words.
std::vector<Patch> random_patches(Random &random, std::uint32_t likely, std::uint32_t words)
{
    if (below(random, 2))
        return {{below(random, likely), 1u << below(random, 32), false}};
    std::vector<Patch> patches(1 + below(random, 16));
    for (Patch &patch : patches)
        patch = random_patch(random, below(random, 8) ? likely : words);
    return patches;
}

// The action under way, which is printed if a promise is broken, or a sanitizer ends the program.
const Patient *damaged = nullptr;
std::vector<Patch> done_to_it;

void print_what_was_done()
{
    if (!damaged)
        return;
    std::printf("%s, after\n", damaged->name().c_str());
    for (const Patch &patch : done_to_it)
        std::printf("    {%u, 0x%x, %s},\n", patch.word, patch.value, patch.sets ? "true" : "false");
    std::fflush(stdout);
}

// Whether all promises were kept.
template <class Action> bool keeps(const Patient &patient, const std::vector<Patch> &patches, Action action)
{
    damaged = &patient;
    done_to_it = patches;
    bool kept = true;
    try {
        action();
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        print_what_was_done();
        kept = false;
    }
    damaged = nullptr;
    return kept;
}

bool damage_one(Patient &patient, std::uint64_t rounds, std::uint64_t seed)
{
    Random random(seed);
    bool all_kept = true;
    std::uint64_t words = 0;
    for (std::uint64_t round = 0; round < rounds && all_kept; round++) {
        const auto patches = random_patches(random, patient.metadata_words(), patient.heap_words());
        words += patches.size();
        all_kept = keeps(patient, patches, [&] { patient.damage_heap(patches); });
    }
    const std::uint64_t found = patient.found;
    for (std::uint64_t round = 0; round < rounds / files_in && all_kept; round++) {
        const std::uint32_t head = 40; // the file's own
        auto patches = random_patches(random, below(random, 2) ? head : patient.metadata_words(), patient.file_words());
        const std::int64_t cut = below(random, 8) ? 0 : std::int64_t{below(random, 1 << 18)} - (1 << 10);
        all_kept = keeps(patient, patches, [&] { patient.damage_file(patches, cut); });
    }
    std::puts(kma::say(patient.name(), ": ", rounds, " times damaged, ", words, " words in all, ",
                       found, " found, ", patient.mended, " mended; of ", rounds / files_in,
                       " files ", patient.found - found, " refused")
                  .c_str());
    // Most bits of the metadata matter, and nearly all of a file.
    if (all_kept && (found < rounds / 4 || patient.mended < rounds / 8 ||
                     patient.found - found < rounds / files_in / 4)) {
        std::puts("  too little was found: the damage does not get where it should");
        all_kept = false;
    }
    return all_kept;
}

// Of a file: refs that lead out of the heap, to its metadata, to a block that lives.
bool damage_quarantine(Patient &patient)
{
    bool all_kept = true;
    for (const kma::Ref ref : {1u, 5u << 24, ~0u, patient.living()})
        if (const std::uint32_t word = patient.quarantine_word(1000); word != 0) {
            const std::vector<Patch> patches{{word, ref, true}};
            all_kept &= keeps(patient, patches, [&] { patient.damage_file(patches, 0); });
        }
    return all_kept;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fputs("usage: damage_flips ROUNDS SEED\n", stderr);
        return 2;
    }
    const std::uint64_t rounds = std::strtoull(argv[1], nullptr, 10), seed = std::strtoull(argv[2], nullptr, 10);
    __sanitizer_set_death_callback(print_what_was_done);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Patient> all = damage::patients();
    std::map<kma::HeapKind, std::uint64_t> flavours;
    for (const Patient &patient : all)
        flavours[patient.kind()]++;
    bool all_kept = true;
    for (Patient &patient : all) {
        for (const Regression &one : regressions)
            if (one.kind == patient.kind())
                all_kept &= keeps(patient, one.patches, [&] { patient.damage_heap(one.patches); });
        all_kept &= keeps(patient, {}, [&] { patient.damage_heap({}); });
        all_kept &= keeps(patient, {}, [&] { patient.damage_file({}, 0); });
        all_kept &= damage_quarantine(patient);
        all_kept &= damage_one(patient, rounds / flavours[patient.kind()], seed);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.1f s\n", seconds.count());
    return all_kept ? 0 : 1;
}
