import { expect, test } from '@jest/globals';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import { formatResourceCheckpoint, parseResourceCheckpoint } from '../../../kubernetes/resources/resourceCheckpoint.ts';

/** A file from `Test_stateCheckpoint_formatUpgraded` in `pkg/kubelet/allocation/state/state_checkpoint_test.go`. */
const KUBELET_DATA =
  '{"entries":{"pod1":{"ContainerResources":{"container1":{"requests":{"cpu":"1Ki","memory":"1Ki"}}}}}}';
const KUBELET_CHECKPOINT = JSON.stringify({ data: KUBELET_DATA, checksum: 1178570812 });

test('reads the resources of pods from the checkpoint of a kubelet', () => {
  expect([...parseResourceCheckpoint(KUBELET_CHECKPOINT)]).toEqual([
    ['pod1', { containers: { container1: { requests: { cpu: '1Ki', memory: '1Ki' } } } }],
  ]);
});

test('reads a checkpoint without pods, and containers that Go writes as null', () => {
  const emptyCheckpoint = formatResourceCheckpoint(new Map());
  expect(JSON.parse(emptyCheckpoint)).toMatchObject({ data: '{}' });
  expect(parseResourceCheckpoint(emptyCheckpoint)).toEqual(new Map());
  const checkpoint = '{"data":"{\\"entries\\":{\\"pod1\\":{\\"ContainerResources\\":null}}}","checksum":0}';
  const checksum = 2340225100;
  expect(parseResourceCheckpoint(checkpoint.replace('"checksum":0', `"checksum":${checksum}`))).toEqual(
    new Map([['pod1', { containers: {} }]]),
  );
});

test.each([
  ['a wrong checksum', JSON.stringify({ data: KUBELET_DATA, checksum: 1178570813 }), 'checkpoint is corrupted'],
  ['changed data', KUBELET_CHECKPOINT.replaceAll('1Ki', '2Ki'), 'checkpoint is corrupted'],
  ['half a file', KUBELET_CHECKPOINT.slice(0, 40), 'expected a JSON object with data and checksum'],
])('rejects a checkpoint with %s', (_, text, message) => {
  expect(() => parseResourceCheckpoint(text)).toThrow(message);
});

test('writes what a kubelet writes, with sorted names', () => {
  const checkpoint = formatResourceCheckpoint(
    new Map([
      ['pod2', { pod: { requests: { cpu: '1', memory: '1Gi' } }, containers: {} }],
      ['pod1', { containers: { web: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m' } }, init: {} } }],
    ]),
  );
  const data =
    '{"entries":{"pod1":{"ContainerResources":{"init":{},"web":{"limits":{"cpu":"1","memory":"64Mi"},"requests":{"cpu":"500m"}}},"PodLevelResources":null},"pod2":{"ContainerResources":{},"PodLevelResources":{"requests":{"cpu":"1","memory":"1Gi"}}}}}';
  expect(JSON.parse(checkpoint)).toEqual({ data, checksum: expect.any(Number) });
});

/** The quantities of `Test_stateCheckpoint_storeState`. */
const FACTORS = ['1', '0.1', '0.03', '10', '100', '512', '1000', '1024', '700', '10000'];
const SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', ''];

test('a checkpoint retains each quantity', () => {
  const quantities = FACTORS.flatMap((factor) =>
    SUFFIXES.filter((suffix) => !(suffix.startsWith('E') && ['1000', '10000'].includes(factor))).map(
      (suffix) => `${factor}${suffix}`,
    ),
  );
  expect(quantities).toHaveLength(156);
  for (const quantity of quantities) {
    const resources = { requests: { cpu: quantity, memory: quantity } };
    const pods = new Map([['pod1', { pod: resources, containers: { container1: resources } }]]);
    const restored = parseResourceCheckpoint(formatResourceCheckpoint(pods)).get('pod1');
    const amounts = [restored?.pod, restored?.containers.container1].flatMap((each) => [
      parseQuantity(each?.requests?.cpu ?? ''),
      parseQuantity(each?.requests?.memory ?? ''),
    ]);
    expect(new Set(amounts)).toEqual(new Set([parseQuantity(quantity)]));
  }
});
