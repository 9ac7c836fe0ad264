// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// One program that stands in for several which the lab cannot have; each file says what its part does not do.
// Its name, or its first argument, says which part it plays.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var parts = map[string]func(context.Context, *options) error{
	"nvidia-device-plugin":     runPlugin,
	"vGPUmonitor":              runMonitor,
	"scheduler":                runScheduler,
	"kube-webhook-certgen":     runCertgen,
	"nginx-ingress-controller": runIngress,
	"traefik":                  runIngress,
}

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	name, arguments := filepath.Base(os.Args[0]), os.Args[1:]
	part := parts[name]
	if part == nil && len(arguments) > 0 {
		name, arguments = arguments[0], arguments[1:]
		part = parts[name]
	}
	if part == nil {
		log.Fatalf("no part is called %q", name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := part(ctx, parse(name, arguments)); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// options are the program's arguments: --name=value, --name value or --name (true); all others are words.
type options struct {
	part   string
	values map[string]string
	words  []string
}

func parse(part string, arguments []string) *options {
	found := &options{part: part, values: map[string]string{}}
	for i := 0; i < len(arguments); i++ {
		name, value, given := strings.Cut(arguments[i], "=")
		if !strings.HasPrefix(name, "-") {
			found.words = append(found.words, arguments[i])
			continue
		}
		name = strings.ToLower(strings.TrimLeft(name, "-"))
		if !given {
			value = "true"
			if i+1 < len(arguments) && !strings.HasPrefix(arguments[i+1], "-") {
				i++
				value = arguments[i]
			}
		}
		found.values[name] = value
	}
	return found
}

func (o *options) get(name, otherwise string) string {
	if value, ok := o.values[strings.ToLower(name)]; ok {
		return value
	}
	return otherwise
}

func client() (*kubernetes.Clientset, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100
	return kubernetes.NewForConfig(config)
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func namespace() string {
	content, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return environment("POD_NAMESPACE", "default")
	}
	return strings.TrimSpace(string(content))
}

func ratio(text string) float64 {
	var value float64
	if _, err := fmt.Sscan(text, &value); err != nil {
		return 1
	}
	return value
}
