/** Defines the keyboard shortcuts of the story and the time controls. */
import { goLive, goToTime, navigate, toggleFreeze } from '../navigation/actions.ts';
import type { KeyAction } from '../navigation/keys.ts';
import type { Page } from '../page.ts';
import { type Player, SPEEDS, stepTo } from '../rail/timeNavigation.ts';
import type { StoryState } from './storyState.ts';

interface StoryKeysInput {
  readonly page: Page;
  readonly storyState: StoryState;
  readonly player: Player;
  readonly openTimeField: () => void;
}

export function storyKeys({ page, storyState, player, openTimeField }: StoryKeysInput): KeyAction[] {
  const stepAction = (by: 'event' | 'change', isForward: boolean) => () => {
    player.stop();
    void stepTo(page, storyState, by, isForward);
  };
  const isLive = page.mode === 'live';
  const timeAction = (keys: readonly string[], description: string, run: () => void): KeyAction => ({
    keys,
    group: 'Time',
    description,
    run,
  });
  return [
    timeAction(['['], 'The change of the selection before', stepAction('change', false)),
    timeAction([']'], 'The next change of the selection', stepAction('change', true)),
    timeAction([','], 'One event back', stepAction('event', false)),
    timeAction(['.'], 'One event on', stepAction('event', true)),
    timeAction([' '], isLive ? 'Hold the picture, or play the past' : 'Play, or stop', () =>
      togglePlayback(page, player),
    ),
    ...(isLive ? [timeAction(['l'], 'Go live', () => returnToLive(page, player))] : []),
    timeAction(['g'], 'Go to a time', openTimeField),
    { keys: ['s'], group: 'Story', description: 'By time or by steps', run: () => toggleStoryView(page) },
  ];
}

/** Switches between the view by time and the view by steps. */
export function toggleStoryView(page: Page): void {
  navigate(page, { story: page.location.peek().story === 'time' ? 'steps' : 'time' }, 'replace');
}

/** Toggles playback if a past time is displayed. Otherwise freezes or unfreezes the live view. */
export function togglePlayback(page: Page, player: Player): void {
  if (player.speed.peek() !== undefined) player.stop();
  else if (page.past.peek()) player.play(SPEEDS[0]);
  else toggleFreeze(page);
}

/** Stops playback and returns to the live view. */
export function returnToLive(page: Page, player: Player): void {
  player.stop();
  goLive(page);
}

/** Switches to the next playback speed, or stops playback after the fastest one. */
export function cycleSpeed(page: Page, player: Player): void {
  const currentSpeed = player.speed.peek();
  const nextSpeed = SPEEDS.find((speed) => speed > (currentSpeed ?? 0));
  if (nextSpeed === undefined) player.stop();
  else {
    if (!page.past.peek()) goToTime(page, page.recordedRange.peek()?.from ?? page.now.peek());
    player.play(nextSpeed);
  }
}
