// Formats an error log as text.
#include "heap/common/error_log.hpp"

#include "support/say.hpp"

namespace kma {

std::vector<ErrorRecord> records_of(const layout::kma_error_log &log,
                                    const std::function<std::string(std::uint32_t)> &where)
{
    std::vector<ErrorRecord> records;
    for (std::uint32_t i = 0; i < KMA_ERROR_CODES * KMA_ERROR_KEPT; i++)
        if (const layout::kma_error_record &record = log.first[i]; record.written != 0)
            records.push_back({static_cast<ErrorCode>(i / KMA_ERROR_KEPT), record.work_item,
                               record.size, record.ref, where(record.site)});
    return records;
}

std::string error_text(std::span<const std::uint64_t> counts,
                       const std::vector<ErrorRecord> &records, const ErrorWords &words,
                       const std::string &between)
{
    std::string text;
    for (std::size_t code = 0; code < counts.size(); code++)
        if (counts[code] != 0)
            text += say(counts[code], " x ", words.explain(static_cast<ErrorCode>(code)), "\n");
    if (!text.empty())
        text += between;
    for (const ErrorRecord &record : records) {
        const std::string what = words.explain(record.code);
        const bool has_owner =
            record.code == ErrorCode::overrun || record.code == ErrorCode::write_after_free;
        text += say("  ", what.substr(0, what.find(':')),
                    has_owner ? ": taken by work-item " : ": work-item ", record.work_item);
        if (!record.where.empty())
            text += say(" at ", record.where);
        if (record.ref != 0)
            text += say(words.ref, record.ref);
        if (record.size != 0)
            text += say(words.size, record.size, words.size_unit);
        text += "\n";
    }
    return text;
}

} // namespace kma
