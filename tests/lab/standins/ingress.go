// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

// A stand-in for ingress-nginx's controller 1.15.1, and for traefik with its provider for the same Ingress objects: passes
// requests on to the cluster address of the Service that the host and the longest path name, and answers 404 otherwise.
//
// It does not: know annotations, TLS secrets (it has one certificate of its own), redirects, headless Services, TCP and
// UDP, metrics or the objects of the Gateway API; its admission webhook accepts everything.

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	admission "k8s.io/api/admission/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	listers "k8s.io/client-go/listers/networking/v1"
)

type ingress struct {
	server     string
	class      string
	controller string
	unclassed  bool
	ingresses  listers.IngressLister
	classes    listers.IngressClassLister
	services   corelisters.ServiceLister
}

func runIngress(ctx context.Context, o *options) error {
	api, err := client()
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(api, 0)
	i := &ingress{
		server:     "nginx",
		class:      o.get("ingress-class", "nginx"),
		controller: o.get("controller-class", "k8s.io/ingress-nginx"),
		unclassed:  o.get("watch-ingress-without-class", "false") == "true",
		ingresses:  factory.Networking().V1().Ingresses().Lister(),
		classes:    factory.Networking().V1().IngressClasses().Lister(),
		services:   factory.Core().V1().Services().Lister(),
	}
	ports := map[string]string{"http": ":" + o.get("http-port", "80"), "https": ":" + o.get("https-port", "443")}
	health := ":" + o.get("healthz-port", "10254")
	if o.part == "traefik" {
		i.server = ""
		i.class = o.get("providers.kubernetesingressnginx.ingressclass", "nginx")
		i.controller = o.get("providers.kubernetesingressnginx.controllerclass", "k8s.io/ingress-nginx")
		ports["http"] = traefikAddress(o, "web", ":8000")
		ports["https"] = traefikAddress(o, "websecure", ":8443")
		health = traefikAddress(o, "traefik", ":8080")
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if o.part != "traefik" {
		go i.publish(ctx, api, o.get("publish-service", ""))
	}
	_, certificate, key, err := makeCertificate([]string{"ingress.local"})
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	fine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	failed := make(chan error)
	go func() { failed <- http.ListenAndServe(ports["http"], i) }()
	go func() { failed <- http.ListenAndServe(health, fine) }()
	go func() {
		listener, err := tls.Listen("tcp", ports["https"], config)
		if err == nil {
			err = http.Serve(listener, i)
		}
		failed <- err
	}()
	if path := o.get("validating-webhook-certificate", ""); path != "" {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveJSON(w, r, accept) })
		address := o.get("validating-webhook", ":8443")
		go func() {
			failed <- http.ListenAndServeTLS(address, path, o.get("validating-webhook-key", ""), handler)
		}()
	}
	log.Printf("class %s of %s on %s and %s", i.class, i.controller, ports["http"], ports["https"])
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

func traefikAddress(o *options, entry, otherwise string) string {
	address, _, _ := strings.Cut(o.get("entrypoints."+entry+".address", otherwise), "/")
	return address
}

func accept(_ context.Context, asked *admission.AdmissionReview) *admission.AdmissionReview {
	answer := &admission.AdmissionReview{TypeMeta: asked.TypeMeta, Response: &admission.AdmissionResponse{Allowed: true}}
	if asked.Request != nil {
		answer.Response.UID = asked.Request.UID
	}
	return answer
}

// ours says whether the object is of a class of this controller.
func (i *ingress) ours(object *networking.Ingress) bool {
	name := object.Annotations["kubernetes.io/ingress.class"]
	if object.Spec.IngressClassName != nil {
		name = *object.Spec.IngressClassName
	}
	if name == "" {
		return i.unclassed
	}
	class, err := i.classes.Get(name)
	if err != nil {
		return name == i.class
	}
	return class.Spec.Controller == i.controller
}

// backend returns the address that a request goes to; a status other than 200 answers it instead.
func (i *ingress) backend(host, path string) (string, int) {
	objects, err := i.ingresses.List(labels.Everything())
	if err != nil {
		return "", http.StatusInternalServerError
	}
	best, address := -1, ""
	for _, object := range objects {
		if !i.ours(object) {
			continue
		}
		if object.Spec.DefaultBackend != nil && best < 0 {
			best, address = 0, i.address(object.Namespace, object.Spec.DefaultBackend)
		}
		for _, rule := range object.Spec.Rules {
			points := matchHost(rule.Host, host)
			if points == 0 || rule.HTTP == nil {
				continue
			}
			for n := range rule.HTTP.Paths {
				one := &rule.HTTP.Paths[n]
				length := matchPath(one, path)
				if length >= 0 && points+length > best {
					best, address = points+length, i.address(object.Namespace, &one.Backend)
				}
			}
		}
	}
	switch {
	case best < 0:
		return "", http.StatusNotFound
	case address == "":
		return "", http.StatusServiceUnavailable
	}
	return address, http.StatusOK
}

// matchHost returns how well a rule's host fits, 0 for not at all.
func matchHost(rule, host string) int {
	switch {
	case rule == "":
		return 1
	case strings.EqualFold(rule, host):
		return 2 << 20
	case strings.HasPrefix(rule, "*."):
		if _, rest, found := strings.Cut(host, "."); found && strings.EqualFold(rest, rule[2:]) {
			return 1 << 20
		}
	}
	return 0
}

// matchPath returns the length of a rule's path if it fits, twice as much (and one) if it is exact, else -1.
func matchPath(rule *networking.HTTPIngressPath, path string) int {
	wanted := rule.Path
	if wanted == "" {
		wanted = "/"
	}
	if rule.PathType != nil && *rule.PathType == networking.PathTypeExact {
		if path == wanted {
			return 2*len(wanted) + 1
		}
		return -1
	}
	trimmed := strings.TrimSuffix(wanted, "/")
	if path == trimmed || strings.HasPrefix(path, trimmed+"/") {
		return 2 * len(wanted)
	}
	return -1
}

// address returns host and port of a Service, empty if there is no such Service or port.
func (i *ingress) address(namespace string, backend *networking.IngressBackend) string {
	if backend.Service == nil {
		return ""
	}
	service, err := i.services.Services(namespace).Get(backend.Service.Name)
	if err != nil || service.Spec.ClusterIP == "" || service.Spec.ClusterIP == "None" {
		return ""
	}
	for _, port := range service.Spec.Ports {
		wanted := backend.Service.Port
		if wanted.Name != "" && port.Name == wanted.Name || wanted.Number != 0 && port.Port == wanted.Number {
			return net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(port.Port))
		}
	}
	return ""
}

func (i *ingress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if i.server == "nginx" && r.URL.Path == "/healthz" && host == "" {
		w.WriteHeader(http.StatusOK)
		return
	}
	address, status := i.backend(host, r.URL.Path)
	if status != http.StatusOK {
		i.refuse(w, status)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: address})
			p.SetXForwarded()
			p.Out.Host = p.In.Host
			p.Out.Header.Set("X-Real-IP", strings.Trim(p.In.RemoteAddr[:strings.LastIndex(p.In.RemoteAddr, ":")], "[]"))
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, context.Canceled) {
				return
			}
			log.Printf("%s: %v", address, err)
			i.refuse(w, http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, r)
}

// refuse answers as the controller that it stands in for: nginx with a page of its own, traefik with one line.
func (i *ingress) refuse(w http.ResponseWriter, status int) {
	if i.server == "" {
		text := "404 page not found"
		if status != http.StatusNotFound {
			text = http.StatusText(status)
		}
		http.Error(w, text, status)
		return
	}
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	if status == http.StatusServiceUnavailable {
		title = "503 Service Temporarily Unavailable"
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<html>\r\n<head><title>%s</title></head>\r\n<body>\r\n<center><h1>%s</h1></center>\r\n"+
		"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n", title, title)
}

// publish writes the controller's address into the status of its Ingress objects, as `kubectl get ingress` shows it.
func (i *ingress) publish(ctx context.Context, api kubernetes.Interface, service string) {
	space, name, found := strings.Cut(service, "/")
	if !found {
		return
	}
	for {
		if own, err := i.services.Services(space).Get(name); err == nil {
			objects, _ := i.ingresses.List(labels.Everything())
			for _, object := range objects {
				if i.ours(object) && len(object.Status.LoadBalancer.Ingress) == 0 {
					object = object.DeepCopy()
					object.Status.LoadBalancer.Ingress = []networking.IngressLoadBalancerIngress{{IP: own.Spec.ClusterIP}}
					_, err := api.NetworkingV1().Ingresses(object.Namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{})
					if err != nil {
						log.Printf("cannot write the status of %s/%s: %v", object.Namespace, object.Name, err)
					}
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Second):
		}
	}
}
