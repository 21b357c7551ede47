/**
 * Registers the plugins whose sockets appear in the directory `plugins_registry` below the root directory
 * (`pkg/kubelet/pluginmanager`).
 */
import { join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { createUnaryCall, type PacedClient } from '../../cri/client/unaryCall.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { waitOnce } from '../alarm.ts';
import { connectPlugin, pluginErrorMessage } from './pluginClient.ts';
import { getInfo, notifyRegistrationStatus, type PluginInfo } from './registrationMessages.ts';

/** Interval between two scans of the directory (`loopSleepDuration` in `plugin_manager.go`). */
const SCAN_INTERVAL_MS = 1_000;
const GET_INFO_TIMEOUT_MS = 1_000;
const NOTIFY_TIMEOUT_MS = 5_000;
/** Delays between two attempts to register a plugin (`util/goroutinemap/exponentialbackoff`). */
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [500, 122_000];
/** Mode of the directory, in which plugins create their sockets. */
const DIRECTORY_MODE = 0o755;

/** Handles the registration of plugins of one type. */
export interface PluginHandler {
  /** Throws an error if the plugin cannot be used. */
  validate(plugin: PluginInfo): void;
  /** Throws an error or rejects if the plugin cannot be registered. */
  register(plugin: PluginInfo): void | Promise<void>;
  deregister(plugin: Pick<PluginInfo, 'name' | 'endpoint'>): void;
}

interface PluginRegistryDependencies {
  readonly directory: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** The plugin types that the node supports. No plugin is registered until each type has a handler. */
  readonly types: readonly string[];
  readonly onError: (error: unknown) => void;
}

/** The state of a socket, for the metrics. */
export interface PluginSocketState {
  readonly socketPath: string;
  /** Whether a handler has accepted the plugin, so that it is registered or is being registered. */
  readonly isAccepted: boolean;
}

type ScanDependencies = Omit<PluginRegistryDependencies, 'types'> & {
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** Keyed by path. */
  readonly sockets: Map<string, PluginSocket>;
};

/** A socket in the directory and the progress of its registration. */
interface PluginSocket {
  /** Identifies the socket, because another plugin may have created a new one at the same path. */
  readonly identity: string;
  registration?: { readonly plugin: PluginInfo; readonly handler: PluginHandler };
  isPending: boolean;
  /** Whether the plugin is valid, and its registration has not failed since. */
  isAccepted: boolean;
  failureCount: number;
  retryAt: number;
}

/** A call of `follow`. */
interface Follower {
  readonly handler: PluginHandler;
  readonly signal: AbortSignal;
  /** The latest scans with this handler. Undefined if no scan has started. */
  scans?: Promise<void>;
}

export class PluginRegistry {
  readonly #dependencies: PluginRegistryDependencies;
  /** The last follower of each plugin type. No scan runs once the signal of any follower has aborted. */
  readonly #followers = new Map<string, Follower>();
  readonly #sockets = new Map<string, PluginSocket>();
  /** Resolves when the scans have stopped and the plugins have been deregistered. */
  #scans: Promise<void> = Promise.resolve();

  constructor(dependencies: PluginRegistryDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Handles the plugins of one type until the signal aborts, which deregisters the plugins of all types. No plugin is
   * registered until all types have handlers, because a plugin may exit if its registration is refused. A type whose
   * signal has aborted can be followed again, even before the first call has resolved.
   */
  async follow(type: string, handler: PluginHandler, signal: AbortSignal): Promise<void> {
    const { clock, types } = this.#dependencies;
    const follower: Follower = { handler, signal };
    this.#followers.set(type, follower);
    if (types.every((each) => this.#followers.has(each))) this.#startScans();
    await waitOnce(Number.MAX_SAFE_INTEGER, clock, signal);
    // Do not wait for scans that started later, for a new follower of the type.
    await follower.scans;
  }

  /** Returns the state of each socket in the directory. */
  socketStates(): PluginSocketState[] {
    return [...this.#sockets].map(([socketPath, { isAccepted }]) => ({ socketPath, isAccepted }));
  }

  /** Starts the scans with the current handlers, after the plugins of earlier handlers have been deregistered. */
  #startScans(): void {
    const handlers = new Map([...this.#followers].map(([type, { handler }]) => [type, handler]));
    const signal = AbortSignal.any([...this.#followers.values()].map((each) => each.signal));
    this.#scans = this.#scans.then(() =>
      followPlugins({ ...this.#dependencies, handlers, sockets: this.#sockets }, signal),
    );
    for (const follower of this.#followers.values()) follower.scans = this.#scans;
  }
}

/** Watches the directory until the signal aborts. Creates the directory if it does not exist. */
async function followPlugins(dependencies: ScanDependencies, signal: AbortSignal): Promise<void> {
  const { directory, files, clock, sockets, onError } = dependencies;
  let lastProblem = '';
  while (!signal.aborted) {
    try {
      await files.mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
      const identities = await findSockets(files, directory);
      if (signal.aborted) break;
      updateSockets(dependencies, identities, signal);
      lastProblem = '';
    } catch (error) {
      // Report a lasting problem only once.
      if (messageOf(error) !== lastProblem) onError(error);
      lastProblem = messageOf(error);
    }
    if (!signal.aborted) await waitOnce(clock.now() + SCAN_INTERVAL_MS, clock, signal);
  }
  for (const socket of sockets.values()) deregister(socket);
  sockets.clear();
}

/** Returns the identities of the sockets in a directory and its subdirectories, by path. */
async function findSockets(files: FileSystem, directory: string): Promise<Map<string, string>> {
  const identities = new Map<string, string>();
  for (const entry of await files.entries(directory)) {
    if (entry.name.startsWith('.')) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      for (const [nested, identity] of await findSockets(files, path)) identities.set(nested, identity);
    else {
      const stats = await files.lstat(path).catch(ignoreMissing);
      // Use mtime and not ctime, because ctime also changes with the mode.
      if (stats?.isSocket()) identities.set(path, `${stats.dev}:${stats.ino}:${stats.mtimeMs}`);
    }
  }
  return identities;
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Deregisters the plugins whose sockets are gone, and starts the registration of new ones. */
function updateSockets(
  dependencies: ScanDependencies,
  identities: ReadonlyMap<string, string>,
  signal: AbortSignal,
): void {
  const { sockets } = dependencies;
  for (const [path, socket] of sockets) {
    if (identities.get(path) === socket.identity) continue;
    sockets.delete(path);
    deregister(socket);
  }
  for (const [path, identity] of identities) {
    const socket = sockets.get(path) ?? {
      identity,
      isPending: false,
      isAccepted: false,
      failureCount: 0,
      retryAt: 0,
    };
    sockets.set(path, socket);
    const isDue = dependencies.clock.now() >= socket.retryAt;
    if (socket.registration !== undefined || socket.isPending || !isDue) continue;
    const isCurrent = () => !signal.aborted && sockets.get(path) === socket;
    void registerSocket(dependencies, path, { socket, isCurrent, signal });
  }
}

interface RegistrationAttempt {
  readonly socket: PluginSocket;
  /** Whether the socket still exists. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

async function registerSocket(
  { handlers, clock, onError }: ScanDependencies,
  path: string,
  { socket, isCurrent, signal }: RegistrationAttempt,
): Promise<void> {
  socket.isPending = true;
  const client = connectPlugin(path);
  try {
    const plugin = await readPluginInfo(client, path, signal);
    if (!isCurrent()) return;
    const handler = handlers.get(plugin.type);
    // Do not notify a plugin of an unhandled type, because a plugin may exit if its registration is refused.
    if (handler === undefined)
      throw new Error(
        `RegisterPlugin error -- no handler registered for plugin type: ${plugin.type} at socket ${path}`,
      );
    let refusal = validationProblem(plugin, handler);
    if (refusal === undefined) {
      socket.isAccepted = true;
      refusal = await registerWithHandler(plugin, handler);
    }
    if (!isCurrent()) {
      if (refusal === undefined) handler.deregister(plugin);
      return;
    }
    if (refusal !== undefined) {
      socket.isAccepted = false;
      await notifyPlugin(client, refusal, signal);
      throw new Error(refusal);
    }
    socket.registration = { plugin, handler };
    await notifyPlugin(client, '', signal).catch((error) => {
      deregister(socket);
      throw error;
    });
    socket.failureCount = 0;
  } catch (error) {
    if (!isCurrent()) return;
    if (socket.failureCount === 0) onError(error);
    socket.retryAt = clock.now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** socket.failureCount);
    socket.failureCount += 1;
  } finally {
    socket.isPending = false;
    client.client.close();
  }
}

/** Deregisters the plugin of a socket. Does nothing if it is not registered, or has been deregistered meanwhile. */
function deregister(socket: PluginSocket): void {
  const { registration } = socket;
  delete socket.registration;
  socket.isAccepted = false;
  registration?.handler.deregister(registration.plugin);
}

/** Returns the reason in the kubelet's words if the plugin cannot be used. */
function validationProblem(plugin: PluginInfo, handler: PluginHandler): string | undefined {
  try {
    handler.validate(plugin);
    return undefined;
  } catch (error) {
    return `RegisterPlugin error -- plugin validation failed with err: ${messageOf(error)}`;
  }
}

/** Registers the plugin with its handler. If that fails, returns the reason in the kubelet's words. */
async function registerWithHandler(plugin: PluginInfo, handler: PluginHandler): Promise<string | undefined> {
  try {
    await handler.register(plugin);
    return undefined;
  } catch (error) {
    return `RegisterPlugin error -- plugin registration failed with err: ${messageOf(error)}`;
  }
}

async function readPluginInfo(client: PacedClient, path: string, signal: AbortSignal): Promise<PluginInfo> {
  const call = createUnaryCall(client, getInfo, () => GET_INFO_TIMEOUT_MS);
  const plugin = await call({}, { signal }).catch((cause: unknown) => {
    const message = `RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket ${path}, err: ${pluginErrorMessage(cause)}`;
    throw new Error(message, { cause });
  });
  return plugin.endpoint === '' ? { ...plugin, endpoint: path } : plugin;
}

async function notifyPlugin(client: PacedClient, error: string, signal: AbortSignal): Promise<void> {
  const call = createUnaryCall(client, notifyRegistrationStatus, () => NOTIFY_TIMEOUT_MS);
  await call({ isRegistered: error === '', error }, { signal });
}
