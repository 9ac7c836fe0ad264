/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in for libnvidia-ml.so.1, for programs that ask NVML about cards on a machine without one.
 * It does not: run CUDA, divide cards by MIG (it only tells the mode), know NVLink, clocks, power, temperature or ECC.
 * Functions that are not here are in unsupported.c and answer NVML_ERROR_NOT_SUPPORTED. */
#include <strings.h>
#include "state.h"

typedef int ret;
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, NOT_LOADED = 9,
       TIMED_OUT = 10, LOST = 15, MISMATCH = 18 };
typedef struct lab_card card;

static struct lab_state state;
static int users;
static unsigned told; /* cards whose Xid has been told */

static ret start(void) {
    lab_load(&state);
    if (!state.loaded[0]) return NOT_LOADED;
    if (strcmp(state.loaded, VERSION) != 0) return MISMATCH;
    return state.nvml;
}

ret nvmlInit_v2(void) {
    ret r = users ? OK : start();
    if (r == OK) users++;
    return r;
}
ret nvmlInit(void) { return nvmlInit_v2(); }
ret nvmlInitWithFlags(unsigned flags) { (void)flags; return nvmlInit_v2(); }
ret nvmlShutdown(void) {
    if (!users) return UNINITIALIZED;
    users--;
    return OK;
}

const char *nvmlErrorString(ret r) {
    switch (r) {
    case OK: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID: return "Invalid Argument";
    case UNSUPPORTED: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case TOO_SMALL: return "Insufficient Size";
    case NOT_LOADED: return "Driver Not Loaded";
    case TIMED_OUT: return "Timeout";
    case 12: return "Shared Library Not Found";
    case 13: return "Function Not Found";
    case LOST: return "GPU is lost";
    case MISMATCH: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

static ret put(char *to, unsigned size, const char *from) {
    if (strlen(from) >= size) return TOO_SMALL;
    strcpy(to, from);
    return OK;
}
ret nvmlSystemGetDriverVersion(char *to, unsigned size) { return put(to, size, state.loaded); }
ret nvmlSystemGetNVMLVersion(char *to, unsigned size) { return put(to, size, VERSION); }
ret nvmlSystemGetCudaDriverVersion(int *v) { *v = CUDA; return OK; }
ret nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = CUDA; return OK; }
ret nvmlSystemGetProcessName(unsigned pid, char *to, unsigned size) {
    for (unsigned i = 0; i < state.processes; i++)
        if (state.process[i].pid == (int)pid) return put(to, size, state.process[i].name);
    return NOT_FOUND;
}

ret nvmlDeviceGetCount_v2(unsigned *n) { *n = state.cards; return users ? OK : UNINITIALIZED; }
ret nvmlDeviceGetCount(unsigned *n) { return nvmlDeviceGetCount_v2(n); }
static ret hand(card *c, card **h) {
    *h = c;
    return strcmp(c->health, "lost") == 0 ? LOST : OK;
}
ret nvmlDeviceGetHandleByIndex_v2(unsigned i, card **h) {
    if (!users) return UNINITIALIZED;
    return i < state.cards ? hand(&state.card[i], h) : INVALID;
}
ret nvmlDeviceGetHandleByIndex(unsigned i, card **h) { return nvmlDeviceGetHandleByIndex_v2(i, h); }
ret nvmlDeviceGetHandleByUUID(const char *uuid, card **h) {
    for (unsigned i = 0; i < state.cards; i++)
        if (!strcmp(uuid, state.card[i].uuid)) return hand(&state.card[i], h);
    return NOT_FOUND;
}
/* The address is 0000:07:00.0 for the kernel and 00000000:07:00.0 for NVML. */
static const char *long_bus(const card *c, char *to, size_t size) {
    snprintf(to, size, "%s%s", strlen(c->bus) == 12 ? "0000" : "", c->bus);
    for (char *p = to; *p; p++) *p = (char)toupper((unsigned char)*p);
    return to;
}
ret nvmlDeviceGetHandleByPciBusId_v2(const char *bus, card **h) {
    char full[40];
    for (unsigned i = 0; i < state.cards; i++) {
        card *c = &state.card[i];
        if (!strcasecmp(bus, c->bus) || !strcasecmp(bus, long_bus(c, full, sizeof full))) return hand(c, h);
    }
    return NOT_FOUND;
}
ret nvmlDeviceGetHandleByPciBusId(const char *bus, card **h) { return nvmlDeviceGetHandleByPciBusId_v2(bus, h); }
ret nvmlDeviceGetUUID(card *c, char *to, unsigned size) { return put(to, size, c->uuid); }
ret nvmlDeviceGetName(card *c, char *to, unsigned size) { return put(to, size, c->name); }
ret nvmlDeviceGetSerial(card *c, char *to, unsigned size) {
    char text[16];
    snprintf(text, sizeof text, "16500000%05u", c->minor);
    return put(to, size, text);
}
ret nvmlDeviceGetVbiosVersion(card *c, char *to, unsigned size) { (void)c; return put(to, size, "92.00.45.00.03"); }
ret nvmlDeviceGetIndex(card *c, unsigned *i) { *i = c->index; return OK; }
ret nvmlDeviceGetMinorNumber(card *c, unsigned *m) { *m = c->minor; return OK; }
ret nvmlDeviceGetBrand(card *c, int *b) { (void)c; *b = 2; return OK; }
ret nvmlDeviceGetArchitecture(card *c, unsigned *a) { (void)c; *a = 7; return OK; }
ret nvmlDeviceGetCudaComputeCapability(card *c, int *major, int *minor) { (void)c; *major = 8; *minor = 0; return OK; }
ret nvmlDeviceGetPersistenceMode(card *c, int *on) { (void)c; *on = 1; return OK; }
ret nvmlDeviceGetComputeMode(card *c, int *mode) { (void)c; *mode = 0; return OK; }
ret nvmlDeviceGetNumGpuCores(card *c, unsigned *n) { (void)c; *n = 6912; return OK; }
ret nvmlDeviceGetNumaNodeId(card *c, unsigned *node) { (void)c; *node = 0; return OK; }

struct memory { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };
static unsigned long long bytes(unsigned long long mib) { return mib << 20; }
static unsigned long long left(const card *c) { return c->used < c->memory ? c->memory - c->used : 0; }
ret nvmlDeviceGetMemoryInfo(card *c, struct memory *m) {
    m->total = bytes(c->memory); m->free = bytes(left(c)); m->used = bytes(c->used);
    return OK;
}
ret nvmlDeviceGetMemoryInfo_v2(card *c, struct memory_v2 *m) {
    m->total = bytes(c->memory); m->free = bytes(left(c)); m->used = bytes(c->used); m->reserved = 0;
    return OK;
}
struct utilization { unsigned gpu, memory; };
ret nvmlDeviceGetUtilizationRates(card *c, struct utilization *u) { u->gpu = u->memory = c->used ? 50 : 0; return OK; }

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
ret nvmlDeviceGetPciInfo_v3(card *c, struct pci *p) {
    char full[40];
    memset(p, 0, sizeof *p);
    sscanf(c->bus, "%x:%x:%x", &p->domain, &p->bus, &p->device);
    p->id = c->device << 16 | 0x10de;
    snprintf(p->bus_id, sizeof p->bus_id, "%s", long_bus(c, full, sizeof full));
    snprintf(p->legacy, sizeof p->legacy, "%04X:%02X:%02X.0", p->domain & 0xffff, p->bus & 0xff, p->device & 0xff);
    return OK;
}
ret nvmlDeviceGetPciInfo_v2(card *c, struct pci *p) { return nvmlDeviceGetPciInfo_v3(c, p); }
ret nvmlDeviceGetPciInfo(card *c, struct pci *p) { return nvmlDeviceGetPciInfo_v3(c, p); }

ret nvmlDeviceGetMigMode(card *c, unsigned *current, unsigned *pending) {
    if (c->mig < 0) return UNSUPPORTED;
    *current = *pending = (unsigned)c->mig;
    return OK;
}
ret nvmlDeviceIsMigDeviceHandle(card *c, unsigned *yes) { (void)c; *yes = 0; return OK; }
ret nvmlDeviceGetMaxMigDeviceCount(card *c, unsigned *n) { *n = c->mig > 0 ? 7 : 0; return OK; }
ret nvmlDeviceGetMigDeviceHandleByIndex(card *c, unsigned i, card **h) { (void)c; (void)i; (void)h; return NOT_FOUND; }

struct process { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };
struct process_v1 { unsigned pid; unsigned long long used; };
static ret running(card *c, unsigned *n, void *to, int old) {
    unsigned found = 0;
    for (unsigned i = 0; i < state.processes; i++) {
        const struct lab_process *p = &state.process[i];
        if (p->card != c->index) continue;
        if (found < *n && to && old) ((struct process_v1 *)to)[found] = (struct process_v1){(unsigned)p->pid, bytes(p->memory)};
        if (found < *n && to && !old) ((struct process *)to)[found] = (struct process){(unsigned)p->pid, bytes(p->memory), ~0u, ~0u};
        found++;
    }
    ret r = found > *n ? TOO_SMALL : OK;
    *n = found;
    return r;
}
ret nvmlDeviceGetComputeRunningProcesses_v3(card *c, unsigned *n, void *to) { return running(c, n, to, 0); }
ret nvmlDeviceGetComputeRunningProcesses_v2(card *c, unsigned *n, void *to) { return running(c, n, to, 0); }
ret nvmlDeviceGetComputeRunningProcesses(card *c, unsigned *n, void *to) { return running(c, n, to, 1); }
ret nvmlDeviceGetGraphicsRunningProcesses_v3(card *c, unsigned *n, void *to) { (void)c; (void)to; *n = 0; return OK; }
ret nvmlDeviceGetGraphicsRunningProcesses_v2(card *c, unsigned *n, void *to) { (void)c; (void)to; *n = 0; return OK; }
ret nvmlDeviceGetGraphicsRunningProcesses(card *c, unsigned *n, void *to) { (void)c; (void)to; *n = 0; return OK; }

/* Events: a card whose xid is set in the file has one critical error, told once. */
struct event { card *device; unsigned long long type, data; unsigned gpu_instance, compute_instance; };
ret nvmlDeviceGetSupportedEventTypes(card *c, unsigned long long *types) { (void)c; *types = 0x1f; return OK; }
ret nvmlDeviceRegisterEvents(card *c, unsigned long long types, void *set) { (void)c; (void)types; (void)set; return OK; }
ret nvmlEventSetCreate(void **set) { static int one; *set = &one; return OK; }
ret nvmlEventSetFree(void *set) { (void)set; return OK; }
ret nvmlEventSetWait_v2(void *set, struct event *e, unsigned milliseconds) {
    (void)set;
    for (unsigned waited = 0;; waited += 500) {
        struct lab_state now;
        lab_load(&now);
        for (unsigned i = 0; i < now.cards && i < state.cards; i++) {
            if (!now.card[i].xid) told &= ~(1u << i);
            if (!now.card[i].xid || told & 1u << i) continue;
            told |= 1u << i;
            *e = (struct event){&state.card[i], 8, now.card[i].xid, ~0u, ~0u};
            return OK;
        }
        if (waited >= milliseconds) return TIMED_OUT;
        usleep(500 * 1000);
    }
}
ret nvmlEventSetWait(void *set, struct event *e, unsigned milliseconds) { return nvmlEventSetWait_v2(set, e, milliseconds); }

ret nvmlDeviceGetTopologyCommonAncestor(card *a, card *b, int *level) { (void)a; (void)b; *level = 50; return OK; }
