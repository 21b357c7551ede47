/** A device plugin with its own sockets, as the author of a plugin would write it. It shares no code with the node. */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  Client,
  credentials,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';

export interface FakeDevice {
  readonly id: string;
  readonly healthy?: boolean;
  readonly numaNodes?: readonly number[];
}

export interface FakePluginOptions {
  readonly resource: string;
  readonly devices: readonly FakeDevice[];
  readonly preStart?: boolean;
  /** The preferred devices, in order of preference. */
  readonly prefers?: readonly string[];
  /** The path of the device node that a container gets for each device. */
  readonly hostPath?: string;
  /** The kind of the CDI devices. The CDI name of a device is this kind followed by the ID of the device. */
  readonly cdiKind?: string;
  /** A file that is mounted into each container with devices, at the same path. */
  readonly mount?: string;
  /** The error of every allocation. */
  readonly refusal?: string;
  /** The error of each request for the options of the plugin. */
  readonly optionsError?: string;
  /** The error of each request for the devices of the plugin. */
  readonly listError?: string;
  /** Duration of an allocation in milliseconds. */
  readonly allocationMs?: number;
  /** The response to each notification about the registration waits for this promise. */
  readonly notified?: Promise<void>;
  readonly version?: string;
}

/** A call from the node to the plugin. */
export interface PluginCall {
  readonly method: 'Allocate' | 'GetPreferredAllocation' | 'PreStartContainer' | 'ListAndWatch';
  readonly devices: readonly string[];
  readonly mustInclude?: readonly string[];
  readonly size?: number;
}

export interface FakeDevicePlugin {
  readonly calls: PluginCall[];
  /** The notifications from the node about the registration through the plugin registry. */
  readonly notifications: { readonly isRegistered: boolean; readonly error: string }[];
  /** Reports these devices from now on. */
  list(devices: readonly FakeDevice[]): void;
  /** Registers the plugin with the node. Rejects with the error of the node. */
  register(): Promise<void>;
  close(): void;
}

const text = (number: number) => number * 8 + 2;
const done = (writer: BinaryWriter) => Buffer.from(writer.finish());

function encodeDevices(devices: readonly FakeDevice[]): Buffer {
  const writer = new BinaryWriter();
  for (const { id, healthy = true, numaNodes = [] } of devices) {
    writer.uint32(text(1)).fork().uint32(text(1)).string(id);
    writer.uint32(text(2)).string(healthy ? 'Healthy' : 'Unhealthy');
    if (numaNodes.length > 0) {
      writer.uint32(text(3)).fork();
      for (const node of numaNodes) {
        writer.uint32(text(1)).fork();
        // Protobuf omits 0, because it is the default value.
        if (node !== 0) writer.uint32(8).int64(node);
        writer.join();
      }
      writer.join();
    }
    writer.join();
  }
  return done(writer);
}

function encodeAllocation({ resource, hostPath, cdiKind, mount }: FakePluginOptions, devices: readonly string[]) {
  const writer = new BinaryWriter();
  writer.uint32(text(1)).fork();
  writer.uint32(text(1)).fork().uint32(text(1)).string('DEVICES').uint32(text(2)).string(devices.join(',')).join();
  if (mount !== undefined)
    writer
      .uint32(text(2))
      .fork()
      .uint32(text(1))
      .string(mount)
      .uint32(text(2))
      .string(mount)
      .uint32(24)
      .bool(true)
      .join();
  for (const id of hostPath === undefined ? [] : devices) {
    writer.uint32(text(3)).fork().uint32(text(1)).string(`/dev/${id}`);
    writer
      .uint32(text(2))
      .string(hostPath ?? '')
      .uint32(text(3))
      .string('rw')
      .join();
  }
  writer
    .uint32(text(4))
    .fork()
    .uint32(text(1))
    .string(`${resource}.devices`)
    .uint32(text(2))
    .string(devices.join(','))
    .join();
  for (const id of cdiKind === undefined ? [] : devices)
    writer.uint32(text(5)).fork().uint32(text(1)).string(`${cdiKind}=${id}`).join();
  return done(writer.join());
}

/** Returns the strings of a message by field number, and the last integer of each varint field. */
function decode(bytes: Uint8Array): { texts: Map<number, string[]>; numbers: Map<number, number> } {
  const reader = new BinaryReader(bytes);
  const [texts, numbers] = [new Map<number, string[]>(), new Map<number, number>()];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === 2) texts.set(number, [...(texts.get(number) ?? []), reader.string()]);
    else numbers.set(number, reader.uint32());
  }
  return { texts, numbers };
}

/** Returns the first embedded message of a message. */
function first(bytes: Uint8Array): Uint8Array {
  const reader = new BinaryReader(bytes);
  return reader.pos < reader.len && reader.tag() ? reader.bytes() : new Uint8Array();
}

const same = (bytes: Buffer) => bytes;
const method = (name: string, responseStream = false, service = 'v1beta1.DevicePlugin') => ({
  path: `/${service}/${name}`,
  requestStream: false as const,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});

/** Serves a plugin on `socketName` in the directory. `register` registers it with the node. */
export async function startDevicePlugin(
  directory: string,
  options: FakePluginOptions,
  { socketName = 'plugin.sock', onCall = () => {} }: { socketName?: string; onCall?: (call: PluginCall) => void } = {},
): Promise<FakeDevicePlugin> {
  const calls: PluginCall[] = [];
  const recordCall = (call: PluginCall) => {
    calls.push(call);
    onCall(call);
  };
  let { devices } = options;
  const streams = new Set<Parameters<handleServerStreamingCall<Buffer, Buffer>>[0]>();
  const server = new Server();
  const unary =
    (answer: (request: Buffer) => Buffer | Promise<Buffer>): handleUnaryCall<Buffer, Buffer> =>
    ({ request }, callback) =>
      void Promise.resolve()
        .then(() => answer(request))
        .then(
          (bytes) => callback(null, bytes),
          (error: Error) => callback({ code: status.UNKNOWN, details: error.message }),
        );
  const listAndWatch: handleServerStreamingCall<Buffer, Buffer> = (call) => {
    recordCall({ method: 'ListAndWatch', devices: [] });
    if (options.listError !== undefined)
      return void call.emit('error', { code: status.UNKNOWN, details: options.listError });
    streams.add(call);
    call.on('cancelled', () => streams.delete(call));
    call.write(encodeDevices(devices));
  };
  server.addService(
    {
      options: method('GetDevicePluginOptions'),
      watch: method('ListAndWatch', true),
      prefer: method('GetPreferredAllocation'),
      allocate: method('Allocate'),
      preStart: method('PreStartContainer'),
    },
    {
      options: unary(() => {
        if (options.optionsError !== undefined) throw new Error(options.optionsError);
        const writer = new BinaryWriter();
        if (options.preStart) writer.uint32(8).bool(true);
        if (options.prefers !== undefined) writer.uint32(16).bool(true);
        return done(writer);
      }),
      watch: listAndWatch,
      prefer: unary((request) => {
        const { texts, numbers } = decode(first(request));
        const [available = [], mustInclude = [], size = 0] = [texts.get(1), texts.get(2), numbers.get(3)];
        recordCall({ method: 'GetPreferredAllocation', devices: available, mustInclude, size });
        const writer = new BinaryWriter();
        writer.uint32(text(1)).fork();
        for (const id of (options.prefers ?? []).filter((each) => available.includes(each)).slice(0, size))
          writer.uint32(text(1)).string(id);
        return done(writer.join());
      }),
      allocate: unary(async (request) => {
        const ids = decode(first(request)).texts.get(1) ?? [];
        recordCall({ method: 'Allocate', devices: ids });
        if (options.allocationMs !== undefined)
          await new Promise((resolve) => setTimeout(resolve, options.allocationMs));
        if (options.refusal !== undefined) throw new Error(options.refusal);
        return encodeAllocation(options, ids);
      }),
      preStart: unary((request) => {
        recordCall({ method: 'PreStartContainer', devices: decode(request).texts.get(1) ?? [] });
        return Buffer.alloc(0);
      }),
    },
  );
  const notifications: FakeDevicePlugin['notifications'] = [];
  const registration = 'pluginregistration.Registration';
  server.addService(
    { info: method('GetInfo', false, registration), notify: method('NotifyRegistrationStatus', false, registration) },
    {
      // Without an endpoint, the socket itself serves the devices.
      info: unary(() => {
        const writer = new BinaryWriter()
          .uint32(text(1))
          .string('DevicePlugin')
          .uint32(text(2))
          .string(options.resource);
        return done(writer.uint32(text(4)).string(options.version ?? 'v1beta1'));
      }),
      notify: unary(async (status) => {
        const { texts, numbers } = decode(status);
        notifications.push({ isRegistered: numbers.get(1) === 1, error: texts.get(2)?.[0] ?? '' });
        await options.notified;
        return Buffer.alloc(0);
      }),
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${directory}/${socketName}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return {
    calls,
    notifications,
    list: (next) => {
      devices = next;
      for (const stream of streams) stream.write(encodeDevices(next));
    },
    register: () => register(directory, { socketName, ...options }),
    close: () => server.forceShutdown(),
  };
}

function register(
  directory: string,
  { socketName, resource, version = 'v1beta1' }: FakePluginOptions & { socketName: string },
): Promise<void> {
  const client = new Client(`unix:${directory}/kubelet.sock`, credentials.createInsecure());
  const writer = new BinaryWriter();
  writer.uint32(text(1)).string(version).uint32(text(2)).string(socketName).uint32(text(3)).string(resource);
  return new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest('/v1beta1.Registration/Register', same, same, done(writer), (error) => {
      client.close();
      if (error) reject(error);
      else resolve();
    });
  });
}
