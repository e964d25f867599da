// Copies objects to the host: kernels gather each field into a dense column.
#include <algorithm>
#include <bit>

#include "kma/error.hpp"
#include "kma/world.hpp"
#include "support/say.hpp"
#include "objects/world_states.hpp"

namespace kma {
namespace {

std::string list_of(const std::vector<Schema::Column> &columns)
{
    std::string list;
    for (const Schema::Column &column : columns)
        list += " " + column.name;
    return list.empty() ? " none" : list;
}

} // namespace

std::size_t WorldSnapshot::row(std::uint32_t reference) const
{
    const auto found = std::ranges::lower_bound(rows_, reference, {},
                                                &std::pair<std::uint32_t, std::size_t>::first);
    return found != rows_.end() && found->first == reference ? found->second : size();
}

const std::vector<std::byte> &WorldSnapshot::raw(const std::string &field, std::size_t bytes) const
{
    const auto found = fields_.find(field);
    if (found == fields_.end())
        throw Error(say("the snapshot of class ", cls_, " has no field ", field,
                        "; name it among those that World::snapshot copies"));
    if (found->second.bytes != bytes)
        throw Error(say("field ", field, " of class ", cls_, " has values of ", found->second.bytes,
                        " bytes, and was read as if they had ", bytes));
    return found->second.data;
}

WorldSnapshot World::snapshot(const std::string &cls, const std::vector<std::string> &fields) const
{
    const Schema::Range range = schema_.range(cls);
    const WorldStates now = states();
    WorldSnapshot made;
    made.cls_ = cls;
    const std::vector<Schema::Column> columns = schema_.columns(cls);
    std::vector<std::string> names = fields;
    for (const Schema::Column &column : columns)
        if (fields.empty())
            names.push_back(column.name);
    for (const std::string &name : names) {
        const auto column = std::ranges::find(columns, name, &Schema::Column::name);
        if (column == columns.end())
            throw Error(say("class ", cls, " has no field ", name, "; it has:", list_of(columns)));
        made.fields_[name].bytes = column->bytes;
    }
    cl::Kernel &kernel = own("kma_world_column_kernel");
    for (std::uint32_t i = range.first; i <= range.last; i++) {
        const Schema::Concrete &concrete = layout_.classes[i];
        std::vector<cl_uint2> places;
        const std::size_t first = made.references_.size();
        for (std::uint32_t block = 0; block < blocks_; block++) {
            if (now.blocks[block].type.word != i + 1)
                continue;
            places.push_back({{block, static_cast<cl_uint>(made.references_.size() - first)}});
            for (std::uint64_t left = now.objects(block, concrete.objects); left != 0;
                 left &= left - 1)
                made.references_.push_back((block + 1) << KMA_WORLD_SLOT_SHIFT |
                                           static_cast<std::uint32_t>(std::countr_zero(left)));
        }
        const std::size_t rows = made.references_.size() - first;
        if (rows == 0)
            continue;
        const cl::Buffer of(device_.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                            sizeof places[0] * places.size(), places.data());
        for (auto &[name, field] : made.fields_) {
            const Schema::Column &column =
                *std::ranges::find(concrete.columns, name, &Schema::Column::name);
            const std::size_t bytes = rows * column.elements * column.bytes,
                              before = field.data.size();
            const cl::Buffer dense(device_.context(), CL_MEM_WRITE_ONLY, bytes);
            kernel.setArg(1, i);
            kernel.setArg(2, column.begin);
            kernel.setArg(3, column.bytes);
            kernel.setArg(4, column.elements);
            kernel.setArg(5, of);
            kernel.setArg(6, static_cast<cl_uint>(places.size()));
            kernel.setArg(7, dense);
            run_own(kernel, std::uint64_t{concrete.objects} * places.size());
            field.data.resize(before + bytes);
            device_.queue().enqueueReadBuffer(dense, CL_TRUE, 0, bytes, field.data.data() + before);
        }
    }
    for (std::size_t row = 0; row < made.references_.size(); row++)
        made.rows_.emplace_back(made.references_[row], row);
    std::ranges::sort(made.rows_);
    return made;
}

} // namespace kma
