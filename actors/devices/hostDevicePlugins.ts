/**
 * Connects to the device plugins of a host over unix sockets (`pkg/kubelet/cm/devicemanager/plugin/v1beta1`). Plugins
 * register on the socket `kubelet.sock` in the directory of device plugins.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  Client,
  type ClientReadableStream,
  credentials,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { formatRpcError, runtimeFailure } from '../../cri/client/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isExtendedResource } from '../../kubernetes/resources/requests.ts';
import { createAlarm } from '../alarm.ts';
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
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

interface Dependencies {
  readonly directory: string;
  readonly files: FileSystem;
  readonly clock: Clock;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

export class HostDevicePlugins implements DevicePlugins {
  readonly #dependencies: Dependencies;
  /** The connections to the plugins that are registered, by resource. */
  readonly #connections = new Map<string, PluginConnection>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async follow(listener: DevicePluginListener, { signal }: CallOptions): Promise<void> {
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
    for (const connection of this.#connections.values()) connection.close();
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
      this.connect(request.resourceName, socketPath, listener, { signal }).then(
        () => callback(null, Buffer.alloc(0)),
        (error: unknown) => callback({ code: status.UNKNOWN, details: messageOf(error) }),
      );
    };
  }

  /** Connects to a plugin at a socket and follows its devices. Replaces an earlier plugin of the resource. */
  async connect(
    resource: string,
    socketPath: string,
    listener: DevicePluginListener,
    { signal }: CallOptions,
  ): Promise<void> {
    const connection = new PluginConnection(socketPath);
    try {
      await connection.waitUntilReady();
      const options = await connection
        .call('GetDevicePluginOptions', Buffer.alloc(0), messages.decodeOptions, { signal })
        .catch((error: unknown) => {
          throw new Error(`failed to get device plugin options: ${messageOf(error)}`, { cause: error });
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
    void connection
      .followDevices((devices) => {
        if (this.#connections.get(resource) === connection) listener.onDevices(resource, devices);
      })
      .finally(() => this.#disconnect(resource, connection, listener));
  }

  /** Forgets a plugin whose connection is lost, unless another plugin has registered the resource since. */
  #disconnect(resource: string, connection: PluginConnection, listener: DevicePluginListener): void {
    connection.close();
    if (this.#connections.get(resource) !== connection) return;
    this.#connections.delete(resource);
    listener.onDisconnected(resource);
  }

  preferredDevices: DevicePlugins['preferredDevices'] = (resource, request, options) =>
    this.#connectionOf(resource).call(
      'GetPreferredAllocation',
      messages.encodePreferenceRequest(request),
      messages.decodePreferredDevices,
      options,
    );

  allocate: DevicePlugins['allocate'] = async (resource, devices, options) => {
    const edits = await this.#connectionOf(resource).call(
      'Allocate',
      messages.encodeAllocateRequest(devices),
      messages.decodeAllocateResponse,
      options,
    );
    if (edits !== undefined) return edits;
    throw new NodeFailure('RuntimeError', 'no containers return in allocation response');
  };

  preStart: DevicePlugins['preStart'] = async (resource, devices, { signal }) => {
    const connection = this.#connectionOf(resource);
    const timeLimit = startTimeLimit(PRE_START_TIMEOUT_MS);
    const request = messages.encodePreStartRequest(devices);
    await connection
      .call('PreStartContainer', request, (bytes) => bytes, { signal: AbortSignal.any([signal, timeLimit.signal]) })
      .catch((error: unknown) => {
        if (!timeLimit.signal.aborted) throw error;
        throw new NodeFailure(
          'DeadlineExceeded',
          'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
          { cause: error },
        );
      })
      .finally(timeLimit.clear);
  };

  #connectionOf(resource: string): PluginConnection {
    const connection = this.#connections.get(resource);
    if (connection !== undefined) return connection;
    throw new NodeFailure('NotFound', `endpoint for resource ${resource} has been stopped`);
  }
}

/** Returns the kubelet's message about an invalid registration (`Register` in `server.go`). */
function registrationProblem({ version, resourceName }: messages.RegisterRequest): string | undefined {
  if (version !== API_VERSION)
    return `requested API version "${version}" is not supported by kubelet. Supported version is ["${API_VERSION}"]`;
  return isExtendedResource(resourceName) && isQualifiedForQuota(resourceName)
    ? undefined
    : `the ResourceName "${resourceName}" is invalid`;
}

/** Whether a quota can name the resource (`IsExtendedResourceName` in `pkg/apis/core/v1/helper/helpers.go`). */
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

/** The gRPC connection to one plugin. */
class PluginConnection {
  readonly #client: Client;

  constructor(socketPath: string) {
    this.#client = new Client(`unix:${socketPath}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.default_authority': 'localhost',
      // A plugin that has gone must register again, so its lost connection is not re-established.
      'grpc.enable_retries': 0,
      'grpc.enable_channelz': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  /** Rejects if the plugin does not accept the connection in time. */
  async waitUntilReady(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timeLimit = startTimeLimit(CONNECT_TIMEOUT_MS);
    timeLimit.signal.addEventListener('abort', () => reject(new Error('context deadline exceeded')));
    this.#client.waitForReady(Number.POSITIVE_INFINITY, (error) => (error ? reject(error) : resolve()));
    await promise.finally(timeLimit.clear);
  }

  call<Response>(
    method: string,
    request: Buffer,
    decode: (bytes: Buffer) => Response,
    { signal }: CallOptions,
  ): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const call = this.#client.makeUnaryRequest(
      methodPath(method),
      (bytes: Buffer) => bytes,
      decode,
      request,
      (error: ServiceError | null, response?: Response) => {
        signal.removeEventListener('abort', cancel);
        if (error) reject(pluginFailure(method, error));
        // Safe cast: without an error there is a response, which may itself be undefined.
        else resolve(response as Response);
      },
    );
    const cancel = () => call.cancel();
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    return promise;
  }

  /** Calls `ListAndWatch`. Resolves when the stream ends or breaks. */
  followDevices(onDevices: (devices: ReturnType<typeof messages.decodeDevices>) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stream: ClientReadableStream<ReturnType<typeof messages.decodeDevices>> =
      this.#client.makeServerStreamRequest(
        methodPath('ListAndWatch'),
        (bytes: Buffer) => bytes,
        messages.decodeDevices,
        Buffer.alloc(0),
      );
    stream.on('data', onDevices);
    stream.on('error', () => resolve());
    stream.on('end', () => resolve());
    return promise;
  }

  close(): void {
    this.#client.close();
  }
}

const methodPath = (method: string): string => `/v1beta1.DevicePlugin/${method}`;

/** Returns a failure whose message is the plugin's error in the format of Go's gRPC. */
function pluginFailure(method: string, error: ServiceError): NodeFailure {
  const failure = runtimeFailure(method, error);
  return new NodeFailure(failure.reason, formatRpcError(failure), { cause: error });
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
