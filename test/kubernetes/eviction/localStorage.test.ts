import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { DiskLayout } from '../../../kubernetes/eviction/layout.ts';
import {
  hasLocalStorageLimit,
  type LocalStorageLimit,
  localStorageViolation,
} from '../../../kubernetes/eviction/localStorage.ts';
import type { PodUsage } from '../../../kubernetes/eviction/usage.ts';
import { aContainer, aPod } from '../fixtures.ts';

const GI = 2 ** 30;

const limited = (limit: string, name = 'main') =>
  aContainer({ name, resources: { limits: { 'ephemeral-storage': limit } } });
const using = (usage: Partial<PodUsage>): PodUsage => ({ containers: [], volumes: [], ...usage });
const volume = { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } };

const EMPTY_DIR = 'Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". ';
const POD = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ';
const CONTAINER = 'Container main exceeded its local ephemeral storage limit "1Gi". ';

/** The cases of `TestStorageLimitEvictions` in `eviction_manager_test.go`, with their messages. */
const CASES: readonly (readonly [string, Partial<PodSpec>, PodUsage, string, DiskLayout?])[] = [
  ['an emptyDir', { volumes: [volume] }, using({ volumes: [{ name: 'scratch', bytes: 2 * GI }] }), EMPTY_DIR],
  [
    'an emptyDir in memory',
    { volumes: [{ name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }] },
    using({ volumes: [{ name: 'scratch', bytes: GI + 1 }] }),
    EMPTY_DIR,
  ],
  ['no emptyDir that is just full', { volumes: [volume] }, using({ volumes: [{ name: 'scratch', bytes: GI }] }), ''],
  ['no emptyDir that was not measured', { volumes: [volume] }, using({}), ''],
  [
    'no emptyDir with the limit 0',
    { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '0' } }] },
    using({ volumes: [{ name: 'scratch', bytes: GI }] }),
    '',
  ],
  ['the pod', { containers: [limited('1Gi')] }, using({ ephemeralStorageBytes: 2 * GI }), POD],
  [
    'the pod, if only one of its containers has a limit',
    { containers: [limited('1Gi'), aContainer({ name: 'other' })] },
    using({ ephemeralStorageBytes: GI + 1 }),
    POD,
  ],
  [
    'no pod within the sum of its limits',
    { containers: [limited('1Gi'), limited('1Gi', 'other')] },
    using({ ephemeralStorageBytes: 2 * GI }),
    '',
  ],
  [
    'a container, by its layer and its logs',
    { containers: [limited('1Gi'), limited('5Gi', 'other')] },
    using({ containers: [{ name: 'main', rootfs: { bytes: GI }, logs: { bytes: 1 } }] }),
    CONTAINER,
  ],
  [
    'no container by its layer on another file system',
    { containers: [limited('1Gi'), limited('5Gi', 'other')] },
    using({ containers: [{ name: 'main', rootfs: { bytes: 2 * GI }, logs: { bytes: GI } }] }),
    '',
    'separateImages',
  ],
  [
    'a container by its logs, wherever its layer is',
    { containers: [limited('1Gi'), limited('5Gi', 'other')] },
    using({ containers: [{ name: 'main', logs: { bytes: GI + 1 } }] }),
    CONTAINER,
    'split',
  ],
  [
    'no init container by itself',
    { initContainers: [limited('1Gi', 'setup')], containers: [limited('5Gi')] },
    using({ containers: [{ name: 'setup', logs: { bytes: 2 * GI } }] }),
    '',
  ],
  [
    'an emptyDir before the pod and its containers',
    { volumes: [volume], containers: [limited('1Gi')] },
    using({ volumes: [{ name: 'scratch', bytes: 2 * GI }], ephemeralStorageBytes: 3 * GI }),
    EMPTY_DIR,
  ],
  [
    'the pod before its containers',
    { containers: [limited('1Gi')] },
    using({ containers: [{ name: 'main', logs: { bytes: 2 * GI } }], ephemeralStorageBytes: 2 * GI }),
    POD,
  ],
];

describe('C28: the disk usage of a pod exceeds the limit of', () => {
  test.each(CASES)('%s', (_, spec, usage, message, layout = 'single') => {
    const pod = aPod(spec);
    expect(localStorageViolation(pod, usage, layout)?.message ?? '').toBe(message);
    if (message !== '') expect(hasLocalStorageLimit(pod)).toBe(true);
  });

  test.each([
    ['emptydirfs.limit', { volumes: [volume] }, using({ volumes: [{ name: 'scratch', bytes: 2 * GI }] })],
    ['ephemeralpodfs.limit', { containers: [limited('1Gi')] }, using({ ephemeralStorageBytes: 2 * GI })],
    [
      'ephemeralcontainerfs.limit',
      { containers: [limited('1Gi')] },
      using({ containers: [{ name: 'main', logs: { bytes: 2 * GI } }] }),
    ],
  ] as (readonly [LocalStorageLimit, Partial<PodSpec>, PodUsage])[])(
    '%s, as named in the metrics',
    (limit, spec, usage) => {
      expect(localStorageViolation(aPod(spec), usage, 'single')?.limit).toBe(limit);
    },
  );

  test('nothing, if it has none', () => {
    const pod = aPod({ volumes: [{ name: 'scratch', emptyDir: {} }] });
    expect(hasLocalStorageLimit(pod)).toBe(false);
    const usage = using({ volumes: [{ name: 'scratch', bytes: GI }], ephemeralStorageBytes: GI });
    expect(localStorageViolation(pod, usage, 'single')).toBeUndefined();
  });
});
