/**
 * Output of the commands for a pod that waits for a Secret or ConfigMap, from its manifest on disk to the printed text.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createEventRecorder } from '../../../../actors/events/eventRecorder.ts';
import { describe as describePod } from '../../../../cli/commands/get/describe.ts';
import { get } from '../../../../cli/commands/get/get.ts';
import { printLogs } from '../../../../cli/commands/stream/printLogs.ts';
import { inProcessCri } from '../../../../cri/simulated/inProcessCri.ts';
import { compileConfig } from '../../../../node/config/nodeConfig.ts';
import { createAgentPort } from '../../../../node/start/agentPort.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { type SimulatedNode, simulatedNode } from '../../../fakes/node.ts';
import { IMAGE } from '../../../fakes/pods.ts';
import { aNode } from '../../../kubernetes/nodes.ts';

let socket: AgentSocket;

afterEach(() => socket.close());

const variable = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'api-token', key: 'token' } } };
const volume = { name: 'settings', configMap: { name: 'settings' } };

/** Returns the manifest of a pod that needs a Secret for a variable or a ConfigMap for a volume. */
const manifest = (name: string, container: object, spec: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'app', image: IMAGE, ...container }], ...spec },
  });

/** Creates a node with both pods, whose socket serves the commands. */
async function servedNode(): Promise<{ readonly node: SimulatedNode; readonly rootDir: string }> {
  let events: ReturnType<typeof createEventRecorder> | undefined;
  const node = await simulatedNode({ fromFiles: true, parts: { events: (event) => events?.record(event) } });
  events = createEventRecorder('node-1', () => node.clock.now());
  await writeFile(join(node.manifestDir, 'web.yaml'), manifest('web', { env: [variable] }));
  const mount = { name: 'settings', mountPath: '/settings' };
  await writeFile(join(node.manifestDir, 'db.yaml'), manifest('db', { volumeMounts: [mount] }, { volumes: [volume] }));
  const rootDir = node.path('root');
  const agent = createAgentPort({
    agent: node.agent,
    recorder: events,
    isSimulated: true,
    cri: inProcessCri(node.runtime),
    config: compileConfig({
      flags: { '--hostname-override': 'node-1' },
      defaults: {
        hostname: 'node-1',
        addresses: ['192.0.2.1'],
        rootDirectory: rootDir,
        podLogsDirectory: node.path('logs', 'pods'),
      },
    }),
    // The agent never loses its root directory.
    root: { findLostRoot: () => undefined } as Parameters<typeof createAgentPort>[0]['root'],
    nodeObject: () => aNode({ name: 'node-1' }),
    recording: async () => ({ isOn: false, directory: '', chunks: undefined }),
    usage: async () => undefined,
    evictionFigures: async () => undefined,
  });
  socket = await serveSocket({ path: socketPath(rootDir), agent });
  return { node, rootDir };
}

/** Returns everything that a command writes to stdout and stderr, and its failure. */
async function outputOf(run: (write: (text: string | Uint8Array) => Promise<void>) => Promise<unknown>) {
  let text = '';
  const write = async (part: string | Uint8Array) => {
    text += Buffer.from(part).toString();
  };
  const stderr = jest.spyOn(process.stderr, 'write').mockImplementation((part) => {
    text += String(part);
    return true;
  });
  await run(write).catch((error: unknown) => {
    text += String(error);
  });
  stderr.mockRestore();
  return text;
}

test('get, describe and logs show the pod, the missing object, the searched path, and when the pod starts', async () => {
  const { node, rootDir } = await servedNode();
  await node.advance('40s');
  const objects = { web: ['Secret', 'api-token'], db: ['ConfigMap', 'settings'] } as const;
  const pods = await outputOf((write) => get({ rootDir }, write));
  for (const [name, [kind, object]] of Object.entries(objects)) {
    const missing = `${kind} default/${object} is not in ${node.manifestDir}; containers that need it start as soon as it exists`;
    expect(pods).toMatch(new RegExp(`^${name}-node-1 +0/1`, 'm'));
    expect(pods).toContain(missing);
    expect(await outputOf((write) => describePod([name], { rootDir }, write))).toContain(missing);
    const log = await outputOf((write) =>
      printLogs([name], { rootDir }, { isTerminal: false, write, printNote: (text) => void write(text) }),
    );
    expect(log).toContain(`container "app" in pod "${name}-node-1" is waiting to start: `);
    const notFound = `${kind.toLowerCase()} "${object}" not found in ${node.manifestDir}`;
    expect(log).toContain(`${notFound}; the pod starts as soon as the ${kind} exists`);
  }
});

test('a running pod is listed without warnings', async () => {
  const { node, rootDir } = await servedNode();
  const metadata = { name: 'api-token' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 't' } };
  await writeFile(join(node.manifestDir, 'objects.json'), JSON.stringify(secret));
  await node.advance('60s');
  const pods = await outputOf((write) => get({ rootDir, name: 'web' }, write));
  expect(pods).toMatch(/^web-node-1 +1\/1 +Running/m);
  expect(pods).not.toContain('warnings');
});
