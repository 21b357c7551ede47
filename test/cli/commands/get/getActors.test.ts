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

test('each actor is a line, in the order of the tree', async () => {
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

test('the words and the flag are one filter; wide adds what it waits for, and the names on the way to it', async () => {
  const text = await printed(['web'], { filter: 'kind:container is:retrying', output: 'wide' });
  expect(`\n${text}`).toBe(`
NAME      KIND        IS         STATE              UNTIL    AGE   SINCE                      WAITING FOR    LAST FAILURE                           PATH
web/job   container   retrying   ended.backingOff   in 48s   12s   2026-05-04T12:02:44.000Z   its back-off   RunContainerError: no such^[[2J file   pod/default/web-host/container/job
`);
});

describe('for other programs', () => {
  test('names', async () => {
    expect(await printed(['kind:limiter'], { output: 'name' })).toBe('node/start\nnode/pull\n');
    expect(await printed(['data'], { output: 'name' })).toBe('pod/default/web-host/volume/data\n');
  });

  test('JSON and YAML with an item for each', async () => {
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

test('only the pods of a namespace, or all with theirs', async () => {
  agent.show(podView({ main: { db: running() }, meta: { name: 'db-host', namespace: 'shop', uid: 'd' } }));
  expect(await printed(['kind:container'], { namespace: 'shop', output: 'name' })).toMatch(/^pod\/shop\/db-host.*\n$/);
  expect(await printed(['kind:pod'])).toMatch(/^NAMESPACE +NAME +KIND.*\nshop +db +pod.*\ndefault +web +pod/s);
});

test.each([40, 60, 80])('on a terminal of %d columns names and states are cut, and a line stays one', async (width) => {
  const lines = (await printed([], {}, width)).trimEnd().split('\n');
  for (const line of lines) expect(isPrintable(line)).toBe(true);
  const most = Math.max(...lines.map(displayWidth));
  expect(most).toBeLessThanOrEqual(Math.max(width, 66));
});

test('a filter that cannot be read is told before any agent is asked', async () => {
  await socket.close();
  await expect(printed(['is:bad'])).rejects.toThrow('is:bad: expected one of broken, retrying');
});

test('a watch prints what changes: not the tries of a probe, but what has moved and what is gone', async () => {
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

test.each(['json', 'yaml', 'name'] as const)('a watch as %s says what has become of an actor', async (output) => {
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
});
