// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// What HAMi writes to nodes and pods.
const (
	annotationRegister   = "hami.io/node-nvidia-register"
	annotationHandshake  = "hami.io/node-handshake"
	annotationLock       = "hami.io/mutex.lock"
	annotationNode       = "hami.io/vgpu-node"
	annotationTime       = "hami.io/vgpu-time"
	annotationToAllocate = "hami.io/vgpu-devices-to-allocate"
	annotationAllocated  = "hami.io/vgpu-devices-allocated"
	annotationBindTime   = "hami.io/bind-time"
	annotationBindPhase  = "hami.io/bind-phase"
	annotationUseUUID    = "nvidia.com/use-gpuuuid"
	annotationAvoidUUID  = "nvidia.com/nouse-gpuuuid"
	annotationNodePolicy = "hami.io/node-scheduler-policy"
	annotationCardPolicy = "hami.io/gpu-scheduler-policy"
	deviceFamily         = "NVIDIA"
	phaseAllocating      = "allocating"
	phaseSuccess         = "success"
	phaseFailed          = "failed"
)

// What the scheduler says of a card or node that does not fit.
const (
	reasonMemory       = "CardInsufficientMemory"
	reasonCores        = "CardInsufficientCore"
	reasonSlices       = "CardTimeSlicingExhausted"
	reasonHealth       = "CardNotHealth"
	reasonUUID         = "CardUuidMismatch"
	reasonExclusive    = "ExclusiveDeviceAllocateConflict"
	reasonComputeUsed  = "CardComputeUnitsExhausted"
	reasonTooFewCards  = "NodeInsufficientDevice"
	reasonUnregistered = "node unregistered"
)

// card is one entry of the node's registration; Go leaves out what is zero, and so does HAMi.
type card struct {
	ID     string `json:"id,omitempty"`
	Index  uint   `json:"index,omitempty"`
	Count  int    `json:"count,omitempty"`
	Memory int    `json:"devmem,omitempty"`
	Cores  int    `json:"devcore,omitempty"`
	Type   string `json:"type,omitempty"`
	Numa   int    `json:"numa,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Health bool   `json:"health,omitempty"`
}

func encodeCards(cards []card) string {
	text, err := json.Marshal(cards)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func decodeCards(text string) ([]card, error) {
	var cards []card
	return cards, json.Unmarshal([]byte(text), &cards)
}

// share is a part of a card that one container has.
type share struct {
	uuid   string
	memory int
	cores  int
}

// encodeShares writes "uuid,NVIDIA,memory,cores:" for each card and ";" after each container.
func encodeShares(containers [][]share) string {
	var text strings.Builder
	for _, shares := range containers {
		for _, s := range shares {
			fmt.Fprintf(&text, "%s,%s,%d,%d:", s.uuid, deviceFamily, s.memory, s.cores)
		}
		text.WriteString(";")
	}
	return text.String()
}

func decodeShares(text string) [][]share {
	var containers [][]share
	parts := strings.Split(text, ";")
	for _, part := range parts[:len(parts)-1] {
		shares := []share{}
		for _, entry := range strings.Split(part, ":") {
			fields := strings.Split(entry, ",")
			if len(fields) < 4 {
				continue
			}
			memory, _ := strconv.Atoi(fields[2])
			cores, _ := strconv.Atoi(fields[3])
			shares = append(shares, share{fields[0], memory, cores})
		}
		containers = append(containers, shares)
	}
	return containers
}

// settings is what device-config.yaml says of NVIDIA's cards, and config.json of single nodes.
type settings struct {
	CountName      string  `json:"resourceCountName"`
	MemoryName     string  `json:"resourceMemoryName"`
	PercentageName string  `json:"resourceMemoryPercentageName"`
	CoresName      string  `json:"resourceCoreName"`
	SplitCount     int     `json:"deviceSplitCount"`
	MemoryScaling  float64 `json:"deviceMemoryScaling"`
	CoreScaling    float64 `json:"deviceCoreScaling"`
	RuntimeClass   string  `json:"runtimeClassName"`
	DefaultMemory  int     `json:"defaultMemory"`
	DefaultCores   int     `json:"defaultCores"`
	DefaultCards   int     `json:"defaultGPUNum"`
}

func readSettings(path string) (*settings, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := struct {
		Nvidia settings `json:"nvidia"`
	}{settings{
		CountName: "nvidia.com/gpu", MemoryName: "nvidia.com/gpumem", CoresName: "nvidia.com/gpucores",
		PercentageName: "nvidia.com/gpumem-percentage", SplitCount: 10, MemoryScaling: 1, CoreScaling: 1, DefaultCards: 1,
	}}
	if err := yaml.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &all.Nvidia, nil
}

type nodeOverride struct {
	Name          string   `json:"name"`
	Mode          string   `json:"operatingmode"`
	MemoryScaling *float64 `json:"devicememoryscaling"`
	CoreScaling   *float64 `json:"devicecorescaling"`
	SplitCount    *int     `json:"devicesplitcount"`
	MigStrategy   string   `json:"migstrategy"`
	Filter        *struct {
		UUID  []string `json:"uuid"`
		Index []uint   `json:"index"`
	} `json:"filterdevices"`
}

// override applies what config.json says of this node and returns it; a file that is absent says nothing.
func (s *settings) override(path, node string) (*nodeOverride, error) {
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all struct {
		Nodes []nodeOverride `json:"nodeconfig"`
	}
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, entry := range all.Nodes {
		if entry.Name != node {
			continue
		}
		if entry.MemoryScaling != nil && *entry.MemoryScaling > 0 {
			s.MemoryScaling = *entry.MemoryScaling
		}
		if entry.CoreScaling != nil && *entry.CoreScaling > 0 {
			s.CoreScaling = *entry.CoreScaling
		}
		if entry.SplitCount != nil && *entry.SplitCount > 0 {
			s.SplitCount = *entry.SplitCount
		}
		return &entry, nil
	}
	return nil, nil
}

// request is what one container asks for.
type request struct {
	cards, memory, percentage, cores int
}

func amount(container *corev1.Container, name string) (int, bool) {
	for _, list := range []corev1.ResourceList{container.Resources.Limits, container.Resources.Requests} {
		if quantity, ok := list[corev1.ResourceName(name)]; ok {
			return int(quantity.Value()), true
		}
	}
	return 0, false
}

func (s *settings) asksForCard(container *corev1.Container) bool {
	for _, name := range []string{s.CountName, s.MemoryName, s.PercentageName, s.CoresName} {
		if value, ok := amount(container, name); ok && value > 0 {
			return true
		}
	}
	return false
}

func (s *settings) request(container *corev1.Container) request {
	cards, _ := amount(container, s.CountName)
	memory, _ := amount(container, s.MemoryName)
	percentage, given := amount(container, s.PercentageName)
	cores, asked := amount(container, s.CoresName)
	if !asked {
		cores = s.DefaultCores
	}
	if memory == 0 && !given {
		memory = s.DefaultMemory
		if memory == 0 {
			percentage = 100
		}
	}
	return request{cards, memory, percentage, cores}
}

// usage is a card with what is taken of it.
type usage struct {
	card
	slices, memory, cores int
}

func use(cards []card, pods [][][]share) []*usage {
	found := make([]*usage, 0, len(cards))
	byID := map[string]*usage{}
	for _, c := range cards {
		u := &usage{card: c}
		found, byID[c.ID] = append(found, u), u
	}
	for _, containers := range pods {
		for _, shares := range containers {
			for _, s := range shares {
				if u := byID[s.uuid]; u != nil {
					u.take(s)
				}
			}
		}
	}
	return found
}

func (u *usage) take(s share) {
	u.slices++
	u.memory += s.memory
	u.cores += s.cores
}

// load is the part of a card that is taken, the larger the fuller.
func (u *usage) load() float64 {
	part := func(used, all int) float64 {
		if all == 0 {
			return 0
		}
		return float64(used) / float64(all)
	}
	return part(u.slices, u.Count) + part(u.memory, u.Memory) + part(u.cores, u.Cores)
}

func list(text string) map[string]bool {
	found := map[string]bool{}
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			found[item] = true
		}
	}
	return found
}

// fit gives the container its cards, or says why it cannot: "2/2 CardInsufficientMemory".
func fit(cards []*usage, wanted request, policy string, annotations map[string]string) ([]share, string) {
	if wanted.cards > len(cards) {
		return nil, reasonTooFewCards
	}
	order := append([]*usage(nil), cards...)
	sort.SliceStable(order, func(a, b int) bool {
		if policy == "binpack" {
			return order[a].load() > order[b].load()
		}
		return order[a].load() < order[b].load()
	})
	only, never := list(annotations[annotationUseUUID]), list(annotations[annotationAvoidUUID])
	reasons := map[string]int{}
	var shares []share
	var chosen []*usage
	for _, u := range order {
		if len(shares) == wanted.cards {
			break
		}
		memory := wanted.memory
		if memory == 0 {
			memory = u.Memory * wanted.percentage / 100
		}
		switch {
		case !u.Health:
			reasons[reasonHealth]++
		case len(only) > 0 && !only[u.ID] || never[u.ID]:
			reasons[reasonUUID]++
		case u.slices >= u.Count:
			reasons[reasonSlices]++
		case u.Memory-u.memory < memory:
			reasons[reasonMemory]++
		case u.Cores-u.cores < wanted.cores:
			reasons[reasonCores]++
		case wanted.cores == 100 && u.slices > 0:
			reasons[reasonExclusive]++
		case u.Cores != 0 && u.cores == u.Cores && wanted.cores == 0:
			reasons[reasonComputeUsed]++
		default:
			shares, chosen = append(shares, share{u.ID, memory, wanted.cores}), append(chosen, u)
		}
	}
	if len(shares) < wanted.cards {
		if len(shares) > 0 {
			reasons["AllocatedCardsInsufficientRequest"] = len(shares)
		}
		return nil, describe(reasons, len(cards))
	}
	for i, u := range chosen {
		u.take(shares[i])
	}
	return shares, ""
}

func describe(reasons map[string]int, total int) string {
	names := make([]string, 0, len(reasons))
	for name := range reasons {
		names = append(names, name)
	}
	sort.Strings(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d/%d %s", reasons[name], total, name))
	}
	return strings.Join(parts, ", ")
}

func scaled(value int, factor float64) int {
	return int(math.Round(float64(value) * factor))
}
