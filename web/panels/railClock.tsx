/** The clock with the displayed time, and a field to enter a time. */
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { goTo } from '../model/actions.ts';
import { momentIn } from '../model/moments.ts';
import { clockNote } from '../model/railView.ts';
import { clockOf } from '../model/time.ts';
import type { StoryPanel } from './storyPanel.ts';

interface ClockProps extends StoryPanel {
  readonly isTyping: Signal<boolean>;
}

/** Returns whether the page shows the live node, the past, a frozen view or a recording. */
export function modeOf({ page }: Pick<StoryPanel, 'page'>): 'live' | 'past' | 'held' | 'file' {
  if (page.mode !== 'live') return 'file';
  if (page.past.value) return 'past';
  return page.held.value ? 'held' : 'live';
}

/** The clock. Clicking it opens the field. */
export function Clock({ isTyping, ...panel }: ClockProps) {
  const { page } = panel;
  if (isTyping.value) return <MomentField {...panel} isTyping={isTyping} />;
  const at = shownMoment(panel);
  const note = clockNote({ at, live: page.present.value, mode: modeOf(panel), since: page.sinceHeld.value });
  return (
    <button
      type="button"
      class="clock"
      title="Go to a time (g)"
      onClick={() => {
        isTyping.value = true;
      }}
    >
      <b>{clockOf(at)}</b>
      <span>{note}</span>
    </button>
  );
}

/** Returns the displayed time. While a snapshot is loading, this is already the requested time. */
export const shownMoment = ({ page }: Pick<StoryPanel, 'page'>): number =>
  (page.past.value && page.place.value.at) ?? page.now.value;

function MomentField({ page, player, isTyping }: ClockProps) {
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useSignal(false);
  useEffect(() => field.current?.select(), []);
  const leave = () => {
    isTyping.value = false;
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const at = momentIn(field.current?.value ?? '', page.mode === 'live' ? page.present.peek() : page.now.peek());
    isWrong.value = at === undefined;
    if (at === undefined) return;
    player.stop();
    goTo(page, within(at, page.recorded.peek()));
    leave();
  };
  return (
    <form class="clock" onSubmit={onSubmit}>
      <input
        ref={field}
        aria-label="Go to a time, UTC"
        aria-invalid={isWrong.value}
        defaultValue={clockOf(page.now.peek())}
        onKeyDown={({ key }) => key === 'Escape' && leave()}
        onBlur={leave}
      />
      <span>{isWrong.value ? 'as 07:41:31 or 5m ago' : 'UTC, or 5m ago'}</span>
    </form>
  );
}

/** Limits a time to the recorded range. */
const within = (at: number, recorded: { readonly from: number; readonly to: number } | undefined): number =>
  recorded ? Math.min(recorded.to, Math.max(recorded.from, at)) : at;
