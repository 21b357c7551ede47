/** Mounts on this host, and works in its volumes. */
import { constants } from 'node:fs';
import { messageOf } from '../base/failure.ts';
import { mountAt } from '../host/files/mountinfo.ts';
import { inVolumes } from './inVolumes.ts';
import { mount, unmount } from './mount.ts';
import type { Mounter } from './mounter.ts';
import { setOwnership } from './ownership.ts';
import { runOnVolume } from './program.ts';

/** The host's own. */
export const hostMounter: Mounter = { mount, unmount, mountAt, inVolumes, setOwnership, kindOf, make };

async function kindOf(target: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const mode = await runOnVolume('stat', ['-L', '-c', '%f', '--', target], { at: [target], signal });
    return Number.parseInt(mode, 16) & constants.S_IFMT;
  } catch (error) {
    if (/: (No such file or directory|Not a directory)$/.test(messageOf(error))) return undefined;
    throw error;
  }
}

const MAKERS = { directory: ['mkdir', '-p', '-m', '755'], file: ['touch'] } as const;

async function make(kind: keyof typeof MAKERS, target: string, signal: AbortSignal): Promise<void> {
  const [program, ...options] = MAKERS[kind];
  await runOnVolume(program, [...options, '--', target], { at: [target], signal });
}
