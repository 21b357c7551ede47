import { describe, expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import { type MirrorFacts, mirrorMachine } from '../../../machines/mirror/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorView } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const NAME = { namespace: 'kube-system', name: 'etcd-node-1' };
const WAITS = [5_000, 10_000, 20_000, 40_000, 60_000, 60_000];

const podWith = (hash: string) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  spec: { containers: [] },
  metadata: { ...NAME, uid: hash, annotations: { 'kubernetes.io/config.hash': hash } },
});
const pod = podWith('one');
const observedMirror: ObservedMirror = { ...NAME, uid: 'mirror-1', hash: 'one', isDeleting: false };
const nothing: MirrorFacts = { pod: null, observedMirror: null, isUpdateDeferred: false, nodeUid: 'node-1-uid' };

/** Creates a mirror actor. The test responds to all of its calls. */
function mirrorStory(before: Partial<MirrorFacts>) {
  const ports = new FakePorts(START);
  let facts: MirrorFacts = { ...nothing, ...before };
  const actor = createActor(provideActors(mirrorMachine, ports), { input: { ...NAME, facts } }).start();
  return {
    ports,
    tell: (changes: Partial<MirrorFacts>) => {
      facts = { ...facts, ...changes };
      actor.send({ type: 'mirror.changed', facts });
    },
    state: () => statePath(actor.getSnapshot().value),
    failure: () => actor.getSnapshot().context.failure?.message,
    view: () => actorView(actor, () => START),
  };
}

describe('the first step for a mirror pod', () => {
  const cases: readonly (readonly [string, Partial<MirrorFacts>, string])[] = [
    ['a static pod without a mirror pod gets one', { pod }, 'creating'],
    ['no mirror pod is created before the node is registered', { pod, nodeUid: '' }, 'awaitingNode'],
    ['a correct mirror pod remains', { pod, observedMirror }, 'current'],
    ['a correct mirror pod remains before the node is registered', { pod, observedMirror, nodeUid: '' }, 'current'],
    ['a mirror pod of a different version of the pod is removed', { pod: podWith('two'), observedMirror }, 'removing'],
    [
      'a mirror pod that is being deleted is removed at once',
      { pod, observedMirror: { ...observedMirror, isDeleting: true } },
      'removing',
    ],
    ['a mirror pod without a static pod is removed', { observedMirror }, 'removing'],
    [
      'nothing is created or removed while the previous pod still terminates',
      { pod: podWith('two'), observedMirror, isUpdateDeferred: true },
      'deferred',
    ],
    ['nothing is done without a static pod and a mirror pod', {}, 'removed'],
  ];
  test.each(cases)('%s', (_, facts, state) => {
    expect(mirrorStory(facts).state()).toBe(state);
  });
});

test('C31: a mirror pod owned by the Node is created, and exists once the watch shows it', () => {
  const { ports, state, tell, view } = mirrorStory({ pod });
  expect(ports.asked('createMirror')).toEqual([{ pod, nodeUid: 'node-1-uid' }]);
  ports.answer('createMirror', null);
  expect([state(), view().until]).toEqual(['awaitingWatch', START + 60_000]);
  tell({ observedMirror });
  expect([state(), ports.asked('createMirror').length]).toEqual(['current', 1]);
});

test('C31: a mirror pod that the watch never shows is created again', () => {
  const { ports, state } = mirrorStory({ pod });
  ports.answer('createMirror', null);
  ports.advance(59_999);
  expect(state()).toBe('awaitingWatch');
  ports.advance(1);
  expect(ports.asked('createMirror').length).toBe(2);
});

test('C31: a mirror pod is not created twice for other changes before the watch shows it', () => {
  const { ports, state, tell } = mirrorStory({ pod });
  ports.answer('createMirror', null);
  tell({ pod: podWith('two') });
  expect([state(), ports.asked('createMirror').length]).toEqual(['awaitingWatch', 1]);
  tell({ observedMirror });
  expect([state(), ports.asked('removeMirror').length]).toEqual(['removing', 1]);
});

test('C31: a mirror pod is not created twice if the watch shows it before the response', () => {
  const { ports, state, tell } = mirrorStory({ pod });
  tell({ observedMirror });
  expect(state()).toBe('creating');
  ports.answer('createMirror', null);
  expect([state(), ports.asked('createMirror').length]).toEqual(['current', 1]);
});

test('C31: a wrong mirror pod is replaced at once, whatever the watch still shows', () => {
  const { ports, state, tell } = mirrorStory({ pod: podWith('two'), observedMirror });
  expect(ports.asked('removeMirror')).toEqual([{ ...NAME, uid: 'mirror-1' }]);
  ports.answer('removeMirror', null);
  expect(state()).toBe('creating');
  tell({ pod: podWith('three') });
  ports.answer('createMirror', null);
  expect(state()).toBe('awaitingWatch');
  tell({ observedMirror: { ...observedMirror, uid: 'mirror-2', hash: 'two' } });
  expect(ports.asked('removeMirror').at(-1)).toEqual({ ...NAME, uid: 'mirror-2' });
});

test('C31: a mirror pod may disappear or be replaced during its removal', () => {
  const { ports, state, tell } = mirrorStory({ observedMirror });
  tell({ observedMirror: { ...observedMirror, uid: 'mirror-2' } });
  expect(state()).toBe('removing');
  ports.answer('removeMirror', null);
  expect(ports.asked('removeMirror').map(({ uid }) => uid)).toEqual(['mirror-1', 'mirror-2']);
  tell({ observedMirror: null });
  ports.answer('removeMirror', null);
  expect(state()).toBe('removed');
});

test('C31: a mirror pod is created once the node is registered', () => {
  const { state, tell } = mirrorStory({ pod, nodeUid: '' });
  tell({ nodeUid: 'node-1-uid' });
  expect(state()).toBe('creating');
});

test('C31: a wrong mirror pod is removed once the earlier pod has terminated', () => {
  const { state, tell } = mirrorStory({ pod: podWith('two'), observedMirror, isUpdateDeferred: true });
  tell({ isUpdateDeferred: false });
  expect(state()).toBe('removing');
});

test('C31: a rejected creation is retried after a wait that doubles from 5 s to 60 s', () => {
  const { ports, state, failure, view } = mirrorStory({ pod });
  for (const wait of WAITS) {
    ports.fail('createMirror', 'InternalError', 'namespaces "kube-system" not found');
    expect([state(), failure()]).toEqual(['awaitingRetry', 'namespaces "kube-system" not found']);
    expect(view().until).toBe(ports.now + wait);
    ports.advance(wait - 1);
    expect(state()).toBe('awaitingRetry');
    ports.advance(1);
    expect(state()).toBe('creating');
  }
  ports.answer('createMirror', null);
  expect(failure()).toBeUndefined();
});

test('C31: a failed removal of a mirror pod is retried, and at once after a change', () => {
  const { ports, state, tell } = mirrorStory({ observedMirror });
  ports.fail('removeMirror', 'InternalError', 'connection refused');
  expect(state()).toBe('awaitingRetry');
  tell({ pod });
  expect(state()).toBe('current');
  tell({ pod: null });
  expect(state()).toBe('removing');
});
