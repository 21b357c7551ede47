import { expect, test } from '@jest/globals';
import { leaseMachine } from '../../../machines/lease/chart.ts';
import type { RegistrationReport } from '../../../machines/shared/events/events.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorView } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { childOf, ear, START } from '../support/stand.ts';

/** Renewal interval of a lease of 40 s, in milliseconds. */
const EVERY = 10_000;
/** The kubelet's delays between attempts, in milliseconds. */
const WAITS = [200, 400, 800, 1_600, 3_200, 6_400, 7_000, 7_000];

/** Creates a lease actor. The test responds to all of its renewals. */
function leaseStory() {
  const ports = new FakePorts(START);
  const { ref, heard } = ear<RegistrationReport>();
  const actor = childOf(ref, provideActors(leaseMachine, ports), {
    id: 'lease',
    input: { renewalIntervalMs: EVERY },
  }).start();
  return {
    ports,
    heard,
    renewed: (chance = 0) => ports.answer('renewLease', { isHeld: true, chance }),
    nodeless: () => ports.answer('renewLease', { isHeld: false, chance: 0 }),
    registered: () => actor.send({ type: 'node.registered' }),
    failed: () => ports.fail('renewLease', 'InternalError', 'connection refused'),
    state: () => statePath(actor.getSnapshot().value),
    failure: () => actor.getSnapshot().context.failure?.message,
    asks: () => ports.asked('renewLease').length,
    view: () => actorView(actor, () => START),
  };
}

test('C35: a lease is renewed at once, and then at intervals', () => {
  const { ports, renewed, state, asks, view } = leaseStory();
  for (const renewals of [1, 2, 3]) {
    expect([state(), asks()]).toEqual(['renewing', renewals]);
    renewed();
    ports.advance(EVERY - 1);
    expect([state(), asks()]).toEqual(['current', renewals]);
    expect(view()).toMatchObject({ waitingFor: 'the next renewal of the lease', until: START + EVERY });
    ports.advance(1);
  }
});

test('C35: the time until the next renewal counts from the response, however late it is', () => {
  const { ports, renewed, state } = leaseStory();
  ports.advance(8_000);
  renewed();
  ports.advance(EVERY - 1);
  expect(state()).toBe('current');
  ports.advance(1);
  expect(state()).toBe('renewing');
});

test('C35: a failed renewal is retried after a wait that doubles from 200 ms to 7 s', () => {
  const { ports, failed, state, failure, asks, view } = leaseStory();
  for (const [failures, wait] of WAITS.entries()) {
    failed();
    expect([state(), failure()]).toEqual(['awaitingRetry', 'connection refused']);
    expect(view().until).toBe(ports.now + wait);
    ports.advance(wait - 1);
    expect([state(), asks()]).toEqual(['awaitingRetry', failures + 1]);
    ports.advance(1);
    expect([state(), asks()]).toEqual(['renewing', failures + 2]);
  }
});

test('C35: a renewal resets failure and back-off', () => {
  const { ports, renewed, failed, state, failure } = leaseStory();
  for (const wait of WAITS.slice(0, 5)) {
    failed();
    ports.advance(wait);
  }
  renewed();
  expect([state(), failure(), ports.untilNext]).toEqual(['current', undefined, EVERY]);
  ports.advance(EVERY);
  failed();
  expect([state(), ports.untilNext]).toEqual(['awaitingRetry', 200]);
});

test('C35: a renewal is not postponed if the clock is set back', () => {
  const { ports, renewed, failed, asks } = leaseStory();
  failed();
  ports.setClock(-3_600_000);
  ports.advance(200);
  expect(asks()).toBe(2);
  renewed();
  ports.setClock(-3_600_000);
  ports.advance(EVERY);
  expect(asks()).toBe(3);
});

test('renewals are delayed by up to 4 %, so that nodes do not renew at the same time', () => {
  const { ports, renewed, state } = leaseStory();
  renewed(0.5);
  expect(ports.untilNext).toBe(EVERY * 1.02);
  ports.advance(EVERY * 1.02);
  expect(state()).toBe('renewing');
});

test('no lease is created without a Node, whose existence is checked at the same interval', () => {
  const { ports, nodeless, state, failure, asks } = leaseStory();
  nodeless();
  expect([state(), failure(), ports.untilNext]).toEqual(['awaitingNode', undefined, EVERY]);
  ports.advance(EVERY);
  expect([state(), asks()]).toEqual(['renewing', 2]);
});

test('a lease is renewed at once when the Node is registered, even during a renewal', () => {
  const waiting = leaseStory();
  waiting.nodeless();
  waiting.registered();
  expect([waiting.state(), waiting.asks()]).toEqual(['renewing', 2]);
  const looking = leaseStory();
  looking.registered();
  looking.nodeless();
  expect([looking.state(), looking.asks()]).toEqual(['renewing', 2]);
  looking.nodeless();
  expect(looking.state()).toBe('awaitingNode');
  const failing = leaseStory();
  failing.failed();
  failing.registered();
  expect([failing.state(), failing.asks()]).toEqual(['renewing', 2]);
  const held = leaseStory();
  held.renewed();
  held.registered();
  expect([held.state(), held.asks()]).toEqual(['current', 1]);
});

test('the return of the API server is reported once', () => {
  const { ports, renewed, failed, heard } = leaseStory();
  renewed();
  ports.advance(EVERY);
  expect(heard()).toEqual([]);
  failed();
  ports.advance(200);
  renewed();
  ports.advance(EVERY);
  renewed();
  expect(heard()).toEqual([{ type: 'node.leaseRegained' }]);
});
