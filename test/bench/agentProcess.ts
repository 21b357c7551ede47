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
/** After so long it has heard, and looked after, all that the bare calls have left for it to hear. */
const CATCH_UP_MS = 1_500;

/** Where an agent and its pods are. */
export interface AgentPlace {
  readonly directory: string;
  /** The command as npm installs it. */
  readonly command: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifests: string;
  readonly cgroupRoot: string;
  /** Of the runtime. */
  readonly endpoint: string;
}

/** The daemon as users run it, in a process of its own. */
export interface AgentProcess {
  readonly pid: number;
  /** When it was spawned, in milliseconds since the epoch. */
  readonly spawnedAt: number;
  readonly watcher: Watcher;
  /** Lets it stand still, so that it takes nothing from what is measured without it. */
  freeze(): void;
  thaw(): Promise<void>;
  /** The 99th percentile of its event loop's delay over some seconds, in milliseconds. */
  eventLoopDelay(seconds: number): Promise<number>;
  /** Ends it by a signal; its pods go on running. */
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
    // As in every cluster: without it each pod would be warned of.
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    // What is read at length is not to be set aside meanwhile.
    containerLogMaxSize: '100Gi',
    ...fields,
  };
  // Pods that only seem to run have no cgroups.
  const cgroup = place.cgroupRoot === '' ? { cgroupsPerQOS: false } : { cgroupRoot: place.cgroupRoot };
  await writeFile(configOf(place), JSON.stringify({ ...config, ...cgroup }));
  return place;
}

/** How an agent is started. */
export interface AgentOptions {
  /** It can tell its event loop's delay: that takes memory of its own. */
  readonly measuresDelay?: boolean;
  /** Where its page is served; by default at any port. */
  readonly inspectAddress?: string;
  /** Of the cluster that it joins; absent: none. */
  readonly kubeconfig?: string;
  /** Where it serves its API; by default at any port. */
  readonly port?: number;
  /** Where it serves /healthz; by default nowhere. */
  readonly healthzPort?: number;
}

/** Starts the daemon; its log goes to a file beside its directories. */
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
