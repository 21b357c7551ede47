import { readFile } from 'node:fs/promises';
import { NodeFailure } from '../../pod/failure.ts';
import { type BuiltImage, buildImage } from './ociArchive.ts';
import { findProgram, run } from './program.ts';
import type { TarEntry } from './tar.ts';

/** The image of every sandbox: it does nothing but reap the processes that its pod leaves it. */
export const pauseImage = 'statelet.local/pause:1';

/** A small system out of one static binary, so that pods can run on a host without a registry. */
export const busyboxImage = 'statelet.local/busybox:1';

const nobody = '65534';

/** The images that a private containerd has from the start, made of this host's static binaries. */
export async function hostImages(signal: AbortSignal): Promise<BuiltImage[]> {
  const [catatonit, busybox] = await Promise.all([staticBinary('catatonit'), staticBinary('busybox')]);
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
async function staticBinary(name: string): Promise<{ path: string; content: Buffer }> {
  const path = await findProgram(name);
  if (path === undefined) {
    throw new NodeFailure('RuntimeUnavailable', `${name} is not on this host`, { retryable: false });
  }
  const content = await readFile(path);
  if (isStatic(content)) return { path, content };
  throw new NodeFailure('RuntimeUnavailable', `${path} is no static binary: install Debian's ${name}-static`, {
    retryable: false,
  });
}

const interpreterSegment = 3;

/** Whether a 64-bit little-endian ELF file names no interpreter (the dynamic loader). */
export function isStatic(elf: Buffer): boolean {
  if (elf.length < 64 || elf.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001') return false;
  const table = Number(elf.readBigUInt64LE(32));
  const size = elf.readUInt16LE(54);
  const types = Array.from({ length: elf.readUInt16LE(56) }, (_, index) => elf.readUInt32LE(table + index * size));
  return !types.includes(interpreterSegment);
}
