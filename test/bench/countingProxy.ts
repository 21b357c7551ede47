import { rename } from 'node:fs/promises';
import { Client, credentials, Server, ServerCredentials, type ServiceError, type sendUnaryData } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../cri/generated/runtime.ts';

/** Calls that change nothing. */
const READS = /^(Version|Status|RuntimeConfig|ImageFsInfo|List\w*|\w+Status|\w+Stats)$/;

/** A proxy between an agent and its runtime that records the calls that change something. */
export interface CountingProxy {
  /** Names of these calls, in order. */
  readonly writes: readonly string[];
  /** Closes the proxy and restores the runtime's socket. */
  close(): Promise<void>;
}

/**
 * Serves every unary CRI call at the runtime's address and forwards it unchanged. Event streams are not served. The
 * address stays the same, because an agent refuses pods in its root directory that belong to a different runtime.
 */
export async function countingProxy(endpoint: string): Promise<CountingProxy> {
  const socket = endpoint.replace(/^unix:\/\//, '');
  const [own, moved] = [`${socket}.proxy`, `${socket}.behind-proxy`];
  const client = new Client(`unix://${moved}`, credentials.createInsecure());
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
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${own}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  await rename(socket, moved);
  await rename(own, socket);
  return {
    writes,
    close: async () => {
      await rename(moved, socket);
      server.forceShutdown();
      client.close();
    },
  };
}
