import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createRedaction } from '../../../actors/replay/redaction.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import type { ExecScript } from '../../../cri/simulated/calls/exec.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { FakeObjects } from '../../fakes/objects.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const SECRET = 'hunter2';
const httpGet = { path: '/', port: 80, httpHeaders: [{ name: 'Authorization', value: `Bearer ${SECRET}` }] };
const podOf = (name: string, more: Partial<Container> = {}, suffix = ''): Pod =>
  podWith(name, {
    containers: [containerWith('main', { env: [{ name: 'PASSWORD', value: SECRET + suffix }], ...more })],
  });
const secretive = (suffix = '') =>
  podOf('web', { livenessProbe: { httpGet }, lifecycle: { preStop: { httpGet } } }, suffix);

/** Returns everything that leaves the agent: its recording with the input and a keyframe, and its explanations. */
type Node = Awaited<ReturnType<typeof simulatedNode>>;
const leaving = async (node: Node) => ({
  input: node.agent.input,
  entries: node.entries,
  keyframe: node.agent.keyframe(),
  explained: Array.from(node.agent.trees().keys(), (uid) => node.agent.explainUid(uid)),
  node: [node.agent.explainNode(), node.agent.overview()],
  actors: node.agent.podsWithTrees(),
  files: await readdir(node.path(), { recursive: true }),
});

async function expectWithoutSecret(node: Node): Promise<void> {
  for (const [what, shown] of Object.entries(await leaving(node))) {
    const found = JSON.stringify(shown).match(new RegExp(`.{0,60}${SECRET}.{0,20}`, 'g'));
    expect({ what, found }).toEqual({ what, found: null });
  }
}

test('a secret value never appears in a recording, a keyframe, explain, the actors or file names, even after a restart', async () => {
  const pod = secretive();
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(pod) };
  const node = await simulatedNode({ pods: [{ ...pod, metadata: { ...pod.metadata, annotations } }] });
  await node.advance('30s');
  node.apply(secretive('-changed'));
  await node.advance('10s');
  expect(node.entries.length).toBeGreaterThan(10);
  await expectWithoutSecret(node);
  await node.restartAgent();
  await node.advance('10s');
  expect(node.entries.length).toBeGreaterThan(10);
  await expectWithoutSecret(node);
  expect(JSON.stringify(node.agent.pods())).toContain(SECRET);
});

const quoted = { message: `exec: "--password=${SECRET}" of {"url":"${SECRET}"}: not found` };

test.each<[string, Partial<Container>, (node: Node) => void]>([
  ['an error of the runtime', {}, ({ runtime }) => runtime.faults.add({ call: 'startContainer', error: quoted })],
  ['a command', { command: ['sh', '-c', `login ${SECRET}; sleep 100`] }, () => {}],
  ['arguments', { args: ['--password', SECRET] }, () => {}],
  [
    'the output of a probe',
    { livenessProbe: { exec: { command: ['check'] }, periodSeconds: 1 } },
    ({ runtime }) => {
      runtime.exec = () => ({ exitCode: 1, stdout: quoted.message });
    },
  ],
  [
    'the output of a hook',
    { lifecycle: { postStart: { exec: { command: ['check'] } } } },
    ({ runtime }) => {
      runtime.exec = () => ({ exitCode: 1, stdout: quoted.message });
    },
  ],
])('%s that repeats a secret value is recorded and explained without the value', async (_what, more, prepare) => {
  const node = await simulatedNode({ silentSource: true });
  prepare(node);
  node.apply(podOf('web', more));
  await node.advance('30s');
  await expectWithoutSecret(node);
  expect(JSON.stringify(node.entries)).toMatch(/[^"]redacted-|"redacted-[^}]*"(\]|,"redacted)/);
});

type Lifecycle = NonNullable<Container['lifecycle']>;
test.each<[string, Lifecycle, ReturnType<ExecScript>]>([
  ['runs', { postStart: { exec: { command: ['login', `--password=${SECRET}`] } } }, { afterMs: 60_000 }],
  ['fails', { postStart: { exec: { command: ['sh', '-c', `login ${SECRET}`] } } }, { exitCode: 1 }],
  ['comes at the end', { preStop: { exec: { command: ['sh', '-c', `logout ${SECRET}`] } } }, { afterMs: 5_000 }],
])(
  'the command of a hook that %s is recorded and explained without its secret value',
  async (_what, lifecycle, answer) => {
    const node = await simulatedNode({ silentSource: true });
    node.runtime.exec = () => answer;
    node.apply(podWith('web', { containers: [containerWith('main', { lifecycle })] }));
    await node.advance('10s');
    await expectWithoutSecret(node);
    node.remove('web');
    await node.advance('2s');
    await expectWithoutSecret(node);
    expect(JSON.stringify(node.entries)).toMatch(/"command":\["(sh|login)","redacted-/);
  },
);

test('a value from a Secret is recorded and explained without it wherever it is repeated, even after the container is gone', async () => {
  const objects = new FakeObjects();
  objects.put('Secret', 'key', { data: { password: Buffer.from(SECRET).toString('base64') } });
  const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'key', key: 'password' } } }];
  const args = ['--password=$(PASSWORD)'];
  const node = await simulatedNode({ silentSource: true, parts: { objects } });
  node.runtime.faults.add({ call: 'startContainer', error: quoted });
  node.apply(podWith('web', { containers: [containerWith('main', { env, args })] }));
  await node.advance('5s');
  expect(JSON.stringify(node.pod('web'))).toContain(SECRET);
  await expectWithoutSecret(node);
  node.remove('web');
  await node.advance('5s');
  await expectWithoutSecret(node);
  expect(JSON.stringify(node.entries)).toContain('redacted-');
});

test('a secret value in a terminal status and annotation of an earlier agent is not recorded', async () => {
  const { metadata, spec } = podOf('web');
  const annotations = { note: `is ${SECRET}` };
  const pod = {
    ...podOf('web'),
    metadata: { ...metadata, annotations },
    spec: { ...spec, restartPolicy: 'Never' as const },
  };
  const node = await simulatedNode({ silentSource: true });
  node.runtime.faults.add({ call: 'startContainer', failsAfter: quoted });
  node.apply(pod);
  await node.advance('10s');
  // The runtime's messages cannot be redacted yet, because the source that knows the values has not reported.
  node.runtime.restart({ forget: () => true });
  await node.restartAgent();
  await node.advance('10s');
  node.apply(pod);
  await node.advance('1s');
  expect(JSON.stringify(node.pod('web'))).toContain(SECRET);
  expect(JSON.stringify(node.agent.input.statuses)).toContain('redacted-');
  await expectWithoutSecret(node);
});

test('a recording without its secrets replays to the same states', async () => {
  const node = await simulatedNode({ pods: [secretive()] });
  await node.advance('5s');
  node.apply(secretive('-changed'));
  await node.advance('10s');
  const { agent, playEntries } = createReplay(node.agent.input, node.entries);
  expect(await playEntries()).toEqual([]);
  expect(agent.pods().map(({ status }) => status)).toEqual(node.agent.pods().map(({ status }) => status));
  agent.stop();
});

test('a value that cannot be redacted does not affect the redaction of the next one', () => {
  const redaction = createRedaction();
  const shared = { message: `the token is ${SECRET}` };
  const fail = () => {
    throw new Error('no such field');
  };
  const failing = Object.defineProperty({ shared }, 'later', { enumerable: true, get: fail });
  expect(() => redaction.redact(failing)).toThrow('no such field');
  redaction.learnPods([secretive()]);
  expect(JSON.stringify(redaction.redact(shared))).not.toContain(SECRET);
});

test('redaction maps equal values to equal text and different values to different text, with a key per recording', () => {
  const of = (value: string) => ({ env: [{ name: 'A', value }] });
  const [{ redact }, { redact: other }] = [createRedaction(), createRedaction()];
  expect(redact(of('a'))).toEqual(redact(of('a')));
  expect(redact(of('a'))).not.toEqual(redact(of('b')));
  expect(redact(of('a'))).not.toEqual(other(of('a')));
  expect(redact(of(''))).toEqual(of(''));
  expect(redact(redact(of('a')))).toEqual(redact(of('a')));
});

describe('texts', () => {
  const listed = (...pods: Pod[]) => ({ type: 'config.podsListed' as const, source: 'file', pods, at: 0 });
  const knowing = (...pods: Pod[]) => {
    const redaction = createRedaction();
    redaction.learn(listed(...pods));
    return redaction;
  };
  const envOf = (value: string, more: Partial<Container> = {}) =>
    podWith('web', { containers: [containerWith('main', { env: [{ name: 'A', value }], ...more })] });

  test('redacts the longest matching value, also in JSON notation', () => {
    const both = [envOf('hunter2'), { ...envOf('hunter2-"long"'), metadata: { ...envOf('').metadata, uid: 'other' } }];
    const { texts } = knowing(...both);
    for (const phrase of ['is hunter2-"long".', 'is hunter2-\\"long\\".']) {
      expect(texts(phrase)).toMatch(/^is redacted-\w{16}\.$/);
    }
    expect(texts('is hunter2 x')).toMatch(/^is redacted-\w{16} x$/);
  });

  test('leaves a plain word unredacted, because the agent uses such words itself', () => {
    for (const word of ['running', 'PRODUCTION', 'Europe']) {
      expect(knowing(envOf(word)).texts(`pod web is ${word}`)).toBe(`pod web is ${word}`);
    }
    for (const secret of ['hunterTwo', 'longwordwithoutend', 'running1']) {
      expect(knowing(envOf(secret)).texts(`pod web is ${secret}`)).toMatch(/^pod web is redacted-\w{16}$/);
    }
  });

  test('leaves short values, mount paths and parts of pod names unredacted', () => {
    expect(knowing(envOf('8080')).texts('port 8080')).toBe('port 8080');
    const mounted = { volumeMounts: [{ name: 'data', mountPath: '/var/lib/data' }] };
    expect(knowing(envOf('/var/lib/data', mounted)).texts('no /var/lib/data')).toBe('no /var/lib/data');
    const named = { ...envOf(''), metadata: { ...envOf('').metadata, name: 'frontend-1', uid: 'other' } };
    expect(knowing(envOf('frontend'), named).texts('pod frontend-1')).toBe('pod frontend-1');
    expect(knowing(envOf('/var/lib/data', { args: ['/var/lib/data'] })).texts('no /var/lib/data')).not.toContain(
      'data',
    );
  });

  test('redacts the values of earlier versions and of removed pods', () => {
    const redaction = knowing(envOf('former-secret'));
    redaction.learn({
      type: 'config.podChanged',
      source: 'file',
      change: 'updated',
      pod: envOf('later-secret'),
      at: 1,
    });
    redaction.learn({ type: 'config.podChanged', source: 'file', change: 'removed', uid: 'web-uid', at: 2 });
    expect(redaction.texts('former-secret later-secret')).not.toContain('secret');
    expect(redaction.texts(['a former-secret', { err: 'former-secret' }])).toEqual([
      expect.not.stringContaining('secret'),
      { err: expect.not.stringContaining('secret') },
    ]);
  });

  test('redacts the values of only the last 200 removed pods', () => {
    const redaction = createRedaction();
    const pods = Array.from({ length: 201 }, (_, i) => {
      const pod = envOf(`secret-of-${i}-`);
      return { ...pod, metadata: { ...pod.metadata, uid: `uid-${i}` } };
    });
    redaction.learn(listed(...pods));
    redaction.learn(listed());
    expect(redaction.texts('secret-of-0- secret-of-1-')).toMatch(/^secret-of-0- redacted-\w+$/);
  });
});

test('values of persisted pods are redacted before any source has been read, unless an image or a path contains the value', () => {
  const { learnPods, texts } = createRedaction();
  const [container] = podOf('web').spec.containers;
  if (container === undefined) throw new Error('it has no container');
  const env = [...(container.env ?? []), { name: 'VERSION', value: '1.25.3-rc1' }];
  learnPods([podWith('web', { containers: [{ ...container, env, image: 'repo/app:1.25.3-rc1' }] })]);
  expect(texts(`it said ${SECRET}`)).toMatch(/^it said redacted-[0-9a-f]{16}$/);
  expect(texts('Back-off pulling image "repo/app:1.25.3-rc1"')).toBe('Back-off pulling image "repo/app:1.25.3-rc1"');
});

test('a restarted agent redacts its persisted state before any source has been read', async () => {
  const node = await simulatedNode({ fromFiles: true });
  await writeFile(join(node.manifestDir, 'web.json'), JSON.stringify({ ...podOf('web'), status: undefined }));
  await node.advance('25s');
  const [pod] = node.agent.pods();
  if (pod?.status === undefined) throw new Error('there is no pod');
  const persistedStatus = { ...pod.status, phase: 'Failed', message: `it said ${SECRET}` };
  const file = join(node.path('root', 'statelet', 'statuses'), `${pod.metadata.uid}.json`);
  node.killAgent();
  await writeFile(file, JSON.stringify({ key: pod.metadata.uid, value: persistedStatus }));
  await node.startAgent();
  const { statuses } = node.agent.input;
  expect(Object.keys(statuses)).toEqual([pod.metadata.uid]);
  expect(JSON.stringify(statuses)).toContain('it said redacted-');
  expect(JSON.stringify(node.agent.input)).not.toContain(SECRET);
});
