{{- if .Values.controller.admissionWebhooks.enabled }}
{{- $name := include "admission" . }}
{{- $webhooks := .Values.controller.admissionWebhooks }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "controller" . }}-admission
  namespace: {{ include "space" . }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  type: {{ $webhooks.service.type }}
  ports:
    - {name: https-webhook, port: {{ $webhooks.service.servicePort }}, targetPort: webhook}
  selector:
    app.kubernetes.io/component: controller
    {{- include "selector" . | nindent 4 }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ $name }}
  labels: {{- include "labels" . | nindent 4 }}
webhooks:
  - name: validate.nginx.ingress.kubernetes.io
    admissionReviewVersions: [v1]
    clientConfig:
      service:
        name: {{ include "controller" . }}-admission
        namespace: {{ include "space" . }}
        path: /networking/v1/ingresses
        port: {{ $webhooks.service.servicePort }}
    failurePolicy: {{ $webhooks.failurePolicy }}
    matchPolicy: Equivalent
    rules:
      - apiGroups: [networking.k8s.io]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [ingresses]
    sideEffects: None
{{- if $webhooks.patch.enabled }}
{{- range $when := list "create" "patch" }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}-{{ $when }}
  namespace: {{ include "space" $ }}
  annotations:
    helm.sh/hook: {{ ternary "pre-install,pre-upgrade" "post-install,post-upgrade" (eq $when "create") }}
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
    spec:
      restartPolicy: OnFailure
      serviceAccountName: {{ $name }}
      containers:
        - name: {{ $when }}
          image: {{ include "image" (list $ $webhooks.patch.image) }}
          imagePullPolicy: {{ $webhooks.patch.image.pullPolicy }}
          args:
            {{- if eq $when "create" }}
            - create
            - --host={{ include "controller" $ }}-admission,{{ include "controller" $ }}-admission.{{ include "space" $ }}.svc
            {{- else }}
            - patch
            - --webhook-name={{ $name }}
            - --patch-mutating=false
            - --patch-failure-policy={{ $webhooks.failurePolicy }}
            {{- end }}
            - --namespace={{ include "space" $ }}
            - --secret-name={{ $name }}
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
      {{- with $webhooks.patch.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $webhooks.patch.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
{{- range $kind := list "ServiceAccount" "ClusterRole" "ClusterRoleBinding" }}
---
apiVersion: {{ if eq $kind "ServiceAccount" }}v1{{ else }}rbac.authorization.k8s.io/v1{{ end }}
kind: {{ $kind }}
metadata:
  name: {{ $name }}
  {{- if eq $kind "ServiceAccount" }}
  namespace: {{ include "space" $ }}
  {{- end }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-weight: "-1"
{{- if eq $kind "ClusterRole" }}
rules:
  - apiGroups: [admissionregistration.k8s.io]
    resources: [validatingwebhookconfigurations]
    verbs: [get, update]
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get, create]
{{- else if eq $kind "ClusterRoleBinding" }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $name }}
    namespace: {{ include "space" $ }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
