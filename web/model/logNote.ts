import type { Detail, ShownActor } from '../../inspect/protocol.ts';

/** Why there are no lines of a log to show; undefined where there are. */
export function logNote(
  { log }: Pick<Detail, 'log'>,
  { machine }: Pick<ShownActor, 'machine'>,
  { isPast }: { readonly isPast: boolean },
): string | undefined {
  if (log && log.lines.length > 0) return undefined;
  if (machine !== 'container') return 'Only containers write logs.';
  if (log) return 'Its last failed run has written no log.';
  return isPast
    ? 'Logs are not recorded: none is shown of the past.'
    : 'No run of it has failed; `statelet logs` shows its log.';
}
