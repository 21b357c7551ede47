import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Story } from '../../inspect/protocol.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podWith } from '../fakes/pods.ts';
import { sendBytes, servedPage, until, upgradeOf } from './support/served.ts';
import { simulation } from './support/simulation.ts';

const SECRETS = {
  env: 'env-v4lue-of-the-pod',
  header: 'Bearer h3ader-v4lue',
  hookHeader: 'hook-h3ader-v4lue',
  hookCommand: 'deregister --key=h00k-c0mmand',
  escaped: 'line1-"quoted"\nline2-of-it',
  registry: 'p4ssword-of-the-registry',
};

const env = [
  { name: 'TOKEN', value: SECRETS.env },
  { name: 'TEXT', value: SECRETS.escaped },
];

/** A pod with secrets in its manifest and in its own output. */
const talkative = (): Pod =>
  podWith(
    'talkative',
    {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: 'statelet.local/app:1',
          env,
          command: ['sh', '-c', `exit 3 # ${SECRETS.env}`],
          readinessProbe: {
            httpGet: { path: '/', port: 80, httpHeaders: [{ name: 'Authorization', value: SECRETS.header }] },
          },
          lifecycle: {
            postStart: { httpGet: { path: '/', port: 80, httpHeaders: [{ name: 'X', value: SECRETS.hookHeader }] } },
            preStop: { exec: { command: ['sh', '-c', SECRETS.hookCommand] } },
          },
        },
        // The pull of this image fails, with an error that contains all the secrets it uses.
        { name: 'private', image: 'statelet.local/private:1', imagePullPolicy: 'Always', env },
        {
          name: 'probed',
          image: 'statelet.local/app:1',
          env,
          livenessProbe: { exec: { command: ['false', SECRETS.env] }, periodSeconds: 1 },
        },
      ],
    },
    { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ env }) } },
  );

/** The secrets unchanged, in JSON, in JSON within JSON, and in a URL. */
const spellings = Object.values(SECRETS).flatMap((secret) => {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ];
});

test('no response or stream of the page contains a value of a pod', async () => {
  let asked = 0;
  const node = await simulation({
    findCredentials: async () => {
      asked += 1;
      return [{ username: 'user', password: SECRETS.registry }];
    },
  });
  const page = await servedPage({ inspected: node.page().inspected });
  const { port } = page;
  const sockets = [`GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`, upgradeOf(port, '/stately')].map(
    (text) => {
      const connection = connect({ host: '127.0.0.1', port }, () => connection.write(text));
      const parts: Buffer[] = [];
      connection.on('data', (part: Buffer) => parts.push(part));
      connection.on('error', () => {});
      return { connection, parts };
    },
  );
  await until(() => sockets.every(({ parts }) => parts.length > 0));
  node.node.apply(talkative());
  const answers: string[] = [];
  const paths = ['', 'pod/talkative-uid', 'pod/talkative-uid/container/main', 'pod/talkative-uid/container/probed'];
  const ask = async () => {
    const now = node.node.clock.now();
    for (const at of ['', `&at=${now}`]) {
      const questions = [
        ...paths.map((path) => `detail?path=${encodeURIComponent(path)}${at}`),
        ...paths.map((path) => `log?path=${encodeURIComponent(path)}`),
        ...paths.map((path) => `history?path=${encodeURIComponent(path)}${at}`),
        `object?uid=talkative-uid${at}`,
        `snapshot?x=y${at}`,
      ];
      for (const each of questions) answers.push((await page.get(`/api/${each}`)).body);
    }
    for (const uid of ['', 'talkative-uid']) {
      const { body } = await page.get(`/api/story?uid=${uid}`);
      answers.push(body);
      const { lines }: Story = JSON.parse(body);
      const entered = lines.filter((line) => line.kind === 'entered').filter(({ outcome }) => outcome !== 'elapsed');
      for (const line of entered.slice(-20)) {
        const [actor, source] = [line.actor, line.source].map(encodeURIComponent);
        answers.push((await page.get(`/api/entry?actor=${actor}&source=${source}&at=${line.at}`)).body);
      }
    }
    answers.push((await page.get('/')).body, (await page.get('/api/rail')).body);
  };
  for (const duration of ['1s', '20s', '60s']) {
    await node.node.advance(duration);
    await ask();
  }
  // Messages of the runtime and of programs quote the secrets as well.
  const { onInput: record, events } = node.page().audience.listeners;
  const { redact } = node.redaction();
  const message = `exec failed: ${SECRETS.env}: ${SECRETS.escaped}`;
  record({
    at: 1,
    actor: 'pod/talkative-uid',
    kind: 'failure',
    source: 'createContainer',
    value: redact({ reason: 'X', message }),
  });
  events({
    type: 'event.recorded',
    at: 1,
    involved: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'talkative', uid: 'talkative-uid' },
    eventType: 'Warning',
    reason: 'X',
    message,
  } as never);
  await node.node.advance('1s');
  node.node.remove('talkative');
  await node.node.advance('40s');
  await ask();
  await until(() => sockets.every(({ parts }) => Buffer.concat(parts).length > 10_000));
  for (const { connection } of sockets) connection.destroy();
  const all = [...answers, ...sockets.map(({ parts }) => Buffer.concat(parts).toString('utf8'))];
  // The secrets would have been visible without redaction.
  expect(asked).toBeGreaterThan(0);
  expect(answers.some((body) => body.includes('statelet.local/private:1'))).toBe(true);
  expect(answers.filter((body) => body.includes('redacted-')).length).toBeGreaterThan(4);
  expect(all.at(-2)).toContain('exec failed: redacted-');
  expect(all.at(-1)).toContain('pod/talkative-uid/container/main');
  for (const body of all) for (const secret of spellings) expect(body).not.toContain(secret);
  expect(await sendBytes(port, 'end\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
});
