import { expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { nodeStatusMachine } from '../../../machines/nodeStatus/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { eventEar, START } from '../support/stand.ts';

const CHECK = 10_000;

/** Creates a node status actor. The test responds to all of its reports. */
function statusStory() {
  const ports = new FakePorts(START);
  const { inspect, told: events } = eventEar();
  const actor = createActor(provideActors(nodeStatusMachine, ports), {
    input: { nodeName: 'node', checkMs: CHECK },
    inspect,
  }).start();
  return {
    ports,
    register: () => actor.send({ type: 'node.registered' }),
    changed: (isReady = true) => actor.send({ type: 'node.changed', isReady }),
    registered: () => {
      actor.send({ type: 'node.registered' });
      actor.send({ type: 'node.changed', isReady: true });
    },
    reported: (events: readonly EventMessage[] = []) => ports.answer('putNodeStatus', { isWritten: true, events }),
    events,
    failed: () => ports.fail('putNodeStatus', 'InternalError', 'connection refused'),
    state: () => statePath(actor.getSnapshot().value),
    failure: () => actor.getSnapshot().context.failure?.message,
    asks: () => ports.asked('putNodeStatus').length,
  };
}

/** Creates a node status actor that has reported once. */
function reportedStory() {
  const story = statusStory();
  story.registered();
  story.reported();
  return story;
}

test('a node status is not reported before the node is registered, and then once', () => {
  const { ports, registered, changed, reported, state, asks } = statusStory();
  changed();
  ports.advance(60_000);
  expect([state(), asks()]).toEqual(['awaitingRegistration', 0]);
  registered();
  expect([state(), asks()]).toEqual(['reporting', 1]);
  reported();
  expect([state(), asks()]).toEqual(['current', 1]);
});

test('a starting node has five seconds to become ready before its status is reported', () => {
  const unready = statusStory();
  unready.register();
  unready.changed(false);
  unready.ports.advance(4_999);
  expect([unready.state(), unready.asks()]).toEqual(['awaitingReadiness', 0]);
  unready.ports.advance(1);
  expect([unready.state(), unready.asks()]).toEqual(['reporting', 1]);
  const ready = statusStory();
  ready.register();
  ready.changed(true);
  expect([ready.state(), ready.asks()]).toEqual(['reporting', 1]);
});

test('a node status is checked for changes every ten seconds', () => {
  const { ports, reported, state, asks } = reportedStory();
  for (const checks of [1, 2]) {
    ports.advance(CHECK - 1);
    expect([state(), asks()]).toEqual(['current', checks]);
    ports.advance(1);
    expect([state(), asks()]).toEqual(['reporting', checks + 1]);
    reported();
  }
});

test('a change of the node status is reported at once, and the next check follows ten seconds later', () => {
  const { ports, changed, reported, state, asks } = reportedStory();
  ports.advance(6_000);
  changed();
  expect([state(), asks()]).toEqual(['reporting', 2]);
  reported();
  expect(ports.untilNext).toBe(CHECK);
});

test('changes during a report are combined into one further report', () => {
  const { ports, changed, reported, state, asks } = reportedStory();
  for (let changes = 0; changes < 3; changes += 1) changed();
  expect([ports.pending(), asks()]).toEqual([['putNodeStatus'], 2]);
  reported();
  expect([state(), ports.pending(), asks()]).toEqual(['reporting', ['putNodeStatus'], 3]);
  reported();
  expect([state(), asks()]).toEqual(['current', 3]);
});

test('a failed report is retried after ten seconds until it succeeds', () => {
  const { ports, registered, reported, failed, state, failure, asks } = statusStory();
  registered();
  for (const failures of [1, 2, 3]) {
    failed();
    expect([state(), failure()]).toEqual(['awaitingRetry', 'connection refused']);
    ports.advance(CHECK - 1);
    expect([state(), asks()]).toEqual(['awaitingRetry', failures]);
    ports.advance(1);
    expect([state(), asks()]).toEqual(['reporting', failures + 1]);
  }
  reported();
  expect([state(), failure()]).toEqual(['current', undefined]);
});

test('the next change after a failed report is reported at once', () => {
  const { ports, changed, reported, failed, state, failure, asks } = reportedStory();
  changed();
  failed();
  ports.advance(1_000);
  changed();
  expect([state(), asks()]).toEqual(['reporting', 3]);
  reported();
  expect([state(), failure(), ports.untilNext]).toEqual(['current', undefined, CHECK]);
});

test('the next report includes the changes during a failed one', () => {
  const { ports, changed, reported, failed, state, asks } = reportedStory();
  changed();
  changed();
  failed();
  ports.advance(CHECK);
  expect([state(), asks()]).toEqual(['reporting', 3]);
  reported();
  expect([state(), asks()]).toEqual(['current', 3]);
});

test('a change during a retry causes one further report, and the failure is cleared', () => {
  const { ports, registered, changed, reported, failed, state, failure, asks } = statusStory();
  registered();
  failed();
  ports.advance(CHECK);
  changed();
  reported();
  expect([state(), failure(), asks()]).toEqual(['reporting', undefined, 3]);
});

test('a wait for the next report is not extended if the clock is set back', () => {
  const { ports, registered, failed, asks } = statusStory();
  registered();
  failed();
  ports.setClock(-3_600_000);
  ports.advance(CHECK);
  expect(asks()).toBe(2);
});

test('changed conditions are recorded as events after the report has succeeded', () => {
  const { registered, changed, reported, failed, events } = statusStory();
  registered();
  failed();
  changed();
  expect(events()).toEqual([]);
  const message = 'Node node status is now: NodeReady';
  reported([{ reason: 'NodeReady', message }]);
  expect(events()).toEqual([`Normal NodeReady: ${message}`]);
});
