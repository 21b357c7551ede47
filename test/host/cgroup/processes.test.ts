import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { hostCgroupfs as cgroupfs } from '../../../host/cgroup/cgroupfs.ts';
import { findHierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { hasProcesses, killCgroup } from '../../../host/cgroup/processes.ts';
import { removeCgroupTree } from '../../../host/cgroup/remove.ts';
import { signal, withRoot } from '../../volume/onDisk.ts';

const hierarchies = await readHierarchies();
const wait = (ms: number, aborted: AbortSignal) => pause(ms, undefined, { signal: aborted });
const children: ChildProcess[] = [];
const made: string[] = [];
const newCgroup = (): string => {
  made.push(`statelet-test-${randomUUID()}`);
  return made.at(-1) ?? '';
};

/** Starts a process in a cgroup, in each hierarchy that this test may change. */
function processIn(relative: string): ChildProcess {
  const child = spawn('sleep', ['600']);
  children.push(child);
  for (const { root } of hierarchies) {
    const directory = path.join(root, relative);
    try {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, 'cgroup.procs'), String(child.pid));
    } catch {
      // This hierarchy is read-only for the test.
    }
  }
  return child;
}

const endOf = async (child: ChildProcess) =>
  child.signalCode === null ? (await once(child, 'exit'))[1] : child.signalCode;

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await endOf(child);
  }
  for (const cgroup of made.splice(0)) await removeCgroupTree({ cgroupfs, hierarchies, path: cgroup, signal, wait });
});

describe('on the cgroups of this host', () => {
  withRoot('all processes in a cgroup and its descendants are killed, and no others', async () => {
    const own = newCgroup();
    const beside = processIn(newCgroup());
    const left = [processIn(own), processIn(`${own}/container/inner`)];
    expect(await hasProcesses({ cgroupfs, hierarchies, path: own })).toBe(true);
    await killCgroup({ cgroupfs, hierarchies, path: own, signal, wait });
    expect(await hasProcesses({ cgroupfs, hierarchies, path: own })).toBe(false);
    expect(await Promise.all(left.map(endOf))).toEqual(['SIGKILL', 'SIGKILL']);
    expect(beside.signalCode).toBeNull();
  });

  withRoot('frozen processes are killed as well', async () => {
    const freezer = findHierarchy(hierarchies, 'freezer');
    if (freezer?.version !== 'v1') return;
    const own = newCgroup();
    const child = processIn(own);
    await writeFile(path.join(freezer.root, own, 'freezer.state'), 'FROZEN');
    await killCgroup({ cgroupfs, hierarchies, path: own, signal, wait });
    expect(await endOf(child)).toBe('SIGKILL');
  });
});

test('a surviving process is named, and a missing cgroup has no processes', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'statelet-kill-'));
  const plain = {
    cgroupfs,
    hierarchies: [{ root, version: 'v2' as const, controllers: [] }],
    signal,
    wait: async () => {},
  };
  const child = spawn('sleep', ['600']);
  children.push(child);
  // In a plain directory, the list keeps a process that has exited.
  await mkdir(path.join(root, 'pod'));
  await writeFile(path.join(root, 'pod', 'cgroup.procs'), `0\n1\n${process.pid}\n${child.pid}\n`);
  await expect(killCgroup({ ...plain, path: 'pod' })).rejects.toMatchObject({
    reason: 'FailedKillPod',
    message: expect.stringMatching(new RegExp(`^processes in the cgroup pod survive SIGKILL: ${child.pid} \\(\\w`)),
  });
  await killCgroup({ ...plain, path: 'none' });
  await expect(killCgroup({ ...plain, path: '/' })).rejects.toMatchObject({ reason: 'FailedValidation' });
  await rm(root, { recursive: true });
});

describe('with too many open files, a cgroup', () => {
  const full = async () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };

  test('whose children cannot be listed does not count as empty', async () => {
    const own = { cgroupfs: { ...cgroupfs, children: full }, hierarchies, path: 'pod' };
    await expect(hasProcesses(own)).rejects.toMatchObject({ code: 'EMFILE' });
    await expect(killCgroup({ ...own, signal, wait })).rejects.toMatchObject({ code: 'EMFILE' });
  });

  test('whose files cannot be read does not count as empty', async () => {
    const script = `
      import { openSync } from 'node:fs';
      const { hostCgroupfs: { read, names, kill } } = await import(process.env.CGROUPFS);
      for (;;) try { openSync('/dev/null'); } catch { break; }
      for (const look of [read, names, kill]) try { look('/proc/self'); } catch ({ code }) { console.log(code); }`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const limited = ['-c', 'ulimit -n 256; exec "$@"', 'sh', ...node];
    const CGROUPFS = path.resolve('host/cgroup/cgroupfs.ts');
    const { stdout } = await promisify(execFile)('/bin/sh', limited, { env: { ...process.env, CGROUPFS } });
    expect(stdout).toBe('EMFILE\nEMFILE\nEMFILE\n');
  });
});
