import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CpuManagerState } from '../../../actors/cpus/cpuManagerState.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { simulatedCpuManager } from '../../../testing/simulation/host/cpuTopologies.ts';

const { cpuPolicy } = simulatedCpuManager('laptop');

let rootDir: string;
let file: string;
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'cpu-state-'));
  file = join(rootDir, 'cpu_manager_state');
});
afterEach(() => rmSync(rootDir, { recursive: true }));

const createState = () => new CpuManagerState(hostFiles, rootDir);

test('CPU assignments of a kubelet are read, and written in a form that a kubelet reads', async () => {
  writeFileSync(
    file,
    '{"policyName":"static","defaultCpuSet":"0,2-4,6-7","entries":{"uid-1":{"main":"1,5"}},"checksum":0}',
  );
  const state = createState();
  await state.load(cpuPolicy);
  expect([state.cpusOf('uid-1', 'main'), state.cpusOf('uid-1', 'other')]).toEqual([
    [1, 5],
    [0, 2, 3, 4, 6, 7],
  ]);
  if (state.assignments !== undefined) await state.save(state.assignments);
  expect(readFileSync(file, 'utf8')).toMatch(
    /^\{"policyName":"static","defaultCpuSet":"0,2-4,6-7","entries":\{"uid-1":\{"main":"1,5"\}\},"checksum":\d+\}$/,
  );
  const nextState = createState();
  await nextState.load(cpuPolicy);
  expect(nextState.assignments).toEqual(state.assignments);
});

test('all CPUs are shared on a host without a state file', async () => {
  const state = createState();
  await state.load(cpuPolicy);
  expect(state.assignments).toEqual({ shared: [0, 1, 2, 3, 4, 5, 6, 7], exclusive: [] });
});

test('new containers get changed CPUs only once the assignment is durable', async () => {
  const state = createState();
  await state.load(cpuPolicy);
  rmSync(rootDir, { recursive: true });
  const exclusive = [{ podUid: 'uid-1', container: 'main', cpus: [1] }];
  await expect(state.save({ shared: [0, 2, 3, 4, 5, 6, 7], exclusive })).rejects.toThrow('ENOENT');
  expect(state.cpusOf('uid-1', 'main')).toHaveLength(8);
  rootDir = mkdtempSync(join(tmpdir(), 'cpu-state-'));
});

test('overlapping saves are written in order, so that the last assignment is durable', async () => {
  const state = createState();
  await state.load(cpuPolicy);
  const saves = [1, 2, 3, 4, 5].map((cpu) =>
    state.save({ shared: [0], exclusive: [{ podUid: 'uid-1', container: 'main', cpus: [cpu] }] }),
  );
  await Promise.all(saves);
  expect(state.cpusOf('uid-1', 'main')).toEqual([5]);
  expect(readFileSync(file, 'utf8')).toContain('"entries":{"uid-1":{"main":"5"}}');
});

test.each([
  [
    'a policy that has changed',
    undefined,
    '{"policyName":"static","defaultCpuSet":"0-7","checksum":0}',
    'configured policy "none" differs from state checkpoint policy "static"',
  ],
  [
    'a damaged file',
    cpuPolicy,
    '{"policyName":"static","defaultCpuSet":"0-7","checksum":1}',
    'checkpoint is corrupted',
  ],
])('loading fails with %s, and the error names the file to delete', async (_, policy, text, reason) => {
  writeFileSync(file, text);
  await expect(createState().load(policy)).rejects.toThrow(
    `could not restore state from checkpoint: ${reason}, please drain this node and delete the CPU manager checkpoint file "${file}" before restarting Kubelet`,
  );
});

test('loading fails on a host with different CPUs', async () => {
  writeFileSync(file, '{"policyName":"static","defaultCpuSet":"0-3","checksum":0}');
  await expect(createState().load(cpuPolicy)).rejects.toThrow(
    'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-3"',
  );
});
