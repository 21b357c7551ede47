import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type ArchiveImport, importArchive } from '../../../cri/images/importImages.ts';

const PATH = process.env.PATH ?? '';
const NAME = 'docker.io/library/web:1';
const ID = 'sha256:1';
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-ctr-'));
  await writeFile(join(directory, 'ctr'), `#!/bin/sh\necho "$*" > ${directory}/calls\ncat > /dev/null\n`);
  await chmod(join(directory, 'ctr'), 0o755);
  process.env.PATH = `${directory}:${PATH}`;
});

afterEach(async () => {
  process.env.PATH = PATH;
  await rm(directory, { recursive: true });
});

/** Returns the arguments of `ctr images` when an image is imported into a containerd with this status and mount point. */
async function importInto(info: Record<string, string>, mountpoint?: string): Promise<string> {
  const cri: Pick<ArchiveImport['cri'], keyof ArchiveImport['cri']> = {
    version: async () => ({ version: '0.1.0', runtimeName: 'containerd', runtimeVersion: '', runtimeApiVersion: 'v1' }),
    status: async () => ({ status: undefined, info, runtimeHandlers: [], features: undefined }),
    imageStatus: async () => ({
      image: {
        id: ID,
        repoTags: [NAME],
        repoDigests: [],
        size: 1n,
        uid: undefined,
        username: '',
        spec: undefined,
        pinned: false,
      },
      info: {},
    }),
    imageFsInfo: async () => ({
      imageFilesystems:
        mountpoint === undefined
          ? []
          : [{ timestamp: 0n, fsId: { mountpoint }, usedBytes: undefined, inodesUsed: undefined }],
      containerFilesystems: [],
    }),
  };
  async function* content() {
    yield Buffer.from('archive');
  }
  await importArchive({
    cri,
    endpoint: 'unix:///run/containerd.sock',
    archive: { label: 'web.tar', images: [{ id: ID, name: NAME }], content },
    pause: async () => {},
    signal: new AbortController().signal,
  });
  return (await readFile(join(directory, 'calls'), 'utf8')).replace(/^.* images /, '').trim();
}

const ROOT = '/var/lib/containerd';

test('an imported image is unpacked by the snapshotter that containerd 1 has in its status', async () => {
  const info = { config: JSON.stringify({ containerd: { snapshotter: 'native' } }) };
  expect(await importInto(info, `${ROOT}/io.containerd.snapshotter.v1.overlayfs`)).toBe(
    'import --snapshotter native -',
  );
});

test('with containerd 2, it is unpacked by the snapshotter in whose directory the images are', async () => {
  expect(await importInto({ config: '{}' }, `${ROOT}/io.containerd.snapshotter.v1.overlayfs`)).toBe(
    'import --snapshotter overlayfs -',
  );
});

test('without a known snapshotter, the first container unpacks the image', async () => {
  expect(await importInto({}, '/var/lib/containerd-stargz-grpc/snapshotter')).toBe('import --no-unpack -');
  expect(await importInto({})).toBe('import --no-unpack -');
});
