import { Client, credentials, Server, ServerCredentials, type ServiceError, type sendUnaryData } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../cri/generated/runtime.ts';

/** Calls that only look. */
const READS = /^(Version|Status|RuntimeConfig|ImageFsInfo|List\w*|\w+Status|\w+Stats)$/;

/** A way to a runtime that counts the calls which change something there. */
export interface CountingProxy {
  readonly endpoint: string;
  /** The names of those calls, in order. */
  readonly writes: readonly string[];
  close(): void;
}

/** Serves every unary CRI call on a socket and passes it on as it is; a client finds no event streams there. */
export async function countingProxy(endpoint: string, socket: string): Promise<CountingProxy> {
  const client = new Client(endpoint, credentials.createInsecure());
  const server = new Server();
  const writes: string[] = [];
  const same = (bytes: Buffer) => bytes;
  for (const { path, responseStream } of [RuntimeServiceService, ImageServiceService].flatMap(Object.values)) {
    if (responseStream) continue;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const passOn = ({ request }: { request: Buffer }, answer: sendUnaryData<Buffer>) => {
      if (!READS.test(name)) writes.push(name);
      client.makeUnaryRequest(path, same, same, request, (error: ServiceError | null, bytes?: Buffer) =>
        answer(error, bytes),
      );
    };
    server.register(path, passOn, same, same, 'unary');
  }
  const own = `unix://${socket}`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(own, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  return {
    endpoint: own,
    writes,
    close: () => {
      server.forceShutdown();
      client.close();
    },
  };
}
