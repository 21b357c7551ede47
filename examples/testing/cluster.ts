/** A cluster for tests: an API server in this process, and a node agent that has joined it, on a runtime without containers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import {
  createSimulatedRuntime,
  type SimulatedRuntimeOptions,
  serveSimulatedRuntime,
  serveSimulatedStreams,
  systemClock,
} from 'statelet';
import { type ApiServer, startApiServer } from 'statelet/testing';

export interface Cluster extends AsyncDisposable {
  readonly server: ApiServer;
  /** Credentials of an administrator. */
  readonly config: KubeConfig;
}

const NODE = 'node-1';

/** Starts a cluster of one node. `runtime` says how its containers behave. */
export async function startCluster(runtime: Omit<SimulatedRuntimeOptions, 'clock'> = {}): Promise<Cluster> {
  await using resources = new AsyncDisposableStack();
  const directory = resources.adopt(await mkdtemp(join(tmpdir(), 'cluster-')), (path) => rm(path, { recursive: true }));
  const server = resources.adopt(await startApiServer(), (each) => each.close());
  const served = resources.adopt(await server.serve(), (each) => each.close());
  const config = new KubeConfig();
  config.loadFromString(served.kubeconfig());

  const { streams } = resources.adopt(serveSimulatedStreams(systemClock), (each) => each.close());
  const simulated = createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, streams, ...runtime });
  const socket = join(directory, 'runtime.sock');
  resources.adopt(await serveSimulatedRuntime(simulated, socket), (each) => each.close());

  const file = async (name: string, content: string) => {
    await writeFile(join(directory, name), content, { mode: 0o600 });
    return join(directory, name);
  };
  const ca = Buffer.from(config.getCurrentCluster()?.caData ?? '', 'base64').toString();
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { x509: { clientCAFile: await file('ca.crt', ca) } },
    cgroupsPerQOS: false,
    containerRuntimeEndpoint: `unix://${socket}`,
    enforceNodeAllocatable: [],
    podLogsDir: join(directory, 'logs'),
  };
  const credentials = served.kubeconfig({ name: `system:node:${NODE}`, groups: ['system:nodes'] });
  const flags = [
    ['--config', await file('kubelet.json', JSON.stringify(configuration))],
    ['--kubeconfig', await file('kubeconfig', credentials)],
    ['--hostname-override', NODE],
    ['--root-dir', join(directory, 'kubelet')],
    // Any free port.
    ['--port', '0'],
    ['--healthz-port', '0'],
    // No page in the browser.
    ['--inspect-address', ''],
  ];
  const agent = spawn('node_modules/.bin/statelet', ['run', ...flags.flat()], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  agent.stderr.on('data', (text) => {
    log += text;
  });
  const exited = once(agent, 'exit');
  resources.defer(async () => {
    agent.kill();
    await exited;
  });
  const ready = eventually(async () => {
    const { status } = await server.request('GET', `/api/v1/nodes/${NODE}`);
    return JSON.stringify(status).includes('"reason":"KubeletReady"');
  });
  const failed = exited.then(([code]) => Promise.reject(new Error(`the node agent exited with ${code}:\n${log}`)));
  await Promise.race([ready, failed]);
  failed.catch(() => {});
  const owned = resources.move();
  return { server, config, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Polls until the result is truthy. Errors count as not yet. */
export async function eventually<T>(look: () => T | Promise<T>, limitMs = 60_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    try {
      const result = await look();
      if (result) return result;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${look}`);
    await sleep(50);
  }
}
