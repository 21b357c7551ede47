import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describe as describeObject } from '../../../../cli/commands/get/describe.ts';
import { explain } from '../../../../cli/commands/get/explain.ts';
import { type GetNodesOptions, getNodes } from '../../../../cli/commands/get/getNodes.ts';
import { involvedNode, recordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import { ownVersion } from '../../../../node/start/ownVersion.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { NOW, podView, running } from '../../../kubernetes/views.ts';

let rootDir: string;
let socket: AgentSocket;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-nodes-'));
  const web = podView({ main: { web: running() }, meta: { name: 'web-host', uid: 'u' }, spec: { nodeName: 'host' } });
  const agent = fakeAgent({ now: NOW, views: [web] });
  const note = { reason: 'StoreRecovered', message: 'The state of the node is being saved again' };
  agent.record({ ...recordedEvent(involvedNode('host'), note), at: NOW });
  socket = await serveSocket({ path: socketPath(rootDir), agent, version: ownVersion() });
});

afterEach(async () => {
  await socket.close();
  await rm(rootDir, { recursive: true });
});

async function printed(print: (write: (text: string) => unknown) => Promise<void>): Promise<string> {
  let text = '';
  await print((part) => {
    text += part;
  });
  return text;
}

const nodes = (options: GetNodesOptions = {}) => printed((write) => getNodes({ rootDir, ...options }, write));

test('get nodes prints a table, a list, one object or names', async () => {
  expect(await nodes()).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION\nhost +Ready /);
  expect(await nodes({ output: 'wide' })).toMatch(/INTERNAL-IP .*CONTAINER-RUNTIME\n/);
  expect(JSON.parse(await nodes({ output: 'json' }))).toMatchObject({ kind: 'NodeList', items: [{ kind: 'Node' }] });
  expect(await nodes({ output: 'yaml', name: 'host' })).toMatch(/^apiVersion: v1\nkind: Node\n/);
  expect(await nodes({ output: 'name' })).toBe('node/host\n');
  await expect(nodes({ name: 'other' })).rejects.toThrow('nodes "other" not found');
});

test.each([[['no']], [['node/host']], [['nodes', 'host']]])('describe %j describes the node', async (words) => {
  const text = await printed((write) => describeObject(words, { rootDir }, write));
  expect(text).toMatch(/^Name: +host\n/);
  expect(text).toMatch(/Non-terminated Pods: +\(1 in total\)/);
  expect(text).toContain('StoreRecovered');
});

test.each([[['po/web']], [['po', 'web']], [['pod/web']]])('describe and explain accept %j', async (words) => {
  expect(await printed((write) => describeObject(words, { rootDir }, write))).toMatch(/^Name: +web-host\n/);
  expect(await printed((write) => explain(words, { rootDir }, write))).toMatch(/^default\/web-host /);
});

test('describing a node with a different name fails', async () => {
  const other = printed((write) => describeObject(['node', 'other'], { rootDir }, write));
  await expect(other).rejects.toThrow('nodes "other" not found');
  expect(await printed((write) => explain(['no'], { rootDir }, write))).toContain('pods: 1 of 110');
});
