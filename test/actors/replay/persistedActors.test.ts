import { describe, expect, test } from '@jest/globals';
import type { AnyActor } from 'xstate';
import { copiedActors, persistedActor, plainCopier } from '../../../actors/replay/persistedActors.ts';
import { runAllSteps } from '../../../base/async/steps.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';

/** Returns the snapshot of all actors as XState persists it, without the fields about how children report to parents. */
function persistedByXState(root: AnyActor): unknown {
  const text = JSON.stringify(root.getPersistedSnapshot(), (key, value) =>
    key === 'syncSnapshot' ? undefined : value,
  );
  return JSON.parse(text);
}

describe('persistedActor', () => {
  test('persists a node with pods that start, wait, crash and stop as XState does', async () => {
    let root: AnyActor | undefined;
    const node = await simulatedNode({
      pods: [podRunning('bad', 'sleep 1; exit 1'), podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }] })],
      parts: {
        inspect: ({ actorRef }) => {
          // All actors here are XState actors.
          const actor = actorRef as AnyActor;
          if (actor._parent === undefined) root = actor;
        },
      },
    });
    for (const pause of ['0s', '1ms', '10ms', '100ms', '1s', '5s', '20s']) {
      if (pause === '20s') node.remove('web');
      await node.advance(pause);
      if (root === undefined) throw new Error('no actor has started');
      const persisted = persistedActor(root);
      expect(plainCopier()(persisted)).toEqual(persistedByXState(root));
      expect(runAllSteps(copiedActors(persisted, plainCopier()))).toEqual(persistedByXState(root));
    }
  });
});

describe('plainCopier', () => {
  test('copies exactly the parts of a value that JSON represents', () => {
    const value = { a: [1, undefined, Number.NaN, null], b: undefined, c: { d: 'text', e: true }, f: () => 1 };
    expect(plainCopier()(value)).toEqual(JSON.parse(JSON.stringify(value)));
  });

  test('copies an object that occurs repeatedly only once', () => {
    const pod = { name: 'web' };
    const copy = plainCopier()({ one: { pod }, other: { pod } });
    expect(copy.one.pod).toEqual(pod);
    expect(copy.one.pod).not.toBe(pod);
    expect(copy.one.pod).toBe(copy.other.pod);
  });

  test('copies an object that several values share only once', () => {
    const pod = { name: 'web' };
    const plainCopy = plainCopier();
    expect(plainCopy({ pod }).pod).toBe(plainCopy({ pod }).pod);
  });
});
