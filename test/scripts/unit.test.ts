import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';

jest.setTimeout(60_000);

/** A package with two modules, and with a test of each kind. */
const FILES = {
  'jest.config.mjs':
    'export default { id: "unit", cacheDirectory: "<rootDir>/.cache", testMatch: ["<rootDir>/test/**/*.test.ts"] };',
  'package.json': '{ "type": "module" }',
  'base/clock.ts': 'export const now = 1;',
  'base/text.ts': 'export const text = "";',
  'test/base/clock.test.ts': "import { now } from '../../base/clock.ts';",
  'test/base/text.test.ts': "import { text } from '../../base/text.ts';",
  'test/e2e/clock.test.ts': "import { now } from '../../base/clock.ts';",
  'test/style.test.ts': '',
};

let directory: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t', ...args], { cwd: directory });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-unit-'));
  for (const path of ['scripts/unit.mjs', 'scripts/setup/places.mjs', 'scripts/setup/runForeground.mjs'])
    await cp(join(root, path), join(directory, path));
  for (const [path, text] of Object.entries({ ...FILES, '.gitignore': 'node_modules\n.cache' }))
    await write(path, text);
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Add two modules');
});

afterAll(() => rm(directory, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), text);
}

/** Returns the tests that would run, by path in the package, and the messages. */
function listChangedTests(arg: string): { tests: string[]; messages: string } {
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/unit.mjs', arg, '--listTests'], {
    cwd: directory,
    encoding: 'utf8',
  });
  const paths = stdout.split('\n').filter(Boolean);
  return { tests: paths.map((path) => path.slice(directory.length + 1)).sort(), messages: stderr };
}

test('npm run unit -- --changed runs nothing without changes', () => {
  expect(listChangedTests('--changed')).toEqual({ tests: [], messages: 'statelet: no uncommitted changes\n' });
  expect(listChangedTests('--changed=main')).toEqual({ tests: [], messages: 'statelet: no changes since main\n' });
});

test('npm run unit -- --changed runs the tests that import a changed file and those of the source tree, and names the slow ones', async () => {
  await write('base/clock.ts', 'export const now = 2;');
  const expected = {
    tests: ['test/base/clock.test.ts', 'test/style.test.ts'],
    messages: 'statelet: 1 slow test is left out: test/e2e/clock.test.ts\n',
  };
  expect(listChangedTests('--changed')).toEqual(expected);
  git('checkout', '--quiet', '-b', 'feature');
  git('commit', '--quiet', '--all', '--message', 'Change the clock');
  expect(listChangedTests('--changed=main')).toEqual(expected);
  expect(listChangedTests('--changed').tests).toEqual([]);
});

test('npm run unit -- --changed runs a new test, and ignores a removed one', async () => {
  await write('test/base/new.test.ts', '');
  await rm(join(directory, 'test/base/text.test.ts'));
  expect(listChangedTests('--changed').tests).toEqual(['test/base/new.test.ts', 'test/style.test.ts']);
});

const list = (count: number, pathOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => pathOf(index));

test('npm run unit -- --changed leaves out the farthest tests if all would take longer than a minute, and names them', async () => {
  git('checkout', '--quiet', '.');
  await write('test/base/near.test.ts', "import { text } from '../../base/text.ts';");
  await write(
    'actors/node/createNode.ts',
    "import { text } from '../../base/text.ts';\nexport const create = () => text;",
  );
  const nodeTests = list(25, (index) => `test/node/${String.fromCharCode(97 + index)}.test.ts`);
  for (const path of nodeTests)
    await write(path, "const { create } = await import('../../actors/node/createNode.ts');");
  git('add', '.');
  git('commit', '--quiet', '--message', 'Add tests of a node');
  await write('base/text.ts', "export const text = 'changed';");
  const { tests, messages } = listChangedTests('--changed');
  // Each node test counts as 5 s of the 90 s until its duration is known.
  const selectedCount = 17;
  expect(tests).toEqual([
    'test/base/near.test.ts',
    'test/base/text.test.ts',
    ...nodeTests.slice(0, selectedCount),
    'test/style.test.ts',
  ]);
  expect(messages).toBe(`statelet: 8 distant tests are left out: ${nodeTests.slice(selectedCount).join(' ')}\n`);
  const durations = { ...Object.fromEntries(nodeTests.map((path) => [path, 10])), 'test/base/near.test.ts': 60_000 };
  const recorded = Object.entries({ ...durations, 'test/node/b.test.ts': 50_000 }).map(([path, durationMs]) => [
    join(directory, path),
    [1, durationMs],
  ]);
  await write('.cache/perf-cache-unit-of-config', JSON.stringify(Object.fromEntries(recorded)));
  const withDurations = listChangedTests('--changed');
  expect(withDurations.messages).toBe('statelet: 1 distant test is left out: test/node/b.test.ts\n');
});

test('npm run unit -- --changed prefers the tests of the same subject, and ignores imports of types', async () => {
  await rm(join(directory, '.cache'), { recursive: true, force: true });
  const nodeTest =
    "import { create } from '../../actors/node/createNode.ts';\nimport type {} from '../../base/clock.ts';";
  await write('test/node/z-text.test.ts', nodeTest);
  git('add', 'test');
  git('commit', '--quiet', '--message', 'Add a test of a text');
  expect(listChangedTests('--changed').tests).toContain('test/node/z-text.test.ts');
  git('checkout', '--quiet', '.');
  await write('base/clock.ts', 'export const now = 3;');
  expect(listChangedTests('--changed').tests).toEqual(['test/base/clock.test.ts', 'test/style.test.ts']);
});
