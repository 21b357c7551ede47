import { beforeEach, expect, test } from '@jest/globals';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';

let disk: MemoryDisk;
let files: MemoryFiles;
const mounts = () => disk.mounts.map(({ path, type, source }) => ({ path, type, source }));

beforeEach(async () => {
  disk = new MemoryDisk(() => 0);
  files = new MemoryFiles(disk);
  await files.mkdir('/pods/one', { recursive: true });
  await files.mkdir('/data/inner', { recursive: true });
  await files.writeFile('/pods/one/old', 'old');
  await files.writeFile('/data/file', 'data');
});

test('a memory file system hides what is below it and loses its contents when unmounted', async () => {
  disk.mount('tmpfs', '/pods/one');
  expect(await files.readdir('/pods/one')).toEqual([]);
  await files.writeFile('/pods/one/new', 'new');
  expect(await files.readdir('/pods/one')).toEqual(['new']);
  expect(mounts()).toEqual([{ path: '/pods/one', type: 'tmpfs' }]);
  disk.unmount('/pods/one');
  expect(await files.readdir('/pods/one')).toEqual(['old']);
  expect(mounts()).toEqual([]);
  expect(() => disk.unmount('/pods/one')).toThrow('EINVAL');
});

test('of several mounts at a path, the latest is visible and unmounted first', async () => {
  disk.mount('tmpfs', '/pods/one');
  await files.writeFile('/pods/one/first', '');
  disk.mount('hugetlbfs', '/pods/one');
  expect(await files.readdir('/pods/one')).toEqual([]);
  disk.unmount('/pods/one');
  expect(await files.readdir('/pods/one')).toEqual(['first']);
});

test('a bind mount exposes a directory or file at another path', async () => {
  await files.writeFile('/pods/one/place', '');
  disk.bind('/data', '/pods/one');
  expect(await files.readFile('/pods/one/file')).toBe('data');
  await files.writeFile('/pods/one/more', 'more');
  expect(await files.readFile('/data/more')).toBe('more');
  disk.unmount('/pods/one');
  disk.bind('/data/file', '/pods/one/place');
  await files.writeFile('/data/file', 'changed');
  expect(await files.readFile('/pods/one/place')).toBe('changed');
  expect(mounts()).toEqual([{ path: '/pods/one/place', type: 'ext4', source: '/data/file' }]);
  expect(() => disk.bind('/data', '/pods/one/old')).toThrow('ENOTDIR');
  expect(() => disk.bind('/none', '/pods/one')).toThrow('ENOENT');
});

test('a later mount on the source of a bind mount is not visible through it', async () => {
  disk.bind('/data', '/pods/one');
  disk.mount('tmpfs', '/data');
  expect(await files.readdir('/data')).toEqual([]);
  expect(await files.readdir('/pods/one')).toEqual(['inner', 'file']);
});

test('a path with a mount on it or below it is busy', async () => {
  disk.mount('tmpfs', '/pods/one');
  await files.mkdir('/pods/one/in');
  disk.mount('tmpfs', '/pods/one/in');
  expect(() => disk.unmount('/pods/one')).toThrow('EBUSY');
  expect(() => disk.removeDirectory('/pods/one/in')).toThrow('EBUSY');
  await expect(files.rename('/pods/one/in', '/pods/one/out')).rejects.toMatchObject({ code: 'EBUSY' });
  disk.unmount('/pods/one/in');
  disk.unmount('/pods/one');
  await files.writeFile('/data/place', '');
  disk.bind('/data/file', '/data/place');
  await expect(files.unlink('/data/place')).rejects.toMatchObject({ code: 'EBUSY' });
});

test('mounts move with their directory', async () => {
  disk.mount('tmpfs', '/pods/one');
  await files.writeFile('/pods/one/new', 'new');
  await files.rename('/pods', '/moved');
  expect(mounts()).toEqual([{ path: '/moved/one', type: 'tmpfs' }]);
  expect(await files.readFile('/moved/one/new')).toBe('new');
  disk.unmount('/moved/one');
  expect(await files.readFile('/moved/one/old')).toBe('old');
});

test('a power failure unmounts everything', async () => {
  disk.mount('tmpfs', '/data');
  disk.cutPower(() => 0.99);
  expect(mounts()).toEqual([]);
});
