import type { ShownLog } from '../../inspect/protocol.ts';

interface Place {
  /** Whether a container is selected, or a part of one. */
  readonly isContainer: boolean;
  readonly isPast: boolean;
}

/** Returns why there are no lines of a log to show; undefined if there are, or none have come yet. */
export function logNote(
  log: Pick<ShownLog, 'lines' | 'note'> | undefined,
  { isContainer, isPast }: Place,
): string | undefined {
  if (!isContainer) return 'Only containers write logs.';
  if (isPast) return 'Logs are not recorded: none is shown of the past.';
  if (log?.note !== undefined) return log.note;
  return log?.lines.length === 0 ? 'It has written nothing yet.' : undefined;
}
