{{- if .Values.devicePlugin.enabled }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "plugin" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "plugin" . }}-monitor
  labels: {{- include "labels" . | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [get, list, watch, update, patch]
  - apiGroups: [""]
    resources: [nodes]
    verbs: [get, list, watch, update, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "plugin" . }}
  labels: {{- include "labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "plugin" . }}-monitor
subjects:
  - kind: ServiceAccount
    name: {{ include "plugin" . }}
    namespace: {{ include "space" . }}
---
{{- if not .Values.devicePlugin.nodeConfiguration.externalConfigName }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "plugin" . }}
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
data:
  config.json: |
    {{- .Values.devicePlugin.nodeConfiguration.config | nindent 4 }}
---
{{- end }}
{{- if and .Values.devicePlugin.createRuntimeClass .Values.devicePlugin.runtimeClassName }}
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata:
  name: {{ .Values.devicePlugin.runtimeClassName }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
handler: nvidia
---
{{- end }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "plugin" . }}-monitor
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  type: {{ .Values.devicePlugin.service.type }}
  ports:
    - name: monitorport
      port: {{ .Values.devicePlugin.service.httpPort }}
      targetPort: 9394
      {{- if eq .Values.devicePlugin.service.type "NodePort" }}
      nodePort: {{ .Values.devicePlugin.service.httpPort }}
      {{- end }}
  selector:
    app.kubernetes.io/component: hami-device-plugin
    {{- include "selector" . | nindent 4 }}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ include "plugin" . }}
  namespace: {{ include "space" . }}
  labels:
    app.kubernetes.io/component: hami-device-plugin
    {{- include "labels" . | nindent 4 }}
spec:
  updateStrategy: {{- toYaml .Values.devicePlugin.updateStrategy | nindent 4 }}
  selector:
    matchLabels:
      app.kubernetes.io/component: hami-device-plugin
      {{- include "selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        app.kubernetes.io/component: hami-device-plugin
        hami.io/webhook: ignore
        {{- include "selector" . | nindent 8 }}
      annotations:
        checksum/values: {{ toYaml (omit .Values.devicePlugin "updateStrategy") | sha256sum }}
        {{- with .Values.devicePlugin.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- with .Values.devicePlugin.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      serviceAccountName: {{ include "plugin" . }}
      priorityClassName: system-node-critical
      hostPID: {{ .Values.devicePlugin.hostPID }}
      hostNetwork: {{ .Values.devicePlugin.hostNetwork }}
      {{- include "pull" . | nindent 6 }}
      containers:
        {{- $tag := default (print "v" .Chart.AppVersion) .Values.global.imageTag }}
        - name: device-plugin
          image: {{ include "image" (list . .Values.devicePlugin.image $tag) }}
          imagePullPolicy: {{ .Values.devicePlugin.image.pullPolicy }}
          command:
            - nvidia-device-plugin
            - --config-file=/device-config.yaml
            - --mig-strategy={{ .Values.devicePlugin.migStrategy }}
            - --disable-core-limit={{ .Values.devicePlugin.disablecorelimit }}
            {{- range .Values.devicePlugin.extraArgs }}
            - {{ . }}
            {{- end }}
          env:
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
            - {name: NVIDIA_MIG_MONITOR_DEVICES, value: all}
            - {name: DEVICE_LIST_STRATEGY, value: {{ .Values.devicePlugin.deviceListStrategy }}}
            - {name: HOOK_PATH, value: {{ .Values.global.gpuHookPath }}}
          securityContext: {{- toYaml .Values.devicePlugin.securityContext | nindent 12 }}
          resources: {{- toYaml .Values.devicePlugin.resources | nindent 12 }}
          volumeMounts:
            - {name: device-plugin, mountPath: /var/lib/kubelet/device-plugins}
            - {name: lib, mountPath: {{ .Values.global.gpuHookPath }}/vgpu}
            - {name: deviceconfig, mountPath: /config}
            - {name: device-config, mountPath: /device-config.yaml, subPath: device-config.yaml}
        - name: vgpu-monitor
          image: {{ include "image" (list . .Values.devicePlugin.monitor.image $tag) }}
          imagePullPolicy: {{ .Values.devicePlugin.monitor.image.pullPolicy }}
          command: [vGPUmonitor]
          env:
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
            - {name: NVIDIA_VISIBLE_DEVICES, value: all}
            - {name: HOOK_PATH, value: {{ .Values.global.gpuHookPath }}/vgpu}
          resources: {{- toYaml .Values.devicePlugin.monitor.resources | nindent 12 }}
      volumes:
        - name: device-plugin
          hostPath: {path: {{ .Values.devicePlugin.pluginPath }}}
        - name: lib
          hostPath: {path: {{ .Values.devicePlugin.libPath }}}
        - name: deviceconfig
          configMap:
            name: {{ default (include "plugin" .) .Values.devicePlugin.nodeConfiguration.externalConfigName }}
        - name: device-config
          configMap: {name: {{ include "scheduler" . }}-device}
      {{- with .Values.devicePlugin.nvidiaNodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.devicePlugin.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
