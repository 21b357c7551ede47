import { NodeFailure } from '../../base/failure.ts';
import { errorCode, isOutOfDescriptors } from '../../host/files/fileErrors.ts';
import { ConfigError } from '../../node/config/configError.ts';
import { RecordingError } from '../../recording/recordingError.ts';

const LIMIT = 'raise the limit (ulimit -n)';

/** What Node.js says where it cannot read a package.json beside a module that is only now loaded: without the call's code. */
const UNREAD_PACKAGE = /^(Cannot read package config .*: too many open files)\.$/;

/** What went wrong, for the user: a mistake of theirs by its message alone, one of ours with where it happened. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return lines(String(error));
  const [, unread] =
    errorCode(error) === 'ERR_INVALID_PACKAGE_CONFIG' ? (UNREAD_PACKAGE.exec(error.message) ?? []) : [];
  if (unread !== undefined) return lines(`${unread}: ${LIMIT}`);
  // What the system refuses (a full or read-only disk, no more open files) is not ours either.
  const isTheirs =
    error instanceof ConfigError ||
    error instanceof NodeFailure ||
    error instanceof RecordingError ||
    'syscall' in error;
  return lines(isTheirs ? refusal(error) : (error.stack ?? error.message));
}

/** What was refused, with what helps against it. */
function refusal(error: Error): string {
  if (isOutOfDescriptors(error) || isOutOfDescriptors(error.cause))
    return `${error.message}: too many open files: ${LIMIT}`;
  const isForbidden = [error, error.cause].some((each) => errorCode(each) === 'EACCES' || errorCode(each) === 'EPERM');
  const needsRoot = isForbidden && process.getuid?.() !== 0 && !/\broot\b/.test(error.message);
  return needsRoot ? `${error.message}: this needs root` : error.message;
}

const lines = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `statelet: ${line}\n`)
    .join('');
