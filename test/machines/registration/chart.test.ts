import { expect, test } from '@jest/globals';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { registrationMachine } from '../../../machines/registration/chart.ts';
import type { RegistrationReport } from '../../../machines/shared/events/events.ts';
import { type PortName, provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { childOf, ear, eventEar, START } from '../support/stand.ts';

/** The kubelet's delays between attempts, in milliseconds. */
const WAITS = [200, 400, 800, 1_600, 3_200, 6_400, 7_000, 7_000];

/**
 * Creates a registration actor. The test responds to all of its calls. The runtime has responded, unless `isSilent`.
 */
function registrationStory({ isSilent = false } = {}) {
  const ports = new FakePorts(START);
  const { ref, heard } = ear<RegistrationReport>();
  const { inspect, told: events } = eventEar();
  const actor = childOf(ref, provideActors(registrationMachine, ports), {
    id: 'registration',
    input: { nodeName: 'node' },
    inspect,
  }).start();
  const see = () => actor.send({ type: 'runtime.seen' });
  if (!isSilent) see();
  return {
    ports,
    see,
    heard,
    events,
    registered: (events: readonly EventMessage[] = []) => ports.answer('registerNode', { uid: 'node-1-uid', events }),
    made: () => ports.answer('ensureCsiNode', null),
    failed: (port: PortName) => ports.fail(port, 'InternalError', 'connection refused'),
    state: () => statePath(actor.getSnapshot().value),
    failure: () => actor.getSnapshot().context.failure?.message,
    asks: (port: PortName) => ports.asked(port).length,
  };
}

test('C33: the node is registered as soon as the runtime has responded, then its CSINode is created, and each is reported', () => {
  const { ports, registered, made, state, heard, asks } = registrationStory();
  expect([state(), asks('registerNode'), asks('ensureCsiNode')]).toEqual(['registering', 1, 0]);
  registered();
  expect([state(), ports.asked('ensureCsiNode')]).toEqual(['creatingCsiNode', [{ uid: 'node-1-uid' }]]);
  expect(heard()).toEqual([{ type: 'node.registered', uid: 'node-1-uid' }]);
  made();
  expect(heard()).toEqual([{ type: 'node.registered', uid: 'node-1-uid' }, { type: 'node.csiInitialized' }]);
  ports.advance(3_600_000);
  expect([state(), asks('registerNode'), asks('ensureCsiNode')]).toEqual(['registered', 1, 1]);
});

test.each([
  { port: 'registerNode', at: 'registering', waiting: 'awaitingRegistration' },
  { port: 'ensureCsiNode', at: 'creatingCsiNode', waiting: 'awaitingCsiNode' },
] as const)('$port is retried after a wait that doubles from 200 ms to 7 s', ({ port, at, waiting }) => {
  const { ports, registered, failed, state, failure, heard, asks } = registrationStory();
  if (port === 'ensureCsiNode') registered();
  const reports = heard();
  for (const [failures, wait] of WAITS.entries()) {
    failed(port);
    expect([state(), failure()]).toEqual([waiting, 'connection refused']);
    ports.advance(wait - 1);
    expect([state(), asks(port)]).toEqual([waiting, failures + 1]);
    ports.advance(1);
    expect([state(), asks(port)]).toEqual([at, failures + 2]);
  }
  expect(heard()).toEqual(reports);
});

test('C33: the registration of the node resets failure and back-off', () => {
  const { ports, registered, failed, made, state, failure } = registrationStory();
  for (const wait of WAITS.slice(0, 4)) {
    failed('registerNode');
    ports.advance(wait);
  }
  registered();
  expect([state(), failure()]).toEqual(['creatingCsiNode', undefined]);
  failed('ensureCsiNode');
  expect(ports.untilNext).toBe(200);
  ports.advance(200);
  made();
  expect([state(), failure(), ports.untilNext]).toEqual(['registered', undefined, undefined]);
});

test('a failed creation of the CSINode does not register the node again', () => {
  const { ports, registered, failed, made, heard, asks } = registrationStory();
  registered();
  failed('ensureCsiNode');
  ports.advance(200);
  made();
  expect(heard().map(({ type }) => type)).toEqual(['node.registered', 'node.csiInitialized']);
  expect([asks('registerNode'), asks('ensureCsiNode')]).toEqual([1, 2]);
});

test('a wait is not extended if the clock is set back', () => {
  const { ports, failed, asks } = registrationStory();
  failed('registerNode');
  ports.setClock(-3_600_000);
  ports.advance(200);
  expect(asks('registerNode')).toBe(2);
});

test('events about the node are recorded once it is registered', () => {
  const { ports, registered, failed, events } = registrationStory();
  failed('registerNode');
  ports.advance(200);
  expect(events()).toEqual([]);
  registered([{ reason: 'NodeHasSufficientPID', message: 'enough' }]);
  expect(events()).toEqual(['Normal NodeHasSufficientPID: enough']);
});

test('C33: a node waits for its runtime to respond, and then registers at once', () => {
  const { ports, see, state, asks } = registrationStory({ isSilent: true });
  expect([state(), asks('registerNode')]).toEqual(['awaitingRuntime', 0]);
  ports.advance(4_999);
  expect([state(), asks('registerNode')]).toEqual(['awaitingRuntime', 0]);
  see();
  expect([state(), asks('registerNode'), ports.untilNext]).toEqual(['registering', 1, undefined]);
});

test('C33: a runtime that does not respond delays the registration by at most 5 s', () => {
  const { ports, see, state, registered, asks } = registrationStory({ isSilent: true });
  ports.advance(5_000);
  expect([state(), asks('registerNode')]).toEqual(['registering', 1]);
  registered();
  // The runtime's late response concerns only the node status.
  see();
  expect([state(), asks('registerNode')]).toEqual(['creatingCsiNode', 1]);
});
