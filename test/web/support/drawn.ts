/** A small drawing with a compound state, a straight arrow, a folded box and two simple states. */
import type { Drawing } from '../../../inspect/protocol.ts';

const at = (x: number, y: number, width = 100, height = 30) => ({ x, y, width, height });

/** The region of a running container with some of its states. */
export const drawn: Drawing = {
  machine: 'container',
  region: 'run',
  title: 'run and restart',
  summary: 'One container.',
  width: 500,
  height: 300,
  states: [
    { state: 'pending', label: 'pending', kind: 'compound', ...at(20, 20, 120, 130) },
    { state: 'pending.restarting', label: 'restarting', kind: 'atomic', ...at(30, 50, 100, 24), tag: 'working' },
    { state: 'pending.choosing', label: 'choosing', kind: 'atomic', ...at(30, 84, 100, 24), tag: 'working' },
    {
      state: 'pending.*',
      label: '2 more',
      kind: 'folded',
      ...at(30, 118, 100, 24),
      foldedStates: [
        { state: 'pending.waiting', label: 'waiting', tag: 'waiting', waitsFor: 'the containers before it' },
        { state: 'pending.awaitingVolumes', label: 'awaitingVolumes', tag: 'waiting' },
      ],
    },
    {
      state: 'ended.backingOff',
      label: 'backingOff',
      kind: 'atomic',
      ...at(20, 210, 120, 70),
      tag: 'retrying',
      waitsFor: 'the end of its crash-loop back-off',
      rules: ['C7'],
    },
    { state: 'ended.choosing', label: 'ended.choosing', kind: 'atomic', ...at(300, 230) },
  ],
  ways: [
    {
      ways: ['pending.restarting always 0'],
      from: 'pending.restarting',
      to: 'pending.choosing',
      points: [
        [80, 74],
        [80, 84],
      ],
      label: [''],
    },
    {
      ways: ['ended.choosing always 4', 'ended.choosing always 9'],
      from: 'ended.choosing',
      to: 'ended.backingOff',
      points: [
        [300, 245],
        [140, 245],
      ],
      label: ['runHook done', ''],
      labelAt: [180, 250],
      countAt: [220, 245],
    },
    {
      ways: ['ended.backingOff timer.elapsed 0', 'ended.backingOff container.update 0'],
      from: 'ended.backingOff',
      to: 'pending.restarting',
      points: [
        [20, 240],
        [10, 240],
        [10, 62],
        [30, 62],
      ],
      label: ['container.update', 'timer.elapsed'],
    },
  ],
  exits: [
    { way: 'ended container.stop 0', from: 'ended', label: 'container.stop', to: 'stopped' },
    { way: 'pending container.reset 0', from: 'pending', label: 'container.reset', to: 'pending.resetting' },
    { way: '(root) node.lost 0', from: '', label: 'node.lost', to: 'broken' },
  ],
  regions: [
    { region: 'adoption', title: 'adoption', states: ['new'] },
    { region: 'run', title: 'run and restart', states: ['pending', 'pending.waiting', 'ended.backingOff'] },
  ],
  rules: [{ rule: 'C7', title: 'CrashLoopBackOff', text: 'The first restart is immediate.' }],
  statesOfAll: 56,
};
