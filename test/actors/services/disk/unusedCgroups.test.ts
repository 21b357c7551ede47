import { beforeEach, expect, test } from '@jest/globals';
import { UnusedCgroups } from '../../../../actors/services/disk/unusedCgroups.ts';
import { ListPodSandboxResponse } from '../../../../cri/generated/runtime.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';

const web = { metadata: { uid: 'web-uid', namespace: 'default', name: 'web' } } as Pod;
const labels = { 'io.kubernetes.pod.uid': 'web-uid' };

const AT_FIRST = { now: 0, has: true, runs: false, sandboxes: 0, isAway: false, owns: false, isAlone: true };
let there = AT_FIRST;
const listed = () => Array.from({ length: there.sandboxes }, (_, id) => ({ id: `${id}`, labels }));
const unusedCgroups = () =>
  new UnusedCgroups({
    cri: {
      listPodSandbox: async () => {
        if (there.isAway) throw new Error('away');
        return ListPodSandboxResponse.create({ items: listed() });
      },
    },
    cgroups: { has: () => there.has, isPopulated: async () => there.runs },
    ownership: { owns: async () => there.owns, hasCgroupAlone: () => there.isAlone },
    clock: { monotonic: () => there.now },
  });
let unused = unusedCgroups();
const mayHave = (ran: readonly string[] = []) =>
  unused.mayUse({ pod: web, ran }, { signal: new AbortController().signal });

/** Changes the situation, and returns whether the pod may use the cgroup. */
const when = (now: Partial<typeof AT_FIRST>) => {
  there = { ...there, ...now };
  return mayHave();
};

beforeEach(() => {
  there = AT_FIRST;
  unused = unusedCgroups();
});

test('a pod may use the cgroup of its name at once if the cgroup does not exist or belongs to the pod', async () => {
  expect(await mayHave()).toBe(false);
  expect(await mayHave(['its sandbox'])).toBe(true);
  expect(await when({ owns: true })).toBe(true);
  expect(await when({ owns: false, has: false })).toBe(true);
});

test('a pod may use an abandoned cgroup once the cgroup has been unused for five minutes', async () => {
  expect(await mayHave()).toBe(false);
  expect(await when({ now: 299_999 })).toBe(false);
  expect(await when({ now: 300_000 })).toBe(true);
});

test.each([
  ['anything runs in it', { runs: true }],
  ['the runtime has a sandbox of the pod, whoever made it', { sandboxes: 1 }],
])('a pod may not use a cgroup while %s, and for five minutes afterwards', async (_, used) => {
  expect(await when({ isAlone: false })).toBe(false);
  expect(await when({ now: 100_000, ...used })).toBe(false);
  expect(await when({ now: 200_000, runs: false, sandboxes: 0 })).toBe(false);
  expect(await when({ now: 499_999 })).toBe(false);
  expect(await when({ now: 500_000 })).toBe(true);
});

test('time during which the runtime is down does not count towards the five minutes', async () => {
  expect(await mayHave()).toBe(false);
  await expect(when({ now: 100_000, isAway: true })).rejects.toThrow('away');
  expect(await when({ now: 300_000, isAway: false })).toBe(false);
  expect(await when({ now: 599_999 })).toBe(false);
  expect(await when({ now: 600_000 })).toBe(true);
});

test('a removed pod that comes back waits the full five minutes again', async () => {
  await mayHave();
  unused.forget('web-uid');
  expect(await when({ now: 300_000 })).toBe(false);
});
