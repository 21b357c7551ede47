/** The keyboard shortcuts of the story and the time controls. */
import { go, goLive, goTo, toggleHold } from './actions.ts';
import type { KeyAction } from './keys.ts';
import { type Player, SPEEDS, stepTo } from './moments.ts';
import type { Page } from './page.ts';
import type { Telling } from './telling.ts';

interface Parts {
  readonly page: Page;
  readonly telling: Telling;
  readonly player: Player;
  /** Opens the field in which the user enters a time. */
  readonly askMoment: () => void;
}

export function storyKeys({ page, telling, player, askMoment }: Parts): KeyAction[] {
  const step = (by: 'event' | 'change', isForward: boolean) => () => {
    player.stop();
    void stepTo(page, telling, by, isForward);
  };
  const isLive = page.mode === 'live';
  const time = (keys: readonly string[], does: string, run: () => void): KeyAction => ({
    keys,
    group: 'Time',
    does,
    run,
  });
  return [
    time(['['], 'The change of the selection before', step('change', false)),
    time([']'], 'The next change of the selection', step('change', true)),
    time([','], 'One event back', step('event', false)),
    time(['.'], 'One event on', step('event', true)),
    time([' '], isLive ? 'Hold the picture, or play the past' : 'Play, or stop', () => holdOrPlay(page, player)),
    ...(isLive ? [time(['l'], 'Go live', () => leavePast(page, player))] : []),
    time(['g'], 'Go to a time', askMoment),
    { keys: ['s'], group: 'Story', does: 'By time or by steps', run: () => turnScale(page) },
  ];
}

/** Switches between the views by time and by steps. */
export function turnScale(page: Page): void {
  go(page, { story: page.place.peek().story === 'time' ? 'steps' : 'time' }, 'replace');
}

/** Toggles playback in the past, and freezes or unfreezes the live view. */
export function holdOrPlay(page: Page, player: Player): void {
  if (player.speed.peek() !== undefined) player.stop();
  else if (page.past.peek()) player.play(SPEEDS[0]);
  else toggleHold(page);
}

/** Stops playback and returns to the live view. */
export function leavePast(page: Page, player: Player): void {
  player.stop();
  goLive(page);
}

/** Switches to the next playback speed. After the fastest one, playback stops. */
export function turnSpeed(page: Page, player: Player): void {
  const now = player.speed.peek();
  const next = SPEEDS.find((speed) => speed > (now ?? 0));
  if (next === undefined) player.stop();
  else {
    if (!page.past.peek()) goTo(page, page.recorded.peek()?.from ?? page.now.peek());
    player.play(next);
  }
}
