/** Files with keys: of the agent's user alone, and whole or not there. */
import { dirname } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';

const OWN_MODE = 0o600;

/** Writes one with all that it has; whatever it takes the place of is there until it is whole. */
export async function writePrivate(files: FileSystem, path: string, text: string): Promise<void> {
  const half = `${path}.tmp`;
  await files.mkdir(dirname(path), { recursive: true, mode: 0o755 });
  try {
    // What is left of a former try would keep its mode, and a link would lead elsewhere.
    await files.rm(half, { force: true });
    await files.writeFile(half, text, { mode: OWN_MODE, flush: true });
    await files.rename(half, path);
  } catch (error) {
    await files.rm(half, { force: true }).catch(() => {});
    throw error;
  }
}

/** Of files that cannot be read or written: the message has the place. */
export function unusable(directory: string, cause: unknown): NodeFailure {
  const message = messageOf(cause);
  const told = message.startsWith(directory) ? message : `${directory}: ${message}`;
  const hint = errorCode(cause) === 'EACCES' ? ' (it has to belong to the user of the agent)' : '';
  return new NodeFailure('CertificateUnusable', told + hint, { cause });
}
