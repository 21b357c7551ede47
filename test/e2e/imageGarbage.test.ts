/** Unused images are removed when their file system fills up, on a real containerd whose disk is a small tmpfs. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ImageClaims } from '../../actors/images/imageClaims.ts';
import { ImageCollector } from '../../actors/images/imageCollector.ts';
import { systemClock } from '../../base/time/clock.ts';
import { buildImage, ociArchive } from '../../cri/managed/images/ociArchive.ts';
import type { TarEntry } from '../../cri/managed/images/tar.ts';
import { findStaticProgram } from '../../cri/managed/staticProgram.ts';
import { readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import { defaultImageGarbagePolicy, usedPercent } from '../../kubernetes/images/imageGarbage.ts';
import { noAbort } from './support/containerd.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest } from './support/manifests.ts';
import { type RunNode, runNodeIn } from './support/node.ts';
import { isContainerd2 } from './support/runtimes.ts';
import { statelet } from './support/statelet.ts';

const DISK_BYTES = 64 * 2 ** 20;

const busybox = await findStaticProgram('busybox');
if (busybox === undefined) throw new Error('this host has no static busybox');

const imageWith = (name: string, words: string) => {
  const files: TarEntry[] = [
    { type: 'directory', path: 'bin', mode: 0o755 },
    { type: 'file', path: 'bin/sh', content: busybox.content, mode: 0o755 },
    { type: 'file', path: 'words', content: Buffer.from(words), mode: 0o644 },
  ];
  return buildImage({ name, files, config: { Cmd: ['/bin/sh', '-c', 'exec sleep 3600'] } });
};

/** Starts a node whose files, including those of its containerd, are all on a small disk. */
async function nodeOnSmallDisk(): Promise<RunNode & { readonly disk: string }> {
  const disk = await mkdtemp(join(tmpdir(), 'statelet-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]);
  const remove = async () => {
    execFileSync('umount', ['-l', disk]);
    await rm(disk, { recursive: true });
  };
  try {
    const node = await runNodeIn(disk);
    return { ...node, disk, end: () => node.end().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

const node = await nodeForAllTests(nodeOnSmallDisk);
const at = ['--root-dir', node.rootDir];

async function importImage(name: string): Promise<void> {
  const file = join(node.directory, `${name}.tar`);
  await writeFile(file, ociArchive([imageWith(`${name}:1`, name)]));
  expect(await statelet('image', 'import', file, ...at)).toMatchObject({ code: 0 });
  await rm(file);
}

const imageNames = async () => {
  const { images } = await node.runtime.cri.listImages({ filter: undefined }, { signal: noAbort });
  return images.flatMap(({ repoTags }) => repoTags);
};

test('C47: only an image that no container uses is removed', async () => {
  for (const name of ['web', 'spare']) await importImage(name);
  await node.write('web', podManifest('web', [{ name: 'main', image: 'web:1', imagePullPolicy: 'Never' }]));
  await node.running('web');
  const listed = (await statelet('image', 'list', ...at)).out;
  expect(listed).toMatch(/library\/web +1 .* not while in use +container main of pod default\/web-node\n/);
  expect(listed).toMatch(/library\/spare +1 .* at 85% disk usage \(place \d\) +<none>\n/);
  // containerd 2 pins the image of the sandboxes.
  expect(listed).toMatch(
    isContainerd2 ? /pause.* never \(pinned\) +<none>\n/ : /pause.* not while in use +the sandboxes of all pods\n/,
  );

  const collector = new ImageCollector({
    cri: {
      ...node.runtime.cri,
      containerStatus: () => Promise.reject(new Error('containerd lists the images that a container mounts')),
    },
    clock: systemClock,
    policy: { ...defaultImageGarbagePolicy, minAgeMs: 0 },
    claims: new ImageClaims(),
    proofs: { forget: async () => {} },
    readDisk: readFileSystemUsage,
  });
  const collect = () => collector.collect([], { signal: noAbort });
  expect(await collect()).toMatchObject({ removed: [], disk: { capacityBytes: DISK_BYTES } });

  const before = await readFileSystemUsage(node.disk, noAbort);
  if (before === undefined) throw new Error('the disk has no size');
  const filler = join(node.disk, 'filler');
  await writeFile(filler, Buffer.alloc(before.availableBytes - Math.floor(DISK_BYTES * 0.13)));
  const { disk, removed } = await collect();
  expect(disk && usedPercent(disk)).toBeGreaterThanOrEqual(85);
  expect(removed.map(({ name }) => name)).toContain('docker.io/library/spare:1');
  const left = await imageNames();
  expect(left).toContain('docker.io/library/web:1');
  expect(left).not.toContain('docker.io/library/spare:1');
  expect(left.filter((name) => name.includes('pause'))).toHaveLength(1);
  // containerd frees the space only after the call.
  await rm(filler);
  expect((await node.running('web')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
});
