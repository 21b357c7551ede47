import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SINGLE_RUNTIME_SUITES, TEST_RUNTIMES } from '../e2e/support/runtimes.ts';
import { root } from './root.ts';

/** A suite that passes in one of its projects, fails in the other, and cannot run in a third one. */
const FILES = {
  'package.json': '{ "type": "module" }',
  'web.test.js':
    'test("the runtime is the one of the project", () => expect(process.env.STATELET_TEST_RUNTIME).toBe("one"));' +
    'test("its programs come first", () => expect(process.env.PATH.split(":")[0]).toBe(process.env.FIRST));',
  'jest.config.mjs': `
    const project = (name, programs) => ({
      displayName: name,
      transform: {},
      cacheDirectory: '<rootDir>/cache',
      testEnvironment: '${root}/test/support/testContext.ts',
      testEnvironmentOptions: { runtime: name, programs },
    });
    export default {
      testSequencer: '${root}/test/support/testOrder.ts',
      reporters: ['${root}/test/support/projectNames.ts'],
      projects: [project('one', process.env.FIRST), project('two', process.env.FIRST), project('three', '/none')],
    };`,
};

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-projects-'));
  for (const [name, text] of Object.entries({ ...FILES, containerd: '' })) await writeFile(join(directory, name), text);
});

afterAll(() => rm(directory, { recursive: true }));

const FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const JEST = join(root, 'node_modules/jest/bin/jest.js');

test('a suite runs in each project with its runtime, and has a result and a duration for each', async () => {
  const args = [JEST, '--json', '--outputFile=results.json', '--maxWorkers=1'];
  const env = { ...process.env, FIRST: directory };
  spawnSync(process.execPath, [...FLAGS, ...args], { cwd: directory, env });
  const { projectNames, testResults } = JSON.parse(await readFile(join(directory, 'results.json'), 'utf8'));
  const outcomes = testResults.map(({ assertionResults }: { assertionResults: { status: string }[] }) =>
    assertionResults.map(({ status }) => status).join(' '),
  );
  expect(Object.fromEntries(projectNames.map((name: string, index: number) => [name, outcomes[index]]))).toEqual({
    one: 'passed passed',
    two: 'failed passed',
    three: '',
  });
  expect(JSON.stringify(testResults)).toContain('/none/containerd is missing; npm test downloads it');
  const caches = (await readdir(join(directory, 'cache'))).filter((name) => name.startsWith('perf-cache-'));
  const durations = caches.map(async (name) =>
    Object.keys(JSON.parse(await readFile(join(directory, 'cache', name), 'utf8'))),
  );
  expect(await Promise.all(durations)).toEqual(Array(3).fill([join(directory, 'web.test.js')]));
}, 60_000);

test('a test has a time limit of a minute in every project', () => {
  const { stdout } = spawnSync(process.execPath, [...FLAGS, JEST, '--showConfig'], { cwd: root, encoding: 'utf8' });
  const { globalConfig, configs } = JSON.parse(stdout);
  expect(globalConfig.testTimeout).toBe(60_000);
  const names = configs.map(({ displayName }: { displayName: { name: string } }) => displayName.name);
  expect(names).toEqual(['unit', ...TEST_RUNTIMES.map(({ name }) => name)]);
}, 60_000);

test('each suite that runs on one runtime only exists and has a reason', () => {
  expect(TEST_RUNTIMES.length).toBeGreaterThan(1);
  for (const [name, reason] of Object.entries(SINGLE_RUNTIME_SUITES)) {
    expect([name, existsSync(join(root, 'test/e2e', `${name}.test.ts`))]).toEqual([name, true]);
    expect(reason).toMatch(/^[a-z]+s /);
  }
});
