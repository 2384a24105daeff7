// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/csv.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold {

namespace {

class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& where)
        : text_(text)
        , where_(where)
    {
    }

    Expected<std::vector<CsvRecord>> read()
    {
        begin();
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (quoted_)
                inside_quotes(c);
            else
                outside_quotes(c);
        }
        if (quoted_)
            return Problem{ProblemCode::bad_input, "a quote that opens here is never closed", "",
                where_ + ":" + std::to_string(quote_line_)};
        end();
        return std::move(records_);
    }

private:
    void begin()
    {
        record_ = {line_, {""}};
        touched_ = false;
    }
    void end()
    {
        end_field();
        for (std::string& field : record_.fields) {
            const std::size_t at = field.find_first_not_of('\'');
            if (at != 0 && at != std::string::npos
                && std::string_view("=@+-\t\r\n").find(field[at]) != std::string_view::npos)
                field.erase(0, 1);
        }
        if (touched_ || record_.fields.size() > 1)
            records_.push_back(std::move(record_));
        begin();
    }
    // Blanks beside a comma are no part of a cell, as in "tp, cp, pp"; quotes keep them.
    void end_field()
    {
        std::string& field = record_.fields.back();
        if (!field_quoted_) {
            field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
            field.erase(field.find_last_not_of(' ') + 1);
        }
        field_quoted_ = false;
    }
    void inside_quotes(char c)
    {
        if (c == '"' && at_ < text_.size() && text_[at_] == '"') {
            record_.fields.back() += '"';
            ++at_;
        } else if (c == '"') {
            quoted_ = false;
        } else {
            line_ += c == '\n' ? 1 : 0;
            record_.fields.back() += c;
        }
    }
    void outside_quotes(char c)
    {
        if (c == '"') {
            quoted_ = touched_ = field_quoted_ = true;
            quote_line_ = line_;
            std::string& field = record_.fields.back();
            if (field.find_first_not_of(' ') == std::string::npos)
                field.clear();
        } else if (c == ',') {
            end_field();
            record_.fields.emplace_back();
        } else if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') {
            return;
        } else if (c == '\n' || c == '\r') { // a CR alone: some spreadsheets on a Mac
            ++line_;
            end();
        } else {
            touched_ = true;
            record_.fields.back() += c;
        }
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0;
    int line_ = 1, quote_line_ = 1;
    bool quoted_ = false, touched_ = false, field_quoted_ = false;
    CsvRecord record_;
    std::vector<CsvRecord> records_;
};

} // namespace

Expected<std::vector<CsvRecord>> read_csv(std::string_view text, const std::string& where)
{
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    if (!is_utf8(text))
        return Problem{ProblemCode::bad_input, "this is not UTF-8 text, expected comma-separated values", "", where};
    FOURFOLD_TRY(std::vector<CsvRecord> records, CsvReader(text, where).read());
    // A spreadsheet in a language whose decimals have commas writes semicolons.
    for (const CsvRecord& record : records) {
        if (record.fields.front().starts_with('#'))
            continue;
        const bool semicolons = record.fields.front().find(';') != std::string::npos;
        if (record.fields.size() == 1 && (semicolons || record.fields.front().find('\t') != std::string::npos))
            return Problem{ProblemCode::bad_input,
                std::string(semicolons ? "semicolons" : "tabs") + " stand between the cells, expected commas",
                "save it with commas", where + ":" + std::to_string(record.line)};
        break;
    }
    return records;
}

} // namespace fourfold
