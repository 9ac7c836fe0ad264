// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

// A stand-in for HAMi's device plugin 2.10.0. It advertises nvidia.com/gpu, registers the cards in the node's annotation
// and gives containers HAMi's environment.
//
// It asks nvidia-smi for the cards, and NVML by a small program of its own for their errors (gpu-events.c).
//
// It does not: limit anything (there is no libvgpu.so, nothing is mounted and /etc/ld.so.preload stays as it is), know
// MIG, NUMA, CDI or other strategies than envvar, serve metrics.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	pluginSocket  = "nvidia-gpu.sock"
	lookInterval  = 5 * time.Second
	smiLimit      = 20 * time.Second
	noCardMessage = "Incompatible strategy detected auto\n" +
		"If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n" +
		"You can check the prerequisites at: https://github.com/NVIDIA/k8s-device-plugin#prerequisites\n" +
		"You can learn how to set the runtime at: https://github.com/NVIDIA/k8s-device-plugin#quick-start\n" +
		"If this is not a GPU node, you should set up a toleration or nodeSelector to only deploy this plugin on GPU nodes"
)

type plugin struct {
	pluginapi.UnimplementedDevicePluginServer

	api      kubernetes.Interface
	node     string
	hook     string
	settings *settings
	override *nodeOverride

	mutex   sync.Mutex
	cards   []card
	broken  map[string]bool
	changed chan struct{}
}

func runPlugin(ctx context.Context, o *options) error {
	config, err := readSettings(o.get("config-file", "/device-config.yaml"))
	if err != nil {
		return err
	}
	p := &plugin{
		node:     environment("NODE_NAME", ""),
		hook:     environment("HOOK_PATH", "/usr/local"),
		settings: config,
		broken:   map[string]bool{},
		changed:  make(chan struct{}),
	}
	if p.override, err = config.override("/config/config.json", p.node); err != nil {
		return err
	}
	if p.api, err = client(); err != nil {
		return err
	}
	if p.cards, err = p.look(ctx); err != nil {
		log.Printf("Failed to initialize NVML: %v", err)
		log.Print(noCardMessage)
		return errors.New("error starting plugins: unable to create plugin manager: nothing to do: " +
			"incompatible strategy detected auto")
	}
	go p.watch(ctx)
	go p.hear(ctx)
	folder := filepath.Dir(pluginapi.KubeletSocket)
	for ctx.Err() == nil {
		if err := p.serve(ctx, folder); err != nil {
			log.Printf("%v; trying again", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// look asks nvidia-smi for the cards; one that it does not show healthy is in the list with health false.
func (p *plugin) look(ctx context.Context) ([]card, error) {
	limited, stop := context.WithTimeout(ctx, smiLimit)
	defer stop()
	fields := "index,uuid,name,memory.total"
	command := exec.CommandContext(limited, "nvidia-smi", "--query-gpu="+fields, "--format=csv,noheader,nounits")
	command.WaitDelay = time.Second
	output, err := command.Output()
	found := p.readCards(string(output))
	if len(found) > 0 {
		return found, nil
	}
	if err == nil {
		err = errors.New("nvidia-smi shows no card")
	}
	return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(output)))
}

func (p *plugin) readCards(output string) []card {
	var found []card
	for _, line := range strings.Split(output, "\n") {
		fields := strings.Split(line, ",")
		if len(fields) != 4 {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		index, err := strconv.Atoi(fields[0])
		if err != nil || !strings.HasPrefix(fields[1], "GPU-") || p.filtered(uint(index), fields[1]) {
			continue
		}
		memory, err := strconv.Atoi(fields[3])
		model := fields[2]
		if !strings.Contains(model, deviceFamily) {
			model = deviceFamily + "-" + model
		}
		found = append(found, card{
			ID:     fields[1],
			Index:  uint(index),
			Count:  p.settings.SplitCount,
			Memory: scaled(memory, p.settings.MemoryScaling),
			Cores:  scaled(100, p.settings.CoreScaling),
			Type:   model,
			Mode:   "hami-core",
			Health: err == nil,
		})
	}
	return found
}

func (p *plugin) filtered(index uint, uuid string) bool {
	if p.override == nil || p.override.Filter == nil {
		return false
	}
	for _, hidden := range p.override.Filter.UUID {
		if hidden == uuid {
			return true
		}
	}
	for _, hidden := range p.override.Filter.Index {
		if hidden == index {
			return true
		}
	}
	return false
}

// watch keeps the cards' health and the node's annotation up to date.
func (p *plugin) watch(ctx context.Context) {
	for {
		if err := p.register(ctx); err != nil {
			log.Printf("cannot register the cards: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookInterval):
		}
		p.update(p.look(ctx))
	}
}

// update takes the new state of the cards; a card that was there and is not shown any more counts as unhealthy.
func (p *plugin) update(found []card, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err != nil {
		log.Printf("error waiting for event: %v; marking all devices as unhealthy", err)
	}
	now := map[string]card{}
	for _, c := range found {
		now[c.ID] = c
	}
	different := false
	for i, old := range p.cards {
		healthy := now[old.ID].Health && !p.broken[old.ID]
		if healthy != old.Health {
			log.Printf("device %s: health %t", old.ID, healthy)
			p.cards[i].Health, different = healthy, true
		}
	}
	if different {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// applicationErrors are the XIDs that tell of a program and not of the card.
var applicationErrors = map[string]bool{"13": true, "31": true, "43": true, "45": true, "68": true, "109": true}

// hear takes the errors that NVML tells; a card that has had one is unhealthy until this program starts anew.
func (p *plugin) hear(ctx context.Context) {
	for ctx.Err() == nil {
		command := exec.CommandContext(ctx, "gpu-events")
		lines, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err == nil {
			scanner := bufio.NewScanner(lines)
			for scanner.Scan() {
				uuid, xid, _ := strings.Cut(scanner.Text(), " ")
				log.Printf("XidCriticalError: Xid=%s on Device=%s", xid, uuid)
				if !applicationErrors[xid] {
					p.mutex.Lock()
					p.broken[uuid] = true
					p.mutex.Unlock()
				}
			}
			err = command.Wait()
		}
		log.Printf("cannot watch the cards' health: %v", err)
		select {
		case <-ctx.Done():
		case <-time.After(lookInterval):
		}
	}
}

func (p *plugin) state() ([]card, chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]card(nil), p.cards...), p.changed
}

// register writes the cards to the node; it is only written when it differs.
func (p *plugin) register(ctx context.Context) error {
	cards, _ := p.state()
	text := encodeCards(cards)
	node, err := p.api.CoreV1().Nodes().Get(ctx, p.node, metav1.GetOptions{})
	if err != nil || node.Annotations[annotationRegister] == text {
		return err
	}
	return annotateNode(ctx, p.api, p.node, map[string]any{annotationRegister: text})
}

func annotateNode(ctx context.Context, api kubernetes.Interface, name string, values map[string]any) error {
	_, err := api.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, annotations(values), metav1.PatchOptions{})
	return err
}

func annotatePod(ctx context.Context, api kubernetes.Interface, pod *corev1.Pod, values map[string]any) error {
	_, err := api.CoreV1().Pods(pod.Namespace).Patch(
		ctx, pod.Name, types.MergePatchType, annotations(values), metav1.PatchOptions{})
	return err
}

func annotations(values map[string]any) []byte {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": values}})
	if err != nil {
		panic(err)
	}
	return text
}

// serve registers with the kubelet and answers it until it has started anew.
func (p *plugin) serve(ctx context.Context, folder string) error {
	own := filepath.Join(folder, pluginSocket)
	if err := os.Remove(own); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", own)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	defer server.Stop()
	pluginapi.RegisterDevicePluginServer(server, p)
	go func() { _ = server.Serve(listener) }()
	before, err := inode(pluginapi.KubeletSocket)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient("unix://"+pluginapi.KubeletSocket,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	_, err = pluginapi.NewRegistrationClient(connection).Register(limited, &pluginapi.RegisterRequest{
		Version:      pluginapi.Version,
		Endpoint:     pluginSocket,
		ResourceName: p.settings.CountName,
		Options:      &pluginapi.DevicePluginOptions{},
	})
	if err != nil {
		return fmt.Errorf("cannot register with the kubelet: %w", err)
	}
	log.Printf("Registered device plugin for '%s' with Kubelet", p.settings.CountName)
	for {
		select {
		case <-ctx.Done():
			_ = os.Remove(own)
			return nil
		case <-time.After(time.Second):
		}
		now, err := inode(pluginapi.KubeletSocket)
		if err == nil && now != before {
			log.Print("the kubelet has started anew")
			return nil
		}
		if _, err := os.Stat(own); err != nil {
			log.Print("the kubelet has removed the socket")
			return nil
		}
	}
}

func inode(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

func (p *plugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *pluginapi.Empty, stream pluginapi.DevicePlugin_ListAndWatchServer) error {
	for {
		cards, changed := p.state()
		var devices []*pluginapi.Device
		for _, c := range cards {
			health := pluginapi.Unhealthy
			if c.Health {
				health = pluginapi.Healthy
			}
			for slice := range c.Count {
				devices = append(devices, &pluginapi.Device{ID: fmt.Sprintf("%s-%d", c.ID, slice), Health: health})
			}
		}
		if err := stream.Send(&pluginapi.ListAndWatchResponse{Devices: devices}); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// Allocate answers for the pod that the scheduler has bound to this node and that has not got its cards yet.
func (p *plugin) Allocate(ctx context.Context, asked *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	pod, err := p.pending(ctx)
	if err != nil {
		return nil, err
	}
	answer := &pluginapi.AllocateResponse{}
	left := decodeShares(pod.Annotations[annotationToAllocate])
	for _, container := range asked.ContainerRequests {
		at := -1
		for i, shares := range left {
			if len(shares) > 0 {
				at = i
				break
			}
		}
		if at < 0 || len(left[at]) != len(container.DevicesIds) {
			_ = annotatePod(ctx, p.api, pod, map[string]any{annotationBindPhase: phaseFailed})
			_ = p.unlock(ctx)
			return nil, fmt.Errorf("device number not matched for pod %s/%s", pod.Namespace, pod.Name)
		}
		answer.ContainerResponses = append(answer.ContainerResponses, p.answer(left[at]))
		left[at] = nil
	}
	values := map[string]any{annotationToAllocate: encodeShares(left)}
	rest := 0
	for _, shares := range left {
		rest += len(shares)
	}
	if rest == 0 {
		values[annotationBindPhase] = phaseSuccess
	}
	if err := annotatePod(ctx, p.api, pod, values); err != nil {
		return nil, err
	}
	if rest == 0 {
		if err := p.unlock(ctx); err != nil {
			return nil, err
		}
	}
	log.Printf("allocated for pod %s/%s", pod.Namespace, pod.Name)
	return answer, nil
}

func (p *plugin) answer(shares []share) *pluginapi.ContainerAllocateResponse {
	uuids := make([]string, 0, len(shares))
	values := map[string]string{
		"CUDA_DEVICE_SM_LIMIT":            strconv.Itoa(shares[0].cores),
		"CUDA_DEVICE_MEMORY_SHARED_CACHE": fmt.Sprintf("%s/vgpu/%s.cache", p.hook, shares[0].uuid),
	}
	for i, s := range shares {
		uuids = append(uuids, s.uuid)
		values[fmt.Sprintf("CUDA_DEVICE_MEMORY_LIMIT_%d", i)] = fmt.Sprintf("%dm", s.memory)
	}
	values["NVIDIA_VISIBLE_DEVICES"] = strings.Join(uuids, ",")
	if p.settings.MemoryScaling > 1 {
		values["CUDA_OVERSUBSCRIBE"] = "true"
	}
	return &pluginapi.ContainerAllocateResponse{Envs: values}
}

func (p *plugin) pending(ctx context.Context) (*corev1.Pod, error) {
	pods, err := p.api.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + p.node})
	if err != nil {
		return nil, err
	}
	var found *corev1.Pod
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Annotations[annotationBindPhase] != phaseAllocating || pod.Annotations[annotationNode] != p.node ||
			pod.DeletionTimestamp != nil {
			continue
		}
		if found == nil || pod.Annotations[annotationBindTime] < found.Annotations[annotationBindTime] {
			found = pod
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no binding pod found on node %s", p.node)
	}
	return found, nil
}

func (p *plugin) unlock(ctx context.Context) error {
	return annotateNode(ctx, p.api, p.node, map[string]any{annotationLock: nil})
}

// runMonitor stands in for HAMi's vGPUmonitor: it is there and measures nothing.
func runMonitor(ctx context.Context, _ *options) error {
	log.Print("a stand-in: no metrics")
	<-ctx.Done()
	return nil
}
