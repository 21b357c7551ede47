/** Calls the plugins of DRA drivers over their sockets (`pkg/kubelet/cm/dra/plugin`). */

import type { Clock } from '../../base/time/clock.ts';
import type { CallOptions, CriCall } from '../../cri/client/calls.ts';
import type { Method } from '../../cri/client/method.ts';
import { createUnaryCall, type PacedClient } from '../../cri/client/unaryCall.ts';
import type { RegisteredDriver } from '../../kubernetes/claims/claimState.ts';
import { waitOnce } from '../alarm.ts';
import {
  connectPlugin,
  followConnection,
  pluginErrorCode,
  pluginErrorMessage,
  readStream,
} from '../plugins/pluginClient.ts';
import type { PluginHandler, PluginRegistry } from '../plugins/pluginRegistry.ts';
import type { PluginInfo } from '../plugins/registrationMessages.ts';
import type { ServiceAction } from '../serviceAction.ts';
import { DRIVER_SERVICES, watchResources } from './driverMessages.ts';
import {
  type ClaimReference,
  type ClaimResult,
  type DriverListener,
  type HealthListener,
  type PrepareResult,
  type ResourceDrivers,
  throwNotRegistered,
} from './resourceDrivers.ts';

/** Time limit of a call to a driver (`defaultClientCallTimeout` in `dra_plugin.go`). */
const CALL_TIMEOUT_MS = 45_000;
/** Interval between two attempts to open the stream of health reports. */
const HEALTH_RETRY_MS = 5_000;

interface PluginDriversDependencies {
  readonly registry: PluginRegistry;
  readonly clock: Clock;
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
}

/** A registered plugin of a driver. */
interface DriverPlugin {
  readonly endpoint: string;
  readonly service: string;
  readonly prepare: CriCall<readonly ClaimReference[], readonly PrepareResult[]>;
  readonly unprepare: CriCall<readonly ClaimReference[], readonly ClaimResult[]>;
  isConnected: boolean;
  readonly close: () => void;
}

export class PluginDrivers implements ResourceDrivers {
  readonly #dependencies: PluginDriversDependencies;
  /** Plugins of each driver, in the order in which they registered. */
  readonly #plugins = new Map<string, DriverPlugin[]>();
  #listener: DriverListener | undefined;

  constructor(dependencies: PluginDriversDependencies) {
    this.#dependencies = dependencies;
  }

  async follow(listener: DriverListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    await this.#dependencies.registry.follow('DRAPlugin', this.#handler, signal);
    // A later call may have set its own listener meanwhile, which must not be removed.
    if (this.#listener === listener) this.#listener = undefined;
  }

  requireRegistered(driver: string): void {
    this.#pluginOf(driver);
  }

  async prepare(
    driver: string,
    claims: readonly ClaimReference[],
    options: CallOptions,
  ): Promise<readonly PrepareResult[]> {
    return this.#pluginOf(driver).prepare(claims, options).catch(throwPluginError);
  }

  async unprepare(
    driver: string,
    claims: readonly ClaimReference[],
    options: CallOptions,
  ): Promise<readonly ClaimResult[]> {
    return this.#pluginOf(driver).unprepare(claims, options).catch(throwPluginError);
  }

  /**
   * Returns the driver's most recently registered plugin among those that are connected or, if none is connected, among
   * all of them.
   */
  #pluginOf(driver: string): DriverPlugin {
    const plugins = this.#plugins.get(driver) ?? [];
    return plugins.findLast(({ isConnected }) => isConnected) ?? plugins.at(-1) ?? throwNotRegistered(driver);
  }

  readonly #handler: PluginHandler = {
    validate: (plugin) => void chooseService(plugin),
    register: (plugin) => {
      const { name, endpoint } = plugin;
      const plugins = this.#plugins.get(name) ?? [];
      if (plugins.some((each) => each.endpoint === endpoint))
        throw new Error(`endpoint ${endpoint} already registered for DRA driver plugin ${name}`);
      this.#plugins.set(name, [...plugins, this.#connect(plugin)]);
      this.#reportDrivers();
    },
    deregister: ({ name, endpoint }) => {
      const plugins = this.#plugins.get(name) ?? [];
      const remainingPlugins = plugins.filter((plugin) => plugin.endpoint !== endpoint);
      if (remainingPlugins.length === 0) this.#plugins.delete(name);
      else this.#plugins.set(name, remainingPlugins);
      for (const plugin of plugins) if (plugin.endpoint === endpoint) plugin.close();
      this.#reportDrivers();
    },
  };

  #connect(info: PluginInfo): DriverPlugin {
    const { name, endpoint } = info;
    const service = chooseService(info);
    const methods = DRIVER_SERVICES.get(service);
    if (methods === undefined)
      throw new Error(`internal error: unsupported chosen service: ${JSON.stringify(service)}`);
    const client = connectPlugin(endpoint);
    const closeController = new AbortController();
    const plugin: DriverPlugin = {
      endpoint,
      service,
      prepare: this.#timedCall(client, name, methods.prepare),
      unprepare: this.#timedCall(client, name, methods.unprepare),
      isConnected: false,
      close: () => {
        closeController.abort();
        stopFollowing();
        client.client.close();
      },
    };
    const stopFollowing = followConnection(client, (isConnected) => {
      if (plugin.isConnected === isConnected) return;
      plugin.isConnected = isConnected;
      this.#reportDrivers();
    });
    const healthListener = this.#listener?.health;
    if (healthListener !== undefined)
      void this.#followHealth(client, name, { listener: healthListener, signal: closeController.signal });
    return plugin;
  }

  /** Returns a function that calls a method with a timeout and records the duration of the call. */
  #timedCall<Request, Response>(
    client: PacedClient,
    driver: string,
    method: Method<Request, Response>,
  ): CriCall<Request, Response> {
    const { clock, onServiceAction } = this.#dependencies;
    const call = createUnaryCall(client, method, () => CALL_TIMEOUT_MS);
    return async (request, options) => {
      const startedAt = clock.monotonic();
      const report = (code: string) =>
        onServiceAction?.({
          action: 'driverCalled',
          driver,
          method: method.path,
          code,
          ms: clock.monotonic() - startedAt,
        });
      try {
        const response = await call(request, options);
        report('OK');
        return response;
      } catch (error) {
        report(pluginErrorCode(error));
        throw error;
      }
    };
  }

  /**
   * Watches the health of the driver's devices until the signal aborts. The end of a stream without reports is not a
   * loss, because not every driver reports health.
   */
  async #followHealth(
    client: PacedClient,
    driver: string,
    { listener, signal }: { readonly listener: HealthListener; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock } = this.#dependencies;
    while (!signal.aborted) {
      let hasReported = false;
      await readStream(client, watchResources, signal, (devices) => {
        hasReported = true;
        listener.reported(driver, devices);
      });
      if (hasReported) listener.lost(driver);
      if (!signal.aborted) await waitOnce(clock.now() + HEALTH_RETRY_MS, clock, signal);
    }
  }

  #reportDrivers(): void {
    const drivers = [...this.#plugins].map(
      ([name, plugins]): RegisteredDriver => ({
        name,
        isConnected: plugins.some(({ isConnected }) => isConnected),
        service: this.#pluginOf(name).service,
        endpoints: plugins.map(({ endpoint }) => endpoint),
      }),
    );
    this.#listener?.driversChanged(drivers);
  }
}

/** Returns the first service of the plugin that the node can call. Throws the kubelet's error if there is none. */
function chooseService({ name, endpoint, supportedVersions }: PluginInfo): string {
  const prefix = `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}:`;
  if (supportedVersions.length === 0)
    throw new Error(`${prefix} empty list of supported gRPC services (aka supported versions)`);
  const service = supportedVersions.find((version) => DRIVER_SERVICES.has(version));
  if (service !== undefined) return service;
  const [offered, supported] = [supportedVersions, [...DRIVER_SERVICES.keys()]].map(quotedList);
  throw new Error(
    `${prefix} none of services supported by the plugin (${offered}) are supported by the kubelet (${supported})`,
  );
}

/** Formats strings like Go's `%q`. */
const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

function throwPluginError(cause: unknown): never {
  throw new Error(pluginErrorMessage(cause), { cause });
}
