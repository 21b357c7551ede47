/** The sections of the Why panel: attempts, next transitions, last log lines and events. */
import type { ComponentChildren } from 'preact';
import { humanDuration } from '../../../base/time/duration.ts';
import type { ShownActor, TriedRun } from '../../../inspect/protocol.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import type { LoadedDetail } from '../../model/details/detail.ts';
import { nextLines } from '../../model/details/next.ts';
import { splitRedacted } from '../../model/details/objectLines.ts';
import { attemptTable } from '../../model/details/tried.ts';
import { formatClock, formatShortDuration } from '../../model/rail/time.ts';
import { Loading } from '../loading.tsx';
import { TextParts } from './objectText.tsx';

interface DetailProps {
  readonly detail: LoadedDetail;
}

interface SectionProps {
  readonly title: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}

const Section = ({ title, note, children }: SectionProps) => (
  <section class="sec">
    <h3>
      <span>{title}</span>
      {note !== undefined && <span>{note}</span>}
    </h3>
    {children}
  </section>
);

/** The problems of the manifest. */
export const Problems = ({ detail: { problems } }: DetailProps) =>
  problems.length === 0 ? null : (
    <Section title="Its manifest">
      {problems.map((problem) => (
        <p key={problem} class="problem c-retry">
          {problem}
        </p>
      ))}
    </Section>
  );

interface ActorDetailProps extends DetailProps {
  readonly actor: ShownActor | undefined;
}

/** The pods that would be evicted next, with the reasons for their rank. */
export const NextEvictions = ({ detail: { nextEvictions = [] } }: DetailProps) =>
  nextEvictions.length === 0 ? null : (
    <Section title="Next evictions">
      <ul class="facts">
        {nextEvictions.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </Section>
  );

/** The facts about a volume or an actor of the node that do not fit into the headline. */
export function Facts({ actor }: { readonly actor: ShownActor }) {
  const isShown = podUidOf(actor.path) === undefined || actor.kind === 'volume';
  if (!isShown || actor.facts.length === 0) return null;
  return (
    <Section title="Facts">
      <ul class="facts">
        {actor.facts.map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
    </Section>
  );
}

/**
 * The completed runs of a container, the latest first. They are read from the recording and arrive after the answer.
 */
export function Attempts({ detail: { tried }, actor }: ActorDetailProps) {
  if (tried === undefined) {
    if (actor?.lastRun === undefined) return null;
    return (
      <Section title="What it tried" note="being read">
        <Loading />
      </Section>
    );
  }
  const { runs, summary, longestMs } = attemptTable({ tried }, actor);
  if (runs.length === 0) return null;
  return (
    <Section title="What it tried" note={summary}>
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Started</th>
            <th scope="col">Ran</th>
            <th scope="col">Ended with</th>
            <th scope="col">Then waited</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Run key={run.run} {...run} longestMs={longestMs} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** Maximum width of a bar, in CSS pixels. */
const MAX_BAR_WIDTH = 45;

function Run({
  run,
  startedAt,
  ranMs,
  exitCode,
  reason,
  waitedMs,
  longestMs,
}: TriedRun & { readonly longestMs: number }) {
  return (
    <tr>
      <td>{run}</td>
      <td>{formatClock(startedAt)}</td>
      <td>{formatShortDuration(ranMs)}</td>
      <td>
        exit {exitCode} <span class="dim">{reason}</span>
      </td>
      <td>
        {waitedMs !== undefined && (
          <>
            <svg class="bar" width={Math.max(3, (MAX_BAR_WIDTH * waitedMs) / longestMs)} height="6" aria-hidden="true">
              <rect width="100%" height="6" rx="3" />
            </svg>
            {humanDuration(waitedMs)}
          </>
        )}
      </td>
    </tr>
  );
}

/** The possible transitions and their times. */
export function Next({ detail, actor }: ActorDetailProps) {
  const lines = nextLines(detail, actor);
  if (lines.length === 0) return null;
  return (
    <Section title="What comes next">
      <ul class="next">
        {lines.map(({ when, text, emphasis }) => (
          <li key={when + text + emphasis}>
            <span>{when}</span>
            <span>
              {text} {emphasis !== '' && <b>{emphasis}</b>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Number of log lines that fit beside the other sections. */
const MAX_LOG_LINES = 4;

export function Log({ detail: { log } }: DetailProps) {
  if (!log || log.lines.length === 0) return null;
  return (
    <Section title="Last lines of its log">
      <div class="log">
        {log.lines.slice(-MAX_LOG_LINES).map((line, at) => (
          <div key={at} title={line}>
            <TextParts parts={splitRedacted(line)} />
          </div>
        ))}
      </div>
    </Section>
  );
}

const FEW_EVENTS = 4;

/** The Kubernetes events of the pod. */
export function Events({ detail: { events }, isWhole = false }: DetailProps & { readonly isWhole?: boolean }) {
  if (events === undefined) return isWhole ? <Loading /> : null;
  if (events.length === 0) return isWhole ? <p class="sec dim">No events within the last hour.</p> : null;
  const latest = events.toSorted((a, b) => b.at - a.at);
  const visibleEvents = isWhole ? latest : latest.slice(0, FEW_EVENTS);
  return (
    <Section title="Events" note="last hour">
      {visibleEvents.map(({ type, reason, message, count, at }) => (
        <div class={isWhole ? 'ev whole' : 'ev'} key={`${at} ${reason} ${message}`}>
          <b class={type === 'Warning' ? 'c-retry' : ''} title={reason}>
            {reason}
          </b>
          <span class="sub" title={message}>
            {message}
          </span>
          <span class="dim">{count !== undefined && count > 1 ? `${count}×` : formatClock(at)}</span>
        </div>
      ))}
    </Section>
  );
}
