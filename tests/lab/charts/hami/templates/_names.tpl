{{- define "name" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride }}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ $name }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "scheduler" -}}{{ include "name" . }}-scheduler{{- end -}}
{{- define "plugin" -}}{{ include "name" . }}-device-plugin{{- end -}}
{{- define "webhook" -}}{{ include "name" . }}-webhook{{- end -}}
{{- define "tls" -}}{{ include "scheduler" . }}-tls{{- end -}}
{{- define "space" -}}{{ default .Release.Namespace .Values.namespaceOverride }}{{- end -}}

{{- define "labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* (root, image, tag when the image names none) */ -}}
{{- define "image" -}}
{{- $root := index . 0 }}{{- $image := index . 1 }}{{- $tag := index . 2 -}}
{{ default $image.registry $root.Values.global.imageRegistry }}/{{ $image.repository }}:{{ default $tag $image.tag }}
{{- end -}}

{{- define "pull" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
