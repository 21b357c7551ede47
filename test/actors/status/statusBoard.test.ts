import { expect, test } from '@jest/globals';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { createStatusBoard, type StatusBoard, type StatusBoardOptions } from '../../../actors/status/statusBoard.ts';
import { StatusLedger } from '../../../actors/status/statusLedger.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { IMAGE, podRunning, podWith } from '../../fakes/pods.ts';

const inZoo = (name: string) => podWith(name, {}, { namespace: 'zoo', uid: `zoo-${name}` });

test('pods are listed by namespace and name, regardless of when they were added', async () => {
  const node = await simulatedNode();
  node.apply(podWith('b'), inZoo('a2'));
  await node.advance('1s');
  node.apply(podWith('a'), podWith('c', {}, { namespace: 'batch' }));
  await node.advance('1s');
  const names = node.agent.pods().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(names).toEqual(['batch/c', 'default/a', 'default/b', 'zoo/a2']);
});

test('pods with the same name, waiting for each other to be removed, are listed by UID', async () => {
  const uids = ['web-2', 'web-1', 'web-3'];
  const node = await simulatedNode();
  const pods = uids.map((uid) => podWith('web', {}, { uid }));
  node.agent.send({ type: 'config.podsListed', source: 'file', pods, problems: [], at: node.clock.now() });
  await node.advance('1s');
  expect(node.agent.pods().map(({ metadata }) => metadata.uid)).toEqual(uids.toSorted());
});

test('pods with the same name are explained by namespace', async () => {
  const node = await simulatedNode();
  node.agent.send({
    type: 'config.podsListed',
    source: 'file',
    pods: [podWith('web'), inZoo('web')],
    problems: [],
    at: node.clock.now(),
  });
  await node.advance('1s');
  expect(node.agent.explain('web', 'zoo')).toMatchObject({ namespace: 'zoo', uid: 'zoo-web' });
  expect(node.agent.explain('web', 'default')).toMatchObject({ namespace: 'default', uid: 'web-uid' });
  expect(node.agent.explain('web', 'batch')).toBeUndefined();
});

test('in a pod with many containers only the changed container is inspected again, and only its status is rebuilt', async () => {
  const containers = ['a', 'b', 'c'].map((name) => ({ name, image: IMAGE }));
  const volumes = [{ name: 'v', emptyDir: {} }];
  const node = await simulatedNode({ pods: [podWith('web', { containers, volumes })] });
  await node.advance('5s');
  const actors = () => node.agent.trees().get('web-uid')?.children ?? [];
  const [before, was] = [actors(), node.pod('web')];
  node.runtime.exitContainer(node.containerId('web', 'b'), 1);
  await node.advance('5s');
  const [after, is] = [actors(), node.pod('web')];
  expect(is.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 1, 0]);
  const reused = after.map((actor) => [actor.name, before.includes(actor)]);
  expect(Object.fromEntries(reused)).toEqual({ v: true, a: true, b: false, c: true });
  const same = is.containerStatuses?.map((each, index) => each === was.containerStatuses?.[index]);
  expect(same).toEqual([true, false, true]);
});

const manyContainers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image: IMAGE }));

test('the status of a starting pod with many containers is computed at most once per interval', async () => {
  const node = await simulatedNode();
  const changes: number[] = [];
  node.agent.subscribe(() => void changes.push(node.clock.now()));
  node.apply(podWith('large', { containers: manyContainers(200) }));
  await node.advance('60s');
  expect(node.pod('large').containerStatuses?.every(({ ready }) => ready)).toBe(true);
  const begun = changes.filter((at) => at > (changes[0] ?? 0));
  const apart = begun.slice(1).map((at, index) => at - (begun[index] ?? at));
  expect(Math.min(...apart)).toBeGreaterThanOrEqual(200);
});

test('a removed pod with many containers disappears from the list of pods', async () => {
  const node = await simulatedNode({ pods: [podWith('large', { containers: manyContainers(50) })] });
  await node.advance('60s');
  node.remove('large');
  await node.advance('60s');
  expect(node.agent.pods()).toEqual([]);
});

/** Returns a status board in addition to that of the node. */
const boardOf = (more: Partial<StatusBoardOptions> = {}) =>
  createStatusBoard({
    clock: { now: () => 0 },
    since: () => 0,
    hostIps: () => [],
    runtimeName: () => 'simulated',
    delay: () => () => {},
    ledger: new StatusLedger(),
    onError: (_source, error) => {
      throw error;
    },
    ...more,
  });

/**
 * Passes only transitions of pod actors to the board, so it learns of a stopped actor after the one that replaces it.
 */
const reportingPods =
  (board: StatusBoard) =>
  ({ type, actorRef }: InspectionEvent) => {
    // All actors here are XState actors.
    if (type === '@xstate.snapshot' && /^pod\//.test((actorRef as AnyActorRef).id))
      board.noteTransition(actorRef as AnyActorRef);
  };

test('C14: a pod whose status cannot be computed, or a listener that throws, does not affect the reports about other pods', async () => {
  const [errors, heard]: [string[], string[]] = [[], []];
  const bad = { isBroken: true };
  const board = boardOf({
    onError: (source, error) => errors.push(`${source}: ${String(error)}`),
    persist: ({ uid }) => {
      if (uid === 'bad-uid' && bad.isBroken) throw new Error('unkept');
      return undefined;
    },
  });
  board.subscribe(() => {
    throw new Error('unheard');
  });
  board.subscribe(({ pod: { metadata, status } }) => heard.push(`${metadata.name} ${status?.phase}`));
  const pods = [podWith('bad'), podWith('good')];
  const node = await simulatedNode({ pods, parts: { inspect: reportingPods(board) } });
  await node.advance('3s');
  expect(heard.at(-1)).toBe('good Running');
  expect(heard.join()).not.toContain('bad');
  expect(new Set(errors)).toEqual(new Set(['statuses: Error: unkept', 'statuses: Error: unheard']));
  // The status is computed again with the next change of any pod.
  bad.isBroken = false;
  node.runtime.exitContainer(node.containerId('good', 'main'), 1);
  await node.advance('1s');
  expect(heard).toContain('bad Running');
});

test('a pod that is recreated with the same UID in the same turn inherits nothing from the previous status', async () => {
  const phases: unknown[] = [];
  const board = boardOf({
    ledger: new StatusLedger({ previousStatuses: { 'job-uid': { phase: 'Failed' } } }),
  });
  board.subscribe(({ pod, removed }) => phases.push(removed ? 'removed' : pod.status?.phase));
  const job = podRunning('job', 'exit 0', { restartPolicy: 'OnFailure' });
  const node = await simulatedNode({
    pods: [job],
    parts: { inspect: reportingPods(board) },
  });
  await node.advance('3s');
  expect(phases.at(-1)).toBe('Failed');
  node.remove('job');
  node.apply(job);
  await node.advance('3s');
  const end = phases.indexOf('removed');
  expect(phases.slice(end - 1, end + 2)).toEqual(['Failed', 'removed', 'Pending']);
  expect(phases.at(-1)).toBe('Succeeded');
});

/** Returns a board on the next agent of a node with a pod of 50 containers, which is being adopted. */
async function boardDuringAdoption() {
  const boards: StatusBoard[] = [];
  const inspect = ({ type, actorRef }: InspectionEvent) => {
    // All actors here are XState actors.
    if (type === '@xstate.snapshot') boards[0]?.noteTransition(actorRef as AnyActorRef);
  };
  const pods = [podWith('large', { containers: manyContainers(50) })];
  const node = await simulatedNode({ pods, parts: { inspect } });
  await node.advance('10s');
  node.killAgent();
  const board = boardOf();
  boards.push(board);
  await node.startAgent();
  for (let step = 0; step < 500 && board.find('large') === undefined; step += 1) await node.advance('2ms');
  expect(board.find('large')?.tree.state).toBe('sandboxing.adopting');
  expect(board.dueUids()).toEqual(['large-uid']);
  return { node, board };
}

test('a large pod that is being adopted has no new status in queries until its containers are known', async () => {
  const { node, board } = await boardDuringAdoption();
  expect(board.find('large')?.pod.status).toBeUndefined();
  await node.advance('1s');
  expect(board.find('large')).toMatchObject({
    pod: { status: { phase: 'Running' } },
    tree: { state: 'active.running.steady' },
  });
});

test('a large pod that ends before its first status is no longer due', async () => {
  const { node, board } = await boardDuringAdoption();
  node.remove('large');
  await node.advance('10s');
  expect(board.dueUids()).toEqual([]);
});
