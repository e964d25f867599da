// Roots, and the check of references.
#include "objects/world_references.hpp"

#include <algorithm>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"
#include "objects/world_states.hpp"

namespace kma {

std::vector<std::shared_ptr<const WorldRoot::Range>> WorldReferences::living_roots()
{
    std::erase_if(roots, [](const auto &root) { return root.expired(); });
    std::vector<std::shared_ptr<const WorldRoot::Range>> living;
    for (const auto &root : roots)
        if (auto range = root.lock())
            living.push_back(std::move(range));
    return living;
}

WorldReferences &World::references() const
{
    if (!references_) {
        references_ = std::make_shared<WorldReferences>();
        references_->group = std::clamp<std::uint32_t>(group_ / 64 * 64, 64, KMA_DEFRAGMENT_ITEMS);
        references_->watches.resize(layout_.classes.size());
    }
    return *references_;
}

// A kernel of the program of Schema::visitors().
cl::Kernel &World::visitor(const std::string &name) const
{
    WorldReferences &all = references();
    if (!all.program)
        all.program.emplace(
            device_, std::vector<Source>{{"kma/(the schema's visitors)", schema_.visitors(slots_)}},
            options_.program);
    const auto known = all.kernels.find(name);
    if (known != all.kernels.end())
        return known->second;
    return all.kernels.emplace(name, all.program->kernel(name)).first->second;
}

// Enqueues a kernel with `groups` work-groups, or with as many as the device runs at once if those
// are fewer.
cl::Event World::visit(cl::Kernel &kernel, std::uint64_t groups, std::uint32_t group) const
{
    const std::uint32_t most = std::max(items_ / group, 1u);
    cl::Event event;
    enqueue(kernel, std::clamp<std::uint64_t>(groups, 1, most), group, &event);
    return event;
}

WorldRoot World::root(const cl::Buffer &buffer, const std::string &cls, std::uint64_t begin,
                      std::optional<std::uint64_t> count)
{
    schema_.range(cls);
    const std::uint64_t has = buffer.getInfo<CL_MEM_SIZE>() / sizeof(cl_uint),
                        most = std::min<std::uint64_t>(has, 0xffffffff);
    if (begin > most || count.value_or(0) > most - begin)
        throw Error(say("a root of ", count.value_or(0), " references from number ", begin,
                        " on: the buffer has ", has,
                        ", and 2^32 - 1 is the most; give a part of it"));
    const auto range = std::make_shared<const WorldRoot::Range>(
        WorldRoot::Range{buffer, cls, static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(count.value_or(most - begin))});
    references().roots.push_back(range);
    return WorldRoot(range);
}

std::vector<std::string> World::check_references() const
{
    Findings findings;
    const auto read = [&](cl::Kernel &kernel, std::uint64_t groups, const auto &tell) {
        layout::kma_dangling_log log{};
        const cl::Buffer buffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                sizeof log, &log);
        kernel.setArg(0, memory_);
        kernel.setArg(1, buffer);
        visit(kernel, groups, references().group);
        device_.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof log, &log);
        for (std::uint32_t i = 0; i < log.count.word; i++)
            tell(log.first[std::min(i, KMA_DANGLING_KEPT - 1)]);
    };
    const std::uint32_t group = references().group;
    const WorldStates now = states();
    read(visitor("kma_world_dangling_kernel"), std::uint64_t{blocks_} * 64 / group,
         [&](const layout::kma_dangling &found) {
             const Schema::Concrete &cls =
                 layout_
                     .classes[now.blocks[(found.holder >> KMA_WORLD_SLOT_SHIFT) - 1].type.word - 1];
             const Schema::Column &column = cls.columns[found.column];
             findings.add("references in fields", cls.name, ".", column.name,
                          column.is_array ? say("[", found.element, "]") : "", " of object ",
                          found.holder, " is ", found.reference, ", which is no object of class ",
                          column.target);
         });
    for (const auto &root : references().living_roots()) {
        const Schema::Range range = schema_.range(root->cls);
        cl::Kernel &kernel = visitor("kma_world_dangling_root_kernel");
        kernel.setArg(2, root->buffer);
        kernel.setArg(3, root->begin);
        kernel.setArg(4, root->count);
        kernel.setArg(5, range.first);
        kernel.setArg(6, range.last);
        read(kernel, (std::uint64_t{root->count} + group - 1) / group,
             [&](const layout::kma_dangling &found) {
                 findings.add("references in roots", "reference ", root->begin + found.element,
                              " of a root is ", found.reference, ", which is no object of class ",
                              root->cls);
             });
    }
    return findings.take();
}

} // namespace kma
