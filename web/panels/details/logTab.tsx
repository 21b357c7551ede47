/** The log of the selected container with a search. The log is reloaded regularly unless a past time is displayed. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ShownLog } from '../../../inspect/protocol.ts';
import type { Subject } from '../../model/details/headline.ts';
import { splitRedacted } from '../../model/details/objectLines.ts';
import { logNote } from '../../model/log/logNote.ts';
import { containerPathOf, type MatchingLine, matchingLines } from '../../model/log/logTab.ts';
import { ErrorMessage } from '../errorMessage.tsx';
import { Loading } from '../loading.tsx';
import type { Panel } from '../panel.ts';
import { TextParts } from './objectText.tsx';

export function LogTab({ page, reading, subject }: Panel & { readonly subject: Subject }) {
  const { log, retries } = reading.logTab;
  const container = containerPathOf(subject.actor.path);
  const loaded = log.value?.container === container ? log.value : undefined;
  const isPast = page.mode !== 'live' || page.past.value !== undefined;
  const note = logNote(loaded?.content, { isContainer: container !== undefined, isPast });
  if (note !== undefined) return <p class="sec dim">{note}</p>;
  return (
    <>
      {loaded?.error !== undefined && (
        <ErrorMessage
          message="Its log could not be read"
          cause={loaded.error}
          onRetry={() => {
            retries.value += 1;
          }}
        />
      )}
      {loaded?.content ? <Lines reading={reading} log={loaded.content} /> : loaded?.error === undefined && <Loading />}
    </>
  );
}

function Lines({ reading, log }: Pick<Panel, 'reading'> & { readonly log: ShownLog }) {
  const { search, isFollowed } = reading.logTab;
  const box = useRef<HTMLDivElement>(null);
  const lines = matchingLines(log.lines, search.value);
  const isFollowing = isFollowed.value;
  // Scroll to the last line after each response while the log is followed.
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [log, isFollowing, search.value]);
  const onScroll = () => {
    const { current } = box;
    if (current) isFollowed.value = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_END_PX;
  };
  return (
    <section class="sec logtab" aria-label="Log">
      <div class="logtools">
        <input
          type="search"
          value={search.value}
          placeholder="Search this log"
          aria-label="Search this log"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
        <button
          type="button"
          class="btn"
          aria-pressed={isFollowing}
          onClick={() => {
            isFollowed.value = !isFollowing;
          }}
        >
          {isFollowing ? 'Following' : 'Follow'}
        </button>
      </div>
      <p class="dim">{logSummary(log, lines.length, search.value)}</p>
      <div class="log whole" ref={box} onScroll={onScroll}>
        {lines.map((line) => (
          <Line key={line.index} {...line} />
        ))}
      </div>
    </section>
  );
}

/** Maximum distance from the end, in pixels, at which the view follows the log again. */
const NEAR_END_PX = 12;

const Line = ({ lineParts }: MatchingLine) => (
  <div>
    {lineParts.map(({ text, isMatch }, at) =>
      isMatch ? <mark key={at}>{text}</mark> : <TextParts key={at} parts={splitRedacted(text)} />,
    )}
  </div>
);

/** Returns the summary, e.g. `Run 3 goes on, 12 of 340 lines`. */
function logSummary({ run, isRunning, lines, isCut }: ShownLog, count: number, search: string): string {
  const runText = run === undefined ? '' : `Run ${run} ${isRunning ? 'goes on' : 'has ended'}, `;
  const lineCount = `${isCut ? 'the last ' : ''}${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  return search === '' ? `${runText}${lineCount}` : `${runText}${count} of ${lineCount}`;
}
