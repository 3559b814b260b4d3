{{- define "latchkey.labels" -}}
app.kubernetes.io/name: latchkey
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Variables of settings by name. A section is a map. */}}
{{- define "latchkey.settings" -}}
{{- $name := .name }}
{{- range $key, $value := .settings }}
{{- $inner := printf "%s__%s" $name $key | upper }}
{{- if kindIs "map" $value }}
{{- include "latchkey.settings" (dict "name" $inner "settings" $value) }}
{{- else }}
- name: {{ $inner }}
  value: {{ include "latchkey.value" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A list is joined by commas. Helm reads every number as a float, which would be written with an exponent. */}}
{{- define "latchkey.value" -}}
{{- if kindIs "slice" . }}
{{- $texts := list }}
{{- range . }}
{{- $texts = append $texts (include "latchkey.value" .) }}
{{- end }}
{{- join "," $texts }}
{{- else if kindIs "float64" . }}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else }}
{{- . }}
{{- end }}
{{- end }}
