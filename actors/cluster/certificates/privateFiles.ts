/** Writes private-key files atomically and makes them accessible only to the agent's user. */
import { dirname } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';

const OWNER_ONLY_MODE = 0o600;

/** Writes a file atomically, replacing any previous one. */
export async function writePrivate(files: FileSystem, path: string, text: string): Promise<void> {
  const temporaryPath = `${path}.tmp`;
  await files.mkdir(dirname(path), { recursive: true, mode: 0o755 });
  try {
    // Remove any temporary file of an earlier attempt, because it would retain its mode, and a symbolic link would
    // redirect the write.
    await files.rm(temporaryPath, { force: true });
    await files.writeFile(temporaryPath, text, { mode: OWNER_ONLY_MODE, flush: true });
    await files.rename(temporaryPath, path);
  } catch (error) {
    await files.rm(temporaryPath, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Creates the failure for a directory whose files cannot be read or written. Adds the directory to the message unless
 * the message already starts with it.
 */
export function createUnusableFailure(directory: string, cause: unknown): NodeFailure {
  const message = messageOf(cause);
  const locatedMessage = message.startsWith(directory) ? message : `${directory}: ${message}`;
  const hint = errorCode(cause) === 'EACCES' ? ' (it must belong to the user of the agent)' : '';
  return new NodeFailure('CertificateUnusable', locatedMessage + hint, { cause });
}
