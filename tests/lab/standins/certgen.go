// Copyright (c) 2026 gshare.cluster contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

// A stand-in for kube-webhook-certgen: "create" writes a Secret with an authority and a certificate unless it exists,
// "patch" puts the authority into webhook configurations.
//
// It does not: patch API services, renew certificates.

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const certificateYears = 100

func runCertgen(ctx context.Context, o *options) error {
	api, err := client()
	if err != nil {
		return err
	}
	space, name := o.get("namespace", "default"), o.get("secret-name", "")
	if name == "" || len(o.words) != 1 {
		return errors.New("usage: kube-webhook-certgen create|patch --secret-name=NAME ...")
	}
	switch o.words[0] {
	case "create":
		return createSecret(ctx, api, o, space, name)
	case "patch":
		secret, err := api.CoreV1().Secrets(space).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return patchWebhooks(ctx, api, o, secret.Data["ca"])
	}
	return fmt.Errorf("unknown command %q", o.words[0])
}

func createSecret(ctx context.Context, api kubernetes.Interface, o *options, space, name string) error {
	if _, err := api.CoreV1().Secrets(space).Get(ctx, name, metav1.GetOptions{}); err == nil {
		log.Printf("secret %s/%s exists", space, name)
		return nil
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	authority, certificate, key, err := makeCertificate(strings.Split(o.get("host", ""), ","))
	if err != nil {
		return err
	}
	_, err = api.CoreV1().Secrets(space).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: space},
		Data: map[string][]byte{
			"ca":                       authority,
			o.get("cert-name", "cert"): certificate,
			o.get("key-name", "key"):   key,
		},
	}, metav1.CreateOptions{})
	return err
}

func patchWebhooks(ctx context.Context, api kubernetes.Interface, o *options, authority []byte) error {
	name := o.get("webhook-name", "")
	policy := registration.FailurePolicyType(o.get("patch-failure-policy", ""))
	if o.get("patch-mutating", "true") == "true" {
		hooks := api.AdmissionregistrationV1().MutatingWebhookConfigurations()
		err := update(ctx, hooks, name, func(found *registration.MutatingWebhookConfiguration) {
			for i := range found.Webhooks {
				setAuthority(&found.Webhooks[i].ClientConfig, &found.Webhooks[i].FailurePolicy, authority, policy)
			}
		})
		if err != nil {
			return err
		}
	}
	if o.get("patch-validating", "true") != "true" {
		return nil
	}
	hooks := api.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	return update(ctx, hooks, name, func(found *registration.ValidatingWebhookConfiguration) {
		for i := range found.Webhooks {
			setAuthority(&found.Webhooks[i].ClientConfig, &found.Webhooks[i].FailurePolicy, authority, policy)
		}
	})
}

// What both kinds of configurations can do.
type configurations[T any] interface {
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
}

func update[T any](ctx context.Context, all configurations[T], name string, edit func(T)) error {
	found, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	edit(found)
	_, err = all.Update(ctx, found, metav1.UpdateOptions{})
	return err
}

func setAuthority(
	config *registration.WebhookClientConfig, current **registration.FailurePolicyType,
	authority []byte, policy registration.FailurePolicyType,
) {
	config.CABundle = authority
	if policy != "" {
		*current = &policy
	}
}

// makeCertificate returns an authority, a certificate of it for the hosts and that one's key, all PEM.
func makeCertificate(hosts []string) (authority, certificate, key []byte, err error) {
	end := time.Now().AddDate(certificateYears, 0, 0)
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"lab"}}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-5 * time.Minute), NotAfter: end,
	}
	rootText, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, nil, nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{Organization: []string{"lab"}, CommonName: hosts[0]},
		DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore:   time.Now().Add(-5 * time.Minute), NotAfter: end,
	}
	leafText, err := x509.CreateCertificate(rand.Reader, leaf, root, &leafKey.PublicKey, rootKey)
	if err != nil {
		return nil, nil, nil, err
	}
	keyText, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		return nil, nil, nil, err
	}
	armour := func(kind string, content []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	}
	return armour("CERTIFICATE", rootText), armour("CERTIFICATE", leafText), armour("PRIVATE KEY", keyText), nil
}
