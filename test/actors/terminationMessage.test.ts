import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const AT = '2026-05-04T12:02:56.123456789Z';
const fallsBack = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const;

/** Starts a node on which the container of the pod `web` runs. */
async function nodeWith(container: Partial<Container>, spec = {}): Promise<SimulatedNode> {
  const pod = podWith('web', { containers: [containerWith('main', container)], restartPolicy: 'Never', ...spec });
  const node = await simulatedNode({ pods: [pod] });
  await node.advance('2s');
  return node;
}

const writes = (node: SimulatedNode, text: string, run = 0) =>
  writeFile(node.path('root', 'pods', 'web-uid', 'containers', 'main', String(run)), text);

async function logs(node: SimulatedNode, ...lines: string[]): Promise<void> {
  const file = node.path('logs', 'pods', 'default_web_web-uid', 'main', '0.log');
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, lines.map((line) => `${AT} stdout ${line}\n`).join(''));
}

async function endOf(node: SimulatedNode, exitCode: number) {
  node.runtime.exitContainer(node.containerId('web'), exitCode);
  await node.advance('2s');
  return node.container('web').state?.terminated;
}

describe('C22: the termination message of a container', () => {
  test('is the content of its file, whatever the exit code', async () => {
    const node = await nodeWith({});
    await writes(node, 'all is lost');
    expect(await endOf(node, 0)).toMatchObject({ exitCode: 0, message: 'all is lost' });
  });

  test('is the last 4096 bytes of its file', async () => {
    const node = await nodeWith({});
    await writes(node, `${'x'.repeat(10_000)}the end`);
    const { message = '' } = (await endOf(node, 1)) ?? {};
    expect([message.length, message.slice(-8)]).toEqual([4_096, 'xthe end']);
  });

  test('is missing if the file is empty and the policy is File', async () => {
    const node = await nodeWith({});
    await logs(node, 'F some log');
    expect(await endOf(node, 1)).not.toHaveProperty('message');
  });

  test('is the end of the log if the container failed, the file is empty and the policy falls back to logs', async () => {
    const node = await nodeWith(fallsBack);
    await logs(node, 'F one', 'P in', 'F  parts');
    expect(await endOf(node, 1)).toMatchObject({ message: 'one\nin parts\n' });
  });

  test('from the log has at most 80 lines and 2048 bytes', async () => {
    const lines = await nodeWith(fallsBack);
    await logs(lines, ...Array.from({ length: 200 }, (_, index) => `F line ${index}`));
    const { message = '' } = (await endOf(lines, 1)) ?? {};
    expect(message.split('\n').slice(0, -1)).toHaveLength(80);
    expect(message).toMatch(/^line 120\n.*line 199\n$/s);
    const bytes = await nodeWith(fallsBack);
    await logs(bytes, `F ${'y'.repeat(5_000)}`, 'F last');
    expect((await endOf(bytes, 1))?.message).toMatch(/^y{2042}\nlast\n$/);
  });

  test('is not taken from the log if the container succeeded or the file has content', async () => {
    const succeeded = await nodeWith(fallsBack);
    await logs(succeeded, 'F fine');
    expect(await endOf(succeeded, 0)).not.toHaveProperty('message');
    const spoke = await nodeWith(fallsBack);
    await logs(spoke, 'F some log');
    await writes(spoke, 'my own words');
    expect(await endOf(spoke, 1)).toMatchObject({ message: 'my own words' });
  });

  test('is preserved in the last state when the container restarts, even across an agent restart, and each run has its own', async () => {
    const node = await nodeWith({}, { restartPolicy: 'Always' });
    await writes(node, 'first words');
    await endOf(node, 1);
    expect(node.container('web')).toMatchObject({
      state: { running: {} },
      lastState: { terminated: { exitCode: 1, message: 'first words' } },
    });
    await node.restartAgent();
    await node.advance('2s');
    expect(node.container('web').lastState?.terminated).toMatchObject({ message: 'first words' });
    await writes(node, 'second words', 1);
    await endOf(node, 1);
    expect(node.container('web').lastState?.terminated).toMatchObject({ message: 'second words' });
  });

  test('exists for an init container and for a stopped container as well', async () => {
    const init = containerWith('main', { image: 'statelet.local/app:1' });
    const failing = await nodeWith({}, { initContainers: [init], containers: [containerWith('later')] });
    await writes(failing, 'cannot begin');
    expect(await endOf(failing, 2)).toMatchObject({ exitCode: 2, message: 'cannot begin' });
    const node = await nodeWith({}, { terminationGracePeriodSeconds: 2 });
    await writes(node, 'must go');
    const seen: (string | undefined)[] = [];
    node.agent.subscribe(({ pod }) =>
      seen.push(pod.status?.containerStatuses?.[0]?.state?.terminated?.message ?? 'runs'),
    );
    node.remove('web');
    await node.advance('5s');
    expect(seen.at(-1)).toBe('must go');
  });
});
