/** The list of the kubelet's metrics, generated from a source tree of a few files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { declaredList } from '../../scripts/kubeletMetrics/declaredList.ts';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const METRICS = '"k8s.io/component-base/metrics"';

/**
 * Creates a source tree in which the program imports these files, in addition to the files that the generator always
 * reads.
 */
function sourceWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  directories.push(root);
  const imports = Object.keys(files).map((file) => `_ "k8s.io/kubernetes/${dirname(file)}"`);
  const all = {
    'cmd/kubelet/kubelet.go': `package main\n\nimport (\n\t${imports.join('\n\t')}\n)\n`,
    'pkg/kubelet/server/server.go': 'cadvisormetrics.CpuUsageMetrics: struct{}{},\n',
    'vendor/github.com/google/cadvisor/metrics/prometheus.go': '',
    'vendor/github.com/google/cadvisor/metrics/prometheus_machine.go': '',
    ...files,
  };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const rowsOf = (files: Readonly<Record<string, string>>): string[] =>
  declaredList(sourceWith(files)).text.trim().split('\n').slice(1);

test('names, labels and bounds are read through constants, variables and other packages', () => {
  const text = `package a

import (
	names "k8s.io/kubernetes/pkg/names"
	compbase ${METRICS}
)

const subsystem = "web" // of all
const (
	Total = "requests" + "_total"
)

var bounds = []float64{.5, 1, 2 * 60}

var (
	requests = compbase.NewCounterVec(
		&compbase.CounterOpts{Subsystem: subsystem, Name: Total, Help: "Requests, by code: {all}.", StabilityLevel: compbase.BETA},
		[]string{"code", names.Verb},
	)
	latency = compbase.NewHistogram(&compbase.HistogramOpts{Namespace: "a", Subsystem: subsystem, Name: "seconds", Buckets: bounds})
	sizes   = compbase.NewHistogram(&compbase.HistogramOpts{Name: "bytes", Buckets: compbase.ExponentialBuckets(1, 2, 4)})
	ttl     = compbase.NewGaugeFunc(compbase.GaugeOpts{Name: "ttl"}, func() float64 { return 1 })
)
`;
  const verb = 'package names\n\nconst Verb = "verb"\n';
  expect(rowsOf({ 'pkg/a/metrics.go': text, 'pkg/names/names.go': verb })).toEqual([
    '/metrics\ta_web_seconds\thistogram\t\tALPHA\t0.5 1 120\tpkg/a/metrics.go',
    '/metrics\tbytes\thistogram\t\tALPHA\t1 2 4 8\tpkg/a/metrics.go',
    '/metrics\tttl\tgauge\t\tALPHA\t\tpkg/a/metrics.go',
    '/metrics\tweb_requests_total\tcounter\tcode,verb\tBETA\t\tpkg/a/metrics.go',
  ]);
});

test('a description has the type of the values that are collected for it', () => {
  const text = `package prober

import ${METRICS}

var (
	usage = metrics.NewDesc(metrics.BuildFQName("", "node", "usage"), "Usage.", []string{"pod"}, nil, metrics.STABLE, "")
)

func (c *collector) Collect(ch chan<- metrics.Metric) {
	ch <- metrics.NewLazyConstMetric(usage, metrics.CounterValue, 1)
}
`;
  expect(rowsOf({ 'pkg/kubelet/prober/metrics.go': text })).toEqual([
    '/metrics/probes\tnode_usage\tcounter\tpod\tSTABLE\t\tpkg/kubelet/prober/metrics.go',
  ]);
});

test('files that are not built for Linux, and packages that nothing imports, are omitted', () => {
  const counter = (name: string) =>
    `import ${METRICS}\n\nvar a = metrics.NewCounter(&metrics.CounterOpts{Name: "${name}"})\n`;
  const root = sourceWith({
    'pkg/a/metrics.go': `package a\n\n${counter('here')}`,
    'pkg/a/metrics_windows.go': `package a\n\n${counter('by_name')}`,
    'pkg/a/other.go': `//go:build !linux && cgo\n\npackage a\n\n${counter('by_tag')}`,
    'pkg/a/metrics_test.go': `package a\n\n${counter('in_a_test')}`,
  });
  mkdirSync(join(root, 'pkg/b'));
  writeFileSync(join(root, 'pkg/b/metrics.go'), `package b\n\n${counter('elsewhere')}`);
  expect(declaredList(root).text.match(/\/metrics\t(\w+)/g)).toEqual(['/metrics\there']);
});

test('the file of a declaration that cannot be read is reported', () => {
  const text = `package a\n\nimport ${METRICS}\n\nvar a = metrics.NewCounter(&metrics.CounterOpts{Name: nameOf(1)})\n`;
  expect(declaredList(sourceWith({ 'pkg/a/metrics.go': text }))).toEqual({
    text: expect.stringMatching(/^#.*\n$/),
    unread: ['pkg/a/metrics.go: the value of nameOf(1) is unknown'],
  });
});

test('the metrics of cAdvisor that a kubelet includes are listed', () => {
  const metric = (name: string, more = '') =>
    `\t\t\tname: "${name}",\n\t\t\thelp: "Help.",\n${more}\t\t\tvalueType: prometheus.CounterValue,\n`;
  const text = `func New() {
	if includedMetrics.Has(container.CpuUsageMetrics) {
${metric('container_cpu_seconds_total', '\t\t\textraLabels: []string{"cpu"},\n')}	}
	if includedMetrics.Has(container.PerfMetrics) {
${metric('container_perf_total')}	}
}
	desc := prometheus.NewDesc("container_start_time_seconds", "Start.", labels, nil)
`;
  const base = 'container,id,image,name,namespace,pod';
  const file = 'vendor/github.com/google/cadvisor/metrics/prometheus.go';
  expect(rowsOf({ [file]: text })).toEqual([
    `/metrics/cadvisor\tcontainer_cpu_seconds_total\tcounter\tcontainer,cpu,id,image,name,namespace,pod\t\t\t${file}`,
    `/metrics/cadvisor\tcontainer_start_time_seconds\tgauge\t${base}\t\t\t${file}`,
  ]);
});
