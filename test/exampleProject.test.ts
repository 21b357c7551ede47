/** The project in `examples/testing`, installed and run as a user would. `package.test.ts` compiles it. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { installedCommand, packageNode } from './e2e/support/statelet.ts';
import { root } from './support/root.ts';

jest.setTimeout(300_000);

let directory: string;
beforeAll(async () => {
  const [command = ''] = await installedCommand();
  directory = await mkdtemp(join(tmpdir(), 'statelet-example-'));
  await cp(join(root, 'examples/testing'), directory, { recursive: true });
  const modules = join(directory, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  await symlink(command, join(modules, '.bin/statelet'));
  for (const name of ['@kubernetes', 'xstate']) await symlink(join(root, 'node_modules', name), join(modules, name));
  await symlink(root, join(modules, 'statelet'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('the tests of the example pass', () => {
  const [node] = packageNode;
  const { status, stdout, stderr } = spawnSync(node, ['--test', '--test-timeout=240000', '--test-reporter=tap'], {
    cwd: directory,
    encoding: 'utf8',
  });
  // Compare the output as well, because it explains a failure.
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: expect.stringMatching(/^# fail 0$/m), stderr: '' });
});

test('its versions are those that this repository is tested with', async () => {
  const manifest = async (file: string) => JSON.parse(await readFile(join(root, file), 'utf8'));
  const [example, own] = [await manifest('examples/testing/package.json'), await manifest('package.json')];
  const { statelet, ...others } = { ...example.dependencies, ...example.devDependencies };
  expect(statelet).toBe(`^${own.version}`);
  const tested = { ...own.dependencies, ...own.devDependencies };
  const versionOf = (text: string) => text.replace(/^\^/, '');
  for (const [name, version] of Object.entries<string>(others))
    expect(versionOf(version)).toBe(versionOf(tested[name]));
  expect(own.dependencies).not.toHaveProperty(['@kubernetes/client-node']);
});
