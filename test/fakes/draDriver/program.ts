/**
 * A DRA driver as a separate process, which registers over real sockets. Arguments: its name, the directory
 * `plugins_registry`, and its own directory, in which it reads its behaviour from `behaviour.json` at each call and
 * appends its calls to `calls.jsonl`.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js';
import type { DriverBehaviour } from './draDriver.ts';

const [name = '', registryDirectory = '', directory = ''] = process.argv.slice(2);

const behaviour = (): DriverBehaviour => {
  const path = join(directory, 'behaviour.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
};

const { endpoint = join(directory, 'dra.sock') } = behaviour();

const record = (call: object) => appendFileSync(join(directory, 'calls.jsonl'), `${JSON.stringify(call)}\n`);

type Claim = Readonly<Record<'namespace' | 'uid' | 'name', string>>;

/** Returns the fields of a message that are strings or messages, in order. */
function fieldsOf(bytes: Uint8Array): [number: number, value: Uint8Array][] {
  const reader = new BinaryReader(bytes);
  const fields: [number, Uint8Array][] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === 2) fields.push([number, reader.bytes()]);
    else reader.skip(wireType, number);
  }
  return fields;
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

function decodeClaims(bytes: Uint8Array): Claim[] {
  return fieldsOf(bytes).map(([, claim]) => {
    const fields = new Map(fieldsOf(claim));
    return { namespace: text(fields.get(1)), uid: text(fields.get(2)), name: text(fields.get(3)) };
  });
}

const message = (write: (writer: BinaryWriter) => void): Buffer => {
  const writer = new BinaryWriter();
  write(writer);
  return Buffer.from(writer.finish());
};

const withField = (writer: BinaryWriter, field: number, value: string | Uint8Array): BinaryWriter => {
  const tagged = writer.uint32(field * 8 + 2);
  return typeof value === 'string' ? tagged.string(value) : tagged.bytes(value);
};

/** Encodes a map of claims to results, which is the only field of a response. */
const response = (claims: readonly Claim[], resultOf: (claim: Claim) => Uint8Array): Buffer =>
  message((writer) => {
    for (const claim of claims) {
      const entry = message((each) => void withField(withField(each, 1, claim.uid), 2, resultOf(claim)));
      withField(writer, 1, entry);
    }
  });

function prepareResult({ name: claim }: Claim): Uint8Array {
  const { claimErrors = {}, cdiIds = [], requests = [], shareIds = [undefined] } = behaviour();
  const error = claimErrors[claim];
  return message((writer) => {
    if (error !== undefined) return void withField(writer, 2, error);
    for (const shareId of shareIds) {
      const device = message((each) => {
        for (const request of requests) withField(each, 1, request);
        withField(withField(each, 2, 'pool'), 3, claim);
        for (const id of cdiIds) withField(each, 4, id);
        if (shareId !== undefined) withField(each, 5, shareId);
      });
      withField(writer, 1, device);
    }
  });
}

const unprepareResult = ({ name: claim }: Claim): Uint8Array =>
  message((writer) => {
    const error = behaviour().claimErrors?.[claim];
    if (error !== undefined) withField(writer, 1, error);
  });

/** Encodes the health of one device. */
const health = ({
  device,
  healthStatus,
  message: reason = '',
  timeoutSeconds = 0,
}: NonNullable<DriverBehaviour['health']>[number]) =>
  message((writer) => {
    withField(
      writer,
      1,
      message((each) => void withField(withField(each, 1, 'pool'), 2, device)),
    );
    writer
      .uint32(16)
      .int32(healthStatus)
      .uint32(24)
      .int64(Math.floor(Date.now() / 1_000));
    writer.uint32(32).int64(timeoutSeconds);
    withField(writer, 5, reason);
  });

const bytesIn = (bytes: Buffer): Buffer => bytes;
const unary = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytesIn,
  requestDeserialize: bytesIn,
  responseSerialize: bytesIn,
  responseDeserialize: bytesIn,
});

interface Call {
  readonly request: Buffer;
}
type Answer = (error: { code: status; details: string } | null, response?: Buffer) => void;

const draCall =
  (call: string, version: string, resultOf: (claim: Claim) => Uint8Array) =>
  ({ request }: Call, answer: Answer) => {
    const claims = decodeClaims(request);
    record({ call, version, claims: claims.map((claim) => claim.name) });
    const { hangs = false, fails, skips = [] } = behaviour();
    if (hangs) return;
    if (fails !== undefined) return answer({ code: status.INTERNAL, details: fails });
    const answered = claims.filter((claim) => !skips.includes(claim.name));
    answer(null, response(answered, resultOf));
  };

const server = new Server();
for (const version of ['v1', 'v1beta1']) {
  const service = `/k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin`;
  server.addService(
    {
      prepare: unary(`${service}/NodePrepareResources`),
      unprepare: unary(`${service}/NodeUnprepareResources`),
    },
    {
      prepare: draCall('prepare', version, prepareResult),
      unprepare: draCall('unprepare', version, unprepareResult),
    },
  );
}
server.addService(
  { watch: { ...unary('/v1alpha1.DRAResourceHealth/NodeWatchResources'), responseStream: true } },
  {
    watch: (stream: ServerWritableStream<Buffer, Buffer>) => {
      let sent = '';
      const send = () => {
        const reports = behaviour().health ?? [];
        const current = JSON.stringify(reports);
        if (current === sent || reports.length === 0) return;
        sent = current;
        stream.write(message((writer) => reports.forEach((report) => void withField(writer, 1, health(report)))));
      };
      const timer = setInterval(send, 50);
      stream.on('cancelled', () => clearInterval(timer));
    },
  },
);

const registration = new Server();
registration.addService(
  {
    info: unary('/pluginregistration.Registration/GetInfo'),
    notify: unary('/pluginregistration.Registration/NotifyRegistrationStatus'),
  },
  {
    info: (_call: Call, answer: Answer) => {
      const {
        infoError,
        type = 'DRAPlugin',
        versions = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'],
        announcedEndpoint,
      } = behaviour();
      if (infoError !== undefined) return answer({ code: status.INTERNAL, details: infoError });
      const info = message((writer) => {
        withField(withField(withField(writer, 1, type), 2, name), 3, announcedEndpoint ?? endpoint);
        for (const version of versions) withField(writer, 4, version);
      });
      answer(null, info);
    },
    notify: ({ request }: Call, answer: Answer) => {
      record({ call: 'notify', isRegistered: request[0] === 8, error: text(new Map(fieldsOf(request)).get(2)) });
      const { notifyError } = behaviour();
      if (notifyError !== undefined) return answer({ code: status.INTERNAL, details: notifyError });
      answer(null, Buffer.alloc(0));
    },
  },
);

/** Listens on a socket, and first removes a socket that an earlier process has left. */
function listen(listener: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  return new Promise((resolve, reject) =>
    listener.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
}

mkdirSync(registryDirectory, { recursive: true });
const listenOnceDue = async (): Promise<void> => {
  if (behaviour().isLate) setTimeout(() => void listenOnceDue(), 50);
  else await listen(server, endpoint);
};
await listenOnceDue();
await listen(registration, join(registryDirectory, `${name}-reg.sock`));
process.stdout.write('ready\n');
