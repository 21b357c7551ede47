/** Local images that are imported into the private containerd of `up` from files. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { buildImage, ociArchive } from '../../cri/managed/images/ociArchive.ts';
import { type TarEntry, tar } from '../../cri/managed/images/tar.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { findStaticProgram } from '../../cri/managed/staticProgram.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { podManifest } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { openRegistry } from './support/registry.ts';
import { startStatelet, statelet } from './support/statelet.ts';

const execute = promisify(execFile);

const busybox = await findStaticProgram('busybox');
if (busybox === undefined) throw new Error('this host has no static busybox');

/** Returns an image whose containers print `words` and sleep. */
const imageSaying = (name: string, words: string) => {
  const files: TarEntry[] = [
    { type: 'directory', path: 'bin', mode: 0o755 },
    { type: 'file', path: 'bin/sh', content: busybox.content, mode: 0o755 },
    // Different contents prevent two images from sharing a layer, which containerd would unpack only once.
    { type: 'file', path: 'words', content: Buffer.from(words), mode: 0o644 },
  ];
  return buildImage({ name, files, config: { Cmd: ['/bin/sh', '-c', `echo ${words}; exec sleep 3600`] } });
};

const pod = (name: string, image: string, imagePullPolicy: 'Never' | 'IfNotPresent') =>
  podManifest(name, [{ name: 'main', image, imagePullPolicy }], { terminationGracePeriodSeconds: 1 });

const web = imageSaying('web:1', 'the first version');
const registry = await forAllTests(() => openRegistry(web));
const node = await nodeForAllTests(upNode, { prepare: (each) => each.write('web.yaml', pod('web', 'web:1', 'Never')) });

/** Returns an image in the format of `docker save`. */
function dockerArchive(image: ReturnType<typeof buildImage>): Buffer {
  const [layer, config] = image.blobs;
  const manifest = [{ Config: 'config.json', RepoTags: [image.name], Layers: ['layer.tar'] }];
  const file = (path: string, content: Buffer | undefined): TarEntry => {
    if (content === undefined) throw new Error(`the image has no ${path}`);
    return { type: 'file', path, content, mode: 0o644 };
  };
  return tar([
    file('config.json', config?.content),
    file('layer.tar', layer?.content),
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ]);
}

const image = (...args: string[]) => statelet('image', ...args, '--state-dir', node.directory);

async function archive(name: string, content: Buffer): Promise<string> {
  const path = join(node.directory, name);
  await writeFile(path, content);
  return path;
}

const logOf = async (name: string, text: string) => node.log(await node.running(name), 'main', text);

describe('a local image', () => {
  test('is suggested for import while a container waits for it', async () => {
    await node.until('waits for its image', 'web', ({ status }) => {
      return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull';
    });
    const where = ['--state-dir', node.directory];
    // The explanation is about the sandbox until the sandbox has been created.
    await eventually('the explanation suggests the import', async () =>
      (await statelet('explain', 'pod/web', ...where)).out.includes('statelet image import FILE.tar'),
    );
    expect((await statelet('describe', 'pod/web', ...where)).out).toContain('statelet image import FILE.tar');
  });

  test('is imported from a docker-archive, visible in the CRI at once, and its pod starts', async () => {
    const imported = await image('import', await archive('web.tar', dockerArchive(web)));
    expect(imported).toEqual({
      code: 0,
      out: expect.stringMatching(/^imported docker.io\/library\/web:1 \([0-9a-f]{13}, \d[\d.]*MB\)\n$/),
      err: '',
    });
    const { images } = JSON.parse((await image('list', 'web:1', '-o', 'json')).out);
    expect(images).toMatchObject([{ id: web.id, repoTags: ['docker.io/library/web:1'] }]);
    const { socket } = layoutOf(node.containerdDirectory);
    const { stdout } = await execute('ctr', [
      '--address',
      socket,
      '-n',
      'k8s.io',
      'images',
      'ls',
      'name==docker.io/library/web:1',
    ]);
    expect(stdout).toContain('io.cri-containerd.image=managed');
    await logOf('web', 'the first version');
  });

  test('is not removed while a container uses it', async () => {
    const { code, err } = await image('remove', 'web:1');
    expect([code, err]).toEqual([1, 'statelet: image "web:1" is in use by container main of pod default/web-node\n']);
    const pause = await image('remove', 'statelet.local/pause:1');
    expect(pause.err).toBe('statelet: image "statelet.local/pause:1" is in use by the sandboxes of all pods\n');
  });

  test('is replaced by another import with its name, which new pods use', async () => {
    const second = imageSaying('web:1', 'the second version');
    const { code, err } = await image('import', await archive('second.tar.gz', gzipSync(ociArchive([second]))));
    expect([code, err]).toEqual([0, '']);
    await node.write('again.yaml', pod('again', 'docker.io/library/web:1', 'IfNotPresent'));
    await logOf('again', 'the second version');
    expect(containerOf(await node.running('again'), 'main').imageID).toContain(second.id.slice(7));
  });

  test('gets a different name by --name, and can be removed when no container uses it', async () => {
    const file = await archive('other.tar', dockerArchive(imageSaying('web:1', 'other')));
    expect((await image('import', file, '--name', 'registry.local:5000/other')).out).toMatch(
      /^imported registry.local:5000\/other:latest /,
    );
    expect((await image('ls', '--no-headers')).out).toMatch(/^registry.local:5000\/other +latest +[0-9a-f]{13} /m);
    const removed = await image('rm', 'registry.local:5000/other');
    expect(removed.out).toMatch(/^removed registry.local:5000\/other:latest \(/);
    expect((await image('rm', 'registry.local:5000/other')).err).toBe(
      'statelet: image "registry.local:5000/other" not found\n',
    );
  });

  test('retains its other names when one is removed, and is deleted with the last one or by its ID', async () => {
    const twice = imageSaying('twice:1', 'twice');
    const file = await archive('twice.tar', dockerArchive(twice));
    for (const name of ['twice:1', 'twice:2', 'registry.local:5000/twice:1']) {
      expect((await image('import', file, '--name', name)).err).toBe('');
    }
    expect(await image('rm', 'twice:1')).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^untagged docker.io\/library\/twice:1 \([0-9a-f]{13} still has \S+twice:[12], \S+twice:[12]\)\n$/,
      ),
      err: '',
    });
    expect((await image('rm', 'twice:1')).err).toBe('statelet: image "twice:1" not found\n');
    const { images } = JSON.parse((await image('list', 'twice:2', '-o', 'json')).out);
    expect(images[0].repoTags.toSorted()).toEqual(['docker.io/library/twice:2', 'registry.local:5000/twice:1']);
    expect((await image('rm', 'registry.local:5000/twice:1')).out).toMatch(/^untagged registry.local:5000\/twice:1 /);
    expect((await image('rm', 'twice:2')).out).toMatch(/^removed docker.io\/library\/twice:2 \(/);
    await image('import', file);
    await image('import', file, '--name', 'twice:2');
    expect((await image('rm', twice.id.slice('sha256:'.length, 20))).out).toMatch(
      /^removed .*twice:[12], .*twice:[12] \(/,
    );
  });

  test('is not reported as damaged if the temporary directory is full', async () => {
    const file = await archive('full.tar.gz', gzipSync(dockerArchive(imageSaying('full:1', 'nothing'))));
    const full = join(node.directory, 'full');
    await mkdir(full);
    await execute('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full]);
    try {
      const importing = startStatelet(['image', 'import', file, '--state-dir', node.directory], {
        env: { TMPDIR: full },
      });
      expect(await importing.ended).toBe(1);
      expect(importing.err()).toBe(
        `statelet: ${file} cannot be stored in ${full}: ENOSPC: no space left on device, write; TMPDIR names another directory\n`,
      );
      expect(await readdir(full)).toEqual([]);
    } finally {
      await execute('umount', [full]);
    }
  });

  test('is rejected if containerd finds it damaged', async () => {
    const whole = imageSaying('broken:1', 'nothing');
    const [, ...others] = whole.blobs;
    const broken = { ...whole, blobs: [{ content: Buffer.alloc(512), digest: '' }, ...others] };
    const { code, err } = await image('import', await archive('broken.tar', dockerArchive(broken)));
    expect([code, err]).toEqual([1, expect.stringMatching(/^statelet: \S*broken.tar cannot be imported: /)]);
  });
});

test('an image is pulled from a registry, and a failed pull suggests the import', async () => {
  const name = `${registry.host}/shop/web:1`;
  expect(await image('pull', name)).toEqual({ code: 0, out: expect.stringContaining(`pulled ${name} (`), err: '' });
  const { code, err } = await image('pull', `${registry.host.replace(/:.*/, ':1')}/shop/web:1`);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/connection refused.*"statelet image import FILE.tar" needs no/),
  ]);
});

test('top shows the usage of the pods and of the node like kubectl top', async () => {
  const top = (...args: string[]) => statelet('top', ...args, '--state-dir', node.directory);
  const pods = await eventually('both pods are measured', async () => {
    const { out } = await top('pods');
    return out.includes('again-node') && out.includes('web-node') && out;
  });
  expect(pods).toMatch(/^NAME +CPU\(cores\) +MEMORY\(bytes\)\nagain-node +\d+m +\d+Mi\nweb-node +\d+m +\d+Mi\n$/);
  expect((await top('nodes')).out).toMatch(
    /^NAME +CPU\(cores\) +CPU\(%\) +MEMORY\(bytes\) +MEMORY\(%\)\nnode +\d+m +\d+% +\d+Mi +\d+%\n$/,
  );
});
