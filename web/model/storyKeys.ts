/** What the keys of story and time do. */
import { go, goLive, goTo, toggleHold } from './actions.ts';
import type { KeyAction } from './keys.ts';
import { type Player, SPEEDS, stepTo } from './moments.ts';
import type { Page } from './page.ts';
import type { Telling } from './telling.ts';

interface Parts {
  readonly page: Page;
  readonly telling: Telling;
  readonly player: Player;
  /** Lets a moment be typed. */
  readonly askMoment: () => void;
}

/** The keys of the rail and of the story. */
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

/** By time, or by steps. */
export function turnScale(page: Page): void {
  go(page, { story: page.place.peek().story === 'time' ? 'steps' : 'time' }, 'replace');
}

/** Space: in the past it plays and stops; live it holds the picture. */
export function holdOrPlay(page: Page, player: Player): void {
  if (player.speed.peek() !== undefined) player.stop();
  else if (page.past.peek()) player.play(SPEEDS[0]);
  else toggleHold(page);
}

/** Back to what goes on. */
export function leavePast(page: Page, player: Player): void {
  player.stop();
  goLive(page);
}

/** The next speed of playing; past the fastest it stops. */
export function turnSpeed(page: Page, player: Player): void {
  const now = player.speed.peek();
  const next = SPEEDS.find((speed) => speed > (now ?? 0));
  if (next === undefined) player.stop();
  else {
    if (!page.past.peek()) goTo(page, page.recorded.peek()?.from ?? page.now.peek());
    player.play(next);
  }
}
