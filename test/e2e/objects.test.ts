/** ConfigMaps, Secrets and tokens of a cluster in the files and variables of real containers. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { JsonObject } from '../../testing/apiserver/json.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell } from './support/manifests.ts';
import { fetchWithLink, printedPageLink } from './support/pageLink.ts';

const cluster = await forAllTests(() => testCluster({ page: '127.0.0.1:0' }));
const NAMESPACE = '/api/v1/namespaces/shop';
const SECRET = 'hunter2-of-the-shop';

/** Prints its variables once, and the contents of its files whenever they change. */
const SAYS = `echo "variables $MODE $KEY $PREFIX_mode"
while :; do
  now="$(cat /config/mode) $(cat /secret/key)"
  [ "$now" = "$last" ] || echo "files $now"
  last=$now
  sleep 0.1
done`;

function shopPod(name: string) {
  const { spec, ...manifest } = podManifest(name, [
    {
      ...shell('main', SAYS),
      envFrom: [{ prefix: 'PREFIX_', configMapRef: { name: `${name}-map` } }],
      env: [
        { name: 'MODE', valueFrom: { configMapKeyRef: { name: `${name}-map`, key: 'mode' } } },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: `${name}-secret`, key: 'key' } } },
      ],
      volumeMounts: [
        { name: 'config', mountPath: '/config' },
        { name: 'secret', mountPath: '/secret' },
      ],
    },
  ]);
  const volumes = [
    { name: 'config', configMap: { name: `${name}-map` } },
    { name: 'secret', secret: { secretName: `${name}-secret`, defaultMode: 0o400 } },
  ];
  return { ...manifest, spec: { ...spec, volumes, nodeName: 'node', terminationGracePeriodSeconds: 1 } };
}

const { ask } = { ask: cluster.server.request.bind(cluster.server) };
const makeMap = (name: string, mode: string) =>
  ask('POST', `${NAMESPACE}/configmaps`, { metadata: { name: `${name}-map` }, data: { mode } });
const makeSecret = (name: string, key: string) =>
  ask('POST', `${NAMESPACE}/secrets`, { metadata: { name: `${name}-secret` }, stringData: { key } });
const patch = (path: string, body: JsonObject) =>
  ask('PATCH', `${NAMESPACE}/${path}`, body, 'application/merge-patch+json');
const podOf = async (name: string) => (await ask('GET', `${NAMESPACE}/pods/${name}`)) as unknown as Pod;
const running = (name: string) =>
  eventually(`${name} runs`, async () => {
    const pod = await podOf(name);
    return pod.status?.containerStatuses?.every(({ state }) => state?.running) ? pod : undefined;
  });
/** Waits until the log of a pod's container matches, and returns the match. */
const untilLogged = (name: string, uid: string, text: string | RegExp) =>
  eventually(`${name} says ${text}`, async () => {
    const log = await readFile(join(cluster.node.podLogs, `shop_${name}_${uid}`, 'main', '0.log'), 'utf8');
    return log.match(text)?.[0];
  });
const messagesOf = async (name: string) => {
  const { items } = (await ask('GET', `${NAMESPACE}/events`)) as unknown as {
    items: { involvedObject: { name: string }; reason: string; message: string }[];
  };
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason} ${message}`);
};

beforeAll(async () => {
  await ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
});

describe('a pod that references a ConfigMap and a Secret', () => {
  test('has their values in its variables and files, and the files are updated', async () => {
    await makeMap('web', 'slow');
    await makeSecret('web', SECRET);
    await ask('POST', `${NAMESPACE}/pods`, shopPod('web'));
    const pod = await running('web');
    const { uid } = pod.metadata;
    await untilLogged('web', uid, `variables slow ${SECRET} slow`);
    await untilLogged('web', uid, `files slow ${SECRET}`);
    await patch('configmaps/web-map', { data: { mode: 'fast' } });
    await untilLogged('web', uid, `files fast ${SECRET}`);
    await patch('secrets/web-secret', { data: { key: Buffer.from('another').toString('base64') } });
    await untilLogged('web', uid, 'files fast another');
    await patch('secrets/web-secret', { data: { key: Buffer.from(SECRET).toString('base64') } });
    await untilLogged('web', uid, new RegExp(`another[^]*files fast ${SECRET}`));
    expect((await podOf('web')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  test('waits for missing objects, reports them, and starts by itself once they exist', async () => {
    await ask('POST', `${NAMESPACE}/pods`, shopPod('early'));
    const mountFailure = (kind: string, volume: string) =>
      `FailedMount MountVolume.SetUp failed for volume "${volume}" : ${kind}`;
    await eventually('the missing are named', async () => {
      const messages = await messagesOf('early');
      return ['configmap "early-map" not found', 'secret "early-secret" not found'].every((each, at) =>
        messages.includes(mountFailure(each, ['config', 'secret'][at] ?? '')),
      );
    });
    await makeMap('early', 'slow');
    await makeSecret('early', SECRET);
    await untilLogged('early', (await running('early')).metadata.uid, `files slow ${SECRET}`);
  });

  test('has a token of its service account for the API server', async () => {
    const pod = shopPod('web');
    const shows = shell(
      'main',
      'echo "token $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)"; sleep 100000',
    );
    await ask('POST', `${NAMESPACE}/pods`, {
      ...pod,
      metadata: { name: 'caller' },
      spec: { ...pod.spec, containers: [shows], volumes: [] },
    });
    const { metadata } = await running('caller');
    const token = (await untilLogged('caller', metadata.uid, /token \S+/)).slice('token '.length);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({
      sub: 'system:serviceaccount:shop:default',
      'kubernetes.io': { namespace: 'shop', pod: { name: 'caller', uid: metadata.uid } },
    });
  });
});

test('no value of a Secret leaves the agent through its log, arguments, files, events, statuses or page', async () => {
  const { uid } = (await podOf('web')).metadata;
  const link = await printedPageLink(cluster.agent);
  const ofPod = [`object?uid=${uid}`, `story?uid=${uid}`, `detail?path=pod/${uid}`, `history?path=pod/${uid}`];
  for (const resource of ['snapshot', 'rail', ...ofPod]) {
    const response = await fetchWithLink(link, `/api/${resource}`);
    const responseText = await response.text();
    expect([resource, response.status, responseText.includes(SECRET)]).toEqual([resource, 200, false]);
  }
  expect(`${cluster.agent.out()}${cluster.agent.err()}`).not.toContain(SECRET);
  expect(await readFile(`/proc/${cluster.agent.pid}/cmdline`, 'utf8')).not.toContain(SECRET);
  for (const path of ['events', 'pods'])
    expect(JSON.stringify(await ask('GET', `${NAMESPACE}/${path}`))).not.toContain(SECRET);
  expect(JSON.stringify(await cluster.node.pods())).not.toContain(SECRET);
  const ownFiles = [
    '--recursive',
    '--files-with-matches',
    '--text',
    SECRET,
    cluster.node.rootDir,
    '--exclude-dir=pods',
  ];
  await expect(promisify(execFile)('grep', ownFiles)).rejects.toMatchObject({ code: 1 });
});
