import { describe, expect, test } from '@jest/globals';
import {
  nextSourceState,
  readingState,
  type SourceChange,
  type SourceState,
  sourceView,
  watchView,
} from '../../../../machines/node/pods/source.ts';
import { STATE_TAGS } from '../../../../machines/shared/stateMeta.ts';
import { nodeStory } from '../../support/nodeStory.ts';

const own = { place: '/pods', everyMs: 20_000 };
/** Returns the state of the source after these changes, one per second. */
const after = (...steps: readonly SourceChange[]): SourceState | undefined =>
  steps.reduce<SourceState | undefined>(
    (state, step, index) => nextSourceState(state, step, { ...own, now: (index + 1) * 1_000 }),
    undefined,
  );
const shown = (...steps: readonly SourceChange[]) =>
  sourceView('file', after(...steps), { startedAt: 500, hasListed: false });

describe('a source in the actor tree', () => {
  test('is reading until it has listed its pods', () => {
    const common = { name: 'file source', path: 'sources/file', since: 500 };
    const waitingFor = 'its pods to be read';
    expect(shown()).toEqual({ ...common, state: 'reading', tags: ['working'], waitingFor });
    const listed = sourceView('file', undefined, { startedAt: 500, hasListed: true });
    expect(listed).toEqual({ ...common, state: 'watching', tags: ['steady'] });
  });

  test.each<[SourceChange, object]>([
    [{ state: 'watching' }, {}],
    [{ state: 'polling' }, {}],
    [
      { state: 'polling', until: 9_000, failure: 'ENOSPC' },
      {
        waitingFor: 'inotify, retried at each poll',
        until: 9_000,
        lastFailure: { message: 'ENOSPC' },
      },
    ],
    [
      { state: 'settling', until: 1_500 },
      { waitingFor: 'empty files to be written', until: 1_500 },
    ],
    [
      { state: 'absent', until: 2_000 },
      { waitingFor: 'the path to exist', until: 2_000 },
    ],
    [
      { state: 'failing', until: 2_000, failure: 'EACCES' },
      {
        waitingFor: 'another attempt to read it',
        until: 2_000,
        lastFailure: { reason: 'FailedRead', message: 'EACCES', at: 1_000 },
      },
    ],
    [{ state: 'broken', failure: 'a mistake' }, { waitingFor: 'a restart of the agent' }],
  ])('in %j shows what it waits for, until when and why', (step, more) => {
    const { state } = step;
    const view = shown(step);
    expect(view).toMatchObject({ state, since: 1_000, facts: ['reads /pods every 20s'], ...more });
    if (!('waitingFor' in more)) expect(view).not.toHaveProperty('waitingFor');
  });

  test('is in its state since it entered it, whatever fails', () => {
    const failing = (failure: string, until: number) => ({ state: 'failing', until, failure }) as const;
    expect(shown({ state: 'watching' }, failing('EACCES', 3_000), failing('EIO', 4_000))).toMatchObject({
      since: 2_000,
      until: 4_000,
      lastFailure: { message: 'EIO', at: 3_000 },
    });
  });

  test('has no deadline during a read', () => {
    const step = { state: 'failing', until: 2_000, failure: 'EACCES' } as const;
    const looking = readingState(nextSourceState(undefined, step, { ...own, now: 1_000 }));
    const view = sourceView('file', looking, { startedAt: 500, hasListed: false });
    expect(view).toMatchObject({ state: 'failing', since: 1_000, waitingFor: 'its pods to be read' });
    expect(view).toMatchObject({ lastFailure: { message: 'EACCES', at: 1_000 } });
    expect(view).not.toHaveProperty('until');
  });

  test('does not change by the same report', () => {
    const step = { state: 'failing', until: 3_000, failure: 'EACCES' } as const;
    const state = after(step);
    expect(nextSourceState(state, step, { ...own, now: 9_000 })).toBe(state);
  });
});

test('a source is shown in explain node with its reported state', () => {
  const story = nodeStory({ sources: ['file', 'http'] });
  const state = nextSourceState(undefined, { state: 'absent', until: 2_000 }, { ...own, now: 1_000 });
  story.tell({ type: 'config.sourceChanged', source: 'file', state });
  const parts = story.view().tree.children.filter(({ name }) => name.endsWith(' source'));
  expect(parts).toMatchObject([
    { name: 'file source', state: 'absent', until: 2_000 },
    { name: 'http source', state: 'reading', tags: ['working'] },
  ]);
});

test('a source always has exactly one category', () => {
  const states = ['reading', 'watching', 'polling', 'settling', 'absent', 'failing', 'broken'] as const;
  const tags = states.map((state) => {
    const sourceState = nextSourceState(undefined, { state }, { place: '/manifests', everyMs: 20_000, now: 0 });
    return sourceView('file', sourceState, { startedAt: 0, hasListed: true }).tags;
  });
  const allowed: readonly string[] = STATE_TAGS;
  expect(tags.map((each) => each.filter((tag) => allowed.includes(tag)).length)).toEqual(states.map(() => 1));
});

test('a source is like a watch of the cluster, which has its own wording', () => {
  const watched = { place: 'the services of the cluster' };
  const reading = nextSourceState(undefined, { state: 'reading' }, { ...watched, now: 1_000 });
  expect(watchView('Service', reading)).toEqual({
    kind: 'watch',
    name: 'Service',
    path: 'watches/Service',
    state: 'reading',
    tags: ['working'],
    since: 1_000,
    waitingFor: 'its objects to be read',
    facts: ['follows the services of the cluster'],
  });
  const step = { state: 'failing', failure: 'ECONNREFUSED', until: 2_800 } as const;
  const failing = nextSourceState(reading, step, { ...watched, now: 2_000 });
  expect(watchView('Service', failing)).toMatchObject({
    state: 'failing',
    tags: ['retrying'],
    waitingFor: 'another attempt to watch its objects',
    until: 2_800,
    lastFailure: { message: 'ECONNREFUSED', at: 2_000 },
  });
  expect(watchView('Service', readingState(failing))).toMatchObject({ waitingFor: 'its objects to be read' });
  const watching = nextSourceState(failing, { state: 'watching' }, { ...watched, now: 3_000 });
  expect(watchView('Service', watching)).not.toHaveProperty('waitingFor');
});
