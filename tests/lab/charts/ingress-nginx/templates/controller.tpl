apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "name" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "name" . }}
  labels: {{- include "labels" . | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [services]
    verbs: [get, list, watch]
  - apiGroups: [networking.k8s.io]
    resources: [ingresses, ingressclasses]
    verbs: [get, list, watch]
  - apiGroups: [networking.k8s.io]
    resources: [ingresses/status]
    verbs: [update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "name" . }}
  labels: {{- include "labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "name" . }}
subjects:
  - kind: ServiceAccount
    name: {{ include "name" . }}
    namespace: {{ include "space" . }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "controller" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
data: {{- toYaml .Values.controller.config | nindent 2 }}
---
{{- if .Values.controller.ingressClassResource.enabled }}
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: {{ .Values.controller.ingressClassResource.name }}
  labels: {{- include "labels" . | nindent 4 }}
  {{- if or .Values.controller.ingressClassResource.default .Values.controller.ingressClassResource.annotations }}
  annotations:
    {{- if .Values.controller.ingressClassResource.default }}
    ingressclass.kubernetes.io/is-default-class: "true"
    {{- end }}
    {{- with .Values.controller.ingressClassResource.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  controller: {{ .Values.controller.ingressClassResource.controllerValue }}
---
{{- end }}
{{- if .Values.controller.service.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "controller" . }}
  namespace: {{ include "space" . }}
  labels:
    app.kubernetes.io/component: controller
    {{- include "labels" . | nindent 4 }}
    {{- with .Values.controller.service.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.controller.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .Values.controller.service.type }}
  {{- with .Values.controller.service.externalTrafficPolicy }}
  externalTrafficPolicy: {{ . }}
  {{- end }}
  ports:
    {{- $service := .Values.controller.service }}
    {{- range $name := list "http" "https" }}
    {{- if ternary $service.enableHttp $service.enableHttps (eq $name "http") }}
    - name: {{ $name }}
      port: {{ index $service.ports $name }}
      protocol: TCP
      targetPort: {{ $name }}
      {{- with index $service.nodePorts $name }}
      nodePort: {{ . }}
      {{- end }}
    {{- end }}
    {{- end }}
  selector:
    app.kubernetes.io/component: controller
    {{- include "selector" . | nindent 4 }}
---
{{- end }}
apiVersion: apps/v1
kind: {{ .Values.controller.kind }}
metadata:
  name: {{ include "controller" . }}
  namespace: {{ include "space" . }}
  labels:
    app.kubernetes.io/component: controller
    {{- include "labels" . | nindent 4 }}
spec:
  {{- if eq .Values.controller.kind "Deployment" }}
  replicas: {{ .Values.controller.replicaCount }}
  {{- with .Values.controller.updateStrategy }}
  strategy: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- else }}
  {{- with .Values.controller.updateStrategy }}
  updateStrategy: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  minReadySeconds: {{ .Values.controller.minReadySeconds }}
  selector:
    matchLabels:
      app.kubernetes.io/component: controller
      {{- include "selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        app.kubernetes.io/component: controller
        {{- include "labels" . | nindent 8 }}
        {{- with .Values.controller.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.controller.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "name" . }}
      hostNetwork: {{ .Values.controller.hostNetwork }}
      dnsPolicy: {{ if .Values.controller.hostNetwork }}ClusterFirstWithHostNet{{ else }}ClusterFirst{{ end }}
      terminationGracePeriodSeconds: {{ .Values.controller.terminationGracePeriodSeconds }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.controller.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- if not .Values.controller.hostNetwork }}
      # nginx itself may open low ports by a file capability, which this program has not; containerd 1.7 does not let it.
      securityContext:
        sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "0"}]
      {{- end }}
      containers:
        - name: {{ .Values.controller.containerName }}
          image: {{ include "image" (list . .Values.controller.image) }}
          imagePullPolicy: {{ .Values.controller.image.pullPolicy }}
          args:
            - /nginx-ingress-controller
            {{- if .Values.controller.publishService.enabled }}
            - --publish-service=$(POD_NAMESPACE)/{{ include "controller" . }}
            {{- end }}
            - --election-id={{ include "name" . }}-leader
            - --controller-class={{ .Values.controller.ingressClassResource.controllerValue }}
            - --ingress-class={{ .Values.controller.ingressClass }}
            - --configmap=$(POD_NAMESPACE)/{{ include "controller" . }}
            {{- if .Values.controller.admissionWebhooks.enabled }}
            - --validating-webhook=:{{ .Values.controller.admissionWebhooks.port }}
            - --validating-webhook-certificate=/usr/local/certificates/cert
            - --validating-webhook-key=/usr/local/certificates/key
            {{- end }}
            {{- if .Values.controller.watchIngressWithoutClass }}
            - --watch-ingress-without-class=true
            {{- end }}
            - --http-port={{ .Values.controller.containerPort.http }}
            - --https-port={{ .Values.controller.containerPort.https }}
            {{- range $key, $value := .Values.controller.extraArgs }}
            - --{{ $key }}{{ if $value }}={{ $value }}{{ end }}
            {{- end }}
          env:
            - name: POD_NAME
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
            - name: POD_NAMESPACE
              valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
          securityContext:
            runAsNonRoot: true
            runAsUser: {{ .Values.controller.image.runAsUser }}
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}
            seccompProfile: {type: RuntimeDefault}
          ports:
            {{- $controller := .Values.controller }}
            {{- range $name := list "http" "https" }}
            - name: {{ $name }}
              containerPort: {{ index $controller.containerPort $name }}
              protocol: TCP
              {{- if $controller.hostPort.enabled }}
              hostPort: {{ index $controller.hostPort.ports $name }}
              {{- end }}
            {{- end }}
            {{- if .Values.controller.admissionWebhooks.enabled }}
            - {name: webhook, containerPort: {{ .Values.controller.admissionWebhooks.port }}, protocol: TCP}
            {{- end }}
          livenessProbe:
            httpGet: {path: /healthz, port: 10254}
            initialDelaySeconds: 10
            failureThreshold: 5
          readinessProbe:
            httpGet: {path: /healthz, port: 10254}
            initialDelaySeconds: 1
            periodSeconds: 2
          resources: {{- toYaml .Values.controller.resources | nindent 12 }}
          {{- if .Values.controller.admissionWebhooks.enabled }}
          volumeMounts:
            - {name: webhook-cert, mountPath: /usr/local/certificates/, readOnly: true}
          {{- end }}
      {{- if .Values.controller.admissionWebhooks.enabled }}
      volumes:
        - name: webhook-cert
          secret: {secretName: {{ include "admission" . }}}
      {{- end }}
      {{- with .Values.controller.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.controller.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.controller.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
