// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/timeline_export.h"

#include "core/base/json.h"
#include "core/report/timeline_painter.h"

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
    return Problem{ProblemCode::io, std::string("the timeline cannot be drawn: ") + cairo_status_to_string(status), "",
        file.string()};
}

Expected<void> paint(cairo_surface_t* surface, double scale, const Timeline& timeline, const std::string& title,
    const std::filesystem::path& file)
{
    const std::unique_ptr<cairo_t, DestroyContext> cairo(cairo_create(surface));
    cairo_scale(cairo.get(), scale, scale);
    paint_timeline(cairo.get(), timeline, title);
    return checked(cairo_status(cairo.get()), file);
}

Expected<std::string> svg(const Timeline& timeline, const std::string& title, const std::filesystem::path& file)
{
    std::string bytes;
    const PictureSize size = timeline_picture_size(timeline);
    const Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, size.width, size.height));
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    FOURFOLD_CHECK(paint(surface.get(), 1, timeline, title, file));
    cairo_surface_finish(surface.get());
    FOURFOLD_CHECK(checked(cairo_surface_status(surface.get()), file));
    return bytes;
}

Expected<std::string> png(const Timeline& timeline, const std::string& title, const std::filesystem::path& file)
{
    std::string bytes;
    const PictureSize size = timeline_picture_size(timeline);
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(std::ceil(size.width * kPixelsPerPoint)),
        int(std::ceil(size.height * kPixelsPerPoint))));
    FOURFOLD_CHECK(paint(surface.get(), kPixelsPerPoint, timeline, title, file));
    FOURFOLD_CHECK(checked(cairo_surface_write_to_png_stream(surface.get(), append, &bytes), file));
    return bytes;
}

} // namespace

Expected<void> check_timeline_file(const std::filesystem::path& file)
{
    const std::string ending = file.extension().string();
    if (ending == ".json" || ending == ".svg" || ending == ".png")
        return {};
    return Problem{ProblemCode::bad_input, "cannot write a timeline to a file ending in '" + ending + "'",
        "name a file that ends in .json, .svg or .png", file.string()};
}

Expected<void> export_timeline(const Timeline& timeline, const std::string& title, const std::filesystem::path& file)
{
    FOURFOLD_CHECK(check_timeline_file(file));
    const std::string ending = file.extension().string();
    if (ending == ".json") {
        const Json trace = chrome_trace(timeline, title);
        return write_file_atomically(file, trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    if (ending == ".svg") {
        FOURFOLD_TRY(const std::string bytes, svg(timeline, title, file));
        return write_file_atomically(file, bytes);
    }
    FOURFOLD_TRY(const std::string bytes, png(timeline, title, file));
    return write_file_atomically(file, bytes);
}

} // namespace fourfold
