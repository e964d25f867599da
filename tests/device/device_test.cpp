// Choosing a device, and using one that the caller has.
#include <algorithm>
#include <cctype>

#include "device/internals.hpp"
#include "catch.hpp"
#include "environment.hpp"
#include "kma/kma.hpp"

namespace {

std::string upper(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

} // namespace

TEST_CASE("a device is selected by part of its name, in any case, and by \":n\" the n-th match", "[device]")
{
    REQUIRE_FALSE(kma::Device::list().empty());
    const std::string name = kma::Device::select().name();
    CHECK(name.find(" / ") != std::string::npos); // which joins both parts of every name
    for (const std::string &wanted : {name, upper(name), name.substr(1, name.size() - 2), name + ":0"})
        CHECK(kma::Device::select(wanted).name() == name);
    const std::size_t devices = kma::Device::list().size();
    for (std::size_t i = 0; i < devices; i++)
        CHECK(kma::Device::select(" / :" + std::to_string(i)).device() == kma::Device::list()[i]);
    CHECK_THAT(message_of<kma::Error>([&] { kma::Device::select(" / :" + std::to_string(devices)); }),
               contains("no OpenCL device matches") && contains(std::to_string(devices) + " contain the text"));
    for (const std::string wanted : {"no such device", "no:such:1", "none:", "none:1x"})
        CHECK_THAT(message_of<kma::Error>([&] { kma::Device::select(wanted); }),
                   contains("\"" + wanted + "\"") && contains(name)); // of those that there are
}

TEST_CASE("KMA_DEVICE selects where the program does not", "[device]")
{
    const std::string name = kma::Device::select().name();
    {
        const EnvironmentVariable variable("KMA_DEVICE", "no such device");
        CHECK_THAT(message_of<kma::Error>([] { kma::Device::select(); }), contains("\"no such device\""));
        CHECK(kma::Device::select(name).name() == name);
    }
    const EnvironmentVariable variable("KMA_DEVICE", name);
    CHECK(kma::Device::select().name() == name);
}

TEST_CASE("KMA_CL_STD replaces the language that kma would choose", "[device]")
{
    const kma::Device device = kma::Device::select();
    const EnvironmentVariable variable("KMA_CL_STD", "CL1.2");
    CHECK(device.language_option() == "-cl-std=CL1.2");
    const EnvironmentVariable none("KMA_CL_STD", "");
    CHECK_THAT(device.language_option(), contains("-cl-std=CL"));
}

TEST_CASE("a caller's queue brings its device and context", "[device]")
{
    const kma::Device selected = kma::Device::select();
    const cl::Context context(selected.device());
    const cl::CommandQueue queue(context, selected.device());
    const kma::Device device{queue};
    CHECK(device.context() == context);
    CHECK(device.queue() == queue);
    CHECK(device.device() == selected.device());
    CHECK(device.name() == selected.name());
    CHECK(device.max_buffer_bytes() > 0);
    CHECK_FALSE(&kma::DeviceInternals::cache(device) == &kma::DeviceInternals::cache(selected));
    const kma::Heap heap(device, 65536);
    CHECK(heap.stats().used == 0);
}

TEST_CASE("copies of a device share its queue and programs", "[device]")
{
    const kma::Device device = kma::Device::select();
    const kma::Device copy = device;
    CHECK(copy.queue() == device.queue());
    CHECK(&kma::DeviceInternals::cache(copy) == &kma::DeviceInternals::cache(device));
}

TEST_CASE("an out-of-order queue is refused", "[device]")
{
    const kma::Device selected = kma::Device::select();
    const auto possible = selected.device().getInfo<CL_DEVICE_QUEUE_ON_HOST_PROPERTIES>();
    if (!(possible & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        SUCCEED("the device has none");
        return;
    }
    const cl::CommandQueue queue(selected.context(), selected.device(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    CHECK_THAT(message_of<kma::Error>([&] { kma::Device{queue}; }), contains("in-order"));
}
