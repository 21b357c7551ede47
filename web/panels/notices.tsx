/** Notices about the whole page: connection lost, view frozen, or snapshot loading. */
import { humanDuration } from '../../base/duration.ts';
import { goLive, goTo, toggleHold } from '../model/actions.ts';
import { clockOf, momentText } from '../model/time.ts';
import './notices.css';
import type { Panel } from './panel.ts';

export const Notices = (panel: Panel) => (
  <>
    <Lost {...panel} />
    <Held {...panel} />
    <Moment {...panel} />
    <p class="sr" aria-live="polite">
      {panel.said.value}
    </p>
  </>
);

function Lost({ page }: Panel) {
  const { value: connection } = page.connection;
  if (connection.kind !== 'lost') return null;
  const now = page.wall.value;
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

function Held({ page }: Panel) {
  if (!page.held.value || page.past.value) return null;
  const count = page.sinceHeld.value;
  return (
    <p class="notice">
      <span class="sr" role="status">
        The picture is held
      </span>
      Held, {count} {count === 1 ? 'event' : 'events'} since
      <button type="button" class="btn" onClick={() => toggleHold(page)}>
        Go on
      </button>
    </p>
  );
}

/** A progress bar, which the style sheet shows only after a delay, or the failure to load the snapshot. */
function Moment({ page }: Panel) {
  const { value: moment } = page.moment;
  if (moment?.kind === 'asked')
    return <div class="thinbar" role="progressbar" aria-label={`Loading ${clockOf(moment.at)}`} />;
  if (moment?.kind !== 'failed') return null;
  return (
    <p class="notice bad" role="alert">
      {momentText(moment.at, page.present.value)} could not be shown: {moment.message}
      <button type="button" class="btn" onClick={() => goTo(page, moment.at)}>
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
