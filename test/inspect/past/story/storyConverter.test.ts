import { describe, expect, test } from '@jest/globals';
import { StoryConverter } from '../../../../inspect/past/story/storyConverter.ts';
import type { RecordingLine } from '../../../../recording/lines.ts';
import { podWith } from '../../../fakes/pods.ts';

const call = 'pod/u/container/web/0.container.launching.creatingContainer.creating';

const fact = (value: unknown): RecordingLine => ({ kind: 'fact', at: 1, actor: 'runtime', source: 'runtime', value });

describe('a recorded input', () => {
  test('shows how long a call took, and its outcome in a few words', () => {
    const teller = new StoryConverter();
    const asked = { kind: 'asked', at: 100, actor: call, port: 'createContainer' } as const;
    expect(teller.convert({ ...asked, about: 'web' })).toEqual([{ ...asked, about: 'web' }]);
    const value = { reason: 'CreateContainerError', message: 'no space', secret: 'payload' };
    const failed = { kind: 'failure', at: 168, actor: call, source: 'createContainer', value } as const;
    expect(teller.convert(failed)).toEqual([
      {
        kind: 'entered',
        at: 168,
        actor: call,
        outcome: 'failure',
        source: 'createContainer',
        tookMs: 68,
        what: 'CreateContainerError: no space',
      },
    ]);
    // The call was recorded once, so a second result has no duration.
    expect(teller.convert({ ...failed, kind: 'answer', value: { exitCode: 3 } })).toEqual([
      { kind: 'entered', at: 168, actor: call, outcome: 'answer', source: 'createContainer', what: 'exit 3' },
    ]);
  });

  test('after an aborted call or an agent restart has no duration', () => {
    for (const between of [
      { kind: 'asked', at: 2, actor: call, port: 'pullImage', isGivenUp: true },
      { kind: 'began', at: 2 },
    ]) {
      const teller = new StoryConverter();
      teller.convert({ kind: 'asked', at: 1, actor: call, port: 'pullImage' });
      // The converter reads only the time of the entry that starts a run.
      const told = teller.convert(between as RecordingLine);
      expect(told).toEqual(between.kind === 'began' ? [{ kind: 'began', at: 2 }] : []);
      const [line] = teller.convert({ kind: 'answer', at: 3, actor: call, source: 'pullImage', value: {} });
      expect(line).not.toHaveProperty('tookMs');
    }
  });

  test('about several pods becomes a line for each, with its changes', () => {
    const teller = new StoryConverter();
    const observed = (state: string, exitCode?: number) => ({
      type: 'runtime.podsObserved',
      pods: [
        { uid: 'a', containers: [{ id: '1', name: 'web', state, exitCode }] },
        { uid: 'b', containers: [{ id: '2', name: '__proto__', state: 'running' }] },
      ],
    });
    const whats = (value: unknown) =>
      teller.convert(fact(value)).map((line) => (line.kind === 'entered' ? [line.uid, line.what] : line));
    expect(whats(observed('running'))).toEqual([
      ['a', 'web running'],
      ['b', '__proto__ running'],
    ]);
    expect(whats(observed('exited', 3))).toEqual([
      ['a', 'web exit 3'],
      ['b', undefined],
    ]);
    expect(
      whats({ type: 'runtime.containerSeen', container: { id: '3', podUid: 'c', name: 'x', state: 'exited' } }),
    ).toEqual([['c', 'x exit ?']]);
    const listed = { type: 'config.podsListed', source: 'file', pods: [podWith('web'), podWith('db')] };
    expect(whats(listed)).toEqual([
      ['web-uid', 'listed'],
      ['db-uid', 'listed'],
    ]);
    expect(whats({ type: 'config.podChanged', change: 'removed', uid: 'u' })).toEqual([['u', 'removed']]);
  });

  test('of an unknown type is described only by that type', () => {
    const teller = new StoryConverter();
    for (const value of [null, 5, 'text', [], { type: 5 }, { pods: 'none' }])
      expect(teller.convert(fact(value))).toEqual([expect.not.objectContaining({ what: expect.anything() })]);
    expect(teller.convert(fact({ type: 'runtime.lost', secret: 'payload' }))).toMatchObject([{ what: 'runtime.lost' }]);
  });
});

test('states have tags, events have their container, and a keyframe within an agent run adds no line', () => {
  const teller = new StoryConverter();
  expect(teller.convert({ kind: 'state', at: 1, actor: 'pod/u/container/web', state: 'ended.backingOff' })).toEqual([
    { kind: 'state', at: 1, actor: 'pod/u/container/web', state: 'ended.backingOff', tag: 'retrying' },
  ]);
  expect(teller.convert({ kind: 'state', at: 1, actor: 'constructor', state: '__proto__' })).toEqual([
    { kind: 'state', at: 1, actor: 'constructor', state: '__proto__' },
  ]);
  // The converter reads nothing else, so the other fields may be missing.
  expect(teller.convert({ kind: 'began', at: 1, from: {} } as unknown as RecordingLine)).toEqual([]);
  expect(teller.convert({ kind: 'ended', at: 1 })).toEqual([{ kind: 'ended', at: 1 }]);
  expect(teller.convert({ kind: 'status', at: 1, uid: 'u', pod: 'default/web' })).toEqual([]);
  const event = {
    ...({ kind: 'event', at: 1, eventType: 'Warning', reason: 'BackOff', message: 'said' } as const),
    involved: {
      kind: 'Pod',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'web',
      uid: 'u',
      fieldPath: 'spec.containers{web}',
    },
  } as RecordingLine;
  expect(teller.convert(event)).toEqual([
    { kind: 'event', at: 1, uid: 'u', container: 'web', eventType: 'Warning', reason: 'BackOff', message: 'said' },
  ]);
});

test('a terminated pod is gone and later lines belong to its next life, unlike a rebuilt pod', () => {
  const teller = new StoryConverter();
  const kinds = (actor: string, state: string) =>
    teller.convert({ kind: 'state', at: 1, actor, state }).map(({ kind }) => kind);
  expect(teller.convert({ kind: 'state', at: 1, actor: 'pod/u', state: 'terminated' })[1]).toEqual({
    kind: 'gone',
    at: 1,
    uid: 'u',
  });
  expect([kinds('pod/u', 'broken'), kinds('pod/u/container/web', 'removed')]).toEqual([['state'], ['state']]);
});
