// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

// A stand-in for HAMi's scheduler extender 2.10.0: filters nodes by what is left of their cards, binds pods with HAMi's
// annotations and lock, and serves the webhook. It works beside the real kube-scheduler.
//
// It does not: know other cards than NVIDIA's, quotas, topology, NUMA, MIG or card types; elect a leader of its own (run
// one replica); serve metrics.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
	extender "k8s.io/kube-scheduler/extender/v1"
)

const (
	requestingPrefix = "Requesting_"
	requestingLayout = "2006-01-02 15:04:05"
	requestingLimit  = 60 * time.Second
	lockPatience     = 10 * time.Second
)

type scheduler struct {
	api        kubernetes.Interface
	nodes      listers.NodeLister
	pods       listers.PodLister
	settings   *settings
	name       string
	overwrite  bool
	nodePolicy string
	cardPolicy string
	lockExpire time.Duration
	events     record.EventRecorder

	mutex   sync.Mutex
	assumed map[types.UID]assumed
	dropped map[string]bool
}

// assumed is what a pod was given; the informer may not have seen it yet.
type assumed struct {
	node       string
	containers [][]share
	since      time.Time
}

func runScheduler(ctx context.Context, o *options) error {
	config, err := readSettings(o.get("device-config-file", "/device-config.yaml"))
	if err != nil {
		return err
	}
	api, err := client()
	if err != nil {
		return err
	}
	expire, err := time.ParseDuration(environment("HAMI_NODELOCK_EXPIRE", "5m"))
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(api, 0)
	s := &scheduler{
		api:        api,
		nodes:      factory.Core().V1().Nodes().Lister(),
		pods:       factory.Core().V1().Pods().Lister(),
		settings:   config,
		name:       o.get("scheduler-name", "hami-scheduler"),
		overwrite:  o.get("force-overwrite-default-scheduler", "true") == "true",
		nodePolicy: o.get("node-scheduler-policy", "binpack"),
		cardPolicy: o.get("gpu-scheduler-policy", "spread"),
		lockExpire: expire,
		assumed:    map[types.UID]assumed{},
		dropped:    map[string]bool{},
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: api.CoreV1().Events("")})
	s.events = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: s.name})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go s.shakeHands(ctx)

	mux := http.NewServeMux()
	mux.HandleFunc("/filter", func(w http.ResponseWriter, r *http.Request) { serveJSON(w, r, s.filter) })
	mux.HandleFunc("/bind", func(w http.ResponseWriter, r *http.Request) { serveJSON(w, r, s.bind) })
	mux.HandleFunc("/webhook", func(w http.ResponseWriter, r *http.Request) { serveJSON(w, r, s.review) })
	for _, path := range []string{"/healthz", "/readyz"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	}
	server := &http.Server{Addr: o.get("http_bind", ":443"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	certificate, key := o.get("cert_file", ""), o.get("key_file", "")
	log.Printf("listen on %s", server.Addr)
	if certificate == "" || key == "" {
		err = server.ListenAndServe()
	} else {
		err = server.ListenAndServeTLS(certificate, key)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func serveJSON[Asked, Answer any](w http.ResponseWriter, r *http.Request, handle func(context.Context, *Asked) Answer) {
	var asked Asked
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(handle(r.Context(), &asked))
}

func (s *scheduler) filter(ctx context.Context, asked *extender.ExtenderArgs) *extender.ExtenderFilterResult {
	pod := asked.Pod
	names := []string{}
	if asked.NodeNames != nil {
		names = *asked.NodeNames
	} else if asked.Nodes != nil {
		for i := range asked.Nodes.Items {
			names = append(names, asked.Nodes.Items[i].Name)
		}
	}
	wanted := make([]request, 0, len(pod.Spec.Containers))
	total := 0
	for i := range pod.Spec.Containers {
		one := s.settings.request(&pod.Spec.Containers[i])
		wanted, total = append(wanted, one), total+one.cards
	}
	if total == 0 {
		s.event(ctx, pod, corev1.EventTypeWarning, "FilteringFailed", "does not request any resource")
		return &extender.ExtenderFilterResult{NodeNames: &names}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.assumed, pod.UID)
	failed := extender.FailedNodesMap{}
	type candidate struct {
		node       string
		score      float64
		containers [][]share
	}
	var fitting []candidate
	for _, name := range names {
		cards, reason := s.usage(name, pod.UID)
		if reason != "" {
			failed[name] = reason
			continue
		}
		containers := make([][]share, len(wanted))
		for i, one := range wanted {
			if one.cards == 0 {
				continue
			}
			policy := pod.Annotations[annotationCardPolicy]
			if policy == "" {
				policy = s.cardPolicy
			}
			if containers[i], reason = fit(cards, one, policy, pod.Annotations); reason != "" {
				break
			}
		}
		if reason != "" {
			failed[name] = reason
			continue
		}
		score := 0.0
		for _, u := range cards {
			score += u.load() / float64(len(cards))
		}
		fitting = append(fitting, candidate{name, score, containers})
	}
	if len(fitting) == 0 {
		s.tellReasons(ctx, pod, failed)
		return &extender.ExtenderFilterResult{FailedNodes: failed}
	}
	policy := pod.Annotations[annotationNodePolicy]
	if policy == "" {
		policy = s.nodePolicy
	}
	sort.SliceStable(fitting, func(a, b int) bool {
		if policy == "spread" {
			return fitting[a].score < fitting[b].score
		}
		return fitting[a].score > fitting[b].score
	})
	best := fitting[0]
	text := encodeShares(best.containers)
	err := annotatePod(ctx, s.api, pod, map[string]any{
		annotationNode:       best.node,
		annotationTime:       strconv.FormatInt(time.Now().Unix(), 10),
		annotationToAllocate: text,
		annotationAllocated:  text,
	})
	if err != nil {
		s.event(ctx, pod, corev1.EventTypeWarning, "FilteringFailed", err.Error())
		return &extender.ExtenderFilterResult{Error: err.Error()}
	}
	s.assumed[pod.UID] = assumed{best.node, best.containers, time.Now()}
	s.event(ctx, pod, corev1.EventTypeNormal, "FilteringSucceed", fmt.Sprintf(
		"find fit node(%s), %d nodes not fit, %d nodes fit(%s:%.2f)",
		best.node, len(failed), len(fitting), best.node, best.score))
	return &extender.ExtenderFilterResult{NodeNames: &[]string{best.node}, FailedNodes: failed}
}

// tellReasons writes one event for each kind of reason: "1 nodes CardInsufficientMemory(gpu1)".
func (s *scheduler) tellReasons(ctx context.Context, pod *corev1.Pod, failed extender.FailedNodesMap) {
	byReason := map[string][]string{}
	for node, text := range failed {
		for _, part := range strings.Split(text, ", ") {
			if _, after, found := strings.Cut(part, " "); found && strings.Contains(part, "/") {
				part = after
			}
			byReason[part] = append(byReason[part], node)
		}
	}
	reasons := make([]string, 0, len(byReason))
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	sort.Strings(reasons)
	for _, reason := range reasons {
		nodes := byReason[reason]
		sort.Strings(nodes)
		s.event(ctx, pod, corev1.EventTypeWarning, "FilteringFailed",
			fmt.Sprintf("%d nodes %s(%s)", len(nodes), reason, strings.Join(nodes, ",")))
	}
	s.event(ctx, pod, corev1.EventTypeWarning, "FilteringFailed",
		fmt.Sprintf("no available node, %d nodes do not meet", len(failed)))
}

// usage returns the cards of a node with what pods other than this one have of them, or why it has none.
func (s *scheduler) usage(name string, except types.UID) ([]*usage, string) {
	node, err := s.nodes.Get(name)
	if err != nil || s.dropped[name] || node.Annotations[annotationRegister] == "" {
		return nil, reasonUnregistered
	}
	cards, err := decodeCards(node.Annotations[annotationRegister])
	if err != nil {
		return nil, reasonUnregistered
	}
	pods, err := s.pods.List(labels.Everything())
	if err != nil {
		return nil, err.Error()
	}
	var taken [][][]share
	seen := map[types.UID]bool{}
	for _, pod := range pods {
		seen[pod.UID] = true
		if pod.UID == except {
			continue
		}
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			delete(s.assumed, pod.UID)
			continue
		}
		if own, ok := s.assumed[pod.UID]; ok {
			if own.node == name {
				taken = append(taken, own.containers)
			}
		} else if pod.Annotations[annotationNode] == name {
			taken = append(taken, decodeShares(pod.Annotations[annotationAllocated]))
		}
	}
	for uid, own := range s.assumed {
		if !seen[uid] && time.Since(own.since) > 30*time.Second {
			delete(s.assumed, uid)
		}
	}
	return use(cards, taken), ""
}

func (s *scheduler) bind(ctx context.Context, asked *extender.ExtenderBindingArgs) *extender.ExtenderBindingResult {
	pod, err := s.api.CoreV1().Pods(asked.PodNamespace).Get(ctx, asked.PodName, metav1.GetOptions{})
	if err == nil {
		err = s.bindPod(ctx, pod, asked.Node)
	}
	if err != nil {
		log.Printf("cannot bind %s/%s: %v", asked.PodNamespace, asked.PodName, err)
		if pod != nil && pod.UID != "" {
			s.event(ctx, pod, corev1.EventTypeWarning, "BindingFailed", err.Error())
		}
		return &extender.ExtenderBindingResult{Error: err.Error()}
	}
	s.event(ctx, pod, corev1.EventTypeNormal, "BindingSucceed",
		fmt.Sprintf("Successfully binding node [%s] to %s/%s", asked.Node, pod.Namespace, pod.Name))
	return &extender.ExtenderBindingResult{}
}

func (s *scheduler) bindPod(ctx context.Context, pod *corev1.Pod, node string) error {
	if err := s.lock(ctx, node, pod); err != nil {
		return err
	}
	err := annotatePod(ctx, s.api, pod, map[string]any{
		annotationBindPhase: phaseAllocating,
		annotationBindTime:  strconv.FormatInt(time.Now().Unix(), 10),
	})
	if err == nil {
		err = s.api.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		_ = annotateNode(ctx, s.api, node, map[string]any{annotationLock: nil})
	}
	return err
}

// lock takes the node for one pod at a time; a lock that is too old is taken over.
func (s *scheduler) lock(ctx context.Context, name string, pod *corev1.Pod) error {
	end := time.Now().Add(lockPatience)
	for {
		node, err := s.api.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		held, _, _ := strings.Cut(node.Annotations[annotationLock], ",")
		since, err := time.Parse(time.RFC3339, held)
		if held == "" || err != nil || time.Since(since) > s.lockExpire {
			value := fmt.Sprintf("%s,%s,%s", time.Now().Format(time.RFC3339), pod.Namespace, pod.Name)
			patch := map[string]any{"metadata": map[string]any{
				"resourceVersion": node.ResourceVersion, "annotations": map[string]any{annotationLock: value},
			}}
			text, err := json.Marshal(patch)
			if err != nil {
				return err
			}
			_, err = s.api.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
			if err == nil {
				return nil
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("node %s has been locked within %s", name, s.lockExpire)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// shakeHands asks every registered node for a sign of life and drops those whose cards are gone.
func (s *scheduler) shakeHands(ctx context.Context) {
	for {
		nodes, _ := s.nodes.List(labels.Everything())
		for _, node := range nodes {
			if node.Annotations[annotationRegister] != "" {
				s.shakeHand(ctx, node)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(15 * time.Second):
		}
	}
}

func (s *scheduler) shakeHand(ctx context.Context, node *corev1.Node) {
	text, requested := strings.CutPrefix(node.Annotations[annotationHandshake], requestingPrefix)
	since, err := time.ParseInLocation(requestingLayout, text, time.Local)
	fresh := requested && err == nil && time.Since(since) < requestingLimit
	quantity := node.Status.Allocatable[corev1.ResourceName(s.settings.CountName)]
	gone := requested && !fresh && quantity.IsZero()
	s.mutex.Lock()
	s.dropped[node.Name] = gone
	s.mutex.Unlock()
	if fresh || gone {
		return
	}
	value := requestingPrefix + time.Now().Format(requestingLayout)
	if err := annotateNode(ctx, s.api, node.Name, map[string]any{annotationHandshake: value}); err != nil {
		log.Printf("cannot shake hands with %s: %v", node.Name, err)
	}
}

func (s *scheduler) event(_ context.Context, pod *corev1.Pod, kind, reason, message string) {
	log.Printf("%s/%s: %s %s", pod.Namespace, pod.Name, reason, message)
	s.events.Event(pod, kind, reason, message)
}
