import { describe, expect, test } from '@jest/globals';
import { toFailure } from '../../../../base/failure.ts';
import { initialPleg, nextPlegState } from '../../../../machines/node/runtime/pleg.ts';
import { nodeHealth } from '../../../../machines/node/runtime/readiness.ts';
import type { RuntimeHealth } from '../../../../machines/shared/events/events.ts';
import { nodeStory } from '../../support/nodeStory.ts';

const CLUSTER = { leaseMs: 40_000, statusCheckMs: 10_000 };
const NODE_READY = 'Normal NodeReady: Node node status is now: NodeReady';
const NOT_READY = 'Normal NodeNotReady: Node node status is now: NodeNotReady';

/** Creates a node whose runtime has been listed. */
function readyStory(cluster?: typeof CLUSTER) {
  const story = nodeStory(cluster ? { cluster } : {});
  story.list();
  const health = (runtime: Partial<RuntimeHealth>) =>
    story.tell({
      type: 'runtime.healthChanged',
      health: { since: story.ports.now, ready: true, name: 'fake', version: '1', ...runtime },
    });
  const away = () => health({ ready: false, isSilent: true, seenAt: story.ports.now });
  const tickAfter = (ms: number) => {
    story.ports.advance(ms);
    story.tick();
  };
  return { ...story, health, away, tickAfter };
}

describe('a node without a cluster', () => {
  test('is ready once its runtime was listed, without a CSINode', () => {
    const { told, context, ports } = readyStory();
    expect(told()).toEqual(['Normal Starting: Starting kubelet.', NODE_READY]);
    expect(context().readiness).toEqual({ isReady: true, since: ports.now });
    expect(nodeHealth(context(), false)).toMatchObject({ pleg: { hasListed: true }, isInitialized: true });
  });

  test('stays ready while its runtime is not available for less than thirty seconds', () => {
    const { told, context, away, health, tickAfter } = readyStory();
    told();
    away();
    tickAfter(20_000);
    tickAfter(9_999);
    expect(context().readiness.isReady).toBe(true);
    health({});
    expect(told()).toEqual([]);
  });

  test('reports once that it is no longer ready, at the next tick, and at once that it is again', () => {
    const { told, context, away, health, tickAfter, ports } = readyStory();
    told();
    away();
    tickAfter(30_000);
    tickAfter(10_000);
    expect(told()).toEqual([NOT_READY]);
    expect(context().readiness).toEqual({ isReady: false, since: ports.now - 10_000 });
    health({});
    expect(told()).toEqual([NODE_READY]);
  });

  test('is not ready as soon as the runtime reports it, or has no network', () => {
    const { told, health } = readyStory();
    told();
    health({ ready: false, notReadyMessage: 'later' });
    expect(told()).toEqual([NOT_READY]);
    health({ ready: false, networkNotReady: 'no plugin', lacksOnlyNetwork: true });
    expect(told()).toEqual([]);
    health({});
    expect(told()).toEqual([NODE_READY]);
  });

  test('is not ready if the runtime could not be listed for three minutes', () => {
    const { told, tell, tickAfter, ports } = readyStory();
    told();
    const failure = toFailure(new Error('no answer'), ports.now);
    const pleg = nextPlegState(initialPleg, { type: 'listFailed', failure, staleSince: ports.now }, ports.now);
    tell({ type: 'runtime.plegChanged', pleg });
    tickAfter(180_000);
    expect(told()).toEqual([]);
    tickAfter(1);
    expect(told()).toEqual([NOT_READY]);
  });
});

test('a node in a cluster leaves the event to its node status, once its CSINode exists', () => {
  const { told, context, away, tickAfter } = readyStory(CLUSTER);
  // The fake world responds immediately.
  expect(context().registration?.isInitialized).toBe(true);
  expect(nodeHealth({ ...context(), registration: { uid: 'u', isInitialized: false } }, false).isInitialized).toBe(
    false,
  );
  away();
  tickAfter(40_000);
  expect(told()).toEqual(['Normal Starting: Starting kubelet.']);
});

test('a draining node is reported as draining', () => {
  expect(nodeHealth(readyStory().context(), true).isDraining).toBe(true);
});
