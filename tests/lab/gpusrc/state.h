/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the stand-ins for NVIDIA's driver know: the cards and errors of the node's /etc/lab/gpu (docs/lab.md has its
 * keys) and the version of the "loaded" module. On a node they are read from there at every start of a program; in a
 * container from the copy that lies where the driver has its firmware, because NVIDIA's CDI specification mounts that. */
#ifndef LAB_GPU_STATE_H
#define LAB_GPU_STATE_H
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#error "compile with -DVERSION='\"580.95.05\"' and -DCUDA=13000"
#endif

#define LAB_SETTINGS "/etc/lab/gpu"
#define LAB_LOADED "/run/lab-gpu/loaded"
#define LAB_FIRMWARE "/lib/firmware/nvidia/" VERSION "/gsp_ga10x.bin"
#define LAB_MAX_CARDS 16
#define LAB_MAX_PROCESSES 64
#define LAB_INDEX_MISSING 99

struct lab_card {
    char bus[32], name[96], uuid[96], health[16];
    unsigned long long memory, used; /* MiB */
    unsigned minor, device, xid, index;
    int mig; /* -1 where the card has no MIG */
};

struct lab_process {
    int pid;
    unsigned card;
    unsigned long long memory; /* MiB */
    char name[256];
};

struct lab_state {
    char loaded[64], smi[16], smi_text[512];
    int smi_number, nvml;
    unsigned cards, processes;
    struct lab_card card[LAB_MAX_CARDS];
    struct lab_process process[LAB_MAX_PROCESSES];
};

static void lab_copy(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from);
}

static void lab_smi(struct lab_state *s, const char *value) {
    int used = 0;
    sscanf(value, "%15s %d %n", s->smi, &s->smi_number, &used);
    lab_copy(s->smi_text, sizeof s->smi_text, used ? value + used : "");
}

static void lab_card_setting(struct lab_card *c, const char *key, const char *value) {
    if (!strcmp(key, "bus")) lab_copy(c->bus, sizeof c->bus, value);
    else if (!strcmp(key, "name")) lab_copy(c->name, sizeof c->name, value);
    else if (!strcmp(key, "uuid")) lab_copy(c->uuid, sizeof c->uuid, value);
    else if (!strcmp(key, "health")) lab_copy(c->health, sizeof c->health, value);
    else if (!strcmp(key, "memory")) c->memory = strtoull(value, NULL, 10);
    else if (!strcmp(key, "minor")) c->minor = (unsigned)strtoul(value, NULL, 10);
    else if (!strcmp(key, "device")) c->device = (unsigned)strtoul(value, NULL, 16);
    else if (!strcmp(key, "xid")) c->xid = (unsigned)strtoul(value, NULL, 10);
    else if (!strcmp(key, "mig")) c->mig = !strcmp(value, "enabled") ? 1 : !strcmp(value, "disabled") ? 0 : -1;
}

static void lab_setting(struct lab_state *s, const char *key, const char *value) {
    unsigned index;
    char rest[32];
    if (!strcmp(key, "loaded")) lab_copy(s->loaded, sizeof s->loaded, value);
    else if (!strcmp(key, "smi")) lab_smi(s, value);
    else if (!strcmp(key, "nvml")) s->nvml = atoi(value);
    else if (sscanf(key, "card%u.%31s", &index, rest) == 2 && index < LAB_MAX_CARDS) {
        if (index >= s->cards) s->cards = index + 1;
        lab_card_setting(&s->card[index], rest, value);
    } else if (!strncmp(key, "process", 7) && s->processes < LAB_MAX_PROCESSES) {
        struct lab_process *p = &s->process[s->processes];
        if (sscanf(value, "%d %u %llu %255[^\n]", &p->pid, &p->card, &p->memory, p->name) == 4) s->processes++;
    }
}

static int lab_read(struct lab_state *s, const char *path) {
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) {
        char *key = line, *value = strchr(line, '='), *end;
        if (*key == '#' || !value) continue;
        *value++ = 0;
        for (end = value + strlen(value); end > value && isspace((unsigned char)end[-1]); *--end = 0) {}
        while (isspace((unsigned char)*value)) value++;
        for (end = key + strlen(key); end > key && isspace((unsigned char)end[-1]); *--end = 0) {}
        lab_setting(s, key, value);
    }
    fclose(f);
    return 1;
}

/* Only cards whose device node can be seen exist: a container sees those that it was given. */
static void lab_see(struct lab_state *s) {
    unsigned kept = 0, position[LAB_MAX_CARDS], i, k;
    for (i = 0; i < s->cards; i++) {
        char node[512];
        struct lab_card *c = &s->card[i];
        snprintf(node, sizeof node, "%s/nvidia%u", getenv("LAB_GPU_DEV") ? getenv("LAB_GPU_DEV") : "/dev", c->minor);
        position[i] = LAB_INDEX_MISSING;
        if (!c->uuid[0] || access(node, F_OK) != 0) continue;
        position[i] = kept;
        s->card[kept] = *c;
        s->card[kept].index = kept;
        kept++;
    }
    s->cards = kept;
    for (i = k = 0; i < s->processes; i++) {
        struct lab_process p = s->process[i];
        if (p.card >= LAB_MAX_CARDS || position[p.card] == LAB_INDEX_MISSING) continue;
        p.card = position[p.card];
        s->card[p.card].used += p.memory;
        s->process[k++] = p;
    }
    s->processes = k;
}

/* HAMi's library limits what a program sees of a card's memory; its stand-in leaves that to these lines. */
static void lab_limit(struct lab_state *s) {
    for (unsigned i = 0; i < s->cards && access("/etc/ld.so.preload", F_OK) == 0; i++) {
        char name[64];
        const char *value;
        snprintf(name, sizeof name, "CUDA_DEVICE_MEMORY_LIMIT_%u", i);
        value = getenv(name);
        if (!value) value = getenv("CUDA_DEVICE_MEMORY_LIMIT");
        if (value && atoll(value) > 0) s->card[i].memory = strtoull(value, NULL, 10);
    }
}

static void lab_load(struct lab_state *s) {
    const char *other = getenv("LAB_GPU");
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < LAB_MAX_CARDS; i++) s->card[i].mig = -1;
    if (other) lab_read(s, other);
    else if (lab_read(s, LAB_SETTINGS)) lab_read(s, LAB_LOADED);
    else lab_read(s, LAB_FIRMWARE);
    lab_see(s);
    lab_limit(s);
}
#endif
