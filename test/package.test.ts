/** What others get when they install the package. */
import { execFile, spawnSync } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { installedCommand } from './e2e/support/statelet.ts';

jest.setTimeout(600_000);

const root = join(import.meta.dirname, '..');
const execute = promisify(execFile);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-package-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const PROGRAM = `
import { createNode, type NodeAgent, podMachine, type ActorNode, startSimulatedNode } from 'statelet';

const node = await startSimulatedNode({ pods: [{ apiVersion: 'v1', kind: 'Pod' }] });
const agent: NodeAgent = node.agent;
const trees: ReadonlyMap<string, ActorNode> = agent.trees();
const machine: string = podMachine.id;
// @ts-expect-error a node has a name
createNode({ rootDir: '/nowhere', capacity: { cpuMillis: 1, memoryBytes: 1, pods: 1 } });
export { machine, trees };
`;

const OPTIONS = {
  ...{ strict: true, skipLibCheck: false, noEmit: true, noUncheckedIndexedAccess: true },
  // XState's own types do not stand exactOptionalPropertyTypes.
  ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'] },
  ...{ module: 'nodenext', types: ['node'] },
  // The README's is JavaScript: what it uses has to be there.
  ...{ allowJs: true, checkJs: true, noImplicitAny: false },
};

/** The examples in the README: a node on the simulated runtime, one in simulation, and an API server. */
async function programsOfReadme(): Promise<readonly string[]> {
  const found = (await readFile(join(root, 'README.md'), 'utf8')).matchAll(/```js\n(.*?)```/gs);
  const programs = [...found].flatMap(([, program]) => program ?? []);
  if (programs.length !== 3) throw new Error(`README.md has ${programs.length} programs`);
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
  for (const name of ['@types', '@grpc', '@bufbuild', 'xstate', 'zod', 'undici-types']) {
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'program.ts'), PROGRAM);
  const files = ['program.ts'];
  for (const program of await programsOfReadme()) {
    const file = `readme-${files.length}.mjs`;
    await writeFile(join(directory, file), program);
    files.push(file);
  }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files }));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

/** Runs an example over a file that is, or will be, exported as `statelet/testing`; gives the lines that it prints. */
async function run(program = '', library = 'testing.ts'): Promise<readonly string[]> {
  await writeFile(
    join(directory, 'readme.mjs'),
    program.replace("'statelet/testing'", JSON.stringify(join(root, library))),
  );
  const args = ['--disable-warning=ExperimentalWarning', 'readme.mjs'];
  const { stdout } = await execute(process.execPath, args, { cwd: directory, timeout: 60_000 });
  return stdout.trim().split('\n');
}

test('the API server in the README tells what happens to its node, and ends', async () => {
  await installedCommand();
  expect(await run((await programsOfReadme())[2], 'dist/testing.mjs')).toEqual([
    ...['ADDED Node', 'true', 'the connection was cut before the answer', "{ holderIdentity: 'n1' }"],
  ]);
});

test('the simulation in the README tells what became of its pod', async () => {
  const seen = await run((await programsOfReadme())[1]);
  const running = 'pod web-node-1 is running, with 1 of 1 containers ready';
  expect(seen.map((line) => line.replace(/^\d+ /, ''))).toEqual([running, running, 'no such pod']);
  // A minute, an hour, and what it takes to settle.
  expect(Number(seen.at(-1)?.split(' ')[0])).toBeGreaterThan(3_660_000);
});

describe('the manifest of the package', () => {
  test('says where it comes from, and every file that it names is there', async () => {
    const { repository, homepage, bin, files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(repository.url).toBe(`git+${homepage}.git`);
    expect(files).toContain('CONTRIBUTING.md');
    const named: string[] = [...Object.values<string>(bin), ...files.filter((each: string) => !/^!|^dist/.test(each))];
    for (const file of named) await expect(access(join(root, file))).resolves.toBeUndefined();
  });
});

test('systemd takes the unit as it is', async () => {
  // What the unit starts need not be installed for that.
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
