// Everything of libacre. Each header below stands alone; libacre-trace has acre/trace.h.
#ifndef ACRE_ACRE_H
#define ACRE_ACRE_H

#include <acre/base.h>
#include <acre/capture.h>
#include <acre/config.h>
#include <acre/devices.h>
#include <acre/dry_run.h>
#include <acre/event.h>
#include <acre/failure.h>
#include <acre/guard.h>
#include <acre/handle.h>
#include <acre/host.h>
#include <acre/layout.h>
#include <acre/manager.h>
#include <acre/relocation.h>
#include <acre/report.h>
#include <acre/status.h>
#include <acre/storage.h>
#include <acre/storage_cuda.h>
#include <acre/storage_host.h>
#include <acre/storage_opencl.h>
#include <acre/storage_simulated.h>
#include <acre/storage_vulkan.h>

#endif
