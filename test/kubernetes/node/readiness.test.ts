import { expect, test } from '@jest/globals';
import { joinReasons, type NodeHealth, notReadyReasons } from '../../../kubernetes/node/readiness.ts';
import { STARTED as NOW } from '../nodes.ts';

const SECOND = 1_000;
const NETWORK = 'container runtime network not ready: NetworkReady=false reason:NoPlugin message:none';
const RUNTIME = 'container runtime not ready: RuntimeReady=false reason:Busy message:later';

/** Returns the reasons for which a node is not ready. The node is ready without the changes. */
const reasonsOf = (health: Partial<NodeHealth>): string[] =>
  notReadyReasons(
    { runtime: { ready: true }, pleg: { hasListed: true }, isInitialized: true, isDraining: false, ...health },
    NOW,
  );

test('a node is ready if the runtime responds and was listed', () => {
  expect(reasonsOf({})).toEqual([]);
  expect(reasonsOf({ pleg: { hasListed: true, staleSince: NOW } })).toEqual([]);
});

test('C34: a node has the reasons of a kubelet that has just started, before any report', () => {
  const nothing = { runtime: { ready: false }, pleg: { hasListed: false }, isInitialized: false };
  expect(joinReasons(reasonsOf(nothing))).toBe(
    '[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful, ' +
      'network state unknown, CSINode is not yet initialized]',
  );
});

test('C34: a silent runtime is tolerated for less than thirty seconds', () => {
  const away = (seenAt: number) => reasonsOf({ runtime: { ready: false, isSilent: true, seenAt } });
  expect(away(NOW - 30 * SECOND + 1)).toEqual([]);
  expect(away(NOW - 30 * SECOND)).toEqual(['container runtime is down']);
});

test('a runtime that is not ready is reported at once, and later also that it is down', () => {
  const since = (ms: number) => reasonsOf({ runtime: { ready: false, notReadyMessage: RUNTIME, seenAt: NOW - ms } });
  expect(since(SECOND)).toEqual([RUNTIME]);
  expect(since(40 * SECOND)).toEqual(['container runtime is down', RUNTIME]);
  expect(reasonsOf({ runtime: { ready: false, notReadyMessage: RUNTIME } })).toEqual([
    'container runtime status check may not have completed yet',
    RUNTIME,
  ]);
});

test('a network that is not ready is reported at once, without the runtime being down', () => {
  expect(reasonsOf({ runtime: { ready: false, lacksOnlyNetwork: true, networkNotReady: NETWORK } })).toEqual([NETWORK]);
  const away = { ready: false, isSilent: true, seenAt: NOW - SECOND, networkNotReady: NETWORK } as const;
  expect(reasonsOf({ runtime: away })).toEqual([NETWORK]);
});

test('C34: a stale list of the runtime is tolerated for three minutes', () => {
  const stale = (ms: number) => reasonsOf({ pleg: { hasListed: true, staleSince: NOW - ms } });
  expect(stale(180 * SECOND)).toEqual([]);
  expect(stale(185 * SECOND)).toEqual(['PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s']);
});

test('the shutdown is reported as the last reason', () => {
  expect(reasonsOf({ isDraining: true, isInitialized: false })).toEqual([
    'CSINode is not yet initialized',
    'node is shutting down',
  ]);
});

test('several reasons are joined, but a single one is not', () => {
  expect([joinReasons(['a']), joinReasons([])]).toEqual(['a', '']);
});
