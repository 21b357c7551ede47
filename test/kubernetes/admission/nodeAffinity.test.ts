import { describe, expect, test } from '@jest/globals';
import { goArchitecture, nodeLabels } from '../../../kubernetes/admission/node.ts';
import { nodeMismatch } from '../../../kubernetes/admission/nodeAffinity.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aPod } from '../fixtures.ts';

const labels = { disk: 'ssd', zone: 'a', cores: '8', empty: '' };
const node = { name: 'node-1', labels };
const isWanted = (spec: Partial<PodSpec>) => nodeMismatch(aPod(spec).spec, node) === undefined;

type Terms = NonNullable<
  NonNullable<
    NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >['nodeSelectorTerms']
>;
const requiring = (nodeSelectorTerms: Terms) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

test.each<[Record<string, string>, boolean]>([
  [{}, true],
  [{ disk: 'ssd' }, true],
  [{ disk: 'ssd', zone: 'a' }, true],
  [{ disk: 'ssd', zone: 'b' }, false],
  [{ empty: '' }, true],
  [{ other: '' }, false],
])('the nodeSelector %j matches the node: %s', (nodeSelector, expected) => {
  expect(isWanted({ nodeSelector })).toBe(expected);
});

type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

test.each<[string, Operator, string[] | undefined, boolean]>([
  ['disk', 'In', ['hdd', 'ssd'], true],
  ['disk', 'In', ['hdd'], false],
  ['disk', 'In', [], false],
  ['other', 'In', ['x'], false],
  ['disk', 'NotIn', ['hdd'], true],
  ['disk', 'NotIn', ['ssd'], false],
  ['other', 'NotIn', ['x'], true],
  ['other', 'NotIn', [], false],
  ['empty', 'Exists', undefined, true],
  ['other', 'Exists', undefined, false],
  ['disk', 'Exists', ['ssd'], false],
  ['other', 'DoesNotExist', undefined, true],
  ['disk', 'DoesNotExist', undefined, false],
  ['cores', 'Gt', ['7'], true],
  ['cores', 'Gt', ['8'], false],
  ['cores', 'Lt', ['9'], true],
  ['cores', 'Lt', ['8'], false],
  ['cores', 'Gt', ['1', '2'], false],
  ['cores', 'Gt', ['many'], false],
  ['disk', 'Gt', ['1'], false],
  ['other', 'Lt', ['1'], false],
])('the node affinity %s %s %j matches the node: %s', (key, operator, values, expected) => {
  const requirement = { key, operator, ...(values ? { values } : {}) };
  expect(isWanted(requiring([{ matchExpressions: [requirement] }]))).toBe(expected);
});

describe('node selector terms', () => {
  const here = { key: 'zone', operator: 'In' as const, values: ['a'] };
  const there = { key: 'zone', operator: 'In' as const, values: ['b'] };

  test('require one term, with all of its requirements', () => {
    expect(isWanted(requiring([{ matchExpressions: [there] }, { matchExpressions: [here] }]))).toBe(true);
    expect(isWanted(requiring([{ matchExpressions: [here, there] }]))).toBe(false);
  });

  test('match no node if a term or the list is empty', () => {
    expect(isWanted(requiring([{}]))).toBe(false);
    expect(isWanted(requiring([]))).toBe(false);
  });

  test('require the node selector as well', () => {
    expect(isWanted({ ...requiring([{ matchExpressions: [here] }]), nodeSelector: { disk: 'hdd' } })).toBe(false);
  });

  test('are not required if they are only preferred', () => {
    const preference = { weight: 1, preference: { matchExpressions: [there] } };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [preference] };
    expect(isWanted({ affinity: { nodeAffinity } })).toBe(true);
  });

  test.each<[string, Operator, string[], boolean]>([
    ['metadata.name', 'In', ['node-1'], true],
    ['metadata.name', 'In', ['node-2'], false],
    ['metadata.name', 'In', ['node-1', 'node-2'], false],
    ['metadata.name', 'NotIn', ['node-2'], true],
    ['metadata.name', 'NotIn', ['node-1'], false],
    ['metadata.name', 'Exists', ['node-1'], false],
    ['metadata.uid', 'In', ['node-1'], false],
  ])('match the field %s %s %j: %s', (key, operator, values, expected) => {
    expect(isWanted(requiring([{ matchFields: [{ key, operator, values }] }]))).toBe(expected);
  });
});

test('combines the standard labels of a node with its own labels, which take precedence', () => {
  const own = { 'kubernetes.io/arch': 'mine', rack: '3' };
  expect(nodeLabels({ hostname: 'node-1', arch: goArchitecture('x64') }, own)).toEqual({
    'kubernetes.io/hostname': 'node-1',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'mine',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
    rack: '3',
  });
  expect(goArchitecture('arm64')).toBe('arm64');
});

describe('a mismatch', () => {
  const mismatch = (spec: Partial<PodSpec>) => nodeMismatch(aPod(spec).spec, node);
  const fast = { key: 'disk', operator: 'In' as const, values: ['nvme', 'optane'] };

  test.each<[string, Partial<PodSpec>, string]>([
    [
      'names a label that the node lacks',
      { nodeSelector: { gpu: 'yes' } },
      'needs a node with label gpu=yes, but this node has no such label',
    ],
    [
      "names the node's own value of a label",
      { nodeSelector: { disk: 'ssd', zone: 'b' } },
      'needs a node with label zone=b, but this node has zone=a',
    ],
    [
      'names the first unmet requirement of each term',
      requiring([
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }, fast] },
        { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] },
      ]),
      'needs a node with label disk In [nvme, optane] (this node has disk=ssd), or with label gpu Exists (this node has no such label)',
    ],
    [
      "names the node's name",
      requiring([{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }]),
      'needs a node with field metadata.name In [node-2] (this node is node-1)',
    ],
  ])('%s', (_, spec, text) => {
    expect(mismatch(spec)).toBe(text);
  });
});
