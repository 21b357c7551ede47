/** The pods that `get` prints, and its output formats. Its tables are tested with the process of `get`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type GetOptions, get } from '../../../../cli/commands/get/get.ts';
import { getEvents } from '../../../../cli/commands/get/getEvents.ts';
import { getNodes } from '../../../../cli/commands/get/getNodes.ts';
import { involvedNode, involvedPod, recordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import { ownVersion } from '../../../../node/start/ownVersion.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { type FakeAgent, fakeAgent } from '../../../fakes/agent.ts';
import { NOW, podView, running, waiting } from '../../../kubernetes/views.ts';

let rootDir: string;
let agent: FakeAgent;
let socket: AgentSocket;

const spec = { nodeName: 'host' };
const meta = (name: string, app: string) => ({ name: `${name}-host`, uid: name, labels: { app } });
const web = podView({ main: { web: running() }, meta: meta('web', 'shop'), spec });
const db = podView({ main: { db: waiting('ContainerCreating') }, meta: meta('db', 'shop'), spec });
const other = podView({ main: { main: running() }, meta: meta('other', 'mail'), spec });

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-get-'));
  agent = fakeAgent({ now: NOW, views: [web, db, other] });
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

const pods = (options: GetOptions) => printed((write) => get({ rootDir, ...options }, write));

test('label and field selectors select pods', async () => {
  const names = (options: GetOptions) => pods({ output: 'name', ...options });
  expect(await names({ selector: 'app=shop' })).toBe('pod/web-host\npod/db-host\n');
  expect(await names({ selector: 'app notin (shop)' })).toBe('pod/other-host\n');
  expect(await names({ fieldSelector: 'status.phase=Pending' })).toBe('pod/db-host\n');
  expect(await names({ selector: 'app=shop', fieldSelector: 'metadata.name!=db-host' })).toBe('pod/web-host\n');
  expect(await names({ fieldSelector: 'spec.nodeName=elsewhere' })).toBe('');
  const list: unknown = JSON.parse(await pods({ output: 'json', selector: 'app=mail' }));
  expect(list).toMatchObject({ items: [{ metadata: { uid: 'other' } }] });
});

test('a template is applied to the list, or to the named pod', async () => {
  expect(await pods({ output: 'jsonpath={.items[*].metadata.name}' })).toBe('web-host db-host other-host');
  expect(await pods({ name: 'web', output: 'jsonpath={.metadata.uid}' })).toBe('web');
  const output = 'custom-columns=POD:.metadata.name,PHASE:.status.phase';
  expect(await pods({ output, selector: 'app=shop' })).toBe(
    'POD        PHASE\nweb-host   Running\ndb-host    Pending\n',
  );
  expect(await pods({ output, selector: 'app=mail', headers: false })).toBe('other-host   Running\n');
  expect(await pods({ headers: false, selector: 'app=mail' })).toMatch(/^other-host +1\/1 +Running/);
});

test('an invalid option is reported in one sentence before any agent is contacted', async () => {
  const rejects = (options: GetOptions, message: string) =>
    expect(pods({ ...options, rootDir: '/nowhere' })).rejects.toThrow(message);
  await rejects({ selector: 'a b' }, "--selector: found 'b' expected: in, notin, =, ==, !=, >, <");
  await rejects(
    { fieldSelector: 'spec.a=b' },
    '--field-selector: field label not supported: spec.a; there are metadata',
  );
  await rejects({ output: 'xml' }, '--output: expected one of wide');
});

test('a watch prints a pod that no longer matches once more, and then no longer', async () => {
  let text = '';
  const options = {
    rootDir,
    watch: true,
    fieldSelector: 'status.phase=Running',
    output: 'custom-columns=P:.metadata.uid,S:.status.phase',
    headers: false,
  };
  const ended = get(options, (part) => {
    text += part;
  }).catch(() => undefined);
  const until = async (end: string) => {
    while (!text.endsWith(end)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await until('other   Running\n');
  const phase = (started: boolean) =>
    podView({ main: { web: started ? running() : waiting('ContainerCreating') }, meta: meta('web', 'shop'), spec });
  agent.show(phase(false));
  await until('web     Pending\n');
  agent.show(phase(false));
  agent.show(phase(true));
  await until('web     Running\n');
  expect(text).toBe('web     Running\nother   Running\nweb     Pending\nweb     Running\n');
  await socket.close();
  await ended;
});

test('nodes and events are selected and printed like pods', async () => {
  agent.record({ ...recordedEvent(involvedNode('host'), { reason: 'Starting', message: 'Starting.' }), at: NOW });
  agent.record({ ...recordedEvent(involvedPod(web.pod), { reason: 'Started', message: 'Started.' }), at: NOW });
  const events = (fieldSelector: string) =>
    printed((write) => getEvents({ rootDir, fieldSelector, output: 'jsonpath={.items[*].reason}' }, write));
  expect(await events('')).toBe('Starting Started');
  expect(await events('involvedObject.kind=Pod')).toBe('Started');
  const nodes = (fieldSelector: string, output: string) =>
    printed((write) => getNodes({ rootDir, fieldSelector, output }, write));
  expect(await nodes('metadata.name=host', 'custom-columns=NODE:.metadata.name')).toBe('NODE\nhost\n');
  expect(await nodes('metadata.name!=host', 'jsonpath={.items[*].metadata.name}')).toBe('');
});
