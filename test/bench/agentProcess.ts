import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { socketPath } from '../../socket/socketPath.ts';
import { linkPackage } from '../e2e/support/installation.ts';
import '../support/unchangedHost.ts';
import { interruption } from './interruption.ts';
import { nodeName } from './manifests.ts';
import { preciseNow } from './statistics.ts';
import { type Watcher, watchAgent } from './watcher.ts';

const MAX_PODS = 500;
/** Time after which the agent has processed all events that the bare calls have caused. */
const CATCH_UP_MS = 1_500;

/** The directories and addresses of an agent and its pods. */
export interface AgentPlace {
  readonly directory: string;
  /** Path of the command as installed by npm. */
  readonly command: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifests: string;
  readonly cgroupRoot: string;
  /** Endpoint of the runtime. */
  readonly endpoint: string;
}

/** The daemon as users run it, in its own process. */
export interface AgentProcess {
  readonly pid: number;
  /** Time at which the process was spawned, in milliseconds since the epoch. */
  readonly spawnedAt: number;
  readonly watcher: Watcher;
  /** Suspends the process, so that it does not use CPU time while something else is measured. */
  freeze(): void;
  thaw(): Promise<void>;
  /** Returns the 99th percentile of the event loop's delay over some seconds, in milliseconds. */
  eventLoopDelay(seconds: number): Promise<number>;
  /** Terminates the process with a signal. Its pods keep running. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Creates the directories of an agent on a runtime. `fields` are further fields of its configuration. */
export async function agentPlace(
  directory: string,
  runtime: { endpoint: string; cgroupRoot: string },
  fields: object = {},
): Promise<AgentPlace> {
  const place = {
    directory,
    command: await linkPackage(directory),
    rootDir: join(directory, 'kubelet'),
    podLogsDir: join(directory, 'log', 'pods'),
    manifests: join(directory, 'manifests'),
    ...runtime,
  };
  await mkdir(place.manifests, { recursive: true });
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    maxPods: MAX_PODS,
    // Without a DNS server, the node would send a warning for each pod.
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    // Prevent the rotation of long logs while they are read.
    containerLogMaxSize: '100Gi',
    ...fields,
  };
  // Simulated pods have no cgroups.
  const cgroup = place.cgroupRoot === '' ? { cgroupsPerQOS: false } : { cgroupRoot: place.cgroupRoot };
  await writeFile(configOf(place), JSON.stringify({ ...config, ...cgroup }));
  return place;
}

/** Options for starting an agent. */
export interface AgentOptions {
  /** Whether the agent can measure the delay of its event loop, which needs additional memory. */
  readonly measuresDelay?: boolean;
  /** Address of the page. Defaults to any free port. */
  readonly inspectAddress?: string;
  /** Kubeconfig of the cluster that the node joins. Undefined for a node without a cluster. */
  readonly kubeconfig?: string;
  /** Port of the kubelet API. Defaults to any free port. */
  readonly port?: number;
  /** Port of /healthz, which is not served by default. */
  readonly healthzPort?: number;
}

/** Starts the daemon. Its log is written to a file next to its directories. */
export function startAgent(
  place: AgentPlace,
  { measuresDelay, inspectAddress = '127.0.0.1:0', kubeconfig, port = 0, healthzPort = 0 }: AgentOptions = {},
): AgentProcess {
  const delayFile = join(place.directory, 'event-loop-delay');
  const log = openSync(join(place.directory, 'agent.log'), 'a');
  const probe = join(import.meta.dirname, 'eventLoopProbe.mjs');
  const spawnedAt = preciseNow();
  const measuring = { NODE_OPTIONS: `--import=${probe}`, BENCH_EVENT_LOOP_FILE: delayFile };
  const joining = kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig];
  const ports = ['--port', String(port), '--healthz-port', String(healthzPort)];
  const child = spawn(
    place.command,
    ['run', ...flags(place), ...joining, ...ports, '--inspect-address', inspectAddress],
    {
      stdio: ['ignore', 'ignore', log],
      env: { ...process.env, ...(measuresDelay ? measuring : {}) },
      signal: interruption,
      killSignal: 'SIGKILL',
    },
  );
  closeSync(log);
  child.on('error', () => {});
  const watcher = watchAgent(socketPath(place.rootDir));
  return {
    pid: child.pid ?? 0,
    spawnedAt,
    watcher,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: async () => {
      child.kill('SIGCONT');
      await pause(CATCH_UP_MS);
    },
    eventLoopDelay: async (seconds) => {
      await rm(delayFile, { force: true });
      child.kill('SIGUSR2');
      await pause(seconds * 1_000);
      child.kill('SIGUSR2');
      await pause(500);
      return Number(await readFile(delayFile, 'utf8'));
    },
    end: (signal) => endChild(child, watcher, signal),
  };
}

function flags(place: AgentPlace): string[] {
  return [
    '--config',
    configOf(place),
    '--pod-manifest-path',
    place.manifests,
    '--root-dir',
    place.rootDir,
    '--pod-log-dir',
    place.podLogsDir,
    '--container-runtime-endpoint',
    place.endpoint,
    '--hostname-override',
    nodeName,
    '-v',
    '0',
  ];
}

const configOf = ({ directory }: AgentPlace): string => join(directory, 'kubelet.json');

async function endChild(child: ChildProcess, watcher: Watcher, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  watcher.close();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill(signal);
  await ended;
}
