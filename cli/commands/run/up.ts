import { join, resolve } from 'node:path';
import { messageOf } from '../../../base/failure.ts';
import { printableLine } from '../../../base/text/printable.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type LoadedConfig, loadConfig } from '../../../node/config/loadConfig.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import type { Flags } from '../../../node/config/settings/allSettings.ts';
import { defaultStateDirectory, packageDirectory, stateLayout } from '../../../node/host/paths.ts';
import { type AgentLog, createLogger } from '../../../node/log/logger.ts';
import { serveNode } from '../../../node/serve/serveNode.ts';
import { lockRootDirectory } from '../../../node/start/checks/lock.ts';
import { assertNoKubelet } from '../../../node/start/checks/runningKubelets.ts';
import type { StartNode } from '../../../node/start/startNode.ts';
import { checkSocketPath, socketPath } from '../../../socket/socketPath.ts';
import { canDraw, openLiveView } from '../../terminal/liveTable.ts';
import type { LiveView, Output } from '../../terminal/liveView.ts';
import { handleStopSignals, untilStopRequested } from '../../terminal/signals.ts';
import type { Input } from '../../terminal/table/keyboard.ts';
import { drainWithTimeout } from './drain.ts';

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

interface RuntimeStartOptions {
  /** Called with a short sentence for each step. */
  readonly onProgress: (step: string) => void;
  /** Aborts the start, which then rejects with the signal's reason. */
  readonly stopSignal: AbortSignal;
  /** Whether the runtime is started only to terminate its pods. */
  readonly terminatesPods?: boolean;
}

/** Dependencies of `up`, which tests replace. */
export interface UpDependencies {
  readonly startNode: StartNode;
  /** Starts a private runtime. A failed or aborted start leaves nothing behind. */
  startRuntime(directory: string, start: RuntimeStartOptions): Promise<PrivateRuntime>;
  readonly output: Output;
  readonly input?: Input;
  /** Text to print above the table. */
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
  isSimulated: boolean;
  log: AgentLog;
  view: LiveView;
  stopSignal: AbortSignal;
  startNode: StartNode;
  restartRuntime: ((why: string) => void) | undefined;
  note: string | undefined;
  onStarted: () => void;
  onFailed: () => void;
}): Promise<void> {
  const { config, isSimulated, log, view, stopSignal, startNode, restartRuntime, note, onStarted, onFailed } = node;
  const {
    agent,
    drain,
    stop,
    createInspected,
    agentFailure: nodeFailure,
  } = await startNode({ config, isSimulated, ...log, restartRuntime });
  const failurePromise = nodeFailure.catch((error: unknown) => {
    // The pods of a failed agent keep running, so their runtime must keep running too, until the next `up` adopts both.
    onFailed();
    throw error;
  });
  // Avoid an unhandled rejection. The races below observe the failure.
  failurePromise.catch(() => {});
  const onPage = (url: string) => view.showPage(url);
  const socket = await serveNode(
    { agent, stop, ...(createInspected ? { createInspected } : {}) },
    { config, logger: log.logger, onPage },
  );
  onStarted();
  view.follow(agent);
  if (note) view.print(printableLine(note));
  try {
    await Promise.race([untilStopRequested(stopSignal), failurePromise]);
    view.print(
      `${String(stopSignal.reason)}: terminating all pods; another signal stops at once and leaves them running`,
    );
    const drainPromise = drainWithTimeout({
      pods: agent.pods(),
      drain,
      clock: systemClock,
      print: (text) => view.print(text),
    });
    await Promise.race([drainPromise, failurePromise]);
  } finally {
    await socket.close();
    await stop();
  }
}

type PreparedUp = Awaited<ReturnType<typeof prepareUp>>;

async function prepareUp(flags: Flags) {
  const stateDirectory = resolve(flags['--state-dir'] ?? defaultStateDirectory());
  const layout = stateLayout(stateDirectory);
  const hasExplicitEndpoint = flags['--container-runtime-endpoint'] !== undefined;
  const simulationReasonText = hasExplicitEndpoint ? undefined : simulationReason();
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
    usesPrivateRuntime: !hasExplicitEndpoint && simulationReasonText === undefined,
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
  const unusedEndpointWarning = `${settings.file?.path}: containerRuntimeEndpoint is ignored: "up" starts its own containerd unless --container-runtime-endpoint is set`;
  return [...settings.warnings, ...(usesPrivateRuntime && endpoint ? [unusedEndpointWarning] : [])];
}

/** Runs a private runtime, the agent and a live view until a signal stops all of them gracefully. */
export async function up(flags: Flags, dependencies: UpDependencies): Promise<void> {
  const preparedUp = await prepareUp(flags);
  const { rootDirectory } = preparedUp.settings.config;
  await assertNoKubelet(rootDirectory);
  const releaseLock = await lockRootDirectory(rootDirectory);
  const view = openLiveView(dependencies.output, preparedUp.settings.config.logging.format, dependencies.input);
  const signals = handleStopSignals(() => {
    view.close();
    const { usesPrivateRuntime, simulationReasonText } = preparedUp;
    view.print(leftRunningText(flags, { usesPrivateRuntime, simulated: simulationReasonText !== undefined }));
  });
  try {
    const startedOnPrivateRuntime = await runPreparedUp(preparedUp, {
      ...dependencies,
      view,
      stopSignal: signals.stopSignal,
    });
    const runtimeText = startedOnPrivateRuntime ? ', and so has its containerd' : ' before it was ready';
    view.print(`statelet has stopped${preparedUp.usesPrivateRuntime ? runtimeText : ''}`);
  } finally {
    view.close();
    signals.close();
    await releaseLock();
  }
}

interface RunDependencies extends UpDependencies {
  readonly view: LiveView;
  readonly stopSignal: AbortSignal;
}

/** Starts the runtime, runs the node and stops both. Returns whether the node was started on a private runtime. */
async function runPreparedUp(preparedUp: PreparedUp, dependencies: RunDependencies): Promise<boolean> {
  const { settings, layout, simulationReasonText, usesPrivateRuntime } = preparedUp;
  const { view, stopSignal, output, startNode, note } = dependencies;
  const isSimulated = simulationReasonText !== undefined;
  if (isSimulated) view.print(`${simulationReasonText}: the pods run on a simulated runtime, without real containers.`);
  const log = await createViewLogger(view, output, settings.config, isSimulated);
  for (const warning of configWarnings(preparedUp)) log.logger.warn(warning);
  const startOptions = { onProgress: (step: string) => view.print(step), stopSignal };
  const runtimeStart = usesPrivateRuntime
    ? dependencies.startRuntime(layout.containerdDirectory, startOptions)
    : undefined;
  const runtime = await runtimeStart?.catch(ignoreStopReason(stopSignal));
  const config = withRuntime(settings.config, runtime);
  const node = { config, isSimulated, log, view, stopSignal, startNode, note, restartRuntime: runtime?.restart };
  return runThenStopRuntime(runtime, view, (onStarted) =>
    stopSignal.aborted ? undefined : runNode({ ...node, onStarted, onFailed: () => runtime?.detach() }),
  );
}

/**
 * Runs `work` and always stops the runtime afterwards. Returns whether there is a runtime and `work` called
 * `onStarted`.
 */
async function runThenStopRuntime(
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
    .map((flag) => (flags[flag] === undefined ? '' : ` ${flag} ${quoteShellWord(resolve(flags[flag]))}`))
    .join('');
  if (!usesPrivateRuntime)
    return 'statelet has stopped at once; its pods keep running, for the next "statelet up" to adopt\n';
  return `statelet has stopped at once; its pods and their containerd keep running.
To take them over again: statelet up${pathFlags}
To stop them:            statelet down${pathFlags}
`;
}

/** Quotes a word unless all of its characters are harmless in a shell. */
const quoteShellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Creates the logger. If the log shares a terminal with the live table, only warnings are logged unless the verbosity
 * is raised.
 */
async function createViewLogger(
  view: LiveView,
  output: Output,
  config: NodeConfig,
  isSimulated: boolean,
): Promise<AgentLog> {
  const { logging } = config;
  if (process.stderr.isTTY !== true || !canDraw(output)) return createLogger({ logging, isSimulated });
  const quietOptions = logging.verbosity === 0 ? { level: 'warn' as const } : {};
  const destination = { write: (text: string) => view.print(text) };
  return createLogger({ logging, isSimulated, usesShortFormat: true, destination, ...quietOptions });
}
