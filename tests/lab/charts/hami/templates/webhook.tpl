{{- if .Values.scheduler.admissionWebhook.enabled }}
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: {{ include "webhook" . }}
  labels: {{- include "labels" . | nindent 4 }}
webhooks:
  - name: vgpu.hami.io
    admissionReviewVersions: [v1]
    clientConfig:
      {{- if .Values.scheduler.admissionWebhook.customURL.enabled }}
      {{- with .Values.scheduler.admissionWebhook.customURL }}
      url: https://{{ .host }}:{{ .port }}{{ .path }}
      {{- end }}
      {{- else }}
      service:
        name: {{ include "scheduler" . }}
        namespace: {{ include "space" . }}
        path: /webhook
        port: {{ .Values.scheduler.service.httpPort }}
      {{- end }}
    failurePolicy: {{ .Values.scheduler.admissionWebhook.failurePolicy }}
    matchPolicy: Equivalent
    namespaceSelector:
      matchExpressions:
        - {key: hami.io/webhook, operator: NotIn, values: [ignore]}
        {{- with .Values.scheduler.admissionWebhook.whitelistNamespaces }}
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values: {{- toYaml . | nindent 12 }}
        {{- end }}
    objectSelector:
      matchExpressions:
        - {key: hami.io/webhook, operator: NotIn, values: [ignore]}
    reinvocationPolicy: {{ .Values.scheduler.admissionWebhook.reinvocationPolicy }}
    rules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [pods]
        scope: "*"
    sideEffects: None
    timeoutSeconds: 10
{{- if and .Values.scheduler.patch.enabled (not .Values.scheduler.certManager.enabled) }}
{{- $name := print (include "name" .) "-admission" }}
{{- range $when := list "create" "patch" }}
{{- $hooks := ternary "pre-install,pre-upgrade" "post-install,post-upgrade" (eq $when "create") }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}-{{ $when }}
  namespace: {{ include "space" $ }}
  annotations:
    helm.sh/hook: {{ $hooks }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  labels:
    {{- include "labels" $ | nindent 4 }}
    app.kubernetes.io/component: admission-webhook
spec:
  ttlSecondsAfterFinished: 0
  template:
    metadata:
      name: {{ $name }}-{{ $when }}
      labels:
        {{- include "labels" $ | nindent 8 }}
        app.kubernetes.io/component: admission-webhook
        hami.io/webhook: ignore
    spec:
      restartPolicy: OnFailure
      serviceAccountName: {{ $name }}
      {{- include "pull" $ | nindent 6 }}
      containers:
        - name: {{ $when }}
          image: {{ include "image" (list $ $.Values.scheduler.patch.imageNew "") }}
          imagePullPolicy: {{ $.Values.scheduler.patch.imageNew.pullPolicy }}
          args:
            {{- if eq $when "create" }}
            - create
            - --cert-name=tls.crt
            - --key-name=tls.key
            - --host={{ printf "%s.%s.svc,127.0.0.1" (include "scheduler" $) (include "space" $) }}
            {{- else }}
            - patch
            - --webhook-name={{ include "webhook" $ }}
            - --patch-validating=false
            {{- end }}
            - --namespace={{ include "space" $ }}
            - --secret-name={{ include "tls" $ }}
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ $.Values.scheduler.patch.runAsUser }}
      {{- with $.Values.scheduler.patch.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $.Values.scheduler.patch.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  namespace: {{ include "space" . }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-weight: "-1"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-weight: "-1"
rules:
  - apiGroups: [admissionregistration.k8s.io]
    resources: [mutatingwebhookconfigurations]
    verbs: [get, update]
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get, create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-weight: "-1"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $name }}
    namespace: {{ include "space" . }}
{{- end }}
{{- end }}
