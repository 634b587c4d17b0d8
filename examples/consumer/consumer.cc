// The same as consumer.c in C++17: errors become exceptions, owners become unique pointers.
#include <acre/acre.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

void check(acre_status status, const acre_error &error) {
    if (status == ACRE_OK) {
        return;
    }
    std::string text(acre_error_format(&error, nullptr, 0), '\0');
    acre_error_format(&error, text.data(), text.size() + 1);
    throw std::runtime_error(std::string(acre_status_name(status)) + ": " + text);
}

struct destroy {
    void operator()(acre_storage *storage) const {
        acre_storage_destroy(storage);
    }
    void operator()(acre_manager *manager) const {
        acre_manager_destroy(manager);
    }
    // Allowed on any thread, and after the manager is gone.
    void operator()(acre_handle *handle) const {
        acre_handle_release(handle);
    }
};

using storage_ptr = std::unique_ptr<acre_storage, destroy>;
using manager_ptr = std::unique_ptr<acre_manager, destroy>;
using buffer_ptr = std::unique_ptr<acre_handle, destroy>;

storage_ptr open_device() {
    acre_error error = ACRE_ERROR_INIT;
    acre_simulated_storage_params device = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    device.total_memory = 8 * GiB;
    acre_storage *storage = nullptr;
    check(acre_storage_simulated_create(&device, nullptr, &storage, &error), error);
    return storage_ptr(storage);
}

manager_ptr open_manager(acre_storage *storage) {
    acre_error error = ACRE_ERROR_INIT;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.name = "consumer";
    options.largest_page = 1 * GiB;
    acre_manager *manager = nullptr;
    check(acre_manager_create(storage, &options, &manager, &error), error);
    return manager_ptr(manager);
}

buffer_ptr reserve(acre_manager *manager, std::uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = nullptr;
    check(acre_manager_reserve(manager, size, &handle, &error), error);
    return buffer_ptr(handle);
}

acre_resource resolve(acre_manager *manager, const acre_handle *handle) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    check(acre_manager_resolve(manager, handle, 0, 0, &resource, &error), error);
    return resource;
}

int run() {
    const storage_ptr storage = open_device();
    const manager_ptr manager = open_manager(storage.get());

    std::vector<buffer_ptr> buffers;
    for (const std::uint64_t size : std::array{std::uint64_t{100}, 3 * MiB, 48 * MiB}) {
        buffers.push_back(reserve(manager.get(), size));
        const acre_resource resource = resolve(manager.get(), buffers.back().get());
        std::printf("buffer %zu: %llu bytes, page %llu at %llu\n", buffers.size() - 1,
                    static_cast<unsigned long long>(resource.size),
                    static_cast<unsigned long long>(resource.as.simulated.page),
                    static_cast<unsigned long long>(resource.as.simulated.offset));
    }

    std::string text(acre_manager_report_write(manager.get(), ACRE_REPORT_TEXT, nullptr, 0), '\0');
    acre_manager_report_write(manager.get(), ACRE_REPORT_TEXT, text.data(), text.size() + 1);
    std::fputs(text.c_str(), stdout);

    buffers.clear();
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(manager.get(), &report);
    std::printf("acre %s: %llu bytes in use at the end\n", acre_version(),
                static_cast<unsigned long long>(report.usage.in_use));
    return report.usage.in_use == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main() {
    try {
        return run();
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "consumer: %s\n", problem.what());
        return EXIT_FAILURE;
    }
}
