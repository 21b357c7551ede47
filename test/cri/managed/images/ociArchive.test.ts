import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { buildImage, ociArchive } from '../../../../cri/managed/images/ociArchive.ts';
import { type TarEntry, tar } from '../../../../cri/managed/images/tar.ts';

const files: TarEntry[] = [
  { type: 'directory', path: 'tmp', mode: 0o1777 },
  { type: 'file', path: 'bin/tool', content: Buffer.from('x'.repeat(700)), mode: 0o755 },
  { type: 'symlink', path: 'bin/sh', target: 'tool' },
];
const recipe = { name: 'example.test/tool:1', files, config: { Cmd: ['sh'] } };

function system(input: Buffer, ...args: string[]): string {
  return execFileSync('tar', args, { input, env: { ...process.env, TZ: 'UTC' } }).toString();
}

test('tar extracts an archive with its modes, links and contents', () => {
  const lines = system(tar(files), '-tvf', '-')
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '));
  expect(lines).toEqual([
    'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
    '-rwxr-xr-x 0/0 700 1970-01-01 00:00 bin/tool',
    'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/sh -> tool',
  ]);
  expect(system(tar(files), '-xOf', '-', 'bin/tool')).toBe('x'.repeat(700));
});

test('rejects a path that is too long for a tar header', () => {
  expect(() => tar([{ type: 'directory', path: 'd'.repeat(100), mode: 0o755 }])).toThrow('too long for tar');
});

test('builds the same bytes from the same source and a different image from a different file', () => {
  const image = buildImage(recipe);
  expect(ociArchive([buildImage(recipe)])).toEqual(ociArchive([image]));
  const other = buildImage({ ...recipe, files: files.slice(1) });
  expect(other.id).not.toBe(image.id);
});

test('the index names each image and refers to its configuration, whose digest is the ID', () => {
  const image = buildImage(recipe);
  const archive = ociArchive([image]);
  const read = (path: string) => JSON.parse(system(archive, '-xOf', '-', path));
  const [entry] = read('index.json').manifests;
  expect(entry.annotations['io.containerd.image.name']).toBe('example.test/tool:1');
  const manifest = read(`blobs/${entry.digest.replace(':', '/')}`);
  expect(manifest.config.digest).toBe(image.id);
  expect(read(`blobs/${image.id.replace(':', '/')}`)).toMatchObject({
    os: 'linux',
    config: { Cmd: ['sh'] },
    rootfs: { type: 'layers', diff_ids: [manifest.layers[0].digest] },
  });
});
