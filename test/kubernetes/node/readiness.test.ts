import { expect, test } from '@jest/globals';
import { type NodeHealth, notReadyReasons, reasonsText } from '../../../kubernetes/node/readiness.ts';
import { STARTED as NOW } from '../nodes.ts';

const SECOND = 1_000;
const NETWORK = 'container runtime network not ready: NetworkReady=false reason:NoPlugin message:none';
const RUNTIME = 'container runtime not ready: RuntimeReady=false reason:Busy message:later';

/** A node that is ready, but for what a test says. */
const reasonsOf = (health: Partial<NodeHealth>): string[] =>
  notReadyReasons(
    { runtime: { ready: true }, pleg: { hasListed: true }, isInitialized: true, drains: false, ...health },
    NOW,
  );

test('nothing keeps a node whose runtime answers and was listed from being ready', () => {
  expect(reasonsOf({})).toEqual([]);
  expect(reasonsOf({ pleg: { hasListed: true, staleSince: NOW } })).toEqual([]);
});

test('C34: a node that has heard of nothing yet has the reasons of a kubelet that has just started', () => {
  const nothing = { runtime: { ready: false }, pleg: { hasListed: false }, isInitialized: false };
  expect(reasonsText(reasonsOf(nothing))).toBe(
    '[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful, ' +
      'network state unknown, CSINode is not yet initialized]',
  );
});

test('C34: a runtime may be away for less than thirty seconds', () => {
  const away = (seenAt: number) => reasonsOf({ runtime: { ready: false, isSilent: true, seenAt } });
  expect(away(NOW - 30 * SECOND + 1)).toEqual([]);
  expect(away(NOW - 30 * SECOND)).toEqual(['container runtime is down']);
});

test('the runtime says itself that it is not ready: that counts at once, and soon it is down as well', () => {
  const since = (ms: number) => reasonsOf({ runtime: { ready: false, notReady: RUNTIME, seenAt: NOW - ms } });
  expect(since(SECOND)).toEqual([RUNTIME]);
  expect(since(40 * SECOND)).toEqual(['container runtime is down', RUNTIME]);
  expect(reasonsOf({ runtime: { ready: false, notReady: RUNTIME } })).toEqual([
    'container runtime status check may not have completed yet',
    RUNTIME,
  ]);
});

test('a network that is not ready counts at once, and the runtime is not down for it', () => {
  expect(reasonsOf({ runtime: { ready: false, lacksOnlyNetwork: true, networkNotReady: NETWORK } })).toEqual([NETWORK]);
  const away = { ready: false, isSilent: true, seenAt: NOW - SECOND, networkNotReady: NETWORK } as const;
  expect(reasonsOf({ runtime: away })).toEqual([NETWORK]);
});

test('C34: a runtime may not be listed for three minutes', () => {
  const stale = (ms: number) => reasonsOf({ pleg: { hasListed: true, staleSince: NOW - ms } });
  expect(stale(180 * SECOND)).toEqual([]);
  expect(stale(185 * SECOND)).toEqual(['PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s']);
});

test('that it drains is the last reason', () => {
  expect(reasonsOf({ drains: true, isInitialized: false })).toEqual([
    'CSINode is not yet initialized',
    'node is shutting down',
  ]);
});

test('one reason stands alone, and none is no text', () => {
  expect([reasonsText(['a']), reasonsText([])]).toEqual(['a', '']);
});
