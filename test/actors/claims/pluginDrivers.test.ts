/** Drivers as real processes, over real sockets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PluginDrivers } from '../../../actors/claims/pluginDrivers.ts';
import type { DeviceHealthReport, DriverListener } from '../../../actors/claims/resourceDrivers.ts';
import { PluginRegistry } from '../../../actors/plugins/pluginRegistry.ts';
import type { ServiceAction } from '../../../actors/serviceAction.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { RegisteredDriver } from '../../../kubernetes/claims/claimState.ts';
import { DraDriver, type DriverBehaviour } from '../../fakes/draDriver/draDriver.ts';

const GPU = 'gpu.example.com';
const claim = (name: string) => ({ namespace: 'default', uid: `uid-${name}`, name });

let root: string;
let controller: AbortController;
let drivers: PluginDrivers;
let registered: readonly RegisteredDriver[];
let health: Record<string, readonly DeviceHealthReport[] | 'lost'>;
let actions: ServiceAction[];
let errors: string[];
let gpu: DraDriver;
let registry: PluginRegistry;
let following: Promise<void>;
let listener: { -readonly [Key in keyof DriverListener]: DriverListener[Key] };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dra-'));
  controller = new AbortController();
  [registered, health, actions, errors] = [[], {}, [], []];
  gpu = new DraDriver(GPU, root);
  registry = new PluginRegistry({
    directory: join(root, 'plugins_registry'),
    files: hostFiles,
    clock: systemClock,
    types: ['DRAPlugin'],
    onError: (error) => void errors.push(String(error)),
  });
  drivers = new PluginDrivers({
    registry,
    clock: systemClock,
    onServiceAction: (action) => void actions.push(action),
  });
  listener = {
    driversChanged: (changed: readonly RegisteredDriver[]) => {
      registered = changed;
    },
    health: {
      reported: (driver: string, devices: readonly DeviceHealthReport[]) =>
        void Object.assign(health, { [driver]: devices }),
      lost: (driver: string) => void Object.assign(health, { [driver]: 'lost' }),
    },
  };
  following = drivers.follow(listener, controller.signal);
});
afterEach(async () => {
  controller.abort();
  await following;
  await gpu.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Polls a condition, because messages over sockets take time. */
async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (isTrue()) return;
    await pause(50);
  }
  throw new Error(`${what} has not happened: ${JSON.stringify({ registered, errors, calls: gpu.calls() })}`);
}

const isConnected = () => registered.some(({ name, isConnected: connected }) => name === GPU && connected);

async function connected(behaviour: DriverBehaviour = {}): Promise<void> {
  await gpu.start(behaviour);
  await until('the connection', isConnected);
}

const options = () => ({ signal: controller.signal });
const prepare = (...names: readonly string[]) => drivers.prepare(GPU, names.map(claim), options());

describe('C50: a DRA driver', () => {
  test('registers over its socket, is notified, and prepares and unprepares claims', async () => {
    await connected({ cdiIds: ['example.com/gpu=0', 'example.com/gpu=1'], requests: ['any'] });
    await until('the notification', () => gpu.calls().length > 0);
    expect(registered).toEqual([{ name: GPU, isConnected: true, service: 'v1.DRAPlugin', endpoints: [gpu.endpoint] }]);
    const device = { poolName: 'pool', requestNames: ['any'], cdiIds: ['example.com/gpu=0', 'example.com/gpu=1'] };
    expect(await prepare('a', 'b')).toEqual([
      { uid: 'uid-a', error: '', devices: [{ ...device, deviceName: 'a', shareId: undefined }] },
      { uid: 'uid-b', error: '', devices: [{ ...device, deviceName: 'b', shareId: undefined }] },
    ]);
    expect(await drivers.unprepare(GPU, [claim('a')], options())).toEqual([{ uid: 'uid-a', error: '' }]);
    expect(gpu.calls()).toEqual([
      { call: 'notify', isRegistered: true, error: '' },
      { call: 'prepare', version: 'v1', claims: ['a', 'b'] },
      { call: 'unprepare', version: 'v1', claims: ['a'] },
    ]);
    expect(actions).toMatchObject([
      { driver: GPU, method: '/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources', code: 'OK' },
      { driver: GPU, method: '/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources', code: 'OK' },
    ]);
  });

  test('is reported to the current listener after an earlier one has ended', async () => {
    controller.abort();
    const ended = following;
    controller = new AbortController();
    following = drivers.follow({ ...listener }, controller.signal);
    await ended;
    await connected();
  });

  test('of an older version is called at the service that it has', async () => {
    await connected({ versions: ['v9.DRAPlugin', 'v1beta1.DRAPlugin'] });
    await prepare('a');
    expect(gpu.calls().at(-1)).toEqual({ call: 'prepare', version: 'v1beta1', claims: ['a'] });
  });

  test('reports errors of claims and of calls, whose status code is measured', async () => {
    await connected({ claimErrors: { a: 'no such device' } });
    expect(await prepare('a')).toMatchObject([{ uid: 'uid-a', error: 'no such device' }]);
    await gpu.behave({ fails: 'out of order' });
    await expect(prepare('a')).rejects.toThrow('rpc error: code = Internal desc = out of order');
    expect(actions.at(-1)).toMatchObject({ code: 'Internal' });
  });

  test('that does not respond is not awaited once the caller aborts', async () => {
    await connected({ hangs: true });
    const abandoned = new AbortController();
    const calling = drivers.prepare(GPU, [claim('a')], { signal: abandoned.signal });
    await until('the call', () => gpu.calls().some(({ call }) => call === 'prepare'));
    abandoned.abort();
    await expect(calling).rejects.toThrow('rpc error: code = Canceled desc = context canceled');
  });

  test.each([
    [{ versions: [] }, 'empty list of supported gRPC services (aka supported versions)'],
    [
      { versions: ['v2.DRAPlugin'] },
      'none of services supported by the plugin (["v2.DRAPlugin"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
    ],
  ])('with the versions %j is refused, and notified of the reason', async (behaviour, reason) => {
    await gpu.start(behaviour);
    await until('the refusal', () => gpu.calls().length > 0);
    const message = `RegisterPlugin error -- plugin validation failed with err: invalid supported gRPC versions of DRA driver plugin ${GPU} at endpoint ${gpu.endpoint}: ${reason}`;
    expect(gpu.calls()[0]).toEqual({ call: 'notify', isRegistered: false, error: message });
    expect(() => drivers.requireRegistered(GPU)).toThrow(`DRA driver ${GPU} is not registered`);
  });

  test('is registered again if its first registration failed', async () => {
    await gpu.start({ versions: [] });
    await until('the refusal', () => gpu.calls().length > 0);
    await gpu.behave({});
    await until('the connection', isConnected);
  });

  test('that fails to describe itself is registered once it does', async () => {
    await gpu.start({ infoError: 'not now' });
    await until('the failure', () => errors.length > 0);
    expect(errors).toEqual([expect.stringContaining('not now')]);
    expect([registered, gpu.calls()]).toEqual([[], []]);
    await gpu.behave({});
    await until('the connection', isConnected);
    expect(await prepare('a')).toHaveLength(1);
  });

  test('that fails to acknowledge its registration is registered again, and not called before that', async () => {
    await gpu.start({ notifyError: 'not now' });
    await until('two attempts', () => gpu.calls().length > 1);
    expect(errors).toEqual([expect.stringContaining('not now')]);
    await until('the withdrawal', () => registry.socketStates().every(({ isAccepted }) => !isAccepted));
    await gpu.behave({});
    await until('the acknowledged registration', () => isConnected() && gpu.calls().length > 2);
    await pause(1_500);
    expect(gpu.calls().slice(0, 2)).toEqual(Array(2).fill({ call: 'notify', isRegistered: true, error: '' }));
    expect(await prepare('a')).toHaveLength(1);
    expect(registry.socketStates()).toMatchObject([{ isAccepted: true }]);
  });

  test.each([
    ['in its own directory', undefined],
    ['among the registration sockets', 'plugins_registry/common.sock'],
  ])('may create the socket of its service %s after its registration', async (_where, socket) => {
    const behaviour = socket === undefined ? {} : { endpoint: join(root, socket) };
    await gpu.start({ ...behaviour, isLate: true });
    await until('the registration', () => registered.length > 0);
    expect(isConnected()).toBe(false);
    await expect(prepare('a')).rejects.toThrow(/^rpc error: code = Unavailable desc = /);
    await gpu.behave(behaviour);
    await until('the connection', isConnected);
    expect(await prepare('a')).toHaveLength(1);
  });

  test('has a single connection for concurrent calls and for the health of its devices', async () => {
    const path = join(root, 'proxy.sock');
    const accepted: Socket[] = [];
    const proxy = createServer((socket) => {
      accepted.push(socket);
      socket.pipe(createConnection(gpu.endpoint)).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(path, resolve));
    try {
      await connected({ announcedEndpoint: path, health: [{ device: 'a', healthStatus: 1 }] });
      await until('the report', () => health[GPU] !== undefined);
      const names = ['a', 'b', 'c'];
      const results = await Promise.all(names.map((name) => prepare(name)));
      expect(results.flat().map(({ uid, error }) => [uid, error])).toEqual(names.map((name) => [`uid-${name}`, '']));
      await gpu.behave({ health: [{ device: 'a', healthStatus: 2 }] });
      await until('the next report', () => Object(health[GPU])[0]?.status === 'Unhealthy');
      await drivers.unprepare(GPU, names.map(claim), options());
      expect(accepted).toHaveLength(1);
      // The driver's process still runs, so only the connection is lost.
      for (const socket of accepted) socket.destroy();
      await until('the loss', () => health[GPU] === 'lost');
      await until('the report over a new connection', () => health[GPU] !== 'lost');
      expect(await prepare('d')).toHaveLength(1);
      expect(accepted).toHaveLength(2);
    } finally {
      for (const socket of accepted) socket.destroy();
      proxy.close();
    }
  });

  test('may prepare several shares of a device for a claim', async () => {
    await connected({ shareIds: ['share-1', 'share-2'], cdiIds: ['example.com/gpu=0'] });
    const [result] = await prepare('a');
    expect(result?.devices.map(({ deviceName, shareId, cdiIds }) => [deviceName, shareId, cdiIds])).toEqual([
      ['a', 'share-1', ['example.com/gpu=0']],
      ['a', 'share-2', ['example.com/gpu=0']],
    ]);
  });

  test('of another type is reported once and not notified, because it may exit if it is refused', async () => {
    await gpu.start({ type: 'CSIPlugin' });
    await until('the report', () => errors.length > 0);
    await pause(2_500);
    const message = `no handler registered for plugin type: CSIPlugin at socket ${gpu.registrationSocket}`;
    expect(errors).toEqual([`Error: RegisterPlugin error -- ${message}`]);
    expect(gpu.calls()).toEqual([]);
  });

  test('that dies stays registered without a connection, and is registered again when it is back', async () => {
    await connected();
    await gpu.stop();
    await until('the loss', () => !isConnected());
    expect(registered).toHaveLength(1);
    await expect(prepare('a')).rejects.toThrow(/^rpc error: code = Unavailable desc = /);
    await connected();
    expect(await prepare('a')).toHaveLength(1);
  });

  test('whose registration socket is removed is not registered any more', async () => {
    await connected();
    await rm(gpu.registrationSocket);
    await until('the end of the registration', () => registered.length === 0);
    await expect(prepare('a')).rejects.toThrow(`DRA driver ${GPU} is not registered`);
  });

  test('is not registered again because the mode of its socket has changed', async () => {
    await connected();
    await until('the notification', () => gpu.calls().length > 0);
    await chmod(gpu.registrationSocket, 0o600);
    await pause(2_500);
    expect(gpu.calls()).toHaveLength(1);
  });

  test('registers from a subdirectory, and not under a hidden name', async () => {
    await gpu.start();
    await until('the registration', () => registered.length === 1);
    const nested = join(root, 'plugins_registry', 'nested');
    await mkdir(nested);
    await rename(gpu.registrationSocket, join(root, 'plugins_registry', '.hidden.sock'));
    await until('the end of the registration', () => registered.length === 0);
    await rename(join(root, 'plugins_registry', '.hidden.sock'), join(nested, 'reg.sock'));
    await until('the registration', () => registered.length === 1);
  });

  test('is registered again, with the health of its devices, if it is followed again at once', async () => {
    await connected({ health: [{ device: 'a', healthStatus: 1 }] });
    await until('the report', () => health[GPU] !== undefined);
    controller.abort();
    controller = new AbortController();
    [registered, health] = [[], {}];
    const stopped = following;
    following = drivers.follow({ ...listener }, controller.signal);
    await stopped;
    await until('the connection', isConnected);
    await until('the next report', () => Array.isArray(health[GPU]));
  });

  test('receives no request for the health of its devices if nothing follows their health', async () => {
    delete listener.health;
    const openStream = jest.spyOn(Client.prototype, 'makeServerStreamRequest');
    await connected({ health: [{ device: 'a', healthStatus: 1 }] });
    await prepare('a');
    expect(openStream).not.toHaveBeenCalled();
    openStream.mockRestore();
  });

  test('reports the health of its devices until it is gone', async () => {
    const reports = [
      { device: 'a', healthStatus: 2, message: 'too hot', timeoutSeconds: 60 },
      { device: 'b', healthStatus: 1 },
    ];
    await connected({ health: reports });
    await until('the report', () => health[GPU] !== undefined);
    expect(health[GPU]).toEqual([
      { poolName: 'pool', deviceName: 'a', status: 'Unhealthy', message: 'too hot', timeoutSeconds: 60 },
      { poolName: 'pool', deviceName: 'b', status: 'Healthy', message: '', timeoutSeconds: 0 },
    ]);
    await gpu.stop();
    await until('the loss', () => health[GPU] === 'lost');
  });
});
