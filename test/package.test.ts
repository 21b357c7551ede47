/** The package as users install it. */

import { execFile, spawnSync } from 'node:child_process';
import { access, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { installedCommand } from './e2e/support/statelet.ts';
import { root } from './support/root.ts';

jest.setTimeout(600_000);

const execute = promisify(execFile);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-package-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const PROGRAM = `
import type { EventFrom } from 'xstate';
import type * as library from 'statelet';
import { createNode, type NodeAgent, podMachine, type ActorNode, startSimulatedNode } from 'statelet';
import type { Invariant } from 'statelet/testing';

const node = await startSimulatedNode({ pods: [{ apiVersion: 'v1', kind: 'Pod' }] });
const agent: NodeAgent = node.agent;
const trees: ReadonlyMap<string, ActorNode> = agent.trees();
const machine: string = podMachine.id;
// The event types of each machine are exported.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const named: readonly true[] = [
  true satisfies Same<EventFrom<typeof library.activeDeadlineMachine>, library.TimerEvent>,
  true satisfies Same<EventFrom<typeof library.admissionMachine>, library.AdmissionEvent>,
  true satisfies Same<EventFrom<typeof library.certificateMachine>, library.CertificateEvent>,
  true satisfies Same<EventFrom<typeof library.cgroupsMachine>, library.TimerEvent>,
  true satisfies Same<EventFrom<typeof library.containerMachine>, library.ContainerEvent>,
  true satisfies Same<EventFrom<typeof library.evictionMachine>, library.EvictionEvent>,
  true satisfies Same<EventFrom<typeof library.garbageMachine>, library.GarbageEvent>,
  true satisfies Same<EventFrom<typeof library.imageGarbageMachine>, library.ImageGarbageEvent>,
  true satisfies Same<EventFrom<typeof library.imageMachine>, library.ImageEvent>,
  true satisfies Same<EventFrom<typeof library.leaseMachine>, library.LeaseEvent>,
  true satisfies Same<EventFrom<typeof library.limiterMachine>, library.LimiterEvent>,
  true satisfies Same<EventFrom<typeof library.cpusMachine>, library.CpusEvent>,
  true satisfies Same<EventFrom<typeof library.devicesMachine>, library.DevicesEvent>,
  true satisfies Same<EventFrom<typeof library.devicePluginMachine>, library.DevicePluginEvent>,
  true satisfies Same<EventFrom<typeof library.deviceAllocationMachine>, library.DeviceAllocationEvent>,
  true satisfies Same<EventFrom<typeof library.logRotationMachine>, library.LogsEvent>,
  true satisfies Same<EventFrom<typeof library.memoryManagerMachine>, library.MemoryManagerEvent>,
  true satisfies Same<EventFrom<typeof library.mirrorMachine>, library.MirrorEvent>,
  true satisfies Same<EventFrom<typeof library.nodeAgentMachine>, library.NodeEvent>,
  true satisfies Same<EventFrom<typeof library.nodeStatusMachine>, library.NodeStatusEvent>,
  true satisfies Same<EventFrom<typeof podMachine>, library.PodEvent>,
  true satisfies Same<EventFrom<typeof library.probeMachine>, library.TimerEvent>,
  true satisfies Same<EventFrom<typeof library.registrationMachine>, library.RegistrationEvent>,
  true satisfies Same<EventFrom<typeof library.statusSinkMachine>, library.StatusSinkEvent>,
  true satisfies Same<EventFrom<typeof library.volumeMachine>, library.VolumeEvent>,
];
// An invariant of a user needs no number.
const invariant: Invariant = { description: 'There is one life.', follow: () => ({}) };
// @ts-expect-error a node has a name
createNode({ rootDir: '/nowhere', capacity: { cpuMillis: 1, memoryBytes: 1, pods: 1 } });
export { invariant, machine, named, trees };
`;

const OPTIONS = {
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  // XState's own types do not compile with exactOptionalPropertyTypes.
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  // Include the programs of the guide, which are JavaScript.
  allowJs: true,
  checkJs: true,
  noImplicitAny: false,
};

/**
 * Returns the programs in the guide to testing: a node on the simulated runtime, one in simulation, and an API server.
 */
async function programsOfGuide(): Promise<readonly string[]> {
  const found = (await readFile(join(root, 'docs/how-to/test-with-statelet.md'), 'utf8')).matchAll(/```js\n(.*?)```/gs);
  const programs = [...found].flatMap(([, program]) => program ?? []);
  if (programs.length !== 3) throw new Error(`the guide to testing has ${programs.length} programs`);
  return programs;
}

test('a strict program in TypeScript compiles against the types, those of their packages included', async () => {
  const modules = join(directory, 'node_modules');
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await execute(process.execPath, [join(root, 'scripts/types.mjs'), join(modules, 'statelet/dist/types')]);
  await writeFile(
    join(modules, 'statelet/package.json'),
    JSON.stringify({ name: 'statelet', type: 'module', exports }),
  );
  for (const name of ['@types', '@grpc', '@bufbuild', '@kubernetes', 'xstate', 'zod', 'undici-types']) {
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'program.ts'), PROGRAM);
  const files = ['program.ts'];
  for (const program of await programsOfGuide()) {
    const file = `readme-${files.length}.mjs`;
    await writeFile(join(directory, file), program);
    files.push(file);
  }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files }));
  // The example project resolves the same packages from the parent directory.
  const example = join(directory, 'example');
  await cp(join(root, 'examples/testing'), example, { recursive: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  for (const project of [directory, example]) {
    const { stdout } = spawnSync(tsc, ['-p', project, '--checkers', '1'], { encoding: 'utf8' });
    expect(stdout).toBe('');
  }
});

/** Makes a program believe that it runs on Node.js 20.11, which has this version and lacks a few functions. */
const OLD_NODE = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });
delete process.getBuiltinModule;
delete Promise.withResolvers;
delete Array.fromAsync;
`;

test.each(['index', 'testing'])(
  'importing the library in an old Node.js fails with one sentence: %s',
  async (entry) => {
    await installedCommand();
    await writeFile(join(directory, 'old.mjs'), OLD_NODE);
    const library = join(root, 'dist', `${entry}.mjs`);
    const program = `import(${JSON.stringify(library)}).then(() => console.log('imported'), ({ message }) => console.log(message))`;
    const { stdout } = await execute(process.execPath, ['--import', join(directory, 'old.mjs'), '-e', program]);
    expect(stdout).toBe('statelet needs Node.js 24, but this is Node.js 20.11.0\n');
  },
);

/** Runs an example with a file that is exported as `statelet/testing`, or will be. Returns the lines that it prints. */
async function run(program = '', library = 'testing.ts'): Promise<readonly string[]> {
  await writeFile(
    join(directory, 'readme.mjs'),
    program.replace("'statelet/testing'", JSON.stringify(join(root, library))),
  );
  const args = ['--disable-warning=ExperimentalWarning', 'readme.mjs'];
  const { stdout } = await execute(process.execPath, args, { cwd: directory, timeout: 60_000 });
  return stdout.trim().split('\n');
}

test('the API server in the guide to testing reports the changes of its node, and exits', async () => {
  await installedCommand();
  expect(await run((await programsOfGuide())[2], 'dist/testing.mjs')).toEqual([
    'ADDED Node',
    'true',
    'the connection was cut before the answer',
    "{ holderIdentity: 'n1' }",
  ]);
});

test('the simulation in the guide to testing reports the outcome of its pod', async () => {
  const seen = await run((await programsOfGuide())[1]);
  const running = 'pod web-node-1 is running, with 1 of 1 containers ready';
  expect(seen.map((line) => line.replace(/^\d+ /, ''))).toEqual([running, running, 'no such pod']);
  // A minute, an hour, and the time to settle.
  expect(Number(seen.at(-1)?.split(' ')[0])).toBeGreaterThan(3_660_000);
});

describe('the manifest of the package', () => {
  test('states its repository, and every file that it names exists', async () => {
    const { repository, homepage, bin, files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(repository.url).toBe(`git+${homepage}.git`);
    expect(files).toContain('CONTRIBUTING.md');
    const named: string[] = [...Object.values<string>(bin), ...files.filter((each: string) => !/^!|^dist/.test(each))];
    for (const file of named) await expect(access(join(root, file))).resolves.toBeUndefined();
  });
});

test('systemd accepts the unit unchanged', async () => {
  // The program that the unit starts need not be installed for this check.
  const unit = (await readFile(join(root, 'examples/systemd/statelet.service'), 'utf8')).replace(
    '/usr/local/bin/statelet',
    join(root, 'cli/statelet.sh'),
  );
  await mkdir(join(directory, 'units'));
  const file = join(directory, 'units/statelet.service');
  await writeFile(file, unit);
  const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  if (error) throw error;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const line of [
    'KillMode=process',
    'Restart=always',
    'Delegate=yes',
    'OOMScoreAdjust=-999',
    'Type=notify',
    'WatchdogSec=60',
  ]) {
    expect(unit).toContain(`\n${line}\n`);
  }
});
