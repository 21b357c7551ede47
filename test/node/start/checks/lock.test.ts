import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lockRootDirectory, runningAgentPid } from '../../../../node/start/checks/lock.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-lock-'));
  await mkdir(join(root, 'agents'));
});
afterEach(() => rm(root, { recursive: true }));

const claims = async () => (await readdir(join(root, 'agents'))).sort();

test('the lock files of processes that have exited are removed, and nothing else beside them', async () => {
  await writeFile(join(root, 'agents/4194000-1'), '');
  await writeFile(join(root, 'agents/4194001-1'), 'somebody wrote this');
  await writeFile(join(root, 'agents/report.txt'), '');
  await mkdir(join(root, 'agents/1'));
  await symlink('/etc/hostname', join(root, 'agents/4194002-1'));
  const theirs = ['1', '4194001-1', '4194002-1', 'report.txt'];
  const release = await lockRootDirectory(root);
  expect((await claims()).filter((name) => !theirs.includes(name))).toEqual([
    expect.stringMatching(`^${process.pid}-\\d+$`),
  ]);
  expect(await runningAgentPid(root)).toBe(process.pid);
  await release();
  expect(await claims()).toEqual(theirs);
  expect(await runningAgentPid(root)).toBeUndefined();
});
