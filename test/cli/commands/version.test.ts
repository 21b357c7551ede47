import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { version } from '../../../cli/commands/version.ts';
import { asYaml } from '../../../cli/output/asYaml.ts';
import { packageVersion } from '../../../node/host/paths.ts';
import { ownVersion } from '../../../node/start/ownVersion.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { serveSocket } from '../../../socket/socket.ts';
import { socketPath } from '../../../socket/socketPath.ts';

test('version prints the versions of the command and of the running agent, like kubectl', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'statelet-version-'));
  // The test only requests the version, which the socket serves without the agent.
  const agent = { subscribe: () => () => {}, subscribeEvents: () => () => {} } as unknown as AgentPort;
  const socket = await serveSocket({
    path: socketPath(rootDir),
    agent,
    version: { ...ownVersion(), gitVersion: 'v9' },
  });
  const print = async (options: Parameters<typeof version>[0]) => {
    let text = '';
    const done = await version({ rootDir, ...options }, (part) => (text += part)).catch(
      (error: Error) => error.message,
    );
    return { text, done };
  };
  const client = `Client Version: v${packageVersion()}\n`;
  try {
    expect((await print({})).text).toBe(
      `${client}Server Version: v9\nKubelet Version: v1.36.0+statelet.${packageVersion()}\n`,
    );
    expect((await print({ client: true })).text).toBe(client);
    const { clientVersion, serverVersion } = JSON.parse((await print({ output: 'json' })).text);
    expect([clientVersion, serverVersion.gitVersion]).toEqual([ownVersion(), 'v9']);
  } finally {
    await socket.close();
  }
  const { text, done } = await print({});
  expect(text).toBe(client);
  expect(done).toContain(rootDir);
  await rm(rootDir, { recursive: true });
});

test('YAML output starts with apiVersion and kind, in lists as well', () => {
  const pod = { metadata: { name: 'web' }, kind: 'Pod', apiVersion: 'v1' };
  expect(asYaml(pod)).toMatch(/^apiVersion: v1\nkind: Pod\nmetadata:/);
  expect(asYaml({ items: [pod], kind: 'List', apiVersion: 'v1' })).toBe(
    'apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: web\n',
  );
});
