import { NodeFailure } from '../../base/failure.ts';
import { errorCode, isOutOfDescriptors } from '../../host/files/fileErrors.ts';
import { ConfigError } from '../../node/config/configError.ts';
import { RecordingError } from '../../recording/recordingError.ts';

const LIMIT_ADVICE = 'raise the limit (ulimit -n)';

/**
 * Matches the message of a failed lazy import for which Node.js could not open a package.json. This error has no error
 * code.
 */
const UNREADABLE_PACKAGE_PATTERN = /^(Cannot read package config .*: too many open files)\.$/;

/** Formats an error for the user: only the message of an expected error, but the stack trace of an unexpected one. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return prefixLines(String(error));
  const [, packageError] =
    errorCode(error) === 'ERR_INVALID_PACKAGE_CONFIG' ? (UNREADABLE_PACKAGE_PATTERN.exec(error.message) ?? []) : [];
  if (packageError !== undefined) return prefixLines(`${packageError}: ${LIMIT_ADVICE}`);
  // Failed system calls, e.g. because of a full disk, are expected errors too.
  const isExpected =
    error instanceof ConfigError ||
    error instanceof NodeFailure ||
    error instanceof RecordingError ||
    'syscall' in error;
  return prefixLines(isExpected ? expectedErrorText(error) : (error.stack ?? error.message));
}

/** Adds advice to the message of an expected error. */
function expectedErrorText(error: Error): string {
  if (isOutOfDescriptors(error) || isOutOfDescriptors(error.cause))
    return `${error.message}: too many open files: ${LIMIT_ADVICE}`;
  const isPermissionError = [error, error.cause].some(
    (each) => errorCode(each) === 'EACCES' || errorCode(each) === 'EPERM',
  );
  const needsRoot = isPermissionError && process.getuid?.() !== 0 && !/\broot\b/.test(error.message);
  return needsRoot ? `${error.message}: this needs root` : error.message;
}

const prefixLines = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `statelet: ${line}\n`)
    .join('');
