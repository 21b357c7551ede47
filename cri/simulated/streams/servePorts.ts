import { Buffer } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { STREAM_TYPE_HEADER } from '../../streaming/remoteCommand.ts';
import type { SpdyStream } from '../../streaming/spdyStream.ts';
import type { SimulatedPorts } from './streams.ts';

const PORT_HEADER_NAME = 'port';
/** Name of the header with the ID of a forwarded connection. Both streams of the connection have this header. */
const REQUEST_ID_HEADER = 'requestid';

/** Serves a connection to a port once both of its streams are open, the data stream and the error stream. */
export function servePorts({ dial }: SimulatedPorts, openStreams: SpdyStream[], latestStream: SpdyStream): void {
  const requestId = latestStream.headers.get(REQUEST_ID_HEADER);
  const streamPair = openStreams.filter(({ headers }) => headers.get(REQUEST_ID_HEADER) === requestId);
  const findStream = (type: string) => streamPair.find(({ headers }) => headers.get(STREAM_TYPE_HEADER) === type);
  const [data, error] = [findStream('data'), findStream('error')];
  if (data === undefined || error === undefined) return;
  for (const stream of streamPair) openStreams.splice(openStreams.indexOf(stream), 1);
  const port = Number(latestStream.headers.get(PORT_HEADER_NAME));
  const connection = dial(port);
  if (connection === undefined) {
    error.end(Buffer.from(`failed to connect to localhost:${port}: dial tcp4 127.0.0.1:${port}: connection refused`));
    return void data.end();
  }
  void Promise.all([pipeline(data, connection), pipeline(connection, data)])
    .catch(() => connection.destroy())
    .finally(() => error.end());
}
