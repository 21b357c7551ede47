import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import { initialMemoryAssignments } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { memoryManagerMachine } from '../../../machines/memoryManager/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorTree, actorView } from '../../../machines/shared/views/actorTree.ts';
import { simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { START } from '../support/stand.ts';

const GIB = 2 ** 30;
const empty = initialMemoryAssignments(simulatedMemoryManager('altra').memoryPolicy);
const blocks = [{ numaNodes: [0, 1], resource: 'memory', bytes: 300 * GIB }];
const assigned = {
  nodes: empty.nodes.map((node) => ({ ...node, group: [0, 1] })),
  containers: [{ podUid: 'uid-1', container: 'main', blocks, pod: 'default/web' }],
};

/** Creates the memory manager with a fake admission that records the events it receives. */
function memoryStory() {
  const ports = new FakePorts(START);
  const heard: object[] = [];
  const ear = fromCallback<{ type: string }>(({ receive }) => receive((event) => void heard.push(event)));
  const machine = provideActors(memoryManagerMachine, ports);
  const node = setup({ actors: { memoryManager: machine, ear } }).createMachine({
    context: ({ spawn }) => {
      spawn('ear', { id: 'admission', systemId: 'admission' });
      spawn('memoryManager', { id: 'memoryManager', input: { assignments: empty } });
      return {};
    },
  });
  const root = createActor(node).start();
  const { memoryManager } = root.getSnapshot().children;
  if (memoryManager === undefined) throw new Error('the manager was not spawned');
  const actor = memoryManager as ReturnType<typeof createActor<typeof machine>>;
  return {
    ports,
    heard: () => heard.splice(0),
    saved: () => ports.answer('saveMemory', null),
    assign: (revision: number) => actor.send({ type: 'memory.assigned', assignments: assigned, revision }),
    state: () => statePath(actor.getSnapshot().value),
    view: () => actorView(actor, () => START),
    facts: () => actorTree(actor, { getStateSince: () => START }),
    context: () => actor.getSnapshot().context,
  };
}

test('saves the assignments before the pods that need them are admitted', () => {
  const { saved, assign, heard, ports, state } = memoryStory();
  saved();
  heard();
  assign(1);
  expect(state()).toBe('saving');
  expect(ports.asked('saveMemory').at(-1)).toEqual({ assignments: assigned });
  expect(heard()).toEqual([]);
  saved();
  expect(heard()).toEqual([{ type: 'admission.memorySaved', revision: 1 }]);
  expect(state()).toBe('saved');
});

test('saves assignments that change during a save, and confirms only the latest', () => {
  const { saved, assign, heard } = memoryStory();
  assign(1);
  assign(2);
  saved();
  expect(heard()).toEqual([{ type: 'admission.memorySaved', revision: 2 }]);
});

test('tries again after ten seconds if the assignments cannot be saved', () => {
  const { saved, ports, view, state, context, heard } = memoryStory();
  ports.fail('saveMemory', 'StoreFailed', 'no space left on device');
  expect(view()).toMatchObject({ waitingFor: 'another attempt to save the memory assignments', until: START + 10_000 });
  ports.advance(10_000);
  expect([state(), context().failure?.message]).toEqual(['saving', 'no space left on device']);
  saved();
  expect([heard(), context().failure]).toEqual([[{ type: 'admission.memorySaved', revision: 0 }], undefined]);
});

test('shows the memory of each NUMA node, and who has it', () => {
  const { assign, saved, facts } = memoryStory();
  assign(1);
  saved();
  expect(facts()).toMatchObject({
    facts: [
      'NUMA node 0: hugepages-2Mi 16Gi of 16Gi free, memory 239Gi of 239Gi free, in one group with the nodes 0-1',
      'NUMA node 1: hugepages-2Mi 16Gi of 16Gi free, memory 240Gi of 240Gi free, in one group with the nodes 0-1',
    ],
    lists: { 'memory of containers': ['memory 300Gi on NUMA nodes 0-1 for default/web, container main'] },
  });
});
