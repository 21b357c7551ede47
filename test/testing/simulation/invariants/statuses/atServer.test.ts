import { expect, test } from '@jest/globals';
import type { ApiPod, PodWrite } from '../../../../../testing/simulation/cluster/apiPod.ts';
import type { TokenRequest } from '../../../../../testing/simulation/cluster/tokenRequest.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { atServer } from '../../../../../testing/simulation/invariants/statuses/atServer.ts';

const web: ApiPod = {
  uid: 'uid-1',
  pod: 'default/web',
  namespace: 'default',
  name: 'web',
  node: 'node-1',
  mirroredUid: undefined,
  isDeleted: false,
  phase: 'Running',
  status: { phase: 'Running', podIP: '10.0.0.1' },
  claims: [],
};
const own = (status: object) => ({ metadata: { uid: 'uid-1', namespace: 'default', name: 'web' }, status });
const MINUTE = 60_000;
const TOKEN: TokenRequest = {
  path: '/token',
  podUid: 'uid-1',
  podName: 'web',
  audience: 'vault',
  seconds: 600,
  isIssued: true,
};

/** Creates a node with its server, and returns the violations. */
function watchedServer() {
  const broken: string[] = [];
  const state = {
    lastCauseAt: 0,
    elapsed: 0,
    hasFault: false,
    isDeletedByNode: true,
    pods: [web] as readonly ApiPod[],
    here: [own(web.status)] as readonly object[],
    running: [] as object[],
  };
  const listeners: ((write: PodWrite) => void)[] = [];
  const publish = (write: PodWrite) => {
    for (const each of listeners) each(write);
  };
  let reportToken: (asked: TokenRequest) => void = () => {};
  let reportIdle: (path: string, patch: string) => void = () => {};
  const watched = {
    agent: { pods: () => state.here },
    host: {
      running: (isMeant: (each: never) => boolean) => state.running.filter((each) => isMeant(each as never)),
      clock: {
        now: () => state.elapsed,
        get elapsed() {
          return state.elapsed;
        },
      },
    },
    actionLog: {
      get lastCauseAt() {
        return state.lastCauseAt;
      },
      versionsOf: () => [{ spec: { containers: [{ name: 'main' }] } }],
    },
    cluster: {
      watchPods: (on: typeof publish) => {
        listeners.push(on);
      },
      watchObjects: () => {},
      onToken: (on: typeof reportToken) => {
        reportToken = on;
      },
      onIdlePatch: (on: typeof reportIdle) => {
        reportIdle = on;
      },
      isDeletedByNode: () => state.isDeletedByNode,
      pods: () => state.pods,
      get hasFault() {
        return state.hasFault;
      },
    },
  };
  // The invariant reads nothing else.
  const following = atServer.follow(watched as unknown as Watched, (message) => void broken.push(message));
  const violations = () => broken.splice(0);
  return {
    state,
    following,
    violations,
    write: (type: PodWrite['type'], before: ApiPod | undefined, now: ApiPod) => {
      publish({ type, before, now });
      return violations();
    },
    askToken: (after: number, more: Partial<TokenRequest> = {}) => {
      state.elapsed += after;
      reportToken({ ...TOKEN, ...more });
      return violations();
    },
    idlePatch: () => reportIdle('/web/status', '{}'),
    atRest: () => {
      following.atRest?.();
      return violations();
    },
    ask: (name: string, after: number) => {
      state.elapsed += after;
      following.onCall?.({ target: 'api', name, about: '/web', writes: false });
      return violations();
    },
  };
}

const phase = (value: string): ApiPod => ({ ...web, phase: value });

test('a phase does not go back while a regular container runs, and a terminal phase is final', () => {
  const { write, state } = watchedServer();
  expect(write('MODIFIED', phase('Pending'), phase('Running'))).toEqual([]);
  expect(write('MODIFIED', phase('Running'), phase('Failed'))).toEqual([]);
  expect(write('MODIFIED', phase('Failed'), phase('Succeeded')).length).toBe(1);
  expect(write('MODIFIED', phase('Running'), phase('Pending'))).toEqual([]);
  const main = { podUid: 'uid-1', containerName: 'main', startedAt: 1 };
  state.running = [
    { ...main, containerName: 'setup' },
    { ...main, podUid: 'uid-2' },
    { ...main, startedAt: MINUTE },
  ];
  state.elapsed = MINUTE;
  expect(write('MODIFIED', phase('Running'), phase('Pending'))).toEqual([]);
  state.running = [main];
  expect(write('MODIFIED', phase('Running'), phase('Pending'))).toEqual([
    'default/web: its phase at the API server went from Running to Pending',
  ]);
});

test('a pod that the node deletes at the API server has terminated, and none of its containers is running', () => {
  const { write, state } = watchedServer();
  expect(write('DELETED', web, web)).toEqual(['default/web: it was deleted from the API server while it was Running']);
  expect(write('DELETED', phase('Failed'), phase('Failed'))).toEqual([]);
  state.running = [{ podUid: 'uid-1', containerName: 'main' }];
  expect(write('DELETED', phase('Failed'), phase('Failed'))).toEqual([
    'default/web: it was deleted from the API server, but main is still running',
  ]);
  // A forced deletion is allowed, and so is the deletion of a mirror pod.
  expect(write('DELETED', web, { ...web, mirroredUid: 'uid-2' })).toEqual([]);
  state.isDeletedByNode = false;
  expect(write('DELETED', web, web)).toEqual([]);
});

test('at rest, the API server has the pods and statuses of the node', () => {
  const { state, atRest } = watchedServer();
  expect(atRest()).toEqual([]);
  state.pods = [{ ...web, isDeleted: true }];
  expect(atRest()).toEqual(['default/web is deleted, but still at the API server']);
  state.pods = [];
  expect(atRest()).toEqual(['the API server does not have default/web']);
  state.pods = [web, { ...web, uid: 'uid-2', pod: 'default/db' }];
  expect(atRest()).toEqual(['the API server has default/db, but the node does not']);
  state.pods = [web];
  state.here = [own({ ...web.status, phase: 'Failed' })];
  expect(atRest()).toEqual(['the API server has an outdated status of default/web: {"phase":"Failed"}']);
});

test('at rest, each static pod has its mirror pod, and each mirror pod its static pod', () => {
  const { state, atRest } = watchedServer();
  state.pods = [{ ...web, uid: 'mirror', mirroredUid: 'uid-1' }];
  expect(atRest()).toEqual([]);
  state.here = [own({ ...web.status, phase: 'Pending' })];
  state.pods = [{ ...web, uid: 'mirror', mirroredUid: 'uid-1', status: { ...web.status, phase: 'Failed' } }];
  expect(atRest()).toEqual(['default/web is Failed at the API server, but Pending on the node']);
  state.pods = [{ ...web, uid: 'mirror', mirroredUid: 'uid-2' }];
  expect(atRest()).toEqual([
    'the API server does not have default/web',
    'the API server has default/web, but the node does not',
  ]);
});

test('a patch that changes nothing is reported', () => {
  const { idlePatch, violations } = watchedServer();
  idlePatch();
  expect(violations()).toEqual(['a patch of /web/status has changed nothing: {}']);
});

test('while nothing happens, only heartbeats are sent to the API server', () => {
  const { ask, state, following } = watchedServer();
  expect(ask('get pods', MINUTE)).toEqual([]);
  expect(ask('get pods', 1)).toEqual(['needless request to the API server: get pods /web']);
  for (const name of ['update leases', 'get nodes', 'patch nodes/status']) expect(ask(name, MINUTE)).toEqual([]);
  expect(ask('get pods', 1).length).toBe(1);
  // An agent that has to restart its watch of the pods may have missed a change.
  expect([...ask('watch pods', MINUTE), ...ask('get pods', MINUTE)]).toEqual([]);
  following.onEvent?.({} as never);
  expect(ask('create events', MINUTE)).toEqual([]);
  state.hasFault = true;
  expect(ask('create events', 2 * MINUTE)).toEqual([]);
  state.hasFault = false;
  state.lastCauseAt = state.elapsed + MINUTE;
  expect(ask('create events', 2 * MINUTE)).toEqual([]);
  expect(ask('create events', 1).length).toBe(1);
});

test('a failed deletion of ResourceSlices may be repeated after at most five minutes', () => {
  const { ask, state } = watchedServer();
  const name = 'deletecollection resourceslices';
  expect(ask(name, MINUTE + 1).length).toBe(1);
  state.hasFault = true;
  expect(ask(name, MINUTE)).toEqual([]);
  state.hasFault = false;
  expect(ask('get pods', 3 * MINUTE).length).toBe(1);
  expect(ask(name, 2 * MINUTE)).toEqual([]);
  expect(ask(name, MINUTE + 1).length).toBe(1);
});

test('nothing is checked for a node without a cluster', () => {
  expect(atServer.follow({ cluster: undefined } as unknown as Watched, () => {})).toEqual({});
});

test('a new token is requested only when the last one gets old or is lost', () => {
  const { askToken, following } = watchedServer();
  const tooSoon = ['another token is requested for web, whose last one is valid for 600 s'];
  expect(askToken(1)).toEqual([]);
  expect(askToken(7 * MINUTE)).toEqual(tooSoon);
  expect(askToken(8 * MINUTE - 10_000)).toEqual([]);
  expect(askToken(0, { audience: 'other' })).toEqual([]);
  expect(askToken(0, { podUid: 'uid-2' })).toEqual([]);
  following.onCall?.(
    { target: 'api', name: 'create serviceaccounts/token', about: '/token', writes: true },
    { kind: 'hang' },
  );
  expect(askToken(1_000)).toEqual([]);
  following.onAgentStarted?.();
  expect(askToken(1_000)).toEqual([]);
  following.beforeJump?.();
  expect(askToken(1_000)).toEqual([]);
  expect(askToken(1_000)).toEqual(tooSoon);
});

test('no token is requested for a pod that the node knows to be deleted', () => {
  const { askToken, write } = watchedServer();
  write('DELETED', web, phase('Failed'));
  expect(askToken(MINUTE, { isIssued: false })).toEqual([]);
  expect(askToken(1, { isIssued: false })).toEqual(['a token is requested for web, which is gone from the API server']);
  expect(askToken(1, { isIssued: false, podUid: 'uid-2' })).toEqual([]);
});
