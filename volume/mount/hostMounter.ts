/** Mounts file systems on this host and accesses the contents of volumes. */
import { constants } from 'node:fs';
import { messageOf } from '../../base/failure.ts';
import { findMountAt } from '../../host/files/mountinfo.ts';
import { runInVolumes } from '../inVolumes.ts';
import { setOwnership } from '../ownership.ts';
import { runOnVolume } from '../runOnVolume.ts';
import { mount, unmount } from './mount.ts';
import type { Mounter } from './mounter.ts';

export const hostMounter: Mounter = {
  mount,
  unmount,
  mountAt: findMountAt,
  runTasks: runInVolumes,
  setOwnership,
  fileTypeOf: readFileType,
  create,
};

async function readFileType(target: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const mode = await runOnVolume('stat', ['-L', '-c', '%f', '--', target], { paths: [target], signal });
    return Number.parseInt(mode, 16) & constants.S_IFMT;
  } catch (error) {
    if (/: (No such file or directory|Not a directory)$/.test(messageOf(error))) return undefined;
    throw error;
  }
}

const CREATE_COMMANDS = { directory: ['mkdir', '-p', '-m', '755'], file: ['touch'] } as const;

async function create(kind: keyof typeof CREATE_COMMANDS, target: string, signal: AbortSignal): Promise<void> {
  const [program, ...options] = CREATE_COMMANDS[kind];
  await runOnVolume(program, [...options, '--', target], { paths: [target], signal });
}
