import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import { affectedByChange, type PodUpdate, podUpdate } from '../../../kubernetes/lifecycle/update.ts';
import { aContainer, aPod } from '../fixtures.ts';

const withMetadata = (metadata: Partial<Pod['metadata']>): Pod => aPod({}, metadata);
const withStatus = (status: PodStatus): Pod => ({ ...aPod(), status });
const annotated = (key: string, value = 'new'): Pod => withMetadata({ annotations: { [key]: value } });
const condition = (type: string, status: 'True' | 'False' = 'True') => ({ type, status });

type Matters = (keyof PodUpdate)[];

const cases: [what: string, before: Pod, after: Pod, matters: Matters][] = [
  ['the same again', aPod(), aPod(), []],
  ['its spec', aPod(), aPod({ activeDeadlineSeconds: 5 }), ['spec']],
  ['an image', aPod(), aPod({ containers: [aContainer({ image: 'b' })] }), ['spec']],
  ['an ephemeral container', aPod(), aPod({ ephemeralContainers: [aContainer({ name: 'debug' })] }), ['spec']],
  [
    'an AppArmor profile that an annotation names',
    aPod(),
    annotated('container.apparmor.security.beta.kubernetes.io/main', 'unconfined'),
    ['spec', 'metadata'],
  ],
  ['a label', aPod(), withMetadata({ labels: { app: 'web' } }), ['metadata']],
  ['an annotation', aPod(), annotated('note'), ['metadata']],
  ['a removed annotation', annotated('note'), aPod(), ['metadata']],
  ['its generation', aPod(), withMetadata({ generation: 2 }), ['metadata']],
  ['its resourceVersion', withMetadata({ resourceVersion: '1' }), withMetadata({ resourceVersion: '2' }), []],
  ['its managed fields', aPod(), withMetadata({ managedFields: [{ manager: 'kubectl' }] }), []],
  [
    'the time when it was seen',
    annotated('kubernetes.io/config.seen', 'a'),
    annotated('kubernetes.io/config.seen', 'b'),
    [],
  ],
  [
    'a status that the node reported',
    aPod(),
    withStatus({ phase: 'Running', podIP: '10.0.0.1', containerStatuses: [], conditions: [condition('Ready')] }),
    ['conditions'],
  ],
  [
    'a later status that the node reported',
    withStatus({ phase: 'Pending', conditions: [condition('Ready', 'False')] }),
    withStatus({ phase: 'Running', conditions: [condition('Ready'), condition('PodResizeInProgress')] }),
    [],
  ],
  [
    'a condition of another component',
    withStatus({ conditions: [condition('Ready')] }),
    withStatus({ conditions: [condition('Ready'), condition('example.com/in-service')] }),
    ['conditions'],
  ],
  [
    "a changed status of another component's condition",
    withStatus({ conditions: [condition('example.com/in-service')] }),
    withStatus({ conditions: [condition('example.com/in-service', 'False')] }),
    ['conditions'],
  ],
  ['its deletion', aPod(), withMetadata({ deletionTimestamp: '2026-01-01T00:00:00Z' }), ['deletion']],
  [
    'a shorter deletion grace period',
    withMetadata({ deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }),
    withMetadata({ deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 1 }),
    ['deletion'],
  ],
];

test.each(cases)('only the changes of an update with %s are reported', (_what, before, after, matters) => {
  const update = podUpdate(before, after);
  expect(Object.entries(update).flatMap(([what, does]) => (does ? [what] : []))).toEqual(matters);
});

describe('a change of a label or annotation', () => {
  const shows = (fieldPath: string) => ({ items: [{ path: 'file', fieldRef: { fieldPath } }] });
  const volumes: Volume[] = [
    { name: 'all', downwardAPI: shows('metadata.annotations') },
    { name: 'one', projected: { sources: [{ downwardAPI: shows("metadata.annotations['build']") }] } },
    { name: 'labels', downwardAPI: shows('metadata.labels') },
    { name: 'data', emptyDir: {} },
  ];
  const variable = (fieldPath: string) => ({ env: [{ name: 'X', valueFrom: { fieldRef: { fieldPath } } }] });
  const containers = [
    aContainer({ name: 'build', ...variable("metadata.annotations['build']") }),
    aContainer({ name: 'app', ...variable("metadata.labels['app']") }),
    aContainer({ name: 'plain' }),
  ];
  const pod = (metadata: Partial<Pod['metadata']> = {}) => aPod({ volumes, containers }, metadata);

  test.each<[string, Partial<Pod['metadata']>, string[], string[]]>([
    ['that one volume and one container refer to', { annotations: { build: '7' } }, ['all', 'one'], ['build']],
    ['that only a volume with all annotations contains', { annotations: { note: 'x' } }, ['all'], []],
    ['that is a label', { labels: { app: 'web' } }, ['labels'], ['app']],
    ['that is an empty label, which equals a missing one', { labels: { app: '' } }, ['labels'], []],
  ])(
    'affects only the volumes and containers that expose the value: %s',
    (_which, metadata, ofVolumes, ofContainers) => {
      expect(affectedByChange(pod(), pod(metadata))).toEqual({ volumes: ofVolumes, containers: ofContainers });
    },
  );
});
