import { NodeFailure } from '../../base/failure.ts';
import { type BuiltImage, buildImage } from './ociArchive.ts';
import { run } from './program.ts';
import { findStaticProgram } from './staticProgram.ts';
import type { TarEntry } from './tar.ts';

/** The image of every sandbox: it does nothing but reap the processes that its pod leaves it. */
export const pauseImage = 'statelet.local/pause:1';

/** A small system out of one static binary, so that pods can run on a host without a registry. */
export const busyboxImage = 'statelet.local/busybox:1';

const nobody = '65534';

/** The images that a private containerd has from the start, made of this host's static binaries. */
export async function hostImages(signal: AbortSignal): Promise<BuiltImage[]> {
  const [catatonit, busybox] = await Promise.all([staticProgram('catatonit'), staticProgram('busybox')]);
  const applets = (await run(busybox.path, ['--list'], { signal })).split('\n').filter((name) => name !== '');
  return [pause(catatonit.content), busyboxSystem(busybox.content, applets)];
}

function pause(catatonit: Buffer): BuiltImage {
  return buildImage({
    name: pauseImage,
    files: [executable('catatonit', catatonit)],
    config: { Entrypoint: ['/catatonit', '-P'], User: '65535:65535' },
  });
}

function busyboxSystem(busybox: Buffer, applets: readonly string[]): BuiltImage {
  const links = applets.filter((name) => name !== 'busybox').toSorted();
  return buildImage({
    name: busyboxImage,
    files: [
      ...['bin', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'usr', 'usr/bin', 'var', 'var/tmp'].map(
        directory,
      ),
      executable('bin/busybox', busybox),
      ...links.map((name): TarEntry => ({ type: 'symlink', path: `bin/${name}`, target: 'busybox' })),
      // Scripts name these two by their usual places.
      { type: 'symlink', path: 'usr/bin/env', target: '../../bin/busybox' },
      text('etc/passwd', `root:x:0:0:root:/root:/bin/sh\nnobody:x:${nobody}:${nobody}:nobody:/home:/bin/false\n`),
      text('etc/group', `root:x:0:\nnobody:x:${nobody}:\n`),
    ],
    config: { Cmd: ['sh'], Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
  });
}

function directory(path: string): TarEntry {
  return { type: 'directory', path, mode: path.endsWith('tmp') ? 0o1777 : 0o755 };
}

function executable(path: string, content: Buffer): TarEntry {
  return { type: 'file', path, content, mode: 0o755 };
}

function text(path: string, content: string): TarEntry {
  return { type: 'file', path, content: Buffer.from(content), mode: 0o644 };
}

/** A dynamic binary would not find its libraries in an image that holds nothing else. */
async function staticProgram(name: string): Promise<{ path: string; content: Buffer }> {
  const program = await findStaticProgram(name);
  if (program !== undefined) return program;
  throw new NodeFailure('RuntimeUnavailable', `no static ${name} found on this host`);
}
