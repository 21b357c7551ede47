/**
 * A cluster for tests: an API server in the test process, and a node agent that has joined it and uses a simulated
 * container runtime.
 */
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
  /** An administrator's kubeconfig. */
  readonly config: KubeConfig;
}

const NODE = 'node-1';

/** Starts a cluster of one node. `runtime` configures the behavior of its simulated containers. */
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
    // 0 selects any free port.
    ['--port', '0'],
    ['--healthz-port', '0'],
    // Disables the web page.
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

/** Polls until the result is truthy, and returns it. Retries after an error. Rejects after `limitMs`. */
export async function eventually<T>(check: () => T | Promise<T>, limitMs = 60_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    try {
      const result = await check();
      if (result) return result;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${check}`);
    await sleep(50);
  }
}
