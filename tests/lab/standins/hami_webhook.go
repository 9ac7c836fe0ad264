// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

// A stand-in for HAMi's mutating webhook: pods that ask for a card get HAMi's scheduler and the runtime class.
//
// It does not: check quotas, change priorities or environments, look at privileged containers.

import (
	"context"
	"encoding/json"
	"fmt"

	admission "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (s *scheduler) review(_ context.Context, asked *admission.AdmissionReview) *admission.AdmissionReview {
	answer := &admission.AdmissionReview{
		TypeMeta: asked.TypeMeta,
		Response: &admission.AdmissionResponse{Allowed: true},
	}
	if asked.Request == nil {
		return answer
	}
	answer.Response.UID = asked.Request.UID
	var pod corev1.Pod
	if err := json.Unmarshal(asked.Request.Object.Raw, &pod); err != nil {
		answer.Response.Allowed = false
		answer.Response.Result = &metav1.Status{Message: err.Error()}
		return answer
	}
	if changes := s.changes(&pod); len(changes) > 0 {
		text, err := json.Marshal(changes)
		if err != nil {
			panic(err)
		}
		kind := admission.PatchTypeJSONPatch
		answer.Response.Patch, answer.Response.PatchType = text, &kind
	}
	return answer
}

func (s *scheduler) changes(pod *corev1.Pod) []change {
	var changes []change
	asks := false
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		if !s.settings.asksForCard(container) {
			continue
		}
		asks = true
		if cards, _ := amount(container, s.settings.CountName); cards == 0 {
			path := fmt.Sprintf("/spec/containers/%d/resources/limits", i)
			if container.Resources.Limits == nil {
				changes = append(changes, change{"add", path, map[string]string{}})
			}
			name := escape(s.settings.CountName)
			changes = append(changes, change{"add", path + "/" + name, fmt.Sprint(s.settings.DefaultCards)})
		}
	}
	if !asks || pod.Spec.NodeName != "" {
		return nil
	}
	if name := pod.Spec.SchedulerName; name == "" || s.overwrite && name == corev1.DefaultSchedulerName {
		changes = append(changes, change{"add", "/spec/schedulerName", s.name})
	}
	if s.settings.RuntimeClass != "" && pod.Spec.RuntimeClassName == nil {
		changes = append(changes, change{"add", "/spec/runtimeClassName", s.settings.RuntimeClass})
	}
	return changes
}

// escape writes a key as a part of a JSON pointer.
func escape(key string) string {
	out := ""
	for _, r := range key {
		switch r {
		case '~':
			out += "~0"
		case '/':
			out += "~1"
		default:
			out += string(r)
		}
	}
	return out
}
