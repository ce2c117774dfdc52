{{- define "opserve.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "opserve.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "opserve.labels" -}}
{{ include "opserve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "opserve.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "opserve.name" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- /* A quantity of memory in MiB, rounded down. */ -}}
{{- define "opserve.mebibytes" -}}
{{- $text := toString . -}}
{{- if not (regexMatch "^[0-9]+([KMGT]i|[kMGT])?$" $text) }}
{{- fail (printf "resources.limits.memory: want a whole number with a unit such as Gi, got %s" $text) }}
{{- end -}}
{{- $number := regexFind "^[0-9]+" $text | int64 -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- if eq $unit "Ti" }}{{ mul $number 1048576 }}
{{- else if eq $unit "Gi" }}{{ mul $number 1024 }}
{{- else if eq $unit "Mi" }}{{ $number }}
{{- else if eq $unit "Ki" }}{{ div $number 1024 }}
{{- else if eq $unit "T" }}{{ div (mul $number 1000000000000) 1048576 }}
{{- else if eq $unit "G" }}{{ div (mul $number 1000000000) 1048576 }}
{{- else if eq $unit "M" }}{{ div (mul $number 1000000) 1048576 }}
{{- else if eq $unit "k" }}{{ div (mul $number 1000) 1048576 }}
{{- else }}{{ div $number 1048576 }}{{ end }}
{{- end }}

{{- /* A value as text: a whole number without an exponent. */ -}}
{{- define "opserve.word" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}

{{- /* What opserve-server reads: a flag a line. */ -}}
{{- define "opserve.config" -}}
{{- $flags := dict
      "http" (printf "0.0.0.0:%v" .Values.ports.http)
      "device" .Values.devices
      "grace-period" (printf "%vs" .Values.gracePeriodSeconds)
      "drain-timeout" (printf "%vs" .Values.drainTimeoutSeconds)
      "memory-limit" (printf "%dMiB" (div (include "opserve.mebibytes" .Values.resources.limits.memory | int64) 2))
      "log-format" "json" }}
{{- if .Values.proxy.enabled }}
{{- $_ := set $flags "listen" (list "unix:/run/opserve/grpc") }}
{{- $_ := set $flags "unix-socket-mode" "0660" }}
{{- if not (hasKey .Values.flags "token-file") }}
{{- $_ := set $flags "client-share" "100%" }}
{{- end }}
{{- $_ := set $flags "max-resets-per-second" "0" }}
{{- else }}
{{- $_ := set $flags "listen" (list (printf "0.0.0.0:%v" .Values.ports.grpc)) }}
{{- if not (hasKey .Values.flags "tls-cert") }}
{{- $_ := set $flags "insecure" "true" }}
{{- end }}
{{- end }}
{{- range $name, $value := mergeOverwrite $flags (deepCopy .Values.flags) }}
{{- if kindIs "slice" $value }}
{{ $name }} = [{{ range $i, $each := $value }}{{ if $i }}, {{ end }}{{ include "opserve.word" $each | quote }}{{ end }}]
{{- else }}
{{ $name }} = {{ include "opserve.word" $value | quote }}
{{- end }}
{{- end }}
{{- end }}
