import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';

jest.setTimeout(60_000);

/** A package with two modules, and with a test of each kind. */
const FILES = {
  'jest.config.mjs': 'export default { testMatch: ["<rootDir>/test/**/*.test.ts"], haste: { enableSymlinks: false } };',
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
  for (const [path, text] of Object.entries({ ...FILES, '.gitignore': 'node_modules' })) await write(path, text);
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
