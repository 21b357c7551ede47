import { join, resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import { printableLine } from '../../../base/printable.ts';
import { type LoadedConfig, loadConfig } from '../../../node/config/loadConfig.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import type { Flags } from '../../../node/config/settings/allSettings.ts';
import { defaultStateDirectory, packageDirectory, stateLayout } from '../../../node/host/paths.ts';
import { type AgentLog, createLogger } from '../../../node/log/logger.ts';
import { serveNode } from '../../../node/serve/serveNode.ts';
import { lockRootDirectory } from '../../../node/start/lock.ts';
import { assertNoKubelet } from '../../../node/start/runningKubelets.ts';
import type { StartNode } from '../../../node/start/startNode.ts';
import { checkSocketPath, socketPath } from '../../../socket/socketPath.ts';
import { canDraw, openLiveView } from '../../terminal/liveTable.ts';
import type { LiveView, Output } from '../../terminal/liveView.ts';
import { askedToEnd, endOnSignals } from '../../terminal/signals.ts';
import type { Input } from '../../terminal/table/keyboard.ts';
import { drainInTime } from './drain.ts';

/** A runtime that was started for the node alone. */
export interface OwnRuntime {
  readonly endpoint: string;
  /** The cgroup that it expects its pods' cgroups below. */
  readonly cgroupParent: string;
  stop(): Promise<void>;
  /** Takes its start back, instead of `stop`: what ran before goes on. */
  undo(): Promise<void>;
  /** Restarts it; its pods go on meanwhile. */
  restart(why: string): void;
  /** Lets go of it: it and its pods run on, and a later `stop` does nothing. */
  detach(): void;
}

interface RuntimeStart {
  /** Is told of each step in a short sentence. */
  readonly onProgress: (step: string) => void;
  /** Asks for the end of a start that goes on; it then rejects with the signal's reason. */
  readonly asked: AbortSignal;
  /** Whether it is started only to end the pods that it has. */
  readonly endsAll?: boolean;
}

/** What `up` starts; tests give their own. */
export interface UpParts {
  readonly startNode: StartNode;
  /** A start that fails, or is not wanted any more, leaves nothing that was not there before. */
  startRuntime(directory: string, start: RuntimeStart): Promise<OwnRuntime>;
  readonly output: Output;
  /** The keys of whoever looks at it. */
  readonly input?: Input;
  /** What whoever has started it wants to stay in sight of whoever looks at it. */
  readonly note?: string | undefined;
}

/** Why no real container can run here, as the beginning of a sentence; undefined when they can. */
function whySimulated(): string | undefined {
  if (process.platform !== 'linux') return `containers need Linux, and this is ${process.platform}`;
  return process.getuid?.() === 0 ? undefined : 'containers need root';
}

/** The configuration over a runtime of the node's own. */
export function withRuntime(config: NodeConfig, runtime: OwnRuntime | undefined): NodeConfig {
  if (runtime === undefined) return config;
  const { endpoint, cgroupParent } = runtime;
  const endpoints = { containerRuntimeEndpoint: endpoint, imageServiceEndpoint: endpoint };
  return Object.freeze({ ...config, ...endpoints, cgroupRoot: config.cgroupRoot ?? cgroupParent });
}

/** Runs the node until a signal asks for its end, then terminates its pods. */
async function runNode(node: {
  config: NodeConfig;
  simulated: boolean;
  log: AgentLog;
  view: LiveView;
  asked: AbortSignal;
  startNode: StartNode;
  restartRuntime: ((why: string) => void) | undefined;
  note: string | undefined;
  onStarted: () => void;
  onFailed: () => void;
}): Promise<void> {
  const { config, simulated, log, view, asked, startNode, restartRuntime, note, onStarted, onFailed } = node;
  const {
    agent,
    drain,
    stop,
    inspected,
    failed: fault,
  } = await startNode({ config, simulated, ...log, restartRuntime });
  const failed = fault.catch((error: unknown) => {
    // Its pods go on running, so what they run on must, too: the next one finds both.
    onFailed();
    throw error;
  });
  // Whoever waits for it hears of it.
  failed.catch(() => {});
  const onPage = (url: string) => view.showPage(url);
  const socket = await serveNode(
    { agent, stop, ...(inspected ? { inspected } : {}) },
    { config, logger: log.logger, onPage },
  );
  onStarted();
  view.follow(agent);
  if (note) view.print(printableLine(note));
  try {
    await Promise.race([askedToEnd(asked), failed]);
    view.print(`${String(asked.reason)}: terminating all pods; another signal stops at once and leaves them running`);
    const drained = drainInTime({ pods: agent.pods(), drain, clock: systemClock, print: (text) => view.print(text) });
    await Promise.race([drained, failed]);
  } finally {
    await socket.close();
    await stop();
  }
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(flags: Flags) {
  const stateDirectory = resolve(flags['--state-dir'] ?? defaultStateDirectory());
  const layout = stateLayout(stateDirectory);
  const explicit = flags['--container-runtime-endpoint'] !== undefined;
  const simulatedBecause = explicit ? undefined : whySimulated();
  const staticPodPath = join(packageDirectory(), 'examples', 'pods');
  const settings = await loadConfig(flags, {
    defaults: { ...layout, staticPodPath },
    checkHost: simulatedBecause === undefined,
  });
  checkSocketPath(socketPath(settings.config.rootDirectory));
  return { settings, layout, simulatedBecause, ownRuntime: !explicit && simulatedBecause === undefined };
}

function warningsOf({ settings, ownRuntime }: { settings: LoadedConfig; ownRuntime: boolean }): string[] {
  const endpoint = settings.file?.config.containerRuntimeEndpoint;
  const unused = `${settings.file?.path}: containerRuntimeEndpoint is ignored: "up" starts its own containerd unless --container-runtime-endpoint is set`;
  return [...settings.warnings, ...(ownRuntime && endpoint ? [unused] : [])];
}

/** The node in one command: a private runtime, the agent and a live view, until a signal ends all of it gracefully. */
export async function up(flags: Flags, parts: UpParts): Promise<void> {
  const prepared = await prepare(flags);
  const { rootDirectory } = prepared.settings.config;
  await assertNoKubelet(rootDirectory);
  const release = await lockRootDirectory(rootDirectory);
  const view = openLiveView(parts.output, prepared.settings.config.logging.format, parts.input);
  const signals = endOnSignals(() => {
    view.close();
    const { ownRuntime, simulatedBecause } = prepared;
    view.print(leftRunning(flags, { ownRuntime, simulated: simulatedBecause !== undefined }));
  });
  try {
    const wasReady = await runPrepared(prepared, { ...parts, view, asked: signals.asked });
    const rest = wasReady ? ', and so has its containerd' : ' before it was ready';
    view.print(`statelet has stopped${prepared.ownRuntime ? rest : ''}`);
  } finally {
    view.close();
    signals.close();
    await release();
  }
}

interface RunParts extends UpParts {
  readonly view: LiveView;
  readonly asked: AbortSignal;
}

/** Starts a runtime and runs the node over it; both have ended then. Tells whether the runtime had pods. */
async function runPrepared(prepared: Prepared, parts: RunParts): Promise<boolean> {
  const { settings, layout, simulatedBecause, ownRuntime } = prepared;
  const { view, asked, output, startNode, note } = parts;
  const simulated = simulatedBecause !== undefined;
  if (simulated) view.print(`${simulatedBecause}: the pods run on a simulated runtime, without real containers.`);
  const log = await loggerBeside(view, output, settings.config, simulated);
  for (const warning of warningsOf(prepared)) log.logger.warn(warning);
  const start = { onProgress: (step: string) => view.print(step), asked };
  const starting = ownRuntime ? parts.startRuntime(layout.containerdDirectory, start) : undefined;
  const runtime = await starting?.catch(unlessAsked(asked));
  const config = withRuntime(settings.config, runtime);
  const node = { config, simulated, log, view, asked, startNode, note, restartRuntime: runtime?.restart };
  return overRuntime(runtime, view, (onStarted) =>
    asked.aborted ? undefined : runNode({ ...node, onStarted, onFailed: () => runtime?.detach() }),
  );
}

/** Ends the runtime after the work, whatever becomes of that. Gives whether the work got as far as `onStarted`. */
async function overRuntime(
  runtime: OwnRuntime | undefined,
  view: LiveView,
  work: (onStarted: () => void) => Promise<void> | undefined,
): Promise<boolean> {
  let end = runtime?.undo;
  try {
    await work(() => {
      end = runtime?.stop;
    });
  } catch (error) {
    view.close();
    await end?.().catch((cause: unknown) => {
      view.print(`the private containerd could not be stopped: ${printableLine(messageOf(cause))}`);
    });
    throw error;
  }
  view.close();
  await end?.();
  return runtime !== undefined && end === runtime.stop;
}

/** A start that was given up because its end was asked for has not failed. */
const unlessAsked =
  (asked: AbortSignal) =>
  (error: unknown): undefined => {
    if (!asked.aborted || error !== asked.reason) throw error;
  };

/** What goes on when the agent ends at once, and how to end that. */
function leftRunning(flags: Flags, { ownRuntime, simulated }: { ownRuntime: boolean; simulated: boolean }): string {
  if (simulated) return 'statelet has stopped at once\n';
  const where = (['--state-dir', '--root-dir', '--pod-log-dir'] as const)
    .map((flag) => (flags[flag] === undefined ? '' : ` ${flag} ${shellWord(resolve(flags[flag]))}`))
    .join('');
  if (!ownRuntime) return 'statelet has stopped at once; its pods keep running, for the next "statelet up" to adopt\n';
  return `statelet has stopped at once; its pods and their containerd keep running.
To take them over again: statelet up${where}
To stop them:            statelet down${where}
`;
}

/** A word as a shell reads it back. */
const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Creates a log. If it shares a terminal with the live table, it has only warnings unless the verbosity is raised. */
async function loggerBeside(view: LiveView, output: Output, config: NodeConfig, simulated: boolean): Promise<AgentLog> {
  const { logging } = config;
  if (process.stderr.isTTY !== true || !canDraw(output)) return createLogger({ logging, simulated });
  const quiet = logging.verbosity === 0 ? { level: 'warn' as const } : {};
  const destination = { write: (text: string) => view.print(text) };
  return createLogger({ logging, simulated, isShort: true, destination, ...quiet });
}
