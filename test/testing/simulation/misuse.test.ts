/**
 * Invalid use of a simulation throws an error with a clear message immediately, instead of hanging or appearing to
 * pass.
 */
import { describe, expect, test } from '@jest/globals';
import type { Hooks, Invariant } from '../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../testing/simulation/invariants/invariants.ts';
import type { SimulationOptions } from '../../../testing/simulation/options.ts';
import type { CallFault } from '../../../testing/simulation/run/gate.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../testing/simulation/stories/manifests.ts';
import type { Action } from '../../../testing/simulation/stories/story.ts';

/** Runs one pod for ten seconds. */
async function run(options: Partial<SimulationOptions>) {
  const node = await simulateNode({ seed: 1, ...options });
  node.apply(manifest('web'));
  await node.advance(10_000);
  return node;
}

/** Stands for a value that a caller without type checking may pass. */
const untyped = <T>(value: unknown): T => value as T;

test.each([-1, 1.5, 2 ** 32, Number.NaN, '7', undefined])('%s is not a valid seed', async (seed) => {
  await expect(simulateNode({ seed: untyped(seed) })).rejects.toThrow('a seed is a whole number from 0 to 4294967295');
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, '60000', undefined])(
  'time cannot advance by %s ms',
  async (ms) => {
    const node = await run({});
    await expect(node.advance(untyped(ms))).rejects.toThrow(`no time can pass of ${ms} ms`);
    await expect(node.settle(untyped(ms))).rejects.toThrow(`no time can pass of ${ms} ms`);
    expect(node.elapsed).toBe(10_000);
  },
);

test('only one caller at a time can advance the time', async () => {
  const node = await run({});
  const first = node.advance(1_000);
  await expect(node.advance(1_000)).rejects.toThrow('time passes already');
  await first;
  await node.advance(1_000);
  expect(node.elapsed).toBe(12_000);
});

test('an invalid config is rejected as by `createNode`', async () => {
  await expect(run({ config: { startSlots: -1 } })).rejects.toThrow(/^createNode: startSlots: /);
});

describe('errors thrown by the code of the caller reach the caller, not the node', () => {
  const hooks = ['onCall', 'onStatus', 'onReport', 'onEvent', 'onEffect', 'onAgentStarted', 'afterStep'] as const;
  const fail = () => {
    throw new TypeError('of my own');
  };
  test.each(hooks satisfies readonly (keyof Hooks)[])('in the hook %s of an invariant', async (hook) => {
    const own: Invariant = { number: 1, description: 'nothing', follow: () => ({ [hook]: fail }) };
    await expect(run({ invariants: [own] })).rejects.toThrow('of my own');
  });
  test('in a plan of faults', () => expect(run({ faults: fail })).rejects.toThrow('of my own'));
  test('in an inspection', () => expect(run({ inspect: fail })).rejects.toThrow('of my own'));
});

test('a violation at the start of the next agent reaches the caller that advances the time', async () => {
  let lives = 0;
  const follow: Invariant['follow'] = (_, violated) => ({
    onAgentStarted: () => {
      lives += 1;
      if (lives === 2) violated('a second life');
    },
  });
  const node = await run({ invariants: [{ number: 4, description: 'one life', follow }] });
  node.perform({ kind: 'killAgent', downMs: 1_000 });
  await expect(node.advance(2_000)).rejects.toThrow('a second life');
});

test.each([
  5,
  {},
  { kind: 'nope' },
  { kind: 'constructor' },
  { kind: 'late' },
  { kind: 'death', when: 'later' },
  { kind: 'late', ms: -5 },
  { kind: 'fail', code: 'NOPE' },
  { kind: 'lostReply', code: 5 },
])('a call cannot have the invalid fault %j', async (fault) => {
  await expect(run({ faults: () => untyped<CallFault>(fault) })).rejects.toThrow('there is no such fault: ');
});

test.each([
  [{ kind: 'constructor' }, 'there is no such action: {"kind":"constructor"}'],
  [undefined, 'there is no such action: undefined'],
  [{ kind: 'jump', ms: Number.NaN }, 'of the kind jump: ms: '],
  [{ kind: 'jump', ms: 1e18 }, 'no clock can jump by 1000000000000000000 ms'],
  [{ kind: 'stall' }, 'of the kind stall: forMs: Required value'],
  [{ kind: 'exit', exitCode: 1 }, 'which: Required value'],
  [{ kind: 'exit', which: 0 }, 'exitCode: Required value'],
  [{ kind: 'exit', which: 0, exitCode: 256 }, 'exitCode: Invalid value: 256: must be less than or equal to 255'],
  [{ kind: 'oom', which: -1, child: false }, 'which: Invalid value: -1: must be greater than or equal to 0'],
  [{ kind: 'killSandbox', which: '0' }, 'which: expected '],
  [{ kind: 'killAgent' }, 'of the kind killAgent: downMs: Required value'],
  [{ kind: 'stopAgent', drains: false, downMs: Number.NaN }, 'of the kind stopAgent: downMs: '],
  [{ kind: 'powerCut', downMs: Number.POSITIVE_INFINITY }, 'of the kind powerCut: downMs: '],
  [{ kind: 'runtimeDown', forMs: 5_000 }, 'of the kind runtimeDown: downMs: Required value'],
  [{ kind: 'disk', fault: 'constructor', forMs: 5_000 }, 'of the kind disk: fault: '],
  [{ kind: 'flaky', target: 'disk', share: 5, forMs: 5_000 }, 'of the kind flaky: share: '],
  [{ kind: 'renameManifest', pod: 'web', file: '../web.json' }, 'expected the name of a file'],
  [{ kind: 'mountForeign', which: 0, at: '../../x', forMs: 5_000 }, 'expected a path below the directory'],
])('the invalid action %j is rejected', async (action, message) => {
  const node = await run({ invariants });
  expect(() => node.perform(untyped<Action>(action))).toThrow(message);
  expect(await node.settle(60_000)).toBe(true);
});

test.each([
  [5, 'its options: expected object, got number'],
  [undefined, 'its options: Required value'],
  [{ seed: 1, faults: 5 }, 'faults: '],
  [{ seed: 1, inspect: {} }, 'inspect: '],
  [{ seed: 1, invariants: [5] }, 'invariants[0]: expected object, got number'],
  [{ seed: 1, invariants: [{ number: 1, description: 'nothing' }] }, 'invariants[0].follow: '],
  [{ seed: 1, records: 'yes' }, 'records: expected boolean, got string'],
  [{ seed: 1, config: 5 }, 'config: expected object, got number'],
  [{ seed: 1, speed: 2 }, 'there is no such option: speed'],
  [{ seed: 1, constructor: 2 }, 'there is no such option: constructor'],
  [{ seed: 1, config: { nodeName: 'mine' } }, 'there is no such option: nodeName'],
])('the invalid options %j are rejected', async (options, message) => {
  await expect(simulateNode(untyped(options))).rejects.toThrow(`simulateNode: ${message}`);
});

test.each([
  [undefined, 'its hooks: Required value'],
  [7, 'its hooks: expected object, got number'],
  [{ afterStep: 5 }, 'afterStep: Invalid value: 5: expected a function'],
])('an invariant with the invalid hooks %j is rejected', async (following, message) => {
  const follow = () => untyped<Hooks>(following);
  await expect(run({ invariants: [{ number: 4, description: 'nothing', follow }] })).rejects.toThrow(
    `invariant 4: ${message}`,
  );
});

test('an invariant without a number is reported by its description', async () => {
  const description = 'There is one life.';
  const follow: Invariant['follow'] = (_, violated) => ({ onAgentStarted: () => violated('a life') });
  const violation = {
    description,
    message: 'a life',
    step: expect.any(Number),
    elapsed: expect.any(Number),
  };
  const found = run({ invariants: [{ description, follow }] });
  await expect(found).rejects.toThrow(/^invariant "There is one life.", step \d+, \d+ ms: a life$/);
  await expect(found).rejects.toMatchObject({ violation });
  const broken = untyped<Hooks>({ afterStep: 5 });
  await expect(run({ invariants: [{ description, follow: () => broken }] })).rejects.toThrow(
    'invariant "There is one life.": afterStep: Invalid value: 5',
  );
});

test.each([5, undefined, null])('%j is not a valid pod name', async (name) => {
  const node = await run({});
  expect(() => node.remove(untyped(name))).toThrow(/remove: pod: /);
  expect(() => node.explain(untyped(name))).toThrow(/^expected the name of a pod, got /);
});

test('an action cannot write a manifest that the node would reject', async () => {
  const node = await run({ invariants });
  const pod = { ...manifest('other'), kind: 'Deployment' };
  for (const action of [
    { kind: 'apply', pod },
    { kind: 'writeInParts', pod, share: 0.5, restMs: 1_000 },
  ])
    expect(() => node.perform(untyped<Action>(action))).toThrow('the node takes no such manifest: ');
  expect(() => node.perform({ kind: 'apply', pod: manifest('other'), by: 'url' })).toThrow('no `manifestUrl`');
  expect(await node.settle(60_000)).toBe(true);
});

test('changing the returned pods or the returned recording does not affect the node', async () => {
  const node = await run({ records: true });
  const [before, recorded] = [node.pods(), node.recording()];
  for (const { status } of node.pods()) Object.assign(status ?? {}, { phase: 'Failed' });
  for (const { value } of node.recording()?.entries ?? [])
    if (typeof value === 'object' && value !== null) Object.assign(value, { type: 'nothing', state: 'nothing' });
  Object.assign(node.recording()?.input ?? {}, { nodeName: 'other' });
  expect(node.pods()).toEqual(before);
  expect(node.recording()).toEqual(recorded);
  await node.advance(10_000);
  expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
  await node.checkReplay();
});

test('an action accepts a pod by its name in the manifest or by its full name', async () => {
  const node = await run({ invariants });
  node.perform({ kind: 'renameManifest', pod: 'web', file: 'other.json' });
  expect(node.actionLog.filesOf('default/web-node-1')).toEqual(['other.json']);
  expect(await node.settle(60_000)).toBe(true);
});

test('a pod can be explained by its name in the manifest, its full name or its UID', async () => {
  const node = await run({});
  const other = manifest('web');
  node.apply({ ...other, metadata: { ...other.metadata, namespace: 'other' } });
  await node.advance(10_000);
  const [uid = ''] = node.pods().map(({ metadata }) => metadata.uid);
  const names = ['web', 'default/web-node-1', uid, 'other/web-node-1', 'nope/web-node-1'];
  expect(names.map((name) => node.explain(name)?.namespace)).toEqual([
    'default',
    'default',
    'default',
    'other',
    undefined,
  ]);
});

test('changing the object of a manifest after it was applied has no effect', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  const web = structuredClone(manifest('web'));
  node.apply(web);
  Object.assign(web.metadata, { name: 'nope' });
  node.perform({ kind: 'copyManifest', pod: 'web', file: 'again.json' });
  expect(await node.settle(60_000)).toBe(true);
  expect(new Set(node.pods().map(({ metadata }) => metadata.name))).toEqual(new Set(['web-node-1']));
});

test('removing a missing pod has no effect', async () => {
  const node = await run({ invariants });
  for (const pod of ['nope', 'default/nope-node-1']) node.remove(pod);
  expect(await node.settle(60_000)).toBe(true);
  expect(node.pods().map(({ metadata }) => metadata.name)).toEqual(['web-node-1']);
});

test('reading a recording or trace that was not enabled is an error', async () => {
  const node = await run({});
  expect(() => node.recording()).toThrow('this simulation has no `records`');
  await expect(node.checkReplay()).rejects.toThrow('this simulation has no `records`');
  expect(() => node.digest()).toThrow('this simulation has no `traces`');
});

test('the recording of a killed agent is available until the next agent starts', async () => {
  const node = await run({ records: true });
  const before = node.recording();
  node.kill();
  expect(node.recording()).toEqual(before);
  await node.startAgent();
  expect(node.recording()?.entries.length).toBeLessThan(before?.entries.length ?? 0);
});

test('a node settles without invariants as well, or reports that it has not settled', async () => {
  const node = await simulateNode({
    seed: 1,
    faults: ({ name }) => (name === 'pullImage' ? { kind: 'fail' } : undefined),
  });
  const image = 'example.org/web:1';
  node.apply(manifest('web', { containers: [{ name: 'main', image }] }));
  expect(await node.settle(100_000)).toBe(false);
  expect(node.elapsed).toBe(100_000);
  node.endFaults();
  expect(await node.settle(600_000)).toBe(true);
  expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
});
