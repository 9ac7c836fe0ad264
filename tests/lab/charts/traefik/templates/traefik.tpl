{{- define "name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}{{ else if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end -}}
{{- define "selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}-{{ .Release.Namespace }}
{{- end -}}
{{- define "labels" -}}
{{ include "selector" . }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
{{- $nginx := .Values.providers.kubernetesIngressNGINX -}}
{{- if not $nginx.enabled }}{{ $nginx = .Values.providers.kubernetesIngressNginx }}{{ end -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "name" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "name" . }}-{{ .Release.Namespace }}
  labels: {{- include "labels" . | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [services]
    verbs: [get, list, watch]
  - apiGroups: [networking.k8s.io]
    resources: [ingresses, ingressclasses]
    verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "name" . }}-{{ .Release.Namespace }}
  labels: {{- include "labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "name" . }}-{{ .Release.Namespace }}
subjects:
  - kind: ServiceAccount
    name: {{ include "name" . }}
    namespace: {{ .Release.Namespace }}
---
{{- if .Values.ingressClass.enabled }}
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: {{ default (include "name" .) .Values.ingressClass.name }}
  labels: {{- include "labels" . | nindent 4 }}
  annotations:
    ingressclass.kubernetes.io/is-default-class: {{ .Values.ingressClass.isDefaultClass | quote }}
spec:
  controller: traefik.io/ingress-controller
---
{{- end }}
{{- if .Values.service.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "labels" . | nindent 4 }}
    {{- with .Values.service.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .Values.service.type }}
  {{- with .Values.service.spec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  selector: {{- include "selector" . | nindent 4 }}
  ports:
    {{- range $name := list "web" "websecure" }}
    {{- with index $.Values.ports $name }}
    - name: {{ $name }}
      port: {{ .exposedPort }}
      protocol: {{ .protocol }}
      targetPort: {{ $name }}
      {{- with .nodePort }}
      nodePort: {{ . }}
      {{- end }}
    {{- end }}
    {{- end }}
---
{{- end }}
apiVersion: apps/v1
kind: {{ .Values.deployment.kind }}
metadata:
  name: {{ include "name" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  {{- if eq .Values.deployment.kind "Deployment" }}
  replicas: {{ .Values.deployment.replicas }}
  strategy: {{- toYaml .Values.updateStrategy | nindent 4 }}
  {{- else }}
  updateStrategy: {{- toYaml .Values.updateStrategy | nindent 4 }}
  {{- end }}
  selector:
    matchLabels: {{- include "selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" . | nindent 8 }}
    spec:
      serviceAccountName: {{ include "name" . }}
      containers:
        - name: {{ include "name" . }}
          image: {{ .Values.image.registry }}/{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          args:
            {{- range $name, $port := .Values.ports }}
            {{- if $port }}
            - --entryPoints.{{ $name }}.address=:{{ $port.port }}/{{ lower (default "TCP" $port.protocol) }}
            {{- end }}
            {{- end }}
            {{- if .Values.providers.kubernetesIngress.enabled }}
            - --providers.kubernetesingress
            {{- end }}
            {{- if $nginx.enabled }}
            - --providers.kubernetesingressnginx
            {{- with $nginx.ingressClass }}
            - --providers.kubernetesingressnginx.ingressclass={{ . }}
            {{- end }}
            {{- with $nginx.controllerClass }}
            - --providers.kubernetesingressnginx.controllerclass={{ . }}
            {{- end }}
            {{- end }}
            {{- range .Values.additionalArguments }}
            - {{ . | quote }}
            {{- end }}
          ports:
            {{- range $name := list "traefik" "web" "websecure" }}
            {{- with index $.Values.ports $name }}
            - {name: {{ $name }}, containerPort: {{ .port }}, protocol: {{ default "TCP" .protocol }}}
            {{- end }}
            {{- end }}
          readinessProbe:
            httpGet: {path: /ping, port: {{ .Values.ports.traefik.port }}}
            initialDelaySeconds: 2
            periodSeconds: 2
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            runAsUser: 65532
          resources: {{- toYaml .Values.resources | nindent 12 }}
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
