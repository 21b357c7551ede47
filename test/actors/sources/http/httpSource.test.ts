import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LocalObject } from '../../../../actors/objects/cache/persistedSourceObjects.ts';
import { hostNetwork as network } from '../../../../actors/services/http/hostNetwork.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import {
  type HttpSourceOptions,
  type ManifestUrl,
  watchManifestUrl,
} from '../../../../actors/sources/http/httpSource.ts';
import { createManifestReader } from '../../../../actors/sources/manifest/manifestReader.ts';
import type { ManifestSet } from '../../../../actors/sources/manifest/manifestSet.ts';
import { yieldToEventLoop } from '../../../../base/async/yieldToEventLoop.ts';
import { type Clock, systemClock } from '../../../../base/time/clock.ts';
import type { RuntimeClasses } from '../../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { SourceProblem } from '../../../../machines/shared/events/events.ts';
import { documents, ofSecret, podText, secretText } from '../../../fakes/manifests.ts';

const manifest = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...more },
  spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
});
const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'PodList', items });

type Answer = { status?: number; reason?: string; body?: string; hangs?: boolean };

let server: Server;
let url: string;
let answer: Answer;
let requests: IncomingMessage[];
let stop: AbortController;
let ended: Promise<void> | undefined;
let sets: ManifestSet[];
let unread: (readonly SourceProblem[])[];
let good: (readonly Pod[])[];
let objects: readonly LocalObject[];

beforeEach(async () => {
  [requests, sets, unread, good] = [[], [], [], []];
  stop = new AbortController();
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    const { status = 200, reason, body = '', hangs } = answer;
    if (!hangs) response.writeHead(status, reason).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/pods`;
});

afterEach(async () => {
  stop.abort();
  await ended;
  ended = undefined;
  server.closeAllConnections();
  server.close();
});

interface Start {
  readonly lastGood?: readonly Pod[];
  readonly lastObjects?: HttpSourceOptions['lastObjects'];
  readonly clock?: Clock;
  readonly headers?: ManifestUrl['headers'];
  readonly classes?: () => RuntimeClasses;
}

function start({ lastGood: lastGoodPods, lastObjects, clock = systemClock, headers = [], classes }: Start = {}): void {
  ended = watchManifestUrl({
    nextTurn: yieldToEventLoop,
    network,
    url,
    headers,
    everyMs: 10,
    nodeName: 'node-1',
    clock,
    lastGoodPods,
    lastObjects,
    signal: stop.signal,
    readManifests: createManifestReader({ clock, signal: stop.signal }),
    ...(classes ? { readClasses: async () => classes() } : {}),
    onState: () => {},
    onSet: (set, found) => {
      sets.push(set);
      objects = found;
    },
    onUnreadable: (problems) => unread.push(problems),
    onGoodPods: (pods) => good.push(pods),
  });
}

const answers = (value: object | string, status = 200): void => {
  answer = { status, body: typeof value === 'string' ? value : JSON.stringify(value) };
};

/** Waits until this holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for two more requests. After that the current response of the server has been processed. */
async function asked(): Promise<void> {
  const before = requests.length;
  await until(() => requests.length >= before + 2);
}

const namesOf = ({ pods }: ManifestSet) => pods.map(({ metadata }) => metadata.name);
const problemsNow = () => sets.at(-1)?.problems.map(({ path, message }) => `${path}: ${message}`);

describe('the response of a manifest URL', () => {
  test.each<[string, object | string, string[]]>([
    ['one Pod as JSON', manifest('web'), ['web-node-1']],
    [
      'one Pod as YAML',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}',
      ['web-node-1'],
    ],
    [
      'a PodList, its items without a kind',
      list(...['a', 'b'].map((each) => ({ ...manifest(each), kind: undefined }))),
      ['a-node-1', 'b-node-1'],
    ],
    ['a List', { apiVersion: 'v1', kind: 'List', items: [manifest('web')] }, ['web-node-1']],
    ['an empty list', list(), []],
    ['an empty list of a Go program', { apiVersion: 'v1', kind: 'PodList', items: null }, []],
  ])('%s', async (_, body, names) => {
    answers(body);
    start();
    await until(() => sets.length > 0);
    expect(sets[0]).toMatchObject({ problems: [] });
    expect(sets[0] && namesOf(sets[0])).toEqual(names);
  });

  test('C24: yields static pods of the node, marked with their source, with UIDs from the URL and no extra tolerations', async () => {
    answers(manifest('web'));
    start();
    await until(() => sets.length > 0);
    const [pod] = sets[0]?.pods ?? [];
    expect(pod?.metadata).toMatchObject({
      name: 'web-node-1',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/),
      annotations: { 'kubernetes.io/config.source': 'http', 'kubernetes.io/config.hash': pod?.metadata.uid },
    });
    expect(pod?.spec.tolerations).toBeUndefined();
  });

  test('C25: adds the overhead of the RuntimeClass to a pod', async () => {
    const metadata = { name: 'heavy' };
    const heavy = { kind: 'RuntimeClass', metadata, handler: 'runc', overhead: { podFixed: { cpu: '1' } } } as const;
    const pod = manifest('web');
    answers({ ...pod, spec: { ...pod.spec, runtimeClassName: 'heavy' } });
    start({ classes: () => new Map([['heavy', heavy]]) });
    await until(() => sets.length > 0);
    expect(sets[0]?.pods[0]?.spec.overhead).toEqual({ cpu: '1' });
  });

  test('C25: delays only the pod whose RuntimeClass is missing, and its overhead is preserved later', async () => {
    const classed = (cpu: string): RuntimeClasses =>
      new Map([
        [
          'late',
          {
            kind: 'RuntimeClass',
            metadata: { name: 'late' },
            handler: 'runc',
            overhead: { podFixed: { cpu } },
          } as const,
        ],
      ]);
    const late = manifest('late');
    answers(list(manifest('web'), { ...late, spec: { ...late.spec, runtimeClassName: 'late' } }));
    let classes: RuntimeClasses = new Map();
    start({ classes: () => classes });
    await until(() => sets.length === 1);
    expect(sets[0] && namesOf(sets[0])).toEqual(['web-node-1']);
    expect(problemsNow()).toEqual(['items[1].spec.runtimeClassName: pod rejected: RuntimeClass "late" not found']);
    classes = classed('1');
    await until(() => sets.length === 2);
    expect(sets[1]?.pods[1]?.spec.overhead).toEqual({ cpu: '1' });
    expect(sets[1]?.problems).toEqual([]);
    expect(sets[1]?.pods[0]).toBe(sets[0]?.pods[0]);
    classes = classed('2');
    const [, before = []] = good;
    stop.abort();
    await ended;
    [stop, sets, good] = [new AbortController(), [], []];
    start({ lastGood: before, classes: () => classes });
    await until(() => sets.length === 1);
    expect(sets[0]?.pods).toEqual(before);
    expect(good).toEqual([]);
  });

  test('is requested with the configured headers, repeated ones in order', async () => {
    answers(manifest('web'));
    const headers = [
      ['X-One', 'a'],
      ['x-two', 'b'],
      ['X-One', 'c'],
    ] as const;
    start({ headers });
    await until(() => requests.length > 0);
    expect(requests[0]?.headers).toMatchObject({ 'x-one': 'a, c', 'x-two': 'b' });
  });
});

describe('a repeated response of a manifest URL', () => {
  test('is not published if it is unchanged, and otherwise only its changes are', async () => {
    answers(list(manifest('a', { uid: 'a' }), manifest('b', { uid: 'b' })));
    start();
    await asked();
    await asked();
    expect(sets).toHaveLength(1);
    answers(list(manifest('b', { uid: 'b', labels: { new: 'yes' } }), manifest('a', { uid: 'a' })));
    await until(() => sets.length === 2);
    const [before, after] = sets.map(({ pods }) => new Map(pods.map((pod) => [pod.metadata.uid, pod])));
    // An unchanged pod remains the same object, so it is not reported as edited.
    expect(after?.get('a')).toBe(before?.get('a'));
    expect(after?.get('b')?.metadata.labels).toEqual({ new: 'yes' });
    expect(good).toHaveLength(2);
  });

  test('is unchanged if only the status, resourceVersion or managedFields differ, and is not persisted', async () => {
    const version = (resourceVersion: string, more: object = {}) => ({
      ...manifest('a', {
        uid: 'a',
        resourceVersion,
        managedFields: [{ operation: 'Update', time: `2024-01-0${resourceVersion}T00:00:00Z` }],
        ...more,
      }),
      status: { conditions: [{ type: 'example.com/gate', status: resourceVersion }] },
    });
    answers(list(version('1')));
    start();
    await until(() => sets.length === 1);
    expect(sets[0]?.pods[0]).not.toHaveProperty('status');
    answers(list(version('2')));
    await asked();
    expect(good).toHaveLength(1);
    expect(sets.at(-1)?.pods[0]).toBe(sets[0]?.pods[0]);
    answers(list(version('3', { labels: { new: 'yes' } })));
    await until(() => good.length === 2);
    expect(good[1]).toMatchObject([{ metadata: { labels: { new: 'yes' } } }]);
  });

  test.each<[string, object | string, number, string[]]>([
    ['no YAML', '{', 200, [expect.stringMatching(/^: /) as unknown as string]],
    ['nothing', '', 200, [': the response is empty']],
    [
      'a kind that is no text',
      { ...manifest('a'), kind: { toString: 1 } },
      200,
      ['kind: Unsupported value: {"toString":1}: supported values: "Pod"'],
    ],
    ['no pod', { apiVersion: 'v1', kind: 'Node' }, 200, ['kind: expected Pod, got Node']],
    [
      'a list with one that is wrong',
      list(manifest('a'), { ...manifest('b'), spec: {} }),
      200,
      ['items[1].spec.containers: Required value'],
    ],
    [
      'one with a deadline that is none and a field that nobody knows',
      list({
        ...manifest('a'),
        sepc: 1,
        spec: { containers: [{ name: 'c', image: 'i' }], activeDeadlineSeconds: 0 },
      }),
      200,
      [
        'items[0].spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
        'items[0].sepc: unknown field, did you mean "spec"?',
      ],
    ],
    [
      'a pod twice',
      list(manifest('a'), manifest('a')),
      200,
      ['items[1].metadata.name: Duplicate value: Pod default/a-node-1 is already defined in this text'],
    ],
    ['an error', 'gone', 404, [': the server answered 404 Not Found']],
    ['too much', ' '.repeat(10 * 2 ** 20 + 1), 200, [': the response is larger than 10485760 bytes']],
  ])(
    'with %s retains the last good set, and the problem is reported once with the URL and field',
    async (_, body, status, problems) => {
      answers(list(manifest('a')));
      start();
      await until(() => sets.length === 1);
      answers(body, status);
      await until(() => sets.length === 2);
      await asked();
      expect(sets).toHaveLength(2);
      expect(sets[1] && namesOf(sets[1])).toEqual(['a-node-1']);
      expect(problemsNow()).toEqual(problems);
      expect(sets[1]?.problems[0]?.file).toBe(url);
      answers(list(manifest('a')));
      await until(() => sets.length === 3);
      expect(problemsNow()).toEqual([]);
      expect(good).toHaveLength(1);
    },
  );
});

describe('a URL response with ConfigMaps and Secrets', () => {
  const needing = (image: string) => podText('p', ofSecret('s'), image);
  const whole = (image = 'busybox:1') => documents(needing(image), secretText('s', 'k: hunter2'), podText('q'));

  test('provides them to its own pods, and none of them is persisted', async () => {
    answers(whole());
    start();
    await until(() => sets.length === 1);
    expect(sets[0] && namesOf(sets[0])).toEqual(['p-node-1', 'q-node-1']);
    expect(objects).toMatchObject([{ object: { kind: 'Secret', name: 's' }, file: url }]);
    expect(JSON.stringify([good, sets])).not.toContain('hunter2');
  });

  test('is evaluated per document: invalid ones retain their last good version, and valid ones are used', async () => {
    answers(whole());
    start();
    await until(() => sets.length === 1);
    answers(documents(needing('other'), podText('q', 'restartPolicy: No, '), 'kind: Service\n'));
    await until(() => sets.length === 2);
    const problemsOf = (set: ManifestSet | undefined) => set?.problems.map(({ path, until }) => `${path}: ${until}`);
    expect(sets[1]?.pods).toEqual(sets[0]?.pods);
    expect(objects).toEqual([]);
    expect(problemsOf(sets[1])).toEqual([
      'documents[1].spec.restartPolicy: the response changes',
      'documents[2].kind: the response changes',
      'documents[0].spec.volumes[0].secret: the response changes, or it has Secret default/s',
    ]);
    answers(whole('other'));
    await until(() => sets.length === 3);
    expect(sets[2]?.pods.map(({ spec }) => spec.containers[0]?.image)).toEqual(['other', 'busybox:1']);
    expect(problemsOf(sets[2])).toEqual([]);
  });

  test('without any usable document is not a set', async () => {
    answers('kind: Service\n');
    start();
    await until(() => unread.length === 1);
    expect(unread[0]).toMatchObject([{ path: 'kind' }]);
    expect(sets).toEqual([]);
  });

  test('with a pod whose Secret is missing is a set with a warning that names the URL', async () => {
    answers(needing('a'));
    start();
    await until(() => sets.length === 1);
    expect(sets[0]).toMatchObject({ problems: [], pods: [{ metadata: { name: expect.any(String) } }] });
    expect(sets[0]?.warnings[0]?.message).toMatch(
      /^Secret default\/s is not in http:.*; containers that need it start /,
    );
  });
});

describe('a URL that is unavailable at the start', () => {
  test('is reported once, without a set, until it responds', async () => {
    answers('no', 503);
    start();
    await asked();
    await asked();
    expect(unread).toMatchObject([[{ file: url, path: '', message: 'the server answered 503 Service Unavailable' }]]);
    expect(sets).toEqual([]);
    answers(manifest('web'));
    await until(() => sets.length === 1);
    expect(sets[0]).toMatchObject({ problems: [], pods: [{ metadata: { name: 'web-node-1' } }] });
  });

  test('uses its last good set from before a restart, until a response replaces it', async () => {
    answers(documents(podText('web'), secretText('s', 'k: v')));
    start();
    await until(() => sets.length === 1);
    const before = objects;
    stop.abort();
    await ended;
    [stop, sets, objects] = [new AbortController(), [], []];
    answers('no', 500);
    start({ lastGood: good[0] ?? [], lastObjects: before.map(({ object }) => object) });
    await until(() => sets.length === 1);
    expect(sets[0]).toMatchObject({ pods: good[0], problems: [{ file: url }] });
    expect([objects, before.length]).toEqual([before, 1]);
    expect(unread).toEqual([]);
    answers(list());
    await until(() => sets.length === 2);
    expect(sets[1]).toMatchObject({ pods: [], problems: [] });
    expect([good[1], objects]).toEqual([[], []]);
  });

  test('because no server listens is reported with that reason', async () => {
    server.close();
    await once(server, 'close');
    start();
    await until(() => unread.length > 0);
    expect(unread[0]?.[0]?.message).toContain('ECONNREFUSED');
  });

  test('has the text of the server limited to 1,000 characters in the message', async () => {
    answer = { status: 503, reason: 'x'.repeat(10_000) };
    start();
    await until(() => unread.length > 0);
    expect(unread[0]?.[0]?.message).toMatch(/^the server answered 503 xx/);
    expect(unread[0]?.[0]?.message.length).toBeLessThanOrEqual(1_000);
  });

  test('because the server hangs times out after 10 s', async () => {
    const clock = new SimulatedClock();
    answer = { hangs: true };
    start({ clock });
    await until(() => requests.length === 1);
    await clock.advance(9_999);
    expect(unread).toEqual([]);
    await clock.advance(1);
    await until(() => unread.length > 0);
    expect(unread[0]).toMatchObject([{ file: url, message: 'no response within 10 s' }]);
  });
});
