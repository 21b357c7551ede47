import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import type { CpuAssignments } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { cpusMachine } from '../../../machines/cpus/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorTree, actorView } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const RECONCILE_MS = 10_000;
const shared: CpuAssignments = { shared: [0, 1, 2, 3], exclusive: [] };
const exclusive: CpuAssignments = {
  shared: [0, 3],
  exclusive: [{ podUid: 'uid-1', container: 'main', cpus: [1, 2], pod: 'default/web' }],
};
const run = { pod: { uid: 'uid-1', namespace: 'default', name: 'web' }, container: 'main', id: 'c1', attempt: 0 };

/** Creates the CPU manager with a fake admission and a fake node, both of which record the events they receive. */
function cpusStory() {
  const ports = new FakePorts(START);
  const heard: object[] = [];
  const ear = fromCallback<{ type: string }>(({ receive }) => receive((event) => void heard.push(event)));
  const machine = provideActors(cpusMachine, ports);
  const node = setup({ actors: { cpus: machine, ear } }).createMachine({
    context: ({ spawn }) => {
      spawn('ear', { id: 'admission', systemId: 'admission' });
      spawn('cpus', { id: 'cpus', input: { assignments: shared, reserved: [0], reconcileMs: RECONCILE_MS } });
      return {};
    },
    on: { '*': { actions: ({ event }) => void heard.push(event) } },
  });
  const root = createActor(node).start();
  const { cpus } = root.getSnapshot().children;
  if (cpus === undefined) throw new Error('the manager was not spawned');
  const actor = cpus as ReturnType<typeof createActor<typeof machine>>;
  return {
    ports,
    heard: () => heard.splice(0),
    saved: () => ports.answer('saveCpus', null),
    assign: (revision: number) => actor.send({ type: 'cpus.assigned', assignments: exclusive, revision }),
    list: (...containers: (typeof run)[]) => actor.send({ type: 'cpus.listed', containers }),
    state: () => statePath(actor.getSnapshot().value),
    view: () => actorView(actor, () => START),
    facts: () => actorTree(actor, { getStateSince: () => START }),
    context: () => actor.getSnapshot().context,
  };
}

test('CPU assignments are saved before the pods that need them are admitted', () => {
  const { saved, assign, heard, list, ports, state } = cpusStory();
  saved();
  list();
  heard();
  assign(1);
  expect(state()).toBe('saving');
  expect(ports.asked('saveCpus').at(-1)).toEqual({ assignments: exclusive });
  expect(heard()).toEqual([]);
  saved();
  expect(heard()).toContainEqual({ type: 'admission.cpusSaved', revision: 1 });
});

test('later assignments that arrive while earlier ones are written are saved as well', () => {
  const { saved, assign, heard } = cpusStory();
  assign(1);
  assign(2);
  saved();
  expect(heard().filter((event) => 'revision' in event)).toEqual([{ type: 'admission.cpusSaved', revision: 2 }]);
});

test('saving the assignments is retried after 10 s, while the pods wait', () => {
  const { ports, heard, state, view, saved } = cpusStory();
  ports.fail('saveCpus', 'StoreFailed', 'no space left on device');
  expect(state()).toBe('awaitingSave');
  expect(view()).toMatchObject({ waitingFor: 'another attempt to save the CPU assignments' });
  expect(heard()).toEqual([]);
  ports.advance(10_000);
  expect(state()).toBe('saving');
  saved();
  expect(heard()).toContainEqual({ type: 'admission.cpusSaved', revision: 0 });
});

test('running containers are updated after each change, and checked at intervals', () => {
  const { ports, heard, state, saved, list, context, view } = cpusStory();
  saved();
  expect(heard()).toContainEqual({ type: 'cpus.requested' });
  list(run);
  expect(ports.asked('reconcileCpus')).toEqual([{ containers: [run] }]);
  ports.answer('reconcileCpus', { updatedCount: 1 });
  expect([state(), context().updateCount]).toEqual(['waiting', 1]);
  expect(view()).toMatchObject({
    waitingFor: 'the next check of the CPUs of running containers',
    until: START + RECONCILE_MS,
  });
  ports.advance(RECONCILE_MS);
  expect(state()).toBe('listing');
  list();
  expect(state()).toBe('waiting');
});

test('containers that could not be updated are retried at the next check', () => {
  const { ports, state, saved, list, context } = cpusStory();
  saved();
  list(run);
  ports.fail('reconcileCpus', 'RuntimeError', 'cannot update');
  expect([state(), context().failure?.message]).toEqual(['waiting', 'cannot update']);
  ports.advance(RECONCILE_MS);
  list(run);
  ports.answer('reconcileCpus', { updatedCount: 1 });
  expect(context().failure).toBeUndefined();
});

test('the shared, reserved and exclusive CPUs are shown', () => {
  const { assign, facts } = cpusStory();
  assign(1);
  expect(facts()).toMatchObject({
    facts: ['shared CPUs 0,3', 'reserved CPUs 0', '0 updates of running containers'],
    lists: { 'exclusive CPUs': ['1-2 for default/web, container main'] },
  });
});
