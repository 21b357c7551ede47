import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { cgroupsMachine } from '../../../machines/cgroups/chart.ts';
import { containerMachine } from '../../../machines/container/chart.ts';
import { imageMachine } from '../../../machines/image/chart.ts';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import { nodeAgentMachine } from '../../../machines/node/chart.ts';
import { garbageMachine } from '../../../machines/node/garbage.ts';
import { logRotationMachine } from '../../../machines/node/logRotation.ts';
import { activeDeadlineMachine } from '../../../machines/pod/activeDeadline.ts';
import { podMachine } from '../../../machines/pod/chart.ts';
import { probeMachine } from '../../../machines/probe/chart.ts';
import { STATE_TAGS, type StateMeta } from '../../../machines/shared/stateMeta.ts';
import { volumeMachine } from '../../../machines/volume/chart.ts';
import { atomicStates, isPassing, tagsOf } from '../support/reach.ts';

/** Where an actor has arrived, and waits for nothing that is to come by itself. */
const REST = {
  nodeAgent: ['running', 'stopped', 'broken'],
  pod: ['refused', 'active.running.steady', 'finished', 'terminated', 'broken'],
  container: [...['running.steady', 'ended.succeeded', 'ended.failed', 'stopped', 'removed']],
  volume: ['mounted.steady', 'unmounted'],
  image: ['found'],
  probe: [],
  garbage: [],
  activeDeadline: ['exceeded'],
  logRotation: [],
  cgroups: ['forbidden', 'unused'],
  limiter: ['open'],
  admission: ['open'],
};

const machines: [keyof typeof REST, AnyStateMachine][] = [
  ['nodeAgent', nodeAgentMachine],
  ['pod', podMachine],
  ['container', containerMachine],
  ['probe', probeMachine],
  ['volume', volumeMachine],
  ['image', imageMachine],
  ['garbage', garbageMachine],
  ['activeDeadline', activeDeadlineMachine],
  ['logRotation', logRotationMachine],
  ['cgroups', cgroupsMachine],
  ['limiter', limiterMachine],
  ['admission', admissionMachine],
];
const nameOf = ({ path }: AnyStateNode) => path.join('.');
// Every machine here declares StateMeta as its meta type.
const metaOf = ({ meta }: AnyStateNode) => (meta ?? {}) as StateMeta;

/** A timer that leads back to its own state does not end the wait. */
const isOnlyRepeated = (node: AnyStateNode): boolean =>
  (node.transitions.get('timer.elapsed') ?? []).every(({ target = [] }) => target.length === 1 && target[0] === node);

describe.each(machines)('waiting is visible: %s', (name, machine) => {
  const states = atomicStates(machine).filter((node) => !isPassing(node));

  test('every state in which it can stay either rests or says what it waits for', () => {
    const silent = states.filter((node) => metaOf(node).waitsFor === undefined);
    expect(silent.map(nameOf).sort()).toEqual([...REST[name]].sort());
  });

  test('every wait for a time says until when', () => {
    const timed = states.filter((node) => node.invoke.some(({ src }) => src === 'timer') && !isOnlyRepeated(node));
    const vague = timed.filter((node) => metaOf(node).until === undefined && metaOf(node).afterMs === undefined);
    expect(vague.map(nameOf)).toEqual([]);
  });
});

test.each(machines)('each state of %s, with those around it, has exactly one of the seven tags', (_, machine) => {
  const kinds: readonly string[] = STATE_TAGS;
  const odd = atomicStates(machine).filter((node) => tagsOf(node).filter((tag) => kinds.includes(tag)).length !== 1);
  expect(odd.map((node) => [nameOf(node), ...tagsOf(node)])).toEqual([]);
});
