/** The streaming server of a runtime. The test defines the behaviour of its commands. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { STREAM_TYPE_HEADER } from '../../cri/streaming/remoteCommand.ts';
import type { SpdyConnection } from '../../cri/streaming/spdyConnection.ts';
import type { SpdyStream } from '../../cri/streaming/spdyStream.ts';
import { acceptSpdy } from '../../cri/streaming/upgrade.ts';

/** The streams of a command by type: `error`, `stdin`, `stdout`, `stderr`, `resize`. */
type CommandStreams = ReadonlyMap<string, SpdyStream>;

interface StreamingServer {
  readonly url: string;
  /** The method and path of each request. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

interface Behaviour {
  /**
   * The number of streams of a command, and the function that runs once they are open. The connection is closed
   * afterwards.
   */
  readonly count?: number;
  readonly run?: (streams: CommandStreams, connection: SpdyConnection) => unknown;
  readonly protocols?: readonly string[];
  /** Sends a response instead of upgrading the connection. */
  readonly refuse?: (request: IncomingMessage, response: ServerResponse) => unknown;
}

/** Serves on loopback until it is closed. */
export async function streamingServer({
  count = 3,
  run = () => {},
  protocols = ['v4.channel.k8s.io'],
  refuse,
}: Behaviour): Promise<StreamingServer> {
  const asked: string[] = [];
  const connections: SpdyConnection[] = [];
  const server = createServer({ shouldUpgradeCallback: () => refuse === undefined }, (request, response) =>
    refuse?.(request, response),
  );
  server.on('upgrade', (request, socket, head) => {
    asked.push(`${request.method} ${request.url}`);
    const streams = new Map<string, SpdyStream>();
    const accepted = acceptSpdy(request, socket, head, {
      protocols,
      onStream: async (stream) => {
        streams.set(stream.headers.get(STREAM_TYPE_HEADER) ?? '', stream);
        if (streams.size < count || accepted === undefined) return;
        await run(streams, accepted.connection);
        accepted.connection.close();
      },
    });
    if (accepted) connections.push(accepted.connection);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on a port has an address of this type.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`,
    asked,
    close: async () => {
      for (const connection of connections) connection.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns the final status of a command, as the kubelet writes it. */
export const endedWith = (exitCode: number): string =>
  JSON.stringify(
    exitCode === 0
      ? { metadata: {}, status: 'Success' }
      : {
          metadata: {},
          status: 'Failure',
          message: `command terminated with non-zero exit code: exit status ${exitCode}`,
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
        },
  );
