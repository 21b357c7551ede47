import { describe, expect, test } from '@jest/globals';
import { fieldValue, resourceValue } from '../../../kubernetes/environment/fieldRef.ts';
import { aContainer, aPod } from '../fixtures.ts';

const addresses = { podIps: ['10.0.0.2', 'fd00::2'], hostIps: ['192.168.0.1'] };
const pod = aPod(
  { nodeName: 'node', serviceAccountName: 'robot' },
  { labels: { app: 'web', 'a.b/c': '1' }, annotations: { note: 'say "hi"' } },
);

describe('C21: fieldRef', () => {
  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ["metadata.labels['app']", 'web'],
    ["metadata.labels['a.b/c']", '1'],
    ["metadata.labels['none']", ''],
    ["metadata.labels['toString']", ''],
    ["metadata.annotations['note']", 'say "hi"'],
    ['metadata.labels', 'a.b/c="1"\napp="web"'],
    ['metadata.annotations', 'note="say \\"hi\\""'],
    ['spec.nodeName', 'node'],
    ['spec.serviceAccountName', 'robot'],
    ['status.podIP', '10.0.0.2'],
    ['status.podIPs', '10.0.0.2,fd00::2'],
    ['status.hostIP', '192.168.0.1'],
    ['status.hostIPs', '192.168.0.1'],
    ['spec.containers', undefined],
    ['toString', undefined],
  ])('%s', (path, value) => {
    expect(fieldValue(pod, path, addresses)).toBe(value);
  });
});

test('labels are sorted by key, and their values are escaped as in Go', () => {
  const labels = { 'a-b': '1', a: '2', odd: 'tab\t, bell\x07, é, \u200b, \u{e0001}, \x7f' };
  expect(fieldValue(aPod({}, { labels }), 'metadata.labels', addresses)).toBe(
    'a="2"\na-b="1"\nodd="tab\\t, bell\\a, é, \\u200b, \\U000e0001, \\x7f"',
  );
});

describe('C21: resourceFieldRef', () => {
  const self = aContainer({ resources: { requests: { cpu: '250m', memory: '100Mi' }, limits: { memory: '200Mi' } } });
  const other = aContainer({ name: 'other', resources: { limits: { cpu: '3' } } });
  const both = aPod({ containers: [self, other] });
  const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '20Gi', 'hugepages-2Mi': '1Gi' };

  test.each([
    [{ resource: 'requests.cpu' }, '1'],
    [{ resource: 'requests.cpu', divisor: '1m' }, '250'],
    [{ resource: 'requests.cpu', divisor: '0' }, '1'],
    [{ resource: 'limits.memory' }, '209715200'],
    [{ resource: 'limits.memory', divisor: '1Mi' }, '200'],
    [{ resource: 'requests.memory', divisor: '3Mi' }, '34'],
    [{ resource: 'limits.cpu' }, '4'],
    [{ resource: 'limits.cpu', containerName: 'other' }, '3'],
    [{ resource: 'limits.cpu', containerName: 'nobody' }, undefined],
    [{ resource: 'requests.ephemeral-storage' }, '0'],
    [{ resource: 'limits.ephemeral-storage', divisor: '1Gi' }, '20'],
    [{ resource: 'limits.hugepages-2Mi' }, '0'],
    [{ resource: 'cpu' }, undefined],
  ])('%j', (reference, value) => {
    expect(resourceValue(both, reference, { self, allocatable })).toBe(value);
  });

  test("defaults an unset or zero limit to the pod's limit, then to the node's", () => {
    const own = { limits: { cpu: '2', memory: '64Mi', 'ephemeral-storage': '1Gi' } };
    const zero = aContainer({ resources: { limits: { memory: '0' } } });
    const limited = aContainer({ name: 'limited', resources: { limits: { memory: '32Mi' } } });
    const sized = aPod({ containers: [zero, limited], resources: own });
    const value = (resource: string, divisor: string, containerName?: string) =>
      resourceValue(
        sized,
        { resource: `limits.${resource}`, divisor, ...(containerName ? { containerName } : {}) },
        { self: zero, allocatable },
      );
    expect([value('cpu', '1'), value('memory', '1Mi'), value('memory', '1Mi', 'limited')]).toEqual(['2', '64', '32']);
    // There is no pod-level limit for ephemeral storage.
    expect(value('ephemeral-storage', '1Gi')).toBe('20');
  });

  test('defaults the limit of an init container only if it references itself, like a kubelet', () => {
    const init = aContainer({ name: 'init' });
    const started = aPod({ initContainers: [init] });
    const value = (reference: { containerName?: string }) =>
      resourceValue(started, { resource: 'limits.cpu', ...reference }, { self: init, allocatable });
    expect([value({}), value({ containerName: 'init' })]).toEqual(['4', '0']);
  });
});
