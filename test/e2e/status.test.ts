import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../kubernetes/api/schema/status.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { loopbackServer } from './support/loopbackServer.ts';
import { podManifest, shell, steadily, stubbornly } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { isContainerd2 } from './support/runtimes.ts';

const execute = promisify(execFile);

/** Requests to the test's server, as `GET /path` followed by the value of the header X-Hook. */
const requests: string[] = [];
const server = await forAllTests(() =>
  loopbackServer(({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers['x-hook']}`);
    response.writeHead(500).end();
  }),
);
const node = await nodeForAllTests(upNode);

const once: Partial<PodSpec> = { restartPolicy: 'Never' };

/** Runs a pod with one container that is not restarted, and returns the terminated state of the container. */
async function endOf(name: string, main: Container, more: Partial<PodSpec> = {}) {
  await node.write(name, podManifest(name, [main], { ...once, ...more }));
  const ended = await node.until(
    'has ended',
    name,
    ({ status }) => status?.phase !== 'Pending' && status?.phase !== 'Running' && status,
  );
  return ended.containerStatuses?.[0]?.state?.terminated;
}

/** Waits until the only container of a pod waits with this reason, and returns its status. */
const waits = (name: string, reason: string): Promise<ContainerStatus> =>
  node.until(`waits with ${reason}`, name, (pod) => {
    const status = containerOf(pod);
    return status.state?.waiting?.reason === reason && status;
  });

describe('C22: the termination message of a container', () => {
  test('is read from its file at any configured path, after any exit code', async () => {
    const [plain, own] = await Promise.all([
      endOf('plain', shell('main', 'echo ignored; echo all is well > /dev/termination-log')),
      endOf('own', shell('main', 'echo lost > /last/words; exit 3', { terminationMessagePath: '/last/words' })),
    ]);
    expect(plain).toMatchObject({ exitCode: 0, reason: 'Completed', message: 'all is well\n' });
    expect(own).toMatchObject({ exitCode: 3, reason: 'Error', message: 'lost\n' });
  });

  test('is the end of the log after a failure if the policy falls back to logs and the file is empty', async () => {
    const terminationMessagePolicy = 'FallbackToLogsOnError';
    const script = 'i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo line $i; done';
    const [failed, succeeded] = await Promise.all([
      endOf('loud', shell('main', `${script}; exit 1`, { terminationMessagePolicy })),
      endOf('fine', shell('main', script, { terminationMessagePolicy })),
    ]);
    const lines = failed?.message?.trimEnd().split('\n') ?? [];
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([80, 'line 121', 'line 200']);
    expect(succeeded).not.toHaveProperty('message');
  });

  test('is preserved for the previous run, and for an init container', async () => {
    const main = shell(
      'main',
      'test -e /run/again && sleep 1000; touch /run/again; echo first > /dev/termination-log',
      {
        volumeMounts: [{ name: 'run', mountPath: '/run' }],
      },
    );
    const initContainers = [shell('init', 'echo ready > /dev/termination-log')];
    const volumes = [{ name: 'run', emptyDir: {} }];
    await node.write(
      'twice',
      podManifest('twice', [main], { initContainers, volumes, terminationGracePeriodSeconds: 1 }),
    );
    const { status } = await node.until('runs again', 'twice', (pod) => containerOf(pod).restartCount === 1 && pod);
    expect(status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 0, message: 'first\n' });
    expect(status?.initContainerStatuses?.[0]?.state?.terminated).toMatchObject({ message: 'ready\n' });
  });
});

describe('C16: a waiting container', () => {
  test('shows the error of a failed pull first, and then its back-off', async () => {
    const image = '127.0.0.1:1/nothing:1';
    await node.write('pulling', podManifest('pulling', [shell('main', 'true', { image })]));
    const failed = await waits('pulling', 'ErrImagePull');
    expect(failed.state?.waiting?.message).toMatch(/failed to pull and unpack image.*connection refused/);
    const { state } = await waits('pulling', 'ImagePullBackOff');
    expect(state?.waiting?.message).toBe(
      `Back-off pulling image "${image}": ErrImagePull: ${failed.state?.waiting?.message}`,
    );
  });

  test('shows a failed pull of an image volume like that of an image, and a runtime without image volumes fails only the creation', async () => {
    const volumeMounts = [{ name: 'site', mountPath: '/site' }];
    const pod = (name: string, reference: string) =>
      node.write(
        name,
        podManifest(name, [shell('main', steadily('ls /site/bin/busybox; echo end'), { volumeMounts })], {
          volumes: [{ name: 'site', image: { reference } }],
        }),
      );
    await pod('absent-volume', '127.0.0.1:1/nothing:1');
    await pod('present-volume', BUSYBOX_IMAGE);
    const failed = await waits('absent-volume', 'ErrImagePull');
    expect(failed.state?.waiting?.message).toMatch(/failed to pull and unpack image.*connection refused/);
    const { state } = await waits('absent-volume', 'ImagePullBackOff');
    expect(state?.waiting?.message).toBe(
      `Back-off pulling image "127.0.0.1:1/nothing:1": ErrImagePull: ${failed.state?.waiting?.message}`,
    );
    if (isContainerd2) {
      expect(await node.log(await node.running('present-volume'), 'main', 'end')).toEqual(['/site/bin/busybox']);
      return;
    }
    const refused = await waits('present-volume', 'CreateContainerError');
    expect(refused.state?.waiting?.message).toMatch(
      /^ImageVolumeMountFailed: volume "site": the runtime has no image volumes/,
    );
  });

  test('with a missing command shows the error with the dead container as the last state, and then a crash loop', async () => {
    await node.write('absent', podManifest('absent', [shell('main', '', { command: ['/no/such/command'] })]));
    const refused = await waits('absent', 'RunContainerError');
    expect(refused.state?.waiting?.message).toMatch(/^failed to create containerd task: .*\/no\/such\/command/);
    const startedAt = '1970-01-01T00:00:00Z';
    expect(refused.lastState?.terminated).toMatchObject({ exitCode: 128, reason: 'StartError', startedAt });
    expect(refused.imageID).toMatch(/^sha256:|@sha256:/);
    const { state, restartCount } = await waits('absent', 'CrashLoopBackOff');
    expect(state?.waiting?.message).toMatch(/^back-off 10s restarting failed container=main pod=absent-node_default\(/);
    expect(restartCount).toBe(1);
    const ended = await endOf('never', shell('main', '', { command: ['/no/such/command'] }));
    expect(ended).toMatchObject({ exitCode: 128, reason: 'StartError', startedAt });
  });

  test('shows what prevents its creation', async () => {
    const securityContext = { runAsNonRoot: true };
    await node.write('root', podManifest('root', [shell('main', 'true', { securityContext })]));
    const image = 'statelet.local/nothing:1';
    const missing = shell('main', 'true', { image, imagePullPolicy: 'Never' });
    await node.write('missing', podManifest('missing', [missing]));
    const [config, absent] = await Promise.all([
      waits('root', 'CreateContainerConfigError'),
      waits('missing', 'ErrImageNeverPull'),
    ]);
    expect(config.state?.waiting?.message).toMatch(/container has runAsNonRoot and image will run as root/);
    expect(absent.state?.waiting?.message).toBe(`Container image "${image}" is not present with pull policy of Never`);
    expect(absent).toMatchObject({ imageID: '', restartCount: 0 });
  });

  test('C17: finds an image with pull policy Never once someone has loaded it', async () => {
    const image = 'statelet.local/by-hand:1';
    await node.write(
      'by-hand',
      podManifest('by-hand', [shell('main', steadily(), { image, imagePullPolicy: 'Never' })]),
    );
    await waits('by-hand', 'ErrImageNeverPull');
    const { socket } = layoutOf(node.containerdDirectory);
    await execute('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'tag', BUSYBOX_IMAGE, image]);
    expect(containerOf(await node.running('by-hand'))).toMatchObject({ ready: true, restartCount: 0 });
  });
});

describe('C10: lifecycle hooks', () => {
  const shared = { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };
  const volumes = () => [{ name: 'shared', hostPath: { path: node.shared } }];
  const httpHeaders = [{ name: 'X-Hook', value: 'yes' }];
  const inShared = (name: string) => join(node.shared, name);

  test('delay the container after its start, and before its stop send requests to the pod itself', async () => {
    // The server must read the whole request before it responds, because the client disconnects after the response.
    const read = 'until test "$line" = "$(printf "\\r")"; do read -r line || exit; echo "$line"; done > /shared/asked';
    const script = `nc -l -p 8080 -e sh -c '${read}; printf "HTTP/1.0 204 OK\\r\\n\\r\\n"'`;
    const main = shell('main', steadily(`${script} & :`), {
      ...shared,
      lifecycle: {
        postStart: { exec: { command: ['sh', '-c', 'until test -e /shared/go; do sleep 0.1; done'] } },
        preStop: { httpGet: { path: '/bye?now', port: 8080, httpHeaders } },
      },
    });
    await node.write('hooked', podManifest('hooked', [main], { volumes: volumes() }));
    const isHooked = async () => {
      const answer = await node.ask('/explain/pods/hooked');
      return JSON.stringify(answer).includes('runningPostStart');
    };
    await eventually('the hook runs', isHooked);
    const waiting = (await node.pods()).find(({ metadata }) => metadata.name === 'hooked-node');
    expect(waiting?.status).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } }, started: false }],
    });
    await writeFile(inShared('go'), '');
    await node.running('hooked');
    await node.remove('hooked');
    await node.gone('hooked');
    const request = await readFile(inShared('asked'), 'utf8');
    expect(request).toMatch(/^GET \/bye\?now HTTP\/1\.1\r\n/);
    expect(request).toMatch(/^x-hook: yes\r$/im);
  });

  test('C9: delay the next container during postStart, which an explanation shows', async () => {
    const hook = 'until test -e /shared/ready; do sleep 0.1; done; touch /shared/hooked';
    const proxy = shell('proxy', steadily(), {
      ...shared,
      lifecycle: { postStart: { exec: { command: ['sh', '-c', hook] } } },
    });
    const app = shell('app', steadily('test -e /shared/hooked && touch /shared/after'), shared);
    await node.write('meshed', podManifest('meshed', [proxy, app], { volumes: volumes() }));
    await eventually('the app waits', async () => {
      const answer = await node.ask('/explain/pods/meshed');
      return JSON.stringify(answer).includes('"waitingFor":"container proxy\'s postStart hook"');
    });
    const statuses = await node.until('has a sandbox', 'meshed', ({ status }) =>
      status?.podIP ? status.containerStatuses : undefined,
    );
    const appStatus = statuses.find(({ name }) => name === 'app');
    expect(appStatus?.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    expect(appStatus).not.toHaveProperty('containerID');
    await writeFile(inShared('ready'), '');
    await node.running('meshed');
    await eventually('the app came after the hook', () => existsSync(inShared('after')));
  });

  test('by httpGet to another host complete on a response, and a sleep delays the stop signal', async () => {
    const httpGet = { host: '127.0.0.1', port: server.port, path: '/started', httpHeaders };
    const main = shell('main', steadily(':', 'date +%s > /shared/signalled'), {
      ...shared,
      lifecycle: { postStart: { httpGet }, preStop: { sleep: { seconds: 2 } } },
    });
    await node.write('sleeping', podManifest('sleeping', [main], { volumes: volumes() }));
    await node.running('sleeping');
    expect(requests).toEqual(['GET /started yes']);
    const removedAt = Date.now() / 1_000;
    await node.remove('sleeping');
    await node.gone('sleeping');
    expect(Number(await readFile(inShared('signalled'), 'utf8'))).toBeGreaterThanOrEqual(Math.floor(removedAt + 2));
  });

  test('that fail after the start kill the container, which shows the reason and then a crash loop', async () => {
    const exec = { command: ['sh', '-c', 'echo no luck; exit 3'] };
    const main = shell('main', steadily(), { lifecycle: { postStart: { exec } } });
    await node.write('unlucky', podManifest('unlucky', [main], { terminationGracePeriodSeconds: 5 }));
    const { state } = await waits('unlucky', 'PostStartHookError');
    expect(state?.waiting?.message).toMatch(
      /^Exec lifecycle hook \(\[sh -c echo no luck; exit 3\]\) for Container "main" in Pod "unlucky-node_default\(.*\)" failed - error: command 'sh -c echo no luck; exit 3' exited with 3: , message: "no luck\\n"$/,
    );
    const { lastState, restartCount } = await waits('unlucky', 'CrashLoopBackOff');
    expect(lastState?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(restartCount).toBe(1);
  });

  test('before the stop use up the grace period down to 2 s, during which they continue, and their failure does not matter', async () => {
    const lifecycle = (...command: string[]) => ({ lifecycle: { preStop: { exec: { command } } } });
    const outliving = lifecycle('sh', '-c', 'sleep 3; touch /shared/outlived; sleep 1000');
    const slow = shell('main', stubbornly, { ...shared, ...outliving });
    const failing = shell('main', steadily(':', 'touch /shared/ended'), { ...shared, ...lifecycle('false') });
    await node.write('slow', podManifest('slow', [slow], { volumes: volumes(), terminationGracePeriodSeconds: 2 }));
    await node.write('failing', podManifest('failing', [failing], { volumes: volumes() }));
    await Promise.all([node.running('slow'), node.running('failing')]);
    const removedAt = Date.now();
    await Promise.all([node.remove('slow'), node.remove('failing')]);
    await Promise.all([node.gone('slow'), node.gone('failing')]);
    const took = Date.now() - removedAt;
    expect(existsSync(inShared('ended'))).toBe(true);
    expect(existsSync(inShared('outlived'))).toBe(true);
    expect(took).toBeGreaterThanOrEqual(4_000);
    expect(took).toBeLessThan(20_000);
  });
});

test('a container status has the image names of the runtime and the mounts', async () => {
  const volumeMounts = [
    { name: 'data', mountPath: '/data' },
    { name: 'data', mountPath: '/look', readOnly: true },
  ];
  const main = shell('main', steadily(), { volumeMounts });
  await node.write('made', podManifest('made', [main], { volumes: [{ name: 'data', emptyDir: {} }] }));
  const status = containerOf(await node.running('made'));
  expect(status).toMatchObject({
    image: expect.stringContaining('busybox'),
    imageID: expect.stringMatching(/sha256:[0-9a-f]{64}$/),
    containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/),
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'data', mountPath: '/look', readOnly: true, recursiveReadOnly: 'Disabled' },
    ],
    resources: {},
  });
});
