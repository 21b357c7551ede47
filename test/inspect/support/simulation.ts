/** A recorded simulated node with observers, and the parts of the page that show it. */

import { createEventRecorder, type EventRecorder } from '../../../actors/events/eventRecorder.ts';
import type { Redaction } from '../../../actors/replay/redaction.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import type { InspectedNode } from '../../../inspect/inspected.ts';
import { type Audience, createAudience } from '../../../inspect/live/audience.ts';
import { FollowedActors } from '../../../inspect/live/followedActors.ts';
import { createLiveNode } from '../../../inspect/live/liveNode.ts';
import { type InspectedAgent, LiveView } from '../../../inspect/live/liveView.ts';
import { createPast, type Past } from '../../../inspect/past/past.ts';
import { History } from '../../../inspect/past/replay/history.ts';
import type { Snapshot } from '../../../inspect/protocol.ts';
import { allTrees } from '../../../inspect/shown.ts';
import { StatelySockets } from '../../../inspect/stately/statelySockets.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { createAgentPort } from '../../../node/start/agentPort.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { MACHINES, type Recorded, type RecordedOptions, recordedNode } from '../../recording/recorded.ts';

/** The parts of the page that show the current agent. */
interface PageParts {
  readonly agent: InspectedAgent & AgentPort;
  readonly audience: Audience;
  readonly view: LiveView;
  readonly followed: FollowedActors;
  readonly inspected: InspectedNode;
}

export interface Simulation extends Recorded {
  readonly past: Past;
  /** Returns the number of observers of the current agent. */
  readonly observers: () => number;
  readonly redaction: () => Redaction;
  /** Returns the parts of the page for the current agent. */
  readonly page: () => PageParts;
  /** Returns the current snapshot of the current agent. */
  readonly now: () => Snapshot;
}

interface Life {
  readonly redaction: Redaction;
  readonly events: EventRecorder;
  readonly audience: Audience;
  page?: PageParts;
}

export async function simulation(options: RecordedOptions = {}): Promise<Simulation> {
  let life: Life | undefined;
  let count = 0;
  const recorded: Recorded = await recordedNode({
    ...options,
    watch: (redaction) => {
      const audience = withCount(createAudience(redaction.redact), (change) => {
        count += change;
      });
      const events = createEventRecorder('node-1', () => recorded.node.clock.now());
      count = 0;
      life = { redaction, events, audience };
      return [{ events: events.record }, audience.listeners];
    },
  });
  const past = flushed(recorded, createPast(new History({ path: recorded.directory, machines: MACHINES }), 'past'));
  const present = () => {
    if (life === undefined) throw new Error('there is no agent');
    return life;
  };
  const partsOf = (of: Life) => pageParts(recorded, of, past);
  const page = () => {
    const of = present();
    of.page ??= partsOf(of);
    return of.page;
  };
  return Object.defineProperties(
    {
      past,
      observers: () => count,
      redaction: () => present().redaction,
      page,
      now: () => partsOf(present()).view.snapshot(),
    },
    Object.getOwnPropertyDescriptors(recorded),
    // The object has the properties of both.
  ) as Simulation;
}

function pageParts(recorded: Recorded, { audience, events, redaction }: Life, recordedPast: Past): PageParts {
  const { node } = recorded;
  const now = () => node.clock.now();
  const agent = {
    ...createAgentPort({
      agent: node.agent,
      recorder: events,
      isSimulated: true,
      cri: inProcessCri(node.runtime),
      config: { ...configOf(node.path('root')), podLogsDirectory: node.path('logs', 'pods') },
      // The agent never loses its root directory.
      root: { findLostRoot: () => undefined } as Parameters<typeof createAgentPort>[0]['root'],
      nodeObject: (): NodeObject => {
        throw new Error('the page does not show it');
      },
      recording: async () => ({ isOn: false, directory: '', chunks: undefined }),
      usage: async () => undefined,
      evictionFigures: async () => undefined,
    }),
    redact: redaction.redact,
  };
  const followedActors = new FollowedActors({
    agent,
    audience,
    recordedPast,
    clock: node.clock,
    isWatched: () => true,
  });
  const view = new LiveView({
    agent,
    audience,
    clock: node.clock,
    version: '0.1.0',
    recordedSpan: () => undefined,
    onUnwatched: () => followedActors.forget(),
    onError: (error) => {
      throw error;
    },
  });
  const sockets = new StatelySockets({
    audience,
    clock: node.clock,
    trees: () => allTrees(agent.explainNode().node, agent.trees()).values(),
  });
  const inspected = createLiveNode({
    agent,
    view,
    followedActors,
    past: recordedPast,
    now,
    stately: (request, connection, head) => sockets.add(request, connection, head),
    close: async () => sockets.close(),
  });
  return { agent, audience, view, followed: followedActors, inspected };
}

const configOf = (rootDirectory: string) =>
  compileConfig({
    flags: { '--hostname-override': 'node-1' },
    defaults: { hostname: 'node-1', addresses: ['192.0.2.1'], rootDirectory, podLogsDirectory: rootDirectory },
  });

/** Wraps the past so that the recorder is flushed before each read. */
function flushed(recorded: Recorded, past: Past): Past {
  const after =
    <A extends readonly unknown[], T>(ask: (...args: A) => Promise<T>) =>
    async (...args: A) => {
      await recorded.recorder.flush();
      return ask(...args);
    };
  return {
    recorded: after(past.recorded),
    moment: after(past.moment),
    story: after(past.story),
    rail: after(past.rail),
    detail: after(past.detail),
    actorHistory: after(past.actorHistory),
    object: after(past.object),
    entry: after(past.entry),
    actorPast: after(past.actorPast),
  };
}

/** Wraps the audience so that changes of its size are reported. */
const withCount = (audience: Audience, onChange: (change: number) => void): Audience => ({
  ...audience,
  add: (observer) => {
    const leave = audience.add(observer);
    onChange(1);
    return () => {
      onChange(-1);
      leave();
    };
  },
});
