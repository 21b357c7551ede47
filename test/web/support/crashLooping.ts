/** The chart data of a container that has run six times and waits for its seventh run. */
import type { TakenTransitions } from '../../../inspect/protocol.ts';
import type { ChartActor } from '../../../web/model/chart/view.ts';

/** The displayed time. */
const NOW = Date.UTC(2026, 10, 20, 7, 43, 52);

const way = (name: string, count: number, beforeMs: number) => ({ way: name, count, lastAt: NOW - beforeMs });
const stay = (state: string, lastMs: number) => ({ state, lastMs });

/** Transitions that the container has taken. */
const taken: TakenTransitions = {
  from: NOW - 300_000,
  ways: [
    way('pending.restarting always 0', 6, 114_000),
    way('pending.choosing always 1', 6, 114_000),
    way('pending.gettingImage xstate.done.actor.image 1', 6, 113_990),
    way('launching.readyToCreate container.launch 0', 6, 113_980),
    way('launching.creatingContainer.queued slot.granted 0', 6, 113_970),
    way(
      'launching.creatingContainer.creating xstate.done.actor.0.container.launching.creatingContainer.creating 2',
      6,
      113_960,
    ),
    way(
      'launching.creatingContainer.starting xstate.done.actor.0.container.launching.creatingContainer.starting 5',
      6,
      113_900,
    ),
    way('launching.started always 1', 6, 113_900),
    way('running runtime.containerObserved 0', 6, 112_001),
    way('ended.choosing always 4', 5, 112_000),
    way('ended.choosing always 5', 1, 270_000),
    way('ended.backingOff timer.elapsed 0', 4, 114_001),
  ],
  stays: [
    stay('pending.restarting', 0),
    stay('pending.choosing', 0),
    stay('pending.gettingImage', 2),
    stay('launching.readyToCreate', 0),
    stay('launching.creatingContainer.queued', 1),
    stay('launching.creatingContainer.creating', 10),
    stay('launching.creatingContainer.starting', 68),
    stay('launching.started', 0),
    stay('running.steady', 1_600),
    stay('ended.choosing', 0),
  ],
};

/** The container while it is in back-off. */
export const crashLooping: ChartActor = {
  state: 'ended.backingOff',
  tags: ['retrying'],
  since: NOW - 112_000,
  until: NOW + 48_000,
  waitingFor: 'the end of its crash-loop back-off',
  taken,
  next: [
    { way: 'ended.backingOff timer.elapsed 0', on: 'timer.elapsed', to: 'pending.restarting', at: NOW + 48_000 },
    {
      way: 'ended.backingOff container.update 0',
      on: 'container.update [changesBackOffKey]',
      to: 'pending.restarting',
    },
    { way: 'ended container.stop 0', on: 'container.stop', to: 'stopped' },
  ],
  now: NOW,
};
