import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import { type TopUsageOptions, topNodes, topPods } from '../../../../cli/commands/top/topUsage.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { podView, running } from '../../../kubernetes/views.ts';

const MIB = 2 ** 20;

const measured = (name: string, millis: number | undefined, mib: number) => ({
  name,
  cpu: { usageNanoCores: millis === undefined ? undefined : millis * 1e6 },
  memory: { workingSetBytes: mib * MIB },
});

const view = (name: string, ageMs: number, namespace = 'default') =>
  podView({
    main: { main: running() },
    meta: {
      name: `${name}-host`,
      uid: name,
      namespace,
      labels: { app: name },
      creationTimestamp: new Date(systemClock.now() - ageMs).toISOString(),
    },
    spec: { nodeName: 'host' },
  });

const usage = () => ({
  node: measured('host', 750, 1_024),
  pods: [
    { podRef: { uid: 'web' }, containers: [measured('main', 250, 64), measured('side', 2, 8)] },
    { podRef: { uid: 'cart' }, containers: [measured('main', 300, 10)] },
    { podRef: { uid: 'new' }, containers: [measured('main', undefined, 10)] },
  ],
});

let rootDir: string;
let socket: AgentSocket;

async function serve(options: Partial<Parameters<typeof fakeAgent>[0]> = {}): Promise<void> {
  await socket?.close();
  const views = [view('web', 3_600_000), view('cart', 3_600_000, 'shop'), view('new', 1_000), view('old', 3_600_000)];
  const agent = fakeAgent({ now: systemClock.now(), views, usage, ...options });
  socket = await serveSocket({ path: socketPath(rootDir), agent });
}

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-usage-'));
  await serve();
});

afterEach(async () => {
  await socket.close();
  await rm(rootDir, { recursive: true });
});

async function printed(
  command: (options: TopUsageOptions, write: (text: string) => unknown) => Promise<void>,
  options: TopUsageOptions = {},
): Promise<string> {
  let text = '';
  await command({ rootDir, ...options }, (part) => {
    text += part;
  });
  return text;
}

test('top pods shows the measured pods, with their namespaces if there are several', async () => {
  expect(await printed(topPods)).toBe(`\
NAMESPACE   NAME        CPU(cores)   MEMORY(bytes)
default     web-host    252m         72Mi
shop        cart-host   300m         10Mi
`);
});

test('top pods can be limited to a namespace, a pod or a label, and shows containers separately', async () => {
  expect(await printed(topPods, { namespace: 'default', headers: false })).toBe('web-host   252m   72Mi\n');
  expect(await printed(topPods, { name: 'cart', headers: false })).toBe('shop   cart-host   300m   10Mi\n');
  expect(await printed(topPods, { selector: 'app=web', containers: true, sortBy: 'memory' })).toBe(`\
POD        NAME   CPU(cores)   MEMORY(bytes)
web-host   main   250m         64Mi
web-host   side   2m           8Mi
`);
});

test('top nodes shows the node in cores, bytes and percent', async () => {
  expect(await printed(topNodes)).toBe(`\
NAME   CPU(cores)   CPU(%)   MEMORY(bytes)   MEMORY(%)
host   750m         50%      1024Mi          50%
`);
  await expect(printed(topNodes, { name: 'other' })).rejects.toThrow('nodes "other" not found');
});

test('missing measurements are reported as by kubectl', async () => {
  await expect(printed(topPods, { name: 'new' })).rejects.toThrow(/^metrics not available yet$/);
  await expect(printed(topPods, { name: 'old' })).rejects.toThrow(
    /^Metrics not available for pod default\/old-host, age: 1h0m\S*s$/,
  );
  await expect(printed(topPods, { name: 'none' })).rejects.toThrow('pods "none" not found');
  await serve({ usage: () => ({ node: {}, pods: [] }) });
  await expect(printed(topNodes)).rejects.toThrow(/^metrics not available yet$/);
  await serve({ usage: () => ({ node: measured('host', 1, 1), pods: [] }), views: [view('new', 1_000)] });
  await expect(printed(topPods)).rejects.toThrow(/^metrics not available yet$/);
});

test('an agent without its API has no measurements, and the error names the field that enables the API', async () => {
  await socket.close();
  const agent = { ...fakeAgent({ now: systemClock.now(), views: [view('web', 0)] }), usage: async () => undefined };
  socket = await serveSocket({ path: socketPath(rootDir), agent });
  await expect(printed(topPods)).rejects.toThrow(/enableServer: false/);
});

test('the usage of simulated pods is marked', async () => {
  await serve({ node: { simulated: true } });
  expect(await printed(topPods)).toMatch(/^SIMULATED runtime: no real containers run\nNAMESPACE /);
});
