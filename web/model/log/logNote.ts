import type { ShownLog } from '../../../inspect/protocol.ts';

interface LogContext {
  /** Whether the selected actor is a container or part of one. */
  readonly isContainer: boolean;
  readonly isPast: boolean;
}

/** Returns the reason why no log is shown. Undefined if there are lines or the log is still loading. */
export function logNote(
  log: Pick<ShownLog, 'lines' | 'note'> | undefined,
  { isContainer, isPast }: LogContext,
): string | undefined {
  if (!isContainer) return 'Only containers write logs.';
  if (isPast) return 'Logs are not recorded: none is shown of the past.';
  if (log?.note !== undefined) return log.note;
  return log?.lines.length === 0 ? 'It has written nothing yet.' : undefined;
}
