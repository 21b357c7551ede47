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
import { handleStopSignals, untilStopRequested } from '../../terminal/signals.ts';
import type { Input } from '../../terminal/table/keyboard.ts';
import { drainInTime } from './drain.ts';

/** A container runtime that was started for this node only. */
export interface PrivateRuntime {
  readonly endpoint: string;
  /** The parent of the pods' cgroups. */
  readonly cgroupParent: string;
  stop(): Promise<void>;
  /** Reverts the start, as an alternative to `stop`. A runtime that was already running keeps running. */
  undo(): Promise<void>;
  /** Restarts the runtime. Its pods keep running. */
  restart(why: string): void;
  /** Leaves the runtime and its pods running. A later `stop` does nothing. */
  detach(): void;
}

interface RuntimeStart {
  /** Called with a short sentence for each step. */
  readonly onProgress: (step: string) => void;
  /** Aborts the start, which then rejects with the signal's reason. */
  readonly stopSignal: AbortSignal;
  /** Whether the runtime is started only to terminate its pods. */
  readonly terminatesPods?: boolean;
}

/** Dependencies of `up`, which tests replace. */
export interface UpParts {
  readonly startNode: StartNode;
  /** Starts a private runtime. A failed or aborted start leaves nothing behind. */
  startRuntime(directory: string, start: RuntimeStart): Promise<PrivateRuntime>;
  readonly output: Output;
  readonly input?: Input;
  /** A text to print above the table. */
  readonly note?: string | undefined;
}

/** Returns the start of a sentence that says why real containers cannot run here, or undefined if they can. */
function simulationReason(): string | undefined {
  if (process.platform !== 'linux') return `containers need Linux, and this is ${process.platform}`;
  return process.getuid?.() === 0 ? undefined : 'containers need root';
}

/** Returns the configuration with the endpoints of the private runtime. */
export function withRuntime(config: NodeConfig, runtime: PrivateRuntime | undefined): NodeConfig {
  if (runtime === undefined) return config;
  const { endpoint, cgroupParent } = runtime;
  const endpoints = { containerRuntimeEndpoint: endpoint, imageServiceEndpoint: endpoint };
  return Object.freeze({ ...config, ...endpoints, cgroupRoot: config.cgroupRoot ?? cgroupParent });
}

/** Runs the node until a stop is requested, then terminates its pods. */
async function runNode(node: {
  config: NodeConfig;
  simulated: boolean;
  log: AgentLog;
  view: LiveView;
  stopSignal: AbortSignal;
  startNode: StartNode;
  restartRuntime: ((why: string) => void) | undefined;
  note: string | undefined;
  onStarted: () => void;
  onFailed: () => void;
}): Promise<void> {
  const { config, simulated, log, view, stopSignal, startNode, restartRuntime, note, onStarted, onFailed } = node;
  const {
    agent,
    drain,
    stop,
    inspected,
    failed: nodeFailed,
  } = await startNode({ config, simulated, ...log, restartRuntime });
  const failed = nodeFailed.catch((error: unknown) => {
    // The pods of a failed agent keep running, so their runtime must keep running too, until the next `up` adopts both.
    onFailed();
    throw error;
  });
  // Avoid an unhandled rejection. The races below observe the failure.
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
    await Promise.race([untilStopRequested(stopSignal), failed]);
    view.print(
      `${String(stopSignal.reason)}: terminating all pods; another signal stops at once and leaves them running`,
    );
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
  const simulationReasonText = explicit ? undefined : simulationReason();
  const staticPodPath = join(packageDirectory(), 'examples', 'pods');
  const settings = await loadConfig(flags, {
    defaults: { ...layout, staticPodPath },
    checkHost: simulationReasonText === undefined,
  });
  checkSocketPath(socketPath(settings.config.rootDirectory));
  return {
    settings,
    layout,
    simulationReasonText,
    usesPrivateRuntime: !explicit && simulationReasonText === undefined,
  };
}

function configWarnings({
  settings,
  usesPrivateRuntime,
}: {
  settings: LoadedConfig;
  usesPrivateRuntime: boolean;
}): string[] {
  const endpoint = settings.file?.config.containerRuntimeEndpoint;
  const unused = `${settings.file?.path}: containerRuntimeEndpoint is ignored: "up" starts its own containerd unless --container-runtime-endpoint is set`;
  return [...settings.warnings, ...(usesPrivateRuntime && endpoint ? [unused] : [])];
}

/** Runs a private runtime, the agent and a live view until a signal stops all of them gracefully. */
export async function up(flags: Flags, parts: UpParts): Promise<void> {
  const prepared = await prepare(flags);
  const { rootDirectory } = prepared.settings.config;
  await assertNoKubelet(rootDirectory);
  const release = await lockRootDirectory(rootDirectory);
  const view = openLiveView(parts.output, prepared.settings.config.logging.format, parts.input);
  const signals = handleStopSignals(() => {
    view.close();
    const { usesPrivateRuntime, simulationReasonText } = prepared;
    view.print(leftRunningText(flags, { usesPrivateRuntime, simulated: simulationReasonText !== undefined }));
  });
  try {
    const hadPods = await runPrepared(prepared, { ...parts, view, stopSignal: signals.stopSignal });
    const runtimeText = hadPods ? ', and so has its containerd' : ' before it was ready';
    view.print(`statelet has stopped${prepared.usesPrivateRuntime ? runtimeText : ''}`);
  } finally {
    view.close();
    signals.close();
    await release();
  }
}

interface RunParts extends UpParts {
  readonly view: LiveView;
  readonly stopSignal: AbortSignal;
}

/** Starts the runtime, runs the node and stops both. Returns whether the node was started on a private runtime. */
async function runPrepared(prepared: Prepared, parts: RunParts): Promise<boolean> {
  const { settings, layout, simulationReasonText, usesPrivateRuntime } = prepared;
  const { view, stopSignal, output, startNode, note } = parts;
  const simulated = simulationReasonText !== undefined;
  if (simulated) view.print(`${simulationReasonText}: the pods run on a simulated runtime, without real containers.`);
  const log = await createViewLogger(view, output, settings.config, simulated);
  for (const warning of configWarnings(prepared)) log.logger.warn(warning);
  const start = { onProgress: (step: string) => view.print(step), stopSignal };
  const starting = usesPrivateRuntime ? parts.startRuntime(layout.containerdDirectory, start) : undefined;
  const runtime = await starting?.catch(ignoreStopReason(stopSignal));
  const config = withRuntime(settings.config, runtime);
  const node = { config, simulated, log, view, stopSignal, startNode, note, restartRuntime: runtime?.restart };
  return withRuntimeStopped(runtime, view, (onStarted) =>
    stopSignal.aborted ? undefined : runNode({ ...node, onStarted, onFailed: () => runtime?.detach() }),
  );
}

/**
 * Runs `work` and always stops the runtime afterwards. Returns whether there is a runtime and `work` called
 * `onStarted`.
 */
async function withRuntimeStopped(
  runtime: PrivateRuntime | undefined,
  view: LiveView,
  work: (onStarted: () => void) => Promise<void> | undefined,
): Promise<boolean> {
  let stopRuntime = runtime?.undo;
  try {
    await work(() => {
      stopRuntime = runtime?.stop;
    });
  } catch (error) {
    view.close();
    await stopRuntime?.().catch((cause: unknown) => {
      view.print(`the private containerd could not be stopped: ${printableLine(messageOf(cause))}`);
    });
    throw error;
  }
  view.close();
  await stopRuntime?.();
  return runtime !== undefined && stopRuntime === runtime.stop;
}

/** Ignores the rejection of a start that was aborted by the stop signal. */
const ignoreStopReason =
  (stopSignal: AbortSignal) =>
  (error: unknown): undefined => {
    if (!stopSignal.aborted || error !== stopSignal.reason) throw error;
  };

/** Describes what keeps running after an immediate stop, and how to stop it. */
function leftRunningText(
  flags: Flags,
  { usesPrivateRuntime, simulated }: { usesPrivateRuntime: boolean; simulated: boolean },
): string {
  if (simulated) return 'statelet has stopped at once\n';
  const pathFlags = (['--state-dir', '--root-dir', '--pod-log-dir'] as const)
    .map((flag) => (flags[flag] === undefined ? '' : ` ${flag} ${shellWord(resolve(flags[flag]))}`))
    .join('');
  if (!usesPrivateRuntime)
    return 'statelet has stopped at once; its pods keep running, for the next "statelet up" to adopt\n';
  return `statelet has stopped at once; its pods and their containerd keep running.
To take them over again: statelet up${pathFlags}
To stop them:            statelet down${pathFlags}
`;
}

/** Quotes a word for a shell. */
const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Creates a log. If it shares a terminal with the live table, it has only warnings unless the verbosity is raised. */
async function createViewLogger(
  view: LiveView,
  output: Output,
  config: NodeConfig,
  simulated: boolean,
): Promise<AgentLog> {
  const { logging } = config;
  if (process.stderr.isTTY !== true || !canDraw(output)) return createLogger({ logging, simulated });
  const quiet = logging.verbosity === 0 ? { level: 'warn' as const } : {};
  const destination = { write: (text: string) => view.print(text) };
  return createLogger({ logging, simulated, isShort: true, destination, ...quiet });
}
