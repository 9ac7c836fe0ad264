apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "scheduler" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "scheduler" . }}
  labels: {{- include "labels" . | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [get, list, watch, update, patch]
  - apiGroups: [""]
    resources: [pods/binding, bindings]
    verbs: [create]
  - apiGroups: [""]
    resources: [nodes]
    verbs: [get, list, watch, update, patch]
  - apiGroups: [""]
    resources: [events]
    verbs: [create, patch, update]
  - apiGroups: [""]
    resources: [resourcequotas, namespaces, configmaps]
    verbs: [get, list, watch]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, list, watch, create, update, patch]
---
{{- range $role := list "scheduler" "kube" "volume" }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "scheduler" $ }}{{ if ne $role "scheduler" }}-{{ $role }}{{ end }}
  labels: {{- include "labels" $ | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ if eq $role "scheduler" }}{{ include "scheduler" $ }}{{ else }}system:{{ $role }}-scheduler{{ end }}
subjects:
  - kind: ServiceAccount
    name: {{ include "scheduler" $ }}
    namespace: {{ include "space" $ }}
---
{{- end }}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "scheduler" . }}-authentication-reader
  namespace: kube-system
  labels: {{- include "labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: extension-apiserver-authentication-reader
subjects:
  - kind: ServiceAccount
    name: {{ include "scheduler" . }}
    namespace: {{ include "space" . }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "scheduler" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      leaderElect: {{ .Values.scheduler.leaderElect }}
      resourceName: {{ .Values.schedulerName }}
      resourceNamespace: {{ include "space" . }}
    profiles:
      - schedulerName: {{ .Values.schedulerName }}
    extenders:
      - urlPrefix: "{{ if .Values.scheduler.admissionWebhook.enabled }}https{{ else }}http{{ end }}://127.0.0.1:{{ .Values.scheduler.service.httpTargetPort }}"
        filterVerb: filter
        bindVerb: bind
        nodeCacheCapable: true
        weight: 1
        httpTimeout: 30s
        enableHTTPS: {{ .Values.scheduler.admissionWebhook.enabled }}
        tlsConfig:
          insecure: true
        managedResources:
          {{- range list .Values.resourceName .Values.resourceMem .Values.resourceCores .Values.resourceMemPercentage }}
          - name: {{ . }}
            ignoredByScheduler: true
          {{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "scheduler" . }}-device
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
data:
  device-config.yaml: |
    nvidia:
      resourceCountName: {{ .Values.resourceName }}
      resourceMemoryName: {{ .Values.resourceMem }}
      resourceMemoryPercentageName: {{ .Values.resourceMemPercentage }}
      resourceCoreName: {{ .Values.resourceCores }}
      overwriteEnv: {{ .Values.scheduler.overwriteEnv }}
      defaultMemory: 0
      defaultCores: 0
      defaultGPUNum: 1
      deviceSplitCount: {{ .Values.devicePlugin.deviceSplitCount }}
      deviceMemoryScaling: {{ .Values.devicePlugin.deviceMemoryScaling }}
      deviceCoreScaling: {{ .Values.devicePlugin.deviceCoreScaling }}
      runtimeClassName: {{ .Values.devicePlugin.runtimeClassName | quote }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "scheduler" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  type: {{ .Values.scheduler.service.type }}
  ports:
    - name: http
      port: {{ .Values.scheduler.service.httpPort }}
      targetPort: {{ .Values.scheduler.service.httpTargetPort }}
      {{- if eq .Values.scheduler.service.type "NodePort" }}
      nodePort: {{ .Values.scheduler.service.schedulerPort }}
      {{- end }}
    - name: monitor
      port: {{ .Values.scheduler.service.monitorPort }}
      targetPort: {{ .Values.scheduler.service.monitorTargetPort }}
      {{- if eq .Values.scheduler.service.type "NodePort" }}
      nodePort: {{ .Values.scheduler.service.monitorPort }}
      {{- end }}
  selector:
    app.kubernetes.io/component: hami-scheduler
    {{- include "selector" . | nindent 4 }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "scheduler" . }}
  namespace: {{ include "space" . }}
  labels:
    app.kubernetes.io/component: hami-scheduler
    {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ if .Values.scheduler.leaderElect }}{{ .Values.scheduler.replicas }}{{ else }}1{{ end }}
  selector:
    matchLabels:
      app.kubernetes.io/component: hami-scheduler
      {{- include "selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        app.kubernetes.io/component: hami-scheduler
        hami.io/webhook: ignore
        {{- include "selector" . | nindent 8 }}
      annotations:
        checksum/values: {{ toYaml .Values | sha256sum }}
        {{- with .Values.scheduler.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "scheduler" . }}
      priorityClassName: system-node-critical
      {{- include "pull" . | nindent 6 }}
      containers:
        {{- if .Values.scheduler.kubeScheduler.enabled }}
        - name: kube-scheduler
          image: {{ include "image" (list . .Values.scheduler.kubeScheduler.image .Capabilities.KubeVersion.Version) }}
          imagePullPolicy: {{ .Values.scheduler.kubeScheduler.image.pullPolicy }}
          command:
            - kube-scheduler
            {{- range .Values.scheduler.kubeScheduler.extraNewArgs }}
            - {{ . }}
            {{- end }}
          resources: {{- toYaml .Values.scheduler.kubeScheduler.resources | nindent 12 }}
          {{- if .Values.scheduler.livenessProbe }}
          livenessProbe:
            httpGet: {path: /healthz, port: 10259, scheme: HTTPS}
            failureThreshold: 8
            initialDelaySeconds: 10
            timeoutSeconds: 15
          {{- end }}
          volumeMounts:
            - {name: scheduler-config, mountPath: /config}
        {{- end }}
        - name: vgpu-scheduler-extender
          image: {{ include "image" (list . .Values.scheduler.extender.image (default (print "v" .Chart.AppVersion) .Values.global.imageTag)) }}
          imagePullPolicy: {{ .Values.scheduler.extender.image.pullPolicy }}
          env:
            - name: HAMI_NODELOCK_EXPIRE
              value: {{ .Values.scheduler.nodeLockExpire | quote }}
          command:
            - scheduler
            - --http_bind=0.0.0.0:{{ .Values.scheduler.service.httpTargetPort }}
            {{- if .Values.scheduler.admissionWebhook.enabled }}
            - --cert_file=/tls/tls.crt
            - --key_file=/tls/tls.key
            {{- end }}
            - --scheduler-name={{ .Values.schedulerName }}
            - --metrics-bind-address={{ .Values.scheduler.metricsBindAddress }}
            - --node-scheduler-policy={{ .Values.scheduler.defaultSchedulerPolicy.nodeSchedulerPolicy }}
            - --gpu-scheduler-policy={{ .Values.scheduler.defaultSchedulerPolicy.gpuSchedulerPolicy }}
            - --force-overwrite-default-scheduler={{ .Values.scheduler.forceOverwriteDefaultScheduler }}
            - --device-config-file=/device-config.yaml
            {{- range .Values.scheduler.extender.extraArgs }}
            - {{ . }}
            {{- end }}
          ports:
            - {name: http, containerPort: {{ .Values.scheduler.service.httpTargetPort }}, protocol: TCP}
          resources: {{- toYaml .Values.scheduler.extender.resources | nindent 12 }}
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
              scheme: {{ if .Values.scheduler.admissionWebhook.enabled }}HTTPS{{ else }}HTTP{{ end }}
            periodSeconds: 2
          volumeMounts:
            - {name: device-config, mountPath: /device-config.yaml, subPath: device-config.yaml}
            {{- if .Values.scheduler.admissionWebhook.enabled }}
            - {name: tls-config, mountPath: /tls}
            {{- end }}
      volumes:
        {{- if .Values.scheduler.admissionWebhook.enabled }}
        - name: tls-config
          secret: {secretName: {{ include "tls" . }}}
        {{- end }}
        - name: scheduler-config
          configMap: {name: {{ include "scheduler" . }}}
        - name: device-config
          configMap: {name: {{ include "scheduler" . }}-device}
      {{- with .Values.scheduler.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.scheduler.nodeName }}
      nodeName: {{ . }}
      {{- end }}
