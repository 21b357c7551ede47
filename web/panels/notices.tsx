/** Notices about the whole page: connection lost, view frozen, or snapshot loading. */
import { humanDuration } from '../../base/time/duration.ts';
import { goLive, goToTime, toggleFreeze } from '../model/navigation/actions.ts';
import { formatClock, formatTime } from '../model/rail/time.ts';
import './notices.css';
import type { Panel } from './panel.ts';

export const Notices = (panel: Panel) => (
  <>
    <ConnectionLost {...panel} />
    <FrozenNotice {...panel} />
    <SnapshotNotice {...panel} />
    <p class="sr" aria-live="polite">
      {panel.announcement.value}
    </p>
  </>
);

function ConnectionLost({ page }: Panel) {
  const { value: connection } = page.connection;
  if (connection.kind !== 'lost') return null;
  const now = page.browserTime.value;
  const since = humanDuration(Math.max(0, now - connection.since));
  const next = humanDuration(Math.max(0, connection.retryAt - now));
  return (
    <>
      <p class="sr" role="status">
        Connection lost
      </p>
      <p class="notice lost">
        Connection lost {since} ago, tries again in {next}
      </p>
    </>
  );
}

function FrozenNotice({ page }: Panel) {
  if (!page.frozen.value || page.past.value) return null;
  const count = page.eventsSinceFreeze.value;
  return (
    <p class="notice">
      <span class="sr" role="status">
        The picture is held
      </span>
      Held, {count} {count === 1 ? 'event' : 'events'} since
      <button type="button" class="btn" onClick={() => toggleFreeze(page)}>
        Go on
      </button>
    </p>
  );
}

/** A progress bar, which the style sheet shows only after a delay, or the failure to load the snapshot. */
function SnapshotNotice({ page }: Panel) {
  const { value: moment } = page.pendingSnapshot;
  if (moment?.kind === 'asked')
    return <div class="thinbar" role="progressbar" aria-label={`Loading ${formatClock(moment.at)}`} />;
  if (moment?.kind !== 'failed') return null;
  return (
    <p class="notice bad" role="alert">
      {formatTime(moment.at, page.nodeTime.value)} could not be shown: {moment.message}
      <button type="button" class="btn" onClick={() => goToTime(page, moment.at)}>
        Try again
      </button>
      {page.mode === 'live' && (
        <button type="button" class="btn" onClick={() => goLive(page)}>
          Go live
        </button>
      )}
    </p>
  );
}
