import { describe, expect, test } from '@jest/globals';
import type { Story, StoryLine } from '../../../../inspect/protocol.ts';
import {
  appendLines,
  concernsPod,
  createPodStorySelector,
  mergeMissing,
} from '../../../../web/model/story/storyGrowth.ts';
import { API, answer, POD, state, UID } from '../../support/crashLoop.ts';

const empty: Story = { from: 0, to: 0, before: [], lines: [] };
const moves = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => state(from + index, API, `s${from + index}`, 'steady'));

describe('a growing story', () => {
  test('ends with the latest line', () => {
    const story = appendLines({ ...empty, lines: moves(2) }, moves(3, 2), 0);
    expect(story).toMatchObject({ from: 0, to: 4 });
    expect(story).not.toHaveProperty('unsaid');
    expect(story.lines).toHaveLength(5);
  });

  test('drops the oldest lines when there are too many, and counts them', () => {
    let story = empty;
    for (let at = 0; at < 1_000; at += 1) story = appendLines(story, moves(1, at), 0, 100);
    expect(story.lines.length).toBeLessThanOrEqual(110);
    expect(story.unsaid).toBe(1_000 - story.lines.length);
    // The states of its actors are still known.
    const [first] = story.lines;
    expect(story.from).toBe(first?.at);
    expect(story.before).toEqual([{ actor: API, state: `s${story.from - 1}`, since: story.from - 1, tag: 'steady' }]);
  });

  test('forgets the states before the start of an agent together with its oldest lines', () => {
    const lines = [
      ...moves(5),
      { kind: 'began' as const, at: 5 },
      state(6, POD, 'adopting', 'working'),
      ...moves(8, 7),
    ];
    expect(appendLines(empty, lines, 0, 8).before.map(({ actor }) => actor)).toEqual([POD]);
  });

  test('forgets the states before the recreation of its pod together with its oldest lines', () => {
    const gone: StoryLine = { kind: 'gone', at: 5, uid: UID };
    const lines = [...moves(5), gone, state(6, POD, 'admitting', 'working'), ...moves(8, 7)];
    expect(appendLines(empty, lines, 0, 8).before.map(({ actor }) => actor)).toEqual([POD]);
  });

  test('counts the lines that the node left out', () => {
    expect(appendLines({ ...empty, unsaid: 3 }, [], 4).unsaid).toBe(7);
  });
});

describe('a story with missed lines', () => {
  const story = { ...empty, to: 4, lines: moves(5) };

  test('continues with all lines since its end', () => {
    const missingPart = { ...empty, from: 4, to: 9, lines: moves(4, 4) };
    const joined = mergeMissing(story, missingPart);
    expect(joined).toMatchObject({ from: 0, to: 9 });
    expect(joined.lines).toEqual(moves(8));
  });

  test('retains lines that an agent sent but did not record', () => {
    const began = { kind: 'began' as const, at: 6 };
    expect(mergeMissing(story, { ...empty, from: 4, to: 9, lines: [began] }).lines).toEqual([...moves(5), began]);
  });

  test('is replaced if too much was missed', () => {
    const missingPart = { ...empty, from: 4, to: 90, lines: moves(2, 50), unsaid: 7 };
    expect(mergeMissing(story, missingPart)).toEqual({ ...missingPart, unsaid: 12 });
  });
});

test('a line belongs to the pod that it is about', () => {
  const fact = { ...answer(0, '1.nodeAgent', 'pleg', 0), outcome: 'fact' as const, uid: UID };
  const event = { kind: 'event' as const, at: 0, uid: UID, eventType: 'Normal', reason: 'x', message: '' };
  const began = { kind: 'began' as const, at: 0 };
  for (const line of [state(0, POD, 'x', 'done'), state(0, API, 'x', 'done'), fact, event, began])
    expect(concernsPod(line, UID)).toBe(true);
  for (const line of [state(0, 'startLimiter', 'x', 'done'), state(0, `${POD}9`, 'x', 'done')])
    expect(concernsPod(line, UID)).toBe(false);
  expect(concernsPod(state(0, 'startLimiter', 'x', 'done'), '')).toBe(true);
  expect(concernsPod(fact, '')).toBe(false);
});

test('a recreated pod shows only the life at the displayed time', () => {
  const cut = createPodStorySelector();
  const first = [state(1, POD, 'admitting', 'working'), state(5, POD, 'terminated', 'done')];
  const gone: StoryLine = { kind: 'gone', at: 5, uid: UID };
  const second = [state(8, POD, 'admitting', 'working'), state(9, POD, 'active', 'steady')];
  const before = [{ actor: API, state: 'new', since: 0 }];
  const story = { from: 0, to: 9, before, lines: [...first, gone, ...second] };
  expect(cut(story, 9)).toEqual({ ...story, before: [], lines: second });
  expect(cut(story, 9)).toBe(cut(story, 8));
  expect(cut(story, 7)).toEqual({ ...story, lines: [...first, gone] });
  expect(cut(story, 1).lines).toEqual([...first, gone]);
  const ended = { ...story, lines: [...first, gone] };
  expect(cut(ended, 9)).toBe(ended);
});
