/** A page with the crash-looping pod. The test decides when requests are answered. */
import type { ShownActor, Snapshot, Story } from '../../../inspect/protocol.ts';
import { createPage } from '../../../web/model/page.ts';
import type { ServerClient } from '../../../web/model/server/serverClient.ts';
import { createStoryState, followStory } from '../../../web/model/story/storyState.ts';
import { createStoryView } from '../../../web/model/story/storyView.ts';
import { API, BEGAN, crashLoop, NOW, POD, UID } from './crashLoop.ts';

const RECORDED = { from: NOW - 1_800_000, to: NOW };

/** Returns an actor with the fields that the tests use. */
export const actorAt = (path: string, more: Partial<ShownActor> = {}): ShownActor => ({
  path,
  id: path,
  machine: 'container',
  kind: 'container',
  name: path,
  state: 'running',
  tags: ['steady'],
  since: BEGAN,
  facts: [],
  order: 0,
  ...more,
});

export function snapshotAt(at: number, mode: Snapshot['mode'], more: Partial<Snapshot> = {}): Snapshot {
  return {
    at,
    mode,
    recorded: RECORDED,
    node: {
      name: 'node-1',
      version: '0',
      simulated: true,
      state: 'running',
      tags: [],
      sources: [],
      runtime: { name: 'containerd', version: '1', ready: true },
      gates: {
        start: { capacity: 4, held: 0, waiting: 0, queue: [] },
        pull: { capacity: 1, held: 0, waiting: 0, queue: [] },
      },
    },
    pods: [
      {
        uid: UID,
        namespace: 'shop',
        name: 'checkout-api',
        isStatic: false,
        phase: 'Running',
        status: 'CrashLoopBackOff',
        ready: '1/2',
        restarts: 5,
      },
    ],
    actors: [
      actorAt(''),
      actorAt(POD),
      actorAt(API, { state: 'ended.backingOff', tags: ['retrying'], until: NOW + 48_000, since: NOW - 112_000 }),
    ],
    ...more,
  };
}

/** Returns the requested part of the story. */
export function storyBetween(uid: string, from: number, to: number): Story {
  const lines = uid === UID ? crashLoop().lines.filter(({ at }) => at >= from && at <= to) : [];
  return { from, to, before: [], lines };
}

const unexpectedRequest = () => Promise.reject(new Error('this is not asked here'));

interface Options {
  readonly first?: Snapshot;
  readonly story?: ServerClient['story'];
}

/** Creates a page that follows the story, with `api` selected. */
export function storyPage({ first: initialSnapshot = snapshotAt(NOW, 'live'), story }: Options = {}) {
  const requests: { readonly uid: string; readonly from: number; readonly to: number }[] = [];
  const moments: number[] = [];
  let clock = NOW;
  const page = createPage({
    initialSnapshot,
    location: { steps: [], view: 'region', story: 'time', isPodPage: false },
    now: () => clock,
    client: {
      entry: async () => ({ value: null, heldBack: 0 }),
      story: (uid, from, to) => {
        requests.push({ uid, from, to });
        return story ? story(uid, from, to) : Promise.resolve(storyBetween(uid, from, to));
      },
      snapshot: (at) => {
        moments.push(at);
        return Promise.resolve(snapshotAt(at, 'past'));
      },
      rail: unexpectedRequest,
      detail: unexpectedRequest,
      actorHistory: unexpectedRequest,
      log: unexpectedRequest,
      object: unexpectedRequest,
      drawing: unexpectedRequest,
    },
  });
  page.selectedPath.value = API;
  const storyState = createStoryState(page);
  const stop = followStory(page, storyState);
  return {
    page,
    storyState,
    stop,
    requests,
    moments,
    view: createStoryView(page, storyState),
    /** Waits until the responses have been processed. */
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    /** Advances the browser's clock. */
    pass: (ms: number) => {
      clock += ms;
      page.browserTime.value = clock;
    },
  };
}
