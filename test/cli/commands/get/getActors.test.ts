import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isPrintable } from '../../../../base/text/printable.ts';
import { type GetActorsOptions, getActors } from '../../../../cli/commands/get/getActors.ts';
import { displayWidth } from '../../../../show/tables/displayWidth.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { type FakeAgent, fakeAgent } from '../../../fakes/agent.ts';
import { backOff, NOW, podView, running, type ShownPod, volumeView } from '../../../kubernetes/views.ts';

const path = (name: string) => `pod/u/container/${name}`;
const crashed = (more: object = {}): ShownPod =>
  podView({
    main: {
      app: running({ path: path('app'), state: 'running.steady', tags: ['steady'] }),
      job: backOff(1, {
        path: path('job'),
        state: 'ended.backingOff',
        tags: ['retrying'],
        since: NOW - 12_000,
        waitingFor: 'its back-off',
        until: NOW + 48_000,
        ...more,
        lastFailure: { reason: 'RunContainerError', message: 'no such\x1b[2J file', at: NOW - 12_000 },
      }),
    },
    meta: { name: 'web-host', uid: 'u' },
    view: { path: 'pod/u', volumes: [volumeView('data', { path: 'pod/u/volume/data' })] },
  });

let rootDir: string;
let agent: FakeAgent;
let socket: AgentSocket;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-actors-'));
  agent = fakeAgent({ now: NOW, views: [crashed()] });
  socket = await serveSocket({ path: socketPath(rootDir), agent });
});

afterEach(async () => {
  await socket.close();
  await rm(rootDir, { recursive: true });
});

async function printed(words: string[] = [], options: GetActorsOptions = {}, width?: number): Promise<string> {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  await getActors(words, { rootDir, ...options }, write, { width });
  return text;
}

test('each actor is one line, in the order of the tree', async () => {
  expect(`\n${await printed()}`).toBe(`
NAME          KIND                 IS         STATE              UNTIL    AGE
host          node                 steady     running                     60s
containerd    runtime              steady     ready                       65s
start         limiter              steady     open                        60s
pull          limiter              steady     open                        60s
admission     admission            steady     open                        60s
garbage       garbage collection   steady     waiting            in 3s    60s
logRotation   log rotation         steady     waiting            in 1s    60s
web           pod                  steady     running                     2m10s
web/data      volume               steady     mounted                     2m9s
web/app       container            steady     running.steady              60s
web/job       container            retrying   ended.backingOff   in 48s   12s
`);
});

test('words and --filter are combined, and wide adds the wait reason and the ancestors', async () => {
  const text = await printed(['web'], { filter: 'kind:container is:retrying', output: 'wide' });
  expect(`\n${text}`).toBe(`
NAME      KIND        IS         STATE              UNTIL    AGE   SINCE                      WAITING FOR    LAST FAILURE                           PATH
web/job   container   retrying   ended.backingOff   in 48s   12s   2026-05-04T12:02:44.000Z   its back-off   RunContainerError: no such^[[2J file   pod/default/web-host/container/job
`);
});

describe('output for other programs', () => {
  test('names', async () => {
    expect(await printed(['kind:limiter'], { output: 'name' })).toBe('node/start\nnode/pull\n');
    expect(await printed(['data'], { output: 'name' })).toBe('pod/default/web-host/volume/data\n');
  });

  test('is JSON or YAML with one item per actor', async () => {
    const { items } = JSON.parse(await printed(['web'], { output: 'json' }));
    expect(items).toHaveLength(4);
    expect(items[3]).toMatchObject({
      kind: 'Actor',
      ref: 'pod/default/web-host/container/job',
      is: 'retrying',
      type: 'container',
      pod: { namespace: 'default', name: 'web-host', uid: 'u' },
      until: '2026-05-04T12:03:44.000Z',
      lastFailure: { reason: 'RunContainerError' },
      lastRun: { exitCode: 1 },
    });
    expect(await printed(['is:retrying'], { output: 'yaml' })).toMatch(/^kind: ActorList\nitems:\n {2}- kind: Actor\n/);
  });
});

test('get actors lists the pods of one namespace, or all pods with their namespaces', async () => {
  agent.show(podView({ main: { db: running() }, meta: { name: 'db-host', namespace: 'shop', uid: 'd' } }));
  expect(await printed(['kind:container'], { namespace: 'shop', output: 'name' })).toMatch(/^pod\/shop\/db-host.*\n$/);
  expect(await printed(['kind:pod'])).toMatch(/^NAMESPACE +NAME +KIND.*\nshop +db +pod.*\ndefault +web +pod/s);
});

test.each([40, 60, 80])(
  'get actors truncates names and states for a terminal of %d columns, but not below 66 columns',
  async (width) => {
    const lines = (await printed([], {}, width)).trimEnd().split('\n');
    for (const line of lines) expect(isPrintable(line)).toBe(true);
    const most = Math.max(...lines.map(displayWidth));
    expect(most).toBeLessThanOrEqual(Math.max(width, 66));
  },
);

test('an invalid filter is reported before any agent is contacted', async () => {
  await socket.close();
  await expect(printed(['is:bad'])).rejects.toThrow('is:bad: expected one of broken, retrying');
});

test('a watch prints transitions and removed actors, but no probe attempts', async () => {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const watching = getActors(['kind:container'], { rootDir, watch: true }, write, {});
  const ended = watching.catch((error: unknown) => error);
  const until = async (pattern: RegExp) => {
    while (!pattern.test(text)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await until(/web\/job +container +retrying/);
  agent.show(crashed({ state: 'launching.creatingContainer.creating', tags: ['working'], since: NOW }));
  await until(/web\/job +container +working +launching.creatingContainer.creating/);
  agent.remove(crashed());
  await until(/web\/job +container +working +gone/);
  expect(text.match(/web\/app/g)).toHaveLength(2);
  await socket.close();
  expect(await ended).toMatchObject({ reason: 'AgentGone' });
  socket = await serveSocket({ path: socketPath(rootDir), agent });
});

test.each(['json', 'yaml', 'name'] as const)(
  'a watch with the output %s reports each addition, modification and deletion of an actor once',
  async (output) => {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const ended = getActors(['job'], { rootDir, watch: true, output }, write, {}).catch((error: unknown) => error);
    const until = async (pattern: RegExp) => {
      while (!pattern.test(text)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(/ADDED.*container\/job/s);
    agent.show(crashed({ state: 'launching.creatingContainer.creating', tags: ['working'], since: NOW }));
    await until(/MODIFIED.*container\/job/s);
    agent.remove(crashed());
    await until(/DELETED.*container\/job/s);
    expect(text.match(/ADDED|MODIFIED|DELETED/g)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    await socket.close();
    expect(await ended).toMatchObject({ reason: 'AgentGone' });
    socket = await serveSocket({ path: socketPath(rootDir), agent });
  },
);
