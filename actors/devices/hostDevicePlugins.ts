/**
 * Connects to the device plugins of a host over unix sockets (`pkg/kubelet/cm/devicemanager/plugin/v1beta1`). A plugin
 * registers either on the socket `kubelet.sock` in the device plugin directory or by creating its own socket in the
 * plugin registry directory.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Method } from '../../cri/client/method.ts';
import { createUnaryCall, type PacedClient } from '../../cri/client/unaryCall.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isExtendedResource } from '../../kubernetes/resources/requests.ts';
import { createAlarm } from '../alarm.ts';
import { connectPlugin, pluginErrorMessage, readStream, waitUntilConnected } from '../plugins/pluginClient.ts';
import type { PluginHandler, PluginRegistry } from '../plugins/pluginRegistry.ts';
import { CHECKPOINT_NAME } from './deviceManagerState.ts';
import type { DevicePluginListener, DevicePlugins } from './devicePlugins.ts';
import * as messages from './pluginMessages.ts';

const SOCKET_NAME = 'kubelet.sock';
const API_VERSION = 'v1beta1';
/** Time limit for the connection to a plugin (`dial` in `client.go`), in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Time limit of `PreStartContainer` (`KubeletPreStartContainerRPCTimeoutInSecs`), in milliseconds. */
const PRE_START_TIMEOUT_MS = 30_000;
/** Interval between two attempts to listen on the registration socket, in milliseconds. */
const LISTEN_RETRY_MS = 5_000;
/** Maximum size of a registration request, in bytes. */
const MAX_REQUEST_BYTES = 65_536;

interface Dependencies {
  readonly directory: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly registry: PluginRegistry;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

interface PluginConnection {
  readonly socketPath: string;
  readonly listener: DevicePluginListener;
  readonly client: PacedClient;
  readonly close: () => void;
}

export class HostDevicePlugins implements DevicePlugins {
  readonly #dependencies: Dependencies;
  /** The connections to the plugins that are registered, by resource. */
  readonly #connections = new Map<string, PluginConnection>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async follow(listener: DevicePluginListener, { signal }: CallOptions): Promise<void> {
    const handler = this.#registryHandler(listener, signal);
    await Promise.all([
      this.#serve(listener, signal),
      this.#dependencies.registry.follow('DevicePlugin', handler, signal),
    ]);
    // Close only the connections of this call, because a later call may have its own.
    for (const connection of this.#connections.values()) if (connection.listener === listener) connection.close();
  }

  /** Serves registrations on `kubelet.sock` until the signal aborts. */
  async #serve(listener: DevicePluginListener, signal: AbortSignal): Promise<void> {
    const { clock } = this.#dependencies;
    const alarm = createAlarm(clock, signal);
    let server: Server | undefined;
    while (server === undefined && !signal.aborted) {
      try {
        server = await this.#listen(listener, signal);
        listener.onProblem(undefined);
      } catch (error) {
        listener.onProblem(messageOf(error));
        await alarm.waitUntil(clock.now() + LISTEN_RETRY_MS);
      }
    }
    while (!signal.aborted) await alarm.waitUntil(Number.MAX_SAFE_INTEGER);
    server?.forceShutdown();
  }

  /**
   * Listens on the registration socket. First removes all sockets in the directory, because plugins register again when
   * their socket is gone (`CleanupPluginDirectory` in `manager.go`). Rejects if another agent listens there.
   */
  async #listen(listener: DevicePluginListener, signal: AbortSignal): Promise<Server> {
    const { directory, files } = this.#dependencies;
    const path = join(directory, SOCKET_NAME);
    await files.mkdir(directory, { recursive: true, mode: 0o750 });
    if (await isListening(path)) throw new NodeFailure('AddressUnusable', `${path} is in use by another process`);
    await this.#removeSockets();
    const server = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES });
    server.addService(REGISTRATION_SERVICE, { register: this.#registrationHandler(listener, signal) });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
    await promise;
    return server;
  }

  async #removeSockets(): Promise<void> {
    const { directory, files } = this.#dependencies;
    for (const name of await files.readdir(directory)) {
      const path = join(directory, name);
      if (name === CHECKPOINT_NAME) continue;
      const stats = await files.lstat(path).catch(() => undefined);
      if (stats?.isSocket())
        await files.unlink(path).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
    }
  }

  #registrationHandler(
    listener: DevicePluginListener,
    signal: AbortSignal,
  ): handleUnaryCall<messages.RegisterRequest, Buffer> {
    return ({ request }, callback) => {
      listener.onRegistration(request.resourceName);
      const problem = registrationProblem(request);
      if (problem !== undefined) return callback({ code: status.UNKNOWN, details: problem });
      const socketPath = join(this.#dependencies.directory, request.endpoint);
      this.#connect(request.resourceName, socketPath, listener, signal).then(
        () => callback(null, Buffer.alloc(0)),
        (error: unknown) => callback({ code: status.UNKNOWN, details: messageOf(error) }),
      );
    };
  }

  /** Returns the handler for device plugins that the plugin registry finds (`handler.go`). */
  #registryHandler(listener: DevicePluginListener, signal: AbortSignal): PluginHandler {
    return {
      validate: ({ name, supportedVersions }) => {
        if (!supportedVersions.includes(API_VERSION))
          throw new Error(
            `manager version, ${API_VERSION}, is not among plugin supported versions [${supportedVersions.join(' ')}]`,
          );
        const problem = resourceNameProblem(name);
        if (problem !== undefined) throw new Error(`invalid name of device plugin socket: ${problem}`);
      },
      register: ({ name, endpoint }) => this.#connect(name, endpoint, listener, signal),
      deregister: ({ name, endpoint }) => {
        const connection = this.#connections.get(name);
        if (connection?.socketPath === endpoint) this.#disconnect(name, connection, listener);
      },
    };
  }

  /** Connects to a plugin's socket and watches its devices. Replaces any earlier plugin for the same resource. */
  async #connect(
    resource: string,
    socketPath: string,
    listener: DevicePluginListener,
    signal: AbortSignal,
  ): Promise<void> {
    const client = connectPlugin(socketPath);
    const closeController = new AbortController();
    const connection: PluginConnection = {
      socketPath,
      listener,
      client,
      close: () => {
        closeController.abort();
        client.client.close();
      },
    };
    try {
      await waitUntilConnected(client, CONNECT_TIMEOUT_MS).catch((cause: unknown) => {
        throw new Error(`failed to dial device plugin: ${messageOf(cause)}`, { cause });
      });
      const options = await callPlugin(client, messages.getOptions, {}, { signal }).catch((cause: unknown) => {
        throw new Error(`failed to get device plugin options: ${messageOf(cause)}`, { cause });
      });
      signal.throwIfAborted();
      const previousConnection = this.#connections.get(resource);
      this.#connections.set(resource, connection);
      previousConnection?.close();
      listener.onConnected(resource, options);
    } catch (error) {
      connection.close();
      throw error;
    }
    // A plugin whose stream has ended must register again, so its lost connection is not re-established.
    void readStream(client, messages.listAndWatch, closeController.signal, (devices) => {
      if (this.#connections.get(resource) === connection) listener.onDevices(resource, devices);
    }).finally(() => this.#disconnect(resource, connection, listener));
  }

  /** Forgets a plugin whose connection is lost, unless another plugin has registered the resource since. */
  #disconnect(resource: string, connection: PluginConnection, listener: DevicePluginListener): void {
    connection.close();
    if (this.#connections.get(resource) !== connection) return;
    this.#connections.delete(resource);
    listener.onDisconnected(resource);
  }

  preferredDevices: DevicePlugins['preferredDevices'] = async (resource, request, options) =>
    callPlugin(this.#clientOf(resource), messages.getPreferredAllocation, request, options);

  allocate: DevicePlugins['allocate'] = async (resource, devices, options) => {
    const [edits] = await callPlugin(this.#clientOf(resource), messages.allocate, devices, options);
    if (edits !== undefined) return edits;
    throw new NodeFailure('RuntimeError', 'no containers return in allocation response');
  };

  preStart: DevicePlugins['preStart'] = async (resource, devices, { signal }) => {
    const options = { signal, timeoutMs: PRE_START_TIMEOUT_MS };
    await callPlugin(this.#clientOf(resource), messages.preStartContainer, devices, options);
  };

  #clientOf(resource: string): PacedClient {
    const connection = this.#connections.get(resource);
    if (connection !== undefined) return connection.client;
    throw new NodeFailure('NotFound', `endpoint for resource ${resource} has been stopped`);
  }
}

/** Calls a plugin. Rejects with a failure whose message is the error of the plugin as Go's gRPC library formats it. */
async function callPlugin<Request, Response>(
  client: PacedClient,
  method: Method<Request, Response>,
  request: Request,
  options: CallOptions & { readonly timeoutMs?: number },
): Promise<Response> {
  const call = createUnaryCall(client, method, () => undefined);
  return call(request, options).catch((cause: unknown) => {
    const reason = cause instanceof NodeFailure ? cause.reason : 'RuntimeError';
    throw new NodeFailure(reason, pluginErrorMessage(cause), { cause });
  });
}

/** Returns the kubelet's message about an invalid registration (`Register` in `server.go`). */
function registrationProblem({ version, resourceName }: messages.RegisterRequest): string | undefined {
  if (version !== API_VERSION)
    return `requested API version "${version}" is not supported by kubelet. Supported version is ["${API_VERSION}"]`;
  return resourceNameProblem(resourceName);
}

const resourceNameProblem = (resourceName: string): string | undefined =>
  isExtendedResource(resourceName) && isQualifiedForQuota(resourceName)
    ? undefined
    : `the ResourceName "${resourceName}" is invalid`;

/**
 * Whether the resource name is valid in a resource quota (`IsExtendedResourceName` in
 * `pkg/apis/core/v1/helper/helpers.go`).
 */
function isQualifiedForQuota(resourceName: string): boolean {
  const [domain = '', name = '', ...rest] = `requests.${resourceName}`.split('/');
  if (rest.length > 0 || domain.length > 253 || name.length > 63) return false;
  const isDomain = domain.split('.').every((label) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(label));
  return isDomain && /^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/.test(name);
}

/** Whether a process accepts connections on a socket. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

const REGISTRATION_SERVICE = {
  register: {
    path: '/v1beta1.Registration/Register',
    requestStream: false,
    responseStream: false,
    requestDeserialize: messages.decodeRegisterRequest,
    responseSerialize: (bytes: Buffer) => bytes,
    // The type requires these functions, but only clients call them.
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: (bytes: Buffer) => bytes,
  },
} as const;
