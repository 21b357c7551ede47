import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';

/**
 * A gRPC server on a unix socket that can be stopped and restarted. Methods that it does not implement respond with
 * UNIMPLEMENTED.
 */
export interface RuntimeServer {
  readonly endpoint: string;
  readonly up: () => Promise<void>;
  /** Closes all connections immediately and removes the socket. */
  readonly down: () => void;
  readonly remove: () => Promise<void>;
}

/** The services to serve, each with its implemented methods. */
export type Served = readonly (readonly [ServiceDefinition, UntypedServiceImplementation])[];

export async function runtimeServer(served: Served): Promise<RuntimeServer> {
  const directory = await mkdtemp(join(tmpdir(), 'cri-'));
  const endpoint = `unix://${directory}/cri.sock`;
  let server: Server | undefined;
  const up = () =>
    new Promise<void>((resolve, reject) => {
      server = new Server();
      for (const [definition, methods] of served) server.addService(definition, methods);
      server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    });
  const down = () => server?.forceShutdown();
  await up();
  const remove = () => {
    down();
    return rm(directory, { recursive: true });
  };
  return { endpoint, up, down, remove };
}
