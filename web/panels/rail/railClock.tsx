/** The clock with the displayed time, and a field to enter a time. */
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { goToTime } from '../../model/navigation/actions.ts';
import { clockNote } from '../../model/rail/railView.ts';
import { formatClock } from '../../model/rail/time.ts';
import { parseTime } from '../../model/rail/timeNavigation.ts';
import type { StoryPanel } from '../story/storyPanel.ts';

interface ClockProps extends StoryPanel {
  readonly isTyping: Signal<boolean>;
}

/** Returns whether the displayed time is live, in the past, frozen, or part of a recording. */
export function timeMode({ page }: Pick<StoryPanel, 'page'>): 'live' | 'past' | 'held' | 'file' {
  if (page.mode !== 'live') return 'file';
  if (page.past.value) return 'past';
  return page.frozen.value ? 'held' : 'live';
}

/** The clock. Clicking it opens the field. */
export function Clock({ isTyping, ...panel }: ClockProps) {
  const { page } = panel;
  if (isTyping.value) return <TimeField {...panel} isTyping={isTyping} />;
  const at = displayedTime(panel);
  const note = clockNote({
    at,
    live: page.nodeTime.value,
    mode: timeMode(panel),
    eventCount: page.eventsSinceFreeze.value,
  });
  return (
    <button
      type="button"
      class="clock"
      title="Go to a time (g)"
      onClick={() => {
        isTyping.value = true;
      }}
    >
      <b>{formatClock(at)}</b>
      <span>{note}</span>
    </button>
  );
}

/** Returns the displayed time or, while a snapshot is loading, the requested time. */
export const displayedTime = ({ page }: Pick<StoryPanel, 'page'>): number =>
  (page.past.value && page.location.value.at) ?? page.now.value;

function TimeField({ page, player, isTyping }: ClockProps) {
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useSignal(false);
  useEffect(() => field.current?.select(), []);
  const leave = () => {
    isTyping.value = false;
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const at = parseTime(field.current?.value ?? '', page.mode === 'live' ? page.nodeTime.peek() : page.now.peek());
    isWrong.value = at === undefined;
    if (at === undefined) return;
    player.stop();
    goToTime(page, clampToRecording(at, page.recordedRange.peek()));
    leave();
  };
  return (
    <form class="clock" onSubmit={onSubmit}>
      <input
        ref={field}
        aria-label="Go to a time, UTC"
        aria-invalid={isWrong.value}
        defaultValue={formatClock(page.now.peek())}
        onKeyDown={({ key }) => key === 'Escape' && leave()}
        onBlur={leave}
      />
      <span>{isWrong.value ? 'as 07:41:31 or 5m ago' : 'UTC, or 5m ago'}</span>
    </form>
  );
}

/** Limits a time to the recorded range. */
const clampToRecording = (at: number, recorded: { readonly from: number; readonly to: number } | undefined): number =>
  recorded ? Math.min(recorded.to, Math.max(recorded.from, at)) : at;
