module gshare.io/lab

go 1.26.8

godebug default=go1.26

require (
	github.com/NVIDIA/go-gpuallocator v0.6.0 // indirect
	github.com/NVIDIA/go-nvlib v0.10.0 // indirect
	github.com/NVIDIA/go-nvml v0.13.0-1.0.20260212130905-92cf8c963449 // indirect
	github.com/NVIDIA/nvidia-container-toolkit v1.19.1 // indirect
	github.com/google/renameio v1.0.1 // indirect
	github.com/opencontainers/runc v1.4.2 // indirect
	go.opentelemetry.io/otel/sdk/metric v1.45.0 // indirect
	sigs.k8s.io/node-feature-discovery v0.18.3 // indirect
	sigs.k8s.io/node-feature-discovery/api/nfd v0.18.3 // indirect
)

require (
	cyphar.com/go-pathrs v0.2.4 // indirect
	github.com/NVIDIA/k8s-device-plugin v0.19.3
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/cyphar/filepath-securejoin v0.6.1 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/emicklei/go-restful/v3 v3.13.0 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/jsonreference v0.20.4 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/google/gnostic-models v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/moby/sys/capability v0.4.0 // indirect
	github.com/moby/sys/mountinfo v0.7.2 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/opencontainers/cgroups v0.0.6 // indirect
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	github.com/opencontainers/runtime-tools v0.9.1-0.20251114084447-edf4cb3d2116 // indirect
	github.com/opencontainers/selinux v1.14.1 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/prometheus/procfs v0.20.1 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/urfave/cli/v2 v2.27.7 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // indirect
	go.opentelemetry.io/otel v1.45.0 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/grpc v1.83.2 // indirect
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // indirect
	gopkg.in/evanphx/json-patch.v4 v4.13.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/api v0.36.5 // indirect
	k8s.io/apimachinery v0.36.5 // indirect
	k8s.io/client-go v0.36.5 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
	k8s.io/kube-openapi v0.0.0-20260319004828-5883c5ee87b9 // indirect
	k8s.io/kubelet v0.36.5 // indirect
	k8s.io/mount-utils v0.35.5 // indirect
	k8s.io/utils v0.0.0-20260319190234-28399d86e0b5 // indirect
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
	sigs.k8s.io/structured-merge-diff/v6 v6.3.3 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
	tags.cncf.io/container-device-interface v1.1.0 // indirect
	tags.cncf.io/container-device-interface/specs-go v1.1.0 // indirect
)

replace k8s.io/api => k8s.io/api v0.36.5

replace k8s.io/apiextensions-apiserver => k8s.io/apiextensions-apiserver v0.36.5

replace k8s.io/apimachinery => k8s.io/apimachinery v0.36.5

replace k8s.io/apiserver => k8s.io/apiserver v0.36.5

replace k8s.io/cli-runtime => k8s.io/cli-runtime v0.36.5

replace k8s.io/client-go => k8s.io/client-go v0.36.5

replace k8s.io/cloud-provider => k8s.io/cloud-provider v0.36.5

replace k8s.io/cluster-bootstrap => k8s.io/cluster-bootstrap v0.36.5

replace k8s.io/code-generator => k8s.io/code-generator v0.36.5

replace k8s.io/component-base => k8s.io/component-base v0.36.5

replace k8s.io/component-helpers => k8s.io/component-helpers v0.36.5

replace k8s.io/controller-manager => k8s.io/controller-manager v0.36.5

replace k8s.io/cri-api => k8s.io/cri-api v0.36.5

replace k8s.io/cri-client => k8s.io/cri-client v0.36.5

replace k8s.io/cri-streaming => k8s.io/cri-streaming v0.36.5

replace k8s.io/csi-translation-lib => k8s.io/csi-translation-lib v0.36.5

replace k8s.io/dynamic-resource-allocation => k8s.io/dynamic-resource-allocation v0.36.5

replace k8s.io/endpointslice => k8s.io/endpointslice v0.36.5

replace k8s.io/externaljwt => k8s.io/externaljwt v0.36.5

replace k8s.io/kms => k8s.io/kms v0.36.5

replace k8s.io/kube-aggregator => k8s.io/kube-aggregator v0.36.5

replace k8s.io/kube-controller-manager => k8s.io/kube-controller-manager v0.36.5

replace k8s.io/kube-proxy => k8s.io/kube-proxy v0.36.5

replace k8s.io/kube-scheduler => k8s.io/kube-scheduler v0.36.5

replace k8s.io/kubectl => k8s.io/kubectl v0.36.5

replace k8s.io/kubelet => k8s.io/kubelet v0.36.5

replace k8s.io/metrics => k8s.io/metrics v0.36.5

replace k8s.io/mount-utils => k8s.io/mount-utils v0.36.5

replace k8s.io/pod-security-admission => k8s.io/pod-security-admission v0.36.5

replace k8s.io/sample-apiserver => k8s.io/sample-apiserver v0.36.5

replace k8s.io/streaming => k8s.io/streaming v0.36.5

// As the module of the Kubernetes programs has them (gosrc/go.mod): what is compiled for those is used here too.
replace github.com/go-openapi/jsonreference => github.com/go-openapi/jsonreference v0.20.2

replace github.com/prometheus/procfs => github.com/prometheus/procfs v0.19.2
