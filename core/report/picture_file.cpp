// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/picture_file.h"

#include "core/base/json.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <cmath>
#include <memory>

namespace fourfold {
namespace {

constexpr double kPixelsPerPoint = 1.5; // PNG

struct DestroySurface {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, DestroySurface>;
struct DestroyContext {
    void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length)
{
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

Expected<void> checked(cairo_status_t status, const std::filesystem::path& file)
{
    if (status == CAIRO_STATUS_SUCCESS)
        return {};
    return Problem{ProblemCode::io, std::string("the picture cannot be drawn: ") + cairo_status_to_string(status), "",
        file.string()};
}

int pixels_of(double points)
{
    constexpr double kRounding = 1e-6; // of asked_size()
    return int(std::ceil(points * kPixelsPerPoint - kRounding));
}

Surface surface_of(const std::string& ending, const PictureSize& size, std::string& bytes)
{
    if (ending == ".png")
        return Surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels_of(size.width), pixels_of(size.height)));
    if (ending == ".pdf")
        return Surface(cairo_pdf_surface_create_for_stream(append, &bytes, size.width, size.height));
    Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, size.width, size.height));
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    return surface;
}

} // namespace

PictureSize asked_size(const PictureSize& asked, const std::filesystem::path& file)
{
    const double scale = file.extension() == ".png" ? kPixelsPerPoint : 1;
    return {asked.width / scale, asked.height / scale};
}

Expected<void> check_picture_file(const std::string& what, const std::filesystem::path& file)
{
    const std::string ending = file.extension().string();
    if (ending == ".svg" || ending == ".pdf" || ending == ".png")
        return {};
    return Problem{ProblemCode::bad_input, "cannot write " + what + " to a file ending in '" + ending + "'",
        "name a file that ends in .svg, .pdf or .png", file.string()};
}

Expected<void> write_picture(
    const PictureSize& size, const std::function<void(cairo_t*)>& paint, const std::filesystem::path& file)
{
    const std::string ending = file.extension().string();
    std::string bytes;
    const Surface surface = surface_of(ending, size, bytes);
    {
        const std::unique_ptr<cairo_t, DestroyContext> cairo(cairo_create(surface.get()));
        if (ending == ".png")
            cairo_scale(cairo.get(), kPixelsPerPoint, kPixelsPerPoint);
        paint(cairo.get());
        FOURFOLD_CHECK(checked(cairo_status(cairo.get()), file));
    }
    if (ending == ".png") {
        FOURFOLD_CHECK(checked(cairo_surface_write_to_png_stream(surface.get(), append, &bytes), file));
    } else {
        cairo_surface_finish(surface.get());
        FOURFOLD_CHECK(checked(cairo_surface_status(surface.get()), file));
    }
    return write_file_atomically(file, bytes);
}

} // namespace fourfold
