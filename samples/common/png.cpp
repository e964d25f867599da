// Writes PNG files by libpng's simplified interface.
#include "common/png.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <png.h>

#include "kma/error.hpp"

namespace samples {

void write_png(const std::filesystem::path &path, std::uint32_t width, std::uint32_t height,
               const std::vector<Colour> &pixels)
{
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = PNG_FORMAT_RGB;
    if (pixels.size() != std::size_t{width} * height ||
        png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
        throw kma::Error("the picture " + path.string() + " cannot be written: " +
                         (image.message[0] != 0 ? image.message : "wrong size"));
}

std::filesystem::path frame_path(const std::filesystem::path &folder, std::uint32_t step)
{
    char name[32];
    std::snprintf(name, sizeof name, "step-%05" PRIu32 ".png", step);
    return folder / name;
}

} // namespace samples
