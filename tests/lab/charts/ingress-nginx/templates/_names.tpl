{{- define "name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end -}}
{{- define "controller" -}}{{ include "name" . }}-{{ .Values.controller.name }}{{- end -}}
{{- define "admission" -}}{{ include "name" . }}-admission{{- end -}}
{{- define "space" -}}{{ default .Release.Namespace .Values.namespaceOverride }}{{- end -}}

{{- define "selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ .Chart.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* (root, image) */ -}}
{{- define "image" -}}
{{- $root := index . 0 }}{{- $image := index . 1 -}}
{{ $root.Values.global.image.registry }}/{{ $image.image }}:{{ $image.tag }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}
