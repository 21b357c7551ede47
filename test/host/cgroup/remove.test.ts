import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { hostCgroupfs } from '../../../host/cgroup/cgroupfs.ts';
import { readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { removeCgroupTree } from '../../../host/cgroup/remove.ts';
import { signal, withRoot } from '../../volume/onDisk.ts';

const hierarchies = await readHierarchies();

/** Creates the cgroup in each hierarchy in which this process may do so. Returns their directories. */
function makeEverywhere(relative: string): string[] {
  return hierarchies.flatMap(({ root }) => {
    try {
      mkdirSync(path.join(root, relative), { recursive: true });
      return [path.join(root, relative)];
    } catch {
      return [];
    }
  });
}

const remove = (relative: string) =>
  removeCgroupTree({
    cgroupfs: hostCgroupfs,
    hierarchies,
    path: relative,
    signal,
    wait: (ms, aborted) => wait(ms, undefined, { signal: aborted }),
  });

describe('on the cgroup hierarchies of this host', () => {
  beforeAll(() => {
    expect(hierarchies).not.toEqual([]);
  });

  withRoot('a tree is removed from every hierarchy, its parent stays, and the removal is idempotent', async () => {
    const own = `statelet-test-${randomUUID()}`;
    const made = makeEverywhere(`${own}/pod1/a/b`);
    makeEverywhere(`${own}/pod1/c`);
    expect(made.length).toBeGreaterThan(0);
    await remove(`/${own}/pod1`);
    await remove(`/${own}/pod1`);
    const pods = made.map((deepest) => path.join(deepest, '..', '..'));
    expect(pods.filter((directory) => existsSync(directory))).toEqual([]);
    expect(pods.filter((directory) => !existsSync(path.dirname(directory)))).toEqual([]);
    await remove(own);
    expect(pods.filter((directory) => existsSync(path.dirname(directory)))).toEqual([]);
  });

  withRoot('a systemd slice is found in the slices that it lies in', async () => {
    const own = `stateletx${randomUUID().replaceAll('-', '')}`;
    const made = makeEverywhere(`${own}.slice/${own}-burstable.slice/${own}-burstable-pod1.slice`);
    await remove(`${own}-burstable-pod1.slice`);
    expect(made.filter((directory) => existsSync(directory))).toEqual([]);
    await remove(`${own}.slice`);
    expect(made.filter((directory) => existsSync(path.join(directory, '..', '..')))).toEqual([]);
  });

  withRoot(
    'is removed as soon as its last process has exited, and until then the failure names the process',
    async () => {
      const own = `statelet-test-${randomUUID()}`;
      const [directory = ''] = makeEverywhere(own);
      const process = spawn('sleep', ['60']);
      const ended = new Promise((resolve) => process.once('exit', resolve));
      await writeFile(path.join(directory, 'cgroup.procs'), String(process.pid));
      await expect(remove(own)).rejects.toMatchObject({
        reason: 'FailedKillPod',
        message: expect.stringContaining(directory),
      });
      const removed = remove(own);
      process.kill('SIGKILL');
      await ended;
      await removed;
      expect(existsSync(directory)).toBe(false);
    },
  );
});

test.each(['', '/', '..', '/kubepods/../..', '.'])('%j is not a cgroup that may be removed', async (relative) => {
  await expect(remove(relative)).rejects.toMatchObject({ reason: 'FailedValidation' });
});
