import { describe, expect, test } from '@jest/globals';
import { dnsWarnings, podDnsConfig } from '../../../cri/config/dns.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { node, pod } from '../nodeAndPod.ts';

const host = { servers: ['9.9.9.9'], searches: ['lan'], options: ['edns0'] };
const cluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'lan'],
  options: ['ndots:5'],
};
const inCluster = node({ clusterDns: ['10.96.0.10'] });

describe('C20: the DNS configuration of a pod by its policy', () => {
  test.each<[string, Partial<PodSpec>, typeof host]>([
    ['nothing said is ClusterFirst', {}, cluster],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, cluster],
    ['ClusterFirst on the host network is Default', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, host],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    ['Default', { dnsPolicy: 'Default' }, host],
    ['None', { dnsPolicy: 'None' }, { servers: [], searches: [], options: [] }],
  ])('%s', (_, spec, expected) => {
    expect(podDnsConfig(pod(spec), inCluster)).toEqual(expected);
  });
});

test('C20: ClusterFirst without a cluster DNS is Default', () => {
  expect(podDnsConfig(pod({ dnsPolicy: 'ClusterFirst' }), node())).toEqual(host);
});

test('C20: without a cluster domain, there are no search paths for it', () => {
  expect(podDnsConfig(pod(), node({ clusterDns: ['10.96.0.10'], clusterDomain: '' })).searches).toEqual(['lan']);
});

test('C20: dnsConfig adds servers and searches once, and its options win', () => {
  const dnsConfig = {
    nameservers: ['1.1.1.1', '10.96.0.10'],
    searches: ['lan', 'example.com'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }, { value: 'nameless' }],
  };
  expect(podDnsConfig(pod({ dnsConfig }), inCluster)).toEqual({
    servers: ['10.96.0.10', '1.1.1.1'],
    searches: [...cluster.searches, 'example.com'],
    options: ['ndots:2', 'edns0'],
  });
});

test('applies the limits of the C library: 3 servers, 32 searches, 2048 characters', () => {
  const names = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(length, 'x'));
  const resolver = (searches: string[]) =>
    podDnsConfig(pod({ dnsPolicy: 'None', dnsConfig: { nameservers: names(5, 3), searches } }), node());
  expect(resolver(names(40, 10)).servers).toHaveLength(3);
  expect(resolver(names(40, 10)).searches).toHaveLength(32);
  expect(resolver(names(30, 127)).searches).toHaveLength(16);
  expect(resolver(names(30, 128)).searches).toHaveLength(15);
});

test('C20: a static pod has this policy by default and gets no warning, because the node has one', () => {
  const own = pod();
  const annotations = { 'kubernetes.io/config.source': 'file' };
  expect(dnsWarnings({ ...own, metadata: { ...own.metadata, annotations } }, node())).toEqual([]);
});

test('C20: warns about a missing cluster DNS and about omitted entries', () => {
  expect(dnsWarnings(pod(), inCluster)).toEqual([]);
  expect(dnsWarnings(pod({ dnsPolicy: 'Default' }), node())).toEqual([]);
  const problem =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  expect(dnsWarnings(pod(), node())).toEqual([
    { eventType: 'Warning', reason: 'MissingClusterDNS', message: `pod: "web_shop(u-1)". ${problem}` },
  ]);
  const dnsConfig = {
    nameservers: ['1', '2', '3', '4'],
    searches: Array.from({ length: 33 }, (_, index) => `s${index}`),
  };
  const [searches, servers] = dnsWarnings(pod({ dnsPolicy: 'None', dnsConfig }), node());
  expect(searches?.message).toMatch(/^Search Line limits were exceeded, .*, the applied search line is: s0 s1 .* s31$/);
  expect(servers?.message).toMatch(/^Nameserver limits were exceeded, .*, the applied nameserver line is: 1 2 3$/);
});

test('C20: omits a search path that is too long for some C libraries', () => {
  const dnsConfig = { searches: ['x'.repeat(254), 'short'] };
  expect(podDnsConfig(pod({ dnsPolicy: 'None', dnsConfig }), node()).searches).toEqual(['short']);
});
