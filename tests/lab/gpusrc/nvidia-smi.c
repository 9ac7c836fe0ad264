/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in for nvidia-smi with NVIDIA's output and exit codes: no arguments (the table), -L, -q, --query-gpu=,
 * --query-compute-apps=, --format=csv[,noheader][,nounits], -i, -pm, --version, -h.
 * It does not: loop (-l), change anything (MIG, clocks, limits, reset), write XML, know temperatures or power. */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <strings.h>
#include <time.h>
#include "state.h"

static struct lab_state state;
static int chosen[LAB_MAX_CARDS];

static const char UNREACHABLE[] =
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
    "driver is installed and running.\n";

static void end(int code, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vprintf(format, rest);
    va_end(rest);
    putchar('\n');
    exit(code);
}

static const char *long_bus(const struct lab_card *c) {
    static char text[40];
    snprintf(text, sizeof text, "%s%s", strlen(c->bus) == 12 ? "0000" : "", c->bus);
    for (char *p = text; *p; p++) *p = (char)toupper((unsigned char)*p);
    return text;
}

/* NVML's own version: the driver's without its last number. */
static const char *branch(void) {
    static char text[] = VERSION;
    char *second = strchr(text, '.');
    if (second && (second = strchr(second + 1, '.'))) *second = 0;
    return text;
}

static void lost(const struct lab_card *c) {
    end(15, "Unable to determine the device handle for GPU%u: %s: GPU is lost.  Reboot the system to recover this GPU",
        c->index, long_bus(c));
}

/* What NVIDIA's program says when NVML does not start, with the exit status that goes with it. */
static void fail(int code) {
    if (code == 9) end(9, "%s", UNREACHABLE);
    if (code == 18)
        end(18, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: %s", branch());
    if (code == 6) end(6, "No devices were found");
    if (code == 15) {
        struct lab_card none = {.bus = "0000:00:00.0"};
        lost(state.cards ? &state.card[0] : &none);
    }
    if (code == 4) end(4, "Failed to initialize NVML: Insufficient Permissions");
    if (code > 0 && code < 255) end(code, "Failed to initialize NVML: Error %d", code);
    end(255, "Failed to initialize NVML: Unknown Error");
}

/* The troubles that the node's file asks for. */
static void suffer(void) {
    if (!strcmp(state.smi, "slow")) sleep((unsigned)state.smi_number);
    if (!strcmp(state.smi, "stuck")) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
    }
    if (!strcmp(state.smi, "stuck") || !strcmp(state.smi, "hang"))
        for (;;) pause();
    if (!strcmp(state.smi, "exit")) {
        if (state.smi_text[0]) end(state.smi_number, "%s", state.smi_text);
        fail(state.smi_number);
    }
}

static void initialize(void) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*init)(void) = NULL;
    if (library) *(void **)&init = dlsym(library, "nvmlInit_v2");
    if (!init)
        end(12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
                "Display Driver is properly installed and present in your system.\nPlease also try adding directory "
                "that contains libnvidia-ml.so to your system PATH.");
    int r = init();
    if (r) fail(r);
    if (!state.cards) end(6, "No devices were found");
    for (unsigned i = 0; i < state.cards; i++)
        if (!strcmp(state.card[i].health, "lost")) lost(&state.card[i]);
}

static void choose(const char *ids) {
    char copy[1024], *save = NULL;
    memset(chosen, 0, sizeof chosen);
    snprintf(copy, sizeof copy, "%s", ids);
    for (char *id = strtok_r(copy, ",", &save); id; id = strtok_r(NULL, ",", &save)) {
        int found = 0;
        for (unsigned i = 0; i < state.cards; i++) {
            struct lab_card *c = &state.card[i];
            char index[16];
            snprintf(index, sizeof index, "%u", i);
            if (strcmp(id, index) && strcmp(id, c->uuid) && strcasecmp(id, c->bus) && strcasecmp(id, long_bus(c))) continue;
            chosen[i] = found = 1;
        }
        if (!found) end(6, "No devices were found");
    }
}

static const char *mig(const struct lab_card *c) { return c->mig < 0 ? "[N/A]" : c->mig ? "Enabled" : "Disabled"; }

/* One field of --query-gpu: its text, and its unit if it has one. Returns 0 for a field that is not known. */
static int gpu_field(const char *field, const struct lab_card *c, char *to, size_t size, const char **unit) {
    *unit = "";
    unsigned long long left = c->used < c->memory ? c->memory - c->used : 0;
    if (!strcmp(field, "index")) snprintf(to, size, "%u", c->index);
    else if (!strcmp(field, "uuid") || !strcmp(field, "gpu_uuid")) snprintf(to, size, "%s", c->uuid);
    else if (!strcmp(field, "name") || !strcmp(field, "gpu_name")) snprintf(to, size, "%s", c->name);
    else if (!strcmp(field, "count")) snprintf(to, size, "%u", state.cards);
    else if (!strcmp(field, "driver_version")) snprintf(to, size, "%s", state.loaded);
    else if (!strcmp(field, "pci.bus_id") || !strcmp(field, "gpu_bus_id")) snprintf(to, size, "%s", long_bus(c));
    else if (!strcmp(field, "pci.device_id")) snprintf(to, size, "0x%04X10DE", c->device);
    else if (!strcmp(field, "mig.mode.current") || !strcmp(field, "mig.mode.pending")) snprintf(to, size, "%s", mig(c));
    else if (!strcmp(field, "serial") || !strcmp(field, "gpu_serial")) snprintf(to, size, "16500000%05u", c->minor);
    else if (!strcmp(field, "persistence_mode")) snprintf(to, size, "Enabled");
    else if (!strcmp(field, "compute_mode")) snprintf(to, size, "Default");
    else if (!strcmp(field, "compute_cap")) snprintf(to, size, "8.0");
    else if (!strcmp(field, "vbios_version")) snprintf(to, size, "92.00.45.00.03");
    else if (!strcmp(field, "ecc.mode.current")) snprintf(to, size, "Enabled");
    else if (!strcmp(field, "temperature.gpu")) snprintf(to, size, "30");
    else if (!strcmp(field, "memory.total")) { snprintf(to, size, "%llu", c->memory); *unit = "MiB"; }
    else if (!strcmp(field, "memory.used")) { snprintf(to, size, "%llu", c->used); *unit = "MiB"; }
    else if (!strcmp(field, "memory.free")) { snprintf(to, size, "%llu", left); *unit = "MiB"; }
    else if (!strcmp(field, "utilization.gpu") || !strcmp(field, "utilization.memory")) {
        snprintf(to, size, "%d", c->used ? 50 : 0);
        *unit = "%";
    } else return 0;
    return 1;
}

static int app_field(const char *field, const struct lab_process *p, char *to, size_t size, const char **unit) {
    const struct lab_card *c = &state.card[p->card];
    *unit = "";
    if (!strcmp(field, "pid")) snprintf(to, size, "%d", p->pid);
    else if (!strcmp(field, "process_name") || !strcmp(field, "name")) snprintf(to, size, "%s", p->name);
    else if (!strcmp(field, "used_memory") || !strcmp(field, "used_gpu_memory")) {
        snprintf(to, size, "%llu", p->memory);
        *unit = "MiB";
    } else if (!strcmp(field, "gpu_uuid") || !strcmp(field, "gpu_name") || !strcmp(field, "gpu_bus_id") || !strcmp(field, "gpu_serial"))
        return gpu_field(field, c, to, size, unit);
    else return 0;
    return 1;
}

static int has(const char *options, const char *word) {
    size_t length = strlen(word);
    for (const char *at = options; (at = strstr(at, word)); at += length)
        if ((at == options || at[-1] == ',') && (at[length] == ',' || !at[length])) return 1;
    return 0;
}

static void row(const char *fields, const struct lab_card *c, const struct lab_process *p, int header, int units) {
    char copy[2048], text[512], *save = NULL;
    const char *unit, *gap = "";
    snprintf(copy, sizeof copy, "%s", fields);
    for (char *field = strtok_r(copy, ", ", &save); field; field = strtok_r(NULL, ", ", &save), gap = ", ") {
        int known = p ? app_field(field, p, text, sizeof text, &unit) : gpu_field(field, c, text, sizeof text, &unit);
        if (!known) end(2, "Field \"%s\" is not a valid field to query.\n", field);
        if (header) printf("%s%s%s%s%s", gap, field, *unit && units ? " [" : "", units ? unit : "", *unit && units ? "]" : "");
        else printf("%s%s%s%s", gap, text, *unit && units ? " " : "", units ? unit : "");
    }
    putchar('\n');
}

static void query(const char *fields, int apps, const char *format) {
    static const struct lab_process nothing;
    int units = !has(format, "nounits");
    if (!has(format, "csv")) end(2, "\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.\n");
    if (!has(format, "noheader")) row(fields, &state.card[0], apps ? &nothing : NULL, 1, units);
    for (unsigned i = 0; !apps && i < state.cards; i++)
        if (chosen[i]) row(fields, &state.card[i], NULL, 0, units);
    for (unsigned i = 0; apps && i < state.processes; i++)
        if (chosen[state.process[i].card]) row(fields, NULL, &state.process[i], 0, units);
}

static void list(void) {
    for (unsigned i = 0; i < state.cards; i++)
        if (chosen[i]) printf("GPU %u: %s (UUID: %s)\n", i, state.card[i].name, state.card[i].uuid);
}

static const char *now(char *to, size_t size) {
    time_t t = time(NULL);
    strftime(to, size, "%a %b %e %H:%M:%S %Y", localtime(&t));
    return to;
}

static void table(void) {
    char text[64], left[128], middle[128], cuda[16];
    snprintf(cuda, sizeof cuda, "%d.%d", CUDA / 1000, CUDA % 1000 / 10);
    printf("%s       \n", now(text, sizeof text));
    puts("+-----------------------------------------------------------------------------------------+");
    printf("| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |\n", VERSION, state.loaded, cuda);
    puts("+-----------------------------------------+------------------------+----------------------+");
    puts("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |");
    puts("| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |");
    puts("|                                         |                        |               MIG M. |");
    puts("|=========================================+========================+======================|");
    for (unsigned i = 0; i < state.cards; i++) {
        const struct lab_card *c = &state.card[i];
        if (!chosen[i]) continue;
        snprintf(left, sizeof left, "%3u  %-30.30s On ", i, c->name);
        printf("| %-39s |   %s Off | %20s |\n", left, long_bus(c), "0");
        snprintf(middle, sizeof middle, "%lluMiB / %6lluMiB", c->used, c->memory);
        printf("| N/A   30C    P0             50W /  400W | %22s | %6d%%      Default |\n", middle, c->used ? 50 : 0);
        printf("| %39s | %22s | %20s |\n", "", "", c->mig < 0 ? "N/A" : mig(c));
        puts("+-----------------------------------------+------------------------+----------------------+");
    }
    puts("\n+-----------------------------------------------------------------------------------------+");
    puts("| Processes:                                                                              |");
    puts("|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |");
    puts("|        ID   ID                                                               Usage      |");
    puts("|=========================================================================================|");
    for (unsigned i = 0; i < state.processes; i++) {
        const struct lab_process *p = &state.process[i];
        snprintf(middle, sizeof middle, "%lluMiB", p->memory);
        if (chosen[p->card])
            printf("|  %3u   N/A  N/A %16d      C   %-36.36s %10s |\n", p->card, p->pid, p->name, middle);
    }
    if (!state.processes) puts("|  No running processes found                                                             |");
    puts("+-----------------------------------------------------------------------------------------+");
}

static void details(void) {
    char text[64];
    printf("\n==============NVSMI LOG==============\n\n");
    printf("%-50s: %s\n", "Timestamp", now(text, sizeof text));
    printf("%-50s: %s\n", "Driver Version", state.loaded);
    printf("%-50s: %d.%d\n\n", "CUDA Version", CUDA / 1000, CUDA % 1000 / 10);
    printf("%-50s: %u\n", "Attached GPUs", state.cards);
    for (unsigned i = 0; i < state.cards; i++) {
        const struct lab_card *c = &state.card[i];
        if (!chosen[i]) continue;
        printf("GPU %s\n", long_bus(c));
        printf("    %-46s: %s\n", "Product Name", c->name);
        printf("    %-46s: %s\n", "Persistence Mode", "Enabled");
        printf("    %s\n        %-42s: %s\n        %-42s: %s\n", "MIG Mode", "Current", c->mig < 0 ? "N/A" : mig(c),
               "Pending", c->mig < 0 ? "N/A" : mig(c));
        printf("    %-46s: 16500000%05u\n", "Serial Number", c->minor);
        printf("    %-46s: %s\n", "GPU UUID", c->uuid);
        printf("    %-46s: %u\n", "Minor Number", c->minor);
        printf("    FB Memory Usage\n        %-42s: %llu MiB\n        %-42s: %llu MiB\n", "Total", c->memory, "Used", c->used);
    }
}

static const char *value_of(const char *argument, const char *name) {
    size_t length = strlen(name);
    return strncmp(argument, name, length) ? NULL : argument + length;
}

int main(int argc, char **argv) {
    const char *fields = NULL, *apps = NULL, *format = "", *ids = NULL, *value;
    int listed = 0, detailed = 0, persistence = 0, version = 0;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strcmp(a, "-L") || !strcmp(a, "--list-gpus")) listed = 1;
        else if (!strcmp(a, "-q") || !strcmp(a, "--query")) detailed = 1;
        else if (!strcmp(a, "--version")) version = 1;
        else if (!strcmp(a, "-h") || !strcmp(a, "--help")) end(0, "NVIDIA System Management Interface -- v%s", VERSION);
        else if ((value = value_of(a, "--query-gpu="))) fields = value;
        else if ((value = value_of(a, "--query-compute-apps="))) apps = value;
        else if ((value = value_of(a, "--format="))) format = value;
        else if ((value = value_of(a, "--id="))) ids = value;
        else if (!strcmp(a, "-i") && i + 1 < argc) ids = argv[++i];
        else if (!strcmp(a, "-pm") && i + 1 < argc) { persistence = 1; i++; }
        else end(2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
    }
    lab_load(&state);
    suffer();
    initialize();
    for (unsigned i = 0; i < state.cards; i++) chosen[i] = 1;
    if (ids) choose(ids);
    if (version)
        printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %d.%d\n",
               VERSION, branch(), state.loaded, CUDA / 1000, CUDA % 1000 / 10);
    else if (listed) list();
    else if (fields) query(fields, 0, format);
    else if (apps) query(apps, 1, format);
    else if (detailed) details();
    else if (persistence) {
        for (unsigned i = 0; i < state.cards; i++)
            if (chosen[i]) printf("Enabled persistence mode for GPU %s.\n", long_bus(&state.card[i]));
        puts("All done.");
    } else table();
    return 0;
}
