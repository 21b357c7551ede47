/** The list of rows of one burst, the oldest first. */

import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { humanDuration } from '../../../base/time/duration.ts';
import { findCategory } from '../../../show/category.ts';
import { select } from '../../model/navigation/actions.ts';
import type { Row } from '../../model/story/rows/storyRows.ts';
import { highlightOf } from '../../model/story/storyState.ts';
import type { VisibleBurst } from '../../model/story/storyView.ts';
import { nameOf } from '../../model/story/storyWho.ts';
import { formatFineClock, formatOffset } from '../../model/story/storyWords.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import { Glyph } from '../../parts/glyph.tsx';
import { LineDetail } from './lineDetail.tsx';
import { MiniLane } from './miniLane.tsx';
import { NoStory } from './noStory.tsx';
import type { StoryPanel } from './storyPanel.ts';
import './lines.css';

export function Lines(panel: StoryPanel) {
  const { page, storyState, view } = panel;
  const visibleBurst = view.visibleBurst.value;
  const isBySteps = page.location.value.story === 'steps';
  return (
    <section class={isBySteps ? 'lines by-steps' : 'lines'} aria-label="Story, line by line">
      <MiniLane {...panel} />
      <Title {...panel} visibleBurst={visibleBurst} />
      <OmittedLinesNote {...panel} />
      {storyState.error.value !== undefined && <NoStory {...panel} cause={storyState.error.value} />}
      {visibleBurst ? <List {...panel} visibleBurst={visibleBurst} /> : <EmptyList {...panel} />}
    </section>
  );
}

function Title({ storyState, view, visibleBurst }: StoryPanel & { readonly visibleBurst: VisibleBurst | undefined }) {
  const goToBurst = (to: { readonly from: number } | undefined) => {
    if (to) storyState.selectedBurst.value = to.from;
    // Deselect the last burst, so that the list follows the displayed time again.
    if (to && to.from === view.bursts.peek().at(-1)?.from) storyState.selectedBurst.value = undefined;
    storyState.expandedRow.value = undefined;
  };
  return (
    <div class="ph">
      <h2>{visibleBurst?.burst.title ?? 'Story'}</h2>
      {visibleBurst && <span class="dim">from {formatFineClock(visibleBurst.burst.from)}</span>}
      <span class="r">
        <BurstButton label="Earlier" glyph="earlier" to={visibleBurst?.previousBurst} onSelectBurst={goToBurst} />
        <BurstButton label="Later" glyph="later" to={visibleBurst?.nextBurst} onSelectBurst={goToBurst} />
      </span>
    </div>
  );
}

interface BurstButtonProps {
  readonly label: string;
  readonly glyph: 'earlier' | 'later';
  readonly to: VisibleBurst['previousBurst'] | undefined;
  readonly onSelectBurst: (to: VisibleBurst['previousBurst'] | undefined) => void;
}

function BurstButton({ label, glyph, to, onSelectBurst }: BurstButtonProps) {
  const title = to
    ? `${label}: ${to.title} from ${formatFineClock(to.from)}`
    : `Nothing ${label.toLowerCase()} is at hand`;
  return (
    <button
      type="button"
      class="mini"
      aria-label={label}
      title={title}
      disabled={!to}
      onClick={() => onSelectBurst(to)}
    >
      <Glyph of={glyph} />
    </button>
  );
}

/** A note with the number of lines that the server left out. */
function OmittedLinesNote({ storyState }: StoryPanel) {
  const loaded = storyState.loaded.value;
  const count = loaded?.story.unsaid;
  if (loaded?.isUnrecorded) return <p class="unsaid">Nothing is recorded: the story begins when this page did.</p>;
  if (count === undefined || count === 0) return null;
  return (
    <p class="unsaid">
      {count} {count === 1 ? 'line was' : 'lines were'} left out: there are too many.
    </p>
  );
}

function EmptyList({ page, storyState }: StoryPanel) {
  if (storyState.error.value !== undefined) return null;
  const selected = page.selectedPath.value;
  if (storyState.loaded.value === undefined || selected === undefined) return <p class="no-story dim">…</p>;
  return <p class="no-story">Nothing happened to {nameOf(selected)} in the time that is shown.</p>;
}

/** Maximum number of rows in the document. */
const MAX_ROWS = 300;

function List(panel: StoryPanel & { readonly visibleBurst: VisibleBurst }) {
  const { rows } = panel.visibleBurst;
  const isInteracting = useSignal(false);
  const more = useSignal(0);
  const listRef = useAutoScroll(panel, isInteracting);
  const first = Math.max(0, rows.length - MAX_ROWS - more.value);
  const setInteracting = (isOn: boolean) => () => {
    isInteracting.value = isOn;
  };
  const onMore = () => {
    more.value += MAX_ROWS;
  };
  return (
    <ol
      ref={listRef}
      class="story"
      onPointerEnter={setInteracting(true)}
      onPointerLeave={setInteracting(false)}
      onKeyDown={moveFocus}
    >
      {first > 0 && (
        <li class="more">
          <button type="button" onClick={onMore}>
            {first} earlier {first === 1 ? 'line' : 'lines'}
          </button>
        </li>
      )}
      {rows.slice(first).map((row, index) => (
        <Line key={row.key} {...panel} row={row} number={first + index + 1} />
      ))}
      <TimeSinceLastStep {...panel} />
    </ol>
  );
}

/** Scrolls to the end of the list or, in the past, to the row of the displayed time. */
function useAutoScroll(
  { page, visibleBurst }: StoryPanel & { readonly visibleBurst: VisibleBurst },
  isInteracting: Signal<boolean>,
) {
  const listRef = useRef<HTMLOListElement>(null);
  const isAtEnd = page.past.value === undefined && visibleBurst.nextBurst === undefined;
  useLayoutEffect(() => {
    const { current } = listRef;
    // Do not scroll while the user interacts with the list.
    if (!current || isInteracting.peek() || current.contains(document.activeElement)) return;
    if (isAtEnd) current.scrollTo({ top: current.scrollHeight });
    else current.querySelector('.now')?.scrollIntoView({ block: 'nearest' });
  }, [visibleBurst.rows.length, visibleBurst.currentIndex, visibleBurst.burst.from]);
  return listRef;
}

/** The arrow keys move the focus between rows. */
function moveFocus(event: KeyboardEvent): void {
  const movesDown = event.key === 'ArrowDown';
  if (!movesDown && event.key !== 'ArrowUp') return;
  const line = event.target instanceof Element ? event.target.closest('li') : null;
  const next = movesDown ? line?.nextElementSibling : line?.previousElementSibling;
  const button = next?.querySelector('button');
  if (!button) return;
  button.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface LineProps extends StoryPanel {
  readonly visibleBurst: VisibleBurst;
  readonly row: Row;
  readonly number: number;
}

function Line({ row, number, visibleBurst, storyState, page }: LineProps) {
  const isOpen = storyState.expandedRow.value === row.key;
  const isCurrent = number - 1 === visibleBurst.currentIndex;
  const isLater = number > visibleBurst.laterIndex;
  const names = [
    row.isFailure && 'bad',
    isCurrent && `now t-${row.state?.tag ?? 'none'}`,
    isLater && 'later',
    storyState.highlight.value?.row === row.key && 'is-pointed',
  ];
  const point = (isOn: boolean) => {
    storyState.highlight.value = isOn ? highlightOf(row) : undefined;
  };
  return (
    <li class={names.filter(Boolean).join(' ')} aria-current={isCurrent ? 'step' : undefined}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => {
          storyState.expandedRow.value = isOpen ? undefined : row.key;
        }}
        onPointerEnter={() => point(true)}
        onPointerLeave={() => point(false)}
        onFocus={() => point(true)}
        onBlur={() => point(false)}
      >
        <span class="o">{formatOffset(row.at - visibleBurst.burst.from)}</span>
        <span class="p" title={row.source}>
          {row.source}
        </span>
        <span class="k">{number}</span>
        <span class="w" title={row.note}>
          {row.text} {row.note !== undefined && <em>{row.note}</em>}
        </span>
        <StateText row={row} />
      </button>
      {isOpen && <LineDetail row={row} onSelect={(path) => select(page, path)} client={page.client} />}
    </li>
  );
}

function StateText({ row: { state } }: { readonly row: Row }) {
  const category = state?.tag === undefined ? undefined : findCategory([state.tag]);
  return (
    <span class="s">
      {category && <CategoryIcon category={category} />}
      {state?.text}
    </span>
  );
}

/** The time since the last step. */
function TimeSinceLastStep({ visibleBurst, page }: StoryPanel & { readonly visibleBurst: VisibleBurst }) {
  if (visibleBurst.nextBurst || page.past.value) return null;
  const quietMs = page.now.value - visibleBurst.burst.to;
  if (quietMs < 5_000) return null;
  return <li class="since dim">nothing more for {humanDuration(quietMs)}</li>;
}
