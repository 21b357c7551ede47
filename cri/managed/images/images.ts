import { NodeFailure } from '../../../base/failure.ts';
import { run } from '../program.ts';
import { findStaticProgram } from '../staticProgram.ts';
import { type BuiltImage, buildImage } from './ociArchive.ts';
import type { TarEntry } from './tar.ts';

/** Image of all sandboxes. Its process does nothing except reap orphaned processes of the pod. */
export const PAUSE_IMAGE = 'statelet.local/pause:1';

/** Image of a minimal system built from a static busybox, so that pods can run on a host without a registry. */
export const BUSYBOX_IMAGE = 'statelet.local/busybox:1';

const NOBODY_ID = '65534';

/** Builds the images that every private containerd has, from static programs of this host. */
export async function buildHostImages(signal: AbortSignal): Promise<BuiltImage[]> {
  const [catatonit, busybox] = await Promise.all([requireStaticProgram('catatonit'), requireStaticProgram('busybox')]);
  const applets = (await run(busybox.path, ['--list'], { signal })).split('\n').filter((name) => name !== '');
  return [buildPauseImage(catatonit.content), buildBusyboxImage(busybox.content, applets)];
}

function buildPauseImage(catatonit: Buffer): BuiltImage {
  return buildImage({
    name: PAUSE_IMAGE,
    files: [executableEntry('catatonit', catatonit)],
    config: { Entrypoint: ['/catatonit', '-P'], User: '65535:65535' },
  });
}

function buildBusyboxImage(busybox: Buffer, applets: readonly string[]): BuiltImage {
  const linkNames = applets.filter((name) => name !== 'busybox').toSorted();
  return buildImage({
    name: BUSYBOX_IMAGE,
    files: [
      ...['bin', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'usr', 'usr/bin', 'var', 'var/tmp'].map(
        directoryEntry,
      ),
      executableEntry('bin/busybox', busybox),
      ...linkNames.map((name): TarEntry => ({ type: 'symlink', path: `bin/${name}`, target: 'busybox' })),
      // Scripts commonly use this path in their shebang line.
      { type: 'symlink', path: 'usr/bin/env', target: '../../bin/busybox' },
      fileEntry(
        'etc/passwd',
        `root:x:0:0:root:/root:/bin/sh\nnobody:x:${NOBODY_ID}:${NOBODY_ID}:nobody:/home:/bin/false\n`,
      ),
      fileEntry('etc/group', `root:x:0:\nnobody:x:${NOBODY_ID}:\n`),
    ],
    config: { Cmd: ['sh'], Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
  });
}

function directoryEntry(path: string): TarEntry {
  return { type: 'directory', path, mode: path.endsWith('tmp') ? 0o1777 : 0o755 };
}

function executableEntry(path: string, content: Buffer): TarEntry {
  return { type: 'file', path, content, mode: 0o755 };
}

function fileEntry(path: string, content: string): TarEntry {
  return { type: 'file', path, content: Buffer.from(content), mode: 0o644 };
}

/** Returns a static program of this host. A dynamically linked program would not find its libraries in the image. */
async function requireStaticProgram(name: string): Promise<{ path: string; content: Buffer }> {
  const program = await findStaticProgram(name);
  if (program !== undefined) return program;
  throw new NodeFailure('RuntimeUnavailable', `no static ${name} found on this host`);
}
