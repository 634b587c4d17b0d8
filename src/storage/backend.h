// What each back end of the library says of its devices: the parts that acre/devices.h is made of.
// Each follows acre_backend_devices and acre_backend_device, and gets an error that is never NULL.
#ifndef ACRE_STORAGE_BACKEND_H
#define ACRE_STORAGE_BACKEND_H

#include <acre/devices.h>

acre_status acre_cuda_devices(uint32_t *count, acre_error *error);
acre_status acre_cuda_device(uint32_t index, acre_device_info *info, acre_error *error);

acre_status acre_opencl_devices(uint32_t *count, acre_error *error);
acre_status acre_opencl_device(uint32_t index, acre_device_info *info, acre_error *error);

acre_status acre_vulkan_devices(uint32_t *count, acre_error *error);
acre_status acre_vulkan_device(uint32_t index, acre_device_info *info, acre_error *error);

// One device each, this machine or none at all.
acre_status acre_host_device(acre_device_info *info, acre_error *error);
acre_status acre_host_virtual_device(acre_device_info *info, acre_error *error);
acre_status acre_simulated_device(acre_device_info *info, acre_error *error);

#endif
