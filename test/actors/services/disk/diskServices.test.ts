import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@jest/globals';
import { diskServices } from '../../../../actors/services/disk/diskServices.ts';
import { createOwnership } from '../../../../actors/store/ownership.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { Layout } from '../../../../host/pods/layout.ts';
import { hostMounter as mounter } from '../../../../volume/mount/hostMounter.ts';
import { node } from '../../../cri/nodeAndPod.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';
import { hangingVolume } from '../../../support/hangingVolume.ts';
import { inFolder, makerIn, signal, withRoot } from '../../../volume/onDisk.ts';

/** A clock whose only relevant timer fires when the test says so. */
function manualClock() {
  const due: (() => void)[] = [];
  const clock: Clock = { now: () => 0, monotonic: () => 0, setTimeout: (fn) => due.push(fn), clearTimeout: () => {} };
  return { clock, elapse: () => due[0]?.() };
}

/** Runs a test with the disk services of a pod whose volume `hung` never responds and whose volume `own` works. */
function withHungVolume(name: string, story: (place: Place) => Promise<void>): void {
  withRoot(name, () =>
    inFolder(async (folder, layout) => {
      const hanging = await hangingVolume(path.join(folder, 'hanging'));
      const { clock, elapse } = manualClock();
      const ownership = createOwnership({ layout, ownMark: makerIn(layout), podLogsDir: folder, owner: 'us' });
      const unasked = () => Promise.reject(new Error('nobody asks'));
      const cri = { version: unasked, listPodSandbox: unasked };
      const ports = diskServices({
        cri,
        node: () => node(),
        clock,
        layout,
        mounter,
        ownership,
        variableObjects: { forget: () => {} },
      });
      const hostPath = { path: hanging.directory, type: 'Directory' as const };
      const pod = aPod({
        volumes: [
          { name: 'hung', hostPath },
          { name: 'own', emptyDir: {} },
        ],
      });
      await ports.preparePod({ pod, ran: [] }, { signal });
      const mount = (volume: string) => ports.mountVolume({ pod, volume, limitMs: 120_000 }, { signal });
      const hasBegun = () => eventually('it is looked at', async () => (await hanging.lookers()) > 0);
      try {
        const other = aPod({}, { uid: 'uid-2' });
        const prepareOther = () => ports.preparePod({ pod: other, ran: [] }, { signal });
        await story({
          prepareOther,
          layout,
          uid: pod.metadata.uid,
          mount,
          elapse,
          hasBegun,
          remove: () => ports.removePodData({ pod }, { signal }),
        });
      } finally {
        await hanging.end();
      }
    }),
  );
}

interface Place {
  readonly layout: Layout;
  readonly uid: string;
  /** Prepares another pod. */
  readonly prepareOther: () => Promise<unknown>;
  readonly mount: (volume: string) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
  /** Lets the first call time out. */
  readonly elapse: () => void;
  readonly hasBegun: () => Promise<unknown>;
}

withHungVolume(
  'a hanging volume fails at its timeout, and another volume of its pod is mounted meanwhile',
  async (place) => {
    const { layout, uid, mount, elapse, hasBegun } = place;
    const hung = mount('hung');
    await hasBegun();
    const emptyDir = layout.volumeDir(uid, 'kubernetes.io/empty-dir', 'own');
    expect(await mount('own')).toEqual({ kind: 'path', hostPath: emptyDir, own: true });
    elapse();
    await expect(hung).rejects.toMatchObject({ reason: 'FailedMount', message: 'timed out after 2m0s' });
  },
);

withHungVolume('what is done to the whole pod waits for what is being done to its volumes', async (place) => {
  const { layout, uid, mount, elapse, hasBegun, remove, prepareOther } = place;
  const hung = mount('hung');
  await hasBegun();
  const removed = remove();
  const isThere = () =>
    stat(layout.podDir(uid)).then(
      () => true,
      () => false,
    );
  await prepareOther();
  expect(await isThere()).toBe(true);
  elapse();
  await expect(hung).rejects.toThrow('timed out after');
  await removed;
  expect(await isThere()).toBe(false);
});
