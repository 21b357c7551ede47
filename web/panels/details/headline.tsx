/** The headline with the reason for the selected actor's state and the countdown to its deadline. */
import { useEffect } from 'preact/hooks';
import type { ShownPod } from '../../../inspect/protocol.ts';
import { colorClass } from '../../model/categoryIcons.ts';
import { detailOf } from '../../model/details/detail.ts';
import {
  breadcrumb,
  type Crumb,
  chipText,
  fallbackAnswer,
  type Subject,
  subjectOf,
} from '../../model/details/headline.ts';
import { escapeTexts } from '../../model/log/escapeTexts.ts';
import { goToTime, navigate, select } from '../../model/navigation/actions.ts';
import { locationSteps, nearestPath } from '../../model/navigation/selection.ts';
import type { Page } from '../../model/page.ts';
import { type Countdown, computeCountdown, formatTime } from '../../model/rail/time.ts';
import { type AnswerPart, answerParts, withoutRelativeTimes } from '../../model/server/answer.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import { Glyph } from '../../parts/glyph.tsx';
import './headline.css';
import { Sources } from '../navigation/tree.tsx';
import type { Panel } from '../panel.ts';

/** Number of characters above which the answer is displayed in two smaller lines. */
const LONG_ANSWER = 72;

export function Headline(panel: Panel) {
  const { page, announce } = panel;
  const subject = subjectOf(page);
  const answer = subject ? headlineAnswer(page, subject) : '';
  useEffect(() => announce(answer), [answer]);
  if (!subject) return <NoSelection page={page} />;
  const countdown = computeCountdown(subject.worstActor, page.now.value);
  return (
    <section class={subject.isDeleted ? 'head gone' : 'head'} aria-label="Answer">
      <div class="what">
        <Crumbs page={page} subject={subject} />
        <h1 class={answer.length > LONG_ANSWER ? 'answer long' : 'answer'} title={answer}>
          <Answer parts={answerParts(answer)} />
        </h1>
      </div>
      {subject.isDeleted ? (
        <LastSeenNote page={page} at={subject.at} />
      ) : (
        <Ring subject={subject} countdown={countdown} />
      )}
      <div class="rule" />
      <PodPageButton page={page} hasPod={subject.pod !== undefined} />
    </section>
  );
}

/** Returns the server's answer or, until it arrives, a sentence derived from the state. */
function headlineAnswer(page: Page, subject: Subject): string {
  const answer = subject.isDeleted ? undefined : detailOf(page, subject.actor)?.answer;
  return withoutRelativeTimes(answer || fallbackAnswer(subject));
}

const Answer = ({ parts }: { readonly parts: readonly AnswerPart[] }) => (
  <>
    {parts.map(({ text, weight }, at) =>
      weight === 'plain' ? (
        text
      ) : weight === 'bad' ? (
        <b key={at} class="bad">
          {text}
        </b>
      ) : (
        <b key={at}>{text}</b>
      ),
    )}
  </>
);

interface CrumbsProps {
  readonly page: Page;
  readonly subject: Subject;
}

function Crumbs({ page, subject }: CrumbsProps) {
  const crumbs = breadcrumb(page.world.value, subject);
  return (
    <div class="crumb">
      {crumbs.map((crumb, at) => (
        <Step key={crumb.path ?? crumb.name} page={page} crumb={crumb} isLast={at === crumbs.length - 1} />
      ))}
      <span class="meta">
        {page.past.value && (
          <span class="chip past">as it was at {formatTime(page.past.value.at, page.nodeTime.value)}</span>
        )}
        {subject.isDeleted ? <span class="chip done">gone</span> : <Status subject={subject} />}
        {subject.pod && <Counts pod={subject.pod} />}
      </span>
    </div>
  );
}

interface StepProps {
  readonly page: Page;
  readonly crumb: Crumb;
  readonly isLast: boolean;
}

function Step({ page, crumb: { name, path }, isLast }: StepProps) {
  if (isLast) return <b>{name}</b>;
  return (
    <>
      {path === undefined ? (
        <span>{name}</span>
      ) : (
        <button type="button" onClick={() => select(page, path)}>
          {name}
        </button>
      )}
      <span class="dim">/</span>
    </>
  );
}

const Status = ({ subject }: { readonly subject: Subject }) => (
  <span class={`chip ${colorClass(subject.category)}`}>
    <CategoryIcon category={subject.category} />
    {chipText(subject)}
  </span>
);

const Counts = ({ pod }: { readonly pod: ShownPod }) => (
  <>
    <span>{pod.ready} ready</span>
    {pod.restarts > 0 && (
      <span class="w3">
        {pod.restarts} {pod.restarts === 1 ? 'restart' : 'restarts'}
      </span>
    )}
  </>
);

/** Circumference of the countdown ring. */
const RING_CIRCUMFERENCE = 2 * Math.PI * 19;

function Ring({ subject, countdown }: { readonly subject: Subject; readonly countdown: Countdown }) {
  const { amount, caption, remainingFraction, description } = countdown;
  return (
    <div class={`count ${colorClass(subject.category)}`} role="timer" aria-label={description}>
      <svg class="ring" viewBox="0 0 44 44" aria-hidden="true">
        <circle class="all" cx="22" cy="22" r="19" fill="none" stroke="currentColor" stroke-width="4" />
        {remainingFraction !== undefined && (
          <circle
            cx="22"
            cy="22"
            r="19"
            fill="none"
            stroke="currentColor"
            stroke-width="4"
            stroke-linecap="round"
            stroke-dasharray={`${(RING_CIRCUMFERENCE * remainingFraction).toFixed(1)} ${RING_CIRCUMFERENCE.toFixed(1)}`}
            transform="rotate(-90 22 22)"
          />
        )}
        <CategoryIcon category={subject.category} x={15} y={15} size={14} />
      </svg>
      <div>
        <strong>{amount}</strong>
        <span>{caption}</span>
      </div>
    </div>
  );
}

const LastSeenNote = ({ page, at }: { readonly page: Page; readonly at: number }) => (
  <button type="button" class="btn" onClick={() => goToTime(page, at)}>
    Its last moment, {formatTime(at, page.nodeTime.value)}
  </button>
);

function PodPageButton({ page, hasPod }: { readonly page: Page; readonly hasPod: boolean }) {
  const { isPodPage } = page.location.value;
  if (!hasPod && !isPodPage) return null;
  const label = isPodPage ? 'Back to the chart' : 'Open the pod page';
  return (
    <button
      type="button"
      class="btn"
      aria-label={label}
      aria-pressed={isPodPage}
      title={`${label} (p)`}
      onClick={() => navigate(page, { isPodPage: !isPodPage }, 'replace')}
    >
      <Glyph of={isPodPage ? 'close' : 'page'} />
      <span>{isPodPage ? 'Close' : 'Pod page'}</span>
    </button>
  );
}

/** The text shown if no actor exists or the URL refers to one that does not exist. */
function NoSelection({ page }: { readonly page: Page }) {
  const { node } = page.world.value;
  const { steps } = page.location.value;
  const isNamed = steps.length > 0;
  return (
    <section class="head" aria-label="Answer">
      <div class="what">
        <div class="crumb">{isNamed ? escapeTexts(steps).join(' / ') : node.name}</div>
        <h1 class="answer">{isNamed ? <UnknownLocation page={page} /> : <b>No pods.</b>}</h1>
        {!isNamed && <Sources sources={node.sources} />}
      </div>
    </section>
  );
}

const UnknownLocation = ({ page }: { readonly page: Page }) => (
  <>
    <b>There is no such actor</b>{' '}
    {page.past.value ? `at ${formatTime(page.past.value.at, page.nodeTime.value)}` : 'now'}
    <NearestSuggestion page={page} />
  </>
);

/** A suggestion of the actor that the URL most likely refers to. */
function NearestSuggestion({ page }: { readonly page: Page }) {
  const world = page.world.value;
  const path = nearestPath(world, page.location.value);
  if (path === undefined) return null;
  const name = escapeTexts(locationSteps(world, path).steps).join(' / ');
  return (
    <>
      . Did you mean{' '}
      <button type="button" class="nearest" onClick={() => select(page, path)}>
        {name}
      </button>
      ?
    </>
  );
}
