import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { prepareSubPaths } from '../../cri/subPaths.ts';
import type { VolumeMount } from '../../pod/schema/container.ts';
import { container, node, pod } from './nodeAndPod.ts';

const signal = new AbortController().signal;
let directory: string;
let volume: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'subpath-'));
  volume = join(directory, 'volume');
  await mkdir(join(directory, 'outside'));
  await mkdir(join(volume, 'inside'), { recursive: true });
});

afterEach(() => rm(directory, { recursive: true }));

function prepare(mount: Partial<VolumeMount>, volumes: Record<string, string> = { data: volume }): Promise<void> {
  const one = container({ volumeMounts: [{ name: 'data', mountPath: '/data', ...mount }] });
  const input = { pod: pod({ containers: [one] }), container: one, attempt: 0, imageRef: '', sandboxIps: [] };
  return prepareSubPaths({ ...input, volumes, node: node() }, signal);
}

test('missing directories are made, those that are there stay', async () => {
  await prepare({ subPath: 'inside/a/b' });
  await prepare({ subPath: 'inside/a/b' });
  expect((await lstat(join(volume, 'inside/a/b'))).isDirectory()).toBe(true);
});

test('a file can be mounted', async () => {
  await writeFile(join(volume, 'file'), 'x');
  await expect(prepare({ subPath: 'file' })).resolves.toBeUndefined();
});

test('a symlink within the volume is followed', async () => {
  await symlink('inside', join(volume, 'link'));
  await prepare({ subPath: 'link/c' });
  expect(await readdir(join(volume, 'inside'))).toEqual(['c']);
});

test.each(['link', 'link/new', 'link/../inside'])('C26: %s is refused when the link leads outside', async (subPath) => {
  await symlink('../outside', join(volume, 'link'));
  await expect(prepare({ subPath })).rejects.toMatchObject({ reason: 'CreateContainerConfigError' });
  expect(await readdir(join(directory, 'outside'))).toEqual([]);
});

test('C26: a sibling whose name begins like the volume is outside', async () => {
  await mkdir(`${volume}-2`);
  await symlink(`${volume}-2`, join(volume, 'link'));
  await expect(prepare({ subPath: 'link' })).rejects.toThrow('leads outside');
});

test('C26: a symlink to nothing is refused', async () => {
  await symlink('../outside/later', join(volume, 'link'));
  await expect(prepare({ subPath: 'link' })).rejects.toMatchObject({ reason: 'CreateContainerConfigError' });
});

test('a volume may be the root of the host', async () => {
  await expect(prepare({ subPath: 'tmp' }, { data: '/' })).resolves.toBeUndefined();
});

test('a volume that is not there is refused, not made', async () => {
  await expect(prepare({ subPath: 'a' }, { data: join(directory, 'none') })).rejects.toThrow('is not at');
});

test('mounts without a subPath are not looked at', async () => {
  await expect(prepare({}, {})).resolves.toBeUndefined();
});
